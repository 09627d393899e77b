//! The names that a cell takes and gives.

use std::collections::BTreeSet;

/// Names of a cell, at the level of the module. Tables of SQL cells are among them: see [`is_table`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellNames {
    /// Names that must be there before the cell runs.
    pub reads: BTreeSet<String>,
    /// Names that it reads if another cell binds them: where it may not have bound them itself, builtins that a cell may
    /// replace, and words of shell lines.
    pub may_read: BTreeSet<String>,
    /// Names among both that functions of the cell read when they are called, be it by another cell.
    pub reads_later: BTreeSet<String>,
    /// It may read any name (`eval`, `globals()`).
    pub reads_any: bool,
    /// Names that it binds or deletes.
    pub writes: BTreeSet<String>,
    /// Its imports, in Python's words: `numpy as np`, `scipy.stats`, `math.sqrt`.
    pub imports: BTreeSet<String>,
    /// The functions and classes among `writes`.
    pub definitions: BTreeSet<String>,
    /// Names that it leaves to other cells: `writes` without those that it only deletes.
    pub leaves: BTreeSet<String>,
    /// Names that it deletes or may delete, and does not leave.
    pub unsets: BTreeSet<String>,
    /// Names among `leaves` and `unsets` that may stay as they were before the cell.
    pub uncertain: BTreeSet<String>,
    /// The names among `writes` that nothing but an import binds.
    pub imported: BTreeSet<String>,
    /// It may bind any name (`from m import *`, `exec`, `%run`).
    pub has_star: bool,
}

impl CellNames {
    /// Names that are read, or may be.
    pub fn all_reads(self) -> BTreeSet<String> {
        self.reads.into_iter().chain(self.may_read.into_iter().filter(|name| !crate::is_builtin(name))).collect()
    }
}

/// The name by which the graph knows a table of a connection. It is no identifier, so no variable has it.
pub(crate) fn table(connection: Option<&str>, name: &str) -> String {
    match connection {
        Some(connection) => format!("table {name} @{connection}"),
        None => format!("table {name}"),
    }
}

/// Checks that a name of [`CellNames`] is a table's, not a variable's.
pub fn is_table(name: &str) -> bool {
    name.starts_with("table ")
}
