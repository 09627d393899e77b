//! Laws of changes on random texts, and examples of every refusal.

mod codemirror_oracle;

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::build::Builder;
use super::*;

/// Steps through a text: characters to keep, characters to delete, text to insert.
type Script = Vec<(usize, usize, String)>;

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c ]{1,3}",
        2 => Just("\n".to_owned()),
        1 => Just("\n\n\n".to_owned()),
        1 => Just("é".to_owned()),
        1 => Just("e\u{301}".to_owned()),
        2 => Just("😀".to_owned()),
        1 => Just("👩‍👩‍👧".to_owned()),
        1 => Just("𝒳中\u{200d}".to_owned()),
        1 => "[a-z]{60,90}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

fn script() -> impl Strategy<Value = Script> {
    let insert = prop_oneof![2 => Just(String::new()), 3 => vec(piece(), 1..3).prop_map(|pieces| pieces.concat())];
    vec((0..6_usize, 0..5_usize, insert), 0..6)
}

/// The change that `script` makes of `doc`. Each section is added separately, so that neighbours are not joined.
fn change(doc: &str, script: &Script) -> ChangeSet {
    let mut builder = Builder::default();
    let mut characters = doc.chars();
    let mut units = |count: usize| characters.by_ref().take(count).map(char::len_utf16).sum::<usize>();
    for (keep, delete, insert) in script {
        builder.keep(units(*keep));
        builder.replace(units(*delete), insert, utf16_len(insert));
    }
    builder.keep(units(usize::MAX));
    builder.finish().expect("within limits")
}

fn applied(change: &ChangeSet, doc: &str) -> String {
    change.apply(doc).expect("the change is for this text").text
}

