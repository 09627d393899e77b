//! Calls of methods, of whatever object, and arguments by name that make any call do more.

use ruff_python_ast::{Expr, ExprCall, Keyword};

use super::arguments::{has_stars, is_harmless_name, is_named};
use super::bindings::What;
use super::rules;
use super::scope::elements;
use super::walk::{Checker, Meaning};
use crate::DangerRule::{self, *};
use crate::known::{Attribute, attribute};

impl<'a> Checker<'a> {
    /// Why a call of a method does more than its name says; `None`: it does no more.
    pub(crate) fn harm_of_method(&self, name: &str, base: &Expr, call: &'a ExprCall) -> Option<DangerRule> {
        let harmless = match name {
            "format" => self.formats(base, call),
            "inspect" | "format_index" => self.are_plain_formats(call),
            "update" => return (!self.updates_plainly(base, call)).then_some(UnknownSetting),
            // `fig.show('browser')` starts a program.
            "show" => call.arguments.args.iter().all(|given| self.is_flag(given)),
            // The tenth argument or one after it names the module that draws.
            "hist" | "boxplot" => {
                let is_star = |given: &Expr| given.is_starred_expr();
                let args = &call.arguments.args;
                !args.iter().any(is_star) && args.iter().skip(9).all(|given| self.is_flag(given))
            }
            "filter" => self.filters_plainly(call),
            _ if rules::NAME_FUNCTIONS.has(name) => {
                return (!self.names_harmless_functions(name, call)).then_some(RunsText);
            }
            _ => return (!self.has_plain_settings(name, call)).then_some(UnknownSetting),
        };
        // A format only walks through what objects have.
        let is_format = matches!(name, "format" | "inspect" | "format_index");
        (!harmless).then_some(if is_format { ComputedAttribute } else { RunsText })
    }

    /// `path.replace(target)` in a notebook that has paths.
    pub(crate) fn harm_of_path(&self, name: &str, base: &Expr, call: Option<&ExprCall>) -> Option<DangerRule> {
        let rule = match name {
            "rename" | "replace" | "move" => DangerRule::DeletesFile,
            "copy" => DangerRule::WritesFile,
            _ => return None,
        };
        let is_no_target = |given: &Expr| {
            self.is_flag(given) || matches!(given, Expr::Dict(_) | Expr::Lambda(_) | Expr::List(_) | Expr::Tuple(_))
        };
        // `type(path).rename(path, target)`
        let is_unbound = match base {
            Expr::Call(call) => self.calls(call, "builtins.type"),
            base => self.path(base).iter().any(|meaning| matches!(meaning, Meaning::Ruled(..))),
        };
        let is_harmless = call.is_some_and(|call| {
            let arguments = &call.arguments;
            !has_stars(call)
                && !is_unbound
                && !arguments.keywords.iter().any(|keyword| is_named(keyword, "target"))
                && (arguments.args.len() != 1 || is_no_target(&arguments.args[0]))
        });
        (self.globals.mentions.has_paths && !is_harmless).then_some(rule)
    }

    /// Whether a method that is withheld does nothing with these arguments.
    pub(crate) fn is_harmless_use(&self, name: &str, base: &Expr, call: &'a ExprCall) -> bool {
        match name {
            "to_csv" | "to_json" | "to_html" | "to_latex" | "to_markdown" | "to_string" | "to_xml" | "write_csv"
            | "write_json" | "write_ndjson" => {
                let is_none = |value: &Expr| value.is_none_literal_expr() || self.is_memory(value);
                let path = "path_or_buf buf path_or_buffer file path";
                let named =
                    |keyword: &Keyword| keyword.arg.is_some() && (!is_named(keyword, path) || is_none(&keyword.value));
                !has_stars(call)
                    && call.arguments.args.first().is_none_or(is_none)
                    && call.arguments.keywords.iter().all(named)
            }
            "query" | "eval" => {
                let given = call.arguments.find_argument_value("expr", 0);
                call.arguments.keywords.iter().all(|keyword| is_named(keyword, "expr inplace"))
                    && !has_stars(call)
                    && (name == "eval" && call.arguments.args.is_empty() && call.arguments.keywords.is_empty()
                        || given.is_some_and(|given| self.texts_are(given, |text| self.is_harmless_text(text))))
            }
            "read_text" | "read_bytes" | "exists" | "iterdir" => self.is_place(base, 0),
            "glob" | "rglob" => self.finds_places(base, call, 0),
            "open" => self.is_place(base, 0) && self.opens_for_reading(call),
            // `df['a'].str.extract('(x)')`, not an archive's.
            "extract" => matches!(base, Expr::Attribute(texts) if texts.attr.as_str() == "str"),
            "write" | "writelines" => self.is_memory(base) || self.is_standard_stream(base),
            "from_formula" => self.formula(call),
            _ => false,
        }
    }

