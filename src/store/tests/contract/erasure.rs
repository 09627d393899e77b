//! Contract tests of erasures: one event is left, with its command, and nothing else is written from then on.

use notarium_record::ERASED;
use notarium_store::PastLinesWritten;

use super::blobs::blob;
use super::catalog::entry;
use super::*;

/// An append of the event that erases the author's notebook.
pub(crate) fn erasure(author: &mut Author) -> Append {
    let payload = serde_json::json!({
        "reason": "a test", "version": author.head.version, "hash": author.head.hash, "access": []
    });
    author.append(&[(ERASED, &payload.to_string())])
}

/// A notebook with an event that erases it, which is not carried out yet, and the snapshot that it has.
pub(crate) async fn to_erase(store: &Store) -> (Author, Snapshot) {
    let mut author = five(store).await;
    let id = author.notebook_id.clone();
    store.append(Author::new("other").rename("stays")).await.unwrap();
    let snapshot = Snapshot::compress(1, author.head, b"state").unwrap();
    store.put_snapshot(&id, snapshot.clone()).await.unwrap();
    store.put_blame(&id, 5, b"blame".as_slice().into(), 1_000).await.unwrap();
    store.put_catalog(entry("nb", 5, 1)).await.unwrap();
    assert!(!store.erase(&id).await.unwrap(), "its last event is another one");
    assert_eq!(store.read(&id, 0, 100).await.unwrap().len(), 5);
    store.append(erasure(&mut author)).await.unwrap();
    (author, snapshot)
}

/// A store with the erased notebook `nb`, and `other`.
#[cfg(feature = "postgres")]
pub async fn erased(store: &Store) {
    let (author, _) = to_erase(store).await;
    assert!(store.erase(&author.notebook_id).await.unwrap());
}

pub async fn an_erased_notebook_is_one_event(store: Store) {
    let (author, _) = to_erase(&store).await;
    let id = &author.notebook_id;
    assert_eq!(store.unfinished_erasures().await.unwrap(), std::slice::from_ref(id));
    for _ in 0..2 {
        assert!(store.erase(id).await.unwrap());
        assert_eq!(store.unfinished_erasures().await.unwrap(), []);
        let left = store.read(id, 0, 100).await.unwrap();
        assert_eq!(left.iter().map(|stored| stored.envelope.version).collect::<Vec<_>>(), [6]);
        assert_eq!(verify_chain(Head::START, &left), Ok(author.head));
    }
    assert_eq!(store.read(id, 5, 1).await.unwrap().len(), 1);
    assert_eq!(store.head(id).await.unwrap(), Some(author.head));
    let others = store.read(&notebook("other"), 0, 100).await.unwrap();
    assert_eq!(verify_chain(Head::START, &others).map(|head| head.version), Ok(1));
}

pub async fn what_was_derived_from_an_erased_notebook_goes(store: Store) {
    let (author, _) = to_erase(&store).await;
    let id = &author.notebook_id;
    assert!(store.erase(id).await.unwrap());
    assert!(store.snapshot(id, None).await.unwrap().is_none());
    assert!(store.blame(id, 10).await.unwrap().is_none());
    assert!(store.catalog(CatalogQuery::default()).await.unwrap().entries.is_empty());
    assert!(!store.catalog_lag(None, 100).await.unwrap().contains(id));
    let actor = author.context.actor.key();
    assert!(store.command(id, &actor, &"c1".parse().unwrap()).await.unwrap().is_none());
    let last = store.command(id, &actor, &author.context.command_id).await.unwrap();
    assert_eq!(last.map(|command| command.version), Some(6), "a repeat gets the same answer");
}

pub async fn writes_that_were_under_way_do_not_bring_an_erased_notebook_back(store: Store) {
    let (author, snapshot) = to_erase(&store).await;
    let id = &author.notebook_id;
    assert!(store.erase(id).await.unwrap());
    assert!(store.put_snapshot(id, snapshot).await.is_err());
    assert!(store.put_blame(id, 5, b"blame".as_slice().into(), 1_000).await.is_err());
    assert!(store.put_catalog(entry("nb", 6, 1)).await.is_err());
    assert!(store.put_blob_record(blob("nb", 1)).await.is_err());
    let written = PastLinesWritten { version: 5, next: 0 };
    assert!(!store.put_past_lines(id, 0, written, Default::default()).await.unwrap());
}

pub async fn a_long_record_is_erased_to_its_last_event(store: Store) {
    let mut author = Author::new("long");
    for _ in 0..50 {
        let titles: Vec<String> = (0..100)
            .map(|number| serde_json::json!({ "title": format!("{number}"), "previous": "" }).to_string())
            .collect();
        let events: Vec<(&str, &str)> = titles.iter().map(|title| ("NotebookRenamed", title.as_str())).collect();
        store.append(author.append(&events)).await.unwrap();
    }
    store.append(author.rename("last")).await.unwrap();
    store.append(erasure(&mut author)).await.unwrap();
    assert!(store.erase(&author.notebook_id).await.unwrap());
    let left = store.read(&author.notebook_id, 0, 100).await.unwrap();
    assert_eq!(verify_chain(Head::START, &left), Ok(author.head));
    assert_eq!(store.sizes().await.unwrap().iter().filter(|size| size.log_bytes > 2_000).count(), 0);
}
