//! `upgrade`: the end of the time in which the release before still opens the data.

use std::path::{Path, PathBuf};

use clap::Args;
#[cfg(feature = "postgres")]
use notarium_core::LEVEL;
#[cfg(feature = "postgres")]
use notarium_store::Postgres;
use notarium_store::sqlite::DATABASE_FILE;
use notarium_store::{Sqlite, StoreError};
#[cfg(feature = "postgres")]
use secrecy::ExposeSecret;
use secrecy::SecretString;

use crate::cli::connection::context::{DATA_VARIABLE, data_folder};
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Line of a server whose upgrade has not ended.
pub const WAITS: &str =
    "Upgrade: the release before can still open this data; when you are content, run `notarium upgrade --finish`";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium upgrade --data /var/lib/notarium            # says whether the release before can still open the folder
  notarium upgrade --data /var/lib/notarium --finish   # while no server runs
  notarium upgrade --store postgresql://notarium@db/notes --finish   # while nodes of this release run
The first start of a new release changes the tables so that the release before can still open them, and writes nothing that it could not
read. --finish ends that, for good: make a backup before.")]
pub struct UpgradeArgs {
    /// The data folder of the server. Else ~/.local/share/notarium.
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: Option<PathBuf>,
    /// The PostgreSQL database of the server, if it has one.
    #[arg(long, value_name = "URL", env = "NOTARIUM_STORE", hide_env_values = true)]
    store: Option<SecretString>,
    /// End the upgrade, while no server uses the folder: the release before does not open the data any more, and everything of this release may be written.
    #[arg(long)]
    finish: bool,
}

pub async fn upgrade(args: UpgradeArgs, _: &CommonOptions) -> Ended {
    let had_ended = match &args.store {
        Some(store) => database(store, args.finish).await,
        None => {
            let data = args.data.map_or_else(data_folder, Ok)?;
            if !data.join(DATABASE_FILE).is_file() {
                return Err(Failure::usage(format!(
                    "there is no database in {}: name the server's folder (--data)",
                    data.display()
                )));
            }
            folder(&data, args.finish).await
        }
    };
    let had_ended = had_ended.map_err(|error| Failure::failed(error.to_string()))?;
    print::line(match (had_ended, args.finish) {
        (true, _) => "the upgrade has ended: only this release and later ones open the data",
        (false, true) => "ended: from now on only this release and later ones open the data",
        (false, false) => "the release before can still open the data: `notarium upgrade --finish` ends that",
    })
}

async fn folder(folder: &Path, finish: bool) -> Result<bool, StoreError> {
    let has_ended = Sqlite::upgrade_has_ended(folder).await?;
    if finish && !has_ended {
        Sqlite::finish_upgrade(folder).await?;
    }
    Ok(has_ended)
}

#[cfg(feature = "postgres")]
async fn database(url: &SecretString, finish: bool) -> Result<bool, StoreError> {
    let url = url.expose_secret();
    let has_ended = Postgres::upgrade_has_ended(url).await?;
    if finish && !has_ended {
        Postgres::finish_upgrade(url, LEVEL).await?;
    }
    Ok(has_ended)
}

#[cfg(not(feature = "postgres"))]
async fn database(_: &SecretString, _: bool) -> Result<bool, StoreError> {
    let reason = "this build has no PostgreSQL: build with the default features".to_owned();
    Err(StoreError::Refused { reason })
}
