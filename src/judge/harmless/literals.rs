//! Texts and places that can be read off the code: only what every binding of a name says counts.

use ruff_python_ast::{
    Expr, ExprCall, ExprFString, ExprName, FStringPart, InterpolatedStringElement, Number, Operator,
};

use super::bindings::What;
use super::scope::elements;
use super::walk::{Checker, Meaning};

const MAX_FOLLOWED: usize = 6;

/// Whether a text is the path of a file in the working folder that nobody hides.
pub(crate) fn is_inside(path: &str) -> bool {
    let is_plain = |part: &str| part == "." || !part.starts_with('.') && !is_secret(part);
    !path.is_empty()
        && !path.starts_with(['/', '\\', '~', '|', '<'])
        && !path.contains([':', '$', '\n', '\0', '\\'])
        && path.split('/').all(|part| part.is_empty() || is_plain(part))
}

fn is_secret(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let endings = [".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".ppk", ".gpg", ".env", ".secret", ".token"];
    let words = ["secret", "credential", "password", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "token", "htpasswd"];
    endings.iter().any(|ending| part.ends_with(ending)) || words.iter().any(|word| part.starts_with(word))
}

/// The text with these words for its fields; `None`: there are none for one of them.
fn with_fields(text: &ExprFString, words: impl Fn(&Expr) -> Option<&'static str>) -> Option<String> {
    let element = |element: &InterpolatedStringElement| match element {
        InterpolatedStringElement::Literal(literal) => Some(literal.value.to_string()),
        InterpolatedStringElement::Interpolation(field) => words(&field.expression).map(str::to_owned),
    };
    let part = |part: &FStringPart| match part {
        FStringPart::Literal(literal) => Some(literal.value.to_string()),
        FStringPart::FString(inner) => inner.elements.iter().map(element).collect(),
    };
    text.value.iter().map(part).collect()
}

impl<'a> Checker<'a> {
    /// Whether the name is bound, and all that it is bound to is so.
    pub(super) fn is_bound_to(&self, name: &ExprName, is_so: impl Fn(&What<'a>) -> bool) -> bool {
        self.bound(name.id.as_str()).is_some_and(|bound| !bound.is_empty() && bound.iter().all(is_so))
    }

    /// Whether the name is bound to values that are so, whatever is put into them.
    pub(super) fn holds_values(&self, name: &ExprName, is_so: impl Fn(&Expr) -> bool) -> bool {
        let bound = self.bound(name.id.as_str()).unwrap_or_default();
        let is_so = |what: &What| match what {
            What::Value(value) => is_so(value),
            What::Inserted(_) => true,
            _ => false,
        };
        bound.iter().any(|what| matches!(what, What::Value(_))) && bound.iter().all(is_so)
    }

    /// Whether a dotted name stands for something, and for nothing that is not so.
    pub(super) fn means(&self, expression: &Expr, is_so: impl Fn(&Meaning) -> bool) -> bool {
        let meant = self.path(expression);
        !meant.is_empty() && meant.iter().all(is_so)
    }

    /// Whether the texts that an expression can be are known, and all are so.
    pub(super) fn texts_are(&self, expression: &Expr, is_so: impl Fn(&str) -> bool) -> bool {
        self.texts(expression, 0).is_some_and(|texts| texts.iter().all(|text| is_so(text)))
    }

    /// The texts that an expression can be; `None`: nobody knows.
    pub(crate) fn texts(&self, expression: &Expr, depth: usize) -> Option<Vec<String>> {
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return None;
        }
        match expression {
            Expr::StringLiteral(text) => Some(vec![text.value.to_str().to_owned()]),
            Expr::Name(name) => {
                let bound = self.bound(name.id.as_str());
                let mut texts = Vec::new();
                for what in bound.filter(|bound| !bound.is_empty())? {
                    match what {
                        What::Value(value) => texts.extend(self.texts(value, depth + 1)?),
                        What::Part(whole) => {
                            for part in elements(whole)? {
                                texts.extend(self.texts(part, depth + 1)?);
                            }
                        }
                        _ => return None,
                    }
                }
                (texts.len() <= 200).then_some(texts)
            }
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                let (left, right) = (self.texts(&sum.left, depth + 1)?, self.texts(&sum.right, depth + 1)?);
                (left.len() * right.len() <= 200)
                    .then(|| left.iter().flat_map(|one| right.iter().map(move |two| format!("{one}{two}"))).collect())
            }
            Expr::FString(text) => Some(vec![with_fields(text, |field| self.is_number(field).then_some("0"))?]),
            _ => None,
        }
    }

    /// A text as far as it stands in the code: what is computed reads `?`.
    pub(super) fn text_with_gaps(&self, expression: &Expr, depth: usize) -> Option<String> {
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return None;
        }
        let next = |inner: &Expr| self.text_with_gaps(inner, depth + 1);
        match expression {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            Expr::FString(text) => with_fields(text, |_| Some("?")),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                let (left, right) = (next(&sum.left), next(&sum.right));
                let or_gap = |text: &Option<String>| text.clone().unwrap_or_else(|| " ? ".to_owned());
                (left.is_some() || right.is_some()).then(|| or_gap(&left) + &or_gap(&right))
            }
            Expr::BinOp(format) if format.op == Operator::Mod => next(&format.left),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) => next(&method.value).or_else(|| next(call.arguments.args.first()?)),
                _ => next(call.arguments.args.first()?),
            },
            Expr::Named(named) => next(&named.value),
            Expr::Name(name) => {
                let values = self.bound(name.id.as_str())?.into_iter().filter_map(|what| match what {
                    What::Value(value) | What::Part(value) | What::Inserted(value) => next(value),
                    _ => None,
                });
                let texts: Vec<String> = values.collect();
                (!texts.is_empty()).then(|| texts.join(";\n"))
            }
            _ => None,
        }
    }

    /// A whole number for sure: an element of a range.
    fn is_number(&self, expression: &Expr) -> bool {
        match expression {
            Expr::NumberLiteral(number) => matches!(number.value, Number::Int(_)),
            Expr::Name(name) => self.is_bound_to(name, |what| match what {
                What::Value(value) => value.is_number_literal_expr(),
                What::Part(Expr::Call(call)) => self.calls(call, "builtins.range"),
                _ => false,
            }),
            _ => false,
        }
    }

    pub(crate) fn calls(&self, call: &ExprCall, path: &str) -> bool {
        self.means(
            &call.func,
            |meaning| matches!(meaning, Meaning::Member(found) | Meaning::Ruled(found, _) if found == path),
        )
    }

    /// `paths` are parted by blanks.
    pub(super) fn calls_any(&self, call: &ExprCall, paths: &str) -> bool {
        paths.split(' ').any(|path| self.calls(call, path))
    }

    /// Whether it is a place in the working folder, or several.
    pub(crate) fn is_place(&self, expression: &Expr, depth: usize) -> bool {
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return false;
        }
        if let Some(texts) = self.texts(expression, depth) {
            return texts.iter().all(|text| is_inside(text));
        }
        match expression {
            Expr::Name(name) => self.is_bound_to(name, |what| match what {
                What::Value(value) => self.is_place(value, depth + 1),
                What::Part(whole) => self.are_places(whole, depth + 1),
                _ => false,
            }),
            Expr::BinOp(join) if join.op == Operator::Div => {
                self.is_place(&join.left, depth + 1) && self.is_place(&join.right, depth + 1)
            }
            Expr::Call(call) if self.calls_any(call, "os.path.join pathlib.Path builtins.str") => {
                self.is_given_places(call, depth + 1)
            }
            _ => false,
        }
    }

    fn are_places(&self, expression: &Expr, depth: usize) -> bool {
        if !self.globals.budget.spend(1) {
            return false;
        }
        match expression {
            Expr::Call(call) if self.calls_any(call, "glob.glob glob.iglob") => self.is_given_places(call, depth + 1),
            Expr::Call(call) if self.calls_any(call, "builtins.sorted builtins.list") => {
                call.arguments.args.iter().all(|part| self.are_places(part, depth + 1))
            }
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) if matches!(method.attr.as_str(), "glob" | "iterdir" | "rglob") => {
                    self.finds_places(&method.value, call, depth + 1)
                }
                _ => false,
            },
            Expr::Name(name) if depth <= MAX_FOLLOWED => {
                self.is_bound_to(name, |what| matches!(what, What::Value(value) if self.are_places(value, depth + 1)))
            }
            _ => elements(expression).is_some_and(|parts| parts.iter().all(|part| self.is_place(part, depth + 1))),
        }
    }

    /// `folder.glob(pattern)`: the pattern leads out of the folder no more than the folder does, whatever its argument is called.
    pub(crate) fn finds_places(&self, folder: &Expr, call: &ExprCall, depth: usize) -> bool {
        self.is_place(folder, depth) && self.is_given_places(call, depth)
    }

    fn is_given_places(&self, call: &ExprCall, depth: usize) -> bool {
        call.arguments.keywords.is_empty() && call.arguments.args.iter().all(|part| self.is_place(part, depth))
    }

    /// What a reader may be given: a place, or something in memory or opened for reading.
    pub(crate) fn is_source(&self, expression: &Expr, depth: usize) -> bool {
        if depth > MAX_FOLLOWED || !self.globals.budget.spend(1) {
            return false;
        }
        self.is_place(expression, depth) || self.is_opened(expression, depth)
    }

    fn is_opened(&self, expression: &Expr, depth: usize) -> bool {
        const MAKERS: &str = "io.StringIO io.BytesIO builtins.open io.open gzip.open bz2.open pandas.ExcelFile";
        if !self.globals.budget.spend(1) {
            return false;
        }
        match expression {
            Expr::Call(call) => self.calls_any(call, MAKERS),
            Expr::Name(name) if depth <= MAX_FOLLOWED => {
                self.holds_values(name, |value| self.is_opened(value, depth + 1))
            }
            _ => false,
        }
    }
}
