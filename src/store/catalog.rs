//! Shared parts of the backends' catalogs: order of the list, pages, and words.

use std::cmp::Reverse;

use notarium_record::{Millis, NotebookId};

use crate::event_store::{CatalogCursor, CatalogEntry, CatalogPage, CatalogQuery, MAX_SEARCH_TEXT_CHARS, page};

impl CatalogEntry {
    /// Sort key in the list: latest first, then by id.
    pub(crate) fn rank(&self) -> (Reverse<Millis>, &NotebookId) {
        (Reverse(self.updated_at), &self.notebook_id)
    }
}

impl CatalogQuery {
    pub(crate) fn matches(&self, entry: &CatalogEntry) -> bool {
        let has_access = |subjects: &Vec<String>| entry.access.iter().any(|(subject, _)| subjects.contains(subject));
        let is_after = |after: &CatalogCursor| entry.rank() > (Reverse(after.updated_at), &after.notebook_id);
        self.subjects.as_ref().is_none_or(has_access)
            && self.archived.is_none_or(|archived| entry.archived == archived)
            && self.has_work.is_none_or(|has_work| entry.has_work == has_work)
            && self.has_waiting_calls.is_none_or(|waits| entry.has_waiting_calls == waits)
            && self.is_template.is_none_or(|is_template| entry.template.is_some() == is_template)
            && self.text.as_ref().is_none_or(|text| contains_words(&entry.search_text, text))
            && self.after.as_ref().is_none_or(is_after)
    }
}

impl CatalogPage {
    /// Cuts `found`, which is sorted, to `limit` entries; `next` is set if there are more.
    pub(crate) fn cut(mut found: Vec<CatalogEntry>, limit: usize) -> Self {
        let more = found.len() > page(limit);
        found.truncate(page(limit));
        for entry in &mut found {
            entry.search_text.clear();
        }
        let next = found
            .last()
            .filter(|_| more)
            .map(|last| CatalogCursor { updated_at: last.updated_at, notebook_id: last.notebook_id.clone() });
        Self { entries: found, next }
    }
}

/// Returns true if every word of `wanted` begins a word of `text`, ignoring case.
fn contains_words(text: &str, wanted: &str) -> bool {
    let text: Vec<String> = words(text).collect();
    words(wanted).all(|wanted| text.iter().any(|word| word.starts_with(&wanted)))
}

/// Splits a text into words: runs of letters and digits, in lower case.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the first [`MAX_SEARCH_TEXT_CHARS`] characters.
pub(crate) fn bounded(text: &str) -> &str {
    text.char_indices().nth(MAX_SEARCH_TEXT_CHARS).map_or(text, |(end, _)| &text[..end])
}
