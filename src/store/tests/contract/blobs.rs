//! Which blobs a notebook names.

use super::*;

fn blob(name: &str, hash: u8) -> BlobRecord {
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
