//! Calls that are judged by their arguments.

use ruff_python_ast::{Expr, ExprCall, Keyword};

use super::bindings::What;
use super::builtins;
use super::cells::shows_script;
use super::rules::{self, Rule};
use super::scope::elements;
use super::walk::{Checker, Meaning};
use crate::DangerRule::{self, *};
use crate::known::{Attribute, attribute};

impl<'a> Checker<'a> {
    /// A call of a function that is judged by its arguments.
    pub(crate) fn ruled(&mut self, rule: Rule, path: &str, call: &'a ExprCall) {
        let found = path.strip_prefix("builtins.").unwrap_or(path);
        let Some((danger, taints)) = self.harm(rule, path, call) else { return };
        let danger = match rule {
            Rule::Evaluates => self.run_texts(call.arguments.args.first(), true, call),
            Rule::Measures => {
                let codes = ["stmt", "setup", "statement"].map(|name| call.arguments.find_keyword(name));
                let codes = codes.into_iter().flatten().map(|keyword| &keyword.value);
                self.run_texts(call.arguments.args.iter().chain(codes), false, call)
            }
            _ => danger,
        };
        self.add(danger, found, call, taints);
    }

    /// What the call could do, and whether its answer may be more than data.
    fn harm(&self, rule: Rule, path: &str, call: &'a ExprCall) -> Option<(DangerRule, bool)> {
        let first = first(call);
        let plain = |is_harmless: bool, rule| (!is_harmless).then_some((rule, true));
        let data = |is_harmless: bool, rule| (!is_harmless).then_some((rule, false));
        match rule {
            Rule::Reads => data(self.reads_inside(path, call), self.rule_of_reader(path, call)),
            Rule::Opens => match self.rule_of_mode(call, 1) {
                Some(rule) => Some((rule, true)),
                // The eighth argument opens it.
                None => plain(
                    self.reads_inside(path, call) && self.has_reading_mode(call) && call.arguments.args.len() < 8,
                    ReadsElsewhere,
                ),
            },
            Rule::Place => {
                data(call.arguments.args.iter().all(|part| self.is_place(part, 0)) && !has_stars(call), ReadsElsewhere)
            }
            Rule::AttributeByName => plain(self.is_attribute_told(path, call), self.rule_of_named(call)),
            Rule::NamesAttributes => {
                let told = |name: &Expr| self.texts_are(name, |path| path.split('.').all(is_harmless_name));
                let is_told = call.arguments.args.iter().take(1).all(told) && !has_stars(call);
                plain(is_told, self.rule_of_later_name(call))
            }
            Rule::SetsByName => plain(self.sets_plainly(call), UnknownSetting),
            Rule::Type => plain(self.is_looked_at(call) && has_one_argument(call), HandedOn),
            Rule::Defines => Some((if path.ends_with("wraps") { HooksIn } else { DynamicCode }, true)),
            Rule::Formats => plain(self.formats_plainly(path, call), RunsText),
            Rule::Searches => plain(self.searches_plainly(path, call), UnknownSetting),
            Rule::Word => plain(self.is_word(path, call), self.rule_of_settings(call)),
            Rule::Settings => plain(self.are_settings_of_group(call), self.rule_of_settings(call)),
            Rule::SettingsOf => plain(self.are_settings(call), self.rule_of_settings(call)),
            Rule::Option => plain(self.are_display_options(path, call), self.rule_of_settings(call)),
            Rule::Formula => plain(self.formula(call), RunsText),
            Rule::Evaluates => plain(self.evaluates(call), RunsText),
            Rule::Shows => plain(self.shows(first, call), BrowserScript),
            Rule::Measures => plain(
                // The second is run as well, before the first.
                first.is_some()
                    && call.arguments.args.iter().all(|code| self.is_callable(code) || code.is_number_literal_expr())
                    && call.arguments.keywords.iter().all(|keyword| is_named(keyword, "number repeat")),
                RunsText,
            ),
            Rule::LogsToScreen => plain(
                call.arguments.args.is_empty()
                    && call
                        .arguments
                        .keywords
                        .iter()
                        .all(|keyword| is_named(keyword, "level format datefmt force style"))
                    && self.formats_plainly(path, call),
                WritesFile,
            ),
            Rule::Variable => Some((self.rule_of_variable(first), false)),
            Rule::Fetches => {
                let sends = call.arguments.find_argument_value("data", 1).is_some()
                    || first.is_none_or(|url| self.text_with_gaps(url, 0).is_none());
                Some((if sends { NetworkSend } else { NetworkRead }, false))
            }
            Rule::Imports => Some((self.rule_of_import(first), true)),
            Rule::Namespace | Rule::Magic => Some((Internals, true)),
        }
    }

