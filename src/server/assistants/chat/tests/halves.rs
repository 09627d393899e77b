//! Partial replies that are kept.

use super::*;

/// A partial reply that is kept.
fn keeps(words: &str) -> Happens {
    event(MessagePosted { is_partial: true, ..posted(MessageRole::Assistant, &[text(words)]) })
}

#[test]
fn the_half_that_is_kept_is_told_once_and_again_where_its_attempt_has_failed() {
    let cancelled = || event(notarium_core::TurnCancelled { turn_id: "t".parse().unwrap() });
    let begins_call =
        activity(1, 1, ActivityKind::ToolStart { block: 1, provider_id: "p".into(), function: "run_all".into() });
    let stopped = |more: Vec<Happens>| {
        let begin = vec![started(), model_call(1, 1), writes(1, 1, 0, "Half")];
        [begin, more, vec![keeps("Half"), cancelled()]].concat()
    };
    let stop = activity(1, 1, ActivityKind::BlockStop { block: 0 });
    let told_of = |story: &[Happens]| in_words(events(&told(story)));
    let once = ["turn ", "start 1.0", "text 1.0 Half", "stop 1.0", "done cancelled"];
    assert_eq!(told_of(&stopped(vec![])), once);
    let with_call = ["turn ", "start 1.0", "text 1.0 Half", "stop 1.0", "tool_start 1.1 p run_all", "done cancelled"];
    assert_eq!(told_of(&stopped(vec![stop, begins_call])), with_call);
    let failed = event(notarium_core::TurnFailed {
        turn_id: "t".parse().unwrap(),
        cause: TurnFailure::Unavailable.into(),
        detail: Some("gone".to_owned()),
    });
    let gave_up = [
        started(),
        model_call(1, 1),
        writes(1, 1, 0, "Half"),
        model_call_ended(1, 1, Some("cut off")),
        keeps("Half"),
        failed,
    ];
    let pieces = told(&gave_up);
    assert_eq!(shown(&pieces), [((1, 0), "Half".to_owned())].into(), "what failed does not count, and this does");
    for left_after in 1..pieces.len() {
        let mut world = World::default();
        gave_up.iter().for_each(|what| world.happens(what));
        let mut kept = told(&gave_up);
        kept.truncate(left_after);
        kept.extend(Follower::new(Some(kept[left_after - 1].at)).look(&world));
        assert_eq!(shown(&kept), shown(&pieces), "left after {left_after}");
        assert_eq!(in_words(events(&kept)).last().map(String::as_str), Some("error gone"));
    }
}
