//! REST requests, with their refusals as messages for people.

use std::sync::Arc;
use std::time::Duration;

use notarium_agent::connection::{ConnectError, ConnectOptions};
use notarium_core::{CellId, Command, CommandId, Document, NotebookId, RawJson, Version};
use notarium_wire::rest::{Answer, AnyCommand, EventPage, Kernels, Me, NotebookAnswer, Problem};
use reqwest::{Method, Request, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::connection::context::{PROGRAM, ServerAccess};
use crate::cli::connection::find;
use crate::cli::connection::session::FreshSession;
use crate::cli::terminal::failure::FailureKind;
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Most attempts of a request whose response was lost.
const ATTEMPTS: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_millis(300);
/// Key of a change: sent twice under one key, it is applied once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Page size of lists.
const PAGE: usize = 200;

/// Items of a list, and the query parameter of the next page.
type Page<T> = (Vec<T>, Option<(&'static str, String)>);

/// A server, with one user's token.
#[derive(Debug, Clone)]
pub struct RestClient {
    http: reqwest::Client,
    access: ServerAccess,
    fresh: FreshSession,
}

impl RestClient {
    pub fn new(access: ServerAccess) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().user_agent(PROGRAM).connect_timeout(CONNECT_TIMEOUT).build();
        let http = http.map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
        Ok(Self { http, access, fresh: FreshSession::default() })
    }

    pub fn server(&self) -> &str {
        &self.access.server
    }

    /// Options for a connection over the socket.
    pub fn connect_options(&self) -> ConnectOptions {
        ConnectOptions::new(&self.access.server, &self.access.token, PROGRAM)
    }

    pub fn notebook(&self, id: NotebookId) -> NotebookClient {
        NotebookClient { client: self.clone(), id }
    }

    /// A request to a path such as `/api/notebooks`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.access.server));
        match self.access.token.is_empty() {
            true => request,
            false => request.bearer_auth(&self.access.token),
        }
    }

    /// A POST that is applied once, even if it is sent again.
    pub fn change_once(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path).header(IDEMPOTENCY_KEY, ulid::Ulid::generate().to_string())
    }

    /// Sends a request; any other status than success is a failure. It is retried after a lost response if that is safe. If it
    /// needs a fresh sign-in, the person at this terminal is asked for one.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let unusable = |error: reqwest::Error| Failure::usage(format!("this cannot be asked for: {error}"));
        let request = request.build().map_err(unusable)?;
        let again = request.try_clone();
        match (self.sent(request).await, again) {
            (Err(failure), Some(again)) if failure.has_code("forbidden") => self.sent_afresh(again, failure).await,
            (answer, _) => answer,
        }
    }

    async fn sent_afresh(&self, mut request: Request, refused: Failure) -> Result<Response, Failure> {
        // Boxed, because the sign-in itself sends requests through this function.
        let Some(token) = Box::pin(self.fresh.token(self)).await? else { return Err(refused) };
        let bearer = format!("Bearer {token}").parse().map_err(|_| refused)?;
        request.headers_mut().insert(reqwest::header::AUTHORIZATION, bearer);
        self.sent(request).await
    }

    async fn sent(&self, request: Request) -> Result<Response, Failure> {
        let mut attempt = 1;
        loop {
            let spare = if attempt < ATTEMPTS && is_repeatable(&request) { request.try_clone() } else { None };
            let Some(copy) = spare else {
                return self.checked(self.http.execute(request).await.map_err(|error| self.unreachable(&error))?).await;
            };
            match self.http.execute(copy).await {
                Ok(response) => return self.checked(response).await,
                Err(error) if error.is_connect() => return Err(self.unreachable(&error)),
                Err(error) => tracing::debug!(%error, "the answer got lost: asking again"),
            }
            attempt += 1;
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    /// Sends a request and reads its JSON.
    pub async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let text = self.send(request).await?.bytes().await.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&text).map_err(Failure::not_understood)
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.json(self.request(Method::GET, path)).await
    }

    /// Sends a JSON body and reads the JSON response.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Failure> {
        self.json(self.request(Method::POST, path).json(body)).await
    }

    /// The owner of this client's token.
    pub async fn me(&self) -> Result<Me, Failure> {
        self.get("/api/me").await
    }

    pub async fn delete(&self, path: &str) -> Ended {
        self.send(self.request(Method::DELETE, path)).await.map(drop)
    }

    /// The first `limit` items of a paged list.
    pub async fn pages<P: DeserializeOwned, T>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
        limit: usize,
        split: fn(P) -> Page<T>,
    ) -> Result<Vec<T>, Failure> {
        let (mut items, mut next) = (Vec::new(), None);
        while items.len() < limit {
            let count = (limit - items.len()).min(PAGE).to_string();
            let place = next.as_ref().map_or(("limit", None), |(name, at): &(_, String)| (*name, Some(at.as_str())));
            let query = [query, &[("limit", Some(count.as_str())), place]].concat();
            let (page, after) = split(self.get(&with_query(path, &query)).await?);
            items.extend(page);
            match after {
                Some(after) => next = Some(after),
                None => break,
            }
        }
        items.truncate(limit);
        Ok(items)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        ConnectError::Unreachable { server: self.access.server.clone(), cause: innermost(error) }.into()
    }

    async fn checked(&self, response: Response) -> Result<Response, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.bytes().await.unwrap_or_default();
        let mut problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
        if problem.detail.is_empty() {
            problem.detail = match status {
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => format!(
                    "the proxy before the server answered {status}: no server is ready there at this moment, try again"
                ),
                _ => format!("the server answered {status}: is this the address of a Notarium server?"),
            };
        }
        // The hint makes sense only with a token: without one, no user was signed in.
        if status == StatusCode::UNAUTHORIZED && !self.access.token.is_empty() {
            problem.detail.push_str(" (`notarium login` signs in again)");
        }
        Err(Failure::refused(status, problem))
    }
}

