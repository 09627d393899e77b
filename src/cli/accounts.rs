//! Tokens of programs and of runtime agents; accounts of people, and their usage of the server (`spending`).

pub mod access;
mod invitations;
pub mod notices;
pub mod spending;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use notarium_core::{Millis, Scope, Subject, TokenId, UserId};
use notarium_server::auth;
use notarium_store::accounts as store_accounts;
use notarium_store::sqlite::DATABASE_FILE;
use notarium_wire::rest::{
    AdminChange, Answer, Covers, CreatedUser, Identity, IssuedToken, NewAgent, NewApiToken, NewUser, OneTimeToken,
    OwnedNotebook, OwnedPage, TakeOver, Token, User,
};
use reqwest::Method;
#[cfg(feature = "postgres")]
use secrecy::ExposeSecret;
use secrecy::SecretString;

use crate::cli::connection::client::RestClient;
use crate::cli::connection::find::{self, People};
use crate::cli::terminal::print;
use crate::cli::terminal::values::{SCOPES, after, now, one_of, parse_duration, word};
use crate::cli::{CommonOptions, Ended, Failure, JsonArgs};

/// Scope of a token.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Only this notebook, by id or title; may be repeated.
    #[arg(long = "notebook", value_name = "NB", group = "coverage")]
    notebooks: Vec<String>,
    /// Only the notebooks of this workspace, by its name or id.
    #[arg(long, value_name = "WORKSPACE", group = "coverage")]
    workspace: Option<String>,
}

impl CoverageArgs {
    async fn covers(self, client: &RestClient) -> Result<Covers, Failure> {
        let mut ids = BTreeSet::new();
        for name in &self.notebooks {
            ids.insert(find::notebook(client, name).await?.id);
        }
        let workspace = find::named_workspace(client, self.workspace.as_deref()).await?;
        Ok(Covers { notebooks: (!ids.is_empty()).then_some(ids), workspace })
    }
}

async fn list(client: &RestClient, path: &str, as_json: bool, empty: &str) -> Ended {
    let tokens: Vec<Token> = client.get(path).await?;
    let mut people = People::new(client);
    let headings = ["token", "kind", "label", "scopes", "covers", "made", "last used", "until"];
    print::list(&tokens, as_json, empty, headings, async |token| {
        [
            token.id.to_string(),
            token.kind.clone(),
            token.label.clone(),
            token.scopes.iter().map(word).collect::<Vec<_>>().join(" "),
            covered(&token.covers, &mut people).await,
            print::time(token.created_at),
            print::optional_time(token.last_used_at),
            print::optional_time(token.expires_at),
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

async fn revoke(client: &RestClient, path: &str) -> Ended {
    client.delete(path).await?;
    print::noted("revoked")
}

// --- tokens of programs ---

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token for a program that acts for you, and print it.
    #[command(after_help = "Examples:
  notarium token new --label nightly --scope read --scope run --notebook analysis
  notarium token new --label laptop --expires 30d")]
    New {
        /// For you to know it by.
        #[arg(long, default_value = "")]
        label: String,
        /// Scope of the token; may be repeated. `confirm` lets a program decide on tool calls in your name.
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
    },
    /// List your sessions and tokens.
    Ls(JsonArgs),
    /// End a token and its connections.
    Revoke {
        /// Id, as `ls` lists it.
        token: TokenId,
    },
}

impl TokenCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        let client = context.client()?;
        match self {
            Self::New { label, scopes, covers, expires, json } => {
                let scopes = scopes.into_iter().chain([Scope::Read]).collect();
                let covers = covers.covers(&client).await?;
                let new = NewApiToken { label, scopes, covers, expires_at: expires.map(after) };
                let made: IssuedToken = client.post("/api/tokens", &new).await?;
                print::secret(&made, &made.token, json, "the token is shown once; keep it as you keep a password:")
            }
            Self::Ls(JsonArgs { json }) => list(&client, "/api/tokens", json, "no tokens").await,
            Self::Revoke { token } => revoke(&client, &format!("/api/tokens/{token}")).await,
        }
    }
}

// --- tokens of runtime agents ---

#[derive(Debug, Subcommand)]
pub enum AgentTokenCommand {
    /// Make a token for a runtime agent, and print it.
    #[command(after_help = "Examples:
  notarium agent-token new --name 'GPU machine' --notebook analysis
  notarium agent-token new --name local --all        # every notebook of the server: for administrators")]
    New {
        /// Name that people see in the record.
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
    },
    /// List the agents' tokens that you made; an administrator sees all.
    Ls(JsonArgs),
    /// End an agent's token and its connections.
    Revoke {
        /// Id, as `ls` lists it.
        token: TokenId,
    },
}

impl AgentTokenCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        if let Self::New { covers, all: false, .. } = &self
            && covers.notebooks.is_empty()
            && covers.workspace.is_none()
        {
            return Err(Failure::usage("say what the agent may run: --notebook NB, --workspace NAME or --all"));
        }
        let client = context.client()?;
        match self {
            Self::New { name, covers, expires, json, .. } => {
                let covers = covers.covers(&client).await?;
                let new = NewAgent { name, covers, expires_at: expires.map(after) };
                let made: IssuedToken = client.post("/api/agents", &new).await?;
                let start = format!("NOTARIUM_TOKEN=… notarium agent --server {}", client.server());
                let remark = format!("shown once; on the machine with the kernels: {start}");
                print::secret(&made, &made.token, json, &remark)
            }
            Self::Ls(JsonArgs { json }) => list(&client, "/api/agents", json, "no agents").await,
            Self::Revoke { token } => revoke(&client, &format!("/api/agents/{token}")).await,
        }
    }
}

