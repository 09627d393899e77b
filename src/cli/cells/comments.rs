//! `comment` and `comments`: comment on a cell or a part of its text, reply, resolve.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use notarium_core::text::TextRange;
use notarium_core::{
    AddComment, Command, Comment, CommentId, CommentPlace, CommentTarget, Document, EditComment, Subject, Thread,
    ThreadId, UserId,
};
use notarium_wire::rest::Threads;

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find::{self, People, subject};
use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium comment analysis 3f2a 'Why the median?'
  notarium comment analysis 3f2a 'A better name?' --range 0:5     # characters 0 to 4 of the source, as UTF-16 counts them
  notarium comment analysis --reply 9c1d 'Because of row 7.' --mention bo
  notarium comment analysis --resolve 9c1d")]
pub struct CommentArgs {
    /// The cell and the text; with --reply or --edit the text alone.
    #[arg(value_name = "CELL|TEXT", num_args = 0..=2)]
    words: Vec<String>,
    /// A part of the cell's source: from a position to one behind its end, in UTF-16 code units.
    #[arg(long, value_name = "FROM:TO", value_parser = parse_range)]
    range: Option<TextRange>,
    /// Whom it names: a login, or user:ID; may be given several times. It gives nobody a right.
    #[arg(long, value_name = "WHO")]
    mention: Vec<String>,
    /// Reply in this thread.
    #[arg(long, value_name = "THREAD", group = "what", conflicts_with = "range")]
    reply: Option<String>,
    /// Change this comment of yours.
    #[arg(long, value_name = "COMMENT", group = "what", conflicts_with = "range")]
    edit: Option<String>,
    /// Take this comment of yours away; as an owner, anybody's.
    #[arg(long, value_name = "COMMENT", group = "what", conflicts_with_all = ["range", "mention"])]
    delete: Option<String>,
    /// Resolve a thread.
    #[arg(long, value_name = "THREAD", group = "what", conflicts_with_all = ["range", "mention"])]
    resolve: Option<String>,
    /// Open this resolved thread again.
    #[arg(long, value_name = "THREAD", group = "what", conflicts_with_all = ["range", "mention"])]
    reopen: Option<String>,
}

fn parse_range(text: &str) -> Result<TextRange, String> {
    let (start, end) = text.split_once(':').ok_or("write FROM:TO, for instance 0:5")?;
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("'{text}': {error}"));
    Ok(TextRange { start: number(start)?, end: number(end)? })
}

pub async fn comment(args: CommentArgs, notebook: NotebookClient) -> Ended {
    let mentions = mentioned(&notebook.client, &args.mention).await?;
    let command = command(&notebook, &args, &*notebook.outline().await?, mentions).await?;
    report(&notebook, &command).await
}

async fn mentioned(client: &RestClient, names: &[String]) -> Result<Vec<UserId>, Failure> {
    let mut users = Vec::new();
    for name in names {
        match subject(client, name).await? {
            Subject::User { id } => users.push(id),
            _ => return Err(Failure::usage(format!("'{name}' is no person: mention a login or user:ID"))),
        }
    }
    Ok(users)
}

async fn command(
    notebook: &NotebookClient,
    args: &CommentArgs,
    state: &Document,
    mentions: Vec<UserId>,
) -> Result<Command, Failure> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let thread = |name: &String| find::thread(state, name);
    Ok(match (args, words.as_slice()) {
        (CommentArgs { resolve: Some(name), .. }, []) => Command::ResolveThread { thread_id: thread(name)? },
        (CommentArgs { reopen: Some(name), .. }, []) => Command::ReopenThread { thread_id: thread(name)? },
        (CommentArgs { delete: Some(name), .. }, []) => {
            let (thread_id, comment_id) = find::comment(state, name)?;
            Command::DeleteComment { thread_id, comment_id }
        }
        (CommentArgs { edit: Some(name), .. }, [text]) => edit(state, find::comment(state, name)?, text, mentions),
        (CommentArgs { reply: Some(name), .. }, [text]) => {
            add(CommentTarget::Thread { thread_id: thread(name)? }, text, mentions)
        }
        (
            CommentArgs { reply: None, edit: None, delete: None, resolve: None, reopen: None, range, .. },
            [cell, text],
        ) => {
            let cell_id = notebook.cell_in(state, cell).await?;
            let place = CommentPlace { cell_id, range: *range, base: Some(state.version) };
            add(CommentTarget::Cell(place), text, mentions)
        }
        _ => {
            return Err(Failure::usage(
                "say what about which cell: notarium comment NOTEBOOK CELL TEXT; with --reply or --edit TEXT alone; with --delete, --resolve or --reopen nothing more",
            ));
        }
    })
}

