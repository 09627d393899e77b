//! Uses of names and attributes in a piece of Python: what it mentions, what it calls, and what it binds names to.

use std::collections::{BTreeMap, BTreeSet};

use notarium_judge::{names_of_statements, python};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Arguments, Comprehension, Decorator, Expr, ExprCall, IpyEscapeKind, Parameter, Pattern, Stmt, StmtClassDef,
};

use crate::magic::{self, MagicUse};
use crate::table::{self, ExpectedKinds};

/// Object of which something is used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    Name(String),
    /// A module, imported by an expression.
    Module(String),
    /// A value that is known to be Python's own.
    Builtin,
    Other,
}

/// One use: `root.attribute.attribute`, mentioned or called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub root: Root,
    pub attributes: Vec<String>,
    pub is_called: bool,
    /// The call opens a file for reading alone.
    pub only_reads: bool,
}

/// Uses and bindings of a piece of code.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub uses: BTreeSet<Use>,
    /// Kinds that the code says in another way: magics, keywords, attributes whose names are computed.
    pub kinds: ExpectedKinds,
    /// Paths of imported modules and names, by the names that they get.
    pub imports: BTreeMap<String, BTreeSet<String>>,
    /// Modules of which all names are imported.
    pub stars: BTreeSet<String>,
    /// Names that something else binds than an import, a function or a class; true: to Python's own values alone.
    pub variables: BTreeMap<String, bool>,
    /// Functions and classes.
    pub definitions: BTreeSet<String>,
    /// Names that are read in a magic's line or given as text.
    pub reads: BTreeSet<String>,
    depth: usize,
}

impl Uses {
    pub(crate) fn of(statement: &Stmt) -> Self {
        let mut uses = Self::default();
        uses.visit_stmt(statement);
        uses
    }

    /// Uses of a text that is no Python.
    pub(crate) fn of_kinds(kinds: ExpectedKinds, binds: &BTreeSet<String>) -> Self {
        let variables = binds.iter().map(|name| (name.clone(), false)).collect();
        Self { kinds, variables, ..Self::default() }
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        if self.depth >= python::MAX_DEPTH {
            self.kinds = ExpectedKinds::ALL;
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn bind(&mut self, name: &str, is_builtin: bool) {
        let known = self.variables.entry(name.to_owned()).or_insert(true);
        *known &= is_builtin;
    }

    fn bind_target(&mut self, target: &Expr, is_builtin: bool) {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), is_builtin),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| self.bind_target(one, false)),
            Expr::List(list) => list.elts.iter().for_each(|one| self.bind_target(one, false)),
            Expr::Starred(starred) => self.bind_target(&starred.value, false),
            _ => {}
        }
    }

    fn note(&mut self, expression: &Expr, is_called: bool) {
        let (root, attributes) = chain(expression);
        self.uses.insert(Use { root, attributes, is_called, only_reads: false });
    }

    fn import(&mut self, statement: &Stmt) {
        let Some((from, aliases)) = python::imports(statement) else { return };
        for alias in aliases {
            let module = if from.is_empty() { alias.name.as_str() } else { from.trim_end_matches('.') };
            self.kinds |= if table::of_path(module).is_some() { ExpectedKinds::NONE } else { ExpectedKinds::LIBRARY };
            if alias.name.as_str() == "*" {
                self.stars.insert(module.to_owned());
                continue;
            }
            let is_whole = from.is_empty() && alias.asname.is_none();
            let first = || alias.name.split('.').next().unwrap_or_default().to_owned();
            let path = if is_whole { first() } else { format!("{from}{}", alias.name) };
            self.imports.entry(python::imported_name(alias).to_owned()).or_default().insert(path);
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let Arguments { args, keywords, .. } = &call.arguments;
        for keyword in keywords.iter().filter(|keyword| !is_off(&keyword.value)) {
            self.kinds |= keyword.arg.as_ref().map(|name| table::of_keyword(name.as_str())).unwrap_or_default();
        }
        let (root, attributes) = chain(&call.func);
        let last = attributes.last().map(String::as_str);
        if root == Root::Name("getattr".to_owned()) && last.is_none() {
            match (args.first(), args.get(1).and_then(literal)) {
                (Some(object), Some(name)) => {
                    let (root, mut attributes) = chain(object);
                    attributes.push(name);
                    self.uses.insert(Use { root, attributes, is_called: true, only_reads: false });
                }
                _ => self.kinds = ExpectedKinds::ALL,
            }
            return;
        }
        if last == Some("call_function") {
            self.reads.extend(args.first().and_then(literal));
        }
        // `__import__("name")` is an import, and no text that is run.
        if module_of(call).is_some() {
            self.kinds |= ExpectedKinds::LIBRARY;
            return;
        }
        self.uses.insert(Use { root, attributes, is_called: true, only_reads: opens_to_read(call) });
    }

    fn class(&mut self, class: &StmtClassDef) {
        self.definitions.insert(class.name.to_string());
        let bases = class.arguments.iter().flat_map(|arguments| &arguments.args);
        bases.for_each(|base| self.note(base, true));
    }

    fn magic(&mut self, kind: IpyEscapeKind, value: &str) {
        match magic::of_escape(kind, value) {
            MagicUse::Kinds(kinds) => self.kinds |= kinds,
            MagicUse::Code(code) => self.code(&code),
        }
    }

    /// Python in a magic's line.
    pub(crate) fn code(&mut self, code: &str) {
        let parsed = python::parse(code).filter(|parsed| parsed.errors().is_empty());
        match parsed.as_ref().and_then(|parsed| Some((parsed, names_of_statements(&parsed.syntax().body)?))) {
            Some((parsed, names)) => {
                self.reads.extend(names.all_reads());
                self.deeper(|uses| uses.visit_body(&parsed.syntax().body));
            }
            None => self.kinds = ExpectedKinds::ALL,
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => _ = self.definitions.insert(function.name.to_string()),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.bind_target(target, is_builtin(&assign.value)));
            }
            Stmt::AnnAssign(assign) => {
                self.bind_target(&assign.target, assign.value.as_deref().is_some_and(is_builtin));
            }
            Stmt::AugAssign(assign) => self.bind_target(&assign.target, is_builtin(&assign.value)),
            Stmt::For(each) => self.bind_target(&each.target, is_range(&each.iter)),
            Stmt::With(with) => {
                with.items.iter().filter_map(|item| item.optional_vars.as_deref()).for_each(|target| {
                    self.bind_target(target, false);
                });
            }
            Stmt::IpyEscapeCommand(command) => self.magic(command.kind, &command.value),
            statement => self.import(statement),
        }
    }
}

