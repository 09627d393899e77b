//! Magics that write, clear variables or change packages.

use super::shell;
use crate::ipython::{has_option, is_word, writes_profile};
use crate::rules::DangerRule::{self, *};
use crate::sql;

/// The rule and the words of a magic of a line; `line` follows the `%`.
pub(super) fn of_line(line: &str) -> Vec<(DangerRule, String)> {
    let (name, rest) = split(line);
    if is_sql(name) {
        return sql::dangers(rest).into_iter().map(|(_, rule, word)| (rule, word.to_owned())).collect();
    }
    let rule = match name {
        "system" | "sx" | "sc" => shell::rule_of(rest),
        name => rule_of_line(name, rest),
    };
    rule.into_iter().map(|rule| (rule, format!("%{}", line.trim().trim_start_matches('%')))).collect()
}

fn rule_of_line(name: &str, rest: &str) -> Option<DangerRule> {
    match name {
        "reset" | "reset_selective" | "xdel" => Some(ClearsVariables),
        "save" | "notebook" | "logstart" => Some(WritesFile),
        "store" => (!rest.is_empty() && !rest.starts_with("-r")).then_some(WritesFile),
        "history" | "hist" => has_option(rest, "f").then_some(WritesFile),
        "prun" | "lprun" | "mprun" => writes_profile(rest).then_some(WritesFile),
        "rm" | "rmdir" | "mv" | "cp" => Some(DeletesFile),
        "pip" | "conda" | "mamba" | "micromamba" | "uv" => changes_packages(rest).then_some(InstallsPackage),
        "code_wrap" => Some(RunsLater),
        _ => None,
    }
}

/// The rule, the words and the line of each warning of a cell magic. Line 0 is the magic's own.
pub(super) fn of_cell(name: &str, rest: &str, body: &str) -> Vec<(DangerRule, String, u32)> {
    let below = (1..).zip(body.split('\n'));
    match name {
        "writefile" | "file" => vec![(WritesFile, format!("%%{name} {rest}"), 0)],
        "code_wrap" => vec![(RunsLater, format!("%%{name}"), 0)],
        "prun" | "lprun" | "mprun" if writes_profile(rest) => vec![(WritesFile, format!("%%{name} {rest}"), 0)],
        "bash" | "sh" | "zsh" | "script" | "system" | "sx" | "cmd" | "!" => {
            below.filter_map(|(at, line)| Some((shell::rule_of(line)?, line.trim().to_owned(), at))).collect()
        }
        name if is_sql(name) => {
            let whole = format!("{rest}\n{body}");
            let line = |at: usize| u32::try_from(whole[..at].matches('\n').count()).unwrap_or(u32::MAX);
            sql::dangers(&whole).into_iter().map(|(at, rule, word)| (rule, word.to_owned(), line(at))).collect()
        }
        _ => Vec::new(),
    }
}

fn is_sql(name: &str) -> bool {
    matches!(name, "sql" | "SQL" | "bigquery" | "sparksql" | "ddb" | "duckdb" | "jupysql" | "sqlite" | "dql")
}

/// The magic's name and the rest of its line. A sign of the shell ends a name, as a blank does.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches('%').trim_start();
    let name = line.split(|found: char| !is_word(found)).next().unwrap_or_default();
    (name, line[name.len()..].trim_matches([' ', '\t']))
}

fn changes_packages(rest: &str) -> bool {
    let reads = ["list", "show", "freeze", "check", "info", "search", "tree", "help", "config", "env", "download"];
    rest.split_whitespace()
        .find(|word| !word.starts_with('-') && *word != "pip")
        .is_some_and(|word| !reads.contains(&word))
}
