//! Life of a node in a cluster: it follows the other nodes and their changes of accounts, and gives its notebooks away before
//! it stops.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_core::NotebookId;
use notarium_store::accounts::AccountError;
use notarium_store::{EventStore, NODE_TIMEOUT, NodeStore};
use tokio_util::sync::CancellationToken;

use super::{StartError, open_with_work};
use crate::app::App;
use crate::cluster::{Cluster, ClusterNodes, ClusterNotices, ClusterSettings, LOOK_AGAIN, SingleNode};
use crate::tls::NodeTls;

/// Time for which a draining node still takes requests, which it forwards: until a proxy that asks `/readyz` each second or two sends no more.
const LINGER: Duration = Duration::from_secs(3);
/// Rooms that are given up together while the node drains, at least, and the pause after them: 100 in a second.
const SLICE: usize = 10;
const SLICE_PAUSE: Duration = Duration::from_millis(100);
/// Slices after which a node with very many rooms has given all of them up, so that it ends within half a minute.
const MAX_SLICES: usize = 200;

/// Time until a server that was killed does not count any more, and the pause between looks.
const PATIENCE: Duration = NODE_TIMEOUT.saturating_add(Duration::from_secs(1));
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Joins the cluster, unless a server uses the database that wants to be alone.
pub async fn join(
    settings: &ClusterSettings,
    tls: Option<Arc<NodeTls>>,
    nodes: Arc<dyn NodeStore>,
    events: Arc<dyn EventStore>,
) -> Result<(Arc<ClusterNodes>, ClusterNotices), StartError> {
    let (node, notices) = ClusterNodes::join(settings, tls, nodes, events).await?;
    let patience = Instant::now() + PATIENCE;
    while !node.is_reachable_by_all() {
        if Instant::now() > patience {
            node.leave().await;
            return Err(StartError::NotAlone);
        }
        tokio::time::sleep(LOOK_EVERY).await;
        node.beat().await?;
    }
    Ok((node, notices))
}

/// Makes a node that others cannot reach, unless another server uses the database.
pub async fn alone(
    events: Arc<dyn EventStore>,
    nodes: Option<Arc<dyn NodeStore>>,
) -> Result<(Arc<SingleNode>, ClusterNotices), StartError> {
    let (node, notices) = SingleNode::new(events, nodes);
    let patience = Instant::now() + PATIENCE;
    while !node.is_alone().await? {
        if Instant::now() > patience {
            node.leave().await;
            return Err(StartError::NotAlone);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok((node, notices))
}

/// Begins to follow the cluster. Cancel the token when the node leaves it.
pub async fn follow(app: &App) -> Result<CancellationToken, AccountError> {
    let beating = CancellationToken::new();
    let (cluster, token) = (app.notebooks.cluster.clone(), beating.clone());
    tokio::spawn(async move { cluster.follow(token).await });
    if app.cluster.peers().is_none() {
        return Ok(beating);
    }
    let last = app.accounts.last_change().await?;
    // Before the number was read, tokens may have been cached.
    app.accounts.forget_everything();
    tokio::spawn(app.accounts.clone().follow_changes(last, beating.clone()));
    tokio::spawn(follow_nodes(app.clone(), beating.clone()));
    Ok(beating)
}

/// Gives up rooms that belong to other nodes, and opens notebooks with work that belong here, whenever nodes change, and once more
/// after [`LOOK_AGAIN`].
async fn follow_nodes(app: App, stopping: CancellationToken) {
    let Some(mut changes) = app.cluster.changes() else { return };
    let mut looks_again = false;
    loop {
        let look = async {
            if looks_again {
                tokio::time::timeout(LOOK_AGAIN, changes.changed()).await
            } else {
                Ok(changes.changed().await)
            }
        };
        match stopping.run_until_cancelled(look).await {
            Some(Ok(Ok(()))) => looks_again = true,
            Some(Err(_)) => looks_again = false,
            Some(Ok(Err(_))) | None => return,
        }
        give_up_others(&app).await;
        if app.cluster.is_cut_off() || app.cluster.is_draining() {
            continue;
        }
        // Whoever died had not listed what began in its last seconds.
        let opened = async {
            app.rooms.catch_up_catalog().await?;
            open_with_work(&app).await
        };
        if let Err(error) = opened.await {
            tracing::warn!(%error, "notebooks with work of nodes that are gone open when they are asked for");
        }
    }
}

/// Gives up rooms of notebooks that are not this node's. Without an answer of the store all are, because another node may have them.
async fn give_up_others(app: &App) {
    if app.cluster.is_draining() {
        return;
    }
    let open = app.rooms.open_ids();
    let owned = app.cluster.owned(open.clone()).await.unwrap_or_default();
    let owned: HashSet<NotebookId> = owned.into_iter().collect();
    for notebook in open.iter().filter(|notebook| !owned.contains(notebook)) {
        app.rooms.give_up(notebook);
    }
}

/// Tells the other nodes that this one stops, and gives them its rooms, in slices; first those that they have taken already, whose clients
/// here hear nothing new.
pub async fn drain(app: &App) {
    if app.cluster.others().is_empty() {
        return;
    }
    let lingers_until = tokio::time::Instant::now() + LINGER;
    app.cluster.drain().await;
    let slice = SLICE.max(app.rooms.open_count().div_ceil(MAX_SLICES));
    while app.rooms.open_count() > 0 {
        let open = app.rooms.open_ids();
        let taken: HashSet<NotebookId> = app.cluster.taken(&open).await.unwrap_or_default().into_iter().collect();
        let kept = open.iter().filter(|notebook| !taken.contains(*notebook));
        for notebook in taken.iter().chain(kept.take(slice)) {
            app.rooms.give_up(notebook);
        }
        tokio::time::sleep(SLICE_PAUSE).await;
    }
    tokio::time::sleep_until(lingers_until).await;
}
