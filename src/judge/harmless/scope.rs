//! What the names and attributes of a notebook are bound to: in a cell, in a function, in all cells together.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    ExceptHandler, Expr, ExprContext, ModModule, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef,
};

use super::bindings::{Names, What};
use super::shared::{self, Shared};
use crate::Danger;
use crate::budget::Budget;
use crate::python::{self, MAX_DEPTH};

/// All cells together.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    pub(crate) names: Names<'a>,
    /// Attributes that code of the notebook sets, and methods that it defines.
    pub(crate) attributes: BTreeMap<&'a str, Vec<(usize, What<'a>)>>,
    /// Cells before this one are not judged, but what they define is, where it is used.
    pub(crate) judged_from: usize,
    /// What the definitions of cells that are not judged could do, by the place of their node.
    pub(crate) found: RefCell<BTreeMap<usize, Option<Danger>>>,
    pub(crate) following: Cell<usize>,
    pub(crate) budget: Budget,
    pub(crate) mentions: Mentions,
    pub(crate) shared: Shared<'a>,
    pub(crate) registered: BTreeMap<&'a str, crate::Grade>,
    pub(crate) vouched: BTreeSet<&'a str>,
    /// Functions whose bodies do not run, where `@notarium.tool` and nothing else stands above them.
    pub(crate) only_registered: BTreeSet<String>,
}

/// What stands anywhere in the notebook.
#[derive(Default)]
pub(crate) struct Mentions {
    /// Something of `pathlib` is imported.
    pub(crate) has_paths: bool,
    /// `type(…)` is called.
    pub(crate) asks_types: bool,
}

impl<'a> Globals<'a> {
    pub(crate) fn collect(&mut self, cell: usize, module: &'a ModModule) {
        let mut collector = Collector::new(cell, &mut self.names);
        collector.visit_body(&module.body);
        let mut deep = Deep {
            cell,
            names: &mut self.names,
            attributes: &mut self.attributes,
            mentions: &mut self.mentions,
            function: None,
            depth: 0,
        };
        deep.visit_body(&module.body);
        self.shared.collect(&module.body, &self.names);
    }
}

