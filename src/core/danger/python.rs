//! Python cells: parsed as IPython reads them, then walked once for what the names stand for and once for what is done with them.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, CmpOp, Expr, ExprCall, ExprContext, ExprSubscript, ModModule, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;

use super::bindings::{Bindings, Meanings, literal};
use super::definitions::{self, Definitions, Rules};
use super::{DangerRule, Findings, Lines, line_magics, magics, table, words};

/// How deep the walk goes; deeper code is a danger of its own. Real cells stay below 60.
pub(crate) const MAX_DEPTH: usize = 300;
/// Code in a string in code in a string … is followed so far.
const MAX_NESTED_SOURCES: usize = 3;
/// Stack that one byte of hostile code may cost: a tree as deep as the text is long must be dropped again (measured, debug build).
const STACK_BYTES_PER_BYTE: usize = 1_024;
/// Strings with fields in one source: the parser's time grows with the square of how deep they are nested.
const MAX_FIELD_STRINGS: usize = 1_500;
const LEAST_STACK_BYTES: usize = 512 << 10;

/// Judges a cell after the cells that ran before it.
pub(super) fn check_cells(earlier: &[&str], codes: &[&str], findings: &mut [Findings]) {
    let all = || earlier.iter().chain(codes).filter(|source| source.len() <= super::MAX_CHECKED_BYTES);
    let longest = all().map(|source| source.len()).max().unwrap_or(0);
    with_stack(longest, || {
        let mut bindings = Bindings::default();
        // A piece that stands alone finds its own names by itself.
        let others = if codes.len() == 1 { earlier.len() } else { usize::MAX };
        let cells: Vec<Parsed<ModModule>> =
            all().take(others).filter_map(|source| parse(&magics::plain(source))).collect();
        cells.iter().for_each(|cell| bindings.collect(&cell.syntax().body));
        let mut inherited = Source { bindings, definitions: Definitions::default(), depth: 0 };
        definitions::follow(&mut inherited, &cells.iter().map(Parsed::syntax).collect::<Vec<_>>());
        for (code, findings) in codes.iter().zip(findings) {
            if !findings.is_too_long(code) {
                magics::check_cell(code, &inherited, findings);
            }
        }
    });
}

/// Runs what parses, walks and drops the tree of a text of this length: on a stack that is large enough for the deepest tree it could make.
pub(crate) fn with_stack<T>(source_bytes: usize, work: impl FnOnce() -> T) -> T {
    let stack = source_bytes * STACK_BYTES_PER_BYTE + LEAST_STACK_BYTES;
    stacker::maybe_grow(stack, stack * 2, work)
}

/// What a source inherits from the one it stands in.
pub(super) struct Source {
    bindings: Bindings,
    pub(super) definitions: Definitions,
    depth: usize,
}

impl Source {
    /// What these statements could do.
    pub(super) fn rules_of(&self, body: &[Stmt]) -> Rules {
        self.rules(|checker| checker.visit_body(body))
    }

    pub(super) fn rules_of_expression(&self, expression: &Expr) -> Rules {
        self.rules(|checker| checker.visit_expr(expression))
    }

    fn rules(&self, check: impl FnOnce(&mut Checker)) -> Rules {
        let mut findings = Findings::default();
        check(&mut Checker { source: self, lines: Lines::of("", 1), findings: &mut findings, depth: 0 });
        findings.0.into_keys().collect()
    }

    /// Judges Python whose first line has the number `line`.
    pub(super) fn check(&self, code: &str, line: u32, findings: &mut Findings) {
        let Some(parsed) = parse(code) else {
            findings.add(DangerRule::NotChecked, "This code", line);
            return words::check_unparsed(code, line, findings);
        };
        let lines = Lines::of(code, line);
        if let Some(error) = parsed.errors().first() {
            findings.add(DangerRule::DoesNotParse, "This code", lines.at(error.location.start().to_usize()));
            words::check_unparsed(code, line, findings);
        }
        let mut source = self.inner(self.depth);
        source.bindings.collect(&parsed.syntax().body);
        Checker { source: &source, lines, findings, depth: 0 }.visit_body(&parsed.syntax().body);
    }

    fn inner(&self, depth: usize) -> Source {
        Source { bindings: self.bindings.clone(), definitions: self.definitions.clone(), depth }
    }

