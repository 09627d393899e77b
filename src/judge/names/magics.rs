//! Names in IPython's lines and cells: magics that run Python, that bind variables, or that may do anything; shell lines;
//! calls that reach variables by text.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, ExprCall, IpyEscapeKind};

use super::{NameScope, Walker};
use crate::ipython::{is_word, without_options};
use crate::names::locals::LocalNames;
use crate::python;
use crate::words::Words;

/// Line magics that bind no variable, and read none but those in `{…}` and behind `$`.
static PLAIN_LINES: Words = Words::of(
    "alias alias_magic autoawait autocall automagic autoreload autosave bookmark cat cd clear colors conda config \
     connect_info cp debug dhist dirs doctest_mode env gui hist history killbgscripts ldir less lf lk ll load load_ext \
     logoff logon logstart logstate logstop ls lsmagic lx magic mamba man matplotlib micromamba mkdir more mv notebook \
     page pdb pdef pdoc pfile pinfo pinfo2 pip popd pprint precision profile psearch psource pushd pwd pycat \
     qtconsole quickref rehashx reload_ext rep rm rmdir set_env subshell sx system tb unalias unload_ext uv watermark \
     who who_ls whos xmode",
);
/// Cell magics that bind no variable but those that options name.
static PLAIN_CELLS: Words = Words::of(
    "! HTML SVG bash cmd file html javascript js latex markdown mermaid perl powershell pypy python python2 python3 ruby \
     script sh svg sx system writefile",
);
/// Names of builtins that reach any variable by its name.
static REACHING: Words = Words::of("eval exec globals locals vars");
/// Methods of IPython's shell that run code or change variables.
static SHELL_METHODS: Words = Words::of(
    "del_var drop_by_id ev ex magic push reset run_cell run_cell_magic run_code run_line_magic safe_execfile user_ns",
);

impl Walker {
    /// Walks Python in this scope. False: it does not parse.
    pub(super) fn code(&mut self, code: &str) -> bool {
        let Some(parsed) = python::parse(code).filter(|parsed| parsed.errors().is_empty()) else { return false };
        self.deeper(|walker| walker.visit_body(&parsed.syntax().body));
        true
    }

    fn anything(&mut self) {
        self.reads_any = true;
        self.has_star = true;
    }

    fn code_or_anything(&mut self, code: &str) {
        if !self.code(code) {
            self.anything();
        }
    }

    /// A cell that begins with `%%`, which is not in `text`.
    pub(super) fn cell_magic(&mut self, text: &str) {
        let (line, body) = text.split_once('\n').unwrap_or((text, ""));
        let (name, rest) = split_word(line.trim());
        let is_python = |walker: &mut Self| {
            if !walker.code(body) {
                walker.is_too_deep = true;
            }
        };
        match name {
            "time" | "prun" | "memit" | "debug" => {
                self.code_or_anything(&python_of(name, rest));
                is_python(self);
            }
            "capture" => {
                is_python(self);
                rest.split_whitespace().filter(|word| !word.starts_with('-')).take(1).for_each(|name| self.write(name));
            }
            // The statements run in a function of their own.
            "timeit" => self.timed(&format!("{}\n{body}", without_options(rest))),
            "sql" | "bigquery" => self.result_of_query(name, rest, body),
            "R" => self.options(rest, &["-o", "--output"], &["-i", "--input"]),
            name if PLAIN_CELLS.has(name) => {
                self.vague(rest);
                self.options(rest, &["--out", "--err", "--proc"], &[]);
            }
            _ => self.anything(),
        }
    }

    /// A line of IPython, also where it is the value of an assignment.
    pub(super) fn escape(&mut self, kind: IpyEscapeKind, value: &str) {
        match kind {
            IpyEscapeKind::Magic => self.line_magic(value),
            IpyEscapeKind::Magic2 => self.cell_magic(value),
            IpyEscapeKind::Shell | IpyEscapeKind::ShCap => self.vague(value),
            IpyEscapeKind::Help | IpyEscapeKind::Help2 => self.words(value),
            IpyEscapeKind::Quote | IpyEscapeKind::Quote2 | IpyEscapeKind::Paren => self.words(value),
        }
    }

    fn line_magic(&mut self, value: &str) {
        let (name, rest) = split_word(value.trim());
        self.vague(rest);
        match name {
            "time" | "prun" | "memit" => self.code_or_anything(&python_of(name, rest)),
            "timeit" => self.timed(without_options(rest)),
            "sql" => self.result_of_query(name, rest, ""),
            "R" => self.options(rest, &["-o", "--output"], &["-i", "--input"]),
            "store" => self.stored(rest),
            "xdel" => rest.split_whitespace().filter(|word| !word.starts_with('-')).for_each(|name| self.delete(name)),
            name if PLAIN_LINES.has(name) => {}
            _ => self.anything(),
        }
    }

