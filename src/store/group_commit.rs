//! Group commit, for the backends with a database: the queue of appends, and the plan of a batch, which says what of it can be written.

use std::time::Instant;

use foldhash::{HashMap, HashSet};
use notarium_record::{Append, CommandId, Epoch, Head, NotebookId};
use tokio::sync::{mpsc, oneshot};

use crate::commit_metrics::CommitMetrics;
use crate::event_store::check;
use crate::store_error::{AppendError, StoreError};

/// Maximum number of queued appends; beyond it senders wait.
pub(crate) const MAX_QUEUED_APPENDS: usize = 4_096;

/// Maximum number of appends in a batch, and of events above which a batch is closed.
pub(crate) const MAX_BATCH: usize = 512;

/// Payload bytes above which a batch is closed.
const MAX_BATCH_PAYLOAD_BYTES: usize = 8 << 20;

/// Small key of a notebook's id, for rows.
pub(crate) type NotebookKey = i64;

/// Key, epoch and head of a notebook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotebookHead {
    /// Small key in SQLite; 0: a new notebook, and always in PostgreSQL.
    pub(crate) key: NotebookKey,
    pub(crate) epoch: Epoch,
    pub(crate) head: Head,
}

/// Key of a command, unique in the store.
pub(crate) type CommandPlace<'a> = (&'a NotebookId, &'a str, &'a CommandId);

/// Accepted appends, by index, and the refused ones with their errors.
#[derive(Debug, Default)]
pub(crate) struct BatchPlan {
    pub(crate) accepted: Vec<usize>,
    pub(crate) refused: Vec<(usize, AppendError)>,
    /// Head of each notebook after the accepted appends.
    pub(crate) heads: HashMap<NotebookId, NotebookHead>,
}

impl BatchPlan {
    /// Plans a batch. Every notebook of `appends` must be known. `recorded`: commands of these appends that are already in the store.
    pub(crate) fn of<'a>(
        appends: impl IntoIterator<Item = &'a Append>,
        known: &HashMap<NotebookId, NotebookHead>,
        recorded: &HashSet<CommandPlace<'a>>,
    ) -> Self {
        let mut plan = Self::default();
        let mut seen = recorded.clone();
        for (index, append) in appends.into_iter().enumerate() {
            match plan.admit(append, known, &mut seen) {
                Ok(()) => plan.accepted.push(index),
                Err(error) => plan.refused.push((index, error)),
            }
        }
        plan
    }

    fn admit<'a>(
        &mut self,
        append: &'a Append,
        known: &HashMap<NotebookId, NotebookHead>,
        seen: &mut HashSet<CommandPlace<'a>>,
    ) -> Result<(), AppendError> {
        check(append)?;
        let place = self.heads.get(&append.notebook_id).or_else(|| known.get(&append.notebook_id));
        let place = place.copied().unwrap_or(NotebookHead { key: 0, epoch: 0, head: Head::START });
        let head = place.head;
        if place.epoch != append.epoch {
            return Err(AppendError::LeaseLost { epoch: place.epoch });
        }
        if head != append.expected {
            return Err(AppendError::VersionConflict { actual: (head.version > 0).then_some(head) });
        }
        for (count, command) in command_places(append).enumerate() {
            if !seen.insert(command) {
                // A refused append must leave no commands in `seen`.
                for before in command_places(append).take(count) {
                    seen.remove(&before);
                }
                let (_, actor, command_id) = command;
                return Err(AppendError::DuplicateCommand { actor: actor.to_owned(), command_id: command_id.clone() });
            }
        }
        self.heads.insert(append.notebook_id.clone(), NotebookHead { head: append.head(), ..place });
        Ok(())
    }
}

pub(crate) fn command_places(append: &Append) -> impl Iterator<Item = CommandPlace<'_>> {
    append.commands.iter().map(|command| (&append.notebook_id, command.actor.as_str(), &command.command_id))
}

/// An append with the channel for its answer.
pub(crate) struct Queued {
    pub(crate) append: Append,
    pub(crate) answer: oneshot::Sender<Result<(), AppendError>>,
    pub(crate) queued_at: Instant,
}

impl Queued {
    pub(crate) fn new(append: Append) -> (Self, oneshot::Receiver<Result<(), AppendError>>) {
        let (answer, answered) = oneshot::channel();
        (Self { append, answer, queued_at: Instant::now() }, answered)
    }
}

/// Takes further queued appends beside the first, up to the limits of a batch.
pub(crate) fn take_batch(queue: &mut mpsc::Receiver<Queued>, first: Queued) -> Vec<Queued> {
    let (mut events, mut bytes) = (first.append.events.len(), payload_bytes(&first.append));
    let mut batch = vec![first];
    // A removal is long: it has a transaction of its own.
    while batch.iter().all(|queued| queued.append.removal.is_empty())
        && events < MAX_BATCH
        && batch.len() < MAX_BATCH
        && bytes < MAX_BATCH_PAYLOAD_BYTES
    {
        let Ok(next) = queue.try_recv() else { break };
        events += next.append.events.len();
        bytes += payload_bytes(&next.append);
        batch.push(next);
    }
    batch
}

impl CommitMetrics {
    /// Notes the batch that begins now.
    pub(crate) fn begin(&self, batch: &[Queued]) -> Instant {
        let now = Instant::now();
        for queued in batch {
            self.queue_waits.observe_time(now.saturating_duration_since(queued.queued_at));
        }
        self.batch_appends.observe_size(batch.len());
        self.batch_events.observe_size(batch.iter().map(|queued| queued.append.events.len()).sum());
        self.batch_bytes.observe_size(batch.iter().map(|queued| payload_bytes(&queued.append)).sum());
        now
    }
}

/// Bytes of the payloads of an append's events.
pub(crate) fn payload_bytes(append: &Append) -> usize {
    append.events.iter().map(|event| event.stored.payload.get().len()).sum()
}

/// Error for an append whose outcome the writer did not report.
pub(crate) fn unanswered() -> StoreError {
    StoreError::Unknown { reason: "the store was closed meanwhile".to_owned() }
}

pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable { reason: "the store is closed".to_owned() }
}
