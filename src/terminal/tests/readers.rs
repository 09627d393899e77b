//! Cases in `tests/fixtures/terminal/` that the page and the Python client read too: all show the same.

use std::path::PathBuf;

use notarium_terminal::{FoldLimits, StreamFold, folded, folded_plain};
use serde::Deserialize;
use unicode_width::UnicodeWidthChar;

use crate::pieces::screen;

#[derive(Deserialize)]
struct Case {
    pieces: Vec<String>,
    folded: String,
    plain: String,
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terminal").join(name)
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(fixture("cases.jsonl")).expect("the cases are there");
    text.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect()
}

#[test]
fn cases_are_folded_as_other_readers_fold_them() {
    let cases = cases();
    assert!(cases.len() >= 400);
    for Case { pieces, folded: shown, plain } in cases {
        let text = pieces.concat();
        assert_eq!(folded(&text), shown, "{text:?}");
        assert_eq!(folded_plain(&text), plain, "{text:?}");
    }
}

#[test]
fn pieces_that_an_agent_records_of_the_cases_show_the_same() {
    for Case { pieces, .. } in cases() {
        let mut fold = StreamFold::new(FoldLimits::WRITER);
        let mut sent = String::new();
        for piece in &pieces {
            fold.push(piece);
            sent.push_str(&fold.take());
        }
        let text = pieces.concat();
        assert_eq!(screen(&sent), screen(&text), "{text:?}\nsent {sent:?}");
    }
}

/// Widths of all characters: after how many characters (base 36) the next width begins. Z: none, N: one, W: two, T: three columns.
fn widths() -> String {
    let (mut text, mut last, mut width) = (String::new(), 0, 1);
    for character in '\u{20}'..=char::MAX {
        let (code, next) = (u32::from(character), character.width().unwrap_or(0));
        if next != width {
            text.push_str(&base_36(code - last));
            text.push(['Z', 'N', 'W', 'T'][next]);
            (last, width) = (code, next);
        }
    }
    text + "\n"
}

fn base_36(number: u32) -> String {
    let digit = char::from_digit(number % 36, 36).expect("it is below 36");
    if number < 36 { digit.to_string() } else { base_36(number / 36) + &digit.to_string() }
}

#[test]
fn widths_of_characters_are_in_the_file_of_other_readers() {
    let (path, text) = (fixture("widths.txt"), widths());
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    assert_eq!(std::fs::read_to_string(path).expect("the widths are there"), text);
}
