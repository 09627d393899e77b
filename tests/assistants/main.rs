//! End-to-end tests of assistants: the built server, a real kernel, and a scripted model provider over real HTTP.

mod again;
mod attached;
mod chat;
mod compatible;
mod demo;
mod functions;
mod gate;
mod harm;
mod kills;
#[path = "../agent/processes.rs"]
#[allow(dead_code, reason = "the agent's tests use the rest")]
mod processes;
mod responses;
mod scene;
mod secrets;
mod side_by_side;
mod stops;
#[path = "../support/terminal.rs"]
mod terminal;
mod tools;
mod turns;
mod waits;
