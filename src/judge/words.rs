//! Lists of words that are looked up.

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Words, parted by blanks. Cut once.
pub(crate) struct Words {
    text: &'static str,
    words: OnceLock<BTreeSet<&'static str>>,
}

impl Words {
    pub(crate) const fn of(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.all().contains(word)
    }

    pub(crate) fn all(&self) -> &BTreeSet<&'static str> {
        self.words.get_or_init(|| self.text.split_whitespace().collect())
    }
}
