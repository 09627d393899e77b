//! Questions of runs and their answers, read from the events of the input.

use std::collections::BTreeMap;

use axum::Json;
use notarium_core::{Actor, Event, ExecutionId, Version};
use notarium_wire::rest::{RunInput, RunInputs};

use super::super::answers::Reading;
use super::super::scan::{Wanted, latest};
use crate::problem::Problem;

const MOST: Option<usize> = Some(200);

struct Answer {
    by: Actor,
    value: Option<String>,
}

pub async fn list(Reading { app, notebook, .. }: Reading) -> Result<Json<RunInputs>, Problem> {
    let wanted = || Wanted::page(None, MOST);
    let (mut inputs, _) =
        latest(&*app.store, &notebook, "ExecutionInputRequested", wanted(), |recorded| match recorded.event {
            Event::ExecutionInputRequested(event) => Some(RunInput {
                execution_id: event.execution_id,
                version: recorded.envelope.version,
                prompt: event.prompt,
                password: event.password,
                answered_by: None,
                value: None,
            }),
            _ => None,
        })
        .await?;
    let (answers, _) =
        latest(&*app.store, &notebook, "ExecutionInputAnswered", wanted(), |recorded| match recorded.event {
            Event::ExecutionInputAnswered(event) => Some((
                (event.execution_id, recorded.envelope.version),
                Answer { by: recorded.envelope.actor, value: event.value },
            )),
            _ => None,
        })
        .await?;
    let answers: BTreeMap<(ExecutionId, Version), Answer> = answers.into_iter().collect();
    // An answer belongs to the last question before it: from the newest question down, each takes those up to the next one.
    let mut until: BTreeMap<ExecutionId, Version> = BTreeMap::new();
    for input in &mut inputs {
        let end = until.insert(input.execution_id.clone(), input.version).unwrap_or(Version::MAX);
        let range = (input.execution_id.clone(), input.version)..(input.execution_id.clone(), end);
        if let Some((_, answer)) = answers.range(range).next() {
            input.answered_by = Some(answer.by.clone());
            input.value.clone_from(&answer.value);
        }
    }
    Ok(Json(RunInputs { inputs }))
}
