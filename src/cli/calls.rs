//! What assistants did, and what they may do unasked: calls, policy, grants.

use clap::Args;
use notarium_core::{Command, ConversationId, GrantId, Millis, NotebookId, Passed, Policy, Usage};
use notarium_wire::rest::{Call, CallPage, Grants, PolicyOf};
use serde_json::Value;

use super::access::{expiry, parse_duration};
use super::client::{Client, percent_encoded};
use super::narrate::word;
use super::people::People;
use super::print::{self, Table};
use super::{Context, Ended, Failure, find, notebooks};

// --- calls ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium calls analysis
  notarium calls analysis --function delete_cell --since 7d
  notarium calls analysis --json            # arguments and results in full

Tokens are those that the model call read and wrote which asked for the call; calls asked for together show the same.")]
pub struct CallsArgs {
    /// Id or title.
    notebook: String,
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

pub async fn calls(args: CallsArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let found = list(&client, &notebook, &args).await?;
    if args.json {
        return print::json(&found);
    }
    table(&client, &found).await.print("no calls: assistants did nothing here")
}

async fn list(client: &Client, notebook: &NotebookId, args: &CallsArgs) -> Result<Vec<Call>, Failure> {
    let since = args.since.and_then(|length| expiry(Some(0)).map(|now| now.saturating_sub(length).to_string()));
    let filters = [("function", args.function.clone()), ("state", args.state.clone()), ("since", since)];
    let filters = filters.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let filters: String = filters.map(|(name, value)| format!("&{name}={}", percent_encoded(&value))).collect();
    let mut found: Vec<Call> = Vec::new();
    let mut before = String::new();
    while found.len() < args.limit {
        let limit = (args.limit - found.len()).min(200);
        let page: CallPage =
            client.get(&format!("/api/notebooks/{notebook}/calls?limit={limit}{filters}{before}")).await?;
        found.extend(page.calls);
        let Some(next) = page.next else { break };
        before = format!("&before={next}");
    }
    found.truncate(args.limit);
    Ok(found)
}

async fn table(client: &Client, calls: &[Call]) -> Table {
    let mut people = People::default();
    let mut table = Table::new(&[
        "call",
        "turn",
        "what",
        "arguments",
        "who",
        "asked",
        "state",
        "let through by",
        "took",
        "tokens",
        "result",
    ]);
    for call in calls {
        let who = people.name(client, &call.requested_by).await;
        let through = through(client, &mut people, call).await;
        let took = call.duration_ms.map_or_else(|| "–".to_owned(), print::duration);
        let result = call.reason.as_ref().or(call.result.as_ref()).cloned().unwrap_or_default();
        table.row(vec![
            call.id.to_string(),
            call.turn_id.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
            call.function.clone(),
            call.arguments.get().to_owned(),
            who,
            print::time(call.requested_at),
            word(&call.state),
            through,
            took,
            tokens(call.model_usage),
            result,
        ]);
    }
    table
}

/// Of the model call that asked for it: read and written.
fn tokens(usage: Option<Usage>) -> String {
    let about = |usage: Usage| if usage.estimated { "about " } else { "" };
    usage.map_or_else(
        || "–".to_owned(),
        |usage| format!("{}{} + {}", about(usage), usage.input_tokens, usage.output_tokens),
    )
}

/// Who decided, or why nobody had to.
async fn through(client: &Client, people: &mut People, call: &Call) -> String {
    match (&call.decided_by, &call.passed_by) {
        (Some(actor), _) => people.name(client, actor).await,
        (None, Some(Passed::Policy)) => "the policy".to_owned(),
        (None, Some(Passed::Grant { grant_id })) => format!("grant {}", print::short(grant_id.as_str())),
        (None, _) => "–".to_owned(),
    }
}

// --- policy ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium policy analysis
  notarium policy analysis ask-for-every-edit")]
pub struct PolicyArgs {
    /// Id or title.
    notebook: String,
    /// guarded: reading, editing and running harmless code pass; ask-for-every-edit: only reading passes; trusted: all
    /// passes that destroys nothing. What destroys asks under every policy. Absent: shows it.
    #[arg(value_parser = parse_policy)]
    policy: Option<Policy>,
}

fn parse_policy(text: &str) -> Result<Policy, String> {
    serde_json::from_value(Value::String(text.replace('-', "_")))
        .map_err(|_| format!("'{text}' is no policy: write guarded, ask-for-every-edit or trusted"))
}

pub async fn policy(args: PolicyArgs, context: &Context) -> Ended {
    if let Some(policy) = args.policy {
        return notebooks::change(context, &args.notebook, Command::SetPolicy { policy }).await;
    }
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let current: PolicyOf = client.get(&format!("/api/notebooks/{notebook}/policy")).await?;
    print::line(word(&current.policy).replace('_', "-"))
}

// --- grant ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium grant analysis                                   # what is granted
  notarium grant analysis 01J… --function create_cell --expires 1h
  notarium grant analysis --revoke 01K…")]
pub struct GrantArgs {
    /// Id or title.
    notebook: String,
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

pub async fn grant(args: GrantArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let command = match (args.conversation, args.revoke) {
        (Some(conversation_id), _) => Command::IssueGrant {
            grant_id: None,
            conversation_id,
            functions: args.function,
            expires_at: expiry(Some(args.expires)).unwrap_or_default(),
        },
        (None, Some(grant_id)) => Command::RevokeGrant { grant_id },
        (None, None) => return list_grants(&client, &notebook, args.json).await,
    };
    notebooks::report(&client.command(&notebook, &command).await?);
    Ok(())
}

async fn list_grants(client: &Client, notebook: &NotebookId, as_json: bool) -> Ended {
    let list: Grants = client.get(&format!("/api/notebooks/{notebook}/grants")).await?;
    if as_json {
        return print::json(&list.grants);
    }
    let mut people = People::default();
    let mut table = Table::new(&["grant", "conversation", "functions", "until", "issued by"]);
    for (id, grant) in &list.grants {
        let functions = if grant.functions.is_empty() { "all".to_owned() } else { grant.functions.join(", ") };
        let by = people.name(client, &grant.issued_by).await;
        let conversation = grant.conversation_id.to_string();
        table.row(vec![id.to_string(), conversation, functions, print::time(grant.expires_at), by]);
    }
    table.print("no grants: assistants ask as the policy says")
}
