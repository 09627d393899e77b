//! `login`, `logout`, `whoami` and `link`: sessions here and in a browser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use notarium_core::NotebookId;
use notarium_wire::rest::{Me, OidcOption, OneTimeToken, OneTimeUse, SignInOptions, SignedIn};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::cli::connection::client::RestClient;
use crate::cli::connection::context::{Config, ServerAccess, http_address};
use crate::cli::connection::find;
use crate::cli::terminal::values::word;
use crate::cli::terminal::{input, print};
use crate::cli::{CommonOptions, Ended, Failure, JsonArgs, NoArgs};

/// Label of this program's sessions.
const LABEL: &str = "notarium login";
/// Reuse of a fresh sign-in; slightly shorter than the server's 15 minutes.
const KEPT: Duration = Duration::from_secs(14 * 60 + 30);
/// Label of sessions after asking for the password again.
const FRESH_LABEL: &str = "notarium, password asked";
const ATTEMPTS: u32 = 3;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium login --server https://notes.example.org            # asks for login and password
  notarium login --server http://127.0.0.1:8787 --token-file - # a token that you have: the owner's, of a program, one-time
  notarium login --server https://notes.example.org --one-time # an invitation or a reset: asks for the token and a new password
Without a terminal the password is the first line of standard input.")]
pub struct LoginArgs {
    /// Your login; else it is asked for.
    #[arg(long)]
    login: Option<String>,
    /// The token is asked for: an invitation or a reset, with which you choose a password.
    #[arg(long)]
    one_time: bool,
    /// With an owner's first token: what you are called; else as your login. Goes with --login.
    #[arg(long, requires = "login")]
    name: Option<String>,
    /// Replace the stored session of another account on this server without asking.
    #[arg(long)]
    replace: bool,
}

pub async fn login(args: LoginArgs, context: &CommonOptions) -> Ended {
    let server = match context.known_server()? {
        Some(server) => server,
        None => http_address(&ask("server: ", false).await?)?,
    };
    let stored = if args.replace { None } else { signed_in(&server).await? };
    let token = match (&context.token, args.one_time) {
        (_, true) => one_time(&server, &args, stored).await?,
        (Some(token), false) => with_token(&server, token, &args, stored).await?,
        (None, false) => with_password(&server, &args, stored).await?,
    };
    let client = RestClient::new(ServerAccess { server: server.clone(), token: token.clone() })?;
    let me = client.me().await?;
    let path = Config { server: Some(server.clone()), token: Some(token), ..Config::load()? }.save()?;
    let name = print::clean(&me.name);
    print::noted(format!("signed in to {server} as {name}; stored in {}", path.display()))
}

/// The user of the stored token on this server; `None` if the token is for another server or no longer valid.
async fn signed_in(server: &str) -> Result<Option<Me>, Failure> {
    let Some(token) = Config::load()?.token_for(server)? else { return Ok(None) };
    let client = RestClient::new(ServerAccess { server: server.to_owned(), token })?;
    Ok(client.me().await.ok())
}

/// Asks before another user replaces the one who is signed in, and before a one-time token is used up.
async fn may_replace(server: &str, stored: Option<Me>, is_same: impl Fn(&Me) -> bool) -> Ended {
    let Some(me) = stored.filter(|me| !is_same(me)) else { return Ok(()) };
    let name = print::clean(&me.name);
    let keep = "set NOTARIUM_CONFIG to another file to keep both";
    if !input::is_terminal() {
        let message =
            format!("you are signed in to {server} as {name}: add --replace to sign in as somebody else, or {keep}");
        return Err(Failure::usage(message));
    }
    print::note(format!("you are signed in to {server} as {name}, and this may be somebody else ({keep})"));
    match input::agrees("replace that session?").await? {
        true => Ok(()),
        false => Err(Failure::failed(format!("nothing was changed: you are signed in as {name}"))),
    }
}

/// Signs in with a given token: stores it, or exchanges it if it is a one-time token.
async fn with_token(server: &str, token: &str, args: &LoginArgs, stored: Option<Me>) -> Result<String, Failure> {
    let client = RestClient::new(ServerAccess { server: server.to_owned(), token: token.to_owned() })?;
    let found = client.me().await;
    may_replace(server, stored, |me| found.as_ref().is_ok_and(|found| found.actor == me.actor)).await?;
    match found {
        Err(failure) if failure.has_code("one_time_token") => exchange_one_time(server, token, args).await,
        found => found.map(|_| token.to_owned()),
    }
}

