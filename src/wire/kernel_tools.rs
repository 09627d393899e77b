//! Code of tools that run in the kernel. The log names it by its digest, which both sides of the wire know. An agent of another version
//! refuses a digest that it does not have.
//!
//! The code runs in a separate namespace and emits one output of the type `notarium_core::kernel_tools::RESULT_MIME`, `{"ok": …}` or
//! `{"error": "sentence"}`.

use std::path::PathBuf;

use notarium_core::kernel_tools::{CALL_FUNCTION, SECRET_FILES};
use notarium_core::{Document, ExecutionSubject, Hash, RawObject, ToolCall};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::kernel_questions::FormatCells;

const COMMON: &str = include_str!("kernel_tools/common.py");
const VARIABLES: &str = include_str!("kernel_tools/variables.py");
const FORMAT: &str = include_str!("kernel_tools/format.py");
const CALL: &str = include_str!("kernel_tools/call.py");
const FILES: &str = include_str!("kernel_tools/files.py");
const LISTED: &str = include_str!("kernel_tools/listed.py");
/// Placeholder for the arguments; it contains no braces, which Python uses itself.
const PLACE: &str = "@ARGUMENTS@";
/// Placeholder for the paths that are hidden on the agent's machine.
const HIDDEN: &str = "@HIDDEN@";

/// Returns the SHA-256 of a tool's code; `None`: no such tool runs in the kernel.
pub fn digest(tool: &str) -> Option<Hash> {
    Some(Hash(Sha256::digest(code(tool)?).into()))
}

/// Returns the code that a kernel executes: a cell's source unchanged, or a tool's code with its arguments. If this build does not have the
/// tool's code, or its call is over, the code is one line that raises an error. `hidden`: absolute paths that tools refuse, with everything
/// below them.
pub fn text_to_run(notebook: &Document, subject: &ExecutionSubject, hidden: &[PathBuf]) -> String {
    let ExecutionSubject::Tool { tool, digest, call_id } = subject else { return subject.source().to_owned() };
    let program = match notebook.tool_calls.get(call_id) {
        Some(call) => {
            let known = notebook.functions.get(&call.function);
            let version = known.map(|known| known.function.version.as_str()).unwrap_or_default();
            program(tool, digest, call, version, hidden)
        }
        None => Err(format!("the tool call {call_id} is over: nothing was done")),
    };
    program.unwrap_or_else(|refusal| {
        let json = serde_json::to_string(&refusal).unwrap_or_default();
        format!("raise RuntimeError(__import__(\"json\").loads({}))\n", literal(&json))
    })
}

/// Builds a tool's code; the error is a sentence.
fn program(tool: &str, expected: &Hash, call: &ToolCall, version: &str, hidden: &[PathBuf]) -> Result<String, String> {
    let source = source(tool, (&call.function, version), &call.arguments, hidden)
        .filter(|_| digest(tool).as_ref() == Some(expected));
    source.ok_or_else(|| {
        format!("this runtime agent has not the code of {tool} that the server means ({expected}): give both the same version")
    })
}

