//! Names that cells read and write, by samples, and as Python's own `symtable` says of real code. `tests/interop/names/check.py`
//! compares thousands of cells.

use std::collections::BTreeSet;

use notarium_judge::cell_names;
use proptest::prelude::*;

/// Source, reads, writes.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("x = 1", "", "x"),
    ("y = x", "x", "y"),
    ("x = 1\ny = x", "", "x y"),
    ("y = x\nx = 1", "x", "x y"),
    ("x = x + 1", "x", "x"),
    ("x += 1", "x", "x"),
    ("x = 0\nx += 1", "", "x"),
    ("df['a'] = 1", "df", ""),
    ("df.a = b", "b df", ""),
    ("del x", "x", "x"),
    ("x: int", "", ""),
    ("x: T = 1", "T", "x"),
    ("a, (b, *c) = d", "d", "a b c"),
    ("import a.b, c as d\nfrom e import f, g as h\nfrom i import *", "", "a d f h"),
    ("for i in items: print(i)", "items", "i"),
    ("with open(path) as f: data = f.read()", "path", "data f"),
    ("try: pass\nexcept E as e: print(e)", "E", "e"),
    ("[x for x in xs if x > y]", "xs y", ""),
    ("[x for x in x]", "x", ""),
    ("[(last := v) for v in vs]", "vs", "last"),
    ("{k: v for k, v in pairs}", "pairs", ""),
    ("sum(n * w for n in ns for w in n)", "ns", ""),
    ("f = lambda a, b=c: a + b + d", "c d", "f"),
    ("def f(a, b=c): return a + b + d", "c d", "f"),
    ("def f():\n    return x\nx = 1\nf()", "", "f x"),
    ("def f():\n    x = 1\n    return x", "", "f"),
    ("def f():\n    global n\n    n += 1", "n", "f n"),
    ("def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = b\n    return g", "b", "f"),
    ("def f():\n    print(later)\n    for later in y: pass", "y", "f"),
    ("@d\nclass A(B):\n    c = e\n    def m(self): return c", "B c d e", "A"),
    ("class A:\n    c = 1\n    d = c", "", "A"),
    ("print(len(x), _, In, get_ipython())", "x", ""),
    ("match p:\n    case [a, *b]: pass\n    case {'k': c, **d}: pass\n    case K(e) as g: pass", "K p", "a b c d e g"),
    ("%%time\ny = x", "x", "y"),
    ("%%bash\ny=x", "", ""),
    ("%matplotlib inline\ny = x", "x", "y"),
    ("files = !ls", "", "files"),
    ("f'{x:{w}} {y!r}'", "w x y", ""),
    ("if (n := len(a)) > 1: b = n", "a", "b n"),
    ("await g()", "g", ""),
    ("f = lambda v: (w := v) + w", "", "f"),
    ("class A:\n    x = 1\n    del x", "", "A"),
    ("class A:\n    def m(self): return __class__", "", "A"),
    ("def f[T: B](a: T) -> T: return T", "B", "f"),
    ("class A[T](B[T]): x: T\ntype C[T] = list[T]", "B", "A C"),
];

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn cells_read_and_write_what_they_should() {
    for (source, reads, writes) in SAMPLES {
        let found = cell_names(source).map(|names| (names.reads, names.writes));
        assert_eq!(found, Some((words(reads), words(writes))), "{source}");
    }
}

#[test]
fn imports_and_definitions_are_told_apart() {
    let source = "import a.b, c as d\nfrom e import f as g\nfrom . import h\nfrom i import *\ndef one():\n    import k\n    def inner(): pass\nclass Two:\n    def method(self): pass\nx = 1";
    let names = cell_names(source).expect("it parses");
    let listed = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(", ");
    assert_eq!(listed(names.imports), "..h, a.b, c as d, e.f as g, i.*, k");
    assert_eq!(listed(names.definitions), "Two, one");
}

#[test]
fn what_a_cell_leaves_is_what_it_does_not_delete() {
    let left = |source: &str| cell_names(source).map(|names| names.leaves);
    assert_eq!(left("x = 1\ny = x\ndel x"), Some(words("y")));
    assert_eq!(left("del x\nx = 2"), Some(words("x")));
    // Perhaps it is deleted.
    assert_eq!(left("x = 1\nif y: del x"), Some(words("x")));
    assert_eq!(left("del x[0], y"), Some(words("")));
}

#[test]
fn names_that_only_imports_bind_and_barriers_are_told() {
    let names = cell_names("import a, b.c as d, e.f\nfrom g import h\na = 1\nx = 2").expect("it parses");
    assert_eq!((names.imported, names.has_star), (words("d e h"), false));
    let is_barrier = |source: &str| cell_names(source).is_some_and(|names| names.has_star);
    assert!(is_barrier("from math import *") && !is_barrier("x = 2 * 3") && !is_barrier("%%bash\nfrom x import *"));
}

/// `binds` and `refers` are what `symtable` says; it knows no order.
#[test]
fn real_code_reads_and_writes_what_symtable_says() {
    let lines = include_str!("symtable.jsonl").lines();
    for case in lines.map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")) {
        let source = case["source"].as_str().expect("a source");
        let set = |field: &str| -> BTreeSet<String> { serde_json::from_value(case[field].clone()).expect("names") };
        let (binds, refers) = (set("binds"), set("refers"));
        let names = cell_names(source).unwrap_or_else(|| panic!("{source} does not parse"));
        assert_eq!(names.writes, binds, "{source}");
        assert!(names.reads.is_subset(&refers), "{:?} in {source}", &names.reads - &refers);
        let unread: BTreeSet<String> = &refers - &names.reads;
        assert!(unread.is_subset(&names.writes), "{:?} in {source}", &unread - &names.writes);
    }
}

#[test]
fn what_does_not_parse_has_no_names() {
    assert_eq!(cell_names("x ="), None);
    assert_eq!(cell_names(&"-".repeat(90_000)), None);
    assert_eq!(cell_names(&("x".to_owned() + &"+x".repeat(40_000))), None);
}

proptest! {
    #[test]
    fn nothing_panics(pieces in prop::collection::vec(prop::sample::select(vec!["x", " = ", "\n", "def f(", "):", "    ", "lambda ", ":", "[", "]", "for ", " in ", "global x\n", "class A:", "match x:\n case ", "(", ")", ",", "del ", "%%time\n", "é"]), 0..40)) {
        cell_names(&pieces.concat());
    }
}
