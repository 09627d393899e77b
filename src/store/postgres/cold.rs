//! Old events in segments: [`Segments`] beside the blobs. Their rows come back before anything but a read in order needs them.
//!
//! Invariants:
//! - A row is deleted in the transaction that names its segment, after the segment was read back and verified.
//! - The last event of a notebook stays a row. So the first row of a read that is not the wanted version shows that a segment has it.
//! - Queries by subject and type ask in the same statement if the notebook has segments: no answer lacks an event.
//! - Content is removed from rows alone: before, all segments of the notebook come back and their objects are deleted.

use std::sync::Arc;

use notarium_record::{Epoch, Head, Millis, NewEvent, NotebookId, Stored, Version};
use parking_lot::Mutex;
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::reader::{self, Query, decode, hash, notebook_id, number, page_limit};
use super::rows::{EventColumns, integer};
use super::{Postgres, transact};
use crate::event_store::MAX_READ_EVENTS;
use crate::segments::{SegmentError, SegmentId, Segments};
use crate::store_error::StoreError;

/// Events of a segment, and bytes of their payloads after which it ends.
const MAX_SEGMENT_EVENTS: usize = MAX_READ_EVENTS;
const MAX_SEGMENT_BYTES: usize = 16 << 20;

/// Events read at a time for a segment.
const EVENTS_PER_PAGE: usize = 500;

/// Old events of a notebook below which they stay rows.
const LEAST_EVENTS: u64 = 100;

/// Time for which events that came back stay.
const WARM_MS: Millis = 24 * 60 * 60 * 1000;

/// Attempts at a read while segments come and go.
const ATTEMPTS: u32 = 20;

/// Events of a segment that was read.
type ReadSegment = (NotebookId, SegmentId, Arc<Vec<Stored>>);

/// Segments of this database's notebooks.
#[derive(Default)]
pub(super) struct ColdEvents {
    segments: Option<Segments>,
    /// The segment that was read last: readers take it in pages.
    last_read: Mutex<Option<ReadSegment>>,
}

impl ColdEvents {
    pub(super) fn of(segments: Segments) -> Self {
        Self { segments: Some(segments), last_read: Mutex::default() }
    }

    pub(super) fn segments(&self) -> Result<&Segments, StoreError> {
        let reason = "old events are beside the blobs, in their folder or bucket: name it with --blobs";
        self.segments.as_ref().ok_or_else(|| StoreError::Refused { reason: reason.to_owned() })
    }

    async fn read(&self, notebook: &NotebookId, segment: &SegmentId) -> Result<Arc<Vec<Stored>>, SegmentReadError> {
        if let Some((of, id, events)) = &*self.last_read.lock()
            && of == notebook
            && id == segment
        {
            return Ok(events.clone());
        }
        let events = Arc::new(self.segments()?.read(notebook, segment).await?);
        *self.last_read.lock() = Some((notebook.clone(), *segment, events.clone()));
        Ok(events)
    }

    fn forget(&self) {
        *self.last_read.lock() = None;
    }
}

/// Reason why a segment was not read.
enum SegmentReadError {
    /// It is gone: perhaps its events have just come back.
    Missing(StoreError),
    Other(StoreError),
}

impl From<StoreError> for SegmentReadError {
    fn from(error: StoreError) -> Self {
        Self::Other(error)
    }
}

impl From<SegmentError> for SegmentReadError {
    fn from(error: SegmentError) -> Self {
        match &error {
            SegmentError::Missing { .. } => Self::Missing(store_error(error)),
            _ => Self::Other(store_error(error)),
        }
    }
}

impl SegmentReadError {
    fn into_store_error(self) -> StoreError {
        let (Self::Missing(error) | Self::Other(error)) = self;
        error
    }
}

fn store_error(error: SegmentError) -> StoreError {
    match error {
        SegmentError::Blobs(error) => StoreError::Unavailable { reason: error.to_string() },
        SegmentError::NoConditions => StoreError::Refused { reason: error.to_string() },
        _ => StoreError::Damaged { reason: error.to_string() },
    }
}

// --- reading ---

