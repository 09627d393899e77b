//! [`SpendingStore`]: model calls that are reserved, sums of those that were counted, and caps on both.
//!
//! Every backend passes the suite in `tests/contract/spending.rs`.
//!
//! Invariants:
//! - A model call is reserved before it is made. Its reservation ends in the transaction that counts it, so a crash neither loses a call
//!   nor counts it twice.
//! - Reservations under caps follow one another, whatever node makes them: two calls never share the rest of one cap.
//! - Amounts are integers: tokens, or billionths of a currency. A sum is never changed by a later price.
//! - No clock: every time and day is an argument.

mod queries;
mod rows;
mod work;

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, TurnId, UserId, WorkspaceId};

use crate::StoreError;
use crate::accounts::AccountTables;
pub use crate::accounts::{Cap, CapKey, CapPeriod, CapUnit, Spender};
pub(crate) use work::{SpendingWork, WorkDone, perform};

/// Maximum number of rows that one query returns.
pub const MAX_SPENDING_ROWS: usize = 10_000;

/// Price of a model, in millionths of the currency per million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrice {
    /// Code of the currency, such as `USD`.
    pub currency: String,
    pub input: u64,
    /// Price of the input that came from the provider's cache.
    pub cached: u64,
    pub output: u64,
}

/// Tokens of one model call or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens read, cached or not.
    pub input: u64,
    /// The part of `input` that came from the provider's cache.
    pub cached: u64,
    pub output: u64,
}

impl TokenCounts {
    /// Tokens that a cap counts.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl ModelPrice {
    /// Cost of these tokens in billionths of the currency. A fraction of a billionth is rounded up.
    pub fn cost_nanos(&self, tokens: TokenCounts) -> u64 {
        let cached = tokens.cached.min(tokens.input);
        let times = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let trillionths =
            times(tokens.input - cached, self.input) + times(cached, self.cached) + times(tokens.output, self.output);
        u64::try_from(trillionths.div_ceil(1_000)).unwrap_or(u64::MAX).min(MAX_AMOUNT)
    }
}

/// Largest amount of a column, so that sums of many rows stay within 63 bits.
pub const MAX_AMOUNT: u64 = 1 << 53;

/// Identity of a model call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelCallKey {
    pub notebook_id: NotebookId,
    pub turn_id: TurnId,
    /// Number of the model call in its turn: 1, 2, 3 … Its attempts share one reservation.
    pub number: u32,
}

/// A model call that was or is about to be made, and is not counted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedCall {
    pub key: ModelCallKey,
    /// The person for whom the assistant acts.
    pub person: UserId,
    /// Workspace of the notebook; `None`: none.
    pub workspace: Option<WorkspaceId>,
    pub provider: String,
    pub model: String,
    /// Price at the time of the reservation; `None`: not known.
    pub price: Option<ModelPrice>,
    /// Estimated tokens of the request, which count if the end of the call is not recorded.
    pub estimated_input_tokens: u64,
    /// Upper bound of the call's tokens.
    pub reserved_tokens: u64,
    /// Upper bound of the call's cost, in billionths of the currency.
    pub reserved_nanos: u64,
    pub reserved_at: Millis,
}

/// A counted model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledCall {
    /// Days since 1970 in UTC.
    pub day: u64,
    pub tokens: TokenCounts,
    /// True: the numbers are an estimate of the server.
    pub is_estimated: bool,
}

/// One cap as a model call meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapCheck {
    /// The spender whose usage counts: never one of the two that stand for many.
    pub spender: Spender,
    /// First day of the period.
    pub since_day: u64,
    pub unit: CapUnit,
    pub amount: u64,
}

/// Usage under a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CapUse {
    /// Counted usage, in the unit of the cap.
    pub used: u64,
    /// Upper bound of the calls that are under way.
    pub reserved: u64,
}

/// Result of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    Made,
    /// Calls that are under way may use up the rest of a cap: try again when they have ended.
    Busy,
    /// The usage has reached the cap of this index.
    Reached {
        cap: usize,
        used: u64,
    },
}

/// Columns by which usage is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendingColumn {
    Day,
    Model,
    Person,
    Workspace,
    Notebook,
}

/// Filter of usage; the default has all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpendingQuery {
    pub since_day: u64,
    /// Last day; `None`: no end.
    pub until_day: Option<u64>,
    pub person: Option<UserId>,
    pub workspace: Option<WorkspaceId>,
}

/// Sum of usage with one value of a column and one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingRow {
    /// Days since 1970, `provider/model`, or an id. Empty: no workspace.
    pub value: String,
    /// Empty: the price of the calls is not known.
    pub currency: String,
    pub calls: u64,
    /// Calls whose numbers are estimates.
    pub estimated_calls: u64,
    pub tokens: TokenCounts,
    pub cost_nanos: u64,
}

/// Store of usage and caps. Caps change by [`crate::accounts::AccountChange`], which the audit has.
#[async_trait]
pub trait SpendingStore: Send + Sync + 'static {
    /// Reserves a model call, unless a cap is reached. A reservation of the same call is replaced. Reservations before `stale_before` do
    /// not count.
    async fn reserve(
        &self,
        call: &ReservedCall,
        caps: &[CapCheck],
        stale_before: Millis,
    ) -> Result<Reservation, StoreError>;

    /// Ends a reservation and counts its call; `None`: the call was not made. False, and nothing is counted: it has ended before.
    async fn settle(&self, call: &ReservedCall, settled: Option<SettledCall>) -> Result<bool, StoreError>;

    /// Returns reserved calls in the order of their keys, of all notebooks or one.
    async fn reserved(&self, notebook: Option<&NotebookId>) -> Result<Vec<ReservedCall>, StoreError>;

    async fn cap_use(&self, cap: &CapCheck, stale_before: Millis) -> Result<CapUse, StoreError>;

    /// Returns sums by a column and by currency, in order of both, at most [`MAX_SPENDING_ROWS`].
    async fn spending(&self, by: SpendingColumn, query: &SpendingQuery) -> Result<Vec<SpendingRow>, StoreError>;

    /// Returns all caps in the order of their keys.
    async fn caps(&self) -> Result<Vec<Cap>, StoreError>;
}

/// A database with the tables of spending. Each is a [`SpendingStore`].
#[async_trait]
pub(crate) trait SpendingTables: AccountTables {
    /// Runs [`perform`] as a transaction; exclusive work follows that of other nodes.
    async fn spend(&self, work: &SpendingWork) -> Result<WorkDone, StoreError>;
}
