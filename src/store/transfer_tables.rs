//! Tables besides the log that a transfer takes along, with their columns. Both databases have them by the same names.

use crate::accounts::{ColumnValue, RowColumns, TableStatement};

/// Commands or rows of one transaction.
pub(crate) const ROWS_PER_PAGE: usize = 500;

/// Values of a row, in the order of its table's columns.
pub(crate) type TransferRow = Vec<ColumnValue>;

/// Kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Number,
    Flag,
    Bytes,
    /// Id of a notebook, for which SQLite keeps a small key.
    Notebook,
}

use ColumnKind::{Bytes, Flag, Notebook, Number, Text};

/// A table: the first `key` columns are its primary key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TransferTable {
    pub(crate) name: &'static str,
    key: usize,
    columns: &'static [(&'static str, ColumnKind)],
}

/// Tables, those to which others refer first.
pub(crate) const TABLES: [TransferTable; 21] = [
    TransferTable {
        name: "users",
        key: 1,
        columns: &[
            ("id", Text),
            ("name", Text),
            ("login", Text),
            ("password_hash", Text),
            ("is_admin", Flag),
            ("created_at", Number),
            ("deactivated_at", Number),
            ("admin_from_group", Text),
        ],
    },
    TransferTable {
        name: "user_identities",
        key: 2,
        columns: &[
            ("issuer", Text),
            ("subject", Text),
            ("id", Text),
            ("user_id", Text),
            ("email", Text),
            ("created_at", Number),
        ],
    },
    TransferTable {
        name: "tokens",
        key: 1,
        columns: &[
            ("id", Text),
            ("kind", Text),
            ("user_id", Text),
            ("agent_id", Text),
            ("created_by", Text),
            ("secret_hash", Bytes),
            ("scopes", Text),
            ("coverage", Text),
            ("label", Text),
            ("created_at", Number),
            ("expires_at", Number),
            ("last_used_at", Number),
            ("revoked_at", Number),
            ("identity", Text),
        ],
    },
    TransferTable { name: "workspaces", key: 1, columns: &[("id", Text), ("name", Text), ("created_at", Number)] },
    TransferTable {
        name: "workspace_members",
        key: 2,
        columns: &[("workspace_id", Text), ("user_id", Text), ("role", Text), ("from_group", Text)],
    },
    TransferTable { name: "workspace_notebooks", key: 1, columns: &[("notebook_id", Text), ("workspace_id", Text)] },
    TransferTable {
        name: "share_links",
        key: 1,
        columns: &[
            ("id", Text),
            ("notebook_id", Text),
            ("role", Text),
            ("secret_hash", Bytes),
            ("label", Text),
            ("created_by", Text),
            ("created_at", Number),
            ("expires_at", Number),
            ("revoked_at", Number),
        ],
    },
    TransferTable {
        name: "account_audit",
        key: 1,
        columns: &[("number", Number), ("at", Number), ("actor", Text), ("action", Text), ("subject", Text)],
    },
    TransferTable {
        name: "signing_keys",
        key: 1,
        columns: &[("name", Text), ("public_key", Bytes), ("since", Number)],
    },
    TransferTable {
        name: "blobs",
        key: 2,
        columns: &[
            ("notebook", Notebook),
            ("sha256", Bytes),
            ("size_bytes", Number),
            ("media_type", Text),
            ("uploaded_by", Text),
            ("created_at", Number),
        ],
    },
    TransferTable {
        name: "retired_blobs",
        key: 2,
        columns: &[("notebook", Notebook), ("sha256", Bytes), ("retired_at", Number)],
    },
    TransferTable {
        name: "logged_heads",
        key: 1,
        columns: &[("notebook", Notebook), ("origin", Text), ("version", Number), ("leaf", Number)],
    },
    TransferTable {
        name: "reserved_model_calls",
        key: 3,
        columns: &[
            ("notebook", Text),
            ("turn_id", Text),
            ("number", Number),
            ("person", Text),
            ("workspace", Text),
            ("provider", Text),
            ("model", Text),
            ("currency", Text),
            ("input_price", Number),
            ("cached_price", Number),
            ("output_price", Number),
            ("estimated_input_tokens", Number),
            ("reserved_tokens", Number),
            ("reserved_nanos", Number),
            ("reserved_at", Number),
        ],
    },
    TransferTable {
        name: "model_usage",
        key: 7,
        columns: &[
            ("day", Number),
            ("person", Text),
            ("workspace", Text),
            ("notebook", Text),
            ("provider", Text),
            ("model", Text),
            ("currency", Text),
            ("calls", Number),
            ("estimated_calls", Number),
            ("input_tokens", Number),
            ("cached_tokens", Number),
            ("output_tokens", Number),
            ("cost_nanos", Number),
        ],
    },
    TransferTable {
        name: "spending_caps",
        key: 4,
        columns: &[
            ("spender", Text),
            ("period", Text),
            ("unit", Text),
            ("by_owner", Flag),
            ("amount", Number),
            ("set_by", Text),
            ("set_at", Number),
        ],
    },
    TransferTable {
        name: "notices",
        key: 2,
        columns: &[
            ("user_id", Text),
            ("id", Text),
            ("notebook", Text),
            ("version", Number),
            ("subject", Text),
            ("kind", Text),
            ("at", Number),
            ("in_inbox", Flag),
            ("read_at", Number),
            ("settled_at", Number),
        ],
    },
    TransferTable { name: "notice_positions", key: 1, columns: &[("notebook", Text), ("version", Number)] },
    TransferTable {
        name: "notice_choices",
        key: 3,
        columns: &[("user_id", Text), ("topic", Text), ("channel", Text), ("is_on", Flag)],
    },
    TransferTable {
        name: "notice_people",
        key: 1,
        columns: &[
            ("user_id", Text),
            ("address", Text),
            ("new_address", Text),
            ("code_hash", Bytes),
            ("code_expires_at", Number),
            ("code_attempts", Number),
            ("long_run_seconds", Number),
            ("mailed_at", Number),
        ],
    },
    TransferTable {
        name: "webhooks",
        key: 1,
        columns: &[
            ("id", Text),
            ("user_id", Text),
            ("url", Text),
            ("label", Text),
            ("secrets", Text),
            ("created_at", Number),
            ("tried_at", Number),
            ("problem", Text),
        ],
    },
    TransferTable {
        name: "notice_deliveries",
        key: 3,
        columns: &[
            ("user_id", Text),
            ("notice_id", Text),
            ("channel", Text),
            ("created_at", Number),
            ("due_at", Number),
            ("attempts", Number),
            ("claimed_by", Text),
            ("claimed_until", Number),
            ("batch", Text),
            ("ended_at", Number),
            ("outcome", Text),
            ("problem", Text),
        ],
    },
];