/// The names that a function binds, its parameters among them.
pub(crate) fn of_function<'a>(parameters: Option<&'a Parameters>, body: &'a [Stmt]) -> Names<'a> {
    let mut names = Names::default();
    let mut collector = Collector::new(usize::MAX, &mut names);
    if let Some(list) = parameters {
        let keywords = list.kwarg.as_ref().map(|parameter| parameter.name.as_str());
        for name in list.iter().map(|parameter| parameter.name().as_str()) {
            collector.bind(name, if keywords == Some(name) { What::Keywords } else { What::Nothing });
        }
    }
    collector.visit_body(body);
    let elsewhere = names.elsewhere.clone();
    // What is only changed is another scope's.
    let is_bound = |bound: &[(usize, What<'_>)]| bound.iter().any(|(_, what)| !matches!(what, What::Inserted(_)));
    names.values.retain(|name, bound| !elsewhere.contains(name) && is_bound(bound));
    names.imports.retain(|name, _| !elsewhere.contains(name));
    names
}

pub(crate) fn of_comprehension<'a>(target: &'a Expr, iter: &'a Expr, names: &mut Names<'a>) {
    Collector::new(usize::MAX, names).target(target, What::Part(iter));
}

struct Collector<'n, 'a> {
    cell: usize,
    names: &'n mut Names<'a>,
    depth: usize,
}

impl<'n, 'a> Collector<'n, 'a> {
    fn new(cell: usize, names: &'n mut Names<'a>) -> Self {
        Self { cell, names, depth: 0 }
    }

    fn bind(&mut self, name: &'a str, what: What<'a>) {
        self.names.values.entry(name).or_default().push((self.cell, what));
    }

    fn target(&mut self, target: &'a Expr, what: What<'a>) {
        match (target, what) {
            (Expr::Name(name), what) => self.bind(name.id.as_str(), what),
            (Expr::Starred(starred), What::Value(value) | What::Part(value)) => {
                self.target(&starred.value, What::Part(value));
            }
            (Expr::Tuple(_) | Expr::List(_), what) => {
                let parts = elements(target).unwrap_or_default();
                let values = match what {
                    What::Value(value) => elements(value).filter(|values| values.len() == parts.len()),
                    _ => None,
                };
                for (at, part) in parts.iter().enumerate() {
                    let what = match (values, what) {
                        (Some(values), _) => What::Value(&values[at]),
                        (None, What::Value(value) | What::Part(value)) => What::Part(value),
                        (None, other) => other,
                    };
                    self.target(part, what);
                }
            }
            (Expr::Subscript(_) | Expr::Attribute(_), What::Value(value) | What::Part(value)) => {
                if let Some(name) = root(target)
                    && !self.is_key_of_keywords(name, target)
                {
                    self.bind(name, What::Inserted(value));
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, statement: &'a Stmt) {
        let (from, aliases) = python::imports(statement).unwrap_or_default();
        for alias in aliases {
            let name = python::imported_name(alias);
            let path = match &alias.asname {
                _ if name == "*" => {
                    self.names.stars.insert(from.trim_matches('.').to_owned());
                    continue;
                }
                // `import a.b` binds `a`.
                None if from.is_empty() => name.to_owned(),
                _ => format!("{from}{}", alias.name),
            };
            self.names.imports.entry(name).or_default().insert(path);
        }
    }
}

impl<'a> Visitor<'a> for Collector<'_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match statement {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str(), What::Function(function));
                function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
            }
            Stmt::ClassDef(class) => self.bind(class.name.as_str(), What::Class(class)),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.target(target, What::Value(&assign.value)));
                self.visit_expr(&assign.value);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.target(&assign.target, What::Value(value));
                    self.visit_expr(value);
                }
            }
            Stmt::AugAssign(assign) => {
                if let Some(name) = root(&assign.target) {
                    self.bind(name, What::Inserted(&assign.value));
                }
                self.visit_expr(&assign.value);
            }
            Stmt::For(each) => {
                self.target(&each.target, What::Part(&each.iter));
                visitor::walk_stmt(self, statement);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.target(target, What::Value(&item.context_expr));
                    }
                }
                visitor::walk_stmt(self, statement);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(statement),
            Stmt::Global(global) => self.names.elsewhere.extend(global.names.iter().map(|name| name.as_str())),
            Stmt::Nonlocal(nonlocal) => self.names.elsewhere.extend(nonlocal.names.iter().map(|name| name.as_str())),
            // `list.append(x)`: what is given may be found in it.
            Stmt::Expr(expression) => {
                if let Expr::Call(call) = &*expression.value
                    && let (Expr::Attribute(method), Some(name)) = (&*call.func, root(&call.func))
                    && !(shared::sets_plain_key(call) && method.value.is_name_expr() && self.are_keywords(name))
                {
                    let given = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|one| &one.value));
                    given.for_each(|value| self.bind_known(name, value));
                }
                self.visit_expr(&expression.value);
            }
            _ => visitor::walk_stmt(self, statement),
        }
        self.depth -= 1;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match expression {
            Expr::Named(named) => {
                self.target(&named.target, What::Value(&named.value));
                self.visit_expr(&named.value);
            }
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expression),
        }
        self.depth -= 1;
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.name.iter().for_each(|name| self.bind(name.as_str(), What::Nothing));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        python::captured(pattern).into_iter().for_each(|name| self.bind(name, What::Nothing));
        visitor::walk_pattern(self, pattern);
    }
}

