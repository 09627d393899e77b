//! [`EventStore`] and [`NodeStore`] of PostgreSQL: each method with the query that answers it.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use bytes::Bytes;
use notarium_record::{
    Append, CommandId, CommandRecord, Epoch, Hash, Head, InstanceId, Millis, NotebookId, Selection, Stored, Version,
};

use super::reader;
use super::{Postgres, catalog, cold, nodes, past_lines, projections, removal, transact, tree_turn};
use crate::commit_metrics::CommitMetrics;
use crate::content_locks::ContentLocks;
use crate::event_store::{
    Author, BlobRecord, CatalogEntry, CatalogPage, CatalogQuery, EventStore, FoundLines, NotebookSize,
    PastLinesWritten, check_listed, within_limit,
};
use crate::group_commit::{Queued, closed, unanswered};
use crate::logged_head::LoggedHead;
use crate::nodes::{Lease, LivingNodes, Node, NodeStore, SeenNode};
use crate::past_text::PastLine;
use crate::snapshots::Snapshot;
use crate::store_error::{AppendError, StoreError};
use crate::tree_turn::TreeTurn;

fn known(found: bool, notebook: &NotebookId) -> Result<(), StoreError> {
    if found { Ok(()) } else { Err(StoreError::unknown(notebook)) }
}