    /// Judges code that stands in a line of this one: a magic's line, a literal that is run.
    pub(super) fn check_inside(&self, code: &str, line: u32, findings: &mut Findings) {
        if self.depth >= MAX_NESTED_SOURCES {
            findings.add(DangerRule::TooNested, "Code in code", line);
            return;
        }
        let inner = self.inner(self.depth + 1);
        let mut found = Findings::default();
        magics::check_cell(code, &inner, &mut found);
        for (rule, by_words) in found.0 {
            by_words.keys().for_each(|words| findings.add(rule, words, line));
        }
    }

    /// What calling a function by these words would do: IPython's `,f a b`, `;f a b` and `/f a`.
    pub(super) fn check_callee(&self, words: &str, line: u32, findings: &mut Findings) {
        let callee: String =
            words.chars().take_while(|found| found.is_alphanumeric() || matches!(found, '_' | '.')).collect();
        self.check_inside(&format!("{callee}(_)"), line, findings);
    }
}

/// `None` where it would take too long, and where the parser itself gives up: it has states that it takes to be impossible and that a hostile text reaches (found by the
/// property test: `&{'']os]await \r,`).
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
pub(super) fn is_valid(code: &str) -> bool {
    parse(code).is_some_and(|parsed| parsed.has_valid_syntax())
}

struct Checker<'s, 'f> {
    source: &'s Source,
    lines: Lines,
    findings: &'f mut Findings,
    depth: usize,
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
                _ => {}
            }
            visitor::walk_stmt(checker, statement);
        });
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(expression.start().to_usize(), |checker| checker.expression(expression));
    }
}

