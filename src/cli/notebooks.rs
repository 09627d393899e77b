//! Whole notebooks: list, make, import, export, rename, fork, archive.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_core::{Command, NotebookId, RawObject, Version};
use notarium_wire::rest::{Answer, Fork, ImportAnswer, NewNotebook, NotebookLine};
use reqwest::Method;

use super::client::{Client, IDEMPOTENCY_KEY, percent_encoded};
use super::find::{self, Listing};
use super::print::{self, Table};
use super::{Context, Ended, Failure};

// --- ls ---

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only archived notebooks.
    #[arg(long)]
    archived: bool,
    /// Only notebooks with all these words, or longer ones that begin so, in their title or sources.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those of a workspace, by its id.
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = 1_000)]
    limit: usize,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub async fn ls(args: LsArgs, context: &Context) -> Ended {
    let text = args.search.as_deref();
    let listing = Listing { text, archived: args.archived, workspace: args.workspace.as_deref() };
    let found = find::list(&context.client()?, &listing, args.limit).await?;
    match args.json {
        true => print::json(&found),
        false => table(&found).print("no notebooks: `notarium new TITLE` or `notarium import FILE` makes one"),
    }
}

fn table(notebooks: &[NotebookLine]) -> Table {
    let mut table = Table::new(&["id", "title", "cells", "version", "changed"]);
    for line in notebooks {
        let (cells, version) = (line.cells.to_string(), line.version.to_string());
        table.row(vec![line.id.to_string(), line.title.clone(), cells, version, print::time(line.updated_at)]);
    }
    table
}

// --- new, rename, archive ---

#[derive(Debug, Args)]
pub struct NewArgs {
    title: String,
    /// The kernel that it is for, as runtime agents offer it.
    #[arg(long, value_name = "KERNELSPEC")]
    kernel: Option<String>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn new(args: NewArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let metadata = args.kernel.map_or_else(|| Ok(RawObject::default()), |name| kernel_metadata(&name))?;
    // Chosen here: sent twice, it is made once.
    let id = Some(ulid::Ulid::generate().into());
    let new = NewNotebook { id, title: args.title, metadata, with_cell: false };
    let request = client.request(Method::POST, "/api/notebooks").json(&new);
    let answer: Answer = client.json(idempotent(request)).await?;
    match args.json {
        true => print::json(&answer),
        false => print::line(answer.notebook.as_str()),
    }
}

fn kernel_metadata(name: &str) -> Result<RawObject, Failure> {
    let metadata = serde_json::json!({ "kernelspec": { "name": name, "display_name": name } });
    RawObject::parse(&metadata.to_string()).map_err(|error| Failure::usage(format!("--kernel {name}: {error}")))
}

#[derive(Debug, Args)]
pub struct RenameArgs {
    /// Id or title.
    notebook: String,
    title: String,
}

pub async fn rename(args: RenameArgs, context: &Context) -> Ended {
    change(context, &args.notebook, Command::RenameNotebook { title: args.title }).await
}

#[derive(Debug, Args)]
pub struct NotebookArgs {
    /// Id or title.
    pub notebook: String,
}

pub async fn archive(args: NotebookArgs, context: &Context) -> Ended {
    change(context, &args.notebook, Command::ArchiveNotebook {}).await
}

pub async fn unarchive(args: NotebookArgs, context: &Context) -> Ended {
    change(context, &args.notebook, Command::UnarchiveNotebook {}).await
}

/// Sends a command to a notebook that is named, and says at which version it is now.
pub async fn change(context: &Context, name: &str, command: Command) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, name).await?;
    report(&client.command(&notebook, &command).await?);
    Ok(())
}

/// What a command did, for people.
pub fn report(answer: &Answer) {
    for notice in &answer.outcome.notices {
        print::note(format!("note: {}", print::clean(notice)));
    }
    print::note(format!("done: version {}", answer.version));
}

// --- fork ---

