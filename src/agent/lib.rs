//! The runtime agent: runs cells in real Jupyter kernels.
//!
//! Purpose: dials out to a server, offers the kernelspecs of its machine, claims what waits for one, executes, and reports
//! what the kernel says. It survives network cuts and restarts of the server without losing a kernel.
//!
//! Invariants:
//! - Only this crate speaks ZeroMQ.
//! - Nothing that a kernel sends is lost silently: what cannot be kept or read is said.
//! - Files of the working folder go to and from people as kernels could read and write them, and no others (`working_folder`).
//! - A dead kernel is noticed at once, with its cause. No kernel process outlives its [`kernel::Kernel`].
//!
//! This crate must never know how the server stores or shows a run.

pub mod agent;
pub mod blobs;
pub mod connection;
pub mod connections;
mod error;
mod host;
pub mod kernel;
pub mod kernelspecs;
mod ledger;
mod leftovers;
pub mod outputs;
mod process_name;
mod python_package;
mod reporter;
pub mod roster;
pub mod sandbox;
pub mod session;
mod transfers;
mod usage;
mod working_folder;
