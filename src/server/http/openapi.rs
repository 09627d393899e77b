//! OpenAPI document, made from the routes: the types of a handler describe its request and its response.
//!
//! Rewrites the schemas for client generators: the same values, in forms that all generators support.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, Method};
use notarium_wire::rest;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::extract::{BytesBody, Conditions, Created, JsonBody, NoBody, NoContent, OptionalJson, Params, QueryOf};
use super::problem::Problem;
use crate::auth::Authenticated;

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

/// Rewrites the document's schemas.
pub fn readable(document: &mut Value) {
    rewrite(document);
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        name_parts(schemas);
    }
}

fn rewrite(value: &mut Value) {
    write_words(value);
    write_maps(value);
    write_anything(value);
    match value {
        Value::Object(object) => object.values_mut().for_each(rewrite),
        Value::Array(values) => values.iter_mut().for_each(rewrite),
        _ => {}
    }
}

/// Turns a choice of words into an `enum`, and moves the words' descriptions into its own.
fn write_words(value: &mut Value) {
    let Some(words) = value.get("oneOf").and_then(words_of) else { return };
    let own = value["description"].as_str().map(str::to_owned);
    let told =
        value["oneOf"].as_array().into_iter().flatten().filter_map(|variant| {
            Some(format!("`{}`: {}", variant["const"].as_str()?, variant["description"].as_str()?))
        });
    let description: Vec<String> = own.into_iter().chain(told).collect();
    *value = json!({"type": "string", "enum": words, "description": description.join("\n\n")});
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
fn write_maps(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    let Some(Value::Object(patterns)) = object.get("patternProperties").filter(|patterns| patterns.is_object()) else {
        return;
    };
    if let [schema] = patterns.values().cloned().collect::<Vec<_>>().as_slice() {
        object.insert("additionalProperties".to_owned(), schema.clone());
        object.remove("patternProperties");
    }
}

/// Replaces the schema `true` (any value) by `{}`, which all generators support.
fn write_anything(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    for (key, child) in object {
        if key == "items" && *child == true {
            *child = json!({});
        }
        let children = child.as_object_mut().filter(|_| ["properties", "schemas"].contains(&key.as_str()));
        let anything = children.into_iter().flat_map(Map::values_mut).filter(|child| **child == true);
        anything.for_each(|child| *child = json!({}));
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
