//! Commands for whole notebooks: list, create, import, export, rename, fork, archive, templates.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use notarium_core::{Command, EraseNotebook, NotebookId, RawObject, Version};
use notarium_wire::rest::{
    Answer, ExportFormat, Fork, ImportAnswer, NewNotebook, TemplateChoice, TemplateMark, Templates,
};
use reqwest::Method;
use reqwest::header::ETAG;

use crate::cli::cells::show::unreadable_after;
use crate::cli::connection::client::{NotebookClient, RestClient, with_query};
use crate::cli::connection::find;
use crate::cli::history::moment::{MOMENT, Moment, version_of};
use crate::cli::terminal::{input, print};
use crate::cli::{CommonOptions, Ended, Failure, NoArgs};

/// Header with the hashes of blobs that an export lacks.
const MISSING_BLOBS: &str = "notarium-missing-blobs";

/// Header with the count of comment threads that an export leaves out.
const LEFT_OUT_THREADS: &str = "notarium-left-out-threads";
/// Header of an export: the last version of the record, if the file shows an earlier one because the rest cannot be read.
const RECORD_END: &str = "notarium-record-end";

// --- ls ---

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only archived notebooks.
    #[arg(long)]
    archived: bool,
    /// Only notebooks with all these words, or longer ones that begin so, in their title or sources.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those of a workspace, by its name or id.
    #[arg(long, value_name = "WORKSPACE")]
    workspace: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = 1_000)]
    limit: usize,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub async fn ls(args: LsArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    let workspace = find::named_workspace(&client, args.workspace.as_deref()).await?;
    let found = find::list(&client, args.search.as_deref(), args.archived, workspace.as_ref(), args.limit).await?;
    print::list(
        &found,
        args.json,
        &nothing_listed(&args),
        ["id", "title", "cells", "version", "changed"],
        async |line| {
            let (cells, version) = (line.cells.to_string(), line.version.to_string());
            [line.id.to_string(), line.title.clone(), cells, version, print::time(line.updated_at)]
        },
    )
    .await
}

/// Why the list is empty, and what to do.
fn nothing_listed(args: &LsArgs) -> String {
    let kind = if args.archived { "archived notebook" } else { "notebook" };
    let place = args.workspace.as_deref().map(|name| format!(" of the workspace '{name}'")).unwrap_or_default();
    let sentence = match (&args.search, args.archived, &args.workspace) {
        (Some(words), false, _) => {
            format!("no {kind}{place} has all of '{words}' in its title or sources: `--archived` searches the archive")
        }
        (Some(words), true, _) => format!("no {kind}{place} has all of '{words}' in its title or sources"),
        (None, true, _) => format!("no {kind}s{place}: `notarium archive NB` archives one"),
        (None, false, Some(_)) => format!("no {kind}s{place}: `notarium workspace place NB WORKSPACE` puts one there"),
        (None, false, None) => "no notebooks: `notarium new TITLE` or `notarium import FILE` makes one".to_owned(),
    };
    print::clean(&sentence)
}

// --- new, rename, archive ---

#[derive(Debug, Args)]
pub struct NewArgs {
    title: String,
    /// Template to begin from: a starter's id, or a notebook's id or title, as `notarium templates` lists them.
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "kernel")]
    template: Option<String>,
    /// The kernel that it is for, as runtime agents offer it.
    #[arg(long, value_name = "KERNELSPEC")]
    kernel: Option<String>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn new(args: NewArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    let metadata = args.kernel.map_or_else(|| Ok(RawObject::default()), |name| kernel_metadata(&name))?;
    // Chosen here, so that a repeated request creates one notebook.
    let id = Some(ulid::Ulid::generate().into());
    let template = match &args.template {
        Some(name) => Some(template(context, name).await?),
        None => None,
    };
    let new = NewNotebook { id, title: args.title, metadata, with_cell: false, template };
    made(&client.json(client.change_once("/api/notebooks").json(&new)).await?, args.json)
}

