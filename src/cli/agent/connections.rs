//! Connections to databases that the operator names, and the sources of their URLs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Args;
use notarium_agent::connections::{Connections, DatabaseConnection, check_name, has_password};
use notarium_agent::kernelspecs::discover;
use tokio::process::Command;

use crate::cli::Failure;

/// Prefix of variables that name connections, as in `NOTARIUM_CONNECTION_WAREHOUSE`.
const PREFIX: &str = "NOTARIUM_CONNECTION_";
/// Variables with the same prefix that name none.
const OPTIONS: [&str; 2] = ["NOTARIUM_CONNECTION_WRITES", "NOTARIUM_CONNECTION_PYTHON"];
/// Largest file with a URL, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 10;

#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// A database that SQL cells can name: NAME=postgresql://…, NAME=sqlite:FILE, NAME=duckdb:FILE, or NAME=@FILE with such a URL
    /// in a file; may be repeated. The variable NOTARIUM_CONNECTION_NAME does the same.
    #[arg(long = "connection", value_name = "NAME=URL")]
    connections: Vec<String>,
    /// A connection through which cells may write that say so; may be repeated. All others are for reading alone.
    #[arg(long = "connection-writes", value_name = "NAME", env = OPTIONS[0], value_delimiter = ',')]
    writes: Vec<String>,
    /// The Python that has the drivers of databases, if it is not the kernels' own. Kernels cannot write it.
    #[arg(long = "connection-python", value_name = "PYTHON", env = OPTIONS[1])]
    python: Option<PathBuf>,
}

impl ConnectionArgs {
    /// Reads the connections. No error contains a URL.
    pub fn read(&self) -> Result<Connections, Failure> {
        let mut urls = BTreeMap::new();
        for (name, url) in std::env::vars().filter(|(name, _)| !OPTIONS.contains(&name.as_str())) {
            if let Some(name) = name.strip_prefix(PREFIX) {
                urls.insert(name.to_ascii_lowercase(), url);
            }
        }
        for given in &self.connections {
            let (name, value) = given.split_once('=').ok_or_else(|| {
                Failure::usage("--connection is NAME=URL, as in warehouse=postgresql://ann@db.example/sales")
            })?;
            urls.insert(name.to_owned(), url_of(name, value)?);
        }
        if let Some(unknown) = self.writes.iter().find(|name| !urls.contains_key(*name)) {
            let message =
                format!("--connection-writes {unknown}: there is no such connection (--connection {unknown}=URL)");
            return Err(Failure::usage(message));
        }
        let made = urls.iter().map(|(name, url)| DatabaseConnection::new(name, url, self.writes.contains(name)));
        let list = made.collect::<Result<_, _>>().map_err(Failure::usage)?;
        Ok(Connections { list, python: self.python.clone() })
    }

    /// Files with URLs, which kernels must not read.
    pub fn secret_files(&self) -> impl Iterator<Item = PathBuf> {
        self.connections.iter().filter_map(|given| Some(PathBuf::from(given.split_once("=@")?.1)))
    }

    /// Paths from which the brokers' Python loads code. Kernels can read but not write them.
    pub async fn places_of_drivers(
        &self,
        connections: &Connections,
        kernel_paths: &[PathBuf],
    ) -> Result<Vec<PathBuf>, Failure> {
        if !connections.are_brokered() {
            return Ok(Vec::new());
        }
        let pythons: Vec<PathBuf> = match &self.python {
            Some(python) => vec![python.clone()],
            None => {
                let found = discover(kernel_paths).kernelspecs.into_iter().filter(|spec| spec.is_ipykernel());
                found
                    .filter_map(|spec| spec.command_line(Path::new("")).into_iter().next())
                    .map(PathBuf::from)
                    .collect()
            }
        };
        let mut places = Vec::new();
        for python in &pythons {
            match places_of(python).await {
                Ok(found) => places.extend(found),
                Err(reason) if self.python.is_some() => {
                    return Err(Failure::usage(format!("--connection-python {}: {reason}", python.display())));
                }
                Err(reason) => {
                    tracing::warn!(python = %python.display(), reason, "a kernel's Python cannot be asked for its places")
                }
            }
        }
        places.sort();
        places.dedup();
        Ok(places)
    }
}

