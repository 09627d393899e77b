//! Tests of repository rules: dependencies between parts, file length, banned content.

mod comments;
mod documents;
mod release;
mod sources;
mod sql;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PARTS: [&str; 18] = [
    "record",
    "core",
    "judge",
    "expectation",
    "wire",
    "sync",
    "store",
    "server",
    "client",
    "agent",
    "assistant",
    "scripted",
    "export",
    "comparison",
    "telemetry",
    "report",
    "doors/dialoghelper",
    "doors/jupyter",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file that git tracks or would track, relative to the root.
fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    let names = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    names.lines().map(PathBuf::from).filter(|path| root().join(path).is_file()).collect()
}

fn with_extension(extension: &str) -> impl Iterator<Item = (PathBuf, String)> {
    let wanted = extension.to_owned();
    files().into_iter().filter(move |path| path.extension().is_some_and(|found| *found == *wanted)).map(|path| {
        let text = std::fs::read_to_string(root().join(&path)).expect("sources are UTF-8");
        (path, text)
    })
}

/// Returns the crates of this workspace that a crate depends on, except for tests.
fn own_dependencies(part: &str) -> BTreeSet<String> {
    let manifest =
        std::fs::read_to_string(root().join("src").join(part).join("Cargo.toml")).expect("the part has a manifest");
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.strip_prefix("notarium-")?.split(['.', ' ', '=']).next().map(str::to_owned)).collect()
}

#[test]
fn parts_know_only_what_the_code_map_allows() {
    let allowed: [(&str, &[&str]); 19] = [
        ("record", &[]),
        ("core", &["record"]),
        ("judge", &[]),
        ("expectation", &["judge"]),
        ("wire", &["core"]),
        ("sync", &["wire", "core"]),
        ("store", &["record", "telemetry"]),
        ("telemetry", &[]),
        (
            "server",
            &[
                "assistant",
                "sync",
                "store",
                "expectation",
                "judge",
                "wire",
                "core",
                "export",
                "report",
                "telemetry",
                "terminal",
            ],
        ),
        ("client", &["wire", "core"]),
        ("agent", &["client", "wire", "core", "telemetry", "terminal"]),
        ("assistant", &["judge", "wire", "core", "telemetry", "terminal"]),
        ("scripted", &[]),
        ("export", &[]),
        ("report", &["wire", "core", "export"]),
        ("terminal", &[]),
        ("comparison", &["terminal"]),
        ("doors/dialoghelper", &["client", "wire", "core", "terminal"]),
        ("doors/jupyter", &["client", "wire", "core"]),
    ];
    for (part, may_know) in allowed {
        for known in own_dependencies(part) {
            assert!(may_know.contains(&known.as_str()), "{part} must not know {known} (ARCHITECTURE.md, code map)");
        }
    }
}

#[test]
fn each_library_belongs_to_one_part() {
    let owners: [(&str, &[&str]); 15] = [
        ("async-openai", &["assistant"]),
        ("ruff_python_parser", &["judge"]),
        ("ammonia", &["export"]),
        ("pulldown-cmark", &["export"]),
        ("sqlx", &["store"]),
        // The scripted model is a small server: tests and the demo call it over real HTTP. The store's tests have a small S3.
        ("axum", &["server", "scripted", "doors/dialoghelper", "doors/jupyter", "store"]),
        ("jupyter-zmq-client", &["agent"]),
        ("object_store", &["store"]),
        ("eventsource-stream", &["assistant"]),
        ("rmcp", &["assistant"]),
        ("imagesize", &["assistant"]),
        ("png", &["comparison"]),
        ("rust-embed", &["server"]),
        ("prometheus-client", &["telemetry", "server"]),
        ("opentelemetry", &["telemetry"]),
    ];
    for (library, owners) in owners {
        for part in PARTS {
            let manifest =
                std::fs::read_to_string(root().join("src").join(part).join("Cargo.toml")).expect("a manifest");
            let knows = manifest
                .lines()
                .any(|line| line.starts_with(&format!("{library}.")) || line.starts_with(&format!("{library} ")));
            assert!(!knows || owners.contains(&part), "only {owners:?} may know {library}, but {part} does");
        }
    }
}

