//! Kinds of effects, and the short list of names that have them.

use std::collections::BTreeMap;
use std::ops::{BitOr, BitOrAssign};
use std::sync::LazyLock;

/// Set of the kinds of effects to which a text can lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedKinds(u8);

impl ExpectedKinds {
    pub const NONE: Self = Self(0);
    /// Makes and writes files.
    pub const WRITE: Self = Self(1);
    pub const REMOVE: Self = Self(2);
    pub const NETWORK: Self = Self(4);
    pub const SIGNAL: Self = Self(8);
    pub const DATABASE: Self = Self(16);
    pub const ALL: Self = Self(31);
    /// Kinds of a call into a library.
    pub(crate) const LIBRARY: Self = Self(1 | 4);

    /// Checks that all kinds of the other set are in this one.
    pub fn has(self, kinds: Self) -> bool {
        self.0 & kinds.0 == kinds.0
    }

    fn of_word(word: &str) -> Self {
        match word {
            "write" => Self::WRITE,
            "remove" => Self::REMOVE,
            "network" => Self::NETWORK,
            "signal" => Self::SIGNAL,
            "database" => Self::DATABASE,
            "all" => Self::ALL,
            _ => Self::NONE,
        }
    }
}

impl BitOr for ExpectedKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for ExpectedKinds {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl FromIterator<ExpectedKinds> for ExpectedKinds {
    fn from_iter<T: IntoIterator<Item = Self>>(kinds: T) -> Self {
        kinds.into_iter().fold(Self::NONE, Self::bitor)
    }
}

static TABLE: LazyLock<BTreeMap<&str, ExpectedKinds>> = LazyLock::new(|| {
    let lines = include_str!("names.txt").lines().filter(|line| !line.starts_with('#'));
    let entries = lines.flat_map(|line| {
        let mut words = line.split_whitespace();
        let kinds = words.next().unwrap_or_default().split('+').map(ExpectedKinds::of_word).collect();
        words.map(move |name| (name, kinds))
    });
    entries.collect()
});

/// Kinds of an entry; `None`: the list has none.
pub(crate) fn entry(name: &str) -> Option<ExpectedKinds> {
    TABLE.get(name).copied()
}

/// Kinds of the longest entry that the path begins with; `None`: the path is a library's.
pub(crate) fn of_path(path: &str) -> Option<ExpectedKinds> {
    let mut rest = path;
    loop {
        if let Some(kinds) = entry(rest) {
            return Some(kinds);
        }
        rest = rest.rsplit_once('.')?.0;
    }
}

/// Kinds that an attribute's name tells.
pub(crate) fn of_attribute(name: &str) -> ExpectedKinds {
    let exact = entry(&format!(".{name}"));
    let by_start = || name.split_once('_').and_then(|(start, _)| entry(&format!(".{start}_")));
    exact.or_else(by_start).unwrap_or_default()
}

pub(crate) fn of_keyword(name: &str) -> ExpectedKinds {
    entry(&format!("{name}=")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_short_and_each_word_a_kind() {
        let text = include_str!("names.txt");
        assert!(text.len() <= 4 << 10, "{} bytes", text.len());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let word = line.split_whitespace().next().unwrap();
            let is_known = |word: &str| word == "none" || ExpectedKinds::of_word(word) != ExpectedKinds::NONE;
            assert!(word.split('+').all(is_known), "{line}");
        }
        let names = text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split_whitespace().skip(1));
        assert_eq!(names.count(), TABLE.len(), "a name stands there twice");
    }

    #[test]
    fn the_longest_entry_counts() {
        assert_eq!(of_path("os.path.exists"), Some(ExpectedKinds::NONE));
        assert_eq!(of_path("os.remove"), Some(ExpectedKinds::REMOVE));
        assert_eq!(of_path("urllib.parse.quote"), Some(ExpectedKinds::NONE));
        assert_eq!(of_path("urllib.request.urlopen"), Some(ExpectedKinds::NETWORK));
        assert_eq!(of_path("pandas.read_csv"), None);
    }
}
