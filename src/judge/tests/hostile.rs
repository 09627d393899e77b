//! Hostile code: nothing panics, and the work is bounded.

use notarium_judge::{
    Danger, DangerRule, Grade, MAX_CHECKED_BYTES, MAX_TOTAL_BYTES, dangers, dangers_of_each, judge_beside_people,
};
use proptest::prelude::*;

fn names(found: &[Danger]) -> Vec<&'static str> {
    found.iter().map(|danger| danger.rule.name()).collect()
}

#[test]
fn too_much_code_is_a_danger_by_itself() {
    let found = dangers(&"x = 1\n".repeat(MAX_CHECKED_BYTES / 6 + 1));
    assert_eq!(names(&found), ["too_long"]);
}

/// A beginning, what is repeated until the text is as long as allowed, an end.
const REPEATED: &[(&str, &str, &str)] = &[
    ("", "-", "1"),
    ("", "not ", "1"),
    ("", "~", "1"),
    ("", "(", ""),
    ("", "[", ""),
    ("", "{", ""),
    ("", "{1:", "1"),
    ("x", ".a", ""),
    ("x", "()", ""),
    ("x", "[0]", ""),
    ("x", "+x", ""),
    ("x", "**x", ""),
    ("", "lambda:", "1"),
    ("", "await ", "x"),
    ("", "x if x else ", "x"),
    ("", "f(", ""),
    ("", "x[", ""),
    ("x", " and (x", ""),
    ("", "(yield ", ""),
    ("", "*", "x"),
    ("", "f'{", ""),
    ("", "x:=(", ""),
    ("", "a=", "1"),
    ("", "@", "x"),
    ("if 1: 1\n", "elif 1: 1\n", ""),
    ("x", "<x", ""),
    ("", "print ", ""),
    ("", "match ", ""),
    ("", "async ", ""),
    ("", "for x in ", ""),
    ("", "[x for x in ", ""),
    ("", "%time ", "x"),
    ("", "%%time\n", "x"),
    ("", "!", ""),
    ("", "?", ""),
    ("", "import ", ""),
    ("", "\\\n", ""),
    ("", "\"", ""),
    ("import a", ".a", ""),
    ("from ", ".", " import a"),
    ("x: ", "a[", ""),
    ("", "type x = ", ""),
    ("", "yield ", ""),
    ("", "return ", ""),
    ("", "try:\n", ""),
    ("match x:\n case ", "[", ""),
    ("match x:\n case ", "a|", "a"),
    ("match x:\n case ", "a(", ""),
    ("", "x,", ""),
    ("", ";", ""),
    ("", "'a' ", ""),
    ("os.", "path.os.", "system"),
    ("getattr(", "getattr(", ""),
    ("'a'", "%'a'", ""),
    ("cur.execute(", "'a'+", "'b')"),
    ("", "t'{", ""),
    ("", "x if ", ""),
    ("", "not(", ""),
    ("", "else:\n", ""),
];

/// Trees as deep as the text is long: they must be refused in words, on the stack that a test has.
#[test]
fn hostile_depth_is_refused_and_not_followed() {
    for (head, middle, tail) in REPEATED {
        let count = (MAX_CHECKED_BYTES - head.len() - tail.len()) / middle.len();
        let code = format!("{head}{}{tail}", middle.repeat(count));
        dangers(&code);
    }
    let nested = "x".to_owned() + &"+x".repeat(400);
    assert_eq!(names(&dangers(&nested)), ["too_nested"]);
    let indented: String = (0..400).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    dangers(&indented);
}

/// Sources beyond the limit are not read, and that is the answer for each piece.
#[test]
fn too_much_code_together_is_not_checked() {
    let cell = "x = 1\n".repeat(MAX_CHECKED_BYTES / 6);
    let count = MAX_TOTAL_BYTES / cell.len() + 1;
    let others: Vec<&str> = vec![&cell; count];
    for found in dangers_of_each(&others, &["x", "y"]) {
        assert_eq!(names(&found), ["not_checked"]);
    }
    let judged = judge_beside_people(&others, &[], &["x"], &[]);
    assert_eq!(judged.grade, Some(Grade::Destructive));
    assert_eq!(names(&dangers_of_each(&others[1..], &["x"])[0]), Vec::<&str>::new());
}