/// `async-openai` gives the types of one protocol; other dialects and the rest of the program have their own.
#[test]
fn only_the_dialect_of_responses_names_async_openai() {
    for (path, text) in with_extension("rs") {
        let path = path.to_str().expect("a path in UTF-8");
        let may_name = path.starts_with("src/assistant/providers/responses")
            || path == "src/assistant/tests/responses.rs"
            || path.starts_with("tests/tidy/");
        assert!(may_name || !text.contains("async_openai"), "{path} names async-openai");
    }
}

#[test]
fn sqlite_is_linked_once() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock is checked in");
    assert_eq!(lock.matches("name = \"libsqlite3-sys\"").count(), 1, "two copies of SQLite would be linked");
    assert!(
        !lock.contains("name = \"aws-lc-rs\""),
        "a second TLS provider makes wss:// panic at run time: keep ring alone"
    );
}

#[test]
fn files_stay_short() {
    for extension in ["rs", "py", "ts", "tsx", "js", "mjs"] {
        for (path, text) in with_extension(extension) {
            let is_generated = text.lines().next().is_some_and(|first| first.contains("Do not edit"));
            let lines = if is_generated { 0 } else { text.lines().count() };
            assert!(lines <= 500, "{} has {lines} lines: is it one room with one purpose?", path.display());
        }
    }
}

#[test]
fn every_part_opens_with_its_purpose() {
    for part in PARTS {
        let text =
            std::fs::read_to_string(root().join("src").join(part).join("lib.rs")).expect("the part has a lib.rs");
        for word in ["Purpose:", "Invariants:", "must never"] {
            let head: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
            assert!(head.contains(word), "src/{part}/lib.rs does not say its {word}");
        }
    }
}

/// Returns true if a documentation comment has an example that rustdoc would run.
fn has_example(text: &str) -> bool {
    let mut is_open = false;
    text.lines().map(str::trim_start).filter(|line| line.starts_with("///") || line.starts_with("//!")).any(|line| {
        let Some(words) = line[3..].trim_start().strip_prefix("```") else { return false };
        is_open = !is_open;
        is_open && matches!(words.trim(), "" | "rust" | "no_run" | "should_panic" | "compile_fail")
    })
}

/// rustdoc reads a whole part before it finds that there is nothing to run.
#[test]
fn only_parts_with_examples_in_comments_run_them() {
    for part in PARTS {
        let (folder, manifest) = (Path::new("src").join(part), root().join("src").join(part).join("Cargo.toml"));
        let has_examples = with_extension("rs").any(|(path, text)| path.starts_with(&folder) && has_example(&text));
        let manifest = std::fs::read_to_string(manifest).expect("the part has a manifest");
        assert_eq!(
            has_examples,
            !manifest.contains("doctest = false"),
            "the examples of {part}, and doctest in its manifest"
        );
    }
}

#[test]
fn nothing_is_left_half_done() {
    // Split literals, so that this file does not contain the words.
    let banned = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME"), concat!("dbg", "!(")];
    for (path, text) in with_extension("rs") {
        for word in banned {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}

#[test]
fn no_machine_paths_registries_or_marks_of_a_conflict() {
    let banned = [
        concat!("\n<<<<", "<<< "),
        concat!("\n>>>>", ">>> "),
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("registry.npm", "js.org"),
        concat!("index.crates", ".io/"),
    ];
    let readable = files().into_iter().filter(|path| !path.ends_with("Cargo.lock"));
    for path in readable {
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else { continue };
        for word in banned {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("migrations/sqlite"))
        .expect("migrations exist")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for (index, name) in names.iter().enumerate() {
        assert!(name.starts_with(&format!("{:04}_", index + 1)), "{name} is not migration number {}", index + 1);
    }
}
