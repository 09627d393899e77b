//! Warnings by samples: code that must be found, code that must not, lines, sentences and order.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;

use notarium_judge::{Danger, DangerRule, Grade, dangers, dangers_of_each, judge};

use crate::samples::*;

fn names(found: &[Danger]) -> Vec<&'static str> {
    found.iter().map(|danger| danger.rule.name()).collect()
}

#[test]
fn plain_words_are_found() {
    let is_missed = |(code, rule): &&(&str, &'static str)| !names(&dangers(code)).contains(rule);
    let missed: Vec<_> = WARNED.iter().filter(is_missed).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn harmless_and_held_code_is_not_warned_of() {
    for code in CLEAN.iter().chain(HELD) {
        let found = dangers_of_each(&[PRELUDE], &[code]).remove(0);
        assert_eq!(names(&found), Vec::<&str>::new(), "{code:?}");
    }
}

#[test]
fn each_rule_has_a_sample_here_or_in_another_file() {
    let elsewhere = [
        "deletes_variable",
        "replaces_variable",
        "registered_destructive",
        "registered_sensitive",
        "sql_loads",
        "sql_writes",
        "sql_inserts",
        "sql_unknown",
        "sql_function",
        "sql_reads_elsewhere",
        "sql_fetches",
        "too_long",
        "too_nested",
        "not_checked",
    ];
    let here: BTreeSet<&str> = WARNED.iter().map(|(_, rule)| *rule).chain(elsewhere).collect();
    let all: BTreeSet<&str> = DangerRule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(here, all);
}

/// The rules that a person may grant for a conversation. All others always ask.
const GRANTABLE: &[&str] = &[
    "registered_sensitive",
    "replaces_variable",
    "sql_fetches",
    "sql_function",
    "sql_inserts",
    "sql_reads_elsewhere",
    "sql_unknown",
    "sql_writes",
];

#[test]
fn a_rule_is_grantable_only_if_it_is_listed() {
    let found: BTreeSet<&str> =
        DangerRule::ALL.iter().filter(|rule| rule.grade() == Grade::Unknown).map(|rule| rule.name()).collect();
    assert_eq!(found, GRANTABLE.iter().copied().collect());
}

#[test]
fn lines_are_those_of_the_cell() {
    let lines = |code: &str| -> Vec<Vec<u32>> { dangers(code).into_iter().map(|danger| danger.lines).collect() };
    assert_eq!(lines("x = 1\n\nexit(1)\nexit(2)"), [[3, 4]]);
    assert_eq!(lines("\n\n%%time\nx = 1\nexit()"), [[5]]);
    assert_eq!(lines("\n%%bash\nls\nrm x"), [[4]]);
    assert_eq!(lines("%%sql\nselect 1;\ndrop table x"), [[3]]);
    assert_eq!(lines("x = '''\n\n'''; exit()"), [[3]]);
    assert_eq!(lines("f(1,\n  2, exit())"), [[2]]);
}

#[test]
fn the_sentence_says_where_what_and_why() {
    let sentence = |code: &str| dangers(code)[0].sentence();
    assert_eq!(
        sentence("import os\nos._exit(0)"),
        "Line 2: `os._exit` can end the kernel, whose variables are then lost."
    );
    assert_eq!(
        sentence("import json\njson.dumps = f\njson.dumps = g"),
        "Lines 2, 3: `json.dumps` is changed for all code that runs later, a person's too."
    );
    assert_eq!(sentence("exit()"), "Line 1: `exit` can end the kernel, whose variables are then lost.");
    assert_eq!(sentence("%reset -f"), "Line 1: `%reset -f` deletes variables of the kernel.");
}

#[test]
fn destructive_dangers_come_first() {
    let judged = judge(&[], &["send()\nexit()"], &[("send", Some(Grade::Unknown))]);
    assert!(judged.reasons[0].contains("`exit`") && judged.reasons[1].contains("`send`"), "{judged:?}");
}

/// The code cells of the notebooks of the repository, which run without harm.
fn real_cells() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/notebooks");
    let files = std::fs::read_dir(folder).expect("the fixtures are there").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|found| found == "ipynb")).collect();
    paths.sort();
    paths.iter().flat_map(|path| code_cells(&std::fs::read_to_string(path).expect("a notebook is text"))).collect()
}

fn code_cells(notebook: &str) -> Vec<String> {
    let notebook: serde_json::Value = serde_json::from_str(notebook).expect("a notebook is JSON");
    let cells = notebook["cells"].as_array().cloned().unwrap_or_default();
    let code = cells.into_iter().filter(|cell| cell["cell_type"] == "code");
    code.map(|cell| match &cell["source"] {
        serde_json::Value::String(text) => text.clone(),
        lines => lines.as_array().into_iter().flatten().filter_map(|line| line.as_str()).collect(),
    })
    .collect()
}

#[test]
fn real_harmless_cells_are_clean() {
    let cells = real_cells();
    let flagged: Vec<_> =
        cells.iter().map(|cell| (cell, dangers(cell))).filter(|(_, found)| !found.is_empty()).collect();
    for (cell, found) in &flagged {
        let sentences: Vec<String> = found.iter().map(Danger::sentence).collect();
        println!("{sentences:?}\n{}\n", cell.chars().take(300).collect::<String>());
    }
    println!("{} of {} harmless cells ask", flagged.len(), cells.len());
    assert!(!cells.is_empty() && flagged.len() * 100 <= cells.len(), "{} of {}", flagged.len(), cells.len());
}

#[test]
fn a_judgement_has_the_worst_grade_and_each_reason_once() {
    assert_eq!(judge(&[], &["x = 1", ""], &[]).grade, None);
    let registered = [("send", Some(Grade::Unknown))];
    assert_eq!(judge(&[], &["send()"], &registered).grade, Some(Grade::Unknown));
    let judged = judge(&["import os as o"], &["o.abort()", "o.abort()", "send()"], &registered);
    assert_eq!(judged.grade, Some(Grade::Destructive));
    assert_eq!(judged.each, [Some(Grade::Destructive), Some(Grade::Destructive), Some(Grade::Unknown)]);
    assert_eq!(judged.reasons.len(), 2, "{judged:?}");
    assert_eq!(judged.reasons[0], "Line 1: `os.abort` can end the kernel, whose variables are then lost.");
}

/// A person who confirms sees 20 sentences; a danger behind them makes another list.
#[test]
fn a_danger_behind_those_that_are_listed_is_seen() {
    let many: String = (0..30).map(|number| format!("!rm c{number}\n!kill {number}\n")).collect();
    let code = format!("{many}tidy('x')");
    let (plain, bound) =
        (judge(&["pass"], &[&code], &[]), judge(&["from atexit import register as tidy"], &[&code], &[]));
    assert!(plain.reasons.len() == 20 && plain.reasons[19].starts_with("and "), "{plain:?}");
    assert!(bound.reasons.len() == 20 && bound.reasons != plain.reasons, "{bound:?}");
}
