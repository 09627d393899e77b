//! The core's tests by its public API alone: state is built by commands, then one command is judged by its events or
//! its rejection.

mod support;

mod access;
mod batch;
mod cells;
mod cost;
mod danger;
mod edits;
mod executions;
mod golden;
mod kernels;
mod lifecycle;
mod properties;
mod races;
mod reports;
mod undo;
