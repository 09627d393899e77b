//! What is known to destroy: the lists of `known/dangers.txt`, looked up for what is not known to be harmless.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::DangerRule::{self, *};

const LISTS: &str = include_str!("known/dangers.txt");
/// Names of the longest dotted name in the lists.
const MAX_NAMES: usize = 4;

type ByName = BTreeMap<&'static str, DangerRule>;

static NAMES: LazyLock<ByName> = LazyLock::new(|| section("[names]"));
static ATTRIBUTES: LazyLock<ByName> = LazyLock::new(|| section("[attributes]"));
static MAGICS: LazyLock<ByName> = LazyLock::new(|| section("[magics]"));

/// Lines `rule: names`; a line that begins with a blank goes on.
fn section(title: &str) -> ByName {
    let lines = LISTS.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.starts_with('['));
    let mut names = ByName::new();
    let mut rule = NotChecked;
    for line in lines.filter(|line| !line.starts_with('#')) {
        let begun = line.split_once(": ").filter(|_| !line.starts_with(' '));
        if let Some((name, _)) = begun {
            rule = DangerRule::ALL.iter().copied().find(|rule| rule.name() == name).unwrap_or(NotChecked);
        }
        let words = begun.map_or(line, |(_, words)| words);
        names.extend(words.split_whitespace().map(|name| (name, rule)));
    }
    names
}

/// The rule of a dotted name: the longest part of it that is in the list.
pub(crate) fn rule_of(path: &str) -> Option<DangerRule> {
    let ends = |from: usize| path[from..].match_indices('.').map(move |(at, _)| from + at).chain([path.len()]);
    let starts = path.match_indices('.').map(|(at, _)| at + 1);
    let parts =
        std::iter::once(0).chain(starts).flat_map(|from| ends(from).take(MAX_NAMES).map(move |to| &path[from..to]));
    parts.filter(|part| NAMES.contains_key(part)).max_by_key(|part| part.len()).map(|part| NAMES[part])
}

/// The rule of an attribute of a value that nobody knows.
pub(crate) fn rule_of_attribute(name: &str) -> Option<DangerRule> {
    let writes = ["write_", "save_", "print_", "dump_", "export_"].iter().any(|start| name.starts_with(start));
    ATTRIBUTES.get(name).copied().or_else(|| writes.then_some(WritesFile))
}

/// The rule of a magic by its name.
pub(crate) fn rule_of_magic(name: &str) -> Option<DangerRule> {
    MAGICS.get(name).copied()
}

/// Modules from which everything can be reached under names that are harmless elsewhere: nobody may get hold of one.
pub(crate) fn is_never_handed_on(module: &str) -> bool {
    matches!(module, "os" | "posix" | "nt" | "shutil" | "sys" | "builtins" | "importlib" | "subprocess")
}

/// Whether the list has this module, or names of it.
pub(crate) fn is_module(name: &str) -> bool {
    let below = format!("{name}.");
    NAMES.contains_key(name) || NAMES.range(below.as_str()..).next().is_some_and(|(found, _)| found.starts_with(&below))
}

/// Names of variables that are likely to hold what nobody else should see.
pub(crate) fn sounds_secret(name: &str) -> bool {
    const PARTS: &str =
        "KEY TOKEN SECRET PASS PWD CREDENTIAL AUTH PRIVATE CERT COOKIE SESSION DSN DATABASE_URL CONN SALT JWT";
    let name = name.to_ascii_uppercase();
    name != "PWD" && name != "OLDPWD" && PARTS.split(' ').any(|part| name.contains(part))
}
