//! The record: log, undo and redo, proof.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use notarium_core::{Command, CorrelationId, Document, Hash, Head, NotebookId, Stored, TurnId, Version, verify_chain};
use notarium_wire::rest::{EventPage, NotebookAnswer};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::client::{Client, PAGE};
use super::narrate::{Narrator, Told};
use super::{Context, Ended, Failure, find, notebooks, print};

/// Hands every event of the record after `after` to `visit`, page by page; returns the end of the record.
pub async fn each_event(
    client: &Client,
    notebook: &NotebookId,
    after: Version,
    mut visit: impl FnMut(&Stored) -> Ended,
) -> Result<Head, Failure> {
    let mut after = after;
    loop {
        let EventPage { events, head, next } = client.events(notebook, after, PAGE).await?;
        events.iter().try_for_each(&mut visit)?;
        match next {
            Some(next) if next > after => after = next,
            _ => return Ok(head),
        }
    }
}

// --- log ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium log analysis                     # the last 50 events
  notarium log analysis --since 10          # what happened after version 10
  notarium log analysis --since 0 --limit 100000 --json > record.jsonl
  notarium verify --file record.jsonl")]
pub struct LogArgs {
    /// Id or title.
    notebook: String,
    /// Events after this version; absent: the last ones.
    #[arg(long, value_name = "VERSION")]
    since: Option<Version>,
    /// At most so many.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: usize,
    /// The record itself: one event a line, with everything that is hashed.
    #[arg(long)]
    json: bool,
}

