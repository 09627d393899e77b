//! HTTP requests to the provider: the program's HTTP client, with limits.

use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse};
use reqwest::redirect::Policy;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Limit of a discovery document, of keys, of tokens.
const MAX_ANSWER_BYTES: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{}", with_causes(.0))]
    Failed(#[from] reqwest::Error),
    #[error("its answer is larger than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    #[error(transparent)]
    Answer(#[from] openidconnect::http::Error),
}

/// HTTP client that follows no redirect: codes and secrets go only to configured addresses.
pub fn client() -> Result<reqwest::Client, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .redirect(Policy::none())
        .user_agent(concat!("notarium/", env!("CARGO_PKG_VERSION")))
        .build()
}

pub async fn send(client: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let mut answer = client.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > MAX_ANSWER_BYTES {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    let mut built = openidconnect::http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        built = built.header(name, value);
    }
    Ok(built.body(body)?)
}

/// Text of an error with its causes: this library's own text names only the failed step.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
