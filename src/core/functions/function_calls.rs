//! Calls of registered functions by people: checks the arguments by the schema and renders the code of the run.
//! Assistants call through the gate (`tool_calls`).

use crate::functions::offered::{Found, find};
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{Document, KernelSessionId, RawObject, Risk};

/// Requested call of a function.
pub(crate) struct FunctionCall {
    pub name: String,
    pub arguments: RawObject,
    /// The sender confirms that the function may destroy data.
    pub is_confirmed: bool,
}

impl FunctionCall {
    /// Renders the call as one line of Python, and returns the kernel that has the function. `named`: the kernel that
    /// the command names.
    pub fn code(&self, notebook: &Document, named: Option<&KernelSessionId>) -> Result<(String, KernelSessionId)> {
        let name = &self.name;
        let invalid = |message: String| RejectionCode::InvalidValue.because(message);
        let found = find(notebook, name)?;
        let Found::Function(function, session) = found else {
            return Err(invalid(format!(
                "{name} is a tool of assistants, and no function of a kernel: people have commands for what it does"
            )));
        };
        found.arguments(&self.arguments)?;
        if named.is_some_and(|named| named != session) {
            return Err(invalid(format!("{name} is a function of kernel session {session}: name that one, or none")));
        }
        if function.risk.judged() == Risk::Destructive && !self.is_confirmed {
            return Err(invalid(format!(
                "{name} can destroy what cannot be brought back: look at the arguments, and send it with confirmed: true if it is meant"
            )));
        }
        let arguments = python(self.arguments.get());
        let version = text(&function.version);
        // An expression, so that the kernel shows its value and no name is added to the user's.
        let code = format!(
            "__import__(\"notarium\").call_function(\"{name}\", {arguments}, as_json=False, version={version})\n"
        );
        Ok((code, session.clone()))
    }
}

/// Renders JSON as Python literals. Numbers stay verbatim.
fn python(json: &str) -> String {
    let mut code = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            'a'..='z' => rest.find(|character: char| !character.is_ascii_lowercase()).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match token {
            "true" => code.push_str("True"),
            "false" => code.push_str("False"),
            "null" => code.push_str("None"),
            token if first == '"' => code.push_str(&text(&serde_json::from_str::<String>(token).unwrap_or_default())),
            token => code.push_str(if token.chars().all(char::is_whitespace) { " " } else { token }),
        }
        rest = after;
    }
    code
}

/// Length in bytes of the JSON string at the start, with its quotes.
fn string_length(json: &str) -> usize {
    let mut is_escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 2)
}

/// Renders a text as a literal on one line; characters that break lines for some reader are escaped.
fn text(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            other if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}') => {
                literal.push_str(&format!("\\u{:04x}", u32::from(other)));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{}"#, "{}")]
    #[case(r#"{"a": true, "b":[null,false]}"#, r#"{"a": True, "b":[None,False]}"#)]
    #[case(r#"{"n": 12345678901234567890123, "x": -1e-7}"#, r#"{"n": 12345678901234567890123, "x": -1e-7}"#)]
    #[case(r#"{"true": "null \" \\"}"#, r#"{"true": "null \" \\"}"#)]
    #[case("{\"a\":\n\"\\ud83d\\ude00 \\/ \\u2028\\r\\n\"}", "{\"a\": \"😀 / \\u2028\\u000d\\n\"}")]
    fn json_becomes_python_on_one_line(#[case] json: &str, #[case] code: &str) {
        assert_eq!(python(json), code);
    }
}
