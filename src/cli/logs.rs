//! Logs on standard error; standard output belongs to the commands.

use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;

use crate::cli::Arguments;

/// Starts logging. An invalid filter is reported, and the default used.
pub fn install(arguments: &Arguments) {
    let default = arguments.command.default_log();
    let wanted = arguments.context.log.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        eprintln!("notarium: --log '{wanted}' is no filter ({error}); logging '{default}'");
        EnvFilter::new(default)
    });
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    std::panic::set_hook(Box::new(log_fault));
}

/// Logs a panic. It ends its task; the task's owner reports the consequences.
fn log_fault(fault: &PanicHookInfo) {
    let place = fault.location().map(ToString::to_string).unwrap_or_default();
    let message = fault.payload_as_str().unwrap_or("no message");
    tracing::error!(place, message, "a fault in the program: please report it");
}
