//! Canonical JSON (RFC 8785): one text for each value in every language. Digests are computed over it.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::document::Document;
use crate::hash::Hash;

/// Returns the canonical JSON of a value: keys sorted by their UTF-16 code units, numbers as ECMAScript prints them, no
/// blanks.
///
/// # Errors
/// The value has no canonical form: half of a surrogate pair, a number beyond a double, more than 127 levels.
pub fn canonical_json<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    // Converts to a value first: raw JSON inside is parsed, not passed through.
    serde_json_canonicalizer::to_vec(&serde_json::to_value(value)?)
}

impl Document {
    /// SHA-256 of the document's canonical JSON: equal for all replicas that have applied the same events.
    ///
    /// # Errors
    /// Those of [`canonical_json`].
    pub fn digest(&self) -> Result<Hash, serde_json::Error> {
        Ok(Hash(Sha256::digest(canonical_json(self)?).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let canonical = canonical_json(&RawJson::parse(json).expect("it is JSON")).expect("it has a canonical form");
        assert_eq!(String::from_utf8(canonical).as_deref(), Ok(expected));
    }

    #[test]
    fn keys_are_sorted_by_their_utf_16_units() {
        check(r#"{"b":1, "a":{"\u0000":0,"":2} }"#, "{\"a\":{\"\":2,\"\\u0000\":0},\"b\":1}");
        // U+1F600 is the units D83D DE00.
        check("{\"\u{fb33}\":1,\"😀\":2,\"ö\":3,\"\\r\":4}", "{\"\\r\":4,\"ö\":3,\"😀\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn numbers_are_those_of_ecmascript() {
        check("[1.50, -0, 1e21, 1E-7, 100000000000000000000]", "[1.5,0,1e+21,1e-7,100000000000000000000]");
        check(
            "[12345678901234567890, 9007199254740993, -9223372036854775808]",
            "[12345678901234567000,9007199254740992,-9223372036854776000]",
        );
        // Correct to the last bit.
        check(
            "[2.2250738585072011e-308, 0.1, 5e-324, 1.7976931348623157e308]",
            "[2.225073858507201e-308,0.1,5e-324,1.7976931348623157e+308]",
        );
    }

    #[test]
    fn strings_escape_only_what_must_be() {
        check(r#""\u20ac\/\u000F\n\"\\\u007f""#, "\"€/\\u000f\\n\\\"\\\\\u{7f}\"");
    }

    #[test]
    fn of_two_fields_with_one_name_the_last_counts() {
        check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        for json in [r#""\ud800""#.to_owned(), "1e400".to_owned(), "[".repeat(200) + &"]".repeat(200)] {
            assert!(canonical_json(&RawJson::parse(&json).expect("it is JSON")).is_err(), "{json}");
        }
    }
}
