//! A token on a command line is there for every program of the machine to read, and for kernels that Landlock alone keeps.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use super::Failure;

const OPTION: &str = "--token";
/// What the program reads instead. No kernel is given it, and no process in a sandbox reads another's environment.
const VARIABLE: &str = "NOTARIUM_TOKEN";
/// Longer ones are none.
const MAX_TOKEN_BYTES: usize = 4096;

/// Starts this program anew, as the same process, where its command line has a token: that moves to the environment.
pub fn without_token() -> Result<(), Failure> {
    let Some((arguments, token)) = split(std::env::args_os()) else { return Ok(()) };
    let failed = |error| Failure::failed(format!("the token cannot be taken off the command line: {error}"));
    let mut arguments = arguments.into_iter();
    let mut again = std::process::Command::new(std::env::current_exe().map_err(failed)?);
    again.arg0(arguments.next().unwrap_or_default()).args(arguments).env(VARIABLE, token);
    Err(failed(again.exec()))
}

/// The command line without its token, and the token. The last one counts.
fn split(arguments: impl Iterator<Item = OsString>) -> Option<(Vec<OsString>, OsString)> {
    let (mut left, mut token, mut is_literal) = (Vec::new(), None, false);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        is_literal |= argument == "--";
        if is_literal {
            left.push(argument);
        } else if argument == OPTION {
            match arguments.next() {
                Some(value) => token = Some(value),
                // The parser says what is missing.
                None => left.push(argument),
            }
        } else if let Some(value) = value_of(&argument) {
            token = Some(value);
        } else {
            left.push(argument);
        }
    }
    Some((left, token?))
}

fn value_of(argument: &OsStr) -> Option<OsString> {
    let rest = argument.as_bytes().strip_prefix(OPTION.as_bytes())?.strip_prefix(b"=")?;
    Some(OsString::from_vec(rest.to_vec()))
}

/// The first line of a file; of standard input for `-`.
pub fn token_in(file: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::usage(format!("--token-file {}: {error}", file.display()));
    let mut source: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(file).map_err(failed)?),
    };
    let (mut token, mut byte) = (Vec::new(), [0]);
    // One at a time: what follows on standard input is another reader's.
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
        let (left, token) = split(line.split(' ').map(OsString::from))?;
        Some((left.join(OsStr::new(" ")).into_string().unwrap(), token.into_string().unwrap()))
    }

    #[test]
    fn a_token_is_found_where_the_parser_would_find_it() {
        let found = |left: &str, token: &str| Some((left.to_owned(), token.to_owned()));
        assert_eq!(split_of("notarium ls --token nt_x"), found("notarium ls", "nt_x"));
        assert_eq!(split_of("notarium --token=nt_x ls -v"), found("notarium ls -v", "nt_x"));
        assert_eq!(split_of("notarium ls --token a --token=b"), found("notarium ls", "b"));
        assert_eq!(split_of("notarium ls -- --token x"), None);
        assert_eq!(split_of("notarium ls --token"), None);
        assert_eq!(split_of("notarium ls --token-file x"), None);
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