// --- people ---

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account, and print the one-time token with which the person chooses a password.
    New {
        login: String,
        /// Display name; default: the login.
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        admin: bool,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make accounts from a list in CSV, and print a one-time token for each person. People who have an account stay as they are.
    Invite(invitations::InviteArgs),
    /// List the accounts.
    Ls(JsonArgs),
    /// Make somebody an administrator, or no administrator any more. The last one stays.
    #[command(after_help = "Examples:
  notarium user admin bob
  notarium user admin bob --off")]
    Admin {
        /// Login or id.
        user: String,
        /// Take the rights of an administrator away.
        #[arg(long)]
        off: bool,
    },
    /// End an account's tokens and connections; its notebooks stay.
    Deactivate {
        /// Login or id.
        user: String,
    },
    /// Let a deactivated person sign in again.
    Reactivate {
        /// Login or id.
        user: String,
    },
    /// Print a one-time token with which the person sets a new password.
    #[command(after_help = "Examples:
  notarium user reset bob                        # for administrators, on a running server
  notarium user reset --data /srv/notarium       # nobody gets in any more: on the machine of a server that is stopped
  notarium user reset --store postgresql://notarium@db/notes    # the same for a server with PostgreSQL, which may run")]
    Reset {
        /// Login or id; with --data or --store the login, else the first administrator.
        #[arg(required_unless_present_any = ["data", "store"])]
        user: Option<String>,
        /// The data folder of a server that is stopped: whoever may write it gets in again.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// The PostgreSQL database of a server: whoever may write it gets in again.
        #[arg(long, value_name = "URL", conflicts_with = "data")]
        store: Option<SecretString>,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the sign-ins with a provider of OpenID Connect that are linked to an account.
    Identities {
        /// Login or id.
        user: String,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Unlink one of them: the person does not sign in so any more. Sessions that are open go on; `deactivate` ends those.
    Unlink {
        /// Login or id.
        user: String,
        /// Identity, as `identities` lists it.
        identity: String,
    },
    /// Take over the notebooks of somebody whose account is deactivated: you, or whom you name, own them from then on.
    #[command(after_help = "Examples:
  notarium user deactivate ann
  notarium user take-over ann                 # all notebooks that ann owns, for you
  notarium user take-over ann --to bob --notebook 01J…")]
    TakeOver {
        /// Login or id of who left.
        user: String,
        /// Login or id of who is to own them; absent: you.
        #[arg(long, value_name = "LOGIN")]
        to: Option<String>,
        /// Only this notebook, by its id or title; may be repeated.
        #[arg(long = "notebook", value_name = "NB")]
        notebooks: Vec<String>,
    },
}

impl UserCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        match &self {
            Self::Reset { user, data: Some(data), json, .. } => {
                return reset_in_folder(data, user.as_deref(), *json).await;
            }
            Self::Reset { user, store: Some(store), json, .. } => {
                return reset_in_store(store, user.as_deref(), *json).await;
            }
            _ => {}
        }
        let client = context.client()?;
        match self {
            Self::New { login, name, admin, json } => {
                let new = NewUser { name: name.unwrap_or_else(|| login.clone()), login, is_admin: admin };
                let made: CreatedUser = client.post("/api/users", &new).await?;
                print::secret(&made, &made.invitation.token, json, &hand_over(&client, &made.invitation))
            }
            Self::Invite(args) => invitations::invite(args, &client).await,
            Self::Ls(JsonArgs { json }) => list_users(&all_users(&client).await?, json).await,
            Self::Admin { user, off } => set_admin(&client, &user, !off).await,
            Self::Deactivate { user } => set_active(&client, &user, "deactivate").await,
            Self::Reactivate { user } => set_active(&client, &user, "reactivate").await,
            Self::Reset { user, json, .. } => {
                let user = user.unwrap_or_default();
                let path = format!("{}/reset", user_path(&client, &user).await?);
                let made: OneTimeToken = client.json(client.request(Method::POST, &path)).await?;
                print::secret(&made, &made.token, json, &hand_over(&client, &made))
            }
            Self::Identities { user, json } => list_identities(&client, &user, json).await,
            Self::Unlink { user, identity } => {
                let path = user_path(&client, &user).await?;
                client.delete(&format!("{path}/identities/{identity}")).await?;
                print::noted("unlinked; the sessions that came by it have ended")
            }
            Self::TakeOver { user, to, notebooks } => take_over(&client, &user, to.as_deref(), &notebooks).await,
        }
    }
}