impl<'a> Collector<'_, 'a> {
    fn are_keywords(&self, name: &str) -> bool {
        let is_parameter = |(_, what): &(usize, What<'_>)| matches!(what, What::Keywords);
        self.names.values.get(name).is_some_and(|bound| bound.iter().any(is_parameter))
    }

    /// `kwargs['color'] = 'k'` adds nothing that is judged.
    fn is_key_of_keywords(&self, name: &str, target: &Expr) -> bool {
        matches!(target, Expr::Subscript(part) if part.value.is_name_expr() && shared::is_plain_key(&part.slice))
            && self.are_keywords(name)
    }

    /// Only what the scope binds itself can be changed so.
    fn bind_known(&mut self, name: &'a str, value: &'a Expr) {
        if self.names.values.contains_key(name) {
            self.bind(name, What::Inserted(value));
        }
    }
}

pub(crate) fn elements(expression: &Expr) -> Option<&[Expr]> {
    match expression {
        Expr::Tuple(tuple) => Some(&tuple.elts),
        Expr::List(list) => Some(&list.elts),
        Expr::Set(set) => Some(&set.elts),
        _ => None,
    }
}

/// `a` of `a.b[c].d`.
fn root(expression: &Expr) -> Option<&str> {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expr::Name(name) => return Some(name.id.as_str()),
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            _ => return None,
        };
    }
}

/// Finds what is set from anywhere: attributes, methods, names declared `global`.
struct Deep<'n, 'a> {
    cell: usize,
    names: &'n mut Names<'a>,
    attributes: &'n mut BTreeMap<&'a str, Vec<(usize, What<'a>)>>,
    mentions: &'n mut Mentions,
    function: Option<&'a StmtFunctionDef>,
    depth: usize,
}

impl<'a> Deep<'_, 'a> {
    fn set(&mut self, name: &'a str, what: What<'a>) {
        self.attributes.entry(name).or_default().push((self.cell, what));
    }

    fn set_all(&mut self, target: &'a Expr, value: &'a Expr) {
        match target {
            Expr::Attribute(attribute) => self.set(attribute.attr.as_str(), What::Value(value)),
            _ => elements(target).into_iter().flatten().for_each(|part| self.set_all(part, value)),
        }
    }

    fn class(&mut self, class: &'a StmtClassDef) {
        for statement in &class.body {
            match statement {
                Stmt::FunctionDef(function) => self.set(function.name.as_str(), What::Function(function)),
                Stmt::ClassDef(inner) => self.set(inner.name.as_str(), What::Class(inner)),
                Stmt::Assign(assign) => {
                    for target in assign.targets.iter().filter_map(Expr::as_name_expr) {
                        self.set(target.id.as_str(), What::Value(&assign.value));
                    }
                }
                Stmt::AnnAssign(assign) => {
                    if let Expr::Name(name) = &*assign.target {
                        let what = assign.value.as_deref().map_or(What::Nothing, What::Value);
                        self.set(name.id.as_str(), what);
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'a> Visitor<'a> for Deep<'_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let outer = self.function;
        match statement {
            Stmt::FunctionDef(function) => self.function = Some(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.set_all(target, &assign.value)),
            Stmt::AnnAssign(assign) => {
                assign.value.iter().for_each(|value| self.set_all(&assign.target, value));
            }
            Stmt::For(each) => self.set_all(&each.target, &each.iter),
            Stmt::Import(import) => {
                self.mentions.has_paths |= import.names.iter().any(|alias| alias.name.starts_with("pathlib"));
            }
            Stmt::ImportFrom(import) => {
                self.mentions.has_paths |= import.module.as_ref().is_some_and(|module| module.starts_with("pathlib"));
            }
            Stmt::Global(global) => {
                let what = self.function.map_or(What::Nothing, What::Function);
                for name in &global.names {
                    self.names.values.entry(name.as_str()).or_default().push((self.cell, what));
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
        self.function = outer;
        self.depth -= 1;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        if let Expr::Attribute(attribute) = expression
            && matches!(attribute.ctx, ExprContext::Store)
        {
            self.attributes.entry(attribute.attr.as_str()).or_default();
        }
        if let Expr::Call(call) = expression
            && matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "type")
        {
            self.mentions.asks_types = true;
        }
        visitor::walk_expr(self, expression);
        self.depth -= 1;
    }
}
