//! Queue of notices for components that act for assistants.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use notarium_assistant::host::ChangeNotice;
use notarium_core::{NotebookId, Version};
use tokio::sync::Notify;

/// Notices to take: one per notebook, with its latest version, in the order in which the first came.
#[derive(Debug, Default)]
pub struct NoticeQueue {
    waiting: Mutex<WaitingNotices>,
    came: Notify,
}

#[derive(Debug, Default)]
struct WaitingNotices {
    order: VecDeque<NotebookId>,
    versions: HashMap<NotebookId, Version>,
}

impl NoticeQueue {
    pub(crate) fn put(&self, notebook: NotebookId, version: Version) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let WaitingNotices { order, versions } = &mut *waiting;
        let latest = versions.entry(notebook).or_insert_with_key(|notebook| {
            order.push_back(notebook.clone());
            version
        });
        *latest = version.max(*latest);
        drop(waiting);
        self.came.notify_one();
    }

    pub(crate) async fn take(&self) -> ChangeNotice {
        loop {
            // Register before the check, so that a notice that arrives in between is not missed.
            let came = self.came.notified();
            if let Some(notice) = self.pop() {
                // Queue may not be empty: wake another waiter.
                self.came.notify_one();
                return notice;
            }
            came.await;
        }
    }

    fn pop(&self) -> Option<ChangeNotice> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let notebook = waiting.order.pop_front()?;
        let version = waiting.versions.remove(&notebook).unwrap_or_default();
        Some(ChangeNotice { notebook, version })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn notices_of_one_notebook_come_as_one_and_nobody_is_starved() {
        let queue = NoticeQueue::default();
        let put = |id: &str, version| queue.put(id.parse().unwrap(), version);
        put("b", 1);
        put("a", 1);
        put("b", 7);
        put("b", 3);
        let mut taken = Vec::new();
        for _ in 0..2 {
            let ChangeNotice { notebook, version } = queue.take().await;
            taken.push((notebook.to_string(), version));
        }
        assert_eq!(taken, [("b".to_owned(), 7), ("a".to_owned(), 1)]);
        assert_eq!(queue.pop(), None);
    }
}
