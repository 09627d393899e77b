//! Magics of one line, and what the rest of their line does: IPython hands it to a shell, evaluates it, or takes files from
//! it. Each was run in IPython 9.18; those that no rule knows are a note.

use ruff_python_ast::{Expr, Stmt};

use crate::python::{self, Source};
use crate::{DangerRule, Findings, sql, table};

/// Judges what follows the `%`.
pub(crate) fn check(value: &str, line: u32, source: &Source, findings: &mut Findings) {
    let (name, rest) = split(value);
    let mut add = |rule| findings.add(rule, &format!("%{}", value.trim()), line);
    match name {
        "system" | "sx" | "sc" | "alias" | "rehashx" | "alias_magic" | "bash" | "sh" | "script" | "cmd" => {
            add(DangerRule::ShellCommand)
        }
        "run" | "rerun" | "loadpy" | "edit" | "ed" => add(DangerRule::RunsFile),
        "macro" => add(DangerRule::DynamicCode),
        // `f x` becomes a call, which no longer parses.
        "autocall" if rest != "0" => add(DangerRule::DynamicCode),
        "reset" | "reset_selective" | "xdel" => add(DangerRule::ClearsSession),
        "pip" | "conda" | "mamba" | "micromamba" | "uv" => check_packages(rest, &mut add),
        "rm" | "mv" | "rmdir" | "cp" => add(DangerRule::DeletesFile),
        "save" | "logstart" | "notebook" | "writefile" | "file" => add(DangerRule::WritesFile),
        "history" | "hist" if has_option(rest, "f") => add(DangerRule::WritesFile),
        "env" => check_environment(rest, line, findings),
        "store" => check_store(rest, &mut add),
        "config" => check_config(rest, &mut add),
        "pastebin" => add(DangerRule::NetworkSend),
        "connect_info" => add(DangerRule::SecretRead),
        "qtconsole" | "tensorboard" => add(DangerRule::StartsProcess),
        "killbgscripts" => add(DangerRule::EndsProcess),
        "cython" | "python" | "python3" | "perl" | "ruby" | "node" | "R" => add(DangerRule::OtherProgram),
        "time" | "timeit" | "prun" | "memit" | "mprun" | "lprun" | "debug" | "pdef" => {
            check_profile(name, rest, line, findings);
            return source.check_inside(without_options(rest), line, findings);
        }
        // `-P` names the program that shows the page.
        "man" if rest.contains('-') => add(DangerRule::ShellCommand),
        name if ALIASES.contains(&name) && !is_plain_shell(rest) => add(DangerRule::ShellCommand),
        // What is no file and no number of the history is evaluated.
        "recall" | "rep" | "load" | "pycat" => check_user_code(rest, line, source, findings),
        name if is_sql(name) => sql::check_in_line(rest, line, findings),
        name if HARMLESS.contains(&name) || ALIASES.contains(&name) => {}
        _ => add(DangerRule::UnknownMagic),
    }
    check_fields(rest, line, source, findings);
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

/// IPython evaluates `{…}` in the line of a magic, also in that of a cell's magic and behind `?`.
pub(crate) fn check_fields(text: &str, line: u32, source: &Source, findings: &mut Findings) {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let field = field(&rest[start..]);
        let code = field.trim();
        let code = ["!r", "!s", "!a"].iter().find_map(|ending| code.strip_suffix(ending)).unwrap_or(code);
        // What stands in the braces of a dictionary is no expression: it is not evaluated, but read.
        let readings = [code.to_owned(), format!("{{{code}}}")];
        if let Some(code) = readings.iter().find(|code| python::is_valid(code)) {
            source.check_inside(code, line, findings);
        } else if rest.contains('(') {
            // Where a field ends that holds brackets or quotes, only Python's formatter knows.
            return findings.add(DangerRule::DynamicCode, "{…}", line);
        }
        rest = &rest[(start + field.len() + 2).min(rest.len())..];
    }
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
fn check_packages(rest: &str, add: &mut impl FnMut(DangerRule)) {
    if !matches!(rest.split_whitespace().next(), Some("list" | "show" | "freeze" | "check" | "info" | "search")) {
        add(DangerRule::InstallsPackage);
    } else if !is_plain_shell(rest) || rest.contains("--log") {
        add(DangerRule::ShellCommand);
    }
}

fn check_environment(rest: &str, line: u32, findings: &mut Findings) {
    let name = rest.split(['=', ' ']).next().unwrap_or_default();
    match (rest.is_empty(), rest.contains(['=', ' ']), table::sounds_secret(name)) {
        (_, true, _) => {}
        (true, ..) => findings.add(DangerRule::SecretRead, "%env", line),
        (.., true) => findings.add(DangerRule::SecretRead, &format!("%env {name}"), line),
        _ => findings.add(DangerRule::EnvironmentRead, &format!("%env {name}"), line),
    }
}

fn check_store(rest: &str, add: &mut impl FnMut(DangerRule)) {
    if rest.contains('>') {
        add(DangerRule::WritesFile);
    }
    if has_option(rest, "dz") {
        add(DangerRule::ClearsSession);
    }
    if has_option(rest, "r") {
        add(DangerRule::LoadsObjects);
    }
}

/// `%config A.b = c` executes `cfg.A.b = c`, whatever that is.
fn check_config(rest: &str, add: &mut impl FnMut(DangerRule)) {
    if !rest.contains('=') {
        return;
    }
    match setting(rest) {
        Some(name) if SETTINGS.iter().any(|known| name.starts_with(known)) => {}
        Some(_) => add(DangerRule::UnknownMagic),
        None => add(DangerRule::DynamicCode),
    }
}

/// The name that is set to a literal, if the line does nothing else.
fn setting(rest: &str) -> Option<String> {
    let parsed = python::parse(rest).filter(|parsed| parsed.has_valid_syntax())?;
    let [Stmt::Assign(assign)] = parsed.syntax().body.as_slice() else { return None };
    let [Expr::Attribute(target)] = assign.targets.as_slice() else { return None };
    let class = target.value.as_name_expr()?;
    is_plain_value(&assign.value).then(|| format!("{}.{}", class.id, target.attr))
}

fn is_plain_value(value: &Expr) -> bool {
    match value {
        Expr::Dict(dict) => {
            dict.iter_keys().all(|key| key.is_some_and(Expr::is_literal_expr)) && dict.iter_values().all(is_plain_item)
        }
        Expr::Set(set) => set.iter().all(is_plain_item),
        Expr::List(list) => list.iter().all(is_plain_item),
        other => is_plain_item(other),
    }
}

/// A literal, or a tuple of them: `(10, 6)`.
fn is_plain_item(value: &Expr) -> bool {
    value.is_literal_expr() || value.as_tuple_expr().is_some_and(|tuple| tuple.iter().all(Expr::is_literal_expr))
}

/// `-T` and `-D` write what was measured to a file.
pub(crate) fn check_profile(name: &str, rest: &str, line: u32, findings: &mut Findings) {
    if matches!(name, "prun" | "lprun" | "mprun") && has_option(rest, "TD") {
        findings.add(DangerRule::WritesFile, &format!("%{name}"), line);
    }
}

fn check_user_code(rest: &str, line: u32, source: &Source, findings: &mut Findings) {
    if rest.contains("://") {
        findings.add(DangerRule::NetworkRead, "%load", line);
    } else if rest.contains(['(', '[', '{', '@']) {
        source.check_inside(without_options(rest), line, findings);
    }
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

/// Commands of the shell, with the rest of the line.
const ALIASES: &[&str] = &["ls", "ll", "lf", "lk", "lx", "ldir", "cat", "mkdir", "man"];

/// What people set, and what changes no more than how things are shown.
const SETTINGS: &[&str] = &[
    "InlineBackend.",
    "IPCompleter.",
    "Completer.",
    "SqlMagic.",
    "InteractiveShell.ast_node_interactivity",
    "ZMQInteractiveShell.ast_node_interactivity",
    "TerminalInteractiveShell.ast_node_interactivity",
    "Application.log_level",
];

/// Magics that change how things are shown, or nothing at all.
const HARMLESS: &[&str] = &[
    "matplotlib",
    "pylab",
    "autoreload",
    "aimport",
    "precision",
    "who",
    "who_ls",
    "whos",
    "pwd",
    "cd",
    "less",
    "more",
    "pinfo",
    "pinfo2",
    "pdoc",
    "psource",
    "pfile",
    "psearch",
    "page",
    "pprint",
    "history",
    "hist",
    "lsmagic",
    "magic",
    "quickref",
    "load_ext",
    "reload_ext",
    "unload_ext",
    "colors",
    "xmode",
    "tb",
    "pdb",
    "set_env",
    "automagic",
    "autocall",
    "autosave",
    "dhist",
    "dirs",
    "pushd",
    "popd",
    "bookmark",
    "gui",
    "logoff",
    "logon",
    "logstate",
    "logstop",
    "doctest_mode",
    "load_dotenv",
    "dotenv",
    "watermark",
    "clear",
    "capture",
    "subplots",
    "unalias",
    "profile",
    "code_wrap",
    "conda_list",
];
