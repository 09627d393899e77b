//! Effects of people's runs in a mixed kernel: one that ran an assistant's held code, or has such a run in its queue. The
//! run may have the kinds that its own text can lead to. An effect of another kind is a surprise: it is refused and
//! shown, because code in the kernel's memory may have caused it in the person's name.

use std::collections::BTreeSet;

use crate::command::Command;
use crate::context::{Context, JudgementQuery};
use crate::functions::FunctionCall;
use crate::notebook::Notebook;
use crate::runs::kernels;
use crate::values::{ExecutionTarget, RequestExecution, RequestedEffects};
use notarium_record::{Actor, CellId, Effect, Effects, ExecutionSubject, KernelSessionId, Open, Reactivity};

/// Bytes of other cells' runs that are read for definitions, at most. Names that further cells define are unknown ones.
const MAX_EARLIER_BYTES: usize = 1 << 20;

/// Effects for which a person asks with a run: all, or those that the called function names besides those of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct EffectsRequest {
    /// The person allows all effects.
    pub is_free: bool,
    /// Kinds that the called function names.
    pub declared: Vec<Effect>,
}

impl EffectsRequest {
    pub(crate) fn of(notebook: &Notebook, request: &RequestExecution) -> Self {
        let declared = match &request.target {
            ExecutionTarget::Function { name, .. } => declared(notebook, name),
            _ => Vec::new(),
        };
        Self { is_free: request.effects == Some(RequestedEffects::Free), declared }
    }
}

/// Effects of a run that the sender requests on this kernel.
pub(crate) fn of_run(
    notebook: &Notebook,
    context: &Context,
    session: &KernelSessionId,
    subject: &ExecutionSubject,
    effects_request: &EffectsRequest,
) -> Effects {
    let effects = of_sender(notebook, context, session);
    match effects {
        Effects::Expected { .. } if effects_request.is_free => Effects::Free,
        Effects::Expected { .. } => {
            let of_text = kinds(notebook, context, session, subject.source());
            Effects::expected(of_text.into_iter().chain(effects_request.declared.iter().copied()))
        }
        effects => effects,
    }
}

/// The same for a run whose text leads to no effects.
pub(crate) fn of_sender(notebook: &Notebook, context: &Context, session: &KernelSessionId) -> Effects {
    let is_person = matches!(context.actor, Actor::User { .. } | Actor::Guest { .. });
    match is_person && asks(notebook, session) {
        true => Effects::expected([]),
        false => context.effects(),
    }
}

/// Checks that the kernel refuses surprises to people. A kernel that has not started is taken to do so.
fn asks(notebook: &Notebook, id: &KernelSessionId) -> bool {
    notebook.ledger.kernels.is_mixed(id)
        && notebook.kernels.get(id).is_some_and(|kernel| kernel.fence.is_none() || kernel.asks_about_surprises())
}

/// Kinds that the text can lead to; all if it could not be read.
fn kinds(notebook: &Notebook, context: &Context, session: &KernelSessionId, source: &str) -> Vec<Effect> {
    let judgement = context.history.judgement.as_ref().filter(|judgement| judgement.query.expects);
    let known = judgement.and_then(|judgement| {
        let place = judgement.query.codes.binary_search_by(|code| code.as_str().cmp(source)).ok()?;
        judgement.kinds.get(place).cloned()
    });
    known.filter(|_| is_python(notebook, session)).unwrap_or_else(|| Effect::ALL.to_vec())
}

fn is_python(notebook: &Notebook, id: &KernelSessionId) -> bool {
    notebook.kernels.get(id).is_some_and(|kernel| {
        kernels::language_of(kernel)
            .map_or_else(|| kernel.kernelspec.starts_with("python"), |told| kernels::is_python_name(&told))
    })
}

/// Kinds that a function names, if a person registered it.
fn declared(notebook: &Notebook, name: &str) -> Vec<Effect> {
    let known = notebook.functions.get(name).filter(|_| notebook.ledger.registrations.is_by_person(name));
    known.iter().flat_map(|known| &known.function.effects).filter_map(Open::known).copied().collect()
}

// --- query ---

/// Query for the texts that these requests would run, if one of them needs it. Texts are sorted, each once.
pub(crate) fn query(notebook: &Notebook, command: &Command) -> Option<JudgementQuery> {
    let requests: Vec<&RequestExecution> = match command {
        Command::RequestExecution(request) => vec![request],
        Command::Batch { commands } => commands.iter().filter_map(request).collect(),
        _ => return None,
    };
    let mut codes: BTreeSet<String> = requests.iter().filter_map(|request| text(notebook, request)).collect();
    if codes.is_empty() {
        return None;
    }
    // A plan may run any cell.
    if notebook.reactivity != Reactivity::Off {
        codes.extend(texts_of_cells(notebook));
    }
    let earlier = earlier(notebook).filter(|source| !codes.contains(source)).collect();
    Some(JudgementQuery { earlier, codes: codes.into_iter().collect(), expects: true, ..JudgementQuery::default() })
}

fn request(command: &Command) -> Option<&RequestExecution> {
    match command {
        Command::RequestExecution(request) => Some(request),
        _ => None,
    }
}

/// Text that the request would run; `None` if its kinds are not asked for.
fn text(notebook: &Notebook, request: &RequestExecution) -> Option<String> {
    let named = request.kernel_session.as_ref();
    let session = named.or_else(|| kernels::default_session(notebook))?;
    if request.effects.is_some() && notebook.reactivity == Reactivity::Off {
        return None;
    }
    let (source, session) = match &request.target {
        ExecutionTarget::Cell { cell_id, .. } => (text_of_cell(notebook, cell_id)?, session.clone()),
        ExecutionTarget::Scratch { source, .. } => (source.clone(), session.clone()),
        ExecutionTarget::Function { name, arguments, confirmed } => {
            let call = FunctionCall { name: name.clone(), arguments: arguments.clone(), is_confirmed: *confirmed };
            call.code(notebook, named).ok()?
        }
    };
    (asks(notebook, &session) && is_python(notebook, &session)).then_some(source)
}

fn text_of_cell(notebook: &Notebook, id: &CellId) -> Option<String> {
    let content = &notebook.cells.get(id)?.content;
    content.cell_type.runs().then(|| content.text_to_run().into_owned())
}

fn texts_of_cells(notebook: &Notebook) -> impl Iterator<Item = String> {
    notebook.ordered_cells().filter_map(|(id, _)| text_of_cell(notebook, id))
}

/// Texts that people ran last in their cells, whose definitions the kernel may have. A definition that only an assistant ran is
/// none of a person's: with it a trap could say itself what it does.
fn earlier(notebook: &Notebook) -> impl Iterator<Item = String> {
    let is_person = |actor: &Actor| matches!(actor, Actor::User { .. } | Actor::Guest { .. });
    let latest = notebook.latest.values().filter_map(|run| notebook.executions.get(run));
    let ran = latest.filter(move |run| is_person(&run.requested_by)).map(|run| run.subject.source().to_owned());
    let mut bytes = 0;
    ran.take_while(move |source| {
        bytes += source.len();
        bytes <= MAX_EARLIER_BYTES
    })
}
