//! Names of an SQL cell: variables that it binds as parameters, the variable of its result, and tables that it reads,
//! makes, changes or drops.

use super::cells::SqlHeader;
use super::tokens::{Kind, SqlToken, tokens};
use crate::names_of_cell::{CellNames, table};
use crate::words::Words;

/// Words behind `CREATE` before the name of what is made.
static MAKING: Words = Words::of(
    "or replace temp temporary unlogged persistent recursive materialized global local table view macro function",
);
/// Words behind which a table's name may stand.
static BEFORE_TABLES: Words =
    Words::of("from join into update table describe summarize show pivot unpivot truncate copy using");
/// Words that stand between those and the name.
static FILLING: Words =
    Words::of("if not exists only table lateral or replace ignore rollback abort fail temp temporary low_priority");
/// Words that end a list of tables.
static CLAUSES: Words = Words::of(
    "where group order having limit union intersect except on using set values select returning window qualify offset \
     sample tablesample join inner left right full cross natural asof positional semi anti with fetch for",
);

/// Names of an SQL cell. `source` is the cell's own.
pub fn sql_cell_names(source: &str) -> CellNames {
    let header = SqlHeader::of(source);
    let tokens = tokens(source, header.dialect());
    let mut names = CellNames {
        reads: tokens.iter().filter(|token| token.kind == Kind::Parameter).map(|token| token.text.to_owned()).collect(),
        ..CellNames::default()
    };
    for statement in tokens.split(|token| token.is(";")) {
        SqlStatement { tokens: statement, connection: header.connection }.note(&mut names);
    }
    let variable = header.variable.map(str::to_owned);
    names.writes.extend(variable.clone());
    names.leaves.extend(variable);
    names
}

struct SqlStatement<'a> {
    tokens: &'a [SqlToken<'a>],
    connection: Option<&'a str>,
}

