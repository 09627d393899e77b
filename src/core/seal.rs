//! Seals decided events into the hash chain.

use crate::context::Context;
use crate::decision::Decided;
use notarium_record::{Envelope, Head, NotebookId, Stored};

/// Turns decided events into stored ones that continue the chain at `head`, which is moved on.
pub fn seal(
    head: &mut Head,
    notebook_id: &NotebookId,
    context: &mut Context,
    events: &[Decided],
) -> Result<Vec<Stored>, serde_json::Error> {
    let mut next = *head;
    let mut sealed = Vec::with_capacity(events.len());
    for decided in events {
        sealed.push(seal_one(&mut next, notebook_id, context, decided)?);
    }
    *head = next;
    Ok(sealed)
}

fn seal_one(
    head: &mut Head,
    notebook_id: &NotebookId,
    context: &mut Context,
    decided: &Decided,
) -> Result<Stored, serde_json::Error> {
    let event = &decided.event;
    let envelope = Envelope {
        id: context.ids.ulid().into(),
        notebook_id: notebook_id.clone(),
        version: head.version + 1,
        event_type: event.event_type().to_owned(),
        schema: event.schema(),
        actor: context.actor.clone(),
        command_id: context.command_id.clone(),
        correlation_id: decided.correlation_id.clone().unwrap_or_else(|| context.correlation_id.clone()),
        causation_id: context.causation_id.clone(),
        undoes: decided.undoes.clone(),
        recorded_at: context.now.max(head.recorded_at),
    };
    let salt = context.ids.salt();
    Ok(Stored::seal(head, envelope, event.payload()?, salt))
}
