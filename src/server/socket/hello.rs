//! Who a connection belongs to, and what it is told first.

use notarium_core::{Actor, Door};
use notarium_wire::{ErrorCode, ErrorMessage, ServerMessage, WORKING_FILES, WelcomeMessage};

use super::follow::Follow;
use super::parse::fatal;
use crate::agent_locks::AgentLock;
use crate::app::App;
use crate::auth::{AuthError, Authenticated};

/// Longest name of a runtime agent's process.
const MAX_INSTANCE_BYTES: usize = 64;

/// Of a runtime agent: the right to be its one connection.
pub fn agent_lock(
    app: &App,
    authenticated: &Authenticated,
    instance: Option<String>,
) -> Result<Option<AgentLock>, ErrorMessage> {
    let Actor::Agent { id } = &authenticated.actor else { return Ok(None) };
    if instance.as_ref().is_some_and(|name| name.is_empty() || name.len() > MAX_INSTANCE_BYTES) {
        let message = format!("hello.instance has 1 to {MAX_INSTANCE_BYTES} characters: choose another");
        return Err(fatal(ErrorCode::Malformed, message));
    }
    let taken = "another process is connected as this agent: stop it, or give this one a token of its own \
                 (`notarium agent-token`)";
    app.agent_locks.take(id, instance).map(Some).ok_or_else(|| fatal(ErrorCode::AgentConnected, taken))
}

/// Authenticates a token and follows it.
pub async fn let_in(app: &App, token: Option<String>, door: Door) -> Result<(Authenticated, Follow), AuthError> {
    let token = token.ok_or(AuthError::Missing)?;
    let mut authenticated = app.accounts.authenticate(&token).await?;
    authenticated.door = door;
    let follow = Follow::new(&app.accounts, &authenticated).await?;
    Ok((authenticated, follow))
}

/// The words for a token that is good for nothing (any more).
pub fn refusal(error: &AuthError) -> ErrorMessage {
    let code = match error {
        AuthError::TooManyAttempts { .. } => ErrorCode::TooManyRequests,
        AuthError::Accounts(_) => ErrorCode::Unavailable,
        _ => ErrorCode::Unauthenticated,
    };
    if code == ErrorCode::Unavailable {
        tracing::error!(%error, "accounts not read");
        return fatal(code, "the server could not read its accounts: reconnect with backoff");
    }
    let message = match error {
        AuthError::Missing => "hello needs a token, or the subprotocol notarium.bearer.<token>".to_owned(),
        other => other.to_string(),
    };
    fatal(code, message)
}

fn features(app: &App) -> Vec<String> {
    let features =
        app.has_assistants.then_some("assistants").into_iter().chain(["kernel_questions", "comms", WORKING_FILES]);
    features.map(str::to_owned).collect()
}

/// The answer to `hello`.
pub fn welcome(app: &App, authenticated: &Authenticated, connection: &str, protocol: u32) -> ServerMessage {
    ServerMessage::Welcome(WelcomeMessage {
        protocol,
        server: concat!("notarium/", env!("CARGO_PKG_VERSION")).to_owned(),
        connection: connection.to_owned(),
        actor: authenticated.actor.clone(),
        scopes: authenticated.scopes.iter().copied().collect(),
        expires_at: authenticated.expires_at,
        max_frame_bytes: app.limits.max_frame_bytes as u64,
        heartbeat_ms: u64::try_from(app.limits.heartbeat.as_millis()).unwrap_or(u64::MAX),
        features: features(app),
    })
}
