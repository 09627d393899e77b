//! Records of assistants' calls, and their permissions: calls, policy, grants, conversations.

pub mod chat;
pub mod confirm;
pub mod mcp;

use clap::Args;
use notarium_core::{Command, ConversationId, Door, GrantId, Means, Millis, Open, Passed, Policy, Usage};
use notarium_wire::rest::{Call, CallPage, Grants, PolicyOf};

use crate::cli::Ended;
use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::terminal::print;
use crate::cli::terminal::values::{POLICIES, after, now, one_of, parse_duration, word};

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
    /// guarded: reading, editing and running harmless code pass; ask-for-every-edit: only reading passes; trusted: all
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
  notarium grant analysis --revoke 01K…")]
pub struct GrantArgs {
    /// The conversation whose calls pass unasked; never those that destroy. Absent: lists the grants.
    conversation: Option<ConversationId>,
    /// Only this function; several times for several. Absent: every one.
    #[arg(long, value_name = "NAME", requires = "conversation")]
    function: Vec<String>,
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
    let headings = ["grant", "conversation", "functions", "until", "issued by"];
    print::list(&grants, false, "no grants: assistants ask as the policy says", headings, async |(id, grant)| {
        let functions = if grant.functions.is_empty() { "all".to_owned() } else { grant.functions.join(", ") };
        let (conversation, until) = (grant.conversation_id.to_string(), print::time(grant.expires_at));
        [id.to_string(), conversation, functions, until, people.name(&grant.issued_by).await]
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
