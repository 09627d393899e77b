//! Commands reject unknown fields and words, also in values that are open in events.

use crate::support::*;
use notarium_core::{Command, RejectionCode as Code};
use serde_json::{Value, json};

/// Commands that carry a value of the record, with the place for an unknown field.
fn carriers() -> Vec<(Value, &'static str)> {
    let output =
        json!({"content": {"output_type": "stream"}, "blobs": [{"pointer": "/text", "sha256": "00", "size_bytes": 1}]});
    let record = json!({"RecordExecution": {"cell_id": "a", "outputs": [output]}});
    let report =
        |report: Value| json!({"ReportExecution": {"execution_id": "e", "fence": 1, "seq": 1, "report": report}});
    let function = json!({"name": "f", "schema": {"type": "object"}, "risk": "read"});
    let reply = json!({"status": "finished", "prompt": "x", "text": "y"});
    let says = |block: Value| json!({"PostReply": {"turn_id": "t", "role": "assistant", "blocks": [block]}});
    vec![
        (record.clone(), "/RecordExecution"),
        (record.clone(), "/RecordExecution/outputs/0"),
        (record, "/RecordExecution/outputs/0/blobs/0"),
        (report(json!({"output": {"outputs": [output]}})), "/ReportExecution/report/output/outputs/0"),
        (
            report(json!({"update_display": {"display_id": "d", "output": output}})),
            "/ReportExecution/report/update_display/output/blobs/0",
        ),
        (
            json!({"MoveOutputs": {"execution_id": "e", "output_seq": 1, "moved": [{"first": 0, "count": 1, "output": output}]}}),
            "/MoveOutputs/moved/0/output/blobs/0",
        ),
        (report(json!({"started": {}})), "/ReportExecution/report/started"),
        (
            json!({"RegisterFunctions": {"kernel_session": "k", "fence": 1, "functions": [function]}}),
            "/RegisterFunctions/functions/0",
        ),
        (json!({"InsertCell": {"cell_type": "prompt", "reply": reply}}), "/InsertCell/reply"),
        (json!({"InsertCell": {"cell_type": "code", "flags": {"pinned": true}}}), "/InsertCell/flags"),
        (says(json!({"text": {"text": "x"}})), "/PostReply/blocks/0/text"),
        (
            says(json!({"tool_call": {"provider_id": "p", "call_id": "c", "function": "f", "arguments": "{}"}})),
            "/PostReply/blocks/0/tool_call",
        ),
        (says(json!({"tool_result": {"provider_id": "p", "call_id": "c"}})), "/PostReply/blocks/0/tool_result"),
        (says(json!({"opaque": {"provider": "p", "data": {}}})), "/PostReply/blocks/0/opaque"),
        (json!({"GrantAccess": {"subject": {"kind": "user", "id": "bob"}, "role": "viewer"}}), "/GrantAccess/subject"),
        (json!({"RevokeAccess": {"subject": {"kind": "share_link", "id": "l"}}}), "/RevokeAccess/subject"),
        (
            json!({"CreateNotebook": {"title": "x", "forked_from": {"notebook": "n", "version": 1}}}),
            "/CreateNotebook/forked_from",
        ),
        (json!({"ReportModelCall": {"turn_id": "t", "usage": {"input_tokens": 1}}}), "/ReportModelCall/usage"),
        (json!({"EndTurn": {"turn_id": "t", "end": {"failed": {"cause": "no_model"}}}}), "/EndTurn/end/failed"),
        (json!({"AddComment": {"target": {"cell": {"cell_id": "a"}}, "text": "x"}}), "/AddComment/target/cell"),
        (json!({"AddComment": {"target": {"thread": {"thread_id": "t"}}, "text": "x"}}), "/AddComment/target/thread"),
        (json!({"MoveThread": {"thread_id": "t", "place": {"cell_id": "a"}}}), "/MoveThread/place"),
        (json!({"RequestExecution": {"target": {"cell": {"cell_id": "a"}}}}), "/RequestExecution/target/cell"),
    ]
}

#[test]
fn an_unknown_field_is_refused_wherever_it_stands_in_a_command() {
    for (mut command, place) in carriers() {
        Command::decode(&command.to_string()).unwrap_or_else(|error| panic!("{place}: {error}"));
        command.pointer_mut(place).unwrap()["planted"] = json!(1);
        for text in [command.to_string(), json!({"Batch": {"commands": [command]}}).to_string()] {
            let refused = Command::decode(&text).expect_err(place);
            assert!(refused.to_string().contains("planted"), "{place}: {refused}");
        }
    }
}

#[test]
fn what_is_opaque_in_a_command_may_hold_anything() {
    let metadata = json!({"InsertCell": {"cell_type": "code", "metadata": {"any": {"thing": 1}}}});
    assert!(Command::decode(&metadata.to_string()).is_ok());
    assert!(Command::decode(r#"{"StopAll": {}} more"#).is_err());
}

#[test]
fn an_unknown_word_is_refused_where_the_record_keeps_one() {
    let reply = |field: &str| {
        let mut reply = json!({"status": "finished", "prompt": "x", "text": "y"});
        reply[field] = json!("dreaming");
        json!({"InsertCell": {"cell_type": "prompt", "reply": reply}})
    };
    let ann = user("ann");
    let mut world = created();
    for field in ["status", "stop_reason", "cause"] {
        let refused = world.try_do(&ann, &reply(field)).unwrap_err();
        assert_eq!(refused.code, Code::InvalidValue, "{field}");
        assert!(refused.message.contains("dreaming"), "{field}: {refused}");
    }
    let says =
        |role: &str, block: Value| json!({"PostReply": {"turn_id": "t", "role": role, "blocks": [block]}}).to_string();
    assert!(Command::decode(&says("bystander", json!({"text": {"text": "x"}}))).is_err());
    assert!(Command::decode(&says("assistant", json!({"song": {"notes": "c"}}))).is_err());
    let grant = json!({"GrantAccess": {"subject": {"kind": "user", "id": "bob"}, "role": "emperor"}});
    assert!(Command::decode(&grant.to_string()).is_err());
}

/// Fails if a command carries another open value: its unknown words must be refused where the command is decided.
#[test]
fn commands_carry_no_open_words_but_those_that_are_refused_when_they_are_decided() {
    let schema = schemars::schema_for!(Command).to_value();
    let open: Vec<&String> =
        schema["$defs"].as_object().unwrap().keys().filter(|name| name.starts_with("Open")).collect();
    assert_eq!(open, ["OpenReplyStatus", "OpenStopReason", "OpenTurnFailure", "OpenRisk", "OpenEffect"]);
}
