//! Small words of sentences: clean text, times, durations, counts, short ids.

use notarium_core::{Labels, Millis};

/// One line of untrusted text: every control character becomes a blank.
pub fn clean(text: &str) -> String {
    text.chars().map(|character| if is_unsafe(character) { ' ' } else { character }).collect()
}

/// True for control characters, and for marks that change the direction of text.
pub fn is_unsafe(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most so many characters; a cut is marked.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A time in the local zone: `2026-11-22T01:24:15+01:00`.
pub fn time(at: Millis) -> String {
    local(at).map_or_else(|| format!("{at} ms"), |time| time.format("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

/// The time of day: `01:24:15`.
pub fn clock(at: Millis) -> String {
    local(at).map_or_else(|| format!("{at} ms"), |time| time.format("%H:%M:%S").to_string())
}

fn local(at: Millis) -> Option<chrono::DateTime<chrono::Local>> {
    let utc = chrono::DateTime::<chrono::Utc>::from_timestamp_millis(i64::try_from(at).ok()?)?;
    Some(utc.with_timezone(&chrono::Local))
}

/// `0.42 s`, `3 min 5 s`.
pub fn duration(milliseconds: Millis) -> String {
    match milliseconds {
        0..10_000 => format!("{}.{:02} s", milliseconds / 1000, milliseconds % 1000 / 10),
        10_000..60_000 => format!("{} s", milliseconds / 1000),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1000),
    }
}

/// `1 cell`, `3 cells`.
pub fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// A short form of a long id, for people; unique enough within one notebook.
pub fn short(id: &str) -> &str {
    // ULIDs begin with their time, so the end distinguishes them.
    if id.len() > 12 { &id[id.len() - 6..] } else { id }
}

/// Labels such as `gpu=a100, place=cellar`.
pub fn labels_text(labels: &Labels) -> String {
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    labels.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked_and_counts_characters() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 4), "grö…");
    }

    #[test]
    fn durations_and_counts_are_words() {
        assert_eq!(duration(420), "0.42 s");
        assert_eq!(duration(185_000), "3 min 5 s");
        assert_eq!(count(1, "cell"), "1 cell");
    }
}
