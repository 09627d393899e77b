//! Reads kernel messages leniently: content is kept as sent; no bytes can make this panic.

use std::borrow::Cow;

use jupyter_zmq_client::RawMessage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::outputs::{KernelOutput, raw, raw_json};

/// The comm target under which kernels register functions (protocol/agents.md, "User functions").
const FUNCTIONS_TARGET: &str = "notarium.functions";

/// A message with the fields for routing; its content is still JSON text.
#[derive(Debug, Clone)]
pub(super) struct KernelMessage {
    pub header: MessageHeader,
    /// `msg_id` of the request that led to this message.
    pub parent_id: Option<String>,
    pub content: String,
    pub buffers: Vec<bytes::Bytes>,
}

#[derive(Debug, Clone)]
pub(super) struct MessageHeader {
    pub msg_type: String,
    /// The header as sent, to be the parent header of a reply.
    pub json: String,
}

/// Content of an iopub message.
#[derive(Debug)]
pub(super) enum IopubContent {
    Busy,
    Idle,
    Output(KernelOutput),
    /// The data of a comm for registered functions.
    Functions(Box<RawValue>),
    /// Other comms, `execute_input`, `iopub_welcome` and unknown types.
    Other,
}

/// The content of an `execute_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct ExecuteReply {
    #[serde(default)]
    pub status: String,
    pub execution_count: Option<serde_json::Number>,
    pub payload: Option<Box<RawValue>>,
}

/// The content of an `input_request`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputRequest {
    pub prompt: String,
    pub password: bool,
}

#[derive(Deserialize)]
struct HeaderFields<'a> {
    #[serde(borrow)]
    msg_type: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ParentFields<'a> {
    #[serde(borrow, default)]
    msg_id: Option<Cow<'a, str>>,
}

impl KernelMessage {
    /// Parses a message. Fails if its header is invalid.
    pub fn read(raw: &RawMessage) -> Result<Self, serde_json::Error> {
        let [header, parent, _metadata, content, buffers @ ..] = raw.jparts.as_slice() else {
            return Err(serde::de::Error::custom("a message of fewer than four parts"));
        };
        let header = lenient_text(header);
        let msg_type = serde_json::from_str::<HeaderFields>(&header)?.msg_type.into_owned();
        let parent = lenient_text(parent);
        let parent_id =
            serde_json::from_str::<ParentFields>(&parent).ok().and_then(|parent| parent.msg_id.map(Cow::into_owned));
        let header = MessageHeader { msg_type, json: header.into_owned() };
        Ok(Self { header, parent_id, content: lenient_text(content).into_owned(), buffers: buffers.to_vec() })
    }

    /// The content, typed.
    pub fn content<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.content)
    }

    /// Reads an iopub message.
    pub fn iopub(&self) -> Result<IopubContent, serde_json::Error> {
        let output = match self.header.msg_type.as_str() {
            "status" => return self.status(),
            "stream" => self.stream()?,
            "display_data" | "execute_result" | "update_display_data" => {
                return Ok(self.display()?.map_or(IopubContent::Other, IopubContent::Output));
            }
            "error" => self.error()?,
            "clear_output" => self.clear()?,
            "comm_open" => return Ok(self.functions().map_or(IopubContent::Other, IopubContent::Functions)),
            _ => return Ok(IopubContent::Other),
        };
        Ok(IopubContent::Output(output))
    }

    fn status(&self) -> Result<IopubContent, serde_json::Error> {
        #[derive(Deserialize)]
        struct Status<'a> {
            #[serde(borrow)]
            execution_state: Cow<'a, str>,
        }
        Ok(match &*self.content::<Status>()?.execution_state {
            "busy" => IopubContent::Busy,
            "idle" => IopubContent::Idle,
            _ => IopubContent::Other,
        })
    }

    fn stream(&self) -> Result<KernelOutput, serde_json::Error> {
        #[derive(Deserialize)]
        struct Stream {
            name: String,
            text: String,
        }
        let Stream { name, text } = self.content()?;
        Ok(KernelOutput::Stream { name, text })
    }

    /// Reads a display; `None` for an update without an id, which has no effect.
    fn display(&self) -> Result<Option<KernelOutput>, serde_json::Error> {
        let display: Display = self.content()?;
        let (data, metadata) = (object_or_empty(display.data), object_or_empty(display.metadata));
        let display_id = display.transient.and_then(|transient| transient.display_id);
        let output = match self.header.msg_type.as_str() {
            "update_display_data" => {
                let content = raw_json(format!(r#"{{"data":{data},"metadata":{metadata}}}"#));
                return Ok(display_id.map(|display_id| KernelOutput::Update { display_id, content }));
            }
            "execute_result" => {
                let count = display.execution_count.map_or("null".to_owned(), |count| count.to_string());
                format!(
                    r#"{{"data":{data},"execution_count":{count},"metadata":{metadata},"output_type":"execute_result"}}"#
                )
            }
            _ => format!(r#"{{"data":{data},"metadata":{metadata},"output_type":"display_data"}}"#),
        };
        Ok(Some(KernelOutput::Object { output: raw_json(output), display_id }))
    }

    fn error(&self) -> Result<KernelOutput, serde_json::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Error {
            ename: String,
            evalue: String,
            traceback: Vec<String>,
        }
        let Error { ename, evalue, traceback } = self.content()?;
        let output = serde_json::json!({
            "ename": ename, "evalue": evalue, "output_type": "error", "traceback": traceback,
        });
        Ok(KernelOutput::Object { output: raw(&output), display_id: None })
    }

    /// The data of a comm that registers functions.
    fn functions(&self) -> Option<Box<RawValue>> {
        #[derive(Deserialize)]
        struct Open<'a> {
            #[serde(borrow)]
            target_name: Cow<'a, str>,
            #[serde(default)]
            data: Option<Box<RawValue>>,
        }
        let open: Open = self.content().ok()?;
        (open.target_name == FUNCTIONS_TARGET).then(|| open.data.unwrap_or_else(|| RawValue::NULL.to_owned()))
    }

    fn clear(&self) -> Result<KernelOutput, serde_json::Error> {
        #[derive(Deserialize)]
        struct Clear {
            #[serde(default)]
            wait: bool,
        }
        Ok(KernelOutput::Clear { wait: self.content::<Clear>()?.wait })
    }
}

