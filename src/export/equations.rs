//! LaTeX that concerns other formulas of a notebook: definitions of macros, numbers, labels and references, as MathJax has them in Jupyter.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use crate::formulas::pattern;
use regex::{Captures, Regex};

use crate::chemistry::group_end;
use crate::formulas;

/// Macros, labels and numbers that the formulas above give to a formula.
#[derive(Debug, Clone, Default)]
pub struct Equations {
    /// Definitions by the names of their commands.
    definitions: BTreeMap<String, String>,
    /// Count of the numbered equations.
    count: usize,
    /// Texts of the equations' numbers, by label.
    references: BTreeMap<String, String>,
}

/// A formula for the renderer.
#[derive(Debug, PartialEq, Eq)]
pub struct Prepared {
    /// LaTeX after the definitions; empty if the formula only defines something.
    pub tex: String,
    pub prelude: String,
    pub labels: Vec<String>,
    /// The formula is a reference to this label.
    pub link: Option<(String, String)>,
}

static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\\(?:[a-zA-Z]+|[^a-zA-Z])";
    pattern(&format!(
        r"\\(?:(?P<command>newcommand|renewcommand|providecommand|DeclareMathOperator)\*?\s*(?:\{{\s*(?P<braced>{name})\s*\}}|(?P<bare>{name}))\s*(?:\[(?P<count>\d)\]\s*)?(?P<first>\[[^\[\]]*\]\s*)?\{{|g?def\s*(?P<def>{name})(?P<parameters>[^{{}}\\]*)\{{|let\s*(?P<let>{name})\s*=?\s*(?P<other>{name}|[^\s\\]))"
    ))
});
static BEGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\\begin\{(equation|align|gather|alignat|multline|eqnarray|flalign)(\*?)\}"));
static LABEL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\label\s*\{([^{}]*)\}"));
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\tag(\*?)\s*\{((?:[^{}]|\{[^{}]*\})*)\}"));
static NO_NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\(?:notag|nonumber)(?-u:\b)"));
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\(eqref|ref)\s*\{([^{}]*)\}"));
static REQUIRE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\require\s*\{[^{}]*\}"));
static LINES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\\\\\*?(?:\[[^\]]*\])?|\\(?:begin|end)\{|(?s:\\.)|[{}]|%[^\n]*"));

/// Commands that the page's renderer has and this one lacks.
const MORE: [(&str, &str); 5] = [
    ("\\bm", "\\def\\bm#1{\\boldsymbol{#1}}"),
    ("\\bra", "\\def\\bra#1{\\langle #1|}"),
    ("\\ket", "\\def\\ket#1{|#1\\rangle}"),
    ("\\braket", "\\def\\braket#1{\\langle #1\\rangle}"),
    ("\\mbox", "\\def\\mbox#1{\\text{#1}}"),
];

impl Equations {
    /// Reads the references of all texts of a notebook.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for text in texts {
            for formula in formulas::taken_out(text).1 {
                all.prepare(&formula.tex);
            }
        }
        let definitions = MORE.map(|(name, definition)| (name.to_owned(), definition.to_owned()));
        Self { references: all.references, definitions: BTreeMap::from(definitions), ..Self::default() }
    }

    /// The same definitions and references for an output, whose equations do not count.
    pub fn of_output(&self) -> Self {
        Self { count: 0, ..self.clone() }
    }

    /// Takes definitions, labels and numbers of the next formula.
    pub fn prepare(&mut self, tex: &str) -> Prepared {
        let own = self.define(&REQUIRE.replace_all(tex, ""));
        let mut labels = Vec::new();
        let mut out = String::new();
        let mut at = 0;
        while let Some(begin) = BEGIN.captures_at(&own, at) {
            let (name, star) = (&begin[1], &begin[2]);
            let [start, body] = begin.get(0).map_or([at, at], |whole| [whole.start(), whole.end()]);
            let closing = format!("\\end{{{name}{star}}}");
            let Some(length) = own[body..].find(&closing) else { break };
            out.push_str(&self.untagged(&own[at..start], &mut labels));
            let katex = match name {
                "multline" => "gather",
                "eqnarray" | "flalign" => "align",
                other => other,
            };
            _ = write!(out, "\\begin{{{katex}*}}");
            self.push_lines(&mut out, &own[body..body + length], name, star.is_empty(), &mut labels);
            _ = write!(out, "\\end{{{katex}*}}");
            at = body + length + closing.len();
        }
        out.push_str(&self.untagged(&own[at..], &mut labels));
        let link = REFERENCE
            .captures(out.trim())
            .filter(|found| found[0].len() == out.trim().len())
            .filter(|found| self.references.contains_key(found[2].trim()))
            .map(|found| (found[2].trim().to_owned(), self.shown(&found)));
        let tex = REFERENCE.replace_all(&out, |found: &Captures<'_>| format!("\\text{{{}}}", self.shown(found)));
        let prelude = self.definitions.values().map(|definition| format!("{definition} ")).collect();
        Prepared { tex: tex.into_owned(), prelude, labels, link }
    }

    fn shown(&self, found: &Captures<'_>) -> String {
        let text = self.references.get(found[2].trim()).map_or("???", String::as_str);
        if &found[1] == "eqref" { format!("({text})") } else { text.to_owned() }
    }

    /// Returns the formula without its definitions.
    fn define(&mut self, tex: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        while let Some(found) = DEFINITION.captures_at(tex, at) {
            let [start, from] = found.get(0).map_or([at, at], |whole| [whole.start(), whole.end()]);
            out.push_str(&tex[at..start]);
            at = from;
            let get = |name| found.name(name).map(|part| part.as_str());
            let (name, definition) = if let (Some(name), Some(other)) = (get("let"), get("other")) {
                (name, format!("\\let{name}={other}"))
            } else {
                let Some(end) = group_end(tex, from) else { continue };
                let body = &tex[from..end - 1];
                at = end;
                if let (Some(name), Some(parameters)) = (get("def"), get("parameters")) {
                    (name, format!("\\def{name}{parameters}{{{body}}}"))
                } else {
                    let Some(name) = get("braced").or_else(|| get("bare")) else { continue };
                    (name, command(name, get("command"), get("count"), get("first"), body))
                }
            };
            self.definitions.insert(name.to_owned(), definition);
        }
        out.push_str(&tex[at..]);
        out
    }

    fn push_lines(&mut self, out: &mut String, body: &str, name: &str, is_numbered: bool, labels: &mut Vec<String>) {
        let lines = lines_of(body, name == "equation");
        let last_full = lines.iter().rposition(|(text, _)| !text.trim().is_empty());
        for (at, (text, end)) in lines.iter().enumerate() {
            let own: Vec<String> = LABEL.captures_iter(text).map(|found| found[1].trim().to_owned()).collect();
            let mut text = LABEL.replace_all(text, "").into_owned();
            if name == "eqnarray" {
                text = without_second(&text);
            }
            let tag = TAG.captures(&text).map(|found| found[2].to_owned());
            let is_last = Some(at) >= last_full;
            let is_empty = text.trim().is_empty() && at + 1 == lines.len() && at > 0;
            let has_number = is_numbered
                && tag.is_none()
                && !NO_NUMBER.is_match(&text)
                && !is_empty
                && (name != "multline" || is_last);
            let number = has_number.then(|| {
                self.count += 1;
                self.count.to_string()
            });
            let text = NO_NUMBER.replace_all(&text, "");
            out.push_str(TAG.replace_all(&text, "").trim_end());
            if let Some(shown) = tag.or(number) {
                _ = write!(out, "\n\\qquad\\text{{({shown})}}");
                for label in own {
                    self.references.insert(label.clone(), shown.clone());
                    labels.push(label);
                }
            }
            out.push_str(end);
        }
    }

    /// Text outside of environments: its labels stand for its tag.
    fn untagged(&mut self, text: &str, labels: &mut Vec<String>) -> String {
        let tag = TAG.captures(text).map(|found| found[2].to_owned());
        for label in LABEL.captures_iter(text).filter_map(|found| Some((found[1].trim().to_owned(), tag.clone()?))) {
            labels.push(label.0.clone());
            self.references.insert(label.0, label.1);
        }
        let text = LABEL.replace_all(text, "");
        TAG.replace_all(&text, "\n\\qquad\\text{($2)}").into_owned()
    }
}

