//! SQL cells: what their first line says, which names they read and write, and what they could do.
//!
//! A cell that does not say `write` in its first line runs where it cannot write: the connection refuses it. What such a cell
//! does beside is harmless where all its statements only read and all functions that it calls are known to give values from
//! their arguments.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::tokens::{Kind, SqlDialect, SqlToken, tokens};
use crate::rules::DangerRule::{self, *};
use crate::words::Words;

/// With this line before its source an SQL cell is given to a kernel.
const MAGIC: &str = "notarium_sql";

static FUNCTIONS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("functions.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Words of SQL that stand before brackets and call nothing.
static NO_FUNCTIONS: Words = Words::of(
    "all and any array as between by case cube distinct else except exclude exists explain filter from group having \
     ilike in intersect is join lateral like limit materialized not offset on or over partition pivot qualify \
     recursive rollup select sets similar some then to union unpivot using values when where with within",
);

/// Statements that read.
static READING: Words = Words::of("select with values table from show describe summarize explain");

/// Functions of DuckDB whose first argument is a file.
static READ_FILES: Words = Words::of(
    "read_csv read_csv_auto sniff_csv read_parquet parquet_scan parquet_schema parquet_metadata read_json \
     read_json_auto read_ndjson read_ndjson_auto read_text read_blob",
);

/// The first line of a cell: `-- @connection write > variable`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SqlHeader<'a> {
    pub(crate) connection: Option<&'a str>,
    pub(crate) writes: bool,
    pub(crate) variable: Option<&'a str>,
}

impl<'a> SqlHeader<'a> {
    pub(crate) fn of(source: &'a str) -> Self {
        let first = source.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let Some(said) = first.strip_prefix("--").map(str::trim_start) else { return Self::default() };
        if !said.starts_with(['@', '>']) {
            return Self::default();
        }
        let (head, variable) = said.split_once('>').map_or((said, None), |(head, name)| (head, Some(name.trim())));
        let mut words = head.split_whitespace();
        let connection = words.next().and_then(|word| word.strip_prefix('@')).filter(|name| !name.is_empty());
        Self { connection, writes: words.any(|word| word == "write"), variable: variable.filter(|name| is_name(name)) }
    }

    /// The dialect, as far as the connection's name tells.
    pub(crate) fn dialect(&self) -> SqlDialect {
        let name = self.connection.unwrap_or("duckdb");
        match name.rsplit_once('.').map_or(name, |(_, ending)| ending) {
            "duckdb" | "ddb" => SqlDialect::DuckDb,
            "sqlite" | "sqlite3" | "db" => SqlDialect::Sqlite,
            _ => SqlDialect::PostgreSql,
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|found| found.is_alphanumeric() || found == '_')
}

/// The connection that the text of an SQL cell names, as a kernel is given it. `None`: it names a file, the database in memory, or none.
pub fn sql_connection(text: &str) -> Option<&str> {
    SqlHeader::of(sql_body(text)?).connection.filter(|name| *name != "duckdb" && !name.contains(['.', '/']))
}

/// The SQL of a text that a kernel is given for an SQL cell.
pub fn sql_body(text: &str) -> Option<&str> {
    let (head, body) = text.strip_prefix("%%")?.split_once('\n')?;
    (head.trim() == MAGIC).then_some(body)
}

/// Checks that the first line of an SQL cell says that it writes.
pub fn says_write(source: &str) -> bool {
    SqlHeader::of(source).writes
}

/// Effects of an SQL cell beside its rows: rule, words, offset.
pub(crate) fn judge(source: &str) -> Vec<(DangerRule, String, usize)> {
    let (mut found, header) = (Vec::new(), SqlHeader::of(source));
    if let Some(path) = header.connection.filter(|path| is_elsewhere(path)) {
        found.push((SqlReadsElsewhere, path.to_owned(), source.find(path).unwrap_or(0)));
    }
    if header.writes {
        found.push((SqlWrites, "write".to_owned(), source.find("write").unwrap_or(0)));
    }
    let destroying = super::dangers(source).into_iter().map(|(at, rule, word)| (rule, word.to_owned(), at));
    found.extend(destroying);
    for dialect in SqlDialect::ALL {
        for statement in tokens(source, dialect).split(|token| token.is(";")) {
            judge_statement(statement, dialect, &mut found);
        }
    }
    found
}

fn judge_statement(statement: &[SqlToken<'_>], dialect: SqlDialect, found: &mut Vec<(DangerRule, String, usize)>) {
    let Some(first) = statement.iter().find(|token| !token.is("(")) else { return };
    if !is_reading(statement) {
        found.push((SqlUnknown, first.text.to_uppercase(), first.at));
    }
    for (index, token) in statement.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| statement.get(before));
        let word = token.name().unwrap_or_default();
        if token.kind == Kind::Word && word == "into" {
            found.push((SqlUnknown, "INTO".to_owned(), token.at));
        }
        let is_source =
            before.and_then(SqlToken::name).is_some_and(|before| matches!(before.as_str(), "from" | "join"));
        if token.kind == Kind::Text && is_source {
            found.extend(of_file(token));
        }
        if statement.get(index + 1).is_some_and(|next| next.is("(")) && matches!(token.kind, Kind::Word | Kind::Name) {
            found.extend(of_call(statement, dialect, index, &word));
        } else if is_of_a_row(statement, index) {
            found.push((SqlFunction, format!(").{}", token.text), token.at));
        }
    }
}

