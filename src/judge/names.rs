//! Which names of the notebook a Python cell reads and writes, at the level of the module: what it needs from cells before
//! it, and what it leaves to those behind.
//!
//! Order within the cell matters: `x = 1; y = x` writes `x` and `y` and reads nothing. A function's body runs later, so a
//! name that it takes from the module is read only if the cell itself never binds it. Builtins and IPython's own names are no
//! reads.
//!
//! **Limits.** Branches count as taken; names in `exec`, `%run` and in commands of the shell (`!echo {x}`) are not seen. Which
//! names `from m import *` binds nobody sees either: such a cell is a barrier ([`CellNames::has_star`]).

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, StmtFunctionDef, TypeParams,
};

use crate::builtins::is_builtin;
use crate::names_of_cell::CellNames;
use crate::python::MAX_CHECKED_BYTES;
use crate::{ipython, python, sql};

/// The names of a Python cell; `None` when it does not parse, is longer than [`MAX_CHECKED_BYTES`] or nested too deeply.
/// A cell magic that is no Python reads and writes nothing.
pub fn cell_names(source: &str) -> Option<CellNames> {
    if source.len() > MAX_CHECKED_BYTES {
        return None;
    }
    if let Some(body) = sql::sql_body(source) {
        return Some(sql::sql_cell_names(body));
    }
    let text = ipython::plain(ipython::after_blank_lines(source).1);
    if text.starts_with("%%") && !ipython::has_python_body(&text) {
        return Some(CellNames::default());
    }
    python::with_stack(text.len(), || {
        let parsed = python::parse(&text).filter(|parsed| parsed.errors().is_empty())?;
        names_of_statements(&parsed.syntax().body)
    })
}

/// The names of some statements of a module; `None` when they are nested too deeply. Call on a stack of
/// [`python::with_stack`].
pub fn names_of_statements(statements: &[Stmt]) -> Option<CellNames> {
    let mut walker = Walker::default();
    statements.iter().for_each(|statement| walker.top_statement(statement));
    (!walker.is_too_deep).then(|| walker.finish())
}

#[derive(Default)]
struct Walker {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    /// LocalNames by functions that declare them `global`.
    writes_later: BTreeSet<String>,
    /// Read by functions, whenever they are called.
    reads_later: BTreeSet<String>,
    imports: BTreeSet<String>,
    definitions: BTreeSet<String>,
    /// Deleted by a statement of the module itself, and not bound since.
    deleted: BTreeSet<String>,
    bound_by_import: BTreeSet<String>,
    bound_otherwise: BTreeSet<String>,
    is_import: bool,
    has_star: bool,
    scopes: Vec<NameScope>,
    depth: usize,
    is_too_deep: bool,
}

/// A scope inside the module.
enum NameScope {
    /// Its locals are known before its body is walked.
    Function { locals: BTreeSet<String>, globals: BTreeSet<String> },
    /// LocalNames so far; functions inside do not see them.
    Class(BTreeSet<String>),
    /// LocalNames so far.
    Comprehension(BTreeSet<String>),
}

impl Walker {
    fn finish(self) -> CellNames {
        let later = self.reads_later.into_iter().filter(|name| !self.writes.contains(name));
        let reads = self.reads.into_iter().chain(later).filter(|name| !is_builtin(name)).collect();
        let writes = &self.writes | &self.writes_later;
        CellNames {
            reads,
            leaves: &writes - &self.deleted,
            imported: &self.bound_by_import - &(&self.bound_otherwise | &self.writes_later),
            writes,
            imports: self.imports,
            definitions: self.definitions,
            has_star: self.has_star,
        }
    }

    /// A statement of the module itself, under no condition.
    fn top_statement(&mut self, statement: &Stmt) {
        self.visit_stmt(statement);
        if let Stmt::Delete(delete) = statement {
            let names = delete.targets.iter().filter_map(Expr::as_name_expr);
            self.deleted.extend(names.map(|name| name.id.to_string()));
        }
    }

