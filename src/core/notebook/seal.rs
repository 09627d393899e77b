//! Seals decided events into the hash chain.

use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::decision::Decided;
use notarium_record::{Envelope, EventId, Head, NotebookId, Recorded, Stored};

/// Turns decided events into stored ones that continue the chain at `head`, and advances `head`.
pub fn seal(
    head: &mut Head,
    notebook_id: &NotebookId,
    context: &mut Context,
    events: &[Decided],
) -> Result<Vec<Stored>, serde_json::Error> {
    let mut next = *head;
    let mut sealed = Vec::with_capacity(events.len());
    for decided in events {
        let mut envelope = envelope(context.ids.ulid().into(), notebook_id, &next, context, decided);
        if let Some(leading) = leading(&sealed, decided) {
            envelope.causation_id = Some(leading.envelope.id.clone());
        }
        let salt = context.ids.salt();
        sealed.push(Stored::seal(&mut next, envelope, decided.event.payload()?, salt));
    }
    *head = next;
    Ok(sealed)
}

/// The event of the same command that led to this one.
fn leading<'a>(sealed: &'a [Stored], decided: &Decided) -> Option<&'a Stored> {
    sealed.get(sealed.len().checked_sub(decided.led_by?)?)
}

/// The event as it will be recorded, without id, cause and hash, on which no state depends.
pub(crate) fn provisional(notebook: &Notebook, context: &Context, decided: &Decided) -> Recorded {
    let head = Head { version: notebook.version, recorded_at: notebook.updated_at, ..Head::START };
    let envelope = envelope(ulid::Ulid::nil().into(), &notebook.notebook_id, &head, context, decided);
    Recorded { envelope, event: decided.event.clone() }
}

fn envelope(id: EventId, notebook_id: &NotebookId, head: &Head, context: &Context, decided: &Decided) -> Envelope {
    Envelope {
        id,
        notebook_id: notebook_id.clone(),
        version: head.version + 1,
        event_type: decided.event.event_type().to_owned(),
        schema: decided.event.schema(),
        actor: decided.actor.as_ref().unwrap_or(&context.actor).clone(),
        command_id: context.command_id.clone(),
        correlation_id: decided.correlation_id.clone().unwrap_or_else(|| context.correlation_id.clone()),
        causation_id: decided.caused_by.clone().or_else(|| context.causation_id.clone()),
        undoes: decided.undoes.clone(),
        recorded_at: context.now.max(head.recorded_at),
    }
}
