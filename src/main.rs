//! The `notarium` program: wiring, and the files of the page. The commands are in `cli/`.

use std::process::ExitCode;

use notarium::cli;
use rust_embed::Embed;

/// Files that `make web` has built, or a release's, which are smaller. Empty if it was not run. (The variable is in `.cargo/config.toml`.)
#[derive(Embed)]
#[folder = "$NOTARIUM_EMBEDDED_PAGE"]
#[allow_missing = true]
struct EmbeddedPage;

/// Touched by `make web`, so that cargo embeds the page anew, also one that was not there before.
const _: &[u8] = include_bytes!("../clients/web/dist/.gitignore");

/// A room's memory is many small short-lived pieces, which glibc's allocator returns to the system and requests again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before any thread: a process that becomes a kernel enters separate namespaces.
    if let Some(code) = notarium_agent::sandbox::enter(std::env::args_os()) {
        return code;
    }
    if let Err(failure) = cli::command_line::without_secrets() {
        return failure.report();
    }
    // First of all: otherwise mixed TLS features would make `wss://` panic.
    notarium_agent::connection::install_tls_provider();
    let arguments = match cli::serve::settings::arguments(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(failure) => return failure.report(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cli::Failure::failed(format!("the runtime cannot start: {error}")).report(),
    };
    let telemetry = match cli::logging::install(&arguments, runtime.handle()) {
        Ok(telemetry) => telemetry,
        Err(failure) => return failure.report(),
    };
    notarium_server::install_page(|path| EmbeddedPage::get(path).map(|file| file.data));
    let ended = runtime.block_on(cli::run(arguments));
    telemetry.finish();
    // Not waited for: a thread may still be reading the terminal.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