#[async_trait]
impl EventStore for Postgres {
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        let epoch = transact!(self, connection => nodes::take_lease(connection, notebook, instance))?;
        if epoch > 0 {
            self.own_epochs.lock().insert(notebook.clone(), epoch);
        } else {
            self.expected_leases.note(notebook, instance);
        }
        Ok(epoch)
    }

    /// Queues an append. Dropping the future does not cancel it: it may still be written.
    async fn append(&self, append: Append) -> Result<(), AppendError> {
        let removes = !append.removal.is_empty();
        let _removing = if removes { Some(self.content_locks.write(&append.notebook_id).await) } else { None };
        if removes {
            cold::thaw(self, &append.notebook_id).await?;
            cold::delete_objects_in(self, &append.notebook_id, append.epoch).await?;
        }
        let (queued, answered) = Queued::new(append);
        self.queue.send(queued).await.map_err(|_| AppendError::Store(closed()))?;
        answered.await.map_err(|_| AppendError::Store(unanswered()))?
    }

    fn content_locks(&self) -> &ContentLocks {
        &self.content_locks
    }

    async fn purge(&self) -> Result<(), StoreError> {
        self.maintain(|| removal::purge(&self.pool)).await
    }

    async fn blobs_to_purge(&self) -> Result<Vec<(NotebookId, Hash)>, StoreError> {
        self.read_from(|| removal::blobs_to_purge(&self.pool)).await
    }

    async fn blob_purged(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        self.write(|| removal::blob_purged(notebook, sha256)).await.map(drop)
    }

    async fn is_upgraded(&self) -> Result<bool, StoreError> {
        self.read_from(|| super::open::is_upgraded(&self.pool)).await
    }

    fn troubles(&self) -> Vec<&'static str> {
        self.health.troubles()
    }

    fn commit_metrics(&self) -> Option<CommitMetrics> {
        Some(self.health.commits.clone())
    }

    async fn size_bytes(&self) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT pg_database_size(current_database())";
        let bytes: i64 = self.read_from(|| sqlx::query_scalar(sql).fetch_one(&self.pool)).await?;
        Ok(u64::try_from(bytes).ok())
    }

    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError> {
        self.read_from(|| reader::head(&self.pool, notebook)).await
    }

    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let is_next =
            |events: &[Stored]| events.first().is_none_or(|first| first.envelope.version == after.saturating_add(1));
        let read = match self.read_from(|| reader::read(&self.pool, notebook, after, limit)).await {
            Ok(events) if !is_next(&events) => cold::read(self, notebook, after, limit).await,
            Err(StoreError::Damaged { .. }) => cold::read(self, notebook, after, limit).await,
            read => read,
        };
        match read {
            Err(StoreError::Damaged { reason }) => Err(StoreError::UnreadableEvent { version: after + 1, reason }),
            read => read,
        }
    }

    async fn read_subject(
        &self,
        notebook: &NotebookId,
        subject: &str,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let query = || reader::of_subject(notebook, subject, after, limit);
        cold::indexed_events(self, notebook, query).await
    }

    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError> {
        let query = || reader::of_subjects(notebook, subjects);
        within_limit(cold::indexed_events(self, notebook, query).await?)
    }

    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError> {
        let query = || reader::selected(notebook, wanted);
        within_limit(cold::indexed_events(self, notebook, query).await?)
    }

    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        check_listed(event_type)?;
        cold::indexed_events(self, notebook, || reader::of_type(notebook, event_type, before, limit)).await
    }

    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError> {
        let wanted = [(actor, command_id)];
        Ok(self.read_from(|| reader::commands(&self.pool, notebook, &wanted)).await?.pop())
    }

    async fn commands(
        &self,
        notebook: &NotebookId,
        wanted: &[(String, CommandId)],
    ) -> Result<Vec<CommandRecord>, StoreError> {
        let wanted: Vec<(&str, &CommandId)> = wanted.iter().map(|(actor, id)| (actor.as_str(), id)).collect();
        self.read_from(|| reader::commands(&self.pool, notebook, &wanted)).await
    }

    async fn count_commands(&self, notebook: &NotebookId, at_most: Version) -> Result<u64, StoreError> {
        self.read_from(|| reader::count_commands(&self.pool, notebook, at_most)).await
    }

    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError> {
        let (max_gap, epoch) = (self.max_snapshot_gap, self.own_epoch(notebook));
        let put =
            transact!(self, connection => projections::put_snapshot(connection, notebook, &snapshot, max_gap, epoch));
        known(put?, notebook)
    }

    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError> {
        self.read_from(|| projections::snapshot(&self.pool, notebook, at_most)).await
    }

    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError> {
        self.write(|| projections::delete_snapshot(notebook, version)).await.map(drop)
    }

    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        self.read_from(|| reader::notebooks(&self.pool, after, limit)).await
    }

    async fn sizes(&self) -> Result<Vec<NotebookSize>, StoreError> {
        self.read_from(|| projections::sizes(&self.pool)).await
    }

    async fn past_lines_written(&self, notebook: &NotebookId) -> Result<PastLinesWritten, StoreError> {
        self.read_from(|| past_lines::written(&self.pool, notebook)).await
    }

    async fn standing_lines(&self, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, StoreError> {
        self.read_from(|| past_lines::standing(&self.pool, notebook)).await
    }

    async fn put_past_lines(
        &self,
        notebook: &NotebookId,
        after: Version,
        written: PastLinesWritten,
        lines: BTreeMap<u64, PastLine>,
    ) -> Result<bool, StoreError> {
        let epoch = self.own_epoch(notebook);
        transact!(self, connection => past_lines::put(connection, notebook, after, written, &lines, epoch))
    }

    async fn past_lines(&self, notebook: &NotebookId, text: &str) -> Result<FoundLines, StoreError> {
        self.read_from(|| past_lines::find(&self.pool, notebook, text)).await
    }

    async fn put_blame(
        &self,
        notebook: &NotebookId,
        version: Version,
        packed: Bytes,
        max_gap: Version,
    ) -> Result<(), StoreError> {
        let epoch = self.own_epoch(notebook);
        let put = transact!(self, connection => projections::put_blame(connection, notebook, version, &packed, max_gap, epoch));
        known(put?, notebook)
    }

    async fn blame(&self, notebook: &NotebookId, at_most: Version) -> Result<Option<Bytes>, StoreError> {
        self.read_from(|| projections::blame(&self.pool, notebook, at_most)).await
    }

    async fn authors(&self, notebook: &NotebookId, versions: &[Version]) -> Result<Vec<Author>, StoreError> {
        let authors = self.read_from(|| reader::authors(&self.pool, notebook, versions)).await?;
        if authors.len() == versions.len() {
            return Ok(authors);
        }
        cold::thaw(self, notebook).await?;
        self.read_from(|| reader::authors(&self.pool, notebook, versions)).await
    }

    async fn put_catalog(&self, entry: CatalogEntry) -> Result<(), StoreError> {
        let epoch = self.own_epoch(&entry.notebook_id);
        known(transact!(self, connection => catalog::put(connection, &entry, epoch))?, &entry.notebook_id)
    }

    async fn catalog(&self, query: CatalogQuery) -> Result<CatalogPage, StoreError> {
        self.read_from(|| catalog::list(&self.pool, &query)).await
    }

    async fn catalog_entries(&self, notebooks: &[NotebookId]) -> Result<Vec<CatalogEntry>, StoreError> {
        self.read_from(|| catalog::entries(&self.pool, notebooks)).await
    }

    async fn catalog_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError> {
        self.read_from(|| catalog::lag(&self.pool, after, limit)).await
    }

    async fn put_blob_record(&self, record: BlobRecord) -> Result<(), StoreError> {
        let put = transact!(self, connection => projections::put_blob_record(connection, &record));
        known(put?, &record.notebook_id)
    }

    async fn blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobRecord>, StoreError> {
        self.read_from(|| projections::blob_record(&self.pool, notebook, sha256)).await
    }

    async fn blob_records(
        &self,
        notebook: &NotebookId,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<BlobRecord>, StoreError> {
        self.read_from(|| projections::blob_records(&self.pool, notebook, after, limit)).await
    }

    async fn delete_blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        self.write(|| projections::delete_blob(notebook, sha256)).await.map(drop)
    }

    async fn erase(&self, notebook: &NotebookId) -> Result<bool, StoreError> {
        removal::erase(self, notebook).await
    }

    async fn retire_blob(&self, notebook: &NotebookId, sha256: &Hash, at: Millis) -> Result<(), StoreError> {
        transact!(self, connection => projections::retire_blob(connection, notebook, sha256, at))
    }

    async fn retired_blob(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<Millis>, StoreError> {
        self.read_from(|| projections::retired_blob(&self.pool, notebook, sha256)).await
    }

    async fn retire_snapshots(&self, before: Millis, is_dry: bool) -> Result<u64, StoreError> {
        if is_dry {
            return self.read_from(|| projections::count_old_snapshots(&self.pool, before)).await;
        }
        self.write(|| projections::delete_old_snapshots(before)).await
    }

    async fn unlogged_heads(&self, origin: &str, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        self.read_from(|| projections::unlogged(&self.pool, origin, limit)).await
    }

    async fn put_logged_heads(&self, origin: &str, heads: Vec<LoggedHead>) -> Result<(), StoreError> {
        transact!(self, connection => projections::put_logged(connection, origin, &heads))
    }

    async fn logged_head(&self, origin: &str, notebook: &NotebookId) -> Result<Option<LoggedHead>, StoreError> {
        self.read_from(|| projections::last_logged(&self.pool, origin, notebook)).await
    }

    async fn tree_turn(&self, key: &str) -> Result<TreeTurn, StoreError> {
        tree_turn::take(self, key).await
    }

    async fn logged_leaves(&self, origin: &str) -> Result<u64, StoreError> {
        self.read_from(|| projections::leaves(&self.pool, origin)).await
    }

    async fn cold_candidates(
        &self,
        unchanged_since: Millis,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<NotebookId>, StoreError> {
        self.read_from(|| cold::candidates(&self.pool, unchanged_since, after, limit)).await
    }

    async fn freeze(&self, notebook: &NotebookId) -> Result<u64, StoreError> {
        cold::freeze(self, notebook).await
    }

    async fn unfinished_erasures(&self) -> Result<Vec<NotebookId>, StoreError> {
        self.read_from(|| removal::unfinished(&self.pool)).await
    }
}

#[async_trait]
impl NodeStore for Postgres {
    async fn beat(&self, node: &Node) -> Result<LivingNodes, StoreError> {
        transact!(self, connection => nodes::beat(connection, node))
    }

    async fn leave(&self, instance: &InstanceId) -> Result<(), StoreError> {
        transact!(self, connection => nodes::leave(connection, instance))
    }

    async fn seen(&self) -> Result<Vec<SeenNode>, StoreError> {
        self.read_from(|| nodes::seen(&self.pool)).await
    }

    async fn leases(&self, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, StoreError> {
        self.read_from(|| nodes::leases(&self.pool, notebooks)).await
    }

    async fn release_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<(), StoreError> {
        // Its epoch is kept: what is still being derived under it is left out from now on.
        transact!(self, connection => nodes::release_lease(connection, notebook, instance))
    }
}
