//! Documents: relative links lead to a file and to a heading in it; decisions are numbered without gaps.

use std::path::Path;

use super::{root, with_extension};

/// Without code, in blocks and in lines, which may look like a link.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains(':')).collect()
}

/// Returns the anchor that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|found| found == wanted)
}

/// Problems with the links of a document.
fn broken(path: &Path, text: &str) -> Vec<String> {
    let folder = path.parent().expect("a file is in a folder");
    let leads_nowhere = |target: &String| {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let place = root().join(if file.is_empty() { path.to_owned() } else { folder.join(file) });
        let holds = |anchor: &str| std::fs::read_to_string(&place).is_ok_and(|text| has_anchor(&text, anchor));
        !place.exists() || (!anchor.is_empty() && !holds(anchor))
    };
    links(text).into_iter().filter(leads_nowhere).map(|target| format!("{}: {target}", path.display())).collect()
}

#[test]
fn links_of_documents_lead_somewhere() {
    let found: Vec<String> = with_extension("md").flat_map(|(path, text)| broken(&path, &text)).collect();
    assert!(found.is_empty(), "links that lead nowhere:\n{}", found.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let text = "# A b\n[a](#a-b) [b](#c) [c](none.md) `[d](x)` [e](https://x.example)\n```sh\n[f](y)\n```\n[g](README.md#tour)";
    let readme = Path::new("ARCHITECTURE.md");
    assert_eq!(links(text), ["#a-b", "#c", "none.md", "README.md#tour"]);
    assert_eq!(broken(readme, text), ["#a-b", "#c", "none.md"].map(|link| format!("ARCHITECTURE.md: {link}")));
    assert!(has_anchor(text, "a-b"));
    assert_eq!(anchor(" A disk that is full, or gone"), "a-disk-that-is-full-or-gone");
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let entries = std::fs::read_dir(root().join("protocol/decisions")).expect("decisions exist");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for (index, name) in names.iter().enumerate() {
        let number = format!("{:04}", index + 1);
        assert!(name.starts_with(&format!("{number}-")), "{name} is not decision number {}", index + 1);
        let text = std::fs::read_to_string(root().join("protocol/decisions").join(name)).expect("decisions are UTF-8");
        assert!(text.starts_with(&format!("# {}. ", index + 1)), "{name} does not begin with its number");
    }
}
