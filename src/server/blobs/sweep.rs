//! Removes blobs of abandoned uploads: those that no event of their notebook has named within a day.
//!
//! Invariants:
//! - A blob that an event names is never removed. The whole log is searched before a removal, and a command that is
//!   about to name an old blob claims it first ([`BlobClaims`]). A claim and a removal exclude each other.
//! - A blob younger than the grace period is not touched, so uploads in progress need no claim.
//! - The node that owns a notebook sweeps its blobs. It examines them all after the notebook came to it: another node's sweeps may have
//!   left some out.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, TryStreamExt};
use notarium_core::{Hash, Millis, NotebookId};
use notarium_store::blobs::BlobEntry;
use notarium_store::{BlobError, Blobs, EventStore, StoreError};
use tokio_util::sync::CancellationToken;

use super::parse_hash;
use crate::blobs::NotebookBlobs;
use crate::http::problem::Problem;

/// Events per read.
const PAGE: usize = 200;

/// Result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Blobs that were old enough to be searched for in their log.
    pub examined: u64,
    pub removed: u64,
    pub removed_bytes: u64,
}

/// Reason why a sweep ended early. The next sweep continues.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SweepError> for Problem {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Blobs(error) => error.into(),
            SweepError::Store(error) => error.into(),
        }
    }
}

/// Sweeps regularly until the server stops.
pub async fn now_and_then(blobs: Arc<NotebookBlobs>, interval: Duration, stopping: CancellationToken) {
    let mut sweeper = Sweeper::default();
    while stopping.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
        let Ok(swept) = AssertUnwindSafe(sweeper.sweep(&blobs)).catch_unwind().await else {
            tracing::error!("a fault ended the sweep of blobs: the next begins anew");
            sweeper = Sweeper::default();
            continue;
        };
        log(swept);
    }
}

fn log(swept: Result<Swept, SweepError>) {
    match swept {
        Ok(swept) => tracing::info!(swept.examined, swept.removed, swept.removed_bytes, "blobs were swept"),
        Err(error) => tracing::warn!(%error, "the sweep of blobs broke off: the next goes on"),
    }
}

/// Examines every blob once, when it is older than the grace period.
#[derive(Debug, Default)]
pub struct Sweeper {
    /// Time before which all stored blobs have been examined, by notebook that this node owned at the last sweep.
    checked_until: HashMap<NotebookId, Millis>,
}

impl Sweeper {
    /// Sweeps the notebooks that this node owns.
    pub async fn sweep(&mut self, blobs: &NotebookBlobs) -> Result<Swept, SweepError> {
        let cutoff = blobs.clock.now().saturating_sub(blobs.claims.grace_ms);
        blobs.claims.forget_before(cutoff).await;
        let mut swept = Swept::default();
        let mut checked_until = HashMap::new();
        for notebook in blobs.notebooks().await? {
            if !blobs.cluster.owns(&notebook).await? {
                continue;
            }
            let candidates = self.candidates(blobs, &notebook, cutoff).await?;
            swept.examined += candidates.len() as u64;
            let unnamed = unnamed(&*blobs.store, &notebook, candidates).await?;
            remove(blobs, &notebook, unnamed, &mut swept).await?;
            checked_until.insert(notebook, cutoff);
        }
        self.checked_until = checked_until;
        Ok(swept)
    }

    /// Blobs of the notebook that became old enough since the last sweep.
    async fn candidates(
        &self,
        blobs: &Blobs,
        notebook: &NotebookId,
        cutoff: Millis,
    ) -> Result<BTreeMap<Hash, BlobEntry>, BlobError> {
        let ages = self.checked_until.get(notebook).copied().unwrap_or_default()..cutoff;
        let of_age = blobs.list(notebook).try_filter(|blob| ready(ages.contains(&blob.stored_at)));
        of_age.map_ok(|blob| (blob.sha256, blob)).try_collect().await
    }
}

/// Blobs that no event of the notebook names.
async fn unnamed(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut candidates: BTreeMap<Hash, BlobEntry>,
) -> Result<BTreeMap<Hash, BlobEntry>, StoreError> {
    let mut after = 0;
    while !candidates.is_empty() {
        let events = store.read(notebook, after, PAGE).await?;
        let Some(last) = events.last() else { break };
        after = last.envelope.version;
        for hash in events.iter().flat_map(|event| hashes_in(event.payload.get())) {
            candidates.remove(&hash);
        }
        tokio::task::yield_now().await;
    }
    Ok(candidates)
}