impl Checker<'_, '_> {
    fn deeper(&mut self, offset: usize, visit: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.findings.add(DangerRule::TooNested, "This code", self.lines.at(offset));
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn line(&self, node: &impl Ranged) -> u32 {
        self.lines.at(node.start().to_usize())
    }

    fn add(&mut self, rule: DangerRule, found: &str, node: &impl Ranged) {
        let line = self.line(node);
        self.findings.add(rule, found, line);
    }

    fn meanings(&self, expression: &Expr) -> Meanings {
        self.source.bindings.meanings(expression)
    }

    fn means(&self, expression: &Expr, path: &str) -> bool {
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
            Expr::Call(call) => self.call(call),
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
                for rule in self.source.definitions.of_method(attribute.attr.as_str()) {
                    self.add(rule, &format!(".{}", attribute.attr), expression);
                }
                if self.is_environment_write(attribute) {
                    return;
                }
            }
            Expr::Name(name) if matches!(name.ctx, ExprContext::Load) => {
                self.mention(expression);
                for rule in self.source.definitions.of_name(name.id.as_str()) {
                    self.add(rule, name.id.as_str(), expression);
                }
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

    fn environment(&mut self, name: Option<&str>, node: &impl Ranged) {
        match name {
            Some(name) if !words::sounds_secret(name) => self.add(DangerRule::EnvironmentRead, name, node),
            Some(name) => self.add(DangerRule::SecretRead, name, node),
            None => self.add(DangerRule::SecretRead, "os.environ[…]", node),
        }
    }

    // --- calls ---

    fn call(&mut self, call: &ExprCall) {
        let functions = self.meanings(&call.func);
        for function in &functions {
            self.call_of(function, call);
        }
        self.handing_over(call);
        let method = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return,
        };
        let is_method = matches!(&*call.func, Expr::Attribute(_));
        if is_method && functions.is_empty() {
            if let Some(rule) = table::rule_of_method(method) {
                self.add(rule, &format!(".{method}"), call);
            }
            self.opening(method, call);
        }
        if is_method {
            self.writing(method, call);
        }
        self.sql(method, call);
    }

    /// A module that is given to a function, which may call what it likes of it.
    fn handing_over(&mut self, call: &ExprCall) {
        let only_looks =
            ["getattr", "hasattr", "vars", "dir", "help", "type", "print", "repr", "id", "isinstance", "reload"];
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let given = call.arguments.args.iter().filter(|given| matches!(given, Expr::Name(_) | Expr::Attribute(_)));
        let modules = given.flat_map(|given| self.meanings(given)).filter(|given| table::is_handed_over(given));
        for module in modules.filter(|_| !only_looks.contains(&name)).collect::<Vec<_>>() {
            self.add(DangerRule::HiddenCode, &format!("{name}({module})"), call);
        }
    }

    /// Functions that are judged by their arguments.
    fn call_of(&mut self, function: &str, call: &ExprCall) {
        let first = call.arguments.find_positional(0);
        match function {
            "builtins.open" | "io.open" | "codecs.open" | "gzip.open" | "bz2.open" | "lzma.open" | "tarfile.open"
            | "os.fdopen" => {
                self.mode(call, 1);
            }
            "pathlib.Path().open" => self.mode(call, 0),
            "os.open" => {
                let is_read = call
                    .arguments
                    .find_positional(1)
                    .is_some_and(|flags| matches!(flags, Expr::Attribute(flag) if flag.attr.as_str() == "O_RDONLY"));
                if !is_read {
                    self.add(DangerRule::WritesFile, "os.open", call);
                }
            }
            "builtins.getattr" | "builtins.setattr" | "builtins.delattr" | "inspect.getattr_static" => {
                self.attribute_by_name(function, call)
            }
            "operator.attrgetter" | "operator.methodcaller" => self.name_for_later(function, call),
            "importlib.import_module" | "sys.modules.get" => self.module_by_name(call),
            "os.environ.get" | "os.environ.pop" | "os.getenv" => {
                self.environment(first.and_then(literal).as_deref(), call);
            }
            "urllib.request.urlopen" => {
                let sends = call.arguments.find_argument_value("data", 1).is_some()
                    || first.is_none_or(|url| self.source.bindings.text(url).is_none());
                let rule = if sends { DangerRule::NetworkSend } else { DangerRule::NetworkRead };
                self.add(rule, function, call);
            }
            "timeit.timeit" | "timeit.repeat" | "cProfile.run" | "cProfile.runctx" | "profile.run" => {
                self.code_in_string(call)
            }
            "get_ipython().run_line_magic" | "get_ipython().run_cell_magic" | "get_ipython().magic" => {
                self.magic_call(function, call)
            }
            "IPython.display.HTML" if self.has_script(first) => {
                self.add(DangerRule::BrowserScript, "<script>", call);
            }
            "globals().get" if first.and_then(literal).is_none() => {
                self.add(DangerRule::HiddenCode, "globals().get", call)
            }
            "pandas.read_pickle" => self.add(DangerRule::LoadsObjects, function, call),
            _ => {}
        }
        let given = self.source.bindings.of_call(call, 0);
        if matches!(
            function,
            "builtins.getattr"
                | "importlib.import_module"
                | "sys.modules.get"
                | "globals().get"
                | "inspect.getattr_static"
        ) {
            for path in given {
                if let Some(rule) = table::rule_of(&path).or_else(|| table::module_rule(&path)) {
                    self.add(rule, spoken(&path), call);
                }
            }
        }
    }

    fn has_script(&self, html: Option<&Expr>) -> bool {
        html.and_then(|html| self.source.bindings.text(html)).is_some_and(|text| text.contains("<script"))
    }

    fn mode(&mut self, call: &ExprCall, position: usize) {
        let Some(mode) = call.arguments.find_argument_value("mode", position) else {
            if call.arguments.args.iter().any(Expr::is_starred_expr)
                || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
            {
                self.add(DangerRule::WritesFile, "open(*…)", call);
            }
            return;
        };
        match literal(mode) {
            Some(mode) => self.literal_mode(&mode, call),
            None => self.add(DangerRule::WritesFile, "open", call),
        }
    }

    fn literal_mode(&mut self, mode: &str, call: &ExprCall) {
        if mode.contains(['w', 'a', '+']) {
            self.add(DangerRule::WritesFile, &format!("open(…, '{mode}')"), call);
        } else if mode.contains('x') {
            self.add(DangerRule::CreatesFile, &format!("open(…, '{mode}')"), call);
        }
    }

    /// `path.open("w")`, `zipfile.ZipFile(name, "w")`, `h5py.File(name, "w")`: any object's method with a mode among its first two arguments.
    fn opening(&mut self, method: &str, call: &ExprCall) {
        if !matches!(
            method,
            "open" | "File" | "ZipFile" | "TarFile" | "GzipFile" | "Dataset" | "HDFStore" | "ExcelWriter" | "memmap"
        ) {
            return;
        }
        let named = call.arguments.find_keyword("mode").map(|keyword| &keyword.value);
        let modes = call.arguments.args.iter().take(2).chain(named).filter_map(literal);
        let is_mode = |text: &String| {
            !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| b"rwaxbtU+|:".contains(&byte))
        };
        for mode in modes.filter(is_mode).collect::<Vec<_>>() {
            self.literal_mode(&mode, call);
        }
        if method == "ExcelWriter" {
            self.add(DangerRule::WritesFile, "ExcelWriter", call);
        }
    }

