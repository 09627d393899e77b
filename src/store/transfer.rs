//! Transfer of everything that is not derived from one database to another: between SQLite and PostgreSQL, both ways.
//!
//! Invariants:
//! - A notebook that is there already is continued only if its head is one of the source's; what broke off goes on when it is repeated.
//! - At the end heads, answers to commands and all other rows are read back from the target, and are those that were read from the source.
//! - Snapshots, lists and searches are not transferred: they are made anew from the log.
//!
//! The source may be written to meanwhile: everything arrives as it was at one moment, the beginning. The log up to that moment does not
//! change any more, unless a notebook is erased: the transfer then ends with an error, and can be repeated.

use std::collections::BTreeMap;

use async_trait::async_trait;
use notarium_record::{Append, CommandRecord, Event, Hash, Head, NewEvent, NotebookId, Stored, Version, verify_chain};
use sha2::{Digest, Sha256};

use crate::blobs::BlobLocationError;
use crate::event_store::EventStore;
use crate::store_error::{AppendError, StoreError};
use crate::transfer_tables::{ROWS_PER_PAGE, TABLES, TransferRow, TransferTable};

/// Events of one append.
const EVENTS_PER_APPEND: usize = 500;

/// An answer to a command, with the notebook.
pub(crate) type NotebookCommand = (NotebookId, CommandRecord);

/// A database at one moment, without events and commands, which later ones follow and do not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreMoment {
    pub(crate) heads: BTreeMap<NotebookId, Head>,
    /// Notebooks that the log says are erased, and of which rows are left.
    pub(crate) unfinished_erasures: Vec<NotebookId>,
    /// Rows of [`TABLES`], in their order.
    pub(crate) rows: Vec<Vec<TransferRow>>,
}

/// A database that can be transferred.
#[async_trait]
pub(crate) trait Transferable: EventStore {
    /// Reads heads and rows in one transaction.
    async fn moment(&self) -> Result<StoreMoment, StoreError>;

    /// Returns the subjects of events after a version, by version, in order, up to `until`; `None`: the notebook as a whole.
    async fn subjects(
        &self,
        notebook: &NotebookId,
        after: Version,
        until: Version,
    ) -> Result<BTreeMap<Version, Option<String>>, StoreError>;

    /// Writes the only event of an erased notebook, which is finished.
    async fn put_erased(&self, last: NewEvent) -> Result<(), StoreError>;

    /// Returns commands of all notebooks after one of them, in the order of this database.
    async fn commands_after(&self, after: Option<&NotebookCommand>) -> Result<Vec<NotebookCommand>, StoreError>;

    /// Writes commands; those that are there already stay.
    async fn put_commands(&self, commands: &[NotebookCommand]) -> Result<(), StoreError>;

    /// Writes rows of a table in one transaction; those that are there already stay.
    async fn put_table_rows(&self, table: &TransferTable, rows: &[TransferRow]) -> Result<(), StoreError>;
}

/// Counts of what was transferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transferred {
    pub notebooks: u64,
    /// Events of all notebooks, with those that were there already.
    pub events: u64,
    pub commands: u64,
    /// Rows of accounts, records of blobs and the like.
    pub rows: u64,
}

/// Progress of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferStep {
    Events { done: u64, of: u64 },
    Commands { done: u64 },
    Rows { table: &'static str },
    Verifying { notebooks: u64, of: u64 },
}

