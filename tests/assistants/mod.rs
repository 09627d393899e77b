//! End-to-end tests of assistants: the built server, a real kernel, and a scripted model provider over real HTTP.

mod again;
mod attached;
mod bridge;
mod chat;
mod compatible;
mod demo;
mod freshness;
mod functions;
mod gate;
mod harm;
mod kills;
pub mod outside;
mod prompts;
mod responses;
mod scene;
mod secrets;
mod side_by_side;
mod spending;
mod stops;
mod surprises;
mod tools;
mod turns;
pub mod witness;
