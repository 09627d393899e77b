//! Pieces of a stream show the same as the whole, wherever it was cut.

use notarium_terminal::{FoldLimits, StreamFold, cells_of, folded, folded_plain};
use proptest::prelude::*;

/// Gives the text to a fold part by part, and takes a piece after each.
fn pieces<'a>(parts: impl IntoIterator<Item = &'a str>, limits: FoldLimits) -> Vec<String> {
    let mut fold = StreamFold::new(limits);
    let mut taken = Vec::new();
    for part in parts {
        fold.push(part);
        assert_eq!(fold.is_empty(), matches!(fold.len(), 0));
        let (is_empty, piece) = (fold.is_empty(), fold.take());
        assert_eq!(is_empty, piece.is_empty(), "{part:?}");
        taken.push(piece);
    }
    taken
}

fn parts() -> impl Strategy<Value = Vec<String>> {
    let part = prop_oneof![
        6 => "[ab日é ]{1,6}",
        4 => "[\n\r\u{8}\t]{1,2}",
        1 => Just("\r\n".to_owned()),
        1 => Just("e\u{301}👩\u{200d}👧".to_owned()),
        3 => (prop::sample::select(vec!['A', 'B', 'C', 'D', 'E', 'F', 'G', 'J', 'K', 'X', 'P', '@', 'd']), 0_u8..4)
            .prop_map(|(last, count)| format!("\u{1b}[{count}{last}")),
        1 => (0_u8..4, 0_u8..9).prop_map(|(row, column)| format!("\u{1b}[{row};{column}H")),
        3 => prop::sample::select(vec!["0", "", "1", "22", "31", "42", "92", "38;5;200", "48;2;1;2;3", "1;4:3;7", "39;49"])
            .prop_map(|codes| format!("\u{1b}[{codes}m")),
        1 => prop::sample::select(vec!["\u{1b}[?25l", "\u{7}", "\u{1b}]8;;http://x\u{1b}\\", "\u{1b}(B"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..24)
}

/// Cuts a text at characters: a number for each piece.
fn cut<'a>(text: &'a str, lengths: &[usize]) -> Vec<&'a str> {
    let (mut rest, mut cuts) = (text, Vec::new());
    for length in lengths {
        let (part, after) = rest.split_at(rest.floor_char_boundary((*length).min(rest.len())));
        cuts.push(part);
        rest = after;
    }
    cuts.push(rest);
    cuts
}

