//! A notebook is erased: one event is left, from which alone its document follows.

use crate::support::*;
use notarium_core::{Document, Event, Head, RecordAudit, RejectionCode as Code, RejectionDetails, verify_chain};

fn erase(reason: &str) -> serde_json::Value {
    json!({"EraseNotebook": {"reason": reason}})
}

/// A notebook with cells, runs and comments, which its owner has erased.
pub fn erased() -> World {
    finished().with(&user("ann"), erase("It was a test"))
}

pub fn cases() -> Vec<Case> {
    let ann = || user("ann");
    let one = || events(["NotebookErased"]);
    vec![
        case(finished, ann(), erase("It was a test"), one()),
        case(launched, ann(), erase(" a kernel lives\nhere "), one()),
        case(finished, user("editor"), erase("why"), rejected(Code::Forbidden)),
        case(finished, user("stranger"), erase("why"), rejected(Code::UnknownNotebook)),
        case(finished, assistant_of("ann"), erase("why"), rejected(Code::Forbidden)),
        case(finished, ann(), erase("  "), rejected(Code::InvalidValue)),
        case(finished, ann(), erase(&"x".repeat(1_001)), rejected(Code::InvalidValue)),
        case(finished, ann(), erase("bell\u{7}"), rejected(Code::InvalidValue)),
        case(finished, ann(), json!({"Batch": {"commands": [erase("why")]}}), rejected(Code::InvalidValue)),
        case(erased, ann(), erase("twice"), rejected(Code::Erased)),
        case(erased, ann(), insert("n", "code", ""), rejected(Code::Erased)),
        case(erased, user("editor"), json!({"UnarchiveNotebook": {}}), rejected(Code::Erased)),
        case(erased, user("stranger"), erase("why"), rejected(Code::UnknownNotebook)),
        case(erased, ann(), json!({"CreateNotebook": {"title": "T", "metadata": {}}}), rejected(Code::NotebookExists)),
    ]
}

#[test]
fn every_erasure_is_accepted_or_refused_as_written() {
    check_all("erasure", &cases());
}

#[test]
fn the_last_event_alone_proves_itself_and_leads_to_the_same_document() {
    let world = erased();
    let (last, before) = (world.log.last().unwrap(), &world.log[world.log.len() - 2]);
    assert_eq!(verify_chain(Head::START, [last]), Ok(world.head));
    assert_eq!(last.erased_head().map(|head| (head.version, head.hash)), Some((before.envelope.version, before.hash)));

    let recorded = last.typed().unwrap();
    let mut alone = Document::new(world.notebook.notebook_id.clone());
    alone.apply(&recorded);
    assert_eq!(alone, *world.notebook.document);
    assert!(alone.cells.is_empty() && alone.title.is_empty() && !alone.access.is_empty());

    let mut audit = RecordAudit::new(alone.notebook_id.clone());
    assert_eq!(audit.see(&recorded), Ok(()));
    assert!(audit.untold().is_empty(), "the owner is in the event's own list");
}

#[test]
fn an_event_that_names_another_past_does_not_continue_it() {
    let world = erased();
    let mut forged = world.log.last().unwrap().clone();
    let payload = forged.payload.get().replacen("\"version\":", "\"version\": 1", 1);
    forged.payload = notarium_core::RawJson::parse(&payload).unwrap();
    assert!(verify_chain(Head::START, [&forged]).is_err());
}

#[test]
fn the_refusal_says_when_by_whom_and_why() {
    let mut world = erased();
    let rejection = world.try_do(&user("editor"), &insert("n", "code", "")).unwrap_err();
    assert_eq!(
        rejection.message,
        format!(
            "the notebook was erased on 1970-01-01 by user:ann, with its versions 1 to {}: It was a test",
            world.version() - 1
        )
    );
    let Some(RejectionDetails::Erased { erasure }) = rejection.details.as_deref() else { panic!("{rejection:?}") };
    assert_eq!((erasure.reason.as_str(), erasure.version), ("It was a test", world.version() - 1));
}

#[test]
fn links_and_agents_lose_their_access() {
    let world = erased();
    let Event::NotebookErased(event) = &world.recorded.last().unwrap().event else { panic!("it is the last event") };
    let kinds: Vec<String> = event.access.iter().map(|entry| entry.subject.key()).collect();
    assert!(kinds.iter().all(|key| key.starts_with("user:") || key.starts_with("workspace:")), "{kinds:?}");
}