/// Prints the id of a created notebook.
fn made(answer: &Answer, as_json: bool) -> Ended {
    match as_json {
        true => print::json(answer),
        false => print::line(&answer.notebook),
    }
}

fn kernel_metadata(name: &str) -> Result<RawObject, Failure> {
    let metadata = serde_json::json!({ "kernelspec": { "name": name, "display_name": name } });
    RawObject::parse(&metadata.to_string()).map_err(|error| Failure::usage(format!("--kernel {name}: {error}")))
}

#[derive(Debug, Args)]
pub struct RenameArgs {
    title: String,
}

pub async fn rename(args: RenameArgs, notebook: NotebookClient) -> Ended {
    notebook.change(&Command::RenameNotebook { title: args.title }).await
}

pub async fn archive(_: NoArgs, notebook: NotebookClient) -> Ended {
    notebook.change(&Command::ArchiveNotebook {}).await
}

pub async fn unarchive(_: NoArgs, notebook: NotebookClient) -> Ended {
    notebook.change(&Command::UnarchiveNotebook {}).await
}

// --- erase ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium erase analysis --reason 'Ann asked for it'       # asks for the title
  notarium erase analysis --reason 'a test' --yes           # asks nothing")]
pub struct EraseArgs {
    /// The reason, which people who had access may read.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Do not ask for the title.
    #[arg(long)]
    yes: bool,
}

/// Erases a notebook, after its title was typed.
pub async fn erase(args: EraseArgs, notebook: NotebookClient) -> Ended {
    let state = notebook.outline().await?;
    if !args.yes {
        let (title, version) = (print::clean(&state.title), state.version);
        print::note(format!(
            "'{title}' with its {version} versions, outputs and files is deleted for everybody: nothing takes it back"
        ));
        let typed = input::ask("its title, to erase it: ", false).await?;
        if typed != state.title.trim() {
            return Err(Failure::usage("nothing was erased: that is not its title (`--yes` asks for none)".to_owned()));
        }
    }
    notebook.change(&Command::EraseNotebook(EraseNotebook { reason: args.reason })).await
}

// --- templates ---

