//! Content is removed from a record for good, and the record still proves everything else.
// The files of the protocol are read.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::edits::edit;
use crate::golden::protocol;
use crate::support::*;
use notarium_core::stand_in::{Found, Zone, rewrite, zone};
use notarium_core::{Document, RedactionTarget, RejectionCode as Code, Stored, Version, text::utf16_len};

const SECRET: &str = "hunter2!";

fn text() -> RedactionTarget {
    RedactionTarget::Text { text: SECRET.to_owned() }
}

fn planned(target: RedactionTarget) -> World {
    let mut world = with_secret();
    world.plan(target);
    world
}

/// The secret is in one event of the cell `s`.
fn with_secret() -> World {
    with_cells().with(&user("ann"), insert("s", "code", &format!("key = '{SECRET}'")))
}

/// A text, a cell and an event were redacted; people went on.
pub fn redacted() -> World {
    let (ann, bo) = (user("ann"), user("editor"));
    let mut world = with_secret();
    world.step(&bo, edit("s", world.version(), json!([16, [0, "# mine"]])));
    world.redact(&ann, text()).unwrap();
    world.step(&bo, edit("s", world.version(), json!([7, [8, "os.environ"], 7])));
    world.step(&ann, json!({"RenameNotebook": {"title": "Bob's salary"}}));
    let version = world.version();
    world.redact(&ann, RedactionTarget::Event { version }).unwrap();
    world.redact(&ann, RedactionTarget::Cell { cell_id: cell_id("c") }).unwrap();
    world.step(&bo, json!({"Undo": {}}));
    world
}

pub fn cases() -> Vec<Case> {
    let ann = || user("ann");
    let command = |target: serde_json::Value| json!({"RedactContent": {"reason": "it leaked", "target": target}});
    let of_text = || command(json!({"text": {}}));
    let with_text = || planned(text());
    let with_nothing = || planned(RedactionTarget::Text { text: "nowhere".to_owned() });
    let written_again = || planned(text()).with(&user("editor"), insert("t", "code", &format!("other = '{SECRET}'")));
    let typed_on = || planned(text()).with(&user("editor"), insert("t", "code", "harmless"));
    let long = json!({"RedactContent": {"reason": "x".repeat(501), "target": {"text": {}}}});
    let silent = json!({"RedactContent": {"reason": " ", "target": {"text": {}}}});
    vec![
        case(with_text, ann(), of_text(), events(["ContentRedacted"])),
        case(typed_on, ann(), of_text(), events(["ContentRedacted"])),
        case(written_again, ann(), of_text(), rejected(Code::Conflict)),
        case(with_text, user("editor"), of_text(), rejected(Code::Forbidden)),
        case(with_text, assistant_of("ann"), of_text(), rejected(Code::Forbidden)),
        case(with_text, agent("gpu"), of_text(), rejected(Code::Forbidden)),
        case(with_text, user("stranger"), of_text(), rejected(Code::UnknownNotebook)),
        case(with_text, ann(), command(json!({"event": {"version": 3}})), rejected(Code::InvalidValue)),
        case(with_secret, ann(), of_text(), rejected(Code::InvalidValue)),
        case(with_nothing, ann(), of_text(), rejected(Code::NothingToRedact)),
        case(with_text, ann(), long, rejected(Code::InvalidValue)),
        case(with_text, ann(), silent, rejected(Code::InvalidValue)),
    ]
}

#[test]
fn every_redaction_is_accepted_or_refused_as_written() {
    check_all("redaction", &cases());
}

fn raw(log: &[Stored]) -> String {
    log.iter().map(|stored| stored.payload.get()).collect()
}

#[test]
fn what_is_redacted_is_redacted_once() {
    let mut world = with_secret();
    assert_eq!(world.redact(&user("ann"), text()).unwrap().len(), 1);
    assert_eq!(world.source("s"), "key = '████████'");
    assert_eq!(world.notebook.redaction_epoch, world.version());
    assert_eq!(world.redact(&user("ann"), text()).unwrap_err().code, Code::NothingToRedact);
}

#[test]
fn an_archived_notebook_is_redacted_too() {
    let mut world = with_secret().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    assert_eq!(world.redact(&user("ann"), text()).unwrap().len(), 1);
}