    fn read(&mut self, name: &str) {
        let mut is_later = false;
        for scope in self.scopes.iter().rev() {
            let is_bound = match scope {
                NameScope::Function { globals, .. } if globals.contains(name) => break,
                NameScope::Function { locals, .. } => locals.contains(name),
                NameScope::Class(bound) => !is_later && bound.contains(name),
                NameScope::Comprehension(bound) => bound.contains(name),
            };
            if is_bound {
                return;
            }
            is_later |= matches!(scope, NameScope::Function { .. });
        }
        if self.is_in_function() {
            self.reads_later.insert(name.to_owned());
        } else if !self.writes.contains(name) {
            self.reads.insert(name.to_owned());
        }
    }

    fn is_in_function(&self) -> bool {
        self.scopes.iter().any(|scope| matches!(scope, NameScope::Function { .. }))
    }

    /// Binds in the innermost scope that is no comprehension: a walrus leaves those.
    fn write(&mut self, name: &str) {
        let inner = self.scopes.iter_mut().rev().find(|scope| !matches!(scope, NameScope::Comprehension(_)));
        match inner {
            Some(NameScope::Function { globals, .. }) if !globals.contains(name) => {}
            Some(NameScope::Class(bound)) => drop(bound.insert(name.to_owned())),
            Some(NameScope::Function { .. }) => drop(self.writes_later.insert(name.to_owned())),
            _ => self.write_in_module(name),
        }
    }

    fn write_in_module(&mut self, name: &str) {
        self.deleted.remove(name);
        self.writes.insert(name.to_owned());
        let bound = if self.is_import { &mut self.bound_by_import } else { &mut self.bound_otherwise };
        bound.insert(name.to_owned());
    }

    /// A function or a class; at the level of the module it is one that other cells can use.
    fn define(&mut self, name: &str) {
        if self.scopes.is_empty() {
            self.definitions.insert(name.to_owned());
        }
        self.write(name);
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        if self.depth >= python::MAX_DEPTH {
            self.is_too_deep = true;
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    /// `bind` shows the function's body to who collects what it binds, `walk` walks it.
    fn function(
        &mut self,
        parameters: Option<&Parameters>,
        bind: impl FnOnce(&mut LocalNames),
        walk: impl FnOnce(&mut Self),
    ) {
        let mut bound = LocalNames { depth: self.depth, ..LocalNames::default() };
        bind(&mut bound);
        let mut locals: BTreeSet<String> = &bound.names - &bound.elsewhere;
        locals
            .extend(parameters.into_iter().flat_map(|list| list.iter()).map(|parameter| parameter.name().to_string()));
        self.scopes.push(NameScope::Function { locals, globals: bound.globals });
        walk(self);
        self.scopes.pop();
    }

    fn function_definition(&mut self, function: &StmtFunctionDef) {
        self.visit_parameters(&function.parameters);
        function.returns.iter().for_each(|returns| self.visit_annotation(returns));
        let body = &function.body;
        self.function(Some(&function.parameters), |bound| bound.visit_body(body), |walker| walker.visit_body(body));
    }

    /// Code in the scope of type parameters: `def f[T](…)`.
    fn with_types(&mut self, types: Option<&TypeParams>, walk: impl FnOnce(&mut Self)) {
        let Some(types) = types else { return walk(self) };
        self.scopes.push(NameScope::Comprehension(types.iter().map(|one| one.name().to_string()).collect()));
        types.iter().for_each(|one| self.visit_type_param(one));
        walk(self);
        self.scopes.pop();
    }

    fn comprehension(&mut self, generators: &[Comprehension], values: &[&Expr]) {
        self.scopes.push(NameScope::Comprehension(BTreeSet::new()));
        for generator in generators {
            self.visit_expr(&generator.iter);
            let mut bound = LocalNames { depth: self.depth, ..LocalNames::default() };
            bound.visit_expr(&generator.target);
            if let Some(NameScope::Comprehension(names)) = self.scopes.last_mut() {
                names.extend(bound.names);
            }
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        values.iter().for_each(|value| self.visit_expr(value));
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.define(function.name.as_str());
                self.with_types(function.type_params.as_deref(), |walker| walker.function_definition(function));
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.with_types(class.type_params.as_deref(), |walker| {
                    class.arguments.iter().for_each(|arguments| walker.visit_arguments(arguments));
                    walker.scopes.push(NameScope::Class(BTreeSet::new()));
                    walker.visit_body(&class.body);
                    walker.scopes.pop();
                });
                self.define(class.name.as_str());
            }
            Stmt::TypeAlias(alias) => {
                self.visit_expr(&alias.name);
                self.with_types(alias.type_params.as_deref(), |walker| walker.visit_expr(&alias.value));
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.read(name.id.as_str());
                }
                visitor::walk_stmt(self, statement);
            }
            // A bare `x: int` binds nothing.
            Stmt::AnnAssign(assign) if assign.value.is_none() => self.visit_annotation(&assign.annotation),
            _ => {
                visitor::walk_stmt(self, statement);
                self.is_import = true;
                bound_by(statement).for_each(|name| self.write(name));
                self.is_import = false;
                let (from, aliases) = python::imports(statement).unwrap_or_default();
                self.has_star |= aliases.iter().any(is_star);
                self.imports.extend(aliases.iter().map(|alias| match &alias.asname {
                    Some(name) => format!("{from}{} as {name}", alias.name),
                    None => format!("{from}{}", alias.name),
                }));
            }
        }
    }
}