fn add(target: CommentTarget, text: &str, mentions: Vec<UserId>) -> Command {
    Command::AddComment(AddComment { target, text: text.to_owned(), mentions })
}

/// An edited comment keeps its earlier mentions.
fn edit(
    state: &Document,
    (thread_id, comment_id): (ThreadId, CommentId),
    text: &str,
    mut mentions: Vec<UserId>,
) -> Command {
    let before = state.threads.get(&thread_id).and_then(|thread| thread.comment(&comment_id));
    mentions.extend(before.into_iter().flat_map(|comment| comment.mentions.clone()));
    Command::EditComment(EditComment { thread_id, comment_id, text: text.to_owned(), mentions })
}

/// Sends the command; prints the thread of a new comment.
async fn report(notebook: &NotebookClient, command: &Command) -> Ended {
    if !matches!(command, Command::AddComment(_)) {
        return notebook.change(command).await;
    }
    let answer = notebook.command(command).await?;
    answer.outcome.thread.iter().try_for_each(print::line)
}

// --- the list ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium comments analysis          # the open threads, from the top of the notebook to its end
  notarium comments analysis --all    # resolved ones too, and those whose cell is in the trash")]
pub struct CommentsArgs {
    /// Resolved threads too, and those whose cell is in the trash.
    #[arg(long)]
    all: bool,
    /// The threads in JSON, all of them.
    #[arg(long)]
    json: bool,
}

pub async fn comments(args: CommentsArgs, notebook: NotebookClient) -> Ended {
    if args.json {
        return print::json(&notebook.get::<Threads>("/threads").await?);
    }
    let state = notebook.outline().await?;
    let shown = in_order(&state, args.all);
    if shown.is_empty() {
        print::note("no open comments: `notarium comment NOTEBOOK CELL TEXT` writes one, `--all` shows settled ones");
    }
    let mut people = People::new(&notebook.client);
    for (id, thread) in shown {
        heading(&state, id, thread, &mut people).await?;
        for comment in &thread.comments {
            said(comment, &mut people).await?;
        }
    }
    Ok(())
}

/// Threads in document order, those of the trash last; threads of one cell in order of time.
fn in_order(state: &Document, is_all: bool) -> Vec<(&ThreadId, &Arc<Thread>)> {
    let places: BTreeMap<_, _> = state.order.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let place = |thread: &Thread| places.get(&thread.cell_id).copied().unwrap_or(usize::MAX);
    let mut threads: Vec<_> = state.threads.iter().collect();
    threads.retain(|(_, thread)| is_all || thread.resolved.is_none() && places.contains_key(&thread.cell_id));
    threads.sort_by_key(|(_, thread)| (place(thread), thread.comments.first().map(|comment| comment.posted_at)));
    threads
}

async fn heading(state: &Document, id: &ThreadId, thread: &Thread, people: &mut People) -> Ended {
    let mut facts = vec![format!("cell {}", print::short(thread.cell_id.as_str()))];
    facts.extend(thread.range.map(|range| match range.is_empty() {
        true => "its text is gone".to_owned(),
        false => format!("{}:{}", range.start, range.end),
    }));
    facts.extend(thread.quote.as_ref().map(|quote| format!("“{}”", print::clean(&print::shorten(quote, 60)))));
    if !state.cells.contains_key(&thread.cell_id) {
        facts.push("in the trash".to_owned());
    }
    if let Some(resolved) = &thread.resolved {
        facts.push(style(format!("resolved by {}", people.name(&resolved.by).await)).green().to_string());
    }
    print::line(format!("{}  {}", style(id.as_str()).cyan(), facts.join(", ")))
}

async fn said(comment: &Comment, people: &mut People) -> Ended {
    let author = people.name(&comment.author).await;
    let edited = if comment.edited_at.is_some() { ", edited" } else { "" };
    let mut named = Vec::new();
    for id in &comment.mentions {
        named.push(people.subject(&Subject::User { id: id.clone() }).await);
    }
    let named = if named.is_empty() { String::new() } else { format!(", to {}", named.join(", ")) };
    let facts = format!("{}{edited}{named}  {}", print::time(comment.posted_at), comment.comment_id);
    print::line(format!("  {}  {}", style(author).bold(), style(facts).dim()))?;
    print::block("    ", &print::clean_block(&comment.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_positions() {
        assert_eq!(parse_range("3:7"), Ok(TextRange { start: 3, end: 7 }));
        for wrong in ["3", "3-7", "a:b", "-1:4", ":"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
    }
}
