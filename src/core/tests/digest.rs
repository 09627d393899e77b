//! The digest of a document, as `protocol/events.md` explains it.
#![allow(clippy::disallowed_methods)]

use crate::golden::{check_file, protocol};
use notarium_core::*;

/// The example: a document, its canonical JSON, and the digest.
#[derive(serde::Serialize)]
struct DigestExample {
    document: RawJson,
    canonical: String,
    digest: Hash,
}

#[test]
fn the_golden_digest_is_the_example_of_the_protocol() {
    let metadata = "{\"\u{fb33}\": 1.50, \"😀\": 12345678901234567890, \"a\\u002fb\": [-0, 1e21, \"\\u20ac\\n\"]}";
    let document = Document {
        version: 1,
        title: "Täglich".to_owned(),
        metadata: RawObject::parse(metadata).unwrap(),
        created_at: 1_795_305_600_000,
        updated_at: 1_795_305_600_000,
        ..Document::new("nb".parse().unwrap())
    };
    let canonical = String::from_utf8(canonical_json(&document).unwrap()).unwrap();
    let digest = document.digest().unwrap();
    let text = std::fs::read_to_string(protocol().join("events.md")).unwrap();
    for shown in [canonical.clone(), digest.to_string()] {
        assert!(text.contains(&shown), "protocol/events.md does not show {shown}");
    }
    let example = DigestExample { document: RawJson::of(&document).unwrap(), canonical, digest };
    check_file("golden/digest.json", &format!("{}\n", serde_json::to_string(&example).unwrap()));
}
