//! Names in a small language of one line: `x y = a b` leaves `x y` and reads `a b`. `*` leaves any name, `(` does not
//! parse.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::Document;
use notarium_core::reactive::{CodeNames, KnownNames};
use notarium_judge::{CellNames, cell_names, sql_cell_names};

pub fn small_names(source: &str) -> Option<CodeNames> {
    if source.contains('(') {
        return None;
    }
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split_whitespace().filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        words.map(str::to_owned).collect()
    };
    let (left, right) = source.split_once('=').unwrap_or(("", source));
    let (leaves, imported) = match left.strip_prefix("import ") {
        Some(left) => (words(left), words(left)),
        None => (words(left), BTreeSet::new()),
    };
    Some(CodeNames { reads: words(right), leaves, imported, has_star: source.contains('*'), ..CodeNames::default() })
}

/// Answers `needs_names`, as the server does.
pub fn names_of_all(notebook: &Document) -> Arc<KnownNames> {
    let mut names = KnownNames::default();
    learn(&mut names, notebook);
    Arc::new(names)
}

pub fn learn(names: &mut KnownNames, notebook: &Document) {
    for text in names.refresh(notebook) {
        names.learn(&text.cell_id, text.source_version, small_names(&text.source).as_ref());
    }
}

/// Names in Python and SQL, as the server reads them.
pub fn names_of_python(notebook: &Document) -> Arc<KnownNames> {
    let mut known = KnownNames::default();
    for text in known.refresh(notebook) {
        let names = if text.is_query { Some(sql_cell_names(&text.source)) } else { cell_names(&text.source) };
        known.learn(&text.cell_id, text.source_version, names.map(of_core).as_ref());
    }
    Arc::new(known)
}

fn of_core(names: CellNames) -> CodeNames {
    let CellNames { reads, may_read, reads_later, reads_any, leaves, unsets, uncertain, imported, has_star, .. } =
        names;
    CodeNames { reads, may_read, reads_later, reads_any, leaves, unsets, uncertain, imported, has_star }
}
