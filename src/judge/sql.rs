//! SQL by its words: in strings that are handed to a database, in `%%sql`, and in SQL cells.

mod cells;
mod names;
mod tokens;

pub(crate) use cells::judge;
pub use cells::{is_elsewhere, says_write, sql_body, sql_connection};
pub use names::sql_cell_names;

use crate::rules::DangerRule::{self, *};
use crate::words::Words;

/// Words that begin a statement which changes something; with their offsets.
pub(crate) fn dangers(text: &str) -> Vec<(usize, DangerRule, &'static str)> {
    let mut dangers = Vec::new();
    let (mut starts_statement, mut is_open, mut last) = (true, false, String::new());
    for (at, word) in words_of(text) {
        if matches!(word, ";" | "(" | "{" | "?" | "\n") {
            starts_statement = true;
            is_open &= word != ";";
            continue;
        }
        let upper = word.to_ascii_uppercase();
        // Behind these words a statement may hold another one.
        let is_inside =
            is_open && !matches!(upper.as_str(), "REPLACE" | "UPDATE") || upper == "REPLACE" && last == "OR";
        if let Some((rule, spoken)) = rule_of(&upper).filter(|_| starts_statement || is_inside)
            && !is_operand(&text[at + word.len()..])
        {
            dangers.push((at, rule, spoken));
        }
        if matches!(upper.as_str(), "OUTFILE" | "DUMPFILE") {
            dangers.push((at, WritesFile, "INTO OUTFILE"));
        }
        is_open |= matches!(upper.as_str(), "WITH" | "EXPLAIN");
        starts_statement = word == ")"
            || matches!(upper.as_str(), "WITH" | "EXPLAIN" | "ANALYZE" | "BEGIN" | "AS" | "DO" | "THEN" | "VERBOSE");
        last = upper;
    }
    dangers
}

/// Checks by the next sign that a word is a column or a function: `update > 3`.
fn is_operand(after: &str) -> bool {
    after.trim_start().starts_with(['>', '<', '=', '!', '+', '.', ',', ')', '&', '|'])
}

fn rule_of(upper: &str) -> Option<(DangerRule, &'static str)> {
    static DESTROYING: Words =
        Words::of("DROP DELETE TRUNCATE UPDATE ALTER MERGE REPLACE GRANT REVOKE RENAME VACUUM ATTACH");
    match upper {
        "EXEC" | "EXECUTE" | "CALL" => Some((SqlDestroys, "CALL")),
        "COPY" | "UNLOAD" | "EXPORT" => Some((WritesFile, "COPY")),
        "INSTALL" | "LOAD" => Some((SqlLoads, "LOAD")),
        "INSERT" | "UPSERT" => Some((SqlInserts, "INSERT")),
        _ => DESTROYING.all().get(upper).map(|word| (SqlDestroys, *word)),
    }
}

/// Words and the signs after which a statement may begin: a new line and a comment's end are among them. What is quoted or
/// a comment is read like the rest, for where those end differs from database to database.
fn words_of(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at = match rest[0] {
            b'*' if rest.starts_with(b"*/") => {
                words.push((at, "\n"));
                at + 2
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length =
                    rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
                words.push((at, &text[at..at + length]));
                at + length
            }
            b';' | b'(' | b')' | b'{' | b'?' | b'\n' => {
                words.push((at, &text[at..=at]));
                at + 1
            }
            byte if byte.is_ascii_whitespace() || byte == b'/' || byte == b'*' => at + 1,
            _ => {
                words.push((at, ""));
                at + 1
            }
        };
    }
    words
}
