//! Names that are judged one by one: attributes of values, and members of libraries that some arguments make do more.

use ruff_python_ast::{Expr, ExprAttribute, ExprCall, Stmt, StmtClassDef};
use ruff_text_size::Ranged;

use super::bindings::What;
use super::walk::{Checker, Found, Meaning, spoken};
use super::{builtins, rules};
use crate::DangerRule::*;
use crate::known::{self, Attribute};
use crate::{Danger, table};

fn draws(path: &str) -> bool {
    path.starts_with("matplotlib.") || path.starts_with("mpl_toolkits.")
}

impl<'a> Checker<'a> {
    /// A function that is harmless but for what some arguments make it do.
    pub(super) fn told_member(&mut self, path: &str, expression: &'a Expr, call: Option<&'a ExprCall>, is_base: bool) {
        let name = path.rsplit('.').next().unwrap_or_default();
        let is_told = path.starts_with("pandas.") && rules::NAME_FUNCTIONS.has(name);
        let Some(call) = call else {
            let is_drawing = || draws(path) && rules::place_of_settings(name).is_some();
            return match is_told || path == "builtins.help" {
                _ if is_base => {}
                true => self.add(RunsText, spoken(path), expression, true),
                false if is_drawing() => self.add(HandedOn, spoken(path), expression, true),
                false => {}
            };
        };
        let given = &call.arguments.args;
        if draws(path) && (!self.has_plain_settings(name, call) || self.gives_unread_dictionary(call)) {
            self.add(UnknownSetting, path, expression, false);
        // `help('module')` imports it.
        } else if path == "builtins.help" && !given.iter().all(|thing| self.is_no_text(thing)) {
            self.add(RunsText, "help", expression, false);
        } else if is_told && !self.names_harmless_functions(name, call) {
            self.add(RunsText, path, expression, true);
        // The sixteenth is a format.
        } else if path.starts_with("tqdm.") && given.len() > 15 {
            self.add(RunsText, path, expression, false);
        } else if path.starts_with("altair.") && given.iter().any(|given| self.is_address(given)) {
            self.add(NetworkRead, path, expression, false);
        }
    }

    /// A module, function or class by its name.
    fn is_no_text(&self, thing: &Expr) -> bool {
        let is_library =
            |meaning: &Meaning| matches!(meaning, Meaning::Module(_) | Meaning::Member(_) | Meaning::Ruled(..));
        let is_of_library = |thing: &Expr| self.means(thing, is_library);
        is_of_library(thing)
            || self.is_own_definition(thing)
            || matches!(thing, Expr::Attribute(attribute) if is_of_library(&attribute.value))
    }

    pub(super) fn is_own_definition(&self, thing: &Expr) -> bool {
        let is_definition = |what: &What| matches!(what, What::Function(_) | What::Class(_));
        thing.as_name_expr().is_some_and(|name| self.is_bound_to(name, is_definition))
    }

    fn is_address(&self, given: &Expr) -> bool {
        self.texts(given, 0).is_some_and(|texts| texts.iter().any(|text| text.contains("//")))
    }

