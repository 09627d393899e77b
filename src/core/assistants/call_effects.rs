//! Effects of the code that a tool call runs: the kinds that it may have, the risk of these kinds, and the question of a
//! kernel that holds no effects. In a kernel that holds them, code with no kinds runs unasked, whatever its text is.

use crate::assistants::call_risk;
use crate::context::Context;
use crate::functions::tools::Arguments;
use crate::notebook::Notebook;
use crate::runs::kernels;
use notarium_record::{CellType, Effect, Effects, EndCause, Execution, ExecutionSubject, Open, RefusedEffect, Risk};

/// The question about code in a kernel that holds no effects.
pub(crate) const NOT_HELD: &str =
    "this kernel cannot hold what an assistant's code does: the code can do all that the kernel's sandbox lets it do";

/// Kinds of effects that the call's code asks for, each once.
pub(crate) fn asked(notebook: &Notebook, arguments: &Arguments) -> Vec<Effect> {
    let named = match arguments {
        Arguments::ExecuteCell(call) => &call.effects,
        Arguments::ExecuteCellAsync(call) => &call.effects,
        Arguments::ExecuteCode(call) => &call.effects,
        Arguments::RunAll(call) => &call.effects,
        Arguments::CreateCells(call) if call.run => &call.effects,
        arguments => return asked_by_tool(notebook, arguments),
    };
    each_once(named.iter().flatten().copied())
}

/// Kinds of the tools that have no field for them. `open` is among them from the moment that the kernel could not begin
/// such a run, as a tool's code can meet what an assistant left in the kernel's memory.
fn asked_by_tool(notebook: &Notebook, arguments: &Arguments) -> Vec<Effect> {
    let of_function = match arguments {
        Arguments::CallFunction(call) => of_function(notebook, &call.name),
        Arguments::GetVariables(_)
        | Arguments::InspectVariable(_)
        | Arguments::ListFiles(_)
        | Arguments::ReadFile(_)
        | Arguments::SaveData(_) => Vec::new(),
        _ => return Vec::new(),
    };
    let open = held_open(notebook, arguments).map(|_| Effect::Open);
    each_once(of_function.into_iter().chain(open))
}

fn each_once(kinds: impl IntoIterator<Item = Effect>) -> Vec<Effect> {
    match Effects::held(kinds) {
        Effects::Held { allowed } => allowed,
        Effects::Free | Effects::Expected { .. } => Vec::new(),
    }
}

/// Sentence about the things that were open in the call's kernel when a held run could not begin there.
fn held_open<'a>(notebook: &'a Notebook, arguments: &'a Arguments) -> Option<&'a String> {
    let session = match arguments {
        Arguments::CallFunction(call) => Some(&call.kernel_session),
        _ => kernels::default_session(notebook),
    };
    notebook.ledger.kernels.of(session?)?.holds_open.as_ref()
}

/// Kinds that a call of the function may have: those that it names. A function that says that it only reads or edits has
/// none, and so has one that no person registered.
fn of_function(notebook: &Notebook, name: &str) -> Vec<Effect> {
    let Some(known) = notebook.functions.get(name) else { return Vec::new() };
    let function = &known.function;
    if function.risk.judged() < Risk::Sensitive || !notebook.ledger.registrations.is_by_person(name) {
        return Vec::new();
    }
    function.effects.iter().filter_map(Open::known).copied().collect()
}

/// Risk of code that may have these effects.
pub(crate) fn risk_of(kinds: &[Effect]) -> Risk {
    let one = |kind: &Effect| if kind.is_destructive() { Risk::Destructive } else { Risk::Sensitive };
    kinds.iter().map(one).max().unwrap_or(Risk::Read)
}

/// Reasons for a confirmation: one for each kind.
pub(crate) fn reasons(notebook: &Notebook, arguments: &Arguments, kinds: &[Effect]) -> Vec<String> {
    if kinds.len() == Effect::ALL.len() {
        return vec!["it may have all effects that the kernel's sandbox leaves to it".to_owned()];
    }
    let one = |kind: &Effect| match (kind, held_open(notebook, arguments)) {
        (Effect::Open, Some(sentence)) => sentence.clone(),
        (kind, _) => format!("it may {}", kind.phrase()),
    };
    kinds.iter().map(one).collect()
}

