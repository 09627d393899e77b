//! HTTP client for the REST interface.

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::PATIENCE;

/// Client of the REST interface with one token.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    url: String,
    token: Option<String>,
}

/// A complete answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the JSON of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text);
        self.json()
    }

    /// Returns the code of a refusal, which must be a problem of this status.
    #[track_caller]
    pub fn refused(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        problem["code"].as_str().unwrap().to_owned()
    }
}

/// Builder of an HTTP client, with cryptography: a test that has started nothing of the product has none yet.
pub fn client_builder() -> reqwest::ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

pub fn client() -> reqwest::Client {
    client_builder().build().unwrap()
}

impl Http {
    pub fn new(url: String, token: Option<String>) -> Self {
        Self { client: client(), url, token }
    }

    pub fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, text: response.text().await.unwrap() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    /// Repeats the request until the answer shows it, as projections follow the log with a delay.
    pub async fn until(&self, path: &str, shows: impl Fn(&Value) -> bool) -> Value {
        let asking = async {
            loop {
                let answer = self.get(path).await.ok();
                if shows(&answer) {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("{path} never shows it"))
    }

    /// Creates a notebook with one code cell of this source; returns both ids.
    pub async fn notebook(&self, source: &str) -> (String, String) {
        let notebook = self.post("/api/notebooks", json!({"title": "Notes"})).await.ok();
        let id = notebook["notebook"].as_str().unwrap().to_owned();
        let cell = json!({"cell_type": "code", "source": source});
        let cell = self.post(&format!("/api/notebooks/{id}/cells"), cell).await.ok();
        (id, cell["outcome"]["cells"][0].as_str().unwrap().to_owned())
    }
}
