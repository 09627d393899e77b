//! Walks a cell's Python and collects warnings.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, IpyEscapeKind, Pattern, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::bindings::{Bindings, Path, literal};
use super::{CodeContext, list, magics, shell};
use crate::findings::{Findings, LineNumbers};
use crate::python::MAX_DEPTH;
use crate::rules::DangerRule::{self, *};
use crate::rules::Grade;

pub(super) struct WarningWalker<'a> {
    bindings: &'a Bindings,
    /// Variables that people's cells made.
    people: &'a BTreeSet<String>,
    around: CodeContext<'a>,
    lines: LineNumbers,
    pub(super) findings: Findings,
    depth: usize,
    /// Functions and classes around the present node.
    definitions: usize,
}

impl<'a> WarningWalker<'a> {
    pub(super) fn new(
        bindings: &'a Bindings,
        people: &'a BTreeSet<String>,
        around: CodeContext<'a>,
        lines: LineNumbers,
        findings: Findings,
    ) -> Self {
        Self { bindings, people, around, lines, findings, depth: 0, definitions: 0 }
    }

    fn add(&mut self, rule: DangerRule, words: &str, node: &impl Ranged) {
        let line = self.lines.at(node.start().to_usize());
        self.findings.add(rule, words, line);
    }

    fn deeper(&mut self, node: &impl Ranged, visit: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            return self.add(TooNested, "This code", node);
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.store(target, Some(&assign.value)));
                visitor::walk_stmt(self, statement);
            }
            Stmt::AnnAssign(assign) if assign.value.is_some() => {
                self.store(&assign.target, assign.value.as_deref());
                visitor::walk_stmt(self, statement);
            }
            Stmt::AugAssign(assign) => {
                self.store(&assign.target, Some(&assign.value));
                visitor::walk_stmt(self, statement);
            }
            Stmt::Delete(delete) => {
                delete.targets.iter().for_each(|target| self.delete(target));
                visitor::walk_stmt(self, statement);
            }
            Stmt::FunctionDef(function) => self.function(function, statement),
            Stmt::ClassDef(class) => {
                self.replace(class.name.as_str(), class);
                self.inside(|walker| visitor::walk_stmt(walker, statement));
            }
            Stmt::IpyEscapeCommand(escape) => self.escape(escape.kind, &escape.value, escape),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.definitions += 1;
        visit(self);
        self.definitions -= 1;
    }

    fn function(&mut self, function: &StmtFunctionDef, statement: &Stmt) {
        self.replace(function.name.as_str(), function);
        if function.name.as_str() == "__del__" {
            self.add(RunsLater, "__del__", function);
        }
        if !(self.around.registers && self.is_registered(function)) {
            return self.inside(|walker| visitor::walk_stmt(walker, statement));
        }
        // The body does not run, but decorators, defaults and annotations do.
        function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        self.visit_parameters(&function.parameters);
        function.returns.iter().for_each(|returns| self.visit_annotation(returns));
    }

    /// Checks that `@notarium.tool` and nothing else stands above it.
    fn is_registered(&self, function: &StmtFunctionDef) -> bool {
        let is_tool = |expression: &Expr| {
            let path = self.bindings.path(expression);
            path.is_some_and(|path| path.is_library && matches!(&*path.text, "notarium.tool" | "notarium.tool()"))
        };
        !function.decorator_list.is_empty() && function.decorator_list.iter().all(|one| is_tool(&one.expression))
    }

    fn store(&mut self, target: &Expr, value: Option<&Expr>) {
        match target {
            Expr::Name(name) => self.replace(name.id.as_str(), name),
            Expr::Tuple(tuple) => self.each(&tuple.elts, |walker, target| walker.store(target, value)),
            Expr::List(list) => self.each(&list.elts, |walker, target| walker.store(target, value)),
            Expr::Starred(starred) => self.store(&starred.value, value),
            Expr::Attribute(attribute) if attribute.attr.as_str() == "__del__" => {
                self.add(RunsLater, "__del__", attribute);
            }
            Expr::Attribute(attribute) => {
                if let Some(owner) = self.bindings.path(&attribute.value).filter(Path::is_shared) {
                    let path = format!("{}.{}", owner.text, attribute.attr);
                    // A setting: `pd.options.display.max_rows = 5`, `Image.MAX_IMAGE_PIXELS = None`.
                    let is_setting = list::holds_settings(&path) || value.is_some_and(|value| is_plain(value, 0));
                    if !is_setting || owner.text == "builtins" {
                        self.add(ChangesLibrary, &path, attribute);
                    }
                }
            }
            Expr::Subscript(subscript) => match (self.bindings.path(&subscript.value), literal(&subscript.slice)) {
                (Some(place), Some(key)) if place.text == "globals()" => self.replace(key, subscript),
                (Some(place), _) if is_namespace(&place) => self.add(ChangesLibrary, &place.text, subscript),
                _ => {}
            },
            _ => {}
        }
    }

    fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) if self.definitions == 0 && self.people.contains(name.id.as_str()) => {
                self.add(DeletesVariable, name.id.as_str(), name);
            }
            Expr::Tuple(tuple) => self.each(&tuple.elts, Self::delete),
            Expr::List(list) => self.each(&list.elts, Self::delete),
            Expr::Attribute(attribute) => {
                if let Some(owner) = self.bindings.path(&attribute.value).filter(Path::is_shared) {
                    self.add(ChangesLibrary, &format!("{}.{}", owner.text, attribute.attr), attribute);
                }
            }
            Expr::Subscript(subscript) => match self.bindings.path(&subscript.value) {
                Some(place) if place.text == "globals()" => self.add(ClearsVariables, "del globals()[…]", subscript),
                Some(place) if is_namespace(&place) => self.add(ChangesLibrary, &place.text, subscript),
                _ => {}
            },
            _ => {}
        }
    }

    fn each(&mut self, targets: &[Expr], visit: impl Fn(&mut Self, &Expr)) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            targets.iter().for_each(|target| visit(self, target));
            self.depth -= 1;
        }
    }

    /// A name of the module is bound anew.
    fn replace(&mut self, name: &str, node: &impl Ranged) {
        if self.definitions == 0 && self.people.contains(name) && !name.starts_with('_') {
            self.add(ReplacesVariable, name, node);
        }
    }

    /// True: the words are found, and their parts need no look.
    fn mention(&mut self, expression: &Expr) -> bool {
        let path = self.bindings.path(expression);
        let rule = path.as_ref().and_then(|path| list::rule_of(&path.text));
        let attribute = expression.as_attribute_expr().map(|attribute| attribute.attr.as_str());
        let rule = rule.or_else(|| attribute.and_then(list::rule_of_attribute));
        let words = path.map(|path| path.text).or_else(|| attribute.map(str::to_owned)).unwrap_or_default();
        let words = words.strip_prefix("builtins.").unwrap_or(&words);
        rule.into_iter().for_each(|rule| self.add(rule, words, expression));
        rule.is_some()
    }

    fn registered(&mut self, name: &str, node: &impl Ranged) {
        let known = self.around.registered.iter().find(|(known, _)| *known == name);
        match known.and_then(|(_, grade)| *grade) {
            Some(Grade::Destructive) => self.add(RegisteredDestructive, name, node),
            Some(Grade::Unknown) => self.add(RegisteredSensitive, name, node),
            None => {}
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let Some(function) = self.bindings.path(&call.func) else { return };
        let arguments = &*call.arguments.args;
        let shared = |at: usize| arguments.get(at).and_then(|owner| self.bindings.path(owner)).filter(Path::is_shared);
        match function.text.as_str() {
            "setattr" | "delattr" | "builtins.setattr" | "type.__setattr__" => {
                if let Some(owner) = shared(0)
                    && (owner.text == "builtins" || !arguments.get(2).is_some_and(|value| is_plain(value, 0)))
                {
                    self.add(ChangesLibrary, &format!("{}({}, …)", function.text, owner.text), call);
                }
            }
            "get_ipython().run_line_magic" | "get_ipython().run_cell_magic" | "get_ipython().magic" => {
                let words: Vec<&str> = arguments.iter().filter_map(literal).collect();
                self.magic(&words.join(" "), call);
            }
            "get_ipython().system" | "get_ipython().getoutput" | "get_ipython().system_raw" => {
                let line = arguments.first().and_then(literal).unwrap_or_default();
                shell::rule_of(line).into_iter().for_each(|rule| self.add(rule, line, call));
            }
            text => {
                let changes = [".__setattr__", ".__delattr__", ".__dict__.update", ".__dict__.pop", ".__dict__.clear"];
                let changes = changes.iter().chain(&[".__dict__.setdefault", ".__dict__.__setitem__"]);
                if function.is_shared() && changes.into_iter().any(|end| text.ends_with(end)) {
                    self.add(ChangesLibrary, text, call);
                }
            }
        }
    }

    fn magic(&mut self, line: &str, node: &impl Ranged) {
        magics::of_line(line).into_iter().for_each(|(rule, words)| self.add(rule, &words, node));
    }

    fn escape(&mut self, kind: IpyEscapeKind, value: &str, node: &impl Ranged) {
        match kind {
            IpyEscapeKind::Shell | IpyEscapeKind::ShCap => {
                shell::rule_of(value).into_iter().for_each(|rule| self.add(rule, &format!("!{value}"), node));
            }
            IpyEscapeKind::Magic | IpyEscapeKind::Magic2 => self.magic(value, node),
            // `/f a` and `,f a` call `f`.
            IpyEscapeKind::Quote | IpyEscapeKind::Quote2 | IpyEscapeKind::Paren => {
                let name = value.split_whitespace().next().unwrap_or_default();
                let path = if matches!(name, "exit" | "quit") { format!("builtins.{name}") } else { name.to_owned() };
                list::rule_of(&path).into_iter().for_each(|rule| self.add(rule, name, node));
            }
            // `np.sin?` shows a documentation.
            IpyEscapeKind::Help | IpyEscapeKind::Help2 => {}
        }
    }
}

