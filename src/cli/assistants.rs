//! Assistants' calls: the record of them, deciding on those that wait, policy, grants; conversations.

pub mod chat;
pub mod mcp;

use clap::Args;
use notarium_core::{
    Command, ConversationId, Door, Effect, GrantId, Hash, Means, Millis, Open, Passed, Policy, ToolCallId, Usage,
};
use notarium_wire::rest::{
    Answer, Because, Call, CallEffect, CallInFull, CallPage, Confirmations, Grants, PolicyOf, WaitingCall, Yes,
};

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find::{self, People};
use crate::cli::terminal::input;
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::{GRANTED_EFFECTS, POLICIES, after, now, one_of, parse_duration, word};
use crate::cli::{CommonOptions, Ended, Failure};

// --- calls ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium calls analysis
  notarium calls analysis --function delete_cell --since 7d
  notarium calls analysis --json            # arguments and results in full

Tokens are those that the model call read and wrote which asked for the call; calls asked for together show the same.")]
pub struct CallsArgs {
    /// Only of this function, for instance delete_cell.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Only those of the last 30m, 12h, 7d, 2w.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    since: Option<Millis>,
    /// Only in this state: waiting, passed, confirmed, running, succeeded, failed, outcome_unknown, denied, withdrawn,
    /// voided, expired.
    #[arg(long)]
    state: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// The answer in JSON, with arguments and results in full.
    #[arg(long)]
    json: bool,
}

pub async fn calls(args: CallsArgs, notebook: NotebookClient) -> Ended {
    let since = args.since.map(|length| now().saturating_sub(length).to_string());
    let (function, state) = (args.function.as_deref(), args.state.as_deref());
    let query = [("function", function), ("state", state), ("since", since.as_deref())];
    let split = |page: CallPage| (page.calls, page.next.map(|next| ("before", next.to_string())));
    let found = notebook.client.pages(&notebook.path("/calls"), &query, args.limit, split).await?;
    let mut people = People::new(&notebook.client);
    let headings =
        ["call", "turn", "what", "arguments", "who", "asked", "state", "let through by", "took", "tokens", "result"];
    print::list(&found, args.json, "no calls: assistants did nothing here", headings, async |call| {
        [
            call.id.to_string(),
            call.turn_id.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
            call.function.clone(),
            call.arguments.get().to_owned(),
            people.name(&call.requested_by).await,
            print::time(call.requested_at),
            word(&call.state),
            through(&mut people, call).await,
            call.duration_ms.map_or_else(|| "–".to_owned(), print::duration),
            tokens(call.model_usage),
            call.reason.as_ref().or(call.result.as_ref()).cloned().unwrap_or_default(),
        ]
    })
    .await
}

/// Tokens of the model call that requested the tool call: read and written.
fn tokens(usage: Option<Usage>) -> String {
    let Some(usage) = usage else { return "–".to_owned() };
    let about = if usage.estimated { "about " } else { "" };
    format!("{about}{} + {}", usage.input_tokens, usage.output_tokens)
}

/// The person, policy or grant that let the call pass.
async fn through(people: &mut People, call: &Call) -> String {
    match (&call.decided_by, &call.passed_by) {
        (Some(actor), _) => {
            let name = people.name(actor).await;
            call.by_means.as_ref().map_or_else(|| name.clone(), |means| format!("{name} {}", by(means)))
        }
        (None, Some(Open::Known(Passed::Policy))) => "the policy".to_owned(),
        (None, Some(Open::Known(Passed::Grant { grant_id }))) => format!("grant {}", print::short(grant_id.as_str())),
        (None, Some(unknown @ Open::Unknown(_))) => print::clean(&unknown.to_string()),
        (None, _) => "–".to_owned(),
    }
}

/// The means of a decision: `at a terminal (session "notarium login")`.
fn by(means: &Means) -> String {
    let door = match means.door.known() {
        Some(Door::Page) => "on the page",
        Some(Door::Terminal) => "at a terminal",
        Some(Door::Rest) => "over REST",
        Some(Door::Socket) => "over a socket",
        None => "elsewhere",
    };
    let label = if means.label.is_empty() { String::new() } else { format!(" \"{}\"", print::clean(&means.label)) };
    format!("{door} ({}{label})", print::clean(&means.credential))
}

// --- policy ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium policy analysis
  notarium policy analysis ask-for-every-edit")]
pub struct PolicyArgs {
    /// guarded: reading, editing and running held code pass; ask-for-every-edit: only reading passes; trusted: all
    /// passes that destroys nothing. What destroys asks under every policy. Absent: shows it.
    #[arg(value_parser = one_of::<Policy>(&POLICIES))]
    policy: Option<Policy>,
}

pub async fn policy(args: PolicyArgs, notebook: NotebookClient) -> Ended {
    if let Some(policy) = args.policy {
        return notebook.change(&Command::SetPolicy { policy }).await;
    }
    let current: PolicyOf = notebook.get("/policy").await?;
    print::line(word(&current.policy).replace('_', "-"))
}

// --- grant ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium grant analysis                                   # what is granted
  notarium grant analysis 01J… --function create_cell --expires 1h
  notarium grant analysis 01J… --effect network --effect create
  notarium grant analysis --revoke 01K…")]
