//! Parsers of values on the command line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use notarium_core::Millis;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub const ROLES: [&str; 7] = ["viewer", "commenter", "runner", "author", "editor", "owner", "agent"];
pub const CELL_TYPES: [&str; 5] = ["code", "markdown", "raw", "sql", "prompt"];
pub const SCOPES: [&str; 6] = ["read", "edit", "run", "confirm", "manage", "admin"];
pub const REACTIVITIES: [&str; 3] = ["off", "lazy", "eager"];
pub const POLICIES: [&str; 3] = ["guarded", "ask-for-every-edit", "trusted"];

/// Parses a value of a type by its name on the wire.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(Value::String(name.replace('-', "_"))))
}

/// Parses a duration such as `30m`, `12h`, `7d`, `2w`; in milliseconds.
pub fn parse_duration(text: &str) -> Result<Millis, String> {
    let length = humantime::parse_duration(text).ok().and_then(|length| Millis::try_from(length.as_millis()).ok());
    let explained = || format!("'{text}' is no length of time: write for instance 30m, 12h, 7d or 2w");
    length.filter(|length| *length > 0).ok_or_else(explained)
}

/// The time that is `length` milliseconds from now.
pub fn after(length: Millis) -> Millis {
    now().saturating_add(length)
}

pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::words::narrate::word;
    use notarium_core::Role;

    #[test]
    fn lengths_of_time_are_read_or_explained() {
        assert_eq!(parse_duration("7d"), Ok(604_800_000));
        assert_eq!(parse_duration("30m"), Ok(1_800_000));
        for wrong in ["", "d", "7", "-1d", "0d", "7é", "99999999999999999w"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_role_is_read_as_it_is_written() {
        assert_eq!(Role::ALL.map(|role| word(&role)), ROLES);
    }
}
