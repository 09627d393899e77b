//! OpenAPI document, made from the routes: the types of a handler describe its request and its response.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;
use notarium_wire::rest;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::extract::{Conditions, Created, JsonBody, NoBody, NoContent, OptionalJson, Params, QueryOf};
use super::guard::{Guard, Route};
use super::problem::Problem;
use crate::auth::Authenticated;

/// The name of the security scheme.
const BEARER: &str = "bearer";
const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";
const ABOUT: &str = "The REST interface beside the WebSocket (`GET /api/socket`, see protocol/README.md). Every error is \
    application/problem+json; a repeat with the same `Idempotency-Key` (1 to 64 characters of A-Z a-z 0-9 - _) is applied once; \
    `If-Match` is the expected version.";

/// True in this crate's tests, which compare the document with `protocol/openapi.json`. A server sends that file: what makes it would be
/// megabytes of the program.
pub const MAKES_DOCUMENT: bool = cfg!(test);

/// Writes a part of an operation's description.
pub type Describe = fn(&mut Described<'_>);

/// `protocol/openapi.json`, compressed by gzip.
pub const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.gz"));

/// The document while routes are added to it.
pub struct OpenApiDocument {
    generator: SchemaGenerator,
    paths: Map<String, Value>,
}

/// An operation while it is described.
pub struct Described<'a> {
    generator: &'a mut SchemaGenerator,
    operation: Value,
    parameters: Vec<Value>,
}

impl Described<'_> {
    /// Adds a response; those of one status differ in their media types.
    pub fn answers<T: JsonSchema>(&mut self, status: &str, media_type: &str) {
        let schema = self.generator.subschema_for::<T>();
        self.answer_of(status, media_type, json!(schema));
    }

    /// Adds a response whose body is not JSON: a file, or lines of text.
    pub fn answers_plain(&mut self, status: &str, media_type: &str) {
        self.answer_of(status, media_type, plain(media_type));
    }

    fn answer_of(&mut self, status: &str, media_type: &str, schema: Value) {
        let answer = &mut self.operation["responses"][status];
        answer["description"] = json!("");
        answer["content"][media_type] = json!({"schema": schema});
    }

    /// Sets a request body of bytes.
    pub fn takes_bytes(&mut self, media_type: &str) {
        self.operation["requestBody"] =
            json!({"content": {media_type: {"schema": plain(media_type)}}, "required": true});
    }

    /// Adds a response without a body.
    pub fn answers_empty(&mut self, status: &str) {
        self.operation["responses"][status] = json!({"description": ""});
    }

    fn body<T: JsonSchema>(&mut self, is_required: bool) {
        let schema = self.generator.subschema_for::<T>();
        self.operation["requestBody"] = json!({"content": {JSON: {"schema": schema}}, "required": is_required});
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
        self.parameters.push(parameter);
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
fn operation_id(route: &Route) -> String {
    let parts = route.path.split('/').filter(|part| !part.is_empty() && *part != "api");
    let words = parts.map(|part| part.trim_matches(['{', '}']).replace('-', "_"));
    words.fold(route.method.as_str().to_lowercase(), |id, word| id + "_" + &word)
}

impl Default for OpenApiDocument {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let settings = settings.with_transform(RecursiveTransform(write_words));
        let settings = settings.with_transform(RecursiveTransform(write_maps));
        let settings = settings.with_transform(RecursiveTransform(write_anything));
        Self { generator: settings.into_generator(), paths: Map::new() }
    }
}

