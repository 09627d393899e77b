//! Reads that the socket does not have: the list of notebooks, and large outputs.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use notarium_core::NotebookId;
use notarium_wire::rest::{NotebookLine, NotebookPage, Problem};
use serde::de::DeserializeOwned;

use crate::error::DoorError;
use crate::session::{PATIENCE, Session};

/// Notebooks that are looked through for a title.
const MAX_LISTED: usize = 5_000;
const PAGE: usize = 200;
/// Largest answer that is read.
const MAX_ANSWER_BYTES: usize = 8 << 20;

/// A client of the server's REST routes, which sends the caller's token.
#[derive(Debug, Clone)]
pub struct Rest {
    http: reqwest::Client,
    server: String,
}

impl Rest {
    pub fn new(server: String) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder().connect_timeout(Duration::from_secs(2)).timeout(PATIENCE).no_proxy();
        Ok(Self { http: http.build()?, server })
    }

    /// Notebooks that the caller may see and that are not archived, last changed first. `words`: all must occur in title or sources.
    pub async fn notebooks(&self, session: &Session, words: Option<&str>) -> Result<Vec<NotebookLine>, DoorError> {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        while found.len() < MAX_LISTED {
            let path = list_path(words, cursor.as_deref());
            let page: NotebookPage = self.json(session, &path).await?;
            found.extend(page.notebooks);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(found)
    }

    /// A large part of an output.
    pub async fn blob(&self, session: &Session, notebook: &NotebookId, sha256: &str) -> Result<Bytes, DoorError> {
        let blob = self.get(session, &format!("/api/notebooks/{notebook}/blobs/{sha256}")).await?;
        blob.ok_or_else(|| DoorError::new("a part of the output is missing on the server"))
    }

    /// True if a notebook has this id and the caller may read it.
    pub async fn is_readable(&self, session: &Session, notebook: &NotebookId) -> Result<bool, DoorError> {
        Ok(self.get(session, &format!("/api/notebooks/{notebook}/events?after=0&limit=1")).await?.is_some())
    }

    async fn json<T: DeserializeOwned>(&self, session: &Session, path: &str) -> Result<T, DoorError> {
        let body = self.get(session, path).await?.unwrap_or_default();
        serde_json::from_slice(&body)
            .map_err(|error| DoorError::new(format!("the server's answer is unknown: {error}")))
    }

    /// The body of an answer; `None` if nothing has this address.
    async fn get(&self, session: &Session, path: &str) -> Result<Option<Bytes>, DoorError> {
        let unreachable =
            |error: reqwest::Error| DoorError::new(format!("the server does not answer now: try again ({error})"));
        let request = self.http.get(format!("{}{path}", self.server)).bearer_auth(&session.token);
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(DoorError::new("the server's answer is too large for this door: read it on the page"));
            }
            body.extend_from_slice(&piece);
        }
        if status.is_success() {
            return Ok(Some(body.into()));
        }
        if status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
        Err(DoorError::new(problem.detail))
    }
}

fn list_path(words: Option<&str>, cursor: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    for (name, value) in [("text", words), ("cursor", cursor)] {
        value.iter().for_each(|value| _ = query.append_pair(name, value));
    }
    format!("/api/notebooks?{}", query.finish())
}
