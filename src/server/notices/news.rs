//! News of notices for open streams, on this node and on others. A node that does not hear of them reads the inbox again with the next beat of
//! its streams.

use std::sync::Arc;
use std::time::Duration;

use http::Method;

use super::{NoticeNewsFor, Notices};
use crate::cluster::IDENTITY;
use crate::notebooks::Notebooks;

/// Route between nodes.
const PATH: &str = "/api/cluster/notices";
/// News in the header of one request.
const NEWS_PER_REQUEST: usize = 25;
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

impl Notices {
    /// Passes news to the streams of this node.
    pub fn heard(&self, news: NoticeNewsFor) {
        // No receiver: no stream is open.
        let _ = self.news.send(news);
    }

    /// Passes news to the streams of all nodes.
    pub(super) fn publish(&self, news: Vec<NoticeNewsFor>) {
        news.iter().for_each(|news| self.heard(news.clone()));
        if self.notebooks.cluster.peers().is_some() && !news.is_empty() {
            tokio::spawn(send_to_others(self.notebooks.clone(), news));
        }
    }
}

async fn send_to_others(notebooks: Arc<Notebooks>, news: Vec<NoticeNewsFor>) {
    let Some(peers) = notebooks.cluster.peers() else { return };
    for node in notebooks.cluster.others() {
        for some in news.chunks(NEWS_PER_REQUEST) {
            let Some(identity) = peers.sign(&Method::POST, PATH, &some) else { continue };
            let request = peers.http().post(format!("{}{PATH}", node.url)).timeout(ANSWER_WITHIN);
            if let Err(error) = request.header(IDENTITY, identity).send().await {
                tracing::debug!(%error, "a node did not hear of notices: its streams read them later");
            }
        }
    }
}
