//! Variables that people's cells made: an assistant's cell that deletes or replaces one is warned of.

use notarium_judge::{Grade, judge_beside_people};

fn grade(people: &[&str], code: &str) -> Option<Grade> {
    judge_beside_people(people, people, &[code], &[]).grade
}

const PERSON: &str =
    "import numpy as np\ndf = load()\ntmp = 1\ndel tmp\ndef clean(x): return x\nclass Model: pass\n_ = 1";

#[test]
fn a_persons_variable_is_not_deleted_unasked() {
    for code in ["del df", "x = 1\ndel x, df", "del (df)", "if df is not None:\n    del df", "%time del df", "del [df]"]
    {
        assert_eq!(grade(&[PERSON], code), Some(Grade::Destructive), "{code}");
    }
}

#[test]
fn a_persons_variable_is_not_replaced_unasked() {
    for code in [
        "df = 1",
        "df, x = 1, 2",
        "[x, *df] = 1, 2",
        "df: int = 1",
        "df += 1",
        "if x:\n    df = df.dropna()",
        "def clean(x): return None",
        "class Model: pass",
        "globals()['df'] = 1",
    ] {
        assert_eq!(grade(&[PERSON], code), Some(Grade::Unknown), "{code}");
    }
    let judged = judge_beside_people(&[PERSON], &[], &["x = 1\ndf = 2"], &[]);
    assert_eq!(judged.reasons, ["Line 2: `df` is replaced, and a person's cell made it."]);
}

#[test]
fn other_names_and_uses_are_not_warned_of() {
    for code in [
        "df.head()",
        "df['a'] = 1",
        "df.columns = ['a']",
        "other = df.dropna()",
        "tmp = 2",
        "import numpy as np",
        "np = 1",
        "_ = 2",
        "df: int",
        "def f(df):\n    df = 1\n    del df",
        "class A:\n    df = 1",
        "[df for df in x]",
        "del other",
    ] {
        assert_eq!(grade(&[PERSON], code), None, "{code}");
    }
    assert_eq!(judge_beside_people(&[], &[PERSON], &["df = 1\ndel df"], &[]).grade, None, "an assistant's own");
    assert_eq!(grade(&["this is no Python (", "x = 1"], "y = 1"), None);
}
