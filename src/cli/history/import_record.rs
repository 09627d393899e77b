//! `import-record`: exported records into the data folder of a stopped server, after a check of everything that they prove.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use notarium_core::{
    Actor, Append, ContentRemoval, Hash, Head, NewEvent, NotebookId, Stored, import_row, verify_chain,
};
use notarium_store::blobs::{BLOBS_FOLDER, named_in};
use notarium_store::{BlobLocation, BlobRecord, Blobs, EventStore, Sqlite};
use notarium_wire::record_manifest::{ManifestBlob, ManifestNotebook, RecordManifest};
use notarium_wire::signed_head::StatedHead;
use notarium_wire::signed_names::StatedNames;
use notarium_wire::signed_note::VerifierKey;

use crate::cli::connection::context::{DATA_VARIABLE, data_folder};
use crate::cli::history::export_record::beside;
use crate::cli::history::heads::parse_key;
use crate::cli::history::manifest_file::{self, hash_of};
use crate::cli::history::record_file::RecordEvents;
use crate::cli::serve::blobs::BlobsArg;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Events and bytes of one append.
const APPEND_EVENTS: usize = 1_000;
const APPEND_BYTES: usize = 4 << 20;

/// Largest blob that is imported; the server's own limit counts when it serves.
const MAX_BLOB_BYTES: u64 = 1 << 40;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium import-record analysis.jsonl.zst --data /srv/notarium
  notarium import-record lab.jsonl.zst --data /srv/notarium --key NAME+ID+KEY   # also checks the signatures
The server must not run. A notebook that is there already stays as it is. An import that broke off goes on when it is repeated.")]
pub struct ImportRecordArgs {
    /// A file that `notarium export-record` wrote, with its manifest beside it.
    file: PathBuf,
    /// The data folder of the server. Else ~/.local/share/notarium.
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: Option<PathBuf>,
    #[command(flatten)]
    blobs: BlobsArg,
    /// The key of the server that exported: a line of SERVER/.well-known/notarium-keys that you kept. May be repeated.
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    key: Vec<VerifierKey>,
}

pub async fn import_record(args: ImportRecordArgs, _: &CommonOptions) -> Ended {
    let manifest = manifest_file::read(&args.file)?;
    if let Some(problem) = manifest_file::problem_of_file(&args.file, &manifest)? {
        return Err(unimported(&problem));
    }
    check_signatures(&manifest, &args.key)?;
    check_events(&args.file, &manifest)?;
    check_blobs(&args.file, &manifest)?;
    let data = args.data.map_or_else(data_folder, Ok)?;
    let blobs = args.blobs.location()?.unwrap_or_else(|| BlobLocation::Folder(data.join(BLOBS_FOLDER)));
    let store = Sqlite::open(&data).await.map_err(|error| unimported(&error))?;
    let imported = import(&args.file, &manifest, &store, &blobs).await;
    store.close().await;
    let events = imported?;
    let [notebooks, events] =
        [manifest.notebooks.len() as u64, events].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let (notebooks, events) = (print::count(notebooks, "notebook"), print::count(events, "event"));
    print::line(format!("imported {notebooks} with {events} into {}", data.display()))?;
    print::noted(
        "their access lists name accounts of the other server: where they are not here, an administrator takes the notebooks over \
         (`notarium user take-over user:ID`, with an owner's id of the manifest)",
    )
}

fn unimported(reason: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("nothing was imported: {reason}"))
}

