//! Tokens of programs and of runtime agents, and the accounts of people.

use std::collections::BTreeSet;

use clap::{Args, Subcommand, ValueEnum};
use notarium_core::{Millis, NotebookId, Scope, TokenId, UserId, WorkspaceId};
use notarium_wire::rest::{
    Covers, CreatedUser, IssuedToken, NewAgent, NewApiToken, NewUser, OneTimeToken, Token, User,
};
use reqwest::Method;
use serde::Serialize;

use super::access::{expiry, parse_duration};
use super::client::{Client, percent_encoded};
use super::narrate::word;
use super::print::{self, Table};
use super::{Context, Ended, Failure, find};

#[derive(Debug, Args)]
pub struct JsonArgs {
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// As `ls` lists it.
    token: TokenId,
}

/// As [`Scope`], for the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    Read,
    Edit,
    Run,
    Confirm,
    Manage,
    Admin,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Read => Self::Read,
            ScopeName::Edit => Self::Edit,
            ScopeName::Run => Self::Run,
            ScopeName::Confirm => Self::Confirm,
            ScopeName::Manage => Self::Manage,
            ScopeName::Admin => Self::Admin,
        }
    }
}

/// What a token is good for.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Only this notebook, by id or title; may be repeated.
    #[arg(long = "notebook", value_name = "NB", group = "coverage")]
    notebooks: Vec<String>,
    /// Only the notebooks of this workspace, by its id.
    #[arg(long, value_name = "ID", group = "coverage")]
    workspace: Option<WorkspaceId>,
}

impl CoverageArgs {
    fn is_everything(&self) -> bool {
        self.notebooks.is_empty() && self.workspace.is_none()
    }

    async fn covers(&self, client: &Client) -> Result<Covers, Failure> {
        if let Some(workspace) = &self.workspace {
            return Ok(Covers { workspace: Some(workspace.clone()), notebooks: None });
        }
        if self.notebooks.is_empty() {
            return Ok(Covers::default());
        }
        let mut ids: BTreeSet<NotebookId> = BTreeSet::new();
        for name in &self.notebooks {
            ids.insert(find::notebook(client, name).await?);
        }
        Ok(Covers { notebooks: Some(ids), workspace: None })
    }
}

/// The secret alone on standard output, so that a script can take it.
fn show_new(made: &impl Serialize, token: &str, as_json: bool, remark: &str) -> Ended {
    if as_json {
        return print::json(made);
    }
    print::note(remark);
    print::line(token)
}

async fn list(client: &Client, path: &str, as_json: bool, empty: &str) -> Ended {
    let tokens: Vec<Token> = client.get(path).await?;
    if as_json {
        return print::json(&tokens);
    }
    let mut table = Table::new(&["token", "kind", "label", "scopes", "covers", "made", "last used", "until"]);
    for token in tokens {
        let scopes: Vec<String> = token.scopes.iter().map(word).collect();
        let (made, until) = (print::time(token.created_at), print::optional_time(token.expires_at));
        let used = print::optional_time(token.last_used_at);
        let covers = covered(&token.covers);
        table.row(vec![token.id.to_string(), token.kind, token.label, scopes.join(" "), covers, made, used, until]);
    }
    table.print(empty)
}

fn covered(covers: &Covers) -> String {
    match (&covers.notebooks, &covers.workspace) {
        (Some(notebooks), _) => print::count(notebooks.len(), "notebook"),
        (_, Some(workspace)) => format!("workspace {workspace}"),
        _ => "all".to_owned(),
    }
}

async fn delete(client: &Client, path: &str) -> Ended {
    client.send(client.request(Method::DELETE, path)).await?;
    print::note("revoked");
    Ok(())
}

// --- tokens of programs ---

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token for a program that acts for you, and print it.
    #[command(after_help = "Examples:
  notarium token new --label nightly --scope read --scope run --notebook analysis
  notarium token new --label laptop --expires 30d")]
    New(NewTokenArgs),
    /// List your sessions and tokens.
    Ls(JsonArgs),
    /// End a token and its connections.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub struct NewTokenArgs {
    /// For you to know it by.
    #[arg(long, default_value = "")]
    label: String,
    /// What it is for; may be repeated. `confirm` lets a program decide on tool calls in your name.
    #[arg(long = "scope", value_enum, default_values = ["read", "edit", "run"])]
    scopes: Vec<ScopeName>,
    #[command(flatten)]
    covers: CoverageArgs,
    /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Millis>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn token(command: TokenCommand, context: &Context) -> Ended {
    let client = context.client()?;
    match command {
        TokenCommand::New(args) => {
            let scopes = args.scopes.iter().copied().chain([ScopeName::Read]).map(Scope::from).collect();
            let covers = args.covers.covers(&client).await?;
            let expires_at = expiry(args.expires);
            let new = NewApiToken { label: args.label, scopes, covers, expires_at };
            let made: IssuedToken = client.post("/api/tokens", &new).await?;
            show_new(&made, &made.token, args.json, "the token is shown once; keep it as you keep a password:")
        }
        TokenCommand::Ls(args) => list(&client, "/api/tokens", args.json, "no tokens").await,
        TokenCommand::Revoke(args) => delete(&client, &format!("/api/tokens/{}", args.token)).await,
    }
}

// --- tokens of runtime agents ---

