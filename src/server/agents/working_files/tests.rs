//! Tests of transfers.

use bytes::Bytes;
use futures_util::{StreamExt, stream};

use super::*;

fn asked(transfer: &str, token: &str) -> TransferAgent {
    let (agent, token) = ("a".parse().unwrap(), token.parse().unwrap());
    TransferAgent { agent, client: ClientId(1), token, transfer: transfer.to_owned() }
}

#[tokio::test]
async fn only_the_agent_that_was_asked_gets_the_bytes_and_once() {
    let transfers = AgentTransfers::default();
    let pieces = stream::iter([Ok(Bytes::from_static(b"x"))]).boxed();
    let request = transfers.begin(asked("t", "ann"), Some(TransferWay::ToAgent(pieces))).unwrap();
    let agent = "a".parse().unwrap();
    assert!(transfers.to_agent(&"b".parse().unwrap(), "t").is_none(), "another agent");
    assert!(transfers.to_agent(&agent, "u").is_none(), "another transfer");
    assert!(transfers.to_person(&agent, "t").is_none(), "the other way");
    assert_eq!(transfers.to_agent(&agent, "t").unwrap().count().await, 1);
    assert!(transfers.to_agent(&agent, "t").is_none(), "a second time");
    drop(request);
    assert!(transfers.0.lock().open.is_empty());
}

#[tokio::test]
async fn an_answer_is_of_the_connection_that_was_asked_and_its_end_is_one() {
    let transfers = AgentTransfers::default();
    let mut request = transfers.begin(asked("t", "ann"), None).unwrap();
    transfers.answer(ClientId(2), request.id, unreachable());
    assert!(request.answer.try_recv().is_err());
    transfers.agent_left(ClientId(1));
    assert_eq!(request.answer.await.unwrap(), unreachable());
}

#[tokio::test]
async fn one_token_and_one_agent_have_so_many_at_a_time() {
    let transfers = AgentTransfers::default();
    let mut kept = Vec::new();
    for _ in 0..MAX_PER_TOKEN {
        kept.push(transfers.begin(asked("t", "ann"), None).ok().unwrap());
    }
    let is_busy = |answer: &FileAnswer| matches!(answer, FileAnswer::Refused { code: FileRefusal::Busy, .. });
    assert!(transfers.begin(asked("t", "ann"), None).is_err_and(|answer| is_busy(&answer)));
    for at in MAX_PER_TOKEN..MAX_PER_AGENT {
        kept.push(transfers.begin(asked("t", &format!("t{at}")), None).ok().unwrap());
    }
    assert!(transfers.begin(asked("t", "bob"), None).is_err_and(|answer| is_busy(&answer)));
    kept.pop();
    assert!(transfers.begin(asked("t", "bob"), None).is_ok());
}

#[tokio::test]
async fn a_body_passes_up_to_its_limit_and_what_exceeds_it_is_told() {
    let body = |sizes: &[usize]| {
        let pieces: Vec<_> = sizes.iter().map(|size| Ok(Bytes::from(vec![0; *size]))).collect();
        stream::iter(pieces).boxed()
    };
    for (sizes, passed, is_exceeded) in [(&[2, 3][..], 2, false), (&[2, 4], 1, true), (&[6], 0, true), (&[], 0, false)]
    {
        let (exceeds, exceeded) = oneshot::channel();
        let pieces: Vec<_> = at_most(body(sizes), 5, exceeds).collect().await;
        assert_eq!(pieces.iter().filter(|piece| piece.is_ok()).count(), passed, "{sizes:?}");
        assert_eq!(pieces.iter().any(Result::is_err), is_exceeded, "{sizes:?}");
        assert_eq!(exceeded.await.is_ok(), is_exceeded, "{sizes:?}");
    }
}
