//! Extractors and answers for routes that submit a command or read a notebook, and scans of the record backwards, with a
//! limit.

use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::{IntoResponse, Response};
use futures_util::future::{BoxFuture, FutureExt, TryFutureExt};
use http::request::Parts;
use http::{HeaderValue, header};
use notarium_core::{Command, NotebookId, RawJson, Recorded, Rejection, Version};
use notarium_store::{EventStore, StoreError};
use notarium_wire::{AckMessage, rest};

use super::calls;
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Conditions, Created, Params};
use crate::http::guard::notebook_of;
use crate::http::openapi::{Answered, Described, Taken};
use crate::http::problem::Problem;
use crate::rooms::{DecodedCommand, ReadState};

/// An accepted command, with the version as its `ETag`.
#[derive(Debug)]
pub struct Accepted(pub rest::Answer);

impl From<AckMessage> for Accepted {
    fn from(AckMessage { id, notebook, version, outcome, .. }: AckMessage) -> Self {
        Self(rest::Answer { command_id: id, notebook, version, outcome })
    }
}

impl IntoResponse for Accepted {
    fn into_response(self) -> Response {
        ([(header::ETAG, etag(self.0.version))], Json(self.0)).into_response()
    }
}

/// `ETag` of a version: the number in quotes.
pub fn etag(version: Version) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Caller of a route, and the notebook of its path.
pub struct NotebookCaller {
    pub app: App,
    pub who: Authenticated,
    pub notebook: NotebookId,
}

impl FromRequestParts<App> for NotebookCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let who = Authenticated::from_request_parts(parts, app).await?;
        let path = RawPathParams::from_request_parts(parts, app).await;
        let notebook = notebook_of(&path.map_err(|rejection| Problem::invalid(rejection.body_text()))?)?;
        Ok(Self { app: app.clone(), who, notebook })
    }
}

impl Taken for NotebookCaller {}

/// Caller who reads the notebook of the path, and its current state.
pub struct NotebookReader {
    pub app: App,
    pub who: Authenticated,
    pub notebook: NotebookId,
    pub now: ReadState,
}

impl FromRequestParts<App> for NotebookReader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let NotebookCaller { app, who, notebook } = NotebookCaller::from_request_parts(parts, app).await?;
        let now = app.read(&who, &notebook).await?;
        Ok(Self { app, who, notebook, now })
    }
}

impl Taken for NotebookReader {}

/// Caller of a command in the notebook of the path, and the command's conditions.
pub struct Submit {
    pub app: App,
    pub who: Authenticated,
    pub notebook: NotebookId,
    pub conditions: Conditions,
}

impl FromRequestParts<App> for Submit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let NotebookCaller { app, who, notebook } = NotebookCaller::from_request_parts(parts, app).await?;
        let conditions = Conditions::from_request_parts(parts, &app).await?;
        Ok(Self { app, who, notebook, conditions })
    }
}

impl Taken for Submit {
    fn describe(described: &mut Described<'_>) {
        <Conditions as Taken>::describe(described);
    }
}

impl Answered for Accepted {
    fn describe(described: &mut Described<'_>, status: &str) {
        described.answers::<rest::Answer>(status, "application/json");
    }
}

impl Submit {
    /// Submits the command; returns its answer when it is on disk.
    pub async fn command(self, command: &Command) -> Result<Accepted, Problem> {
        execute(&self.app, &self.who, &self.notebook, self.conditions, command).await
    }
}

/// Submits one command; returns its answer when it is on disk.
pub async fn execute(
    app: &App,
    who: &Authenticated,
    notebook: &NotebookId,
    conditions: Conditions,
    command: &Command,
) -> Result<Accepted, Problem> {
    let body = RawJson::of(command).map_err(|error| Problem::invalid(error.to_string()))?;
    match app.execute_decoded(who, DecodedCommand::of(conditions.message(notebook, body), command.clone())).await {
        Ok(ack) => Ok(ack.into()),
        // A route submits no batch of its caller, so the number of the part would mislead.
        Err(rejection) => {
            Err(calls::named(app, &who.actor, notebook, command, Rejection { part: None, ..rejection }).await.into())
        }
    }
}

/// Handler of a route that submits one command, made of the path's parameters and the body.
pub fn command<P, B>(
    make: impl Fn(P, B) -> Command + Clone + Send + Sync + 'static,
) -> impl Fn(Submit, Params<P>, B) -> BoxFuture<'static, Result<Accepted, Problem>> + Clone + Send + Sync + 'static {
    move |submit, Params(path), body| {
        let command = make(path, body);
        async move { submit.command(&command).await }.boxed()
    }
}

/// Handler like [`command`], for a command that creates something: 201.
pub fn creating<P, B>(
    make: impl Fn(P, B) -> Command + Clone + Send + Sync + 'static,
) -> impl Fn(Submit, Params<P>, B) -> BoxFuture<'static, Result<Created<Accepted>, Problem>> + Clone + Send + Sync + 'static
{
    let handler = command(make);
    move |submit, path, body| handler(submit, path, body).map_ok(Created).boxed()
}

/// Events per read of the whole record.
pub const SCAN_PAGE: usize = 2_000;
/// Limit of events of the type that one page of a list scans.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Events of the type per read: pages are seldom longer.
const TYPE_PAGE: usize = 200;

/// Passes events of the type to `visit`, backwards from the last one before `before` (`None`: the end). Stops when
/// `visit` returns true, or at the limit. Returns the `before` to go on with; `None`: there are no more.
pub async fn backwards(
    store: &dyn EventStore,
    notebook: &NotebookId,
    event_type: &str,
    mut before: Option<Version>,
    mut visit: impl FnMut(Recorded) -> bool,
) -> Result<Option<Version>, StoreError> {
    for _ in 0..MAX_SCANNED_EVENTS / TYPE_PAGE {
        let events = store.events_of_type(notebook, event_type, before, TYPE_PAGE).await?;
        for stored in &events {
            before = Some(stored.envelope.version);
            // Events that this build cannot read are skipped.
            if stored.typed().is_ok_and(&mut visit) {
                return Ok(before.filter(|version| *version > 1));
            }
        }
        if events.len() < TYPE_PAGE {
            return Ok(None);
        }
    }
    Ok(before)
}

/// Requested page of a list.
pub struct WantedPage {
    /// `next` of the page before.
    pub before: Option<Version>,
    pub limit: usize,
}

impl WantedPage {
    /// Limit: 1 to 200; absent: 50.
    pub fn page(before: Option<Version>, limit: Option<usize>) -> Self {
        Self { before, limit: limit.unwrap_or(50).clamp(1, 200) }
    }
}

/// Values that `pick` returns for events of one type, latest first, and the `before` to go on with.
pub async fn latest<T>(
    store: &dyn EventStore,
    notebook: &NotebookId,
    event_type: &str,
    wanted: WantedPage,
    mut pick: impl FnMut(Recorded) -> Option<T>,
) -> Result<(Vec<T>, Option<Version>), StoreError> {
    let mut found = Vec::new();
    let next = backwards(store, notebook, event_type, wanted.before, |recorded| {
        found.extend(pick(recorded));
        found.len() == wanted.limit
    });
    let next = next.await?;
    Ok((found, next))
}
