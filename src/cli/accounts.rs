//! Tokens of programs and of runtime agents, and the accounts of people.

use std::collections::BTreeSet;

use clap::Args;
use notarium_core::{Millis, NotebookId, Scope, Subject, TokenId, WorkspaceId};
use notarium_wire::rest::{
    Answer, Covers, CreatedUser, Identity, IssuedToken, NewAgent, NewApiToken, NewUser, OneTimeToken, OwnedNotebook,
    OwnedPage, TakeOver, Token, User,
};
use reqwest::Method;
use serde::Serialize;

use super::client::Client;
use super::narrate::word;
use super::people::People;
use super::values::{SCOPES, after, one_of, parse_duration};
use super::{Context, Ended, Failure, find, print};

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
            ids.insert(find::notebook(client, name).await?.id);
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
    let mut people = People::new(client);
    let headings = ["token", "kind", "label", "scopes", "covers", "made", "last used", "until"];
    print::list(&tokens, as_json, empty, headings, async |token| {
        let scopes: Vec<String> = token.scopes.iter().map(word).collect();
        let (kind, label) = (token.kind.clone(), token.label.clone());
        let times = (print::time(token.created_at), print::optional_time(token.last_used_at));
        let until = print::optional_time(token.expires_at);
        [
            token.id.to_string(),
            kind,
            label,
            scopes.join(" "),
            covered(&token.covers, &mut people).await,
            times.0,
            times.1,
            until,
        ]
    })
    .await
}

async fn covered(covers: &Covers, people: &mut People) -> String {
    match (&covers.notebooks, &covers.workspace) {
        (Some(notebooks), _) => print::count(notebooks.len(), "notebook"),
        (_, Some(id)) => people.subject(&Subject::Workspace { id: id.clone() }).await,
        _ => "all".to_owned(),
    }
}

async fn delete(context: &Context, path: &str) -> Ended {
    context.client()?.delete(path).await?;
    print::note("revoked");
    Ok(())
}

// --- tokens of programs ---

commands! {
    pub enum TokenCommand {
        /// Make a token for a program that acts for you, and print it.
        #[command(after_help = "Examples:
  notarium token new --label nightly --scope read --scope run --notebook analysis
  notarium token new --label laptop --expires 30d")]
        New(NewTokenArgs) => new_token,
        /// List your sessions and tokens.
        Ls(JsonArgs) => list_tokens,
        /// End a token and its connections.
        Revoke(RevokeArgs) => revoke_token,
    }
}

