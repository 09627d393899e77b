//! Outgoing frame: a text, of which a large part may be shared by all receivers.

use std::sync::Arc;

use bytes::Bytes;
use notarium_core::RawJson;
use notarium_wire::frame::SharedText;

/// An outgoing frame. Cheap to clone, and small: many wait in many outboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text(Bytes),
    Shared(Arc<SharedFrame>),
    /// A whole WebSocket frame with its header: a pong or a close.
    Control(Bytes),
}

/// Text around a shared part.
#[derive(Debug, PartialEq, Eq)]
struct SharedFrame {
    head: Bytes,
    shared: RawJson,
    tail: Bytes,
}

impl Frame {
    /// A control frame of the WebSocket, with its header.
    pub fn control(bytes: &[u8]) -> Self {
        Self(Kind::Control(Bytes::copy_from_slice(bytes)))
    }

    pub fn is_control(&self) -> bool {
        matches!(self.0, Kind::Control(_))
    }

    pub fn size_bytes(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    /// True if the text begins with `text`. Does not look into a shared part.
    pub fn starts_with(&self, text: &str) -> bool {
        self.parts()[0].starts_with(text.as_bytes())
    }

    /// True if the text outside the shared part contains `text`.
    pub fn contains(&self, text: &str) -> bool {
        let [head, _, tail] = self.parts();
        [head, tail].iter().any(|part| part.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// Parts of the text, in order.
    pub fn parts(&self) -> [&[u8]; 3] {
        match &self.0 {
            Kind::Text(bytes) | Kind::Control(bytes) => [bytes, &[], &[]],
            Kind::Shared(frame) => [&frame.head, frame.shared.get().as_bytes(), &frame.tail],
        }
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts().iter().try_for_each(|part| formatter.write_str(&String::from_utf8_lossy(part)))
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Self(Kind::Text(text.into()))
    }
}

impl From<&str> for Frame {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<SharedText> for Frame {
    fn from(text: SharedText) -> Self {
        let SharedText { before, shared, after } = text;
        match shared {
            None => (before + &after).into(),
            Some(shared) => {
                Self(Kind::Shared(Arc::new(SharedFrame { head: before.into(), shared, tail: after.into() })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_text_in_parts_and_shares_the_large_one() {
        let shared = RawJson::parse(r#"{"é":"a long text that many get"}"#).unwrap();
        let text = SharedText { before: "before ".into(), shared: Some(shared.clone()), after: " after".into() };
        let frame = Frame::from(text);
        let whole = format!("before {} after", shared.get());
        assert_eq!((frame.to_string(), frame.size_bytes()), (whole.clone(), whole.len()));
        assert_eq!(frame.parts().concat(), whole.as_bytes());
        assert!(frame.starts_with("before") && frame.contains("after") && !frame.contains("many get"));
        assert_eq!(frame.parts()[1].as_ptr(), shared.get().as_ptr(), "the shared part is not copied");
    }
}
