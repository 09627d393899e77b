//! Cells as events carry them: type, source, place, metadata, flags.
//!
//! Order keys: a cell's key sorts between its neighbours' keys, so that a move changes one cell only.
//!
//! A key is a list of integers, compared one after the other; a key that is a prefix of another sorts before it. So
//! there is always room. After the end counts up, before the start counts down, and between two neighbouring integers a
//! new level opens. Ten thousand cells appended, or put at one place one before the other, need at most six characters.
//!
//! An integer is written as a head letter for sign and number of digits, then its digits in base 62. So keys compare as
//! ASCII text: `Zz` (-1) < `a0` (0) < `a1` < `az` (61) < `b10` (62); `a1a0` is between `a1` and `a2`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::RawObject;

/// Type of a cell. `.ipynb` files have `sql` as code and `prompt` as Markdown, with Notarium's mark in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    /// Source that the kernel runs.
    Code,
    /// Markdown, shown as a page.
    Markdown,
    /// Text that is neither run nor rendered.
    Raw,
    /// An SQL query, which the kernel runs; in `.ipynb` a code cell.
    Sql,
    /// A message to an assistant, whose reply the cell shows; in `.ipynb` a Markdown cell.
    Prompt,
}

/// First line of the text that a kernel gets for an SQL cell. The run's record has it too, so that the text alone shows
/// that it is SQL.
pub const SQL_LINE: &str = "%%notarium_sql\n";

impl CellType {
    /// Returns true if a kernel runs cells of this type.
    pub fn runs(self) -> bool {
        matches!(self, Self::Code | Self::Sql)
    }

    /// Returns the text that a kernel gets for a source.
    pub fn text_to_run(self, source: &str) -> Cow<'_, str> {
        match self {
            Self::Sql => Cow::Owned(format!("{SQL_LINE}{source}")),
            _ => Cow::Borrowed(source),
        }
    }
}

/// Flags of a cell: its display and its use, not its content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellFlags {
    /// Always in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Only the outputs are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub source_hidden: bool,
    /// Only the source is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outputs_hidden: bool,
    /// For a heading: the cells below it, up to the next heading, are not shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heading_collapsed: bool,
    /// A flag for exporters. Notarium stores it and does not use it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// Number of a bookmark, 1 to 9. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// Content of a cell, as events carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellContent {
    /// The cell's type.
    pub cell_type: CellType,
    /// The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty.
    pub source: String,
    /// The cell's place. Cells are sorted by this key, then by id.
    pub order_key: OrderKey,
    /// The cell's metadata, as in nbformat. Absent: `{}`.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub metadata: RawObject,
    /// File name to MIME bundle, as in nbformat. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<RawObject>,
    /// The cell's flags. Absent: none is set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flags: CellFlags,
}

impl CellContent {
    /// Returns the text that a kernel gets for the cell.
    pub fn text_to_run(&self) -> Cow<'_, str> {
        self.cell_type.text_to_run(&self.source)
    }
}

/// Equality with the default, to leave a field out of JSON.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

// --- order keys ---

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Key for the place of a cell: ASCII text that sorts byte by byte, with ties sorted by cell id. The server chooses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OrderKey(String);

impl OrderKey {
    /// Returns a key after `lower` and before `upper`. Equal or disordered bounds give a key right after `lower`; a
    /// bound that cannot be parsed counts as absent.
    pub fn between(lower: Option<&OrderKey>, upper: Option<&OrderKey>) -> OrderKey {
        let lower = lower.and_then(OrderKey::integers);
        let upper = upper.and_then(OrderKey::integers);
        let key = match (lower, upper) {
            (None, None) => vec![0],
            (Some(lower), None) => after(&lower),
            (None, Some(upper)) => before(&upper),
            (Some(lower), Some(upper)) if lower < upper => middle(&lower, &upper),
            (Some(lower), Some(_)) => [&*lower, &[0]].concat(),
        };
        OrderKey(key.into_iter().map(written).collect())
    }

    fn integers(&self) -> Option<Vec<i64>> {
        let mut rest = self.0.as_bytes();
        let mut integers = Vec::new();
        while !rest.is_empty() {
            let (integer, length) = read(rest)?;
            integers.push(integer);
            rest = &rest[length..];
        }
        (!integers.is_empty()).then_some(integers)
    }

