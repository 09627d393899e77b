//! Handshake of the protocol: authentication by `hello`, and the `welcome`.

use notarium_core::{Actor, Door};
use notarium_wire::{
    CONNECTION_SCHEMAS, ErrorCode, ErrorMessage, KERNEL_FORMAT, KERNEL_TABLES, ServerMessage, WORKING_FILE_CHANGES,
    WORKING_FILES, WelcomeMessage,
};

use super::parse::fatal;
use crate::agents::locks::AgentLock;
use crate::app::App;
use crate::auth::following::Follow;
use crate::auth::{Accounts, AuthError, Authenticated};
use crate::limits::clock::millis;

/// Longest `hello.instance` of a runtime agent's process, in bytes.
const MAX_INSTANCE_BYTES: usize = 64;
const MAX_GUEST_NAME_CHARS: usize = 40;

/// Takes the lock of a runtime agent: one connection per agent. `None` for other actors.
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

/// An authenticated client, with its chosen name.
pub struct Named {
    pub authenticated: Authenticated,
    /// Name that a guest chose; ignored for other actors.
    pub chosen_name: Option<String>,
}

impl Named {
    pub fn new(authenticated: Authenticated, name: Option<String>) -> Result<Self, ErrorMessage> {
        let is_guest = matches!(authenticated.actor, Actor::Guest { .. });
        let chosen_name = name.filter(|_| is_guest).map(|name| name.trim().to_owned());
        if chosen_name.as_deref().is_some_and(|name| !is_good(name)) {
            let message = format!("hello.name has 1 to {MAX_GUEST_NAME_CHARS} characters on one line: choose another");
            return Err(fatal(ErrorCode::Malformed, message));
        }
        Ok(Self { authenticated: called(authenticated, chosen_name.as_deref()), chosen_name })
    }

    /// Stores the guest's chosen name, which is shown with the guest's changes too.
    pub fn tell(&self, accounts: &Accounts) {
        if let (Actor::Guest { share_link }, Some(name)) = (&self.authenticated.actor, &self.chosen_name) {
            accounts.guest_says(share_link, name);
        }
    }
}

/// True if the name has a valid length, and no line breaks or characters that change the direction of text.
fn is_good(name: &str) -> bool {
    let is_unseen = |character: char| {
        character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    (1..=MAX_GUEST_NAME_CHARS).contains(&name.chars().count()) && !name.chars().any(is_unseen)
}

/// Adds the chosen name. The link's label stays visible, so that a guest cannot pose as another person.
pub fn called(mut authenticated: Authenticated, chosen_name: Option<&str>) -> Authenticated {
    if let Some(chosen) = chosen_name {
        authenticated.name = format!("{chosen} ({})", authenticated.name);
    }
    authenticated
}

/// Authenticates a token and follows it.
pub async fn let_in(app: &App, token: Option<String>, door: Door) -> Result<(Authenticated, Follow), AuthError> {
    let token = token.ok_or(AuthError::Missing)?;
    let mut authenticated = app.accounts.authenticate(&token).await?;
    authenticated.door = door;
    let follow = Follow::new(&app.accounts, &authenticated).await?;
    Ok((authenticated, follow))
}

/// Error message for a refused token.
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
    let files = [WORKING_FILES, WORKING_FILE_CHANGES];
    let kernels = [CONNECTION_SCHEMAS, KERNEL_TABLES, KERNEL_FORMAT];
    let always = ["kernel_questions", "comms"].into_iter().chain(files).chain(kernels);
    let features = app.assistants.are_here.then_some("assistants").into_iter().chain(always);
    features.map(str::to_owned).collect()
}

/// Reply to `hello`.
pub fn welcome(app: &App, authenticated: &Authenticated, connection: &str, protocol: u32) -> ServerMessage {
    ServerMessage::Welcome(WelcomeMessage {
        protocol,
        server: concat!("notarium/", env!("CARGO_PKG_VERSION")).to_owned(),
        connection: connection.to_owned(),
        actor: authenticated.actor.clone(),
        scopes: authenticated.scopes.iter().copied().collect(),
        expires_at: authenticated.expires_at,
        max_frame_bytes: app.limits.max_frame_bytes as u64,
        heartbeat_ms: millis(app.limits.heartbeat_of(&authenticated.actor).ping),
        features: features(app),
    })
}
