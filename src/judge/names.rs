//! Which names of the notebook a Python cell reads and writes, at the level of the module: what it needs from cells before
//! it, and what it leaves to those behind.
//!
//! Order within the cell matters: `x = 1; y = x` writes `x` and `y` and reads nothing. A function's body runs later, so a
//! name that it takes from the module is read only if the cell itself never binds it. Builtins and IPython's own names are no
//! reads.
//!
//! A name that is bound in one branch alone may be that of a cell before ([`CellNames::uncertain`]); a loop counts as run.
//!
//! **Limits.** Names that `from m import *`, `exec`, `%run` and unknown magics bind are not seen: such a cell may bind any
//! name ([`CellNames::has_star`]). Which function another cell calls, and what it binds by `global`, is not followed.

mod fates;
mod locals;
mod magics;

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, StmtFunctionDef, StmtIf, StmtMatch,
    StmtTry, TypeParams,
};

use crate::builtins::is_builtin;
use crate::names::fates::{BOUND, Fates, GONE, KEPT, Way};
use crate::names::locals::{LocalNames, bound_by, is_star};
use crate::names_of_cell::CellNames;
use crate::python::MAX_CHECKED_BYTES;
use crate::{ipython, python, sql};

/// The names of a Python cell; `None` when it does not parse, is longer than [`MAX_CHECKED_BYTES`] or nested too deeply.
pub fn cell_names(source: &str) -> Option<CellNames> {
    if source.len() > MAX_CHECKED_BYTES {
        return None;
    }
    if let Some(body) = sql::sql_body(source) {
        return Some(sql::sql_cell_names(body));
    }
    let text = ipython::plain(ipython::after_blank_lines(source).1);
    python::with_stack(text.len(), || {
        let mut walker = Walker::default();
        match text.strip_prefix("%%") {
            Some(magic) => walker.cell_magic(magic),
            None => walker.code(&text).then_some(())?,
        }
        (!walker.is_too_deep).then(|| walker.finish())
    })
}

/// The names of some statements of a module; `None` when they are nested too deeply. Call on a stack of
/// [`python::with_stack`].
pub fn names_of_statements(statements: &[Stmt]) -> Option<CellNames> {
    let mut walker = Walker::default();
    walker.visit_body(statements);
    (!walker.is_too_deep).then(|| walker.finish())
}

#[derive(Default)]
struct Walker {
    reads: BTreeSet<String>,
    may_read: BTreeSet<String>,
    reads_any: bool,
    writes: BTreeSet<String>,
    /// Fates of the module's names up to here.
    fates: Fates,
    /// Bound by functions that declare them `global`.
    writes_later: BTreeSet<String>,
    /// Deleted by functions that declare them `global`.
    deletes_later: BTreeSet<String>,
    /// Read by functions, whenever they are called.
    reads_later: BTreeSet<String>,
    imports: BTreeSet<String>,
    definitions: BTreeSet<String>,
    bound_by_import: BTreeSet<String>,
    bound_otherwise: BTreeSet<String>,
    is_import: bool,
    has_star: bool,
    /// Reads of a text that names variables only perhaps, such as a shell line.
    is_vague: bool,
    scopes: Vec<NameScope>,
    depth: usize,
    is_too_deep: bool,
}

/// A scope inside the module.
enum NameScope {
    /// Its locals are known before its body is walked.
    Function { locals: BTreeSet<String>, globals: BTreeSet<String> },
    /// Names so far; functions inside do not see them.
    Class(BTreeSet<String>),
    /// Names so far.
    Comprehension(BTreeSet<String>),
}

impl Walker {
    fn finish(mut self) -> CellNames {
        for name in std::mem::take(&mut self.reads_later) {
            let fate = self.fates.of(&name);
            self.note_read(&name, fate);
            // A later call reads it, also if this cell has bound it.
            self.reads_later.insert(name);
        }
        let writes = &(&self.writes | &self.writes_later) | &self.deletes_later;
        let (mut leaves, mut unsets, mut uncertain) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for name in &writes {
            let fate = self.fate_of(name);
            if fate & KEPT != 0 || fate == BOUND | GONE {
                uncertain.insert(name.clone());
            }
            if fate & BOUND != 0 { &mut leaves } else { &mut unsets }.insert(name.clone());
        }
        CellNames {
            imported: &self.bound_by_import - &(&self.bound_otherwise | &self.writes_later),
            may_read: &self.may_read - &self.reads,
            reads: self.reads,
            reads_later: self.reads_later,
            reads_any: self.reads_any,
            leaves,
            unsets,
            uncertain,
            writes,
            imports: self.imports,
            definitions: self.definitions,
            has_star: self.has_star,
        }
    }

    /// The fate of a name at the end of the cell, with what its functions may have done.
    fn fate_of(&self, name: &str) -> u8 {
        let later = |names: &BTreeSet<String>, fate: u8| if names.contains(name) { fate } else { 0 };
        self.fates.of(name) | later(&self.writes_later, BOUND) | later(&self.deletes_later, GONE)
    }