impl<'a> Visitor<'a> for Uses {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(|uses| {
            uses.statement(statement);
            visitor::walk_stmt(uses, statement);
        });
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        self.note(&decorator.expression, true);
        visitor::walk_decorator(self, decorator);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(|uses| match expression {
            Expr::Call(call) => {
                uses.call(call);
                uses.visit_base(&call.func);
                visitor::walk_arguments(uses, &call.arguments);
            }
            Expr::Attribute(_) | Expr::Name(_) => {
                uses.note(expression, false);
                uses.visit_base(expression);
            }
            Expr::Named(named) => {
                uses.bind_target(&named.target, is_builtin(&named.value));
                uses.visit_expr(&named.value);
            }
            Expr::IpyEscapeCommand(command) => uses.magic(command.kind, &command.value),
            _ => visitor::walk_expr(uses, expression),
        });
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.bind_target(&comprehension.target, is_range(&comprehension.iter));
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(parameter.name.as_str(), false);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(|uses| {
            python::captured(pattern).into_iter().for_each(|name| uses.bind(name, false));
            visitor::walk_pattern(uses, pattern);
        });
    }
}

impl Uses {
    /// Visits the object whose attributes were noted, unless it is a name.
    fn visit_base(&mut self, expression: &Expr) {
        let mut base = expression;
        while let Expr::Attribute(attribute) = base {
            base = &attribute.value;
        }
        if !matches!(base, Expr::Name(_)) {
            self.visit_expr(base);
        }
    }
}

/// The object and its attributes, from left to right.
fn chain(expression: &Expr) -> (Root, Vec<String>) {
    let (mut base, mut attributes) = (expression, Vec::new());
    while let Expr::Attribute(attribute) = base {
        attributes.push(attribute.attr.to_string());
        base = &attribute.value;
    }
    attributes.reverse();
    let root = match base {
        Expr::Name(name) => Root::Name(name.id.to_string()),
        Expr::Call(call) if module_of(call).is_some() => Root::Module(module_of(call).unwrap_or_default()),
        base if is_builtin(base) => Root::Builtin,
        _ => Root::Other,
    };
    (root, attributes)
}

/// Module that `__import__("module")` gives.
fn module_of(call: &ExprCall) -> Option<String> {
    let is_import = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "__import__");
    call.arguments.args.first().filter(|_| is_import).and_then(literal)
}

fn literal(expression: &Expr) -> Option<String> {
    expression.as_string_literal_expr().map(|text| text.value.to_str().to_owned())
}

/// Checks that a keyword's value switches it off.
fn is_off(value: &Expr) -> bool {
    match value {
        Expr::NoneLiteral(_) => true,
        Expr::BooleanLiteral(value) => !value.value,
        Expr::NumberLiteral(number) => number.value.as_int().is_some_and(|value| matches!(value.as_u8(), Some(0 | 1))),
        _ => false,
    }
}

fn is_range(iterated: &Expr) -> bool {
    matches!(chain(iterated.as_call_expr().map_or(iterated, |call| &call.func)), (Root::Name(name), rest) if name == "range" && rest.is_empty())
}

/// Checks that a value is one of Python's own types, as far as its expression tells.
fn is_builtin(value: &Expr) -> bool {
    const TYPES: &[&str] = &[
        "ascii",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "chr",
        "dict",
        "float",
        "format",
        "frozenset",
        "hash",
        "hex",
        "id",
        "input",
        "int",
        "len",
        "list",
        "oct",
        "ord",
        "range",
        "repr",
        "set",
        "sorted",
        "str",
        "tuple",
    ];
    match value {
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => TYPES.contains(&name.id.as_str()),
            Expr::Attribute(attribute) => attribute.value.is_string_literal_expr(),
            _ => false,
        },
        Expr::UnaryOp(operation) => operation.operand.is_number_literal_expr(),
        value => {
            value.is_literal_expr()
                || value.is_f_string_expr()
                || value.is_list_expr()
                || value.is_tuple_expr()
                || value.is_set_expr()
                || value.is_dict_expr()
                || value.is_list_comp_expr()
                || value.is_set_comp_expr()
                || value.is_dict_comp_expr()
        }
    }
}

/// Checks that the call names a mode in which a file is only read, or none.
fn opens_to_read(call: &ExprCall) -> bool {
    let Arguments { args, keywords, .. } = &call.arguments;
    let has_more = args.iter().any(Expr::is_starred_expr) || keywords.iter().any(|keyword| keyword.arg.is_none());
    let named = keywords.iter().find(|keyword| keyword.arg.as_ref().is_some_and(|name| name == "mode"));
    let mode = args.get(1).or_else(|| named.map(|keyword| &keyword.value));
    let reads = |mode: &Expr| literal(mode).is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+']));
    !has_more && mode.is_none_or(reads)
}
