//! Blobs for previews. Previews are pure and cannot wait: missing blobs are fetched, and the preview is rendered again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use notarium_core::{BlobPart, NotebookId};

use crate::host::Host;
use crate::preview::{MAX_READ_BYTES, ReadBlob};

/// Most renderings of one answer. Two are enough: the first names all blobs; the third is a reserve.
const MAX_ROUNDS: usize = 3;
/// Most blobs that one answer reads.
const MAX_BLOBS: usize = 64;
/// Most bytes that one answer reads; larger blobs are rendered as missing.
const MAX_BYTES: usize = 32 << 20;

/// The result of `render` once it has the blobs that it requests.
pub async fn with_blobs<T>(host: &dyn Host, notebook: &NotebookId, render: impl Fn(&ReadBlob) -> T + Send + Sync) -> T {
    let mut known: BTreeMap<String, Bytes> = BTreeMap::new();
    let mut left = MAX_BYTES;
    for _ in 0..MAX_ROUNDS {
        let (rendered, missing) = ask(&known, &render);
        if missing.is_empty() || known.len() >= MAX_BLOBS {
            return rendered;
        }
        for sha256 in missing.into_iter().take(MAX_BLOBS - known.len()) {
            let blob = host.blob(notebook, &sha256, left.min(MAX_READ_BYTES)).await.unwrap_or_default();
            left -= blob.len();
            known.insert(sha256, blob);
        }
    }
    ask(&known, &render).0
}

fn ask<T>(known: &BTreeMap<String, Bytes>, render: impl Fn(&ReadBlob) -> T) -> (T, BTreeSet<String>) {
    let missing = RefCell::new(BTreeSet::new());
    let read = |part: &BlobPart, most: usize| match known.get(&part.sha256) {
        Some(bytes) => (!bytes.is_empty()).then(|| bytes[..bytes.len().min(most)].to_vec()),
        None => {
            if part.size_bytes <= MAX_READ_BYTES as u64 {
                missing.borrow_mut().insert(part.sha256.clone());
            }
            None
        }
    };
    let rendered = render(&read);
    (rendered, missing.into_inner())
}