    fn reads_inside(&self, path: &str, call: &ExprCall) -> bool {
        const PLACES: &str = "filepath_or_buffer path_or_buf path_or_buffer path io fname file source filename file_name mat_file \
             pathname s top";
        let is_told = |keyword: &Keyword| match &keyword.arg {
            None => false,
            Some(name) if name == "allow_pickle" => {
                matches!(&keyword.value, Expr::BooleanLiteral(value) if !value.value)
            }
            Some(_) if is_named(keyword, PLACES) => self.is_source(&keyword.value, 0),
            Some(name) => !matches!(
                name.as_str(),
                "storage_options" | "opener" | "root_dir" | "dir_fd" | "filesystem" | "plugin" | "engine_kwargs"
            ),
        };
        let place = call.arguments.args.first();
        let has_place = place.is_some()
            || call.arguments.keywords.iter().any(|keyword| is_named(keyword, PLACES))
            || path == "os.listdir";
        // The second argument by place of `numpy.load` lets it write, the third lets it unpickle.
        let does_more = path == "numpy.load"
            && (call.arguments.args.len() > 2
                || call.arguments.find_argument_value("mmap_mode", 1).is_some_and(|mode| !self.is_reading_map(mode)));
        has_place
            && !does_more
            && !has_stars(call)
            && place.is_none_or(|place| self.is_source(place, 0))
            && call.arguments.keywords.iter().all(is_told)
    }

    fn are_display_options(&self, path: &str, call: &ExprCall) -> bool {
        const OTHERS: &[&str] =
            &["max_rows", "max_columns", "precision", "mode.copy_on_write", "mode.chained_assignment"];
        let told = |key: &Expr| self.texts_are(key, |text| text.starts_with("display.") || OTHERS.contains(&text));
        // Of these two every second argument is a value.
        let has_values = path.ends_with("et_option") && !path.contains("reset") || path.ends_with("context");
        let mut keys = call.arguments.args.iter().step_by(if has_values { 2 } else { 1 });
        !has_stars(call) && call.arguments.keywords.is_empty() && keys.all(told)
    }

    /// `{…}` in a format reaches what the formatted objects have; `%(…)s`, which a log is written in by default, does not.
    fn formats_plainly(&self, path: &str, call: &ExprCall) -> bool {
        let value = |name: &str, place| call.arguments.find_argument_value(name, place);
        let is_percent = |style: &Expr| self.texts_are(style, |text| text == "%");
        let by_percent = path.starts_with("logging.") && value("style", 2).is_none_or(is_percent);
        let format = value("fmt", 0).or_else(|| value("format", 0));
        !has_stars(call) && (by_percent || format.is_none_or(|format| self.is_plain_format(format, 0)))
    }

    /// The names that a search sets one after the other.
    fn searches_plainly(&self, path: &str, call: &ExprCall) -> bool {
        let places: &[(&str, usize)] = match path.ends_with("_curve") {
            true => &[("param_name", 3)],
            false => &[("param_grid", 1), ("param_distributions", 1)],
        };
        let is_plain = |name: &String| !rules::is_told_keyword(name) && rules::own_name(name) != "input";
        let names = |given: &Expr| self.texts(given, 0).or_else(|| self.keys(given, 0));
        let is_told = |given: &Expr| {
            let grids = elements(given).unwrap_or(std::slice::from_ref(given));
            grids.iter().all(|grid| names(grid).is_some_and(|names| names.iter().all(is_plain)))
        };
        let mut told = places.iter().filter_map(|(name, place)| call.arguments.find_argument_value(name, *place));
        !has_stars(call) && told.all(is_told)
    }

    pub(super) fn is_reading_map(&self, mode: &Expr) -> bool {
        mode.is_none_literal_expr() || self.texts_are(mode, |text| matches!(text, "r" | "c"))
    }

    fn has_reading_mode(&self, call: &ExprCall) -> bool {
        let mode = call.arguments.find_argument_value("mode", 1);
        mode.is_none_or(|mode| self.texts_are(mode, |text| matches!(text, "r" | "rb" | "rt" | "br" | "tr")))
    }

