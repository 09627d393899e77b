//! What the names of a cell stand for, as far as the table knows it: `o` → `os`, `s` → `os.system`, `p` → `pathlib.Path()`.
//!
//! Order and scopes are not regarded: a name stands for all that it is bound to anywhere in the cell. That is too strict for
//! code that uses one name twice, and never too lax.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, ExprSubscript, Operator, Stmt};

use crate::budget::Budget;
use crate::table;

/// How deep an expression is followed; what is deeper stands for nothing that is known.
const MAX_FOLLOWED: usize = 24;
const MAX_MEANINGS: usize = 16;
const MAX_TEXTS: usize = 8;
const MAX_TEXT_BYTES: usize = 20_000;

/// Modules that are found behind any attribute: `pandas.io.common.os`.
const MODULES_INSIDE: &[&str] = &["os", "subprocess", "shutil", "pty", "ctypes", "importlib", "builtins", "posix"];
/// Modules whose names people give to variables as well: they count where they are imported.
const ORDINARY_WORDS: &[&str] = &[
    "commands",
    "sh",
    "code",
    "imp",
    "websocket",
    "invoke",
    "trace",
    "profile",
    "wget",
    "fabric",
    "http",
    "signal",
    "fileinput",
];
/// Names of a path that give a path again.
const PATH_TO_PATH: &[&str] = &[
    "parent",
    "parents",
    "joinpath",
    "resolve",
    "absolute",
    "expanduser",
    "with_name",
    "with_suffix",
    "with_stem",
    "home",
    "cwd",
    "glob",
    "rglob",
    "iterdir",
    "relative_to",
    "readlink",
];

pub(crate) type Meanings = BTreeSet<String>;

/// The names of one source, and those of the source in which it stands.
#[derive(Default)]
pub(crate) struct Bindings {
    outer: Option<Rc<Bindings>>,
    pub(crate) budget: Budget,
    names: BTreeMap<String, Meanings>,
    /// Literal texts that names are bound to: SQL is often kept in one.
    texts: BTreeMap<String, Vec<String>>,
    /// Modules of which all names were imported.
    stars: BTreeSet<String>,
    /// `open` is a variable somewhere: prices have an open and a close.
    has_own_open: bool,
}

impl Bindings {
    /// Those of a source inside: it has names of its own, and sees these.
    pub(crate) fn inside(outer: &Rc<Self>) -> Self {
        Self { outer: Some(outer.clone()), budget: outer.budget.clone(), ..Self::default() }
    }

    fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| layer.outer.as_deref())
    }

    pub(crate) fn collect(&mut self, body: &[Stmt]) {
        let mut collector = Collector { bindings: self, depth: 0 };
        collector.visit_body(body);
    }

    /// The dotted names of the table, or on the way to one, that an expression may stand for.
    pub(crate) fn meanings(&self, expression: &Expr) -> Meanings {
        self.follow(expression, 0)
    }

    fn follow(&self, expression: &Expr, depth: usize) -> Meanings {
        if depth > MAX_FOLLOWED || !self.budget.spend(1) {
            return Meanings::new();
        }
        let next = |inner: &Expr| self.follow(inner, depth + 1);
        match expression {
            Expr::Name(name) => self.of_name(name.id.as_str()),
            Expr::Attribute(attribute) => step_all(&next(&attribute.value), attribute.attr.as_str()),
            Expr::Call(call) => self.of_call(call, depth + 1),
            Expr::Subscript(subscript) => self.of_subscript(subscript, depth + 1),
            Expr::BinOp(operation) if operation.op == Operator::Div => {
                let sides = next(&operation.left).into_iter().chain(next(&operation.right));
                sides.filter(|meaning| meaning == "pathlib.Path()").collect()
            }
            Expr::Named(named) => next(&named.value),
            Expr::Await(awaited) => next(&awaited.value),
            Expr::If(choice) => union(next(&choice.body), next(&choice.orelse)),
            Expr::BoolOp(operation) => operation.values.iter().map(next).fold(Meanings::new(), union),
            _ => Meanings::new(),
        }
    }

    fn of_name(&self, name: &str) -> Meanings {
        let bound = self.layers().filter_map(|layer| layer.names.get(name)).flatten();
        let mut meanings: Meanings = bound.cloned().collect();
        for module in self.layers().flat_map(|layer| &layer.stars) {
            let path = format!("{module}.{name}");
            if !self.budget.spend(1) {
                break;
            }
            if table::is_known(&path) {
                meanings.insert(path);
            }
        }
        let own = canonical(name);
        if table::is_known(&own) && !ORDINARY_WORDS.contains(&name) {
            meanings.insert(own);
        }
        let builtin = canonical(&format!("builtins.{name}"));
        if table::is_known(&builtin) {
            meanings.insert(builtin);
        }
        meanings
    }

    pub(crate) fn of_call(&self, call: &ExprCall, depth: usize) -> Meanings {
        let functions = self.follow(&call.func, depth);
        let mut meanings = Meanings::new();
        for function in &functions {
            meanings.extend(self.given_by(function, call, depth));
        }
        meanings
    }

    /// What a call of this function gives.
    fn given_by(&self, function: &str, call: &ExprCall, depth: usize) -> Meanings {
        let argument = |position: usize| call.arguments.find_positional(position);
        match function {
            "builtins.__import__" => argument(0).and_then(literal).map(|name| root(&name)).map(one).unwrap_or_default(),
            "importlib.import_module" | "importlib.reload" | "importlib.__import__" | "sys.modules.get" => {
                let named = argument(0).and_then(literal).map(|name| one(canonical(&name)));
                named.or_else(|| Some(self.follow(argument(0)?, depth + 1))).unwrap_or_default()
            }
            "builtins.getattr" | "inspect.getattr_static" => {
                let objects = argument(0).map(|object| self.follow(object, depth + 1)).unwrap_or_default();
                argument(1).and_then(literal).map(|name| step_all(&objects, &name)).unwrap_or_default()
            }
            "builtins.vars" if argument(0).is_some() => {
                let objects = argument(0).map(|object| self.follow(object, depth + 1)).unwrap_or_default();
                objects.into_iter().map(|object| format!("{object}.__dict__")).collect()
            }
            "builtins.globals" | "builtins.locals" | "builtins.vars" => one("globals()".to_owned()),
            "globals().get" => argument(0).and_then(literal).map(|name| self.of_name(&name)).unwrap_or_default(),
            "functools.partial" => argument(0).map(|inner| self.follow(inner, depth + 1)).unwrap_or_default(),
            "pathlib.Path" | "pathlib.Path()" => one("pathlib.Path()".to_owned()),
            "requests.session" => one("requests.Session()".to_owned()),
            other => {
                let path = canonical(&format!("{other}()"));
                if table::is_known(&path) { one(path) } else { Meanings::new() }
            }
        }
    }

    pub(crate) fn of_subscript(&self, subscript: &ExprSubscript, depth: usize) -> Meanings {
        if let Expr::List(list) = &*subscript.value {
            return list
                .elts
                .iter()
                .take(MAX_MEANINGS)
                .map(|item| self.follow(item, depth + 1))
                .fold(Meanings::new(), union);
        }
        let Some(key) = literal(&subscript.slice) else { return Meanings::new() };
        let mut meanings = Meanings::new();
        for object in self.follow(&subscript.value, depth) {
            match object.as_str() {
                "sys.modules" => meanings.extend(one(canonical(&key))),
                "globals()" | "builtins" | "builtins.__dict__" => meanings.extend(self.of_name(&key)),
                other => {
                    if let Some(module) = other.strip_suffix(".__dict__") {
                        meanings.extend(step(module, &key));
                    }
                }
            }
        }
        meanings
    }

    /// The text of a string as far as it stands in the cell: literals, sums, `format`, names bound to one. Parts that are
    /// computed read `?`.
    pub(crate) fn text(&self, expression: &Expr) -> Option<String> {
        self.text_at(expression, 0).filter(|text| !text.trim_matches(['?', ' ']).is_empty())
    }

    fn text_at(&self, expression: &Expr, depth: usize) -> Option<String> {
        if depth > MAX_FOLLOWED || !self.budget.spend(1) {
            return None;
        }
        let next = |inner: &Expr| self.text_at(inner, depth + 1);
        match expression {
            Expr::StringLiteral(string) => Some(string.value.to_str().to_owned()),
            Expr::FString(string) => Some(literal_parts(string)),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                let (left, right) = (next(&sum.left), next(&sum.right));
                (left.is_some() || right.is_some())
                    .then(|| format!("{}{}", left.as_deref().unwrap_or(" ? "), right.as_deref().unwrap_or(" ? ")))
            }
            Expr::BinOp(format) if format.op == Operator::Mod => next(&format.left),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) => next(&method.value).or_else(|| next(call.arguments.args.first()?)),
                _ => next(call.arguments.args.first()?),
            },
            Expr::Named(named) => next(&named.value),
            Expr::Name(name) => self.texts_of(name.id.as_str()),
            _ => None,
        }
    }

    fn texts_of(&self, name: &str) -> Option<String> {
        let texts: Vec<&str> =
            self.layers().filter_map(|layer| layer.texts.get(name)).flatten().map(String::as_str).collect();
        // Whoever asks reads all of it.
        let is_read = self.budget.spend(texts.iter().map(|text| text.len()).sum());
        (is_read && !texts.is_empty()).then(|| texts.join(";\n"))
    }

    /// Whether a variable of the notebook's own has the name of this builtin.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        name == "open" && self.layers().any(|layer| layer.has_own_open)
    }

    fn bind(&mut self, name: &str, meanings: Meanings) {
        if !meanings.is_empty() {
            let bound = self.names.entry(name.to_owned()).or_default();
            bound.extend(meanings);
            while bound.len() > MAX_MEANINGS {
                bound.pop_last();
            }
        }
    }

    fn bind_text(&mut self, name: &str, value: &Expr) {
        if let Some(text) = self.text(value).filter(|text| text.len() <= MAX_TEXT_BYTES) {
            let texts = self.texts.entry(name.to_owned()).or_default();
            if texts.len() < MAX_TEXTS {
                texts.push(text);
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Name(name), _) => {
                let meanings = self.meanings(value);
                self.has_own_open |= name.id.as_str() == "open" && meanings.is_empty();
                self.bind(name.id.as_str(), meanings);
                self.bind_text(name.id.as_str(), value);
            }
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                targets.elts.iter().zip(&values.elts).for_each(|(target, value)| self.assign(target, value));
            }
            (Expr::Tuple(targets), _) => {
                self.has_own_open |=
                    targets.iter().any(|target| target.as_name_expr().is_some_and(|name| name.id.as_str() == "open"));
            }
            (Expr::Starred(starred), _) => self.assign(&starred.value, value),
            _ => {}
        }
    }
}

