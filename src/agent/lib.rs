//! The runtime agent: runs cells in real Jupyter kernels.
//!
//! Purpose: dials out to a server, offers the kernelspecs of its machine, claims waiting launches, executes, and reports
//! the kernel's events. It survives network cuts and restarts of the server without losing a kernel.
//!
//! Invariants:
//! - Only this crate speaks ZeroMQ.
//! - Kernel output is never lost silently: a notice replaces what cannot be kept or read.
//! - Transfers of the working folder touch only files that kernels could read and write (`working_folder`).
//! - Each kernel of a held run has a `supervisor`, and does not outlive it.
//! - The exit of a kernel is noticed when it happens, with its cause. No kernel process outlives its [`kernel::Kernel`].
//!
//! This crate must never know how the server stores or shows a run.

pub mod agent;
pub mod connections;
pub mod kernel;
mod machine;
pub mod outputs;
pub mod sandbox;
pub mod session;
#[cfg(target_os = "linux")]
pub mod supervisor;
#[cfg(not(target_os = "linux"))]
#[path = "supervisor/absent.rs"]
pub mod supervisor;
mod temporary_files;
mod working_folder;

pub use kernel::kernelspecs;
pub use notarium_client as connection;

/// Error that ended an agent. A requested stop is none.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Connection(#[from] notarium_client::ConnectError),
    #[error("this token is not an agent's: make one with `notarium agent-token new`")]
    NotAnAgent,
    #[error("no Jupyter kernel is installed: `pip install ipykernel`, or name an environment with --kernel-path")]
    NoKernelspecs,
    #[error("no HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}
