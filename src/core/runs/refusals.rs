//! Refused effects of runs, as their agents report them: at most two events for each kind and run.

use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::reports::reported;
use crate::values::decision::{Decision, RejectionCode, Result};
use crate::values::mask::mask_keys;
use notarium_record::{Actor, ExecutionEffectRefused, ExecutionId, RefusedEffect, Version};

/// Bytes of a target that are recorded.
const MAX_TARGET_BYTES: usize = 1 << 10;

pub(crate) fn decide(
    notebook: &Notebook,
    context: &Context,
    execution_id: ExecutionId,
    fence: Version,
    refused: RefusedEffect,
) -> Result<Decision> {
    let execution = reported(notebook, context, &execution_id, fence)?;
    let RefusedEffect { kind, target, count } = refused;
    RejectionCode::InvalidValue.when(count == 0, || "count is 0: report only effects that were refused")?;
    let target = match execution.refused.iter().find(|known| known.kind == kind) {
        // After the first effect of a kind, one more event has the final number.
        Some(known) if known.count > 1 || count == 1 => return Ok(Decision::nothing()),
        Some(known) => known.target.clone(),
        None => recorded_target(&execution.requested_by, &target),
    };
    Ok(Decision::one(ExecutionEffectRefused { execution_id, kind, target, count }))
}

/// The beginning of a target. Keys in a target of an assistant's run are masked, because the assistant reads it.
fn recorded_target(requested_by: &Actor, target: &str) -> String {
    let target = match requested_by {
        Actor::Assistant { .. } => mask_keys(target),
        _ => target.into(),
    };
    let end = (0..=target.len().min(MAX_TARGET_BYTES)).rev().find(|end| target.is_char_boundary(*end));
    target[..end.unwrap_or_default()].to_owned()
}
