//! Functions that users register in a kernel as tools for assistants. They are kept with the notebook and called in the
//! kernel that registered them. When that kernel ends, they stay until another kernel registers them again.
//!
//! People call them directly: the arguments are checked by the schema and rendered as the code of a run. Assistants call
//! through the gate (`decide/tool_calls`).

pub(crate) mod schema;
pub mod tools;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::access::owned_kernel;
use crate::context::Context;
use crate::functions::schema::check_schema;
use crate::functions::tools::{NotebookTool, Tool, find, is_defined_in};
use crate::ledger::registrations::RegisteringRuns;
use crate::notebook::Notebook;
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::{
    CellType, Document, FunctionPlace, KernelFunctionsForgotten, KernelFunctionsRegistered, KernelPhase,
    KernelSessionId, RawObject, Risk, UserFunction, Version,
};

/// Functions that one kernel registers, at most.
const MAX_FUNCTIONS: usize = 64;
/// Bytes of one function's schema as JSON, at most.
const MAX_SCHEMA_BYTES: usize = 16 << 10;
/// Names that MCP adds to those of the notebook: a tool, and a parameter of every tool.
const MCP_TOOL: &str = "await_confirmation";
const MCP_PARAMETER: &str = "notebook";
const MAX_NAME_CHARACTERS: usize = 64;
const MAX_MODULE_CHARACTERS: usize = 255;
const MAX_VERSION_CHARACTERS: usize = 100;
const MAX_DESCRIPTION_CHARACTERS: usize = 4_000;

// --- register ---

pub(crate) fn decide_register(
    notebook: &Notebook,
    context: &Context,
    kernel_session: KernelSessionId,
    fence: Version,
    functions: Vec<UserFunction>,
    places: Vec<FunctionPlace>,
) -> Result<Decision> {
    let session = owned_kernel(notebook, context, &kernel_session)?;
    if session.fence != Some(fence) || session.phase != KernelPhase::Started {
        let message = "this kernel session is over or not yours: register nothing more for it";
        return Err(Rejection { actual_version: session.fence, ..RejectionCode::StaleFence.because(message) });
    }
    check(&functions)?;
    check_places(&functions, &places)?;
    let clashes = clashes(notebook, &kernel_session, &places);
    let is_clash = |name: &str| clashes.iter().any(|clash| clash.name == name);
    let functions = functions.into_iter().filter(|function| !is_clash(&function.name)).collect();
    let places: Vec<FunctionPlace> = places.into_iter().filter(|place| !is_clash(&place.name)).collect();
    let causes = RegisteringRuns::of(notebook, &kernel_session);
    let mut functions = with_risks(notebook, &causes, functions);
    let is_rewritten = is_rewritten(notebook, &causes, &functions);
    functions.extend(clashes.iter().filter_map(|clash| clash.kept.clone()));
    let notices = clashes.into_iter().map(|clash| clash.notice).collect();
    let outcome = Outcome { notices, ..Outcome::default() };
    let known = notebook.functions.values().filter(|known| known.kernel_session.as_ref() == Some(&kernel_session));
    let known: Vec<&UserFunction> = known.map(|known| &known.function).collect();
    let is_same = known.len() == functions.len() && functions.iter().all(|function| known.contains(&function));
    let is_there = |place: &FunctionPlace| {
        notebook.ledger.registrations.of(&place.name).is_some_and(|known| known.place == *place)
    };
    if is_same && places.iter().all(is_there) && !is_rewritten {
        return Ok(Decision { outcome, ..Decision::nothing() });
    }
    let forgotten = forgotten(notebook, context.limits.max_functions, &functions);
    let registered = KernelFunctionsRegistered { kernel_session, functions, places };
    Ok(Decision { outcome, ..Decision::of(forgotten.into_iter().map(Decided::from).chain([registered.into()])) })
}