    fn is_attribute_told(&self, path: &str, call: &ExprCall) -> bool {
        let arguments = &call.arguments.args;
        if has_stars(call) || !call.arguments.keywords.is_empty() || arguments.len() < 2 {
            return false;
        }
        let bases = self.path(&arguments[0]);
        let is_library = bases.iter().any(|meaning| !matches!(meaning, Meaning::Data | Meaning::Attribute));
        let sets = path.ends_with("setattr") || path.ends_with("delattr");
        let may = |name: &str| {
            let own = self.globals.attributes.contains_key(name);
            match is_library {
                true => !sets && bases.iter().all(|base| matches!(self.step(base.clone(), name), Meaning::Member(_))),
                false => {
                    !(sets && rules::is_told_attribute(name))
                        && (is_harmless_name(name)
                            || own && !name.starts_with("__") && attribute(name) != Attribute::Withheld)
                }
            }
        };
        self.texts_are(&arguments[1], may)
    }

    fn is_word(&self, path: &str, call: &ExprCall) -> bool {
        let is_drawn = |text: &str| {
            !matches!(path, "matplotlib.use" | "matplotlib.pyplot.switch_backend") || rules::is_harmless_backend(text)
        };
        let is_plain = |text: &str| {
            is_drawn(text) && text.chars().all(|found| found.is_ascii_alphanumeric() || "-_".contains(found))
        };
        let told = |word: &Expr| {
            elements(word).unwrap_or(std::slice::from_ref(word)).iter().all(|part| self.texts_are(part, is_plain))
        };
        let named = |keyword: &Keyword| match keyword.arg.as_ref().map(|name| name.as_str()) {
            Some("rc") => self.is_settings_value(&keyword.value, ""),
            Some("font_scale" | "after_reset" | "force") => true,
            Some("style" | "context" | "backend") => keyword.value.is_none_literal_expr() || told(&keyword.value),
            _ => false,
        };
        !has_stars(call)
            && call.arguments.args.first().is_none_or(told)
            && call.arguments.args.get(1).is_none_or(|rc| self.is_settings_value(rc, ""))
            && call.arguments.keywords.iter().all(named)
    }

    fn are_settings_of_group(&self, call: &ExprCall) -> bool {
        let Some(groups) = call.arguments.args.first().and_then(|group| self.texts(group, 0)) else { return false };
        groups.iter().all(|group| {
            call.arguments.args.len() == 1
                && call.arguments.keywords.iter().all(|keyword| match &keyword.arg {
                    Some(name) => rules::is_harmless_setting(&format!("{group}.{name}")),
                    None => self.is_settings_value(&keyword.value, &format!("{group}.")),
                })
        })
    }

    fn are_settings(&self, call: &ExprCall) -> bool {
        let named = |keyword: &Keyword| match keyword.arg.as_ref().map(|name| name.as_str()) {
            None | Some("fname") => false,
            Some("rc") => self.is_settings_value(&keyword.value, ""),
            _ => true,
        };
        call.arguments.args.iter().all(|given| given.is_string_literal_expr() || self.is_settings_value(given, ""))
            && call.arguments.keywords.iter().all(named)
    }

    /// A dictionary, all keys of which change how pictures look.
    fn is_settings_value(&self, value: &Expr, group: &str) -> bool {
        self.keys_are(value, |key| rules::is_harmless_setting(&format!("{group}{key}")))
    }

    /// Whether the keys of a dictionary are known, and all are so.
    pub(super) fn keys_are(&self, value: &Expr, is_so: impl Fn(&str) -> bool) -> bool {
        self.keys(value, 0).is_some_and(|keys| keys.iter().all(|key| is_so(key)))
    }

    /// The keys of a dictionary that is written out.
    pub(super) fn keys(&self, value: &Expr, depth: usize) -> Option<Vec<String>> {
        if !self.globals.budget.spend(1) {
            return None;
        }
        match value {
            Expr::Dict(dict) => {
                let keys = dict.items.iter().map(|item| match &item.key {
                    Some(key) => self.texts(key, depth),
                    None => self.keys(&item.value, depth + 1),
                });
                Some(keys.collect::<Option<Vec<_>>>()?.concat())
            }
            Expr::Call(call) if self.calls(call, "builtins.dict") && call.arguments.args.is_empty() => {
                call.arguments.keywords.iter().map(|keyword| keyword.arg.as_ref().map(ToString::to_string)).collect()
            }
            Expr::Name(name) if depth < 4 => {
                let bound = self.bound(name.id.as_str()).filter(|bound| !bound.is_empty())?;
                let keys = bound.iter().map(|what| match what {
                    What::Value(value) => self.keys(value, depth + 1),
                    _ => None,
                });
                Some(keys.collect::<Option<Vec<_>>>()?.concat())
            }
            Expr::NoneLiteral(_) => Some(Vec::new()),
            _ => None,
        }
    }

