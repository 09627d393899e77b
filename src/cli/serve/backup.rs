//! `backup` and `restore`: copy the data folder of a running server, and restore it.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_store::backup::{self, BackedUp, BackupError, BackupStep};

use crate::cli::connection::context::{DATA_VARIABLE, data_folder};
use crate::cli::terminal::print;
use crate::cli::{Context, Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium backup /mnt/backup/notarium           # the server may run; again into the same folder copies new blobs only
  notarium backup --data /srv/notarium nightly
  notarium backup monday.tar.zst                 # one file, made anew; needs as much room again while it is written
  notarium restore nightly /srv/restored && notarium serve --data /srv/restored")]
pub struct BackupArgs {
    /// The folder of the backup, made when it is missing; or one file, whose name ends with .tar or .tar.zst.
    #[arg(value_name = "DIR|FILE")]
    into: PathBuf,
    /// The data folder of the server, which may run. Else ~/.local/share/notarium.
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  notarium restore nightly /srv/restored && notarium serve --data /srv/restored")]
pub struct RestoreArgs {
    /// The folder or file that `notarium backup` wrote.
    from: PathBuf,
    /// The data folder to make: empty, or not there.
    into: PathBuf,
}

pub async fn backup(args: BackupArgs, _: &Context) -> Ended {
    let data = args.data.map_or_else(data_folder, Ok)?;
    let bar = print::spinner();
    let done = backup::backup(&data, &args.into, &|step| bar.set_message(words(step))).await;
    bar.finish_and_clear();
    report("backed up", &args.into, done)
}

pub async fn restore(args: RestoreArgs, _: &Context) -> Ended {
    let bar = print::spinner();
    let done = backup::restore(&args.from, &args.into, &|step| bar.set_message(words(step))).await;
    bar.finish_and_clear();
    report("restored", &args.into, done)
}

/// Reports copied and missing items.
fn report(verb: &str, into: &Path, done: Result<BackedUp, BackupError>) -> Ended {
    let done = done.map_err(|error| Failure::failed(error.to_string()))?;
    let BackedUp { notebooks, events, blobs, copied_blobs, lost } = done;
    let [notebooks, events, blobs] = [(notebooks, "notebook"), (events, "event"), (blobs, "blob")]
        .map(|(number, word)| print::count(usize::try_from(number).unwrap_or(usize::MAX), word));
    print::line(format!(
        "{verb} and verified: {notebooks}, {events}, {blobs} ({copied_blobs} copied) in {}",
        into.display()
    ))?;
    if lost.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = lost.iter().map(|(notebook, sha256)| format!("{sha256} of notebook {notebook}")).collect();
    Err(Failure::failed(format!(
        "everything else is there, but {} that the record names could not be copied, because they are missing or damaged: {}",
        print::count(lost.len(), "blob"),
        named.join(", ")
    )))
}

fn words(step: BackupStep) -> String {
    match step {
        BackupStep::Database { database_bytes } => format!("copying the database ({})", print::size(database_bytes)),
        BackupStep::Verifying => "verifying the copy".to_owned(),
        BackupStep::Archive => "writing or reading the file".to_owned(),
        BackupStep::Blobs { done, of } => format!("copying blobs: {done} of {of}"),
    }
}
