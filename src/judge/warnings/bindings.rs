//! The dotted names that names of cells stand for: imports and plain assignments, over all cells together.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, ExprSubscript, ModModule, Parameter, Pattern, Stmt};

use super::list;
use crate::python::{self, MAX_DEPTH};

/// Longer dotted names are not followed: a name that is bound to itself again and again would grow.
const MAX_PATH_BYTES: usize = 120;
/// Expressions inside each other in one dotted name.
const MAX_PATH_DEPTH: usize = 24;

/// A dotted name: `json.dumps`, `get_ipython().events`.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) text: String,
    /// It begins at an import.
    pub(super) is_library: bool,
}

impl Path {
    fn library(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_library: true }.normal()
    }

    /// `()` are appended without a dot.
    fn with(&self, name: &str) -> Option<Self> {
        let dot = if name == "()" { "" } else { "." };
        let path = Self { text: format!("{}{dot}{name}", self.text), is_library: self.is_library }.normal();
        (path.text.len() <= MAX_PATH_BYTES).then_some(path)
    }

    /// One name for each way to the same thing.
    fn normal(mut self) -> Self {
        let text = self.text.as_str();
        let is_shell = text.ends_with(".get_ipython()") || text.ends_with("InteractiveShell.instance()");
        let is_namespace =
            matches!(text, "__main__.__dict__" | "get_ipython().user_ns" | "get_ipython().user_global_ns");
        if is_shell || is_namespace {
            self.text = if is_shell { "get_ipython()" } else { "globals()" }.to_owned();
        }
        self
    }

    /// Checks that it is a module, or a function or class of one, and not a value that a call has returned.
    pub(super) fn is_shared(&self) -> bool {
        self.is_library && !self.text.trim_start_matches("get_ipython()").contains("()")
    }
}

/// Names of all cells. Scopes and the order of cells are not told apart: an import counts everywhere.
#[derive(Default)]
pub(super) struct Bindings {
    libraries: BTreeMap<String, Path>,
    /// Imports in the body of a class: its attributes.
    in_classes: BTreeMap<String, Path>,
    /// Modules that are imported with `*`.
    stars: BTreeSet<String>,
    /// Names that are bound to anything else.
    others: BTreeSet<String>,
}

impl Bindings {
    pub(super) fn collect(&mut self, module: &ModModule) {
        Collector { bindings: self, is_in_class: false, depth: 0 }.visit_body(&module.body);
    }

    /// The dotted name of an expression; `None`: it is a value of the notebook.
    pub(super) fn path(&self, expression: &Expr) -> Option<Path> {
        self.path_at(expression, 0)
    }

