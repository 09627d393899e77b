//! `move-store`: the store from a data folder to PostgreSQL, or back.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_store::BlobLocation;
#[cfg(feature = "postgres")]
use notarium_store::{StorePlace, TransferStep, Transferred};
#[cfg(feature = "postgres")]
use secrecy::ExposeSecret;
use secrecy::SecretString;

use super::blobs::BlobsArg;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium move-store /srv/notarium postgresql://notarium@db/notes
  notarium move-store postgresql://notarium@db/notes /srv/back
No server may run on either side. What broke off goes on when it is repeated; the source stays as it is. Blobs and the signing key
stay where they are: --blobs names the place of blobs, which a new folder remembers, and of old events (--cold-after). Passwords belong in
~/.pgpass.")]
pub struct MoveStoreArgs {
    /// A data folder, or the URL of a PostgreSQL database.
    #[arg(value_name = "DIR|URL")]
    from: String,
    /// The other kind: an empty folder or database, or what the same move left.
    #[arg(value_name = "DIR|URL")]
    to: String,
    #[command(flatten)]
    blobs: BlobsArg,
}

#[cfg(feature = "postgres")]
pub async fn move_store(args: MoveStoreArgs, _: &CommonOptions) -> Ended {
    let (from, to) = (StorePlace::parse(&args.from), StorePlace::parse(&args.to));
    let blobs = args.blobs.location()?;
    let bar = print::spinner();
    let moved = notarium_store::move_store(&from, &to, blobs.as_ref(), &|step| bar.set_message(step_words(step))).await;
    bar.finish_and_clear();
    let Transferred { notebooks, events, commands, rows } =
        moved.map_err(|error| Failure::failed(error.to_string()))?;
    let [notebooks, events, commands, rows] =
        [(notebooks, "notebook"), (events, "event"), (commands, "answer"), (rows, "other row")]
            .map(|(number, word)| print::count(usize::try_from(number).unwrap_or(usize::MAX), word));
    print::line(format!("moved and compared: {notebooks}, {events}, {commands}, {rows}"))?;
    if let (StorePlace::Folder(folder), StorePlace::Postgres(_)) = (&from, &to) {
        print::note(format!(
            "blobs and the signing key stay where they are: go on with notarium serve --data {0} --store URL, or with --blobs if they are in a bucket. \
             {0} still opens without --store: let no server do that any more",
            folder.display()
        ));
    }
    Ok(())
}

#[cfg(not(feature = "postgres"))]
pub async fn move_store(args: MoveStoreArgs, _: &CommonOptions) -> Ended {
    let MoveStoreArgs { from, to, blobs: _ } = args;
    Err(Failure::usage(format!(
        "this build has no PostgreSQL, so {from} is not moved to {to}: build with the default features"
    )))
}

/// A copy of a database in a data folder, removed with this value.
pub struct StoreCopy(PathBuf);

impl StoreCopy {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for StoreCopy {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            print::note(format!("{} is left, and can be deleted: {error}", self.0.display()));
        }
    }
}

/// Copies a PostgreSQL database, which may be in use, to a data folder beside the backup that is made of it.
#[cfg(feature = "postgres")]
pub async fn copy(store: &SecretString, blobs: &BlobLocation, backup: &Path) -> Result<StoreCopy, Failure> {
    let copy = StoreCopy(PathBuf::from(format!("{}.store.part", backup.display())));
    if copy.path().exists() {
        std::fs::remove_dir_all(copy.path()).map_err(|error| Failure::unreadable(copy.path(), &error))?;
    }
    let bar = print::spinner();
    let report = |step| bar.set_message(step_words(step));
    let copied = notarium_store::copy_store(store.expose_secret(), copy.path(), blobs, &report).await;
    bar.finish_and_clear();
    copied.map_err(|error| Failure::failed(error.to_string()))?;
    Ok(copy)
}

#[cfg(not(feature = "postgres"))]
pub async fn copy(_: &SecretString, _: &BlobLocation, backup: &Path) -> Result<StoreCopy, Failure> {
    let backup = backup.display();
    Err(Failure::usage(format!(
        "this build has no PostgreSQL, so {backup} is not written: build with the default features"
    )))
}

#[cfg(feature = "postgres")]
fn step_words(step: TransferStep) -> String {
    match step {
        TransferStep::Events { done, of } => format!("events: {done} of {of}"),
        TransferStep::Commands { done } => format!("answers to commands: {done}"),
        TransferStep::Rows { table } => format!("rows of {table}"),
        TransferStep::Verifying { notebooks, of } => format!("comparing notebooks: {notebooks} of {of}"),
    }
}
