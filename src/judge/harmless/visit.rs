//! The walk's steps: statements, expressions, scopes.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, CmpOp, Comprehension, Decorator, Expr, ExprAttribute, ExprCall, ExprCompare, ExprContext, ExprSubscript,
    InterpolatedStringElement, Operator, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef, StmtImportFrom,
};
use ruff_text_size::Ranged;

use super::arguments::{has_one_argument, is_harmless_name, is_named};
use super::bindings::Names;
use super::builtins;
use super::cells::shows_script;
use super::rules::{self, Rule};
use super::scope::{elements, of_comprehension, of_function};
use super::walk::{Checker, LOOKS, Meaning, Scope, of_path, spoken};
use crate::DangerRule::*;
use crate::known::{self, Attribute, attribute};
use crate::python::MAX_DEPTH;
use crate::{magics, table};

impl<'a> Checker<'a> {
    fn deeper(&mut self, node: &impl Ranged, visit: impl FnOnce(&mut Self)) {
        if !self.globals.budget.spend(1) {
            return;
        }
        if self.depth >= MAX_DEPTH {
            return self.add(TooNested, "This code", node, true);
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn inside(&mut self, names: Names<'a>, is_class: bool, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(Scope { names, is_class });
        visit(self);
        self.scopes.pop();
    }

    // --- definitions ---

    pub(crate) fn function(&mut self, function: &'a StmtFunctionDef) {
        function.decorator_list.iter().for_each(|decorator| self.decorator(decorator));
        self.visit_parameters(&function.parameters);
        function.returns.iter().for_each(|returns| self.visit_annotation(returns));
        self.definition(function.name.as_str(), function);
        function.type_params.iter().for_each(|parameters| self.visit_type_params(parameters));
        if self.is_only_registered(function) {
            return;
        }
        let names = of_function(Some(&function.parameters), &function.body);
        let outer = self.is_shown;
        self.is_shown |= function.name.starts_with("_repr_");
        self.inside(names, false, |checker| checker.visit_body(&function.body));
        self.is_shown = outer;
    }

    /// `@notarium.tool` registers it, and nothing calls it.
    fn is_only_registered(&self, function: &StmtFunctionDef) -> bool {
        let [decorator] = function.decorator_list.as_slice() else { return false };
        let func = decorator.expression.as_call_expr().map_or(&decorator.expression, |call| &*call.func);
        self.globals.only_registered.contains(function.name.as_str())
            && self.path(func) == [Meaning::Member("notarium.tool".to_owned())]
    }

    /// `@wraps(f)` and `@dataclass` change the definition below them, and nothing else.
    fn decorator(&mut self, decorator: &'a Decorator) {
        let (func, call) = match &decorator.expression {
            Expr::Call(call) => (&*call.func, Some(call)),
            func => (func, None),
        };
        let is_known = match self.definers(func).as_deref() {
            Some("functools.wraps") => call.is_some_and(has_one_argument),
            Some("dataclasses.dataclass") => call.is_none_or(|call| call.arguments.args.is_empty()),
            _ => false,
        };
        match call {
            Some(call) if is_known => {
                self.check_keywords(call, false);
                self.visit_arguments(&call.arguments);
            }
            None if is_known => {}
            _ => self.visit_decorator(decorator),
        }
    }

    /// The path of what makes or changes a definition.
    fn definers(&self, expression: &Expr) -> Option<String> {
        match self.path(expression).as_slice() {
            [Meaning::Ruled(path, Rule::Defines)] => Some(path.clone()),
            _ => None,
        }
    }

    fn lambda(&mut self, parameters: Option<&'a Parameters>, body: &'a Expr) {
        parameters.into_iter().for_each(|parameters| self.visit_parameters(parameters));
        self.inside(of_function(parameters, &[]), false, |checker| checker.visit_expr(body));
    }

    pub(crate) fn class(&mut self, class: &'a StmtClassDef) {
        class.decorator_list.iter().for_each(|decorator| self.decorator(decorator));
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                if self.definers(base).as_deref() != Some("typing.TypedDict") {
                    self.visit_expr(base);
                }
            }
            for keyword in &arguments.keywords {
                let is_total = is_named(keyword, "total") && keyword.value.is_boolean_literal_expr();
                if !is_total && self.definers(&keyword.value).as_deref() != Some("abc.ABCMeta") {
                    self.add(HooksIn, "metaclass=", keyword, true);
                    self.visit_expr(&keyword.value);
                }
            }
            if !arguments.args.is_empty() {
                self.parameters_of_library(class);
            }
        }
        class.type_params.iter().for_each(|parameters| self.visit_type_params(parameters));
        let names = of_function(None, &class.body);
        self.classes.push(class);
        self.inside(names, true, |checker| class.body.iter().for_each(|statement| checker.member(statement)));
        self.classes.pop();
    }