#[derive(Debug, Args)]
pub struct NewTokenArgs {
    /// For you to know it by.
    #[arg(long, default_value = "")]
    label: String,
    /// What it is for; may be repeated. `confirm` lets a program decide on tool calls in your name.
    #[arg(long = "scope", value_parser = one_of::<Scope>(&SCOPES), default_values = ["read", "edit", "run"])]
    scopes: Vec<Scope>,
    #[command(flatten)]
    covers: CoverageArgs,
    /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Millis>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

async fn new_token(args: NewTokenArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let scopes = args.scopes.into_iter().chain([Scope::Read]).collect();
    let covers = args.covers.covers(&client).await?;
    let new = NewApiToken { label: args.label, scopes, covers, expires_at: args.expires.map(after) };
    let made: IssuedToken = client.post("/api/tokens", &new).await?;
    show_new(&made, &made.token, args.json, "the token is shown once; keep it as you keep a password:")
}

async fn list_tokens(args: JsonArgs, context: &Context) -> Ended {
    list(&context.client()?, "/api/tokens", args.json, "no tokens").await
}

async fn revoke_token(args: RevokeArgs, context: &Context) -> Ended {
    delete(context, &format!("/api/tokens/{}", args.token)).await
}

// --- tokens of runtime agents ---

commands! {
    pub enum AgentTokenCommand {
        /// Make a token for a runtime agent, and print it.
        #[command(after_help = "Examples:
  notarium agent-token new --name 'GPU machine' --notebook analysis
  notarium agent-token new --name local --all        # every notebook of the server: for administrators")]
        New(NewAgentArgs) => new_agent,
        /// List the agents' tokens that you made; an administrator sees all.
        Ls(JsonArgs) => list_agents,
        /// End an agent's token and its connections.
        Revoke(RevokeArgs) => revoke_agent,
    }
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

async fn new_agent(args: NewAgentArgs, context: &Context) -> Ended {
    if !args.all && args.covers.is_everything() {
        return Err(Failure::usage("say what the agent may run: --notebook NB, --workspace ID or --all"));
    }
    let client = context.client()?;
    let covers = args.covers.covers(&client).await?;
    let new = NewAgent { name: args.name, covers, expires_at: args.expires.map(after) };
    let made: IssuedToken = client.post("/api/agents", &new).await?;
    let start = format!("NOTARIUM_TOKEN=… notarium agent --server {}", client.server());
    show_new(&made, &made.token, args.json, &format!("shown once; on the machine with the kernels: {start}"))
}

async fn list_agents(args: JsonArgs, context: &Context) -> Ended {
    list(&context.client()?, "/api/agents", args.json, "no agents").await
}

async fn revoke_agent(args: RevokeArgs, context: &Context) -> Ended {
    delete(context, &format!("/api/agents/{}", args.token)).await
}

// --- people ---

commands! {
    pub enum UserCommand {
        /// Make an account, and print the one-time token with which the person chooses a password.
        New(NewUserArgs) => new_user,
        /// List the accounts.
        Ls(JsonArgs) => list_users,
        /// End an account's tokens and connections; its notebooks stay.
        Deactivate(UserArgs) => deactivate,
        /// Let a deactivated person sign in again.
        Reactivate(UserArgs) => reactivate,
        /// Print a one-time token with which the person sets a new password.
        Reset(ResetArgs) => reset,
        /// List the sign-ins with a provider of OpenID Connect that are linked to an account.
        Identities(UserListArgs) => identities,
        /// Unlink one of them: the person does not sign in so any more. Sessions that are open go on; `deactivate` ends those.
        Unlink(UnlinkArgs) => unlink,
        /// Take over the notebooks of somebody whose account is deactivated: you, or whom you name, own them from then on.
        #[command(after_help = "Examples:
  notarium user deactivate ann
  notarium user take-over ann                 # all notebooks that ann owns, for you
  notarium user take-over ann --to bob --notebook 01J…")]
        TakeOver(TakeOverArgs) => take_over,
    }
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
pub struct UserListArgs {
    /// Login or id.
    user: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct UnlinkArgs {
    /// Login or id.
    user: String,
    /// As `identities` lists it.
    identity: String,
}

#[derive(Debug, Args)]
pub struct TakeOverArgs {
    /// Login or id of who left.
    user: String,
    /// Login or id of who is to own them; absent: you.
    #[arg(long, value_name = "LOGIN")]
    to: Option<String>,
    /// Only this notebook, by its id or title; may be repeated.
    #[arg(long = "notebook", value_name = "NB")]
    notebooks: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ResetArgs {
    /// Login or id.
    user: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

fn hand_over(client: &Client) -> String {
    let server = client.server();
    format!("shown once; the person runs `notarium login --server {server} --one-time` and gives this token:")
}

async fn new_user(args: NewUserArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let name = args.name.unwrap_or_else(|| args.login.clone());
    let new = NewUser { name, login: args.login, is_admin: args.admin };
    let made: CreatedUser = client.post("/api/users", &new).await?;
    show_new(&made, &made.invitation.token, args.json, &hand_over(&client))
}

async fn all_users(client: &Client) -> Result<Vec<User>, Failure> {
    let split = |page: Vec<User>| {
        let next = page.last().map(|user| ("after", user.id.to_string()));
        (page, next)
    };
    client.pages("/api/users", &[], usize::MAX, split).await
}

async fn list_users(args: JsonArgs, context: &Context) -> Ended {
    let users = all_users(&context.client()?).await?;
    print::list(&users, args.json, "no accounts", ["id", "login", "name", "made", "remarks"], async |user| {
        let remarks = [(user.is_admin, "administrator"), (user.deactivated_at.is_some(), "deactivated")];
        let remarks: Vec<&str> = remarks.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect();
        let login = user.login.clone().unwrap_or_else(|| "–".to_owned());
        [user.id.to_string(), login, user.name.clone(), print::time(user.created_at), remarks.join(", ")]
    })
    .await
}

/// A person's account, by login or id.
async fn user(client: &Client, name: &str) -> Result<User, Failure> {
    let users = all_users(client).await?;
    let found = users.into_iter().find(|user| user.login.as_deref() == Some(name) || user.id.as_str() == name);
    found.ok_or_else(|| Failure::failed(format!("nobody has the login or id '{name}': `notarium user ls` lists all")))
}

async fn user_path(client: &Client, name: &str) -> Result<String, Failure> {
    Ok(format!("/api/users/{}", user(client, name).await?.id))
}

async fn deactivate(args: UserArgs, context: &Context) -> Ended {
    set_active(&args.user, "deactivate", context).await
}

async fn reactivate(args: UserArgs, context: &Context) -> Ended {
    set_active(&args.user, "reactivate", context).await
}

async fn set_active(name: &str, action: &str, context: &Context) -> Ended {
    let client = context.client()?;
    let path = user_path(&client, name).await?;
    client.send(client.request(Method::POST, &format!("{path}/{action}"))).await?;
    print::note(format!("{action}d {name}"));
    Ok(())
}

async fn reset(args: ResetArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let path = user_path(&client, &args.user).await?;
    let made: OneTimeToken = client.json(client.request(Method::POST, &format!("{path}/reset"))).await?;
    show_new(&made, &made.token, args.json, &hand_over(&client))
}

async fn identities(args: UserListArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let path = user_path(&client, &args.user).await?;
    let identities: Vec<Identity> = client.get(&format!("{path}/identities")).await?;
    let headings = ["identity", "provider", "subject there", "address", "linked"];
    print::list(&identities, args.json, "no sign-ins with a provider", headings, async |identity| {
        let email = identity.email.clone().unwrap_or_else(|| "–".to_owned());
        let (issuer, subject) = (identity.issuer.clone(), identity.subject.clone());
        [identity.id.clone(), issuer, subject, email, print::time(identity.created_at)]
    })
    .await
}

async fn unlink(args: UnlinkArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let path = user_path(&client, &args.user).await?;
    client.delete(&format!("{path}/identities/{}", args.identity)).await?;
    print::note("unlinked; the sessions that came by it have ended");
    Ok(())
}

async fn take_over(args: TakeOverArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let from = user(&client, &args.user).await?;
    let to = match &args.to {
        Some(name) => Some(user(&client, name).await?.id),
        None => None,
    };
    let split = |page: OwnedPage| (page.notebooks, page.next.map(|next| ("cursor", next)));
    let owned = client.pages(&format!("/api/users/{}/notebooks", from.id), &[], usize::MAX, split).await?;
    for notebook in chosen(owned, &args)? {
        let over = TakeOver { from: from.id.clone(), to: to.clone() };
        let _: Answer = client.post(&format!("/api/notebooks/{}/take-over", notebook.id), &over).await?;
        print::note(format!("taken over: {}  {}", notebook.id, print::clean(&notebook.title)));
    }
    Ok(())
}

/// Those of somebody's notebooks that are named; all where none is.
fn chosen(owned: Vec<OwnedNotebook>, args: &TakeOverArgs) -> Result<Vec<OwnedNotebook>, Failure> {
    let is_named = |name: &String, notebook: &OwnedNotebook| notebook.id.as_str() == name || notebook.title == *name;
    let missing = args.notebooks.iter().find(|name| !owned.iter().any(|notebook| is_named(name, notebook)));
    if let Some(name) = missing {
        return Err(Failure::failed(format!("'{}' owns no notebook of the id or title '{name}'", args.user)));
    }
    if owned.is_empty() {
        return Err(Failure::failed(format!("'{}' owns no notebook: there is nothing to take over", args.user)));
    }
    let is_chosen = |notebook: &OwnedNotebook| args.notebooks.iter().any(|name| is_named(name, notebook));
    Ok(owned.into_iter().filter(|notebook| args.notebooks.is_empty() || is_chosen(notebook)).collect())
}