/// Returns the functions with the risk that counts.
///
/// - If the run is not a person's, a function counts as destructive if it is new or no person ran its text.
/// - Otherwise such a run never lowers a known risk.
/// - A person's run sets the risk of functions that its text names, because the risk belongs to that text.
/// - A function that the run does not name keeps at least its known risk: a kernel reports all its functions at every
///   registration.
fn with_risks(notebook: &Notebook, causes: &RegisteringRuns, functions: Vec<UserFunction>) -> Vec<UserFunction> {
    let risked = functions.into_iter().map(|function| {
        let known = notebook.functions.get(&function.name).map(|known| &known.function);
        let same = known.filter(|known| UserFunction { risk: known.risk.clone(), ..function.clone() } == **known);
        let is_named = causes.name(&function.name);
        let is_new = same.is_none() || (is_named && !notebook.ledger.registrations.has(&function.name, causes));
        let risk = match same {
            _ if !causes.are_people() && is_new => Risk::Destructive.into(),
            Some(same) if !causes.are_people() || !is_named => function.risk.judged().max(same.risk.judged()).into(),
            _ => function.risk.clone(),
        };
        UserFunction { risk, ..function }
    });
    risked.collect()
}

/// Checks that a person registers one of the functions by another text than before: the risk then belongs to the new
/// text.
fn is_rewritten(notebook: &Notebook, causes: &RegisteringRuns, functions: &[UserFunction]) -> bool {
    let is_other = |name: &str| causes.name(name) && !notebook.ledger.registrations.has(name, causes);
    causes.are_people() && functions.iter().any(|function| is_other(&function.name))
}

/// Evicts functions whose kernels have ended, oldest first, to make room for new ones.
fn forgotten(notebook: &Document, limit: usize, new: &[UserFunction]) -> Option<KernelFunctionsForgotten> {
    let is_new = |name: &str| new.iter().any(|function| function.name == name);
    let kept = notebook.functions.iter().filter(|(name, _)| !is_new(name));
    let excess = (kept.clone().count() + new.len()).saturating_sub(limit);
    let mut unused: Vec<_> = kept.filter(|(_, known)| known.kernel_session.is_none()).collect();
    unused.sort_by_key(|(_, known)| known.registered_version);
    let names: Vec<String> = unused.into_iter().take(excess).map(|(name, _)| name.clone()).collect();
    (!names.is_empty()).then_some(KernelFunctionsForgotten { names })
}

// --- places ---

fn check_places(functions: &[UserFunction], places: &[FunctionPlace]) -> Result<()> {
    let invalid = RejectionCode::InvalidValue;
    let mut names = BTreeSet::new();
    for FunctionPlace { name, module, .. } in places {
        let is_known = functions.iter().any(|function| function.name == *name);
        invalid.when(!is_known || !names.insert(name), || {
            format!("places has '{name}', which is none of the functions or stands there twice")
        })?;
        invalid.when(module.as_ref().is_some_and(|module| module.chars().count() > MAX_MODULE_CHARACTERS), || {
            format!("{name}: a module's name has at most {MAX_MODULE_CHARACTERS} characters")
        })?;
    }
    Ok(())
}

/// A name that a function at another place has already.
struct Clash {
    name: String,
    /// The first function, if this kernel has it: it stays registered.
    kept: Option<UserFunction>,
    /// Sentence for people that names both places.
    notice: String,
}

/// Second functions of one name at another place: a caller would get either by chance, so the first one stays. The same place again
/// is a new version.
fn clashes(notebook: &Notebook, session: &KernelSessionId, places: &[FunctionPlace]) -> Vec<Clash> {
    let clash = |place: &FunctionPlace| {
        let known = notebook.functions.get(&place.name)?;
        let kernel = known.kernel_session.as_ref()?;
        let old = &notebook.ledger.registrations.of(&place.name)?.place;
        let is_here = kernel == session;
        if !is_elsewhere(notebook, old, place, is_here) {
            return None;
        }
        let notice = format!(
            "two functions are called {}: one in {}, one in {}{}. The first one stays. Give one another name, or take one out and run what is left",
            place.name,
            spoken(old),
            spoken(place),
            if is_here { "" } else { ", on two kernels" }
        );
        Some(Clash { name: place.name.clone(), kept: is_here.then(|| known.function.clone()), notice })
    };
    places.iter().filter_map(clash).collect()
}