/// Reason why a transfer did not end well.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the target has a notebook {notebook} that is not the source's: choose an empty target")]
    NotEmpty { notebook: NotebookId },
    #[error(
        "the target has rows of '{table}' that are not the source's: a server has used it, or the source has changed since a move broke off. Choose an empty target"
    )]
    Used { table: &'static str },
    #[error("the copy differs from the source: {what}. The source is unchanged; empty the target, and report it")]
    Differs { what: String },
    #[error("notebook {notebook} is being erased: try again")]
    BeingErased { notebook: NotebookId },
    #[error("the record of notebook {notebook} is not whole: {reason}. Restore a backup first")]
    Broken { notebook: NotebookId, reason: String },
    #[error(transparent)]
    Blobs(#[from] BlobLocationError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Told of each step.
pub type ReportTransfer<'a> = &'a (dyn Fn(TransferStep) + Sync);

/// Transfers everything of a moment of the source, and compares.
pub(crate) async fn transfer(
    from: &dyn Transferable,
    moment: &StoreMoment,
    to: &dyn Transferable,
    progress: ReportTransfer<'_>,
) -> Result<Transferred, TransferError> {
    if let Some(notebook) = moment.unfinished_erasures.first() {
        return Err(TransferError::BeingErased { notebook: notebook.clone() });
    }
    let heads = &moment.heads;
    let of = heads.values().map(|head| head.version).sum();
    let mut done = Transferred { notebooks: heads.len() as u64, ..Transferred::default() };
    for (notebook, head) in heads {
        let report = |events| progress(TransferStep::Events { done: done.events + events, of });
        done.events += match transfer_notebook(from, to, notebook, *head, &report).await {
            Err(TransferError::Broken { .. }) if is_erased_after(from, notebook, *head).await? => {
                return Err(TransferError::BeingErased { notebook: notebook.clone() });
            }
            events => events?,
        };
    }
    let commands = transfer_commands(from, to, heads, progress).await?;
    done.commands = commands.count;
    done.rows = transfer_tables(to, &moment.rows, progress).await?;
    compare_heads(to, heads, progress).await?;
    if commands_of(to, heads).await? != commands {
        return Err(TransferError::Differs { what: "the answers to commands".to_owned() });
    }
    compare_tables(to, &moment.rows).await?;
    Ok(done)
}

/// True if the notebook was erased after this head.
async fn is_erased_after(store: &dyn Transferable, notebook: &NotebookId, end: Head) -> Result<bool, StoreError> {
    let newest = store.head(notebook).await?.unwrap_or(Head::START);
    if newest.version <= end.version {
        return Ok(false);
    }
    let last = store.read(notebook, newest.version - 1, 1).await?;
    Ok(last.first().is_some_and(|event| event.erased_head().is_some()))
}

/// Appends what the target does not have; returns the number of events up to `end`.
async fn transfer_notebook(
    from: &dyn Transferable,
    to: &dyn Transferable,
    notebook: &NotebookId,
    end: Head,
    report: &(dyn Fn(u64) + Sync),
) -> Result<u64, TransferError> {
    let broken = |reason: String| TransferError::Broken { notebook: notebook.clone(), reason };
    let present = to.head(notebook).await?.unwrap_or(Head::START);
    if present.version > 0 {
        let known = from.read(notebook, present.version - 1, 1).await?;
        if known.first().is_none_or(|event| event.hash != present.hash) {
            return Err(TransferError::NotEmpty { notebook: notebook.clone() });
        }
    }
    let last = from.read(notebook, end.version - 1, 1).await?;
    if let Some(erased) = last.first().filter(|event| event.erased_head().is_some()) {
        if erased.envelope.version != end.version {
            return Err(TransferError::BeingErased { notebook: notebook.clone() });
        }
        verify_chain(Head::START, &last).map_err(|error| broken(error.to_string()))?;
        if present != end {
            to.put_erased(with_subject(erased.clone(), None)).await?;
        }
        return Ok(1);
    }
    let mut head = present;
    while head.version < end.version {
        let limit = usize::try_from(end.version - head.version).unwrap_or(usize::MAX).min(EVENTS_PER_APPEND);
        let events = from.read(notebook, head.version, limit).await?;
        let next = verify_chain(head, &events).map_err(|error| broken(error.to_string()))?;
        if events.is_empty() {
            return Err(broken(format!("it ends at version {}, not {}", head.version, end.version)));
        }
        let subjects = from.subjects(notebook, head.version, next.version).await?;
        append(to, notebook, head, events, &subjects).await?;
        head = next;
        report(head.version);
    }
    Ok(end.version)
}

/// The event with its subject: the database's, as an event of an unknown type does not say its own.
fn with_subject(stored: Stored, subject: Option<&Option<String>>) -> NewEvent {
    if let Some(subject) = subject {
        return NewEvent { stored, subject: subject.clone() };
    }
    let envelope = &stored.envelope;
    match Event::decode(&envelope.event_type, envelope.schema, stored.payload.get()) {
        Ok(event) => NewEvent::new(stored, &event),
        Err(_) => NewEvent { stored, subject: None },
    }
}

async fn append(
    to: &dyn Transferable,
    notebook: &NotebookId,
    expected: Head,
    events: Vec<Stored>,
    subjects: &BTreeMap<Version, Option<String>>,
) -> Result<(), TransferError> {
    let events = events.into_iter().map(|stored| {
        let subject = subjects.get(&stored.envelope.version);
        with_subject(stored, subject)
    });
    let append = Append {
        notebook_id: notebook.clone(),
        epoch: 0,
        expected,
        events: events.collect(),
        commands: Vec::new(),
        removal: Default::default(),
    };
    to.append(append).await.map_err(|error| match error {
        AppendError::Store(error) => error.into(),
        error => TransferError::Differs { what: format!("somebody else writes to the target ({error})") },
    })
}

/// Number of commands, and their digests, added up: their order differs between databases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CommandSum {
    count: u64,
    digest: [u64; 4],
}

impl CommandSum {
    fn add(&mut self, (notebook, command): &NotebookCommand) {
        let digest = Sha256::new().chain_update(notebook.as_str()).chain_update([0]).chain_update(&command.actor);
        let digest = digest.chain_update([0]).chain_update(command.command_id.as_str()).chain_update(command.digest);
        let digest = digest.chain_update(command.version.to_be_bytes()).chain_update(command.outcome.get()).finalize();
        self.count += 1;
        for (sum, bytes) in self.digest.iter_mut().zip(digest.chunks_exact(8)) {
            let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(number);
        }
    }
}

/// True for a command that was answered before the transfer began.
fn is_before(heads: &BTreeMap<NotebookId, Head>, (notebook, command): &NotebookCommand) -> bool {
    heads.get(notebook).is_some_and(|head| command.version <= head.version)
}

async fn transfer_commands(
    from: &dyn Transferable,
    to: &dyn Transferable,
    heads: &BTreeMap<NotebookId, Head>,
    progress: ReportTransfer<'_>,
) -> Result<CommandSum, StoreError> {
    let (mut sum, mut after) = (CommandSum::default(), None);
    loop {
        let mut page = from.commands_after(after.as_ref()).await?;
        let Some(last) = page.last() else { return Ok(sum) };
        after = Some(last.clone());
        page.retain(|command| is_before(heads, command));
        page.iter().for_each(|command| sum.add(command));
        to.put_commands(&page).await?;
        progress(TransferStep::Commands { done: sum.count });
    }
}

async fn commands_of(store: &dyn Transferable, heads: &BTreeMap<NotebookId, Head>) -> Result<CommandSum, StoreError> {
    let (mut sum, mut after) = (CommandSum::default(), None);
    loop {
        let page = store.commands_after(after.as_ref()).await?;
        let Some(last) = page.last() else { return Ok(sum) };
        after = Some(last.clone());
        page.iter().filter(|command| is_before(heads, command)).for_each(|command| sum.add(command));
    }
}

/// Writes the rows of the other tables.
async fn transfer_tables(
    to: &dyn Transferable,
    rows: &[Vec<TransferRow>],
    progress: ReportTransfer<'_>,
) -> Result<u64, StoreError> {
    let mut count = 0;
    for (table, rows) in TABLES.iter().zip(rows) {
        progress(TransferStep::Rows { table: table.name });
        for page in rows.chunks(ROWS_PER_PAGE) {
            to.put_table_rows(table, page).await?;
        }
        count += rows.len() as u64;
    }
    Ok(count)
}

async fn compare_tables(to: &dyn Transferable, rows: &[Vec<TransferRow>]) -> Result<(), TransferError> {
    let present = to.moment().await?.rows;
    let mut tables = TABLES.iter().zip(present.iter().zip(rows));
    match tables.find(|(_, (present, expected))| present != expected) {
        Some((table, _)) => Err(TransferError::Differs { what: format!("the rows of {}", table.name) }),
        None => Ok(()),
    }
}

/// Refuses a target with notebooks or rows that are not the source's. A transfer that broke off leaves only such of the source.
pub(crate) async fn refuse_filled(from: &StoreMoment, to: &dyn Transferable) -> Result<(), TransferError> {
    let present = to.moment().await?;
    for (notebook, head) in present.heads {
        if from.heads.get(&notebook).is_none_or(|known| known.version < head.version) {
            return Err(TransferError::NotEmpty { notebook });
        }
    }
    for (table, (present, rows)) in TABLES.iter().zip(present.rows.iter().zip(&from.rows)) {
        // Both are in one order.
        let mut rest = rows.iter();
        if !present.iter().all(|row| rest.any(|other| other == row)) {
            return Err(TransferError::Used { table: table.name });
        }
    }
    Ok(())
}

/// Reads every event of the target, and compares the end of its chain.
async fn compare_heads(
    to: &dyn Transferable,
    heads: &BTreeMap<NotebookId, Head>,
    progress: ReportTransfer<'_>,
) -> Result<(), TransferError> {
    for (index, (notebook, expected)) in heads.iter().enumerate() {
        progress(TransferStep::Verifying { notebooks: index as u64, of: heads.len() as u64 });
        let mut head = Head::START;
        while head.version < expected.version {
            let events = to.read(notebook, head.version, EVENTS_PER_APPEND).await?;
            let differs = |reason: String| TransferError::Differs { what: format!("notebook {notebook}: {reason}") };
            if events.is_empty() {
                return Err(differs(format!("it ends at version {}", head.version)));
            }
            head = verify_chain(head, &events).map_err(|error| differs(error.to_string()))?;
        }
        if head.hash != expected.hash && head.version == expected.version {
            return Err(TransferError::Differs { what: format!("the head of notebook {notebook}") });
        }
        let stated = to.head(notebook).await?;
        if stated.map(|head| head.hash) != Some(expected.hash) {
            let hash = stated.map_or(Hash::ZERO, |head| head.hash);
            return Err(TransferError::Differs { what: format!("notebook {notebook} states the head {hash}") });
        }
    }
    Ok(())
}
