//! `call`: lists and calls functions that kernels have registered.

use clap::Args;
use notarium_core::{ExecutionTarget, RawObject, Risk};
use notarium_wire::rest::{Functions, NotebookFunction, Run};
use serde_json::{Map, Value};

use crate::cli::connection::client::NotebookClient;
use crate::cli::runs::exec;
use crate::cli::terminal::input;
use crate::cli::terminal::print::{self, style};
use crate::cli::terminal::values::word;
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium call analysis                                  # which functions there are
  notarium call analysis losses                           # what losses takes
  notarium call analysis losses --arg year=2024 --arg unit=m
  notarium call analysis losses --arguments '{\"year\": 2024}' --json
The call is a run like any other: recorded, with its outputs. Exit code 1 if the function failed.")]
pub struct CallArgs {
    /// A function's name; absent: all are listed.
    function: Option<String>,
    /// An argument; the function's schema says whether VALUE is a text, a number or other JSON.
    #[arg(long = "arg", value_name = "NAME=VALUE", requires = "function")]
    args: Vec<String>,
    /// All arguments as one JSON object; --arg adds to it.
    #[arg(long, value_name = "JSON", requires = "function")]
    arguments: Option<String>,
    /// Interrupt the call after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Call a destructive function without a question.
    #[arg(long)]
    yes: bool,
    /// The answer in JSON: of a call the run with its outputs.
    #[arg(long)]
    json: bool,
}

