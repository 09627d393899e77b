//! JSON of notebook files: parsed leniently, kept exactly, printed as Python prints it.
//!
//! Not parsed by `serde_json`: its `Value` rounds big integers, and it refuses lone surrogates and `NaN`, which Python writes.
//!
//! The parser repairs what Python writes and JSON does not allow, and counts the repairs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::Error;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;
use serde_json::value::RawValue;

use super::MAX_DEPTH;

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

    /// Prints the value on one line.
    pub fn compact(&self) -> String {
        // Cannot fail: keys are strings.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Prints like Python's `json.dumps(…, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": "))`. `indent`: the indent of
    /// the line on which the value begins.
    pub fn print(&self, out: &mut String, indent: usize) {
        let mut printed = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut printed, PrettyFormatter::with_indent(b" "));
        // Cannot fail: keys are strings.
        let _ = self.serialize(&mut serializer);
        let printed = String::from_utf8(printed).unwrap_or_default();
        // Line breaks occur only between values.
        out.push_str(&printed.replace('\n', &format!("\n{}", " ".repeat(indent))));
    }

    pub fn to_raw(&self) -> Box<RawValue> {
        serde_json::value::to_raw_value(self).unwrap_or_default()
    }

    /// Parses JSON text. A value that nests too deep, which no import accepts, becomes a string of its text.
    pub fn from_raw(raw: &RawValue) -> Self {
        match parse(raw.get(), MAX_DEPTH) {
            Ok((value, _)) => value,
            Err(_) => Self::text(raw.get()),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            // No type of numbers has them all.
            Self::Number(text) => {
                serde_json::from_str::<&RawValue>(text).map_err(S::Error::custom)?.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(map) => serializer.collect_map(map),
        }
    }
}

/// Number of repairs by kind.
#[derive(Debug, Default)]
pub struct Repairs {
    pub lone_surrogates: usize,
    pub not_finite: usize,
    pub duplicate_keys: usize,
}

/// Reason for a failure to parse, with the byte offset.
#[derive(Debug, PartialEq)]
pub enum ParseFailure {
    Syntax { at: usize, reason: &'static str },
    TooDeep,
}

/// Parses one value. `NaN` and infinities become null, half surrogates U+FFFD; the last of equal keys counts.
pub fn parse(text: &str, max_depth: usize) -> Result<(Json, Repairs), ParseFailure> {
    let mut parser = Parser { text, at: 0, max_depth, repairs: Repairs::default() };
    let value = parser.value(0)?;
    parser.skip_space();
    match parser.peek() {
        None => Ok((value, parser.repairs)),
        Some(_) => Err(parser.wrong("there is something after the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    max_depth: usize,
    repairs: Repairs,
}

impl Parser<'_> {
    fn wrong(&self, reason: &'static str) -> ParseFailure {
        let reason = if self.at >= self.text.len() { "the file ends too early" } else { reason };
        ParseFailure::Syntax { at: self.at, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, ParseFailure> {
        self.skip_space();
        match self.peek() {
            Some(b'{' | b'[') if depth >= self.max_depth => Err(ParseFailure::TooDeep),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, ParseFailure> {
        if self.take_word("null") {
            Ok(Json::Null)
        } else if self.take_word("true") {
            Ok(Json::Bool(true))
        } else if self.take_word("false") {
            Ok(Json::Bool(false))
        } else if self.take_word("NaN") || self.take_word("Infinity") {
            Ok(self.not_finite())
        } else {
            Err(self.wrong("a value was expected"))
        }
    }

    fn not_finite(&mut self) -> Json {
        self.repairs.not_finite += 1;
        Json::Null
    }

    fn array(&mut self, depth: usize) -> Result<Json, ParseFailure> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.end_of_items(b']')? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, ParseFailure> {
        self.at += 1;
        let mut map = Map::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Json::Object(map));
        }
        loop {
            let key = self.key()?;
            let value = self.value(depth)?;
            self.repairs.duplicate_keys += usize::from(map.insert(key, value).is_some());
            if self.end_of_items(b'}')? {
                return Ok(Json::Object(map));
            }
        }
    }

    fn key(&mut self) -> Result<String, ParseFailure> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a key in quotes was expected"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.take(b':') { Ok(key) } else { Err(self.wrong("a colon was expected")) }
    }

    fn end_of_items(&mut self, close: u8) -> Result<bool, ParseFailure> {
        self.skip_space();
        if self.take(close) {
            return Ok(true);
        }
        if self.take(b',') {
            Ok(false)
        } else {
            Err(self.wrong("a comma or the end of the list or object was expected"))
        }
    }

    fn string(&mut self) -> Result<String, ParseFailure> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            let plain = plain.unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut out)?,
                _ => return Err(self.wrong("a control character stands in a string")),
            }
        }
        self.at += 1;
        Ok(out)
    }

