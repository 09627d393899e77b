//! Reads a tool's answer from its run, for the model.

use serde_json::Value;

use notarium_record::{BlobPart, Execution, ExecutionStatus, Output};

/// MIME type of the output that carries a tool's answer.
pub const RESULT_MIME: &str = "application/vnd.notarium.result+json";
/// Bytes of an answer, at most. Larger ones are refused, because the input of a model is limited.
pub(crate) const MAX_ANSWER_BYTES: usize = 192 << 10;

/// Reads the end of a run that a tool call began: the answer's JSON text, or a sentence on why there is none. Errors
/// are complete, with their traceback. `read_blob` returns the bytes of parts that are in blobs.
pub fn answer(execution: &Execution, read_blob: &dyn Fn(&BlobPart) -> Option<Vec<u8>>) -> Result<String, String> {
    match execution.status {
        ExecutionStatus::Ok => told(&outputs(execution, read_blob)?),
        ExecutionStatus::Error => Err(failure(execution, &outputs(execution, read_blob)?)),
        ExecutionStatus::Cancelled | ExecutionStatus::Blocked => Err(with_notice("the run was cancelled", execution)),
        ExecutionStatus::Lost => {
            Err(with_notice("the run was lost, and nobody knows whether it did its work", execution))
        }
        ExecutionStatus::Queued | ExecutionStatus::Assigned | ExecutionStatus::Running => {
            Err("the run has not ended: wait for it".to_owned())
        }
    }
}

fn told(outputs: &[Value]) -> Result<String, String> {
    let result = outputs.iter().find_map(|output| output.get("data")?.get(RESULT_MIME));
    let result =
        result.ok_or("the run ended without an answer: the kernel is no IPython, or something took the answer away")?;
    if let Some(error) = result.get("error") {
        return Err(error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    }
    let text = result.get("ok").unwrap_or(&Value::Null).to_string();
    if text.len() > MAX_ANSWER_BYTES {
        return Err(format!("the answer has {} bytes, and {MAX_ANSWER_BYTES} is the limit: ask for less", text.len()));
    }
    Ok(text)
}

fn failure(execution: &Execution, outputs: &[Value]) -> String {
    let errors: Vec<String> =
        outputs.iter().filter(|output| output["output_type"] == "error").map(error_text).collect();
    let text = if errors.is_empty() { "the run failed".to_owned() } else { errors.join("\n") };
    with_notice(&text, execution)
}

/// Renders nbformat's `error` in full: the traceback ends with the name and the message.
fn error_text(output: &Value) -> String {
    let lines: Vec<&str> = output["traceback"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let part = |name: &str| output[name].as_str().unwrap_or_default();
    let summary = format!("{}: {}", part("ename"), part("evalue"));
    if lines.is_empty() { summary } else { format!("{summary}\n{}", without_colours(&lines.join("\n"))) }
}

/// Removes the terminal's colour codes (`ESC [ … m`).
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |mut plain, piece| {
        let is_parameter = |character: char| character.is_ascii_digit() || character == ';';
        let rest = piece.trim_start_matches(is_parameter);
        plain.push_str(rest.strip_prefix('m').unwrap_or(rest));
        plain
    })
}

fn with_notice(text: &str, execution: &Execution) -> String {
    execution.end_sentence().map_or_else(|| text.to_owned(), |notice| format!("{text} ({notice})"))
}

/// Outputs with their blob parts put back.
fn outputs(execution: &Execution, read_blob: &dyn Fn(&BlobPart) -> Option<Vec<u8>>) -> Result<Vec<Value>, String> {
    let whole = |output: &Output| {
        let mut content: Value = serde_json::from_str(output.content.get()).ok()?;
        for part in &output.blobs {
            put(&mut content, &part.pointer, part_value(part, &read_blob(part)?)?)?;
        }
        Some(content)
    };
    let outputs: Option<Vec<Value>> = execution.outputs.iter().map(whole).collect();
    outputs.ok_or_else(|| "a part of the run's output cannot be read: ask for less, or try again".to_owned())
}

fn part_value(part: &BlobPart, bytes: &[u8]) -> Option<Value> {
    if part.json { serde_json::from_slice(bytes).ok() } else { Some(String::from_utf8_lossy(bytes).into()) }
}

/// Puts a value at a JSON pointer; creates missing objects on the way.
fn put(content: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let mut place = content;
    for step in pointer.strip_prefix('/')?.split('/') {
        let key = step.replace("~1", "/").replace("~0", "~");
        if place.is_null() {
            *place = Value::Object(serde_json::Map::new());
        }
        place = place.as_object_mut()?.entry(key).or_insert(Value::Null);
    }
    *place = value;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_text_stays() {
        assert_eq!(without_colours("\u{1b}[0;31mValueError\u{1b}[0m: [x]"), "ValueError: [x]");
    }

    #[test]
    fn a_part_returns_to_its_place() {
        let mut content = serde_json::json!({"data": {"text/plain": "x"}});
        put(&mut content, "/data/application~1json", Value::from(1)).expect("a place");
        put(&mut content, "/metadata/a~0b", Value::from(2)).expect("a place");
        assert_eq!(content["data"]["application/json"], 1);
        assert_eq!(content["metadata"]["a~b"], 2);
        assert!(put(&mut content, "", Value::Null).is_none());
    }
}