async fn with_password(server: &str, args: &LoginArgs, stored: Option<Me>) -> Result<String, Failure> {
    let login = match &args.login {
        Some(login) => login.clone(),
        None => {
            tell_of_provider(server).await?;
            ask("login: ", false).await?
        }
    };
    let is_same =
        |me: &Me| me.user.as_ref().and_then(|user| user.login.as_ref()).is_some_and(|own| *own == login.to_lowercase());
    may_replace(server, stored, is_same).await?;
    let password = ask("password: ", true).await?;
    exchange(server, &json!({ "login": login, "password": password, "label": LABEL })).await
}

fn stranger(server: &str) -> Result<RestClient, Failure> {
    RestClient::new(ServerAccess { server: server.to_owned(), token: String::new() })
}

/// The server's OpenID Connect provider; `None` also for an older server without this request.
async fn provider(server: &str) -> Result<Option<OidcOption>, Failure> {
    let options: Option<SignInOptions> = stranger(server)?.get("/api/session/options").await.ok();
    Ok(options.and_then(|options| options.oidc))
}

/// Explains how to sign in with a provider, which works only on the page.
async fn tell_of_provider(server: &str) -> Ended {
    if let Some(oidc) = provider(server).await? {
        let (name, origin) = (print::clean(&oidc.name), print::clean(&oidc.origin));
        print::note(format!(
            "with {name} you sign in on the page: open {origin}, then Account, \"Token for the command line\", and give it to\n  \
             notarium login --server {server} --token …\nor sign in with a login and password of this server here"
        ));
    }
    Ok(())
}

async fn one_time(server: &str, args: &LoginArgs, stored: Option<Me>) -> Result<String, Failure> {
    // The token's user is unknown until it is used up.
    may_replace(server, stored, |_| false).await?;
    let token = ask("one-time token: ", true).await?;
    exchange_one_time(server, &token, args).await
}

/// Asks for the inputs of the token's exchange: a password, and a login and a name if the person has none.
async fn exchange_one_time(server: &str, token: &str, args: &LoginArgs) -> Result<String, Failure> {
    let needs: OneTimeUse = stranger(server)?.post("/api/session/one-time", &json!({ "token": token })).await?;
    let login = match &args.login {
        None if needs.needs_login => Some(ask("choose your login: ", false).await?),
        login => login.clone(),
    };
    let name = args.name.clone().or_else(|| login.clone());
    let password = if needs.needs_password { Some(new_password().await?) } else { None };
    let body = json!({ "token": token, "password": password, "label": LABEL, "login": login, "name": name });
    exchange(server, &body).await
}

async fn new_password() -> Result<String, Failure> {
    let password = ask("new password (at least 10 characters): ", true).await?;
    if input::is_terminal() && ask("the same again: ", true).await? != password {
        return Err(Failure::usage("the two passwords are not the same: try again"));
    }
    Ok(password)
}

async fn exchange(server: &str, body: &Value) -> Result<String, Failure> {
    let session: SignedIn = stranger(server)?.post("/api/session", body).await?;
    if let Some(at) = session.expires_at {
        print::note(format!("the session lasts until {}", print::time(at)));
    }
    Ok(session.token)
}

/// Asks on the terminal, or reads a line of standard input.
async fn ask(prompt: &str, is_secret: bool) -> Result<String, Failure> {
    match input::ask(prompt, is_secret).await?.as_str() {
        "" => Err(Failure::usage(format!("nothing was given for '{}'", prompt.trim_end_matches(": ")))),
        line => Ok(line.to_owned()),
    }
}

/// Ends the session on the server, if there is one, and deletes it here.
pub async fn logout(_: NoArgs, _: &CommonOptions) -> Ended {
    let stored = Config::load()?;
    if stored.token.is_none() {
        return print::noted("you are not logged in");
    }
    let server = stored.server.clone().unwrap_or_default();
    let access = ServerAccess { server: http_address(&server)?, token: stored.token.clone().unwrap_or_default() };
    Config { token: None, ..stored }.save()?;
    let client = RestClient::new(access)?;
    // A program's token may be in use elsewhere: it is deleted here but stays valid.
    let me = client.me().await;
    let is_session = me.as_ref().is_ok_and(|me| me.kind == "session");
    match is_session {
        true => client.delete("/api/session").await?,
        false => print::note("the token is forgotten here; `notarium token revoke` ends it"),
    }
    print::noted(format!("signed out of {server}"))
}

