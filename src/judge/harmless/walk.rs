//! The walk through one cell: each name, attribute, call and import is looked up.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, ExprAttribute, ExprCall, StmtClassDef};
use ruff_text_size::Ranged;

use super::bindings::{Names, What};
use super::builtins;
use super::rules::{self, Rule};
use super::scope::Globals;
use crate::DangerRule::{self, *};
use crate::known::{self, Member};
use crate::words::Words;
use crate::{Danger, Findings, Grade, Lines, table};

/// What a name or a dotted name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A value that harms nobody.
    Data,
    /// An attribute of one: judged by its name.
    Attribute,
    Module(String),
    /// Harmless, of a known module.
    Member(String),
    Ruled(String, Rule),
    /// Of a module, and not known.
    Unknown(String),
    /// Nobody binds its first name.
    Unbound(String),
    /// Another cell binds it to what could do this.
    Leads(String, Danger),
}

impl Meaning {
    /// The path, if it is of a module and not known.
    pub(super) fn unknown(&self) -> Option<&str> {
        if let Self::Unknown(path) = self { Some(path) } else { None }
    }
}

pub(crate) struct Found {
    pub(super) danger: Danger,
    /// Whether what the expression gives may be more than data.
    pub(super) taints: bool,
}

pub(crate) struct Scope<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) is_class: bool,
}

/// Modules known by none of whose answers is data: what they give can be anything.
pub(super) static GIVE_ANYTHING: Words =
    Words::of("builtins. io. functools. operator. types. sys. gc. inspect. typing. copy. weakref.");
const MAX_FOLLOWED: usize = 40;
/// Names of one dotted name.
const MAX_NAMES: usize = 60;
/// Calls that only look at a module.
pub(crate) const LOOKS: &[&str] = &["print", "help", "dir", "repr", "str", "type"];

