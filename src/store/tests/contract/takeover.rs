//! Cases of two nodes over one database of PostgreSQL.

use std::future::Future;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

use super::*;

/// Two nodes, and a connection of the test's own.
struct TwoNodes {
    one: Arc<Postgres>,
    two: Arc<Postgres>,
    observer: PgConnection,
    author: Author,
}

impl TwoNodes {
    /// Opens two stores over one database, with a notebook whose lease the first one has. `None`: no PostgreSQL.
    async fn open() -> Option<Self> {
        let url = postgres::migrated_database().await?;
        let one = Arc::new(Postgres::open(&url, None).await.unwrap());
        let two = Arc::new(Postgres::open(&url, None).await.unwrap());
        let options: PgConnectOptions = url.parse().unwrap();
        let observer = options.connect().await.unwrap();
        let mut author = Author::new("nb");
        one.append(author.rename("first")).await.unwrap();
        author.epoch = one.take_lease(&author.notebook_id, &instance("one")).await.unwrap();
        Some(Self { one, two, observer, author })
    }

    /// Waits until this many statements of other connections wait for a lock.
    async fn waiting(observer: &mut PgConnection, count: i64) {
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut *observer).await.unwrap() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Starts `first`, then `second`, both of which wait for the notebook's row, then lets them go on in this order.
    async fn in_order<A: Future<Output: Send> + Send + 'static, B: Future<Output: Send> + Send + 'static>(
        &mut self,
        first: A,
        second: B,
    ) -> (A::Output, B::Output) {
        let mut holder = self.observer.begin().await.unwrap();
        sqlx::query("SELECT 1 FROM notebooks FOR UPDATE").execute(&mut *holder).await.unwrap();
        let first = tokio::spawn(first);
        Self::waiting(&mut holder, 1).await;
        let second = tokio::spawn(second);
        Self::waiting(&mut holder, 2).await;
        holder.rollback().await.unwrap();
        (first.await.unwrap(), second.await.unwrap())
    }

    fn append(store: &Arc<Postgres>, append: Append) -> impl Future<Output = Result<(), AppendError>> + use<> {
        let store = store.clone();
        async move { store.append(append).await }
    }