    fn path_at(&self, expression: &Expr, depth: usize) -> Option<Path> {
        if depth > MAX_PATH_DEPTH {
            return None;
        }
        match expression {
            Expr::Name(name) => self.named(name.id.as_str()),
            Expr::Attribute(attribute) => match self.path_at(&attribute.value, depth + 1) {
                Some(base) => base.with(attribute.attr.as_str()),
                None => self.in_classes.get(attribute.attr.as_str()).cloned(),
            },
            Expr::Call(call) => self.called(call, depth),
            Expr::Subscript(subscript) => self.element(subscript, depth),
            Expr::Named(named) => self.path_at(&named.value, depth + 1),
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<Path> {
        if let Some(library) = self.libraries.get(name) {
            return Some(library.clone());
        }
        if self.others.contains(name) {
            return None;
        }
        let from_star = self.stars.iter().map(|module| format!("{module}.{name}"));
        match name {
            "exit" | "quit" => Some(Path::library(format!("builtins.{name}"))),
            "__builtins__" => Some(Path::library("builtins")),
            "get_ipython" => Some(Path::library(name)),
            _ => Some(match from_star.into_iter().find(|path| list::rule_of(path).is_some()) {
                Some(path) => Path::library(path),
                None => Path { text: name.to_owned(), is_library: false },
            }),
        }
    }

    fn called(&self, call: &ExprCall, depth: usize) -> Option<Path> {
        let function = self.path_at(&call.func, depth + 1)?;
        let text = |at: usize| call.arguments.args.get(at).and_then(literal);
        let first = || self.path_at(call.arguments.args.first()?, depth + 1);
        match function.text.as_str() {
            "__import__" | "importlib.import_module" | "importlib.__import__" => text(0).map(Path::library),
            "getattr" => first()?.with(text(1)?),
            "vars" if !call.arguments.args.is_empty() => first()?.with("__dict__"),
            "globals" | "locals" | "vars" => Some(Path::library("globals()")),
            _ => function.with("()"),
        }
    }

    fn element(&self, subscript: &ExprSubscript, depth: usize) -> Option<Path> {
        let (place, key) = (self.path_at(&subscript.value, depth + 1)?, literal(&subscript.slice)?);
        match place.text.strip_suffix(".__dict__") {
            Some(owner) => Path { text: owner.to_owned(), ..place }.with(key),
            None if place.text == "builtins" => place.with(key),
            None if place.text == "globals()" => self.named(key),
            None if place.text.ends_with("sys.modules") => Some(Path::library(key)),
            None => None,
        }
    }

    fn bind(&mut self, name: &str, value: Option<Path>) {
        match value.filter(|value| value.is_library) {
            Some(library) => _ = self.libraries.insert(name.to_owned(), library),
            None => _ = self.others.insert(name.to_owned()),
        }
    }
}

/// The text of a literal.
pub(super) fn literal(expression: &Expr) -> Option<&str> {
    expression.as_string_literal_expr().map(|text| text.value.to_str())
}

struct Collector<'a> {
    bindings: &'a mut Bindings,
    is_in_class: bool,
    depth: usize,
}

impl Collector<'_> {
    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            visit(self);
            self.depth -= 1;
        }
    }

    fn import(&mut self, statement: &Stmt) {
        let Some((from, aliases)) = python::imports(statement) else { return };
        let from = from.trim_start_matches('.');
        for alias in aliases {
            let name = python::imported_name(alias);
            if alias.name.as_str() == "*" {
                self.bindings.stars.insert(from.trim_end_matches('.').to_owned());
                continue;
            }
            // `import a.b` binds `a`.
            let is_whole = alias.asname.is_some() || !from.is_empty();
            let path = Path::library(if is_whole { format!("{from}{}", alias.name) } else { name.to_owned() });
            let names = if self.is_in_class { &mut self.bindings.in_classes } else { &mut self.bindings.libraries };
            names.insert(name.to_owned(), path);
        }
    }

    fn body(&mut self, statement: &Stmt, is_class: bool) {
        let outside = std::mem::replace(&mut self.is_in_class, is_class);
        visitor::walk_stmt(self, statement);
        self.is_in_class = outside;
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                let value = self.bindings.path(&assign.value);
                for target in &assign.targets {
                    match target {
                        Expr::Name(name) => self.bindings.bind(name.id.as_str(), value.clone()),
                        _ => self.visit_expr(target),
                    }
                }
                self.visit_expr(&assign.value);
            }
            Stmt::FunctionDef(function) => {
                self.bindings.bind(function.name.as_str(), None);
                self.body(statement, false);
            }
            Stmt::ClassDef(class) => {
                self.bindings.bind(class.name.as_str(), None);
                self.body(statement, true);
            }
            _ => {
                self.import(statement);
                visitor::walk_stmt(self, statement);
            }
        }
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(|collector| collector.statement(statement));
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(|collector| match expression {
            Expr::Name(name) if name.ctx.is_store() => collector.bindings.bind(name.id.as_str(), None),
            Expr::Named(named) => {
                let value = collector.bindings.path(&named.value);
                if let Expr::Name(name) = &*named.target {
                    collector.bindings.bind(name.id.as_str(), value);
                }
                collector.visit_expr(&named.value);
            }
            _ => visitor::walk_expr(collector, expression),
        });
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bindings.bind(parameter.name.as_str(), None);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(|collector| {
            python::captured(pattern).into_iter().for_each(|name| collector.bindings.bind(name, None));
            visitor::walk_pattern(collector, pattern);
        });
    }
}
