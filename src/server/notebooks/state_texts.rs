//! Cache of notebooks' states as JSON, shared by concurrent readers of one version and dropped with the last of them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use notarium_core::{Document, NotebookId, Version};

/// Size of the pieces of a text: one buffer that doubles would take twice the memory while it grows.
const PIECE_BYTES: usize = 256 << 10;

/// A text that is being sent, owned by its readers.
type Kept = Option<(Version, Weak<Vec<Bytes>>)>;

/// Texts by notebook. Making a text holds its lock: other readers wait for that text.
#[derive(Debug, Default)]
pub struct StateTexts(Mutex<HashMap<NotebookId, Arc<tokio::sync::Mutex<Kept>>>>);

/// A text while it is written.
#[derive(Default)]
struct Pieces {
    whole: Vec<Bytes>,
    last: Vec<u8>,
}

impl Pieces {
    fn of(document: &Document) -> Option<Vec<Bytes>> {
        let mut pieces = Self::default();
        serde_json::to_writer(&mut pieces, document).ok()?;
        let Self { mut whole, last } = pieces;
        whole.push(last.into());
        Some(whole)
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() == PIECE_BYTES {
            let full = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE_BYTES));
            self.whole.push(full.into());
        }
        let taken = bytes.len().min(PIECE_BYTES - self.last.len());
        self.last.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StateTexts {
    /// Pieces of the text. `None`: it could not be made.
    pub async fn of(&self, document: Arc<Document>) -> Option<Arc<Vec<Bytes>>> {
        let slot = self.slot(&document.notebook_id);
        let mut kept = slot.lock().await;
        if let Some((version, text)) = &*kept
            && *version == document.version
            && let Some(text) = text.upgrade()
        {
            return Some(text);
        }
        let version = document.version;
        let made = tokio::task::spawn_blocking(move || Pieces::of(&document)).await;
        let text = Arc::new(made.ok()??);
        *kept = Some((version, Arc::downgrade(&text)));
        Some(text)
    }

    fn slot(&self, notebook: &NotebookId) -> Arc<tokio::sync::Mutex<Kept>> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| {
            let is_idle =
                slot.try_lock().is_ok_and(|kept| kept.as_ref().is_none_or(|(_, text)| text.strong_count() == 0));
            !is_idle || Arc::strong_count(slot) > 1
        });
        slots.entry(notebook.clone()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_who_read_at_a_time_share_one_text_and_nobody_keeps_it() {
        let texts = StateTexts::default();
        let document = Arc::new(Document::new("nb".parse().unwrap()));
        let (one, other) = tokio::join!(texts.of(document.clone()), texts.of(document.clone()));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!(one.concat(), serde_json::to_vec(&*document).unwrap());
        let mut later = (*document).clone();
        later.version = 1;
        assert_ne!(texts.of(Arc::new(later)).await.unwrap(), one, "another version is another text");
        drop((one, other));
        let title = "t".repeat(3 * PIECE_BYTES);
        let large = Document { title, ..(*document).clone() };
        let pieces = texts.of(Arc::new(large.clone())).await.unwrap();
        assert_eq!((pieces.len(), pieces.concat()), (4, serde_json::to_vec(&large).unwrap()));
        drop(pieces);
        texts.slot(&"other".parse().unwrap());
        assert_eq!(texts.0.lock().unwrap().len(), 1, "only what is being read is kept");
    }
}
