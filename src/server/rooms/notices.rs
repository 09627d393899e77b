//! Queue of notices for components that act for assistants, and for those that tell people.

use hashlink::LinkedHashMap;
use notarium_assistant::host::ChangeNotice;
use notarium_core::{NotebookId, Version};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Types of events about which people may get notices (`server/notices`).
pub const NOTICED_TYPES: [&str; 14] = [
    "CommentEdited",
    "CommentPosted",
    "ExecutionCompleted",
    "ExecutionLost",
    "KernelSessionEnded",
    "MessagePosted",
    "ScheduledRunEnded",
    "ToolCallConfirmed",
    "ToolCallDenied",
    "ToolCallExpired",
    "ToolCallRequested",
    "ToolCallStarted",
    "ToolCallVoided",
    "ToolCallWithdrawn",
];

/// Notices to take: one per notebook, with its latest version, in the order in which the first came.
#[derive(Debug, Default)]
pub struct NoticeQueue {
    waiting: Mutex<LinkedHashMap<NotebookId, Version>>,
    came: Notify,
}

impl NoticeQueue {
    pub(crate) fn put(&self, notebook: NotebookId, version: Version) {
        let mut waiting = self.waiting.lock();
        let latest = waiting.get(&notebook).map_or(version, |known| version.max(*known));
        // An earlier notice of the notebook keeps its place in the queue.
        waiting.replace(notebook, latest);
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
        let (notebook, version) = self.waiting.lock().pop_front()?;
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
