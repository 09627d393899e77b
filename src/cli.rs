//! The commands: one file or folder per group. Each has an `…Args` (clap's arguments) and a function that runs it.
//!
//! Output for people goes to standard output, everything about the program itself to standard error. Each failure is one
//! sentence with advice, and an exit code: see [`Failure`].

mod accounts;
mod agent;
mod assistants;
mod cells;
pub mod command_line;
mod files;
mod history;
pub mod logging;
mod nodes;
mod notebooks;
mod replay;
mod run;
mod runs;
mod schedules;
pub mod serve;

/// The server and the token of a command, requests to it, names and ids.
mod connection {
    pub mod client;
    pub mod context;
    pub mod find;
    mod made_folder;
    pub mod session;
}

/// Text on the terminal, values of the command line, failures.
mod terminal {
    pub mod failure;
    pub mod input;
    pub mod print;
    pub mod values;
}

/// Events and outputs in words.
mod words {
    pub mod narrate;
    pub mod outputs;
}

use clap::{Args, Parser};

use accounts::{access, notices, spending};
use assistants::{chat, mcp};
use cells::{comments, show};
pub use connection::context::CommonOptions;
use connection::session;
use history::{export_record, find, heads, import_record, log, proof, redact, report, retention, verification, watch};
use runs::{call, data, exec, kernels};
use serve::{move_store, up, upgrade};
pub use terminal::failure::Failure;