/// Resets a sign-in without the server, if no administrator can sign in: write access to the data folder is enough.
async fn reset_in_folder(data: &Path, login: Option<&str>, as_json: bool) -> Ended {
    if !data.join(DATABASE_FILE).is_file() {
        return Err(Failure::usage(format!(
            "there is no database in {}: name the data folder of a server",
            data.display()
        )));
    }
    let made = auth::reset_in(data, login, now()).await;
    print_reset(made.map_err(|error| Failure::failed(error.to_string()))?, as_json)
}

#[cfg(feature = "postgres")]
async fn reset_in_store(store: &SecretString, login: Option<&str>, as_json: bool) -> Ended {
    let made = auth::reset_in_store(store.expose_secret(), login, now()).await;
    print_reset(made.map_err(|error| Failure::failed(error.to_string()))?, as_json)
}

#[cfg(not(feature = "postgres"))]
async fn reset_in_store(_: &SecretString, _: Option<&str>, _: bool) -> Ended {
    Err(Failure::usage("this build has no PostgreSQL: build with the default features"))
}

fn print_reset((token, user): (auth::OneTimeToken, store_accounts::User), as_json: bool) -> Ended {
    let text = token.text.reveal();
    let whose = user.login.map_or_else(|| "the first administrator".to_owned(), |login| format!("'{login}'"));
    let remark = format!(
        "a new password for {}: start the server, then open its address with #token=… of this token behind it, or run \
         `notarium login --server ADDRESS --one-time`; shown once, good for a day:",
        print::clean(&whose)
    );
    print::secret(
        &OneTimeToken { token: text.clone(), url: None, expires_at: token.expires_at },
        &text,
        as_json,
        &remark,
    )
}

fn hand_over(client: &RestClient, one_time: &OneTimeToken) -> String {
    let server = client.server();
    let opens =
        one_time.url.as_ref().map(|url| format!("opens {} in a browser, or ", print::clean(url))).unwrap_or_default();
    format!("shown once; the person {opens}runs `notarium login --server {server} --one-time` and gives this token:")
}

async fn all_users(client: &RestClient) -> Result<Vec<User>, Failure> {
    let split = |page: Vec<User>| {
        let next = page.last().map(|user| ("after", user.id.to_string()));
        (page, next)
    };
    client.pages("/api/users", &[], usize::MAX, split).await
}