    fn timed(&mut self, code: &str) {
        let Some(parsed) = python::parse(code).filter(|parsed| parsed.errors().is_empty()) else {
            return self.reads_any = true;
        };
        let mut bound = LocalNames { depth: self.depth, ..LocalNames::default() };
        bound.visit_body(&parsed.syntax().body);
        let before = std::mem::take(&mut self.reads_later);
        self.scopes.push(NameScope::Function { locals: bound.names, globals: bound.globals });
        self.fates.enter();
        self.deeper(|walker| walker.visit_body(&parsed.syntax().body));
        self.fates.leave();
        self.scopes.pop();
        // It has run: these are no reads of a later call.
        let now = std::mem::replace(&mut self.reads_later, before);
        now.iter().for_each(|name| self.read(name));
    }

    /// `%sql name << SELECT …`, `%%bigquery name`.
    fn result_of_query(&mut self, magic: &str, line: &str, body: &str) {
        self.vague(line);
        self.vague(body);
        let bound = match line.split_once("<<") {
            Some((before, _)) => before.split_whitespace().last(),
            None if magic == "bigquery" => line.split_whitespace().find(|word| !word.starts_with('-')),
            None => None,
        };
        bound.filter(|name| is_identifier(name)).into_iter().for_each(|name| self.write(name));
    }

    /// `--out name`: options that bind, and options that read. A value may be a list.
    fn options(&mut self, line: &str, bind: &[&str], read: &[&str]) {
        let words: Vec<&str> = line.split([' ', '\t', '=']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            for name in pair[1].split(',').filter(|name| is_identifier(name)) {
                if bind.contains(&pair[0]) {
                    self.write(name);
                } else if read.contains(&pair[0]) {
                    self.read(name);
                }
            }
        }
    }

    fn stored(&mut self, line: &str) {
        let names = line.split_whitespace().filter(|word| is_identifier(word));
        match line.split_whitespace().next() {
            Some("-r") if names.clone().next().is_none() => self.anything(),
            Some("-r") => names.for_each(|name| self.write(name)),
            _ => names.for_each(|name| self.read(name)),
        }
    }

    /// Names in `{…}` and behind `$`, as IPython replaces them in a line.
    fn vague(&mut self, line: &str) {
        let before = std::mem::replace(&mut self.is_vague, true);
        for (at, sign) in line.char_indices() {
            let rest = &line[at + sign.len_utf8()..];
            match sign {
                '{' => {
                    if let Some(end) = rest.find('}') {
                        self.code(rest[..end].trim_matches('{'));
                    }
                }
                '$' => self.words(&rest[..rest.find(|found| !is_word(found)).unwrap_or(rest.len())]),
                _ => {}
            }
        }
        self.is_vague = before;
    }

    /// Words that may be names.
    fn words(&mut self, text: &str) {
        let before = std::mem::replace(&mut self.is_vague, true);
        text.split(|found| !is_word(found)).filter(|word| is_identifier(word)).for_each(|word| self.read(word));
        self.is_vague = before;
    }

    /// A call that may reach variables by text.
    pub(super) fn call(&mut self, call: &ExprCall) {
        match &*call.func {
            Expr::Name(name) if REACHING.has(name.id.as_str()) => {
                let is_of_an_object = name.id == "vars" && !call.arguments.is_empty();
                self.reads_any |= !is_of_an_object;
                self.has_star |= !is_of_an_object && name.id != "eval";
            }
            Expr::Attribute(method) => {
                if SHELL_METHODS.has(method.attr.as_str()) && is_shell(&method.value) {
                    self.anything();
                }
                // pandas: `df.query("a > @least")`.
                if matches!(method.attr.as_str(), "query" | "eval")
                    && let Some(text) = call.arguments.find_positional(0).and_then(Expr::as_string_literal_expr)
                {
                    text.value.to_str().split('@').skip(1).for_each(|rest| {
                        self.words(&rest[..rest.find(|found| !is_word(found)).unwrap_or(rest.len())]);
                    });
                }
            }
            _ => {}
        }
    }
}

fn is_shell(value: &Expr) -> bool {
    match value {
        Expr::Call(call) => call.func.as_name_expr().is_some_and(|name| name.id == "get_ipython"),
        Expr::Name(name) => matches!(name.id.as_str(), "ip" | "ipython" | "shell"),
        _ => false,
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

fn is_identifier(word: &str) -> bool {
    word.chars().all(is_word) && !word.starts_with(|first: char| first.is_numeric()) && !word.is_empty()
}

/// The Python of a line of `%time` or `%prun`.
fn python_of(name: &str, rest: &str) -> String {
    if name == "time" { rest.trim_start_matches("--no-raise-error") } else { without_options(rest) }.trim().to_owned()
}
