//! Requests of code in a kernel, which its runtime agent passes on: the door for dialoghelper answers them. And what such code pushes to
//! pages.
//!
//! The code has no token. The log says who requested the run that has the kernel; a request acts as that person or assistant, in that
//! notebook alone. Code that ran earlier may still be in the kernel, in a thread or in a function that it replaced. Therefore all who ran
//! code there count: see [`CodeRights::of`].

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::{HeaderName, HeaderValue, StatusCode, header};
use notarium_core::{
    ASSISTANT_SCOPES, Actor, Authority, Document, Event, Execution, KernelSessionId, NotebookId, Operation, Scope,
    Scopes, TokenId, role_of,
};
use notarium_wire::{
    DOOR_CELL, DOOR_NOTEBOOK, DOOR_REFUSAL, KERNEL_REQUEST_ORIGIN, KernelCallers, KernelRequestOrigin,
};
use serde_json::json;
use tower::ServiceExt;

use super::answers::NotebookCaller;
use crate::app::App;
use crate::auth::KernelPass;
use crate::cluster::departure;
use crate::http::extract::Params;
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::guarded_stream;
use crate::http::problem::Problem;

const CLOSED: &str = "this server has no door for dialoghelper: start it with `notarium serve --door dialoghelper`";
const NO_RUN: &str = "no run of this notebook has this kernel now: call this in a cell that runs";
const OF_A_GUEST: &str = "code of a guest cannot use dialoghelper: sign in with an account";
const OF_NOBODY: &str = "no person requested this run, so its code cannot use dialoghelper: run the cell yourself";
const TOKEN_ENDED: &str = "the session or token with which this run was requested has ended: nothing is done for it";
const OTHERS_ASSISTANT: &str = "an assistant of another person has run code in this kernel, and its code may still be there: restart the \
    kernel, then your code may change the notebook";
const WHO_MAY_NOT_EDIT: &str = "somebody who may not edit this notebook has run code in this kernel, and that code may still be there: \
    restart the kernel, then your code may change the notebook";

pub fn routes(routes: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(routes; "" "/api/notebooks/{notebook}" {
        /// For runtime agents: a request of code in a kernel to the door for dialoghelper, in the name of whom the run is.
        POST "/kernels/{kernel}/dialog/{endpoint}", Guard::Notebook(Operation::ReportExecution) => pass_on;
        /// HTML that code pushes to the notebook's pages (`add_html` of dialoghelper), as server-sent events from now on. 204: this server
        /// has no door for dialoghelper.
        GET "/pushes", Guard::Notebook(Operation::Read) => follow_pushes;
    })
}

