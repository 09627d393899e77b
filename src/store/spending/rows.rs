//! Conversion between rows and records of spending. A row that this program cannot have written is a decoding error.

use notarium_record::InvalidId;

use super::{ModelCallKey, ModelPrice, ReservedCall, SpendingRow, TokenCounts};
use crate::accounts::{ColumnValue, Read, RowColumns};

fn decode(error: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

fn id<T: std::str::FromStr<Err = InvalidId>>(text: &str) -> Read<T> {
    text.parse().map_err(decode)
}

pub(super) fn reserved_call(row: &dyn RowColumns) -> Read<ReservedCall> {
    let (currency, workspace) = (row.text("currency")?, row.text("workspace")?);
    let (input, cached) = (row.number("input_price")?, row.number("cached_price")?);
    let price = ModelPrice { currency, input, cached, output: row.number("output_price")? };
    Ok(ReservedCall {
        key: ModelCallKey {
            notebook_id: id(&row.text("notebook")?)?,
            turn_id: id(&row.text("turn_id")?)?,
            number: u32::try_from(row.number("number")?).map_err(decode)?,
        },
        person: id(&row.text("person")?)?,
        workspace: (!workspace.is_empty()).then(|| id(&workspace)).transpose()?,
        provider: row.text("provider")?,
        model: row.text("model")?,
        price: (!price.currency.is_empty()).then_some(price),
        estimated_input_tokens: row.number("estimated_input_tokens")?,
        reserved_tokens: row.number("reserved_tokens")?,
        reserved_nanos: row.number("reserved_nanos")?,
        reserved_at: row.number("reserved_at")?,
    })
}

/// Values of a reserved call, in the order of the table's columns.
pub(super) fn reserved_values(call: &ReservedCall) -> Vec<ColumnValue> {
    let price = |of: fn(&ModelPrice) -> u64| call.price.as_ref().map_or(0, of).into();
    let mut values = key_values(&call.key);
    values.extend([
        call.person.as_str().into(),
        call.workspace.as_ref().map_or("", |id| id.as_str()).into(),
        (&call.provider).into(),
        (&call.model).into(),
        call.price.as_ref().map_or("", |price| price.currency.as_str()).into(),
        price(|price| price.input),
        price(|price| price.cached),
        price(|price| price.output),
        call.estimated_input_tokens.into(),
        call.reserved_tokens.into(),
        call.reserved_nanos.into(),
        call.reserved_at.into(),
    ]);
    values
}

pub(super) fn key_values(key: &ModelCallKey) -> Vec<ColumnValue> {
    vec![key.notebook_id.as_str().into(), key.turn_id.as_str().into(), u64::from(key.number).into()]
}

pub(super) fn spending_row(row: &dyn RowColumns) -> Read<SpendingRow> {
    Ok(SpendingRow {
        value: row.text("value")?,
        currency: row.text("currency")?,
        calls: row.number("calls")?,
        estimated_calls: row.number("estimated_calls")?,
        tokens: TokenCounts {
            input: row.number("input_tokens")?,
            cached: row.number("cached_tokens")?,
            output: row.number("output_tokens")?,
        },
        cost_nanos: row.number("cost_nanos")?,
    })
}