    /// The key as in JSON. Compare keys as text, byte by byte.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Counts up the first integer that allows it, and drops the rest. None allows it only after 2^63 appends.
fn after(key: &[i64]) -> Vec<i64> {
    match key.iter().position(|integer| *integer < i64::MAX) {
        Some(index) => [&key[..index], &[key[index] + 1]].concat(),
        None => [key, &[0]].concat(),
    }
}

fn before(key: &[i64]) -> Vec<i64> {
    match key.iter().position(|integer| *integer > i64::MIN) {
        Some(index) => [&key[..index], &[key[index] - 1]].concat(),
        None => key.to_vec(),
    }
}

fn middle(lower: &[i64], upper: &[i64]) -> Vec<i64> {
    let common = lower.iter().zip(upper).take_while(|(lower, upper)| lower == upper).count();
    let (shared, lower, upper) = (&lower[..common], &lower[common..], &upper[common..]);
    let rest = match (lower, upper) {
        ([], upper) => before(upper),
        ([low, ..], [high, ..]) if high.saturating_sub(*low) > 1 => vec![low + 1],
        ([low], _) => vec![*low, 0],
        ([low, deeper @ ..], _) => [&[*low], &*after(deeper)].concat(),
    };
    [shared, &rest].concat()
}

fn written(integer: i64) -> String {
    let magnitude = if integer < 0 { !integer } else { integer }.unsigned_abs();
    let digits = digits_of(magnitude);
    // At most 11 digits: the heads a … k and Z … P.
    let more = u8::try_from(digits.len() - 1).unwrap_or(u8::MAX);
    let (head, flip) = if integer < 0 { (b'Z' - more, true) } else { (b'a' + more, false) };
    let digit = |digit: &usize| char::from(DIGITS[if flip { 61 - digit } else { *digit }]);
    std::iter::once(char::from(head)).chain(digits.iter().map(digit)).collect()
}

/// Digits in base 62, most significant first, at least one.
fn digits_of(mut magnitude: u64) -> Vec<usize> {
    let mut digits = Vec::new();
    loop {
        digits.insert(0, usize::try_from(magnitude % 62).unwrap_or(0));
        magnitude /= 62;
        if magnitude == 0 {
            return digits;
        }
    }
}

/// Reads the first integer of `text`; returns it with its length in bytes.
fn read(text: &[u8]) -> Option<(i64, usize)> {
    let head = *text.first()?;
    let (length, is_negative) = match head {
        b'a'..=b'k' => (usize::from(head - b'a') + 1, false),
        b'P'..=b'Z' => (usize::from(b'Z' - head) + 1, true),
        _ => return None,
    };
    let digits = text.get(1..=length)?;
    let magnitude = digits.iter().try_fold(0_i64, |sum, byte| {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        let digit = if is_negative { 61 - digit } else { digit };
        sum.checked_mul(62)?.checked_add(i64::try_from(digit).ok()?)
    })?;
    Some((if is_negative { !magnitude } else { magnitude }, length + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> OrderKey {
        OrderKey(text.to_owned())
    }

    #[test]
    fn integers_are_written_in_their_order() {
        for (integer, text) in
            [(0, "a0"), (61, "az"), (62, "b10"), (3843, "bzz"), (3844, "c100"), (-1, "Zz"), (-62, "Z0"), (-63, "Yyz")]
        {
            assert_eq!(written(integer), text);
            assert_eq!(key(text).integers(), Some(vec![integer]));
        }
        for integer in [i64::MIN, i64::MAX] {
            assert_eq!(key(&written(integer)).integers(), Some(vec![integer]));
        }
    }

    #[test]
    fn a_bound_that_is_no_key_counts_as_absent() {
        for odd in ["", "7", "a", "b1", "lzzzzzzzzzzzz", "kzzzzzzzzzzz", "a0é"] {
            assert_eq!(OrderKey::between(Some(&key(odd)), None), key("a0"), "{odd}");
        }
        assert_eq!(OrderKey::between(Some(&key("a5")), Some(&key("a5"))), key("a5a0"));
    }

    fn longest_of(count: usize, mut next: impl FnMut(&[OrderKey]) -> usize) -> usize {
        let mut keys: Vec<OrderKey> = Vec::new();
        for _ in 0..count {
            let at = next(&keys);
            let new = OrderKey::between(at.checked_sub(1).map(|index| &keys[index]), keys.get(at));
            keys.insert(at, new);
        }
        assert!(keys.is_sorted_by(|left, right| left < right));
        keys.iter().map(|key| key.as_str().len()).max().unwrap_or(0)
    }

    #[test]
    fn keys_stay_short_where_people_write() {
        assert!(longest_of(10_000, <[_]>::len) <= 4, "appended");
        assert!(longest_of(10_000, |_| 0) <= 4, "put in front");
        assert!(longest_of(2_000, |keys| keys.len().min(1)) <= 6, "each right after the first");
        assert!(longest_of(2_000, |keys| keys.len().saturating_sub(1)) <= 6, "each right before the last");
        let mut turn = 0;
        let mut halves = |keys: &[OrderKey]| {
            turn += 1;
            if turn % 2 == 0 { keys.len() / 2 } else { (keys.len() / 2).saturating_sub(1) }
        };
        assert!(longest_of(100, &mut halves) <= 200, "the worst: two characters for each");
    }

    proptest! {
        #[test]
        fn a_key_between_two_is_between_them(places in prop::collection::vec(any::<prop::sample::Index>(), 1..200)) {
            let mut places = places.into_iter();
            longest_of(places.len(), |keys| places.next().map_or(0, |place| place.index(keys.len() + 1)));
        }

        #[test]
        fn text_and_integers_sort_alike(left in prop::collection::vec(any::<i64>(), 1..4), right in prop::collection::vec(-70_i64..70, 1..4)) {
            let text = |integers: &[i64]| integers.iter().copied().map(written).collect::<String>();
            prop_assert_eq!(left.cmp(&right), text(&left).cmp(&text(&right)));
        }

        #[test]
        fn no_text_panics(lower in ".{0,12}", upper in "[a-kP-Z0-9]{0,12}") {
            OrderKey::between(Some(&key(&lower)), Some(&key(&upper)));
        }
    }
}
