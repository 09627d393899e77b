//! How far a follower of a turn has come: the `id` of each event that it is sent, and what it comes back with.

use std::fmt;
use std::str::FromStr;

use notarium_core::{ToolCallId, Version};

/// A place in the story of a turn. As text `VERSION.STEP`, then `-BLOCK.BEGUN.BYTES.CHECKSUM` within a reply, then `~CALL`
/// after word of a call that takes long. Followers send it back as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Of the last event of the log.
    pub version: Version,
    /// What was made of that event and sent.
    pub step: u32,
    /// Of the reply that this event began.
    pub reply: Option<Mark>,
    /// The last call of which was said that it takes long.
    pub told: Option<ToolCallId>,
}

/// A place in a reply that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Every block before it is complete.
    pub block: usize,
    pub is_begun: bool,
    /// Of its text, in UTF-8.
    pub bytes: usize,
    /// Of everything up to here: tells a reply that was written anew.
    pub checksum: u32,
}

impl Mark {
    /// FNV-1a's beginning.
    pub const START: Self = Self { block: 0, is_begun: false, bytes: 0, checksum: 0x811c_9dc5 };

    pub fn mix(&mut self, bytes: &[u8]) {
        self.checksum =
            bytes.iter().fold(self.checksum, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.version, self.step)?;
        if let Some(Mark { block, is_begun, bytes, checksum }) = self.reply {
            write!(f, "-{block}.{}.{bytes}.{checksum:08x}", u8::from(is_begun))?;
        }
        match &self.told {
            Some(call) => write!(f, "~{call}"),
            None => Ok(()),
        }
    }
}

/// The text is none that this server has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (text, told) = match text.split_once('~') {
            Some((text, call)) => (text, Some(call.parse().map_err(|_| NoCursor)?)),
            None => (text, None),
        };
        let (place, reply) = match text.split_once('-') {
            Some((place, mark)) => (place, Some(parse_mark(mark).ok_or(NoCursor)?)),
            None => (text, None),
        };
        let (version, step) = place.split_once('.').ok_or(NoCursor)?;
        let (version, step) = (version.parse().map_err(|_| NoCursor)?, step.parse().map_err(|_| NoCursor)?);
        Ok(Self { version, step, reply, told })
    }
}

fn parse_mark(text: &str) -> Option<Mark> {
    let mut parts = text.split('.');
    let block = parts.next()?.parse().ok()?;
    let is_begun = match parts.next()? {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    let bytes = parts.next()?.parse().ok()?;
    let checksum = u32::from_str_radix(parts.next()?, 16).ok()?;
    parts.next().is_none().then_some(Mark { block, is_begun, bytes, checksum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text_and_nothing_else_is_one() {
        let mark = Mark { block: 2, is_begun: true, bytes: 1_000, checksum: 0xab };
        let call: ToolCallId = "01J-x_y".parse().unwrap();
        let plain = Cursor { version: 57, step: 1, ..Cursor::default() };
        let within = Cursor { reply: Some(mark), ..plain.clone() };
        let told = Cursor { told: Some(call.clone()), ..plain.clone() };
        let both = Cursor { told: Some(call), ..within.clone() };
        for (cursor, text) in [
            (plain, "57.1"),
            (within, "57.1-2.1.1000.000000ab"),
            (told, "57.1~01J-x_y"),
            (both, "57.1-2.1.1000.000000ab~01J-x_y"),
        ] {
            assert_eq!(cursor.to_string(), text);
            assert_eq!(text.parse(), Ok(cursor));
        }
        for bad in
            ["", "57", "57.", "x.1", "-1.0", "57.1-", "57.1-1.2.3.4", "57.1-1.1.1", "57.1-1.1.1.g", "57.1~", "57.1~a b"]
        {
            assert_eq!(bad.parse::<Cursor>(), Err(NoCursor), "{bad}");
        }
    }
}
