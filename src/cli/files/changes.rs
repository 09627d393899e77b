//! `mv`, `rm` and the trash for files beside a notebook.

use clap::{Args, Subcommand};
use notarium_core::KernelSessionId;
use notarium_wire::rest::{FileTrash, MoveFile, RestoreFile};
use notarium_wire::{FileEntry, FileKind, MovedFile, TrashedFile};
use reqwest::Method;

use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::files::{about, word};
use crate::cli::terminal::{input, print};
use crate::cli::{Context, Ended, Failure};

#[derive(Debug, Subcommand)]
pub enum FilesCommand {
    /// Give a file or folder another name or place; nothing is replaced.
    #[command(after_help = "Examples:
  notarium files mv analysis losses.csv losses-2025.csv
  notarium files mv analysis a.csv b.csv data/")]
    Mv {
        #[command(flatten)]
        place: Place,
        /// Files or folders, then the new name, or the folder (ends with /, or is one there).
        #[arg(required = true, num_args = 2.., value_name = "PATH")]
        paths: Vec<String>,
    },
    /// Move files or folders to the trash of their runtime agent.
    Rm {
        #[command(flatten)]
        place: Place,
        /// Files or folders, below the kernels' folder.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<String>,
    },
    /// Bring a file or folder back from the trash; nothing is replaced.
    Restore {
        #[command(flatten)]
        place: Place,
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
        place: Place,
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

/// Whose folder is meant.
#[derive(Debug, Args)]
pub struct Place {
    /// The kernel whose folder is meant; else the one that a cell would run on now, or the only runtime agent's.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<KernelSessionId>,
    /// Id or title.
    notebook: String,
}

impl Place {
    async fn client(&self, context: &Context) -> Result<NotebookClient, Failure> {
        context.notebook(&self.notebook).await
    }

    fn kernel(&self) -> Option<&str> {
        self.kernel.as_ref().map(KernelSessionId::as_str)
    }
}

impl FilesCommand {
    pub async fn run(self, context: &Context) -> Ended {
        match self {
            Self::Mv { place, paths } => move_all(&place.client(context).await?, &place, &paths).await,
            Self::Rm { place, paths } => remove_all(&place.client(context).await?, &place, &paths).await,
            Self::Restore { place, what, to } => restore(&place.client(context).await?, &place, what, to).await,
            Self::Trash { place, empty: false, delete: None, json, .. } => {
                list(&place.client(context).await?, &place, json).await
            }
            Self::Trash { place, delete, yes, .. } => {
                delete_for_good(&place.client(context).await?, &place, delete, yes).await
            }
        }
    }
}

async fn move_all(notebook: &NotebookClient, place: &Place, paths: &[String]) -> Ended {
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

async fn remove_all(notebook: &NotebookClient, place: &Place, paths: &[String]) -> Ended {
    for path in paths {
        let query = [("path", Some(path.as_str())), ("kernel", place.kernel())];
        let address = notebook.path(&with_query("/files/content", &query));
        let trashed: TrashedFile = notebook.client.json(notebook.client.request(Method::DELETE, &address)).await?;
        let TrashedFile { id, path, size_bytes, .. } = trashed;
        let (path, size) = (print::clean(&path), print::size(size_bytes));
        print::noted(format!(
            "moved {path} ({size}) to the trash: `notarium files restore {} {id}` brings it back",
            notebook.id
        ))?;
    }
    Ok(())
}

async fn restore(notebook: &NotebookClient, place: &Place, what: String, to: Option<String>) -> Ended {
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

async fn trash(notebook: &NotebookClient, place: &Place) -> Result<FileTrash, Failure> {
    notebook.get(&with_query("/files/trash", &[("kernel", place.kernel())])).await
}

async fn list(notebook: &NotebookClient, place: &Place, json: bool) -> Ended {
    let trash = trash(notebook, place).await?;
    let empty = format!("the trash of {} is empty", print::clean(&trash.agent_name));
    let headings = ["id", "path", "size", "removed"];
    print::list(&trash.page.files, json, &empty, headings, async |file: &TrashedFile| {
        let size = match file.kind {
            FileKind::File => print::size(file.size_bytes),
            kind => format!("{}, {}", word(kind), print::size(file.size_bytes)),
        };
        [file.id.clone(), file.path.clone(), size, print::optional_time(Some(file.removed_at))]
    })
    .await
}

async fn delete_for_good(notebook: &NotebookClient, place: &Place, id: Option<String>, yes: bool) -> Ended {
    let what = if id.is_some() { "it" } else { "all that is in the trash" };
    if !yes && !input::is_terminal() {
        return Err(Failure::usage(format!("this deletes {what} for good: add --yes if that is meant")));
    }
    if !yes && !is_confirmed(what) {
        return Err(Failure::failed("nothing was deleted"));
    }
    let below = id.map_or_else(|| "/files/trash".to_owned(), |id| format!("/files/trash/{id}"));
    let address = notebook.path(&with_query(&below, &[("kernel", place.kernel())]));
    let left: FileTrash = notebook.client.json(notebook.client.request(Method::DELETE, &address)).await?;
    print::noted(format!("deleted; the trash has {} entries ({})", left.page.count, print::size(left.page.size_bytes)))
}

fn is_confirmed(what: &str) -> bool {
    let answer = input::read_line(&format!("Delete {what} for good? [y/N] "), false).ok().flatten().unwrap_or_default();
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