#[test]
fn an_event_goes_with_what_was_derived_from_it() {
    let mut world = with_cells();
    let ann = user("ann");
    world.step(&ann, edit("a", world.version(), json!([5, [0, " # born 1970"]])));
    let version = world.version();
    world.step(&ann, edit("a", world.version(), json!([10, [4, "in "], 3])));
    world.step(&ann, json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&ann, json!({"RestoreCell": {"cell_id": "a"}}));
    let redacted = world.redact(&ann, RedactionTarget::Event { version }).unwrap();
    assert_eq!(redacted, [version, version + 1, version + 2, version + 3]);
    assert_eq!(world.source("a"), "x = 1█████in ███");
    world.step(&ann, json!({"Undo": {"steps": 2}}));
    assert!(!raw(&world.log).contains("born"), "{}", raw(&world.log));
}

#[test]
fn the_whole_past_of_a_cell_goes_and_nothing_else() {
    let mut world = finished();
    let ann = user("ann");
    world.step(&ann, json!({"SetCellMetadata": {"cell_id": "a", "metadata": {"name": "Bob", "pin": 1234}}}));
    world.step(&ann, json!({"AddComment": {"target": {"cell": {"cell_id": "a"}}, "text": "Bob again"}}));
    let (before, others) = (world.document_at(world.version()), world.source("b").to_owned());
    world.redact(&ann, RedactionTarget::Cell { cell_id: cell_id("a") }).unwrap();
    let raw = raw(&world.log);
    for gone in ["Bob", "1234", "x = 1"] {
        assert!(!raw.contains(gone), "{gone}: {raw}");
    }
    assert_eq!(world.source("b"), others);
    let after = &world.notebook;
    assert_eq!((&after.order, &after.latest, &after.access), (&before.order, &before.latest, &before.access));
    let run = after.latest_execution(&cell_id("a")).unwrap();
    assert_eq!(run.1.requested_by, before.latest_execution(&cell_id("a")).unwrap().1.requested_by);
}

#[test]
fn a_text_is_found_across_the_pieces_of_a_stream_and_in_escaped_forms() {
    let mut world = running();
    let (ann, gpu) = (user("ann"), agent("gpu"));
    world.step(&gpu, report("run-a", 2, output(&["key hun", "ter"])));
    world.step(&gpu, report("run-a", 3, output(&["2! done"])));
    let html =
        json!({"content": {"output_type": "display_data", "data": {"text/html": "a&lt;b&gt;c"}, "metadata": {}}});
    world.step(&gpu, report("run-a", 4, json!({"output": {"outputs": [html]}})));
    world.redact(&ann, text()).unwrap();
    assert_eq!(world.outputs("run-a")[..3], ["key ███", "███", "██ done"]);
    world.redact(&ann, RedactionTarget::Text { text: "a<b>c".to_owned() }).unwrap();
    assert!(!raw(&world.log).contains("lt;b"));
}

#[test]
fn a_short_text_is_refused() {
    let target = RedactionTarget::Text { text: "abc".to_owned() };
    assert_eq!(target.check().unwrap_err().code, Code::InvalidValue);
}

// --- property ---

/// A step of a life: a piece of the secret, or something else, at a place.
#[derive(Debug, Clone)]
enum Step {
    Type(String, Index),
    Delete(Index, usize),
    Undo,
    Redo,
    Trash,
    Restore,
    Split(Index),
    Run,
}

fn step() -> impl Strategy<Value = Step> {
    let pieces = ["h", "hun", "nt", "ter", "er2", "2!", "!", SECRET, "ok ", "\n", "😀"];
    prop_oneof![
        6 => (prop::sample::select(pieces.to_vec()), any::<Index>()).prop_map(|(piece, at)| Step::Type(piece.to_owned(), at)),
        2 => (any::<Index>(), 0..6_usize).prop_map(|(at, count)| Step::Delete(at, count)),
        1 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => Just(Step::Trash),
        1 => Just(Step::Restore),
        1 => any::<Index>().prop_map(Step::Split),
        1 => Just(Step::Run),
    ]
}

fn live(steps: &[Step]) -> World {
    let mut world = started();
    let ann = user("ann");
    // The secret is typed one letter after the other.
    for (at, letter) in SECRET.char_indices() {
        let length = utf16_len(world.source("a"));
        let change = if at == 0 {
            json!([[0, letter.to_string()], length])
        } else {
            json!([at, [0, letter.to_string()], length - at])
        };
        world.step(&ann, edit("a", world.version(), change));
    }
    for (index, step) in steps.iter().enumerate() {
        let _ = match step {
            Step::Undo => world.try_do(&ann, &json!({"Undo": {}})),
            Step::Redo => world.try_do(&ann, &json!({"Redo": {}})),
            Step::Trash => world.try_do(&ann, &json!({"DeleteCell": {"cell_id": "a"}})),
            Step::Restore => world.try_do(&ann, &json!({"RestoreCell": {"cell_id": "a"}})),
            Step::Run => world.try_do(&ann, &request("a", &format!("run{index}"))),
            Step::Type(..) | Step::Delete(..) | Step::Split(_) => type_or_split(&mut world, step, index),
        };
    }
    world
}

