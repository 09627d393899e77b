//! Caps on spending: settings of the accounts.

use notarium_record::{Millis, UserId, WorkspaceId};

use super::tables::{ColumnValue, Read, RowColumns};

/// The spender of a cap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spender {
    Server,
    /// Every person who has no cap of this period and unit of their own.
    EachPerson,
    /// Every workspace that has no cap of this period and unit of its own.
    EachWorkspace,
    Person(UserId),
    Workspace(WorkspaceId),
}

impl Spender {
    /// Text in the database.
    pub fn key(&self) -> String {
        match self {
            Self::Server => "server".to_owned(),
            Self::EachPerson => "each_person".to_owned(),
            Self::EachWorkspace => "each_workspace".to_owned(),
            Self::Person(id) => format!("user:{id}"),
            Self::Workspace(id) => format!("workspace:{id}"),
        }
    }

    pub fn parse(key: &str) -> Option<Self> {
        match key {
            "server" => Some(Self::Server),
            "each_person" => Some(Self::EachPerson),
            "each_workspace" => Some(Self::EachWorkspace),
            _ => match key.split_once(':')? {
                ("user", id) => Some(Self::Person(id.parse().ok()?)),
                ("workspace", id) => Some(Self::Workspace(id.parse().ok()?)),
                _ => None,
            },
        }
    }
}

/// Period of a cap, by the calendar in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapPeriod {
    Day,
    Month,
}

impl CapPeriod {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Day, Self::Month].into_iter().find(|period| period.as_str() == text)
    }
}

/// Unit of a cap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapUnit {
    Tokens,
    /// Code of a currency. Amounts are in its billionths.
    Money(String),
}

impl CapUnit {
    /// Text in the database.
    pub fn key(&self) -> &str {
        match self {
            Self::Tokens => "tokens",
            Self::Money(currency) => currency,
        }
    }

    pub fn parse(key: &str) -> Self {
        if key == "tokens" { Self::Tokens } else { Self::Money(key.to_owned()) }
    }
}

/// Identity of a cap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CapKey {
    pub spender: Spender,
    pub period: CapPeriod,
    pub unit: CapUnit,
    /// True: a workspace's owner has set it, beside the cap of the administrators.
    pub by_owner: bool,
}

/// A cap on spending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cap {
    pub key: CapKey,
    /// Tokens, or billionths of the currency.
    pub amount: u64,
    /// `Actor::key()` of the author.
    pub set_by: String,
    pub set_at: Millis,
}

/// Values of a cap's key, in the order of the table's columns.
pub(super) fn key_values(key: &CapKey) -> Vec<ColumnValue> {
    vec![key.spender.key().into(), key.period.as_str().into(), key.unit.key().into(), key.by_owner.into()]
}

/// Reads a row. One that this program cannot have written is a decoding error.
pub(crate) fn cap(row: &dyn RowColumns) -> Read<Cap> {
    let unknown = |what: &str, text: &str| sqlx::Error::Decode(format!("unknown {what}: {text}").into());
    let (spender, period) = (row.text("spender")?, row.text("period")?);
    Ok(Cap {
        key: CapKey {
            spender: Spender::parse(&spender).ok_or_else(|| unknown("spender", &spender))?,
            period: CapPeriod::parse(&period).ok_or_else(|| unknown("period", &period))?,
            unit: CapUnit::parse(&row.text("unit")?),
            by_owner: row.flag("by_owner")?,
        },
        amount: row.number("amount")?,
        set_by: row.text("set_by")?,
        set_at: row.number("set_at")?,
    })
}
