//! Conversion between rows and account records. A row that this program cannot have written is a decoding error.

use notarium_record::{Role, Scopes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{
    AuditEntry, AuditRecord, Coverage, Identity, Membership, ShareLink, SigningKey, Token, TokenHolder, TokenKind,
    TokenScopes, User, Workspace,
};

pub(super) type Read<T> = Result<T, sqlx::Error>;

fn decode(error: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// Converts a time or number, which is below 2^53.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Serialises a value that is stored as JSON: scopes, coverage, roles.
pub(super) fn json(value: &impl Serialize) -> Read<String> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

fn id<T: std::str::FromStr<Err = notarium_record::InvalidId>>(row: &SqliteRow, column: &str) -> Read<T> {
    row.try_get::<&str, _>(column)?.parse().map_err(decode)
}

fn optional_id<T: std::str::FromStr<Err = notarium_record::InvalidId>>(
    row: &SqliteRow,
    column: &str,
) -> Read<Option<T>> {
    row.try_get::<Option<&str>, _>(column)?.map(str::parse).transpose().map_err(decode)
}

fn from_json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Read<T> {
    serde_json::from_str(row.try_get(column)?).map_err(decode)
}

fn hash(row: &SqliteRow) -> Read<[u8; 32]> {
    row.try_get::<&[u8], _>("secret_hash")?.try_into().map_err(decode)
}

pub(super) fn user(row: &SqliteRow) -> Read<User> {
    Ok(User {
        id: id(row, "id")?,
        name: row.try_get("name")?,
        login: row.try_get("login")?,
        password_hash: row.try_get("password_hash")?,
        is_admin: row.try_get("is_admin")?,
        created_at: row.try_get("created_at")?,
        deactivated_at: row.try_get("deactivated_at")?,
    })
}

pub(super) fn identity(row: &SqliteRow) -> Read<Identity> {
    Ok(Identity {
        id: row.try_get("id")?,
        user_id: id(row, "user_id")?,
        issuer: row.try_get("issuer")?,
        subject: row.try_get("subject")?,
        email: row.try_get("email")?,
        created_at: row.try_get("created_at")?,
    })
}

fn holder(row: &SqliteRow) -> Read<TokenHolder> {
    match optional_id(row, "agent_id")? {
        Some(agent) => Ok(TokenHolder::Agent(agent)),
        None => Ok(TokenHolder::User(id(row, "user_id")?)),
    }
}

/// Drops scopes that the kind may not hold, so that a manipulated row gives an agent no rights of people.
fn scopes(row: &SqliteRow) -> Read<TokenScopes> {
    let kind: &str = row.try_get("kind")?;
    let kind = TokenKind::parse(kind).ok_or_else(|| decode(format!("unknown kind of token: {kind}")))?;
    Ok(TokenScopes::allowed_of(kind, from_json::<Scopes>(row, "scopes")?))
}

pub(super) fn token(row: &SqliteRow) -> Read<Token> {
    Ok(Token {
        id: id(row, "id")?,
        holder: holder(row)?,
        created_by: id(row, "created_by")?,
        secret_hash: hash(row)?,
        scopes: scopes(row)?,
        coverage: from_json::<Coverage>(row, "coverage")?,
        label: row.try_get("label")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        last_used_at: row.try_get("last_used_at")?,
        revoked_at: row.try_get("revoked_at")?,
        identity: row.try_get("identity")?,
    })
}

pub(super) fn workspace(row: &SqliteRow) -> Read<Workspace> {
    Ok(Workspace { id: id(row, "id")?, name: row.try_get("name")?, created_at: row.try_get("created_at")? })
}

pub(super) fn membership(row: &SqliteRow) -> Read<Membership> {
    Ok(Membership {
        workspace_id: id(row, "workspace_id")?,
        user_id: id(row, "user_id")?,
        role: from_json::<Role>(row, "role")?,
    })
}

pub(super) fn placement(row: &SqliteRow) -> Read<(notarium_record::NotebookId, notarium_record::WorkspaceId)> {
    Ok((id(row, "notebook_id")?, id(row, "workspace_id")?))
}

pub(super) fn share_link(row: &SqliteRow) -> Read<ShareLink> {
    Ok(ShareLink {
        id: id(row, "id")?,
        notebook_id: id(row, "notebook_id")?,
        role: from_json::<Role>(row, "role")?,
        secret_hash: hash(row)?,
        label: row.try_get("label")?,
        created_by: id(row, "created_by")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        revoked_at: row.try_get("revoked_at")?,
    })
}

pub(super) fn signing_key(row: &SqliteRow) -> Read<SigningKey> {
    let public_key: Vec<u8> = row.try_get("public_key")?;
    let public_key = public_key.try_into().map_err(|_| decode("an Ed25519 key has 32 bytes"))?;
    Ok(SigningKey { name: row.try_get("name")?, public_key, since: row.try_get("since")? })
}

pub(super) fn audit(row: &SqliteRow) -> Read<AuditRecord> {
    let entry = AuditEntry {
        at: row.try_get("at")?,
        actor: row.try_get("actor")?,
        action: row.try_get("action")?,
        subject: row.try_get("subject")?,
    };
    Ok(AuditRecord { number: row.try_get("number")?, entry })
}