#[derive(Debug, Args)]
pub struct ForkArgs {
    /// Id or title.
    notebook: String,
    /// As it was at this version; else as it is now.
    #[arg(long, value_name = "VERSION")]
    at: Option<Version>,
    /// Of the new notebook; else the old one's and "(fork)".
    #[arg(long)]
    title: Option<String>,
    /// Leave the outputs behind.
    #[arg(long)]
    without_outputs: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn fork(args: ForkArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let from = find::notebook(&client, &args.notebook).await?;
    let id = Some(ulid::Ulid::generate().into());
    let fork = Fork { id, title: args.title, version: args.at, without_outputs: args.without_outputs };
    let request = client.request(Method::POST, &format!("/api/notebooks/{from}/fork")).json(&fork);
    let answer: Answer = client.json(idempotent(request)).await?;
    match args.json {
        true => print::json(&answer),
        false => print::line(answer.notebook.as_str()),
    }
}

/// Sent twice, it is done once.
fn idempotent(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request.header(IDEMPOTENCY_KEY, ulid::Ulid::generate().to_string())
}

// --- import ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium import analysis.ipynb
  notarium import *.ipynb
  jupytext --to ipynb -o - script.py | notarium import - --title Script")]
pub struct ImportArgs {
    /// Files of nbformat 1 to 4; `-` is standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Of the new notebook; else what the file says, else the file's name.
    #[arg(long)]
    title: Option<String>,
    /// What was made, in JSON: one object a line.
    #[arg(long)]
    json: bool,
}

/// Every file is tried; how the first one failed is the exit code.
pub async fn import(args: ImportArgs, context: &Context) -> Ended {
    if args.title.is_some() && args.files.len() > 1 {
        return Err(Failure::usage("--title is for one file: import the files one by one"));
    }
    let client = context.client()?;
    let mut failures = Vec::new();
    for file in &args.files {
        match import_file(&client, file, args.title.as_deref()).await {
            Ok(imported) => show_imported(file, &imported, args.json)?,
            Err(failure) if args.files.len() == 1 => return Err(failure),
            Err(failure) => {
                print::note(print::clean_block(&failure.message));
                failures.push(failure.kind);
            }
        }
    }
    match failures.first() {
        Some(&kind) => {
            let message = format!("{} of {} files were not imported, see above", failures.len(), args.files.len());
            Err(Failure { kind, message })
        }
        None => Ok(()),
    }
}

async fn import_file(client: &Client, file: &Path, title: Option<&str>) -> Result<ImportAnswer, Failure> {
    let content = read_file(file).await?;
    import_content(client, file, content, title)
        .await
        .map_err(|failure| Failure { message: format!("{}: {}", file.display(), failure.message), ..failure })
}

async fn import_content(
    client: &Client,
    file: &Path,
    content: Vec<u8>,
    title: Option<&str>,
) -> Result<ImportAnswer, Failure> {
    let name = file.file_name().filter(|name| *name != "-").map(|name| name.to_string_lossy().into_owned());
    let id: NotebookId = ulid::Ulid::generate().into();
    let mut path = format!("/api/import?id={id}");
    for (key, value) in [("title", title), ("filename", name.as_deref())] {
        path.extend(value.map(|value| format!("&{key}={}", percent_encoded(value))));
    }
    client.json(idempotent(client.request(Method::POST, &path).body(content))).await
}

async fn read_file(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file == Path::new("-") {
        true => {
            let mut content = Vec::new();
            tokio::io::AsyncReadExt::read_to_end(&mut tokio::io::stdin(), &mut content).await.map(|_| content)
        }
        false => tokio::fs::read(file).await,
    };
    read.map_err(|error| Failure::unreadable(file, &error))
}

fn show_imported(file: &Path, imported: &ImportAnswer, as_json: bool) -> Ended {
    if as_json {
        return print::json_line(imported);
    }
    for notice in &imported.notices {
        let place = notice.cell.map(|cell| format!(" (first in cell {})", cell + 1)).unwrap_or_default();
        let times = if notice.count > 1 { format!(" ({} times)", notice.count) } else { String::new() };
        print::note(format!("{}: {}{times}{place}", file.display(), print::clean(&notice.message)));
    }
    print::line(imported.notebook.as_str())
}

// --- export ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium export analysis -o out.ipynb
  notarium export analysis --at 42 | jupyter nbconvert --stdin --to html --output past")]
pub struct ExportArgs {
    /// Id or title.
    notebook: String,
    /// The file; else standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// As it was at this version; else as it is now.
    #[arg(long, value_name = "VERSION")]
    at: Option<Version>,
}

pub async fn export(args: ExportArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let at = args.at.map(|at| format!("?at={at}")).unwrap_or_default();
    let request = client.request(Method::GET, &format!("/api/notebooks/{notebook}/export{at}"));
    let response = client.send(request).await?;
    let cut = |error: reqwest::Error| Failure::connection(format!("the export was cut off ({error}): try again"));
    let content = response.bytes().await.map_err(cut)?;
    match args.output {
        None => print::bytes(&content),
        Some(file) => write_file(&file, &content).await,
    }
}

/// As a whole or not at all: a file of the same name stays until the new one is complete.
async fn write_file(file: &Path, content: &[u8]) -> Ended {
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    let written = async {
        tokio::fs::write(&beside, content).await?;
        tokio::fs::rename(&beside, file).await
    };
    if let Err(error) = written.await {
        let _ = tokio::fs::remove_file(&beside).await;
        return Err(Failure::unwritable(file, &error));
    }
    print::note(format!("wrote {} ({})", file.display(), print::size(content.len() as u64)));
    Ok(())
}
