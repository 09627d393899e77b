//! A frame on its way out: a text, of which a large part may be shared by all who get it.

use bytes::Bytes;
use notarium_core::RawJson;
use notarium_wire::frame::SharedText;

/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// All of it, or what stands before the shared part.
    head: Bytes,
    shared: Bytes,
    tail: Bytes,
}

impl Frame {
    pub fn size_bytes(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    /// Whether its text begins so. Looks no farther than a shared part.
    pub fn starts_with(&self, text: &str) -> bool {
        self.head.starts_with(text.as_bytes())
    }

    /// Whether the text is in what it does not share.
    pub fn contains(&self, text: &str) -> bool {
        let parts = [&self.head, &self.tail];
        parts.iter().any(|part| part.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// In pieces of at most so many bytes; none is copied.
    pub fn pieces(self, max_bytes: usize) -> impl Iterator<Item = Bytes> {
        let Self { head, shared, tail } = self;
        [head, shared, tail].into_iter().flat_map(move |mut part| {
            std::iter::from_fn(move || (!part.is_empty()).then(|| part.split_to(part.len().min(max_bytes))))
        })
    }

    fn parts(&self) -> [&Bytes; 3] {
        [&self.head, &self.shared, &self.tail]
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts().iter().try_for_each(|part| formatter.write_str(&String::from_utf8_lossy(part)))
    }
}

impl From<String> for Frame {
    fn from(text: String) -> Self {
        Self { head: text.into(), shared: Bytes::new(), tail: Bytes::new() }
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
        let shared = shared.map(|shared| Bytes::from_owner(Shared(shared))).unwrap_or_default();
        Self { head: before.into(), shared, tail: after.into() }
    }
}

/// Keeps a text for as long as bytes of it are on their way.
struct Shared(RawJson);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.get().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_goes_out_in_pieces_that_make_its_text() {
        let shared = RawJson::parse(r#"{"é":"a long text that many get"}"#).unwrap();
        let text = SharedText { before: "before ".into(), shared: Some(shared.clone()), after: " after".into() };
        let frame = Frame::from(text);
        let whole = format!("before {} after", shared.get());
        assert_eq!((frame.to_string(), frame.size_bytes()), (whole.clone(), whole.len()));
        for max_bytes in [1, 7, 1_000] {
            let pieces: Vec<Bytes> = frame.clone().pieces(max_bytes).collect();
            assert!(pieces.iter().all(|piece| piece.len() <= max_bytes));
            assert_eq!(pieces.concat(), whole.as_bytes());
        }
        assert!(frame.starts_with("before") && frame.contains("after") && !frame.contains("many get"));
        let middle = frame.pieces(1_000).nth(1).unwrap();
        assert_eq!(middle.as_ptr(), shared.get().as_ptr(), "the shared part is not copied");
    }
}
