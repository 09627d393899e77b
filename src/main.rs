//! The `notarium` program: wiring only. The commands are in `cli/`.

mod cli;

use std::process::ExitCode;

/// A room's memory is many small pieces that live briefly: glibc's allocator gives them back to the system and asks again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before any thread: the process that becomes a kernel enters namespaces of its own.
    if let Some(code) = notarium_agent::sandbox::launcher::enter(std::env::args_os()) {
        return code;
    }
    if let Err(failure) = cli::command_line::without_secrets() {
        return failure.report();
    }
    // First of all: mixed TLS features would make `wss://` panic otherwise.
    notarium_agent::connection::install_tls_provider();
    let arguments = match cli::settings::arguments(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(failure) => return failure.report(),
    };
    cli::logs::install(&arguments);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cli::Failure::failed(format!("the runtime cannot start: {error}")).report(),
    };
    let ended = runtime.block_on(cli::run(arguments));
    // A thread that still reads the terminal must not hold the program back.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
