//! Reads of a notebook's record: its state at a version, digests that clients ask for, states as JSON, differences between
//! two texts, and the wait for new events.
//!
//! A replay begins at the nearest snapshot. Concurrent readers share a digest and the JSON of a version. [`LogWatch`] follows
//! a notebook at the consumer's pace while the caller may read: the past from the log, then the room's news.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use notarium_core::{ChainError, Document, Hash, Head, Notebook, NotebookId, Recorded, Stored, Version, verify_chain};
use notarium_store::EventStore;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::Notebooks;
use crate::auth::{Authenticated, Follow};
use crate::http::problem::Problem;
use crate::rooms::{Memo, News, Subscription, identity, snapshot};

/// Events per read.
const PAGE: usize = 2_000;

/// Reads old versions, however far the nearest snapshot is.
pub struct Replays {
    max_gap: Version,
    /// Serialises replays over more than `max_gap` events: the next one finds the snapshots that the one before has
    /// stored.
    beyond_gap: AsyncMutex<()>,
}

impl Replays {
    /// `max_gap`: largest number of events between two snapshots.
    pub fn new(max_gap: Version) -> Self {
        Self { max_gap: max_gap.max(1), beyond_gap: AsyncMutex::default() }
    }

    /// State at a version that the log has reached.
    pub async fn state_at(
        &self,
        store: &dyn EventStore,
        notebook: &NotebookId,
        version: Version,
    ) -> Result<Document, Problem> {
        let (head, state) = nearest(store, notebook, version).await?;
        if version.saturating_sub(state.version) <= self.max_gap {
            return advance(store, head, state, version).await;
        }
        let _turn = self.beyond_gap.lock().await;
        let content = store.content_locks().try_read(notebook);
        let found = snapshot::latest(store, notebook, Some(version), snapshot::unpack).await?;
        let (mut head, mut state) = found.unwrap_or_else(|| (Head::START, Notebook::new(notebook.clone())));
        while version - state.version > self.max_gap {
            let next = state.version + self.max_gap;
            (head, state) = advance_from(store, head, state, next).await?;
            snapshot::leave(store, Arc::new(state.clone()), head, content.as_ref()).await;
        }
        let (_, state) = advance_from(store, head, state, version).await?;
        Ok(Arc::unwrap_or_clone(state.document))
    }
}

/// Latest snapshot up to a version, or the empty notebook.
async fn nearest(store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<(Head, Document), Problem> {
    let found = snapshot::latest(store, notebook, Some(version), snapshot::unpack_document).await?;
    Ok(found.unwrap_or_else(|| (Head::START, Document::new(notebook.clone()))))
}

/// State at a version that the log has reached. Problem `limit_exceeded` if it needs more than `limit` events.
pub async fn state_at(
    store: &dyn EventStore,
    notebook: &NotebookId,
    version: Version,
    limit: u64,
) -> Result<Document, Problem> {
    let (head, state) = nearest(store, notebook, version).await?;
    let missing = version.saturating_sub(state.version);
    if missing > limit {
        let detail = format!("version {version} is {missing} events after the nearest snapshot, more than {limit}");
        return Err(Problem::new(http::StatusCode::PAYLOAD_TOO_LARGE, "limit_exceeded", detail));
    }
    advance(store, head, state, version).await
}

/// State to which events are applied.
trait Fold: Deref<Target = Document> {
    fn fold(&mut self, recorded: &Recorded);
}

impl Fold for Notebook {
    fn fold(&mut self, recorded: &Recorded) {
        self.apply(recorded);
    }
}

/// Document without the ledger: half the work.
struct Alone(Document);

impl Deref for Alone {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.0
    }
}

impl Fold for Alone {
    fn fold(&mut self, recorded: &Recorded) {
        self.0.apply(recorded);
    }
}

async fn advance(store: &dyn EventStore, head: Head, state: Document, to: Version) -> Result<Document, Problem> {
    let (_, Alone(state)) = advance_from(store, head, Alone(state), to).await?;
    Ok(state)
}

/// Applies events up to `to`, after verifying their hash chain. `head` is that of `state`.
async fn advance_from<F: Fold>(
    store: &dyn EventStore,
    mut head: Head,
    mut state: F,
    to: Version,
) -> Result<(Head, F), Problem> {
    while state.version < to {
        let wanted = usize::try_from(to - state.version).unwrap_or(PAGE).min(PAGE);
        let events = store.read(&state.notebook_id, state.version, wanted).await?;
        if events.is_empty() {
            let detail = format!("the notebook is at version {}, before {to}", state.version);
            return Err(Problem::new(http::StatusCode::BAD_REQUEST, "version_in_future", detail));
        }
        for stored in &events {
            head = verify_chain(head, [stored]).map_err(|error| damaged(&error, head.version))?;
            let recorded = stored.typed().map_err(|error| {
                Problem::new(http::StatusCode::CONFLICT, "read_only", format!("{error}: read a version before it"))
            })?;
            state.fold(&recorded);
        }
        tokio::task::yield_now().await;
    }
    Ok((head, state))
}