pub(crate) struct Checker<'a> {
    pub(crate) globals: &'a Globals<'a>,
    pub(crate) lines: Lines,
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) classes: Vec<&'a StmtClassDef>,
    pub(crate) found: Vec<Found>,
    /// Names that nobody binds are columns.
    pub(crate) is_text: bool,
    /// Texts in texts around it.
    pub(crate) nesting: usize,
    pub(crate) depth: usize,
    /// The places of calls whose answer is shown or compared, and not kept.
    pub(crate) looked_at: BTreeSet<usize>,
    /// Inside of a method that makes what a page shows.
    pub(crate) is_shown: bool,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(globals: &'a Globals<'a>, lines: Lines) -> Self {
        Self {
            globals,
            lines,
            scopes: Vec::new(),
            classes: Vec::new(),
            found: Vec::new(),
            is_text: false,
            nesting: 0,
            depth: 0,
            looked_at: BTreeSet::new(),
            is_shown: false,
        }
    }

    pub(crate) fn into_findings(self, findings: &mut Findings) {
        for Found { danger, .. } in self.found {
            let line = danger.lines.first().copied().unwrap_or(1);
            findings.insert(danger.rule, &danger.found, danger.through, line);
        }
    }

    pub(crate) fn add(&mut self, rule: DangerRule, found: &str, node: &impl Ranged, taints: bool) {
        let line = self.lines.at(node.start().to_usize());
        let danger = Danger { rule, found: found.to_owned(), lines: vec![line], through: None };
        self.found.push(Found { danger, taints });
    }

    // --- names ---

    /// What a name is bound to where the walk stands; `None`: it is a module's, or nothing is known. What is in it may have been
    /// changed elsewhere: then `What::Nothing` is among it.
    pub(crate) fn bound(&self, name: &str) -> Option<Vec<What<'a>>> {
        let mut bound = self.bindings(name)?;
        if bound.iter().any(|what| self.globals.shared.may_change(name, what, &self.globals.attributes)) {
            bound.push(What::Nothing);
        }
        Some(bound)
    }

    /// As [`Self::bound`], whatever became of what is in it.
    pub(crate) fn bindings(&self, name: &str) -> Option<Vec<What<'a>>> {
        let names = match self.scope_of(name) {
            Some(scope) => &scope.names,
            None => &self.globals.names,
        };
        if names.imports.contains_key(name) || self.scope_of(name).is_none() && self.is_more_than_own(name) {
            return None;
        }
        let mut bound: Vec<What<'a>> = names.values.get(name)?.iter().map(|(_, what)| *what).collect();
        if self.globals.shared.is_rebound(name) {
            bound.push(What::Nothing);
        }
        Some(bound)
    }

    fn is_more_than_own(&self, name: &str) -> bool {
        builtins::OTHERS.has(name) || !self.starred(name).is_empty()
    }

    fn scope_of(&self, name: &str) -> Option<&Scope<'a>> {
        let mut is_inner = true;
        for scope in self.scopes.iter().rev() {
            if scope.names.elsewhere.contains(name) {
                return None;
            }
            if (is_inner || !scope.is_class) && scope.names.has(name) {
                return Some(scope);
            }
            is_inner &= scope.is_class;
        }
        None
    }

    /// The paths of the name in modules that are imported with a star.
    fn starred(&self, name: &str) -> Vec<String> {
        let has = |module: &str| {
            known::members(module).any(|member| member == name)
                || table::is_module(module) && table::rule_of(&format!("{module}.{name}")).is_some()
        };
        let modules = self.globals.names.stars.iter().filter(|module| self.globals.budget.spend(1) && has(module));
        modules.map(|module| format!("{module}.{name}")).collect()
    }

    fn of_name(&self, name: &str) -> Vec<Meaning> {
        let scope = self.scope_of(name);
        let mut meanings: Vec<Meaning> = scope.into_iter().flat_map(|scope| of_imports(&scope.names, name)).collect();
        if let Some(scope) = scope.filter(|scope| !scope.is_class) {
            meanings.extend(scope.names.values.contains_key(name).then_some(Meaning::Data));
            return meanings;
        }
        meanings.extend(of_imports(&self.globals.names, name));
        meanings.extend(self.starred(name).iter().map(|path| of_path(path)));
        if rules::HIDDEN_BY_STARS.has(name) {
            let stars = self.globals.names.stars.iter();
            meanings.extend(stars.map(|module| Meaning::Unknown(format!("{module}.{name}"))));
        }
        if builtins::OTHERS.has(name) {
            meanings.push(of_path(&format!("builtins.{name}")));
        }
        if builtins::HARMLESS.has(name) {
            meanings.push(Meaning::Member(format!("builtins.{name}")));
        }
        meanings.extend(self.of_values(name));
        if let Some(grade) = self.globals.registered.get(name) {
            let rule = if *grade == Grade::Destructive { RegisteredDestructive } else { RegisteredSensitive };
            let danger = Danger { rule, found: name.to_owned(), lines: Vec::new(), through: None };
            meanings.push(Meaning::Leads(name.to_owned(), danger));
        }
        if meanings.is_empty() {
            let is_data = self.is_text
                || self.scope_of(name).is_some()
                // A type that was shown can be called from there.
                || is_history(name) && !self.globals.mentions.asks_types
                || self.globals.vouched.contains(name);
            meanings.push(if is_data { Meaning::Data } else { Meaning::Unbound(name.to_owned()) });
            // What nobody imports here may have been imported by code that no cell shows any more.
            if table::is_never_handed_on(name) || !is_data && table::is_module(name) {
                meanings.push(of_path(name));
            }
        }
        meanings
    }

    /// What other cells make of a global name, and that it is a value.
    fn of_values(&self, name: &str) -> Vec<Meaning> {
        let Some(bound) = self.globals.names.values.get(name) else { return Vec::new() };
        if self.globals.vouched.contains(name) {
            return vec![Meaning::Data];
        }
        // Names bound to names a hundred times each: bounded by the budget, and then nothing passes.
        if !self.globals.budget.spend(10 + bound.len()) {
            return Vec::new();
        }
        let is_bound = bound.iter().any(|(_, what)| !matches!(what, What::Inserted(_)));
        let mut meanings: Vec<Meaning> = is_bound.then_some(Meaning::Data).into_iter().collect();
        for (cell, what) in bound {
            if *cell < self.globals.judged_from
                && let Some(danger) = self.leads_to(*what, false)
            {
                meanings.push(Meaning::Leads(name.to_owned(), danger));
                break;
            }
            // `read = pd.read_csv`: what is set on it is set on the library.
            if let What::Value(value @ (Expr::Attribute(_) | Expr::Name(_))) = what
                && self.globals.following.get() < 4
            {
                self.globals.following.set(self.globals.following.get() + 1);
                let followed = self.outside().path(value);
                self.globals.following.set(self.globals.following.get() - 1);
                meanings.dedup();
                meanings.extend(
                    followed.into_iter().filter(|meaning| matches!(meaning, Meaning::Member(_) | Meaning::Module(_))),
                );
            }
        }
        meanings
    }

    /// The same notebook, in no function.
    fn outside(&self) -> Checker<'a> {
        Checker::new(self.globals, Lines::of("", 1))
    }

    /// The first thing that a definition of a cell that is not judged could do. Cycles are harmless by themselves. What is set on
    /// an object may be what the function around it was given.
    pub(super) fn leads_to(&self, what: What<'a>, is_of_object: bool) -> Option<Danger> {
        let (key, is_value) = match what {
            What::Value(value) | What::Part(value) | What::Inserted(value) => (std::ptr::from_ref(value).addr(), true),
            What::Function(function) => (std::ptr::from_ref(function).addr(), false),
            What::Class(class) => (std::ptr::from_ref(class).addr(), false),
            What::Nothing | What::Keywords => return None,
        };
        if let Some(known) = self.globals.found.borrow().get(&key) {
            return known.clone();
        }
        if self.globals.following.get() > MAX_FOLLOWED || !self.globals.budget.spend(50) {
            return Some(Danger { rule: NotChecked, found: "This code".to_owned(), lines: vec![1], through: None });
        }
        self.globals.found.borrow_mut().insert(key, None);
        self.globals.following.set(self.globals.following.get() + 1);
        let mut checker = self.outside();
        checker.is_text = is_of_object && is_value;
        match what {
            What::Value(value) | What::Part(value) | What::Inserted(value) => checker.visit_expr(value),
            What::Function(function) => checker.function(function),
            What::Class(class) => checker.class(class),
            What::Nothing | What::Keywords => {}
        }
        self.globals.following.set(self.globals.following.get() - 1);
        let mut found = checker.found.into_iter().filter(|found| !is_value || found.taints).map(|found| found.danger);
        let first = found.next();
        let worst = first.map(|first| found.fold(first, |one, two| if two.grade() < one.grade() { two } else { one }));
        self.globals.found.borrow_mut().insert(key, worst.clone());
        worst
    }

    // --- dotted names ---

    /// What a name or an attribute stands for; nothing for other expressions.
    pub(crate) fn path(&self, expression: &Expr) -> Vec<Meaning> {
        let (mut names, mut base) = (Vec::new(), expression);
        while let Expr::Attribute(attribute) = base {
            names.push(attribute.attr.as_str());
            base = &attribute.value;
            if names.len() > MAX_NAMES || !self.globals.budget.spend(1) {
                return vec![Meaning::Unknown("this code".to_owned())];
            }
        }
        let meanings = match base {
            Expr::Name(name) => self.of_name(name.id.as_str()),
            Expr::Call(call) if !names.is_empty() => self.of_namespace(call).into_iter().collect(),
            _ => return Vec::new(),
        };
        let follow = |meaning| names.iter().rev().fold(meaning, |base, name| self.step(base, name));
        meanings.into_iter().map(follow).collect()
    }

    /// `globals()`, `get_ipython()`, `import_module('os')`: what they give is looked up by its dotted name.
    pub(super) fn of_namespace(&self, call: &ExprCall) -> Option<Meaning> {
        let is_short = match &*call.func {
            Expr::Attribute(attribute) => attribute.value.is_name_expr(),
            func => func.is_name_expr(),
        };
        let named = || {
            call.arguments.args.first().and_then(|name| self.texts(name, 0)).and_then(|names| names.into_iter().next())
        };
        let given = |meaning| match meaning {
            Meaning::Ruled(path, Rule::Namespace | Rule::Magic) => {
                Some(format!("{}()", path.rsplit('.').next().unwrap_or_default()))
            }
            Meaning::Ruled(_, Rule::Imports) => named().map(|module| format!("import_module().{module}")),
            Meaning::Unknown(path) if path == "builtins.vars" && call.arguments.is_empty() => {
                Some("globals()".to_owned())
            }
            _ => None,
        };
        let meanings = if is_short { self.path(&call.func) } else { Vec::new() };
        meanings.into_iter().find_map(given).map(Meaning::Unknown)
    }

    pub(crate) fn step(&self, base: Meaning, name: &str) -> Meaning {
        match base {
            Meaning::Module(module) => of_path(&format!("{module}.{name}")),
            Meaning::Unknown(path) => match of_path(&format!("{path}.{name}")) {
                // A setting that only looks, and what is below it, is looked up by its whole path.
                known @ (Meaning::Ruled(..) | Meaning::Member(_)) => known,
                _ => Meaning::Unknown(format!("{path}.{name}")),
            },
            Meaning::Member(path) if path == "sys.stdout" || path == "sys.stderr" => match name {
                "write" | "writelines" | "flush" | "encoding" | "isatty" | "errors" | "closed" => Meaning::Attribute,
                _ => Meaning::Unknown(format!("{path}.{name}")),
            },
            Meaning::Data | Meaning::Member(_) | Meaning::Attribute | Meaning::Ruled(..) => Meaning::Attribute,
            Meaning::Unbound(path) => Meaning::Unbound(format!("{path}.{name}")),
            other @ Meaning::Leads(..) => other,
        }
    }

    /// Judges a name or attribute that is called, or handed on.
    pub(crate) fn usage(&mut self, expression: &'a Expr, call: Option<&'a ExprCall>, is_base: bool) {
        let meanings = self.path(expression);
        if let Expr::Attribute(attribute) = expression
            && (meanings.is_empty() || meanings.contains(&Meaning::Attribute))
        {
            self.attribute(attribute, call);
            if !attribute.attr.starts_with("__") || is_of_class(attribute.attr.as_str()) {
                self.look_at(&attribute.value);
            }
            self.base(without_class(attribute));
        }
        for meaning in meanings {
            match (meaning, call) {
                (Meaning::Data | Meaning::Attribute, _) => {}
                (Meaning::Member(path), call) => self.told_member(&path, expression, call, is_base),
                (Meaning::Module(path), _) => {
                    if !is_base {
                        let rule = if table::is_never_handed_on(&path) { HiddenCode } else { HandedOn };
                        self.add(rule, &path, expression, true);
                    }
                }
                (Meaning::Ruled(path, rule), Some(call)) => self.ruled(rule, &path, call),
                (Meaning::Ruled(path, Rule::Magic), None) if is_base => {
                    self.add(Internals, spoken(&path), expression, true)
                }
                (Meaning::Ruled(path, rule), None) => {
                    if !matches!(rule, Rule::Place) || !is_base {
                        self.add(rule.handed_on(), spoken(&path), expression, true);
                    }
                }
                (Meaning::Unknown(path), _) => self.unknown(&path, UnknownFunction, expression, call),
                (Meaning::Unbound(path), _) => self.unknown(&path, UnknownName, expression, call),
                (Meaning::Leads(name, danger), _) => {
                    let line = self.lines.at(expression.start().to_usize());
                    let through = (danger.found != name).then_some(name);
                    let danger = Danger { lines: vec![line], through, ..danger };
                    self.found.push(Found { danger, taints: true });
                }
            }
        }
    }

    /// What an attribute is taken of.
    pub(super) fn base(&mut self, base: &'a Expr) {
        match base {
            Expr::Name(_) | Expr::Attribute(_) => self.usage(base, None, true),
            base => self.visit_expr(base),
        }
    }

    /// What is only shown or compared: nobody can call it later.
    pub(crate) fn look_at(&mut self, expression: &Expr) {
        match expression {
            Expr::Call(call) => _ = self.looked_at.insert(std::ptr::from_ref(call).addr()),
            Expr::ListComp(list) => self.look_at(&list.elt),
            Expr::Generator(generator) => self.look_at(&generator.elt),
            other => super::scope::elements(other).into_iter().flatten().for_each(|part| self.look_at(part)),
        }
    }

    pub(crate) fn is_looked_at(&self, call: &ExprCall) -> bool {
        self.looked_at.contains(&std::ptr::from_ref(call).addr())
    }
}

