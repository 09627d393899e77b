//! The commands: one file per group. Each has an `…Args` (what clap reads) and a `run` (what it does).
//!
//! What people read goes to standard output, everything about the program itself to standard error. Each failure is one
//! sentence that says what to do, and an exit code: see [`Failure`].

mod access;
mod accounts;
mod agent;
mod assistants;
mod calls;
mod cells;
mod chat;
mod client;
mod compare;
pub mod config;
mod confirm;
pub mod context;
mod demo;
mod exec;
pub mod failure;
mod find;
mod follow;
mod history;
pub mod logs;
mod mcp;
mod narrate;
mod notebooks;
mod outputs;
mod parameters;
mod people;
mod print;
mod python;
mod run;
mod runs;
mod serve;
mod session;
pub mod settings;
mod show;
mod up;
mod watch;

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
    /// Start everything on this machine: server, runtime agent, a Python kernel; prints one address and a token.
    Up(up::UpArgs),
    /// See assistants at work without a key: everything on this machine, with a model that plays a script.
    Demo(demo::DemoArgs),
    /// Start the server alone.
    Serve(serve::ServeArgs),
    /// Start a runtime agent: it dials the server, offers its kernels and executes cells.
    Agent(agent::AgentArgs),
    /// Execute a notebook file from top to bottom and write what came out.
    Run(run::RunArgs),
    /// List the notebooks that you may see, the last changed first.
    Ls(notebooks::LsArgs),
    /// Make a notebook and print its id.
    New(notebooks::NewArgs),
    /// Make notebooks of .ipynb files; prints their ids, and says what had to be repaired.
    Import(notebooks::ImportArgs),
    /// Write a notebook as .ipynb (nbformat 4.5), as it is or as it was.
    Export(notebooks::ExportArgs),
    /// Give a notebook another title.
    Rename(notebooks::RenameArgs),
    /// Make a new notebook of what one is or was, and print its id.
    Fork(notebooks::ForkArgs),
    /// Archive a notebook: it can be read, exported and forked, not changed or run.
    Archive(notebooks::NotebookArgs),
    /// Take a notebook out of the archive.
    Unarchive(notebooks::NotebookArgs),

    /// Show a notebook as text, as it is or as it was.
    Show(show::ShowArgs),
    /// Change the source of a cell; refused if somebody was faster.
    Edit(cells::EditArgs),
    /// Add, move, delete and restore cells.
    #[command(subcommand)]
    Cell(cells::CellCommand),
    /// Take your last changes back, or what an assistant did in a turn or a call.
    Undo(history::UndoArgs),
    /// Take your last undos back.
    Redo(history::StepsArgs),

    /// Run cells or code, and show the outputs as they come.
    Exec(exec::ExecArgs),
    /// List the runs of all times, show one, or compare two.
    Runs(runs::RunsArgs),
    /// Interrupt what the kernel runs.
    Interrupt(runs::KernelArgs),
    /// Restart the kernel: its memory is lost, and what waits is cancelled.
    Restart(runs::KernelArgs),
    /// Cancel everything that waits and interrupt what runs.
    Stop(runs::StopArgs),

    /// Follow what everybody does, live.
    Watch(watch::WatchArgs),
    /// Show who did what, when.
    Log(history::LogArgs),
    /// Show what changed between two versions.
    Diff(compare::DiffArgs),
    /// Show who wrote each line of a cell, and at which version.
    Blame(compare::BlameArgs),
    /// Prove here that the record was not tampered with; names the first break.
    Verify(history::VerifyArgs),
    /// Rebuild the state here from the record, and compare it with the server's.
    Replay(history::RecordArgs),

    /// Talk with an assistant that works in the notebook for you; asks you before anything is destroyed.
    Chat(chat::ChatArgs),
    /// See what assistants wait for, and confirm or deny it.
    Confirm(confirm::ConfirmArgs),
    /// Let an outside assistant in: an MCP server on standard input and output.
    Mcp(mcp::McpArgs),
    /// List what assistants did: arguments, who decided, result.
    Calls(calls::CallsArgs),
    /// Show or set how much assistants may do unasked.
    Policy(calls::PolicyArgs),
    /// Let a conversation's calls pass for a while; list and end such grants.
    Grant(calls::GrantArgs),

    /// List, give and take roles in a notebook.
    #[command(subcommand)]
    Access(access::AccessCommand),
    /// Make, list and revoke links for people without an account.
    #[command(subcommand)]
    Share(access::ShareCommand),

    /// Sign in, and store the token for the commands to come.
    Login(session::LoginArgs),
    /// Sign out, and forget the token.
    Logout,
    /// Show who you are and what your token allows.
    Whoami(session::WhoamiArgs),
    /// Make, list and revoke tokens of programs that act for you.
    #[command(subcommand)]
    Token(accounts::TokenCommand),
    /// Make, list and revoke tokens of runtime agents.
    #[command(subcommand)]
    AgentToken(accounts::AgentTokenCommand),
    /// Manage the accounts of people: for administrators.
    #[command(subcommand)]
    User(accounts::UserCommand),
}

