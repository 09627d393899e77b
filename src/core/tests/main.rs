//! The core's tests by its public API alone: state is built by commands, then one command is judged by its events or
//! its rejection.

mod support;

mod access;
mod away_agents;
mod batch;
mod bound;
mod causation;
mod cells;
mod closed;
mod comments;
mod conversations;
mod digest;
mod edits;
mod executions;
mod function_places;
mod functions;
mod gate_judge;
mod golden;
mod held_calls;
mod judgements;
mod kernel_tools;
mod kernels;
mod large;
mod lifecycle;
mod masking;
mod moved_outputs;
mod properties;
mod races;
mod reactive;
mod reactive_property;
mod replies;
mod reports;
mod requesters;
mod run_all;
mod tool_calls;
mod tool_calls_property;
mod undo;
mod undo_cell;
mod unknown_words;
mod unposted;
mod widgets;