impl SqlStatement<'_> {
    fn note(&self, names: &mut CellNames) {
        let Some(start) = self.tokens.iter().position(|token| !token.is("(")) else { return };
        let first = self.word(start);
        for name in self.tables(matches!(&*first, "create" | "drop")) {
            if !names.leaves.contains(&name) || names.uncertain.contains(&name) {
                names.may_read.insert(name);
            }
        }
        match &*first {
            "create" => self.creates(start, names),
            "insert" | "replace" | "update" | "delete" | "alter" | "truncate" | "merge" => {
                let begin = if first == "alter" { start } else { start + 1 };
                if let Some(name) = self.changed(begin) {
                    names.may_read.insert(name.clone());
                    bind(names, name);
                }
            }
            "copy" if self.position("from").is_some() => {
                self.changed(start + 1).into_iter().for_each(|name| bind(names, name));
            }
            "drop" => self.changed(start + 1).into_iter().for_each(|name| drop_table(names, name, self.dropped_if())),
            _ => {}
        }
        // PostgreSQL's `SELECT … INTO t`.
        if first == "select"
            && let Some(at) = self.position("into")
        {
            self.name_at(at + 1).into_iter().for_each(|name| bind(names, name));
        }
    }

    fn creates(&self, start: usize, names: &mut CellNames) {
        let mut at = start + 1;
        while MAKING.has(&self.word(at)) {
            at += 1;
        }
        let is_perhaps = self.word(at) == "if";
        while FILLING.has(&self.word(at)) {
            at += 1;
        }
        // `CREATE INDEX`, `CREATE SCHEMA` make nothing that a query names.
        if matches!(
            &*self.word(start + 1),
            "index" | "unique" | "schema" | "sequence" | "type" | "secret" | "extension"
        ) {
            return;
        }
        if let Some(name) = self.name_at(at) {
            // If the table is there already, the statement fails or does nothing.
            let is_replaced = (start..at).any(|at| self.word(at) == "replace");
            if !is_replaced && !names.leaves.contains(&name) && !names.unsets.contains(&name) {
                names.may_read.insert(name.clone());
            }
            if is_perhaps {
                if !names.leaves.contains(&name) {
                    names.uncertain.insert(name.clone());
                }
                names.leaves.insert(name);
            } else {
                bind(names, name);
            }
        }
    }

    /// The table that a statement changes.
    fn changed(&self, from: usize) -> Option<String> {
        let mut at = from;
        while matches!(&*self.word(at), "into" | "from" | "table" | "view" | "alter") || FILLING.has(&self.word(at)) {
            at += 1;
        }
        self.name_at(at)
    }

    fn dropped_if(&self) -> bool {
        self.tokens.iter().any(|token| token.kind == Kind::Word && token.text.eq_ignore_ascii_case("exists"))
    }

    /// Tables that the statement names behind `FROM`, `JOIN` and the like, without its own CTEs.
    fn tables(&self, makes: bool) -> Vec<String> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            let word = self.word(at);
            if !BEFORE_TABLES.has(&word) || makes && word == "table" {
                continue;
            }
            let mut next = at + 1;
            while FILLING.has(&self.word(next)) {
                next += 1;
            }
            // `FROM a, b AS c`.
            loop {
                found.extend(self.name_at(next));
                let Some(comma) = self.comma_behind(next) else { break };
                next = comma + 1;
            }
        }
        let is_own = |name: &String| self.has_cte(name);
        found.retain(|name| !is_own(name));
        found
    }

    /// The comma of the same list of tables.
    fn comma_behind(&self, from: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(from) {
            match token {
                token if token.is("(") => depth += 1,
                token if token.is(")") => depth = depth.checked_sub(1)?,
                token if token.is(",") && depth == 0 => return Some(at),
                token if depth == 0 && token.kind == Kind::Word && CLAUSES.has(&token.text.to_lowercase()) => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// `WITH name AS (`, `, name(a, b) AS (`.
    fn has_cte(&self, name: &str) -> bool {
        let is_with =
            self.tokens.iter().any(|token| token.kind == Kind::Word && token.text.eq_ignore_ascii_case("with"));
        is_with
            && (1..self.tokens.len()).any(|at| {
                let before = &self.tokens[at - 1];
                let opens = before.is(",") || matches!(&*self.word(at - 1), "with" | "recursive");
                opens && self.name_at(at).as_deref() == Some(name) && self.is_defined_behind(at)
            })
    }

    fn is_defined_behind(&self, at: usize) -> bool {
        let mut next = at + 1;
        if self.tokens.get(next).is_some_and(|token| token.is("(")) {
            next += self.tokens[next..].iter().position(|token| token.is(")")).unwrap_or(0) + 1;
        }
        self.word(next) == "as"
    }

    fn word(&self, at: usize) -> String {
        self.tokens
            .get(at)
            .filter(|token| token.kind == Kind::Word)
            .map(|token| token.text.to_lowercase())
            .unwrap_or_default()
    }

    fn position(&self, word: &str) -> Option<usize> {
        (0..self.tokens.len()).find(|at| self.word(*at) == word)
    }

    /// The table's name at this place, with its schema: `main.orders` is `orders`. A function is none.
    fn name_at(&self, at: usize) -> Option<String> {
        let (mut at, mut name) = (at, self.tokens.get(at)?.name()?);
        while self.tokens.get(at + 1).is_some_and(|dot| dot.is(".")) {
            let next = self.tokens.get(at + 2)?.name()?;
            name =
                if matches!(&*name, "main" | "public" | "memory" | "temp") { next } else { format!("{name}.{next}") };
            at += 2;
        }
        let token = &self.tokens[at];
        let is_clause = token.kind == Kind::Word && (CLAUSES.has(&name) || FILLING.has(&name));
        let is_call = self.tokens.get(at + 1).is_some_and(|next| next.is("("))
            && !matches!(&*self.word(at.wrapping_sub(1)), "into" | "table" | "exists" | "view");
        (!is_clause && !is_call).then(|| table(self.connection, &name))
    }
}

fn bind(names: &mut CellNames, name: String) {
    names.unsets.remove(&name);
    names.uncertain.remove(&name);
    names.leaves.insert(name);
}

fn drop_table(names: &mut CellNames, name: String, is_lenient: bool) {
    if !is_lenient && !names.leaves.contains(&name) {
        names.may_read.insert(name.clone());
    }
    names.leaves.remove(&name);
    names.uncertain.remove(&name);
    names.unsets.insert(name);
}
