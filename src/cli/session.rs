//! Signing in and out, and who one is.

use clap::Args;
use notarium_wire::rest::{Me, SignedIn};
use serde_json::{Value, json};

use super::client::Client;
use super::config::Config;
use super::context::{Access, http_address};
use super::narrate::word;
use super::{Context, Ended, Failure, input, print};

/// What the list of sessions calls one of this program.
const LABEL: &str = "notarium login";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium login --server https://notes.example.org            # asks for login and password
  notarium login --server http://127.0.0.1:8787 --token …      # a token that you have: the owner's, of a program, one-time
  notarium login --server https://notes.example.org --one-time # an invitation or a reset: asks for the token and a new password
Without a terminal the password is the first line of standard input.")]
pub struct LoginArgs {
    /// Your login; else it is asked for.
    #[arg(long)]
    login: Option<String>,
    /// The token is asked for: an invitation or a reset, with which you choose a password.
    #[arg(long)]
    one_time: bool,
    /// With an owner's first token: what you are called. Goes with --login.
    #[arg(long, requires = "login")]
    name: Option<String>,
}

pub async fn login(args: LoginArgs, context: &Context) -> Ended {
    let server = match context.known_server()? {
        Some(server) => server,
        None => http_address(&ask("server: ", false).await?)?,
    };
    let token = match (&context.global.token, args.one_time) {
        (_, true) => one_time(&server, &args).await?,
        (Some(token), false) => with_token(&server, token, &args).await?,
        (None, false) => with_password(&server, &args).await?,
    };
    let client = Client::new(Access { server: server.clone(), token: token.clone() })?;
    let me: Me = client.get("/api/me").await?;
    let path = Config { server: Some(server.clone()), token: Some(token) }.save()?;
    let name = print::clean(&me.name);
    print::note(format!("signed in to {server} as {name}; stored in {}", path.display()));
    Ok(())
}

/// A token that was given: kept as it is, or exchanged when it is good for one exchange only.
async fn with_token(server: &str, token: &str, args: &LoginArgs) -> Result<String, Failure> {
    let client = Client::new(Access { server: server.to_owned(), token: token.to_owned() })?;
    match client.get::<Me>("/api/me").await {
        Err(failure) if failure.has_code("one_time_token") => {
            exchange(server, &json!({ "token": token, "label": LABEL, "login": args.login, "name": args.name })).await
        }
        found => found.map(|_| token.to_owned()),
    }
}

async fn with_password(server: &str, args: &LoginArgs) -> Result<String, Failure> {
    let login = match &args.login {
        Some(login) => login.clone(),
        None => ask("login: ", false).await?,
    };
    let password = ask("password: ", true).await?;
    exchange(server, &json!({ "login": login, "password": password, "label": LABEL })).await
}

async fn one_time(server: &str, args: &LoginArgs) -> Result<String, Failure> {
    let token = ask("one-time token: ", true).await?;
    let password = ask("new password (at least 10 characters): ", true).await?;
    if input::is_terminal() && ask("the same again: ", true).await? != password {
        return Err(Failure::usage("the two passwords are not the same: try again"));
    }
    let body = json!({ "token": token, "password": password, "label": LABEL, "login": args.login, "name": args.name });
    exchange(server, &body).await
}

async fn exchange(server: &str, body: &Value) -> Result<String, Failure> {
    let client = Client::new(Access { server: server.to_owned(), token: String::new() })?;
    let session: SignedIn = client.post("/api/session", body).await?;
    if let Some(at) = session.expires_at {
        print::note(format!("the session lasts until {}", print::time(at)));
    }
    Ok(session.token)
}

/// Asks on the terminal, or reads a line of standard input.
async fn ask(prompt: &'static str, is_secret: bool) -> Result<String, Failure> {
    match input::ask(prompt, is_secret).await?.as_str() {
        "" => Err(Failure::usage(format!("nothing was given for '{}'", prompt.trim_end_matches(": ")))),
        line => Ok(line.to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct LogoutArgs {}

/// Ends the session on the server, where there is one to end, and forgets it here.
pub async fn logout(_: LogoutArgs, _: &Context) -> Ended {
    let stored = Config::load()?;
    if stored.token.is_none() {
        print::note("you are not logged in");
        return Ok(());
    }
    let server = stored.server.clone().unwrap_or_default();
    let access = Access { server: http_address(&server)?, token: stored.token.clone().unwrap_or_default() };
    Config { token: None, ..stored }.save()?;
    let client = Client::new(access)?;
    // A token of a program is one that others may use: it is forgotten here, and stays good.
    let me: Result<Me, Failure> = client.get("/api/me").await;
    let is_session = me.as_ref().is_ok_and(|me| me.kind == "session");
    match is_session {
        true => client.delete("/api/session").await?,
        false => print::note("the token is forgotten here; `notarium token revoke` ends it"),
    }
    print::note(format!("signed out of {server}"));
    Ok(())
}

#[derive(Debug, Args)]
pub struct WhoamiArgs {
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn whoami(args: WhoamiArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let me: Me = client.get("/api/me").await?;
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
