//! The record: log, undo and redo, proof.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_core::{Command, CorrelationId, Document, Hash, Head, Stored, TurnId, Version, verify_chain};
use notarium_wire::rest::{EventPage, Verification};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::client::NotebookClient;
use super::narrate::{NarratedEvent, Narrator};
use super::notebooks::report;
use super::{Context, Ended, Failure, input, print};

/// Events of one page of the record.
const PAGE: usize = 1_000;
/// So many of the events of an undo or redo are shown.
const EVENTS_OF_STEP: Version = 10;

/// Hands every event of the record after `after` to `visit`, page by page; returns the end of the record.
pub async fn each_event(
    notebook: &NotebookClient,
    after: Version,
    mut visit: impl FnMut(&Stored) -> Ended,
) -> Result<Head, Failure> {
    let mut after = after;
    loop {
        let EventPage { events, head, next } = notebook.events(after, PAGE).await?;
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
    let notebook = context.notebook(&args.notebook).await?;
    let since = match args.since {
        Some(since) => since,
        None => last_events(&notebook, args.limit).await?,
    };
    let mut narrator = Narrator::new(&notebook.client);
    if !args.json && since > 0 {
        // What the runs of the last events were about may stand before them.
        narrator.learn(&*notebook.outline().await?);
    }
    let (mut after, mut left) = (since, args.limit);
    while left > 0 {
        let page = notebook.events(after, left.min(PAGE)).await?;
        for stored in &page.events {
            match args.json {
                true => print::json_line(stored)?,
                false => print::line(narrator.line(&NarratedEvent::from(stored), print::time).await)?,
            }
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
async fn last_events(notebook: &NotebookClient, count: usize) -> Result<Version, Failure> {
    let head = notebook.events(0, 1).await?.head;
    Ok(head.version.saturating_sub(Version::try_from(count).unwrap_or(Version::MAX)))
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
    step(&context.notebook(&own.notebook).await?, &command).await
}

pub async fn redo(args: StepsArgs, context: &Context) -> Ended {
    step(&context.notebook(&args.notebook).await?, &Command::Redo { steps: args.steps }).await
}

/// Sends an undo or a redo, and says what it did: the last events of its command, and that there were more.
async fn step(notebook: &NotebookClient, command: &Command) -> Ended {
    let answer = notebook.command(command).await?;
    let page = notebook.events(answer.version.saturating_sub(EVENTS_OF_STEP + 1), PAGE).await?;
    let own: Vec<&Stored> =
        page.events.iter().filter(|stored| stored.envelope.command_id == answer.command_id).collect();
    let (earlier, shown) = own.split_at(own.len().saturating_sub(EVENTS_OF_STEP as usize));
    if !earlier.is_empty() {
        print::note("(its last events: `notarium log` has them all)");
    }
    let mut narrator = Narrator::new(&notebook.client);
    for stored in shown {
        print::note(narrator.line(&NarratedEvent::from(*stored), print::time).await);
    }
    report(&answer);
    Ok(())
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
    /// What stands after a break proves nothing.
    fn next(&mut self, stored: &Stored) {
        if self.broken.is_some() {
            return;
        }
        match verify_chain(self.head, [stored]) {
            Ok(head) => self.head = head,
            Err(error) => self.broken = Some(error.to_string()),
        }
        let Head { version: at, hash: actual, .. } = self.head;
        if let Some((_, hash)) = self.expected.iter().find(|(version, hash)| *version == at && *hash != actual) {
            let rewritten = || format!("version {at} has the hash {actual}, not {hash}: the record was rewritten");
            self.broken.get_or_insert_with(rewritten);
        }
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

pub async fn verify(args: VerifyArgs, context: &Context) -> Ended {
    let mut proof = Proof { head: Head::START, expected: args.expect, broken: None };
    let visit = |stored: &Stored| {
        proof.next(stored);
        Ok(())
    };
    let served = each_recorded(&args.record, context, visit).await?;
    proof.finish(served.map(|(_, end)| end));
    let Proof { head: Head { version, hash, .. }, broken, .. } = proof;
    let (ok, state_hash, state_is_replayed) = (broken.is_none(), None, None);
    let verified = Verification { ok, version, hash, state_hash, state_is_replayed, problem: broken };
    if args.record.json {
        print::json(&verified)?;
    } else if verified.ok {
        print::line(format!("the record is whole: {version} events, hash {version}:{hash}"))?;
    }
    let broken =
        |problem| Failure::failed(format!("the record is not whole: {problem} (proven up to version {version})"));
    verified.problem.map_or(Ok(()), |problem| Err(broken(problem)))
}

/// Hands every event of a record to `visit`. Where it is on a server: the notebook, and the end that the server says.
async fn each_recorded(
    args: &RecordArgs,
    context: &Context,
    visit: impl FnMut(&Stored) -> Ended,
) -> Result<Option<(NotebookClient, Head)>, Failure> {
    if let Some(file) = &args.file {
        read_record(file).await?.iter().try_for_each(visit)?;
        return Ok(None);
    }
    let notebook = context.notebook(args.notebook.as_deref().unwrap_or_default()).await?;
    let end = each_event(&notebook, 0, visit).await?;
    Ok(Some((notebook, end)))
}

async fn read_record(file: &Path) -> Result<Vec<Stored>, Failure> {
    let unusable = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "{} is no record ({reason}): `notarium log NB --since 0 --limit 1000000 --json` writes one",
            file.display()
        ))
    };
    let text = input::text(file).await?;
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
    let served = each_recorded(&args, context, |stored| fold(&mut state, stored)).await?;
    let state = state.ok_or_else(|| Failure::failed("the record has no events"))?;
    let (version, state_hash) = (state.version, hash_of(&state)?);
    let server_state_hash = match served {
        // The server may have moved on since.
        Some((notebook, _)) => Some(hash_of(&notebook.state(Some(version)).await?.notebook)?),
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
    let differs = "the server shows another state than its record leads to: report it, and keep the record";
    if same { Ok(()) } else { Err(Failure::failed(differs)) }
}

fn fold(state: &mut Option<Document>, stored: &Stored) -> Ended {
    let recorded = stored.typed().map_err(|error| Failure::failed(error.to_string()))?;
    state.get_or_insert_with(|| Document::new(stored.envelope.notebook_id.clone())).apply(&recorded);
    Ok(())
}

fn hash_of(state: &Document) -> Result<Hash, Failure> {
    let json = serde_json::to_vec(state).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(Hash(Sha256::digest(json).into()))
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
