//! In-memory store for tests, with the contract suite of every store. Appends count as "on disk" immediately.

#[path = "memory_log.rs"]
mod log;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_core::{
    Append, CommandId, CommandRecord, ContentRemoval, ERASED, Envelope, Epoch, Hash, Head, InstanceId, Millis,
    NewEvent, NotebookId, Selection, StandIn, Stored, Version,
};
use notarium_store::{
    AppendError, Author, BlobRecord, CatalogCursor, CatalogEntry, CatalogPage, CatalogQuery, ContentLocks,
    EVENT_OVERHEAD_BYTES, EventStore, FoundLines, LoggedHead, MAX_HISTORY_EVENTS, MAX_READ_EVENTS, MAX_SNAPSHOT_GAP,
    NotebookSize, PastLine, PastLinesWritten, Snapshot, StoreError, bounded, check, check_listed, lower_case, page,
    thinned_out, within_gap, within_limit, words,
};
use parking_lot::Mutex;

use log::{Log, index};

/// Store with one map behind a mutex that is never held across an await.
#[derive(Debug, Default)]
pub struct Memory {
    notebooks: Mutex<BTreeMap<NotebookId, Log>>,
    content_locks: ContentLocks,
}

impl Memory {
    /// Runs `read` on the notebook's log; returns the default if there is none.
    fn with<T: Default>(&self, notebook: &NotebookId, read: impl FnOnce(&Log) -> T) -> T {
        self.notebooks.lock().get(notebook).map(read).unwrap_or_default()
    }
}

