//! Tests that `protocol/schema/` equals the schemas of the types. `NOTARIUM_BLESS=1` rewrites the files.

use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocol/schema")
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for (name, schema) in notarium_wire::schema::files() {
        let path = folder().join(name);
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).expect("a schema is JSON"));
        if std::env::var_os("NOTARIUM_BLESS").is_some() {
            std::fs::create_dir_all(folder()).expect("the folder can be made");
            std::fs::write(&path, &text).expect("the file can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "protocol/schema/{name} is stale: run NOTARIUM_BLESS=1 cargo test -p notarium-wire --test schema"
        );
    }
}

#[test]
fn every_event_type_has_a_payload_schema() {
    let files = notarium_wire::schema::files();
    let (_, events) = files.iter().find(|(name, _)| *name == "event-payloads.json").expect("the file is generated");
    for event_type in notarium_core::Event::TYPES {
        assert!(events["properties"][event_type].is_object(), "{event_type} has no schema");
    }
}