    fn opens_for_reading(&self, call: &ExprCall) -> bool {
        let mode = call.arguments.find_argument_value("mode", 0);
        !has_stars(call)
            && mode.is_none_or(|mode| {
                mode.as_string_literal_expr().is_some_and(|mode| matches!(mode.value.to_str(), "r" | "rb" | "rt"))
            })
    }

    pub(crate) fn is_memory(&self, value: &Expr) -> bool {
        match value {
            Expr::Call(call) => self.calls_any(call, "io.StringIO io.BytesIO"),
            Expr::Name(name) => self.holds_values(name, |value| value.is_call_expr() && self.is_memory(value)),
            _ => self.is_standard_stream(value),
        }
    }

    fn is_standard_stream(&self, value: &Expr) -> bool {
        self.means(
            value,
            |meaning| matches!(meaning, Meaning::Member(path) if path == "sys.stdout" || path == "sys.stderr"),
        )
    }

    /// `'{0.__class__}'.format(x)` walks through objects.
    fn formats(&self, base: &Expr, call: &ExprCall) -> bool {
        let is_style = |base: &Expr| matches!(base, Expr::Attribute(attribute) if matches!(attribute.attr.as_str(), "style" | "hide"));
        let is_styled = match base {
            Expr::Call(inner) => {
                matches!(&*inner.func, Expr::Attribute(method) if is_style(&method.value) || method.value.is_call_expr())
            }
            base => is_style(base),
        };
        is_styled && self.are_plain_formats(call) || self.texts_are(base, is_plain_format)
    }

    fn are_plain_formats(&self, call: &ExprCall) -> bool {
        let named = call.arguments.keywords.iter().filter(|keyword| is_named(keyword, "formatter fmt"));
        let mut formats = call.arguments.args.iter().chain(named.map(|keyword| &keyword.value));
        !has_stars(call) && formats.all(|format| self.is_plain_format(format, 0))
    }

    /// A text the fields of which walk to nothing that does harm, or no text: a function that makes one.
    pub(super) fn is_plain_format(&self, format: &Expr, depth: usize) -> bool {
        if depth > 4 || !self.globals.budget.spend(1) {
            return false;
        }
        if let Some(texts) = self.texts(format, 0) {
            return texts.iter().all(|text| is_plain_format(text));
        }
        match format {
            Expr::Lambda(_) => true,
            Expr::Dict(dict) => dict.iter_values().all(|value| self.is_plain_format(value, depth + 1)),
            Expr::Name(name) if !self.is_member(format) && !self.is_own_definition(format) => {
                let is_plain = |value: &Expr| self.is_plain_format(value, depth + 1);
                self.is_bound_to(name, |what| matches!(what, What::Value(value) if is_plain(value)))
            }
            Expr::Name(_) => true,
            Expr::Attribute(_) => self.is_member(format),
            other => self.is_flag(other),
        }
    }

