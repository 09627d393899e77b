//! What is not known to be harmless: what it could do, by its name and by what it is given. Where that cannot be seen, and it
//! could be anything, a grant must not reach it.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, ExprCall, ExprSubscript};
use ruff_text_size::Ranged;

use super::arguments::has_stars;
use super::rules::{self, Rule};
use super::walk::{Checker, Found, GIVE_ANYTHING, Meaning, spoken};
use crate::DangerRule::{self, *};
use crate::known::{self, Attribute};
use crate::magics::{self, Magic};
use crate::words::Words;
use crate::{Danger, Lines, python, sql, table};

/// Functions and classes whose first or second argument says whether they write.
static OPENERS: Words = Words::of("open File ZipFile TarFile GzipFile Dataset HDFStore FileIO fdopen memmap");
/// Functions that run their first argument as SQL, and are not known to do anything else.
static EXECUTE: Words = Words::of(
    "execute executemany executescript execute_query execute_async exec_driver_sql run_query mogrify read_sql \
     read_sql_query sql",
);
/// Texts that are longer are not read as code.
const MAX_TEXT_BYTES: usize = 2_000;
/// Code in a text in code in a text … is followed so far.
const MAX_NESTED_TEXTS: usize = 3;

impl<'a> Checker<'a> {
    /// Adds a dotted name that is not known.
    pub(super) fn unknown(
        &mut self,
        path: &str,
        unknown: DangerRule,
        expression: &'a Expr,
        call: Option<&'a ExprCall>,
    ) {
        let root = path.split('.').next().unwrap_or_default();
        let is_data = call.is_some()
            && known::is_module(root)
            && !GIVE_ANYTHING.all().iter().any(|start| path.starts_with(start));
        let rule = self.rule_of(path, unknown, call);
        let found = if rule == UnknownName { root } else { spoken(path) };
        self.add(rule, found, expression, !is_data || unknown == UnknownName);
    }

    /// The rule of a dotted name, or of `.name` of a value, that is used where only `unknown` is known of it. What texts that
    /// it is given could do is added.
    pub(super) fn rule_of(&mut self, path: &str, unknown: DangerRule, call: Option<&'a ExprCall>) -> DangerRule {
        if unknown == UnknownFunction && table::is_never_handed_on(path) {
            return HiddenCode;
        }
        let Some((_, name)) = path.rsplit_once('.') else {
            return table::rule_of(path).filter(|_| unknown == UnknownFunction).unwrap_or(unknown);
        };
        // `t.os.remove` leads to `os`, whatever `t` is.
        let leads_on = || path.split('.').skip(1).any(table::is_never_handed_on);
        let by_path = (unknown == UnknownFunction || leads_on()).then(|| table::rule_of(path)).flatten();
        // A value may have it, and then it does no more than such a value's.
        let is_value = |name| known::attribute(name) == Attribute::Harmless;
        if let Some(call) = call {
            if let Some(rule) = self.rule_of_call(name, call) {
                return by_path.filter(|by_path| rule == RunsText || by_path.grade() < rule.grade()).unwrap_or(rule);
            }
            if let (UnknownName, Expr::Attribute(method)) = (unknown, &*call.func)
                && self.is_harmless_use(name, &method.value, call)
            {
                return unknown;
            }
        }
        let by_name = || table::rule_of_attribute(name).filter(|_| unknown != UnknownName || !is_value(name));
        match by_path.or_else(by_name).unwrap_or(unknown) {
            NetworkRead if call.is_some_and(|call| self.sends_by_address(call)) => NetworkSend,
            rule => rule,
        }
    }

    /// An address that is computed carries what it is computed from.
    fn sends_by_address(&self, call: &ExprCall) -> bool {
        call.arguments.args.first().is_some_and(|address| self.texts(address, 0).is_none())
    }

