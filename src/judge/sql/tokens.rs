//! SQL cut into tokens, as each of the databases cuts it. What is a text, a quoted name or a comment for one of them can be code
//! for another, so a judge reads a cell as all of them do.

/// Whose reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlDialect {
    PostgreSql,
    DuckDb,
    Sqlite,
}

impl SqlDialect {
    pub(crate) const ALL: [Self; 3] = [Self::PostgreSql, Self::DuckDb, Self::Sqlite];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A literal, with its quotes.
    Text,
    /// In quotes.
    Name,
    Word,
    Number,
    Sign,
    /// `{name}`: its text is the name.
    Parameter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqlToken<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl SqlToken<'_> {
    pub(crate) fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// The key of a name in lists; quotes do not make another of it here.
    pub(crate) fn name(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_lowercase()),
            Kind::Name => Some(self.text.trim_matches(['"', '`', '[', ']']).to_lowercase()),
            _ => None,
        }
    }
}

/// All but blanks and comments. What does not end goes on to the end of the text.
pub(crate) fn tokens(sql: &str, dialect: SqlDialect) -> Vec<SqlToken<'_>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < sql.len() {
        let rest = &sql[at..];
        let (kind, length) = next(rest, dialect);
        if let Some(kind) = kind {
            let text = match kind {
                Kind::Parameter => rest[1..length - 1].trim(),
                _ => &rest[..length],
            };
            found.push(SqlToken { kind, text, at });
        }
        at += length;
    }
    found
}

fn next(rest: &str, dialect: SqlDialect) -> (Option<Kind>, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    let is_sqlite = dialect == SqlDialect::Sqlite;
    if first.is_whitespace() {
        return (None, first.len_utf8());
    }
    if rest.starts_with("--") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, comment(rest, !is_sqlite));
    }
    if !is_sqlite && rest.len() > 1 && matches!(first, 'e' | 'E') && rest.as_bytes()[1] == b'\'' {
        return (Some(Kind::Text), 1 + quoted(&rest[1..], '\'', true));
    }
    match first {
        '\'' => (Some(Kind::Text), quoted(rest, '\'', false)),
        '"' => (Some(Kind::Name), quoted(rest, '"', false)),
        '`' if is_sqlite => (Some(Kind::Name), quoted(rest, '`', false)),
        '[' if is_sqlite => (Some(Kind::Name), rest.find(']').map_or(rest.len(), |end| end + 1)),
        '$' if !is_sqlite => match dollars(rest) {
            Some(length) => (Some(Kind::Text), length),
            None => (Some(Kind::Sign), 1),
        },
        '{' => match parameter(rest) {
            Some(length) => (Some(Kind::Parameter), length),
            None => (Some(Kind::Sign), if rest.starts_with("{{") { 2 } else { 1 }),
        },
        _ if is_word_start(first) => (Some(Kind::Word), length_while(rest, |found| is_word(found) || found == '$')),
        _ if first.is_numeric() => (Some(Kind::Number), length_while(rest, |found| is_word(found) || found == '.')),
        _ => (Some(Kind::Sign), first.len_utf8()),
    }
}

fn is_word_start(found: char) -> bool {
    found.is_alphabetic() || found == '_'
}

fn is_word(found: char) -> bool {
    found.is_alphanumeric() || found == '_'
}

fn length_while(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|found| !holds(found)).unwrap_or(text.len())
}

/// With the quotes; a doubled one is part of it.
fn quoted(rest: &str, quote: char, escapes: bool) -> usize {
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, found)) = characters.next() {
        if escapes && found == '\\' {
            characters.next();
        } else if found == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    rest.len()
}

fn comment(rest: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") && (nests || depth == 0) {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// `$$…$$`, `$tag$…$tag$`.
fn dollars(rest: &str) -> Option<usize> {
    let tag = length_while(&rest[1..], is_word);
    let opener = rest.get(..tag + 2).filter(|opener| opener.ends_with('$'))?;
    if opener[1..].starts_with(|found: char| found.is_numeric()) {
        return None;
    }
    let end = rest[opener.len()..].find(opener)?;
    Some(end + 2 * opener.len())
}

/// `{name}`; `{{` is a brace, and what else stands in braces is refused or a struct.
fn parameter(rest: &str) -> Option<usize> {
    let length = length_while(&rest[1..], is_word);
    let is_name = rest[1..].starts_with(is_word_start) && rest[1 + length..].starts_with('}');
    is_name.then_some(length + 2)
}
