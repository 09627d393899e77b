//! `replay` without `--run`: builds the state again from its record, and compares it with the server's.

use std::path::PathBuf;

use clap::Args;
use notarium_core::{Document, Hash, Head, Stored, Version};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::cli::connection::client::NotebookClient;
use crate::cli::history::each_event;
use crate::cli::history::record_file::RecordEvents;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Problem of a record that leads to another state.
pub const OTHER_STATE: &str =
    "the server shows another state than its record leads to: report it, and keep the record (notarium log --json)";

/// A record: on the server, or in a file that `notarium export-record` or `notarium log --since 0 --json` wrote.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Id or title.
    pub notebook: Option<String>,
    /// A file that `notarium export-record` or `notarium log NB --since 0 --json` wrote; no server is asked.
    #[arg(long, value_name = "FILE", conflicts_with = "notebook")]
    pub file: Option<PathBuf>,
    /// The answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct Replayed {
    version: Version,
    /// SHA-256 of the state's JSON, built here.
    state_hash: Hash,
    /// The same hash of the server's state; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_state_hash: Option<Hash>,
    same: bool,
}

pub async fn rebuild(args: RecordArgs, context: &CommonOptions) -> Ended {
    let mut state = None;
    let served = each_recorded(&args, context, |stored| fold(&mut state, stored)).await?;
    let state = state.ok_or_else(|| Failure::failed("the record has no events"))?;
    let (version, state_hash) = (state.version, hash_of(&state)?);
    let server_state_hash = match &served {
        Some((notebook, _)) => Some(served_hash(notebook, version).await?),
        None => None,
    };
    let same = server_state_hash.is_none_or(|hash| hash == state_hash);
    if args.json {
        print::json(&Replayed { version, state_hash, server_state_hash, same })?;
    } else {
        print::line(format!("replayed {version} events: state {state_hash}"))?;
        let on_server = |hash| print::line(format!("the server shows state {hash} at that version"));
        server_state_hash.map_or(Ok(()), on_server)?;
    }
    if same { Ok(()) } else { Err(Failure::failed(OTHER_STATE)) }
}

fn fold(state: &mut Option<Document>, stored: &Stored) -> Ended {
    let recorded = stored.typed().map_err(|error| Failure::failed(error.to_string()))?;
    let state = state.get_or_insert_with(|| Document::new(stored.envelope.notebook_id.clone()));
    if state.notebook_id != stored.envelope.notebook_id {
        return Err(Failure::usage(
            "the file has several notebooks: export the one to replay (notarium export-record NB)",
        ));
    }
    state.apply(&recorded);
    Ok(())
}

/// SHA-256 of a state's JSON.
pub fn hash_of(state: &Document) -> Result<Hash, Failure> {
    let json = serde_json::to_vec(state).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(Hash(Sha256::digest(json).into()))
}

/// The hash of the server's state at a version.
pub async fn served_hash(notebook: &NotebookClient, version: Version) -> Result<Hash, Failure> {
    // The notebook may have changed since, so the version is named.
    hash_of(&notebook.state(Some(version)).await?.notebook)
}

/// Passes every event of a record to `visit`. Returns the notebook and its head if the record is on a server.
pub async fn each_recorded(
    args: &RecordArgs,
    context: &CommonOptions,
    mut visit: impl FnMut(&Stored) -> Ended,
) -> Result<Option<(NotebookClient, Head)>, Failure> {
    if let Some(file) = &args.file {
        for stored in RecordEvents::open(file)? {
            visit(&stored?)?;
        }
        return Ok(None);
    }
    let missing = || Failure::usage("name a notebook, or a file with its record (--file)");
    let notebook = context.notebook(args.notebook.as_deref().ok_or_else(missing)?).await?;
    let end = each_event(&notebook, 0, visit).await?;
    Ok(Some((notebook, end)))
}
