//! JSON of notebook files: parsed leniently, kept exactly, printed as Python prints it.
//!
//! Not `serde_json`: its `Value` rounds big integers and refuses lone surrogates and `NaN`, which Python writes.

mod parse;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::MAX_DEPTH;
pub use parse::{Failure, parse};

pub type Map = BTreeMap<String, Json>;

/// A JSON value. Numbers keep their text; keys are sorted, as nbformat writes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Map),
}

impl Json {
    pub fn text(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    pub fn empty_object() -> Self {
        Self::Object(Map::new())
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub fn as_object(&self) -> Option<&Map> {
        if let Self::Object(map) = self { Some(map) } else { None }
    }

    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns a whole number, written with or without `.0`.
    pub fn as_integer(&self) -> Option<i64> {
        let Self::Number(text) = self else {
            return None;
        };
        text.strip_suffix(".0").unwrap_or(text).parse().ok()
    }

    /// Returns true for null and for an empty string, list or object.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Object(map) => map.is_empty(),
            Self::Bool(_) | Self::Number(_) => false,
        }
    }

    /// Returns the nesting depth: 0 for a scalar.
    pub fn depth(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(map) => 1 + map.values().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    pub fn compact(&self) -> String {
        let mut out = String::new();
        self.print(&mut out, None);
        out
    }

    /// Prints like Python's `json.dumps(…, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": "))`. `indent`: the indent of
    /// the line on which the value begins; `None`: the whole value on one line.
    pub fn print(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(text) => out.push_str(text),
            Self::String(text) => print_string(out, text),
            Self::Array(items) => print_items(out, indent, '[', ']', items, |out, item, inner| item.print(out, inner)),
            Self::Object(map) => print_items(out, indent, '{', '}', map, |out, (key, value), inner| {
                print_string(out, key);
                out.push_str(if inner.is_some() { ": " } else { ":" });
                value.print(out, inner);
            }),
        }
    }

    pub fn to_raw(&self) -> Box<RawValue> {
        // Cannot fail: the printed text is JSON.
        RawValue::from_string(self.compact()).unwrap_or_default()
    }

    /// Parses JSON text. A value that nests too deep, which no import accepts, becomes a string of its text.
    pub fn from_raw(raw: &RawValue) -> Self {
        match parse(raw.get(), MAX_DEPTH) {
            Ok((value, _)) => value,
            Err(_) => Self::text(raw.get()),
        }
    }
}

fn print_items<I: IntoIterator>(
    out: &mut String,
    indent: Option<usize>,
    open: char,
    close: char,
    items: I,
    mut print: impl FnMut(&mut String, I::Item, Option<usize>),
) {
    let inner = indent.map(|spaces| spaces + 1);
    let mut any = false;
    out.push(open);
    for item in items {
        if any {
            out.push(',');
        }
        any = true;
        new_line(out, inner);
        print(out, item, inner);
    }
    if any {
        new_line(out, indent);
    }
    out.push(close);
}

fn new_line(out: &mut String, indent: Option<usize>) {
    if let Some(spaces) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', spaces));
    }
}

fn print_string(out: &mut String, text: &str) {
    out.push('"');
    print_escaped(out, text);
    out.push('"');
}

/// Prints a string without its quotes, escaped.
pub fn print_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        print_escape(out, rest.as_bytes()[at]);
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

fn print_escape(out: &mut String, byte: u8) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        other => out.push_str(&format!("\\u{other:04x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        parse(text, 100).map_or_else(|failure| format!("{failure:?}"), |(value, _)| value.compact())
    }

    #[test]
    fn numbers_are_python_s_when_nothing_is_lost() {
        let cases = [
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1e5", "100000.0"),
            ("1E16", "1e+16"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1.50", "1.5"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("5e-324", "5e-324"),
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
            ("1e-400", "1e-400"),
            ("1e400", "null"),
            ("-Infinity", "null"),
            ("NaN", "null"),
            ("0e999999999999999999999", "0.0"),
            ("9007199254740993.0", "9007199254740993.0"),
        ];
        for (text, expected) in cases {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn broken_json_is_refused_where_it_breaks() {
        let cases = [
            ("{", 1),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("01", 1),
            ("1.", 1),
            ("-", 1),
            ("{\"a\" 1}", 5),
            ("{a:1}", 1),
            ("\"\n\"", 1),
            ("\"\\x\"", 2),
            ("\"\\u12G4\"", 3),
            ("nul", 0),
            ("[] x", 3),
            ("\"abc", 4),
            ("\"\\", 2),
            ("'a'", 0),
        ];
        for (text, expected) in cases {
            let Err(Failure::Syntax { at, .. }) = parse(text, 100) else { panic!("{text} was accepted") };
            assert_eq!(at, expected, "{text}");
        }
    }

    #[test]
    fn strings_mend_half_surrogates_and_print_as_python_does() {
        assert_eq!(
            printed(r#""\ud83d\ude00 \ud800 \udc00\ud83dx \ud800A""#),
            "\"😀 \u{fffd} \u{fffd}\u{fffd}x \u{fffd}A\""
        );
        assert_eq!(
            printed(r#""\u0000\b\f\n\r\t\"\\\/\u007f\u2028é""#),
            "\"\\u0000\\b\\f\\n\\r\\t\\\"\\\\/\u{7f}\u{2028}é\""
        );
    }

    #[test]
    fn depth_is_limited_without_a_stack_overflow() {
        assert_eq!(parse(&"[".repeat(1_000_000), 100).err(), Some(Failure::TooDeep));
        assert!(parse(&format!("{}{}", "[".repeat(100), "]".repeat(100)), 100).is_ok());
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let (value, repairs) = parse(r#"{"a":1,"a":2}"#, 9).expect("valid");
        assert_eq!((value.compact().as_str(), repairs.duplicate_keys), (r#"{"a":2}"#, 1));
    }
}