/// Checks that two places are different functions. If the old cell no longer defines the function, it has moved. The
/// kernel itself distinguishes its modules.
fn is_elsewhere(notebook: &Document, old: &FunctionPlace, new: &FunctionPlace, is_one_kernel: bool) -> bool {
    if old.module != new.module {
        return !is_one_kernel;
    }
    let (Some(one), Some(other)) = (&old.cell_id, &new.cell_id) else { return false };
    let defines = |cell: &notarium_record::Cell| {
        cell.content.cell_type == CellType::Code && is_defined_in(&cell.content.source, &old.name)
    };
    old.module.is_none() && one != other && notebook.cells.get(one).is_some_and(|cell| defines(cell))
}

fn spoken(place: &FunctionPlace) -> String {
    let line = place.line.map(|line| format!(" line {line}")).unwrap_or_default();
    match (&place.module, &place.cell_id) {
        (Some(module), _) => format!("the module {module}{line}"),
        (None, Some(cell)) => format!("cell {cell}{line}"),
        (None, None) => format!("code of no cell{line}"),
    }
}

/// Accepts all functions or none: an assistant must not see half of a registration.
fn check(functions: &[UserFunction]) -> Result<()> {
    LimitName::Functions.when(functions.len() > MAX_FUNCTIONS, MAX_FUNCTIONS, || {
        format!("a kernel registers at most {MAX_FUNCTIONS} functions, not {}", functions.len())
    })?;
    let mut names = BTreeSet::new();
    for function in functions {
        check_one(function)?;
        RejectionCode::InvalidValue.when(!names.insert(&function.name), || {
            format!("two functions are called {}: rename one", function.name)
        })?;
    }
    Ok(())
}

fn check_one(function: &UserFunction) -> Result<()> {
    let UserFunction { name, version, description, schema, risk, effects } = function;
    let invalid = RejectionCode::InvalidValue;
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_identifier = name.len() <= MAX_NAME_CHARACTERS
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(is_part);
    invalid.when(!is_identifier, || {
        let shown: String = name.chars().take(MAX_NAME_CHARACTERS).collect();
        format!(
            "'{shown}' cannot be a function's name: it takes ASCII letters, digits and _, begins with a letter, and has at most {MAX_NAME_CHARACTERS} characters"
        )
    })?;
    invalid.when(Tool::find(name).is_some() || name == MCP_TOOL, || {
        format!("{name} is the name of a tool that every notebook has: rename the function")
    })?;
    invalid.when(risk.known().is_none(), || {
        format!("{name}: '{risk}' is no risk that this server knows: see protocol/schema/command.json")
    })?;
    invalid.when(effects.iter().any(|effect| effect.known().is_none()), || {
        format!("{name}: its effects have a kind that this server does not know: see protocol/schema/command.json")
    })?;
    let is_long = |text: &str, limit: usize| text.chars().count() > limit;
    let is_long = is_long(version, MAX_VERSION_CHARACTERS) || is_long(description, MAX_DESCRIPTION_CHARACTERS);
    RejectionCode::LimitExceeded.when(is_long, || {
        format!(
            "{name}: a version has at most {MAX_VERSION_CHARACTERS} characters, a description {MAX_DESCRIPTION_CHARACTERS}"
        )
    })?;
    RejectionCode::LimitExceeded.when(schema.get().len() > MAX_SCHEMA_BYTES, || {
        format!("{name}: its schema has more than {} KiB: simplify its parameters", MAX_SCHEMA_BYTES >> 10)
    })?;
    let parsed: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    invalid.when(parsed["properties"].get(MCP_PARAMETER).is_some(), || {
        format!("{name}: outside assistants say by '{MCP_PARAMETER}' which notebook they mean: rename the parameter")
    })?;
    check_schema(&parsed).map_err(|why| invalid.because(format!("{name}: its schema is no schema of arguments: {why}")))
}

// --- calls by people ---

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
        let NotebookTool::Function(function, session) = found else {
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
    use rstest::rstest;

    use super::*;

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