/// Reads events after a version, from segments and rows.
pub(super) async fn read(
    store: &Postgres,
    notebook: &NotebookId,
    after: Version,
    count: usize,
) -> Result<Vec<Stored>, StoreError> {
    let count = count.min(MAX_READ_EVENTS);
    let mut events: Vec<Stored> = Vec::new();
    let (mut missing, mut has_gap) = (None, false);
    for _ in 0..ATTEMPTS {
        let at = events.last().map_or(after, |event| event.envelope.version);
        let left = count - events.len();
        if left == 0 {
            return Ok(events);
        }
        let Some(segment) = store.read_from(|| segment_with(store.pool(), notebook, at + 1)).await? else {
            let rows = store.read_from(|| reader::read(store.pool(), notebook, at, left)).await;
            match rows {
                // They have just been frozen. If they have not, the notebook was erased: only its last event is there.
                Ok(rows) if !has_gap && rows.first().is_some_and(|first| first.envelope.version != at + 1) => {
                    has_gap = true;
                    continue;
                }
                Ok(rows) => events.extend(rows),
                // The next read has the error.
                Err(_) if !events.is_empty() => {}
                Err(error) => return Err(error),
            }
            return Ok(events);
        };
        match store.cold.read(notebook, &segment).await {
            Ok(found) => {
                let skipped = usize::try_from(at + 1 - segment.first).unwrap_or(usize::MAX);
                events.extend(found.iter().skip(skipped).take(left).cloned());
            }
            Err(SegmentReadError::Missing(error)) => missing = Some(error),
            Err(error) if events.is_empty() => return Err(error.into_store_error()),
            Err(_) => return Ok(events),
        }
    }
    if events.is_empty() { Err(missing.unwrap_or_else(come_and_go)) } else { Ok(events) }
}

fn segment_of(row: &PgRow, first_column: usize) -> Result<SegmentId, sqlx::Error> {
    Ok(SegmentId {
        first: number(row, first_column)?,
        last: number(row, first_column + 1)?,
        sha256: hash(row, first_column + 2)?,
    })
}

async fn segment_with(
    pool: &PgPool,
    notebook: &NotebookId,
    version: Version,
) -> Result<Option<SegmentId>, sqlx::Error> {
    let sql = "SELECT first, last, sha256 FROM segments WHERE notebook = $1 AND first <= $2 AND last >= $2";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(integer(version)).fetch_optional(pool).await?;
    row.map(|row| segment_of(&row, 0)).transpose()
}

/// A segment with the subjects of its events.
async fn first_segment(
    pool: &PgPool,
    notebook: &NotebookId,
    after: Version,
) -> Result<Option<(SegmentId, Vec<u8>)>, sqlx::Error> {
    let sql =
        "SELECT first, last, sha256, subjects FROM segments WHERE notebook = $1 AND last > $2 ORDER BY first LIMIT 1";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(integer(after)).fetch_optional(pool).await?;
    row.map(|row| Ok((segment_of(&row, 0)?, row.try_get(3)?))).transpose()
}

fn pack(subjects: &[Option<String>]) -> Result<Vec<u8>, StoreError> {
    let packed = serde_json::to_vec(subjects).map_err(std::io::Error::from);
    let packed = packed.and_then(|json| zstd::encode_all(&json[..], zstd::DEFAULT_COMPRESSION_LEVEL));
    packed.map_err(|error| StoreError::Invalid { reason: error.to_string() })
}

fn unpack(packed: &[u8]) -> Result<Vec<Option<String>>, StoreError> {
    let subjects = zstd::decode_all(packed).and_then(|json| Ok(serde_json::from_slice(&json)?));
    subjects.map_err(|error| StoreError::Damaged { reason: format!("subjects of a segment: {error}") })
}

/// Subjects of the events after a version that are in segments, up to `until`.
pub(super) async fn subjects(
    store: &Postgres,
    notebook: &NotebookId,
    after: Version,
    until: Version,
) -> Result<Vec<(Version, Option<String>)>, StoreError> {
    let (mut found, mut at) = (Vec::new(), after);
    while let Some((segment, packed)) = store.read_from(|| first_segment(store.pool(), notebook, at)).await? {
        if segment.first > until {
            break;
        }
        let wanted = (segment.first..).zip(unpack(&packed)?);
        found.extend(wanted.filter(|(version, _)| *version > after && *version <= until));
        at = segment.last;
    }
    Ok(found)
}

