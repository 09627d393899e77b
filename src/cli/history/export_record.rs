//! `export-record`: the records of notebooks as one file, with a manifest and the server's signatures, to be read and checked without the server.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use notarium_core::{Actor, Event, Hash, Head, NotebookId, Stored, Subject, Version, verify_chain};
use notarium_store::blobs::named_in;
use notarium_wire::record_manifest::{MANIFEST_SCHEMA, ManifestBlob, ManifestNotebook, RecordFormat, RecordManifest};
use notarium_wire::rest::NamesQuery;
use reqwest::Method;
use sha2::{Digest, Sha256};

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find;
use crate::cli::history::heads;
use crate::cli::history::proof::RETIRED;
use crate::cli::history::record_rows::RecordRows;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Subjects in one note of names, as the server takes them.
const NAMES_PER_NOTE: usize = 1_000;

/// Most notebooks of `--workspace`.
const MAX_NOTEBOOKS: usize = 1_000_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium export-record analysis -o analysis.jsonl.zst
  notarium verify --file analysis.jsonl.zst          # without a server
  notarium export-record --workspace Lab -o lab.jsonl.zst
  notarium export-record analysis --format parquet -o analysis.parquet   # for DuckDB, pandas, Spark
Beside the file are FILE.manifest.json (what it holds, with the server's signatures) and the folder FILE.blobs (large outputs).")]
pub struct ExportRecordArgs {
    /// Id or title.
    #[arg(required_unless_present = "workspace")]
    notebook: Option<String>,
    /// All notebooks of this workspace, archived ones too, in place of one.
    #[arg(long, value_name = "WORKSPACE", conflicts_with = "notebook")]
    workspace: Option<String>,
    /// jsonl: what was hashed, one event a line, compressed with zstd. parquet: one row an event.
    #[arg(long, value_enum, default_value_t = FormatName::Jsonl)]
    format: FormatName,
    /// The file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave large outputs out; the events keep their hashes.
    #[arg(long)]
    without_blobs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    Jsonl,
    Parquet,
}

pub async fn export_record(args: ExportRecordArgs, context: &CommonOptions) -> Ended {
    let part = beside(&args.output, ".part");
    let exported = export(&args, context, &part).await;
    if exported.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    told(&exported?, &args.output)
}

/// Writes the file under the name `part` first, then its manifest, and then gives it its name.
async fn export(args: &ExportRecordArgs, context: &CommonOptions, part: &Path) -> Result<RecordManifest, Failure> {
    let client = context.client()?;
    let notebooks = chosen(args, context, &client).await?;
    let unwritable = |error: &io::Error| Failure::unwritable(&args.output, error);
    let file = HashedFile::create(part).map_err(|error| unwritable(&error))?;
    let sink = match args.format {
        FormatName::Jsonl => RecordSink::lines(file).map_err(|error| unwritable(&error))?,
        FormatName::Parquet => {
            RecordSink::Rows(Box::new(RecordRows::new(file).map_err(|error| Failure::failed(error.to_string()))?))
        }
    };
    let mut export = Export {
        client,
        sink,
        subjects: BTreeSet::new(),
        blobs: Vec::new(),
        missing: Vec::new(),
        looked_at: BTreeSet::new(),
        events: 0,
    };
    let folder = (!args.without_blobs).then(|| beside(&args.output, ".blobs"));
    let mut exported = Vec::with_capacity(notebooks.len());
    for (id, title) in notebooks {
        exported.push(export.notebook(id, title, folder.as_deref()).await?);
    }
    let signed_names = export.signed_names().await?;
    let Export { sink, blobs, missing, events, .. } = export;
    let (sha256, size_bytes) = sink.finish().map_err(|error| unwritable(&error))?;
    let manifest = RecordManifest {
        schema: MANIFEST_SCHEMA,
        format: if args.format == FormatName::Jsonl { RecordFormat::Jsonl } else { RecordFormat::Parquet },
        file: args.output.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        size_bytes,
        sha256,
        events,
        exported_at: notarium_server::Clock::system().now(),
        notebooks: exported,
        signed_names,
        blobs,
        missing_blobs: missing,
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| Failure::failed(error.to_string()))?;
    std::fs::write(manifest_of(&args.output), text).map_err(|error| unwritable(&error))?;
    std::fs::rename(part, &args.output).map_err(|error| unwritable(&error))?;
    Ok(manifest)
}

fn told(manifest: &RecordManifest, file: &Path) -> Ended {
    let [notebooks, events, blobs] = [
        print::count(manifest.notebooks.len(), "notebook"),
        print::count(usize::try_from(manifest.events).unwrap_or(usize::MAX), "event"),
        print::count(manifest.blobs.len(), "large output"),
    ];
    print::line(format!("wrote {}: {notebooks}, {events}, {blobs}; beside it its manifest", file.display()))?;
    if manifest.missing_blobs.is_empty() {
        return Ok(());
    }
    print::noted(format!(
        "{} not there: the manifest names them",
        print::count(manifest.missing_blobs.len(), "large output is")
    ))
}

async fn chosen(
    args: &ExportRecordArgs,
    context: &CommonOptions,
    client: &RestClient,
) -> Result<Vec<(NotebookId, String)>, Failure> {
    let Some(workspace) = &args.workspace else {
        let notebook = context.notebook(args.notebook.as_deref().unwrap_or_default()).await?;
        let title = notebook.outline().await?.title.clone();
        return Ok(vec![(notebook.id, title)]);
    };
    let workspace = find::workspace(client, workspace).await?;
    let mut notebooks = Vec::new();
    for archived in [false, true] {
        let lines = find::list(client, None, archived, Some(&workspace), MAX_NOTEBOOKS).await?;
        notebooks.extend(lines.into_iter().map(|line| (line.id, line.title)));
    }
    notebooks.sort();
    if notebooks.is_empty() {
        Err(Failure::failed("the workspace has no notebook that you can see"))
    } else {
        Ok(notebooks)
    }
}

/// The path with `ending` added to the file's name.
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(ending);
    file.with_file_name(name)
}

