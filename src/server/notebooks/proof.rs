//! Proof of a record: its chain of hashes, whether every author might do what is recorded, and whether what the server keeps beside the record
//! agrees: the answers to commands, and snapshots.

mod commands;
mod snapshots;

use notarium_core::{CommandTracer, NotebookId, RecordCheck, Stored, TracedCommand, Version};
use notarium_store::{EventStore, StoreError};
use notarium_wire::rest::ComparedCommands;

use crate::http::problem::Problem;
use commands::CommandComparison;
use snapshots::SnapshotComparison;

/// Events per read.
const PAGE: usize = 2_000;

/// Result of a proof.
pub struct RecordProof {
    /// The record itself.
    pub check: RecordCheck,
    /// The first thing that is kept beside the record and contradicts it.
    pub contradiction: Option<String>,
    /// Comparison of the answers to commands.
    pub commands: ComparedCommands,
    /// Count of snapshots that agree.
    pub snapshots: u64,
}

/// Proves the record up to a version, with memory for few pages and the state. `end`: version of the record's end; a command may have events on
/// both sides of an earlier version. `counts`: answers that nothing proves are counted.
pub async fn of(
    store: &dyn EventStore,
    notebook: &NotebookId,
    to: Version,
    end: Version,
    counts: bool,
) -> Result<RecordProof, Problem> {
    let mut commands = CommandComparison::begin(store, notebook).await?;
    let snapshots = SnapshotComparison::begin(store, notebook, to).await?;
    let mut proof =
        ProofProgress { check: RecordCheck::new(notebook.clone()), tracer: CommandTracer::default(), snapshots, to };
    let mut page = read(store, notebook, 0).await?;
    let mut traced = Vec::new();
    while proof.goes_on() {
        let events = match page {
            Ok(events) if !events.is_empty() => events,
            Ok(_) => {
                proof.check.break_off(format!("the record ends at version {}, not {to}", proof.check.head.version));
                break;
            }
            Err(problem) => {
                proof.check.break_off(problem);
                break;
            }
        };
        let after = events.last().map_or(to, |stored| stored.envelope.version);
        let followed = tokio::task::spawn_blocking(move || proof.follow(&events));
        // The next page is read, and the answers to the last one, while this one is checked.
        let next = async { if after < to { read(store, notebook, after).await } else { Ok(Ok(Vec::new())) } };
        let (followed, next, compared) = tokio::join!(followed, next, commands.compare(store, notebook, &traced));
        compared?;
        (proof, traced) = followed.map_err(|error| Problem::invalid(format!("the record was not proven: {error}")))?;
        page = next?;
    }
    let ProofProgress { check, tracer, snapshots, .. } = proof;
    // After a break, and before the end, the last command may be cut.
    let is_end = check.broken.is_none() && to == end;
    traced.extend(tracer.finish().filter(|_| is_end));
    commands.compare(store, notebook, &traced).await?;
    let unproven = if counts && is_end { Some(commands.unproven(store, notebook, to).await?) } else { None };
    let (compared, contradiction) = commands.finish(unproven);
    let (snapshots, other) = snapshots.finish();
    Ok(RecordProof { check, contradiction: contradiction.or(other), commands: compared, snapshots })
}

/// The next page; the inner error names an event that cannot be read.
async fn read(
    store: &dyn EventStore,
    notebook: &NotebookId,
    after: Version,
) -> Result<Result<Vec<Stored>, String>, Problem> {
    match store.read(notebook, after, PAGE).await {
        Err(error @ StoreError::UnreadableEvent { .. }) => Ok(Err(error.to_string())),
        events => Ok(Ok(events?)),
    }
}

/// Checks that each event passes.
struct ProofProgress {
    check: RecordCheck,
    tracer: CommandTracer,
    snapshots: SnapshotComparison,
    to: Version,
}

impl ProofProgress {
    fn goes_on(&self) -> bool {
        self.check.head.version < self.to && self.check.broken.is_none()
    }

    /// Follows the events of a page; returns the commands that have ended.
    fn follow(mut self, events: &[Stored]) -> (Self, Vec<TracedCommand>) {
        let mut traced = Vec::new();
        for stored in events.iter().take_while(|stored| stored.envelope.version <= self.to) {
            let recorded = self.check.follow(stored);
            if self.check.broken.is_some() {
                break;
            }
            traced.extend(self.tracer.see(stored, recorded.as_ref().map(|recorded| &recorded.event)));
            self.snapshots.follow(&self.check, recorded.as_ref());
        }
        (self, traced)
    }
}