fn damaged(error: &ChainError, whole_to: Version) -> Problem {
    let detail = format!(
        "the record is damaged: {error}. It is whole up to version {whole_to}: read that, and ask the server's operator to \
         restore a backup"
    );
    Problem::new(http::StatusCode::CONFLICT, "damaged", detail)
}

/// SHA-256 of the state's JSON: the same for every server that has applied the same events.
pub fn state_hash(state: &Document) -> Hash {
    Hash(Sha256::digest(serde_json::to_vec(state).unwrap_or_default()).into())
}

/// Digests computed concurrently, over all notebooks.
const MAX_AT_ONCE: usize = 2;

/// Computes digests for all connections, and counts the results of their checks.
pub struct Checks {
    permits: Semaphore,
    digests: Memo<(NotebookId, Version), Option<Hash>>,
    pub answered: AtomicU64,
    pub differed: AtomicU64,
}

impl Default for Checks {
    fn default() -> Self {
        let (answered, differed) = Default::default();
        Self { permits: Semaphore::new(MAX_AT_ONCE), digests: Memo::default(), answered, differed }
    }
}

impl Checks {
    /// The digest at `version`, which `now` has reached; `None` if that state has no canonical form.
    pub async fn digest(
        &self,
        store: &dyn EventStore,
        max_events: u64,
        now: Arc<Document>,
        version: Version,
    ) -> Result<Option<Hash>, Problem> {
        let key = (now.notebook_id.clone(), version);
        // While waiting for the permit, the same digest may have been computed for another client.
        let _permit = self.permits.acquire().await;
        if let Some(digest) = self.digests.get(&key) {
            return Ok(digest);
        }
        let document =
            if now.version == version { now } else { Arc::new(state_at(store, &key.0, version, max_events).await?) };
        let digest = tokio::task::spawn_blocking(move || document.digest().ok()).await.unwrap_or_default();
        self.digests.keep(key, digest);
        Ok(digest)
    }
}

/// Size of the pieces of a text: one buffer that doubles would take twice the memory while it grows.
const PIECE_BYTES: usize = 256 << 10;

/// A text that is being sent, owned by its readers.
type SharedHistory = Option<(Version, Weak<Vec<Bytes>>)>;

/// Texts by notebook. Making a text holds its lock: other readers wait for that text.
#[derive(Debug, Default)]
pub struct StateTexts(Mutex<HashMap<NotebookId, Arc<tokio::sync::Mutex<SharedHistory>>>>);

/// A text while it is written.
#[derive(Default)]
struct TextPieces {
    whole: Vec<Bytes>,
    last: Vec<u8>,
}

impl TextPieces {
    fn of(document: &Document) -> Option<Vec<Bytes>> {
        let mut pieces = Self::default();
        serde_json::to_writer(&mut pieces, document).ok()?;
        let Self { mut whole, last } = pieces;
        whole.push(last.into());
        Some(whole)
    }
}

impl Write for TextPieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == PIECE_BYTES {
            let full = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE_BYTES));
            self.whole.push(full.into());
        }
        let taken = bytes.len().min(PIECE_BYTES - self.last.len());
        self.last.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StateTexts {
    /// Pieces of the text. `None`: it could not be made.
    pub async fn of(&self, document: Arc<Document>) -> Option<Arc<Vec<Bytes>>> {
        let slot = self.slot(&document.notebook_id);
        let mut kept = slot.lock().await;
        if let Some((version, text)) = &*kept
            && *version == document.version
            && let Some(text) = text.upgrade()
        {
            return Some(text);
        }
        let version = document.version;
        let made = tokio::task::spawn_blocking(move || TextPieces::of(&document)).await;
        let text = Arc::new(made.ok()??);
        *kept = Some((version, Arc::downgrade(&text)));
        Some(text)
    }

    fn slot(&self, notebook: &NotebookId) -> Arc<tokio::sync::Mutex<SharedHistory>> {
        let mut slots = self.0.lock();
        slots.retain(|_, slot| {
            let is_idle =
                slot.try_lock().is_ok_and(|kept| kept.as_ref().is_none_or(|(_, text)| text.strong_count() == 0));
            !is_idle || Arc::strong_count(slot) > 1
        });
        slots.entry(notebook.clone()).or_default().clone()
    }
}

