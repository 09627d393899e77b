//! How far a follower of a turn has come: the `id` of each event that it is sent, and what it comes back with.

use std::fmt;
use std::str::FromStr;

use notarium_core::Version;

/// A place in the story of a turn: `VERSION-N`, an event of the log and how much of what follows from it was sent. What one
/// event of the log leads to is counted from 1. A reply that is being written belongs to the event that began its model call;
/// there each beginning and end of a block counts 1, and each byte of its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub version: Version,
    pub count: usize,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.version, self.count)
    }
}

/// The text is no id that this server has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (version, count) = text.split_once('-').ok_or(NoCursor)?;
        Ok(Self { version: version.parse().map_err(|_| NoCursor)?, count: count.parse().map_err(|_| NoCursor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text_and_nothing_else_is_one() {
        let cursor = Cursor { version: 57, count: 1_000 };
        assert_eq!(cursor.to_string(), "57-1000");
        assert_eq!("57-1000".parse(), Ok(cursor));
        for bad in ["", "57", "57-", "-1", "x-1", "57-1-2", "57.1", "57--1"] {
            assert_eq!(bad.parse::<Cursor>(), Err(NoCursor), "{bad}");
        }
    }
}
