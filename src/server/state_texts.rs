//! The state of a notebook as JSON, made once for all who read the same version at a time. It is gone when the last of them has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use notarium_core::{Document, NotebookId, Version};

/// What is being sent, and held by those who are sent it.
type Kept = Option<(Version, Weak<Vec<u8>>)>;

/// By notebook. Who makes a text holds its lock: others wait for that text.
#[derive(Debug, Default)]
pub struct StateTexts(Mutex<HashMap<NotebookId, Arc<tokio::sync::Mutex<Kept>>>>);

/// Bytes that are shared with [`StateTexts`].
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl StateTexts {
    /// `None`: it could not be made.
    pub async fn of(&self, document: Arc<Document>) -> Option<Bytes> {
        let slot = self.slot(&document.notebook_id);
        let mut kept = slot.lock().await;
        if let Some((version, text)) = &*kept
            && *version == document.version
            && let Some(text) = text.upgrade()
        {
            return Some(Bytes::from_owner(Shared(text)));
        }
        let version = document.version;
        let made = tokio::task::spawn_blocking(move || serde_json::to_vec(&*document)).await;
        let text = Arc::new(made.ok()?.ok()?);
        *kept = Some((version, Arc::downgrade(&text)));
        Some(Bytes::from_owner(Shared(text)))
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
        assert_eq!(one.as_ptr(), other.as_ptr());
        assert_eq!(one, serde_json::to_vec(&*document).unwrap());
        let mut later = (*document).clone();
        later.version = 1;
        assert_ne!(texts.of(Arc::new(later)).await.unwrap(), one, "another version is another text");
        drop((one, other));
        texts.slot(&"other".parse().unwrap());
        assert_eq!(texts.0.lock().unwrap().len(), 1, "only what is being read is kept");
    }
}
