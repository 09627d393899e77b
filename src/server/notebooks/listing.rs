//! Lists the notebooks that a caller can see. A search shows the lines of the found notebooks with the words; the index
//! keeps no text to show.

use std::time::Duration;

use futures_util::future::join_all;
use notarium_core::{Actor, Document, Subject, WorkspaceId};
use notarium_store::{CatalogCursor, CatalogEntry, CatalogQuery, StoreError};
use notarium_wire::rest::{FoundText, ListOrder};
use tokio::time::timeout;

use super::Notebooks;
use crate::auth::Authenticated;
use crate::timetable::NOTHING_DUE;

/// Rounds per request. Together with `MAX_PAGE` they limit the catalog entries that one request reads.
const MAX_ROUNDS: usize = 20;
const MAX_PAGE: usize = 1_000;

/// Query of a listing.
#[derive(Debug, Clone, Default)]
pub struct ListingQuery {
    /// Words that all have to be in the title or the sources.
    pub text: Option<String>,
    /// True for archived notebooks, false for the others.
    pub archived: bool,
    pub workspace: Option<WorkspaceId>,
    pub after: Option<CatalogCursor>,
    pub only_templates: bool,
    pub only_scheduled: bool,
    /// At least 1.
    pub limit: usize,
}

/// Notebooks, the last changed first, each with its workspace.
pub struct ListingPage {
    pub entries: Vec<(CatalogEntry, Option<WorkspaceId>)>,
    /// `None` on the last page.
    pub next: Option<CatalogCursor>,
}

/// Notebooks that the caller can see, including all of the caller's own changes.
pub async fn visible(
    notebooks: &Notebooks,
    authenticated: &Authenticated,
    wanted: ListingQuery,
) -> Result<ListingPage, StoreError> {
    notebooks.rooms.list_changes_of(&authenticated.actor).await;
    let subjects = subjects_of(authenticated);
    let mut catalog = CatalogQuery {
        // Members of a workspace see its notebooks, whatever the access lists say. Such entries are checked below.
        subjects: if sees_by_coverage(authenticated) { None } else { Some(subjects.clone()) },
        text: wanted.text.filter(|text| !text.trim().is_empty()),
        archived: Some(wanted.archived),
        is_template: wanted.only_templates.then_some(true),
        due_by: wanted.only_scheduled.then_some(NOTHING_DUE),
        after: wanted.after,
        limit: wanted.limit,
        ..CatalogQuery::default()
    };
    let mut entries = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let page = notebooks.store.catalog(catalog.clone()).await?;
        for entry in page.entries {
            let place = authenticated.workspace_of(&entry.notebook_id);
            let cursor = CatalogCursor { updated_at: entry.updated_at, notebook_id: entry.notebook_id.clone() };
            if sees(authenticated, &subjects, &entry) && (wanted.workspace.is_none() || wanted.workspace == place) {
                entries.push((entry, place));
            }
            catalog.after = Some(cursor);
            if entries.len() == wanted.limit {
                return Ok(ListingPage { entries, next: catalog.after });
            }
        }
        if page.next.is_none() {
            return Ok(ListingPage { entries, next: None });
        }
        catalog.limit = MAX_PAGE;
    }
    Ok(ListingPage { entries, next: catalog.after })
}

/// Notebooks that the caller can see, in another order, from an index on. Reads all of them.
pub async fn sorted(
    notebooks: &Notebooks,
    authenticated: &Authenticated,
    wanted: ListingQuery,
    order: ListOrder,
    from: usize,
) -> Result<(ListingPage, Option<usize>), StoreError> {
    let limit = wanted.limit;
    let mut all = Vec::new();
    let mut after = None;
    for _ in 0..MAX_ROUNDS {
        let page = visible(notebooks, authenticated, ListingQuery { after, limit: MAX_PAGE, ..wanted.clone() }).await?;
        all.extend(page.entries);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    match order {
        ListOrder::Changed => {}
        ListOrder::Title => {
            all.sort_by_cached_key(|(entry, _)| (entry.title.to_lowercase(), entry.notebook_id.clone()))
        }
        ListOrder::Created => all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.created_at)),
    }
    let next = Some(from + limit).filter(|next| *next < all.len());
    Ok((ListingPage { entries: all.into_iter().skip(from).take(limit).collect(), next: None }, next))
}

/// True for agents and for members of workspaces.
pub fn sees_by_coverage(authenticated: &Authenticated) -> bool {
    matches!(authenticated.actor, Actor::Agent { .. }) || !authenticated.workspaces.is_empty()
}

pub fn sees(authenticated: &Authenticated, subjects: &[String], entry: &CatalogEntry) -> bool {
    let is_listed = entry.access.iter().any(|(subject, _)| subjects.contains(subject));
    let is_ambient = authenticated.authority_for(&entry.notebook_id).ambient_role.is_some();
    authenticated.may_see(&entry.notebook_id) && (is_listed || is_ambient)
}

/// Subjects under which the access lists may name the caller.
pub fn subjects_of(authenticated: &Authenticated) -> Vec<String> {
    let workspaces = authenticated.workspaces.keys().map(|id| Subject::Workspace { id: id.clone() });
    let subjects = authenticated.actor.subject().into_iter().chain(workspaces);
    subjects.map(|subject| subject.key()).collect()
}

/// Notebooks read concurrently.
const AT_ONCE: usize = 8;
/// Time that the list waits for one snippet before it goes without.
const MAX_WAIT: Duration = Duration::from_millis(300);
const MAX_CHARS: usize = 160;
/// Characters of the line that are kept before its first word.
const MAX_CHARS_BEFORE: usize = 40;

/// Snippet for each entry, in order; `None` without a search, or if no source has the words.
pub async fn snippets(
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
    if let Some(read) = notebooks.rooms.read_if_open(authenticated, notebook).await {
        return found(&read.ok()?.notebook, words);
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
