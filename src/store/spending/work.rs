//! Transactions of spending: reservations and their ends.

use notarium_record::Millis;

use super::queries::{reserved_sum, used_sum};
use super::rows::{key_values, reserved_values};
use super::{CapCheck, CapUse, Reservation, ReservedCall, SettledCall};
use crate::accounts::{ColumnValue, TableStatement, Tables};

/// Statements of one transaction. Each may be repeated: the second time it changes nothing.
#[derive(Debug, Clone)]
pub(crate) enum SpendingWork {
    Reserve { call: ReservedCall, caps: Vec<CapCheck>, stale_before: Millis },
    Settle { call: ReservedCall, settled: Option<SettledCall> },
}

#[cfg(feature = "postgres")]
impl SpendingWork {
    /// True if it follows the work of other nodes: its sums must hold until its end.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self, Self::Reserve { caps, .. } if !caps.is_empty())
    }
}

/// Result of [`SpendingWork`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkDone {
    Reserved(Reservation),
    Settled(bool),
}

pub(crate) async fn perform(tables: &mut dyn Tables, work: &SpendingWork) -> Result<WorkDone, sqlx::Error> {
    match work {
        SpendingWork::Reserve { call, caps, stale_before } => {
            reserve(tables, call, caps, *stale_before).await.map(WorkDone::Reserved)
        }
        SpendingWork::Settle { call, settled } => settle(tables, call, *settled).await.map(WorkDone::Settled),
    }
}

async fn reserve(
    tables: &mut dyn Tables,
    call: &ReservedCall,
    caps: &[CapCheck],
    stale_before: Millis,
) -> Result<Reservation, sqlx::Error> {
    let mut is_busy = false;
    for (index, cap) in caps.iter().enumerate() {
        // The reserved calls first: one that is settled in between counts twice, not never.
        let reserved = tables.number(reserved_sum(cap, stale_before, Some(&call.key))).await?;
        let found = CapUse { used: tables.number(used_sum(cap)).await?, reserved };
        if found.used >= cap.amount {
            return Ok(Reservation::Reached { cap: index, used: found.used });
        }
        is_busy |= found.used.saturating_add(found.reserved) >= cap.amount;
    }
    if is_busy {
        return Ok(Reservation::Busy);
    }
    let sql = "INSERT INTO reserved_model_calls (notebook, turn_id, number, person, workspace, provider, model, currency, \
               input_price, cached_price, output_price, estimated_input_tokens, reserved_tokens, reserved_nanos, reserved_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
               ON CONFLICT (notebook, turn_id, number) DO UPDATE SET person = EXCLUDED.person, workspace = EXCLUDED.workspace, \
               provider = EXCLUDED.provider, model = EXCLUDED.model, currency = EXCLUDED.currency, input_price = EXCLUDED.input_price, \
               cached_price = EXCLUDED.cached_price, output_price = EXCLUDED.output_price, \
               estimated_input_tokens = EXCLUDED.estimated_input_tokens, reserved_tokens = EXCLUDED.reserved_tokens, \
               reserved_nanos = EXCLUDED.reserved_nanos, reserved_at = EXCLUDED.reserved_at";
    tables.execute(TableStatement { sql: sql.into(), values: reserved_values(call) }).await?;
    Ok(Reservation::Made)
}

async fn settle(
    tables: &mut dyn Tables,
    call: &ReservedCall,
    settled: Option<SettledCall>,
) -> Result<bool, sqlx::Error> {
    let sql = "DELETE FROM reserved_model_calls WHERE notebook = $1 AND turn_id = $2 AND number = $3";
    let ended = tables.execute(TableStatement { sql: sql.into(), values: key_values(&call.key) }).await?;
    if let (Some(settled), 1..) = (settled, ended) {
        tables.execute(count(call, settled)).await?;
    }
    Ok(ended > 0)
}

fn count(call: &ReservedCall, settled: SettledCall) -> TableStatement {
    let sql = "INSERT INTO model_usage (day, person, workspace, notebook, provider, model, currency, calls, estimated_calls, \
               input_tokens, cached_tokens, output_tokens, cost_nanos) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10, $11, $12) \
               ON CONFLICT (day, person, workspace, notebook, provider, model, currency) DO UPDATE SET \
               calls = model_usage.calls + 1, estimated_calls = model_usage.estimated_calls + EXCLUDED.estimated_calls, \
               input_tokens = model_usage.input_tokens + EXCLUDED.input_tokens, \
               cached_tokens = model_usage.cached_tokens + EXCLUDED.cached_tokens, \
               output_tokens = model_usage.output_tokens + EXCLUDED.output_tokens, \
               cost_nanos = model_usage.cost_nanos + EXCLUDED.cost_nanos";
    let tokens = settled.tokens;
    let values: [ColumnValue; 12] = [
        settled.day.into(),
        call.person.as_str().into(),
        call.workspace.as_ref().map_or("", |id| id.as_str()).into(),
        call.key.notebook_id.as_str().into(),
        (&call.provider).into(),
        (&call.model).into(),
        call.price.as_ref().map_or("", |price| price.currency.as_str()).into(),
        u64::from(settled.is_estimated).into(),
        tokens.input.into(),
        tokens.cached.into(),
        tokens.output.into(),
        call.price.as_ref().map_or(0, |price| price.cost_nanos(tokens)).into(),
    ];
    TableStatement { sql: sql.into(), values: values.into() }
}