/// Runs a query by subject or type, which finds rows alone; before, old events of the notebook come back.
pub(super) async fn indexed_events<'q>(
    store: &Postgres,
    notebook: &NotebookId,
    query: impl Fn() -> Query<'q> + Send + Sync,
) -> Result<Vec<Stored>, StoreError> {
    for _ in 0..ATTEMPTS {
        let found = store.read_from(|| reader::indexed_events(store.pool(), notebook, query())).await?;
        match found {
            Some(events) => return Ok(events),
            None => thaw(store, notebook).await?,
        }
    }
    Err(come_and_go())
}

fn come_and_go() -> StoreError {
    StoreError::Unavailable { reason: "old events of the notebook come and go again and again".to_owned() }
}

// --- freezing ---

/// Returns notebooks with old events that nobody has changed since a time, by id.
pub(super) async fn candidates(
    pool: &PgPool,
    unchanged_since: Millis,
    after: Option<&NotebookId>,
    count: usize,
) -> Result<Vec<NotebookId>, sqlx::Error> {
    let sql = "SELECT n.id FROM notebooks n LEFT JOIN catalog c ON c.notebook = n.id \
               WHERE n.id > $1 AND n.recorded_at < $2 AND n.erased = 0 AND c.has_work IS NOT TRUE \
               AND n.warmed_at < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - $3 \
               AND n.version > $4 + (SELECT coalesce(max(s.last), 0) FROM segments s WHERE s.notebook = n.id) \
               ORDER BY n.id LIMIT $5";
    let query = sqlx::query(sql).bind(after.map_or("", NotebookId::as_str)).bind(integer(unchanged_since));
    let query = query.bind(integer(WARM_MS)).bind(integer(LEAST_EVENTS)).bind(page_limit(count));
    query.fetch_all(pool).await?.iter().map(|row| notebook_id(row, 0)).collect()
}

/// Moves all events but the last to segments; returns their number. What is written meanwhile stops it, and a removal of content keeps it off.
pub(super) async fn freeze(store: &Postgres, notebook: &NotebookId) -> Result<u64, StoreError> {
    let segments = store.cold.segments()?;
    let Some(_content) = store.content_locks.try_read(notebook) else { return Ok(0) };
    // Whoever takes the notebook's lease from now on may remove content of it.
    let epoch = store.read_from(|| epoch(store.pool(), notebook)).await?;
    let Some(head) = store.read_from(|| reader::head(store.pool(), notebook)).await? else { return Ok(0) };
    let frozen = store.read_from(|| last_frozen(store.pool(), notebook)).await?;
    let mut before = match frozen {
        0 => Head::START,
        version => read(store, notebook, version - 1, 1).await?.first().map_or(Head::START, Stored::head),
    };
    let first = before.version;
    while before.version + 1 < head.version {
        let events = page_of_segment(store, notebook, before.version, head.version - 1).await?;
        let Some(last) = events.last() else { break };
        let (after, until) = (before.version, last.envelope.version);
        let next = last.head();
        let subjects = store.read_from(|| row_subjects(store.pool(), notebook, after, until)).await?;
        let packed = pack(&subjects)?;
        let segment = segments.put(notebook, before, events).await.map_err(store_error)?;
        let replaced = transact!(store, connection => replace(connection, segments, notebook, &segment, &packed, (head.version, epoch)))?;
        if !replaced {
            // It may have content that has been removed, if the notebook has changed. Nobody else freezes one that has just changed; one of which only
            // the lease was taken may be frozen elsewhere at this moment, into the same object.
            let has_changed = store.read_from(|| reader::head(store.pool(), notebook)).await? != Some(head);
            if has_changed && store.read_from(|| segment_with(store.pool(), notebook, segment.first)).await?.is_none() {
                segments.delete(notebook, &segment).await.map_err(store_error)?;
            }
            break;
        }
        before = next;
    }
    Ok(before.version - first)
}