fn type_or_split(world: &mut World, step: &Step, index: usize) -> Judged {
    let ann = user("ann");
    let Some(cell) = world.notebook.cells.get(&cell_id("a")) else { return Ok(Default::default()) };
    let source = cell.content.source.to_string();
    let boundaries: Vec<usize> =
        source.char_indices().map(|(at, _)| utf16_len(&source[..at])).chain([utf16_len(&source)]).collect();
    let length = utf16_len(&source);
    let sections = |at: usize, deleted: usize, text: &str| {
        let keeps = |count: usize| (count > 0).then(|| json!(count));
        let lines = text.split('\n').map(|line| json!(line)).collect::<Vec<_>>();
        let lines = if text.is_empty() { Vec::new() } else { lines };
        let section = [json!(deleted)].into_iter().chain(lines).collect::<Vec<_>>();
        let all = [keeps(at), Some(json!(section)), keeps(length - at - deleted)];
        json!(all.into_iter().flatten().collect::<Vec<_>>())
    };
    match step {
        Step::Type(text, at) => {
            world.try_do(&ann, &edit("a", world.version(), sections(*at.get(&boundaries), 0, text)))
        }
        Step::Delete(at, count) => {
            let first = at.index(boundaries.len());
            let last = (first + count).min(boundaries.len() - 1);
            let (from, to) = (boundaries[first], boundaries[last]);
            world.try_do(&ann, &edit("a", world.version(), sections(from, to - from, "")))
        }
        Step::Split(at) => {
            let at = *at.get(&boundaries);
            let tail = String::from_utf16_lossy(&source.encode_utf16().skip(at).collect::<Vec<_>>());
            let cut = edit("a", world.version(), sections(at, length - at, ""));
            let split = json!({"Batch": {"commands": [insert(&format!("split{index}"), "code", &tail), cut]}});
            world.try_do(&ann, &split)
        }
        _ => unreachable!("those are done above"),
    }
}

/// Texts of all cells at every version.
fn states(world: &World) -> Vec<Vec<(String, String)>> {
    let mut document = Document::new(world.notebook.notebook_id.clone());
    let texts = |document: &Document| {
        document.cells.iter().map(|(id, cell)| (id.to_string(), cell.content.source.to_string())).collect()
    };
    let mut states = Vec::new();
    for recorded in &world.recorded {
        document.apply(recorded);
        states.push(texts(&document));
    }
    states
}

proptest! {
    #[test]
    fn a_text_that_was_typed_in_pieces_is_gone_from_every_event_and_state(steps in prop::collection::vec(step(), 0..40)) {
        let mut world = live(&steps);
        let before = states(&world);
        let redacted: BTreeSet<Version> = world.redact(&user("ann"), text()).unwrap().into_iter().collect();
        prop_assert!(!raw(&world.log).contains(SECRET));
        // The letters were typed one by one.
        prop_assert!(redacted.len() >= SECRET.len());
        for (version, (old, new)) in before.iter().zip(states(&world)).enumerate() {
            prop_assert_eq!(old.len(), new.len());
            for ((id, old), (other, new)) in old.iter().zip(&new) {
                prop_assert_eq!(id, other);
                let (old, new): (Vec<u16>, Vec<u16>) = (old.encode_utf16().collect(), new.encode_utf16().collect());
                prop_assert_eq!(old.len(), new.len(), "version {}", version + 1);
                let black = u16::try_from(u32::from('█')).unwrap();
                prop_assert!(old.iter().zip(&new).all(|(old, new)| old == new || *new == black), "version {}", version + 1);
                let secret: Vec<u16> = SECRET.encode_utf16().collect();
                for start in 0..old.len().saturating_sub(secret.len() - 1) {
                    if old[start..start + secret.len()] == secret[..] {
                        prop_assert!(new[start..start + secret.len()].iter().all(|unit| *unit == black), "version {}", version + 1);
                    }
                }
            }
        }
        prop_assert_eq!(world.redact(&user("ann"), text()).unwrap_err().code, Code::NothingToRedact);
        // Nothing brings it back.
        for _ in 0..steps.len() {
            let _ = world.try_do(&user("ann"), &json!({"Undo": {}}));
        }
        prop_assert!(!raw(&world.log).contains(SECRET));
    }
}

// --- fields ---

