//! Tokens behind requests: withdrawal after a revocation, the rate limit of a person's token, and interrupts of runs of
//! others.

use crate::support::*;
use notarium_core::{MAX_CALLS_PER_MINUTE, RejectionCode as Code, RejectionDetails, Risk, TokenId};

fn with_token(mut who: Who, token: &str) -> Who {
    who.authority.token = Some(TokenId::new(token).unwrap());
    who
}

/// An outside assistant of Ann in its own session.
fn outside(session: &str) -> Who {
    let mut who = reactor_of("ann");
    who.actor =
        notarium_core::Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: session.parse().unwrap() };
    who
}

fn outside_call(id: &str, token: &str, function: &str, arguments: serde_json::Value) -> serde_json::Value {
    json!({"RequestToolCall": {"call_id": id, "function": function, "arguments": arguments, "token": token}})
}

fn revoked(what: serde_json::Value) -> serde_json::Value {
    json!({"WithdrawRevoked": {"revoked": what}})
}

/// Waiting calls: of Ann's assistant by the session `page`, of an outside one by the token `mcp`, and `other` by
/// another token.
fn all_wait() -> World {
    let mut world = started();
    let turn = json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Tidy up"}});
    world.step(&with_token(user("ann"), "page"), turn);
    let delete = json!({"cell_id": "a", "cell_version": world.cell("a").cell_version});
    world.step(&assistant_of("ann"), call("in-turn", "delete_cell", delete.clone()));
    world.step(&outside("s1"), outside_call("mcp-call", "mcp", "delete_cell", delete.clone()));
    world.step(&outside("s2"), outside_call("other", "another", "delete_cell", delete));
    world
}

pub fn cases() -> Vec<Case> {
    vec![
        case(all_wait, system(), revoked(json!({"token": "mcp"})), events(["ToolCallWithdrawn"])),
        case(all_wait, system(), revoked(json!({"token": "page"})), events(["ToolCallWithdrawn", "TurnFailed"])),
        case(all_wait, system(), revoked(json!({"token": "unknown"})), nothing()),
        case(all_wait, user("ann"), revoked(json!({"user": "ann"})), rejected(Code::Forbidden)),
    ]
}

#[test]
fn each_command_is_judged_as_the_table_says() {
    check_all("requesters", &cases());
}

fn open_calls(world: &World) -> Vec<&str> {
    world.notebook.tool_calls.keys().map(|id| id.as_str()).collect()
}

#[test]
fn calls_of_a_revoked_token_are_withdrawn_and_no_others() {
    let mut world = all_wait();
    world.step(&system(), revoked(json!({"token": "mcp"})));
    assert_eq!(open_calls(&world), ["in-turn", "other"]);
    let gone = world.recorded.last().unwrap();
    assert_eq!(gone.event.event_type(), "ToolCallWithdrawn");
    let again = world.try_do(&system(), &revoked(json!({"token": "mcp"}))).unwrap();
    assert_eq!(again.0, []);
    assert_eq!(world.notebook.turns.len(), 1);
}

#[test]
fn a_turn_that_was_begun_with_a_session_ends_with_it() {
    let mut world = all_wait();
    let (events, _) = world.try_do(&system(), &revoked(json!({"token": "page"}))).unwrap();
    assert_eq!(types(&events), ["ToolCallWithdrawn", "TurnFailed"]);
    assert_eq!((open_calls(&world), world.notebook.turns.len()), (vec!["mcp-call", "other"], 0));
}

#[test]
fn whose_account_is_closed_has_nothing_waiting_any_more() {
    let mut world = all_wait();
    world.step(&system(), revoked(json!({"user": "editor"})));
    assert_eq!(open_calls(&world).len(), 3);
    world.step(&system(), revoked(json!({"user": "ann"})));
    assert_eq!((open_calls(&world).len(), world.notebook.turns.len()), (0, 0));
}

#[test]
fn what_has_started_goes_on_and_confirmed_ones_are_withdrawn() {
    let mut world = all_wait();
    world.step(&outside("s1"), outside_call("vars", "mcp", "get_variables", json!({})));
    world.step(&outside("s1"), start("vars"));
    let hash = world.notebook.tool_calls[&"mcp-call".parse().unwrap()].arguments_hash;
    world.name("hash", format!("\"{hash}\""));
    world.step(&user("editor"), confirm("mcp-call"));
    world.step(&system(), revoked(json!({"token": "mcp"})));
    assert_eq!(open_calls(&world), ["in-turn", "other", "vars"]);
}

