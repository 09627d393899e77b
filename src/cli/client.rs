//! REST requests, and what their refusals mean for people.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Failure;
use super::context::Access;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server, as one user.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    access: Access,
}

/// What is read of `application/problem+json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Problem {
    pub code: String,
    pub detail: String,
}

impl Client {
    pub fn new(access: Access) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).build();
        let http = http.map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
        Ok(Self { http, access })
    }

    /// A request to a path such as `/api/notebooks`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.access.server)).bearer_auth(&self.access.token)
    }

    /// Sends a request; anything but success is a failure.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(refusal(response).await),
        }
    }

    /// Sends a request and reads its JSON.
    pub async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let response = self.send(request).await?;
        let text = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&text).map_err(|error| {
            Failure::failed(format!("the server's answer is not understood ({error}): is this program as new as it?"))
        })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.json(self.request(Method::GET, path)).await
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let server = &self.access.server;
        let cause = innermost(error);
        Failure::connection(format!(
            "{server} cannot be reached ({cause}): check the address, and that the server runs"
        ))
    }
}

/// The cause at the bottom says most.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

async fn refusal(response: Response) -> Failure {
    let status = response.status();
    let body = response.bytes().await.unwrap_or_default();
    let problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
    let detail = match problem.detail.is_empty() {
        true => format!("the server answered {status}: is this the address of a Notarium server?"),
        false => problem.detail,
    };
    match status {
        StatusCode::UNAUTHORIZED => Failure::connection(detail),
        _ => Failure::failed(detail),
    }
}