    /// Reads a name of the module that has had this fate.
    fn note_read(&mut self, name: &str, fate: u8) {
        if fate & KEPT == 0 {
            return;
        }
        let is_firm = fate == KEPT && !self.is_vague && !is_builtin(name);
        if is_firm { &mut self.reads } else { &mut self.may_read }.insert(name.to_owned());
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
        if self.is_in_function() && !self.is_vague {
            self.reads_later.insert(name.to_owned());
        } else {
            let fate = self.fates.of(name);
            self.note_read(name, fate);
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
        self.fates.set(name, BOUND);
        self.writes.insert(name.to_owned());
        let bound = if self.is_import { &mut self.bound_by_import } else { &mut self.bound_otherwise };
        bound.insert(name.to_owned());
    }

    /// Deletes in the scope in which [`Self::write`] binds.
    fn delete(&mut self, name: &str) {
        let inner = self.scopes.iter_mut().rev().find(|scope| !matches!(scope, NameScope::Comprehension(_)));
        match inner {
            Some(NameScope::Function { globals, .. }) if !globals.contains(name) => {}
            Some(NameScope::Class(bound)) => drop(bound.remove(name)),
            Some(NameScope::Function { .. }) => drop(self.deletes_later.insert(name.to_owned())),
            _ => {
                self.fates.set(name, GONE);
                self.writes.insert(name.to_owned());
            }
        }
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
        self.fates.enter();
        walk(self);
        self.fates.leave();
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
            Stmt::If(branch) => self.branch(branch),
            Stmt::Try(attempt) => self.attempt(attempt),
            Stmt::Match(cases) => self.cases(cases),
            Stmt::For(each) => {
                self.visit_expr(&each.iter);
                self.repeat(|walker| {
                    walker.visit_expr(&each.target);
                    walker.visit_body(&each.body);
                });
                self.visit_body(&each.orelse);
            }
            Stmt::While(repeat) => {
                self.visit_expr(&repeat.test);
                self.repeat(|walker| walker.visit_body(&repeat.body));
                self.visit_body(&repeat.orelse);
            }
            Stmt::Raise(_) => {
                visitor::walk_stmt(self, statement);
                self.fates.end_way();
            }
            Stmt::IpyEscapeCommand(command) => self.escape(command.kind, &command.value),
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

// --- branches ---

impl Walker {
    /// Walks one way through a part.
    fn way(&mut self, walk: impl FnOnce(&mut Self)) -> Way {
        self.fates.enter();
        walk(self);
        self.fates.leave()
    }

    fn branch(&mut self, branch: &StmtIf) {
        self.visit_expr(&branch.test);
        let mut ways = vec![self.way(|walker| walker.visit_body(&branch.body))];
        for clause in &branch.elif_else_clauses {
            ways.push(self.way(|walker| {
                clause.test.iter().for_each(|test| walker.visit_expr(test));
                walker.visit_body(&clause.body);
            }));
        }
        let has_else = branch.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none());
        self.fates.meet(ways, !has_else);
    }

    fn repeat(&mut self, walk: impl FnOnce(&mut Self)) {
        let body = self.way(walk);
        self.fates.meet_loop(body);
    }

    fn attempt(&mut self, attempt: &StmtTry) {
        self.fates.enter();
        self.visit_body(&attempt.body);
        let body = self.fates.leave();
        let mut ways = Vec::new();
        for handler in &attempt.handlers {
            self.fates.enter_after_some_of(&body);
            self.visit_except_handler(handler);
            ways.push(self.fates.leave());
        }
        self.fates.resume(body);
        self.visit_body(&attempt.orelse);
        ways.push(self.fates.leave());
        self.fates.meet(ways, false);
        self.visit_body(&attempt.finalbody);
    }

    fn cases(&mut self, cases: &StmtMatch) {
        self.visit_expr(&cases.subject);
        let mut ways = Vec::new();
        for case in &cases.cases {
            ways.push(self.way(|walker| {
                walker.visit_pattern(&case.pattern);
                case.guard.iter().for_each(|guard| walker.visit_expr(guard));
                walker.visit_body(&case.body);
            }));
        }
        let is_sure = cases.cases.last().is_some_and(|case| case.guard.is_none() && case.pattern.is_irrefutable());
        self.fates.meet(ways, !is_sure);
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
                    walker.delete(name.id.as_str());
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
            Expr::If(choice) => {
                walker.visit_expr(&choice.test);
                let ways = [&choice.body, &choice.orelse].map(|value| walker.way(|walker| walker.visit_expr(value)));
                walker.fates.meet(ways.into(), false);
            }
            Expr::BoolOp(chain) => {
                chain.values.iter().take(1).for_each(|value| walker.visit_expr(value));
                for value in chain.values.iter().skip(1) {
                    let way = walker.way(|walker| walker.visit_expr(value));
                    walker.fates.meet(vec![way], true);
                }
            }
            Expr::IpyEscapeCommand(command) => walker.escape(command.kind, &command.value),
            Expr::Call(call) => {
                walker.call(call);
                visitor::walk_expr(walker, expression);
            }
            _ => visitor::walk_expr(walker, expression),
        });
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.type_.iter().for_each(|class| self.visit_expr(class));
        inner.name.iter().for_each(|name| self.write(name.as_str()));
        self.visit_body(&inner.body);
        // Python unbinds the exception's name at the end of the handler.
        inner.name.iter().for_each(|name| self.delete(name.as_str()));
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(|walker| {
            python::captured(pattern).into_iter().for_each(|name| walker.write(name));
            visitor::walk_pattern(walker, pattern);
        });
    }
}
