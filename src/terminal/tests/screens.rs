//! Recorded streams of programs against `pyte`, an emulator of 4,000 columns that does not scroll. `record.py` makes the records.

use notarium_terminal::{FoldLimits, StreamFold, Style, TextColour, cells_of, folded};
use serde_json::{Value, json};

/// The colours of the 256 that are not basic.
fn palette(index: u8) -> (u8, u8, u8) {
    const BASIC: [(u8, u8, u8); 16] = [
        (0x00, 0x00, 0x00),
        (0xcd, 0x00, 0x00),
        (0x00, 0xcd, 0x00),
        (0xcd, 0xcd, 0x00),
        (0x00, 0x00, 0xee),
        (0xcd, 0x00, 0xcd),
        (0x00, 0xcd, 0xcd),
        (0xe5, 0xe5, 0xe5),
        (0x7f, 0x7f, 0x7f),
        (0xff, 0x00, 0x00),
        (0x00, 0xff, 0x00),
        (0xff, 0xff, 0x00),
        (0x5c, 0x5c, 0xff),
        (0xff, 0x00, 0xff),
        (0x00, 0xff, 0xff),
        (0xff, 0xff, 0xff),
    ];
    let level = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
    match index {
        0..16 => BASIC[usize::from(index)],
        16..232 => (level((index - 16) / 36), level((index - 16) / 6 % 6), level((index - 16) % 6)),
        232.. => ((index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8),
    }
}

fn colour(colour: TextColour) -> String {
    let hex = |(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}");
    match colour {
        TextColour::Default => String::new(),
        TextColour::Basic(index) => index.to_string(),
        TextColour::Palette(index) => hex(palette(index)),
        TextColour::Exact(red, green, blue) => hex((red, green, blue)),
    }
}

fn look(text: &str, style: Style) -> [String; 3] {
    if text == " " {
        return [String::new(), colour(style.back), String::new()];
    }
    let marks = [(1, 'b'), (3, 'i'), (4, 'u'), (9, 's'), (7, '7')];
    let marks = marks.iter().filter(|(attribute, _)| style.has(*attribute)).map(|(_, mark)| mark);
    [colour(style.fore), colour(style.back), marks.collect()]
}

/// Rows of runs, as in the records.
fn rows(text: &str) -> Value {
    let mut rows = Vec::new();
    for row in cells_of(text).expect("all of the text is folded") {
        let mut cells: Vec<_> = row.into_iter().filter(|(text, _)| !text.is_empty()).collect();
        while cells.last().is_some_and(|(text, _)| text == " ") {
            cells.pop();
        }
        let mut runs: Vec<(String, [String; 3])> = Vec::new();
        for (text, style) in cells {
            let look = look(&text, style);
            match runs.last_mut() {
                Some((run, same)) if *same == look => run.push_str(&text),
                _ => runs.push((text, look)),
            }
        }
        rows.push(
            runs.into_iter().map(|(text, [fore, back, marks])| json!([composed(&text), fore, back, marks])).collect(),
        );
    }
    while rows.last().is_some_and(|row: &Vec<Value>| row.is_empty()) {
        rows.pop();
    }
    json!(rows)
}

/// Composes the one accent that the records have (NFC).
fn composed(text: &str) -> String {
    text.replace("e\u{301}", "é").replace("a\u{301}", "á").replace("c\u{301}", "ć").replace("g\u{301}", "ǵ")
}

fn records() -> impl Iterator<Item = (String, Value)> {
    include_str!("streams.jsonl").lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("a record is JSON");
        (record["text"].as_str().expect("a text").to_owned(), record["rows"].take())
    })
}

#[test]
fn streams_show_what_pyte_shows() {
    let mut wrong = Vec::new();
    for (text, shown) in records() {
        for (name, given) in [("as it came", text.clone()), ("folded", folded(&text))] {
            let rows = rows(&given);
            if rows != shown {
                wrong.push(format!("{name}: {text:?}\n  given {given:?}\n  ours  {rows}\n  pyte  {shown}"));
            }
        }
    }
    assert!(records().count() >= 200);
    assert!(wrong.is_empty(), "{} of them differ:\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
}

#[test]
fn streams_in_pieces_show_what_pyte_shows() {
    for (number, (text, shown)) in records().enumerate() {
        let mut fold = StreamFold::new(FoldLimits::WRITER);
        let (mut sent, mut rest) = (String::new(), text.as_str());
        for step in (1..).map(|step| 1 + (step * 7 + number) % 23) {
            let (part, after) = rest.split_at(rest.floor_char_boundary(step.max(4).min(rest.len())));
            fold.push(part);
            sent.push_str(&fold.take());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        assert_eq!(rows(&sent), shown, "{text:?}\nsent {sent:?}");
    }
}

#[test]
fn a_folded_text_moves_no_cursor() {
    for (text, _) in records() {
        let folded = folded(&text);
        let moves = folded.split('\u{1b}').skip(1).find(|escape| {
            let last = escape.trim_start_matches(|c: char| c == '[' || c == ';' || c.is_ascii_digit()).chars().next();
            !matches!(last, Some('m' | 'K'))
        });
        assert!(moves.is_none() && !folded.contains(['\r', '\u{8}']), "{text:?}\nfolded {folded:?}");
    }
}