/// The cells of a text, without the blanks at the end of rows and the empty rows at the end.
pub fn screen(text: &str) -> Option<Vec<Vec<(String, notarium_terminal::Style)>>> {
    let mut rows = cells_of(text)?;
    for row in &mut rows {
        while row.last().is_some_and(|(text, style)| text == " " && *style == Default::default()) {
            row.pop();
        }
    }
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    Some(rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn pieces_show_what_the_whole_shows(parts in parts(), lengths in prop::collection::vec(0_usize..12, 0..12)) {
        let whole = parts.concat();
        let sent = pieces(cut(&whole, &lengths), FoldLimits::WRITER).concat();
        prop_assert_eq!(screen(&sent), screen(&whole), "sent {:?}", sent);
        prop_assert_eq!(screen(&folded(&whole)), screen(&whole), "folded {:?}", folded(&whole));
        prop_assert_eq!(screen(&folded(&folded(&whole))), screen(&whole));
        prop_assert!(folded_plain(&whole).find('\u{1b}').is_none(), "an escape is left");
    }

    #[test]
    fn pieces_of_a_small_screen_show_what_the_whole_shows(parts in parts(), lengths in prop::collection::vec(0_usize..12, 0..12)) {
        let whole = parts.concat();
        let limits = FoldLimits { max_rows: 3, max_cells: 12 };
        let sent = pieces(cut(&whole, &lengths), limits).concat();
        prop_assert_eq!(screen(&sent), screen(&whole), "sent {:?}", sent);
    }

    #[test]
    fn plain_text_stays_byte_for_byte(text in "[ab日é\u{a0}\u{ad}ÿ \t\n]{0,200}", lengths in prop::collection::vec(0_usize..30, 0..12)) {
        let limits = FoldLimits { max_rows: 3, max_cells: 12 };
        prop_assert_eq!(pieces(cut(&text, &lengths), limits).concat(), text.clone());
        prop_assert_eq!(folded(&text), text);
    }
}

#[test]
fn half_of_a_wide_character_is_overwritten_under_a_background() {
    let text = "\u{1b}[42m 日\u{1b}[F日\r\u{1b}[1X";
    for at in text.char_indices().map(|(at, _)| at) {
        let sent = pieces([&text[..at], &text[at..]], FoldLimits::WRITER).concat();
        assert_eq!(screen(&sent), screen(text), "cut at {at}: {sent:?}");
    }
}

#[test]
fn progress_lines_collapse() {
    let mut fold = StreamFold::default();
    for percent in 0..=100 {
        fold.push(&format!("\r{percent}%"));
    }
    assert_eq!(fold.take(), "100%");
    fold.push("\r7\r8");
    assert_eq!(fold.take(), "\r800%\r\u{1b}[1C");
    for percent in 0..=100 {
        fold.push(&format!("\r\u{1b}[K{percent}%\n\u{1b}[32mpart {percent}\u{1b}[0m\u{1b}[A"));
    }
    assert_eq!(fold.take(), "\r100%\n\u{1b}[32mpart 100\u{1b}[0m\u{1b}[1A");
}

#[test]
fn known_texts() {
    for (text, shown) in [
        ("abc\rX", "Xbc"),
        ("abc\r\ndef\r\n", "abc\ndef\n"),
        ("ab\u{8}c", "ac"),
        ("a\n\u{8}b", "a\nb"),
        ("é\rœu", "œu"),
        ("long line\rshort\n", "shortline\n"),
        ("downloading a long name\r\u{1b}[Kdone\n", "done\n"),
        ("\u{1b}[32mstep 10\u{1b}[0m\rok\n", "ok\u{1b}[32mep 10\u{1b}[0m\n"),
        ("working on it\u{1b}[2K\rshort\n", "short\n"),
        ("outer 1\ninner 1\u{1b}[A\router 2\n\rinner 2\n", "outer 2\ninner 2\n"),
        ("\u{1b}[?25l\r\u{1b}[K⠋ x\r\u{1b}[K\u{1b}[?25h✔ ok\n", "✔ ok\n"),
        ("日本語\rX\n", "X 本語\n"),
        ("a\u{1b}[?1049hb\rc", "a\u{1b}[?1049hb\rc"),
        ("ab\rc\u{b}d\re", "cb\r\u{1b}[1C\u{b}d\re"),
        (
            "link \u{1b}]8;;http://x\u{1b}\\here\u{1b}]8;;\u{1b}\\",
            "link \u{1b}]8;;http://x\u{1b}\\here\u{1b}]8;;\u{1b}\\",
        ),
    ] {
        assert_eq!(folded(text), shown, "{text:?}");
    }
    assert_eq!(folded_plain("\u{1b}[32mok\u{1b}[0m \u{1b}]8;;http://x\u{1b}\\here\u{1b}]8;;\u{1b}\\"), "ok here");
}

#[test]
fn memory_between_pieces_is_bounded() {
    let limits = FoldLimits { max_rows: 20, max_cells: 2_000 };
    for unit in [
        "line\n",
        "a\rb\n",
        "x",
        "x\u{8}y",
        "\u{1b}[31mx\u{1b}[0m",
        "\u{1b}[A\u{1b}[Bz\n",
        "\u{1b}]0;",
        "e\u{301}\u{301}",
    ] {
        let mut fold = StreamFold::new(limits);
        for _ in 0..2_000 {
            fold.push(&unit.repeat(10));
            fold.take();
            let held = fold.held_bytes();
            assert!(held < 40_000, "{unit:?}: {held}");
        }
    }
}

#[test]
fn a_line_that_is_too_long_stays_as_it_came_and_the_next_one_is_folded() {
    let limits = FoldLimits { max_rows: 20, max_cells: 100 };
    let long = "x".repeat(1_000);
    let text = format!("{long}\r{long}\nab\rc\n");
    assert_eq!(pieces([text.as_str()], limits).concat(), format!("{long}\r{long}\ncb\n"));
}