/// Applies a change in UTF-16, section by section, without the module's arithmetic.
fn applied_naively(change: &ChangeSet, doc: &str) -> String {
    let units: Vec<u16> = doc.encode_utf16().collect();
    let (mut result, mut position) = (Vec::new(), 0);
    for section in serde_json::to_value(change).expect("a value").as_array().expect("an array") {
        let number = |value: &serde_json::Value| usize::try_from(value.as_u64().expect("length")).expect("fits");
        match section.as_array() {
            None => {
                result.extend_from_slice(&units[position..position + number(section)]);
                position += number(section);
            }
            Some(parts) => {
                let lines: Vec<_> = parts[1..].iter().map(|line| line.as_str().expect("line")).collect();
                result.extend(lines.join("\n").encode_utf16());
                position += number(&parts[0]);
            }
        }
    }
    assert_eq!(position, units.len());
    String::from_utf16(&result).expect("no pair is split")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn apply_does_what_the_sections_say(doc in text(), steps in script()) {
        let change = change(&doc, &steps);
        let result = applied(&change, &doc);
        prop_assert_eq!(&result, &applied_naively(&change, &doc));
        prop_assert_eq!(change.length_before(), utf16_len(&doc));
        prop_assert_eq!(change.length_after(), utf16_len(&result));
    }

    #[test]
    fn apply_in_place_is_apply(doc in text(), steps in script()) {
        let change = change(&doc, &steps);
        let expected = change.apply(&doc).expect("applies");
        let mut text = doc.clone();
        prop_assert_eq!(change.apply_to(&mut text).expect("applies"), expected.removed);
        prop_assert_eq!(text, expected.text);
    }

    #[test]
    fn transform_converges(doc in text(), left in script(), right in script()) {
        let (a, b) = (change(&doc, &left), change(&doc, &right));
        let b_late = b.map(&a, false).expect("same text");
        let a_late = a.map(&b, true).expect("same text");
        let result = applied(&b_late, &applied(&a, &doc));
        prop_assert_eq!(&result, &applied(&a_late, &applied(&b, &doc)));
        prop_assert_eq!(&result, &applied(&a.compose(&b_late).expect("in order"), &doc));
        prop_assert_eq!(&result, &applied(&b.compose(&a_late).expect("in order"), &doc));
    }

    #[test]
    fn mapping_over_many_is_mapping_over_each(
        doc in text(), late in vec((0..40_usize, 0..3_usize, "[ab]{0,2}"), 1..2),
        places in vec((0..40_usize, 0..3_usize, "[cd]{0,2}"), 0..12), scripts in vec(script(), 0..2),
    ) {
        let (mut text, mut overs) = (doc.clone(), Vec::new());
        for steps in places.into_iter().map(|place| vec![place]).chain(scripts) {
            overs.push(change(&text, &steps));
            text = applied(&overs[overs.len() - 1], &text);
        }
        let late = change(&doc, &late);
        let each = overs.iter().try_fold(late.clone(), |late, over| late.map(over, false));
        prop_assert_eq!(late.map_over_all(&overs), each);
    }

    #[test]
    fn compose_is_one_after_the_other_and_associates(doc in text(), scripts in (script(), script(), script())) {
        let a = change(&doc, &scripts.0);
        let after_a = applied(&a, &doc);
        let b = change(&after_a, &scripts.1);
        let after_b = applied(&b, &after_a);
        let c = change(&after_b, &scripts.2);
        let after_c = applied(&c, &after_b);
        let left = a.compose(&b).and_then(|ab| ab.compose(&c)).expect("in order");
        let right = b.compose(&c).and_then(|bc| a.compose(&bc)).expect("in order");
        prop_assert_eq!(&applied(&left, &doc), &after_c);
        prop_assert_eq!(&applied(&right, &doc), &after_c);
    }

    #[test]
    fn what_was_removed_puts_the_text_back(doc in text(), steps in script()) {
        let change = change(&doc, &steps);
        let done = change.apply(&doc).expect("applies");
        let mut removed = done.removed.into_iter();
        let back = change.sections().map(|(length, insert)| match insert {
            None => (length, None),
            Some(insert) if length == 0 => (utf16_len(insert), Some(String::new())),
            Some(insert) => (utf16_len(insert), removed.next()),
        });
        let back = ChangeSet::from_sections(back).expect("no larger than the text was");
        prop_assert_eq!(applied(&back, &done.text), doc);
        prop_assert_eq!(removed.next(), None);
    }

    #[test]
    fn diff_leads_to_the_new_text(old in text(), new in text(), steps in script()) {
        let change_to_new = diff(&old, &new);
        prop_assert_eq!(applied(&change_to_new, &old), new);
        let edited = applied(&change(&old, &steps), &old);
        let change_to_edited = diff(&old, &edited);
        prop_assert_eq!(applied(&change_to_edited, &old), edited);
        prop_assert_eq!(diff(&old, &old), ChangeSet::identity(utf16_len(&old)));
    }

    #[test]
    fn json_reads_back(doc in text(), steps in script()) {
        let change = change(&doc, &steps);
        prop_assert_eq!(read(&written(&change)), Ok(change));
    }

    /// Applies random shapes to random texts and to each other: an error or a result, never a panic or a split pair.
    #[test]
    fn no_json_panics(sections in vec(section(), 0..8), other in vec(section(), 0..8), doc in text()) {
        if let (Ok(a), Ok(b)) = (read(&json!(sections).to_string()), read(&json!(other).to_string())) {
            let mut text = doc.clone();
            if a.apply_to(&mut text).is_err() {
                prop_assert_eq!(&text, &doc);
            }
            let _ = (a.compose(&b), b.compose(&a), a.map(&b, true), b.map(&a, false));
        }
    }

    #[test]
    fn random_bytes_are_no_change(json in "[\\[\\]0-9,\"a\\\\ud8-]{0,24}") {
        let _ = read(&json);
    }

    /// Refuses changes exactly if a section lies inside a pair.
    #[test]
    fn pairs_are_never_split(doc in text(), at in 0..40_usize, length in 0..5_usize) {
        let units: Vec<u16> = doc.encode_utf16().collect();
        let (start, end) = (at.min(units.len()), (at + length).min(units.len()));
        let change = ChangeSet::replace(units.len(), start..end, "x").expect("in bounds");
        let whole = [&units[..start], &units[start..end]].iter().all(|part| String::from_utf16(part).is_ok());
        match change.apply(&doc) {
            Ok(done) => {
                prop_assert!(whole);
                prop_assert_eq!(done.text, applied_naively(&change, &doc));
            }
            Err(error) => {
                prop_assert!(!whole);
                let inside = |offset| error == TextError::InsideSurrogatePair { offset };
                prop_assert!(inside(start) || inside(end));
            }
        }
    }
}

