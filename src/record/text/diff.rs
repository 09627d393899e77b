//! Diff of two texts as a change: lines first, then words within lines that differ. A whole new source thus changes as
//! little as possible, and concurrent edits of others survive.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::build::Builder;
use super::{ChangeSet, MAX_SECTIONS, utf16_len};

/// Comparisons (old × new, lines or words) that one diff may make. The worst inputs take some 3 ms.
const MAX_COMPARISONS: usize = 1_000_000;

/// Returns a change from `old` to `new`, the same on every machine and in every run.
///
/// Neither text may contain `\r` (see [`super::check_source`]). If a fine diff would take too long, a larger stretch is
/// replaced as a whole.
pub fn diff(old: &str, new: &str) -> ChangeSet {
    let mut fine = Differ { builder: Builder::default(), comparisons_left: MAX_COMPARISONS };
    fine.lines(old, new);
    if fine.builder.section_count() <= MAX_SECTIONS {
        return fine.builder.finish_unchecked();
    }
    let mut coarse = Differ { builder: Builder::default(), comparisons_left: 0 };
    coarse.lines(old, new);
    coarse.builder.finish_unchecked()
}

struct Differ {
    builder: Builder,
    comparisons_left: usize,
}

impl Differ {
    fn lines(&mut self, old: &str, new: &str) {
        self.trimmed(old, new, |differ, old, new| {
            differ.pieces(old, new, split_lines, |differ, old, new| {
                differ.trimmed(old, new, |differ, old, new| {
                    differ.pieces(old, new, split_words, Differ::replace);
                });
            });
        });
    }

    /// Keeps the common start and end of both texts, and gives the rest to `middle`.
    fn trimmed(&mut self, old: &str, new: &str, middle: impl FnOnce(&mut Self, &str, &str)) {
        let start = common_prefix(old, new);
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end = common_suffix(old_rest, new_rest);
        let (old_end, new_end) = (old_rest.len() - end, new_rest.len() - end);
        self.keep(&old[..start]);
        middle(self, &old_rest[..old_end], &new_rest[..new_end]);
        self.keep(&old_rest[old_end..]);
    }

    /// Diffs two texts piece by piece and gives each pair of differing stretches to `differing`.
    fn pieces(
        &mut self,
        old: &str,
        new: &str,
        split: impl Fn(&str) -> Vec<&str>,
        differing: impl Fn(&mut Self, &str, &str),
    ) {
        if old.is_empty() || new.is_empty() {
            return self.replace(old, new);
        }
        let (old_pieces, new_pieces) = (split(old), split(new));
        let comparisons = old_pieces.len().saturating_mul(new_pieces.len());
        if comparisons > self.comparisons_left {
            return self.replace(old, new);
        }
        self.comparisons_left -= comparisons;
        let (mut old_rest, mut new_rest) = (old, new);
        for operation in capture_diff_slices(Algorithm::Myers, &old_pieces, &new_pieces) {
            let (old_stretch, new_stretch);
            (old_stretch, old_rest) = take(old_rest, &old_pieces[operation.old_range()]);
            (new_stretch, new_rest) = take(new_rest, &new_pieces[operation.new_range()]);
            match operation {
                DiffOp::Equal { .. } => self.keep(old_stretch),
                _ => differing(self, old_stretch, new_stretch),
            }
        }
    }

    fn keep(&mut self, text: &str) {
        self.builder.keep(utf16_len(text));
    }

    fn replace(&mut self, old: &str, new: &str) {
        self.builder.replace(utf16_len(old), new, utf16_len(new));
    }
}

/// Splits `text` after `pieces`, with which it begins.
fn take<'t>(text: &'t str, pieces: &[&str]) -> (&'t str, &'t str) {
    text.split_at(pieces.iter().map(|piece| piece.len()).sum())
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Splits a text into words (letters, digits, underscores) and single characters between them.
fn split_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word_end(rest));
        words.push(word);
        rest = after;
    }
    words
}

fn word_end(text: &str) -> usize {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let end = text.find(|character| !is_word(character)).unwrap_or(text.len());
    end.max(text.chars().next().map_or(0, char::len_utf8))
}

/// Length in bytes of the longest common start that ends between characters in both.
fn common_prefix(old: &str, new: &str) -> usize {
    let pairs = old.bytes().zip(new.bytes());
    let mut end = pairs.take_while(|(left, right)| left == right).count();
    while !old.is_char_boundary(end) || !new.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Length in bytes of the longest common end that starts between characters in both.
fn common_suffix(old: &str, new: &str) -> usize {
    let pairs = old.bytes().rev().zip(new.bytes().rev());
    let mut length = pairs.take_while(|(left, right)| left == right).count();
    while !old.is_char_boundary(old.len() - length) || !new.is_char_boundary(new.len() - length) {
        length -= 1;
    }
    length
}
