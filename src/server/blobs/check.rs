//! Checks that a command names only blobs that were uploaded for its notebook.

use std::collections::BTreeSet;

use notarium_core::{Command, ExecutionReport, Hash, Millis, Output, RawJson, Rejection, RejectionCode};
use notarium_store::Blobs;
use notarium_wire::CommandMessage;

use crate::blobs::claims::BlobClaims;

/// Refuses a command that names a blob which its notebook does not have.
pub async fn check(
    blobs: &Blobs,
    claims: &BlobClaims,
    now: Millis,
    CommandMessage { notebook, body, .. }: &CommandMessage,
) -> Result<(), Rejection> {
    for hash in named_by(body)? {
        let known = claims.claim(blobs, notebook, &hash, now).await.map_err(|error| {
            tracing::error!(%error, %notebook, "blob not looked up");
            Rejection::new(RejectionCode::Unavailable, "the server could not read its data: try again later")
        })?;
        if known.is_none() {
            let message = format!("blob {hash} was not uploaded for this notebook: upload it first");
            return Err(Rejection::new(RejectionCode::InvalidValue, message));
        }
    }
    Ok(())
}

/// Blobs that a command names, each once. The text search avoids parsing most commands.
fn named_by(body: &RawJson) -> Result<BTreeSet<Hash>, Rejection> {
    if !body.get().contains("sha256") {
        return Ok(BTreeSet::new());
    }
    // An unreadable command is refused by the room, with the reason.
    let Ok(command) = serde_json::from_str::<Command>(body.get()) else { return Ok(BTreeSet::new()) };
    let mut hashes = BTreeSet::new();
    collect(&command, &mut hashes)?;
    Ok(hashes)
}

fn collect(command: &Command, hashes: &mut BTreeSet<Hash>) -> Result<(), Rejection> {
    match command {
        Command::Batch { commands } => commands.iter().try_for_each(|command| collect(command, hashes)),
        Command::RecordExecution { outputs, .. }
        | Command::ReportExecution { report: ExecutionReport::Output { outputs }, .. } => {
            outputs.iter().try_for_each(|output| collect_output(output, hashes))
        }
        Command::ReportExecution { report: ExecutionReport::UpdateDisplay { output, .. }, .. } => {
            collect_output(output, hashes)
        }
        Command::StartTurn(turn) => turn.attachments.iter().try_for_each(|attachment| {
            hashes.insert(parse_hash(&attachment.sha256)?);
            Ok(())
        }),
        _ => Ok(()),
    }
}

fn collect_output(output: &Output, hashes: &mut BTreeSet<Hash>) -> Result<(), Rejection> {
    for part in &output.blobs {
        hashes.insert(parse_hash(&part.sha256)?);
    }
    Ok(())
}

/// Parses a SHA-256 in lower-case hex.
pub fn parse_hash(text: &str) -> Result<Hash, Rejection> {
    let mut bytes = [0; 32];
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) if is_lower => Ok(Hash(bytes)),
        _ => {
            let shown: String = text.chars().take(80).collect();
            let message = format!("'{shown}' is not the lower-case hex of a SHA-256");
            Err(Rejection::new(RejectionCode::InvalidValue, message))
        }
    }
}
