//! Messages of a kernel's WebSocket: JSON, the default binary form, and `v1.kernel.websocket.jupyter.org`.

use axum::extract::ws::Message;
use serde_json::{Value, json};

/// A message of the kernel protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelMessage {
    pub channel: String,
    pub header: Value,
    pub parent_header: Value,
    pub metadata: Value,
    pub content: Value,
    pub buffers: Vec<Vec<u8>>,
}

impl ChannelMessage {
    pub fn msg_type(&self) -> &str {
        self.header["msg_type"].as_str().unwrap_or_default()
    }
}

/// Form of the messages of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameForm {
    /// JSON text; binary with offsets for messages with buffers.
    Default,
    /// `v1.kernel.websocket.jupyter.org`.
    V1,
}

/// Parts of a message in the form V1: channel, header, parent header, metadata, content.
const V1_PARTS: usize = 5;

impl FrameForm {
    /// Reads a message; `None` if it is malformed.
    pub fn read(self, message: &Message) -> Option<ChannelMessage> {
        match (self, message) {
            (FrameForm::V1, Message::Binary(bytes)) => read_v1(bytes),
            (FrameForm::Default, Message::Text(text)) => of_json(&serde_json::from_str(text).ok()?, Vec::new()),
            (FrameForm::Default, Message::Binary(bytes)) => read_default(bytes),
            _ => None,
        }
    }

    pub fn write(self, message: &ChannelMessage) -> Message {
        match self {
            FrameForm::V1 => Message::Binary(write_v1(message).into()),
            FrameForm::Default if message.buffers.is_empty() => Message::Text(to_json(message).to_string().into()),
            FrameForm::Default => Message::Binary(write_default(message).into()),
        }
    }
}

fn of_json(value: &Value, buffers: Vec<Vec<u8>>) -> Option<ChannelMessage> {
    let object = |key: &str| if value[key].is_object() { value[key].clone() } else { json!({}) };
    let channel = value["channel"].as_str().unwrap_or("shell").to_owned();
    value["header"].as_object()?;
    Some(ChannelMessage {
        channel,
        header: object("header"),
        parent_header: object("parent_header"),
        metadata: object("metadata"),
        content: object("content"),
        buffers,
    })
}

fn to_json(message: &ChannelMessage) -> Value {
    json!({
        "channel": message.channel, "header": message.header, "parent_header": message.parent_header,
        "metadata": message.metadata, "content": message.content, "buffers": [],
        "msg_id": message.header["msg_id"], "msg_type": message.header["msg_type"],
    })
}

fn read_v1(bytes: &[u8]) -> Option<ChannelMessage> {
    let number = |at: usize| usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok();
    let count = number(0)?.checked_sub(1).filter(|count| *count >= V1_PARTS && *count <= 1_000)?;
    let offsets: Option<Vec<usize>> = (0..=count).map(|index| number(8 * (index + 1))).collect();
    let offsets = offsets?;
    let part = |index: usize| bytes.get(offsets[index]..offsets[index + 1]);
    let json = |index: usize| serde_json::from_slice::<Value>(part(index)?).ok().filter(Value::is_object);
    let buffers: Option<Vec<Vec<u8>>> = (V1_PARTS..count).map(|index| part(index).map(<[u8]>::to_vec)).collect();
    Some(ChannelMessage {
        channel: std::str::from_utf8(part(0)?).ok()?.to_owned(),
        header: json(1)?,
        parent_header: json(2).unwrap_or_else(|| json!({})),
        metadata: json(3).unwrap_or_else(|| json!({})),
        content: json(4)?,
        buffers: buffers?,
    })
}

fn write_v1(message: &ChannelMessage) -> Vec<u8> {
    let json = [&message.header, &message.parent_header, &message.metadata, &message.content].map(Value::to_string);
    let mut parts: Vec<&[u8]> = vec![message.channel.as_bytes()];
    parts.extend(json.iter().map(|part| part.as_bytes()));
    parts.extend(message.buffers.iter().map(Vec::as_slice));
    let mut at = 8 * (parts.len() as u64 + 2);
    let mut bytes = (parts.len() as u64 + 1).to_le_bytes().to_vec();
    bytes.extend(at.to_le_bytes());
    for part in &parts {
        at += part.len() as u64;
        bytes.extend(at.to_le_bytes());
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

fn read_default(bytes: &[u8]) -> Option<ChannelMessage> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let count = number(0).filter(|count| (1..=1_000).contains(count))?;
    let mut offsets: Vec<usize> = (0..count).map(|index| number(4 * (index + 1))).collect::<Option<_>>()?;
    offsets.push(bytes.len());
    let part = |index: usize| bytes.get(offsets[index]..offsets[index + 1]);
    let buffers: Option<Vec<Vec<u8>>> = (1..count).map(|index| part(index).map(<[u8]>::to_vec)).collect();
    of_json(&serde_json::from_slice(part(0)?).ok()?, buffers?)
}

fn write_default(message: &ChannelMessage) -> Vec<u8> {
    let json = to_json(message).to_string();
    let parts: Vec<&[u8]> = std::iter::once(json.as_bytes()).chain(message.buffers.iter().map(Vec::as_slice)).collect();
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let mut at = 4 * (count + 1);
    let mut bytes = count.to_be_bytes().to_vec();
    for part in &parts {
        bytes.extend(at.to_be_bytes());
        at += u32::try_from(part.len()).unwrap_or(u32::MAX);
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(buffers: Vec<Vec<u8>>) -> ChannelMessage {
        ChannelMessage {
            channel: "iopub".to_owned(),
            header: json!({"msg_id": "1", "msg_type": "stream"}),
            parent_header: json!({"msg_id": "0"}),
            metadata: json!({}),
            content: json!({"name": "stdout", "text": "é"}),
            buffers,
        }
    }

    #[test]
    fn both_forms_read_what_they_write() {
        for form in [FrameForm::Default, FrameForm::V1] {
            for buffers in [vec![], vec![vec![1, 2], vec![]]] {
                let message = message(buffers);
                assert_eq!(form.read(&form.write(&message)), Some(message));
            }
        }
    }

    #[test]
    fn malformed_messages_are_refused() {
        for bytes in [&[][..], &[1, 0, 0, 0], &[0xff; 64], &[6, 0, 0, 0, 0, 0, 0, 0, 9]] {
            let message = Message::Binary(bytes.to_vec().into());
            assert_eq!(FrameForm::V1.read(&message), None, "{bytes:?}");
            assert_eq!(FrameForm::Default.read(&message), None, "{bytes:?}");
        }
        assert_eq!(FrameForm::Default.read(&Message::Text("[]".into())), None);
    }
}
