//! Python cells: parsed as IPython reads them, then walked once for what the names stand for and once for what is done with
//! them.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, CmpOp, Expr, ExprContext, ExprSubscript, ModModule, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::{Ranged, TextSize};

use crate::bindings::{Bindings, Meanings, literal};
use crate::{DangerRule, Findings, Lines, magics, table};

/// How deep the walk goes; deeper code is a danger of its own. Real cells stay below 60.
pub(crate) const MAX_DEPTH: usize = 300;
/// Code in a string in code in a string … is followed so far.
const MAX_NESTED_SOURCES: usize = 3;
/// Stack that one byte of hostile code may cost: a tree as deep as the text is long must be dropped again (measured, debug
/// build).
const STACK_BYTES_PER_BYTE: usize = 1_024;
/// Strings with fields in one source: the parser's time grows with the square of how deep they are nested.
const MAX_FIELD_STRINGS: usize = 1_500;
/// What code in code costs beside its length.
const BYTES_OF_INNER: usize = 100;
const LEAST_STACK_BYTES: usize = 512 << 10;

/// Judges a cell after the cells that ran before it.
pub(crate) fn check_cells(earlier: &[&str], codes: &[&str], findings: &mut [Findings]) {
    let all = || earlier.iter().chain(codes).filter(|source| source.len() <= crate::MAX_CHECKED_BYTES);
    let longest = all().map(|source| source.len()).max().unwrap_or(0);
    with_stack(longest, || {
        let mut bindings = Bindings::default();
        // A piece that stands alone finds its own names by itself.
        let others = if codes.len() == 1 { earlier.len() } else { usize::MAX };
        let cells: Vec<Parsed<ModModule>> =
            all().take(others).filter_map(|source| parse(&magics::plain(source))).collect();
        cells.iter().for_each(|cell| bindings.collect(&cell.syntax().body));
        let inherited = Source { bindings: Rc::new(bindings), depth: 0 };
        for (code, findings) in codes.iter().zip(findings.iter_mut()) {
            if !findings.is_too_long(code) {
                magics::check_cell(code, &inherited, findings);
            }
        }
        if inherited.bindings.budget.is_spent() {
            findings.iter_mut().for_each(|findings| findings.add(DangerRule::NotChecked, "This code", 1));
        }
    });
}

/// Runs what parses, walks and drops the tree of a text of this length: on a stack that is large enough for the deepest
/// tree it could make.
pub(crate) fn with_stack<T>(source_bytes: usize, work: impl FnOnce() -> T) -> T {
    let stack = source_bytes * STACK_BYTES_PER_BYTE + LEAST_STACK_BYTES;
    stacker::maybe_grow(stack, stack * 2, work)
}

/// What a source inherits from the one it stands in.
pub(crate) struct Source {
    pub(crate) bindings: Rc<Bindings>,
    depth: usize,
}

impl Source {
    /// Judges Python whose first line has the number `line`.
    pub(crate) fn check(&self, code: &str, line: u32, findings: &mut Findings) {
        let Some(parsed) = parse(code) else {
            return findings.add(DangerRule::NotChecked, "This code", line);
        };
        let lines = Lines::of(code, line);
        if let Some(error) = parsed.errors().first() {
            findings.add(DangerRule::DoesNotParse, "This code", lines.at(error.location.start().to_usize()));
        }
        let mut bindings = Bindings::inside(&self.bindings);
        bindings.collect(&parsed.syntax().body);
        let source = Source { bindings: Rc::new(bindings), depth: self.depth };
        Checker::new(&source, lines, findings).visit_body(&parsed.syntax().body);
    }

    /// Judges code that stands in a line of this one: a magic's line, a literal that is run.
    pub(crate) fn check_inside(&self, code: &str, line: u32, findings: &mut Findings) {
        if self.depth >= MAX_NESTED_SOURCES {
            findings.add(DangerRule::TooNested, "Code in code", line);
            return;
        }
        // It is parsed, and walked once or twice.
        if !self.bindings.budget.spend(BYTES_OF_INNER + code.len()) {
            return;
        }
        let inner = Source { bindings: self.bindings.clone(), depth: self.depth + 1 };
        let mut found = Findings::default();
        magics::check_cell(code, &inner, &mut found);
        for (rule, by_words) in found.0 {
            by_words.keys().for_each(|(words, _)| findings.add(rule, words, line));
        }
    }
}

