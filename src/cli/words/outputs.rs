//! Renders outputs as text for a terminal, with a note of other formats.

use notarium_core::{BlobPart, Output};
use reqwest::Method;
use serde_json::Value;

use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::print::{self, style};

/// Largest text that is fetched, in bytes; larger ones are only named.
const MAX_BLOB_BYTES: u64 = 64 << 20;

/// An output in parts: its text, and a note of the parts that cannot be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    /// A note such as `image/png, 12 KiB`.
    pub rest: Option<String>,
    /// True for stderr and errors.
    pub is_alarming: bool,
}

impl Shown {
    /// Text for the terminal, with a line break at its end.
    pub fn for_terminal(&self) -> String {
        let mut text = print::clean_block(&returned(&self.text));
        if let Some(rest) = &self.rest {
            end_line(&mut text);
            text.push_str(&style(format!("[{}]", print::clean(rest))).dim().to_string());
            text.push('\n');
        }
        text
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Applies carriage returns: each discards the text before it on its line, as on a terminal.
fn returned(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    let last_state = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().to_owned();
    text.split('\n').map(last_state).collect::<Vec<_>>().join("\n")
}

/// The text of an output from its event alone.
pub fn shown(output: &Output) -> Shown {
    let content = serde_json::from_str(output.content.get()).unwrap_or(Value::Null);
    shown_of(&content, &output.blobs)
}

/// Like [`shown`], with texts that are stored in blobs.
pub async fn fetched(notebook: &NotebookClient, output: &Output) -> Shown {
    let mut content = serde_json::from_str(output.content.get()).unwrap_or(Value::Null);
    let mut missing = Vec::new();
    for blob in &output.blobs {
        let text = match is_shown_as_text(&blob.pointer) && blob.size_bytes <= MAX_BLOB_BYTES {
            true => blob_text(notebook, blob).await,
            false => None,
        };
        match text {
            Some(text) => put(&mut content, &blob.pointer, text),
            None => missing.push(blob.clone()),
        }
    }
    shown_of(&content, &missing)
}

fn is_shown_as_text(pointer: &str) -> bool {
    matches!(pointer, "/text" | "/data/text~1plain" | "/traceback" | "/evalue") || pointer.starts_with("/traceback/")
}

async fn blob_text(notebook: &NotebookClient, blob: &BlobPart) -> Option<Value> {
    let request = notebook.client.request(Method::GET, &notebook.path(&format!("/blobs/{}", blob.sha256)));
    let bytes = notebook.client.send(request).await.ok()?.bytes().await.ok()?;
    match blob.json {
        true => serde_json::from_slice(&bytes).ok(),
        false => Some(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// Sets the value at a pointer; creates its last step if missing.
fn put(content: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = content.pointer_mut(pointer) {
        *place = value;
        return;
    }
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(parent)) = content.pointer_mut(parent) {
        parent.insert(key.replace("~1", "/").replace("~0", "~"), value);
    }
}

fn shown_of(content: &Value, missing: &[BlobPart]) -> Shown {
    let field = |name: &str| text_of(&content[name]);
    match content["output_type"].as_str() {
        Some("stream") => {
            Shown { text: field("text"), rest: rest_of(&[], missing), is_alarming: field("name") == "stderr" }
        }
        Some("error") => Shown { text: error_text(content), rest: rest_of(&[], missing), is_alarming: true },
        Some("execute_result" | "display_data") => bundle(&content["data"], missing),
        _ => Shown { rest: Some("an output of an unknown type".to_owned()), ..Shown::default() },
    }
}

/// A text, or the joined lines of one.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn error_text(content: &Value) -> String {
    let traceback = content["traceback"].as_array().into_iter().flatten();
    let traceback: Vec<&str> = traceback.filter_map(Value::as_str).collect();
    let mut text = match traceback.is_empty() {
        true => format!("{}: {}", text_of(&content["ename"]), text_of(&content["evalue"])),
        false => traceback.join("\n"),
    };
    end_line(&mut text);
    text
}

/// A MIME bundle: its plain text if there is one, and the names of other types.
fn bundle(data: &Value, missing: &[BlobPart]) -> Shown {
    let Some(data) = data.as_object() else { return Shown { rest: rest_of(&[], missing), ..Shown::default() } };
    let best = ["text/plain", "text/markdown", "text/latex"].into_iter().find(|name| data.contains_key(*name));
    let mut text = best.map(|name| text_of(&data[name])).unwrap_or_default();
    end_line(&mut text);
    let others: Vec<String> = data.iter().filter(|(name, _)| Some(name.as_str()) != best).map(described).collect();
    Shown { text, rest: rest_of(&others, missing), is_alarming: false }
}

fn described((name, value): (&String, &Value)) -> String {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    format!("{name}, {}", print::size(bytes as u64))
}

fn rest_of(others: &[String], missing: &[BlobPart]) -> Option<String> {
    let blobs = missing.iter().map(|blob| {
        let name = blob.pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        format!("{name}, {}", print::size(blob.size_bytes))
    });
    let all: Vec<String> = others.iter().cloned().chain(blobs).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::RawJson;

    fn output(content: &str) -> Output {
        Output { content: RawJson::parse(content).unwrap(), blobs: Vec::new(), display_id: None }
    }

    #[test]
    fn each_type_shows_what_a_terminal_can() {
        let text = |content: &str| shown(&output(content)).for_terminal();
        assert_eq!(text(r#"{"output_type":"stream","name":"stdout","text":"a\nb\n"}"#), "a\nb\n");
        assert_eq!(text(r#"{"output_type":"stream","name":"stdout","text":["a\n","b"]}"#), "a\nb");
        assert_eq!(text(r#"{"output_type":"execute_result","data":{"text/plain":"2"}}"#), "2\n");
        let image = r#"{"output_type":"display_data","data":{"image/png":"aGk=","text/plain":"<Figure>"}}"#;
        assert_eq!(text(image), "<Figure>\n[image/png, 4 B]\n");
        assert_eq!(text(r#"{"output_type":"error","ename":"E","evalue":"v","traceback":[]}"#), "E: v\n");
        assert_eq!(text(r#"{"output_type":"new"}"#), "[an output of an unknown type]\n");
    }

    #[test]
    fn a_progress_bar_ends_as_it_was_last() {
        let bar = r#"{"output_type":"stream","name":"stderr","text":"0%\r50%\r100%\ndone\r\n"}"#;
        assert_eq!(shown(&output(bar)).for_terminal(), "100%\ndone\n");
    }

    #[test]
    fn a_part_in_a_blob_goes_where_it_was_taken_out() {
        let mut content = serde_json::json!({"output_type": "display_data", "data": {}});
        put(&mut content, "/data/text~1plain", Value::String("long".to_owned()));
        assert_eq!(shown_of(&content, &[]).text, "long\n");
        let blob = BlobPart { pointer: "/text".into(), sha256: String::new(), size_bytes: 20_000, json: false };
        let stream = serde_json::json!({"output_type": "stream", "name": "stdout"});
        assert_eq!(shown_of(&stream, &[blob]).rest.as_deref(), Some("text, 19.53 KiB"));
    }
}