/// A name that is bound to a part of itself does not grow, and neither does the work.
#[test]
fn names_that_grow_are_not_followed_for_ever() {
    let grows = format!("import os as a\n{}a._exit(0)\n", "a = a.a\n".repeat(12_000));
    let chain: String = (0..7_000).map(|one| format!("x{} = x{one}\n", one + 1)).collect();
    let chained = format!("import os as x0\n{}", &chain);
    let fields = "f'{x}' ".repeat(14_000);
    for code in [&grows, &chained, &fields] {
        assert!(code.len() <= MAX_CHECKED_BYTES, "{}", code.len());
        dangers(code);
    }
    assert_eq!(names(&dangers_of_each(&[&chained], &["x7000._exit(0)"])[0]), ["ends_kernel"]);
    assert_eq!(names(&dangers(&fields)), ["not_checked"]);
}

/// 1 MiB of names, texts, functions and magics is judged to its end.
#[test]
fn a_large_notebook_is_checked() {
    let cell = |number: usize| {
        let lines = (0..700).map(|line| {
            format!("a{number}_{line} = 'x'\n%time print(a{number}_{line}, df['a'].rolling(3).mean())\ndef g{line}(x): return os.path.join(x, a0_{line})\n")
        });
        lines.collect::<String>()
    };
    let cells: Vec<String> = (0..10).map(cell).collect();
    let codes: Vec<&str> = cells.iter().map(String::as_str).chain(["from math import *"]).collect();
    assert!(codes.iter().all(|code| code.len() <= MAX_CHECKED_BYTES));
    for found in dangers_of_each(&["import os\ndf = {}\nx = 1"], &codes) {
        assert_eq!(names(&found), Vec::<&str>::new());
    }
}

#[test]
fn what_is_found_is_limited() {
    let many: String = (0..4_000).map(|number| format!("!rm {number}\n")).collect();
    let found = dangers(&many);
    assert_eq!(found.len(), 20, "20 of one rule");
    let often = dangers(&"exit(1)\n".repeat(1_000));
    assert_eq!(often[0].lines.len(), 50);
}

#[test]
fn every_rule_says_what_the_code_does() {
    for rule in DangerRule::ALL {
        assert!(rule.sentence().ends_with('.'));
    }
    assert_eq!(DangerRule::EndsKernel.grade(), Grade::Destructive);
}

const PIECES: &[&str] = &[
    "os",
    ".",
    "system",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\"\"\"",
    "\n",
    "    ",
    "=",
    "!",
    "%",
    "%%",
    "%%time\n",
    "import ",
    "from ",
    " as ",
    "*",
    "**",
    "lambda ",
    ":",
    ",",
    ";",
    "f'",
    "f\"{",
    "#",
    "\\",
    "if ",
    "for x in ",
    "with ",
    "def f",
    "class A",
    "await ",
    "getattr(",
    "globals()",
    "__import__",
    "\t",
    "\r",
    "\u{0}",
    "é",
    "😀",
    "?",
    "??",
    "/",
    ">>> ",
    "In [1]: ",
    "match ",
    "case ",
    "eval",
    "execute(",
    "DROP TABLE",
    "open(",
    "'w'",
    "@",
    "->",
    ":=",
    "...",
    "0x",
    "1e",
    "yield ",
    "%sql ",
    "%%sql\n",
    "%env ",
    "-",
    "--",
    "%timeit -",
    "exit",
    "%reset ",
    "!rm ",
    "del ",
    "__del__",
    "globals()[",
    "setattr(os, ",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), any::<String>(),];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_panics_and_lines_are_inside(code in pieces()) {
        let lines = u32::try_from(code.split('\n').count()).expect("few lines");
        for danger in dangers(&code) {
            prop_assert!(!danger.lines.is_empty() && danger.lines.iter().all(|line| (1..=lines).contains(line)), "{:?} of {code:?}", danger);
            prop_assert!(danger.found.chars().count() <= 80);
        }
        dangers_of_each(&[&code], &["x"]);
        judge_beside_people(&[&code], &[], &[&code], &[]);
    }

    #[test]
    fn bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let code = String::from_utf8_lossy(&bytes);
        dangers(&code);
    }
}
