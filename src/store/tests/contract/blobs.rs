//! Contract tests of blob records and sizes.

use super::*;

pub fn blob(name: &str, hash: u8) -> BlobRecord {
    BlobRecord {
        notebook_id: notebook(name),
        sha256: Hash([hash; 32]),
        size_bytes: 9,
        media_type: Some("image/png".to_owned()),
        uploaded_by: "agent:a".to_owned(),
        created_at: 7,
    }
}

pub async fn blobs_are_recorded_once(store: Store) {
    store.append(Author::new("a").rename("x")).await.unwrap();
    store.put_blob_record(blob("a", 1)).await.unwrap();
    store.put_blob_record(BlobRecord { uploaded_by: "user:bob".to_owned(), ..blob("a", 1) }).await.unwrap();
    assert_eq!(store.blob_record(&notebook("a"), &Hash([1; 32])).await.unwrap(), Some(blob("a", 1)));
    assert_eq!(store.blob_record(&notebook("b"), &Hash([1; 32])).await.unwrap(), None);
    assert!(matches!(store.put_blob_record(blob("b", 1)).await, Err(StoreError::Invalid { .. })));
}

pub async fn blobs_are_listed_and_forgotten(store: Store) {
    store.append(Author::new("a").rename("x")).await.unwrap();
    for hash in [2, 0, 255] {
        store.put_blob_record(blob("a", hash)).await.unwrap();
    }
    let id = notebook("a");
    assert_eq!(store.blob_records(&id, None, 0).await.unwrap(), [blob("a", 0), blob("a", 2), blob("a", 255)]);
    assert_eq!(store.blob_records(&id, Some(&Hash([0; 32])), 1).await.unwrap(), [blob("a", 2)]);
    store.delete_blob_record(&id, &Hash([2; 32])).await.unwrap();
    assert_eq!(store.blob_records(&id, None, 0).await.unwrap(), [blob("a", 0), blob("a", 255)]);
}

pub async fn what_each_notebook_takes_is_told(store: Store) {
    let log_bytes = |append: &Append| {
        let of = |event: &NewEvent| event.stored.payload.get().len() as u64 + notarium_store::EVENT_OVERHEAD_BYTES;
        append.events.iter().map(of).sum::<u64>()
    };
    let (mut a, mut b) = (Author::new("a"), Author::new("b"));
    // This text has more bytes than characters.
    let appends = [a.rename("é"), a.rename("a longer title"), b.rename("x")];
    let (of_a, of_b) = (log_bytes(&appends[0]) + log_bytes(&appends[1]), log_bytes(&appends[2]));
    for append in appends {
        store.append(append).await.unwrap();
    }
    for hash in [1, 2] {
        store.put_blob_record(blob("a", hash)).await.unwrap();
    }
    let mut sizes = store.sizes().await.unwrap();
    sizes.sort_by(|one, other| one.notebook_id.cmp(&other.notebook_id));
    let size = |name: &str, log_bytes, blob_bytes| NotebookSize { notebook_id: notebook(name), log_bytes, blob_bytes };
    assert_eq!(sizes, [size("a", of_a, 18), size("b", of_b, 0)]);
}

pub async fn a_retired_blob_is_told_until_it_is_back(store: Store) {
    store.append(Author::new("a").rename("x")).await.unwrap();
    let (id, sha256) = (notebook("a"), Hash([1; 32]));
    store.put_blob_record(blob("a", 1)).await.unwrap();
    assert_eq!(store.retired_blob(&id, &sha256).await.unwrap(), None);
    store.retire_blob(&id, &sha256, 77).await.unwrap();
    assert_eq!(store.retired_blob(&id, &sha256).await.unwrap(), Some(77));
    assert_eq!(store.blob_record(&id, &sha256).await.unwrap(), None);
    store.put_blob_record(blob("a", 1)).await.unwrap();
    assert_eq!(store.retired_blob(&id, &sha256).await.unwrap(), None);
}