    fn take(&self) -> impl Future<Output = Result<u64, StoreError>> + use<> {
        let (store, id) = (self.two.clone(), self.author.notebook_id.clone());
        async move { store.take_lease(&id, &instance("two")).await }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_take_leases_in_turns() {
    let Some(TwoNodes { one, two, mut author, .. }) = TwoNodes::open().await else { return };
    let id = author.notebook_id.clone();
    for turn in 0..6 {
        let (node, name, other) = if turn % 2 == 0 { (&two, "two", &one) } else { (&one, "one", &two) };
        let before = author.epoch;
        author.epoch = node.take_lease(&id, &instance(name)).await.unwrap();
        assert_eq!(author.epoch, before + 1);
        node.append(author.rename("mine")).await.unwrap();
        let head = author.head;
        let late = Append { epoch: before, ..author.rename("late") };
        assert_eq!(other.append(late).await, Err(AppendError::LeaseLost { epoch: author.epoch }));
        author.head = head;
        assert_eq!(other.head(&id).await.unwrap(), Some(head), "each node sees what the other wrote");
    }
    let read = one.read(&id, 0, 100).await.unwrap();
    assert_eq!(verify_chain(Head::START, &read), Ok(author.head));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_at_a_time_has_the_turn_of_the_tree_and_a_broken_connection_ends_it() {
    let Some(TwoNodes { one, two, mut observer, .. }) = TwoNodes::open().await else { return };
    sqlx::query("INSERT INTO signing_keys VALUES ('key', '', 0)").execute(&mut observer).await.unwrap();
    let mut first = one.tree_turn("key").await.unwrap();
    let waiting = tokio::spawn({
        let two = two.clone();
        async move { two.tree_turn("key").await.map(drop) }
    });
    for _ in 0..100 {
        assert!(first.is_held().await && !waiting.is_finished());
    }
    drop(first);
    waiting.await.unwrap().unwrap();
    let mut last = one.tree_turn("key").await.unwrap();
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
    sqlx::query(sql).execute(&mut observer).await.unwrap();
    assert!(!last.is_held().await);
    two.tree_turn("key").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_takeover_waits_for_an_append_in_flight_and_sees_it() {
    let Some(mut nodes) = TwoNodes::open().await else { return };
    let append = nodes.author.rename("in flight");
    let (append, take) = (TwoNodes::append(&nodes.one, append), nodes.take());
    let (appended, taken) = nodes.in_order(append, take).await;
    assert_eq!((appended, taken), (Ok(()), Ok(2)));
    assert_eq!(nodes.two.head(&nodes.author.notebook_id).await.unwrap(), Some(nodes.author.head));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_behind_a_takeover_in_flight_is_refused() {
    let Some(mut nodes) = TwoNodes::open().await else { return };
    let before = nodes.author.head;
    let append = nodes.author.rename("too late");
    let (take, append) = (nodes.take(), TwoNodes::append(&nodes.one, append));
    let (taken, appended) = nodes.in_order(take, append).await;
    assert_eq!((taken, appended), (Ok(2), Err(AppendError::LeaseLost { epoch: 2 })));
    assert_eq!(nodes.two.head(&nodes.author.notebook_id).await.unwrap(), Some(before));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_appends_in_flight_one_wins() {
    let Some(mut nodes) = TwoNodes::open().await else { return };
    let before = (nodes.author.head, nodes.author.context.clone());
    let first = nodes.author.rename("first");
    (nodes.author.head, nodes.author.context) = before;
    let mut second = nodes.author.rename("second");
    second.commands[0].command_id = CommandId::new("second").unwrap();
    let (one, two) = (TwoNodes::append(&nodes.one, first.clone()), TwoNodes::append(&nodes.two, second));
    let (one, two) = nodes.in_order(one, two).await;
    assert_eq!((one, two), (Ok(()), Err(AppendError::VersionConflict { actual: Some(first.head()) })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_batch_the_appends_of_a_lost_notebook_alone_are_refused() {
    let Some(TwoNodes { one, two, .. }) = TwoNodes::open().await else { return };
    let mut authors: Vec<Author> = (0..20).map(|index| Author::new(&format!("of-{index}"))).collect();
    for author in &mut authors {
        one.append(author.rename("before")).await.unwrap();
        author.epoch = one.take_lease(&author.notebook_id, &instance("one")).await.unwrap();
    }
    for author in authors.iter().step_by(3) {
        two.take_lease(&author.notebook_id, &instance("two")).await.unwrap();
    }
    // Two appends of each notebook, all in one batch.
    let appends: Vec<Append> = authors.iter_mut().flat_map(|author| [author.rename("a"), author.rename("b")]).collect();
    let results = futures_util::future::join_all(appends.into_iter().map(|append| one.append(append))).await;
    for (index, result) in results.into_iter().enumerate() {
        let expected = if (index / 2) % 3 == 0 { Err(AppendError::LeaseLost { epoch: 2 }) } else { Ok(()) };
        assert_eq!(result, expected, "{index}");
    }
    for (index, author) in authors.iter().enumerate() {
        let versions = if index % 3 == 0 { vec![1] } else { vec![1, 2, 3] };
        let read = two.read(&author.notebook_id, 0, 100).await.unwrap();
        assert_eq!(super::versions(&read), versions, "{index}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_given_back_is_nobody_s() {
    let Some(TwoNodes { one, two, mut author, .. }) = TwoNodes::open().await else { return };
    let id = author.notebook_id.clone();
    assert_eq!(two.lease(&id).await.unwrap(), Some(Lease { holder: instance("one"), epoch: 1 }));
    two.release_lease(&id, &instance("two")).await.unwrap();
    assert_eq!(one.lease(&id).await.unwrap(), Some(Lease { holder: instance("one"), epoch: 1 }), "it is not two's");
    one.release_lease(&id, &instance("one")).await.unwrap();
    assert_eq!(one.lease(&id).await.unwrap(), None);
    assert_eq!(one.append(author.rename("late")).await, Err(AppendError::LeaseLost { epoch: 2 }));
    assert_eq!(two.take_lease(&id, &instance("two")).await, Ok(3));
    assert_eq!(two.lease(&notebook("nowhere")).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_makes_a_notebook_has_it() {
    let Some(TwoNodes { one, two, .. }) = TwoNodes::open().await else { return };
    let mut author = Author::new("new");
    let id = author.notebook_id.clone();
    assert_eq!(one.take_lease(&id, &instance("one")).await, Ok(0), "it is not there");
    one.append(author.rename("made")).await.unwrap();
    assert_eq!(two.lease(&id).await.unwrap(), Some(Lease { holder: instance("one"), epoch: 0 }));
    one.append(author.rename("more")).await.unwrap();
    assert_eq!(one.take_lease(&id, &instance("one")).await, Ok(1), "its room was opened anew");
    assert_eq!(two.take_lease(&id, &instance("two")).await, Ok(2));
    assert_eq!(one.append(author.rename("late")).await, Err(AppendError::LeaseLost { epoch: 2 }));
}

fn node(name: &str, is_draining: bool) -> Node {
    Node {
        instance: instance(name),
        url: format!("http://{name}:7777"),
        is_draining,
        level: 1,
        version: "0.2.0".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_live_as_long_as_they_say_so() {
    let Some(TwoNodes { one, two, mut observer, .. }) = TwoNodes::open().await else { return };
    assert_eq!(one.beat(&node("one", false)).await.unwrap().nodes, [node("one", false)]);
    let living = two.beat(&node("two", true)).await.unwrap();
    assert_eq!(living.nodes, [node("one", false), node("two", true)]);
    assert!(living.now > 1_700_000_000_000);
    let silent = "UPDATE nodes SET seen_at = seen_at - interval '4 s' WHERE instance = 'one'";
    sqlx::query(silent).execute(&mut observer).await.unwrap();
    assert_eq!(two.beat(&node("two", false)).await.unwrap().nodes, [node("two", false)]);
    let seen = two.seen().await.unwrap();
    let alive: Vec<_> = seen.iter().map(|seen| (seen.node.clone(), seen.is_alive)).collect();
    assert_eq!(alive, [(node("one", false), false), (node("two", false), true)]);
    assert!(seen[0].seen_at < seen[1].seen_at && seen[1].seen_at >= living.now, "{seen:?} {living:?}");
    let long_ago = "UPDATE nodes SET seen_at = seen_at - interval '1 h' WHERE instance = 'one'";
    sqlx::query(long_ago).execute(&mut observer).await.unwrap();
    assert_eq!(two.seen().await.unwrap().len(), 1, "forgotten");
    assert_eq!(one.beat(&node("one", false)).await.unwrap().nodes.len(), 2, "it was silent, and lives");
    two.leave(&instance("two")).await.unwrap();
    assert_eq!(one.beat(&node("one", false)).await.unwrap().nodes, [node("one", false)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_together_migrate_an_empty_database_once() {
    let Some(url) = postgres::new_database().await else { return };
    let starting = (0..6).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { Postgres::open(&url, Some([1; 32])).await.map(drop) })
    });
    for started in futures_util::future::join_all(starting).await {
        started.unwrap().unwrap();
    }
}