/// Answers as the door does: refusals are `{"error": …}` with status 200.
async fn pass_on(
    caller: NotebookCaller,
    Params((_, kernel, endpoint)): Params<(NotebookId, KernelSessionId, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let NotebookCaller { app, who, notebook } = caller;
    let origin = request.headers().get(KERNEL_REQUEST_ORIGIN).map(|header| serde_json::from_slice(header.as_bytes()));
    let Some(Ok(KernelRequestOrigin { run, callers })) = origin else {
        return Err(Problem::invalid(format!("the header {KERNEL_REQUEST_ORIGIN} is missing, or not of its shape")));
    };
    let Some(door) = app.kernel_door.get() else { return Ok(refused(CLOSED)) };
    let document = app.read_by_server(&notebook).await?.notebook;
    let has_kernel = |execution: &&std::sync::Arc<Execution>| {
        !execution.status.is_finished()
            && execution.kernel_session.as_ref() == Some(&kernel)
            && execution.agent.as_ref().is_some_and(|id| who.actor == Actor::Agent { id: id.clone() })
    };
    let Some(execution) = document.executions.get(&run).filter(has_kernel) else { return Ok(refused(NO_RUN)) };
    let rights = match CodeRights::of(&app, &document, execution, &callers).await? {
        Ok(rights) => rights,
        Err(sentence) => return Ok(refused(sentence)),
    };
    let pass = KernelPass { actor: rights.actor, notebook: notebook.clone(), scopes: rights.scopes };
    let token = app.kernel_passes.get(&app.accounts, &pass).await?;
    let cell = execution.subject.cell_id().map(ToString::to_string);
    let headers = [
        (header::AUTHORIZATION, Some(format!("Bearer {token}"))),
        (HeaderName::from_static(DOOR_NOTEBOOK), Some(notebook.to_string())),
        (HeaderName::from_static(DOOR_CELL), cell),
        (HeaderName::from_static(DOOR_REFUSAL), rights.refusal.map(str::to_owned)),
    ];
    let inner = inner(&endpoint, headers, request).ok_or_else(|| Problem::invalid("this is no endpoint"))?;
    Ok(door.oneshot(inner).await.unwrap_or_else(|never| match never {}))
}

/// The request as the door gets it, with no other header of the kernel than the two that describe its body.
fn inner(endpoint: &str, headers: [(HeaderName, Option<String>); 4], request: Request) -> Option<Request> {
    let mut inner = Request::post(format!("/{endpoint}"));
    for (name, value) in headers {
        if let Some(value) = value {
            inner = inner.header(name, HeaderValue::from_str(&value).ok()?);
        }
    }
    for name in [header::ACCEPT, header::CONTENT_TYPE] {
        if let Some(value) = request.headers().get(&name) {
            inner = inner.header(name, value);
        }
    }
    inner.body(Body::new(request.into_body())).ok()
}

/// Ends with the reader's right: with the token at once, with the role before the next push.
async fn follow_pushes(NotebookCaller { app, who, notebook }: NotebookCaller) -> Result<Response, Problem> {
    let Some(door) = app.kernel_door.get() else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let inner = Request::get("/html_stream_").header(DOOR_NOTEBOOK, notebook.as_str()).body(Body::empty());
    let inner = inner.map_err(|error| Problem::invalid(error.to_string()))?;
    let (parts, body) = door.oneshot(inner).await.unwrap_or_else(|never| match never {}).into_parts();
    let (rooms, reader, of) = (app.rooms.clone(), who.clone(), notebook.clone());
    let pushes = body.into_data_stream().take_while(move |_| {
        let (rooms, reader, notebook) = (rooms.clone(), reader.clone(), of.clone());
        async move { rooms.read_for(&reader, &notebook).await.is_ok() }
    });
    // Code pushes where the notebook is.
    let (cluster, of) = (app.notebooks.cluster.clone(), notebook.clone());
    let pushes = pushes.take_until(Box::pin(async move { departure(&*cluster, &of).await }));
    let body = guarded_stream::body(app.readers(), &who, &notebook, pushes).await?;
    Ok(Response::from_parts(parts, body))
}

fn refused(sentence: &str) -> Response {
    axum::Json(json!({ "error": sentence })).into_response()
}

/// Rights of code that runs in a kernel.
struct CodeRights {
    actor: Actor,
    scopes: Scopes,
    /// Reason why the code reads alone.
    refusal: Option<&'static str>,
}

impl CodeRights {
    /// Decides from the run that has the kernel:
    /// - An assistant's run acts as that assistant. So does a run of its person after it, until the kernel is restarted.
    /// - Any other person's run acts as that person. It reads alone after another person's assistant, or after somebody who may not edit.
    async fn of(
        app: &App,
        document: &Document,
        execution: &Execution,
        callers: &KernelCallers,
    ) -> Result<Result<Self, &'static str>, Problem> {
        let mut scopes: Scopes = ASSISTANT_SCOPES.into_iter().collect();
        let (actor, person) = match (&execution.requested_by, &callers.assistant) {
            (assistant @ Actor::Assistant { for_user, .. }, _) => {
                let Some(allowed) = scopes_of_call(app, document, execution).await? else {
                    return Ok(Err(TOKEN_ENDED));
                };
                scopes.retain(|scope| allowed.contains(scope));
                (assistant, for_user)
            }
            (Actor::User { id }, Some(assistant @ Actor::Assistant { for_user, .. })) if for_user == id => {
                (assistant, id)
            }
            (person @ Actor::User { .. }, Some(_)) => return Ok(Ok(Self::reads(person, OTHERS_ASSISTANT))),
            (person @ Actor::User { id }, None) => (person, id),
            (Actor::Guest { .. }, _) => return Ok(Err(OF_A_GUEST)),
            _ => return Ok(Err(OF_NOBODY)),
        };
        for other in callers.people.iter().filter(|other| **other != Actor::User { id: person.clone() }) {
            if !may_edit(app, document, other).await? {
                return Ok(Ok(Self::reads(actor, WHO_MAY_NOT_EDIT)));
            }
        }
        Ok(Ok(Self { actor: actor.clone(), scopes, refusal: None }))
    }

    fn reads(actor: &Actor, refusal: &'static str) -> Self {
        Self { actor: actor.clone(), scopes: [Scope::Read].into(), refusal: Some(refusal) }
    }
}

async fn may_edit(app: &App, document: &Document, person: &Actor) -> Result<bool, Problem> {
    let authority = match person {
        Actor::User { id } => app.accounts.rights_of(id, &document.notebook_id).await?,
        Actor::Guest { .. } => Some(Authority::default()),
        _ => None,
    };
    let now = app.accounts.now();
    let role = authority.and_then(|authority| role_of(document, person, &authority, now));
    Ok(role.is_some_and(|role| Operation::Edit.is_open_to(role)))
}

/// Scopes of the token with which an assistant was asked for this run. `None`: the token has ended.
async fn scopes_of_call(app: &App, document: &Document, execution: &Execution) -> Result<Option<Scopes>, Problem> {
    let call = execution.correlation_id.to_string();
    let events = app.store.events_of_subject(&document.notebook_id, &[call]).await?;
    let token: Option<TokenId> = events
        .iter()
        .find_map(|stored| match stored.typed().ok()?.event {
            Event::ToolCallRequested(event) => Some(event.token),
            _ => None,
        })
        .flatten();
    let Some(token) = token else { return Ok(Some(ASSISTANT_SCOPES.into_iter().collect())) };
    Ok(app.accounts.living_token(&token).await?.map(|token| token.scopes.scopes().clone()))
}