#[derive(Debug, Args)]
pub struct TemplatesArgs {
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub async fn templates(args: TemplatesArgs, context: &CommonOptions) -> Ended {
    let templates = all_templates(context).await?;
    if args.json {
        return print::json(&templates);
    }
    let starters = templates.starters.into_iter().map(|it| (it.id, it.title, it.description));
    let notebooks = templates.notebooks.into_iter().map(|it| (it.notebook.to_string(), it.title, it.description));
    let lines: Vec<(String, String, String)> = starters.chain(notebooks).collect();
    print::list(&lines, false, "no templates", ["template", "title", "what for"], async |(id, title, description)| {
        [id.clone(), title.clone(), description.clone()]
    })
    .await?;
    if templates.is_cut {
        print::note("there are more notebooks that are templates: name one by its id");
    }
    Ok(())
}

async fn all_templates(context: &CommonOptions) -> Result<Templates, Failure> {
    context.client()?.get("/api/templates").await
}

/// A starter template by its id, else a notebook by its id or title.
async fn template(context: &CommonOptions, name: &str) -> Result<TemplateChoice, Failure> {
    if all_templates(context).await?.starters.iter().any(|starter| starter.id == name) {
        return Ok(TemplateChoice::Starter(name.to_owned()));
    }
    Ok(TemplateChoice::Notebook(context.notebook(name).await?.id.clone()))
}

#[derive(Debug, Args)]
pub struct TemplateArgs {
    /// Purpose of the template, on one line.
    #[arg(long, default_value = "", value_name = "TEXT")]
    description: String,
    /// It is no template any more.
    #[arg(long, conflicts_with = "description")]
    off: bool,
}

pub async fn mark_template(args: TemplateArgs, notebook: NotebookClient) -> Ended {
    let request = match args.off {
        true => notebook.request(Method::DELETE, "/template"),
        false => notebook.request(Method::PUT, "/template").json(&TemplateMark { description: args.description }),
    };
    print::report(&notebook.client.json(request).await?)
}

// --- fork ---

#[derive(Debug, Args)]
pub struct ForkArgs {
    /// Version to take, by its number, its name or a time; default: the newest.
    #[arg(long, value_name = MOMENT)]
    at: Option<Moment>,
    /// Title of the new notebook; default: the old one's and "(fork)".
    #[arg(long)]
    title: Option<String>,
    /// Leave the outputs behind.
    #[arg(long)]
    without_outputs: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn fork(args: ForkArgs, from: NotebookClient) -> Ended {
    let id = Some(ulid::Ulid::generate().into());
    let version = version_of(args.at.as_ref(), &from).await?;
    let fork = Fork { id, title: args.title, version, without_outputs: args.without_outputs };
    made(&from.client.json(from.client.change_once(&from.path("/fork")).json(&fork)).await?, args.json)
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
    /// Title of the new notebook; default: the title in the file, else the file's name, with a number if one of your notebooks has it.
    #[arg(long)]
    title: Option<String>,
    /// Print the new notebooks as JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// Imports every file; the first failure sets the exit code.
pub async fn import(args: ImportArgs, context: &CommonOptions) -> Ended {
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
            Err(Failure::new(kind, message))
        }
        None => Ok(()),
    }
}

async fn import_file(client: &RestClient, file: &Path, title: Option<&str>) -> Result<ImportAnswer, Failure> {
    let content = input::bytes(file).await?;
    let imported = import_content(client, file, content, title)
        .await
        .map_err(|failure| Failure { message: format!("{}: {}", file.display(), failure.message), ..failure })?;
    match title {
        Some(_) => Ok(imported),
        None => with_own_title(client, imported).await,
    }
}

/// Numbers the title that the file gave if another notebook has it: commands name notebooks by their titles.
async fn with_own_title(client: &RestClient, mut imported: ImportAnswer) -> Result<ImportAnswer, Failure> {
    let titles = find::titles_like(client, &imported.title, &imported.notebook).await?;
    if !titles.contains(&imported.title) {
        return Ok(imported);
    }
    let numbered = (2..).map(|number| format!("{} {number}", imported.title)).find(|title| !titles.contains(title));
    let title = numbered.unwrap_or_default();
    print::note(format!(
        "the title \"{}\" is taken: this one is \"{}\"",
        print::clean(&imported.title),
        print::clean(&title)
    ));
    let rename = Command::RenameNotebook { title: title.clone() };
    imported.version = client.notebook(imported.notebook.clone()).command(&rename).await?.version;
    imported.title = title;
    Ok(imported)
}

/// Creates a notebook from a file's content.
pub async fn import_content(
    client: &RestClient,
    file: &Path,
    content: Vec<u8>,
    title: Option<&str>,
) -> Result<ImportAnswer, Failure> {
    let name = file.file_name().filter(|name| *name != "-").map(|name| name.to_string_lossy());
    let id: NotebookId = ulid::Ulid::generate().into();
    let path = with_query("/api/import", &[("id", Some(id.as_str())), ("title", title), ("filename", name.as_deref())]);
    client.json(client.change_once(&path).body(content)).await
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
    print::line(&imported.notebook)
}

// --- export ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium export analysis -o out.ipynb
  notarium export analysis -o report.html                      # to read and print: one file that runs nothing
  notarium export analysis --format md                         # or py: Python with # %% between the cells
  notarium export analysis --at 42 | jupyter nbconvert --stdin --to html --output past")]
pub struct ExportArgs {
    /// The file; else standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// ipynb, html, md (Markdown) or py (Python); else what the file's ending says, else ipynb.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Version to take, by its number, its name or a time; default: the newest.
    #[arg(long, value_name = MOMENT)]
    at: Option<Moment>,
}

impl ExportArgs {
    fn format(&self) -> Result<ExportFormat, Failure> {
        let ending = || Some(self.output.as_ref()?.extension()?.to_str()?.to_lowercase());
        let known = |name: &str| match name {
            "ipynb" => Some(ExportFormat::Ipynb),
            "html" | "htm" => Some(ExportFormat::Html),
            "md" | "markdown" => Some(ExportFormat::Md),
            "py" => Some(ExportFormat::Py),
            _ => None,
        };
        match &self.format {
            Some(name) => known(&name.to_lowercase())
                .ok_or_else(|| Failure::usage(format!("there is no format '{name}': take ipynb, html, md or py"))),
            None => Ok(ending().as_deref().and_then(known).unwrap_or_default()),
        }
    }
}

pub async fn export(args: ExportArgs, notebook: NotebookClient) -> Ended {
    let format = args.format()?;
    let at = version_of(args.at.as_ref(), &notebook).await?;
    let Exported { content, missing, threads, unreadable } = exported(&notebook, at, format).await?;
    if threads > 0 {
        let left_out = print::count(threads, "thread");
        print::note(format!("note: the file leaves the comments out ({left_out}): `notarium comments` lists them"));
    }
    match args.output {
        None => print::bytes(&content)?,
        Some(file) => write_file(&file, &content).await?,
    }
    if let Some((version, end)) = unreadable {
        return Err(Failure::failed(unreadable_after(version, end)));
    }
    complete(missing)
}

/// An exported notebook.
pub struct Exported {
    pub content: Bytes,
    /// Hashes of large outputs that the server could not read.
    pub missing: Vec<String>,
    /// Count of comment threads, which files cannot hold.
    pub threads: usize,
    /// The version that the file shows and the record's last one, if the rest of the record cannot be read.
    pub unreadable: Option<(Version, Version)>,
}

pub async fn exported(
    notebook: &NotebookClient,
    at: Option<Version>,
    format: ExportFormat,
) -> Result<Exported, Failure> {
    let at = at.map(|at| at.to_string());
    let format = match format {
        ExportFormat::Ipynb => None,
        ExportFormat::Html => Some("html"),
        ExportFormat::Md => Some("md"),
        ExportFormat::Py => Some("py"),
    };
    let path = with_query("/export", &[("at", at.as_deref()), ("format", format)]);
    let request = notebook.request(Method::GET, &path);
    let cut = |error: reqwest::Error| Failure::connection(format!("the export was cut off ({error}): try again"));
    let answer = notebook.client.send(request).await?;
    let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let missing = header(MISSING_BLOBS).split(',').filter(|hash| !hash.is_empty()).map(str::to_owned).collect();
    let threads = header(LEFT_OUT_THREADS).parse().unwrap_or(0);
    let shown = header(ETAG.as_str()).trim_matches('"').parse().ok();
    let unreadable = shown.zip(header(RECORD_END).parse().ok());
    Ok(Exported { content: answer.bytes().await.map_err(cut)?, missing, threads, unreadable })
}

/// Fails if the written file lacks outputs.
pub fn complete(missing: Vec<String>) -> Ended {
    if missing.is_empty() {
        return Ok(());
    }
    let (outputs, named) = (print::count(missing.len(), "large output"), missing.join(", "));
    Err(Failure::failed(format!(
        "the file lacks {outputs} whose bytes the server does not have, or has damaged (blobs {named}); \
         `notarium verify NB --blobs` tells them all: run the cells again, or restore a backup"
    )))
}

/// Writes a file atomically: a file of the same name stays until the new one is complete.
pub async fn write_file(file: &Path, content: &[u8]) -> Ended {
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    let written = async {
        tokio::fs::write(&beside, content).await?;
        tokio::fs::rename(&beside, file).await
    };
    if let Err(error) = written.await {
        let _ = tokio::fs::remove_file(&beside).await;
        return Err(Failure::unwritable(file, &error));
    }
    print::noted(format!("wrote {} ({})", file.display(), print::size(content.len() as u64)))
}