/// The table of commands: each with its clap arguments and its function. `in notebook` commands get that, others the context.
macro_rules! commands {
    (@args $args:ty) => { $args };
    (@args $args:ty, notebook) => { InNotebook<$args> };
    (@run $run:path, $args:ident, $context:ident) => { $run($args, $context).await };
    (@run $run:path, $args:ident, $context:ident, notebook) => {
        $run($args.args, $context.notebook(&$args.notebook).await?).await
    };
    ($($(#[$meta:meta])* $name:ident($args:ty) $(in $notebook:ident)? => $run:path,)+) => {
        #[allow(clippy::large_enum_variant, reason = "a process has one")]
        #[derive(Debug, clap::Subcommand)]
        pub enum Command { $($(#[$meta])* $name(commands!(@args $args $(, $notebook)?)),)+ }

        impl Command {
            async fn run(self, context: &CommonOptions) -> Ended {
                match self { $(Self::$name(args) => commands!(@run $run, args, context $(, $notebook)?),)+ }
            }
        }
    };
}

/// Result of a command.
pub type Ended = Result<(), Failure>;

/// Notebooks that people, programs and AI assistants write together.
#[derive(Debug, Parser)]
#[command(name = "notarium", version, propagate_version = true, disable_help_subcommand = false)]
pub struct Arguments {
    #[command(flatten)]
    pub context: CommonOptions,
    #[command(subcommand)]
    pub command: Command,
}

/// A notebook, and what else a command takes.
#[derive(Debug, Args)]
pub struct InNotebook<T: Args> {
    /// Id or title.
    notebook: String,
    #[command(flatten)]
    args: T,
}

#[derive(Debug, Args)]
pub struct NoArgs {}

#[derive(Debug, Args)]
pub struct JsonArgs {
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

commands! {
    /// Start everything on this machine: server, runtime agent, a Python kernel; prints one link and a token.
    Up(up::UpArgs) => up::up,
    /// See assistants at work without a key: everything on this machine, with a model that plays a script.
    Demo(up::DemoArgs) => up::demo,
    /// Start the server alone.
    Serve(serve::ServeArgs) => serve::serve,
    /// Copy the data of a server, which may run, and verify the copy.
    Backup(serve::BackupArgs) => serve::backup,
    /// Make a data folder of a backup; or take a notebook back to an earlier version (--to).
    Restore(serve::RestoreArgs) => serve::restore,
    /// Show whether the release before can still open the data, or end that (--finish).
    Upgrade(upgrade::UpgradeArgs) => upgrade::upgrade,
    /// Move everything from a data folder to a PostgreSQL database, or back, while no server runs.
    MoveStore(move_store::MoveStoreArgs) => move_store::move_store,
    /// Start a runtime agent: it dials the server, offers its kernels and executes cells.
    Agent(agent::AgentArgs) => agent::agent,
    /// Execute a notebook file from top to bottom and write what came out.
    Run(run::RunArgs) => run::run,
    /// Run a notebook at times: set, list, remove and run schedules.
    Schedule(schedules::ScheduleArgs) => schedules::schedule,
    /// List the notebooks that you may see, the last changed first.
    Ls(notebooks::LsArgs) => notebooks::ls,
    /// Make a notebook and print its id.
    New(notebooks::NewArgs) => notebooks::new,
    /// List what new notebooks can be made of.
    Templates(notebooks::TemplatesArgs) => notebooks::templates,
    /// Make a notebook a template, or no template any more.
    Template(notebooks::TemplateArgs) in notebook => notebooks::mark_template,
    /// Make notebooks of .ipynb files; prints their ids, and says what had to be repaired.
    Import(notebooks::ImportArgs) => notebooks::import,
    /// Write a notebook as .ipynb (nbformat 4.5), as it is or as it was.
    Export(notebooks::ExportArgs) in notebook => notebooks::export,
    /// Give a notebook another title.
    Rename(notebooks::RenameArgs) in notebook => notebooks::rename,
    /// Make a new notebook of what one is or was, and print its id.
    Fork(notebooks::ForkArgs) in notebook => notebooks::fork,
    /// Archive a notebook: it can be read, exported and forked, not changed or run.
    Archive(NoArgs) in notebook => notebooks::archive,
    /// Take a notebook out of the archive.
    Unarchive(NoArgs) in notebook => notebooks::unarchive,
    /// Erase a notebook you own: its record, outputs and files are deleted for everybody. Nothing takes it back.
    Erase(notebooks::EraseArgs) in notebook => notebooks::erase,

    /// Show a notebook as text, as it is or as it was.
    Show(show::ShowArgs) => show::show,
    /// Change the source of a cell; refused if somebody was faster.
    Edit(cells::EditArgs) => cells::edit,
    /// Add, move, delete, restore and mark cells, change their type, clear their outputs.
    #[command(subcommand)]
    Cell(cells::CellCommand) => cells::CellCommand::run,
    /// Take your last changes back, or what an assistant did in a turn or a call.
    Undo(history::UndoArgs) in notebook => history::undo,
    /// Take your last undos back.
    Redo(history::StepsArgs) in notebook => history::redo,

    /// Comment on a cell or a part of its text; reply, change, take away, resolve, reopen.
    Comment(comments::CommentArgs) in notebook => comments::comment,
    /// List the comments: the open threads, or all.
    Comments(comments::CommentsArgs) in notebook => comments::comments,

    /// Show how cells hang together: who reads what from whom, and what is stale.
    Graph(show::GraphArgs) in notebook => show::graph,
    /// Show or set whether running a cell brings others up to date.
    Reactive(show::ReactiveArgs) in notebook => show::reactive,
    /// Run cells or code, and show the outputs as they come.
    Exec(exec::ExecArgs) => exec::exec,
    /// List the functions that cells have registered, or call one.
    Call(call::CallArgs) in notebook => call::call,
    /// List the runs of all times, show one, or compare two.
    Runs(runs::RunsArgs) in notebook => runs::runs,
    /// Cancel runs that wait, and interrupt those that run.
    Cancel(runs::CancelArgs) => runs::cancel,
    /// List, launch, interrupt, restart, shut down and give up kernels.
    #[command(subcommand)]
    Kernels(kernels::KernelsCommand) => kernels::KernelsCommand::run,
    /// Interrupt what the kernel runs.
    Interrupt(kernels::KernelChoice) => kernels::interrupt,
    /// Restart the kernel: its memory is lost, and what waits is cancelled.
    Restart(kernels::RestartArgs) => kernels::restart,
    /// Cancel everything that waits and interrupt what runs.
    Stop(runs::StopArgs) in notebook => runs::stop,

    /// List the databases that SQL cells can name, or the tables and columns of one.
    Connections(data::ConnectionsArgs) in notebook => data::connections,
    /// List the variables of a notebook's kernel, or show the rows of a data frame among them.
    Variables(data::VariablesArgs) in notebook => data::variables,
    /// List the files beside a notebook: those of the folder in which its kernels start; rename, delete and restore them.
    Files(files::FilesArgs) => files::files,
    /// Bring files to that folder, where code reads them.
    Upload(files::UploadArgs) in notebook => files::upload,
    /// Fetch a file from that folder.
    Download(files::DownloadArgs) in notebook => files::download,

    /// List the names of versions, or name one.
    Versions(history::VersionsArgs) in notebook => history::versions,
    /// Follow what everybody does, live.
    Watch(watch::WatchArgs) in notebook => watch::watch,
    /// Show who did what, when.
    Log(log::LogArgs) in notebook => log::log,
    /// Show what changed between two versions.
    Diff(history::DiffArgs) in notebook => history::diff,
    /// Write the record of a notebook or of a workspace as one file that is checked without a server.
    ExportRecord(export_record::ExportRecordArgs) => export_record::export_record,
    /// Bring exported records into the data folder of a stopped server, after a check.
    ImportRecord(import_record::ImportRecordArgs) => import_record::import_record,
    /// Write one page about a stretch of a notebook's record: who did, asked, decided and ran what.
    Report(report::ReportArgs) in notebook => report::report,
    /// Find a text in a notebook's cells; with --ever also where it stood once, and in which versions.
    Find(find::FindArgs) in notebook => find::find,
    /// Remove content from the record for good: a text, a cell's past, or an event; asks first.
    Redact(redact::RedactArgs) in notebook => redact::redact,
    /// Show who wrote each line of a cell, and at which version.
    Blame(history::BlameArgs) in notebook => history::blame,
    /// Prove here that the record was not tampered with, and leads to what the server shows; names the first break.
    Verify(verification::VerifyArgs) => proof::verify,
    /// Show the end of a record: its version and hash, or signed, to keep elsewhere.
    Head(heads::HeadArgs) => heads::head,
    /// Rebuild the state here from the record, and compare it with the server's; with --run, repeat its runs on a fresh kernel.
    Replay(replay::ReplayArgs) => replay::replay,

    /// Talk with an assistant that works in the notebook for you; asks you before anything is destroyed.
    Chat(chat::ChatArgs) in notebook => chat::chat,
    /// List the conversations with assistants.
    Conversations(assistants::ConversationsArgs) in notebook => assistants::conversations,
    /// See what assistants wait for, and confirm or deny it.
    Confirm(assistants::ConfirmArgs) => assistants::confirm,
    /// Let an outside assistant in: an MCP server on standard input and output.
    Mcp(mcp::McpArgs) => mcp::mcp,
    /// List what assistants did: arguments, who decided, result.
    Calls(assistants::CallsArgs) in notebook => assistants::calls,
    /// Show or set how much assistants may do unasked.
    Policy(assistants::PolicyArgs) in notebook => assistants::policy,
    /// Let a conversation's calls pass for a while; list and end such grants.
    Grant(assistants::GrantArgs) in notebook => assistants::grant,

    /// List, give and take roles in a notebook.
    #[command(subcommand)]
    Access(access::AccessCommand) => access::AccessCommand::run,
    /// Make workspaces, and say who and which notebooks belong to them.
    #[command(subcommand)]
    Workspace(access::WorkspaceCommand) => access::WorkspaceCommand::run,
    /// Make, list and revoke links for people without an account.
    #[command(subcommand)]
    Share(access::ShareCommand) => access::ShareCommand::run,

    /// Sign in, and store the token for the commands to come.
    Login(session::LoginArgs) => session::login,
    /// Print a link that signs one browser in, once.
    Link(session::LinkArgs) => session::link,
    /// Sign out, and forget the token.
    Logout(NoArgs) => session::logout,
    /// Show who you are and what your token allows.
    Whoami(JsonArgs) => session::whoami,
    /// Make, list and revoke tokens of programs that act for you.
    #[command(subcommand)]
    Token(accounts::TokenCommand) => accounts::TokenCommand::run,
    /// Make, list and revoke tokens of runtime agents.
    #[command(subcommand)]
    AgentToken(accounts::AgentTokenCommand) => accounts::AgentTokenCommand::run,
    /// List your notices: calls that wait for you, mentions, runs that ended, and the like.
    Notices(notices::NoticesArgs) => notices::notices,
    /// Make, list, test, rotate and delete webhooks, to which your notices are posted.
    #[command(subcommand)]
    Webhook(notices::WebhookCommand) => notices::WebhookCommand::run,
    /// Show what you and your workspaces use of the server and of models, and what you may.
    Usage(spending::UsageArgs) => spending::usage,
    /// List and set caps on what assistants spend.
    #[command(subcommand)]
    Cap(spending::CapCommand) => spending::CapCommand::run,
    /// Show what the removal of old outputs and snapshots would take: for administrators.
    Retention(retention::RetentionArgs) => retention::retention,
    /// Manage the accounts of people: for administrators.
    #[command(subcommand)]
    User(accounts::UserCommand) => accounts::UserCommand::run,
    /// List the nodes of the cluster: for administrators.
    Nodes(JsonArgs) => nodes::nodes,
}

impl Command {
    /// The default log filter: long-lived programs log warnings, commands only errors.
    pub fn default_log(&self) -> &'static str {
        match self {
            // The ZeroMQ library logs the normal end of a kernel as a warning.
            Self::Up(_) | Self::Demo(_) | Self::Agent(_) | Self::Run(_) | Self::Replay(_) => "warn,zeromq=error",
            Self::Serve(_) => "warn",
            _ => "error",
        }
    }

    /// True for programs that answer others, and whose traces a collector may want.
    fn serves(&self) -> bool {
        matches!(self, Self::Up(_) | Self::Demo(_) | Self::Serve(_) | Self::Agent(_))
    }
}

/// Runs the command.
pub async fn run(mut arguments: Arguments) -> Ended {
    if let Some(file) = &arguments.context.token_file {
        arguments.context.token = Some(command_line::token_in(file)?);
    }
    arguments.command.run(&arguments.context).await
}