/// Hashes in a payload that may name a blob, in any field, including those of later versions.
fn hashes_in(payload: &str) -> impl Iterator<Item = Hash> {
    let named = if payload.contains("sha256") { payload } else { "" };
    let words = named.split(|character: char| !character.is_ascii_hexdigit()).filter(|word| word.len() == 64);
    words.filter_map(|word| parse_hash(word).ok())
}

async fn remove(
    blobs: &NotebookBlobs,
    notebook: &NotebookId,
    unnamed: BTreeMap<Hash, BlobEntry>,
    swept: &mut Swept,
) -> Result<(), SweepError> {
    for blob in unnamed.into_values() {
        // Another node knows of claims that this one does not.
        blobs.cluster.forget(notebook);
        if !blobs.cluster.owns(notebook).await? {
            break;
        }
        if blobs.claims.remove(blobs, notebook, &blob).await? {
            blobs.store.delete_blob_record(notebook, &blob.sha256).await?;
            blobs.usage.removed(notebook, blob.size_bytes);
            swept.removed += 1;
            swept.removed_bytes += blob.size_bytes;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use notarium_core::{Actor, UserId};
    use notarium_sync::DecodedCommand;
    use notarium_wire::CommandMessage;

    use super::*;
    use crate::App;
    use crate::limits::clock::Clock;
    use crate::notebooks::by_server;
    use crate::rooms::Identity;
    use crate::{RunningServer, Server, ServerConfig};

    const DAY: u64 = 24 * 60 * 60 * 1000;

    struct Scene {
        running: RunningServer,
        time: Arc<AtomicU64>,
        commands: u32,
    }

    fn notebook() -> NotebookId {
        "n".parse().unwrap()
    }

    /// A notebook, and a clock that a test can set forward.
    async fn scene() -> Scene {
        let time = Arc::new(AtomicU64::new(Clock::system().now()));
        let config = ServerConfig {
            clock: Clock::manual(time.clone()),
            ..ServerConfig::in_folder(crate::server::scratch::folder())
        };
        let mut scene = Scene { running: Server::start(config).await.unwrap(), time, commands: 0 };
        let create = r#"{"CreateNotebook":{"title":"T","metadata":{}}}"#;
        scene.command(create.to_owned()).await.unwrap();
        scene.command(r#"{"InsertCell":{"cell_id":"c","cell_type":"code"}}"#.to_owned()).await.unwrap();
        scene
    }

    impl Scene {
        fn app(&self) -> &App {
            self.running.app()
        }

        async fn upload(&self, text: &str) -> Hash {
            self.app().blobs.put_bytes(&notebook(), text.to_owned().into()).await.unwrap()
        }

        fn advance(&self, millis: u64) {
            self.time.fetch_add(millis, Ordering::SeqCst);
        }

        /// Runs a command as clients' commands run: the checks, then the room.
        async fn command(&mut self, body: String) -> Result<(), notarium_core::Rejection> {
            let message = self.message(&body);
            self.app().check(&by_server(), &message).await?;
            self.land(message).await
        }

        fn message(&mut self, body: &str) -> DecodedCommand {
            self.commands += 1;
            let (id, body) = (format!("c{}", self.commands), notarium_core::RawJson::parse(body).unwrap());
            DecodedCommand::decode(CommandMessage::new(id.parse().unwrap(), notebook(), body)).unwrap()
        }

        async fn land(&self, message: DecodedCommand) -> Result<(), notarium_core::Rejection> {
            let actor = Actor::User { id: UserId::new("ann").unwrap() };
            let authority = notarium_core::Authority::session();
            let identity = Identity { actor, authority, name: "Ann".into(), connection: String::new() };
            self.app()
                .rooms
                .open(&notebook())
                .execute(Arc::new(identity), message, Default::default())
                .await
                .map(|_| ())
        }

        async fn is_there(&self, hash: &Hash) -> bool {
            self.app().blobs.find(&notebook(), hash).await.unwrap().is_some()
        }
    }

    /// A command that names the blob, in a run that was made elsewhere.
    fn naming(hash: &Hash) -> String {
        let blob = serde_json::json!({"pointer": "/text", "sha256": hash.to_string(), "size_bytes": 3});
        let content = serde_json::json!({"output_type": "stream", "name": "stdout", "text": ""});
        let outputs = serde_json::json!([{"content": content, "blobs": [blob]}]);
        serde_json::json!({"RecordExecution": {"cell_id": "c", "outputs": outputs}}).to_string()
    }

    #[tokio::test]
    async fn what_no_event_names_goes_after_its_day_and_nothing_else() {
        let mut scene = scene().await;
        let (abandoned, named) = (scene.upload("abandoned").await, scene.upload("named").await);
        scene.command(naming(&named)).await.unwrap();
        let mut sweeper = Sweeper::default();
        assert_eq!(sweeper.sweep(&scene.app().blobs).await.unwrap(), Swept::default(), "all is young");
        scene.advance(DAY + 60_000);
        let removed_bytes = "abandoned".len() as u64;
        let swept = sweeper.sweep(&scene.app().blobs).await.unwrap();
        assert_eq!(swept, Swept { examined: 2, removed: 1, removed_bytes });
        assert!(!scene.is_there(&abandoned).await && scene.is_there(&named).await);
        assert_eq!(sweeper.sweep(&scene.app().blobs).await.unwrap().examined, 0, "each has its verdict once");
        assert_eq!(scene.running.sweep_blobs().await.unwrap(), Swept { examined: 1, ..Swept::default() });
    }

    #[tokio::test]
    async fn blobs_of_a_notebook_that_never_came_go_too() {
        let scene = scene().await;
        let stray: NotebookId = "stray".parse().unwrap();
        let hash = scene.app().blobs.put_bytes(&stray, "left".into()).await.unwrap();
        scene.advance(DAY + 60_000);
        assert_eq!(scene.running.sweep_blobs().await.unwrap().removed, 1);
        assert!(scene.app().blobs.find(&stray, &hash).await.unwrap().is_none());
    }

    /// The command is checked before the log is searched, and its event lands afterwards.
    #[tokio::test]
    async fn a_blob_that_is_named_while_the_sweep_runs_stays() {
        let mut scene = scene().await;
        let hash = scene.upload("late").await;
        scene.advance(DAY + 60_000);
        let message = scene.message(&naming(&hash));
        scene.app().check(&by_server(), &message).await.unwrap();
        let cutoff = scene.app().clock.now() - DAY;
        let candidates = Sweeper::default().candidates(&scene.app().blobs, &notebook(), cutoff).await.unwrap();
        let unnamed = unnamed(&*scene.app().store, &notebook(), candidates).await.unwrap();
        assert!(unnamed.contains_key(&hash), "no event has named it yet");
        scene.land(message).await.unwrap();
        let mut swept = Swept::default();
        remove(&scene.app().blobs, &notebook(), unnamed, &mut swept).await.unwrap();
        assert_eq!(swept.removed, 0);
        assert!(scene.is_there(&hash).await);
    }

    /// Names blobs and sweeps concurrently, in whatever order the tasks happen to run.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whatever_was_accepted_is_there_in_the_end() {
        let mut scene = scene().await;
        let mut hashes = Vec::new();
        for index in 0..60 {
            hashes.push(scene.upload(&format!("blob {index}")).await);
        }
        scene.advance(DAY + 60_000);
        let app = scene.app().clone();
        let sweeping = tokio::spawn(async move {
            let mut removed = 0;
            for _ in 0..20 {
                removed += Sweeper::default().sweep(&app.blobs).await.unwrap().removed;
            }
            removed
        });
        let mut accepted = Vec::new();
        for hash in hashes.iter().rev() {
            if scene.command(naming(hash)).await.is_ok() {
                accepted.push(*hash);
            }
        }
        let removed = sweeping.await.unwrap();
        for hash in &accepted {
            assert!(scene.is_there(hash).await, "an event names {hash}, and it is gone");
        }
        assert_eq!(usize::try_from(removed).unwrap() + accepted.len(), hashes.len());
    }

    #[tokio::test]
    async fn a_second_upload_of_an_old_blob_keeps_it() {
        let mut scene = scene().await;
        let hash = scene.upload("again").await;
        scene.advance(DAY + 60_000);
        let app = scene.app();
        let found = app.blobs.claims.claim(&app.blobs, &notebook(), &hash, app.clock.now()).await.unwrap();
        assert!(found.is_some());
        assert_eq!(scene.running.sweep_blobs().await.unwrap().removed, 0);
        scene.command(naming(&hash)).await.unwrap();
        scene.advance(2 * DAY);
        assert_eq!(scene.running.sweep_blobs().await.unwrap().removed, 0);
    }
}
