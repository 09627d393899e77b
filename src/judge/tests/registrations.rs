//! Functions that code registers with `@notarium.tool`, and cells that run again for nothing but that.
#![allow(clippy::disallowed_methods)]

use notarium_judge::{Grade, judge, judge_registrations};

const STOPS: &str = "import notarium, os\n@notarium.tool(risk=\"destructive\")\ndef stop(code: int) -> None:\n    \"\"\"Ends the kernel.\"\"\"\n    os._exit(code)\n";

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
fn a_body_that_ends_the_kernel_is_warned_of() {
    assert_eq!(grade(STOPS), Some(Grade::Destructive));
}

#[test]
fn a_body_does_not_run_again_when_its_function_is_registered_again() {
    assert_eq!(again(STOPS), None);
    assert_eq!(again(&STOPS.replace("notarium.tool(risk=\"destructive\")", "notarium.tool")), None);
}

#[test]
fn code_that_runs_is_judged_all_the_same() {
    for harm in [
        format!("{STOPS}os._exit(0)\n"),
        STOPS.replace("@notarium", "@(lambda f: f('x'))\n@notarium"),
        STOPS.replace("code: int", "code: int = os._exit(0)"),
        STOPS.replace("-> None", "-> os._exit(0)"),
        STOPS.replace("risk=\"destructive\"", "risk=os._exit(0)"),
        STOPS.replace("notarium.tool(risk=\"destructive\")", "(lambda f: f('x'))"),
        STOPS.replace("import notarium, os", "import os\nclass notarium:\n    tool = lambda risk: lambda f: f('x')"),
        STOPS.replace("import notarium, os", "import os, notarium\nnotarium.tool = f"),
    ] {
        assert!(again(&harm).is_some(), "{harm}");
    }
    let others =
        judge_registrations(&["from evil import notarium"], &[&STOPS.replace("import notarium, os", "import os")]);
    assert!(others.grade.is_some());
}

#[test]
fn each_piece_is_judged() {
    let judged = judge_registrations(&[], &["x = 1", "import os\nos.abort()"]);
    assert_eq!(judged.each, [None, Some(Grade::Destructive)]);
}