/// `\newcommand` as `\def`: a notebook may define a name again.
fn command(name: &str, command: Option<&str>, count: Option<&str>, first: Option<&str>, body: &str) -> String {
    if command == Some("DeclareMathOperator") {
        return format!("\\def{name}{{\\operatorname{{{body}}}}}");
    }
    let count: u8 = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    if let Some(first) = first.filter(|_| count > 0) {
        return format!("\\newcommand{{{name}}}[{count}]{}{{{body}}}", first.trim_end());
    }
    let parameters: String = (1..=count).map(|number| format!("#{number}")).collect();
    format!("\\def{name}{parameters}{{{body}}}")
}

/// Lines of an environment, each with its `\\`. Those of environments within are not counted.
fn lines_of(body: &str, is_one: bool) -> Vec<(&str, &str)> {
    let mut lines = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for sign in LINES.find_iter(body) {
        match sign.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            // The name's closing brace follows.
            "\\begin{" => depth += 2,
            "\\end{" => {}
            text if text.starts_with("\\\\") && depth == 0 && !is_one => {
                lines.push((&body[from..sign.start()], text));
                from = sign.end();
            }
            _ => {}
        }
    }
    lines.push((&body[from..], ""));
    lines
}

/// `a &=& b` of eqnarray is `a &= b` of align.
fn without_second(line: &str) -> String {
    let mut count = 0;
    let is_kept = |character: &char| {
        count += usize::from(*character == '&');
        *character != '&' || count != 2
    };
    line.chars().filter(is_kept).collect()
}

/// Name of an equation's place in the page.
pub fn place(label: &str) -> String {
    let mut out = "eq-".to_owned();
    for character in label.chars() {
        if character.is_ascii_alphanumeric() || "-.".contains(character) {
            out.push(character);
        } else {
            _ = write!(out, "_{:x}", u32::from(character));
        }
    }
    out
}
