//! Finds the actors who cancelled runs: the state has only the causes of ends, the record has the actors.

use notarium_core::{Actor, Event, Execution, ExecutionId, ExecutionStatus, NotebookId, Recorded};
use notarium_store::{EventStore, MAX_READ_EVENTS};

/// Limit of writes above which a list does not look for the actor: the run's outputs would be read too.
pub const MAX_LISTED_WRITES: u64 = 200;

/// Actor who cancelled the run. `None`: it was not cancelled, or not by an actor that the record names.
pub async fn ended_by(
    store: &dyn EventStore,
    notebook: &NotebookId,
    id: &ExecutionId,
    run: &Execution,
) -> Option<Actor> {
    if run.status != ExecutionStatus::Cancelled {
        return None;
    }
    let own = events(store, notebook, id.to_string()).await;
    let end = own.iter().rfind(|recorded| matches!(recorded.event, Event::ExecutionCancelled(_)))?;
    let is_person =
        |actor: &&Actor| matches!(actor, Actor::User { .. } | Actor::Guest { .. } | Actor::Assistant { .. });
    let author = Some(&end.envelope.actor).filter(is_person).cloned();
    let Some(leading) = &end.envelope.causation_id else { return author };
    let is_leading = |recorded: &&Recorded| recorded.envelope.id == *leading;
    if let Some(asked) = own.iter().find(is_leading) {
        return Some(asked.envelope.actor.clone());
    }
    let Some(kernel) = &run.kernel_session else { return author };
    let of_kernel = events(store, notebook, kernel.to_string()).await;
    of_kernel.iter().find(is_leading).map(|asked| asked.envelope.actor.clone()).or(author)
}

/// Events of a subject that this build can read, without outputs, of which there may be millions.
pub async fn events(store: &dyn EventStore, notebook: &NotebookId, subject: String) -> Vec<Recorded> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = match store.read_subject(notebook, &subject, after, MAX_READ_EVENTS).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, %notebook, "who ended a run is not told");
                return Vec::new();
            }
        };
        let others = page.iter().filter(|stored| stored.envelope.event_type != "ExecutionOutputAppended");
        found.extend(others.filter_map(|stored| stored.typed().ok()));
        match page.last() {
            Some(last) if page.len() == MAX_READ_EVENTS => after = last.envelope.version,
            _ => return found,
        }
    }
}
