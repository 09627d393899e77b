//! Files beside a notebook: list, upload, download, move, remove, and the trash.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use futures_util::TryStreamExt;
use indicatif::ProgressBar;
use notarium_core::KernelSessionId;
use notarium_wire::rest::{FileList, FileTrash, MoveFile, RestoreFile};
use notarium_wire::{FileEntry, FileKind, MAX_LISTED_FILES, MovedFile, TrashedFile, WrittenFile};
use reqwest::{Method, header};
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::terminal::{input, print};
use crate::cli::{CommonOptions, Ended, Failure};

fn id(kernel: &Option<KernelSessionId>) -> Option<&str> {
    kernel.as_ref().map(KernelSessionId::as_str)
}

// --- files ---

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  notarium files analysis data/2026
  notarium files mv analysis losses.csv data/
  notarium files rm analysis old.csv

A notebook whose title is mv, rm, restore or trash is named by its id.")]
pub struct FilesArgs {
    #[command(subcommand)]
    change: Option<FilesCommand>,
    /// Id or title.
    #[arg(required = true)]
    notebook: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

pub async fn files(FilesArgs { change, notebook, list: args }: FilesArgs, context: &CommonOptions) -> Ended {
    match (change, notebook) {
        (Some(change), _) => change.run(context).await,
        (None, Some(notebook)) => list(args, context.notebook(&notebook).await?).await,
        (None, None) => Err(Failure::usage("name a notebook")),
    }
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// The kernel whose folder is meant; else the one that a cell would run on now, or the only runtime agent's.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// A folder in it; else that folder itself.
    #[arg(default_value = "")]
    path: String,
    /// Those too whose names begin with a dot.
    #[arg(short, long)]
    all: bool,
    /// At most so many.
    #[arg(long, default_value_t = 1_000)]
    limit: usize,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

async fn list(args: ListArgs, notebook: NotebookClient) -> Ended {
    let all = args.all.then_some("true");
    let (mut files, mut next, mut is_cut) = (Vec::new(), None::<String>, false);
    let mut whose = String::new();
    while files.len() < args.limit {
        let limit = (args.limit - files.len()).min(MAX_LISTED_FILES as usize).to_string();
        let query = [("path", Some(args.path.as_str())), ("all", all), ("kernel", id(&args.kernel))];
        let query = [&query[..], &[("limit", Some(limit.as_str())), ("after", next.as_deref())]].concat();
        let list: FileList = notebook.get(&with_query("/files", &query)).await?;
        files.extend(list.page.files);
        (whose, is_cut, next) = (list.agent_name, list.page.is_cut, list.page.next);
        if next.is_none() {
            break;
        }
    }
    let empty = format!("no files in the kernels' folder of {}: `notarium upload` brings some", print::clean(&whose));
    print::list(&files, args.json, &empty, ["name", "size", "changed"], async |file: &FileEntry| {
        let size = file.size_bytes.map_or_else(|| kind_word(file.kind).to_owned(), print::size);
        [file.name.clone(), size, print::optional_time(file.modified_at)]
    })
    .await?;
    if next.is_some() || is_cut {
        print::note("there are more: name a folder in it, or raise --limit");
    }
    Ok(())
}

pub fn kind_word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Folder => "folder",
        FileKind::Other => "out of reach",
    }
}

// --- upload ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium upload analysis losses.csv
  notarium upload analysis a.csv b.csv --to data/2026/
  notarium upload analysis new.csv --to losses.csv --overwrite")]
pub struct UploadArgs {
    /// The kernel whose folder is meant; else the one that a cell would run on now, or the only runtime agent's.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// Files of this machine.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Destination below the kernels' folder: a folder (ends with /, or exists there), or for one file its new name.
    #[arg(long, value_name = "PATH", default_value = "")]
    to: String,
    /// Replace files of the same name.
    #[arg(long)]
    overwrite: bool,
}

pub async fn upload(args: UploadArgs, notebook: NotebookClient) -> Ended {
    let is_folder = args.to.is_empty() || args.to.ends_with('/') || args.files.len() > 1;
    let is_there = |entry: FileEntry| entry.kind == FileKind::Folder;
    let is_folder = is_folder || about(&notebook, &args.to, id(&args.kernel)).await?.is_some_and(is_there);
    for file in &args.files {
        let to = if is_folder { below(&args.to, file)? } else { args.to.clone() };
        store(&notebook, &args, file, &to).await?;
    }
    Ok(())
}

