//! Pictures attached to a cell: nbformat's addresses `attachment:NAME` become data.

use std::sync::LazyLock;

use crate::formulas::pattern;
use regex::{Captures, Regex};
use serde_json::Value;

static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<[a-zA-Z](?:"[^"]*"|'[^']*'|[^<>"'])*>"#));
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"[ \t\r\n/"'][sS][rR][cC]\s*=\s*(?:"\s*attachment:([^"]*)"|'\s*attachment:([^']*)'|attachment:([^\s"'>]+))"#,
    )
});
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r#"attachment:[^)\s"'<>]+"#));

/// Puts the pictures into the tags of HTML.
pub fn in_tags(html: &str, attachments: &Value) -> String {
    let of_source = |found: &Captures<'_>| {
        let name = (1..=3).find_map(|group| found.get(group)).map_or("", |group| group.as_str());
        let name = name.replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'").replace("&#x27;", "'");
        picture(name.trim(), attachments).map_or_else(|| found[0].to_owned(), |data| format!(" src=\"{data}\""))
    };
    TAG.replace_all(html, |tag: &Captures<'_>| SOURCE.replace_all(&tag[0], of_source).into_owned()).into_owned()
}

/// Puts the pictures into Markdown.
pub fn in_markdown(text: &str, attachments: &Value) -> String {
    let mut out = text.to_owned();
    // Names with brackets or blanks, which an address may have in pointed brackets.
    for name in attachments.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if let Some(data) = picture(name, attachments) {
            out = out.replace(&format!("attachment:{name}"), &data);
        }
    }
    let of_address = |found: &Captures<'_>| {
        let name = found[0].trim_start_matches("attachment:");
        picture(name, attachments).unwrap_or_else(|| found[0].to_owned())
    };
    ADDRESS.replace_all(&out, of_address).into_owned()
}

/// Returns the picture of `attachment:NAME` as a `data:` address.
pub fn of_address(address: &str, attachments: &Value) -> Option<String> {
    picture(address.strip_prefix("attachment:")?, attachments)
}

/// Finds a picture by its name as written, or percent-encoded as some programs write it, in whole or in part.
fn picture(written: &str, attachments: &Value) -> Option<String> {
    let all = attachments.as_object()?;
    let wanted = decoded(written);
    let found = all
        .get(written)
        .or_else(|| all.get(&wanted))
        .or_else(|| all.iter().find(|(name, _)| decoded(name) == wanted).map(|(_, bundle)| bundle))?;
    let (mime, data) = found.as_object()?.iter().find(|(mime, _)| mime.starts_with("image/"))?;
    let lines: String = match data {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str()?.to_owned(),
    };
    let data: String = lines.chars().filter(|sign| sign.is_ascii_alphanumeric() || "+/=".contains(*sign)).collect();
    Some(format!("data:{mime};base64,{data}"))
}

/// Decodes the percent-encoded characters; a plain `%` stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
