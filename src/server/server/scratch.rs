//! Folders and stores for tests. They live until the test's thread ends.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use notarium_store::Sqlite;
use notarium_store::accounts::AccountStore;
use tempfile::TempDir;

thread_local! {
    static FOLDERS: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
}

pub fn folder() -> PathBuf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    FOLDERS.with_borrow_mut(|folders| folders.push(folder));
    path
}

pub async fn database() -> Arc<Sqlite> {
    Arc::new(Sqlite::open(folder()).await.unwrap())
}

pub async fn accounts() -> Arc<dyn AccountStore> {
    database().await
}
