//! Software of a recorded kernel against that of the fresh one.

use notarium_wire::EnvironmentText;
use serde::Serialize;

/// Difference of one distribution, of Python or of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentChange {
    /// `Python`, `platform`, or the name of a distribution.
    pub name: String,
    /// Absent: it was not installed.
    pub recorded: Option<String>,
    /// Absent: it is not installed.
    pub replayed: Option<String>,
}

impl EnvironmentChange {
    /// The change in words.
    pub fn words(&self) -> String {
        match (&self.recorded, &self.replayed) {
            (Some(recorded), Some(replayed)) => format!("{} {recorded} → {replayed}", self.name),
            (Some(recorded), None) => format!("{} {recorded} is missing here", self.name),
            (None, Some(replayed)) => format!("{} {replayed} is new", self.name),
            (None, None) => self.name.clone(),
        }
    }
}

/// All differences: Python, the platform, then the distributions by name.
pub fn changes(recorded: &EnvironmentText, replayed: &EnvironmentText) -> Vec<EnvironmentChange> {
    let change = |name: &str, recorded: Option<&String>, replayed: Option<&String>| {
        let (recorded, replayed) = (recorded.cloned(), replayed.cloned());
        (recorded != replayed).then(|| EnvironmentChange { name: name.to_owned(), recorded, replayed })
    };
    let first = [
        change("Python", Some(&recorded.python), Some(&replayed.python)),
        change("platform", Some(&recorded.platform), Some(&replayed.platform)),
    ];
    let (ours, theirs) = (&recorded.distributions, &replayed.distributions);
    let mut names: Vec<&String> = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))).collect();
    names.sort_unstable();
    let rest = names.into_iter().map(|name| change(name, ours.get(name), theirs.get(name)));
    first.into_iter().chain(rest).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_named() {
        let text = |text: &str| EnvironmentText::parse(text).unwrap();
        let recorded = text("# Python 3.11.2\n# Linux-6\nnumpy==2.0\nold==1\nsame==1\n");
        let replayed = text("# Python 3.12.0\n# Linux-6\nnew==3\nnumpy==2.1\nsame==1\n");
        let words: Vec<String> = changes(&recorded, &replayed).iter().map(EnvironmentChange::words).collect();
        assert_eq!(words, ["Python 3.11.2 → 3.12.0", "new 3 is new", "numpy 2.0 → 2.1", "old 1 is missing here"]);
        assert_eq!(changes(&recorded, &recorded), []);
    }
}
