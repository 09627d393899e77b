//! The runtime agent: runs cells in real Jupyter kernels.
//!
//! Purpose: dials out to a server, offers the kernelspecs of its machine, claims waiting launches, executes, and reports
//! the kernel's events. It survives network cuts and restarts of the server without losing a kernel.
//!
//! Invariants:
//! - Only this crate speaks ZeroMQ.
//! - Kernel output is never lost silently: a notice replaces what cannot be kept or read.
//! - Transfers of the working folder touch only files that kernels could read and write (`working_folder`).
//! - The exit of a kernel is noticed when it happens, with its cause. No kernel process outlives its [`kernel::Kernel`].
//!
//! This crate must never know how the server stores or shows a run.

pub mod agent;
pub mod blobs;
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

pub use notarium_client as connection;
