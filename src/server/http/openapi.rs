//! OpenAPI document, made from the routes: the types of a handler describe its request and its response.

mod readable;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, Method};
use notarium_wire::rest;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::auth::Authenticated;
use crate::http::extract::{
    BytesBody, Conditions, Created, JsonBody, NoBody, NoContent, OptionalJson, Params, QueryOf,
};
use crate::http::problem::Problem;
use readable::readable;

/// The name of the security scheme.
const BEARER: &str = "bearer";
const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";
const ABOUT: &str = "The REST interface beside the WebSocket (`GET /api/socket`, see protocol/README.md). Every error is \
    application/problem+json; a repeat with the same `Idempotency-Key` (1 to 64 characters of A-Z a-z 0-9 - _) is applied once; \
    `If-Match` is the expected version.";

/// Adds to the description of an operation.
pub type Describe = Box<dyn Fn(&mut Described<'_>) + Send + Sync>;

/// A route as the document shows it.
pub struct Documented {
    pub method: Method,
    pub path: String,
    pub tag: &'static str,
    /// Summary, and after an empty line a description.
    pub says: &'static str,
    pub needs_token: bool,
    pub parts: Vec<Describe>,
}

/// An operation while it is described.
pub struct Described<'a> {
    generator: &'a mut SchemaGenerator,
    operation: Map<String, Value>,
}

impl Described<'_> {
    /// Adds a response; those of one status differ in their media types.
    pub fn answer<T: JsonSchema>(&mut self, status: &str, media_type: &str) {
        let schema = self.generator.subschema_for::<T>();
        self.answer_of(status, media_type, json!(schema));
    }

    /// Adds a response that is not JSON: a file, or lines of text.
    pub fn plain_answer(&mut self, status: &str, media_type: &str) {
        self.answer_of(status, media_type, plain(media_type));
    }

    fn answer_of(&mut self, status: &str, media_type: &str, schema: Value) {
        let answer = &mut self.operation["responses"][status];
        answer["description"] = json!("");
        answer["content"][media_type] = json!({"schema": schema});
    }

    /// Sets a request body of bytes.
    pub fn bytes(&mut self, media_type: &str) {
        let body = json!({"content": {media_type: {"schema": plain(media_type)}}, "required": true});
        self.operation.insert("requestBody".to_owned(), body);
    }

    pub fn empty_answer(&mut self, status: &str) {
        self.operation["responses"][status] = json!({"description": ""});
    }

    fn body<T: JsonSchema>(&mut self, is_required: bool) {
        let schema = self.generator.subschema_for::<T>();
        let body = json!({"content": {JSON: {"schema": schema}}, "required": is_required});
        self.operation.insert("requestBody".to_owned(), body);
    }

    fn query<T: JsonSchema>(&mut self) {
        let schema = T::json_schema(self.generator);
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|it| it == name));
        for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.parameter("query", name, is_required(name), schema.clone());
        }
    }

    fn parameter(&mut self, place: &str, name: &str, is_required: bool, mut schema: Value) {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({"name": name, "in": place, "required": is_required, "schema": schema});
        if let Some(description) = description {
            parameter["description"] = description;
        }
        if let Value::Array(parameters) = &mut self.operation["parameters"] {
            parameters.push(parameter);
        }
    }
}

/// Text of a media type that is text, bytes of any other.
fn plain(media_type: &str) -> Value {
    match media_type.starts_with("text/") || media_type == "application/x-ndjson" {
        true => json!({"type": "string"}),
        false => json!({"type": "string", "format": "binary"}),
    }
}

/// Name of the operation in a generated client: `put_notebook_access` for `PUT /api/notebooks/{notebook}/access`.
fn operation_id(route: &Documented) -> String {
    let parts = route.path.split('/').filter(|part| !part.is_empty() && *part != "api");
    let words = parts.map(|part| part.trim_matches(['{', '}']).replace('-', "_"));
    words.fold(route.method.as_str().to_lowercase(), |id, word| id + "_" + &word)
}

/// OpenAPI document of these routes, which is checked in as `protocol/openapi.json`.
pub fn document(routes: &[Documented]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes {
        let item = paths.entry(route.path.clone()).or_insert_with(|| json!({}));
        item[route.method.as_str().to_lowercase()] = operation(route, &mut generator);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Notarium", "description": ABOUT, "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer"}},
        },
        "security": [{BEARER: []}],
    });
    readable(&mut document);
    document
}

