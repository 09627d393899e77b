//! The events of a stream are the same for every split of its bytes into chunks.

use notarium_assistant::providers::RetryPolicy;
use notarium_scripted::{Rule, Script, ScriptedReply, When};
use proptest::prelude::*;

use crate::support::{Call, FAMILIES, Run, Spoken, small};

async fn whole(family: Spoken) -> Run {
    Call::once(family, small()).await.ask().await
}

fn cut(chunks: Vec<usize>) -> ScriptedReply {
    ScriptedReply { chunks: Some(chunks), ..small() }
}

#[tokio::test]
async fn one_border_at_every_byte() {
    for family in FAMILIES {
        let expected = whole(family).await;
        let length = stream_bytes(family).await;
        let places = family.places(length);
        let call = Call::of(family, Script::of(places.iter().map(|at| cut(vec![*at])))).await;
        for at in places {
            assert_eq!(call.ask().await, expected, "{family:?}, border at byte {at}");
        }
    }
}

#[tokio::test]
async fn every_byte_a_chunk() {
    for family in FAMILIES {
        let reply = ScriptedReply { chunk_bytes: Some(1), ..cut(vec![]) };
        assert_eq!(Call::once(family, reply).await.ask().await, whole(family).await);
    }
}

async fn stream_bytes(family: Spoken) -> usize {
    let call = Call::once(family, cut(vec![])).await;
    crate::faults::stream_length(&call, family).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_borders(chunks in prop::collection::vec(1_usize..90, 1..40), family in prop::sample::select(FAMILIES.to_vec())) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (found, expected) = runtime.block_on(async {
            let rule = Rule { when: Some(When::default()), times: None, reply: cut(chunks) };
            let script = Script { replies: vec![rule], ..Script::default() };
            let call = Call::with(family, script, RetryPolicy::never(), Default::default()).await;
            (call.ask().await, whole(family).await)
        });
        prop_assert_eq!(found, expected);
    }
}
