//! Predicates of the JSON schema of nbformat 4.5.

use super::json::{Json, Map};

/// Cell type that other programs see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Code,
    Markdown,
    Raw,
}

impl Base {
    pub fn of(cell_type: &str) -> Option<Self> {
        match cell_type {
            "code" | "sql" => Some(Self::Code),
            "markdown" | "prompt" => Some(Self::Markdown),
            "raw" => Some(Self::Raw),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

pub fn is_cell_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// MIME types whose value may be any JSON; it is never joined or split.
pub fn is_json_mime(mime: &str) -> bool {
    let structured = mime.starts_with("application/") && mime.ends_with("+json") && !mime.contains('\n');
    mime == "application/json" || structured
}

/// MIME types whose text nbformat writes as a list of lines.
pub fn is_split_mime(mime: &str) -> bool {
    mime.starts_with("text/") || mime == "application/javascript" || mime == "image/svg+xml"
}

pub fn is_string_list(value: &Json) -> bool {
    matches!(value, Json::Array(items) if items.iter().all(Json::is_string))
}

pub fn is_multiline(value: &Json) -> bool {
    value.is_string() || is_string_list(value)
}

pub fn is_mime_part((mime, value): (&String, &Json)) -> bool {
    is_json_mime(mime) || is_multiline(value)
}

pub fn are_attachments(files: &Map) -> bool {
    files.values().all(|bundle| matches!(bundle, Json::Object(parts) if parts.iter().all(is_mime_part)))
}

pub fn is_execution_count(value: &Json) -> bool {
    let counts = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(value, Json::Null) || matches!(value, Json::Number(text) if counts(text))
}

/// Returns true if the schema allows this entry in the metadata of such a cell.
pub fn cell_entry_fits(base: Base, key: &str, value: &Json) -> bool {
    let code = base == Base::Code;
    match key {
        "notarium" | "jupyter" => value.is_object(),
        "name" => value.as_str().is_some_and(|name| !name.is_empty() && !name.contains('\n')),
        "tags" => are_tags(value),
        "format" if base == Base::Raw => value.is_string(),
        "collapsed" if code => matches!(value, Json::Bool(_)),
        "scrolled" if code => matches!(value, Json::Bool(_)) || value.as_str() == Some("auto"),
        "execution" if code => {
            matches!(value, Json::Object(times) if times.values().all(Json::is_string))
        }
        _ => true,
    }
}

fn are_tags(value: &Json) -> bool {
    let Json::Array(tags) = value else {
        return false;
    };
    let mut seen = std::collections::BTreeSet::new();
    tags.iter().all(|tag| tag.as_str().is_some_and(|tag| !tag.is_empty() && !tag.contains(',') && seen.insert(tag)))
}

/// Returns true if the schema allows this entry in the metadata of a notebook.
pub fn notebook_entry_fits(key: &str, value: &Json) -> bool {
    match key {
        "notarium" => value.is_object(),
        "kernelspec" => {
            value.as_object().is_some_and(|spec| required_text(spec, "name") && required_text(spec, "display_name"))
        }
        "language_info" => value.as_object().is_some_and(is_language_info),
        "title" => value.is_string(),
        "authors" => matches!(value, Json::Array(_)),
        _ => true,
    }
}

fn required_text(map: &Map, key: &str) -> bool {
    map.get(key).is_some_and(Json::is_string)
}

fn is_language_info(info: &Map) -> bool {
    let texts = ["file_extension", "mimetype", "pygments_lexer"];
    let mode = info.get("codemirror_mode").is_none_or(|mode| mode.is_string() || mode.is_object());
    mode && required_text(info, "name") && texts.iter().all(|key| info.get(*key).is_none_or(Json::is_string))
}
