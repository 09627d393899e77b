//! The commands: one file per group. Each has an `…Args` (what clap reads) and a `run` (what it does).
//!
//! What people read goes to standard output, everything about the program itself to standard error. Each failure is one
//! sentence that says what to do, and an exit code: see [`Failure`].

pub mod client;
pub mod config;
pub mod context;
pub mod failure;
pub mod logs;
pub mod notebooks;

use clap::{Args, Parser, Subcommand};

pub use context::Context;
pub use failure::Failure;

/// What a command ends with.
pub type Ended = Result<(), Failure>;

/// Notebooks that people, programs and AI assistants write together.
#[derive(Debug, Parser)]
#[command(name = "notarium", version, propagate_version = true, disable_help_subcommand = false)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Which server, and how loud. Taken by every command, before or after its name.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The server: http://host:port, https://host or wss://host. Else what `login` or `up` stored.
    #[arg(long, global = true, env = "NOTARIUM_SERVER", value_name = "URL", help_heading = "Connection")]
    pub server: Option<String>,
    /// The token. Else what `login` or `up` stored for that server.
    #[arg(
        long,
        global = true,
        env = "NOTARIUM_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        help_heading = "Connection"
    )]
    pub token: Option<String>,
    /// What the program says about itself on standard error, for instance `info` or `notarium=debug`.
    #[arg(long, global = true, env = "NOTARIUM_LOG", value_name = "FILTER", help_heading = "Connection")]
    pub log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the notebooks that you may see, the last changed first.
    Ls(notebooks::LsArgs),
}

impl Command {
    /// What is logged when nobody says: long-lived programs tell what they do, commands only what is wrong.
    pub fn default_log(&self) -> &'static str {
        match self {
            Self::Ls(_) => "warn",
        }
    }
}

/// Does what was asked.
pub async fn run(arguments: Arguments) -> Ended {
    let context = Context::new(arguments.global);
    match arguments.command {
        Command::Ls(args) => notebooks::ls(args, &context).await,
    }
}
