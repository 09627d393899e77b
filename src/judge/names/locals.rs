//! The names that a function's body binds, and those of imports.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, Comprehension, ExceptHandler, Expr, ExprContext, Pattern, Stmt};

use crate::python;

/// The names that an import binds.
pub(super) fn bound_by(statement: &Stmt) -> impl Iterator<Item = &str> {
    let (_, aliases) = python::imports(statement).unwrap_or_default();
    aliases.iter().filter(|alias| !is_star(alias)).map(python::imported_name)
}

pub(super) fn is_star(alias: &Alias) -> bool {
    alias.name.as_str() == "*"
}

/// Collects what a function's body binds, without what is inside functions and classes of its own.
#[derive(Default)]
pub(super) struct LocalNames {
    pub(super) names: BTreeSet<String>,
    pub(super) globals: BTreeSet<String>,
    /// Declared `global` or `nonlocal`.
    pub(super) elsewhere: BTreeSet<String>,
    pub(super) depth: usize,
}

impl LocalNames {
    fn add(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }
}

impl<'a> Visitor<'a> for LocalNames {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth >= python::MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match statement {
            Stmt::FunctionDef(function) => self.add(function.name.as_str()),
            Stmt::ClassDef(class) => self.add(class.name.as_str()),
            Stmt::Global(global) => {
                self.globals.extend(global.names.iter().map(ToString::to_string));
                self.elsewhere.extend(global.names.iter().map(ToString::to_string));
            }
            Stmt::Nonlocal(nonlocal) => self.elsewhere.extend(nonlocal.names.iter().map(ToString::to_string)),
            _ => {
                bound_by(statement).for_each(|name| self.add(name));
                visitor::walk_stmt(self, statement);
            }
        }
        self.depth -= 1;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.depth >= python::MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match expression {
            Expr::Name(name) if !matches!(name.ctx, ExprContext::Load) => self.add(name.id.as_str()),
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expression),
        }
        self.depth -= 1;
    }

    // A comprehension's targets are its own; a walrus inside is not, and is found by `visit_expr`.
    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.visit_expr(&comprehension.iter);
        comprehension.ifs.iter().for_each(|test| self.visit_expr(test));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.name.iter().for_each(|name| self.add(name.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        python::captured(pattern).into_iter().for_each(|name| self.add(name));
        visitor::walk_pattern(self, pattern);
    }
}