pub async fn call(args: CallArgs, notebook: NotebookClient) -> Ended {
    let there: Functions = notebook.get("/functions").await?;
    let Some(name) = &args.function else { return list(&there, args.json).await };
    let found = there.functions.iter().find(|function| function.name == *name);
    let function = found.ok_or_else(|| {
        let names: Vec<&str> = there.functions.iter().map(|function| function.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::failed(format!("there is no function {name} (there are: {names}): run the cell that registers it"))
    })?;
    if let Some(problem) = &function.problem {
        return Err(Failure::failed(problem.clone()));
    }
    let schema: Value = serde_json::from_str(function.schema.get()).unwrap_or_default();
    let arguments = arguments(&schema, args.arguments.as_deref(), &args.args)?;
    if arguments.is_empty() && schema["required"].as_array().is_some_and(|required| !required.is_empty()) {
        describe(function, &schema)?;
        return Err(Failure::usage("say what it is called with: --arg NAME=VALUE"));
    }
    let confirmed = is_confirmed(function, &arguments, args.yes).await?;
    let arguments = RawObject::parse(&Value::Object(arguments).to_string())
        .map_err(|error| Failure::usage(format!("these arguments are no JSON object: {error}")))?;
    let target = ExecutionTarget::Function { name: name.clone(), arguments, confirmed };
    let call = (format!("the call of {name}"), target);
    let (id, ended) = exec::one(notebook.clone(), call, args.timeout, args.json).await?;
    if args.json {
        print::json(&notebook.get::<Run>(&format!("/runs/{id}")).await?)?;
    }
    ended
}

async fn list(there: &Functions, as_json: bool) -> Ended {
    let empty = "no functions: a cell with @notarium.tool above a function registers one";
    let headings = ["function", "risk", "what it does", "where"];
    print::list(&there.functions, as_json, empty, headings, async |function| {
        let what = function.description.lines().next().unwrap_or_default().to_owned();
        let place = match (&function.problem, &function.cell_id) {
            (Some(_), Some(cell)) => format!("run cell {} first", print::short(cell.as_str())),
            (Some(_), None) => "run its cell first".to_owned(),
            (None, Some(cell)) => format!("cell {}", print::short(cell.as_str())),
            (None, None) => String::new(),
        };
        [function.name.clone(), word(&function.risk), what, place]
    })
    .await
}

fn describe(function: &NotebookFunction, schema: &Value) -> Ended {
    print::line(style(&function.name).bold())?;
    print::block("  ", &print::clean_block(&function.description))?;
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        let need = if required.contains(&name.as_str()) { "" } else { ", may be left out" };
        let about = parameter["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        print::line(print::clean(&format!("  --arg {name}=…  {}{need}{about}", kind(schema, parameter))))?;
    }
    Ok(())
}

/// The type of a parameter, in a word.
fn kind(schema: &Value, parameter: &Value) -> String {
    let parameter = resolved(schema, parameter);
    if let Some(choices) = parameter["enum"].as_array() {
        return choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(kinds) = parameter["anyOf"].as_array() {
        return kinds.iter().map(|each| kind(schema, each)).collect::<Vec<_>>().join(" | ");
    }
    parameter["type"].as_str().unwrap_or("any JSON").to_owned()
}

fn resolved<'a>(schema: &'a Value, parameter: &'a Value) -> &'a Value {
    let place = parameter["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| schema.pointer(place)).unwrap_or(parameter)
}

async fn is_confirmed(function: &NotebookFunction, arguments: &Map<String, Value>, yes: bool) -> Result<bool, Failure> {
    if function.risk.judged() != Risk::Destructive || yes {
        return Ok(yes);
    }
    let name = &function.name;
    if !input::is_terminal() {
        return Err(Failure::usage(format!(
            "{name} is registered as destructive: call it with --yes if that is meant"
        )));
    }
    let shown = serde_json::to_string_pretty(arguments).unwrap_or_default();
    print::note(format!(
        "{name} is registered as destructive. It would be called with\n{}",
        print::shown_whole(&shown)
    ));
    match input::agrees("Call it?").await? {
        true => Ok(true),
        false => Err(Failure::failed("nothing was called")),
    }
}

// --- arguments ---

fn arguments(schema: &Value, whole: Option<&str>, named: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut arguments: Map<String, Value> = match whole {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--arguments takes a JSON object: {error}")))?,
    };
    for argument in named {
        let Some((name, value)) = argument.split_once('=') else {
            return Err(Failure::usage(format!("--arg takes NAME=VALUE, and '{argument}' has no =")));
        };
        let parameter = &schema["properties"][name];
        let value = typed(schema, parameter, value, 0)
            .map_err(|wanted| Failure::usage(format!("{name} takes {wanted}, and '{value}' is none")))?;
        arguments.insert(name.to_owned(), value);
    }
    Ok(arguments)
}

/// Parses an argument by its schema; the error is the expected type. Without a type, the text is JSON if it can be parsed.
fn typed(schema: &Value, parameter: &Value, text: &str, depth: usize) -> Result<Value, String> {
    let parameter = resolved(schema, parameter);
    let json = || serde_json::from_str::<Value>(text).ok();
    if let Some(choices) = parameter["enum"].as_array() {
        let is_it = |choice: &&Value| choice.as_str() == Some(text) || Some(*choice) == json().as_ref();
        return choices.iter().find(is_it).cloned().ok_or_else(|| kind(schema, parameter));
    }
    if let Some(kinds) = parameter["anyOf"].as_array().filter(|_| depth < 8) {
        // A text type accepts any text, so it is tried last.
        let is_text =
            |each: &&Value| resolved(schema, each)["type"] == "string" && resolved(schema, each)["enum"].is_null();
        let (texts, others): (Vec<_>, Vec<_>) = kinds.iter().partition(is_text);
        let fits = others.into_iter().chain(texts).find_map(|each| typed(schema, each, text, depth + 1).ok());
        return fits.ok_or_else(|| kind(schema, parameter));
    }
    let is_of = |value: &Value, kind: &str| match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    match parameter["type"].as_str() {
        Some("string") => Ok(text.into()),
        Some(kind) => json().filter(|value| is_of(value, kind)).ok_or_else(|| kind.to_owned()),
        None => Ok(json().unwrap_or_else(|| text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn typed_as(parameter: Value, text: &str) -> Result<Value, String> {
        let schema = json!({"$defs": {"Kind": {"enum": ["a", 1]}}});
        typed(&schema, &parameter, text, 0)
    }

    #[test]
    fn the_schema_says_what_a_text_of_the_command_line_is() {
        for (parameter, text, value) in [
            (json!({"type": "string"}), "3", json!("3")),
            (json!({"type": "integer"}), "3", json!(3)),
            (json!({"type": "number"}), "3", json!(3)),
            (json!({"type": "boolean"}), "true", json!(true)),
            (json!({"type": "array"}), "[1]", json!([1])),
            (json!({"$ref": "#/$defs/Kind"}), "a", json!("a")),
            (json!({"$ref": "#/$defs/Kind"}), "1", json!(1)),
            (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "3", json!(3)),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "null", Value::Null),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "nul", json!("nul")),
            (Value::Null, "x", json!("x")),
            (Value::Null, "3", json!(3)),
        ] {
            assert_eq!(typed_as(parameter, text), Ok(value), "{text}");
        }
        assert_eq!(typed_as(json!({"type": "integer"}), "3.5"), Err("integer".to_owned()));
        assert_eq!(typed_as(json!({"$ref": "#/$defs/Kind"}), "b"), Err("\"a\" | 1".to_owned()));
        assert_eq!(
            typed_as(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "x"),
            Err("integer | null".to_owned())
        );
    }

    #[test]
    fn named_arguments_add_to_the_object() {
        let schema = json!({"properties": {"a": {"type": "integer"}}});
        let found = arguments(&schema, Some(r#"{"b": [1]}"#), &["a=2".to_owned()]).unwrap();
        assert_eq!(Value::Object(found), json!({"b": [1], "a": 2}));
        assert!(arguments(&schema, None, &["a".to_owned()]).is_err());
        assert!(arguments(&schema, Some("[]"), &[]).is_err());
    }
}
