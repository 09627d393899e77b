//! Conversion between rows and account records. A row that this program cannot have written is a decoding error.

use notarium_record::{NotebookId, Role, Scopes, UserId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::tables::{Read, RowColumns};
use super::{
    AuditEntry, AuditRecord, Coverage, FailedDelivery, Identity, Membership, NewAddress, NoticeChoice, NoticeDelivery,
    NoticePerson, ShareLink, SigningKey, StoredNotice, StoredWebhook, Token, TokenHolder, TokenKind, TokenScopes, User,
    Workspace,
};

fn decode(error: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// Serialises a value that is stored as JSON: scopes, coverage, roles.
pub(super) fn json(value: &impl Serialize) -> Read<String> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

fn id<T: std::str::FromStr<Err = notarium_record::InvalidId>>(row: &dyn RowColumns, column: &str) -> Read<T> {
    row.text(column)?.parse().map_err(decode)
}

fn optional_id<T: std::str::FromStr<Err = notarium_record::InvalidId>>(
    row: &dyn RowColumns,
    column: &str,
) -> Read<Option<T>> {
    row.optional_text(column)?.map(|text| text.parse()).transpose().map_err(decode)
}

fn from_json<T: DeserializeOwned>(row: &dyn RowColumns, column: &str) -> Read<T> {
    serde_json::from_str(&row.text(column)?).map_err(decode)
}

fn hash(row: &dyn RowColumns) -> Read<[u8; 32]> {
    row.bytes("secret_hash")?.try_into().map_err(|_| decode("a hash has 32 bytes"))
}

pub(super) fn user(row: &dyn RowColumns) -> Read<User> {
    Ok(User {
        id: id(row, "id")?,
        name: row.text("name")?,
        login: row.optional_text("login")?,
        password_hash: row.optional_text("password_hash")?,
        is_admin: row.flag("is_admin")?,
        created_at: row.number("created_at")?,
        deactivated_at: row.optional_number("deactivated_at")?,
    })
}

pub(super) fn identity(row: &dyn RowColumns) -> Read<Identity> {
    Ok(Identity {
        id: row.text("id")?,
        user_id: id(row, "user_id")?,
        issuer: row.text("issuer")?,
        subject: row.text("subject")?,
        email: row.optional_text("email")?,
        created_at: row.number("created_at")?,
    })
}

fn holder(row: &dyn RowColumns) -> Read<TokenHolder> {
    match optional_id(row, "agent_id")? {
        Some(agent) => Ok(TokenHolder::Agent(agent)),
        None => Ok(TokenHolder::User(id(row, "user_id")?)),
    }
}

/// Drops scopes that the kind may not hold, so that a manipulated row gives an agent no rights of people.
fn scopes(row: &dyn RowColumns) -> Read<TokenScopes> {
    let kind = row.text("kind")?;
    let kind = TokenKind::parse(&kind).ok_or_else(|| decode(format!("unknown kind of token: {kind}")))?;
    Ok(TokenScopes::allowed_of(kind, from_json::<Scopes>(row, "scopes")?))
}

pub(super) fn token(row: &dyn RowColumns) -> Read<Token> {
    Ok(Token {
        id: id(row, "id")?,
        holder: holder(row)?,
        created_by: id(row, "created_by")?,
        secret_hash: hash(row)?,
        scopes: scopes(row)?,
        coverage: from_json::<Coverage>(row, "coverage")?,
        label: row.text("label")?,
        created_at: row.number("created_at")?,
        expires_at: row.optional_number("expires_at")?,
        last_used_at: row.optional_number("last_used_at")?,
        revoked_at: row.optional_number("revoked_at")?,
        identity: row.optional_text("identity")?,
    })
}

pub(super) fn workspace(row: &dyn RowColumns) -> Read<Workspace> {
    Ok(Workspace { id: id(row, "id")?, name: row.text("name")?, created_at: row.number("created_at")? })
}

pub(super) fn membership(row: &dyn RowColumns) -> Read<Membership> {
    Ok(Membership {
        workspace_id: id(row, "workspace_id")?,
        user_id: id(row, "user_id")?,
        role: from_json::<Role>(row, "role")?,
        from_group: row.optional_text("from_group")?,
    })
}

pub(super) fn admin_group(row: &dyn RowColumns) -> Read<Option<String>> {
    row.optional_text("admin_from_group")
}

pub(super) fn one_time_value(row: &dyn RowColumns) -> Read<String> {
    row.text("value")
}

pub(super) fn placement(row: &dyn RowColumns) -> Read<(NotebookId, notarium_record::WorkspaceId)> {
    Ok((id(row, "notebook_id")?, id(row, "workspace_id")?))
}

pub(super) fn share_link(row: &dyn RowColumns) -> Read<ShareLink> {
    Ok(ShareLink {
        id: id(row, "id")?,
        notebook_id: id(row, "notebook_id")?,
        role: from_json::<Role>(row, "role")?,
        secret_hash: hash(row)?,
        label: row.text("label")?,
        created_by: id(row, "created_by")?,
        created_at: row.number("created_at")?,
        expires_at: row.optional_number("expires_at")?,
        revoked_at: row.optional_number("revoked_at")?,
    })
}

pub(super) fn signing_key(row: &dyn RowColumns) -> Read<SigningKey> {
    let public_key = row.bytes("public_key")?;
    let public_key = public_key.try_into().map_err(|_| decode("an Ed25519 key has 32 bytes"))?;
    Ok(SigningKey { name: row.text("name")?, public_key, since: row.number("since")? })
}

pub(super) fn audit(row: &dyn RowColumns) -> Read<AuditRecord> {
    let entry = AuditEntry {
        at: row.number("at")?,
        actor: row.text("actor")?,
        action: row.text("action")?,
        subject: row.text("subject")?,
    };
    Ok(AuditRecord { number: row.number("number")?, entry })
}

// --- notices ---

pub(super) fn user_id(row: &dyn RowColumns) -> Read<UserId> {
    id(row, "user_id")
}

pub(super) fn notebook_id(row: &dyn RowColumns) -> Read<NotebookId> {
    id(row, "id")
}

pub(super) fn notice(row: &dyn RowColumns) -> Read<StoredNotice> {
    let notebook = optional_id(row, "notebook")?;
    Ok(StoredNotice {
        user: id(row, "user_id")?,
        id: row.text("id")?,
        place: notebook.zip(row.optional_number("version")?),
        subject: row.text("subject")?,
        kind: row.text("kind")?,
        at: row.number("at")?,
        in_inbox: row.flag("in_inbox")?,
        read_at: row.optional_number("read_at")?,
        settled_at: row.optional_number("settled_at")?,
    })
}

pub(super) fn notice_choice(row: &dyn RowColumns) -> Read<NoticeChoice> {
    Ok(NoticeChoice { topic: row.text("topic")?, channel: row.text("channel")?, is_on: row.flag("is_on")? })
}

pub(super) fn notice_person(row: &dyn RowColumns) -> Read<NoticePerson> {
    let code_expires_at = row.optional_number("code_expires_at")?;
    let new_address = match (row.optional_text("new_address")?, code_expires_at) {
        (Some(address), Some(expires_at)) => {
            let (code_hash, attempts) = (row.bytes("code_hash")?, row.number("code_attempts")?);
            Some(NewAddress { address, code_hash, expires_at, attempts })
        }
        _ => None,
    };
    let long_run_seconds = row.optional_number("long_run_seconds")?;
    Ok(NoticePerson { address: row.optional_text("address")?, new_address, code_expires_at, long_run_seconds })
}

pub(super) fn webhook(row: &dyn RowColumns) -> Read<StoredWebhook> {
    Ok(StoredWebhook {
        id: row.text("id")?,
        user: id(row, "user_id")?,
        url: row.text("url")?,
        label: row.text("label")?,
        secrets: from_json(row, "secrets")?,
        created_at: row.number("created_at")?,
        tried_at: row.optional_number("tried_at")?,
        problem: row.optional_text("problem")?,
    })
}

pub(super) fn delivery(row: &dyn RowColumns) -> Read<NoticeDelivery> {
    Ok(NoticeDelivery {
        user: id(row, "user_id")?,
        notice_id: row.text("notice_id")?,
        channel: row.text("channel")?,
        created_at: row.number("created_at")?,
        due_at: row.number("due_at")?,
        attempts: row.number("attempts")?,
        batch: row.optional_text("batch")?,
    })
}

pub(super) fn failed_delivery(row: &dyn RowColumns) -> Read<FailedDelivery> {
    Ok(FailedDelivery {
        notice_id: row.text("notice_id")?,
        channel: row.text("channel")?,
        at: row.number("ended_at")?,
        problem: row.optional_text("problem")?.unwrap_or_default(),
    })
}
