//! REST requests, and what their refusals mean for people.

use std::time::Duration;

use notarium_agent::connection::ConnectError;
use notarium_core::{Command, CommandId, NotebookId, RawJson, Version};
use notarium_wire::rest::{Answer, AnyCommand, EventPage, Problem};
use reqwest::{Method, Request, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Failure;
use super::context::Access;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Of a request whose answer got lost.
const ATTEMPTS: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_millis(300);
/// Names a change: sent twice under one key, it is made once.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Events of one page of the record.
pub const PAGE: usize = 1_000;

/// A server, as one user.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    access: Access,
}

/// Why a request was not answered as wished.
#[derive(Debug)]
pub enum RequestError {
    /// The server says no.
    Refused { status: StatusCode, problem: Problem },
    /// There is no answer, or one that is not understood.
    Failed(Failure),
}

impl Client {
    pub fn new(access: Access) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).build();
        let http = http.map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
        Ok(Self { http, access })
    }

    pub fn server(&self) -> &str {
        &self.access.server
    }

    /// A request to a path such as `/api/notebooks`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.access.server));
        match self.access.token.is_empty() {
            true => request,
            false => request.bearer_auth(&self.access.token),
        }
    }

    /// Sends a request, again where its answer got lost and that changes nothing; anything but success is an error.
    pub async fn try_send(&self, request: RequestBuilder) -> Result<Response, RequestError> {
        let unusable = |error: reqwest::Error| Failure::usage(format!("this cannot be asked for: {error}"));
        let request = request.build().map_err(unusable)?;
        let mut attempt = 1;
        loop {
            let spare = if attempt < ATTEMPTS && is_repeatable(&request) { request.try_clone() } else { None };
            let Some(copy) = spare else {
                return checked(self.http.execute(request).await.map_err(|error| self.unreachable(&error))?).await;
            };
            match self.http.execute(copy).await {
                Ok(response) => return checked(response).await,
                Err(error) if error.is_connect() => return Err(self.unreachable(&error).into()),
                Err(error) => tracing::debug!(%error, "the answer got lost: asking again"),
            }
            attempt += 1;
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    /// As [`Client::try_send`], with the refusal in words.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        Ok(self.try_send(request).await?)
    }

    /// Sends a request and reads its JSON.
    pub async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        self.read(self.send(request).await?).await
    }

    /// The JSON of an answer.
    pub async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, Failure> {
        let text = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&text).map_err(|error| {
            Failure::failed(format!("the server's answer is not understood ({error}): is this program as new as it?"))
        })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.json(self.request(Method::GET, path)).await
    }

    /// Sends a JSON body and reads the JSON that is made of it.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Failure> {
        self.json(self.request(Method::POST, path).json(body)).await
    }

    /// Sends a command under an id of its own: applied once, however often it is sent.
    pub async fn try_command(&self, notebook: &NotebookId, command: &Command) -> Result<Answer, RequestError> {
        let id: CommandId = ulid::Ulid::generate().into();
        let body = RawJson::of(command).map_err(|error| Failure::usage(format!("no command: {error}")))?;
        let body = AnyCommand { id: Some(id.clone()), expected_version: None, correlation_id: None, body };
        let path = format!("/api/notebooks/{notebook}/commands");
        let request = self.request(Method::POST, &path).header(IDEMPOTENCY_KEY, id.as_str()).json(&body);
        let response = self.try_send(request).await?;
        Ok(self.read(response).await?)
    }

    /// As [`Client::try_command`], with the refusal in words.
    pub async fn command(&self, notebook: &NotebookId, command: &Command) -> Result<Answer, Failure> {
        Ok(self.try_command(notebook, command).await?)
    }

    /// Events after a version, with all that is hashed.
    pub async fn events(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<EventPage, Failure> {
        self.get(&format!("/api/notebooks/{notebook}/events?after={after}&limit={limit}")).await
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        ConnectError::Unreachable { server: self.access.server.clone(), cause: innermost(error) }.into()
    }
}

impl From<Failure> for RequestError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Failed(failure) => failure,
            RequestError::Refused { status: StatusCode::UNAUTHORIZED, problem } => {
                Self::connection(format!("{} (`notarium login` signs in again)", problem.detail))
            }
            RequestError::Refused { problem, .. } => Self::failed(problem.detail),
        }
    }
}

/// It changes nothing, or carries the id of its command.
fn is_repeatable(request: &Request) -> bool {
    request.method() == Method::GET || request.headers().contains_key(IDEMPOTENCY_KEY)
}

/// The cause at the bottom says most.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

async fn checked(response: Response) -> Result<Response, RequestError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.bytes().await.unwrap_or_default();
    let mut problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
    if problem.detail.is_empty() {
        problem.detail = format!("the server answered {status}: is this the address of a Notarium server?");
    }
    Err(RequestError::Refused { status, problem })
}

/// A text as part of a URL (RFC 3986).
pub fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
