//! The server's REST API, called in the process with the caller's own token: the same guards, limits and answers as over the network.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tower::ServiceExt;

use crate::error::JupyterError;

/// Most bytes of an answer that is read as a whole.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// A caller's token. It is not printed.
#[derive(Clone)]
pub struct CallerToken(Arc<str>);

impl CallerToken {
    /// The token of `Authorization: Bearer …` or `Authorization: token …`.
    pub fn of(headers: &HeaderMap) -> Result<Self, JupyterError> {
        let value =
            headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
        let token = value.filter(|(scheme, _)| ["bearer", "token"].contains(&scheme.to_ascii_lowercase().as_str()));
        token.map(|(_, token)| Self(token.trim().into())).ok_or_else(JupyterError::no_token)
    }

    /// Key of data in memory that belongs to the token.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CallerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Api {
    router: Router,
    host: HeaderValue,
}

impl Api {
    /// `host`: the name under which the server accepts requests, such as `127.0.0.1:8787`.
    pub fn new(router: Router, host: &str) -> Self {
        let host = HeaderValue::from_str(host).unwrap_or_else(|_| HeaderValue::from_static("localhost"));
        Self { router, host }
    }

    pub async fn get(&self, token: &CallerToken, path: &str) -> Result<Value, JupyterError> {
        self.json(token, Method::GET, path, None).await
    }

    pub async fn json(
        &self,
        token: &CallerToken,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, JupyterError> {
        let body = body.map(|body| ("application/json", Bytes::from(body.to_string())));
        let answer = self.send(token, method, path, body).await?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| JupyterError::internal(&error))
    }

    /// Sends a request; an answer that is no success is an error with the server's sentence.
    pub async fn send(
        &self,
        token: &CallerToken,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Result<Bytes, JupyterError> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.host.clone())
            .header(AUTHORIZATION, format!("Bearer {}", token.reveal()));
        let body = body.map(|(content_type, bytes)| {
            request = std::mem::take(&mut request).header(CONTENT_TYPE, content_type);
            bytes
        });
        let request =
            request.body(body.map_or_else(Body::empty, Body::from)).map_err(|error| JupyterError::internal(&error))?;
        let response = self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| JupyterError::unreadable(error.as_ref()))?.to_bytes();
        if parts.status.is_success() {
            return Ok(body);
        }
        Err(JupyterError::of_problem(parts.status, &body))
    }
}

/// A text as one segment of a path, or as a value of a query.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte as char),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