#[async_trait]
impl EventStore for Memory {
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        let mut notebooks = self.notebooks.lock();
        let Some(log) = notebooks.get_mut(notebook) else { return Ok(0) };
        if log.holder.as_ref() != Some(instance) {
            log.holder = Some(instance.clone());
            log.epoch += 1;
        }
        Ok(log.epoch)
    }

    fn content_locks(&self) -> &ContentLocks {
        &self.content_locks
    }

    async fn purge(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn blobs_to_purge(&self) -> Result<Vec<(NotebookId, Hash)>, StoreError> {
        let notebooks = self.notebooks.lock();
        let due = notebooks.iter().flat_map(|(id, log)| log.blobs_to_purge.iter().map(|sha256| (id.clone(), *sha256)));
        Ok(due.collect())
    }

    async fn blob_purged(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        if let Some(log) = self.notebooks.lock().get_mut(notebook) {
            log.blobs_to_purge.retain(|due| due != sha256);
        }
        Ok(())
    }

    async fn append(&self, append: Append) -> Result<(), AppendError> {
        let removes = !append.removal.is_empty();
        let _removing = if removes { Some(self.content_locks.write(&append.notebook_id).await) } else { None };
        let mut notebooks = self.notebooks.lock();
        match notebooks.get_mut(&append.notebook_id) {
            Some(log) => {
                log.check(&append)?;
                log.write(append);
            }
            None => {
                let mut log = Log::default();
                log.check(&append)?;
                let notebook_id = append.notebook_id.clone();
                log.write(append);
                notebooks.insert(notebook_id, log);
            }
        }
        Ok(())
    }

    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError> {
        Ok(self.with(notebook, |log| log.head))
    }

    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError> {
        Ok(self.with(notebook, |log| {
            let tail = log.events.iter().skip(if log.is_erased { 0 } else { index(after) });
            let tail = tail.filter(|event| event.stored.envelope.version > after).take(limit.min(MAX_READ_EVENTS));
            tail.map(|event| event.stored.clone()).collect()
        }))
    }

    async fn read_subject(
        &self,
        notebook: &NotebookId,
        subject: &str,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let wanted = Selection { since: after, ..Selection::of(subject) };
        Ok(self.with(notebook, |log| {
            let others = log.select(&wanted).filter(|stored| stored.envelope.event_type != "CellSourceEdited");
            others.take(limit.min(MAX_READ_EVENTS)).cloned().collect()
        }))
    }

    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError> {
        let wanted = Selection { subjects: subjects.to_vec(), ..Selection::default() };
        within_limit(self.with(notebook, |log| {
            let others = log.select(&wanted).filter(|stored| stored.envelope.event_type != "CellSourceEdited");
            others.take(MAX_HISTORY_EVENTS + 1).cloned().collect()
        }))
    }

    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError> {
        within_limit(self.with(notebook, |log| log.select(wanted).take(MAX_HISTORY_EVENTS + 1).cloned().collect()))
    }

    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        check_listed(event_type)?;
        Ok(self.with(notebook, |log| {
            let of_type = log.backwards(before).filter(|stored| stored.envelope.event_type == event_type);
            of_type.take(limit.min(MAX_READ_EVENTS)).cloned().collect()
        }))
    }

    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError> {
        let key = (actor.to_owned(), command_id.clone());
        Ok(self.with(notebook, |log| log.commands.get(&key).cloned()))
    }

    async fn commands(
        &self,
        notebook: &NotebookId,
        wanted: &[(String, CommandId)],
    ) -> Result<Vec<CommandRecord>, StoreError> {
        Ok(self.with(notebook, |log| wanted.iter().filter_map(|key| log.commands.get(key).cloned()).collect()))
    }

    async fn count_commands(&self, notebook: &NotebookId, at_most: Version) -> Result<u64, StoreError> {
        let count = |log: &Log| log.commands.values().filter(|command| command.version <= at_most).count();
        Ok(self.with(notebook, count) as u64)
    }

    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError> {
        let mut notebooks = self.notebooks.lock();
        let log =
            notebooks.get_mut(notebook).filter(|log| !log.is_erased).ok_or_else(|| StoreError::unknown(notebook))?;
        log.snapshots.insert(snapshot.head.version, snapshot);
        let snapshots: Vec<_> = log.snapshots.values().map(|snapshot| (snapshot.version, snapshot.base)).collect();
        for version in thinned_out(&snapshots, MAX_SNAPSHOT_GAP) {
            log.snapshots.remove(&version);
        }
        Ok(())
    }

    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError> {
        let at_most = at_most.unwrap_or(Version::MAX);
        Ok(self.with(notebook, |log| log.snapshots.range(..=at_most).next_back().map(|(_, found)| found.clone())))
    }

    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError> {
        if let Some(log) = self.notebooks.lock().get_mut(notebook) {
            log.snapshots.remove(&version);
        }
        Ok(())
    }

    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        let notebooks = self.notebooks.lock();
        let later = notebooks.iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
        let heads = later.filter_map(|(id, log)| log.head.map(|head| (id.clone(), head)));
        Ok(heads.take(page(limit)).collect())
    }

    async fn sizes(&self) -> Result<Vec<NotebookSize>, StoreError> {
        let size = |(id, log): (&NotebookId, &Log)| NotebookSize {
            notebook_id: id.clone(),
            log_bytes: log.events.iter().map(|one| one.stored.payload.get().len() as u64 + EVENT_OVERHEAD_BYTES).sum(),
            blob_bytes: log.blobs.values().map(|blob| blob.size_bytes).sum(),
        };
        Ok(self.notebooks.lock().iter().map(size).collect())
    }

    async fn past_lines_written(&self, notebook: &NotebookId) -> Result<PastLinesWritten, StoreError> {
        Ok(self.with(notebook, |log| log.lines_written))
    }

    async fn standing_lines(&self, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, StoreError> {
        Ok(self.with(notebook, |log| {
            let standing = log.lines.iter().filter(|(_, line)| line.last.is_none());
            standing.map(|(number, line)| (*number, line.clone())).collect()
        }))
    }

    async fn put_past_lines(
        &self,
        notebook: &NotebookId,
        after: Version,
        written: PastLinesWritten,
        lines: BTreeMap<u64, PastLine>,
    ) -> Result<bool, StoreError> {
        let mut notebooks = self.notebooks.lock();
        let Some(log) = notebooks.get_mut(notebook).filter(|log| log.lines_written.version == after && !log.is_erased)
        else {
            return Ok(false);
        };
        log.lines.extend(lines);
        log.lines_written = written;
        Ok(true)
    }

    async fn past_lines(&self, notebook: &NotebookId, text: &str) -> Result<FoundLines, StoreError> {
        let text = lower_case(text);
        let lines = self.with(notebook, |log| log.lines.clone());
        let mut found = FoundLines::default();
        found.is_complete = lines.into_values().rev().all(|line| found.take(line, &text));
        Ok(found)
    }

    async fn put_blame(
        &self,
        notebook: &NotebookId,
        version: Version,
        packed: Bytes,
        max_gap: Version,
    ) -> Result<(), StoreError> {
        let mut notebooks = self.notebooks.lock();
        let log =
            notebooks.get_mut(notebook).filter(|log| !log.is_erased).ok_or_else(|| StoreError::unknown(notebook))?;
        log.blames.insert(version, packed);
        let versions: Vec<Version> = log.blames.keys().copied().collect();
        within_gap(&versions, max_gap).iter().for_each(|version| _ = log.blames.remove(version));
        Ok(())
    }

    async fn blame(&self, notebook: &NotebookId, at_most: Version) -> Result<Option<Bytes>, StoreError> {
        Ok(self.with(notebook, |log| log.blames.range(..=at_most).next_back().map(|(_, packed)| packed.clone())))
    }

    async fn authors(&self, notebook: &NotebookId, versions: &[Version]) -> Result<Vec<Author>, StoreError> {
        Ok(self.with(notebook, |log| {
            let envelopes = log.events.iter().map(|event| &event.stored.envelope);
            let wanted = envelopes.filter(|envelope| versions.contains(&envelope.version));
            let author = |envelope: &Envelope| Author {
                version: envelope.version,
                actor: envelope.actor.clone(),
                recorded_at: envelope.recorded_at,
            };
            wanted.map(author).collect()
        }))
    }

    async fn put_catalog(&self, entry: CatalogEntry) -> Result<(), StoreError> {
        let mut notebooks = self.notebooks.lock();
        let log = notebooks
            .get_mut(&entry.notebook_id)
            .filter(|log| !log.is_erased)
            .ok_or_else(|| StoreError::unknown(&entry.notebook_id))?;
        if log.catalog.as_ref().is_none_or(|present| present.version <= entry.version) {
            let search_text = bounded(&entry.search_text).to_owned();
            log.catalog = Some(CatalogEntry { search_text, ..entry });
        }
        Ok(())
    }

    async fn catalog(&self, query: CatalogQuery) -> Result<CatalogPage, StoreError> {
        let notebooks = self.notebooks.lock();
        let entries = notebooks.values().filter_map(|log| log.catalog.as_ref());
        let mut found: Vec<CatalogEntry> = entries.filter(|entry| matches(&query, entry)).cloned().collect();
        found.sort_by(|left, right| rank(left).cmp(&rank(right)));
        Ok(CatalogPage::cut(found, query.limit))
    }

    async fn catalog_entries(&self, wanted: &[NotebookId]) -> Result<Vec<CatalogEntry>, StoreError> {
        let notebooks = self.notebooks.lock();
        let found = wanted.iter().filter_map(|id| notebooks.get(id)?.catalog.clone());
        Ok(found.map(|entry| CatalogEntry { search_text: String::new(), ..entry }).collect())
    }

    async fn catalog_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError> {
        let notebooks = self.notebooks.lock();
        let lags = notebooks.iter().filter(|(id, log)| {
            if after.is_some_and(|after| *id <= after) {
                return false;
            }
            let shown = log.catalog.as_ref().map_or(0, |entry| entry.version);
            log.head.is_some_and(|head| head.version > shown) && !log.is_erased
        });
        Ok(lags.map(|(id, _)| id.clone()).take(page(limit)).collect())
    }

    async fn put_blob_record(&self, record: BlobRecord) -> Result<(), StoreError> {
        let mut notebooks = self.notebooks.lock();
        let log = notebooks
            .get_mut(&record.notebook_id)
            .filter(|log| !log.is_erased)
            .ok_or_else(|| StoreError::unknown(&record.notebook_id))?;
        log.retired.remove(&record.sha256);
        log.blobs.entry(record.sha256).or_insert(record);
        Ok(())
    }

    async fn blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobRecord>, StoreError> {
        Ok(self.with(notebook, |log| log.blobs.get(sha256).cloned()))
    }

    async fn blob_records(
        &self,
        notebook: &NotebookId,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<BlobRecord>, StoreError> {
        Ok(self.with(notebook, |log| {
            let later = log.blobs.values().filter(|record| after.is_none_or(|after| record.sha256 > *after));
            later.take(page(limit)).cloned().collect()
        }))
    }

    async fn delete_blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        if let Some(log) = self.notebooks.lock().get_mut(notebook) {
            log.blobs.remove(sha256);
        }
        Ok(())
    }

    async fn erase(&self, notebook: &NotebookId) -> Result<bool, StoreError> {
        let mut notebooks = self.notebooks.lock();
        let Some(log) = notebooks.get_mut(notebook) else { return Ok(false) };
        let Some(last) = log.events.last().filter(|last| last.stored.envelope.event_type == ERASED).cloned() else {
            return Ok(false);
        };
        let Log { holder, epoch, head, mut commands, logged, .. } = std::mem::take(log);
        commands.retain(|_, command| command.version == last.stored.envelope.version);
        *log = Log { holder, epoch, head, commands, events: vec![last], is_erased: true, logged, ..Log::default() };
        Ok(true)
    }

    async fn retire_blob(&self, notebook: &NotebookId, sha256: &Hash, at: Millis) -> Result<(), StoreError> {
        if let Some(log) = self.notebooks.lock().get_mut(notebook).filter(|log| !log.is_erased) {
            log.blobs.remove(sha256);
            log.retired.insert(*sha256, at);
        }
        Ok(())
    }

    async fn retired_blob(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<Millis>, StoreError> {
        Ok(self.with(notebook, |log| log.retired.get(sha256).copied()))
    }

    async fn retire_snapshots(&self, before: Millis, is_dry: bool) -> Result<u64, StoreError> {
        let mut count = 0;
        for log in self.notebooks.lock().values_mut() {
            let Some(newest) = log.snapshots.keys().next_back().copied() else { continue };
            let is_kept = |snapshot: &Snapshot| snapshot.head.recorded_at >= before || snapshot.version == newest;
            let bases: Vec<Version> = log
                .snapshots
                .values()
                .filter(|snapshot| is_kept(snapshot))
                .filter_map(|snapshot| snapshot.base)
                .collect();
            let old =
                log.snapshots.values().filter(|snapshot| !is_kept(snapshot) && !bases.contains(&snapshot.version));
            let old: Vec<Version> = old.map(|snapshot| snapshot.version).collect();
            count += old.len() as u64;
            if !is_dry {
                old.iter().for_each(|version| _ = log.snapshots.remove(version));
            }
        }
        Ok(count)
    }

    async fn unlogged_heads(&self, origin: &str, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        let notebooks = self.notebooks.lock();
        let heads = notebooks.iter().filter_map(|(id, log)| {
            let logged = log.logged.get(origin).map_or(0, |logged| logged.version);
            log.head.filter(|head| head.version > logged).map(|head| (id.clone(), head))
        });
        Ok(heads.take(page(limit)).collect())
    }

    async fn put_logged_heads(&self, origin: &str, heads: Vec<LoggedHead>) -> Result<(), StoreError> {
        let mut notebooks = self.notebooks.lock();
        for head in heads {
            if let Some(log) = notebooks.get_mut(&head.notebook_id) {
                log.logged = BTreeMap::from([(origin.to_owned(), head)]);
            }
        }
        Ok(())
    }

    async fn logged_head(&self, origin: &str, notebook: &NotebookId) -> Result<Option<LoggedHead>, StoreError> {
        Ok(self.with(notebook, |log| log.logged.get(origin).cloned()))
    }

    async fn logged_leaves(&self, origin: &str) -> Result<u64, StoreError> {
        let notebooks = self.notebooks.lock();
        let leaves = notebooks.values().filter_map(|log| log.logged.get(origin)).map(|logged| logged.leaf + 1);
        Ok(leaves.max().unwrap_or(0))
    }

    async fn unfinished_erasures(&self) -> Result<Vec<NotebookId>, StoreError> {
        let notebooks = self.notebooks.lock();
        let begun = notebooks.iter().filter(|(_, log)| {
            !log.is_erased && log.events.last().is_some_and(|last| last.stored.envelope.event_type == ERASED)
        });
        Ok(begun.map(|(id, _)| id.clone()).collect())
    }
}

/// Sort key in the list: latest first, then by id.
fn rank(entry: &CatalogEntry) -> (Reverse<Millis>, &NotebookId) {
    (Reverse(entry.updated_at), &entry.notebook_id)
}

fn matches(query: &CatalogQuery, entry: &CatalogEntry) -> bool {
    let has_access = |subjects: &Vec<String>| entry.access.iter().any(|(subject, _)| subjects.contains(subject));
    let is_after = |after: &CatalogCursor| rank(entry) > (Reverse(after.updated_at), &after.notebook_id);
    query.subjects.as_ref().is_none_or(has_access)
        && query.archived.is_none_or(|archived| entry.archived == archived)
        && query.has_work.is_none_or(|has_work| entry.has_work == has_work)
        && query.has_waiting_calls.is_none_or(|waits| entry.has_waiting_calls == waits)
        && query.is_template.is_none_or(|is_template| entry.template.is_some() == is_template)
        && query.due_by.is_none_or(|by| entry.due_at.is_some_and(|at| at <= by))
        && query.text.as_ref().is_none_or(|text| contains_words(&entry.search_text, text))
        && query.after.as_ref().is_none_or(is_after)
}

/// Returns true if every word of `wanted` begins a word of `text`, ignoring case.
fn contains_words(text: &str, wanted: &str) -> bool {
    let text: Vec<String> = words(text).collect();
    words(wanted).all(|wanted| text.iter().any(|word| word.starts_with(&wanted)))
}