    /// Parameters of `__init__` are attributes that a library reads by their names: `BaseEstimator.get_params`.
    fn parameters_of_library(&mut self, class: &'a StmtClassDef) {
        let functions = class.body.iter().filter_map(Stmt::as_function_def_stmt);
        for function in functions.filter(|function| function.name.as_str() == "__init__") {
            for parameter in function.parameters.iter().map(|parameter| parameter.name()) {
                if attribute(parameter.as_str()) == Attribute::Withheld {
                    self.add(UnknownAttribute, &format!(".{parameter}"), parameter, true);
                }
            }
        }
    }

    fn member(&mut self, statement: &'a Stmt) {
        // A bare annotation makes a field, which patterns read by its name.
        if let Stmt::AnnAssign(field) = statement
            && let (None, Expr::Name(name)) = (&field.value, &*field.target)
            && attribute(name.id.as_str()) == Attribute::Withheld
        {
            self.add(UnknownAttribute, &format!(".{}", name.id), field, true);
        }
        self.visit_stmt(statement);
    }

    /// Names between underscores are called by Python itself.
    fn definition(&mut self, name: &str, node: &impl Ranged) {
        let is_hook = name.starts_with("__") && name.ends_with("__") && name.len() > 4;
        let shows =
            matches!(name, "_repr_javascript_" | "_repr_mimebundle_" | "_ipython_display_" | "_get_param_names");
        if is_hook && !builtins::HARMLESS_DUNDERS.has(name) || shows {
            self.add(HooksIn, name, node, true);
        }
    }