/// `None` where it would take too long, and where the parser itself gives up: it has states that it takes to be impossible
/// and that a hostile text reaches (found by the property test: `&{'']os]await \r,`).
pub(crate) fn parse(code: &str) -> Option<Parsed<ModModule>> {
    let quotes =
        code.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_alphabetic() && matches!(pair[1], b'"' | b'\''));
    if quotes.count() > MAX_FIELD_STRINGS {
        return None;
    }
    let parse = || parse_unchecked(code, ParseOptions::from(Mode::Ipython)).try_into_module();
    std::panic::catch_unwind(parse).ok().flatten()
}

/// Whether it is Python without errors.
pub(crate) fn is_valid(code: &str) -> bool {
    parse(code).is_some_and(|parsed| parsed.has_valid_syntax())
}

pub(crate) struct Checker<'s, 'f> {
    pub(crate) source: &'s Source,
    lines: Lines,
    pub(crate) findings: &'f mut Findings,
    depth: usize,
    /// Where expressions stand that are called, or bound to a name: their meaning is followed from there.
    followed: BTreeSet<TextSize>,
}

impl<'a> Visitor<'a> for Checker<'_, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(statement.start().to_usize(), |checker| {
            match statement {
                Stmt::IpyEscapeCommand(escape) => {
                    let line = checker.line(escape);
                    magics::check_escape(escape.kind, &escape.value, line, checker.source, checker.findings);
                }
                Stmt::Import(import) => {
                    import.names.iter().for_each(|alias| checker.import(alias.name.as_str(), alias))
                }
                Stmt::ImportFrom(import) => checker.import_from(import),
                Stmt::Assign(assign) if assign.targets.iter().all(Expr::is_name_expr) => checker.follow(&assign.value),
                _ => {}
            }
            visitor::walk_stmt(checker, statement);
        });
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(expression.start().to_usize(), |checker| checker.expression(expression));
    }
}

impl<'s, 'f> Checker<'s, 'f> {
    fn new(source: &'s Source, lines: Lines, findings: &'f mut Findings) -> Self {
        Self { source, lines, findings, depth: 0, followed: BTreeSet::new() }
    }

