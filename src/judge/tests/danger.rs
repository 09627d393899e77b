//! The danger rules by samples: what must be found and what must not.
#![allow(clippy::disallowed_methods)]

use notarium_judge::{Danger, Grade, dangers, dangers_of_each, judge};

use crate::samples::*;

/// Whether any of them always asks.
fn is_destructive(found: &[Danger]) -> bool {
    found.iter().any(|danger| danger.grade() == Grade::Destructive)
}

fn names(found: &[Danger]) -> Vec<&'static str> {
    found.iter().map(|danger| danger.rule.name()).collect()
}

#[test]
fn what_is_dangerous_is_found() {
    for (code, rule) in DANGEROUS.iter().chain(DANGEROUS_MAGICS).chain(HANDED_ON) {
        let found = dangers(code);
        assert!(names(&found).contains(rule), "{code:?}: {rule} is not among {:?}", names(&found));
        assert!(is_destructive(&found), "{code:?} would not ask");
    }
    assert!(DANGEROUS.len() >= 80, "{}", DANGEROUS.len());
}

#[test]
fn what_is_harmless_is_clean() {
    for code in CLEAN {
        let found = dangers_of_each(&[PRELUDE], &[code]).remove(0);
        assert_eq!(names(&found), Vec::<&str>::new(), "{code:?}");
    }
    for code in ASKING {
        assert_ne!(dangers_of_each(&[PRELUDE], &[code]).remove(0), Vec::new(), "{code:?}");
    }
    assert!(CLEAN.len() >= 60, "{}", CLEAN.len());
}

#[test]
fn what_is_noted_does_not_ask() {
    for (code, rule) in NOTED {
        let found = dangers(code);
        assert!(names(&found).contains(rule), "{code:?}: {rule} is not among {:?}", names(&found));
        assert!(!is_destructive(&found), "{code:?} would ask: {:?}", names(&found));
    }
}

#[test]
fn names_are_followed_from_earlier_cells() {
    let earlier = ["import subprocess as sp", "o = __import__('os')", "%%time\nimport shutil as s"];
    for code in ["sp.run('ls')", "o.remove('x')", "s.rmtree('x')"] {
        assert!(is_destructive(&dangers_of_each(&earlier, &[code])[0]), "{code}");
    }
    assert_eq!(dangers_of_each(&earlier, &["print(1)"]), [Vec::new()], "earlier cells are not judged again");
}

#[test]
fn lines_are_those_of_the_cell() {
    let lines = |code: &str| -> Vec<Vec<u32>> { dangers(code).into_iter().map(|danger| danger.lines).collect() };
    assert_eq!(lines("x = 1\n\neval('1')\neval('2')"), [[3, 4]]);
    assert_eq!(lines("\n\n%%time\nx = 1\neval('1')"), [[5]]);
    assert_eq!(lines("%%sql\nselect 1;\ndrop table x"), [[3], [1]]);
    assert_eq!(lines("x = '''\n\n'''; eval('1')"), [[3]]);
    assert_eq!(lines("f(1,\n  2, eval('1'))"), [[2], [1]]);
}

#[test]
fn the_sentence_says_where_what_and_why() {
    let found = dangers("import os\nos.system('ls')");
    assert_eq!(
        found[0].sentence(),
        "Line 2: `os.system` runs a command of the operating system with the rights of the kernel."
    );
}

#[test]
fn destructive_dangers_come_first() {
    let found = dangers("import requests\nimport os\nrequests.get('a')\nos.remove('x')");
    assert_eq!(names(&found), ["deletes_file", "unknown_module", "network_read"]);
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
fn real_harmless_cells_are_mostly_clean() {
    let cells = real_cells();
    let flagged: Vec<_> =
        cells.iter().map(|cell| (cell, dangers(cell))).filter(|(_, found)| is_destructive(found)).collect();
    for (cell, found) in &flagged {
        let sentences: Vec<String> = found.iter().map(Danger::sentence).collect();
        println!("{sentences:?}\n{}\n", cell.chars().take(300).collect::<String>());
    }
    println!("{} of {} harmless cells ask", flagged.len(), cells.len());
    assert!(
        !cells.is_empty() && flagged.len() * 100 <= cells.len() * 3,
        "{} of {} harmless cells ask",
        flagged.len(),
        cells.len()
    );
}

#[test]
fn a_judgement_has_the_worst_grade_and_each_reason_once() {
    assert_eq!(judge(&[], &["x = 1", ""], &[]).grade, None);
    assert_eq!(judge(&[], &["import requests\nrequests.get('x')"], &[]).grade, Some(Grade::Unknown));
    let judged =
        judge(&["import os as o", "x = name = 'a'"], &["o.remove('x')", "o.remove('x')", "getattr(x, str(name))"], &[]);
    assert_eq!(judged.grade, Some(Grade::Destructive));
    assert_eq!(judged.reasons.len(), 2, "{judged:?}");
    assert_eq!(judged.reasons[0], "Line 1: `os.remove` deletes, moves or renames files.");
}

/// Who confirms sees 20 sentences; a danger behind them makes another list.
#[test]
fn a_danger_behind_those_that_are_listed_is_seen() {
    let many: String = (0..30)
        .map(|number| {
            format!("eval('{number}')\nos.remove('x'); open('{number}', 'w+')\n!c{number}\nopen('x', 'a{number}')\n")
        })
        .collect();
    let code = format!("{many}tidy('x')");
    let (plain, bound) =
        (judge(&["pass"], &[&code], &[]), judge(&["from requests import post as tidy"], &[&code], &[]));
    assert!(plain.reasons.len() == 20 && plain.reasons[19].starts_with("and "), "{plain:?}");
    assert!(bound.reasons.len() == 20 && bound.reasons != plain.reasons, "{bound:?}");
}
