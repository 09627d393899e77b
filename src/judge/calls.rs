//! Calls: functions and methods that are judged by their arguments.

use ruff_python_ast::{Expr, ExprCall};

use crate::bindings::literal;
use crate::python::{Checker, is_valid, spoken};
use crate::{DangerRule, line_magics, sql, table};

impl Checker<'_, '_> {
    pub(crate) fn call(&mut self, call: &ExprCall) {
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
        let named = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        let given = call.arguments.args.iter().chain(named).flat_map(parts);
        let names = given.filter(|given| matches!(given, Expr::Name(_) | Expr::Attribute(_)));
        let modules = names.flat_map(|given| self.meanings(given)).filter(|given| table::is_handed_over(given));
        for module in modules.filter(|_| !only_looks.contains(&name)).collect::<Vec<_>>() {
            self.add(DangerRule::HiddenCode, &format!("{name}({module})"), call);
        }
    }

    /// Functions that are judged by their arguments.
    fn call_of(&mut self, function: &str, call: &ExprCall) {
        let first = call.arguments.find_positional(0);
        match function {
            "builtins.open" | "io.open" | "io.FileIO" | "codecs.open" | "gzip.open" | "bz2.open" | "lzma.open"
            | "tarfile.open" | "os.fdopen" => {
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
            "timeit.timeit"
            | "timeit.repeat"
            | "timeit.Timer"
            | "cProfile.Profile().run"
            | "cProfile.Profile().runctx"
            | "profile.Profile().run"
            | "profile.Profile().runctx"
            | "trace.Trace().run"
            | "trace.Trace().runctx"
            | "cProfile.run"
            | "cProfile.runctx"
            | "profile.run" => self.code_in_string(call),
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

    /// `path.open("w")`, `zipfile.ZipFile(name, "w")`, `h5py.File(name, "w")`: any object's method with a mode among its
    /// first two arguments.
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
            Some(name) if table::rule_of_method(&name).is_some() || table::rule_of_handed_method(&name).is_some() => {
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
        let is_whole = call.arguments.keywords.is_empty();
        let Some(texts) = texts.filter(|texts| is_whole && !texts.is_empty()) else {
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
                | "eval"
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
        sql::check_in_line(&text, line, self.findings);
        // pandas and SQLAlchemy look `@name.attribute` up in Python.
        if text.contains('@') || self.means(&call.func, "pandas.eval") {
            let code = text.replace('@', " ").replace('`', "\"");
            if is_valid(code.trim()) {
                self.source.check_inside(code.trim(), line, self.findings);
            } else if matches!(method, "eval" | "query") && code.contains(['(', '.']) {
                self.add(DangerRule::DynamicCode, &format!(".{method}"), call);
            }
        }
    }
}

/// What an argument holds: `[os]` and `*(os,)` hand over `os`.
fn parts(argument: &Expr) -> &[Expr] {
    match argument {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::Set(set) => &set.elts,
        Expr::Starred(starred) => parts(&starred.value),
        one => std::slice::from_ref(one),
    }
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
