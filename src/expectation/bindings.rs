//! Bindings of names in all texts, and the kinds of effects of a use by what its name is bound to.

use std::collections::{BTreeMap, BTreeSet};

use notarium_judge::is_builtin;

use crate::table::{self, ExpectedKinds};
use crate::text::Text;
use crate::uses::{Root, Use, Uses};

/// Bindings of names in all texts.
#[derive(Default)]
pub(crate) struct TextBindings<'a> {
    imports: BTreeMap<&'a str, BTreeSet<&'a str>>,
    stars: BTreeSet<&'a str>,
    /// True: only to Python's own values.
    variables: BTreeMap<&'a str, bool>,
    definitions: BTreeSet<&'a str>,
}

impl<'a> TextBindings<'a> {
    pub fn of(texts: impl Iterator<Item = &'a Text>) -> Self {
        let mut names = Self::default();
        for uses in texts.flat_map(|text| &text.statements).map(|statement| &statement.uses) {
            for (name, paths) in &uses.imports {
                names.imports.entry(name).or_default().extend(paths.iter().map(String::as_str));
            }
            for (name, is_builtin) in &uses.variables {
                *names.variables.entry(name).or_insert(true) &= is_builtin;
            }
            names.stars.extend(uses.stars.iter().map(String::as_str));
            names.definitions.extend(uses.definitions.iter().map(String::as_str));
        }
        names
    }

    pub fn kinds(&self, uses: &Uses) -> ExpectedKinds {
        uses.uses.iter().map(|one| self.of_use(one)).collect::<ExpectedKinds>() | uses.kinds
    }

    fn of_use(&self, one: &Use) -> ExpectedKinds {
        match &one.root {
            Root::Name(name) => self.of_name(name, one),
            Root::Module(module) => of_path(module, one),
            Root::Builtin => ExpectedKinds::NONE,
            Root::Other => of_unknown(one),
        }
    }

    fn of_name(&self, name: &str, one: &Use) -> ExpectedKinds {
        let imported = self.imports.get(name);
        let mut kinds: ExpectedKinds = imported.into_iter().flatten().map(|path| of_path(path, one)).collect();
        match self.variables.get(name) {
            Some(true) => return kinds,
            Some(false) => return kinds | of_unknown(one),
            None => {}
        }
        if self.definitions.contains(name) {
            // Its body counts where its name is used.
            return if one.attributes.is_empty() { kinds } else { kinds | of_unknown(one) };
        }
        if imported.is_none() {
            kinds |= self.stars.iter().map(|module| of_path(&format!("{module}.{name}"), one)).collect();
            kinds |= of_builtin(name, one);
        }
        kinds
    }
}

/// A name that no text binds: Python's own, or one that is not known.
fn of_builtin(name: &str, one: &Use) -> ExpectedKinds {
    if name == "open" {
        let is_read = one.is_called && one.only_reads;
        return if is_read { ExpectedKinds::NONE } else { ExpectedKinds::WRITE };
    }
    let is_result = name.chars().all(|character| character == '_') || name.starts_with('_') && !name.ends_with("__");
    match table::entry(&format!("builtins.{name}")) {
        Some(kinds) => kinds,
        None if is_builtin(name) && !is_result => ExpectedKinds::NONE,
        // A text that nobody sees may have imported the module of that name.
        None if !one.attributes.is_empty() && table::entry(name).is_some() => of_path(name, one),
        None => of_unknown(one),
    }
}

/// A module's name, by its path.
fn of_path(path: &str, one: &Use) -> ExpectedKinds {
    let full: Vec<&str> = std::iter::once(path).chain(one.attributes.iter().map(String::as_str)).collect();
    let full = full.join(".");
    let is_open = matches!(full.as_str(), "io.open" | "codecs.open" | "gzip.open" | "bz2.open" | "lzma.open");
    match table::of_path(&full) {
        _ if is_open && one.is_called && one.only_reads => ExpectedKinds::NONE,
        _ if is_open => ExpectedKinds::WRITE,
        Some(kinds) => kinds,
        None => {
            let last = full.rsplit('.').next().unwrap_or_default();
            table::of_attribute(last) | of_unknown(one)
        }
    }
}

/// An object that is not known: its attributes' names tell, and a call may write and use the network.
fn of_unknown(one: &Use) -> ExpectedKinds {
    let told: ExpectedKinds = one.attributes.iter().map(|name| table::of_attribute(name)).collect();
    if one.is_called { told | ExpectedKinds::LIBRARY } else { told }
}