    fn comprehension(&mut self, generators: &'a [Comprehension], values: &[&'a Expr]) {
        let mut names = Names::default();
        generators.iter().for_each(|one| of_comprehension(&one.target, &one.iter, &mut names));
        // What the first one goes through is looked up outside.
        generators.iter().take(1).for_each(|first| self.visit_expr(&first.iter));
        self.inside(names, false, |checker| {
            for (at, generator) in generators.iter().enumerate() {
                if at > 0 {
                    checker.visit_expr(&generator.iter);
                }
                checker.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|test| checker.visit_expr(test));
            }
            values.iter().for_each(|value| checker.visit_expr(value));
        });
    }

    // --- imports ---

    fn import(&mut self, alias: &'a Alias) {
        let path = alias.name.as_str();
        if !known::is_module(path) {
            self.add(table::rule_of(path).unwrap_or(UnknownModule), path, alias, true);
        }
    }

    fn import_from(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        for alias in &import.names {
            let path = format!("{module}.{}", alias.name);
            if import.level > 0
                || !known::is_module(module) && !matches!(of_path(&path), Meaning::Module(_) | Meaning::Ruled(..))
            {
                match table::rule_of(&path) {
                    Some(rule) => self.add(rule, &path, alias, true),
                    None => self.add(UnknownModule, if module.is_empty() { "." } else { module }, alias, true),
                }
            } else if alias.name.as_str() == "*" && !rules::HARMLESS_STARS.has(module) {
                self.add(UnknownModule, &format!("{module}.*"), alias, true);
            } else if alias.name.as_str() != "*"
                && let Meaning::Unknown(path) = of_path(&path)
            {
                let rule = self.rule_of(&path, UnknownFunction, None);
                self.add(rule, &path, alias, true);
            }
        }
    }

    // --- changes ---

    /// An attribute that is set or deleted.
    fn set_attribute(&mut self, target: &'a ExprAttribute) {
        let (name, base) = (target.attr.as_str(), &*target.value);
        let is_own = matches!(base, Expr::Name(own) if matches!(own.id.as_str(), "self" | "cls"));
        let meanings = self.path(base);
        let is_library = meanings.iter().any(|meaning| match meaning {
            Meaning::Member(path) | Meaning::Unknown(path) => {
                !path.starts_with("pandas.options.display") && !path.starts_with("pandas.options.mode")
            }
            Meaning::Module(_) | Meaning::Ruled(..) => true,
            _ => false,
        });
        let is_class = matches!(base, Expr::Call(call) if self.calls(call, "builtins.type"));
        // Of `self` too: `A.method(other)` makes it any object.
        if rules::is_told_attribute(name) {
            self.add(rules::harm_of_setting(name), &format!(".{name} ="), target, true);
        }
        if is_library || is_class || name.starts_with("__") || name.starts_with('_') && !is_own {
            let is_core = |path: &str| path.starts_with("builtins") || path.starts_with("importlib");
            let rule = match rules::harm_of_setting(name) {
                _ if meanings.iter().filter_map(Meaning::unknown).any(is_core) => Internals,
                UnknownSetting => ChangesLibrary,
                told => told,
            };
            self.add(rule, &format!(".{name} ="), target, true);
        }
        if !meanings.iter().filter_map(Meaning::unknown).any(|path| path.starts_with("pandas.options.")) {
            self.base(base);
        }
    }

    /// True when the base needs no further look: settings of pictures.
    fn setting(&mut self, subscript: &'a ExprSubscript) -> bool {
        let is_settings = |path: &str| path.ends_with(".rcParams") || path.ends_with(".rcParamsDefault");
        if !self.means(&subscript.value, |meaning| meaning.unknown().is_some_and(is_settings)) {
            return false;
        }
        let keys = self.texts(&subscript.slice, 0);
        let reads = matches!(subscript.ctx, ExprContext::Load);
        if !keys.as_ref().is_some_and(|keys| reads || keys.iter().all(|key| rules::is_harmless_setting(key))) {
            let rule = keys.iter().flatten().map(|key| rules::harm_of_picture_setting(key)).min();
            self.add(rule.unwrap_or(UnknownSetting), "rcParams[…]", subscript, true);
        }
        true
    }

    // --- calls ---

    fn call(&mut self, call: &'a ExprCall) {
        let func = &*call.func;
        let mut is_ruled = false;
        let mut only_looks = false;
        match func {
            Expr::Name(_) | Expr::Attribute(_) => {
                let meanings = self.path(func);
                is_ruled = meanings.iter().any(|meaning| matches!(meaning, Meaning::Ruled(_, rule) if !matches!(rule, Rule::SetsByName | Rule::NamesAttributes)));
                only_looks = meanings.iter().all(|meaning| match meaning {
                    Meaning::Member(path) => LOOKS.contains(&spoken(path)),
                    Meaning::Ruled(_, rule) => matches!(rule, Rule::Type | Rule::AttributeByName),
                    _ => false,
                });
                self.usage(func, Some(call), false);
            }
            func => self.visit_expr(func),
        }
        self.check_keywords(call, is_ruled);
        if only_looks && !matches!(func, Expr::Name(name) if name.id.ends_with("attr")) || self.compares(func) {
            call.arguments.args.iter().for_each(|given| self.look_at(given));
        }
        for given in &call.arguments.args {
            let is_module = only_looks && self.path(given).iter().all(|meaning| matches!(meaning, Meaning::Module(_)));
            if !is_module || !given.is_name_expr() {
                self.visit_expr(given);
            }
        }
        call.arguments.keywords.iter().for_each(|keyword| self.visit_expr(&keyword.value));
    }

    /// `isinstance(a, type(b))`, `'{}'.format(type(b))`.
    fn compares(&self, func: &Expr) -> bool {
        const COMPARE: &[&str] = &["builtins.isinstance", "builtins.issubclass"];
        matches!(func, Expr::Attribute(method) if method.attr.as_str() == "format" && method.value.is_string_literal_expr())
            || self.means(func, |meaning| matches!(meaning, Meaning::Member(path) if COMPARE.contains(&path.as_str())))
    }

    /// `type(a) == int`: no method of the notebook gets the type.
    fn compare(&mut self, compare: &ExprCompare) {
        let is_identity = compare.ops.iter().all(|op| matches!(op, CmpOp::Is | CmpOp::IsNot));
        let sides = || std::iter::once(&*compare.left).chain(&compare.comparators);
        if is_identity || sides().all(|side| self.is_plain_type(side)) {
            sides().for_each(|side| self.look_at(side));
        }
    }

    fn is_plain_type(&self, side: &Expr) -> bool {
        match side {
            Expr::Call(call) => self.calls(call, "builtins.type"),
            Expr::NoneLiteral(_) | Expr::StringLiteral(_) => true,
            Expr::Name(_) | Expr::Attribute(_) => {
                self.means(side, |meaning| matches!(meaning, Meaning::Member(_))) || self.is_own_definition(side)
            }
            other => elements(other).is_some_and(|parts| parts.iter().all(|part| self.is_plain_type(part))),
        }
    }

    /// `'df' in globals()` only asks.
    fn asks_for_names(&self, place: &Expr) -> bool {
        matches!(place, Expr::Call(call) if call.arguments.is_empty() && (self.calls(call, "builtins.globals") || self.calls(call, "builtins.locals")))
    }
}

