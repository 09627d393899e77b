//! Connections to databases that the operator names. A URL with its credentials stays here and in brokers, which run outside
//! the sandbox of kernels. A kernel knows only names, and uses brokers over a socket in its own folder.

pub mod brokers;
pub(crate) mod schemas;

use std::fmt;
use std::path::{Path, PathBuf};

use notarium_wire::OfferedConnection;
use serde_json::json;

/// Environment variable that lists a kernel's connections: names, kinds, and the socket of the brokers.
pub const TOLD_TO_KERNELS: &str = "NOTARIUM_CONNECTIONS";
/// The connection that every kernel has: DuckDB in its memory.
const IN_MEMORY: &str = "duckdb";
const MAX_NAME_CHARACTERS: usize = 40;

/// Location of a database.
#[derive(Clone, PartialEq, Eq)]
enum DatabaseAddress {
    /// A server, reached through a broker.
    Url(String),
    /// A file. The kernel opens it, if its sandbox permits.
    File(PathBuf),
}

/// One connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    pub name: String,
    /// Name of the database's kind, as kernels and people see it.
    kind: &'static str,
    place: DatabaseAddress,
    /// True if a cell that declares it may write.
    pub writes: bool,
}

/// Omits the URL or path.
impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}, writes: {})", self.name, self.kind, self.writes)
    }
}

impl Connection {
    /// The error names the fault, never the URL.
    pub fn new(name: &str, url: &str, writes: bool) -> Result<Self, String> {
        check_name(name)?;
        let (kind, place) = place_of(url).ok_or_else(|| {
            format!(
                "the connection {name} leads to no database that Notarium knows: write postgresql://…, sqlite:/path/to/file or \
                 duckdb:/path/to/file"
            )
        })?;
        Ok(Self { name: name.to_owned(), kind, place, writes })
    }

    /// True if the connection may have a credential, and so needs a broker.
    pub fn is_brokered(&self) -> bool {
        matches!(self.place, DatabaseAddress::Url(_))
    }

    pub fn offered(&self) -> OfferedConnection {
        OfferedConnection { name: self.name.clone(), kind: self.kind.to_owned(), writes: self.writes }
    }
}

/// Accepts small letters, digits and `_`, because names appear in a cell's first line and in variable names.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |found: char| found.is_ascii_lowercase() || found.is_ascii_digit() || found == '_';
    let fits = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= MAX_NAME_CHARACTERS
        && name.chars().all(is_plain);
    match (fits, name) {
        (true, IN_MEMORY) => {
            Err(format!("{IN_MEMORY} is the database in each kernel's memory: give the connection another name"))
        }
        (true, _) => Ok(()),
        (false, _) => Err(format!(
            "'{name}' is no name of a connection: use small letters, digits and _, a letter first, at most {MAX_NAME_CHARACTERS}"
        )),
    }
}

fn place_of(url: &str) -> Option<(&'static str, DatabaseAddress)> {
    let (scheme, rest) = url.split_once(':')?;
    let file = || DatabaseAddress::File(PathBuf::from(rest.strip_prefix("//").unwrap_or(rest)));
    match scheme {
        "postgresql" | "postgres" if rest.starts_with("//") => {
            Some(("postgresql", DatabaseAddress::Url(url.to_owned())))
        }
        "sqlite" if !rest.is_empty() => Some(("sqlite", file())),
        "duckdb" if !rest.is_empty() => Some(("duckdb", file())),
        _ => None,
    }
}

/// True if a URL contains a password: other users can read a command line.
pub fn has_password(url: &str) -> bool {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    let (authority, query) =
        (after.split(['/', '?']).next().unwrap_or_default(), after.split_once('?').map_or("", |(_, query)| query));
    let in_authority = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    in_authority || query.contains("password=")
}

/// All connections of an agent.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    pub list: Vec<Connection>,
    /// Python of the brokers; absent: the Python of the kernel.
    pub python: Option<PathBuf>,
}

impl Connections {
    pub fn are_brokered(&self) -> bool {
        self.list.iter().any(Connection::is_brokered)
    }

    /// The value of [`TOLD_TO_KERNELS`]. `socket`: the address of the brokers.
    fn told(&self, socket: &Path) -> String {
        let told = |connection: &Connection| {
            let Connection { name, kind, writes, .. } = connection;
            let mut told = json!({"name": name, "kind": kind, "writes": writes});
            if let DatabaseAddress::File(path) = &connection.place {
                told["path"] = json!(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
            }
            told
        };
        let connections: Vec<_> = self.list.iter().map(told).collect();
        json!({"socket": socket, "connections": connections}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_never_shows() {
        let url = "postgresql://ann:s3cret@db.example/x";
        let connections = Connections { list: vec![Connection::new("warehouse", url, true).unwrap()], python: None };
        let shown =
            format!("{connections:?} {:?} {}", connections.list[0].offered(), connections.told(Path::new("/s")));
        assert!(!shown.contains("s3cret") && !shown.contains("ann") && !shown.contains("example"), "{shown}");
        for wrong in ["mysql://ann:s3cret@h/x", "s3cret", "postgresql:s3cret", "sqlite:"] {
            let refused = Connection::new("warehouse", wrong, false).unwrap_err();
            assert!(refused.contains("postgresql://") && !refused.contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn a_name_can_stand_in_a_cell_and_in_a_variable() {
        for name in ["warehouse", "w2", "a_b"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "Warehouse", "2w", "a-b", "a b", "é", "duckdb", &"a".repeat(41)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn passwords_are_seen_in_a_url() {
        for url in [
            "postgresql://ann:x@h/d",
            "postgres://ann:x@h",
            "postgresql://h/d?password=x",
            "postgresql://ann@h?sslpassword=x",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in ["postgresql://ann@h:5432/d", "postgresql:///d?host=/run/x", "sqlite:/a:b@c", "duckdb:x.db"] {
            assert!(!has_password(url), "{url}");
        }
    }

    #[test]
    fn files_are_told_with_their_path_and_servers_without() {
        let list = vec![
            Connection::new("shop", "sqlite:///data/shop.db", false).unwrap(),
            Connection::new("lake", "duckdb:/data/lake.duckdb", true).unwrap(),
        ];
        let told = Connections { list, python: None }.told(Path::new("/run/s"));
        let expected = json!({"socket": "/run/s", "connections": [
            {"name": "shop", "kind": "sqlite", "writes": false, "path": "/data/shop.db"},
            {"name": "lake", "kind": "duckdb", "writes": true, "path": "/data/lake.duckdb"},
        ]});
        assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), expected);
    }
}
