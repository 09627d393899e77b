//! One version everywhere, and no text that promises a package under a name which is not registered.

use std::path::Path;

use super::{files, root};

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_part_has_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    let places: [(&str, String, usize); 12] = [
        ("clients/python/notarium/_version.py", format!("__version__ = \"{version}\""), 1),
        ("clients/jupyter/notarium_jupyter/_version.py", format!("__version__ = \"{version}\""), 1),
        ("clients/jupyter/pyproject.toml", format!("\"notarium=={version}\""), 1),
        ("clients/web/package.json", format!("\"version\": \"{version}\""), 1),
        ("clients/web/package-lock.json", format!("\n  \"version\": \"{version}\""), 1),
        ("clients/web/generate/package.json", format!("\"version\": \"{version}\""), 1),
        ("clients/web/src/app/session/session.ts", format!("notarium-web/{version}"), 1),
        ("clients/python/README.md", format!("notarium-{version}-py3-none-any.whl"), 1),
        ("protocol/openapi.json", format!("\"version\": \"{version}\""), 1),
        ("deploy/compose.yaml", format!("image: notarium:{version}"), 1),
        ("deploy/kubernetes/statefulset.yaml", format!("image: notarium:{version}"), 2),
        ("Cargo.toml", format!("\nversion = \"{version}\""), 1),
    ];
    for (path, wanted, count) in places {
        assert_eq!(read(path).matches(&wanted).count(), count, "{path}: {wanted}");
    }
}

/// Returns the place in a line at which it tells to install a package of ours by its name alone.
fn installs_by_name(line: &str) -> bool {
    let Some((_, after)) = line.split_once("pip install") else { return false };
    after.split_whitespace().any(|word| {
        let word = word.trim_matches(|letter: char| "'\"`.,;:()".contains(letter));
        let name = word.split('[').next().unwrap_or_default();
        matches!(name, "notarium" | "notarium-jupyter" | "notarium-client")
    })
}

#[test]
fn no_text_installs_a_package_that_is_not_registered() {
    let is_read = |path: &Path| {
        let is_text =
            path.extension().is_some_and(|found| ["md", "py", "rs", "ts", "tsx", "mjs"].iter().any(|it| found == *it));
        is_text && !path.starts_with("tests/tidy") && !path.ends_with("CHANGELOG.md")
    };
    let mut found = Vec::new();
    for path in files().into_iter().filter(|path| is_read(path)) {
        let text = read(&path.to_string_lossy());
        found.extend(
            text.lines()
                .enumerate()
                .filter(|(_, line)| installs_by_name(line))
                .map(|(at, _)| format!("{}:{}", path.display(), at + 1)),
        );
    }
    assert!(found.is_empty(), "the name is not registered: name a file or a folder in {found:#?}");
}

#[test]
fn a_file_or_folder_is_no_name() {
    for line in ["pip install notarium", "run `%pip install --upgrade notarium`, or", "pip install 'notarium[pandas]'"]
    {
        assert!(installs_by_name(line), "{line}");
    }
    for line in
        ["pip install ./clients/python", "pip install notarium-0.2.0-py3-none-any.whl", "pip uninstall notarium"]
    {
        assert!(!installs_by_name(line), "{line}");
    }
}