/// Imports what is not there yet; returns the count of its events. An import that broke off goes on.
async fn import(file: &Path, manifest: &RecordManifest, store: &Sqlite, blobs: &BlobLocation) -> Result<u64, Failure> {
    let mut present = BTreeMap::new();
    for ManifestNotebook { id, version, .. } in &manifest.notebooks {
        let head = store.head(id).await.map_err(|error| unimported(&error))?;
        present.extend(head.filter(|head| head.version <= *version).map(|head| (id.clone(), head)));
        if let Some(later) = head.filter(|head| head.version > *version) {
            return Err(unimported(&format!(
                "the server has the notebook {id} already, up to version {}",
                later.version
            )));
        }
    }
    for stored in RecordEvents::open(file)? {
        let stored = stored?;
        let Some(head) = present.get(&stored.envelope.notebook_id) else { continue };
        if stored.envelope.version == head.version && stored.hash != head.hash {
            return Err(unimported(&format!("the server has another notebook {}", stored.envelope.notebook_id)));
        }
    }
    let missing: u64 =
        manifest.notebooks.iter().map(|one| one.version - present.get(&one.id).map_or(0, |head| head.version)).sum();
    if missing == 0 {
        return Err(unimported(&"all of it is there already"));
    }
    let blobs = put_blobs(file, blobs, manifest).await?;
    append(file, manifest, store, present).await?;
    for (notebook_id, blob) in blobs {
        let record = BlobRecord {
            notebook_id,
            sha256: blob.sha256,
            size_bytes: blob.size_bytes,
            media_type: None,
            uploaded_by: Actor::System.key(),
            created_at: manifest.exported_at,
        };
        store.put_blob_record(record).await.map_err(|error| broken_off(&error))?;
    }
    Ok(missing)
}

fn broken_off(reason: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("the import broke off, and goes on when it is repeated: {reason}"))
}

/// Compares the signed notes of the manifest with it. Without keys only their texts count.
fn check_signatures(manifest: &RecordManifest, keys: &[VerifierKey]) -> Ended {
    if keys.is_empty() {
        print::note("no key is given (--key): the record is checked, but not who signed it");
        return Ok(());
    }
    let wrong = |error: &dyn std::fmt::Display| Failure::failed(format!("nothing was imported: {error}"));
    for ManifestNotebook { id, version, hash, signed_head, .. } in &manifest.notebooks {
        let (head, _) = StatedHead::verified(signed_head, keys).map_err(|error| wrong(&error))?;
        if (&head.notebook_id, head.version, &head.hash) != (id, *version, hash) {
            return Err(wrong(&format!("the signed head of {id} is of another record than the manifest says")));
        }
    }
    for note in &manifest.signed_names {
        StatedNames::verified(note, keys).map_err(|error| wrong(&error))?;
    }
    Ok(())
}

/// Follows the chains of all notebooks; each must end as the manifest says.
fn check_events(file: &Path, manifest: &RecordManifest) -> Ended {
    let wrong = |reason: String| Failure::failed(format!("the record is not whole: {reason}; nothing was imported"));
    let mut heads = BTreeMap::<NotebookId, Head>::new();
    let mut last = None;
    for stored in RecordEvents::open(file)? {
        let stored = stored?;
        let id = stored.envelope.notebook_id.clone();
        if last.as_ref() != Some(&id) && heads.contains_key(&id) {
            return Err(wrong(format!("the events of {id} do not stand together")));
        }
        let head = heads.entry(id.clone()).or_insert(Head::START);
        *head = verify_chain(*head, [&stored]).map_err(|error| wrong(format!("{id}: {error}")))?;
        last = Some(id);
    }
    let expected: BTreeMap<_, _> =
        manifest.notebooks.iter().map(|notebook| (&notebook.id, (notebook.version, notebook.hash))).collect();
    let found: BTreeMap<_, _> = heads.iter().map(|(id, head)| (id, (head.version, head.hash))).collect();
    if expected == found { Ok(()) } else { Err(wrong("its ends are others than the manifest says".to_owned())) }
}

fn check_blobs(file: &Path, manifest: &RecordManifest) -> Ended {
    let folder = beside(file, ".blobs");
    for blob in &manifest.blobs {
        let path = folder.join(blob.sha256.to_string());
        if hash_of(&path)? != (blob.sha256, blob.size_bytes) {
            return Err(Failure::failed(format!("nothing was imported: {} was changed", path.display())));
        }
    }
    Ok(())
}