    /// `df.agg('mean')` calls what the text names, with whatever else is given. A text that nobody knows harms only then.
    pub(super) fn names_harmless_functions(&self, method: &str, call: &ExprCall) -> bool {
        const PLAIN: &str = "axis raw result_type by_row engine meta values index columns data fill_value margins dropna \
             margins_name observed sort rownames colnames normalize include_groups";
        let (arguments, keywords) = (&call.arguments.args, &call.arguments.keywords);
        let is_function = |keyword: &&Keyword| is_named(keyword, "func aggfunc");
        let is_renamed = |keyword: &&Keyword| {
            matches!(method, "agg" | "aggregate") && elements(&keyword.value).is_some_and(|pair| pair.len() == 2)
        };
        let functions = || keywords.iter().filter(is_function).map(|keyword| &keyword.value);
        let more =
            keywords.iter().any(|keyword| !is_named(keyword, PLAIN) && !is_function(&keyword) && !is_renamed(&keyword));
        let is_pivot = matches!(method, "pivot_table" | "crosstab");
        let is_bad = |given: &Expr| self.names_bad_function(given, 0);
        let named = || keywords.iter().filter(|keyword| !is_named(keyword, PLAIN)).map(|keyword| &keyword.value);
        if matches!(method, "agg" | "aggregate") && named().any(is_bad) {
            return false;
        }
        if has_stars(call) || more || arguments.len() > 1 && !is_pivot {
            // The second, too: `DataFrame.agg(df, 'mean')`.
            return arguments
                .iter()
                .take(if is_pivot { 8 } else { 2 })
                .all(|given| self.is_harmless_function(given, 0))
                && functions().all(|given| self.is_harmless_function(given, 0))
                && !has_stars(call);
        }
        !arguments.iter().chain(functions()).any(is_bad)
    }

    /// `groups.filter('to_csv', True, 'x.csv')` calls what the text names with all that stands behind it. Frames and polars
    /// filter by other things.
    fn filters_plainly(&self, call: &ExprCall) -> bool {
        const PLAIN: &str = "func items like regex axis dropna";
        let (arguments, keywords) = (&call.arguments.args, &call.arguments.keywords);
        let named = keywords.iter().filter(|keyword| is_named(keyword, "func")).map(|keyword| &keyword.value);
        let mut functions = arguments.first().into_iter().chain(named);
        let is_column_of_polars = |left: &Expr| matches!(left, Expr::Call(column) if self.calls(column, "polars.col"));
        let is_no_text = |given: &Expr| match given {
            Expr::Compare(comparison) => is_column_of_polars(&comparison.left),
            given => self.is_harmless_function(given, 0),
        };
        if has_stars(call) {
            return false;
        }
        if arguments.len() <= 2 && keywords.iter().all(|keyword| is_named(keyword, PLAIN)) {
            return !functions.any(|given| self.names_bad_function(given, 0));
        }
        functions.all(is_no_text)
    }

    /// A text among these that names what is not known to be harmless.
    fn names_bad_function(&self, given: &Expr, depth: usize) -> bool {
        if depth > 4 || !self.globals.budget.spend(1) {
            return true;
        }
        let is_bad = |part: &Expr| self.names_bad_function(part, depth + 1);
        match (self.texts(given, 0), given) {
            (Some(texts), _) => !texts.iter().all(|text| is_column_or_harmless(text)),
            (None, Expr::Dict(dict)) => dict.iter_values().any(is_bad),
            // `pd.NamedAgg('column', 'mean')`
            (None, Expr::Call(call)) => call.arguments.args.iter().any(is_bad),
            (None, other) => elements(other).is_some_and(|parts| parts.iter().any(is_bad)),
        }
    }

