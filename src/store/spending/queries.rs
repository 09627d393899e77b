//! The queries of spending, the same for every database.

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, UserId, WorkspaceId};

use super::{
    Cap, CapCheck, CapUnit, CapUse, MAX_SPENDING_ROWS, ModelCallKey, Reservation, ReservedCall, SettledCall, Spender,
    SpendingColumn, SpendingQuery, SpendingRow, SpendingStore, SpendingTables, SpendingWork, WorkDone, rows,
};
use crate::StoreError;
use crate::accounts::{AccountTables, Read, RowColumns, TableStatement, cap};

/// Condition on the columns of a spender, for the parameter `$1`.
fn of_spender(spender: &Spender) -> (&'static str, &str) {
    match spender {
        Spender::Person(id) => ("person = $1", id.as_str()),
        Spender::Workspace(id) => ("workspace = $1", id.as_str()),
        Spender::Server | Spender::EachPerson | Spender::EachWorkspace => ("$1 = ''", ""),
    }
}

/// Counted usage under a cap, as `number`.
pub(super) fn used_sum(cap: &CapCheck) -> TableStatement {
    let (condition, id) = of_spender(&cap.spender);
    let (sum, currency) = match &cap.unit {
        CapUnit::Tokens => ("input_tokens + output_tokens", ""),
        CapUnit::Money(currency) => ("cost_nanos", currency.as_str()),
    };
    let sql = format!(
        "SELECT CAST(coalesce(sum({sum}), 0) AS BIGINT) AS number FROM model_usage \
         WHERE {condition} AND day >= $2 AND ($3 = '' OR currency = $3)"
    );
    TableStatement::new(sql).bind(id).bind(cap.since_day).bind(currency)
}

/// Upper bound of the calls that are under way under a cap, but for one, as `number`.
pub(super) fn reserved_sum(cap: &CapCheck, stale_before: Millis, except: Option<&ModelCallKey>) -> TableStatement {
    let (condition, id) = of_spender(&cap.spender);
    let (sum, currency) = match &cap.unit {
        CapUnit::Tokens => ("reserved_tokens", ""),
        CapUnit::Money(currency) => ("reserved_nanos", currency.as_str()),
    };
    let sql = format!(
        "SELECT CAST(coalesce(sum({sum}), 0) AS BIGINT) AS number FROM reserved_model_calls \
         WHERE {condition} AND reserved_at >= $2 AND ($3 = '' OR currency = $3) \
         AND NOT (notebook = $4 AND turn_id = $5 AND number = $6)"
    );
    let except = except.map_or_else(|| vec!["".into(), "".into(), 0_u64.into()], rows::key_values);
    let mut statement = TableStatement::new(sql).bind(id).bind(stale_before).bind(currency);
    statement.values.extend(except);
    statement
}

impl SpendingColumn {
    /// Expression of the column, as a text.
    fn expression(self) -> &'static str {
        match self {
            Self::Day => "CAST(day AS TEXT)",
            Self::Model => "provider || '/' || model",
            Self::Person => "person",
            Self::Workspace => "workspace",
            Self::Notebook => "notebook",
        }
    }
}

async fn many<S: AccountTables, T>(
    store: &S,
    statement: TableStatement,
    read: fn(&dyn RowColumns) -> Read<T>,
) -> Result<Vec<T>, StoreError> {
    let rows = store.rows(statement).await?;
    rows.iter().map(|row| read(row)).collect::<Read<Vec<T>>>().map_err(|error| store.unreadable(error))
}

async fn number(store: &impl AccountTables, statement: TableStatement) -> Result<u64, StoreError> {
    let found = many(store, statement, |row| row.number("number")).await?;
    Ok(found.first().copied().unwrap_or(0))
}

#[async_trait]
impl<S: SpendingTables> SpendingStore for S {
    async fn reserve(
        &self,
        call: &ReservedCall,
        caps: &[CapCheck],
        stale_before: Millis,
    ) -> Result<Reservation, StoreError> {
        let work = SpendingWork::Reserve { call: call.clone(), caps: caps.to_vec(), stale_before };
        match self.spend(&work).await? {
            WorkDone::Reserved(reservation) => Ok(reservation),
            WorkDone::Settled(_) => Ok(Reservation::Busy),
        }
    }

    async fn settle(&self, call: &ReservedCall, settled: Option<SettledCall>) -> Result<bool, StoreError> {
        let work = SpendingWork::Settle { call: call.clone(), settled };
        Ok(self.spend(&work).await? == WorkDone::Settled(true))
    }

    async fn reserved(&self, notebook: Option<&NotebookId>) -> Result<Vec<ReservedCall>, StoreError> {
        let sql =
            "SELECT * FROM reserved_model_calls WHERE $1 = '' OR notebook = $1 ORDER BY notebook, turn_id, number";
        let statement = TableStatement::new(sql).bind(notebook.map_or("", NotebookId::as_str));
        many(self, statement, rows::reserved_call).await
    }

    async fn cap_use(&self, cap: &CapCheck, stale_before: Millis) -> Result<CapUse, StoreError> {
        let reserved = number(self, reserved_sum(cap, stale_before, None)).await?;
        Ok(CapUse { used: number(self, used_sum(cap)).await?, reserved })
    }

    async fn spending(&self, by: SpendingColumn, query: &SpendingQuery) -> Result<Vec<SpendingRow>, StoreError> {
        let sums = ["calls", "estimated_calls", "input_tokens", "cached_tokens", "output_tokens", "cost_nanos"]
            .map(|column| format!("CAST(sum({column}) AS BIGINT) AS {column}"))
            .join(", ");
        let value = by.expression();
        let sql = format!(
            "SELECT {value} AS value, currency, {sums} FROM model_usage WHERE day >= $1 AND day <= $2 \
             AND ($3 = '' OR person = $3) AND ($4 = '' OR workspace = $4) \
             GROUP BY {value}, currency ORDER BY {value}, currency LIMIT $5"
        );
        let last = query.until_day.unwrap_or(super::MAX_AMOUNT);
        let statement = TableStatement::new(sql).bind(query.since_day).bind(last);
        let statement = statement.bind(query.person.as_ref().map_or("", UserId::as_str));
        let statement = statement.bind(query.workspace.as_ref().map_or("", WorkspaceId::as_str));
        many(self, statement.bind(MAX_SPENDING_ROWS), rows::spending_row).await
    }

    async fn caps(&self) -> Result<Vec<Cap>, StoreError> {
        let sql = "SELECT * FROM spending_caps ORDER BY spender, period, unit, by_owner";
        many(self, TableStatement::new(sql), cap).await
    }
}
