//! Sanitises HTML: nothing remains that runs, loads, or covers the page.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use regex::Regex;

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
const MATHS_ATTRIBUTES: [&str; 17] = [
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

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .add_generic_attributes(["style"])
        .add_tag_attributes("td", ["colspan", "rowspan"])
        .add_tag_attributes("th", ["colspan", "rowspan"])
        .add_url_schemes(["data"])
        .url_relative(UrlRelative::Custom(Box::new(only_places)))
        .attribute_filter(address)
        .filter_style_properties(HashSet::from(STYLES))
        .link_rel(Some("noopener noreferrer"));
    builder
});

static MATHS_CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder.add_tags(MATHS).add_generic_attributes(MATHS_ATTRIBUTES);
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

pub fn html(text: &str) -> String {
    CLEANER.clean(text).to_string()
}

pub fn maths(text: &str) -> String {
    MATHS_CLEANER.clean(text).to_string()
}

static ACTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)<(script|iframe|object|embed|form|canvas|link|meta|base)|[ \t\r\n"'/]on[a-z]+[ \t\r\n]*="#)
        .expect("the pattern is one")
});

/// Returns true if the HTML renders itself by scripts that are removed here.
pub fn needs_scripts(text: &str) -> bool {
    ACTIVE.is_match(text)
}

static MARKUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)<[^>]*>").expect("the pattern is one"));

/// Returns true if text or an image remains after cleaning.
pub fn shows_something(cleaned: &str) -> bool {
    cleaned.contains("<img") || !MARKUP.replace_all(cleaned, "").replace("&nbsp;", " ").trim().is_empty()
}