    fn deeper(&mut self, offset: usize, visit: impl FnOnce(&mut Self)) {
        if self.source.bindings.budget.is_spent() {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.findings.add(DangerRule::TooNested, "This code", self.lines.at(offset));
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    pub(crate) fn line(&self, node: &impl Ranged) -> u32 {
        self.lines.at(node.start().to_usize())
    }

    pub(crate) fn add(&mut self, rule: DangerRule, found: &str, node: &impl Ranged) {
        let line = self.line(node);
        self.findings.add(rule, found, line);
    }

    pub(crate) fn meanings(&self, expression: &Expr) -> Meanings {
        self.source.bindings.meanings(expression)
    }

    pub(crate) fn means(&self, expression: &Expr, path: &str) -> bool {
        self.meanings(expression).contains(path)
    }

    // --- imports ---

    fn import(&mut self, module: &str, alias: &Alias) {
        let parents = module.match_indices('.').map(|(at, _)| &module[..at]).chain(std::iter::once(module));
        for parent in parents {
            if let Some(rule) = table::module_rule(parent) {
                self.add(rule, &format!("import {module}"), alias);
            }
        }
    }

    fn import_from(&mut self, import: &ruff_python_ast::StmtImportFrom) {
        let Some(module) = &import.module else { return };
        for alias in &import.names {
            let path = format!("{module}.{}", alias.name);
            self.import(module.as_str(), alias);
            if let Some(rule) = table::rule_of(&path) {
                self.add(rule, &path, alias);
            }
        }
    }

    // --- expressions ---

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::IpyEscapeCommand(escape) => {
                let line = self.line(escape);
                magics::check_escape(escape.kind, &escape.value, line, self.source, self.findings);
            }
            Expr::Call(call) => {
                self.follow(&call.func);
                self.call(call);
            }
            Expr::Named(named) => self.follow(&named.value),
            Expr::Subscript(subscript) if self.subscript(subscript) => return,
            Expr::Compare(compare) if compare.ops.iter().all(|op| matches!(op, CmpOp::In | CmpOp::NotIn)) => {
                self.visit_expr(&compare.left);
                let others = compare.comparators.iter().filter(|place| !self.is_asked_only(place)).collect::<Vec<_>>();
                others.into_iter().for_each(|place| self.visit_expr(place));
                return;
            }
            Expr::Attribute(attribute) => {
                if table::is_internal(attribute.attr.as_str()) {
                    self.add(DangerRule::Internals, attribute.attr.as_str(), attribute);
                }
                self.mention(expression);
                self.hand_on(expression, attribute.attr.as_str());
                if self.is_environment_write(attribute) {
                    return;
                }
            }
            Expr::Name(name) if matches!(name.ctx, ExprContext::Load) => {
                self.mention(expression);
                self.hand_on(expression, name.id.as_str());
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    /// A name of the table, wherever it is mentioned.
    fn mention(&mut self, expression: &Expr) {
        for path in self.meanings(expression) {
            if let Some(rule) = table::rule_of(&path) {
                self.add(rule, spoken(&path), expression);
            } else if path == "os.environ" {
                self.add(DangerRule::SecretRead, &path, expression);
            }
        }
    }

    /// Names that this expression stands for and that are followed from here on: `f` of `f(x)`, `a` and `b` of
    /// `o = a if c else b`.
    fn follow(&mut self, expression: &Expr) {
        match expression {
            Expr::Name(_) | Expr::Attribute(_) => _ = self.followed.insert(expression.end()),
            Expr::If(choice) => [&choice.body, &choice.orelse].into_iter().for_each(|side| self.follow(side)),
            Expr::BoolOp(operation) => operation.values.iter().for_each(|side| self.follow(side)),
            _ => {}
        }
    }

    /// A function that is judged by its arguments, handed to who calls it with arguments that nobody sees:
    /// `map(open, names, modes)`.
    fn hand_on(&mut self, expression: &Expr, name: &str) {
        if self.followed.contains(&expression.end()) {
            return;
        }
        let meanings = self.meanings(expression);
        let is_own = expression.is_name_expr() && self.source.bindings.is_own(name);
        for path in meanings.iter().filter(|_| !is_own) {
            if let Some(rule) = table::rule_of_handed(path) {
                self.add(rule, spoken(path), expression);
            }
        }
        if let Some(rule) = table::rule_of_handed_method(name).filter(|_| expression.is_attribute_expr()) {
            self.add(rule, &format!(".{name}"), expression);
        }
    }

    /// `x in os.environ`, `x in globals()`: a question, which reads nothing.
    fn is_asked_only(&self, place: &Expr) -> bool {
        self.means(place, "os.environ") || self.means(place, "globals()") || self.means(place, "sys.modules")
    }

    /// `os.environ.update(…)` and the like, whose base must not count as a reading of all of it.
    fn is_environment_write(&self, attribute: &ruff_python_ast::ExprAttribute) -> bool {
        matches!(attribute.attr.as_str(), "get" | "pop" | "update" | "setdefault" | "clear" | "__contains__" | "keys")
            && self.means(&attribute.value, "os.environ")
    }

    /// True when the value needs no further visit.
    fn subscript(&mut self, subscript: &ExprSubscript) -> bool {
        let objects = self.meanings(&subscript.value);
        let key = literal(&subscript.slice);
        if objects.contains("os.environ") {
            if matches!(subscript.ctx, ExprContext::Load) {
                self.environment(key.as_deref(), subscript);
            }
            self.visit_expr(&subscript.slice);
            return true;
        }
        let is_namespace = ["globals()", "builtins", "sys.modules"].iter().any(|name| objects.contains(*name))
            || objects.iter().any(|object| object.ends_with(".__dict__"));
        if !is_namespace {
            return false;
        }
        match key {
            Some(key) if key.starts_with("__") => self.add(DangerRule::Internals, &key, subscript),
            Some(_) => {}
            None if matches!(&*subscript.slice, Expr::Name(name) if name.id.as_str() == "__name__") => {}
            None => self.add(DangerRule::HiddenCode, "[…]", subscript),
        }
        let whole = self.source.bindings.of_subscript(subscript, 0);
        for path in whole {
            if let Some(rule) = table::rule_of(&path).or_else(|| table::module_rule(&path)) {
                self.add(rule, spoken(&path), subscript);
            }
        }
        self.visit_expr(&subscript.slice);
        true
    }

    pub(crate) fn environment(&mut self, name: Option<&str>, node: &impl Ranged) {
        match name {
            Some(name) if !table::sounds_secret(name) => self.add(DangerRule::EnvironmentRead, name, node),
            Some(name) => self.add(DangerRule::SecretRead, name, node),
            None => self.add(DangerRule::SecretRead, "os.environ[…]", node),
        }
    }
}

/// A dotted name as people write it.
pub(crate) fn spoken(path: &str) -> &str {
    path.strip_prefix("builtins.").unwrap_or(path)
}