    /// An attribute of a value of which no more is known than that it harms nobody.
    pub(super) fn attribute(&mut self, attribute: &'a ExprAttribute, call: Option<&'a ExprCall>) {
        let name = attribute.attr.as_str();
        let own = self.globals.attributes.get(name);
        if let Some(bound) = own {
            let led = bound
                .iter()
                .filter(|(cell, _)| *cell < self.globals.judged_from)
                .find_map(|(_, what)| self.leads_to(*what, true));
            if let Some(danger) = led {
                let line = self.lines.at(attribute.attr.start().to_usize());
                let danger = Danger { lines: vec![line], through: Some(format!(".{name}")), ..danger };
                self.found.push(Found { danger, taints: true });
            }
        }
        if let Some(call) = call
            && let Some(rule) = self.harm_of_method(name, &attribute.value, call)
        {
            return self.add(rule, &format!(".{name}"), attribute, true);
        }
        if let Some(rule) = self.harm_of_path(name, &attribute.value, call) {
            return self.add(rule, &format!(".{name}"), attribute, false);
        }
        let is_harmless = match name {
            // Called on an object that is there, they make it anew: an opened file, for writing.
            "__init__" | "__new__" => call.is_some() && self.is_class(&attribute.value),
            _ if name.starts_with("__") && name.ends_with("__") => builtins::HARMLESS_DUNDERS.has(name),
            _ if name.starts_with('_') => own.is_some() && !known::is_withheld_private(name),
            _ if rules::NAME_FUNCTIONS.has(name) => call.is_some(),
            "update" => call.is_some() || self.is_own_container(&attribute.value, 0),
            _ if rules::place_of_settings(name).is_some() && name.starts_with("set_") => call.is_some(),
            "format" | "inspect" | "format_index" | "filter" => call.is_some(),
            "glob" => call.is_some_and(|call| self.finds_places(&attribute.value, call, 0)),
            _ => match known::attribute(name) {
                Attribute::Harmless => true,
                Attribute::Unknown => {
                    own.is_some() || call.is_none_or(|call| self.is_harmless_use(name, &attribute.value, call))
                }
                Attribute::Withheld => {
                    self.is_of_own_class(&attribute.value, name)
                        || call.is_some_and(|call| self.is_harmless_use(name, &attribute.value, call))
                }
            },
        };
        if is_harmless && call.is_some() && self.sends(name, &attribute.value) {
            self.add(NetworkSend, &format!(".{name}"), attribute, true);
        }
        if !is_harmless {
            let names_functions = rules::NAME_FUNCTIONS.has(name) || name == "filter";
            let unknown = if names_functions { RunsText } else { UnknownAttribute };
            let rule = self.rule_of(&format!(".{name}"), unknown, call);
            // What a writer answers is text or nothing.
            let taints = !(name.starts_with("to_") || name.starts_with("save") || name.starts_with("write"));
            self.add(rule, &format!(".{name}"), attribute, taints);
        }
    }

    /// `session.post(…)`, where nobody knows what made the session.
    fn sends(&self, name: &str, value: &Expr) -> bool {
        let is_unknown = |call: &ExprCall| {
            let meant = self.path(&call.func);
            meant.iter().any(|meaning| matches!(meaning, Meaning::Unknown(_) | Meaning::Unbound(_)))
        };
        let is_given = |what: &What| matches!(what, What::Value(Expr::Call(call)) if is_unknown(call));
        table::rule_of_attribute(name) == Some(NetworkSend)
            && match value {
                Expr::Call(call) => is_unknown(call),
                Expr::Name(name) => self.bound(name.id.as_str()).is_some_and(|bound| bound.iter().any(is_given)),
                _ => false,
            }
    }

    fn is_class(&self, base: &Expr) -> bool {
        matches!(base, Expr::Call(call) if self.calls(call, "builtins.super"))
            || self.means(base, |meaning| matches!(meaning, Meaning::Member(_)))
            || self.is_own_definition(base)
    }

    /// Whether the value is an object of a class of the notebook that has this attribute itself.
    fn is_of_own_class(&self, value: &Expr, attribute: &str) -> bool {
        let defines = |class: &StmtClassDef| {
            class.body.iter().filter_map(Stmt::as_function_def_stmt).any(|function| function.name.as_str() == attribute)
        };
        match value {
            Expr::Name(name) => {
                // `A.method(other)` makes `self` any object: then these names must do no harm on it.
                if name.id.as_str() == "self" && self.classes.last().is_some_and(|class| defines(class)) {
                    return rules::MILD_METHODS.has(attribute);
                }
                self.is_bound_to(name, |what| match what {
                    What::Value(value) => value.is_call_expr() && self.is_of_own_class(value, attribute),
                    What::Class(class) => defines(class),
                    What::Inserted(_) => true,
                    _ => false,
                })
            }
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => self.is_bound_to(name, |what| matches!(what, What::Class(class) if defines(class))),
                _ => false,
            },
            _ => false,
        }
    }
}
