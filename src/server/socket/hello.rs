//! Messages of a connection: parsing, errors that say what was expected, authentication by `hello`, and the `welcome`.

use std::collections::BTreeMap;

use notarium_core::{Actor, Door, RejectionDetails, attachments};
use notarium_wire::{
    AGENT_MACHINES, CONNECTION_SCHEMAS, ClientMessage, ErrorCode, ErrorMessage, KERNEL_EFFECTS, KERNEL_ENVIRONMENTS,
    KERNEL_FORMAT, KERNEL_TABLES, SendLimits, ServerMessage, WORKING_FILE_CHANGES, WORKING_FILES, WelcomeMessage,
};
use serde::de::IgnoredAny;

use crate::agents::AgentLock;
use crate::app::App;
use crate::auth::{Accounts, AuthError, Authenticated, Follow};
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
    let details = error.retry_after_seconds().map(|seconds| Box::new(RejectionDetails::RetryAfter { seconds }));
    ErrorMessage { details, ..fatal(code, message) }
}

fn features(app: &App) -> Vec<String> {
    let files = [WORKING_FILES, WORKING_FILE_CHANGES];
    let kernels =
        [CONNECTION_SCHEMAS, KERNEL_TABLES, KERNEL_FORMAT, KERNEL_EFFECTS, AGENT_MACHINES, KERNEL_ENVIRONMENTS];
    let always = ["kernel_questions", "comms"].into_iter().chain(files).chain(kernels);
    let features = app.assistants.are_here.then_some("assistants").into_iter().chain(always);
    features.map(str::to_owned).collect()
}

fn limits(app: &App) -> SendLimits {
    let (server, core) = (&app.limits, app.notebooks.rooms.limits());
    SendLimits {
        max_source_bytes: core.max_source_bytes as u64,
        max_metadata_bytes: core.max_metadata_bytes as u64,
        max_attachments_bytes: core.max_attachments_bytes as u64,
        max_title_characters: core.max_title_characters as u64,
        max_cells: core.max_cells as u64,
        max_batch_commands: core.max_batch_commands as u64,
        max_input_bytes: core.max_input_bytes as u64,
        max_message_bytes: core.max_message_bytes as u64,
        max_question_attachments: attachments::MAX_ATTACHMENTS as u64,
        max_picture_bytes: attachments::MAX_PICTURE_BYTES,
        max_attached_text_bytes: attachments::MAX_ATTACHED_TEXT_BYTES,
        max_output_bytes_per_report: core.max_output_bytes_per_report as u64,
        max_blob_bytes: server.max_blob_bytes as u64,
        max_request_bytes: server.max_request_bytes as u64,
        max_import_bytes: server.max_import_bytes as u64,
        max_working_file_bytes: server.max_working_file_bytes,
    }
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
        limits: Some(limits(app)),
    })
}

/// Names of all client messages.
const NAMES: [&str; 18] = [
    "hello",
    "refresh",
    "subscribe",
    "unsubscribe",
    "command",
    "check",
    "presence",
    "ask_kernel",
    "follow_comms",
    "send_comm",
    "offer",
    "machine_load",
    "kernel_status",
    "kernel_use",
    "comms",
    "comm",
    "answer_question",
    "answer_file",
];

/// Parses one message.
pub fn parse(text: &str) -> Result<ClientMessage, ErrorMessage> {
    serde_json::from_str(text).map_err(|error| explain(text, &error))
}

fn explain(text: &str, error: &serde_json::Error) -> ErrorMessage {
    match serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text) {
        Ok(fields) if fields.len() == 1 => {
            let name = fields.into_keys().next().unwrap_or_default();
            if NAMES.contains(&name.as_str()) {
                return problem(ErrorCode::Malformed, format!("'{name}' is not of its shape: {error}"));
            }
            let name: String = name.chars().take(80).collect();
            let names = NAMES.join(", ");
            problem(ErrorCode::UnknownMessage, format!("there is no message '{name}': use one of {names}"))
        }
        _ => {
            problem(ErrorCode::Malformed, format!("a frame is a JSON object with one key, its message's name: {error}"))
        }
    }
}

/// An error that leaves the connection open.
pub fn problem(code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage { code, message: message.into(), notebook: None, protocols: None, details: None, fatal: false }
}

/// An error after which the server closes the connection.
pub fn fatal(code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage { fatal: true, ..problem(code, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (ErrorCode, String) {
        let error = parse(text).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn every_name_is_one_that_the_wire_knows() {
        let (_, wire) = refused(r#"{"no_such_message":{}}"#);
        for name in NAMES {
            assert!(wire.contains(name), "{name}");
            let error = serde_json::from_str::<ClientMessage>(&format!("{{\"{name}\":7}}")).unwrap_err().to_string();
            assert!(!error.contains("unknown variant"), "{name}: {error}");
        }
        let all = serde_json::from_str::<ClientMessage>("{\"x\":7}").unwrap_err().to_string();
        assert_eq!(
            all.matches('`').count(),
            2 * (NAMES.len() + 1),
            "the wire has a message that is missing here: {all}"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(refused("{").0, ErrorCode::Malformed);
        assert_eq!(refused("[1]").0, ErrorCode::Malformed);
        assert_eq!(refused(r#"{"sudo":{}}"#).0, ErrorCode::UnknownMessage);
        let (code, message) = refused(r#"{"unsubscribe":{"notebook":"n","extra":1}}"#);
        assert_eq!(code, ErrorCode::Malformed);
        assert!(message.contains("extra"), "{message}");
        let (_, message) = refused(r#"{"subscribe":{"notebook":"no spaces allowed"}}"#);
        assert!(message.contains("is not an id"), "{message}");
    }
}
