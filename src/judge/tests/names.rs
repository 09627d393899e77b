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

/// Source, names that it leaves, names that it deletes or may delete alone, names of both that may stay as they were.
const FATES: &[(&str, &str, &str, &str)] = &[
    ("x = 1", "x", "", ""),
    ("del x", "", "x", ""),
    ("if c: del x", "", "x", "x"),
    ("if c: x = 1", "x", "", "x"),
    ("if c: x = 1\nelse: x = 2", "x", "", ""),
    ("if c: x = 1\nelif d: x = 2", "x", "", "x"),
    ("if c: x = 1\nelse: raise E", "x", "", ""),
    ("global g; del g", "", "g", ""),
    ("def f():\n    global g\n    del g", "f", "g", "g"),
    ("def f():\n    global g\n    g = 1", "f g", "", "g"),
    ("try: y = 1\nexcept E as e: print(e)", "y", "e", "e y"),
    ("try: import m\nexcept E as e: m = None", "m", "e", "e"),
    ("try: y = 1\nfinally: z = 1", "y z", "", ""),
    ("e = 1\ntry: f()\nexcept E as e: pass", "e", "", "e"),
    ("for i in s: t = i", "i t", "", ""),
    ("for i in s: del t", "i", "t", "t"),
    ("while c: x = 1", "x", "", ""),
    ("match p:\n    case 1: x = 1\n    case _: x = 2", "x", "", ""),
    ("match p:\n    case 1: x = 1", "x", "", "x"),
    ("c and (x := 1)", "x", "", "x"),
    ("y = (x := 1) if c else (x := 2)", "x y", "", ""),
    ("x = 1\ndel x\nx = 2", "x", "", ""),
    ("class A:\n    x = 1\n    del x", "A", "", ""),
    ("def f():\n    raise E\nx = 1", "f x", "", ""),
];

#[test]
fn a_deletion_is_no_definition_and_one_branch_binds_perhaps() {
    for (source, leaves, unsets, uncertain) in FATES {
        let names = cell_names(source).unwrap_or_else(|| panic!("{source} does not parse"));
        let found = (names.leaves, names.unsets, names.uncertain);
        assert_eq!(found, (words(leaves), words(unsets), words(uncertain)), "{source}");
    }
}

/// Source, names that it reads, names that it may read, names that it leaves; `*`: it may bind any name.
const MAGICS: &[(&str, &str, &str, &str)] = &[
    ("%time m = n + 1", "n", "", "m"),
    ("%time f(x)", "f x", "", ""),
    ("y = %time f(x)", "f x", "", "y"),
    ("%timeit -n 10 m = n + 1", "n", "", ""),
    ("t = %timeit -o f(n)", "f n", "", "t"),
    ("%prun -l 7 m = n", "n", "", "m"),
    ("%%time\nm = n", "n", "", "m"),
    ("%%time k = 1\nm = n + k", "n", "", "k m"),
    ("%%timeit k = n\nm = k", "n", "", ""),
    ("%%capture cap\nprint(n)", "n", "print", "cap"),
    ("%%capture --no-stderr cap\nm = n", "n", "", "cap m"),
    ("%%capture\nm = n", "n", "", "m"),
    ("x = !ls {n} $k", "", "k n", "x"),
    ("!echo {a + b}", "", "a b", ""),
    ("%cd {path}", "", "path", ""),
    ("%matplotlib inline\n%load_ext autoreload", "", "", ""),
    ("%%bash --out text --err wrong\necho {n}", "", "", "text wrong"),
    ("%%html\n<b>x</b>", "", "", ""),
    ("%%sql result <<\nSELECT 1", "", "", "result"),
    ("rows = %sql SELECT 1", "", "", "rows"),
    ("%store -r x y", "", "", "x y"),
    ("%%R -i a,b -o c\nc <- a", "a b", "", "c"),
    ("%run other.py", "", "", "*"),
    ("%%unknown\nx", "", "", "*"),
    ("from m import *", "", "", "*"),
    ("exec(code)", "code", "exec", "*"),
    ("globals()['x'] = 1", "", "globals", "*"),
    ("vars(thing)", "thing", "vars", ""),
    ("get_ipython().run_line_magic('run', 'x.py')", "", "get_ipython", "*"),
    ("df.query('a > @least')", "df", "least", ""),
    ("if c: x = 1\nprint(x)", "c", "print x", "x"),
    ("def f(): return k\nk = 1", "", "", "f k"),
];

#[test]
fn magics_bind_what_they_bind() {
    for (source, reads, may_read, leaves) in MAGICS {
        let names = cell_names(source).unwrap_or_else(|| panic!("{source} does not parse"));
        let left = if names.has_star && names.leaves.is_empty() { words("*") } else { names.leaves };
        assert_eq!((names.reads, names.may_read, left), (words(reads), words(may_read), words(leaves)), "{source}");
    }
}

/// SQL, tables that it reads, tables that it leaves, tables that it drops. A star marks what may stay as it was.
const TABLES: &[(&str, &str, &str, &str)] = &[
    ("SELECT * FROM orders o, main.items JOIN x USING (id) WHERE a IN (SELECT b FROM c)", "c items orders x", "", ""),
    ("CREATE OR REPLACE TABLE t AS SELECT * FROM s", "s", "t", ""),
    ("CREATE TABLE IF NOT EXISTS t (a int)", "t", "t*", ""),
    ("CREATE TABLE t AS SELECT 1", "t", "t", ""),
    ("CREATE TEMP VIEW v(a) AS SELECT 1", "v", "v", ""),
    ("INSERT INTO t(a) VALUES (1)", "t", "t", ""),
    ("UPDATE t SET a = 1", "t", "t", ""),
    ("DELETE FROM t WHERE a", "t", "t", ""),
    ("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT 1", "", "t", ""),
    ("DROP TABLE t", "t", "", "t"),
    ("WITH w AS (SELECT * FROM r) SELECT * FROM w", "r", "", ""),
    ("CREATE INDEX i ON t(a)", "", "", ""),
    ("SELECT * FROM read_csv('x.csv'), {frame}", "", "", ""),
    ("FROM t", "t", "", ""),
    ("COPY t FROM 'x.csv'; COPY s TO 'y.csv'", "s t", "t", ""),
    ("SELECT a INTO t FROM s", "s t", "t", ""),
];

#[test]
fn sql_cells_read_and_leave_tables() {
    for (source, reads, leaves, unsets) in TABLES {
        let names = notarium_judge::sql_cell_names(source);
        let tables = |names: &BTreeSet<String>| -> BTreeSet<String> {
            names
                .iter()
                .map(|name| name.strip_prefix("table ").unwrap_or_else(|| panic!("{name}")).to_owned())
                .collect()
        };
        let left = |name: String| if names.uncertain.contains(&format!("table {name}")) { name + "*" } else { name };
        let found =
            (tables(&names.may_read), tables(&names.leaves).into_iter().map(left).collect(), tables(&names.unsets));
        assert_eq!(found, (words(reads), words(leaves), words(unsets)), "{source}");
        assert!(names.writes.is_empty());
    }
    let names = notarium_judge::sql_cell_names("-- @shop.sqlite > rows\nSELECT * FROM t WHERE a = {least}");
    assert_eq!((names.reads, names.may_read), (words("least"), [r"table t @shop.sqlite".to_owned()].into()));
    assert_eq!(names.leaves, words("rows"));
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
        let may_read: BTreeSet<String> =
            names.may_read.iter().filter(|name| !notarium_judge::is_builtin(name)).cloned().collect();
        assert!(may_read.is_subset(&names.writes), "{may_read:?} in {source}");
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
