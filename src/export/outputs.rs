//! Selects the form of an output that a file shows: one that needs no script.

use serde_json::Value;

use crate::clean;

#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Text {
        text: String,
        is_error_stream: bool,
    },
    Error(String),
    /// An image as a `data:` address.
    Picture {
        address: String,
        alt: String,
        width: Option<u64>,
    },
    /// Sanitised HTML.
    Html(String),
    Markdown(String),
    Latex(String),
    /// A note in words, if nothing can be shown.
    Note(String),
}

const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// MIME types that need a script, ours or a library's.
const LIVE: [(&str, &str); 5] = [
    ("application/vnd.plotly", "An interactive Plotly chart"),
    ("application/vnd.vega", "An interactive Vega chart"),
    ("application/vnd.jupyter.widget-view", "A widget"),
    ("application/vnd.bokehjs_exec", "An interactive Bokeh chart"),
    ("text/vnd.mermaid", "A Mermaid diagram"),
];

pub fn of(output: &Value) -> Option<Shown> {
    match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => {
            let is_error_stream = output.get("name").and_then(Value::as_str) == Some("stderr");
            Some(Shown::Text { text: text_of(output.get("text")?), is_error_stream })
        }
        Some("error") => Some(Shown::Error(error(output))),
        _ => bundle(output),
    }
}

fn error(output: &Value) -> String {
    let lines = output.get("traceback").and_then(Value::as_array);
    let traceback: Vec<&str> = lines.into_iter().flatten().filter_map(Value::as_str).collect();
    if !traceback.is_empty() {
        return traceback.join("\n");
    }
    let field = |name| output.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{}: {}", field("ename"), field("evalue"))
}

fn bundle(output: &Value) -> Option<Shown> {
    let data = output.get("data")?.as_object()?;
    let get = |mime: &str| data.get(mime).map(text_of);
    let plain = get("text/plain");
    let live = LIVE.iter().find(|(prefix, _)| data.keys().any(|mime| mime.starts_with(prefix)));
    let picture = picture(output, plain.as_deref());
    if let Some((_, words)) = live {
        let note = || Shown::Note(format!("{words}. Open the notebook to use it."));
        return Some(picture.unwrap_or_else(note));
    }
    if let Some(html) = get("text/html") {
        let cleaned = clean::html(&html);
        let is_whole = !clean::needs_scripts(&html);
        if clean::shows_something(&cleaned) && (is_whole || (picture.is_none() && plain.is_none())) {
            return Some(Shown::Html(cleaned));
        }
        let note = || Shown::Note("Active content. Open the notebook to use it.".to_owned());
        return Some(picture.or(plain.map(result)).unwrap_or_else(note));
    }
    if let Some(picture) = picture {
        return Some(picture);
    }
    if let Some(latex) = get("text/latex") {
        return Some(Shown::Latex(latex));
    }
    if let Some(markdown) = get("text/markdown") {
        return Some(Shown::Markdown(markdown));
    }
    let json = data.get("application/json").map(|value| serde_json::to_string_pretty(value).unwrap_or_default());
    json.or(plain).map(result).or_else(|| {
        let (mime, _) = data.iter().next()?;
        Some(Shown::Note(format!("An output of the type {mime}. Open the notebook to see it.")))
    })
}

fn result(text: String) -> Shown {
    Shown::Text { text, is_error_stream: false }
}

fn picture(output: &Value, plain: Option<&str>) -> Option<Shown> {
    let data = output.get("data")?;
    let (mime, address) = if let Some(mime) = PICTURES.into_iter().find(|mime| data.get(mime).is_some()) {
        let base64: String = text_of(&data[mime]).chars().filter(|character| is_base64(*character)).collect();
        (mime, format!("data:{mime};base64,{base64}"))
    } else {
        // SVG in an image runs no scripts.
        let svg = text_of(data.get("image/svg+xml")?);
        ("image/svg+xml", format!("data:image/svg+xml,{}", percent(&svg)))
    };
    let width = output.get("metadata").and_then(|all| all.get(mime)?.get("width")?.as_u64());
    let alt = plain.filter(|text| !text.starts_with('<')).unwrap_or("Output image").to_owned();
    Some(Shown::Picture { address, alt, width })
}

fn is_base64(character: char) -> bool {
    character.is_ascii_alphanumeric() || "+/=".contains(character)
}

fn percent(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Joins nbformat's text: one string, or a list of lines. Other values are printed as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
