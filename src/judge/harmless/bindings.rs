//! What a name is bound to.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, StmtClassDef, StmtFunctionDef};

/// What one binding gives.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What<'a> {
    Value(&'a Expr),
    /// An element of it, or what its context gives.
    Part(&'a Expr),
    /// Put into what the name stands for.
    Inserted(&'a Expr),
    Function(&'a StmtFunctionDef),
    Class(&'a StmtClassDef),
    /// A parameter, an exception, what a pattern takes.
    Nothing,
    /// `**kwargs` of a function.
    Keywords,
}

/// What a name is bound to in one scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names<'a> {
    pub(crate) values: BTreeMap<&'a str, Vec<(usize, What<'a>)>>,
    pub(crate) imports: BTreeMap<&'a str, BTreeSet<String>>,
    pub(crate) stars: BTreeSet<String>,
    /// Declared `global` or `nonlocal` in a function.
    pub(crate) elsewhere: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name) || self.imports.contains_key(name)
    }
}
