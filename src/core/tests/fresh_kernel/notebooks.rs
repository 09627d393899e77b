//! Random notebooks: texts of cells, and what people do with them.

use proptest::prelude::*;

const NAMES: [&str; 4] = ["p", "q", "r", "s"];
const MAX_CELLS: usize = 12;

#[derive(Debug, Clone)]
pub struct Text {
    pub is_sql: bool,
    pub source: String,
}

#[derive(Debug, Clone)]
pub enum Step {
    Run(usize),
    RunAll,
    Edit(usize, Text),
    Insert(usize, Text),
    Delete(usize),
    Restore(usize),
    Move(usize, usize),
    /// Gives a name in a cell's text another one.
    Rename(usize, usize, usize),
    Mode(bool),
}

/// Chances of the kinds of texts, and their sources; `N` and `M` are names, `I` and `J` small numbers.
const KINDS: &[(u32, &str)] = &[
    (24, "N = I"),
    (20, "N = M + I"),
    (20, "print(N)"),
    (10, "print(N, M)"),
    (6, "N += 1"),
    (5, "N = N * 2\nprint(N)"),
    (5, "if M > I: N = J"),
    (2, "if M > I: N = J\nelse: N = I"),
    (3, "if M > I: N = J\nprint(N)"),
    (3, "if M > I: del N"),
    (3, "del N"),
    (4, "try:\n    N = M // I\nexcept ZeroDivisionError as M:\n    print('zero')"),
    (2, "for N in range(1, 3): M = N + I"),
    (4, "def f(): return N"),
    (4, "print(f())"),
    (2, "def g():\n    global N\n    del N\nif M > I: g()"),
    (2, "def h():\n    global N\n    N = I\nh()"),
    (3, "%time N = M + I"),
    (2, "%%time\nN = M + I"),
    (2, "%%capture text\nprint(N)"),
    (2, "print(text.stdout)"),
    (1, "lines = !echo I"),
    (1, "print(lines)"),
    (2, "exec('N = I')"),
    (2, "print(eval('N'))"),
    (2, "print(sum(N for N in range(M)))"),
    (1, "max = I"),
    (1, "print(max)"),
    (3, "1 / 0"),
    (2, "assert N > I"),
    (1, "N = ("),
    (1, "import math as N"),
    (1, "class N: value = M"),
    (1, "print([N, (M := I)])"),
    (1, "globals()['N'] = I"),
];

const SQL_KINDS: &[(u32, &str)] = &[
    (4, "DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT {N} AS v"),
    (1, "CREATE TABLE IF NOT EXISTS t (v)"),
    (1, "CREATE TABLE t AS SELECT {N} AS v"),
    (2, "INSERT INTO t VALUES (I)"),
    (4, "-- > rows\nSELECT v FROM t"),
    (1, "UPDATE t SET v = v + {N}"),
    (1, "DROP TABLE t"),
];

fn filled(kind: &str, names: (usize, usize), numbers: (u8, u8)) -> String {
    let mut source = String::new();
    let mut characters = kind.chars().peekable();
    let mut last = ' ';
    while let Some(sign) = characters.next() {
        let is_alone = !last.is_alphanumeric() && !characters.peek().is_some_and(|next| next.is_alphanumeric());
        match sign {
            'N' if is_alone => source.push_str(NAMES[names.0]),
            'M' if is_alone => source.push_str(NAMES[names.1]),
            'I' if is_alone => source.push_str(&numbers.0.to_string()),
            'J' if is_alone => source.push_str(&numbers.1.to_string()),
            other => source.push(other),
        }
        last = sign;
    }
    source
}

fn text_of(kinds: &'static [(u32, &'static str)], is_sql: bool) -> impl Strategy<Value = Text> {
    let kind = prop_oneof_weighted(kinds);
    (kind, (0..4_usize, 0..4_usize), (0..4_u8, 0..4_u8))
        .prop_map(move |(kind, names, numbers)| Text { is_sql, source: filled(kind, names, numbers) })
}

fn prop_oneof_weighted(kinds: &'static [(u32, &'static str)]) -> impl Strategy<Value = &'static str> {
    proptest::strategy::Union::new_weighted(kinds.iter().map(|(weight, kind)| (*weight, Just(*kind))).collect())
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![8 => text_of(KINDS, false), 1 => text_of(SQL_KINDS, true), 1 => Just(Text { is_sql: false, source: "print(rows)".to_owned() })]
}

/// Texts of a notebook; most begin with a cell that defines every name, or much would only fail.
pub fn texts() -> impl Strategy<Value = Vec<Text>> {
    let begin = Text { is_sql: false, source: "p, q, r, s = 1, 2, 3, 4".to_owned() };
    let texts = prop::collection::vec(text(), 2..MAX_CELLS);
    (prop::bool::weighted(0.85), texts).prop_map(move |(begins, mut texts)| {
        if begins {
            texts.insert(0, begin.clone());
        }
        texts
    })
}

pub fn step() -> impl Strategy<Value = Step> {
    let cell = || 0..MAX_CELLS;
    prop_oneof![
        6 => cell().prop_map(Step::Run),
        9 => Just(Step::RunAll),
        3 => (cell(), text()).prop_map(|(cell, text)| Step::Edit(cell, text)),
        1 => (cell(), text()).prop_map(|(cell, text)| Step::Insert(cell, text)),
        2 => cell().prop_map(Step::Delete),
        1 => cell().prop_map(Step::Restore),
        2 => (cell(), cell()).prop_map(|(cell, after)| Step::Move(cell, after)),
        2 => (cell(), 0..4_usize, 0..4_usize).prop_map(|(cell, from, to)| Step::Rename(cell, from, to)),
        1 => any::<bool>().prop_map(Step::Mode),
    ]
}

/// The source with one of the names in place of another one.
pub fn renamed(source: &str, from: usize, to: usize) -> String {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_word = true;
    for sign in source.chars() {
        let is_word = sign.is_alphanumeric() || sign == '_';
        if is_word != was_word {
            words.push(String::new());
        }
        was_word = is_word;
        words.last_mut().expect("a word").push(sign);
    }
    words.into_iter().map(|word| if word == NAMES[from] { NAMES[to].to_owned() } else { word }).collect()
}
