//! Tests of the golden files in `protocol/golden/messages/`, one per message. Each is decoded, encoded to the same JSON, and validated by
//! its schema. Clients in other languages read the same files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notarium_wire::{ClientMessage, ProtocolRange, ServerMessage};
use serde_json::Value;

fn folder(direction: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol/golden/messages").join(direction)
}

/// Returns each file with its JSON, whose only key is the message's name.
fn messages(direction: &str) -> Vec<(PathBuf, Value)> {
    let entries = std::fs::read_dir(folder(direction)).expect("the golden folder exists");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a golden file is readable");
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, value)
    };
    entries.map(|entry| read(entry.expect("the entry is readable").path())).collect()
}

fn schema(name: &str) -> jsonschema::Validator {
    let files = notarium_wire::schema::files();
    let (_, schema) = files.into_iter().find(|(file, _)| *file == name).expect("the schema is generated");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn check<T: serde::Serialize + serde::de::DeserializeOwned>(direction: &str, schema_name: &str) -> BTreeSet<String> {
    let validator = schema(schema_name);
    let mut seen = BTreeSet::new();
    for (path, value) in messages(direction) {
        let text = value.to_string();
        let typed: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let again: Value = serde_json::to_value(&typed).expect("a message is JSON");
        assert_eq!(again, value, "{} changes when it is decoded and encoded", path.display());
        assert!(validator.is_valid(&value), "{} is not valid by {schema_name}", path.display());
        seen.extend(value.as_object().into_iter().flat_map(|object| object.keys().cloned()));
    }
    seen
}

/// Returns the message names in the schema: a new message needs a golden file.
fn names(schema_name: &str) -> BTreeSet<String> {
    let files = notarium_wire::schema::files();
    let (_, schema) = files.into_iter().find(|(file, _)| *file == schema_name).expect("the schema is generated");
    let variants = schema["oneOf"].as_array().expect("a message is one of several").iter();
    variants.filter_map(|variant| variant["properties"].as_object()).flat_map(|object| object.keys().cloned()).collect()
}

#[test]
fn every_message_of_clients_has_a_golden_file() {
    assert_eq!(check::<ClientMessage>("client", "client-message.json"), names("client-message.json"));
}

#[test]
fn every_message_of_the_server_has_a_golden_file() {
    assert_eq!(check::<ServerMessage>("server", "server-message.json"), names("server-message.json"));
}

#[test]
fn unknown_messages_and_fields_are_refused() {
    for text in [
        r#"{"shout":{}}"#,
        r#"{"unsubscribe":{"notebook":"a","since":3}}"#,
        r#"{"subscribe":{"notebook":"a","actor":{"kind":"system"}}}"#,
        r#"{"command":{"id":"c","notebook":"n","body":{},"recorded_at":5}}"#,
        r#"{"unsubscribe":{"notebook":"not an id"}}"#,
        r#"{"unsubscribe":{"notebook":"a"},"hello":{}}"#,
    ] {
        assert!(serde_json::from_str::<ClientMessage>(text).is_err(), "{text} was accepted");
    }
    let newer = r#"{"hello":{"protocols":{"min":1,"max":9},"client":"x","from":"the future"}}"#;
    assert!(serde_json::from_str::<ClientMessage>(newer).is_ok(), "a newer client is told which protocol is spoken");
}

#[test]
fn the_newest_protocol_of_both_is_spoken() {
    let range = |min, max| ProtocolRange { min, max };
    let cases =
        [((1, 1), (1, 1), Some(1)), ((1, 3), (2, 5), Some(3)), ((4, 9), (2, 5), Some(5)), ((2, 3), (4, 5), None)];
    for (client, server, expected) in cases {
        let common = range(client.0, client.1).common(range(server.0, server.1));
        assert_eq!(common, expected, "{client:?} with {server:?}");
    }
    assert_eq!(range(3, 1).common(range(1, 3)), None, "no range at all");
}
