use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::contract::{Store, contract_suite};

async fn open() -> (Store, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Arc::new(Sqlite::open(folder.path()).await.unwrap()), folder)
}

contract_suite!(open);
