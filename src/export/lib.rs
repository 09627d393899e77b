//! Exports notebooks for reading: HTML, Markdown, and Python in jupytext's percent format.
//!
//! Purpose: [`write`] makes the text of a file from a [`ExportedNotebook`]. The server calls it for every interface, so all return the same bytes.
//!
//! Invariants:
//! - The same notebook gives the same bytes: no clock, no randomness, no network.
//! - Nothing in a file runs when it is opened. HTML is sanitised, and its `Content-Security-Policy` allows no scripts and no external
//!   addresses; Markdown contains no active HTML.
//! - Every text of a notebook is escaped for its target format.
//!
//! Files: `html`, `markdown` (also Markdown cells and formulas as HTML), `percent`, `outputs` (the form of an output, and its text),
//! `formulas` (finds them in Markdown), `equations` (macros, numbers, references), `chemistry` (`\ce`), `attached` (pictures of
//! cells), `pictures` (found in Markdown), `styler` (styles of pandas' tables).
//!
//! This crate must never know the record, the wire or the server: it takes values, and returns text.

mod attached;
mod chemistry;
mod equations;
mod formulas;
mod html;
mod markdown;
#[cfg(test)]
mod markdown_tests;
mod outputs;
mod percent;
mod pictures;
mod styler;
#[cfg(test)]
mod tests;

pub use pictures::{InlinePicture, inline_pictures};

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use regex::Regex;
use serde_json::Value;

/// Output format of [`write`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Html,
    Markdown,
    Percent,
}

/// Input of [`write`].
#[derive(Debug, Clone, Default)]
pub struct ExportedNotebook {
    pub title: String,
    /// Name in nbformat's `kernelspec`.
    pub kernel_name: String,
    pub kernel_display_name: String,
    /// Language, as in `python`; empty: unknown.
    pub language: String,
    pub cells: Vec<ExportedCell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportedKind {
    #[default]
    Code,
    Sql,
    Markdown,
    Prompt,
    Raw,
}

#[derive(Debug, Clone, Default)]
pub struct ExportedCell {
    pub kind: ExportedKind,
    pub source: String,
    pub execution_count: Option<i64>,
    /// Outputs of nbformat 4 with multi-line text joined.
    pub outputs: Vec<Value>,
    /// MIME bundles by file name.
    pub attachments: Value,
    /// Sentences about the outputs, such as that the source has changed since. They stand before the outputs.
    pub notes: Vec<String>,
    pub is_source_hidden: bool,
    pub are_outputs_hidden: bool,
}

/// Returns the text of the file.
#[must_use]
pub fn write(format: Format, notebook: &ExportedNotebook) -> String {
    match format {
        Format::Html => html::write(notebook),
        Format::Markdown => markdown::write(notebook),
        Format::Percent => percent::write(notebook),
    }
}

/// Escapes text for HTML, for content and attributes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML does not allow this character.
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// CSS properties that pandas' styles use, and none that moves an element over the rest of the page.
const STYLES: [&str; 24] = [
    "background",
    "background-color",
    "border",
    "border-bottom",
    "border-collapse",
    "border-color",
    "border-left",
    "border-radius",
    "border-right",
    "border-top",
    "color",
    "display",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "height",
    "margin",
    "padding",
    "text-align",
    "text-decoration",
    "vertical-align",
    "white-space",
    "width",
];

const MATHS: [&str; 29] = [
    "math",
    "maction",
    "annotation",
    "menclose",
    "merror",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
];

const MATHS_ATTRIBUTES: [&str; 18] = [
    "class",
    "display",
    "mathvariant",
    "stretchy",
    "fence",
    "form",
    "separator",
    "lspace",
    "rspace",
    "accent",
    "accentunder",
    "linethickness",
    "columnalign",
    "rowspacing",
    "columnspacing",
    "displaystyle",
    "scriptlevel",
    "width",
];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| cleaner(address));

/// Cleaner of HTML; the filter returns the value that an attribute may have.
fn cleaner(
    filter: impl for<'a> Fn(&str, &str, &'a str) -> Option<Cow<'a, str>> + Send + Sync + 'static,
) -> Builder<'static> {
    let mut builder = Builder::default();
    builder
        .add_generic_attributes(["style"])
        .add_tag_attributes("td", ["colspan", "rowspan"])
        .add_tag_attributes("th", ["colspan", "rowspan"])
        .add_url_schemes(["data"])
        .url_relative(UrlRelative::Custom(Box::new(only_places)))
        .attribute_filter(filter)
        .filter_style_properties(HashSet::from(STYLES))
        .link_rel(Some("noopener noreferrer"));
    builder
}

static MATHS_CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    // Classes of environments and their cells, which the style sheet aligns.
    builder.add_tags(MATHS).add_generic_attributes(MATHS_ATTRIBUTES).attribute_filter(|_, name, value| {
        let is_known =
            name != "class" || value.split(' ').all(|class| class.starts_with("menv-") || class.starts_with("cell-"));
        is_known.then_some(Cow::Borrowed(value))
    });
    builder
});

/// Allows anchors within the page only, as relative addresses do not work from a file.
fn only_places(address: &str) -> Option<Cow<'_, str>> {
    address.starts_with('#').then_some(Cow::Borrowed(address))
}

fn address<'a>(tag: &str, name: &str, value: &'a str) -> Option<Cow<'a, str>> {
    let is_data = value.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    if !is_data || (tag == "img" && name == "src" && value.trim_start().to_ascii_lowercase().starts_with("data:image/"))
    {
        return Some(Cow::Borrowed(value));
    }
    // Other attributes, such as a title, may begin with `data:`.
    (name != "src" && name != "href" && name != "cite").then_some(Cow::Borrowed(value))
}

fn clean_html(text: &str) -> String {
    CLEANER.clean(text).to_string()
}

fn clean_maths(text: &str) -> String {
    MATHS_CLEANER.clean(text).to_string()
}

static ACTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)<(script|iframe|object|embed|form|canvas|link|meta|base)|[ \t\r\n"'/]on[a-z]+[ \t\r\n]*="#)
        .expect("the pattern is one")
});

/// Returns true if the HTML renders itself by scripts that are removed here.
fn needs_scripts(text: &str) -> bool {
    ACTIVE.is_match(text)
}

static MARKUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)<[^>]*>").expect("the pattern is one"));

/// Returns true if text or an image remains after cleaning.
fn shows_something(cleaned: &str) -> bool {
    cleaned.contains("<img") || !MARKUP.replace_all(cleaned, "").replace("&nbsp;", " ").trim().is_empty()
}