/// Returns a tool's code with arguments. `function`: name and version of the registered function, if the tool is `call_function`.
pub fn source(tool: &str, function: (&str, &str), arguments: &RawObject, hidden: &[PathBuf]) -> Option<String> {
    let arguments = match tool {
        // The function's arguments stay text: big numbers and the order of keys survive.
        CALL_FUNCTION => {
            let (name, version) = function;
            let version = serde_json::to_string(version).ok()?;
            format!(r#"{{"name":"{name}","version":{version},"arguments":{}}}"#, arguments.get())
        }
        _ => arguments.get().to_owned(),
    };
    let hidden: Vec<_> = hidden.iter().map(|path| path.to_string_lossy()).collect();
    let hidden = literal(&serde_json::to_string(&hidden).ok()?);
    // Arguments come last, as they may contain the other placeholder.
    Some(code(tool)?.replacen(HIDDEN, &hidden, 1).replacen(PLACE, &literal(&arguments), 1))
}

fn code(tool: &str) -> Option<String> {
    let template = match tool {
        CALL_FUNCTION => CALL,
        "get_variables" | "inspect_variable" => VARIABLES,
        "list_files" | "read_file" | "save_data" => FILES,
        _ => return None,
    };
    let hidden = if template == FILES { format!("    \"HIDDEN_PLACES\": {HIDDEN},\n") } else { String::new() };
    Some(format!(
        "# {tool}, asked for by an assistant. It runs in a namespace of its own.\n\
         __import__(\"builtins\").exec(r'''\n{COMMON}\n\n{template}\n\nanswer({tool})\n''', {{\n    \
         \"__name__\": \"notarium_tool\",\n    \"SECRET_FILES\": '{SECRET_FILES}'.split(),\n    \
         \"ARGUMENTS\": {PLACE},\n{hidden}}})\n"
    ))
}

/// Returns the Python expression that lists the variables for a person. It uses the code of the tool `get_variables`, and runs in a
/// separate namespace as that does.
pub fn variables_expression() -> String {
    format!(
        "(lambda space: (__import__(\"builtins\").exec(r'''\n{COMMON}\n\n{VARIABLES}\n\n{LISTED}\n''', space), \
         space[\"ANSWER\"])[1])({{\"__name__\": \"notarium_question\", \"SECRET_FILES\": [], \"ARGUMENTS\": \"{{}}\"}})"
    )
}

/// Returns the Python expression that formats these cells with the kernel's formatter.
pub fn format_expression(asked: &FormatCells) -> String {
    let arguments = literal(&json!(asked).to_string());
    format!(
        "(lambda space: (__import__(\"builtins\").exec(r'''\n{COMMON}\n\n{VARIABLES}\n\n{FORMAT}\n''', space), \
         space[\"ANSWER\"])[1])({{\"__name__\": \"notarium_question\", \"SECRET_FILES\": [], \"ARGUMENTS\": {arguments}}})"
    )
}

/// Returns the Python expression that answers a question about a table: see `clients/python/notarium_kernel/tables/questions.py`.
pub fn table_expression(asked: &Value) -> String {
    format!("__import__(\"notarium_kernel.tables\", fromlist=[\"answer\"]).answer({})", literal(&asked.to_string()))
}

/// Returns JSON as one raw Python literal. It has only ASCII and no quote, so that nothing in it ends the literal. A shell that takes it
/// for its own language sees one quoted word.
fn literal(json: &str) -> String {
    let mut text = String::from("r'");
    for character in json.chars() {
        if matches!(character, ' '..='~') && character != '\'' {
            text.push(character);
        } else {
            let units =
                character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            text.push_str(&units);
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use notarium_core::kernel_tools::{self, CODE};
    use notarium_core::{Actor, Gate, Risk, ToolCallPhase};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_literal_cannot_be_left() {
        let text = literal(&json!({"a": "'\"\\\n'''é😀\u{7f}\u{2028}$(rm)"}).to_string());
        assert_eq!(text, r#"r'{"a":"\u0027\"\\\n\u0027\u0027\u0027\u00e9\ud83d\ude00\u007f\u2028$(rm)"}'"#);
    }

    #[test]
    fn the_templates_can_stand_in_a_raw_literal() {
        for template in [COMMON, VARIABLES, FILES, CALL, LISTED, FORMAT] {
            assert!(!template.contains("'''") && template.ends_with('\n'));
            assert!(!template.contains(PLACE) && !template.contains(HIDDEN));
        }
        assert!(!SECRET_FILES.contains(['\'', '\\']));
    }

    /// Returns the text for a kernel if the call `open` of a function is open.
    fn given(call_id: &str, tool: &str, digest: Hash) -> String {
        let arguments = r#"{"rows":12345678901234567890123}"#;
        let call = ToolCall {
            function: "load".to_owned(),
            arguments: RawObject::parse(arguments).expect("an object"),
            arguments_hash: Hash::ZERO,
            risk: Risk::Edit.into(),
            reasons: Vec::new(),
            targets: Vec::new(),
            requested_by: Actor::System,
            requested_at: 0,
            requested_version: 1,
            turn_id: None,
            gate: Gate::Passes.into(),
            after: None,
            phase: ToolCallPhase::Passed,
        };
        let mut notebook = Document::new("n".parse().expect("an id"));
        notebook.tool_calls.insert("open".parse().expect("an id"), Arc::new(call));
        let call_id = call_id.parse().expect("an id");
        text_to_run(&notebook, &ExecutionSubject::Tool { tool: tool.to_owned(), digest, call_id }, &[])
    }

    #[test]
    fn the_code_runs_with_the_arguments_of_the_call() {
        let text = given("open", CALL_FUNCTION, digest(CALL_FUNCTION).expect("a tool"));
        let arguments = r#""ARGUMENTS": r'{"name":"load","version":"","arguments":{"rows":12345678901234567890123}}'"#;
        assert!(text.contains(arguments) && text.contains("def call_function("), "{text}");
    }

    #[test]
    fn tools_of_files_are_given_the_hidden_places_and_arguments_cannot_take_their_place() {
        let arguments = RawObject::parse(r#"{"path":"@HIDDEN@"}"#).expect("an object");
        let text = source("read_file", ("", ""), &arguments, &[PathBuf::from("/home/a'nn/.ssh")]).expect("a tool");
        assert!(text.contains(r#""HIDDEN_PLACES": r'["/home/a\u0027nn/.ssh"]',"#), "{text}");
        assert!(text.contains(r#""ARGUMENTS": r'{"path":"@HIDDEN@"}',"#), "{text}");
        let other = source("get_variables", ("", ""), &RawObject::default(), &[PathBuf::from("/x")]).expect("a tool");
        assert!(!other.contains("HIDDEN_PLACES"), "{other}");
    }

    #[test]
    fn other_code_than_the_server_means_and_calls_that_are_over_are_refused() {
        let known = digest(CALL_FUNCTION).expect("a tool");
        for (call_id, tool, digest, reason) in [
            ("open", CALL_FUNCTION, Hash::ZERO, "give both the same version"),
            ("open", "format_disk", known, "give both the same version"),
            ("over", CALL_FUNCTION, known, "the tool call over is over"),
        ] {
            let text = given(call_id, tool, digest);
            assert!(text.starts_with("raise RuntimeError(") && text.contains(reason), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }

    /// A change of a tool's code changes what the log names as executed: the new digest goes into the core.
    #[test]
    fn the_core_names_the_code_that_is_here() {
        for (tool, hex) in CODE {
            assert_eq!(digest(tool).map(|digest| digest.to_string()).as_deref(), Some(*hex), "{tool}");
            assert_eq!(kernel_tools::digest(tool), digest(tool), "{tool}");
        }
    }
}
