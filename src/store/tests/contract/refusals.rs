//! Cases of databases that are not opened, and of servers that go away.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};

use super::*;

async fn connection(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    options.connect().await.unwrap()
}

async fn run(connection: &mut PgConnection, sql: &str) {
    sqlx::query(AssertSqlSafe(sql.to_owned())).execute(connection).await.unwrap();
}

async fn refusal(url: &str) -> String {
    match Postgres::open(url, None).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

fn database_of(url: &str) -> &str {
    url.rsplit_once("/test_").unwrap().1.split('?').next().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_program_s_database_is_refused_and_left_alone() {
    let Some(url) = postgres::new_database().await else { return };
    let mut own = connection(&url).await;
    run(&mut own, "CREATE TABLE customers (id INT)").await;
    let refused = refusal(&url).await;
    assert!(refused.contains("another program"), "{refused}");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(sqlx::query_scalar::<_, i64>(tables).fetch_one(&mut own).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_schema_is_refused() {
    let Some(url) = postgres::new_database().await else { return };
    Postgres::open(&url, None).await.unwrap().close().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', TRUE, '', 0)";
    run(&mut connection(&url).await, newer).await;
    assert!(matches!(Postgres::open(&url, None).await.err(), Some(StoreError::TooNew { found: 9_999, .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_release_keeps_nobody_out_until_its_upgrade_ends() {
    let Some(url) = postgres::new_database().await else { return };
    let empty = Postgres::upgrade_has_ended(&url).await.unwrap_err().to_string();
    assert!(empty.contains("no server has opened it"), "{empty}");
    let store = Postgres::open(&url, None).await.unwrap();
    assert!(store.is_upgraded().await.unwrap(), "a new database has nothing to end");
    assert!(Postgres::upgrade_has_ended(&url).await.unwrap(), "while a server has it open");
    store.close().await;
    let mut own = connection(&url).await;
    let newer = "INSERT INTO additive_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', TRUE, '', 0)";
    run(&mut own, newer).await;
    Postgres::open(&url, None).await.unwrap().close().await;
    let older = "INSERT INTO nodes (instance, url, seen_at, is_draining, level) VALUES ('older', '', now(), FALSE, 1)";
    run(&mut own, older).await;
    let refused = Postgres::finish_upgrade(&url, 2).await.unwrap_err().to_string();
    assert!(refused.contains("1 of its nodes run the release before"), "{refused}");
    run(&mut own, "DELETE FROM nodes").await;
    Postgres::finish_upgrade(&url, 2).await.unwrap();
    Postgres::open(&url, None).await.expect("its own upgrade has ended, not that of the newer release").close().await;
    run(&mut own, "INSERT INTO _sqlx_migrations SELECT * FROM additive_migrations WHERE version = 9999").await;
    assert!(matches!(Postgres::open(&url, None).await.err(), Some(StoreError::TooNew { found: 9_999, .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_would_lose_what_was_answered_are_refused() {
    let Some(url) = postgres::new_database().await else { return };
    let mut own = connection(&url).await;
    let name = format!("test_{}", database_of(&url));
    for (setting, said) in
        [("synchronous_commit = off", "synchronous_commit"), ("default_transaction_read_only = on", "read-only")]
    {
        run(&mut own, &format!("ALTER DATABASE {name} SET {setting}")).await;
        let refused = refusal(&url).await;
        assert!(refused.contains(said), "{refused}");
        run(&mut own, &format!("ALTER DATABASE {name} RESET {}", setting.split(' ').next().unwrap())).await;
    }
    Postgres::open(&url, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_told_without_the_password() {
    let refused = refusal("postgresql://ann:secret-word@127.0.0.1:1/notes").await;
    assert!(refused.contains("127.0.0.1:1/notes") && !refused.contains("secret-word"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_another_cluster_are_refused_while_the_first_lives() {
    let Some(url) = postgres::new_database().await else { return };
    let first = Postgres::open(&url, Some([1; 32])).await.unwrap();
    first
        .beat(&Node {
            instance: instance("one"),
            url: "http://one".to_owned(),
            is_draining: false,
            level: 1,
            version: String::new(),
        })
        .await
        .unwrap();
    let refused = Postgres::open(&url, Some([2; 32])).await.err();
    assert!(matches!(&refused, Some(StoreError::Refused { reason }) if reason.contains("secret")), "{refused:?}");
    Postgres::open(&url, Some([1; 32])).await.unwrap();
    first.leave(&instance("one")).await.unwrap();
    Postgres::open(&url, Some([2; 32])).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_its_connections_is_connected_to_again() {
    let Some(url) = postgres::new_database().await else { return };
    let store = Postgres::open(&url, None).await.unwrap();
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    let mut own = connection(&url).await;
    for _ in 0..3 {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        run(&mut own, end).await;
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
        let append = author.rename("after");
        match store.append(append.clone()).await {
            Ok(()) => {}
            Err(AppendError::Store(StoreError::Unknown { .. })) => store.append(append).await.unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(store.read(&author.notebook_id, 0, 100).await.unwrap().len(), 4);
    assert_eq!(store.troubles(), [""; 0]);
}
