//! `mcp`: bridge for outside assistants over standard input and output.

use clap::Args;
use notarium_assistant::mcp::{self, BridgeError, BridgeOptions};
use notarium_core::{ASSISTANT_SCOPES, Millis, NotebookId, TokenId};
use notarium_wire::rest::{Covers, IssuedToken, Me, NewApiToken};

use crate::cli::connection::client::RestClient;
use crate::cli::connection::context::ServerAccess;
use crate::cli::connection::find;
use crate::cli::terminal::input::Stop;
use crate::cli::terminal::print;
use crate::cli::terminal::values::after;
use crate::cli::{CommonOptions, Ended, Failure};

/// Lifetime of the token that a connection creates, in case it cannot revoke it.
const TOKEN_LIFE_MS: Millis = 7 * 24 * 60 * 60 * 1_000;

#[derive(Debug, Args)]
#[command(
    after_help = "An MCP server on standard input and output, for assistants that start one. As you are signed in:
  claude mcp add notarium -- notarium mcp
  claude mcp add notarium -- notarium mcp --notebook analysis
It makes a token with the scopes read, edit and run for the assistant, and revokes it when it ends. What the assistant does that
destroys something waits until you confirm it: `notarium confirm`."
)]
pub struct McpArgs {
    /// The only notebook that the assistant reaches: an id or a title.
    #[arg(long, value_name = "NB")]
    notebook: Option<String>,
}

pub async fn mcp(args: McpArgs, context: &CommonOptions) -> Ended {
    let mut stop = Stop::listen();
    let access = context.access()?;
    let client = RestClient::new(access.clone())?;
    let me = client.me().await?;
    let notebook = find::named(&client, args.notebook.as_deref()).await?.map(|notebook| notebook.id);
    let made = if is_for_assistants(&me) { None } else { Some(make_token(&client, &me, notebook.as_ref()).await?) };
    let token = made.as_ref().map_or(access.token.clone(), |made| made.token.clone());
    let options = BridgeOptions { server: access.server.clone(), token, notebook };
    let ended = tokio::select! {
        ended = mcp::bridge(options) => ended.map_err(broken),
        () = stop.asked() => Ok(()),
    };
    if let Some(made) = made {
        revoke(&client, &access, &made.record.id).await;
    }
    ended
}

/// True for a program's token without the right to confirm: it is passed on unchanged.
fn is_for_assistants(me: &Me) -> bool {
    me.kind == "api" && me.scopes.iter().all(|scope| ASSISTANT_SCOPES.contains(scope))
}

async fn make_token(client: &RestClient, me: &Me, notebook: Option<&NotebookId>) -> Result<IssuedToken, Failure> {
    if me.kind != "session" {
        let say = "this token is not one for an assistant, and only a session makes others: use `notarium login`, or pass \
                   a token of a person with the scopes read, edit and run alone (--token)";
        return Err(Failure::failed(say));
    }
    let new = NewApiToken {
        label: "notarium mcp".to_owned(),
        scopes: ASSISTANT_SCOPES.into(),
        covers: Covers { notebooks: notebook.map(|notebook| [notebook.clone()].into()), workspace: None },
        expires_at: Some(after(TOKEN_LIFE_MS)),
    };
    client.post("/api/tokens", &new).await
}

async fn revoke(client: &RestClient, access: &ServerAccess, token: &TokenId) {
    if let Err(failure) = client.delete(&format!("/api/tokens/{token}")).await {
        let server = &access.server;
        print::note(format!("the assistant's token {token} at {server} could not be revoked: {failure}"));
    }
}

fn broken(error: BridgeError) -> Failure {
    match error {
        BridgeError::Lost => Failure::connection(error.to_string()),
        BridgeError::Output(_) => Failure::reader_gone(),
        BridgeError::Client(_) => Failure::failed(error.to_string()),
    }
}