/// Last version in a segment; 0: there is none.
async fn last_frozen(pool: &PgPool, notebook: &NotebookId) -> Result<Version, sqlx::Error> {
    let sql = "SELECT coalesce(max(last), 0) FROM segments WHERE notebook = $1";
    number(&sqlx::query(sql).bind(notebook.as_str()).fetch_one(pool).await?, 0)
}

async fn page_of_segment(
    store: &Postgres,
    notebook: &NotebookId,
    after: Version,
    until: Version,
) -> Result<Vec<Stored>, StoreError> {
    let (mut events, mut bytes) = (Vec::<Stored>::new(), 0);
    loop {
        let at = events.last().map_or(after, |event| event.envelope.version);
        let count = usize::try_from(until - at).unwrap_or(usize::MAX).min(EVENTS_PER_PAGE);
        if count == 0 || bytes >= MAX_SEGMENT_BYTES || events.len() >= MAX_SEGMENT_EVENTS {
            return Ok(events);
        }
        let rows = store.read_from(|| reader::read(store.pool(), notebook, at, count)).await?;
        // Behind a gap is the last event of an erased notebook.
        if rows.first().is_none_or(|first| first.envelope.version != at + 1) {
            return Ok(events);
        }
        bytes += rows.iter().map(|event| event.payload.get().len()).sum::<usize>();
        events.extend(rows);
    }
}

async fn row_subjects(
    pool: &PgPool,
    notebook: &NotebookId,
    after: Version,
    until: Version,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    let sql = "SELECT subject FROM events WHERE notebook = $1 AND version > $2 AND version <= $3 ORDER BY version";
    let query = sqlx::query_scalar(sql).bind(notebook.as_str()).bind(integer(after)).bind(integer(until));
    query.fetch_all(pool).await
}

async fn epoch(pool: &PgPool, notebook: &NotebookId) -> Result<i64, sqlx::Error> {
    let sql = "SELECT epoch FROM notebooks WHERE id = $1";
    Ok(sqlx::query_scalar(sql).bind(notebook.as_str()).fetch_optional(pool).await?.unwrap_or_default())
}

/// Names a segment and deletes its rows; returns false if the notebook has changed, another node has taken its lease, or has deleted the
/// object, for which it locks the same row.
async fn replace(
    connection: &mut PgConnection,
    segments: &Segments,
    notebook: &NotebookId,
    segment: &SegmentId,
    subjects: &[u8],
    (version, epoch): (Version, i64),
) -> Result<bool, sqlx::Error> {
    let sql = "SELECT 1 FROM notebooks WHERE id = $1 AND version = $2 AND epoch = $3 AND erased = 0 FOR UPDATE";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(version)).bind(epoch);
    let row = query.fetch_optional(&mut *connection).await?;
    if row.is_none() || segments.read(notebook, segment).await.is_err() {
        return Ok(false);
    }
    let sql = "INSERT INTO segments (notebook, first, last, sha256, subjects) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let (first, last) = (integer(segment.first), integer(segment.last));
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(first).bind(last);
    let named = query.bind(segment.sha256.0.as_slice()).bind(subjects).execute(&mut *connection).await?.rows_affected();
    let sql = "DELETE FROM events WHERE notebook = $1 AND version >= $2 AND version <= $3";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(first).bind(last);
    let deleted = query.execute(connection).await?.rows_affected();
    // Named already: an earlier attempt was committed, and its answer was lost.
    if named == 1 && deleted != segment.last - segment.first + 1 {
        return Err(decode(format!("{notebook}: rows of versions {first} to {last} are missing")));
    }
    Ok(true)
}

// --- thawing ---

/// A notebook's last segment, with the subjects of its events.
async fn last_segment(pool: &PgPool, notebook: &NotebookId) -> Result<Option<(SegmentId, Vec<u8>)>, sqlx::Error> {
    let sql = "SELECT first, last, sha256, subjects FROM segments WHERE notebook = $1 ORDER BY first DESC LIMIT 1";
    let row = sqlx::query(sql).bind(notebook.as_str()).fetch_optional(pool).await?;
    row.map(|row| Ok((segment_of(&row, 0)?, row.try_get(3)?))).transpose()
}

