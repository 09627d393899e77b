//! End-to-end tests of the built program as processes, with real kernels: agents, assistants, attacks on the sandbox, older versions. Tests
//! with a server in this process are in `in_process.rs`.
//!
//! A filter begins with a folder: `cargo test --test processes agent::killing`. `NOTARIUM_TEST_PYTHON` names a Python with ipykernel;
//! `make test` makes one in `target/test-venv`.
//!
//! `versions` adds upcasters to this process: `CellSourceEdited` has an invented schema 2. The programs under test do not know it.

mod agent;
mod assistants;
#[path = "support/processes.rs"]
mod processes;
#[cfg(target_os = "linux")]
mod security;
mod support;
mod versions;