/// Describes the file at a path; `None` if there is none.
pub async fn about(notebook: &NotebookClient, path: &str, kernel: Option<&str>) -> Result<Option<FileEntry>, Failure> {
    match notebook.get::<FileEntry>(&with_query("/files/about", &[("path", Some(path)), ("kernel", kernel)])).await {
        Ok(entry) => Ok(Some(entry)),
        Err(failure) if failure.has_code("not_found") => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn below(folder: &str, file: &Path) -> Result<String, Failure> {
    let name = input::file_name(file)?;
    let folder = folder.trim_end_matches('/');
    Ok(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
}

async fn store(notebook: &NotebookClient, args: &UploadArgs, file: &Path, to: &str) -> Ended {
    let unreadable = |error| Failure::unreadable(file, &error);
    let opened = tokio::fs::File::open(file).await.map_err(unreadable)?;
    let found = opened.metadata().await.map_err(unreadable)?;
    if !found.is_file() {
        return Err(Failure::usage(format!("{} is no file: name a file", file.display())));
    }
    // Checked before the upload: a client may not see a response in the middle of it.
    if !args.overwrite && about(notebook, to, id(&args.kernel)).await?.is_some() {
        let message = format!("'{to}' exists: --overwrite replaces it, --to gives this file another name");
        return Err(Failure::failed(message));
    }
    let size = found.len();
    let bar = progress(size, to);
    let moved = bar.clone();
    let pieces = ReaderStream::with_capacity(opened, 64 << 10).inspect_ok(move |bytes| moved.inc(bytes.len() as u64));
    let overwrite = args.overwrite.then_some("true");
    let query = [("path", Some(to)), ("overwrite", overwrite), ("kernel", id(&args.kernel))];
    let request =
        notebook.request(Method::PUT, &with_query("/files/content", &query)).header(header::CONTENT_LENGTH, size);
    let request = request.header(header::CONTENT_TYPE, "application/octet-stream");
    let written: Result<WrittenFile, Failure> =
        notebook.client.json(request.body(reqwest::Body::wrap_stream(pieces))).await;
    bar.finish_and_clear();
    let WrittenFile { path, size_bytes, sha256, replaced } = written?;
    let verb = if replaced { "replaced" } else { "stored" };
    print::noted(format!("{verb} {} ({}, sha256 {sha256})", print::clean(&path), print::size(size_bytes)))
}

/// A progress line on standard error, if that is a terminal.
fn progress(size: u64, name: &str) -> ProgressBar {
    let template = "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}";
    print::progress(ProgressBar::new(size), template).with_message(print::clean(name))
}

// --- download ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium download analysis model.bin
  notarium download analysis data/losses.csv -o - | head")]
pub struct DownloadArgs {
    /// The kernel whose folder is meant; else the one that a cell would run on now, or the only runtime agent's.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// The file, below the kernels' folder.
    path: String,
    /// The file here, or - for standard output; else of the same name.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file of that name here.
    #[arg(long)]
    overwrite: bool,
}

pub async fn download(args: DownloadArgs, notebook: NotebookClient) -> Ended {
    let name = Path::new(&args.path).file_name().map(PathBuf::from);
    let output = args.output.clone().or(name).ok_or_else(|| Failure::usage("the path names no file"))?;
    let is_standard = output == Path::new("-");
    if !is_standard && !args.overwrite && output.symlink_metadata().is_ok() {
        let message = format!("{} exists here: --overwrite replaces it, -o gives it another name", output.display());
        return Err(Failure::failed(message));
    }
    let query = [("path", Some(args.path.as_str())), ("kernel", id(&args.kernel))];
    let request = notebook.request(Method::GET, &with_query("/files/content", &query));
    let answer = notebook.client.send(request).await?;
    if is_standard { to_standard_output(answer).await } else { to_file(answer, &output).await }
}

async fn to_standard_output(mut answer: reqwest::Response) -> Ended {
    while let Some(bytes) = answer.chunk().await.map_err(cut)? {
        print::bytes(&bytes)?;
    }
    Ok(())
}

/// Writes a file atomically: a file of the same name stays until the new one is complete.
async fn to_file(answer: reqwest::Response, output: &Path) -> Ended {
    let bar = progress(answer.content_length().unwrap_or_default(), &output.to_string_lossy());
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(name);
    let written = write(answer, &beside, output, &bar).await;
    bar.finish_and_clear();
    if written.is_err() {
        let _ = tokio::fs::remove_file(&beside).await;
    }
    let size_bytes = written?;
    print::noted(format!("wrote {} ({})", output.display(), print::size(size_bytes)))
}

async fn write(mut answer: reqwest::Response, beside: &Path, output: &Path, bar: &ProgressBar) -> Result<u64, Failure> {
    let unwritable = |error| Failure::unwritable(output, &error);
    let mut file = tokio::fs::File::create_new(beside).await.map_err(unwritable)?;
    let mut size_bytes = 0;
    while let Some(bytes) = answer.chunk().await.map_err(cut)? {
        file.write_all(&bytes).await.map_err(unwritable)?;
        size_bytes += bytes.len() as u64;
        bar.set_position(size_bytes);
    }
    file.sync_all().await.map_err(unwritable)?;
    tokio::fs::rename(beside, output).await.map_err(unwritable)?;
    Ok(size_bytes)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn cut(error: reqwest::Error) -> Failure {
    Failure::connection(format!(
        "the download ended before the end of the file ({error}): it was changed while it was read, or its runtime agent left; try again"
    ))
}

// --- mv, rm, restore, trash ---

#[derive(Debug, Subcommand)]
pub enum FilesCommand {
    /// Give a file or folder another name or place; nothing is replaced.
    #[command(after_help = "Examples:
  notarium files mv analysis losses.csv losses-2025.csv
  notarium files mv analysis a.csv b.csv data/")]
    Mv {
        #[command(flatten)]
        place: FolderArgs,
        /// Files or folders, then the new name, or the folder (ends with /, or is one there).
        #[arg(required = true, num_args = 2.., value_name = "PATH")]
        paths: Vec<String>,
    },
    /// Move files or folders to the trash of their runtime agent.
    Rm {
        #[command(flatten)]
        place: FolderArgs,
        /// Files or folders, below the kernels' folder.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<String>,
    },
    /// Bring a file or folder back from the trash; nothing is replaced.
    Restore {
        #[command(flatten)]
        place: FolderArgs,
        /// Its id in the trash, or where it was: the last one that was there.
        #[arg(value_name = "ID|PATH")]
        what: String,
        /// Another place or name.
        #[arg(long, value_name = "PATH")]
        to: Option<String>,
    },
    /// List what is in the trash, or delete it for good.
    Trash {
        #[command(flatten)]
        place: FolderArgs,
        /// Delete all of it for good.
        #[arg(long, conflicts_with = "delete")]
        empty: bool,
        /// Delete one entry for good.
        #[arg(long, value_name = "ID")]
        delete: Option<String>,
        /// Delete without a question.
        #[arg(long)]
        yes: bool,
        /// JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
}

/// The kernel or agent of the folder.
#[derive(Debug, Args)]
pub struct FolderArgs {
    /// The kernel whose folder is meant; else the one that a cell would run on now, or the only runtime agent's.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// Id or title.
    notebook: String,
}

impl FolderArgs {
    fn kernel(&self) -> Option<&str> {
        id(&self.kernel)
    }
}

impl FilesCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        let (Self::Mv { place, .. } | Self::Rm { place, .. } | Self::Restore { place, .. } | Self::Trash { place, .. }) =
            &self;
        let notebook = context.notebook(&place.notebook).await?;
        match self {
            Self::Mv { place, paths } => move_all(&notebook, &place, &paths).await,
            Self::Rm { place, paths } => remove_all(&notebook, &place, &paths).await,
            Self::Restore { place, what, to } => restore(&notebook, &place, what, to).await,
            Self::Trash { place, empty: false, delete: None, json, .. } => list_trash(&notebook, &place, json).await,
            Self::Trash { place, delete, yes, .. } => delete_for_good(&notebook, &place, delete, yes).await,
        }
    }
}

async fn move_all(notebook: &NotebookClient, place: &FolderArgs, paths: &[String]) -> Ended {
    let Some((to, from)) = paths.split_last() else { return Ok(()) };
    let is_there = |entry: FileEntry| entry.kind == FileKind::Folder;
    let is_folder =
        to.ends_with('/') || from.len() > 1 || about(notebook, to, place.kernel()).await?.is_some_and(is_there);
    for from in from {
        let to = if is_folder { format!("{}/{}", to.trim_end_matches('/'), name(from)) } else { to.clone() };
        // The folder itself may be named `.` or `/`.
        let to = to.trim_start_matches('/').to_owned();
        let body = MoveFile { from: from.clone(), to, kernel: place.kernel.clone() };
        let moved: MovedFile = notebook.post("/files/move", &body).await?;
        print::noted(format!("moved {} to {}", print::clean(&moved.from), print::clean(&moved.path)))?;
    }
    Ok(())
}

fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

async fn remove_all(notebook: &NotebookClient, place: &FolderArgs, paths: &[String]) -> Ended {
    for path in paths {
        let query = [("path", Some(path.as_str())), ("kernel", place.kernel())];
        let request = notebook.request(Method::DELETE, &with_query("/files/content", &query));
        let trashed: TrashedFile = notebook.client.json(request).await?;
        let TrashedFile { id, path, size_bytes, .. } = trashed;
        let (path, size) = (print::clean(&path), print::size(size_bytes));
        print::noted(format!(
            "moved {path} ({size}) to the trash: `notarium files restore {} {id}` brings it back",
            notebook.id
        ))?;
    }
    Ok(())
}

async fn restore(notebook: &NotebookClient, place: &FolderArgs, what: String, to: Option<String>) -> Ended {
    let trash = trash(notebook, place).await?;
    let is_it = |file: &&TrashedFile| file.id == what || file.path == what;
    let Some(file) = trash.page.files.iter().find(is_it) else {
        let message = format!("'{what}' is not in the trash: `notarium files trash {}` lists what is", notebook.id);
        return Err(Failure::failed(message));
    };
    let body = RestoreFile { to, kernel: place.kernel.clone() };
    let moved: MovedFile = notebook.post(&format!("/files/trash/{}/restore", file.id), &body).await?;
    print::noted(format!("restored {}", print::clean(&moved.path)))
}

async fn trash(notebook: &NotebookClient, place: &FolderArgs) -> Result<FileTrash, Failure> {
    notebook.get(&with_query("/files/trash", &[("kernel", place.kernel())])).await
}

async fn list_trash(notebook: &NotebookClient, place: &FolderArgs, json: bool) -> Ended {
    let trash = trash(notebook, place).await?;
    let empty = format!("the trash of {} is empty", print::clean(&trash.agent_name));
    let headings = ["id", "path", "size", "removed"];
    print::list(&trash.page.files, json, &empty, headings, async |file: &TrashedFile| {
        let size = match file.kind {
            FileKind::File => print::size(file.size_bytes),
            kind => format!("{}, {}", kind_word(kind), print::size(file.size_bytes)),
        };
        [file.id.clone(), file.path.clone(), size, print::optional_time(Some(file.removed_at))]
    })
    .await
}

async fn delete_for_good(notebook: &NotebookClient, place: &FolderArgs, id: Option<String>, yes: bool) -> Ended {
    let what = if id.is_some() { "it" } else { "all that is in the trash" };
    if !yes && !input::is_terminal() {
        return Err(Failure::usage(format!("this deletes {what} for good: add --yes if that is meant")));
    }
    if !yes && !input::agrees(&format!("Delete {what} for good?")).await? {
        return Err(Failure::failed("nothing was deleted"));
    }
    let below = id.map_or_else(|| "/files/trash".to_owned(), |id| format!("/files/trash/{id}"));
    let request = notebook.request(Method::DELETE, &with_query(&below, &[("kernel", place.kernel())]));
    let left: FileTrash = notebook.client.json(request).await?;
    print::noted(format!("deleted; the trash has {} entries ({})", left.page.count, print::size(left.page.size_bytes)))
}
