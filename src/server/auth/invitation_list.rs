//! Reads a list of people to invite: CSV in UTF-8, whose first line names the columns.

use std::collections::HashMap;

use csv::{ByteRecord, ReaderBuilder, StringRecord, Trim};
use notarium_wire::rest::WrongLine;

use super::AuthError;
use super::workspace_names::NamedWorkspace;
use crate::auth;

/// People in one list.
pub const MAX_PEOPLE: usize = 1_000;
/// Longest e-mail address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
const COLUMNS: &str = "login, name, email, workspaces, admin";

/// A person of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPerson {
    /// Line of the list, from 1.
    pub line: u64,
    pub login: String,
    pub name: String,
    pub email: Option<String>,
    pub workspaces: Vec<NamedWorkspace>,
    pub is_admin: bool,
}

/// People of a list, and its wrong lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct InvitationList {
    pub people: Vec<ListedPerson>,
    pub wrong: Vec<WrongLine>,
}

/// Column of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ListColumn {
    Login,
    Name,
    Email,
    Workspaces,
    Admin,
}

impl InvitationList {
    /// Reads a list. Wrong lines are collected; after a wrong first line nothing else is read.
    pub fn read(bytes: &[u8]) -> Self {
        let mut list = Self::default();
        if let Err(wrong) = list.read_lines(bytes) {
            list.wrong.push(wrong);
        }
        list
    }

    fn read_lines(&mut self, bytes: &[u8]) -> Result<(), WrongLine> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            wrong(lines_in(before) + 1, "this is not UTF-8: save the list as CSV in UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
        let mut lines = LineCounter { text: text.as_bytes(), at: 0, line: 1 };
        let mut columns: Option<Vec<ListColumn>> = None;
        let mut seen = HashMap::new();
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            let line = lines.line_of(record.position().map_or(0, |position| position.byte()));
            let fields = StringRecord::from_byte_record_lossy(std::mem::take(&mut record));
            let Some(columns) = &columns else {
                columns = Some(columns_of(&fields).map_err(|message| wrong(line, message))?);
                continue;
            };
            // Spreadsheets write empty rows at the end.
            if fields.iter().all(str::is_empty) {
                continue;
            }
            match person(line, columns, &fields, &mut seen) {
                Ok(person) => self.people.push(person),
                Err(message) => self.wrong.push(wrong(line, message)),
            }
        }
        match columns {
            Some(_) => Ok(()),
            None => Err(wrong(1, format!("the list is empty: its first line names the columns ({COLUMNS})"))),
        }
    }
}

fn wrong(line: u64, message: impl Into<String>) -> WrongLine {
    WrongLine { line, message: message.into() }
}

fn columns_of(fields: &StringRecord) -> Result<Vec<ListColumn>, String> {
    let mut columns = Vec::new();
    for name in fields {
        let column = match name.to_lowercase().as_str() {
            "login" => ListColumn::Login,
            "name" => ListColumn::Name,
            "email" => ListColumn::Email,
            "workspaces" => ListColumn::Workspaces,
            "admin" => ListColumn::Admin,
            _ if fields.len() == 1 && name.contains([';', '\t']) => {
                return Err("the columns must be divided by commas: save the list as CSV with commas".to_owned());
            }
            "" => return Err(format!("a column has no name: the columns are {COLUMNS}")),
            _ => return Err(format!("'{name}' is no column of this list: the columns are {COLUMNS}")),
        };
        if columns.contains(&column) {
            return Err(format!("the column '{name}' is there twice: remove one"));
        }
        columns.push(column);
    }
    match columns.contains(&ListColumn::Login) {
        true => Ok(columns),
        false => Err("the column 'login' is missing: the first line must name the columns".to_owned()),
    }
}

/// Reads a person. `seen`: the line of each login so far.
fn person(
    line: u64,
    columns: &[ListColumn],
    fields: &StringRecord,
    seen: &mut HashMap<String, u64>,
) -> Result<ListedPerson, String> {
    if fields.len() != columns.len() {
        let (count, wanted) = (fields.len(), columns.len());
        return Err(format!("it has {count} values for {wanted} columns: put a value with a comma in quotes"));
    }
    let field = |wanted: ListColumn| {
        let index = columns.iter().position(|column| *column == wanted);
        index.and_then(|index| fields.get(index)).unwrap_or_default()
    };
    let login = auth::login(field(ListColumn::Login)).map_err(said)?;
    if let Some(first) = seen.insert(login.clone(), line) {
        return Err(format!("the login '{login}' is on line {first} already: remove one of the lines"));
    }
    let name = match field(ListColumn::Name) {
        "" => login.clone(),
        name => auth::name(name).map_err(said)?,
    };
    let workspaces = field(ListColumn::Workspaces).split(';').map(str::trim).filter(|name| !name.is_empty());
    Ok(ListedPerson {
        line,
        login,
        name,
        email: email(field(ListColumn::Email))?,
        workspaces: workspaces.map(NamedWorkspace::parse).collect(),
        is_admin: is_admin(field(ListColumn::Admin))?,
    })
}

