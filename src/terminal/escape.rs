//! Splits text into plain runs, control characters and escape sequences.

/// Longest escape sequence that is waited for, in bytes. A longer one is not folded.
const MAX_SEQUENCE_BYTES: usize = 4_096;

/// The next part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Printed characters.
    Text(&'a str),
    Control(u8),
    /// Parameters and final byte of a CSI sequence.
    Csi(&'a str, u8),
    /// A sequence or character without an effect on what is shown, but with content: a link, a title, a bell.
    Kept,
    /// A sequence without an effect on characters: a cursor's look, a mode of the keyboard.
    Dropped,
    /// A sequence or character whose effect is not known.
    Unknown,
    /// The text ends within a sequence.
    Unfinished,
}

fn is_printed(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f && byte != 0xc2
}

/// Bytes of the printed text at the start.
fn printed_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if is_printed(*byte) {
            at += 1;
        } else if *byte == 0xc2 && bytes[at + 1] >= 0xa0 {
            at += 2;
        } else {
            break;
        }
    }
    at
}

/// Bytes at the start that need no folding when they are written at the end: printed text, line breaks and tabs.
pub fn plain_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_plain = |byte: u8| is_printed(byte) | (byte == b'\n') | (byte == b'\t');
    let mut at = 0;
    loop {
        // Whole blocks first: without a branch for each byte the compiler tests many bytes at a time.
        while let Some(block) = bytes.get(at..at + 32)
            && block.iter().fold(true, |plain, byte| plain & is_plain(*byte))
        {
            at += 32;
        }
        at += bytes[at..].iter().position(|byte| !is_plain(*byte)).unwrap_or(bytes.len() - at);
        match bytes.get(at..at + 2) {
            Some([0xc2, second]) if *second >= 0xa0 => at += 2,
            _ => return at,
        }
    }
}

/// Takes the next part off a text that is not empty. Returns it and its length in bytes.
pub fn next(text: &str) -> (Part<'_>, usize) {
    let printed = printed_bytes(text);
    if printed > 0 {
        return (Part::Text(&text[..printed]), printed);
    }
    match text.as_bytes()[0] {
        0x1b => sequence(text),
        0xc2 => (Part::Unknown, 2),
        0x0b | 0x0c => (Part::Unknown, 1),
        control @ (b'\n' | b'\r' | b'\t' | 8) => (Part::Control(control), 1),
        _ => (Part::Kept, 1),
    }
}

fn sequence(text: &str) -> (Part<'_>, usize) {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        None => (Part::Unfinished, text.len()),
        Some(b'[') => csi(text),
        Some(b']') => operating_system_command(text),
        Some(b'=' | b'>' | b'\\') => (Part::Dropped, 2),
        Some(b'(' | b')') => match bytes.get(2) {
            None => (Part::Unfinished, text.len()),
            Some(b'B') => (Part::Dropped, 3),
            Some(_) => (Part::Unknown, 2),
        },
        Some(_) => (Part::Unknown, 1),
    }
}

fn csi(text: &str) -> (Part<'_>, usize) {
    let bytes = text.as_bytes();
    let inside = bytes[2..].iter().position(|byte| !(0x20..0x40).contains(byte));
    let Some(end) = inside.map(|at| at + 2) else { return unfinished(text) };
    let (parameters, last) = (&text[2..end], bytes[end]);
    let part = match last {
        b'h' | b'l' if matches!(parameters, "?25" | "?12" | "?7" | "?2004" | "?2026" | "?1004" | "?1") => Part::Dropped,
        b'q' if parameters.ends_with(' ') => Part::Dropped,
        b'n' | b'c' if parameters.bytes().all(|byte| byte.is_ascii_digit()) => Part::Dropped,
        b'm' if parameters.bytes().any(|byte| !matches!(byte, b'0'..=b':' | b';')) => Part::Dropped,
        _ if parameters.bytes().any(|byte| !matches!(byte, b'0'..=b':' | b';')) => Part::Unknown,
        b'A'..=b'H' | b'J' | b'K' | b'P' | b'X' | b'@' | b'd' | b'f' | b'm' => Part::Csi(parameters, last),
        _ => Part::Unknown,
    };
    // An unknown sequence is not taken: a control character may be in the middle of it.
    let bytes = if part == Part::Unknown { 1 } else { end + 1 };
    (part, bytes)
}

fn operating_system_command(text: &str) -> (Part<'_>, usize) {
    let end = text.as_bytes()[2..].iter().position(|byte| *byte < 0x20).map(|at| at + 2);
    let Some(end) = end else { return unfinished(text) };
    match text.as_bytes().get(end..end + 2) {
        _ if text.as_bytes()[end] == 7 => (Part::Kept, end + 1),
        Some(b"\x1b\\") => (Part::Kept, end + 2),
        None if text.as_bytes()[end] == 0x1b => unfinished(text),
        _ => (Part::Unknown, 1),
    }
}

fn unfinished(text: &str) -> (Part<'_>, usize) {
    if text.len() > MAX_SEQUENCE_BYTES { (Part::Unknown, 1) } else { (Part::Unfinished, text.len()) }
}

/// The text without escapes; other characters stay.
pub fn removed(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        kept.push_str(&rest[..at]);
        let (part, bytes) = next(&rest[at..]);
        let bytes = if part == Part::Unknown { unknown_bytes(&rest[at..]) } else { bytes };
        rest = &rest[at + bytes..];
    }
    kept.push_str(rest);
    kept
}

/// Length of a sequence with an unknown effect: up to its final byte.
fn unknown_bytes(text: &str) -> usize {
    let Some(second) = text[1..].chars().next() else { return 1 };
    if second != '[' {
        return 1 + second.len_utf8();
    }
    let end = text.char_indices().skip(2).find(|(_, character)| !(' '..'@').contains(character));
    end.map_or(text.len(), |(at, last)| at + if last.is_ascii() && last >= '@' { 1 } else { 0 })
}
