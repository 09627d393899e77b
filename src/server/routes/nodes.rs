//! Route that lists the nodes of the cluster.

use axum::Json;
use axum::extract::State;
use notarium_store::SeenNode;
use notarium_wire::rest::{NodeStatus, Nodes};

use crate::app::App;
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(router; "server" "/api" {
        /// The nodes of the cluster, also those that died within the last hour. A server alone lists itself.
        GET "/nodes", Guard::Admin => list_nodes;
    })
}

async fn list_nodes(State(app): State<App>) -> Result<Json<Nodes>, Problem> {
    let alone = || vec![SeenNode { node: app.cluster.own(), seen_at: app.accounts.now(), is_alive: true }];
    let seen = app.cluster.seen().await?.unwrap_or_else(alone);
    Ok(Json(Nodes { nodes: seen.into_iter().map(|seen| status(&app, seen)).collect() }))
}

fn status(app: &App, SeenNode { node, seen_at, is_alive }: SeenNode) -> NodeStatus {
    let is_this = node.instance == *app.cluster.instance();
    NodeStatus {
        node: node.instance,
        url: node.url,
        seen_at,
        is_alive,
        is_draining: node.is_draining,
        version: Some(node.version).filter(|version| !version.is_empty()),
        level: node.level,
        is_this,
        rooms: is_this.then(|| app.rooms.open_count()),
    }
}