/// Brings large outputs to the notebooks whose events name them, before these events. Returns them.
async fn put_blobs<'a>(
    file: &Path,
    location: &BlobLocation,
    manifest: &'a RecordManifest,
) -> Result<Vec<(NotebookId, &'a ManifestBlob)>, Failure> {
    let known: BTreeMap<Hash, &ManifestBlob> = manifest.blobs.iter().map(|blob| (blob.sha256, blob)).collect();
    // Every notebook has its own copy of what its events name.
    let mut wanted = BTreeSet::<(NotebookId, Hash)>::new();
    for stored in RecordEvents::open(file)? {
        let stored = stored?;
        let named = named_in(stored.payload.get()).into_iter().filter(|sha256| known.contains_key(sha256));
        wanted.extend(named.map(|sha256| (stored.envelope.notebook_id.clone(), sha256)));
    }
    let blobs = Blobs::open(location, MAX_BLOB_BYTES).map_err(|error| unimported(&error))?;
    let mut put = Vec::with_capacity(wanted.len());
    for (notebook, sha256) in wanted {
        let path = beside(file, ".blobs").join(sha256.to_string());
        let bytes = tokio::fs::read(&path).await.map_err(|error| Failure::unreadable(&path, &error))?;
        blobs.put_bytes(&notebook, bytes.into()).await.map_err(|error| unimported(&error))?;
        put.extend(known.get(&sha256).map(|blob| (notebook, *blob)));
    }
    Ok(put)
}

/// Appends the events that follow the heads in `present`.
async fn append(
    file: &Path,
    manifest: &RecordManifest,
    store: &Sqlite,
    mut heads: BTreeMap<NotebookId, Head>,
) -> Ended {
    let mut waiting = WaitingEvents::default();
    for stored in RecordEvents::open(file)? {
        let stored = stored?;
        let head = heads.entry(stored.envelope.notebook_id.clone()).or_insert(Head::START);
        if stored.envelope.version <= head.version {
            continue;
        }
        if waiting.is_full() || waiting.notebook() != Some(&stored.envelope.notebook_id) {
            waiting.write(manifest, store).await?;
            waiting.expected = *head;
        }
        *head = stored.head();
        waiting.push(stored);
    }
    waiting.write(manifest, store).await
}

/// Events of one notebook that are not written yet.
struct WaitingEvents {
    expected: Head,
    events: Vec<NewEvent>,
    bytes: usize,
}

impl Default for WaitingEvents {
    fn default() -> Self {
        Self { expected: Head::START, events: Vec::new(), bytes: 0 }
    }
}

impl WaitingEvents {
    fn notebook(&self) -> Option<&NotebookId> {
        self.events.first().map(|event| &event.stored.envelope.notebook_id)
    }

    fn is_full(&self) -> bool {
        self.events.len() >= APPEND_EVENTS || self.bytes >= APPEND_BYTES
    }

    fn push(&mut self, stored: Stored) {
        self.bytes += stored.payload.get().len();
        // Events that this program does not know have no subject: lists by subject lack them until it is updated.
        let subject = stored.typed().ok().and_then(|recorded| recorded.event.subject().map(str::to_owned));
        self.events.push(NewEvent { stored, subject });
    }

    async fn write(&mut self, manifest: &RecordManifest, store: &Sqlite) -> Ended {
        let Self { expected, events, .. } = std::mem::take(self);
        let Some(first) = events.first() else { return Ok(()) };
        let notebook_id = first.stored.envelope.notebook_id.clone();
        // The first append says that the answers to the commands are not here.
        let listed = manifest.notebooks.iter().find(|listed| listed.id == notebook_id && expected == Head::START);
        let commands = listed.map(|listed| import_row(listed.version)).into_iter().collect();
        let removal = ContentRemoval::default();
        let append = Append { notebook_id, epoch: 0, expected, events, commands, removal };
        store.append(append).await.map_err(|error| broken_off(&error))
    }
}