fn operation(route: &Documented, generator: &mut SchemaGenerator) -> Value {
    let (summary, description) = route.says.split_once("\n\n").unwrap_or((route.says, ""));
    let security = if route.needs_token { json!([{BEARER: []}]) } else { json!([]) };
    let operation = json!({
        "operationId": operation_id(route), "tags": [route.tag], "summary": summary, "security": security, "parameters": [], "responses": {},
    });
    let Value::Object(operation) = operation else { return Value::Null };
    let mut described = Described { generator, operation };
    for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        described.parameter("path", name, true, json!({"type": "string"}));
    }
    route.parts.iter().for_each(|describe| describe(&mut described));
    // Layers in front of every route may refuse too: a wrong host, a body that is too large.
    described.answer::<rest::Problem>("default", PROBLEM);
    let mut operation = described.operation;
    if !description.is_empty() {
        operation.insert("description".to_owned(), json!(description));
    }
    Value::Object(operation)
}

// --- what handlers take ---

/// Part of a request that a handler takes. The default adds nothing: path parameters are read from the route.
pub trait Taken {
    fn describe(_: &mut Described<'_>) {}
}

impl<S> Taken for State<S> {}
impl<T> Taken for Params<T> {}
impl Taken for Authenticated {}
impl Taken for HeaderMap {}
impl Taken for Request {}
impl Taken for NoBody {}

impl<T: JsonSchema> Taken for QueryOf<T> {
    fn describe(described: &mut Described<'_>) {
        described.query::<T>();
    }
}

impl<T: JsonSchema> Taken for JsonBody<T> {
    fn describe(described: &mut Described<'_>) {
        described.body::<T>(true);
    }
}

impl<T: JsonSchema> Taken for OptionalJson<T> {
    fn describe(described: &mut Described<'_>) {
        described.body::<T>(false);
    }
}

impl Taken for BytesBody {
    fn describe(described: &mut Described<'_>) {
        described.bytes("application/octet-stream");
    }
}

impl Taken for Conditions {
    fn describe(described: &mut Described<'_>) {
        let key = json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "The id of the command: a repeat with the same body \
            is applied once, and gets the same answer."});
        described.parameter("header", "Idempotency-Key", false, key);
        let version = json!({"type": "string", "pattern": "^([0-9]{1,18}|\"[0-9]{1,18}\"|[*])$", "description": "Refuse with `conflict` unless the \
            notebook is at this version."});
        described.parameter("header", "If-Match", false, version);
    }
}

// --- what handlers answer ---

/// Response of a handler. A bare `Response` adds nothing: its route describes it.
pub trait Answered {
    fn describe(described: &mut Described<'_>);
}

impl Answered for Response {
    fn describe(_: &mut Described<'_>) {}
}

impl Answered for NoContent {
    fn describe(described: &mut Described<'_>) {
        described.empty_answer("204");
    }
}

impl<T: JsonSchema> Answered for Json<T> {
    fn describe(described: &mut Described<'_>) {
        described.answer::<T>("200", JSON);
    }
}

impl<T: Answered> Answered for Created<T> {
    fn describe(described: &mut Described<'_>) {
        <T as Answered>::describe(described);
        if let Value::Object(answers) = &mut described.operation["responses"] {
            let made = answers.remove("200");
            answers.extend(made.map(|answer| ("201".to_owned(), answer)));
        }
    }
}

impl<T: Answered> Answered for Result<T, Problem> {
    fn describe(described: &mut Described<'_>) {
        <T as Answered>::describe(described);
    }
}

/// A handler whose types describe its request and response. `A` are its arguments.
pub trait Endpoint<A> {
    fn describe(described: &mut Described<'_>);
}

macro_rules! endpoints {
    ($($part:ident)*) => {
        impl<F, Fut, $($part),*> Endpoint<($($part,)*)> for F
        where
            F: Fn($($part),*) -> Fut,
            Fut: Future,
            Fut::Output: Answered,
            $($part: Taken,)*
        {
            fn describe(described: &mut Described<'_>) {
                $(<$part as Taken>::describe(described);)*
                <Fut::Output as Answered>::describe(described);
            }
        }
    };
}

endpoints!();
endpoints!(P1);
endpoints!(P1 P2);
endpoints!(P1 P2 P3);
endpoints!(P1 P2 P3 P4);
endpoints!(P1 P2 P3 P4 P5);
