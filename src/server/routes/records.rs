//! Routes for exported records: what is signed beside the heads.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use notarium_core::{AgentId, ShareLinkId, UserId};
use notarium_wire::rest::{NamesQuery, RetentionPreview, RetentionQuery};
use notarium_wire::signed_names::StatedNames;

use crate::app::App;
use crate::http::extract::{JsonBody, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::limits::RetentionAges;
use crate::notebooks::retention::{self, RetentionCount};

/// Limit of subjects in one note.
const MAX_SUBJECTS: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(router; "history" "/api/signed-names" {
        /// The names of people, guests and agents, signed: events have ids alone, and an exported record is read without the
        /// server. Unknown subjects are left out.
        POST "", Guard::Authenticated => signed_names, answers_plain("200", "text/plain; charset=utf-8");
    } "server" "/api/retention" {
        /// What retention would remove now, with the server's settings or these ages. Nothing is removed.
        GET "", Guard::Admin => retention_preview;
    })
}

async fn retention_preview(
    State(app): State<App>,
    QueryOf(query): QueryOf<RetentionQuery>,
) -> Result<Json<RetentionPreview>, Problem> {
    let RetentionAges { blobs, snapshots } = app.limits.retention;
    let ages = RetentionAges {
        blobs: query.blobs_ms.map(Duration::from_millis).or(blobs),
        snapshots: query.snapshots_ms.map(Duration::from_millis).or(snapshots),
    };
    let RetentionCount { blobs, blob_bytes, snapshots } = retention::retain(&app.notebooks, ages, true).await?;
    Ok(Json(RetentionPreview { blobs, blob_bytes, snapshots }))
}

async fn signed_names(State(app): State<App>, JsonBody(query): JsonBody<NamesQuery>) -> Result<Response, Problem> {
    if query.subjects.len() > MAX_SUBJECTS {
        return Err(Problem::invalid(format!("a note has at most {MAX_SUBJECTS} names: ask for them in parts")));
    }
    let mut names = Vec::new();
    for subject in query.subjects {
        if let Some(name) = name_of(&app, &subject).await? {
            names.push((subject, name));
        }
    }
    let note = app.signer.sign_names(&StatedNames::new(names, app.clock.now()));
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], note).into_response())
}

/// Name of a subject in the form `user:ID`, `share_link:ID` or `agent:ID`.
async fn name_of(app: &App, subject: &str) -> Result<Option<String>, Problem> {
    let unclear = || Problem::invalid(format!("'{subject}' is no subject: user:ID, share_link:ID or agent:ID"));
    let (kind, id) = subject.split_once(':').ok_or_else(unclear)?;
    Ok(match kind {
        "user" => {
            let id = UserId::new(id).map_err(|_| unclear())?;
            app.accounts.store().user(&id).await?.map(|user| user.name)
        }
        "share_link" => app.accounts.guest_name(&ShareLinkId::new(id).map_err(|_| unclear())?).await?,
        "agent" => app.accounts.agent_name(&AgentId::new(id).map_err(|_| unclear())?).await,
        _ => return Err(unclear()),
    })
}