impl<'a> Visitor<'a> for Checker<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.deeper(statement, |checker| match statement {
            Stmt::FunctionDef(function) => checker.function(function),
            Stmt::ClassDef(class) => checker.class(class),
            Stmt::Import(import) => import.names.iter().for_each(|alias| checker.import(alias)),
            Stmt::ImportFrom(import) => checker.import_from(import),
            Stmt::IpyEscapeCommand(escape) => {
                checker.add_magic(&magics::of_escape(escape.kind, &escape.value), escape);
            }
            Stmt::Expr(shown) => {
                checker.look_at(&shown.value);
                checker.visit_expr(&shown.value);
            }
            _ => visitor::walk_stmt(checker, statement),
        });
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.deeper(expression, |checker| match expression {
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => checker.usage(expression, None, false),
                _ => checker.definition(name.id.as_str(), name),
            },
            Expr::Attribute(target) => match target.ctx {
                ExprContext::Load => checker.usage(expression, None, false),
                _ => checker.set_attribute(target),
            },
            Expr::Call(call) => checker.call(call),
            Expr::Subscript(subscript) if checker.setting(subscript) || checker.looks_up(subscript) => {
                checker.visit_expr(&subscript.slice);
            }
            Expr::Compare(compare) => {
                checker.compare(compare);
                let is_membership = compare.ops.iter().all(|op| matches!(op, CmpOp::In | CmpOp::NotIn));
                checker.visit_expr(&compare.left);
                for place in &compare.comparators {
                    if is_membership && checker.is_only_asked(place) {
                        checker.add(UnknownFunction, "in", compare, false);
                    } else if !is_membership || !checker.asks_for_names(place) {
                        checker.visit_expr(place);
                    }
                }
            }
            Expr::BinOp(made) if made.op == Operator::Mod && made.left.is_string_literal_expr() => {
                checker.look_at(&made.right);
                visitor::walk_expr(checker, expression);
            }
            // `'__glo' + 'bals__'`
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                let texts = checker.texts(expression, 0).unwrap_or_default();
                if let Some(text) = texts.iter().find(|text| names_internals(text)) {
                    checker.add(Internals, text, sum, true);
                }
                if texts.iter().any(|text| text.contains("usetex")) {
                    checker.add(DrawsWithProgram, "usetex", sum, false);
                }
                visitor::walk_expr(checker, expression);
            }
            Expr::StringLiteral(text) => {
                let words = text.value.to_str();
                if names_internals(words) {
                    checker.add(Internals, words, text, true);
                }
                if words == "usetex" {
                    checker.add(DrawsWithProgram, words, text, false);
                }
                if checker.is_shown && shows_script(words) {
                    checker.add(BrowserScript, words, text, false);
                }
            }
            Expr::IpyEscapeCommand(escape) => {
                checker.add_magic(&magics::of_escape(escape.kind, &escape.value), escape);
            }
            Expr::Lambda(lambda) => checker.lambda(lambda.parameters.as_deref(), &lambda.body),
            Expr::ListComp(list) => checker.comprehension(&list.generators, &[&list.elt]),
            Expr::SetComp(set) => checker.comprehension(&set.generators, &[&set.elt]),
            Expr::Generator(generator) => checker.comprehension(&generator.generators, &[&generator.elt]),
            Expr::DictComp(dict) => {
                let values: Vec<&Expr> = dict.key.as_deref().into_iter().chain([&*dict.value]).collect();
                checker.comprehension(&dict.generators, &values);
            }
            _ => visitor::walk_expr(checker, expression),
        });
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if let InterpolatedStringElement::Interpolation(field) = element {
            self.look_at(&field.expression);
        }
        visitor::walk_interpolated_string_element(self, element);
    }

    // A pattern reads attributes by their names.
    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.deeper(pattern, |checker| {
            if let Pattern::MatchClass(class) = pattern {
                for keyword in &class.arguments.keywords {
                    let name = keyword.attr.as_str();
                    let is_column = attribute(name) == Attribute::Unknown && !name.starts_with('_');
                    if !is_harmless_name(name) && !is_column {
                        let rule = checker.rule_of(&format!(".{name}"), UnknownAttribute, None);
                        checker.add(rule, &format!(".{name}"), pattern, true);
                    }
                }
            }
            visitor::walk_pattern(checker, pattern);
        });
    }
}

/// A word between underscores that leads into Python itself.
fn names_internals(text: &str) -> bool {
    let words = text.split(|found: char| !found.is_ascii_alphanumeric() && found != '_');
    let mut hooks = words.filter(|word| word.len() > 4 && word.starts_with("__") && word.ends_with("__"));
    hooks.any(|word| {
        word != "__main__" && !builtins::HARMLESS_DUNDERS.has(word) && word.chars().any(char::is_alphabetic)
    })
}
