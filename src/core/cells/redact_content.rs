//! Redaction of content: replaces what the plan found, and records who did it and why.

use crate::context::Context;
use crate::notebook::Notebook;
use crate::redaction::MAX_REDACTED_EVENTS;
use crate::values::decision::{Decision, RejectionCode, Result};
use crate::values::erasure::RedactContent;
use notarium_record::{ContentRedacted, ContentRemoval, HistoryQuery, RedactedEvent, StandIn};

/// Maximum number of events that one `ContentRedacted` names; a redaction of more has several.
const MAX_NAMED: usize = 5_000;

const MAX_REASON_CHARACTERS: usize = 500;

/// The events since the plan.
pub(crate) fn required_history(notebook: &Notebook, context: &Context) -> Option<HistoryQuery> {
    let plan = context.redaction.as_ref()?;
    (plan.version() < notebook.version).then_some(HistoryQuery::Tail { since: plan.version() })
}

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, command: &RedactContent) -> Result<Decision> {
    let RedactContent { reason, target } = command;
    let reason = reason.trim();
    let is_short = (1..=MAX_REASON_CHARACTERS).contains(&reason.chars().count());
    RejectionCode::InvalidValue.when(!is_short, || {
        format!("a redaction needs a reason of at most {MAX_REASON_CHARACTERS} characters: the record keeps it")
    })?;
    let plan = context.redaction.take().filter(|plan| plan.is_of(target));
    let plan = plan.ok_or_else(|| {
        RejectionCode::InvalidValue
            .because("content is redacted over POST /api/notebooks/N/redactions or `notarium redact`")
    })?;
    let is_behind = plan.version() > notebook.version || plan.is_behind(&context.history.events);
    RejectionCode::Conflict.when(is_behind, || "the content was written again meanwhile: redact it again")?;
    RejectionCode::NothingToRedact.when(
        plan.stand_ins().is_empty() && plan.blobs().is_empty(),
        || "nothing was changed: this content is not in the record, or was redacted before",
    )?;
    RejectionCode::InvalidValue.when(plan.stand_ins().len() > MAX_REDACTED_EVENTS, || {
        format!("a redaction changes at most {MAX_REDACTED_EVENTS} events: redact a longer text, or one cell after the other")
    })?;
    let mut named = plan.stand_ins().chunks(MAX_NAMED).map(<[StandIn]>::to_vec).collect::<Vec<_>>();
    if named.is_empty() {
        named.push(Vec::new());
    }
    let events = named.into_iter().enumerate().map(|(index, stand_ins)| {
        let redactions = stand_ins.iter().map(|it| RedactedEvent { version: it.version, stand_in: it.digest() });
        let blobs = if index == 0 { plan.blobs().iter().copied().collect() } else { Vec::new() };
        ContentRedacted {
            reason: reason.to_owned(),
            target: target.clone().into(),
            redactions: redactions.collect(),
            blobs,
        }
        .into()
    });
    let removal =
        ContentRemoval { stand_ins: plan.stand_ins().to_vec(), blobs: plan.blobs().iter().copied().collect() };
    Ok(Decision { removal, ..Decision::of(events.collect::<Vec<_>>()) })
}