/// The manifest's path.
pub fn manifest_of(file: &Path) -> PathBuf {
    beside(file, ".manifest.json")
}

struct Export {
    client: RestClient,
    sink: RecordSink,
    /// Those whose names are asked for.
    subjects: BTreeSet<String>,
    blobs: Vec<ManifestBlob>,
    missing: Vec<Hash>,
    /// Large outputs that are there or missing.
    looked_at: BTreeSet<Hash>,
    events: u64,
}

impl Export {
    /// Writes the events of a notebook up to the head that the server signs now.
    async fn notebook(
        &mut self,
        id: NotebookId,
        title: String,
        folder: Option<&Path>,
    ) -> Result<ManifestNotebook, Failure> {
        let notebook = self.client.notebook(id.clone());
        let signed_head = heads::signed(&notebook).await?;
        let end = heads::version_of(&signed_head)?;
        let mut named = BTreeSet::new();
        let head = self.events(&notebook, end, &mut named).await?;
        for sha256 in named {
            self.blob(&notebook, sha256, folder).await?;
        }
        Ok(ManifestNotebook { id, title, version: head.version, hash: head.hash, signed_head })
    }

    async fn events(
        &mut self,
        notebook: &NotebookClient,
        end: Version,
        named: &mut BTreeSet<Hash>,
    ) -> Result<Head, Failure> {
        let request = notebook.request(Method::GET, "/events").header("accept", "application/x-ndjson");
        let mut answer = notebook.client.send(request).await?;
        let cut = |error: reqwest::Error| Failure::connection(format!("the record was cut off ({error}): try again"));
        let (mut head, mut text) = (Head::START, Vec::new());
        while head.version < end {
            let Some(piece) = answer.chunk().await.map_err(cut)? else { break };
            text.extend_from_slice(&piece);
            let Some(last) = text.iter().rposition(|byte| *byte == b'\n') else { continue };
            let rest = text.split_off(last + 1);
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let stored: Stored =
                    serde_json::from_slice(line).map_err(|error| Failure::failed(error.to_string()))?;
                if stored.envelope.version > end {
                    break;
                }
                head = verify_chain(head, [&stored])
                    .map_err(|error| Failure::failed(format!("the server's record is not whole: {error}")))?;
                named.extend(named_in(stored.payload.get()));
                self.subjects.extend(subjects_of(&stored));
                self.sink.write(line, &stored).map_err(|error| Failure::failed(format!("not written: {error}")))?;
                self.events += 1;
            }
            text = rest;
        }
        if head.version == end {
            return Ok(head);
        }
        Err(Failure::failed(format!(
            "the record of {} ends at version {}, and its signed head names {end}",
            notebook.id, head.version
        )))
    }

    async fn blob(&mut self, notebook: &NotebookClient, sha256: Hash, folder: Option<&Path>) -> Ended {
        if !self.looked_at.insert(sha256) {
            return Ok(());
        }
        let Some(folder) = folder else {
            self.missing.push(sha256);
            return Ok(());
        };
        let mut answer = match notebook.blob(&sha256.to_string()).await {
            Ok(answer) => answer,
            Err(failure) if failure.is_not_found() || failure.has_code("damaged") || failure.has_code(RETIRED) => {
                self.missing.push(sha256);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        let path = folder.join(sha256.to_string());
        let unwritable = |error: &io::Error| Failure::unwritable(&path, error);
        std::fs::create_dir_all(folder).map_err(|error| unwritable(&error))?;
        let mut file = HashedFile::create(&path).map_err(|error| unwritable(&error))?;
        let cut =
            |error: reqwest::Error| Failure::connection(format!("a large output was cut off ({error}): try again"));
        while let Some(piece) = answer.chunk().await.map_err(cut)? {
            file.write_all(&piece).map_err(|error| unwritable(&error))?;
        }
        let (written, size_bytes) = file.finish().map_err(|error| unwritable(&error))?;
        if written != sha256 {
            return Err(Failure::failed(format!(
                "the server sent other bytes than those of the large output {sha256}"
            )));
        }
        self.blobs.push(ManifestBlob { sha256, size_bytes, notebook: notebook.id.clone() });
        Ok(())
    }

    async fn signed_names(&self) -> Result<Vec<String>, Failure> {
        let subjects: Vec<String> = self.subjects.iter().cloned().collect();
        let mut notes = Vec::new();
        for part in subjects.chunks(NAMES_PER_NOTE) {
            let query = NamesQuery { subjects: part.to_vec() };
            let request = self.client.request(Method::POST, "/api/signed-names").json(&query);
            let answer = self.client.send(request).await?;
            let cut =
                |error: reqwest::Error| Failure::connection(format!("the names were cut off ({error}): try again"));
            notes.push(answer.text().await.map_err(cut)?);
        }
        Ok(notes)
    }
}

/// Subjects that an event names: its author, and whom it gives a role or takes one.
fn subjects_of(stored: &Stored) -> Vec<String> {
    let mut subjects: Vec<String> = match &stored.envelope.actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => vec![format!("user:{id}")],
        Actor::Guest { share_link } => vec![format!("share_link:{share_link}")],
        Actor::Agent { id } => vec![format!("agent:{id}")],
        Actor::System => Vec::new(),
    };
    if ["NotebookCreated", "AccessGranted", "AccessRevoked"].contains(&stored.envelope.event_type.as_str())
        && let Ok(recorded) = stored.typed()
    {
        let subject = match recorded.event {
            Event::NotebookCreated(event) => Some(event.owner),
            Event::AccessGranted(event) => Some(event.subject),
            Event::AccessRevoked(event) => Some(event.subject),
            _ => None,
        };
        subjects.extend(match subject {
            Some(Subject::User { id }) => Some(format!("user:{id}")),
            Some(Subject::ShareLink { id }) => Some(format!("share_link:{id}")),
            Some(Subject::Agent { id }) => Some(format!("agent:{id}")),
            Some(Subject::Workspace { .. }) | None => None,
        });
    }
    subjects
}

