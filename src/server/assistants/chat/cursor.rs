//! Position of a turn's follower: the `id` of each event that it is sent, with which it resumes.

use std::fmt;
use std::str::FromStr;

use notarium_core::Version;

/// A position in a turn: `VERSION-N`, an event of the log and a count of what was sent after it. Chat events that
/// follow from one event of the log count from 1. A live reply belongs to the event that began its model call. There
/// each start and end of a block counts 1, and each byte of its text.
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

/// The text is not an id from this server.
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
