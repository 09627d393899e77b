//! Property of segments: any events come back byte for byte, in any cut.

use notarium_record::{Envelope, Head, RawJson, Stored};
use notarium_store::Segments;
use proptest::prelude::*;

use super::*;
use crate::author::Author;

/// Seals events with these payloads, as they were written; some are redacted afterwards.
fn sealed(payloads: &[String], is_redacted: &[bool]) -> Vec<Stored> {
    let mut head = Head::START;
    let mut author = Author::new("nb");
    let seal = |(index, payload): (usize, &String)| {
        let Stored { envelope, salt, .. } = author.rename("x").events.remove(0).stored;
        let envelope = Envelope { version: index as u64 + 1, ..envelope };
        let payload = RawJson::parse(payload).unwrap();
        let stored = Stored::seal(&mut head, envelope, payload, salt.unwrap());
        match is_redacted[index % is_redacted.len()] {
            true => Stored { salt: None, payload: RawJson::parse(r#"{"redacted":true}"#).unwrap(), ..stored },
            false => stored,
        }
    };
    payloads.iter().enumerate().map(seal).collect()
}

fn payload() -> impl Strategy<Value = String> {
    let text = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
    let white = prop::sample::select(vec!["", " ", "\n", "\r\n\t"]);
    let number = prop::sample::select(vec!["1.0", "1e5", "-0", "123456789012345678901234567890", "0.1000"]);
    (text, white, number)
        .prop_map(|(text, white, number)| format!("{{{white}\"a\":{white}{text},{white}\"b\":{number}{white}}}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn any_events_come_back_as_they_were(
        payloads in prop::collection::vec(payload(), 1..12),
        is_redacted in prop::collection::vec(any::<bool>(), 1..5),
        cut in 0_usize..12,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let segments = Segments::new(Blobs::local(folder.path(), MAX).unwrap());
            let (id, events) = (notebook("nb"), sealed(&payloads, &is_redacted));
            let (first, rest) = events.split_at(cut.min(events.len()));
            let (mut before, mut read) = (Head::START, Vec::new());
            for part in [first, rest].into_iter().filter(|part| !part.is_empty()) {
                let segment = segments.put(&id, before, part.to_vec()).await.unwrap();
                before = part.last().unwrap().head();
                read.extend(segments.read(&id, &segment).await.unwrap());
            }
            let texts = |events: &[Stored]| events.iter().map(|event| event.payload.get().to_owned()).collect::<Vec<_>>();
            assert_eq!(texts(&read), texts(&events));
            assert_eq!(read, events);
        });
    }
}
