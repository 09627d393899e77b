//! IPython's own syntax: magics of lines and cells, `!commands`, automagic.

use ruff_python_ast::IpyEscapeKind;

use super::python::Source;
use super::{DangerRule, Findings, words};

/// Judges a whole cell: what IPython does to its text first (blank lines, indentation, prompts), then its first line decides.
pub(super) fn check_cell(code: &str, source: &Source, findings: &mut Findings) {
    let (first_line, text) = after_blank_lines(code);
    let text = plain(text);
    if let Some(after) = text.strip_prefix("%%") {
        let (head, body) = after.split_once('\n').unwrap_or((after, ""));
        return check_cell_magic(head, body, first_line, source, findings);
    }
    if let Some(magic) = automagic(&text) {
        check_line_magic(magic, first_line, source, findings);
    }
    source.check(&text, first_line, findings);
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
    for prompt in [">>> ", "... ", ">>>", "..."] {
        if let Some(rest) = line.strip_prefix(prompt) {
            return rest;
        }
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

/// A cell of one line may leave the `%` out: `rm -rf data`, `pip install x`. Only magics that are a danger are looked for.
fn automagic(text: &str) -> Option<&str> {
    let line = text.trim();
    let name: &str = line.split_whitespace().next()?;
    let rest = line[name.len()..].trim_start();
    let is_python = rest.starts_with(['=', '(', '.', ',', ')', ']']);
    (!line.contains('\n') && !is_python && is_dangerous_word(name)).then_some(line)
}

fn is_dangerous_word(name: &str) -> bool {
    matches!(
        name,
        "rm" | "mv"
            | "cp"
            | "rmdir"
            | "system"
            | "sx"
            | "sc"
            | "run"
            | "pip"
            | "conda"
            | "mamba"
            | "micromamba"
            | "uv"
            | "reset"
            | "reset_selective"
            | "alias"
            | "save"
            | "logstart"
            | "killbgscripts"
            | "cython"
    )
}

/// Whether the magic that a cell begins with runs the rest as Python in the notebook's own names.
pub(crate) fn has_python_body(text: &str) -> bool {
    let name = text.trim_start_matches('%').split_whitespace().next().unwrap_or_default();
    matches!(name, "time" | "capture" | "prun" | "debug" | "memit")
}

/// One escape: a `!command`, a `%magic`, a `,call`. `%%` inside a cell that does not begin with it is no cell magic, but is judged as one.
pub(super) fn check_escape(kind: IpyEscapeKind, value: &str, line: u32, source: &Source, findings: &mut Findings) {
    match kind {
        IpyEscapeKind::Shell | IpyEscapeKind::ShCap => {
            findings.add(DangerRule::ShellCommand, &format!("!{value}"), line)
        }
        IpyEscapeKind::Magic => check_line_magic(value, line, source, findings),
        IpyEscapeKind::Magic2 => check_cell_magic(value, "", line, source, findings),
        IpyEscapeKind::Quote | IpyEscapeKind::Quote2 | IpyEscapeKind::Paren => {
            source.check_callee(value, line, findings)
        }
        IpyEscapeKind::Help | IpyEscapeKind::Help2 => {}
    }
}

fn check_line_magic(value: &str, line: u32, source: &Source, findings: &mut Findings) {
    let value = value.trim_start_matches('%').trim();
    let name = value.split_whitespace().next().unwrap_or_default();
    let rest = value[name.len()..].trim();
    let mut add = |rule| findings.add(rule, &format!("%{value}"), line);
    match name {
        "system" | "sx" | "sc" | "alias" | "rehashx" | "alias_magic" | "bash" | "sh" | "script" | "cmd" => {
            add(DangerRule::ShellCommand)
        }
        "run" | "rerun" | "loadpy" | "edit" | "ed" => add(DangerRule::RunsFile),
        "macro" => add(DangerRule::DynamicCode),
        "reset" | "reset_selective" | "xdel" => add(DangerRule::ClearsSession),
        "pip" | "conda" | "mamba" | "micromamba" | "uv" => {
            if !matches!(rest.split_whitespace().next(), Some("list" | "show" | "freeze" | "check" | "info" | "search"))
            {
                add(DangerRule::InstallsPackage);
            }
        }
        "rm" | "mv" | "rmdir" | "cp" => add(DangerRule::DeletesFile),
        "save" | "logstart" | "notebook" | "writefile" | "file" => add(DangerRule::WritesFile),
        "history" | "hist" if rest.contains("-f") => add(DangerRule::WritesFile),
        "env" => check_env(rest, line, findings),
        "killbgscripts" => add(DangerRule::EndsProcess),
        "cython" | "python" | "python3" | "perl" | "ruby" | "node" => add(DangerRule::OtherProgram),
        "R" => words::check_at(rest, super::Language::R, line, findings),
        "time" | "timeit" | "prun" | "memit" | "mprun" | "lprun" | "debug" | "pdef" => {
            source.check_inside(without_options(rest), line, findings);
        }
        name if is_sql(name) => words::check_sql_at(rest, line, findings),
        name if HARMLESS.contains(&name) => {}
        _ => add(DangerRule::UnknownMagic),
    }
}

fn check_cell_magic(head: &str, body: &str, line: u32, source: &Source, findings: &mut Findings) {
    let name = head.split_whitespace().next().unwrap_or_default();
    let rest = head.trim_start()[name.len()..].trim();
    let mut add = |rule| findings.add(rule, &format!("%%{name}"), line);
    match name {
        "bash" | "sh" | "zsh" | "script" | "cmd" | "system" | "sx" | "powershell" | "!" => {
            add(DangerRule::ShellCommand)
        }
        "python" | "python2" | "python3" | "pypy" | "perl" | "ruby" | "julia" | "node" | "cython" | "cuda"
        | "scala" | "cpp" => {
            add(DangerRule::OtherProgram);
        }
        "writefile" | "file" => add(DangerRule::WritesFile),
        "js" | "javascript" => add(DangerRule::BrowserScript),
        "html" | "HTML" | "svg" | "SVG" => {
            if body.contains("<script") {
                add(DangerRule::BrowserScript);
            }
        }
        "markdown" | "latex" => {}
        "R" => words::check_at(body, super::Language::R, line + 1, findings),
        "time" | "timeit" | "prun" | "capture" | "debug" | "memit" | "mprun" | "lprun" => {
            if name != "capture" {
                source.check_inside(without_options(rest), line, findings);
            }
            match body.trim_start().starts_with("%%") {
                true => source.check_inside(body, line + 1, findings),
                false => source.check(body, line + 1, findings),
            }
        }
        name if is_sql(name) => {
            words::check_sql_at(rest, line, findings);
            words::check_at(body, super::Language::Sql, line + 1, findings);
        }
        _ => {
            add(DangerRule::UnknownMagic);
            words::check_at(body, super::Language::Other, line + 1, findings);
        }
    }
}

/// `-n 10 -r 3 f(x)` → `f(x)`: options of timing magics are a letter, their values numbers.
fn without_options(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    while let Some(option) =
        rest.strip_prefix('-').filter(|option| option.starts_with(|letter: char| letter.is_ascii_alphabetic()))
    {
        let after = option[1..].trim_start_matches(|value: char| value.is_ascii_digit()).trim_start();
        rest = after.trim_start_matches(|value: char| value.is_ascii_digit()).trim_start();
    }
    rest
}

fn is_sql(name: &str) -> bool {
    matches!(name, "sql" | "SQL" | "bigquery" | "sparksql" | "ddb" | "duckdb" | "jupysql" | "sqlite" | "dql")
}

fn check_env(rest: &str, line: u32, findings: &mut Findings) {
    let name = rest.split(['=', ' ']).next().unwrap_or_default();
    match (rest.is_empty(), rest.contains(['=', ' ']), words::sounds_secret(name)) {
        (_, true, _) => {}
        (true, ..) => findings.add(DangerRule::SecretRead, "%env", line),
        (.., true) => findings.add(DangerRule::SecretRead, &format!("%env {name}"), line),
        _ => findings.add(DangerRule::EnvironmentRead, &format!("%env {name}"), line),
    }
}

/// Magics that change how things are shown, or nothing at all.
const HARMLESS: &[&str] = &[
    "matplotlib",
    "pylab",
    "autoreload",
    "aimport",
    "config",
    "precision",
    "who",
    "who_ls",
    "whos",
    "pwd",
    "cd",
    "ls",
    "ll",
    "lf",
    "lk",
    "lx",
    "ldir",
    "cat",
    "less",
    "more",
    "man",
    "mkdir",
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
    "recall",
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
    "store",
    "load",
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
    "connect_info",
    "qtconsole",
    "pycat",
    "pastebin",
    "tensorboard",
    "load_dotenv",
    "dotenv",
    "watermark",
    "clear",
    "capture",
    "subplots",
    "unalias",
    "profile",
    "code_wrap",
    "rep",
    "conda_list",
];
