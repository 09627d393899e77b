//! Snippets for a search: lines of the found notebooks with the words. The index keeps no text to show.

use std::time::Duration;

use futures_util::future::join_all;
use notarium_core::{Document, WorkspaceId};
use notarium_store::CatalogEntry;
use notarium_wire::rest::FoundText;
use tokio::time::timeout;

use crate::auth::Authenticated;
use crate::notebooks::Notebooks;
use crate::rooms::identity;

/// Notebooks read concurrently.
const AT_ONCE: usize = 8;
/// Time that the list waits for one snippet before it goes without.
const MAX_WAIT: Duration = Duration::from_millis(300);
const MAX_CHARS: usize = 160;
/// Characters of the line that are kept before its first word.
const MAX_CHARS_BEFORE: usize = 40;

/// Snippet for each entry, in order; `None` without a search, or if no source has the words.
pub async fn of(
    notebooks: &Notebooks,
    authenticated: &Authenticated,
    text: Option<&str>,
    entries: &[(CatalogEntry, Option<WorkspaceId>)],
) -> Vec<Option<FoundText>> {
    let words = words(text.unwrap_or_default());
    if words.is_empty() {
        return entries.iter().map(|_| None).collect();
    }
    let mut all = Vec::with_capacity(entries.len());
    for some in entries.chunks(AT_ONCE) {
        let looks: Vec<_> =
            some.iter().map(|(entry, _)| timeout(MAX_WAIT, look(notebooks, authenticated, entry, &words))).collect();
        all.extend(join_all(looks).await.into_iter().map(|looked| looked.ok().flatten()));
    }
    all
}

async fn look(
    notebooks: &Notebooks,
    authenticated: &Authenticated,
    entry: &CatalogEntry,
    words: &[String],
) -> Option<FoundText> {
    let notebook = &entry.notebook_id;
    if let Some(room) = notebooks.rooms.opened(notebook) {
        let state = room.read(identity(authenticated, notebook, "")).await.ok()?;
        return found(&state.notebook, words);
    }
    let document = notebooks.replays.state_at(&*notebooks.store, notebook, entry.version).await.ok()?;
    found(&document, words)
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The line with most of the words; of several the first.
fn found(document: &Document, words: &[String]) -> Option<FoundText> {
    let mut best: Option<(usize, FoundText)> = None;
    for (id, cell) in document.order.iter().filter_map(|id| Some((id, document.cells.get(id)?))) {
        for line in cell.content.source.lines() {
            let characters: Vec<char> = line.chars().collect();
            let marks = marks(&characters, words);
            let held = words.iter().filter(|word| marks.iter().any(|mark| mark.word == **word)).count();
            if held > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((held, snippet(id.clone(), &characters, &marks)));
                if held == words.len() {
                    return best.map(|(_, found)| found);
                }
            }
        }
    }
    best.map(|(_, found)| found)
}

struct Mark<'a> {
    word: &'a str,
    from: usize,
    to: usize,
}

/// Places where words of the line begin with a searched word.
fn marks<'a>(line: &[char], words: &'a [String]) -> Vec<Mark<'a>> {
    let mut marks = Vec::new();
    for from in 0..line.len() {
        let begins = line[from].is_alphanumeric() && (from == 0 || !line[from - 1].is_alphanumeric());
        let Some(word) = words.iter().filter(|_| begins).find(|word| begins_with(&line[from..], word)) else {
            continue;
        };
        marks.push(Mark { word, from, to: from + word.chars().count() });
    }
    marks
}

fn begins_with(line: &[char], word: &str) -> bool {
    let mut folded = line.iter().flat_map(|character| character.to_lowercase());
    word.chars().all(|wanted| folded.next() == Some(wanted))
}

fn snippet(cell_id: notarium_core::CellId, line: &[char], marks: &[Mark<'_>]) -> FoundText {
    let indent = line.iter().take_while(|character| character.is_whitespace()).count();
    let first = marks.first().map_or(0, |mark| mark.from);
    let fits = line.len() - indent <= MAX_CHARS;
    let from = if fits { indent } else { first.saturating_sub(MAX_CHARS_BEFORE).max(indent) };
    let to = (from + MAX_CHARS).min(line.len());
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let within = marks.iter().filter(|mark| mark.from >= from && mark.to <= to);
    let marks = within.map(|mark| (number(mark.from - from), number(mark.to - from))).collect();
    FoundText { cell_id, text: line[from..to].iter().collect(), marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, text: &str) -> String {
        let (line, words): (Vec<char>, _) = (line.chars().collect(), words(text));
        let found = snippet("c".parse().unwrap(), &line, &marks(&line, &words));
        let mut characters: Vec<String> = found.text.chars().map(String::from).collect();
        for (from, to) in found.marks {
            characters[from as usize].insert(0, '[');
            characters[to as usize - 1].push(']');
        }
        characters.concat()
    }

    #[test]
    fn words_are_marked_where_words_begin_with_them() {
        assert_eq!(shown("    moon = 'Phases of the moon'", "phas moon"), "[moon] = '[Phas]es of the [moon]'");
        assert_eq!(shown("client_list.append(x)", "list"), "client_[list].append(x)");
        assert_eq!(shown("größer als Öl", "öl gr"), "[gr]ößer als [Öl]");
        assert_eq!(shown("unphased", "phas"), "unphased");
    }

    #[test]
    fn a_long_line_is_cut_around_the_first_word() {
        let line = format!("{} needle {}", "x".repeat(500), "y".repeat(500));
        let found = shown(&line, "needle");
        assert!(found.contains("[needle]") && found.chars().count() == MAX_CHARS + 2, "{found}");
    }
}