/// Checks that the statement's first words are those of one that reads. `EXPLAIN ANALYZE` runs what it explains.
fn is_reading(statement: &[SqlToken<'_>]) -> bool {
    let mut words =
        statement.iter().skip_while(|token| token.is("(")).map(|token| (token.kind, token.name().unwrap_or_default()));
    match words.next() {
        Some((Kind::Word, first)) if first == "explain" => {
            let passed = ["analyze", "verbose", "query", "plan"];
            words.find(|(_, word)| !passed.contains(&word.as_str())).is_some_and(|(_, word)| READING.has(word.as_str()))
        }
        Some((Kind::Word, first)) => READING.has(first.as_str()),
        _ => false,
    }
}

/// The name before brackets: a function, or a list of columns.
fn of_call(
    statement: &[SqlToken<'_>],
    dialect: SqlDialect,
    index: usize,
    name: &str,
) -> Option<(DangerRule, String, usize)> {
    let token = &statement[index];
    let is_word = token.kind == Kind::Word;
    let before = |steps: usize| index.checked_sub(steps).and_then(|at| statement.get(at));
    if is_word && NO_FUNCTIONS.has(name) || is_columns(statement, index) {
        return None;
    }
    // A function of another schema may be anybody's.
    let is_foreign = before(1).is_some_and(|dot| dot.is("."))
        && before(2).and_then(SqlToken::name).is_none_or(|schema| !matches!(schema.as_str(), "pg_catalog" | "main"));
    if READ_FILES.has(name) && !is_foreign {
        // SQLite has none of them, and reads brackets in another way.
        return of_files(&statement[index + 2..], token.at).filter(|_| dialect != SqlDialect::Sqlite);
    }
    (is_foreign || !FUNCTIONS.contains(name)).then(|| (SqlFunction, format!("{}(", token.text), token.at))
}

/// `(t).f`, `rows[1].f`: PostgreSQL calls the function `f` with the row if the row has no such column.
fn is_of_a_row(statement: &[SqlToken<'_>], index: usize) -> bool {
    let [.., row, dot, name] = &statement[..=index] else { return false };
    matches!(name.kind, Kind::Word | Kind::Name) && dot.is(".") && (row.is(")") || row.is("]"))
}

/// `WITH t(a, b) AS (…)`, `… AS t(a, b)`.
fn is_columns(statement: &[SqlToken<'_>], index: usize) -> bool {
    let is_as = |token: Option<&SqlToken<'_>>| token.and_then(SqlToken::name).is_some_and(|word| word == "as");
    if index > 0 && is_as(statement.get(index - 1)) {
        return true;
    }
    let length = statement[index + 1..].iter().position(|token| token.is(")"));
    length.is_some_and(|length| {
        let inside = &statement[index + 2..index + 1 + length];
        let are_names = inside.iter().all(|token| token.is(",") || matches!(token.kind, Kind::Word | Kind::Name));
        let behind = &statement[index + 2 + length..];
        are_names
            && is_as(behind.first())
            && (behind.get(1).is_some_and(|token| token.is("(")) || behind.len() > 2)
            && index.checked_sub(1).and_then(|at| statement.get(at)).is_some_and(|token| {
                token.is(",") || token.name().is_some_and(|word| matches!(word.as_str(), "with" | "recursive"))
            })
            && behind.iter().skip(1).find(|token| token.kind != Kind::Word).is_some_and(|token| token.is("("))
    })
}

/// The first argument of a function that reads files: a path, or a list of them.
fn of_files(arguments: &[SqlToken<'_>], at: usize) -> Option<(DangerRule, String, usize)> {
    let paths: Vec<&SqlToken<'_>> = match arguments.first() {
        Some(open) if open.is("[") => arguments[1..].iter().take_while(|token| !token.is("]")).collect(),
        first => first.into_iter().collect(),
    };
    let is_followed = arguments.get(1).is_none_or(|next| next.is(",") || next.is(")") || arguments[0].is("["));
    let are_literal = paths.iter().all(|token| token.kind == Kind::Text || token.is(","));
    if paths.is_empty() || !are_literal || !is_followed {
        return Some((SqlReadsElsewhere, "a file".to_owned(), at));
    }
    paths.into_iter().filter(|token| token.kind == Kind::Text).find_map(of_file)
}

fn of_file(path: &SqlToken<'_>) -> Option<(DangerRule, String, usize)> {
    let plain = path.text.trim_matches('\'');
    let is_odd = plain.len() + 2 != path.text.len();
    if plain.contains("://") {
        return Some((SqlFetches, path.text.to_owned(), path.at));
    }
    (is_elsewhere(plain) || is_odd).then(|| (SqlReadsElsewhere, path.text.to_owned(), path.at))
}

/// Checks that a named file is not openly in the working folder, be it a connection or in a query.
pub fn is_elsewhere(path: &str) -> bool {
    let is_hidden = path.split('/').any(|part| part.starts_with('.') && part != ".");
    is_hidden || path.starts_with(['/', '~']) || path.contains([':', '\\', '\'', '$', '{'])
}
