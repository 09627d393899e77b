//! The nodes of a cluster.

use notarium_wire::rest::{NodeStatus, Nodes};

use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, JsonArgs};

pub async fn nodes(JsonArgs { json }: JsonArgs, context: &CommonOptions) -> Ended {
    let Nodes { nodes } = context.client()?.get("/api/nodes").await?;
    let headings = ["node", "address", "state", "version", "seen", "open notebooks"];
    print::list(&nodes, json, "no nodes", headings, async |node: &NodeStatus| {
        [
            node.node.to_string(),
            if node.url.is_empty() { "–".to_owned() } else { node.url.clone() },
            state(node),
            node.version.clone().unwrap_or_else(|| "–".to_owned()),
            print::time(node.seen_at),
            node.rooms.map_or_else(|| "–".to_owned(), |count| count.to_string()),
        ]
    })
    .await
}

fn state(node: &NodeStatus) -> String {
    let state = match (node.is_alive, node.is_draining) {
        (false, _) => "dead",
        (true, true) => "stopping",
        (true, false) => "alive",
    };
    if node.is_this { format!("{state} (answered)") } else { state.to_owned() }
}