pub async fn log(args: LogArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let since = match args.since {
        Some(since) => since,
        None => last_events(&client, &notebook, args.limit).await?,
    };
    let mut narrator = Narrator::default();
    if !args.json && since > 0 {
        // What the runs of the last events were about may stand before them.
        narrator.learn(&*super::cells::outline(&client, &notebook).await?);
    }
    let (mut after, mut left) = (since, args.limit);
    while left > 0 {
        let page = client.events(&notebook, after, left.min(PAGE)).await?;
        for stored in &page.events {
            show(&client, &mut narrator, stored, args.json).await?;
        }
        left -= page.events.len().min(left);
        match page.next {
            Some(next) if left == 0 => print::note(format!("more follow: --since {next}")),
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(())
}

/// The version after which so many events follow.
async fn last_events(client: &Client, notebook: &NotebookId, count: usize) -> Result<Version, Failure> {
    let head = client.events(notebook, 0, 1).await?.head;
    Ok(head.version.saturating_sub(Version::try_from(count).unwrap_or(Version::MAX)))
}

async fn show(client: &Client, narrator: &mut Narrator, stored: &Stored, as_json: bool) -> Ended {
    match as_json {
        true => print::json_line(stored),
        false => print::line(narrator.line(client, &Told::from(stored), print::time).await),
    }
}

// --- undo, redo ---

#[derive(Debug, Args)]
pub struct StepsArgs {
    /// Id or title.
    notebook: String,
    /// So many of your changes.
    #[arg(long, default_value_t = 1)]
    steps: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium undo analysis
  notarium undo analysis --turn 01J…         # all that an assistant did in a turn
  notarium undo analysis --call 01J…         # one tool call, as `notarium calls` lists it")]
pub struct UndoArgs {
    #[command(flatten)]
    own: StepsArgs,
    /// What an assistant did in this turn.
    #[arg(long, value_name = "TURN", conflicts_with_all = ["steps", "call"])]
    turn: Option<TurnId>,
    /// What this tool call did.
    #[arg(long, value_name = "CALL", conflicts_with = "steps")]
    call: Option<CorrelationId>,
}

pub async fn undo(args: UndoArgs, context: &Context) -> Ended {
    let UndoArgs { own, turn, call } = args;
    // The undo group of all that a call does is the call.
    let command = Command::Undo { steps: own.steps, correlation_id: call, turn_id: turn };
    notebooks::change(context, &own.notebook, command).await
}

pub async fn redo(args: StepsArgs, context: &Context) -> Ended {
    notebooks::change(context, &args.notebook, Command::Redo { steps: args.steps }).await
}

// --- proof ---

/// A record: on the server, or in a file that `notarium log --since 0 --json` wrote.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Id or title.
    #[arg(required_unless_present = "file")]
    notebook: Option<String>,
    /// A file of JSON Lines that `notarium log NB --since 0 --json` wrote; no server is asked.
    #[arg(long, value_name = "FILE", conflicts_with = "notebook")]
    file: Option<PathBuf>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium verify analysis
  notarium verify analysis --expect 42:9f86d081…     # the hash that you noted when it was at version 42")]
pub struct VerifyArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// A version and its hash that you noted earlier: whoever rewrote the whole record since is found out.
    #[arg(long, value_name = "VERSION:HASH", value_parser = parse_expected)]
    expect: Vec<(Version, Hash)>,
}

fn parse_expected(text: &str) -> Result<(Version, Hash), String> {
    let parsed = text.split_once(':').and_then(|(version, hash)| {
        let hash = serde_json::from_value(serde_json::Value::String(hash.to_owned())).ok()?;
        Some((version.parse().ok()?, hash))
    });
    parsed.ok_or_else(|| "write VERSION:HASH with the 64 hexadecimal digits that `notarium verify` printed".to_owned())
}

/// Follows a record event by event: the chain, and what was expected on its way.
struct Proof {
    head: Head,
    expected: Vec<(Version, Hash)>,
    broken: Option<String>,
}

impl Proof {
    /// Whether to go on.
    fn next(&mut self, stored: &Stored) -> bool {
        match verify_chain(self.head, [stored]) {
            Ok(head) => self.head = head,
            Err(error) => self.broken = Some(error.to_string()),
        }
        let here = |(version, hash): &&(Version, Hash)| *version == self.head.version && *hash != self.head.hash;
        if self.broken.is_none()
            && let Some((version, hash)) = self.expected.iter().find(here)
        {
            let actual = self.head.hash;
            self.broken =
                Some(format!("version {version} has the hash {actual}, not {hash}: the record was rewritten"));
        }
        self.broken.is_none()
    }

    /// What the whole of it lacks: the server's own end, or a version that was expected.
    fn finish(&mut self, end: Option<Head>) {
        if self.broken.is_some() {
            return;
        }
        let too_late = self.expected.iter().find(|(version, _)| *version > self.head.version);
        self.broken = match (end, too_late) {
            (Some(end), _) if (end.version, end.hash) != (self.head.version, self.head.hash) => {
                Some(format!("the record ends at version {}, the server says {}", self.head.version, end.version))
            }
            (_, Some((version, _))) => {
                Some(format!("the record ends at version {}, before the expected {version}", self.head.version))
            }
            _ => None,
        };
    }
}

#[derive(Debug, Serialize)]
struct Verified {
    ok: bool,
    /// The last version that is proven.
    version: Version,
    hash: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub async fn verify(args: VerifyArgs, context: &Context) -> Ended {
    let mut proof = Proof { head: Head::START, expected: args.expect, broken: None };
    let end = match &args.record.file {
        Some(file) => {
            read_record(file)?.iter().all(|stored| proof.next(stored));
            None
        }
        None => Some(verify_on_server(&args.record, context, &mut proof).await?),
    };
    proof.finish(end);
    let Proof { head, broken, .. } = proof;
    let verified = Verified { ok: broken.is_none(), version: head.version, hash: head.hash, problem: broken };
    if args.record.json {
        print::json(&verified)?;
    }
    match verified.problem {
        Some(problem) => {
            let proven = head.version;
            Err(Failure::failed(format!("the record is not whole: {problem} (proven up to version {proven})")))
        }
        None if args.record.json => Ok(()),
        None => {
            print::line(format!("the record is whole: {} events, hash {}:{}", head.version, head.version, head.hash))
        }
    }
}

async fn verify_on_server(args: &RecordArgs, context: &Context, proof: &mut Proof) -> Result<Head, Failure> {
    let client = context.client()?;
    let notebook = find::notebook(&client, args.notebook.as_deref().unwrap_or_default()).await?;
    each_event(&client, &notebook, 0, |stored| {
        // What stands after a break proves nothing.
        let _ = proof.broken.is_some() || proof.next(stored);
        Ok(())
    })
    .await
}

fn read_record(file: &Path) -> Result<Vec<Stored>, Failure> {
    let unusable = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "{} is no record ({reason}): `notarium log NB --since 0 --limit 1000000 --json` writes one",
            file.display()
        ))
    };
    let text = std::fs::read_to_string(file).map_err(|error| unusable(&error))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
    let read =
        |(index, line)| serde_json::from_str(line).map_err(|error| unusable(&format!("line {}: {error}", index + 1)));
    let record: Vec<Stored> = lines.map(read).collect::<Result<_, _>>()?;
    // Nothing would be proven, and that must not look like a proof.
    if record.is_empty() { Err(unusable(&"it has no events")) } else { Ok(record) }
}