impl<'a> Visitor<'a> for Walker {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(|walker| walker.statement(statement));
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(|walker| match expression {
            Expr::Name(name) => match name.ctx {
                ExprContext::Store => walker.write(name.id.as_str()),
                ExprContext::Del => {
                    if !matches!(walker.scopes.last(), Some(NameScope::Class(_))) {
                        walker.read(name.id.as_str());
                    }
                    walker.write(name.id.as_str());
                }
                _ => walker.read(name.id.as_str()),
            },
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| walker.visit_parameters(parameters));
                let body = &lambda.body;
                walker.function(
                    lambda.parameters.as_deref(),
                    |bound| bound.visit_expr(body),
                    |walker| walker.visit_expr(body),
                );
            }
            Expr::ListComp(list) => walker.comprehension(&list.generators, &[&list.elt]),
            Expr::SetComp(set) => walker.comprehension(&set.generators, &[&set.elt]),
            Expr::Generator(generator) => walker.comprehension(&generator.generators, &[&generator.elt]),
            Expr::DictComp(dict) => {
                let values: Vec<&Expr> = dict.key.as_deref().into_iter().chain([&*dict.value]).collect();
                walker.comprehension(&dict.generators, &values);
            }
            _ => visitor::walk_expr(walker, expression),
        });
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.name.iter().for_each(|name| self.write(name.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(|walker| {
            python::captured(pattern).into_iter().for_each(|name| walker.write(name));
            visitor::walk_pattern(walker, pattern);
        });
    }
}

/// The names that an import binds.
fn bound_by(statement: &Stmt) -> impl Iterator<Item = &str> {
    let (_, aliases) = python::imports(statement).unwrap_or_default();
    aliases.iter().filter(|alias| !is_star(alias)).map(python::imported_name)
}

fn is_star(alias: &Alias) -> bool {
    alias.name.as_str() == "*"
}

/// Collects what a function's body binds, without what is inside functions and classes of its own.
#[derive(Default)]
struct LocalNames {
    names: BTreeSet<String>,
    globals: BTreeSet<String>,
    /// Declared `global` or `nonlocal`.
    elsewhere: BTreeSet<String>,
    depth: usize,
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