#[derive(Deserialize)]
struct Display<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    transient: Option<Transient>,
    execution_count: Option<i64>,
}

#[derive(Deserialize)]
struct Transient {
    display_id: Option<String>,
}

fn object_or_empty(value: Option<&RawValue>) -> &str {
    value.map(RawValue::get).filter(|text| text.starts_with('{')).unwrap_or("{}")
}

/// JSON text that `serde_json` can read, from any bytes of a kernel: bytes that are not UTF-8 and halves of surrogate
/// pairs (Python strings may contain them) become U+FFFD.
fn lenient_text(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if has_surrogate_escape(&text) { Cow::Owned(replace_lone_surrogates(&text)) } else { text }
}

fn has_surrogate_escape(text: &str) -> bool {
    text.match_indices("\\u")
        .any(|(at, _)| escaped_unit(&text.as_bytes()[at..]).is_some_and(|unit| unit & 0xf800 == 0xd800))
}

/// The code unit of a `\uXXXX` escape at the start of `bytes`.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn replace_lone_surrogates(text: &str) -> String {
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        fixed.push_str(&rest[..at]);
        let (escape, length) = escape_at(&rest[at..]);
        fixed.push_str(escape);
        rest = &rest[at + length..];
    }
    fixed.push_str(rest);
    fixed
}

/// The replacement of the escape at the start of `text`, and its length in bytes.
fn escape_at(text: &str) -> (&str, usize) {
    match escaped_unit(text.as_bytes()) {
        Some(0xd800..=0xdbff) => match escaped_unit(&text.as_bytes()[6..]) {
            Some(0xdc00..=0xdfff) => (&text[..12], 12),
            _ => ("\\ufffd", 6),
        },
        Some(0xdc00..=0xdfff) => ("\\ufffd", 6),
        _ => {
            let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
            (&text[..length], length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    pub(super) fn message(msg_type: &str, content: &str) -> KernelMessage {
        let header = MessageHeader { msg_type: msg_type.into(), json: "{}".into() };
        let content = lenient_text(content.as_bytes()).into_owned();
        KernelMessage { header, parent_id: None, content, buffers: Vec::new() }
    }

    fn object(msg_type: &str, content: &Value) -> (Value, Option<String>) {
        match message(msg_type, &content.to_string()).iopub().unwrap() {
            IopubContent::Output(KernelOutput::Object { output, display_id }) => {
                (serde_json::from_str(output.get()).unwrap(), display_id)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn displays_keep_what_we_do_not_know_and_lose_transient() {
        let content =
            json!({"data": {"x/odd": {"deep": 1e300}}, "metadata": {"m": 1}, "transient": {"display_id": "d"}});
        let (output, display_id) = object("display_data", &content);
        assert_eq!(
            output,
            json!({"output_type": "display_data", "data": {"x/odd": {"deep": 1e300}}, "metadata": {"m": 1}})
        );
        assert_eq!(display_id.as_deref(), Some("d"));
    }

    #[test]
    fn missing_fields_get_what_nbformat_wants() {
        assert_eq!(
            object("display_data", &json!({"data": null})).0,
            json!({"output_type": "display_data", "data": {}, "metadata": {}})
        );
        assert_eq!(object("execute_result", &json!({})).0["execution_count"], Value::Null);
        assert_eq!(
            object("error", &json!({"ename": "E"})).0,
            json!({"output_type": "error", "ename": "E", "evalue": "", "traceback": []})
        );
    }

    #[test]
    fn updates_without_an_id_say_nothing() {
        assert!(matches!(message("update_display_data", "{}").iopub().unwrap(), IopubContent::Other));
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for (sent, read) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
        ] {
            assert_eq!(serde_json::from_str::<String>(&lenient_text(sent.as_bytes())).unwrap(), read, "{sent}");
        }
        assert_eq!(serde_json::from_str::<String>(&lenient_text(b"\"\xff\"")).unwrap(), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6), kind in "stream|display_data|error|status|clear_output") {
            let raw = RawMessage { zmq_identities: vec![], jparts: parts.into_iter().map(Into::into).collect() };
            if let Ok(mut message) = KernelMessage::read(&raw) {
                message.header.msg_type = kind;
                let _ = message.iopub();
            }
        }

        #[test]
        fn lenient_text_keeps_valid_json(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&*lenient_text(json.as_bytes()), &json);
        }

        #[test]
        fn escapes_never_panic(text in r#"(\\|\\u|d83d|de00|[a-é]){0,12}"#) {
            let _ = lenient_text(text.as_bytes());
        }
    }
}
