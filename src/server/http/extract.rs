//! Extractors: parts of a request, refused with a problem if they are invalid.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::{BytesRejection, JsonRejection};
use axum::extract::{FromRequest, FromRequestParts, Json, Path, Query, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri, header};
use notarium_core::{Closed, CommandId, NotebookId, RawJson, Version};
use notarium_wire::CommandMessage;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use ulid::Ulid;

use crate::auth::TokenText;
use crate::http::body_timeout::TooSlow;
use crate::http::problem::Problem;

/// Parameters of the path.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(value)| Self(value)).map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// Parameters of the query.
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // A token in a URL would end in logs: the request is refused, and the token is not used.
        if has_token(&parts.uri) {
            return Err(Problem::invalid("a token never stands in a URL: send it as `Authorization: Bearer <token>`"));
        }
        let query = Query::<T>::try_from_uri(&parts.uri);
        query.map(|Query(value)| Self(value)).map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// Checks for a parameter that is meant as a token: by its name, or by a whole token in its value.
fn has_token(uri: &Uri) -> bool {
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else { return false };
    pairs.iter().any(|(name, value)| name == "token" || TokenText::stands_in(name) || TokenText::stands_in(value))
}

/// A JSON body. Unknown fields are refused.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::<ClosedObject<T>>::from_request(request, state).await {
            Ok(Json(ClosedObject(value))) => Ok(Self(value)),
            Err(JsonRejection::BytesRejection(rejection)) => Err(body_problem(&rejection)),
            Err(rejection @ JsonRejection::MissingJsonContentType(_)) => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                format!("{}: send application/json", rejection.body_text()),
            )),
            Err(rejection) => Err(Problem::new(StatusCode::BAD_REQUEST, "malformed", rejection.body_text())),
        }
    }
}

/// A JSON object without unknown fields. A list of the fields' values is refused.
struct ClosedObject<T>(T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for ClosedObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for ObjectVisitor<T> {
    type Value = ClosedObject<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ClosedObject<T>, A::Error> {
        Closed::deserialize(MapAccessDeserializer::new(fields)).map(|Closed(value)| ClosedObject(value))
    }
}

/// The bytes of a body.
pub struct BytesBody(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for BytesBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        Bytes::from_request(request, state).await.map(Self).map_err(|rejection| body_problem(&rejection))
    }
}

fn body_problem(rejection: &BytesRejection) -> Problem {
    if is_too_slow(rejection) {
        return too_slow();
    }
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large("the body is larger than this route takes"),
        status => Problem::new(status, "malformed", rejection.body_text()),
    }
}

/// True if a body ended because it came too slowly, however deeply the cause is wrapped.
pub fn is_too_slow(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|error| error.is::<TooSlow>())
}

/// 408: the body came too slowly.
pub fn too_slow() -> Problem {
    let detail = "the body came too slowly: send it at once";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
}

/// 413: the body, or a part of it, is too large.
pub fn too_large(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "limit_exceeded", detail)
}

/// Conditions of a command from the headers: `Idempotency-Key` is its id, `If-Match` the expected version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    pub command_id: Option<CommandId>,
    pub expected_version: Option<Version>,
}

impl Conditions {
    /// A command under these conditions. Without an id it gets a new one.
    pub fn message(self, notebook: &NotebookId, body: RawJson) -> CommandMessage {
        let id = self.command_id.unwrap_or_else(|| Ulid::generate().into());
        let message = CommandMessage::new(id, notebook.clone(), body);
        CommandMessage { expected_version: self.expected_version, ..message }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self { command_id: idempotency_key(&parts.headers)?, expected_version: expected_version(&parts.headers)? })
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<CommandId>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim_matches('"');
    CommandId::new(text).map(Some).map_err(|error| Problem::invalid(format!("Idempotency-Key: {error}")))
}

fn expected_version(headers: &HeaderMap) -> Result<Option<Version>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version = text.trim_matches('"').parse().ok();
    version.map(Some).ok_or_else(|| Problem::invalid("If-Match is the version in quotes that you read, as in \"42\""))
}

/// 404: no such route.
pub async fn not_found() -> Response {
    let detail = "there is nothing at this address: see /api/openapi.json";
    Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response()
}

/// 405: the route exists, the method does not.
pub async fn method_not_allowed() -> Response {
    let detail = "this address does not take that method: see /api/openapi.json";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).into_response()
}

/// True if the client asks for this media type by name.
pub fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|list| list.split(','))
        .any(|item| item.split(';').next().is_some_and(|it| it.trim() == media_type))
}

/// A JSON body that may be absent.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let BytesBody(bytes) = BytesBody::from_request(Request::from_parts(parts.clone(), body), state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let JsonBody(value) = JsonBody::from_request(Request::from_parts(parts, bytes.into()), state).await?;
        Ok(Self(value))
    }
}

/// Extractor for routes that ignore the body.
pub struct NoBody;

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Problem;

    async fn from_request(_: Request, _: &S) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// 201 with the created value.
pub struct Created<T>(pub T);

impl<T: IntoResponse> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, self.0).into_response()
    }
}

/// 204: a response without a body.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}
