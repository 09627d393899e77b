//! Tests of comments: the first word is the noun or the verb of the thing (CONTRIBUTING.md).

use crate::with_extension;

/// Words that leave the reader to guess the subject.
const OPENINGS: [&str; 7] = ["What", "How", "Whether", "Who", "Of", "As", "Where"];
/// Comments that may still begin with one of them. This number only falls.
const MOST: usize = 24;

/// Returns the text of a line that is a comment, without its marks.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let marks = ["///", "//!", "//", "/**", "/*", "{/*", "# ", "\"\"\""];
    marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim_start)
}

/// Returns the lines at which a comment opens with such a word.
fn openings(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        let said = comment(line);
        let first = said.and_then(|said| said.split(|letter: char| !letter.is_alphabetic()).next());
        if !is_inside && first.is_some_and(|first| OPENINGS.contains(&first)) {
            found.push((at + 1, line));
        }
        is_inside = said.is_some();
    }
    found
}

#[test]
fn comments_begin_with_the_thing() {
    let mut found = Vec::new();
    for extension in ["rs", "py", "ts", "tsx", "mjs"] {
        for (path, text) in with_extension(extension) {
            let is_generated = text.lines().next().is_some_and(|first| first.contains("Do not edit"));
            if is_generated {
                continue;
            }
            found.extend(openings(&text).iter().map(|(at, line)| format!("{}:{at}: {}", path.display(), line.trim())));
        }
    }
    assert!(found.len() <= MOST, "{} comments open without their subject:\n{}", found.len(), found.join("\n"));
}

#[test]
fn an_opening_is_found_once_a_comment() {
    let text = "/// What it is.\n/// Of all.\nfn f() {}\n// The thing.\n// As it is.\nlet x = 1; // Who\n";
    assert_eq!(openings(text), [(1, "/// What it is.")]);
}
