//! Dictionaries of arguments and settings that are handed on: their keys are read, or it asks.

use ruff_python_ast::{Expr, ExprCall};

use super::arguments::has_stars;
use super::bindings::What;
use super::rules;
use super::walk::{Checker, Meaning};
use crate::DangerRule::*;

const MAX_FOLLOWED: usize = 4;

impl<'a> Checker<'a> {
    /// `f(**settings)`
    pub(super) fn check_spread(&mut self, call: &'a ExprCall, value: &'a Expr) {
        let rule = match self.keys(value, 0) {
            Some(keys) => keys.iter().find(|key| rules::is_told_key(key)).map(|key| rules::harm_of_setting(key)),
            None if self.calls(call, "types.SimpleNamespace") => Some(HandedOn),
            None => (!self.are_own_keywords(value) && !self.takes_no_settings(call)).then_some(HandedOn),
        };
        if let Some(rule) = rule {
            self.add(rule, "**", call, false);
        }
    }

    /// Whether what is called hands no arguments by name on that it does not know.
    fn takes_no_settings(&self, call: &ExprCall) -> bool {
        const MAKERS: &str = "builtins.dict collections.OrderedDict collections.Counter";
        let takes_none = |what: &What| match what {
            What::Function(function) => function.parameters.kwarg.is_none() && function.decorator_list.is_empty(),
            _ => false,
        };
        self.calls_any(call, MAKERS)
            || match &*call.func {
                Expr::Attribute(method) => method.attr.as_str() == "format",
                Expr::Name(name) => self.is_bound_to(name, takes_none),
                _ => false,
            }
    }

    /// `**kwargs` of a function of the notebook: who calls it is checked for the same names.
    fn are_own_keywords(&self, value: &Expr) -> bool {
        let is_own = |what: &What| matches!(what, What::Keywords);
        value.as_name_expr().is_some_and(|name| self.is_bound_to(name, is_own))
    }

    /// A dictionary of arguments none of which does more, or no dictionary.
    pub(super) fn are_plain_settings(&self, value: &Expr, depth: usize) -> bool {
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return false;
        }
        let is_plain = |inner: &Expr| !inner.is_dict_expr() || self.are_plain_settings(inner, depth + 1);
        self.are_own_keywords(value)
            || value.is_literal_expr()
            || value.is_f_string_expr()
            || self.keys_are(value, |key| !rules::is_told_key(key))
                && value.as_dict_expr().is_none_or(|dict| dict.iter_values().all(is_plain))
    }

    /// What stands where a function that draws takes a dictionary of settings.
    pub(super) fn has_plain_settings(&self, function: &str, call: &ExprCall) -> bool {
        let arguments = &call.arguments.args;
        let Some(place) = rules::place_of_settings(function) else {
            return !(function.starts_with("set_") && self.gives_unread_dictionary(call));
        };
        match arguments.iter().position(Expr::is_starred_expr) {
            // What is spread may be long enough that the last one stands there.
            Some(at) if at <= place => arguments.last().is_some_and(|last| self.is_surely_text(last)),
            _ => arguments
                .iter()
                .skip(place)
                .all(|given| self.are_plain_settings(given, 0) || self.is_no_dictionary(given)),
        }
    }

    /// Whether a dictionary is given by its place the keys of which nobody can read, or do more.
    pub(super) fn gives_unread_dictionary(&self, call: &ExprCall) -> bool {
        let is_made = |value: &Expr| match value {
            Expr::Dict(_) | Expr::DictComp(_) => true,
            Expr::Call(call) => self.calls(call, "builtins.dict"),
            _ => false,
        };
        let is_dictionary = |given: &Expr| match given {
            Expr::Name(name) => {
                let bound = self.bindings(name.id.as_str()).unwrap_or_default();
                bound.iter().any(|what| matches!(what, What::Value(value) if is_made(value)))
            }
            given => is_made(given),
        };
        call.arguments.args.iter().any(|given| is_dictionary(given) && !self.are_plain_settings(given, 0))
    }

    fn is_surely_text(&self, given: &Expr) -> bool {
        self.texts(given, 0).is_some() || self.is_no_dictionary(given)
    }

    /// By its form alone.
    fn is_no_dictionary(&self, given: &Expr) -> bool {
        match given {
            Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::Generator(_) => true,
            Expr::UnaryOp(unary) => self.is_no_dictionary(&unary.operand),
            Expr::BinOp(made) => self.is_no_dictionary(&made.left) || self.is_no_dictionary(&made.right),
            Expr::Call(call) => {
                const MAKERS: &str = "builtins.str builtins.len builtins.round builtins.set builtins.list \
                                      builtins.tuple builtins.format builtins.range builtins.sorted";
                self.calls_any(call, MAKERS)
                    || matches!(&*call.func, Expr::Attribute(method) if matches!(method.attr.as_str(), "format" | "encode" | "split" | "strip" | "lower" | "join"))
            }
            other => other.is_literal_expr() || other.is_f_string_expr(),
        }
    }

    /// `d.update(…)`: of something that draws it sets what the keys say.
    pub(super) fn updates_plainly(&self, base: &Expr, call: &ExprCall) -> bool {
        let is_plain = |given: &Expr| self.are_plain_settings(given, 0) || self.is_no_dictionary(given);
        self.is_own_container(base, 0) || !has_stars(call) && call.arguments.args.iter().all(is_plain)
    }

    /// A dictionary, a set or a counter that the notebook makes.
    pub(super) fn is_own_container(&self, base: &Expr, depth: usize) -> bool {
        const MAKERS: &str = "builtins.dict builtins.set collections.Counter collections.defaultdict \
                              collections.OrderedDict tqdm.tqdm tqdm.notebook.tqdm tqdm.auto.tqdm";
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return false;
        }
        match base {
            Expr::Dict(_) | Expr::Set(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
            Expr::Call(call) => {
                self.calls_any(call, MAKERS)
                    || self
                        .path(&call.func)
                        .iter()
                        .any(|meaning| matches!(meaning, Meaning::Member(path) if path.starts_with("hashlib.")))
            }
            Expr::Name(name) => self.is_bound_to_container(name.id.as_str(), depth),
            // `self.counts`, where every class makes one.
            Expr::Attribute(own) if matches!(&*own.value, Expr::Name(name) if name.id.as_str() == "self") => {
                let bound = self.globals.attributes.get(own.attr.as_str());
                crate::known::attribute(own.attr.as_str()) == crate::known::Attribute::Unknown
                    && bound.is_some_and(|bound| {
                        !bound.is_empty()
                            && bound.iter().all(|(_, what)| matches!(what, What::Value(value) if self.is_own_container(value, depth + 1)))
                    })
            }
            _ => false,
        }
    }

    fn is_bound_to_container(&self, name: &str, depth: usize) -> bool {
        let is_container = |what: &What| match what {
            What::Value(value) => self.is_own_container(value, depth + 1),
            What::Inserted(_) | What::Keywords => true,
            _ => false,
        };
        let bound = self.bindings(name).unwrap_or_default();
        bound.iter().any(|what| matches!(what, What::Value(_) | What::Keywords)) && bound.iter().all(is_container)
    }

    /// `setp(text, 'color', 'red')`
    pub(super) fn sets_plainly(&self, call: &ExprCall) -> bool {
        let told = |name: &Expr| self.texts_are(name, |name| !rules::is_told_key(name));
        !call.arguments.args.iter().any(Expr::is_starred_expr)
            && call.arguments.args.iter().skip(1).step_by(2).all(told)
    }
}