/// The variable that names a connection.
pub fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// Drops variables of connections from the names to pass on to kernels, even if a person listed them.
pub fn harmless(names: &[String]) -> Vec<String> {
    names.iter().filter(|name| !name.starts_with(PREFIX)).cloned().collect()
}

fn url_of(name: &str, value: &str) -> Result<String, Failure> {
    check_name(name).map_err(Failure::usage)?;
    if let Some(file) = value.strip_prefix('@') {
        return read_file(Path::new(file))
            .map_err(|reason| Failure::usage(format!("--connection {name}=@{file}: {reason}")));
    }
    if has_password(value) {
        let variable = variable(name);
        return Err(Failure::usage(format!(
            "the URL of {name} holds a password, and a command line can be read by every program of this machine: put the URL into \
             the variable {variable}, or into a file that only you can read, and write --connection {name}=@FILE"
        )));
    }
    Ok(value.to_owned())
}

fn read_file(file: &Path) -> Result<String, String> {
    let found = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if found.len() > MAX_FILE_BYTES {
        return Err("it holds a URL and nothing else".to_owned());
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    Ok(text.trim().to_owned())
}

/// Paths from which a Python loads code. The error is a reason.
async fn places_of(python: &Path) -> Result<Vec<PathBuf>, String> {
    let code = "import sys; print(*{sys.prefix, *filter(None, sys.path)}, sep='\\n')";
    let asked = Command::new(python).args(["-I", "-c", code]).stdin(Stdio::null()).kill_on_drop(true).output().await;
    let answer = asked.map_err(|error| format!("it cannot be started: {error}"))?;
    if !answer.status.success() {
        return Err("it does not run as Python".to_owned());
    }
    let places =
        String::from_utf8_lossy(&answer.stdout).lines().map(PathBuf::from).filter(|place| place.exists()).collect();
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(connections: &[&str], writes: &[&str]) -> ConnectionArgs {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        ConnectionArgs { connections: owned(connections), writes: owned(writes), python: None }
    }

    #[test]
    fn passwords_do_not_stand_on_the_command_line_and_no_error_says_a_url() {
        for (given, reason) in [
            ("warehouse=postgresql://ann:s3cret@h/d", "NOTARIUM_CONNECTION_WAREHOUSE"),
            ("warehouse=mysql://ann@s3cret/d", "postgresql://"),
            ("Ware house=postgresql://s3cret/d", "no name of a connection"),
            ("postgresql://s3cret", "NAME=URL"),
        ] {
            let failure = format!("{:?}", args(&[given], &[]).read().unwrap_err());
            assert!(failure.contains(reason) && !failure.contains("s3cret"), "{failure}");
        }
    }

    #[test]
    fn a_url_comes_from_a_file_that_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("warehouse");
        std::fs::write(&file, "postgresql://ann:s3cret@h/d\n").unwrap();
        let args = args(&[&format!("warehouse=@{}", file.display())], &["warehouse"]);
        let read = args.read().unwrap();
        assert_eq!(format!("{:?}", read.list), "[warehouse (postgresql, writes: true)]");
        assert_eq!(args.secret_files().collect::<Vec<_>>(), [file]);
    }

    #[test]
    fn only_connections_that_there_are_may_write() {
        assert!(format!("{:?}", args(&["a=sqlite:x.db"], &["b"]).read().unwrap_err()).contains("no such connection"));
    }

    #[test]
    fn no_connection_is_passed_on_to_kernels() {
        assert_eq!(harmless(&["A".to_owned(), "NOTARIUM_CONNECTION_X".to_owned()]), ["A"]);
    }
}