    pub(super) fn formula(&self, call: &ExprCall) -> bool {
        let given = ["formula", "formula_like"].iter().find_map(|name| call.arguments.find_argument_value(name, 0));
        // Behind the formula and the data come other formulas.
        let more = call.arguments.args.iter().skip(2);
        let named = call
            .arguments
            .keywords
            .iter()
            .filter(|keyword| keyword.arg.as_ref().is_some_and(|name| name.contains("formula")));
        !has_stars(call)
            && given.is_some_and(|given| !given.is_none_literal_expr())
            && given
                .into_iter()
                .chain(more)
                .chain(named.map(|keyword| &keyword.value))
                .all(|text| self.are_formulas(text))
    }

    /// `pandas.eval('a + b')`: the text sees the names of the notebook.
    fn evaluates(&self, call: &ExprCall) -> bool {
        let text = call.arguments.find_argument_value("expr", 0);
        let is_known = |keyword: &Keyword| is_named(keyword, "expr engine parser");
        !has_stars(call)
            && call.arguments.args.len() <= 1
            && call.arguments.keywords.iter().all(is_known)
            && text.is_some_and(|text| self.texts_are(text, |text| self.is_harmless_text(text)))
    }

    /// Python in a text: names that nobody binds are columns.
    pub(crate) fn is_harmless_text(&self, text: &str) -> bool {
        self.found_in_text(text, true).is_some_and(|found| found.is_empty())
    }

    fn shows(&self, first: Option<&Expr>, call: &ExprCall) -> bool {
        let named = |keyword: &Keyword| match keyword.arg.as_ref().map(|name| name.as_str()) {
            Some("filename") => self.is_place(&keyword.value, 0),
            Some("url" | "metadata") | None => false,
            Some("data") => self.is_shown(&keyword.value, 0),
            Some(_) => true,
        };
        !has_stars(call)
            && first.is_none_or(|shown| self.is_shown(shown, 0))
            && call.arguments.keywords.iter().all(named)
    }

    /// A text that is no address and runs nothing, or what a library makes of its data.
    fn is_shown(&self, shown: &Expr, depth: usize) -> bool {
        if let Some(texts) = self.texts(shown, 0) {
            return texts.iter().all(|text| {
                !shows_script(text)
                    && !text.starts_with(['/', '~', '.'])
                    && !text.starts_with("..")
                    && !text.contains("/..")
            });
        }
        match shown {
            Expr::FString(text) => {
                let first = text.value.elements().next().and_then(|first| first.as_literal());
                let mut literals = text.value.elements().filter_map(|element| element.as_literal());
                first.is_some_and(|first| first.value.trim_start().starts_with(['<', '#', '$', '*', '\\']))
                    && literals.all(|literal| !shows_script(&literal.value))
            }
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Attribute(method) if matches!(method.attr.as_str(), "to_html" | "to_jshtml" | "render" | "_repr_html_"))
            }
            Expr::Name(name) if depth < 3 => {
                self.is_bound_to(name, |what| matches!(what, What::Value(value) if self.is_shown(value, depth + 1)))
            }
            _ => false,
        }
    }

    pub(super) fn is_callable(&self, value: &Expr) -> bool {
        value.is_lambda_expr() || self.is_own_definition(value)
    }
}

pub(super) fn has_one_argument(call: &ExprCall) -> bool {
    call.arguments.args.len() == 1 && call.arguments.keywords.is_empty() && !has_stars(call)
}

fn first(call: &ExprCall) -> Option<&Expr> {
    call.arguments.args.first()
}

pub(super) fn has_stars(call: &ExprCall) -> bool {
    call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
}

/// `names` are parted by blanks.
pub(super) fn is_named(keyword: &Keyword, names: &str) -> bool {
    keyword.arg.as_ref().is_some_and(|name| names.split(' ').any(|one| one == name.as_str()))
}

pub(crate) fn is_harmless_name(name: &str) -> bool {
    match name.starts_with('_') {
        true => builtins::HARMLESS_DUNDERS.has(name) && !matches!(name, "__init__" | "__new__" | "__call__"),
        false => attribute(name) == Attribute::Harmless && !rules::is_never_named(name),
    }
}
