//! Order of outputs and widgets: an output that shows a widget waits until the client knows the widget. The kernel sends them in that
//! order, but they come on two ways: outputs are recorded first.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::{KernelClient, Served};
use crate::channels::frames::ChannelMessage;

/// Time after which an output is shown without its widget: its kernel may have ended.
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_HELD: usize = 10_000;

/// Messages that wait until the client knows the widget of the first of them.
#[derive(Default)]
pub(super) struct HeldMessages {
    waits_for: Option<(String, Instant)>,
    messages: VecDeque<ChannelMessage>,
}

impl HeldMessages {
    /// Waits until the messages go out without the widget. Cancel safe.
    pub async fn deadline(&self) {
        match &self.waits_for {
            Some((_, deadline)) => tokio::time::sleep_until(*deadline).await,
            None => std::future::pending().await,
        }
    }
}

impl KernelClient {
    /// Sends a message after the earlier ones.
    pub(super) async fn put(&mut self, message: ChannelMessage) -> Served {
        if self.held.waits_for.is_none() {
            self.wait_for_widget_of(&message);
        }
        if self.held.waits_for.is_none() {
            return self.write(&message).await;
        }
        self.held.messages.push_back(message);
        if self.held.messages.len() > MAX_HELD { self.release_all().await } else { Some(()) }
    }

    fn wait_for_widget_of(&mut self, message: &ChannelMessage) {
        self.held.waits_for = self.widgets.unknown_view(message).map(|model| (model, Instant::now() + PATIENCE));
    }

    /// Sends the messages that need not wait any more.
    pub(super) async fn release_held(&mut self) -> Served {
        if self.held.waits_for.as_ref().is_some_and(|(model, _)| !self.widgets.is_open(model)) {
            return Some(());
        }
        self.held.waits_for = None;
        while let Some(message) = self.held.messages.pop_front() {
            self.wait_for_widget_of(&message);
            if self.held.waits_for.is_some() {
                self.held.messages.push_front(message);
                return Some(());
            }
            self.write(&message).await?;
        }
        Some(())
    }

    pub(super) async fn release_all(&mut self) -> Served {
        self.held.waits_for = None;
        for message in std::mem::take(&mut self.held.messages) {
            self.write(&message).await?;
        }
        Some(())
    }
}
