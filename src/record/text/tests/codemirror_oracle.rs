//! Compares this module with `@codemirror/state` on recorded cases: always the golden sample (200 cases, seed 7). More
//! cases come from `tests/interop/text/generate.mjs`, whose head explains how.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::text::ChangeSet;
use crate::text::build::Builder;

const GOLDEN: &str = include_str!("../../../../protocol/golden/text/codemirror-cases.jsonl");

/// Inputs and CodeMirror's answers; the generator explains the fields.
#[derive(Deserialize)]
struct Case<'a> {
    doc: String,
    exact: bool,
    #[serde(borrow)]
    a: &'a RawValue,
    #[serde(borrow)]
    b: &'a RawValue,
    #[serde(borrow)]
    c: &'a RawValue,
    after_a: String,
    after_b: String,
    #[serde(borrow)]
    compose: &'a RawValue,
    after_compose: String,
    #[serde(borrow)]
    a_over_b: &'a RawValue,
    #[serde(borrow)]
    a_over_b_before: &'a RawValue,
    #[serde(borrow)]
    b_over_a: &'a RawValue,
    #[serde(borrow)]
    b_over_a_before: &'a RawValue,
    after_a_then_b: String,
    after_b_then_a: String,
}

fn read(json: &RawValue) -> ChangeSet {
    serde_json::from_str(json.get()).expect("CodeMirror's own JSON")
}

fn applied(change: &ChangeSet, doc: &str) -> String {
    let mut in_place = doc.to_owned();
    let removed = change.apply_to(&mut in_place).expect("the change is for this text");
    let done = change.apply(doc).expect("the change is for this text");
    assert_eq!((&in_place, &removed), (&done.text, &done.removed));
    done.text
}

/// The same change in normal form.
fn normal(change: &ChangeSet) -> ChangeSet {
    let mut builder = Builder::default();
    for section in &change.sections {
        match &section.insert {
            None => builder.keep(section.length),
            Some(text) => builder.replace(section.length, text, section.insert_length),
        }
    }
    builder.finish_unchecked()
}

/// Compares sections: byte by byte if the inputs were in normal form, else normalised.
fn assert_same(ours: &ChangeSet, theirs: &RawValue, exact: bool) {
    if exact {
        assert_eq!(serde_json::to_string(ours).expect("JSON"), theirs.get());
    } else {
        assert_eq!(normal(ours), normal(&read(theirs)));
    }
}

fn check(case: &Case<'_>) {
    let (doc, exact) = (case.doc.as_str(), case.exact);
    let (a, b, c) = (read(case.a), read(case.b), read(case.c));
    let map = |change: &ChangeSet, over, before| change.map(over, before).expect("same text");
    assert_same(&a, case.a, exact);
    assert_eq!(applied(&a, doc), case.after_a);
    assert_eq!(applied(&b, doc), case.after_b);
    let compose = a.compose(&c).expect("in order");
    assert_same(&compose, case.compose, exact);
    assert_eq!(applied(&compose, doc), case.after_compose);
    let (a_late, b_late) = (map(&a, &b, false), map(&b, &a, false));
    assert_same(&a_late, case.a_over_b, exact);
    assert_same(&b_late, case.b_over_a, exact);
    assert_same(&map(&a, &b, true), case.a_over_b_before, exact);
    assert_same(&map(&b, &a, true), case.b_over_a_before, exact);
    assert_eq!(applied(&b_late, &case.after_a), case.after_a_then_b);
    assert_eq!(applied(&a_late, &case.after_b), case.after_b_then_a);
    assert_eq!(applied(&map(&a, &b, true), &case.after_b), case.after_a_then_b);
}

/// Checks every line and returns how many there were; a disagreement prints its case.
fn check_all<'l>(lines: impl Iterator<Item = &'l str>) -> usize {
    lines
        .map(|line| {
            let agrees = std::panic::catch_unwind(|| check(&serde_json::from_str(line).expect("a case")));
            assert!(agrees.is_ok(), "disagrees with CodeMirror: {line}");
        })
        .count()
}

#[test]
fn codemirror_agrees_on_the_golden_sample() {
    assert_eq!(check_all(GOLDEN.lines()), 200);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the cases are a file that `make test` lets Node write")]
fn codemirror_agrees_on_generated_cases() {
    let Ok(path) = std::env::var("NOTARIUM_CODEMIRROR_CASES") else {
        return eprintln!("skipped: NOTARIUM_CODEMIRROR_CASES names no file of cases");
    };
    let cases = std::fs::read_to_string(&path).expect("the file that NOTARIUM_CODEMIRROR_CASES names");
    let count = check_all(cases.lines());
    assert!(count > 0, "{path} holds no case");
    println!("{count} cases agree");
}