/// Of `x.__class__.__name__` the `x`: the class is only asked for its name.
fn without_class(attribute: &ExprAttribute) -> &Expr {
    match &*attribute.value {
        Expr::Attribute(class) if class.attr.as_str() == "__class__" && is_of_class(attribute.attr.as_str()) => {
            &class.value
        }
        base => base,
    }
}

fn of_imports(names: &Names<'_>, name: &str) -> impl Iterator<Item = Meaning> {
    names.imports.get(name).into_iter().flatten().map(|path| of_path(path))
}

/// What a dotted name of a module stands for.
pub(crate) fn of_path(path: &str) -> Meaning {
    if known::is_module(path) {
        return Meaning::Module(path.to_owned());
    }
    if let Some(rule) = rules::of(path) {
        return Meaning::Ruled(path.to_owned(), rule);
    }
    if path.strip_suffix(".__version__").is_some_and(known::is_module) {
        return Meaning::Member(path.to_owned());
    }
    if path.starts_with("pandas.options.display.") || path.starts_with("pandas.options.mode.") {
        return Meaning::Member(path.to_owned());
    }
    let known = path.rsplit_once('.').and_then(|(module, name)| match module {
        "builtins" => builtins::HARMLESS.has(name).then_some(Member::Harmless),
        _ => known::member(module, name),
    });
    match known {
        Some(Member::Harmless) => Meaning::Member(path.to_owned()),
        Some(Member::Module(module)) => Meaning::Module(module),
        None => Meaning::Unknown(path.to_owned()),
    }
}

fn is_of_class(attribute: &str) -> bool {
    matches!(attribute, "__name__" | "__qualname__" | "__module__" | "__doc__")
}

/// `_`, `_12`, `Out`: what IPython keeps of earlier answers.
fn is_history(name: &str) -> bool {
    matches!(name, "Out")
        || name.starts_with('_') && name.trim_start_matches('_').chars().all(|found| found.is_ascii_digit())
}

/// A dotted name as people write it.
pub(crate) fn spoken(path: &str) -> &str {
    path.strip_prefix("builtins.").unwrap_or(path)
}