/// One notebook on a server.
#[derive(Debug, Clone)]
pub struct NotebookClient {
    pub client: RestClient,
    pub id: NotebookId,
}

impl NotebookClient {
    /// A path below this notebook, such as `/runs`.
    pub fn path(&self, below: &str) -> String {
        format!("/api/notebooks/{}{below}", self.id)
    }

    /// A request to a path below this notebook.
    pub fn request(&self, method: Method, below: &str) -> RequestBuilder {
        self.client.request(method, &self.path(below))
    }

    pub async fn get<T: DeserializeOwned>(&self, below: &str) -> Result<T, Failure> {
        self.client.get(&self.path(below)).await
    }

    /// Reads a blob.
    pub async fn blob(&self, sha256: &str) -> Result<Response, Failure> {
        self.client.send(self.request(Method::GET, &format!("/blobs/{sha256}"))).await
    }

    pub async fn post<T: DeserializeOwned>(&self, below: &str, body: &impl Serialize) -> Result<T, Failure> {
        self.client.post(&self.path(below), body).await
    }

    /// Sends a command under a new id: applied once, even if it is sent again.
    pub async fn command(&self, command: &Command) -> Result<Answer, Failure> {
        let id: CommandId = ulid::Ulid::generate().into();
        let body = RawJson::of(command).map_err(|error| Failure::usage(format!("no command: {error}")))?;
        let request = self.request(Method::POST, "/commands").header(IDEMPOTENCY_KEY, id.as_str());
        let body = AnyCommand { id: Some(id), expected_version: None, correlation_id: None, body };
        self.client.json(request.json(&body)).await
    }

    /// Sends a command, and prints the notebook's new version.
    pub async fn change(&self, command: &Command) -> Ended {
        print::report(&self.command(command).await?)
    }

    /// The notebook at a version, or its current state.
    pub async fn state(&self, at: Option<Version>) -> Result<NotebookAnswer, Failure> {
        self.get(&at_version("", at)).await
    }

    /// The current state without outputs.
    pub async fn outline(&self) -> Result<Arc<Document>, Failure> {
        Ok(self.get::<NotebookAnswer>("?outputs=false").await?.notebook)
    }

    /// A cell by its id, or an unambiguous part of it.
    pub async fn cell(&self, name: &str) -> Result<CellId, Failure> {
        self.cell_in(&*self.outline().await?, name).await
    }

    /// Like [`Self::cell`], in a state that was read. The failure says if the cell is in the trash.
    pub async fn cell_in(&self, state: &Document, name: &str) -> Result<CellId, Failure> {
        match find::cell(state, name) {
            Err(failure) if failure.kind == FailureKind::Failed => {
                let trashed = find::trashed(self, name).await;
                Err(trashed.map_or(failure, |cell_id| Failure::failed(self.in_trash(&cell_id))))
            }
            found => found,
        }
    }

    /// Like [`Self::cell_in`], for several.
    pub async fn cells_in(&self, state: &Document, names: &[String]) -> Result<Vec<CellId>, Failure> {
        let mut cells = Vec::with_capacity(names.len());
        for name in names {
            cells.push(self.cell_in(state, name).await?);
        }
        Ok(cells)
    }

    /// A cell of the notebook or its trash; true if it is in the trash.
    pub async fn cell_or_trashed(&self, name: &str) -> Result<(CellId, bool), Failure> {
        match find::cell(&*self.outline().await?, name) {
            Err(failure) if failure.kind == FailureKind::Failed => {
                find::trashed(self, name).await.map(|cell_id| (cell_id, true)).ok_or(failure)
            }
            found => found.map(|cell_id| (cell_id, false)),
        }
    }

    /// Says where a deleted cell is, and how it comes back.
    pub fn in_trash(&self, cell_id: &CellId) -> String {
        format!("the cell {cell_id} is in the trash: `notarium cell restore {} {cell_id}` brings it back", self.id)
    }

    pub async fn kernels(&self) -> Result<Kernels, Failure> {
        self.get("/kernels").await
    }

    /// Events after a version, in full, as they are hashed.
    pub async fn events(&self, after: Version, limit: usize) -> Result<EventPage, Failure> {
        self.get(&format!("/events?after={after}&limit={limit}")).await
    }
}

/// A path with a version, or for the current state.
pub fn at_version(path: &str, at: Option<Version>) -> String {
    at.map_or_else(|| path.to_owned(), |at| format!("{path}?at={at}"))
}

/// A path with the given parameters.
pub fn with_query(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    format!("{path}?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish())
}

/// True if the request changes nothing, or has an idempotency key.
fn is_repeatable(request: &Request) -> bool {
    request.method() == Method::GET || request.headers().contains_key(IDEMPOTENCY_KEY)
}

/// The innermost cause, which is the most precise.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}
