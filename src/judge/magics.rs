//! IPython's own syntax: what magics of a line do with the rest of it. IPython hands it to a shell, evaluates it, or takes files
//! from it; each was run in IPython 9.18.

use ruff_python_ast::{Expr, IpyEscapeKind, Stmt};

use crate::DangerRule::{self, *};
use crate::harmless::rules;
use crate::{python, table};

/// Magics that run the rest of their line as Python.
const MEASURE: &[&str] = &["time", "timeit", "prun", "memit", "mprun", "lprun", "debug", "pdef"];
/// Commands of the shell, with the rest of the line.
const ALIASES: &[&str] = &["ls", "ll", "lf", "lk", "lx", "ldir", "cat", "mkdir", "man"];

/// What a magic does beside showing things.
#[derive(Default)]
pub(crate) struct Magic {
    /// `None`: nothing.
    pub(crate) rule: Option<DangerRule>,
    /// It, as it is written.
    pub(crate) words: String,
    /// Python that IPython evaluates in its line.
    pub(crate) codes: Vec<String>,
    pub(crate) sql: String,
}

impl Magic {
    fn of(rule: DangerRule, words: String, codes: Vec<String>) -> Self {
        Self { rule: Some(rule), words, codes, sql: String::new() }
    }
}

/// The text without leading indentation and copied prompts, as IPython reads it. The number of lines stays.
pub(crate) fn plain(code: &str) -> String {
    let indent = code.len() - code.trim_start_matches([' ', '\t']).len();
    let prefix = &code[..indent];
    let has_prompts = code[indent..].starts_with(">>>") || code[indent..].starts_with("In [");
    let lines = code.split('\n').map(|line| {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        if has_prompts { without_prompt(line) } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_prompt(line: &str) -> &str {
    if let Some(rest) = [">>> ", "... ", ">>>", "..."].iter().find_map(|prompt| line.strip_prefix(prompt)) {
        return rest;
    }
    let is_ipython = line.starts_with("In [") || line.trim_start().starts_with("...");
    line.split_once("]: ").or_else(|| line.split_once("...: ")).filter(|_| is_ipython).map_or(line, |(_, rest)| rest)
}

pub(crate) fn after_blank_lines(code: &str) -> (u32, &str) {
    let (mut line, mut rest) = (1, code);
    while let Some((head, tail)) = rest.split_once('\n') {
        if !head.trim().is_empty() {
            break;
        }
        (line, rest) = (line + 1, tail);
    }
    (line, rest)
}

/// Whether the magic that a cell begins with runs the rest as Python in the notebook's own names.
pub(crate) fn has_python_body(text: &str) -> bool {
    let name = text.trim_start_matches('%').split_whitespace().next().unwrap_or_default();
    matches!(name, "time" | "capture" | "prun" | "debug" | "memit")
}

/// One escape: a `!command`, a `%magic`, a `,call`. `%%` inside a cell that does not begin with it is no cell magic, but is
/// judged as one.
pub(crate) fn of_escape(kind: IpyEscapeKind, value: &str) -> Magic {
    match kind {
        IpyEscapeKind::Shell | IpyEscapeKind::ShCap => Magic::of(ShellCommand, format!("!{value}"), Vec::new()),
        IpyEscapeKind::Magic => of_line(value),
        IpyEscapeKind::Magic2 => Magic::of(rule_of_cell(split(value).0), format!("%%{value}"), fields(value)),
        // `,f a b`, `;f a b` and `/f a` become calls, of a magic too.
        IpyEscapeKind::Quote | IpyEscapeKind::Quote2 | IpyEscapeKind::Paren => {
            Magic::of(DynamicCode, value.to_owned(), Vec::new())
        }
        // `np.sin?` shows a documentation. Where what stands before the `?` is no name, IPython runs the magic.
        IpyEscapeKind::Help | IpyEscapeKind::Help2 if is_name(value.trim_start_matches('%')) => Magic::default(),
        IpyEscapeKind::Help | IpyEscapeKind::Help2 if value.starts_with('%') => of_line(value),
        IpyEscapeKind::Help | IpyEscapeKind::Help2 => Magic::of(UnknownMagic, value.to_owned(), fields(value)),
    }
}

fn is_name(value: &str) -> bool {
    value.chars().all(|found| is_word(found) || matches!(found, '.' | '*'))
}

/// What follows the `%`.
pub(crate) fn of_line(value: &str) -> Magic {
    let (name, rest) = split(value);
    if is_harmless(name, rest) {
        return Magic::default();
    }
    let is_code = match name {
        // What is no file and no number of the history is evaluated.
        "recall" | "rep" | "load" | "pycat" => rest.contains(['(', '[', '{', '@']),
        name => MEASURE.contains(&name),
    };
    let codes = if is_code { vec![without_options(rest).to_owned()] } else { fields(rest) };
    let sql = if is_sql(name) { rest.to_owned() } else { String::new() };
    Magic { sql, ..Magic::of(rule_of_line(name, rest), format!("%{}", value.trim()), codes) }
}

/// The rule of a cell's magic: what its body is written in, nobody knows.
pub(crate) fn rule_of_cell(name: &str) -> DangerRule {
    match name {
        "html" | "HTML" | "svg" | "SVG" | "markdown" | "latex" | "capture" => UnknownMagic,
        name if is_sql(name) || MEASURE.contains(&name) => UnknownMagic,
        name => table::rule_of_magic(name).unwrap_or(OtherProgram),
    }
}

/// Magics of a line that change what is shown, or nothing, with these arguments.
fn is_harmless(name: &str, rest: &str) -> bool {
    let words = |found: char| found.is_ascii_alphanumeric() || "_. ".contains(found);
    match name {
        "matplotlib" => matches!(rest, "" | "inline" | "notebook" | "widget" | "ipympl" | "agg" | "nbagg" | "--list"),
        "autoreload" | "precision" | "xmode" | "colors" | "pdb" => {
            rest.chars().all(|found| words(found) || found == '%')
        }
        "load_ext" | "reload_ext" => rest == "autoreload",
        "pwd" | "who" | "who_ls" | "whos" | "lsmagic" | "quickref" | "magic" | "dhist" => rest.chars().all(words),
        "time" | "timeit" => rest.is_empty(),
        "config" => rest == "InlineBackend" || rest.strip_prefix("InlineBackend.").is_some_and(is_look),
        _ => false,
    }
}

fn rule_of_line(name: &str, rest: &str) -> DangerRule {
    match name {
        // `f x` becomes a call, which no longer parses.
        "autocall" if rest != "0" => DynamicCode,
        "pip" | "conda" | "mamba" | "micromamba" | "uv" => of_packages(rest),
        "history" | "hist" if has_option(rest, "f") => WritesFile,
        "prun" | "lprun" | "mprun" if writes_profile(rest) => WritesFile,
        "env" => of_environment(rest),
        "store" if rest.contains('>') => WritesFile,
        "store" if has_option(rest, "dz") => ClearsSession,
        "store" if has_option(rest, "r") => LoadsObjects,
        // `%config A.b = c` executes `cfg.A.b = c`, whatever that is.
        "config" if rest.contains('=') && !is_plain_setting(rest) => DynamicCode,
        // A module that draws, or TeX.
        "matplotlib" if rest.contains("module:") => DynamicImport,
        "config" if ["tex", "backend", "pgf"].iter().any(|word| rest.contains(word)) => DrawsWithProgram,
        // `-P` names the program that shows the page.
        "man" if rest.contains('-') => ShellCommand,
        "recall" | "rep" | "load" | "pycat" if rest.contains("://") => NetworkRead,
        name if ALIASES.contains(&name) && !is_plain_shell(rest) => ShellCommand,
        name => table::rule_of_magic(name).unwrap_or(UnknownMagic),
    }
}

/// The magic's name, which a shell's sign may end as well as a blank, and the rest of the line.
fn split(value: &str) -> (&str, &str) {
    let value = value.trim_start_matches('%').trim_start();
    let name = value.split(|found: char| !is_word(found)).next().unwrap_or_default();
    (name, value[name.len()..].trim_matches([' ', '\t']))
}

/// Whether a shell does no more with these words than one command: nothing that it expands, runs, pipes or writes to.
fn is_plain_shell(text: &str) -> bool {
    !text.contains([';', '&', '|', '>', '<', '`', '$', '(', ')', '{', '}', '\\', '\'', '"', '=', '\n', '\r'])
}

fn is_word(found: char) -> bool {
    found.is_alphanumeric() || found == '_'
}

/// A name that is set to values that are written out.
fn is_plain_setting(rest: &str) -> bool {
    let is_plain = |found: char| found.is_ascii_alphanumeric() || "_-.,'\"{}[]: ()=".contains(found);
    let is_call = |pair: &[u8]| pair[1] == b'(' && (pair[0].is_ascii_alphanumeric() || b")]}_".contains(&pair[0]));
    rest.chars().all(is_plain) && rest.matches('=').count() <= 1 && !rest.as_bytes().windows(2).any(is_call)
}

/// How pictures look: `figure_format = 'retina'`, `rc = {'figure.figsize': (10, 6)}`.
fn is_look(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    match name.trim() {
        "figure_format" | "figure_formats" | "close_figures" => is_plain_setting(setting),
        "rc" => is_plain_setting(setting) && are_looks(value.trim()),
        _ => false,
    }
}

fn are_looks(value: &str) -> bool {
    let Some(parsed) = python::parse(value).filter(|parsed| parsed.has_valid_syntax()) else { return false };
    let is_setting =
        |key: &Expr| key.as_string_literal_expr().is_some_and(|key| rules::is_harmless_setting(key.value.to_str()));
    match parsed.syntax().body.as_slice() {
        [Stmt::Expr(value)] => {
            value.value.as_dict_expr().is_some_and(|dict| dict.iter_keys().all(|key| key.is_some_and(is_setting)))
        }
        _ => false,
    }
}

/// The Python in the `{…}` of a magic's line, also in that of a cell's magic and behind `?`.
pub(crate) fn fields(text: &str) -> Vec<String> {
    let (mut codes, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find('{') {
        let field = field(&rest[start..]);
        let code = field.trim();
        let code = ["!r", "!s", "!a"].iter().find_map(|ending| code.strip_suffix(ending)).unwrap_or(code);
        // What stands in the braces of a dictionary is no expression: it is not evaluated, but read.
        let mut readings = [code.to_owned(), format!("{{{code}}}")].into_iter();
        match readings.find(|code| python::is_valid(code)) {
            Some(code) => codes.push(code),
            // Where a field ends that holds brackets or quotes, only Python's formatter knows.
            None if rest.contains('(') => codes.push(rest.to_owned()),
            None => {}
        }
        rest = &rest[(start + field.len() + 2).min(rest.len())..];
    }
    codes
}

/// What stands between the first brace and the one that closes it, or all that is left.
fn field(text: &str) -> &str {
    let mut open = 0_usize;
    for (at, found) in text.char_indices() {
        match found {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &text[1..at];
        }
    }
    &text[1..]
}

/// A shell runs the whole line.
fn of_packages(rest: &str) -> DangerRule {
    match rest.split_whitespace().next() {
        Some("list" | "show" | "freeze" | "check" | "info" | "search") => {
            if is_plain_shell(rest) && !rest.contains("--log") { UnknownMagic } else { ShellCommand }
        }
        _ => InstallsPackage,
    }
}

fn of_environment(rest: &str) -> DangerRule {
    match rest.contains(['=', ' ']) {
        true => UnknownMagic,
        false if rest.is_empty() || table::sounds_secret(rest) => SecretRead,
        false => EnvironmentRead,
    }
}

/// `-T` and `-D` write what was measured to a file.
pub(crate) fn writes_profile(rest: &str) -> bool {
    has_option(rest, "TD")
}

/// Whether a word of the line is an option with one of these letters, alone or in a bundle: `-f`, `-nf x`, `-fx`.
fn has_option(rest: &str, letters: &str) -> bool {
    let bundles = rest.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    bundles.filter(|bundle| !bundle.starts_with('-')).any(|bundle| bundle.contains(|found| letters.contains(found)))
}

/// `-n 10 -r 3 f(x)` → `f(x)`: options of timing magics are a letter, their values numbers, or a long word without one.
pub(crate) fn without_options(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    loop {
        let long =
            rest.strip_prefix("--").map(|after| after.trim_start_matches(|found: char| is_word(found) || found == '-'));
        let short =
            rest.strip_prefix('-').and_then(|after| after.strip_prefix(|letter: char| letter.is_ascii_alphabetic()));
        rest = match (long, short) {
            (Some(after), _) => after.trim_start(),
            (_, Some(after)) => without_number(without_number(after)),
            _ => return rest,
        };
    }
}

fn without_number(text: &str) -> &str {
    text.trim_start_matches(|value: char| value.is_ascii_digit()).trim_start()
}

pub(crate) fn is_sql(name: &str) -> bool {
    matches!(name, "sql" | "SQL" | "bigquery" | "sparksql" | "ddb" | "duckdb" | "jupysql" | "sqlite" | "dql")
}