    /// What a reader does with these arguments, if it is not known to be harmless.
    pub(super) fn rule_of_reader(&self, path: &str, call: &ExprCall) -> DangerRule {
        let arguments = &call.arguments;
        if path == "numpy.load" {
            let is_plain = |value: &Expr| matches!(value, Expr::BooleanLiteral(flag) if !flag.value);
            if has_stars(call) || !arguments.find_argument_value("allow_pickle", 2).is_none_or(is_plain) {
                return LoadsObjects;
            }
            if arguments.find_argument_value("mmap_mode", 1).is_some_and(|mode| !self.is_reading_map(mode)) {
                return WritesFile;
            }
        }
        let is_address = |place: &Expr| self.text_with_gaps(place, 0).is_some_and(|text| text.contains("://"));
        match arguments.args.first() {
            Some(place) if self.texts(place, 0).is_none() && is_address(place) => NetworkSend,
            _ => ReadsElsewhere,
        }
    }

    /// What settings do that are not known to be harmless: by their names.
    pub(super) fn rule_of_settings(&self, call: &ExprCall) -> DangerRule {
        let group = call.arguments.args.first().and_then(|group| self.texts(group, 0)).unwrap_or_default();
        let given = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
        let keys = given.filter_map(|given| self.keys(given, 0)).flatten();
        let named = call.arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref().map(ToString::to_string));
        let names: Vec<String> = group.into_iter().chain(keys).chain(named).collect();
        match names.iter().any(|name| name.contains("module://") || name.starts_with("plotting.")) {
            true => DynamicImport,
            false => names.iter().map(|name| rules::harm_of_picture_setting(name)).min().unwrap_or(UnknownSetting),
        }
    }

    /// What a call does by its arguments.
    fn rule_of_call(&mut self, name: &str, call: &'a ExprCall) -> Option<DangerRule> {
        let first = call.arguments.args.first();
        match name {
            "savefig" if first.is_some_and(|target| self.is_picture(target)) => Some(SavesPicture),
            "eval" | "query" if first.is_some() => {
                self.add_sql(first, call);
                Some(self.run_texts(first, true, call))
            }
            "fetch" | "fetchall" | "raw" => {
                self.add_sql(first, call);
                None
            }
            "run" | "runctx" | "timeit" | "repeat" | "Timer" => {
                self.run_texts(&call.arguments.args, false, call);
                None
            }
            "run_line_magic" | "run_cell_magic" | "magic" => {
                let texts: Option<Vec<_>> = call.arguments.args.iter().map(Expr::as_string_literal_expr).collect();
                let words: Vec<&str> = texts.into_iter().flatten().map(|text| text.value.to_str()).collect();
                self.add_magic(&magics::of_line(&words.join(" ")), call);
                Some(HiddenCode)
            }
            name if OPENERS.has(name) => self.rule_of_mode(call, 1).or_else(|| self.rule_of_short_mode(first?)),
            name if EXECUTE.has(name) => (first.is_some() && !self.add_sql(first, call)).then_some(DynamicCode),
            _ => None,
        }
    }

    /// What the mode of an opened file allows; `None`: to read.
    pub(super) fn rule_of_mode(&self, call: &ExprCall, position: usize) -> Option<DangerRule> {
        if has_stars(call) {
            return Some(WritesFile);
        }
        let mode = call.arguments.find_argument_value("mode", position)?;
        match self.texts(mode, 0) {
            Some(modes) => modes.iter().find_map(|mode| of_mode(mode)),
            None => Some(WritesFile),
        }
    }

    /// `path.open('w')`
    fn rule_of_short_mode(&self, first: &Expr) -> Option<DangerRule> {
        let is_mode = |text: &String| text.len() <= 4 && text.bytes().all(|byte| b"rwaxbtU+|:".contains(&byte));
        self.texts(first, 0)?.iter().filter(|text| is_mode(text)).find_map(|mode| of_mode(mode))
    }

    fn is_picture(&self, target: &Expr) -> bool {
        const ENDINGS: &[&str] = &[".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".gif", ".webp"];
        let text = self.text_with_gaps(target, 0).unwrap_or_default().to_ascii_lowercase();
        ENDINGS.iter().any(|ending| text.ends_with(ending))
    }

    // --- texts ---

    /// False: the text cannot be read.
    fn add_sql(&mut self, text: Option<&Expr>, node: &impl Ranged) -> bool {
        let text = text.and_then(|text| self.text_with_gaps(text, 0)).unwrap_or_default();
        self.globals.budget.spend(text.len());
        sql::dangers(&text).into_iter().for_each(|(_, rule, word)| self.add(rule, word, node, false));
        !text.trim_matches(['?', ' ']).is_empty()
    }

    /// What the texts among these do as Python counts here. What is neither a text that can be read nor a function of the
    /// notebook can be any code.
    pub(super) fn run_texts<'e>(
        &mut self,
        given: impl IntoIterator<Item = &'e Expr>,
        is_frame: bool,
        node: &impl Ranged,
    ) -> DangerRule {
        let mut is_read = true;
        for given in given {
            is_read &= match self.texts(given, 0) {
                Some(texts) => texts.iter().all(|text| self.add_text(text, is_frame, node)),
                None => self.is_callable(given) || given.is_number_literal_expr(),
            };
        }
        if is_read { RunsText } else { DynamicCode }
    }

    fn add_text(&mut self, text: &str, is_frame: bool, node: &impl Ranged) -> bool {
        let Some(found) = self.found_in_text(text, is_frame) else { return false };
        let line = self.lines.at(node.start().to_usize());
        let here = |found: Found| Found { danger: Danger { lines: vec![line], ..found.danger }, ..found };
        self.found.extend(found.into_iter().map(here));
        true
    }

    /// What Python in a text could do; `None`: it cannot be read. `is_frame`: names that nobody binds are columns.
    pub(super) fn found_in_text(&self, text: &str, is_frame: bool) -> Option<Vec<Found>> {
        let is_affordable = self.globals.budget.spend(text.len() * 20);
        if !is_affordable || text.len() > MAX_TEXT_BYTES || self.nesting >= MAX_NESTED_TEXTS {
            return None;
        }
        let text = if is_frame { without_quoted_names(text).replace('@', " ") } else { text.to_owned() };
        let parsed = python::parse(text.trim()).filter(|parsed| parsed.has_valid_syntax())?;
        let mut checker = Checker::new(self.globals, Lines::of(&text, 1));
        (checker.is_text, checker.nesting) = (is_frame, self.nesting + 1);
        checker.visit_body(&parsed.syntax().body);
        Some(checker.found)
    }

    /// What stands in the line of a magic.
    pub(super) fn add_magic(&mut self, magic: &Magic, node: &impl Ranged) {
        sql::dangers(&magic.sql).into_iter().for_each(|(_, rule, word)| self.add(rule, word, node, false));
        for code in &magic.codes {
            if !self.add_text(code, false, node) {
                self.add(DynamicCode, "{…}", node, true);
            }
        }
        if let Some(rule) = magic.rule {
            self.add(rule, &magic.words, node, true);
        }
    }

    // --- names that are computed ---

    /// `getattr` and the like, with a name that is not known to be harmless.
    pub(super) fn rule_of_named(&self, call: &ExprCall) -> DangerRule {
        let [object, name, ..] = &*call.arguments.args else { return ComputedAttribute };
        let bases = self.path(object);
        let is_value = |base: &Meaning| {
            matches!(base, Meaning::Data | Meaning::Attribute | Meaning::Unbound(_) | Meaning::Leads(..))
        };
        let is_library = !bases.iter().all(is_value);
        let Some(names) = self.texts(name, 0) else {
            return if is_library { HiddenCode } else { ComputedAttribute };
        };
        let of_library = |name: &String| {
            bases.iter().find_map(|base| self.step(base.clone(), name).unknown().and_then(table::rule_of))
        };
        let rule = |name: &String| {
            of_library(name).or_else(|| hidden_by(name)).or_else(|| self.moves(name).then_some(HiddenCode))
        };
        names.iter().find_map(rule).unwrap_or(ComputedAttribute)
    }

    /// What moves a file, where the notebook has paths.
    fn moves(&self, name: &str) -> bool {
        self.globals.mentions.has_paths && matches!(name, "rename" | "replace" | "move")
    }

    /// `attrgetter`, `methodcaller`
    pub(super) fn rule_of_later_name(&self, call: &ExprCall) -> DangerRule {
        let names = call.arguments.args.first().and_then(|name| self.texts(name, 0)).unwrap_or_default();
        let moves = |name: &str| self.moves(name).then_some(HiddenCode);
        let mut parts = names.iter().flat_map(|path| path.split('.'));
        parts.find_map(|name| hidden_by(name).or_else(|| moves(name))).unwrap_or(ComputedAttribute)
    }

    /// A module by its name.
    pub(super) fn rule_of_import(&self, name: Option<&Expr>) -> DangerRule {
        match name.and_then(|name| self.texts(name, 0)) {
            Some(names) if names.iter().any(|name| table::is_never_handed_on(name)) => DynamicImport,
            Some(names) => names.iter().find_map(|name| table::rule_of(name)).unwrap_or(UnknownModule),
            None => DynamicImport,
        }
    }

    /// A variable of the environment by its name.
    pub(super) fn rule_of_variable(&self, name: Option<&Expr>) -> DangerRule {
        match name.is_some_and(|name| self.texts_are(name, |name| !table::sounds_secret(name))) {
            true => EnvironmentRead,
            false => SecretRead,
        }
    }

    /// Something is looked up by its name where everything can be found. True: what it is looked up in needs no further look.
    pub(super) fn looks_up(&mut self, subscript: &'a ExprSubscript) -> bool {
        let meanings = match &*subscript.value {
            Expr::Call(call) if call.func.is_name_expr() => {
                self.of_namespace(call).into_iter().chain(self.path(&call.func)).collect()
            }
            place => self.path(place),
        };
        let places = || meanings.iter().filter_map(Meaning::unknown);
        if places().any(|path| path == "os.environ") {
            let rule =
                if subscript.ctx.is_load() { self.rule_of_variable(Some(&subscript.slice)) } else { UnknownSetting };
            self.add(rule, "os.environ[…]", subscript, false);
            return true;
        }
        let is_namespace = |path: &str| {
            ["()", "__dict__", "__builtins__", "sys.modules", "builtins.vars"].iter().any(|end| path.ends_with(end))
        };
        if places().any(is_namespace) {
            let rule = match self.texts(&subscript.slice, 0) {
                Some(keys) => keys.iter().find_map(|key| {
                    table::rule_of(&format!("builtins.{key}")).or_else(|| table::rule_of_attribute(key))
                }),
                None => Some(HiddenCode),
            };
            rule.into_iter().for_each(|rule| self.add(rule, "[…]", subscript, true));
        }
        false
    }

    /// `'KEY' in os.environ` asks for no value.
    pub(super) fn is_only_asked(&self, place: &Expr) -> bool {
        self.path(place).iter().filter_map(Meaning::unknown).any(|path| matches!(path, "os.environ" | "sys.modules"))
    }
}

