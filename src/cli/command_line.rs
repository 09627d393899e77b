//! Moves secrets from the command line to the environment: every program can read a command line, even kernels under Landlock alone.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use notarium_agent::connections::has_password;

use crate::cli::Failure;
use crate::cli::agent::connections;

const OPTION: &str = "--token";
/// Variable that replaces the option. Kernels do not inherit it, and sandboxed processes cannot read another's environment.
const VARIABLE: &str = "NOTARIUM_TOKEN";
/// `--connection NAME=URL`, if the URL contains a password.
const CONNECTION: &str = "--connection";
/// Longest token in a file.
const MAX_TOKEN_BYTES: usize = 4096;

/// Restarts this program in the same process if its command line has a secret, which moves to the environment.
pub fn without_secrets() -> Result<(), Failure> {
    let Some((arguments, secrets)) = split(std::env::args_os()) else { return Ok(()) };
    let failed = |error| Failure::failed(format!("secrets cannot be taken off the command line: {error}"));
    let mut arguments = arguments.into_iter();
    let mut again = std::process::Command::new(std::env::current_exe().map_err(failed)?);
    again.arg0(arguments.next().unwrap_or_default()).args(arguments).envs(secrets);
    Err(failed(again.exec()))
}

/// Variables and their values.
type SecretVariables = Vec<(OsString, OsString)>;

/// Splits the command line into arguments without secrets, and the secrets. The last secret of a name is used.
fn split(arguments: impl Iterator<Item = OsString>) -> Option<(Vec<OsString>, SecretVariables)> {
    let (mut left, mut secrets, mut is_literal) = (Vec::new(), Vec::new(), false);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        is_literal |= argument == "--";
        let mut next = None;
        let given = [OPTION, CONNECTION].into_iter().filter(|_| !is_literal).find_map(|option| {
            if argument == option {
                next = arguments.next();
                return Some((option, next.clone()?));
            }
            Some((option, value_of(&argument, option)?))
        });
        match given.and_then(|(option, value)| secret_of(option, &value)) {
            Some(secret) => secrets.push(secret),
            // The parser reports missing or wrong values.
            None => left.extend([argument].into_iter().chain(next)),
        }
    }
    (!secrets.is_empty()).then_some((left, secrets))
}

fn value_of(argument: &OsStr, option: &str) -> Option<OsString> {
    let rest = argument.as_bytes().strip_prefix(option.as_bytes())?.strip_prefix(b"=")?;
    Some(OsString::from_vec(rest.to_vec()))
}

fn secret_of(option: &str, value: &OsStr) -> Option<(OsString, OsString)> {
    if option == OPTION {
        return Some((VARIABLE.into(), value.to_owned()));
    }
    let (name, url) = value.to_str()?.split_once('=')?;
    has_password(url).then(|| (connections::variable(name).into(), url.into()))
}

/// The first line of a file; for `-`, of standard input.
pub fn token_in(file: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::usage(format!("--token-file {}: {error}", file.display()));
    let mut source: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(file).map_err(failed)?),
    };
    let (mut token, mut byte) = (Vec::new(), [0]);
    // Read byte by byte: later bytes of standard input belong to another reader.
    while token.len() < MAX_TOKEN_BYTES && source.read(&mut byte).map_err(failed)? > 0 && byte != *b"\n" {
        token.extend(byte);
    }
    let token = String::from_utf8_lossy(&token).trim().to_owned();
    if token.is_empty() { Err(failed(std::io::Error::other("there is no token in it"))) } else { Ok(token) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_of(line: &str) -> Option<(String, String)> {
        let (left, secrets) = split(line.split(' ').map(OsString::from))?;
        let secrets: Vec<String> =
            secrets.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        Some((left.join(OsStr::new(" ")).into_string().unwrap(), secrets.join(" ")))
    }

    #[test]
    fn a_token_is_found_where_the_parser_would_find_it() {
        let found = |left: &str, token: &str| Some((left.to_owned(), token.to_owned()));
        assert_eq!(split_of("notarium ls --token nt_x"), found("notarium ls", "NOTARIUM_TOKEN=nt_x"));
        assert_eq!(split_of("notarium --token=nt_x ls -v"), found("notarium ls -v", "NOTARIUM_TOKEN=nt_x"));
        assert_eq!(
            split_of("notarium ls --token a --token=b"),
            found("notarium ls", "NOTARIUM_TOKEN=a NOTARIUM_TOKEN=b"),
            "the last one of a variable counts"
        );
        assert_eq!(split_of("notarium ls -- --token x"), None);
        assert_eq!(split_of("notarium ls --token"), None);
        assert_eq!(split_of("notarium ls --token-file x"), None);
    }

    #[test]
    fn a_connection_with_a_password_moves_and_others_stay() {
        let url = "postgresql://ann:x@h/d";
        let expected = Some(("notarium up".to_owned(), format!("NOTARIUM_CONNECTION_WAREHOUSE={url}")));
        assert_eq!(split_of(&format!("notarium up --connection warehouse={url}")), expected);
        assert_eq!(split_of(&format!("notarium up --connection=warehouse={url}")), expected);
        for other in ["warehouse=postgresql://ann@h/d", "warehouse=@/run/secrets/x", "warehouse", "warehouse=sqlite:x"]
        {
            assert_eq!(split_of(&format!("notarium up --connection {other}")), None, "{other}");
        }
        let mixed = format!("notarium up --connection a=sqlite:x --connection warehouse={url} --port 1");
        assert_eq!(split_of(&mixed).unwrap().0, "notarium up --connection a=sqlite:x --port 1");
    }

    #[test]
    fn a_file_has_its_token_in_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, " nt_x \nmore").unwrap();
        assert_eq!(token_in(&file).unwrap(), "nt_x");
        std::fs::write(&file, "\nnt_x").unwrap();
        assert!(token_in(&file).is_err());
        assert!(token_in(&folder.path().join("none")).is_err());
    }
}
