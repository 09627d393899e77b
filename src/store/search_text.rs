//! Text by which a notebook is found: title and sources, as words.

/// Maximum number of characters of [`crate::CatalogEntry::search_text`]; the rest is cut off.
pub const MAX_SEARCH_TEXT_CHARS: usize = 100_000;

/// Splits a text into words: runs of letters and digits, in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the first [`MAX_SEARCH_TEXT_CHARS`] characters.
pub fn bounded(text: &str) -> &str {
    text.char_indices().nth(MAX_SEARCH_TEXT_CHARS).map_or(text, |(end, _)| &text[..end])
}
