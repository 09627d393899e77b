//! Routes for people who answer for records: the page of a report, and signed names.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use notarium_core::{AgentId, Operation, ShareLinkId, UserId};
use notarium_report::{ReportScope, report_page};
use notarium_wire::rest::{NamesQuery, ReportQuery, RetentionPreview, RetentionQuery};
use notarium_wire::signed_head::StatedHead;
use notarium_wire::signed_names::StatedNames;

use super::answers::NotebookReader;
use super::files::{FILE_POLICY, attachment};
use crate::app::App;
use crate::http::extract::{JsonBody, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::limits::RetentionAges;
use crate::notebooks::retention::{self, RetentionCount};
use crate::notebooks::served_record::ServedRecord;

/// Limit of subjects in one note.
const MAX_SUBJECTS: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let router = route_table!(router; "history" "/api/notebooks/{notebook}" {
        /// A page of HTML about a stretch of the record, for people who must answer for it: who took part, what assistants requested and who
        /// decided, runs, roles, events, and the signed head.
        GET "/report", Guard::Notebook(Operation::Read) => report, answers_plain("200", "text/html; charset=utf-8");
    });
    route_table!(router; "history" "/api/signed-names" {
        /// The names of people, guests and agents, signed: events have ids alone, and an exported record is read without the
        /// server. Unknown subjects are left out.
        POST "", Guard::Authenticated => signed_names, answers_plain("200", "text/plain; charset=utf-8");
    } "server" "/api/retention" {
        /// Blobs and snapshots that retention would remove now, with the server's settings or these ages. Nothing is removed.
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

async fn report(
    NotebookReader { app, who, notebook, now }: NotebookReader,
    QueryOf(ReportQuery { from, to }): QueryOf<ReportQuery>,
) -> Result<Response, Problem> {
    let (title, head) = (now.notebook.title.clone(), now.head);
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(head.version).min(head.version));
    if from >= to {
        return Err(Problem::invalid(format!(
            "there is no event after version {from} up to version {to}: the notebook is at version {}",
            head.version
        )));
    }
    let signed_head = app.signer.sign(&StatedHead::new(notebook.clone(), head, app.clock.now()));
    let made_at = app.clock.now();
    let scope = ReportScope { title: title.clone(), from, to, end: head.version, signed_head, made_at };
    let page = report_page(ServedRecord::new(&app.notebooks, &who, &notebook), scope).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_DISPOSITION, attachment(&format!("Record of {title}.html"))),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY)),
    ];
    Ok((headers, page).into_response())
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