    fn attribute_by_name(&mut self, function: &str, call: &ExprCall) {
        let (Some(object), Some(name)) = (call.arguments.find_positional(0), call.arguments.find_positional(1)) else {
            return;
        };
        let spoken = function.trim_start_matches("builtins.");
        match literal(name) {
            Some(name) if table::is_internal(&name) => self.add(DangerRule::Internals, &name, call),
            Some(name) if table::rule_of_method(&name).is_some() => {
                self.add(DangerRule::HiddenCode, &format!("{spoken}(…, '{name}')"), call)
            }
            Some(_) => {}
            None if self.meanings(object).is_empty() => self.add(DangerRule::ComputedAttribute, spoken, call),
            None => self.add(DangerRule::HiddenCode, spoken, call),
        }
    }

    fn name_for_later(&mut self, function: &str, call: &ExprCall) {
        match call.arguments.find_positional(0).and_then(literal) {
            Some(name)
                if name.split('.').any(|part| table::rule_of_method(part).is_some() || table::is_internal(part)) =>
            {
                self.add(DangerRule::HiddenCode, &name, call);
            }
            Some(_) => {}
            None => self.add(DangerRule::ComputedAttribute, function, call),
        }
    }

    fn module_by_name(&mut self, call: &ExprCall) {
        if call.arguments.find_positional(0).and_then(literal).is_none() {
            self.add(DangerRule::DynamicImport, "import_module", call);
        }
    }

    fn code_in_string(&mut self, call: &ExprCall) {
        let line = self.line(call);
        let codes: Vec<String> =
            call.arguments.args.iter().filter_map(|argument| self.source.bindings.text(argument)).collect();
        for code in codes {
            self.source.check_inside(&code, line, self.findings);
        }
    }

    fn magic_call(&mut self, function: &str, call: &ExprCall) {
        let texts: Option<Vec<String>> = call.arguments.args.iter().map(literal).collect();
        let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
            self.add(DangerRule::HiddenCode, function, call);
            return;
        };
        let line = self.line(call);
        match (function.ends_with("cell_magic"), texts.as_slice()) {
            (true, [name, head, body]) => {
                self.source.check_inside(&format!("%%{name} {head}\n{body}"), line, self.findings);
            }
            // Not read as a cell: a new line in it belongs to the magic.
            _ => line_magics::check(&texts.join(" "), line, self.source, self.findings),
        }
    }

    fn writing(&mut self, method: &str, call: &ExprCall) {
        let Some(keywords) = table::writer(method) else { return };
        let named = || keywords.iter().find_map(|name| call.arguments.find_keyword(name)).map(|keyword| &keyword.value);
        let Some(target) = call.arguments.find_positional(0).or_else(named) else { return };
        if !self.is_memory(target) {
            let rule = if method == "savefig" && is_picture(target) {
                DangerRule::SavesPicture
            } else {
                DangerRule::WritesFile
            };
            self.add(rule, &format!(".{method}"), call);
        }
    }

    fn is_memory(&self, target: &Expr) -> bool {
        let memory = ["io.StringIO()", "io.BytesIO()", "sys.stdout", "sys.stderr"];
        target.is_none_literal_expr() || self.meanings(target).iter().any(|meaning| memory.contains(&meaning.as_str()))
    }

    fn sql(&mut self, method: &str, call: &ExprCall) {
        let runs_sql = matches!(
            method,
            "execute"
                | "executemany"
                | "executescript"
                | "execute_query"
                | "exec_driver_sql"
                | "sql"
                | "query"
                | "read_sql"
                | "read_sql_query"
                | "run_query"
                | "mogrify"
                | "execute_async"
                | "fetch"
                | "fetchall"
                | "raw"
        );
        let Some(text) =
            call.arguments.args.first().filter(|_| runs_sql).and_then(|text| self.source.bindings.text(text))
        else {
            return;
        };
        let line = self.line(call);
        words::check_sql_at(&text, line, self.findings);
        // pandas and SQLAlchemy look `@name.attribute` up in Python.
        if text.contains('@') {
            words::check_python_words(&text, line, self.findings);
        }
    }
}

/// A dotted name as people write it.
fn spoken(path: &str) -> &str {
    path.strip_prefix("builtins.").unwrap_or(path)
}

fn is_picture(target: &Expr) -> bool {
    let endings = [".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".gif", ".webp"];
    let text = match target {
        Expr::FString(string) => string
            .value
            .elements()
            .last()
            .and_then(|element| element.as_literal())
            .map(|literal| literal.value.to_string()),
        other => literal(other),
    };
    text.is_some_and(|text| endings.iter().any(|ending| text.to_ascii_lowercase().ends_with(ending)))
}