/// Strings that are no content: ids, words, names of programs, hashes, decisions.
const STRUCTURE: [&str; 85] = [
    "after",
    "agent",
    "arguments_hash",
    "blobs",
    "blocked_by",
    "by",
    "call_id",
    "cause",
    "cell_id",
    "cell_type",
    "claimant",
    "comment_id",
    "conversation",
    "conversation_id",
    "correlation_id",
    "credential",
    "cron",
    "digest",
    "display_id",
    "door",
    "effects",
    "end",
    "end_cause",
    "error",
    "execution_id",
    "failure",
    "for_user",
    "function",
    "functions",
    "gate",
    "grant_id",
    "id",
    "kernel_session",
    "kernelspec",
    "kind",
    "kinds",
    "label",
    "labels",
    "language_info",
    "latest_execution",
    "media_type",
    "mentions",
    "message_id",
    "model",
    "module",
    "name",
    "names",
    "next",
    "notebook",
    "of",
    "order_key",
    "outcome",
    "owner",
    "passed_by",
    "pointer",
    "policy",
    "previous",
    "provider",
    "provider_id",
    "reactivity",
    "replacement",
    "risk",
    "role",
    "run",
    "sandbox",
    "schedule_id",
    "scopes",
    "sha256",
    "share_link",
    "stand_in",
    "status",
    "stop_reason",
    "taken_over_from",
    "timezone",
    "waits_for",
    "blocks",
    "hash",
    "reason",
    "target",
    "targets",
    "thread_id",
    "token",
    "tool",
    "turn_id",
    "version",
];

#[test]
fn every_field_with_text_is_known_to_the_walk() {
    let schema = std::fs::read_to_string(protocol().join("schema/event-payloads.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let mut unknown = BTreeSet::new();
    for (event_type, payload) in schema["properties"].as_object().unwrap() {
        fields(&schema, payload, &mut Vec::new(), &mut |key| {
            if zone(event_type, key) == Zone::Structure && !STRUCTURE.contains(&key) {
                unknown.insert(format!("{event_type}.{key}"));
            }
        });
    }
    assert!(unknown.is_empty(), "say in stand_in.rs whether these have content, or name them here: {unknown:?}");
}

/// Calls `found` for the key of every field that may hold a string or free JSON.
fn fields<'a>(
    schema: &'a serde_json::Value,
    at: &'a serde_json::Value,
    seen: &mut Vec<&'a str>,
    found: &mut dyn FnMut(&'a str),
) {
    let name = at["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    if let Some(name) = name.filter(|name| !seen.contains(name)) {
        seen.push(name);
        fields(schema, &schema["$defs"][name], seen, found);
        seen.pop();
    }
    for list in ["anyOf", "oneOf", "allOf"] {
        at[list].as_array().into_iter().flatten().for_each(|part| fields(schema, part, seen, found));
    }
    if at["items"].is_object() {
        fields(schema, &at["items"], seen, found);
    }
    for (key, field) in at["properties"].as_object().into_iter().flatten() {
        if may_be_text(schema, field) {
            found(key);
        }
        fields(schema, field, seen, found);
    }
}

fn may_be_text(schema: &serde_json::Value, at: &serde_json::Value) -> bool {
    if let Some(name) = at["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return may_be_text(schema, &schema["$defs"][name]);
    }
    let parts = ["anyOf", "oneOf", "allOf"].iter().flat_map(|list| at[list].as_array().into_iter().flatten());
    let types =
        at["type"].as_str().into_iter().chain(at["type"].as_array().into_iter().flatten().filter_map(|it| it.as_str()));
    let is_fixed = at["enum"].is_array() || at["const"].is_string();
    *at == true
        || (types.clone().any(|it| it == "string") && !is_fixed)
        || (types.clone().any(|it| it == "object") && at["properties"].is_null())
        || (at["items"].is_object() && may_be_text(schema, &at["items"]))
        || parts.into_iter().any(|part| may_be_text(schema, part))
}

#[test]
fn every_golden_event_is_readable_after_all_of_its_texts_went() {
    for name in crate::golden::names_in("golden/events") {
        let text = std::fs::read_to_string(protocol().join("golden/events").join(&name)).unwrap();
        let Ok(mut stored) = serde_json::from_str::<Stored>(&text) else { continue };
        if stored.typed().is_err() {
            continue;
        }
        let black = rewrite(&stored.envelope.event_type, stored.payload.get(), &mut |place, found| match found {
            Found::Text(text) if place.zone != Zone::Structure => {
                Some(notarium_core::stand_in::blacken(text, |_| true))
            }
            Found::Number(_) => Some("█".to_owned()),
            _ => None,
        });
        if let Some(black) = black {
            stored.payload = notarium_core::RawJson::parse(&black).unwrap();
            stored.typed().unwrap_or_else(|error| panic!("{name}: {error}: {black}"));
        }
    }
}
