//! The events of a stream are the same for every split of its bytes into chunks.

use notarium_assistant::providers::{Family, RetryPolicy};
use notarium_scripted::{Rule, Script, ScriptedReply, When};
use proptest::prelude::*;

use crate::support::{Call, FAMILIES, Run, small};

async fn whole(family: Family) -> Run {
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
        let call = Call::of(family, Script::of((1..length).map(|at| cut(vec![at])))).await;
        for at in 1..length {
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

async fn stream_bytes(family: Family) -> usize {
    let call = Call::once(family, cut(vec![])).await;
    crate::faults::stream_length(&call, family).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_borders(chunks in prop::collection::vec(1_usize..90, 1..40), is_anthropic in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let family = if is_anthropic { Family::Anthropic } else { Family::OpenAi };
        let (found, expected) = runtime.block_on(async {
            let rule = Rule { when: Some(When::default()), times: None, reply: cut(chunks) };
            let script = Script { replies: vec![rule], ..Script::default() };
            let call = Call::with(family, script, RetryPolicy::never(), Default::default()).await;
            (call.ask().await, whole(family).await)
        });
        prop_assert_eq!(found, expected);
    }
}
