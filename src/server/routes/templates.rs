//! Routes for templates of new notebooks.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Command, Document, Operation, RawObject};
use notarium_wire::rest::{TemplateLine, TemplateMark, Templates};

use super::answers::{Accepted, Submit, execute};
use super::notebooks::read_at;
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Conditions, NoBody, OptionalJson};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;
use crate::notebooks::listing::{self, Wanted};
use crate::notebooks::templates;
use crate::rooms::metadata::{MAX_DESCRIPTION_CHARACTERS, with_template_mark, without_template_mark};

/// Limit of notebooks in the list of templates.
const MAX_LISTED: usize = 200;
/// Tries to set a mark if the notebook changes meanwhile.
const MAX_TRIES: usize = 10;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .group("notebooks", "/api")
        .says("What new notebooks can be made of: starters of this server, and notebooks that are templates.")
        .on(Guard::Authenticated, Method::GET, "/templates", list_templates)
        .group("notebooks", "/api/notebooks/{notebook}")
        .says("Makes the notebook a template, for all who may read it.")
        .on(Guard::Notebook(Operation::Edit), Method::PUT, "/template", mark)
        .says("The notebook is no template any more.")
        .on(Guard::Notebook(Operation::Edit), Method::DELETE, "/template", unmark)
}

async fn list_templates(State(app): State<App>, authenticated: Authenticated) -> Result<Json<Templates>, Problem> {
    let wanted = Wanted { only_templates: true, limit: MAX_LISTED, ..Wanted::default() };
    let page = listing::visible(&app, &authenticated, wanted).await?;
    let lines = page.entries.into_iter().map(|(entry, _)| TemplateLine {
        notebook: entry.notebook_id,
        title: entry.title,
        description: entry.template.unwrap_or_default(),
        cells: entry.cells,
        updated_at: entry.updated_at,
    });
    Ok(Json(Templates { starters: templates::starters(), notebooks: lines.collect(), is_cut: page.next.is_some() }))
}

// --- mark ---

async fn mark(submit: Submit, OptionalJson(mark): OptionalJson<TemplateMark>) -> Result<Accepted, Problem> {
    let description = mark.description.trim().to_owned();
    if description.chars().count() > MAX_DESCRIPTION_CHARACTERS || description.chars().any(char::is_control) {
        let detail =
            format!("a description is one line of at most {MAX_DESCRIPTION_CHARACTERS} characters: shorten it");
        return Err(Problem::invalid(detail));
    }
    set(submit, |document| with_template_mark(&document.metadata, description.clone())).await
}

async fn unmark(submit: Submit, _: NoBody) -> Result<Accepted, Problem> {
    set(submit, |document| without_template_mark(&document.metadata)).await
}

/// Metadata is replaced as a whole, so it is set only at the version that was read: no change of another client is
/// lost.
async fn set(submit: Submit, metadata: impl Fn(&Document) -> RawObject) -> Result<Accepted, Problem> {
    let Submit { app, who, notebook, conditions } = submit;
    for _ in 0..MAX_TRIES {
        let read = read_at(&app, &who, &notebook, None).await?;
        let at = Conditions {
            command_id: conditions.command_id.clone(),
            expected_version: conditions.expected_version.or(Some(read.version)),
        };
        let command = Command::SetNotebookMetadata { metadata: metadata(&read.notebook) };
        match execute(&app, &who, &notebook, at, &command).await {
            Err(problem) if problem.code == "conflict" && conditions.expected_version.is_none() => {}
            answer => return answer,
        }
    }
    let detail = "others change this notebook all the time: try again in a moment";
    Err(Problem::new(http::StatusCode::CONFLICT, "conflict", detail))
}
