//! Providers over real HTTP, against the scripted server.

mod borders;
mod conversations;
mod faults;
mod limits;
mod quirks;
mod retries;
mod secrets;
mod support;
