//! Nodes and leases, by the database's clock.

use std::collections::HashMap;
use std::time::Duration;

use notarium_record::{Epoch, InstanceId, NotebookId};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::reader::{notebook_id, number, required};
use crate::nodes::{Lease, LivingNodes, NODE_TIMEOUT, Node, SeenNode};

/// Seconds after which a dead node is forgotten.
const FORGOTTEN_AFTER_S: f64 = 3_600.0;

/// Takes the lease; returns its epoch, or 0 if there is no such notebook. Waits for an append that is in flight.
pub(super) async fn take_lease(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    instance: &InstanceId,
) -> Result<Epoch, sqlx::Error> {
    // Epoch 0 is that of the append which made the notebook.
    let sql = "UPDATE notebooks SET epoch = epoch + 1, holder = $2 \
               WHERE id = $1 AND version > 0 AND (holder IS DISTINCT FROM $2 OR epoch = 0) RETURNING epoch";
    let taken = sqlx::query(sql).bind(notebook.as_str()).bind(instance.as_str());
    if let Some(row) = taken.fetch_optional(&mut *connection).await? {
        return number(&row, 0);
    }
    let sql = "SELECT epoch FROM notebooks WHERE id = $1 AND holder = $2";
    let had = sqlx::query(sql).bind(notebook.as_str()).bind(instance.as_str()).fetch_optional(connection).await?;
    had.map_or(Ok(0), |row| number(&row, 0))
}

pub(super) async fn release_lease(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    instance: &InstanceId,
) -> Result<(), sqlx::Error> {
    let sql = "UPDATE notebooks SET epoch = epoch + 1, holder = NULL WHERE id = $1 AND holder = $2";
    sqlx::query(sql).bind(notebook.as_str()).bind(instance.as_str()).execute(connection).await.map(drop)
}

pub(super) async fn leases(pool: &PgPool, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, sqlx::Error> {
    let ids: Vec<&str> = notebooks.iter().map(NotebookId::as_str).collect();
    let sql = "SELECT id, holder, epoch FROM notebooks WHERE id = ANY($1) AND holder IS NOT NULL";
    let rows = sqlx::query(sql).bind(ids).fetch_all(pool).await?;
    let lease = |row: &PgRow| {
        Ok::<_, sqlx::Error>(Lease { holder: required(row, 1, |id| id.parse())?, epoch: number(row, 2)? })
    };
    rows.iter().map(|row| Ok((notebook_id(row, 0)?, lease(row)?))).collect()
}

/// Notes that a node lives, and returns those that do.
pub(super) async fn beat(connection: &mut PgConnection, node: &Node) -> Result<LivingNodes, sqlx::Error> {
    let sql = "INSERT INTO nodes (instance, url, seen_at, is_draining, level, version) \
               VALUES ($1, $2, clock_timestamp(), $3, $4, $5) \
               ON CONFLICT (instance) DO UPDATE SET url = EXCLUDED.url, seen_at = EXCLUDED.seen_at, \
               is_draining = EXCLUDED.is_draining, level = EXCLUDED.level, version = EXCLUDED.version";
    let query = sqlx::query(sql).bind(node.instance.as_str()).bind(&node.url).bind(node.is_draining);
    let query = query.bind(i32::try_from(node.level).unwrap_or(i32::MAX)).bind(&node.version);
    query.execute(&mut *connection).await?;
    let sql = "SELECT instance, url, is_draining, level, version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM nodes \
               WHERE seen_at > clock_timestamp() - make_interval(secs => $1) ORDER BY instance";
    let rows = sqlx::query(sql).bind(NODE_TIMEOUT.as_secs_f64()).fetch_all(connection).await?;
    let mut living = LivingNodes::default();
    for row in &rows {
        living.now = number(row, 5)?;
        living.nodes.push(node_of(row)?);
    }
    Ok(living)
}

/// Reads instance, URL, draining, level and version.
fn node_of(row: &PgRow) -> Result<Node, sqlx::Error> {
    Ok(Node {
        instance: required(row, 0, |id| id.parse())?,
        url: row.try_get(1)?,
        is_draining: row.try_get(2)?,
        level: u32::try_from(row.try_get::<i32, _>(3)?).unwrap_or(0),
        version: row.try_get(4)?,
    })
}

/// Returns the nodes that are not forgotten, also dead ones.
pub(super) async fn seen(pool: &PgPool) -> Result<Vec<SeenNode>, sqlx::Error> {
    let sql = "SELECT instance, url, is_draining, level, version, (extract(epoch FROM seen_at) * 1000)::bigint, \
               seen_at > clock_timestamp() - make_interval(secs => $1) FROM nodes \
               WHERE seen_at > clock_timestamp() - make_interval(secs => $2) ORDER BY instance";
    let rows = sqlx::query(sql).bind(NODE_TIMEOUT.as_secs_f64()).bind(FORGOTTEN_AFTER_S).fetch_all(pool).await?;
    let seen = |row: &PgRow| Ok(SeenNode { node: node_of(row)?, seen_at: number(row, 5)?, is_alive: row.try_get(6)? });
    rows.iter().map(seen).collect()
}

pub(super) async fn now(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    number(&sqlx::query(sql).fetch_one(pool).await?, 0)
}

/// Returns the number of nodes that were seen within a time.
pub(super) async fn living(pool: &PgPool, within: Duration) -> Result<i64, sqlx::Error> {
    let sql = "SELECT count(*) FROM nodes WHERE seen_at > clock_timestamp() - make_interval(secs => $1)";
    sqlx::query_scalar(sql).bind(within.as_secs_f64()).fetch_one(pool).await
}

/// Forgets this node, and those that died long ago.
pub(super) async fn leave(connection: &mut PgConnection, instance: &InstanceId) -> Result<(), sqlx::Error> {
    let sql = "DELETE FROM nodes WHERE instance = $1 OR seen_at < clock_timestamp() - make_interval(secs => $2)";
    sqlx::query(sql).bind(instance.as_str()).bind(FORGOTTEN_AFTER_S).execute(connection).await.map(drop)
}
