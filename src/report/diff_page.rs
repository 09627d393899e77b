//! The page about the differences of two versions of a notebook, word by word.

use std::fmt::Write as _;
use std::time::Duration;

use notarium_core::{CellId, Document};
use notarium_export::escaped;
use notarium_wire::rest::{CellDiff, NotebookDiff};
use similar::{ChangeTag, TextDiff};

use crate::head_of;
use crate::words::{clean, count, time};

/// Unchanged lines that are shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// Time for the comparison of one cell. A cell that takes longer is shown with larger changes than necessary.
const MAX_COMPARISON: Duration = Duration::from_secs(2);

/// The page of a difference between two states of one notebook.
pub fn diff_page(diff: &NotebookDiff, before: &Document, after: &Document) -> String {
    let title = clean(&after.title);
    let mut out = head_of(&format!("{title}: versions {} and {}", diff.from, diff.to));
    let _ = writeln!(
        out,
        "<p>From version {} of {} to version {} of {}: {}.</p>",
        diff.from,
        time(before.updated_at),
        diff.to,
        time(after.updated_at),
        match diff.cells.len() {
            0 => "no cell differs".to_owned(),
            1 => "1 cell differs".to_owned(),
            number => format!("{number} cells differ"),
        },
    );
    if let Some((from, to)) = &diff.title {
        let (from, to) = (escaped(&clean(from)), escaped(&clean(to)));
        let _ = writeln!(out, "<h2>Title</h2>\n<pre class=\"diff\"><del>{from}</del>\n<ins>{to}</ins></pre>");
    }
    for cell in &diff.cells {
        write_cell(&mut out, cell, before, after);
    }
    out
}

fn write_cell(out: &mut String, diff: &CellDiff, before: &Document, after: &Document) {
    let place = |document: &Document| document.ordered_cells().position(|(id, _)| *id == diff.cell_id).map(|at| at + 1);
    let name = match (place(before), place(after)) {
        (Some(was), Some(is)) if was != is && diff.changes.iter().any(|change| change == "moved") => {
            format!("Cell {is} (was {was})")
        }
        (_, Some(is)) => format!("Cell {is}"),
        (Some(was), None) => format!("Cell {was}"),
        (None, None) => "Cell".to_owned(),
    };
    let changes = escaped(&clean(&diff.changes.join(", ")));
    let id = escaped(diff.cell_id.as_str());
    let _ = writeln!(out, "<h2>{name}: {changes} <small>{id}</small></h2>");
    let (was, is) = (source(before, &diff.cell_id), source(after, &diff.cell_id));
    if was == is {
        let _ = writeln!(out, "<p class=\"empty\">The text is the same.</p>");
        return;
    }
    let _ = writeln!(out, "<pre class=\"diff\">{}</pre>", words_of(was, is));
}

fn source<'a>(document: &'a Document, cell_id: &CellId) -> &'a str {
    document.cells.get(cell_id).map_or("", |cell| cell.content.source.as_str())
}

/// Both texts in one, with `<del>` and `<ins>`.
fn words_of(was: &str, is: &str) -> String {
    let diff = TextDiff::configure().timeout(MAX_COMPARISON).diff_words(was, is);
    let mut pieces: Vec<(ChangeTag, String)> = Vec::new();
    for change in diff.iter_all_changes() {
        match pieces.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => pieces.push((change.tag(), change.value().to_owned())),
        }
    }
    let last = pieces.len().saturating_sub(1);
    let shown = pieces.iter().enumerate().map(|(index, (tag, text))| match tag {
        ChangeTag::Equal => context(text, index == 0, index == last),
        ChangeTag::Delete => format!("<del>{}</del>", visible(text)),
        ChangeTag::Insert => format!("<ins>{}</ins>", visible(text)),
    });
    shown.collect()
}

/// An unchanged stretch, without its middle if it is long.
fn context(text: &str, is_first: bool, is_last: bool) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let head = if is_first { 0 } else { CONTEXT_LINES + 1 };
    let tail = if is_last { 0 } else { CONTEXT_LINES + 1 };
    if lines.len() <= head + tail + 1 {
        return visible(text);
    }
    let left_out = count(lines.len() - head - tail, "line");
    let (begin, end) = (lines[..head].join("\n"), lines[lines.len() - tail..].join("\n"));
    let breaks = |text: &str| if text.is_empty() { "" } else { "\n" };
    format!(
        "{}{}<span class=\"place\">… {left_out} …</span>{}{}",
        visible(&begin),
        breaks(&begin),
        breaks(&end),
        visible(&end)
    )
}

/// Escaped text of several lines. Characters that are not seen are replaced.
fn visible(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| escaped(&line.replace('\t', "    ")).to_string()).collect();
    lines.iter().map(|line| clean(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_marked_and_all_text_is_escaped() {
        assert_eq!(words_of("total = 1", "total = 22"), "total = <del>1</del><ins>22</ins>");
        assert_eq!(words_of("", "<b>&"), "<ins>&lt;b&gt;&amp;</ins>");
        assert_eq!(words_of("a\u{202e}b c", "a\u{202e}b d"), "a b <del>c</del><ins>d</ins>");
    }

    #[test]
    fn long_unchanged_stretches_are_left_out() {
        let lines = |last: &str| (0..40).map(|line| format!("x = {line}\n")).collect::<String>() + last;
        let shown = words_of(&lines("a"), &lines("b"));
        assert!(shown.starts_with("<span class=\"place\">… 37 lines …</span>\nx = 37\n"), "{shown}");
        assert!(shown.ends_with("<del>a</del><ins>b</ins>"), "{shown}");
    }
}
