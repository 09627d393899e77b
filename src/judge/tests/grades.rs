//! Which rule may be granted for a conversation, and which harmful pieces such a grant would let through.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;

use notarium_judge::{DangerRule, Grade, dangers};
use serde_json::Value;

use crate::harmless::{HARMFUL, with_places};

/// The rules that a person may grant. All others always ask: what deletes, overwrites, runs a program, evaluates a text,
/// loads objects that bring code, or sends.
const GRANTABLE: &[&str] = &[
    "browser_script",
    "changes_library",
    "computed_attribute",
    "creates_file",
    "environment_read",
    "handed_on",
    "hooks_in",
    "inserts_rows",
    "network_read",
    "reads_elsewhere",
    "registered_sensitive",
    "sql_unknown",
    "sql_writes",
    "unknown_attribute",
    "unknown_function",
    "unknown_magic",
    "unknown_module",
    "unknown_name",
    "unknown_setting",
];

#[test]
fn a_rule_is_grantable_only_if_it_stands_in_the_table() {
    let found: BTreeSet<&str> =
        DangerRule::ALL.iter().filter(|rule| rule.grade() == Grade::Unknown).map(|rule| rule.name()).collect();
    assert_eq!(found, GRANTABLE.iter().copied().collect());
}

/// What these pieces do is hidden so well that the judge sees only that it does not know them, or they need a file that
/// somebody placed there: a person who grants the unknown is told the very name.
const HIDDEN: &[(&str, &[u32])] = &[
    ("own", &[108, 109, 127, 128, 129, 133, 135, 136, 137, 155, 200]),
    (
        "round 2,",
        &[40, 41, 42, 43, 68, 126, 131, 150, 151, 160, 166, 170, 181, 182, 183, 184, 185, 186, 187, 188, 192, 205, 222],
    ),
    ("round 3,", &[8, 16, 18, 19, 20, 21, 23, 25, 34, 35, 36]),
    (
        "settings",
        &[
            2, 5, 9, 11, 57, 58, 59, 60, 61, 62, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103,
            104, 105, 106, 107, 108, 109, 110, 111,
        ],
    ),
];

#[test]
fn what_destroys_runs_or_evaluates_is_destructive() {
    // Reading and fetching may be granted; pages show what a cell displays without its scripts, or in a frame of its own.
    let is_destroying = |piece: &Value| !matches!(piece["harm"].as_str(), Some("network" | "secret"));
    let mut granted = BTreeSet::new();
    for line in HARMFUL.lines().filter(|line| !line.is_empty()) {
        let piece: Value = serde_json::from_str(line).expect("a line is JSON");
        let found = dangers(&with_places(piece["code"].as_str().expect("a piece has code")));
        let is_shown = |rule: DangerRule| rule == DangerRule::BrowserScript;
        if is_destroying(&piece)
            && !found.iter().any(|danger| danger.grade() == Grade::Destructive || is_shown(danger.rule))
        {
            granted.insert(piece["id"].as_str().expect("a piece has an id").to_owned());
        }
    }
    let expected: BTreeSet<String> =
        HIDDEN.iter().flat_map(|(of, numbers)| numbers.iter().map(move |number| format!("{of} {number}"))).collect();
    assert_eq!(granted, expected, "the list only gets shorter");
}

#[test]
fn an_address_that_is_computed_sends() {
    for code in [
        "import pandas as pd\ndef f(x): return pd.read_csv(f'https://a.b/?{x}')",
        "import requests\ndef f(x): return requests.get('https://a.b/?' + x)",
    ] {
        assert!(dangers(code).iter().any(|danger| danger.rule == DangerRule::NetworkSend), "{code:?}");
    }
}
