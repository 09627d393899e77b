//! Generates the JSON Schemas of all wire types. `protocol/schema/` holds them, and a test compares.

use notarium_core::{Command, Document, Event, OPEN};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::client_message::ClientMessage;
use crate::server_message::ServerMessage;

/// Returns the files of `protocol/schema/`: name and content.
pub fn files() -> Vec<(&'static str, Value)> {
    vec![
        ("client-message.json", root::<ClientMessage>()),
        ("server-message.json", root::<ServerMessage>()),
        ("command.json", closed(root::<Command>())),
        ("notebook.json", root::<Document>()),
        ("event-payloads.json", event_payloads()),
    ]
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn root<T: schemars::JsonSchema>() -> Value {
    generator().into_root_schema_for::<T>().into()
}

/// Closes a schema for input: no unknown fields or words, even where the same value is open in an event.
fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            if let Some([known, Value::Object(_)]) = fields.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
                && fields.get("description").is_some_and(|text| *text == OPEN)
            {
                return known.clone();
            }
            if fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            fields.values_mut().for_each(|inner| *inner = closed(inner.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| *inner = closed(inner.take())),
        _ => {}
    }
    schema
}

/// One schema per event type: `properties.<Type>` describes the payload of `type: <Type>, schema: 1`.
fn event_payloads() -> Value {
    let mut generator = generator();
    let payloads: Map<String, Value> = Event::schemas(&mut generator)
        .into_iter()
        .map(|(name, schema): (_, Schema)| (name.to_owned(), schema.into()))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "EventPayloads",
        "description": "The payload of each event type, schema 1.",
        "type": "object",
        "properties": payloads,
        "$defs": generator.take_definitions(true),
    })
}
