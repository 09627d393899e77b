//! Upgrades: the release before opens a folder until their end.

use super::*;

async fn versions(store: &Sqlite, sql: &'static str) -> Vec<i64> {
    sqlx::query_scalar(sql).fetch_all(store.readers()).await.unwrap()
}

const REQUIRED: &str = "SELECT version FROM _sqlx_migrations ORDER BY version";
const ADDITIVE: &str = "SELECT version FROM additive_migrations ORDER BY version";

#[tokio::test]
async fn migrations_of_a_newer_release_keep_nobody_out_until_its_upgrade_ends() {
    let newer = "INSERT INTO additive_migrations (version, description, success, checksum, execution_time) VALUES (9999, '', true, x'', 0)";
    let folder = written_folder().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    let mut transaction = store.begin().await.unwrap();
    sqlx::query(newer).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    store.close().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(versions(&store, ADDITIVE).await, [9999], "it is left alone");
    store.close().await;
    Sqlite::finish_upgrade(folder.path()).await.unwrap();
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(versions(&store, ADDITIVE).await, [9999], "the end of this release's upgrade leaves it alone too");
    // The newer release ends its upgrade.
    let finish = "INSERT INTO _sqlx_migrations SELECT 9999, '', '', true, x'', 0; DELETE FROM additive_migrations";
    let mut transaction = store.begin().await.unwrap();
    sqlx::raw_sql(finish).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    store.close().await;
    let error = refused(folder.path()).await;
    assert!(matches!(error, StoreError::TooNew { found: 9999, .. }), "{error:?}");
}

/// Makes the tables of the release before.
async fn tables_of_the_release_before(folder: &TempDir) {
    tables_up_to(15, folder.path()).await.close().await.unwrap();
}

#[tokio::test]
async fn a_folder_of_the_release_before_stays_its_own_until_the_upgrade_ends() {
    let folder = tempfile::tempdir().unwrap();
    tables_of_the_release_before(&folder).await;
    let has_ended = async || Sqlite::upgrade_has_ended(folder.path()).await.unwrap();
    assert!(!has_ended().await, "it was not opened yet");
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert!(!has_ended().await, "while a server has it open");
    let later: Vec<i64> = open::MIGRATIONS.iter().map(|(version, ..)| *version).filter(|it| *it > 15).collect();
    assert_eq!(
        versions(&store, REQUIRED).await,
        (1..=15).collect::<Vec<i64>>(),
        "the release before refuses any other"
    );
    assert_eq!(versions(&store, ADDITIVE).await, later);
    assert_eq!(store.is_upgraded().await.unwrap(), later.is_empty());
    store.close().await;
    for _ in 0..2 {
        Sqlite::finish_upgrade(folder.path()).await.unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        assert_eq!(versions(&store, REQUIRED).await.len(), open::MIGRATIONS.len());
        assert!(versions(&store, ADDITIVE).await.is_empty() && store.is_upgraded().await.unwrap());
        assert!(has_ended().await, "while a server has it open");
        store.close().await;
        assert!(has_ended().await, "while no server does");
    }
}

#[tokio::test]
async fn additive_migrations_are_applied_once_and_a_broken_one_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    tables_of_the_release_before(&folder).await;
    let before = open::MIGRATIONS.into_iter().filter(|(version, ..)| *version <= 15);
    let next = |sql| before.clone().chain([(16, "next", sql)]).collect::<Vec<_>>();
    let mut connection = open::options(&open::database_path(folder.path())).connect().await.unwrap();
    crate::schema::create_lists(&mut connection).await.unwrap();
    let broken = next("CREATE TABLE next (id TEXT); CREATE TABLE events (id TEXT)");
    assert!(crate::schema::migrate(&mut connection, &broken, Upgrade::Begin).await.is_err());
    let count = "SELECT count(*) FROM sqlite_schema WHERE name = 'next'";
    assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(&mut connection).await.unwrap(), 0);
    let good = next("CREATE TABLE next (id TEXT)");
    for _ in 0..2 {
        crate::schema::migrate(&mut connection, &good, Upgrade::Begin).await.unwrap();
    }
    let recorded: Vec<i64> = sqlx::query_scalar(ADDITIVE).fetch_all(&mut connection).await.unwrap();
    assert_eq!(recorded, [16]);
}

#[tokio::test]
async fn a_new_folder_has_nothing_to_end() {
    let (store, _folder) = open_sqlite().await;
    let all: Vec<i64> = open::MIGRATIONS.iter().map(|(version, ..)| *version).collect();
    assert_eq!((versions(&store, REQUIRED).await, versions(&store, ADDITIVE).await), (all, vec![]));
    assert!(store.is_upgraded().await.unwrap());
}