impl<'a> Visitor<'a> for WarningWalker<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(statement, |walker| walker.statement(statement));
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(expression, |walker| {
            let is_found = match expression {
                Expr::Name(name) if name.ctx.is_load() => {
                    walker.registered(name.id.as_str(), name);
                    walker.mention(expression)
                }
                Expr::Attribute(attribute) if attribute.ctx.is_load() => walker.mention(expression),
                Expr::Subscript(subscript) if subscript.ctx.is_load() => walker.mention(expression),
                Expr::Call(call) => {
                    walker.call(call);
                    // `getattr(os, 'abort')` is a name, `f()` is none.
                    let path = walker.bindings.path(expression);
                    path.is_some_and(|path| !path.text.ends_with("()")) && walker.mention(expression)
                }
                Expr::IpyEscapeCommand(escape) => {
                    walker.escape(escape.kind, &escape.value, escape);
                    true
                }
                _ => false,
            };
            if !is_found {
                visitor::walk_expr(walker, expression);
            }
        });
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(pattern, |walker| visitor::walk_pattern(walker, pattern));
    }
}

/// Checks that names of a module, or the modules themselves, are kept there.
fn is_namespace(place: &Path) -> bool {
    let is_modules = place.text == "builtins" || place.text.ends_with("sys.modules");
    place.is_shared() && (is_modules || place.text.ends_with(".__dict__"))
}

/// Checks that a value is written out: numbers, texts, and collections of them.
fn is_plain(value: &Expr, depth: usize) -> bool {
    let are_plain = |values: &[Expr]| depth < 8 && values.iter().all(|value| is_plain(value, depth + 1));
    match value {
        Expr::Tuple(tuple) => are_plain(&tuple.elts),
        Expr::List(list) => are_plain(&list.elts),
        Expr::Dict(dict) => depth < 8 && dict.items.iter().all(|item| is_plain(&item.value, depth + 1)),
        Expr::UnaryOp(unary) => depth < 8 && is_plain(&unary.operand, depth + 1),
        _ => value.is_literal_expr(),
    }
}