impl TransferTable {
    /// Reads all rows. `notebook`: expression for a notebook's id in a column of keys, with `{}` for the column.
    pub(crate) fn select(&self, notebook: &str) -> TableStatement {
        let columns = self.columns.iter().map(|(name, kind)| match kind {
            Notebook => format!("{} AS {name}", notebook.replace("{}", name)),
            _ => (*name).to_owned(),
        });
        let columns: Vec<String> = columns.collect();
        let order: Vec<String> = (1..=self.key).map(|place| place.to_string()).collect();
        let (columns, order, name) = (columns.join(", "), order.join(", "), self.name);
        TableStatement::new(format!("SELECT {columns} FROM {name} ORDER BY {order}"))
    }

    /// Inserts a row, unless it is there. `notebook`: expression for a notebook's key, with `{}` for the value.
    pub(crate) fn insert(&self, notebook: &str, row: TransferRow) -> TableStatement {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let values = self.columns.iter().enumerate().map(|(index, (_, kind))| match kind {
            Notebook => notebook.replace("{}", &format!("${}", index + 1)),
            _ => format!("${}", index + 1),
        });
        let (names, values): (String, Vec<String>) = (names.join(", "), values.collect());
        let sql = format!("INSERT INTO {} ({names}) VALUES ({}) ON CONFLICT DO NOTHING", self.name, values.join(", "));
        TableStatement { sql: sql.into(), values: row }
    }

    pub(crate) fn read(&self, row: &dyn RowColumns) -> Result<TransferRow, sqlx::Error> {
        let value = |(name, kind): &(&'static str, ColumnKind)| {
            Ok(match kind {
                Text | Notebook => ColumnValue::Text(row.optional_text(name)?),
                Number => row.optional_number(name)?.into(),
                Flag => ColumnValue::Flag(row.flag(name)?),
                Bytes => ColumnValue::Bytes(row.bytes(name)?),
            })
        };
        self.columns.iter().map(value).collect()
    }
}
