//! The names that a cell takes and gives.

use std::collections::BTreeSet;

/// Names of a cell, at the level of the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellNames {
    /// Names that must be there before the cell runs.
    pub reads: BTreeSet<String>,
    /// Names that it binds or deletes.
    pub writes: BTreeSet<String>,
    /// Its imports, in Python's words: `numpy as np`, `scipy.stats`, `math.sqrt`.
    pub imports: BTreeSet<String>,
    /// The functions and classes among `writes`.
    pub definitions: BTreeSet<String>,
    /// Names that it leaves to other cells: `writes` without those that it deletes in the end.
    pub leaves: BTreeSet<String>,
    /// The names among `writes` that nothing but an import binds.
    pub imported: BTreeSet<String>,
    /// It imports all that a module has: it may bind any name.
    pub has_star: bool,
}