    fn escape(&mut self, out: &mut String) -> Result<(), ParseFailure> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(out),
            _ => return Err(self.wrong("there is no such escape")),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    fn unicode_escape(&mut self, out: &mut String) -> Result<(), ParseFailure> {
        self.at += 1;
        let first = self.four_digits()?;
        let start = self.at;
        let second = if self.take_word("\\u") { self.four_digits().ok() } else { None };
        let character = char::decode_utf16([first].into_iter().chain(second)).next().and_then(Result::ok);
        if character.is_none_or(|character| character.len_utf16() == 1) {
            self.at = start;
        }
        self.repairs.lone_surrogates += usize::from(character.is_none());
        out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn four_digits(&mut self) -> Result<u16, ParseFailure> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            return Err(self.wrong("four hex digits were expected"));
        };
        self.at += 4;
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json, ParseFailure> {
        let start = self.at;
        self.take(b'-');
        if self.take_word("Infinity") {
            return Ok(self.not_finite());
        }
        if !self.take(b'0') && !self.digits() {
            return Err(self.wrong("a digit was expected"));
        }
        let fraction = self.part(1, |parser| parser.take(b'.'));
        let exponent = self.part(2, |parser| parser.take(b'e') || parser.take(b'E'));
        let text = &self.text[start..self.at];
        if !fraction && !exponent {
            return Ok(Json::Number(if text == "-0" { "0" } else { text }.to_owned()));
        }
        Ok(float(text).map_or_else(|| self.not_finite(), Json::Number))
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > start
    }

    /// Consumes a fraction or an exponent as a whole, or nothing. `signs` is 2 where a sign is allowed.
    fn part(&mut self, signs: u8, mark: impl Fn(&mut Self) -> bool) -> bool {
        let start = self.at;
        let marked = mark(self);
        if marked && signs > 1 && !self.take(b'+') {
            self.take(b'-');
        }
        let whole = marked && self.digits();
        if !whole {
            self.at = start;
        }
        whole
    }
}

/// Formats a float as Python's `repr` does if that is the same number to the last digit, else keeps the text.
/// Returns `None` beyond the range of doubles, where Python would read an infinity.
fn float(text: &str) -> Option<String> {
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    let printed = python_repr(value);
    let same = decimal(&printed).is_some_and(|number| decimal(text) == Some(number));
    Some(if same { printed } else { text.to_owned() })
}

/// Prints the shortest digits that give the same double, with an exponent from 1e16 up and below 1e-4.
fn python_repr(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return format!("{value:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Returns the sign, the digits without zeros at either end, and the power of ten of the last digit.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let negative = text.starts_with('-');
    let (mantissa, exponent) =
        text.trim_start_matches('-').split_once(['e', 'E']).unwrap_or((text.trim_start_matches('-'), "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((negative, String::new(), 0));
    }
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
    Some((negative, significant.to_owned(), power))
}

#[cfg(test)]
mod tests;
