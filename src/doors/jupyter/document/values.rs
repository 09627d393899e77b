//! Values of the Y document as JSON, and JSON as values of the Y document.

use serde_json::{Map as JsonMap, Number as JsonNumber, Value};
use yrs::{Any, Array, GetString, Map, Number, Out, ReadTxn};

/// Nesting that is read; what is nested deeper reads as null.
const MAX_DEPTH: usize = 64;

/// A value of the Y document as JSON. Whole numbers are integers, because Yjs writes every number as a float.
pub fn to_json<T: ReadTxn>(out: &Out, txn: &T) -> Value {
    out_at(out, txn, 0)
}

fn out_at<T: ReadTxn>(out: &Out, txn: &T, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    match out {
        Out::Any(any) => any_at(any, depth),
        Out::YText(text) => Value::String(text.get_string(txn)),
        Out::YArray(array) => Value::Array(array.iter(txn).map(|item| out_at(&item, txn, depth + 1)).collect()),
        Out::YMap(map) => {
            let mut entries: Vec<(String, Value)> =
                map.iter(txn).map(|(key, value)| (key.to_owned(), out_at(&value, txn, depth + 1))).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(entries.into_iter().collect())
        }
        _ => Value::Null,
    }
}

fn any_at(any: &Any, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    match any {
        Any::Null | Any::Undefined | Any::Buffer(_) => Value::Null,
        Any::Bool(value) => Value::Bool(*value),
        Any::Number(number) => number_json(*number),
        Any::String(text) => Value::String(text.as_ref().to_owned()),
        Any::Array(items) => Value::Array(items.iter().map(|item| any_at(item, depth + 1)).collect()),
        Any::Map(entries) => {
            let mut entries: Vec<(&String, &Any)> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), any_at(value, depth + 1))).collect())
        }
    }
}

fn number_json(number: Number) -> Value {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Value::from(whole),
        (None, Some(real)) => JsonNumber::from_f64(real).map_or(Value::Null, Value::Number),
        (None, None) => Value::Null,
    }
}

/// JSON as a value without shared types inside, as `jupyter_ydoc` writes metadata and MIME bundles.
pub fn to_any(value: &Value) -> Any {
    match value {
        Value::Null => Any::Null,
        Value::Bool(value) => Any::Bool(*value),
        Value::Number(number) => Any::Number(number_any(number)),
        Value::String(text) => Any::String(text.as_str().into()),
        Value::Array(items) => Any::Array(items.iter().map(to_any).collect()),
        Value::Object(entries) => {
            Any::Map(std::sync::Arc::new(entries.iter().map(|(key, value)| (key.clone(), to_any(value))).collect()))
        }
    }
}

/// Integers beyond 32 bits are written as floats: browsers would read them as `BigInt`, which is not JSON.
fn number_any(number: &JsonNumber) -> Number {
    match number.as_i64() {
        Some(whole) if i32::try_from(whole).is_ok() => Number::Int(whole),
        _ => Number::Float(number.as_f64().unwrap_or(0.0)),
    }
}

/// JSON with whole numbers as integers, so that it compares equal with what [`to_json`] reads back.
pub fn normalised(value: &Value) -> Value {
    any_at(&to_any(value), 0)
}

/// A JSON object of the record, normalised. Text that is no object reads as `{}`.
pub fn object(text: &str) -> JsonMap<String, Value> {
    match serde_json::from_str::<Value>(text).map(|value| normalised(&value)) {
        Ok(Value::Object(map)) => map,
        _ => JsonMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_comes_back_as_it_was() {
        for value in [json!({"a": [1, 2.5, null, true, "é😀"], "b": {"c": -7}}), json!([]), json!(2_147_483_648_i64)]
        {
            assert_eq!(normalised(&value), value);
        }
    }

    #[test]
    fn a_whole_float_is_an_integer() {
        assert_eq!(normalised(&json!({"nbformat": 4.0})), json!({"nbformat": 4}));
        assert_eq!(object("[]"), JsonMap::new());
    }

    #[test]
    fn nesting_ends() {
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert!(normalised(&deep).to_string().contains("null"));
    }
}