/// Interval of the comments that keep a stream of server-sent events open.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events per read.
const WATCH_PAGE: usize = 500;

/// Watch of one consumer.
pub struct LogWatch {
    pub notebooks: Arc<Notebooks>,
    pub authenticated: Authenticated,
    subscription: Subscription,
    follow: Follow,
    /// Version of the last event that was read.
    pub version: Version,
    /// True if the token's rights have changed and were not checked in the room yet.
    is_unchecked: bool,
}

impl LogWatch {
    /// Reads events after `since`.
    pub async fn start(
        notebooks: Arc<Notebooks>,
        authenticated: Authenticated,
        notebook: &NotebookId,
        since: Version,
    ) -> Result<Self, Problem> {
        let room = notebooks.room(&authenticated, notebook)?;
        let follow = Follow::new(&notebooks.accounts, &authenticated).await?;
        let identity = |connection: &str| identity(&authenticated, notebook, connection);
        let subscription = Subscription::start(room, notebooks.limits.max_queued_bytes, identity);
        Ok(Self { notebooks, authenticated, subscription, follow, version: since, is_unchecked: false })
    }

    pub fn notebook(&self) -> &NotebookId {
        self.subscription.room.notebook_id()
    }

    /// Waits for news; `None`: the caller may read no more, or the server stops. Cancel safe.
    pub async fn news(&mut self) -> Option<Vec<Arc<News>>> {
        loop {
            self.check().await?;
            tokio::select! {
                news = self.subscription.recv() => return news,
                changed = self.follow.changed() => {
                    self.authenticated = changed.ok()?;
                    self.is_unchecked = true;
                }
                () = self.notebooks.stopping.cancelled() => return None,
            }
        }
    }

    /// Waits for news of the log; `None`: the caller may read no more, or the server stops. Cancel safe.
    pub async fn wait(&mut self) -> Option<()> {
        let is_of_log = |news: &Arc<News>| matches!(**news, News::Position { .. } | News::Committed { .. });
        while !self.news().await?.iter().any(is_of_log) {}
        Some(())
    }

    /// Next events of the log, empty at its end; `None`: the caller may read no more.
    pub async fn read(&mut self) -> Option<Vec<Stored>> {
        // A long read does not call `wait`, so rights are checked here too.
        if let Some(changed) = self.follow.changed().now_or_never() {
            self.authenticated = changed.ok()?;
            self.is_unchecked = true;
        }
        self.check().await?;
        let stored = self.notebooks.store.read(self.notebook(), self.version, WATCH_PAGE).await.ok()?;
        self.version = stored.last().map_or(self.version, |stored| stored.envelope.version);
        Some(stored)
    }

    /// Checks the caller's rights, if the token's have changed.
    async fn check(&mut self) -> Option<()> {
        if !self.is_unchecked {
            return Some(());
        }
        let notebook = self.subscription.room.notebook_id();
        self.subscription.change_identity(identity(&self.authenticated, notebook, ""));
        self.notebooks.read(&self.authenticated, notebook).await.ok()?;
        self.is_unchecked = false;
        Some(())
    }
}

/// Texts beyond this are compared as a whole only.
const MAX_DIFF_BYTES: usize = 1 << 20;

/// A unified diff; empty if the texts are equal.
pub fn unified(left: &str, right: &str) -> String {
    if left == right {
        return String::new();
    }
    if left.len() + right.len() > MAX_DIFF_BYTES {
        return "(too long to show what differs)".to_owned();
    }
    similar::TextDiff::from_lines(left, right).unified_diff().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_who_read_at_a_time_share_one_text_and_nobody_keeps_it() {
        let texts = StateTexts::default();
        let document = Arc::new(Document::new("nb".parse().unwrap()));
        let (one, other) = tokio::join!(texts.of(document.clone()), texts.of(document.clone()));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!(one.concat(), serde_json::to_vec(&*document).unwrap());
        let mut later = (*document).clone();
        later.version = 1;
        assert_ne!(texts.of(Arc::new(later)).await.unwrap(), one, "another version is another text");
        drop((one, other));
        let title = "t".repeat(3 * PIECE_BYTES);
        let large = Document { title, ..(*document).clone() };
        let pieces = texts.of(Arc::new(large.clone())).await.unwrap();
        assert_eq!((pieces.len(), pieces.concat()), (4, serde_json::to_vec(&large).unwrap()));
        drop(pieces);
        texts.slot(&"other".parse().unwrap());
        assert_eq!(texts.0.lock().len(), 1, "only what is being read is kept");
    }
}
