//! A model's messages return unchanged to it through the record.

use notarium_assistant::context::messages::{LoadedAttachments, STOPPED, recorded, sent};
use notarium_assistant::providers::{
    Block, CallArguments, Message, ModelReply, SpeakerRole, StopReason, Thinking, ToolCall, ToolResult,
};
use notarium_core::{MessageBlock, MessagePosted, MessageRole, Open, ToolCallId};

fn posted(role: MessageRole, blocks: &[MessageBlock]) -> MessagePosted {
    MessagePosted {
        conversation_id: "talk".parse().unwrap(),
        message_id: "m".parse().unwrap(),
        turn_id: None,
        role: role.into(),
        blocks: blocks.iter().cloned().map(Open::Known).collect(),
        reply_units: None,
        is_partial: false,
    }
}

/// A reply through the record: its stored form, and its form in the next request.
fn again(blocks: &[Block]) -> (Vec<MessageBlock>, Message) {
    let reply = ModelReply { blocks: blocks.to_vec(), stop: StopReason::ToolUse, usage: None, attempts: 1 };
    let mut ids = 0..;
    let stored = recorded(&reply, || format!("our-{}", ids.next().unwrap()).parse().unwrap());
    // Serialised and parsed, as after a restart.
    let stored: Vec<MessageBlock> = serde_json::from_str(&serde_json::to_string(&stored).unwrap()).unwrap();
    let message = sent(&posted(MessageRole::Assistant, &stored), |_| None, &LoadedAttachments::new());
    (stored, message)
}

fn thought(text: &str, signature: Option<&str>, redacted: Option<&str>) -> Block {
    let origin = "anthropic/claude-sonnet-5-5".to_owned();
    let (signature, redacted) = (signature.map(str::to_owned), redacted.map(str::to_owned));
    Block::Thinking(Thinking { text: text.to_owned(), signature, redacted, origin, ..Thinking::default() })
}

fn call(id: &str, arguments: &str, extra: Option<&str>) -> Block {
    Block::ToolCall(ToolCall {
        id: id.to_owned(),
        name: "delete_cell".to_owned(),
        arguments: CallArguments::new(arguments),
        extra: extra.map(str::to_owned),
    })
}

#[test]
fn thoughts_texts_and_calls_come_back_as_they_were() {
    let blocks = [
        thought("Which \"cell\"? – naïve", Some("sig=="), None),
        thought("", None, Some("encrypted+data/==")),
        thought("", Some("a signature alone"), None),
        Block::text("I delete it. 🧹"),
        call("toolu_1", r#"{"cell_id":"c","big":12345678901234567890}"#, None),
        call("call_2", "{}", Some(r#"{"google":{"thought_signature":"sig-b"}}"#)),
        // Malformed arguments are kept unchanged.
        call("call_3", r#"{"cell_id": "c1", oops"#, None),
    ];
    let (_, message) = again(&blocks);
    assert_eq!(message, Message::assistant(blocks.to_vec()));
}

#[test]
fn a_model_is_told_that_its_answer_was_stopped() {
    let half = MessageBlock::Text { text: "Half of".to_owned() };
    let posted = MessagePosted { is_partial: true, ..posted(MessageRole::Assistant, &[half]) };
    let expected = vec![Block::text("Half of"), Block::text(STOPPED)];
    assert_eq!(sent(&posted, |_| None, &LoadedAttachments::new()), Message::assistant(expected));
}

#[test]
fn each_call_has_an_id_of_its_own_in_the_record_and_the_provider_s_towards_the_provider() {
    let same = [call("call_0", "{}", None), call("call_0", "{}", None), Block::text("")];
    let (stored, message) = again(&same);
    let ids: Vec<(&str, &str)> = stored
        .iter()
        .map(|block| match block {
            MessageBlock::ToolCall { call_id, provider_id, .. } => (call_id.as_str(), provider_id.as_str()),
            other => panic!("an empty text is not kept: {other:?}"),
        })
        .collect();
    assert_eq!(ids, [("our-0", "call_0"), ("our-1", "call_0")]);
    assert_eq!(message.blocks.len(), 2);

    let result = |call_id: &str| MessageBlock::ToolResult {
        provider_id: "call_0".to_owned(),
        call_id: call_id.parse().unwrap(),
        text: Some("done".to_owned()),
        is_error: true,
    };
    let image = |id: &ToolCallId| (id.as_str() == "our-1").then(|| "iVBOR".to_owned());
    let answered =
        sent(&posted(MessageRole::Tool, &[result("our-0"), result("our-1")]), image, &LoadedAttachments::new());
    let expected = ToolResult { call_id: "call_0".into(), text: "done".into(), is_error: true };
    let [first, second] = [(); 2].map(|()| Block::ToolResult(expected.clone()));
    let blocks = vec![first, second, Block::Image { media_type: "image/png".into(), base64: "iVBOR".into() }];
    assert_eq!(answered, Message { role: SpeakerRole::User, blocks });
}
