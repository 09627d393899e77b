//! What calling a function does that another cell defines: a name stands for the dangers of its body, also of those that the
//! body calls. As everywhere order is not regarded, so a name that is defined twice does what either does.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ModModule, Stmt};

use super::DangerRule;
use super::python::Source;

/// Rounds in which functions take on what those do that are defined after them.
const MAX_ROUNDS: usize = 4;

pub(super) type Rules = BTreeSet<DangerRule>;

/// Functions, classes and lambdas by name, methods by `.name`: those alone that are dangerous.
#[derive(Default, Clone, PartialEq, Eq)]
pub(super) struct Definitions(BTreeMap<String, Rules>);

impl Definitions {
    pub(super) fn of_name(&self, name: &str) -> impl Iterator<Item = DangerRule> {
        self.0.get(name).into_iter().flatten().copied()
    }

    pub(super) fn of_method(&self, name: &str) -> impl Iterator<Item = DangerRule> {
        self.0.get(&format!(".{name}")).into_iter().flatten().copied()
    }

    pub(super) fn add(&mut self, name: String, rules: Rules) {
        if !rules.is_empty() {
            self.0.entry(name).or_default().extend(rules);
        }
    }
}

/// Follows the definitions of these cells, whose names the source knows.
pub(super) fn follow(source: &mut Source, cells: &[&ModModule]) {
    for _ in 0..MAX_ROUNDS {
        let before = source.definitions.clone(); // An Rc: what is added makes a copy, once in a round.
        for cell in cells {
            Definer { source, class: false, depth: 0 }.visit_body(&cell.body);
        }
        if source.definitions == before {
            return;
        }
    }
}

struct Definer<'s> {
    source: &'s mut Source,
    class: bool,
    depth: usize,
}

impl<'a> Visitor<'a> for Definer<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.depth >= super::python::MAX_DEPTH {
            return;
        }
        match statement {
            // What stands in a function cannot be called from outside.
            Stmt::FunctionDef(function) => {
                let rules = self.source.rules_of(&function.body);
                let dot = if self.class { "." } else { "" };
                self.source.define(format!("{dot}{}", function.name), rules);
            }
            Stmt::ClassDef(class) => {
                // A class in a class is reached by the outer one's name: no body is walked once for each level.
                if !self.class {
                    let rules = self.source.rules_of(&class.body);
                    self.source.define(class.name.to_string(), rules);
                }
                self.inside(true, statement);
            }
            Stmt::Assign(assign) => {
                let rules = self.rules_of_value(&assign.value);
                for name in assign.targets.iter().filter_map(Expr::as_name_expr) {
                    self.source.define(name.id.to_string(), rules.clone());
                }
            }
            _ => self.inside(self.class, statement),
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

impl Definer<'_> {
    fn inside(&mut self, class: bool, statement: &Stmt) {
        let outer = std::mem::replace(&mut self.class, class);
        self.depth += 1;
        visitor::walk_stmt(self, statement);
        self.depth -= 1;
        self.class = outer;
    }

    /// Of a lambda, and of another name for what is defined.
    fn rules_of_value(&self, value: &Expr) -> Rules {
        match value {
            Expr::Lambda(lambda) => self.source.rules_of_expression(&lambda.body),
            Expr::Name(name) => self.source.definitions.of_name(name.id.as_str()).collect(),
            _ => Rules::new(),
        }
    }
}
