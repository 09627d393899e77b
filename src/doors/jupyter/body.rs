//! JSON bodies of requests, refused with a sentence.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use crate::error::JupyterError;

/// A JSON body, whatever content type the client names. An empty body is `{}`: some clients send none.
pub struct JsonOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonOf<T> {
    type Rejection = JupyterError;

    async fn from_request(request: Request, state: &S) -> Result<Self, JupyterError> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|rejection| JupyterError::new(rejection.status(), "invalid_value", rejection.body_text()))?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let invalid =
            |error| JupyterError::invalid(format!("the body is not what this route takes ({error}): send JSON"));
        serde_json::from_slice(text).map(Self).map_err(invalid)
    }
}
