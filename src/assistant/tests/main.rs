//! Tests of providers over real HTTP against the scripted server, of notebooks' state for models, and of turns against the core.

mod borders;
mod claims;
mod context;
mod conversations;
mod faults;
mod golden;
mod limits;
mod mcp;
mod messages;
mod previews;
mod quirks;
mod responses;
mod retries;
mod secrets;
mod states;
mod support;
mod turn;
mod workers;
