//! Styles of pandas' Styler: rules for one table by its id, limited to properties that change no other part of the page.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use crate::formulas::pattern;
use ammonia::Builder;
use regex::Regex;

use crate::{STYLES, address, cleaner};

static STYLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)<[sS][tT][yY][lL][eE](?:[ \t\r\n/][^>]*)?>(.*?)</[sS][tT][yY][lL][eE]>"));
static RULE: LazyLock<Regex> = LazyLock::new(|| pattern(r"([^{}]*)\{([^{}]*)\}"));
/// A table's id, then elements and classes within it.
static SELECTOR: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#T_\w+(?:[ .:>]+[\w\-]+(?:\(\d+\))?)*$"));
static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^[\w\s#%.,()+!'"-]+$"#));
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\w[\w-]*)\s*\("));
static CLASS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:data|dataframe|blank|index_name|(?:row|col)_heading|(?:row|col|level|hidden)_?\d+)$")
});
const CALLS: [&str; 7] = ["rgb", "rgba", "hsl", "hsla", "linear-gradient", "calc", "var"];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = cleaner(attribute);
    builder.add_generic_attributes(["id", "class"]);
    builder
});

fn attribute<'a>(tag: &str, name: &str, value: &'a str) -> Option<Cow<'a, str>> {
    match name {
        "id" => (value.starts_with("T_") && value.chars().all(|sign| sign.is_alphanumeric() || sign == '_'))
            .then_some(Cow::Borrowed(value)),
        "class" => {
            Some(value.split_whitespace().filter(|class| CLASS.is_match(class)).collect::<Vec<_>>().join(" ").into())
        }
        _ => address(tag, name, value),
    }
}

/// Cleans a table that a Styler made, with its styles; `None` for HTML without such styles.
pub fn clean(html: &str) -> Option<String> {
    let mut rules = String::new();
    for style in STYLE.captures_iter(html) {
        for rule in RULE.captures_iter(&style[1]) {
            push_rule(&mut rules, &rule[1], &rule[2]);
        }
    }
    (!rules.is_empty()).then(|| format!("<style>{rules}</style>{}", CLEANER.clean(html)))
}

/// Removes the styles again, for a format that shows them as text.
pub fn without_styles(html: &str) -> Cow<'_, str> {
    STYLE.replace_all(html, "")
}

fn push_rule(out: &mut String, selectors: &str, properties: &str) {
    if !selectors.split(',').all(|selector| SELECTOR.is_match(selector.trim())) {
        return;
    }
    let kept: Vec<String> = properties
        .split(';')
        .filter_map(|property| property.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .filter(|(name, value)| STYLES.contains(&name.as_str()) && is_plain(value))
        .map(|(name, value)| format!("{name}:{value}"))
        .collect();
    if !kept.is_empty() {
        _ = write!(out, "{}{{{}}}", selectors.split_whitespace().collect::<Vec<_>>().join(" "), kept.join(";"));
    }
}

fn is_plain(value: &str) -> bool {
    VALUE.is_match(value)
        && CALL.captures_iter(value).all(|call| CALLS.contains(&call[1].to_ascii_lowercase().as_str()))
}
