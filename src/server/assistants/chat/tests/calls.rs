//! Tool calls of a turn, and their results.

use super::*;

/// Each way in which the gated call `d` can end without being executed, or with an unknown outcome.
fn bad_ends() -> Vec<Event> {
    let (id, detail) = (|| "d".parse().unwrap(), || Some("cell c is in the trash".to_owned()));
    let (end, result) = (ToolCallEnd::OutcomeUnknown.into(), "perhaps".to_owned());
    vec![
        ToolCallDenied { call_id: id(), by_means: None, detail: None }.into(),
        ToolCallDenied { call_id: id(), by_means: None, detail: detail() }.into(),
        ToolCallWithdrawn { call_id: id(), cause: WithdrawalCause::Requested.into(), detail: detail() }.into(),
        ToolCallVoided { call_id: id(), cause: VoidCause::TargetChanged.into(), detail: detail() }.into(),
        ToolCallExpired { call_id: id() }.into(),
        ToolCallExecuted { call_id: id(), end, result, duration_ms: 1 }.into(),
    ]
}

#[test]
fn who_follows_reads_of_a_call_what_the_model_is_told() {
    for end in bad_ends() {
        let requested = gated_call("d").swap_remove(0);
        let pieces = told(&[started(), model_call(1, 1), requested, event(end.clone()), finished()]);
        let results = events(&pieces).filter_map(|event| match event {
            ChatEvent::ToolResult { result, is_error, .. } => Some((result.clone(), *is_error)),
            _ => None,
        });
        let answer = CallAnswer::of(&end).expect("an end");
        assert_eq!(results.collect::<Vec<_>>(), [(answer.text, answer.is_error)], "{end:?}");
    }
}

#[test]
fn results_come_in_the_order_of_the_calls() {
    let executed = |id: &str| gated_call(id).into_iter().filter(|what| matches!(what, Happens::Event(_)));
    let result = |id: &str, text: &str, is_error| MessageBlock::ToolResult {
        provider_id: format!("p{id}"),
        call_id: id.parse().unwrap(),
        text: Some(text.to_owned()),
        is_error,
    };
    let blocks = [call("x", "fly"), call("d", "delete_cell"), call("y", "swim"), call("e", "delete_cell")];
    let mut story = vec![started(), model_call(1, 1), posts(MessageRole::Assistant, &blocks)];
    story.extend(executed("d").chain(executed("e")));
    let results =
        [result("x", "no", true), result("d", "gone", false), result("y", "no", true), result("e", "gone", false)];
    let came = |end: &[Happens]| -> Vec<String> {
        let words = in_words(events(&told(&[&story[..], end].concat())));
        words.into_iter().filter(|words| words.starts_with("result ")).collect()
    };
    let (refused, gone) = (|name: &str| format!("result {name} no true"), "result delete_cell gone false".to_owned());
    assert_eq!(
        came(&[posts(MessageRole::Tool, &results), finished()]),
        [refused("fly"), gone.clone(), refused("swim"), gone.clone()]
    );
    assert_eq!(came(&[finished()]), [gone.clone(), gone], "a turn that ends before keeps none back");
}

#[test]
fn other_turns_and_other_calls_are_not_told() {
    let other = |happens: Happens| match happens {
        Happens::Event(event) => {
            let payload = event.payload().unwrap().get().replace("\"t\"", "\"other\"");
            Happens::Event(Box::new(Event::decode(event.event_type(), 1, &payload).unwrap()))
        }
        other => other,
    };
    let mut story = vec![started(), model_call(1, 1)];
    story.extend(gated_call("foreign").into_iter().filter(|what| matches!(what, Happens::Event(_))).map(other));
    story.push(finished());
    assert_eq!(in_words(events(&told(&story))), ["turn ", "done end_turn"]);
}
