//! Tests of event places: recent ones, and moved ones.

use super::*;
use crate::sqlite::rows::{EventRow, INSERT_EVENTS, INSERT_MANY_EVENTS, MAX_ROWS, SqlScript, Texts};
use crate::sqlite::writer::{MANY_EVENTS, MAX_RECENT_PLACES, MOVE_PLACES};

/// Returns the number of places in each of the two tables.
async fn counts(store: &Sqlite) -> (usize, usize) {
    let sql = "SELECT (SELECT count(*) FROM places), (SELECT count(*) FROM recent_places)";
    let (moved, recent): (i64, i64) = sqlx::query_as(sql).fetch_one(store.readers()).await.unwrap();
    (usize::try_from(moved).unwrap(), usize::try_from(recent).unwrap())
}

const RENAMED: (&str, &str) = ("NotebookRenamed", r#"{"title":"x","previous":"x"}"#);
const EVENTS: usize = 100;

/// Appends by two authors in turns, until some places of each are moved and some are not.
async fn moved_and_recent(store: &Sqlite) -> [Author; 2] {
    let mut authors = [Author::new("one"), Author::new("two")];
    for _ in 0..=MAX_RECENT_PLACES / EVENTS {
        for author in &mut authors {
            store.append(author.append(&[RENAMED; EVENTS])).await.unwrap();
        }
    }
    let (moved, recent) = counts(store).await;
    assert!(moved >= MAX_RECENT_PLACES && recent > 2 * EVENTS, "{moved} {recent}");
    authors
}

#[tokio::test]
async fn the_events_of_a_notebook_are_one_row_wherever_their_places_are() {
    let (store, folder) = open_sqlite().await;
    let authors = moved_and_recent(&store).await;
    for author in &authors {
        let (id, last) = (&author.notebook_id, author.head.version);
        let versions = |events: Vec<Stored>| events.iter().map(|event| event.envelope.version).collect::<Vec<_>>();
        let all = store.read(id, 0, 10_000).await.unwrap();
        assert_eq!(verify_chain(Head::START, &all).unwrap(), author.head);
        assert_eq!(versions(all), (1..=last).collect::<Vec<_>>());
        assert_eq!(versions(store.read(id, 3, 5).await.unwrap()), [4, 5, 6, 7, 8]);
        let middle = last / 2;
        assert_eq!(versions(store.read(id, middle, 10_000).await.unwrap()), (middle + 1..=last).collect::<Vec<_>>());
        let wanted = Selection { since: middle, with_notebook: true, ..Selection::default() };
        assert_eq!(
            versions(store.scan_by_subject(id, &wanted).await.unwrap()),
            (middle + 1..=last).collect::<Vec<_>>()
        );
    }
    store.close().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    for mut author in authors {
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
        store.append(author.rename("it goes on")).await.unwrap();
    }
    assert_eq!(counts(&store).await.1, 2, "the first write after a start moves what is there");
    store.health.checked().await;
    assert_eq!(store.troubles(), [""; 0]);
}

#[tokio::test]
async fn the_events_of_an_earlier_build_get_places() {
    let (store, folder) = open_sqlite().await;
    let authors = moved_and_recent(&store).await;
    store.close().await;
    let before = tempfile::tempdir().unwrap();
    let mut connection = tables_up_to(7, before.path()).await;
    let now = open::database_path(folder.path());
    sqlx::query("ATTACH ? AS now").bind(now.to_str()).execute(&mut connection).await.unwrap();
    for table in ["notebooks", "actors", "events"] {
        let sql = format!("SELECT group_concat(name) FROM pragma_table_info('{table}')");
        let columns: String = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        let sql = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}");
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    let store = Sqlite::open(before.path()).await.unwrap();
    for author in &authors {
        let events = store.read(&author.notebook_id, 0, 10_000).await.unwrap();
        assert_eq!(verify_chain(Head::START, &events).unwrap(), author.head);
    }
    let events = authors.iter().map(|author| usize::try_from(author.head.version).unwrap()).sum();
    assert_eq!(counts(&store).await, (events, 0));
    store.close().await;
}

#[tokio::test]
async fn many_events_at_once_go_where_others_are_moved_to() {
    let (store, _folder) = open_sqlite().await;
    let mut authors = [Author::new("one"), Author::new("two")];
    for (author, events, expected) in [
        (0, 1, (0, 1)),
        (1, MANY_EVENTS - 1, (0, MANY_EVENTS)),
        (1, MANY_EVENTS, (2 * MANY_EVENTS, 0)),
        (0, 2, (2 * MANY_EVENTS, 2)),
        (0, 2 * MAX_ROWS + 1, (2 * MANY_EVENTS + 2 * MAX_ROWS + 3, 0)),
    ] {
        store.append(authors[author].append(&vec![RENAMED; events])).await.unwrap();
        assert_eq!(counts(&store).await, expected, "{events} events");
    }
    for author in &authors {
        let events = store.read(&author.notebook_id, 0, 10_000).await.unwrap();
        assert_eq!(verify_chain(Head::START, &events).unwrap(), author.head);
    }
    store.close().await;
}

/// Uses the writer's own statements, in case it is ever wrong about a notebook's head.
#[tokio::test]
async fn the_database_refuses_two_events_of_one_version() {
    for statement in [&INSERT_EVENTS, &INSERT_MANY_EVENTS] {
        let (store, _folder) = open_sqlite().await;
        let [mut author, _] = moved_and_recent(&store).await;
        let last = author.head.version;
        let before = counts(&store).await;
        for (version, is_new) in [(1, false), (last, false), (last + 1, true)] {
            let mut append = author.append(&[RENAMED]);
            append.events[0].stored.envelope.version = version;
            let mut script = SqlScript::default();
            if *statement == INSERT_MANY_EVENTS {
                script.add(MOVE_PLACES);
            }
            script.insert(statement, &[EventRow { notebook: 1, actor: 1, event: &append.events[0] }]).unwrap();
            let written = store.writer.lock().await.run(script, &mut Texts::default()).await;
            assert_eq!(written.is_ok(), is_new, "{version}: {written:?}");
            assert!(is_new || counts(&store).await == before, "a refused batch leaves nothing");
        }
    }
}

#[tokio::test]
async fn an_event_without_its_place_is_found_by_the_check_after_the_start() {
    let (store, folder) = open_sqlite().await;
    moved_and_recent(&store).await;
    let mut transaction = store.begin().await.unwrap();
    sqlx::query("DELETE FROM places WHERE version = 7").execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    store.close().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    store.health.checked().await;
    assert!(store.troubles()[0].contains("database is damaged"), "{:?}", store.troubles());
    store.close().await;
}

/// The cost of a page depends on its content, not on the length of the log.
#[tokio::test]
async fn events_are_found_by_their_places() {
    let (store, _folder) = open_sqlite().await;
    for sql in [reader::READ, reader::SCAN_BY_SUBJECT] {
        let plan = plan_of(&store, sql).await;
        let searches = |table: &str| plan.iter().filter(|step| step.contains(table)).count();
        assert_eq!(searches("SEARCH places USING PRIMARY KEY (notebook=? AND version"), 1, "{plan:#?}");
        assert_eq!(searches("SEARCH recent_places USING PRIMARY KEY (notebook=? AND version"), 1, "{plan:#?}");
        assert!(searches("SEARCH e USING INTEGER PRIMARY KEY (rowid=?)") >= 1, "{plan:#?}");
        let is_whole = |step: &&String| step.contains("SCAN e") || step.contains("TEMP B-TREE");
        assert_eq!(plan.iter().find(is_whole), None, "{plan:#?}");
    }
}