struct Collector<'b> {
    bindings: &'b mut Bindings,
    depth: usize,
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth > crate::python::MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match statement {
            Stmt::Import(import) => import.names.iter().for_each(|alias| {
                let (name, bound) = match &alias.asname {
                    Some(bound) => (alias.name.to_string(), bound.to_string()),
                    None => (root(alias.name.as_str()), root(alias.name.as_str())),
                };
                self.bindings.import(&name, &bound);
            }),
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map(ToString::to_string).unwrap_or_default();
                for alias in &import.names {
                    if alias.name.as_str() == "*" {
                        let module = canonical(&module);
                        if table::is_module(&module) {
                            self.bindings.stars.insert(module);
                        }
                    } else {
                        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.bindings.import(&format!("{module}.{}", alias.name), bound.as_str());
                    }
                }
            }
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.bindings.assign(target, &assign.value))
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.bindings.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => self.bindings.assign(&assign.target, &assign.value),
            Stmt::For(each) => self.bindings.assign(&each.target, &each.iter),
            Stmt::With(with) => with.items.iter().for_each(|item| {
                if let Some(target) = &item.optional_vars {
                    self.bindings.assign(target, &item.context_expr);
                }
            }),
            _ => {}
        }
        visitor::walk_stmt(self, statement);
        self.depth -= 1;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.depth > crate::python::MAX_DEPTH {
            return;
        }
        self.depth += 1;
        if let Expr::Named(named) = expression {
            self.bindings.assign(&named.target, &named.value);
        }
        visitor::walk_expr(self, expression);
        self.depth -= 1;
    }

    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        self.bindings.has_own_open |= parameter.name.as_str() == "open";
        visitor::walk_parameter(self, parameter);
    }

    fn visit_comprehension(&mut self, comprehension: &'a ruff_python_ast::Comprehension) {
        self.bindings.assign(&comprehension.target, &comprehension.iter);
        visitor::walk_comprehension(self, comprehension);
    }
}