/// Target of the events.
enum RecordSink {
    Lines(Box<zstd::Encoder<'static, HashedFile>>),
    Rows(Box<RecordRows<HashedFile>>),
}

impl RecordSink {
    fn lines(file: HashedFile) -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self::Lines(Box::new(encoder)))
    }

    fn write(&mut self, line: &[u8], stored: &Stored) -> io::Result<()> {
        match self {
            Self::Lines(encoder) => {
                encoder.write_all(line)?;
                encoder.write_all(b"\n")
            }
            Self::Rows(rows) => rows.write(stored),
        }
    }

    fn finish(self) -> io::Result<(Hash, u64)> {
        match self {
            Self::Lines(encoder) => encoder.finish()?.finish(),
            Self::Rows(rows) => rows.finish()?.finish(),
        }
    }
}

/// A file to write, whose bytes are hashed.
type HashedFile = Hashing<BufWriter<File>>;

/// Counts and hashes bytes as they are written.
pub struct Hashing<W> {
    out: W,
    digest: Sha256,
    size_bytes: u64,
}

impl<W: Write> Hashing<W> {
    pub fn new(out: W) -> Self {
        Self { out, digest: Sha256::new(), size_bytes: 0 }
    }

    /// SHA-256 and count of the bytes, and where they went.
    pub fn hashed(self) -> (Hash, u64, W) {
        (Hash(self.digest.finalize().into()), self.size_bytes, self.out)
    }
}

impl HashedFile {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self::new(BufWriter::new(File::create(path)?)))
    }

    /// Writes all to the disk; returns the SHA-256 and the count of bytes.
    fn finish(self) -> io::Result<(Hash, u64)> {
        let (sha256, size_bytes, file) = self.hashed();
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok((sha256, size_bytes))
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest.update(&bytes[..count]);
        self.size_bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
