//! Values of the command line: parsers, and their words.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use notarium_core::Millis;
pub use notarium_core::wire_word as word;
pub use notarium_report::words::labels_text;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub const ROLES: [&str; 7] = ["viewer", "commenter", "runner", "author", "editor", "owner", "agent"];
pub const CELL_TYPES: [&str; 5] = ["code", "markdown", "raw", "sql", "prompt"];
pub const SCOPES: [&str; 6] = ["read", "edit", "run", "confirm", "manage", "admin"];
pub const REACTIVITIES: [&str; 3] = ["off", "lazy", "eager"];
/// Effects that a grant may cover: those that destroy nothing.
pub const GRANTED_EFFECTS: [&str; 3] = ["create", "network", "open"];
pub const POLICIES: [&str; 3] = ["guarded", "ask-for-every-edit", "trusted"];

/// Parses a value of a type by its name on the wire.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(Value::String(name.replace('-', "_"))))
}

/// Parses a label of an agent, such as `gpu=a100`.
pub fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("a label is KEY=VALUE, as in gpu=a100")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
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

/// Number of bytes: `1048576`, `64 KiB`, `10 MiB`, `2 GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let explained = || format!("'{text}' is no size: write for instance 64KiB, 10MiB or 2GiB");
        let text = text.trim();
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
        let unit = units.into_iter().find_map(|(name, shift)| Some((text.strip_suffix(name)?, shift)));
        let (number, shift) = unit.unwrap_or((text, 0));
        let number: u64 = number.trim().parse().map_err(|_| explained())?;
        // At most 1 TiB, which every platform can count.
        number.checked_mul(1 << shift).filter(|bytes| (1..=1 << 40).contains(bytes)).map(Self).ok_or_else(explained)
    }
}

impl Size {
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn sizes_are_read_or_explained() {
        assert_eq!("10 MiB".parse(), Ok(Size(10 << 20)));
        assert_eq!("4096".parse(), Ok(Size(4_096)));
        for wrong in ["", "MiB", "0", "-1", "1.5MiB", "10 MB", "99999999999GiB"] {
            assert!(wrong.parse::<Size>().unwrap_err().contains("64KiB"), "{wrong}");
        }
    }
}
