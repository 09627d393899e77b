//! Every column of the database is known to the removal of content.

use super::*;

/// Way in which a column forgets content that a redaction removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forgets {
    /// It has ids, hashes, numbers, times, names of accounts: no content of a notebook.
    HasNone,
    /// The payload is replaced, the salt goes.
    ByStandIn,
    /// The row goes, or the value is emptied.
    WithItsRow,
}

use Forgets::{ByStandIn, HasNone, WithItsRow};

/// Columns that may have content; all others are listed by their table alone.
const CONTENT: [(&str, &str, Forgets); 12] = [
    ("events", "payload", ByStandIn),
    ("events", "salt", ByStandIn),
    ("commands", "digest", WithItsRow),
    ("commands", "outcome", WithItsRow),
    ("snapshots", "state", WithItsRow),
    ("snapshots", "checksum", WithItsRow),
    ("catalog", "title", WithItsRow),
    ("catalog", "template", WithItsRow),
    ("catalog_text", "text", WithItsRow),
    ("past_lines", "text", WithItsRow),
    ("past_lines_text", "text", WithItsRow),
    ("blames", "state", HasNone),
];

/// Columns without content, by table.
const OTHERS: [(&str, &[&str]); 37] = [
    ("account_audit", &["number", "at", "actor", "action", "subject"]),
    ("actors", &["key", "id"]),
    ("blames", &["notebook", "version"]),
    ("blobs", &["notebook", "sha256", "size_bytes", "media_type", "uploaded_by", "created_at"]),
    (
        "catalog",
        &[
            "notebook",
            "version",
            "archived",
            "created_at",
            "updated_at",
            "workspace_id",
            "cells",
            "has_work",
            "has_waiting_calls",
            "due_at",
        ],
    ),
    ("catalog_access", &["subject", "notebook", "role"]),
    ("commands", &["notebook", "actor", "command_id", "version"]),
    (
        "events",
        &[
            "position",
            "notebook",
            "version",
            "id",
            "type",
            "schema",
            "actor",
            "command_id",
            "correlation_id",
            "causation_id",
            "undoes",
            "recorded_at",
            "subject",
            "payload_digest",
            "hash",
        ],
    ),
    ("logged_heads", &["notebook", "origin", "version", "leaf"]),
    (
        "model_usage",
        &[
            "day",
            "person",
            "workspace",
            "notebook",
            "provider",
            "model",
            "currency",
            "calls",
            "estimated_calls",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
            "cost_nanos",
        ],
    ),
    ("notebooks", &["key", "id", "epoch", "holder", "erased"]),
    (
        "notices",
        &["user_id", "id", "notebook", "version", "subject", "kind", "at", "in_inbox", "read_at", "settled_at"],
    ),
    ("notice_positions", &["notebook", "version"]),
    ("notice_choices", &["user_id", "topic", "channel", "is_on"]),
    (
        "notice_people",
        &[
            "user_id",
            "address",
            "new_address",
            "code_hash",
            "code_expires_at",
            "code_attempts",
            "long_run_seconds",
            "mailed_at",
        ],
    ),
    ("webhooks", &["id", "user_id", "url", "label", "secrets", "created_at", "tried_at", "problem"]),
    (
        "notice_deliveries",
        &[
            "user_id",
            "notice_id",
            "channel",
            "created_at",
            "due_at",
            "attempts",
            "claimed_by",
            "claimed_until",
            "batch",
            "ended_at",
            "outcome",
            "problem",
        ],
    ),
    ("past_lines", &["id", "cell", "spans", "last"]),
    ("past_lines_read", &["notebook", "version", "next"]),
    ("one_time_values", &["key", "value", "expires_at"]),
    ("places", &["notebook", "version", "position"]),
    ("purges_due", &["notebook", "sha256"]),
    ("recent_places", &["notebook", "version", "position"]),
    (
        "reserved_model_calls",
        &[
            "notebook",
            "turn_id",
            "number",
            "person",
            "workspace",
            "provider",
            "model",
            "currency",
            "input_price",
            "cached_price",
            "output_price",
            "estimated_input_tokens",
            "reserved_tokens",
            "reserved_nanos",
            "reserved_at",
        ],
    ),
    ("retired_blobs", &["notebook", "sha256", "retired_at"]),
    (
        "share_links",
        &["id", "notebook_id", "role", "secret_hash", "label", "created_by", "created_at", "expires_at", "revoked_at"],
    ),
    ("signing_keys", &["name", "public_key", "since"]),
    ("snapshots", &["notebook", "version", "format", "hash", "recorded_at", "base"]),
    ("spending_caps", &["spender", "period", "unit", "by_owner", "amount", "set_by", "set_at"]),
    (
        "tokens",
        &[
            "id",
            "kind",
            "user_id",
            "agent_id",
            "created_by",
            "secret_hash",
            "scopes",
            "coverage",
            "label",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "identity",
        ],
    ),
    ("user_identities", &["issuer", "subject", "id", "user_id", "email", "created_at"]),
    (
        "users",
        &["id", "name", "login", "password_hash", "is_admin", "admin_from_group", "created_at", "deactivated_at"],
    ),
    ("workspace_members", &["workspace_id", "user_id", "role", "from_group"]),
    ("workspace_notebooks", &["notebook_id", "workspace_id"]),
    ("workspaces", &["id", "name", "created_at"]),
    ("additive_migrations", &["version", "description", "installed_on", "success", "checksum", "execution_time"]),
    ("_sqlx_migrations", &["version", "description", "installed_on", "success", "checksum", "execution_time"]),
];

#[tokio::test]
async fn every_column_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path()).await.unwrap();
    let sql = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
               WHERE t.type = 'table' AND t.name NOT GLOB '*_text_*' AND t.name NOT GLOB 'sqlite_*'";
    let columns: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(store.readers()).await.unwrap();
    assert!(columns.len() > 100);
    for (table, column) in columns {
        let has_content = CONTENT.iter().any(|(name, field, _)| *name == table && *field == column);
        let is_other = OTHERS.iter().any(|(name, fields)| *name == table && fields.contains(&column.as_str()));
        assert!(
            has_content || is_other,
            "{table}.{column}: say here whether it has content of notebooks; if so, removal.rs must forget it"
        );
    }
    for (table, column, forgets) in CONTENT {
        let sql = removal_statements();
        let is_named = sql.iter().any(|statement| statement.contains(table));
        assert_eq!(forgets != HasNone, is_named, "{table}.{column}");
    }
}

/// The text of the module that forgets.
fn removal_statements() -> Vec<String> {
    let source = include_str!("../removal.rs");
    source
        .split('"')
        .filter(|text| ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb)))
        .map(str::to_owned)
        .collect()
}