/// A section of any shape, mostly of a valid one.
fn section() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        6 => (0..4_u64).prop_map(|length| json!(length)),
        3 => (0..4_u64).prop_map(|length| json!([length])),
        6 => (0..4_u64, vec("[a😀]{0,2}", 1..3)).prop_map(|(length, lines)| {
            let mut parts = vec![json!(length)];
            parts.extend(lines.into_iter().map(|line| json!(line)));
            json!(parts)
        }),
        1 => any::<i64>().prop_map(|length| json!(length)),
        1 => any::<u64>().prop_map(|length| json!([length, "a"])),
        1 => Just(json!(null)),
        1 => Just(json!({ "length": 1 })),
    ]
}

/// Reads a change; an error as its sentence.
fn read(json: &str) -> Result<ChangeSet, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn written(change: &ChangeSet) -> String {
    serde_json::to_string(change).expect("a change is JSON")
}

#[rstest]
#[case::nothing("[]", "[]")]
#[case::kept_apart("[1,2,0,3]", "[1,2,3]")]
#[case::empty_dropped(r#"[[0],[1],0,[0,""]]"#, "[[1]]")]
#[case::deletions_stay_apart("[[1],[2]]", "[[1],[2]]")]
#[case::insertions_stay_apart(r#"[[0,"a"],[0,"b"]]"#, r#"[[0,"a"],[0,"b"]]"#)]
#[case::neighbours_stay_apart(r#"[[1],[0,"x"],[2,"y"],[1]]"#, r#"[[1],[0,"x"],[2,"y"],[1]]"#)]
#[case::lines(r#"[[0,"","a",""]]"#, r#"[[0,"","a",""]]"#)]
fn json_is_read_as_codemirror_reads_it(#[case] json: &str, #[case] normal: &str) {
    assert_eq!(read(json).map(|change| written(&change)), Ok(normal.to_owned()));
}

#[rstest]
#[case::negative("[-1]", TextError::BadLength { found: "-1".into() })]
#[case::negative_inside("[[-1]]", TextError::BadLength { found: "-1".into() })]
#[case::fraction("[1.5]", TextError::BadLength { found: "1.5".into() })]
#[case::fraction_inside("[[1.5]]", TextError::BadLength { found: "1.5".into() })]
#[case::beyond_u64("[36893488147419103232]", TextError::BadLength { found: "36893488147419103000".into() })]
#[case::too_long("[2147483648]", TextError::TooLong { max_units: MAX_TEXT_UNITS })]
#[case::too_long_inside("[[18446744073709551615]]", TextError::TooLong { max_units: MAX_TEXT_UNITS })]
#[case::too_long_together("[2147483647,[1]]", TextError::TooLong { max_units: MAX_TEXT_UNITS })]
#[case::carriage_return(r#"[[0,"a\r"]]"#, TextError::CarriageReturn)]
#[case::line_break(r#"[[0,"a\nb"]]"#, TextError::LineBreakInLine)]
fn bad_json_is_refused_with_its_reason(#[case] json: &str, #[case] expected: TextError) {
    let flat = read(json).expect_err("refused");
    assert!(flat.starts_with(&expected.to_string()), "{flat}");
}