pub struct GrantArgs {
    /// The conversation whose calls pass unasked; never those that destroy. Absent: lists the grants.
    conversation: Option<ConversationId>,
    /// Only this function; several times for several. Absent: every one.
    #[arg(long, value_name = "NAME", requires = "conversation")]
    function: Vec<String>,
    /// Its code may ask for this kind of effect; several times for several. Absent: none, its code stays held.
    #[arg(long, value_name = "KIND", requires = "conversation", value_parser = one_of::<Effect>(&GRANTED_EFFECTS))]
    effect: Vec<Effect>,
    /// For so long: 30m, 12h, 7d at most.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1h")]
    expires: Millis,
    /// End this grant.
    #[arg(long, value_name = "ID", conflicts_with = "conversation")]
    revoke: Option<GrantId>,
    /// The list in JSON.
    #[arg(long, conflicts_with_all = ["conversation", "revoke"])]
    json: bool,
}

pub async fn grant(args: GrantArgs, notebook: NotebookClient) -> Ended {
    let command = match (args.conversation, args.revoke) {
        (Some(conversation_id), _) => Command::IssueGrant {
            grant_id: None,
            conversation_id,
            functions: args.function,
            kinds: args.effect,
            expires_at: after(args.expires),
        },
        (None, Some(grant_id)) => Command::RevokeGrant { grant_id },
        (None, None) => return list_grants(&notebook, args.json).await,
    };
    notebook.change(&command).await
}

async fn list_grants(notebook: &NotebookClient, as_json: bool) -> Ended {
    let list: Grants = notebook.get("/grants").await?;
    if as_json {
        return print::json(&list.grants);
    }
    let grants: Vec<_> = list.grants.iter().collect();
    let mut people = People::new(&notebook.client);
    let headings = ["grant", "conversation", "functions", "effects", "until", "issued by"];
    print::list(&grants, false, "no grants: assistants ask as the policy says", headings, async |(id, grant)| {
        let functions = if grant.functions.is_empty() { "all".to_owned() } else { grant.functions.join(", ") };
        let (conversation, until) = (grant.conversation_id.to_string(), print::time(grant.expires_at));
        let kinds: Vec<String> = grant.kinds.iter().map(|kind| print::clean(&kind.to_string())).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        [id.to_string(), conversation, functions, kinds, until, people.name(&grant.issued_by).await]
    })
    .await
}

// --- conversations ---

#[derive(Debug, Args)]
pub struct ConversationsArgs {
    /// The list in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn conversations(args: ConversationsArgs, notebook: NotebookClient) -> Ended {
    let state = notebook.outline().await?;
    let mut conversations: Vec<_> = state.conversations.iter().collect();
    conversations.sort_by_key(|(_, conversation)| std::cmp::Reverse(conversation.started_at));
    let mut people = People::new(&notebook.client);
    let empty = "no conversations: `notarium chat` begins one";
    print::list(&conversations, args.json, empty, ["conversation", "title", "who", "began", "now"], async |(id, it)| {
        let now = if it.turn.is_some() { "the assistant works" } else { "" };
        let who = people.name(&it.started_by).await;
        [id.to_string(), it.title.clone(), who, print::time(it.started_at), now.to_owned()]
    })
    .await
}

// --- confirm ---

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

pub async fn confirm(args: ConfirmArgs, context: &CommonOptions) -> Ended {
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
async fn waiting(client: &RestClient, notebook: Option<&NotebookClient>) -> Result<Vec<WaitingCall>, Failure> {
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
    client: &RestClient,
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

async fn ask_all(client: &RestClient, waiting: &[WaitingCall]) -> Ended {
    if waiting.is_empty() {
        return print::noted("nothing waits for you");
    }
    let asks = input::is_terminal();
    let mut people = People::new(client);
    for one in waiting {
        let who = people.name(&one.call.requested_by).await;
        show_waiting(one, &who)?;
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
async fn ask_one(client: &RestClient, waiting: &WaitingCall) -> Result<bool, Failure> {
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

pub fn show_waiting(waiting: &WaitingCall, who: &str) -> Ended {
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

fn show_effect(effect: &CallEffect) -> Ended {
    let (what, block) = match effect {
        CallEffect::Creates { cell_type, source } => (format!("creates {}", word(cell_type)), source.as_str()),
        CallEffect::Changes { cell, diff } => (format!("changes {cell}"), diff.as_str()),
        CallEffect::Deletes { cell, source, has_outputs: true } => {
            (format!("deletes {cell}\n    with its outputs"), source.as_str())
        }
        CallEffect::Deletes { cell, source, .. } => (format!("deletes {cell}"), source.as_str()),
        CallEffect::Moves { cell } => (format!("moves {cell}"), ""),
        CallEffect::Runs { cell: Some(cell), source } => (format!("runs {cell}"), source.as_str()),
        CallEffect::Runs { cell: None, source } => ("runs".to_owned(), source.as_str()),
        CallEffect::Writes { path, content, .. } => (format!("writes {}", print::clean(path)), content.as_str()),
        CallEffect::Does { what } => (format!("does {}", print::clean(what)), ""),
    };
    print::line(format!("  {what}"))?;
    print::block("    ", &print::shown_whole(block))
}
