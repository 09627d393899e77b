//! Test that `protocol/errors.md` lists every code. `NOTARIUM_BLESS=1` rewrites the tables of the enums; the codes of REST are written by
//! hand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notarium_core::{Rejection, RejectionCode};
use notarium_server::http::problem::Problem;
use notarium_wire::{FileRefusal, QuestionRefusal};
use serde_json::Value;

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the codes of an enum with their sentences, from `protocol/schema/`.
fn codes_of(enumeration: &str) -> Vec<(String, String)> {
    let schemas = ["server-message", "client-message"].map(|name| {
        let schema = std::fs::read(at(&format!("protocol/schema/{name}.json"))).unwrap();
        serde_json::from_slice::<Value>(&schema).unwrap()
    });
    let variants = schemas.iter().find_map(|schema| schema["$defs"][enumeration]["oneOf"].as_array()).unwrap();
    let words = |value: &Value| value.as_str().expect("every code has a name and a sentence").to_owned();
    variants.iter().map(|variant| (words(&variant["const"]), words(&variant["description"]))).collect()
}

fn rejections() -> String {
    let rows = codes_of("RejectionCode").into_iter().map(|(name, words)| {
        let code: RejectionCode = serde_json::from_value(name.clone().into()).unwrap();
        let status = Problem::from(Rejection::new(code, "")).status;
        let sentence = words.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end();
        assert!(
            words.ends_with(&format!(" {status}")),
            "{name} is {status} over HTTP, its documentation says: {words}"
        );
        format!("| `{name}` | {status} | {sentence} |\n")
    });
    format!("| code | HTTP | |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

fn unanswered() -> String {
    let rows = codes_of("QuestionRefusal").into_iter().map(|(name, words)| {
        let code: QuestionRefusal = serde_json::from_value(name.clone().into()).unwrap();
        let (sentence, status) = words.rsplit_once(' ').unwrap();
        assert_eq!(Problem::unanswered(code, "").status.to_string(), status, "{name}");
        format!("| `{name}` | {status} | {sentence} |\n")
    });
    format!("| code | HTTP | |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

fn no_files() -> String {
    let rows = codes_of("FileRefusal").into_iter().map(|(name, words)| {
        let code: FileRefusal = serde_json::from_value(name.clone().into()).unwrap();
        let (sentence, status) = words.rsplit_once(' ').unwrap();
        assert_eq!(Problem::no_file(code, "").status.to_string(), status, "{name}");
        format!("| `{name}` | {status} | {sentence} |\n")
    });
    format!("| code | HTTP | |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

fn connection_errors() -> String {
    let rows = codes_of("ErrorCode").into_iter().map(|(name, words)| format!("| `{name}` | {words} |\n"));
    format!("| code | |\n| --- | --- |\n{}", rows.collect::<String>())
}

/// Replaces the table between the marks of that name in `text`.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let begin = format!("<!-- {name} -->\n");
    let (head, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{begin} is missing"));
    let (_, tail) = rest.split_once("<!-- end -->").expect("an end mark");
    format!("{head}{begin}{table}<!-- end -->{tail}")
}

#[test]
fn errors_md_is_current() {
    let path = at("protocol/errors.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let tables = [
        ("rejections", rejections()),
        ("connection", connection_errors()),
        ("questions", unanswered()),
        ("files", no_files()),
    ];
    let found = tables.iter().fold(text.clone(), |text, (name, table)| with_table(&text, name, table));
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
        return;
    }
    assert_eq!(
        found, text,
        "protocol/errors.md is stale: NOTARIUM_BLESS=1 cargo test --test in_process server::errors"
    );
}

/// Returns the codes beside an HTTP status in a source text.
fn written_codes(source: &str) -> Vec<String> {
    let text: String = source.split_whitespace().collect();
    let after_status = text.split("StatusCode::").skip(1).chain(text.split("Problem::new(status").skip(1));
    let code = |rest: &str| {
        let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_uppercase() || letter == '_');
        rest.strip_prefix(",\"")?.split('"').next().map(str::to_owned)
    };
    after_status
        .filter_map(code)
        .filter(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => sources(&entry, found),
            false if entry.extension().is_some_and(|ending| ending == "rs") => found.push(entry),
            false => {}
        }
    }
}

#[test]
fn errors_md_names_what_rest_alone_says() {
    let mut files = Vec::new();
    sources(&at("src/server"), &mut files);
    let written = files.iter().flat_map(|file| written_codes(&std::fs::read_to_string(file).unwrap()));
    let rejections: BTreeSet<String> = codes_of("RejectionCode").into_iter().map(|(name, _)| name).collect();
    let written: BTreeSet<String> = written.filter(|code| !rejections.contains(code)).collect();
    assert!(written.contains("not_found") && written.contains("not_a_websocket"), "the search finds them: {written:?}");
    let text = std::fs::read_to_string(at("protocol/errors.md")).unwrap();
    let (_, table) = text.split_once("## REST alone").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.map(str::to_owned).collect::<BTreeSet<_>>(), written);
}
