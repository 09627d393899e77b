//! Which lists and dictionaries may be changed where a binding of their name does not show it: by an alias, in a function
//! that is given them, in a nested one. What stands in such a list is not known.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, Comprehension, Expr, ExprCall, ExprContext, InterpolatedStringElement, Parameter, Stmt};

use super::bindings::{Names, What};
use super::rules;
use crate::python::{self, MAX_DEPTH};
use crate::words::Words;

/// Builtins that keep and change nothing of what they are given.
static READERS: Words = Words::of(
    "all any bool dict enumerate filter frozenset isinstance len list map max min print range repr reversed set \
     sorted str sum tuple type zip",
);

/// Methods of lists and dictionaries that add nothing to them.
static READING_METHODS: Words =
    Words::of("clear copy count format get index items join keys pop popitem remove reverse sort values");

/// Libraries the classes of which change no list that they are given.
static LIBRARIES: Words = Words::of("pandas numpy polars sklearn scipy matplotlib seaborn plotly");

/// Where the names of the notebook are used otherwise than to read what stands in them.
#[derive(Default)]
pub(crate) struct Shared<'a> {
    names: BTreeSet<&'a str>,
    /// Given to a builtin, unless a cell binds the name of one.
    given: BTreeSet<&'a str>,
    binds_builtin: bool,
    /// Given as settings to a method, which keeps and changes nothing of them unless a class of the notebook has it.
    settings: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Something is set in them under a name that no library takes for more: `kwargs['color'] = 'k'`.
    keyed: BTreeSet<&'a str>,
    /// Bound anew by a function in the one that binds them.
    rebound: BTreeSet<&'a str>,
}

impl<'a> Shared<'a> {
    /// Whether a function binds the name anew that another one binds.
    pub(crate) fn is_rebound(&self, name: &str) -> bool {
        self.rebound.contains(name)
    }

    /// Whether something else may stand in what the name is bound to by now. `own` are the attributes that the notebook sets.
    pub(crate) fn may_change(&self, name: &str, what: &What<'_>, own: &BTreeMap<&str, Vec<(usize, What<'_>)>>) -> bool {
        let is_used = || {
            let is_own = |method: &&str| own.contains_key(method);
            self.names.contains(name)
                || self.binds_builtin && self.given.contains(name)
                || self.settings.get(name).is_some_and(|methods| methods.iter().any(is_own))
        };
        match what {
            What::Keywords => is_used(),
            What::Value(value) => is_changeable(value) && (is_used() || self.keyed.contains(name)),
            _ => false,
        }
    }

    pub(crate) fn collect(&mut self, body: &'a [Stmt], imports: &Names<'a>) {
        Finder { shared: self, imports, depth: 0 }.visit_body(body);
    }
}

struct Finder<'s, 'n, 'a> {
    shared: &'s mut Shared<'a>,
    imports: &'n Names<'a>,
    depth: usize,
}

impl<'a> Finder<'_, '_, 'a> {
    /// A name here is only read.
    fn read(&mut self, expression: &'a Expr) {
        if !expression.is_name_expr() {
            self.visit_expr(expression);
        }
    }

    /// Something is set in it under a plain key.
    fn key(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => _ = self.shared.keyed.insert(name.id.as_str()),
            other => self.visit_expr(other),
        }
    }

    fn bind(&mut self, name: &str) {
        self.shared.binds_builtin |= READERS.has(name);
    }

    fn call(&mut self, call: &'a ExprCall) {
        match &*call.func {
            Expr::Attribute(method) if READING_METHODS.has(method.attr.as_str()) => self.read(&method.value),
            Expr::Attribute(method) if sets_plain_key(call) => self.key(&method.value),
            func => self.visit_expr(func),
        }
        let is_reader = matches!(&*call.func, Expr::Name(name) if READERS.has(name.id.as_str()));
        let is_class = self.is_class_of_library(&call.func);
        for given in &call.arguments.args {
            match given {
                Expr::Name(name) if is_reader => _ = self.shared.given.insert(name.id.as_str()),
                given if is_class => self.read(given),
                given => self.visit_expr(given),
            }
        }
        for keyword in &call.arguments.keywords {
            let is_settings = keyword.arg.as_ref().is_some_and(|name| rules::is_dictionary_of_settings(name.as_str()));
            match (&keyword.value, &*call.func) {
                (Expr::Name(name), Expr::Attribute(method)) if is_settings && draws(method.attr.as_str()) => {
                    self.shared.settings.entry(name.id.as_str()).or_default().insert(method.attr.as_str());
                }
                (given, _) if is_class || keyword.arg.is_none() => self.read(given),
                (given, _) => self.visit_expr(given),
            }
        }
    }

    fn is_class_of_library(&self, func: &Expr) -> bool {
        let (root, last) = match func {
            Expr::Name(name) => (name.id.as_str(), name.id.as_str()),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => (name.id.as_str(), attribute.attr.as_str()),
                _ => return false,
            },
            _ => return false,
        };
        let is_library = |path: &String| LIBRARIES.has(path.split('.').next().unwrap_or_default());
        last.starts_with(|first: char| first.is_ascii_uppercase())
            && self.imports.imports.get(root).is_some_and(|paths| paths.iter().all(is_library))
            && !self.imports.values.contains_key(root)
    }
}