impl Bindings {
    fn import(&mut self, path: &str, bound: &str) {
        let path = canonical(path);
        let last = path.rsplit('.').next().unwrap_or_default().trim_start_matches('_');
        if table::is_known(&path) {
            self.bind(bound, one(path));
        } else if MODULES_INSIDE.contains(&last) {
            self.bind(bound, one(canonical(last)));
        }
    }
}

fn one(path: String) -> Meanings {
    Meanings::from([path])
}

fn union(mut left: Meanings, right: Meanings) -> Meanings {
    left.extend(right);
    left
}

fn root(module: &str) -> String {
    canonical(module.split('.').next().unwrap_or_default())
}

fn step_all(objects: &Meanings, attribute: &str) -> Meanings {
    let mut meanings: Meanings = objects.iter().flat_map(|object| step(object, attribute)).collect();
    let module = attribute.trim_start_matches('_');
    if meanings.is_empty() && MODULES_INSIDE.contains(&module) {
        meanings.insert(canonical(module));
    }
    meanings
}

fn step(object: &str, attribute: &str) -> Option<String> {
    if object == "pathlib.Path()" && PATH_TO_PATH.contains(&attribute)
        || object == "pathlib.Path" && matches!(attribute, "cwd" | "home")
    {
        return Some("pathlib.Path()".to_owned());
    }
    if attribute == "__dict__" && table::is_known(object) {
        return Some(format!("{object}.__dict__"));
    }
    if attribute == "__call__" {
        return Some(object.to_owned());
    }
    let object = if object == "pathlib.Path" { "pathlib.Path()" } else { object };
    Some(canonical(&format!("{object}.{attribute}"))).filter(|path| table::is_known(path))
}

/// One name for what has several.
fn canonical(path: &str) -> String {
    const SAME: &[(&str, &str)] = &[
        ("posix", "os"),
        ("nt", "os"),
        ("__builtins__", "builtins"),
        ("__builtin__", "builtins"),
        ("builtins.__builtins__", "builtins"),
        ("builtins.get_ipython", "get_ipython"),
        ("IPython.get_ipython", "get_ipython"),
        ("IPython.core.getipython.get_ipython", "get_ipython"),
        ("os.path.os", "os"),
        ("pathlib.PosixPath", "pathlib.Path"),
        ("pathlib.WindowsPath", "pathlib.Path"),
        ("_io", "io"),
        ("_socket", "socket"),
        ("_posixsubprocess", "subprocess"),
    ];
    for (from, to) in SAME {
        if let Some(rest) = path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('.')) {
            return format!("{to}{rest}");
        }
    }
    path.to_owned()
}

/// A literal string, also a sum of literal strings.
pub(crate) fn literal(expression: &Expr) -> Option<String> {
    fn at(expression: &Expr, depth: usize) -> Option<String> {
        match expression {
            Expr::StringLiteral(string) => Some(string.value.to_str().to_owned()),
            Expr::BinOp(sum) if sum.op == Operator::Add && depth < MAX_FOLLOWED => {
                Some(at(&sum.left, depth + 1)? + &at(&sum.right, depth + 1)?)
            }
            _ => None,
        }
    }
    at(expression, 0)
}

/// An f-string with `?` for what is computed.
fn literal_parts(string: &ruff_python_ast::ExprFString) -> String {
    use ruff_python_ast::{FStringPart, InterpolatedStringElement as Element};
    let mut text = String::new();
    for part in &string.value {
        match part {
            FStringPart::Literal(literal) => text.push_str(&literal.value),
            FStringPart::FString(inner) => inner.elements.iter().for_each(|element| match element {
                Element::Literal(literal) => text.push_str(&literal.value),
                Element::Interpolation(_) => text.push('?'),
            }),
        }
    }
    text
}