#[rstest]
#[case::no_json("")]
#[case::no_array("5")]
#[case::object(r#"{"0":1}"#)]
#[case::text("[\"a\"]")]
#[case::null("[null]")]
#[case::boolean("[true]")]
#[case::empty_section("[[]]")]
#[case::line_first(r#"[["a",1]]"#)]
#[case::number_among_lines("[[1,2]]")]
#[case::nested("[[[1]]]")]
#[case::more_behind("[1] [2]")]
#[case::cut_off("[1,[2,")]
#[case::lone_surrogate(r#"[[0,"\ud83d"]]"#)]
fn what_is_no_change_set_is_refused(#[case] json: &str) {
    assert!(read(json).is_err(), "{:?}", read(json));
}

#[test]
fn limits_hold_while_reading() {
    let sections = |count: usize| format!("[{}]", vec!["[0]"; count].join(","));
    assert!(read(&sections(MAX_SECTIONS)).is_ok(), "empty ones count too");
    let error = read(&sections(MAX_SECTIONS + 1)).expect_err("one too many");
    assert!(error.starts_with(&TextError::TooManySections { max: MAX_SECTIONS }.to_string()), "{error}");
    assert_eq!(read(&format!("[{MAX_TEXT_UNITS}]")).map(|change| change.length_after()), Ok(MAX_TEXT_UNITS));
    let error = read(&format!(r#"[{MAX_TEXT_UNITS},[0,"a"]]"#)).expect_err("one too long");
    assert!(error.starts_with(&TextError::TooLong { max_units: MAX_TEXT_UNITS }.to_string()), "{error}");
}

#[test]
fn a_result_that_could_not_be_read_back_is_refused() {
    let edits = "1,[0,\"a\"],".repeat(MAX_SECTIONS / 2 - 1);
    let left = read(&format!("[{edits}10001]")).expect("within limits");
    let right = read(&format!("[10000,{edits}1]")).expect("within limits");
    let right_late = right.map(&left, false).expect("within limits");
    let too_many = TextError::TooManySections { max: MAX_SECTIONS };
    assert_eq!(left.compose(&right_late), Err(too_many));
}

#[test]
fn a_change_for_another_text_is_refused() {
    let change = ChangeSet::insert(3, 0, "a").expect("in bounds");
    let mismatch = |expected, actual| TextError::LengthMismatch { expected, actual };
    assert_eq!(change.apply("ab"), Err(mismatch(3, 2)));
    assert_eq!(change.compose(&ChangeSet::identity(3)), Err(mismatch(3, 4)));
    assert_eq!(change.map(&ChangeSet::identity(4), false), Err(mismatch(4, 3)));
}

#[test]
fn a_pair_is_cut_neither_in_a_text_nor_in_an_insertion() {
    let inside = TextError::InsideSurrogatePair { offset: 2 };
    assert_eq!(read("[2,[0,\"x\"],1]").expect("fits").apply("a😀"), Err(inside.clone()));
    assert_eq!(read("[[2],1]").expect("fits").apply("a😀"), Err(inside.clone()));
    let insertion = ChangeSet::insert(1, 1, "😀").expect("in bounds");
    assert_eq!(insertion.compose(&read("[2,[1]]").expect("fits")), Err(inside));
}

#[test]
fn ranges_outside_the_text_are_refused() {
    let outside = |start, end| Err(TextError::OutOfBounds { start, end, length: 3 });
    assert_eq!(ChangeSet::insert(3, 4, "a"), outside(4, 4));
    assert_eq!(ChangeSet::replace(3, 2..4, ""), outside(2, 4));
    #[expect(clippy::reversed_empty_ranges, reason = "that is the input under test")]
    let reversed = ChangeSet::replace(3, 2..1, "");
    assert_eq!(reversed, outside(2, 1));
    assert_eq!(ChangeSet::insert(3, 0, "a\r\n"), Err(TextError::CarriageReturn));
    assert_eq!(ChangeSet::insert(MAX_TEXT_UNITS, 0, "a"), Err(TextError::TooLong { max_units: MAX_TEXT_UNITS }));
}

#[test]
fn the_earlier_committed_insertion_stands_left() {
    let early = ChangeSet::insert(2, 1, "early").expect("in bounds");
    let late = ChangeSet::insert(2, 1, "late").expect("in bounds");
    assert_eq!(late.map(&early, false), ChangeSet::insert(7, 6, "late"));
    assert_eq!(late.map(&early, true), ChangeSet::insert(7, 1, "late"));
}

#[test]
fn small_constructors_agree_with_codemirror() {
    assert_eq!(written(&ChangeSet::identity(0)), "[]");
    assert_eq!(written(&ChangeSet::identity(3)), "[3]");
    assert!(ChangeSet::identity(3).is_identity());
    assert_eq!(ChangeSet::insert(3, 1, "a\nb").map(|c| written(&c)), Ok(r#"[1,[0,"a","b"],2]"#.to_owned()));
    assert_eq!(ChangeSet::replace_all(3, "").map(|c| written(&c)), Ok("[[3]]".to_owned()));
    assert!(!ChangeSet::replace_all(3, "").expect("in bounds").is_identity());
}

#[rstest]
#[case::a_word("x = old + 1\n", "x = new + 1\n", r#"[4,[3,"new"],5]"#)]
#[case::a_line_in("a\nb\n", "a\nc\nb\n", r#"[2,[0,"c",""],2]"#)]
#[case::two_lines("one = 1\nsame\ntwo = 2\n", "one = 3\nsame\ntwo = 4\n", r#"[6,[1,"3"],12,[1,"4"],1]"#)]
#[case::same_last_byte("aÀb", "a一b", r#"[1,[1,"一"],1]"#)]
#[case::emoji("a😀b", "a😁b", r#"[1,[2,"😁"],1]"#)]
fn a_diff_touches_little(#[case] old: &str, #[case] new: &str, #[case] expected: &str) {
    assert_eq!(written(&diff(old, new)), expected);
}

#[test]
fn a_huge_diff_replaces_one_stretch() {
    let text = |word: &str| (0..5_000).map(|i| format!("{word}{i}\n")).collect::<String>();
    let (old, new) = (format!("a\n{}z\n", text("old")), format!("a\n{}z\n", text("new")));
    let change = diff(&old, &new);
    assert_eq!(applied(&change, &old), new);
    assert_eq!(change.sections.len(), 3);
}

#[test]
fn a_diff_never_has_more_sections_than_can_be_read() {
    let line = |mark: &str| format!("{}\n", format!("a {mark} ").repeat(400));
    let (old, new) = (line("x").repeat(30), line("y").repeat(30));
    let change = diff(&old, &new);
    assert_eq!(applied(&change, &old), new);
    assert!(change.sections.len() <= MAX_SECTIONS, "{}", change.sections.len());
}

#[test]
fn line_breaks_are_normalised() {
    assert_eq!(normalise_line_breaks("a\r\nb\rc\n"), "a\nb\nc\n");
    assert!(matches!(normalise_line_breaks("a\n"), Cow::Borrowed(_)));
}

#[test]
fn to_map_over_two_changes_is_not_to_map_over_both_at_once() {
    let read = |json: &str| serde_json::from_str::<ChangeSet>(json).expect("a change");
    // First "A" is inserted before "abc", then "B" replaces "Aa". A concurrent change inserts "L" at the beginning.
    let (first, second, late) = (read(r#"[[0,"A"],3]"#), read(r#"[[2,"B"],2]"#), read(r#"[[0,"L"],3]"#));
    let one_by_one = late.map(&first, false).and_then(|late| late.map(&second, false)).expect("in order");
    let at_once = first.compose(&second).and_then(|both| late.map(&both, false)).expect("in order");
    assert_eq!(applied(&one_by_one, "Bbc"), "BLbc");
    assert_eq!(applied(&at_once, "Bbc"), "LBbc");
}
