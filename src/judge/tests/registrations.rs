//! Functions that code registers with `@notarium.tool`, and cells that run again for nothing but that.
#![allow(clippy::disallowed_methods)]

use notarium_judge::{Grade, judge, judge_registrations};

const WIPES: &str = "import notarium, os\n@notarium.tool(risk=\"destructive\")\ndef wipe(path: str) -> None:\n    \"\"\"Deletes a file.\"\"\"\n    os.remove(path)\n";

fn grade(code: &str) -> Option<Grade> {
    judge(&[], &[code], &[]).grade
}

fn again(code: &str) -> Option<Grade> {
    judge_registrations(&[], &[code]).grade
}

#[test]
fn registering_and_progress_are_harmless() {
    for code in [
        "import notarium\n@notarium.tool\ndef f(x: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return x + 1",
        "import notarium\n@notarium.tool(risk=\"edit\", timeout=5)\nasync def f(x: int = 1) -> int:\n    return x + 1",
        "from notarium import tool, progress\nfor x in progress(range(3), label='a'):\n    print(x)",
        "import notarium as nt\nwith nt.progress(total=3) as bar:\n    bar.update(1)",
    ] {
        assert_eq!(judge(&[], &[code], &[]).reasons, Vec::<String>::new(), "{code}");
    }
}

#[test]
fn calling_what_is_registered_asks_and_so_does_a_body_that_harms() {
    assert!(grade("import notarium\nnotarium.call_function('wipe', {})").is_some());
    assert!(grade("import notarium\nnotarium.kernel.registered()").is_some());
    assert_eq!(grade(WIPES), Some(Grade::Destructive));
}

#[test]
fn a_body_does_not_run_again_when_its_function_is_registered_again() {
    assert_eq!(again(WIPES), None);
    assert_eq!(again(&WIPES.replace("notarium.tool(risk=\"destructive\")", "notarium.tool")), None);
}

#[test]
fn what_else_runs_is_judged_all_the_same() {
    for harm in [
        format!("{WIPES}wipe('x')\n"),
        format!("{WIPES}w = wipe\n"),
        format!("{WIPES}os.remove('x')\n"),
        WIPES.replace("@notarium", "@(lambda f: f('x'))\n@notarium"),
        WIPES.replace("path: str", "path: str = os.remove('x')"),
        WIPES.replace("notarium.tool(risk=\"destructive\")", "(lambda f: f('x'))"),
        WIPES.replace("import notarium, os", "import os\nclass notarium:\n    tool = lambda risk: lambda f: f('x')"),
        WIPES.replace("import notarium, os", "import os, notarium\nnotarium.tool = 1"),
    ] {
        assert!(again(&harm).is_some(), "{harm}");
    }
    let others =
        judge_registrations(&["from evil import notarium"], &[&WIPES.replace("import notarium, os", "import os")]);
    assert!(others.grade.is_some());
}

#[test]
fn each_piece_is_judged() {
    let judged = judge_registrations(&[], &["x = 1", "import os\nos.remove('x')"]);
    assert_eq!(judged.each, [None, Some(Grade::Destructive)]);
}