impl Rule {
    /// What a function that is judged by its arguments could do where nobody sees them.
    pub(super) fn handed_on(self) -> DangerRule {
        match self {
            Self::Opens => WritesFile,
            Self::AttributeByName | Self::NamesAttributes => HiddenCode,
            Self::Variable => SecretRead,
            Self::Fetches => NetworkSend,
            Self::Imports => DynamicImport,
            Self::Measures | Self::Evaluates => DynamicCode,
            Self::Namespace | Self::Magic => Internals,
            _ => HandedOn,
        }
    }
}

/// An attribute that does harm, reached by its name.
fn hidden_by(name: impl AsRef<str>) -> Option<DangerRule> {
    let name = name.as_ref();
    let is_hidden = rules::NAME_FUNCTIONS.has(name) || name == "__init__" || table::rule_of_attribute(name).is_some();
    is_hidden.then_some(HiddenCode)
}

fn of_mode(mode: &str) -> Option<DangerRule> {
    if mode.contains(['w', 'a', '+']) { Some(WritesFile) } else { mode.contains('x').then_some(CreatesFile) }
}

/// `` `a column` `` → `x`.
fn without_quoted_names(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    match parts.len() % 2 {
        1 => parts.iter().enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect(),
        _ => text.to_owned(),
    }
}
