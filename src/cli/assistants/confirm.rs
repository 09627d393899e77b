//! `confirm`: decides on calls of assistants that wait.

use clap::Args;
use notarium_core::{Hash, ToolCallId};
use notarium_wire::rest::{Answer, Because, CallInFull, CallPage, Confirmations, Effect, WaitingCall, Yes};

use crate::cli::connection::client::{Client, NotebookClient};
use crate::cli::connection::find::{self, People};
use crate::cli::terminal::input;
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::word;
use crate::cli::{Context, Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium confirm                          # everything that waits for you: shown in full, asked one by one
  notarium confirm analysis
  notarium confirm analysis --yes 01J…
  notarium confirm analysis --deny 01J… --reason 'I still need that cell'
  notarium confirm --json                   # what waits, for programs")]
pub struct ConfirmArgs {
    /// Id or title; absent: all notebooks.
    notebook: Option<String>,
    /// Confirm this call, without a question; only at a terminal. Give it several times for several calls.
    #[arg(long, value_name = "ID")]
    yes: Vec<ToolCallId>,
    /// Deny this call, without a question.
    #[arg(long, value_name = "ID")]
    deny: Vec<ToolCallId>,
    /// Why it is denied: the assistant is told.
    #[arg(long, requires = "deny", default_value = "")]
    reason: String,
    /// Print the waiting calls as JSON, and decide nothing.
    #[arg(long)]
    json: bool,
}

pub async fn confirm(args: ConfirmArgs, context: &Context) -> Ended {
    if !args.yes.is_empty() && !input::is_terminal() {
        // Code in a kernel has no terminal, and neither has a script that a model wrote.
        return Err(Failure::usage(
            "--yes is for a person at a terminal, and this is none: run it at one, or confirm on the page. (A program confirms over \
             REST, with a token that was given the scope confirm.)",
        ));
    }
    let client = context.client()?;
    let notebook = find::named(&client, args.notebook.as_deref()).await?;
    let waiting = waiting(&client, notebook.as_ref()).await?;
    if args.json {
        return print::json(&waiting);
    }
    if args.yes.is_empty() && args.deny.is_empty() {
        return ask_all(&client, &waiting).await;
    }
    for id in &args.yes {
        let (notebook, hash) = located(&client, notebook.as_ref(), &waiting, id).await?;
        say_yes(&notebook, id, hash).await?;
    }
    for id in &args.deny {
        let (notebook, _) = located(&client, notebook.as_ref(), &waiting, id).await?;
        say_no(&notebook, id, &args.reason).await?;
    }
    Ok(())
}

/// The waiting calls of one notebook, or of all for this user.
async fn waiting(client: &Client, notebook: Option<&NotebookClient>) -> Result<Vec<WaitingCall>, Failure> {
    let Some(notebook) = notebook else {
        let everywhere: Confirmations = client.get("/api/confirmations").await?;
        if everywhere.is_cut {
            print::note("more waits than is listed: decide on some of these, or name a notebook");
        }
        return Ok(everywhere.calls);
    };
    // Waiting calls are all on the first page, whatever its limit.
    let page: CallPage = notebook.get("/calls?state=waiting&limit=1").await?;
    let mut waiting = Vec::new();
    for call in page.calls {
        waiting.extend(in_full(notebook, &call.id).await?.map(|(waiting, _)| waiting));
    }
    Ok(waiting)
}

/// A waiting call; true if this user may decide on it. `None`: it was decided meanwhile.
pub async fn in_full(notebook: &NotebookClient, id: &ToolCallId) -> Result<Option<(WaitingCall, bool)>, Failure> {
    let CallInFull { title, call, confirmation, may_decide } = notebook.get(&format!("/calls/{id}")).await?;
    let notebook = notebook.id.clone();
    Ok(confirmation.map(|confirmation| (WaitingCall { notebook, title, call, confirmation }, may_decide)))
}

/// The notebook of a call, and the hash to confirm. An ended call is found too: the server then reports the decision.
async fn located(
    client: &Client,
    notebook: Option<&NotebookClient>,
    waiting: &[WaitingCall],
    id: &ToolCallId,
) -> Result<(NotebookClient, Hash), Failure> {
    if let Some(found) = waiting.iter().find(|waiting| waiting.call.id == *id) {
        return Ok((client.notebook(found.notebook.clone()), found.call.arguments_hash));
    }
    let unknown = || Failure::failed(format!("no call {id} waits for you: name its notebook to see what became of it"));
    let notebook = notebook.ok_or_else(unknown)?;
    let known: CallInFull = notebook.get(&format!("/calls/{id}")).await?;
    Ok((notebook.clone(), known.call.arguments_hash))
}

pub async fn say_yes(notebook: &NotebookClient, id: &ToolCallId, hash: Hash) -> Ended {
    let answer: Answer = notebook.post(&format!("/calls/{id}/confirm"), &Yes { arguments_hash: hash }).await?;
    print::report(&answer)
}

pub async fn say_no(notebook: &NotebookClient, id: &ToolCallId, reason: &str) -> Ended {
    let answer: Answer = notebook.post(&format!("/calls/{id}/deny"), &Because { reason: reason.to_owned() }).await?;
    print::report(&answer)
}

// --- asking ---

async fn ask_all(client: &Client, waiting: &[WaitingCall]) -> Ended {
    if waiting.is_empty() {
        return print::noted("nothing waits for you");
    }
    let asks = input::is_terminal();
    let mut people = People::new(client);
    for one in waiting {
        let who = people.name(&one.call.requested_by).await;
        show(one, &who)?;
        if asks && !ask_one(client, one).await? {
            return Ok(());
        }
    }
    if !asks {
        print::note("this is no terminal: confirm at one or on the page; --deny ID --reason WHY denies from anywhere");
    }
    Ok(())
}

/// Asks about one call. False: stop asking.
async fn ask_one(client: &Client, waiting: &WaitingCall) -> Result<bool, Failure> {
    let WaitingCall { notebook, call, .. } = waiting;
    let notebook = client.notebook(notebook.clone());
    // If another person decided first, that is reported, and the next call follows.
    let decided = match input::ask("confirm? [y]es, [n]o, [s]kip, [q]uit: ", false).await?.as_str() {
        "y" | "yes" => say_yes(&notebook, &call.id, call.arguments_hash).await,
        "n" | "no" => {
            let reason = input::ask("why not? (the assistant is told) ", false).await?;
            say_no(&notebook, &call.id, &reason).await
        }
        "q" | "quit" => return Ok(false),
        _ => Ok(()),
    };
    if let Err(failure) = decided {
        print::note(print::clean_block(&failure.message));
    }
    Ok(true)
}

// --- in full ---

pub fn show(waiting: &WaitingCall, who: &str) -> Ended {
    let WaitingCall { title, call, confirmation, .. } = waiting;
    let function = style(print::clean(&call.function)).bold();
    print::line(format!("{}  {function} in \"{}\"", call.id, print::clean(title)))?;
    let until = call.expires_at.map(|at| format!(", waits until {}", print::time(at))).unwrap_or_default();
    let summary = print::clean(&confirmation.summary);
    print::line(format!("  {summary}; asked by {who} at {}{until}", print::time(call.requested_at)))?;
    print::line(format!("  risk: {}. {}", style(word(&call.risk)).red(), confirmation.risk))?;
    for reason in &call.reasons {
        print::line(format!("    because {}", print::clean(reason)))?;
    }
    if let Some(void) = &confirmation.void {
        print::line(format!("  it cannot happen any more: {}", print::clean(void)))?;
    }
    print::line(format!("  arguments: {}", print::clean(call.arguments.get())))?;
    confirmation.effects.iter().try_for_each(show_effect)
}

fn show_effect(effect: &Effect) -> Ended {
    let (what, block) = match effect {
        Effect::Creates { cell_type, source } => (format!("creates {}", word(cell_type)), source.as_str()),
        Effect::Changes { cell, diff } => (format!("changes {cell}"), diff.as_str()),
        Effect::Deletes { cell, source, has_outputs: true } => {
            (format!("deletes {cell}\n    with its outputs"), source.as_str())
        }
        Effect::Deletes { cell, source, .. } => (format!("deletes {cell}"), source.as_str()),
        Effect::Moves { cell } => (format!("moves {cell}"), ""),
        Effect::Runs { cell: Some(cell), source } => (format!("runs {cell}"), source.as_str()),
        Effect::Runs { cell: None, source } => ("runs".to_owned(), source.as_str()),
        Effect::Writes { path, content, .. } => (format!("writes {}", print::clean(path)), content.as_str()),
        Effect::Does { what } => (format!("does {}", print::clean(what)), ""),
    };
    print::line(format!("  {what}"))?;
    print::block("    ", &print::shown_whole(block))
}