#[derive(Debug, Subcommand)]
pub enum AgentTokenCommand {
    /// Make a token for a runtime agent, and print it.
    #[command(after_help = "Examples:
  notarium agent-token new --name 'GPU machine' --notebook analysis
  notarium agent-token new --name local --all        # every notebook of the server: for administrators")]
    New(NewAgentArgs),
    /// List the agents' tokens that you made; an administrator sees all.
    Ls(JsonArgs),
    /// End an agent's token and its connections.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub struct NewAgentArgs {
    /// What people see in the record.
    #[arg(long, default_value = "agent")]
    name: String,
    #[command(flatten)]
    covers: CoverageArgs,
    /// Every notebook of the server, which only an administrator can give.
    #[arg(long, group = "coverage")]
    all: bool,
    /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Millis>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn agent_token(command: AgentTokenCommand, context: &Context) -> Ended {
    let client = context.client()?;
    match command {
        AgentTokenCommand::New(args) => {
            if !args.all && args.covers.is_everything() {
                return Err(Failure::usage("say what the agent may run: --notebook NB, --workspace ID or --all"));
            }
            let covers = args.covers.covers(&client).await?;
            let new = NewAgent { name: args.name, covers, expires_at: expiry(args.expires) };
            let made: IssuedToken = client.post("/api/agents", &new).await?;
            let remark = format!(
                "shown once; on the machine with the kernels: NOTARIUM_TOKEN=… notarium agent --server {}",
                client.server()
            );
            show_new(&made, &made.token, args.json, &remark)
        }
        AgentTokenCommand::Ls(args) => list(&client, "/api/agents", args.json, "no agents").await,
        AgentTokenCommand::Revoke(args) => delete(&client, &format!("/api/agents/{}", args.token)).await,
    }
}

// --- people ---

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account, and print the one-time token with which the person chooses a password.
    New(NewUserArgs),
    /// List the accounts.
    Ls(JsonArgs),
    /// End an account's tokens and connections; its notebooks stay.
    Deactivate(UserArgs),
    /// Let a deactivated person sign in again.
    Reactivate(UserArgs),
    /// Print a one-time token with which the person sets a new password.
    Reset(ResetArgs),
}

#[derive(Debug, Args)]
pub struct NewUserArgs {
    login: String,
    /// What people call them; absent: the login.
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    admin: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct UserArgs {
    /// Login or id.
    user: String,
}

#[derive(Debug, Args)]
pub struct ResetArgs {
    /// Login or id.
    user: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn user(command: UserCommand, context: &Context) -> Ended {
    let client = context.client()?;
    match command {
        UserCommand::New(args) => new_user(&client, args).await,
        UserCommand::Ls(args) => list_users(&client, args.json).await,
        UserCommand::Deactivate(args) => set_active(&client, &args.user, "deactivate").await,
        UserCommand::Reactivate(args) => set_active(&client, &args.user, "reactivate").await,
        UserCommand::Reset(args) => {
            let id = user_id(&client, &args.user).await?;
            let path = format!("/api/users/{id}/reset");
            let made: OneTimeToken = client.json(client.request(Method::POST, &path)).await?;
            show_new(&made, &made.token, args.json, &hand_over(&client))
        }
    }
}

fn hand_over(client: &Client) -> String {
    let server = client.server();
    format!("shown once; the person runs `notarium login --server {server} --one-time` and gives this token:")
}

async fn new_user(client: &Client, args: NewUserArgs) -> Ended {
    let name = args.name.unwrap_or_else(|| args.login.clone());
    let new = NewUser { name, login: args.login, is_admin: args.admin };
    let made: CreatedUser = client.post("/api/users", &new).await?;
    match args.json {
        true => print::json(&made),
        false => show_new(&made.invitation, &made.invitation.token, false, &hand_over(client)),
    }
}

async fn all_users(client: &Client) -> Result<Vec<User>, Failure> {
    const PAGE: usize = 1_000;
    let mut users: Vec<User> = Vec::new();
    loop {
        let after =
            users.last().map(|user| format!("&after={}", percent_encoded(user.id.as_str()))).unwrap_or_default();
        let page: Vec<User> = client.get(&format!("/api/users?limit={PAGE}{after}")).await?;
        let is_last = page.len() < PAGE;
        users.extend(page);
        if is_last {
            return Ok(users);
        }
    }
}

async fn list_users(client: &Client, as_json: bool) -> Ended {
    let users = all_users(client).await?;
    if as_json {
        return print::json(&users);
    }
    let mut table = Table::new(&["id", "login", "name", "made", "remarks"]);
    for user in users {
        let remarks = [(user.is_admin, "administrator"), (user.deactivated_at.is_some(), "deactivated")];
        let remarks: Vec<&str> = remarks.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect();
        let login = user.login.unwrap_or_else(|| "–".to_owned());
        table.row(vec![user.id.to_string(), login, user.name, print::time(user.created_at), remarks.join(", ")]);
    }
    table.print("no accounts")
}

async fn user_id(client: &Client, name: &str) -> Result<UserId, Failure> {
    let users = all_users(client).await?;
    let found = users.into_iter().find(|user| user.login.as_deref() == Some(name) || user.id.as_str() == name);
    let unknown = || Failure::failed(format!("nobody has the login or id '{name}': `notarium user ls` lists all"));
    found.map(|user| user.id).ok_or_else(unknown)
}

async fn set_active(client: &Client, name: &str, action: &str) -> Ended {
    let id = user_id(client, name).await?;
    client.send(client.request(Method::POST, &format!("/api/users/{id}/{action}"))).await?;
    print::note(format!("{action}d {name}"));
    Ok(())
}