async fn list_users(users: &[User], as_json: bool) -> Ended {
    print::list(users, as_json, "no accounts", ["id", "login", "name", "made", "remarks"], async |user| {
        let remarks = [(user.is_admin, "administrator"), (user.deactivated_at.is_some(), "deactivated")];
        let remarks: Vec<&str> = remarks.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect();
        let login = user.login.clone().unwrap_or_else(|| "–".to_owned());
        [user.id.to_string(), login, user.name.clone(), print::time(user.created_at), remarks.join(", ")]
    })
    .await
}

/// A person's account, by login or id.
async fn user(client: &RestClient, name: &str) -> Result<User, Failure> {
    let users = all_users(client).await?;
    let found = users.into_iter().find(|user| user.login.as_deref() == Some(name) || user.id.as_str() == name);
    found.ok_or_else(|| Failure::failed(format!("nobody has the login or id '{name}': `notarium user ls` lists all")))
}

async fn user_path(client: &RestClient, name: &str) -> Result<String, Failure> {
    Ok(format!("/api/users/{}", user(client, name).await?.id))
}

async fn set_active(client: &RestClient, name: &str, action: &str) -> Ended {
    let path = user_path(client, name).await?;
    client.send(client.request(Method::POST, &format!("{path}/{action}"))).await?;
    print::noted(format!("{action}d {name}"))
}

async fn set_admin(client: &RestClient, name: &str, is_admin: bool) -> Ended {
    let path = format!("{}/admin", user_path(client, name).await?);
    client.send(client.request(Method::PUT, &path).json(&AdminChange { is_admin })).await?;
    let now = if is_admin { "is an administrator now" } else { "is no administrator any more" };
    print::noted(format!("{name} {now}"))
}

async fn list_identities(client: &RestClient, user: &str, as_json: bool) -> Ended {
    let path = user_path(client, user).await?;
    let identities: Vec<Identity> = client.get(&format!("{path}/identities")).await?;
    let headings = ["identity", "provider", "subject there", "address", "linked"];
    print::list(&identities, as_json, "no sign-ins with a provider", headings, async |identity| {
        let email = identity.email.clone().unwrap_or_else(|| "–".to_owned());
        let (issuer, subject) = (identity.issuer.clone(), identity.subject.clone());
        [identity.id.clone(), issuer, subject, email, print::time(identity.created_at)]
    })
    .await
}

/// Takes over the named notebooks of a person; all if none is named.
async fn take_over(client: &RestClient, name: &str, to: Option<&str>, wanted: &[String]) -> Ended {
    // The account may never have been here: of an imported record.
    let from = match name.strip_prefix("user:") {
        Some(id) => UserId::new(id).map_err(|error| Failure::usage(error.to_string()))?,
        None => user(client, name).await?.id,
    };
    let to = match to {
        Some(to) => Some(user(client, to).await?.id),
        None => None,
    };
    let split = |page: OwnedPage| (page.notebooks, page.next.map(|next| ("cursor", next)));
    let owned = client.pages(&format!("/api/users/{from}/notebooks"), &[], usize::MAX, split).await?;
    let is_named = |wanted: &String, owned: &OwnedNotebook| owned.id.as_str() == wanted || owned.title == *wanted;
    if let Some(wanted) = wanted.iter().find(|wanted| !owned.iter().any(|owned| is_named(wanted, owned))) {
        return Err(Failure::failed(format!("'{name}' owns no notebook of the id or title '{wanted}'")));
    }
    if owned.is_empty() {
        return Err(Failure::failed(format!("'{name}' owns no notebook: there is nothing to take over")));
    }
    let is_chosen = |owned: &&OwnedNotebook| wanted.is_empty() || wanted.iter().any(|wanted| is_named(wanted, owned));
    for notebook in owned.iter().filter(is_chosen) {
        let over = TakeOver { from: from.clone(), to: to.clone() };
        let _: Answer = client.post(&format!("/api/notebooks/{}/take-over", notebook.id), &over).await?;
        print::note(format!("taken over: {}  {}", notebook.id, print::clean(&notebook.title)));
    }
    Ok(())
}