/// Effects of the runs that the call requests. In a kernel that holds no effects all of them are free: the gate has
/// asked about that.
pub(crate) fn of_runs(notebook: &Notebook, context: &Context, arguments: &Arguments) -> Effects {
    if !are_held(notebook, context, arguments) {
        return Effects::Free;
    }
    let of_tool: &[Effect] = match arguments {
        // The tool's own code makes the file. A person has confirmed that it replaces one.
        Arguments::SaveData(call) if call.overwrite.is_some() => &[Effect::Create, Effect::Write, Effect::Remove],
        Arguments::SaveData(_) => &[Effect::Create],
        arguments if is_query_that_writes(notebook, context, arguments) => &[Effect::Database],
        _ => &[],
    };
    Effects::held(asked(notebook, arguments).into_iter().chain(of_tool.iter().copied()))
}

/// Checks that the call runs an SQL cell whose text says that it writes: the gate asked about the database, and this run
/// is what was allowed.
fn is_query_that_writes(notebook: &Notebook, context: &Context, arguments: &Arguments) -> bool {
    let cell_id = match arguments {
        Arguments::ExecuteCell(call) => &call.cell_id,
        Arguments::ExecuteCellAsync(call) => &call.cell_id,
        _ => return false,
    };
    let is_query = notebook.cells.get(cell_id).is_some_and(|cell| cell.content.cell_type == CellType::Sql);
    is_query && call_risk::is_risky_text(notebook, context, arguments)
}

/// Checks that the kernel on which the call's code would run holds effects.
pub(crate) fn are_held(notebook: &Notebook, context: &Context, arguments: &Arguments) -> bool {
    let named = match arguments {
        Arguments::CallFunction(call) => Some(&call.kernel_session),
        _ => None,
    };
    kernels::hold_effects(notebook, context, named)
}

/// Refused effects of a run, in sentences for the model and for people, with the way to ask for them. `None`: nothing was
/// refused.
pub fn effects_in_words(execution: &Execution) -> Option<String> {
    match execution.end_cause.as_ref().and_then(Open::known) {
        Some(EndCause::HoldsOpen) => {
            let way = match &execution.subject {
                ExecutionSubject::Tool { .. } => "call the tool again, and a person is asked",
                _ => "ask for it with effects: [\"open\"]",
            };
            return Some(format!("The run did not begin. A person may allow it: {way}."));
        }
        Some(EndCause::EffectsNotHeld) => {
            return Some("The run did not begin. Ask for it again: then a person is asked.".to_owned());
        }
        _ if execution.refused.is_empty() => return None,
        _ => {}
    }
    let refused: Vec<String> = execution.refused.iter().map(refusal).collect();
    let kinds: Vec<String> = execution.refused.iter().map(|refused| format!("\"{}\"", refused.kind)).collect();
    let advice = match &execution.subject {
        _ if matches!(execution.effects.judged(), Effects::Expected { .. }) => {
            "Nothing in its text says so: code that an assistant ran in this kernel may have caused it. If it is meant, run \
             it again with all effects allowed."
                .to_owned()
        }
        ExecutionSubject::Tool { .. } => {
            "A function may have the effects that its registration names, and no others.".to_owned()
        }
        _ => format!(
            "If they are needed, ask for them with effects: [{}]. The run begins again from the top; variables stay as they are.",
            kinds.join(", ")
        ),
    };
    let refused = refused.join("; ");
    Some(format!("Effects outside the kernel were refused, and the code went on without them: {refused}. {advice}"))
}

/// Refused effects of one kind, such as `write (/data/a.csv, and 2 more)`.
fn refusal(RefusedEffect { kind, target, count }: &RefusedEffect) -> String {
    match count.saturating_sub(1) {
        0 => format!("{kind} ({target})"),
        more => format!("{kind} ({target}, and {more} more)"),
    }
}