pub async fn whoami(args: JsonArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    let me = client.me().await?;
    if args.json {
        return print::json(&me);
    }
    let scopes: Vec<String> = me.scopes.iter().map(word).collect();
    print::line(format!("{} at {}", print::clean(&me.name), client.server()))?;
    if let Some(login) = me.user.and_then(|user| user.login) {
        print::line(format!("login   {}", print::clean(&login)))?;
    }
    print::line(format!("token   {} ({})", me.token_id, print::clean(&me.kind)))?;
    print::line(format!("scopes  {}", scopes.join(" ")))?;
    print::line(format!("until   {}", print::optional_time(me.expires_at)))
}

// --- fresh sign-in, if stored sessions cannot confirm ---

/// The session of a fresh sign-in, only in this process's memory.
#[derive(Debug, Clone, Default)]
pub struct FreshSession(Arc<Mutex<Option<(String, Instant)>>>);

impl FreshSession {
    /// The token of a fresh sign-in; `None`: the server needs none, so the refusal has another reason.
    pub async fn token(&self, client: &RestClient) -> Result<Option<String>, Failure> {
        let mut kept = self.0.lock().await;
        if let Some((token, _)) = kept.as_ref().filter(|(_, since)| since.elapsed() < KEPT) {
            return Ok(Some(token.clone()));
        }
        let me = client.me().await?;
        if !me.asks_again {
            return Ok(None);
        }
        let token = sign_in_again(client.server(), &me).await?;
        *kept = Some((token.clone(), Instant::now()));
        Ok(Some(token))
    }
}

/// An error with advice for a user without a password: a provider can ask only on the page.
async fn without_password(server: &str) -> Result<String, Failure> {
    Err(Failure::failed(match provider(server).await? {
        Some(oidc) => format!(
            "this asks for your password, and you have none: do it on the page ({}), where you sign in with {} again",
            print::clean(&oidc.origin),
            print::clean(&oidc.name)
        ),
        None => "this asks for your password, and you have none: restart `notarium up` at a terminal, which says how to choose \
                 one, or ask an administrator for a reset (`notarium user reset`)"
            .to_owned(),
    }))
}

async fn sign_in_again(server: &str, me: &Me) -> Result<String, Failure> {
    let login = me.user.as_ref().filter(|user| user.has_password).and_then(|user| user.login.as_ref());
    let Some(login) = login else { return without_password(server).await };
    if !input::is_terminal() {
        return Err(Failure::failed("this asks for your password: do it at a terminal, or on the page"));
    }
    let stranger = stranger(server)?;
    let mut attempt = 1;
    loop {
        print::note(format!(
            "this server asks {} for the password again (it then holds for 15 minutes here)",
            print::clean(login)
        ));
        let password = input::ask("password: ", true).await?;
        let body = json!({ "login": login, "password": password, "label": FRESH_LABEL, "fresh": true });
        match stranger.post::<SignedIn>("/api/session", &body).await {
            Ok(session) => return Ok(session.token),
            Err(failure) if attempt < ATTEMPTS && failure.has_code("wrong_password") => print::note(&failure.message),
            Err(failure) => return Err(failure),
        }
        attempt += 1;
    }
}

// --- a browser ---

#[derive(Debug, Args)]
#[command(
    after_help = "The link is good for one browser, once, within an hour, and ends when another is made. The browser then has a session of its own: \
other tabs and the next day need no link."
)]
pub struct LinkArgs {
    /// The notebook to open: its id, or its title. Else the list of notebooks.
    notebook: Option<String>,
}

pub async fn link(args: LinkArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    let notebook = find::named(&client, args.notebook.as_deref()).await?;
    let made: OneTimeToken = client.json(client.request(Method::POST, "/api/session/link")).await?;
    print::line(link_to(client.server(), &made.token, notebook.as_ref().map(|notebook| &notebook.id)))?;
    print::noted(format!("it opens one browser, once, until {}", print::optional_time(made.expires_at)))
}

/// The link to sign in a browser. The part after the # is not sent, and the page removes it from the address.
pub fn link_to(server: &str, token: &str, notebook: Option<&NotebookId>) -> String {
    let place = notebook.map(|notebook| format!("&notebook={notebook}")).unwrap_or_default();
    format!("{server}/#token={token}{place}")
}