impl Command {
    /// What is logged when nobody says: long-lived programs tell what they do, commands only what is wrong.
    pub fn default_log(&self) -> &'static str {
        match self {
            // The library tells of every kernel that ends as of a fault.
            Self::Up(_) | Self::Demo(_) | Self::Agent(_) | Self::Run(_) => "warn,zeromq=error",
            Self::Serve(_) => "warn",
            _ => "error",
        }
    }
}

/// Does what was asked.
#[expect(clippy::cognitive_complexity, reason = "it only dispatches: one line for each command")]
pub async fn run(arguments: Arguments) -> Ended {
    let context = &Context::new(arguments.global);
    match arguments.command {
        Command::Up(args) => up::up(args).await,
        Command::Demo(args) => demo::demo(args).await,
        Command::Serve(args) => serve::serve(args).await,
        Command::Agent(args) => agent::agent(args, context).await,
        Command::Run(args) => run::run(args, context).await,
        Command::Ls(args) => notebooks::ls(args, context).await,
        Command::New(args) => notebooks::new(args, context).await,
        Command::Import(args) => notebooks::import(args, context).await,
        Command::Export(args) => notebooks::export(args, context).await,
        Command::Rename(args) => notebooks::rename(args, context).await,
        Command::Fork(args) => notebooks::fork(args, context).await,
        Command::Archive(args) => notebooks::archive(args, context).await,
        Command::Unarchive(args) => notebooks::unarchive(args, context).await,
        Command::Show(args) => show::show(args, context).await,
        Command::Edit(args) => cells::edit(args, context).await,
        Command::Cell(command) => cells::cell(command, context).await,
        Command::Undo(args) => history::undo(args, context).await,
        Command::Redo(args) => history::redo(args, context).await,
        Command::Exec(args) => exec::exec(args, context).await,
        Command::Runs(args) => runs::runs(args, context).await,
        Command::Interrupt(args) => runs::interrupt(args, context).await,
        Command::Restart(args) => runs::restart(args, context).await,
        Command::Stop(args) => runs::stop(args, context).await,
        Command::Watch(args) => watch::watch(args, context).await,
        Command::Log(args) => history::log(args, context).await,
        Command::Diff(args) => compare::diff(args, context).await,
        Command::Blame(args) => compare::blame(args, context).await,
        Command::Verify(args) => history::verify(args, context).await,
        Command::Replay(args) => history::replay(args, context).await,
        Command::Chat(args) => chat::chat(args, context).await,
        Command::Confirm(args) => confirm::confirm(args, context).await,
        Command::Mcp(args) => mcp::mcp(args, context).await,
        Command::Calls(args) => calls::calls(args, context).await,
        Command::Policy(args) => calls::policy(args, context).await,
        Command::Grant(args) => calls::grant(args, context).await,
        Command::Access(command) => access::access(command, context).await,
        Command::Share(command) => access::share(command, context).await,
        Command::Login(args) => session::login(args, context).await,
        Command::Logout => session::logout().await,
        Command::Whoami(args) => session::whoami(args, context).await,
        Command::Token(command) => accounts::token(command, context).await,
        Command::AgentToken(command) => accounts::agent_token(command, context).await,
        Command::User(command) => accounts::user(command, context).await,
    }
}