#[test]
fn only_the_server_says_what_was_revoked() {
    let mut world = all_wait();
    for who in [user("ann"), agent("gpu"), assistant_of("ann")] {
        let refused = world.try_do(&who, &revoked(json!({"user": "ann"}))).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden, "{who:?}");
    }
}

#[test]
fn a_busy_conversation_leaves_the_others_of_its_token_their_calls() {
    let mut world = started();
    let look = |id: &str| outside_call(id, "mcp", "get_notebook_state", json!({}));
    for number in 0..MAX_CALLS_PER_MINUTE {
        world.step(&outside("busy"), look(&format!("busy-{number}")));
    }
    let refused = world.try_do(&outside("busy"), &look("x")).unwrap_err();
    assert_eq!(refused.code, Code::RateLimited);
    assert!(refused.message.contains("20 tool calls in a minute is the limit of a conversation"), "{refused}");
    for session in ["s1", "s2", "s3", "s4"] {
        for number in 0..MAX_CALLS_PER_MINUTE {
            world.step(&outside(session), look(&format!("{session}-{number}")));
        }
    }
    let refused = world.try_do(&outside("s5"), &look("x")).unwrap_err();
    assert!(refused.message.contains("100 tool calls in a minute is the limit of a person's session"), "{refused}");
    world.now += 60_000;
    world.step(&outside("busy"), look("x"));
}

#[test]
fn another_session_or_conversation_is_no_way_round_the_rate_limit() {
    let mut world = started();
    world.limits.max_token_calls_per_minute = 3;
    for number in 0..3 {
        let call = outside_call(&format!("call-{number}"), "mcp", "get_notebook_state", json!({}));
        world.step(&outside(&format!("s{number}")), call);
    }
    let more = |id: &str, token: &str| outside_call(id, token, "get_notebook_state", json!({}));
    let refused = world.try_do(&outside("s9"), &more("x", "mcp")).unwrap_err();
    assert_eq!(refused.code, Code::RateLimited);
    assert!(
        matches!(refused.details.as_deref(), Some(RejectionDetails::RetryAfter { seconds: 1..=60 })),
        "{refused:?}"
    );
    world.step(&outside("s9"), more("x", "another"));
    let turn = json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Look"}});
    world.step(&with_token(user("ann"), "mcp"), turn);
    let in_turn = call("y", "get_notebook_state", json!({}));
    assert_eq!(world.try_do(&assistant_of("ann"), &in_turn).unwrap_err().code, Code::RateLimited);
    world.now += 60_000;
    world.step(&assistant_of("ann"), in_turn);
}

#[test]
fn an_interrupt_asks_where_it_ends_what_others_run() {
    let mut world = talking();
    world.step(&user("editor"), request("a", "run-a"));
    world.step(&assistant_of("ann"), call("stop", "interrupt", json!({})));
    let asked = &world.notebook.tool_calls[&"stop".parse().unwrap()];
    assert_eq!(asked.risk.judged(), Risk::Destructive);
    assert!(asked.reasons[0].contains("run-a"), "{:?}", asked.reasons);
    let hash = asked.arguments_hash;
    world.name("hash", format!("\"{hash}\""));
    // The confirmation was for that run, and not for the next.
    world.step(&user("editor"), confirm("stop"));
    world.step(&agent("gpu"), report("run-a", 1, completed(true)));
    world.step(&user("editor"), request("c", "run-c"));
    world.step(&reactor_of("ann"), start("stop"));
    assert_eq!(world.recorded.last().unwrap().event.event_type(), "ToolCallVoided");
    assert_eq!(world.status("run-c"), notarium_core::ExecutionStatus::Assigned);
}

#[test]
fn an_assistant_interrupts_its_own_run_and_an_idle_kernel_unasked() {
    let mut world = talking();
    world.step(&assistant_of("ann"), call("idle", "interrupt", json!({})));
    let run = json!({"cell_id": "a", "cell_version": world.cell("a").cell_version});
    world.step(&assistant_of("ann"), call("run", "execute_cell_async", run));
    world.step(&user("ann"), request("c", "run-c"));
    world.step(&assistant_of("ann"), call("stop", "interrupt", json!({})));
    assert_eq!(open_calls(&world), Vec::<&str>::new(), "what waits behind it is not interrupted");
}
