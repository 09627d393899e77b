//! Spending on models: usage by column, caps.

use notarium_core::{Millis, UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Column by which usage is summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageColumn {
    /// Day in UTC.
    #[default]
    Day,
    /// Provider and model.
    Model,
    /// The person for whom the assistant acted.
    Person,
    /// Workspace of the notebook at the time of the call.
    Workspace,
    /// Notebook.
    Notebook,
}

/// Usage to sum. Without `all` and `workspace`: your own.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelUsageQuery {
    /// Column; absent: `day`.
    #[serde(default)]
    pub by: UsageColumn,
    /// First day in UTC, as in `2026-11-01`; absent: the first of this month.
    pub since: Option<String>,
    /// Last day in UTC; absent: today.
    pub until: Option<String>,
    /// True: of everybody; for administrators.
    #[serde(default)]
    pub all: bool,
    /// Usage of everybody in this workspace; for its owners and administrators.
    pub workspace: Option<WorkspaceId>,
}

/// An exact amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Money {
    /// Decimal number with at least 2 and at most 9 decimal places.
    pub amount: String,
    /// Code of the currency, such as `USD`.
    pub currency: String,
}

/// Sum of model calls with one value of the column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUsage {
    /// Day such as `2026-11-29`, `provider/model`, or an id. Empty: no workspace.
    pub value: String,
    /// Name of the person or workspace, or title of a notebook that you may read. Absent: none, or not known to you.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Number of model calls that used tokens.
    pub calls: u64,
    /// Number of calls whose tokens are estimates: the provider reported none, or the call was stopped.
    pub estimated_calls: u64,
    /// Number of tokens read, cached or not.
    pub input_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    pub cached_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// Cost of the calls with a known price, one sum per currency, at the prices of the time of each call.
    pub cost: Vec<Money>,
    /// Number of calls whose price was not known. Their cost is not in `cost`.
    pub unpriced_calls: u64,
}

/// Usage of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUsageAnswer {
    /// First day.
    pub since: String,
    /// Last day.
    pub until: String,
    /// Sums in order of their values, at most 10,000.
    pub rows: Vec<ModelUsage>,
}

/// The kind of spender that a cap limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpenderKind {
    /// Everybody together.
    Server,
    /// Each person who has no cap of the same period and unit of their own.
    EachPerson,
    /// Each workspace that has no cap of the same period and unit of its own.
    EachWorkspace,
    /// One person.
    Person,
    /// All people together in the notebooks of one workspace.
    Workspace,
}

/// Period of a cap, by the calendar in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpendingPeriod {
    /// A day.
    Day,
    /// A calendar month.
    Month,
}

/// Names a cap.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapName {
    /// The kind of spender.
    pub spender: SpenderKind,
    /// The person, for `person`.
    pub person: Option<UserId>,
    /// The workspace, for `workspace`.
    pub workspace: Option<WorkspaceId>,
    /// The period.
    pub period: SpendingPeriod,
    /// `tokens`, or the code of a currency such as `USD`.
    pub unit: String,
}

/// Sets a cap, in place of the one with this name. For administrators; for owners of the workspace. An owner's cap stands
/// beside that of the administrators.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCap {
    /// The kind of spender.
    pub spender: SpenderKind,
    /// The person, for `person`.
    pub person: Option<UserId>,
    /// The workspace, for `workspace`.
    pub workspace: Option<WorkspaceId>,
    /// The period.
    pub period: SpendingPeriod,
    /// `tokens`, or the code of a currency such as `USD`.
    pub unit: String,
    /// Decimal number: whole tokens, or money with at most 9 decimal places. 0: nothing may be spent.
    pub amount: String,
}

/// Caps to list. Without `all`: those that apply to you and your workspaces.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapsQuery {
    /// True: every cap; for administrators.
    #[serde(default)]
    pub all: bool,
}

/// A cap with its usage.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapStatus {
    /// The kind of spender.
    pub spender: SpenderKind,
    /// The person whose usage counts: for `person`, and for `each_person` unless all caps are listed.
    pub person: Option<UserId>,
    /// The workspace whose usage counts: for `workspace`, and for `each_workspace` unless all caps are listed.
    pub workspace: Option<WorkspaceId>,
    /// The period.
    pub period: SpendingPeriod,
    /// `tokens`, or the code of a currency.
    pub unit: String,
    /// The cap, in its unit.
    pub amount: String,
    /// True: an owner of the workspace has set it.
    pub by_owner: bool,
    /// True: it is an option of the server, and cannot be changed here.
    pub is_fixed: bool,
    /// Usage in this period, in the unit. Absent for `each_person` and `each_workspace` if all caps are listed.
    pub used: Option<String>,
    /// Upper bound of the model calls that are under way, in the unit. Absent like `used`.
    pub reserved: Option<String>,
    /// True: the usage has reached the cap, and turns are refused.
    pub is_reached: bool,
    /// Start of the next period, in milliseconds since 1970.
    pub ends_at: Millis,
}

/// Caps on spending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapsAnswer {
    /// Caps.
    pub caps: Vec<CapStatus>,
}
