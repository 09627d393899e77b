//! Checks a schedule before its command reaches the core, which has no calendar and no literals of languages.

use std::sync::Arc;

use notarium_core::{Command, NotebookId, RawObject, Rejection, RejectionCode, SetSchedule};
use notarium_wire::parameters;
use serde::Deserialize;

use super::Notebooks;
use crate::rooms::Identity;
use crate::rooms::metadata::entries;
use crate::timetable::Timetable;

/// Refuses a line of cron that never comes or comes too often, an unknown time zone, and parameters that the notebook's language cannot hold.
pub async fn check(
    notebooks: &Notebooks,
    identity: &Arc<Identity>,
    notebook: &NotebookId,
    command: &Command,
) -> Result<(), Rejection> {
    match command {
        Command::SetSchedule(schedule) => check_one(notebooks, identity, notebook, schedule).await,
        Command::Batch { commands } => {
            for command in commands {
                if let Command::SetSchedule(schedule) = command {
                    check_one(notebooks, identity, notebook, schedule).await?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn check_one(
    notebooks: &Notebooks,
    identity: &Arc<Identity>,
    notebook: &NotebookId,
    schedule: &SetSchedule,
) -> Result<(), Rejection> {
    let invalid = |message: String| Rejection::new(RejectionCode::InvalidValue, message);
    Timetable::checked(schedule.cron.trim(), schedule.timezone.as_deref().unwrap_or("UTC").trim())
        .map_err(|error| invalid(error.to_string()))?;
    if schedule.parameters.is_empty() {
        return Ok(());
    }
    // A sender without the right to read gets the core's refusal.
    let Ok(now) = notebooks.rooms.handle(notebook).read(identity.clone()).await else { return Ok(()) };
    check_parameters(&now.notebook.metadata, &schedule.parameters).map_err(invalid)
}

/// Checks that the parameters can be written in the notebook's language. `Err`: a sentence.
fn check_parameters(metadata: &RawObject, given: &RawObject) -> Result<(), String> {
    let language = language(metadata);
    let given = parameters::of_object(given)?;
    parameters::check(&given, &language)?;
    if given.is_empty() { Ok(()) } else { parameters::source(&given, &language).map(drop) }
}

/// The notebook's language, as its metadata say it; else Python.
pub fn language(metadata: &RawObject) -> String {
    #[derive(Default, Deserialize)]
    struct Named {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        language: Option<String>,
    }
    let entries = entries(metadata);
    let read = |key: &str| -> Named {
        entries.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    };
    let told = read("kernelspec").language.or_else(|| read("language_info").name);
    told.filter(|language| !language.is_empty()).unwrap_or_else(|| "python".to_owned())
}
