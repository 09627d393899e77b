//! Questions of a run on stdin and their answers, from the events of the record.

use axum::Json;
use notarium_core::{Event, Recorded};
use notarium_wire::rest::{RunInput, RunInputs};

use super::super::answers::Reading;
use super::{RunPath, ends};
use crate::http::extract::Params;

pub async fn list(Reading { app, notebook, .. }: Reading, Params((_, id)): Params<RunPath>) -> Json<RunInputs> {
    let events = ends::events(&*app.store, &notebook, id.to_string()).await;
    Json(RunInputs { inputs: events.into_iter().fold(Vec::new(), with) })
}

/// Adds one event; an answer belongs to the last question before it.
fn with(mut inputs: Vec<RunInput>, Recorded { envelope, event }: Recorded) -> Vec<RunInput> {
    match event {
        Event::ExecutionInputRequested(event) => inputs.push(RunInput {
            version: envelope.version,
            prompt: event.prompt,
            password: event.password,
            answered_by: None,
            value: None,
        }),
        Event::ExecutionInputAnswered(event) => {
            if let Some(last) = inputs.last_mut() {
                (last.answered_by, last.value) = (Some(envelope.actor), event.value);
            }
        }
        _ => {}
    }
    inputs
}
