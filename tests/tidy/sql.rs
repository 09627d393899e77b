//! The SQL for PostgreSQL: what other engines with its protocol lack or read otherwise is not used.

use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};

use super::with_extension;

/// Words of statements, in lower case, with the reason why they are not used.
const FORBIDDEN: [(&str, &str); 22] = [
    ("advisory", "an advisory lock dies with its session without a word"),
    ("listen ", "a notification is lost while nobody listens"),
    ("notify ", "a notification is lost while nobody listens"),
    ("trigger", "statements say what they do"),
    ("create rule", "statements say what they do"),
    ("plpgsql", "the program is in Rust"),
    ("create function", "the program is in Rust"),
    ("do $$", "the program is in Rust"),
    ("ctid", "a place in a file"),
    ("xmin", "a number of this engine"),
    ("lock table", "rows are locked"),
    ("truncate", "it is no transaction elsewhere"),
    ("deferrable", "constraints hold at once"),
    ("temporary", "it belongs to a session"),
    ("temp table", "it belongs to a session"),
    ("set session", "it belongs to a session"),
    ("set local", "it belongs to a session"),
    ("set_config", "it belongs to a session"),
    ("prepare ", "it belongs to a session"),
    ("serial", "its order and size mean nothing"),
    ("sequence", "its order and size mean nothing"),
    ("generated", "its order and size mean nothing"),
];

/// Words with which a statement begins.
const BEGINNINGS: [&str; 9] =
    ["select ", "insert ", "update ", "delete ", "with ", "create ", "alter ", "vacuum", "show "];

/// Text of every literal in a source.
fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
    }
}

/// A text without comments, in lower case, with single spaces.
fn plain(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    format!("{} ", words.join(" ").to_lowercase())
}

fn is_of_postgresql(path: &std::path::Path) -> bool {
    let accounts = ["changes", "notice_changes", "notice_queries", "queries", "tables"]
        .map(|name| format!("src/store/accounts/{name}.rs"));
    path.starts_with("src/store/postgres") || accounts.iter().any(|account| path.ends_with(account))
}

/// Statements in the sources, and those of the migrations.
fn statements() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for (path, text) in with_extension("rs").filter(|(path, _)| is_of_postgresql(path)) {
        let mut texts = Vec::new();
        literals(text.parse().expect("sources are Rust"), &mut texts);
        let sql = texts.iter().map(|text| plain(text));
        found.extend(
            sql.filter(|sql| BEGINNINGS.iter().any(|begin| sql.starts_with(begin))).map(|sql| (path.clone(), sql)),
        );
    }
    for (path, text) in with_extension("sql").filter(|(path, _)| path.starts_with("migrations/postgres")) {
        found.extend(plain(&text).split(';').map(|sql| (path.clone(), sql.trim_start().to_owned())));
    }
    found
}

/// Tables that a statement changes, as often as it does.
fn changed_tables(sql: &str) -> Vec<&str> {
    let words: Vec<&str> = sql.split([' ', '(', ')']).filter(|word| !word.is_empty()).collect();
    let changes = words.windows(3).filter_map(|three| match *three {
        ["insert", "into", table] | ["delete", "from", table] => Some(table),
        [before, "update", table] if !matches!(before, "do" | "for") => Some(table),
        _ => None,
    });
    let first = words.strip_prefix(&["update"]).and_then(<[&str]>::first).copied();
    changes.chain(first).collect()
}

fn fault(sql: &str) -> Option<String> {
    if let Some((word, why)) = FORBIDDEN.iter().find(|(word, _)| sql.contains(word)) {
        return Some(format!("{word}: {why}"));
    }
    let mut tables = changed_tables(sql);
    tables.sort_unstable();
    if tables.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some("two changes of one table in a statement".to_owned());
    }
    let names_a_part = |table: &str| {
        sql.match_indices(table).any(|(at, _)| sql[at + table.len()..].starts_with(|next: char| next.is_ascii_digit()))
    };
    if !sql.starts_with("create table") && ["events_", "commands_"].into_iter().any(names_a_part) {
        return Some("a partition is named".to_owned());
    }
    let several = sql.trim_end().trim_end_matches(';').split(';').count();
    (several > 1).then(|| "two statements in one text".to_owned())
}

#[test]
fn sql_for_postgresql_keeps_to_what_its_relatives_have() {
    let statements = statements();
    assert!(statements.len() > 150, "{} statements were found", statements.len());
    let faults: Vec<String> = statements
        .iter()
        .filter_map(|(path, sql)| fault(sql).map(|fault| format!("{}: {fault}\n    {sql}", path.display())))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faults_of_sql_are_found() {
    for sql in [
        "select pg_advisory_lock(1) ",
        "with a as (update t set x = 1), b as (insert into t values (1)) select 1 ",
        "update t set x = 1; delete from u ",
        "select * from events_07 ",
        "create temporary table t (x int) ",
    ] {
        assert!(fault(sql).is_some(), "{sql}");
    }
    for sql in [
        "insert into t (x) values (1) on conflict do update set x = 2 ",
        "with a as (update t set x = 1), b as (insert into u values (1)) select 1 ",
        "select 1 from t for update ",
    ] {
        assert_eq!(fault(sql), None, "{sql}");
    }
}

#[test]
fn ids_are_compared_by_their_bytes() {
    let ids = ["id", "notebook", "subject", "actor", "command_id", "instance", "holder", "user_id", "workspace_id"];
    for (path, text) in with_extension("sql").filter(|(path, _)| path.starts_with("migrations/postgres")) {
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split(' ').collect();
            if words.len() > 1 && ids.contains(&words[0]) && words[1] == "TEXT" {
                assert!(line.contains("COLLATE \"C\""), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn both_databases_have_the_same_migrations() {
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(super::root().join("migrations").join(folder)).expect("migrations exist");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("postgres"), names("sqlite"));
}