// --- replay ---

#[derive(Debug, Serialize)]
struct Replayed {
    version: Version,
    /// SHA-256 of the state's JSON, built here.
    state_hash: Hash,
    /// The same of the state that the server shows; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_state_hash: Option<Hash>,
    same: bool,
}

pub async fn replay(args: RecordArgs, context: &Context) -> Ended {
    let mut state = None;
    let served = match &args.file {
        Some(file) => {
            read_record(file)?.iter().try_for_each(|stored| fold(&mut state, stored))?;
            None
        }
        None => {
            let client = context.client()?;
            let notebook = find::notebook(&client, args.notebook.as_deref().unwrap_or_default()).await?;
            each_event(&client, &notebook, 0, |stored| fold(&mut state, stored)).await?;
            Some(served_state(&client, &notebook, state.as_ref()).await?)
        }
    };
    let state = state.ok_or_else(|| Failure::failed("the record has no events"))?;
    let (state_hash, server_state_hash) = (hash_of(&state)?, served.as_ref().map(hash_of).transpose()?);
    let same = server_state_hash.is_none_or(|hash| hash == state_hash);
    let replayed = Replayed { version: state.version, state_hash, server_state_hash, same };
    match args.json {
        true => print::json(&replayed)?,
        false => show_replayed(&replayed)?,
    }
    if replayed.same {
        return Ok(());
    }
    Err(Failure::failed("the server shows another state than its record leads to: report it, and keep the record"))
}

fn fold(state: &mut Option<Document>, stored: &Stored) -> Ended {
    let recorded = stored.typed().map_err(|error| Failure::failed(error.to_string()))?;
    state.get_or_insert_with(|| Document::new(stored.envelope.notebook_id.clone())).apply(&recorded);
    Ok(())
}

/// The server's state at the version that was built here: it may have moved on.
async fn served_state(client: &Client, notebook: &NotebookId, state: Option<&Document>) -> Result<Document, Failure> {
    let at = state.map_or(0, |state| state.version);
    let served: NotebookAnswer = client.get(&format!("/api/notebooks/{notebook}?at={at}")).await?;
    Ok(Arc::unwrap_or_clone(served.notebook))
}

fn hash_of(state: &Document) -> Result<Hash, Failure> {
    let json = serde_json::to_vec(state).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(Hash(Sha256::digest(json).into()))
}

fn show_replayed(replayed: &Replayed) -> Ended {
    print::line(format!("replayed {} events: state {}", replayed.version, replayed.state_hash))?;
    match &replayed.server_state_hash {
        Some(hash) => print::line(format!("the server shows state {hash} at that version")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_hash_is_read_or_explained() {
        let hash = "a".repeat(64);
        assert_eq!(parse_expected(&format!("7:{hash}")).unwrap().0, 7);
        for wrong in ["7", "x:00", "7:zz", &hash] {
            assert!(parse_expected(wrong).is_err(), "{wrong}");
        }
    }
}
