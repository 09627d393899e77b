//! Providers over real HTTP, against the scripted server; what a model is told of notebooks, by samples; turns against the core.

mod borders;
mod claims;
mod context;
mod conversations;
mod faults;
mod golden;
mod limits;
mod mcp;
mod messages;
mod panics;
mod previews;
mod quirks;
mod retries;
mod secrets;
mod states;
mod support;
mod turn;
