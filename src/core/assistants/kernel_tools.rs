//! Tools that run in the kernel: the run of each call, and the answer that is read from the run. The core knows a tool
//! by its name and the digest of its code. The runtime agent has the code (`notarium_wire::kernel_tools`).
//!
//! Such a call is a recorded run like any other: it waits in the kernel's queue and survives a restart of the server.
//!
//! Names and files that look like secrets are not shown, nor are values of secret environment variables. This protects
//! against accidents of a well-meaning model. Code in a cell sees what the kernel's user sees: against that there are
//! danger rules, policies and confirmations.

use serde_json::Value;

use crate::access;
use crate::authority::Operation;
use crate::context::{Context, Limits};
use crate::functions::tools::Arguments;
use crate::notebook::Notebook;
use crate::runs::{self, kernels};
use crate::values::decision::{Decision, RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::{
    BlobPart, Document, Execution, ExecutionStatus, ExecutionSubject, Hash, Millis, Output, RawObject, ToolCallId,
    unescape_key,
};

/// Timeout after which a tool is interrupted: code of an inspected object may hang.
const TOOL_TIMEOUT_MS: Millis = 30_000;
/// Bytes that `save_data` writes, at most; code in a cell can write more.
const MAX_SAVED_BYTES: usize = 256 << 10;
const MAX_PATH_BYTES: usize = 1_000;

/// The tool that calls a registered function.
pub const CALL_FUNCTION: &str = "call_function";
/// SHA-256 of the code of each tool.
pub const CODE: &[(&str, &str)] = &[
    (CALL_FUNCTION, "e84befde683558c4519f2a0d8a01dbf90d27faa85a4121dbe710572b509019ba"),
    ("get_variables", "d4138e180303da2f31bae517a5daee3966d4a1c0fa0a5e1c4aebf1f81903c291"),
    ("inspect_variable", "3189d598f1b1ffb6dbc6549a575a7313612071229dd9de0ab9e897406ccacefb"),
    ("list_files", "3cf10631c73e796ff42ea87682003c68da27bee96aef324f03507413f6d23c69"),
    ("read_file", "9c6e4130a579f9e25edb0e320ef7c37562dfe848883562d867ef599f4ebe4a94"),
    ("save_data", "e1537c6ef7b9e50f1a58a0d4b17225e33a06f95b0300bb4af78489fe863f1e77"),
];

/// Name patterns of files that hold secrets: in lower case, separated by one blank. `*` matches anything.
pub const SECRET_FILES: &str = "*.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.gpg *.token id_rsa* id_dsa* id_ecdsa* \
    id_ed25519* credentials* secret.* secrets.* *.secret *.secrets client_secret* service_account*.json \
    service-account*.json token token.* tokens tokens.* _netrc pgpass.conf htpasswd* *.env notarium.db*";

/// The SHA-256 of a tool's code.
pub fn digest(tool: &str) -> Option<Hash> {
    let (_, digest) = CODE.iter().find(|(name, _)| *name == tool)?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(digest, &mut bytes).ok()?;
    Some(Hash(bytes))
}

/// Name and digest of the code that a call runs in the kernel; `None`: no code of ours.
fn tool(arguments: &Arguments) -> Option<(&str, Hash)> {
    let tool = match arguments {
        Arguments::CallFunction(_) => CALL_FUNCTION,
        arguments => arguments.name(),
    };
    Some((tool, digest(tool)?))
}

/// Requests the run that begins the call; `None`: the call runs no code of ours.
pub(crate) fn run(
    notebook: &Notebook,
    context: &mut Context,
    call_id: &ToolCallId,
    arguments: &Arguments,
) -> Option<Result<Decision>> {
    let (tool, digest) = tool(arguments)?;
    let subject = ExecutionSubject::Tool { tool: tool.to_owned(), digest, call_id: call_id.clone() };
    // A user's function has no timeout, and runs in the kernel that has it.
    let (kernel_session, timeout_ms) = match arguments {
        Arguments::CallFunction(call) => (Some(call.kernel_session.clone()), None),
        _ => (None, Some(TOOL_TIMEOUT_MS)),
    };
    let may_run =
        check_language(notebook, arguments).and_then(|()| access::authorise(notebook, context, Operation::Run));
    Some(may_run.and_then(|()| runs::request_tool(notebook, context, subject, kernel_session, timeout_ms)))
}

/// Refuses what can be checked without the disk and the kernel.
pub(crate) fn check(notebook: &Document, limits: &Limits, given: &RawObject, arguments: &Arguments) -> Result<()> {
    if tool(arguments).is_none() {
        return Ok(());
    }
    check_language(notebook, arguments)?;
    LimitName::Source.when(given.get().len() > limits.max_source_bytes, limits.max_source_bytes, || {
        format!("{} was given too much: write large data by code in a cell", arguments.name())
    })?;
    match arguments {
        Arguments::InspectVariable(call) => check_name(&call.name)?,
        Arguments::ListFiles(call) => call.path.as_deref().map_or(Ok(()), check_path)?,
        Arguments::ReadFile(call) => check_file_path(&call.path)?,
        Arguments::SaveData(call) => {
            check_file_path(&call.path)?;
            check_digest(call.overwrite.as_deref())?;
            if call.content.len() > MAX_SAVED_BYTES {
                let limit = MAX_SAVED_BYTES >> 10;
                let message = format!("save_data writes at most {limit} KiB: write larger data by code in a cell");
                return Err(LimitName::SavedData.refusal(MAX_SAVED_BYTES as u64, message));
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_language(notebook: &Document, arguments: &Arguments) -> Result<()> {
    if matches!(arguments, Arguments::CallFunction(_)) {
        return Ok(()); // The kernel has registered a function, so it has our module.
    }
    let tool = arguments.name();
    let language = kernels::language(notebook).or_else(|| written_language(notebook));
    let Some(language) = language.filter(|name| !kernels::is_python_name(name)) else { return Ok(()) };
    let message =
        format!("{tool} needs a Python kernel, and this notebook's is {language}: run code in a cell instead");
    Err(RejectionCode::NotRunnable.because(message))
}

/// Language in the notebook's metadata, until a kernel reports its own.
fn written_language(notebook: &Document) -> Option<String> {
    let metadata: Value = serde_json::from_str(notebook.metadata.get()).ok()?;
    let told = [&metadata["language_info"]["name"], &metadata["kernelspec"]["language"]];
    told.into_iter().find_map(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Refuses text that is clearly more than one name; the kernel checks the rest.
fn check_name(name: &str) -> Result<()> {
    let is_part = |character: char| !character.is_ascii() || character.is_ascii_alphanumeric() || character == '_';
    let is_name = !name.is_empty() && name.len() <= 200 && name.chars().all(is_part);
    let is_number = name.starts_with(|first: char| first.is_ascii_digit());
    RejectionCode::InvalidArguments.when(!is_name || is_number, || {
        "inspect_variable takes the name of one variable, without dots or brackets: for a part of it run code in a cell"
    })
}

fn check_digest(overwrite: Option<&str>) -> Result<()> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    RejectionCode::InvalidArguments.when(
        !overwrite.is_none_or(is_digest),
        || "overwrite takes the SHA-256 of what the file holds now, 64 hexadecimal digits: read_file tells it",
    )
}

fn check_file_path(path: &str) -> Result<()> {
    RejectionCode::InvalidArguments.when(
        path.is_empty() || path.ends_with('/'),
        || "path names no file: give a file's name, like data/table.csv",
    )?;
    check_path(path)
}

/// Refuses paths outside the notebook's folder, hidden files, and names that look like secrets. The kernel checks the
/// resolved path again.
fn check_path(path: &str) -> Result<()> {
    let invalid = RejectionCode::InvalidArguments;
    invalid.when(path.len() > MAX_PATH_BYTES || path.chars().any(char::is_control), || {
        format!("a path has at most {MAX_PATH_BYTES} bytes and no control characters")
    })?;
    invalid.when(path.starts_with(['/', '~']) || path.contains('\\'), || {
        format!("'{path}' is not relative to the notebook's folder: give a path like data/table.csv")
    })?;
    path.split('/').filter(|part| !part.is_empty() && *part != ".").try_for_each(|part| {
        let problem = match part {
            ".." => "leads out of the notebook's folder: name a file below it",
            part if part.starts_with('.') => "is hidden: files and folders that begin with . are out of reach",
            part if is_secret_file(part) => "looks like a file of secrets: it is out of reach",
            _ => return Ok(()),
        };
        Err(invalid.because(format!("'{path}' {problem}")))
    })
}

fn is_secret_file(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_FILES.split(' ').any(|pattern| matches(&name, pattern))
}

/// Matches a name against a pattern; `*` matches anything.
fn matches(name: &str, pattern: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return name == pattern };
    let Some(rest) = name.strip_prefix(head) else { return false };
    (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(&rest[at..], tail))
}

/// Checks that a file of that name holds only data: its extension is one of data. Names that programs read as settings
/// or run are excluded.
pub(crate) fn is_data(path: &str) -> bool {
    const DATA: &[&str] =
        &["csv", "tsv", "tab", "dat", "txt", "log", "md", "json", "jsonl", "ndjson", "geojson", "bib", "fasta", "vcf"];
    const SETTINGS: &[&str] = &[
        "requirements*",
        "constraints*",
        "cmakelists.txt",
        "*config*.json",
        "*settings*.json",
        "package*.json",
        "composer.json",
        "kernel.json",
        "tasks.json",
        "launch.json",
        "manifest.json",
        "devcontainer.json",
    ];
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    DATA.contains(&ending) && !SETTINGS.iter().any(|pattern| matches(&name, pattern))
}

/// MIME type of the output that carries a tool's answer.
pub const RESULT_MIME: &str = "application/vnd.notarium.result+json";
/// Bytes of an answer, at most. Larger ones are refused, because the input of a model is limited.
const MAX_ANSWER_BYTES: usize = 192 << 10;

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
        if place.is_null() {
            *place = Value::Object(serde_json::Map::new());
        }
        place = place.as_object_mut()?.entry(unescape_key(step)).or_insert(Value::Null);
    }
    *place = value;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_known_by_its_ending_and_everything_else_is_not_data() {
        for name in ["table.csv", "data/Notes.TXT", "report.md", "points.geojson", "a.b.json"] {
            assert!(is_data(name), "{name}");
        }
        for name in [
            "run.py",
            "setup.cfg",
            "x.yaml",
            "Makefile",
            "csv",
            "page.html",
            "table.csv.lnk",
            "a.pl",
            "x.rb",
            "x.xml",
            "requirements-dev.txt",
            "package.json",
            "tsconfig.json",
            "conf/settings.json",
            "kernel.json",
            "x.pickle",
        ] {
            assert!(!is_data(name), "{name}");
        }
    }

    #[test]
    fn files_of_secrets_are_known_by_their_names() {
        for name in ["server.PEM", "id_rsa", "id_ed25519.pub", "Credentials.json", "service_account-x.json", "prod.env"]
        {
            assert!(is_secret_file(name), "{name}");
        }
        for name in ["keys.csv", "monkey.txt", "tokenizer.json", "secretary.csv", "table.csv", "id_rs"] {
            assert!(!is_secret_file(name), "{name}");
        }
    }

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