/// Texts are not.
fn is_changeable(value: &Expr) -> bool {
    const MAKERS: &[&str] = &["dict", "list", "set", "sorted", "glob", "iglob", "rglob", "iterdir", "fromkeys", "copy"];
    match value {
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => MAKERS.contains(&name.id.as_str()),
            Expr::Attribute(method) => MAKERS.contains(&method.attr.as_str()),
            _ => false,
        },
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::ListComp(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
        _ => false,
    }
}

/// A key that says nothing but how something looks.
pub(crate) fn is_plain_key(key: &Expr) -> bool {
    matches!(key, Expr::StringLiteral(key) if !rules::is_told_key(key.value.to_str()))
}

/// `kwargs.setdefault('color', 'k')`
pub(crate) fn sets_plain_key(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Attribute(method) if method.attr.as_str() == "setdefault")
        && call.arguments.args.first().is_some_and(is_plain_key)
}

/// Methods that draw, and call nothing that they are given.
fn draws(method: &str) -> bool {
    rules::place_of_settings(method).is_some()
        || matches!(
            method,
            "plot" | "subplots" | "legend" | "boxplot" | "bar" | "barh" | "heatmap" | "pairplot" | "lmplot"
        )
}

fn is_written_out(expression: &Expr) -> bool {
    matches!(expression, Expr::List(_) | Expr::Tuple(_)) || expression.is_literal_expr()
}

impl<'a> Visitor<'a> for Finder<'_, '_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match statement {
            Stmt::Expr(shown) => self.read(&shown.value),
            Stmt::For(each) => {
                self.visit_expr(&each.target);
                self.read(&each.iter);
                each.body.iter().chain(&each.orelse).for_each(|inner| self.visit_stmt(inner));
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.shared.names.insert(name.id.as_str());
                }
                visitor::walk_stmt(self, statement);
            }
            // Bound in the function around it, where the walk through that function does not see it.
            Stmt::Nonlocal(nonlocal) => self.shared.rebound.extend(nonlocal.names.iter().map(|name| name.as_str())),
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str());
                visitor::walk_stmt(self, statement);
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str());
                visitor::walk_stmt(self, statement);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let (_, aliases) = python::imports(statement).unwrap_or_default();
                aliases.iter().for_each(|alias| self.bind(python::imported_name(alias)));
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
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => _ = self.shared.names.insert(name.id.as_str()),
                _ => self.bind(name.id.as_str()),
            },
            Expr::Subscript(part) => {
                match part.ctx {
                    ExprContext::Store if is_plain_key(&part.slice) => self.key(&part.value),
                    ExprContext::Store => self.visit_expr(&part.value),
                    _ => self.read(&part.value),
                }
                self.read(&part.slice);
            }
            Expr::Call(call) => self.call(call),
            Expr::Starred(starred) => self.read(&starred.value),
            Expr::UnaryOp(unary) => self.read(&unary.operand),
            Expr::BinOp(made) if is_written_out(&made.left) || is_written_out(&made.right) => {
                self.read(&made.left);
                self.read(&made.right);
            }
            // What is looked for meets the elements, and never the list.
            Expr::Compare(compare) if compare.ops.iter().all(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
                self.visit_expr(&compare.left);
                compare.comparators.iter().for_each(|place| self.read(place));
            }
            Expr::Dict(dict) => {
                for item in &dict.items {
                    match &item.key {
                        Some(key) => {
                            self.read(key);
                            self.visit_expr(&item.value);
                        }
                        None => self.read(&item.value),
                    }
                }
            }
            _ => visitor::walk_expr(self, expression),
        }
        self.depth -= 1;
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.visit_expr(&comprehension.target);
        self.read(&comprehension.iter);
        comprehension.ifs.iter().for_each(|test| self.visit_expr(test));
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if let InterpolatedStringElement::Interpolation(field) = element {
            self.read(&field.expression);
        }
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(parameter.name.as_str());
        visitor::walk_parameter(self, parameter);
    }
}