impl OpenApiDocument {
    pub fn add(&mut self, route: &Route, describe: &[Describe]) {
        let (summary, description) = route.texts();
        let security = if route.guard == Guard::Public { json!([]) } else { json!([{BEARER: []}]) };
        let operation = json!({
            "operationId": operation_id(route), "tags": [route.tag], "summary": summary, "security": security, "parameters": [], "responses": {},
        });
        let mut described = Described { generator: &mut self.generator, operation, parameters: Vec::new() };
        for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            described.parameter("path", name, true, json!({"type": "string"}));
        }
        describe.iter().for_each(|describe| describe(&mut described));
        // Layers in front of every route may refuse too: a wrong host, a body that is too large.
        described.answers::<rest::Problem>("default", PROBLEM);
        let Described { mut operation, parameters, .. } = described;
        operation["parameters"] = Value::Array(parameters);
        if !description.is_empty() {
            operation["description"] = json!(description);
        }
        let item = self.paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.method.as_str().to_lowercase()] = operation;
    }

    /// The document, which is checked in as `protocol/openapi.json`.
    pub fn finish(mut self) -> Value {
        let mut schemas = self.generator.take_definitions(true);
        name_parts(&mut schemas);
        json!({
            "openapi": "3.1.0",
            "info": {"title": "Notarium", "description": ABOUT, "version": env!("CARGO_PKG_VERSION")},
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer"}},
            },
            "security": [{BEARER: []}],
        })
    }
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

/// Response of a handler, with the status of its success.
pub trait Answered {
    fn describe(described: &mut Described<'_>, status: &str);
}

/// Adds nothing: the row of the route describes the response.
impl Answered for Response {
    fn describe(_: &mut Described<'_>, _: &str) {}
}

impl Answered for NoContent {
    fn describe(described: &mut Described<'_>, _: &str) {
        described.answers_empty("204");
    }
}

impl<T: JsonSchema> Answered for Json<T> {
    fn describe(described: &mut Described<'_>, status: &str) {
        described.answers::<T>(status, JSON);
    }
}

impl<T: Answered> Answered for Created<T> {
    fn describe(described: &mut Described<'_>, _: &str) {
        T::describe(described, "201");
    }
}

impl<T: Answered> Answered for Result<T, Problem> {
    fn describe(described: &mut Described<'_>, status: &str) {
        T::describe(described, status);
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
                $($part::describe(described);)*
                Fut::Output::describe(described, "200");
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

// --- forms of schemas that all generators support ---

/// Turns a choice of words into an `enum`, and moves the words' descriptions into its own.
fn write_words(schema: &mut Schema) {
    let Some(words) = schema.get("oneOf").and_then(words_of) else { return };
    let own = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let told =
        schema.get("oneOf").and_then(Value::as_array).into_iter().flatten().filter_map(|variant| {
            Some(format!("`{}`: {}", variant["const"].as_str()?, variant["description"].as_str()?))
        });
    let description: Vec<String> = own.into_iter().chain(told).collect();
    *schema = json_schema!({"type": "string", "enum": words, "description": description.join("\n\n")});
}

/// Words of a choice that consists of words alone.
fn words_of(choice: &Value) -> Option<Vec<Value>> {
    let words = choice.as_array()?.iter().map(|variant| match (&variant["const"], &variant["enum"]) {
        (Value::String(word), _) => Some(vec![json!(word)]),
        (_, Value::Array(words)) if variant["type"] == "string" => Some(words.clone()),
        _ => None,
    });
    Some(words.collect::<Option<Vec<_>>>()?.concat())
}

/// Turns an object with keys of one pattern alone into a map.
fn write_maps(schema: &mut Schema) {
    let Some(Value::Object(patterns)) = schema.get("patternProperties") else { return };
    if let [values] = patterns.values().cloned().collect::<Vec<_>>().as_slice() {
        schema.insert("additionalProperties".to_owned(), values.clone());
        schema.remove("patternProperties");
    }
}

/// Replaces the schema `true` (any value) by `{}`.
fn write_anything(schema: &mut Schema) {
    if schema.as_bool() == Some(true) {
        schema.ensure_object();
    }
}

/// Moves the object inside an enum's variant to a schema with its own name.
fn name_parts(schemas: &mut Map<String, Value>) {
    let mut named = Map::new();
    for (name, schema) in schemas.iter_mut() {
        for variant in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(properties) = variant.get_mut("properties").and_then(Value::as_object_mut) else { continue };
            if properties.len() > 1 {
                continue;
            }
            for (tag, part) in properties.iter_mut().filter(|(_, part)| part.get("properties").is_some()) {
                let part_name = format!("{name}{}", pascal(tag));
                let reference = json!({"$ref": format!("#/components/schemas/{part_name}")});
                named.insert(part_name, std::mem::replace(part, reference));
            }
        }
    }
    schemas.extend(named);
}

fn pascal(tag: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    tag.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}