fn said(error: AuthError) -> String {
    error.to_string()
}

/// An address is only shown to who sends the invitation, so its form alone is checked.
fn email(text: &str) -> Result<Option<String>, String> {
    let is_odd = |character: char| character.is_whitespace() || character.is_control();
    match text.split_once('@') {
        _ if text.is_empty() => Ok(None),
        Some((name, host)) if !name.is_empty() && !host.is_empty() && !text.contains(is_odd) => {
            if text.len() > MAX_EMAIL_BYTES {
                return Err(format!("an email address has at most {MAX_EMAIL_BYTES} bytes"));
            }
            Ok(Some(text.to_owned()))
        }
        _ => Err(format!("'{text}' is no email address: write one as in ann@example.org, or leave it empty")),
    }
}

fn is_admin(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "yes" => Ok(true),
        "no" | "" => Ok(false),
        _ => Err(format!("admin must be yes, no or empty, not '{text}'")),
    }
}

/// Counts lines up to a byte; bytes are asked for in order.
struct LineCounter<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// Line of the record that was read from this byte. Empty lines before it belong to the position that the reader gives.
    fn line_of(&mut self, byte: u64) -> u64 {
        let from = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        let rest = self.text.get(from..).unwrap_or_default();
        let start = from + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += lines_in(self.text.get(self.at..start).unwrap_or_default());
        self.at = start;
        self.line
    }
}

/// Line ends in a text: LF, CR or both.
fn lines_in(text: &[u8]) -> u64 {
    let ends = text.iter().enumerate();
    let ends = ends.filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => text.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    u64::try_from(ends.count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use notarium_core::Role;

    use super::*;

    fn read(text: &str) -> InvitationList {
        InvitationList::read(text.as_bytes())
    }

    fn wrong_lines(text: &str) -> Vec<(u64, String)> {
        read(text).wrong.into_iter().map(|wrong| (wrong.line, wrong.message)).collect()
    }

    #[test]
    fn a_list_of_a_spreadsheet_is_read() {
        let text = "\u{feff}Name,login,Workspaces,admin,email\r\n\
                    \"Miller, Ann\", Ann ,Lab; Class:viewer,yes,ann@example.org\r\n\r\n\
                    ,bob,,,\r\n\"two\nlines\",eve,,,\r\n,,,,\r\n\"Cy \"\"C\"\"\",cy,,NO,\r\n";
        let InvitationList { people, wrong } = read(text);
        assert_eq!(wrong.iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [5], "{wrong:?}");
        let ann = ListedPerson {
            line: 2,
            login: "ann".to_owned(),
            name: "Miller, Ann".to_owned(),
            email: Some("ann@example.org".to_owned()),
            workspaces: vec![
                NamedWorkspace { name: "Lab".to_owned(), role: Role::Editor },
                NamedWorkspace { name: "Class".to_owned(), role: Role::Viewer },
            ],
            is_admin: true,
        };
        assert_eq!(people[0], ann);
        assert_eq!((people[1].line, people[1].name.as_str(), people[1].is_admin), (4, "bob", false));
        assert_eq!((people[2].line, people[2].name.as_str()), (8, "Cy \"C\""));
    }

    #[test]
    fn columns_are_named_on_the_first_line() {
        for (text, said) in [
            ("", "the list is empty"),
            ("login;name\nann;Ann\n", "divided by commas"),
            ("ann,Ann\n", "'ann' is no column"),
            ("name\nAnn\n", "'login' is missing"),
            ("login,name,Login\n", "twice"),
            ("login,,name\n", "no name"),
            ("login,password\nann,secret\n", "'password' is no column"),
        ] {
            let wrong = wrong_lines(text);
            assert!(wrong.len() == 1 && wrong[0].0 == 1 && wrong[0].1.contains(said), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn every_wrong_line_is_named_with_its_reason() {
        let text = "login,name,email,admin\nann,,,\nANN,,,\nann b,,,\nbob,Bob,bob,\ncy,,,maybe\ndan,,\nfay,,,\n";
        let InvitationList { people, wrong } = read(text);
        assert_eq!(people.iter().map(|person| person.line).collect::<Vec<_>>(), [2, 8]);
        let expected =
            ["on line 2 already", "without spaces", "no email address", "yes, no or empty", "3 values for 4"];
        assert_eq!(wrong.len(), expected.len(), "{wrong:?}");
        for ((line, wrong), said) in (3..).zip(&wrong).zip(expected) {
            assert!(wrong.line == line && wrong.message.contains(said), "{wrong:?}");
        }
    }

    #[test]
    fn a_list_in_another_encoding_is_refused_with_its_line() {
        let wrong = InvitationList::read(b"login,name\nann,Ann\nbob,J\xfcrgen\n").wrong;
        assert_eq!(wrong.iter().map(|wrong| wrong.line).collect::<Vec<_>>(), [3]);
        assert!(wrong[0].message.contains("UTF-8"));
    }
}
