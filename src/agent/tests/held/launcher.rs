//! The hidden commands of the program alone: starts kernels for these tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    notarium_agent::sandbox::enter(std::env::args_os()).unwrap_or(ExitCode::FAILURE)
}