    /// Not a text, or one that names a harmless function.
    fn is_harmless_function(&self, function: &Expr, depth: usize) -> bool {
        if depth > 4 || !self.globals.budget.spend(1) {
            return false;
        }
        if let Some(texts) = self.texts(function, 0) {
            return texts.iter().all(|name| is_column_or_harmless(name));
        }
        let is_inner = |value: &Expr| self.is_harmless_function(value, depth + 1);
        match function {
            Expr::Lambda(_) | Expr::NumberLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_) => true,
            Expr::UnaryOp(minus) => minus.operand.is_number_literal_expr(),
            Expr::Attribute(_) => self.is_member(function),
            Expr::Dict(dict) => dict.iter_values().all(is_inner),
            Expr::Call(call) => self.calls_any(call, "functools.partial numpy.vectorize"),
            Expr::Name(name) => {
                self.is_member(function)
                    || self.is_bound_to(name, |what| match what {
                        What::Function(_) | What::Class(_) => true,
                        What::Value(value) => is_inner(value),
                        _ => false,
                    })
            }
            other => elements(other).is_some_and(|parts| parts.iter().all(is_inner)),
        }
    }

    fn is_flag(&self, value: &Expr) -> bool {
        matches!(value, Expr::NumberLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_))
    }

    /// A function or class of a library by its name.
    fn is_member(&self, value: &Expr) -> bool {
        self.means(value, |meaning| matches!(meaning, Meaning::Member(path) if !path.contains("__")))
    }

    /// Arguments by name that make any call do more.
    pub(crate) fn check_keywords(&mut self, call: &'a ExprCall, is_ruled: bool) {
        if is_ruled {
            return;
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                self.check_spread(call, &keyword.value);
                continue;
            };
            let value = &keyword.value;
            if rules::is_told_keyword(name.as_str()) && !is_harmless_value(value) {
                self.add(rules::harm_of_setting(name.as_str()), &format!("{name}="), call, false);
            }
            if name.contains("formula") && !self.are_formulas(value) {
                self.add(RunsText, &format!("{name}="), call, false);
            }
            if rules::is_dictionary_of_settings(name.as_str()) && !self.are_plain_settings(value, 0) {
                self.add(UnknownSetting, &format!("{name}="), call, false);
            }
            if name == "bar_format" && !self.is_plain_format(value, 0) {
                self.add(RunsText, "bar_format=", call, false);
            }
            let reads_files =
                || self.texts(value, 0).is_none_or(|texts| texts.iter().any(|text| text.starts_with("file")));
            if rules::own_name(name.as_str()) == "input" && self.is_of_libraries(&call.func) && reads_files() {
                self.add(ReadsElsewhere, "input=", call, false);
            }
            if name == "raw" && self.displays(call) && !is_harmless_value(value) && !self.shows_pictures(call) {
                self.add(BrowserScript, "raw=", call, false);
            }
        }
    }

    /// `None`, a formula, or a dictionary of formulas.
    pub(super) fn are_formulas(&self, value: &Expr) -> bool {
        match value {
            Expr::Dict(dict) => dict.iter_values().all(|value| self.are_formulas(value)),
            Expr::NoneLiteral(_) | Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) => true,
            _ => self.texts_are(value, |text| self.is_harmless_text(&text.replace('~', "-"))),
        }
    }

    fn is_of_libraries(&self, function: &Expr) -> bool {
        let meant = self.path(function);
        meant.is_empty() || meant.iter().any(|meaning| matches!(meaning, Meaning::Member(_) | Meaning::Attribute))
    }

    /// `display({'image/png': …}, raw=True)`: nothing in it that a browser runs.
    fn shows_pictures(&self, call: &ExprCall) -> bool {
        const KINDS: &[&str] =
            &["text/plain", "text/markdown", "image/png", "image/jpeg", "application/json", "application/vnd.vega"];
        let is_picture = |kind: &str| KINDS.iter().any(|known| kind.starts_with(known));
        call.arguments.args.first().is_some_and(|shown| self.keys_are(shown, is_picture))
    }

    fn displays(&self, call: &ExprCall) -> bool {
        self.path(&call.func).iter().any(|meaning| matches!(meaning, Meaning::Member(path) if path.contains("display")))
    }
}

fn is_plain_format(text: &str) -> bool {
    !text.contains("__") && names_in_fields(text).all(is_column_or_harmless)
}

/// `a` and `b` of `'{0.a.b:>3}'`.
fn names_in_fields(text: &str) -> impl Iterator<Item = &str> {
    let fields = text.split('{').skip(1).map(|field| field.split(['}', ':', '!']).next().unwrap_or_default());
    fields.flat_map(|field| field.split(['.', '[', ']']).skip(1)).filter(|name| !name.is_empty())
}

fn is_column_or_harmless(name: &str) -> bool {
    is_harmless_name(name) || attribute(name) == Attribute::Unknown && !name.starts_with('_')
}

/// Off, or a word that is known.
fn is_harmless_value(value: &Expr) -> bool {
    const KNOWN: &[&str] =
        &["matplotlib", "Agg", "loky", "threading", "numpy", "notebook", "inline", "colab", "png", "svg", "iframe"];
    match value {
        Expr::NoneLiteral(_) => true,
        Expr::BooleanLiteral(flag) => !flag.value,
        Expr::StringLiteral(text) => KNOWN.contains(&text.value.to_str()),
        _ => false,
    }
}