/// Brings all old events of a notebook back as rows, and deletes their objects. The last ones come first: if it breaks off, what is still in
/// segments is the beginning of the record.
pub(super) async fn thaw(store: &Postgres, notebook: &NotebookId) -> Result<(), StoreError> {
    let mut thawed = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some((segment, packed)) = store.read_from(|| last_segment(store.pool(), notebook)).await? else {
            store.cold.forget();
            for segment in thawed {
                if let Err(error) = store.cold.segments()?.delete(notebook, &segment).await {
                    tracing::warn!(%notebook, %error, "an object of old events stays until content of its notebook is removed");
                }
            }
            return Ok(());
        };
        let events = match store.cold.read(notebook, &segment).await {
            Ok(events) => events,
            // Another thaw may have been faster.
            Err(SegmentReadError::Missing(error)) => {
                match store.read_from(|| segment_with(store.pool(), notebook, segment.first)).await? {
                    Some(found) if found == segment => return Err(error),
                    _ => continue,
                }
            }
            Err(SegmentReadError::Other(error)) => return Err(error),
        };
        let subjects = unpack(&packed)?;
        if subjects.len() != events.len() {
            return Err(StoreError::Damaged {
                reason: format!("{notebook}: a segment has other subjects than events"),
            });
        }
        let rows = events.iter().cloned().zip(subjects);
        let rows: Vec<NewEvent> = rows.map(|(stored, subject)| NewEvent { stored, subject }).collect();
        transact!(store, connection => put_back(connection, notebook, &segment, &rows))?;
        thawed.push(segment);
    }
    Err(come_and_go())
}

async fn put_back(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    segment: &SegmentId,
    rows: &[NewEvent],
) -> Result<(), sqlx::Error> {
    let sql = "UPDATE notebooks SET warmed_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = $1";
    sqlx::query(sql).bind(notebook.as_str()).execute(&mut *connection).await?;
    let sql = "DELETE FROM segments WHERE notebook = $1 AND first = $2 AND sha256 = $3";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(segment.first));
    let is_named = query.bind(segment.sha256.0.as_slice()).execute(&mut *connection).await?.rows_affected() == 1;
    if !is_named {
        // Its rows are back already, and perhaps without content that was removed since.
        return Ok(());
    }
    let mut columns = EventColumns::default();
    for event in rows {
        columns.add_event(notebook.as_str(), event);
    }
    columns.insert().execute(connection).await.map(drop)
}

/// Deletes every object of the notebook for an append in this epoch, which removes content. In any other epoch it is refused, and nothing is
/// deleted: the present owner may be naming an object. The lock of the row lasts until they are deleted.
pub(super) async fn delete_objects_in(store: &Postgres, notebook: &NotebookId, epoch: Epoch) -> Result<(), StoreError> {
    transact!(store, connection => delete_objects_if(connection, store, notebook, epoch))?
}

async fn delete_objects_if(
    connection: &mut PgConnection,
    store: &Postgres,
    notebook: &NotebookId,
    epoch: Epoch,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let sql = "SELECT 1 FROM notebooks WHERE id = $1 AND epoch = $2 FOR UPDATE";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(integer(epoch)).fetch_optional(connection).await?;
    match row {
        Some(_) => Ok(delete_objects(store, notebook).await),
        None => Ok(Ok(())),
    }
}

/// Deletes every object of the notebook, for instance one that a crash has left without a name.
pub(super) async fn delete_objects(store: &Postgres, notebook: &NotebookId) -> Result<(), StoreError> {
    store.cold.forget();
    match &store.cold.segments {
        Some(segments) => segments.delete_all(notebook).await.map_err(store_error),
        None if store.read_from(|| is_cold(store.pool(), notebook)).await? => store.cold.segments().map(drop),
        None => Ok(()),
    }
}

async fn is_cold(pool: &PgPool, notebook: &NotebookId) -> Result<bool, sqlx::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM segments WHERE notebook = $1)";
    sqlx::query_scalar(sql).bind(notebook.as_str()).fetch_one(pool).await
}
