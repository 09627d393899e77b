//! The blobs that a record names: are they there, and what they were?

use std::collections::BTreeSet;

use notarium_core::Hash;
use reqwest::Method;
use sha2::{Digest, Sha256};

use super::super::Failure;
use super::super::client::NotebookClient;

/// What is wrong with those that are named, in one sentence that names each.
pub async fn problem(notebook: &NotebookClient, named: &BTreeSet<Hash>) -> Result<Option<String>, Failure> {
    let mut wrong = Vec::new();
    for sha256 in named {
        if let Some(word) = wrong_with(notebook, sha256).await? {
            wrong.push(format!("blob {sha256} {word}"));
        }
    }
    let say = || format!("{}; upload them again, or restore a backup", wrong.join(", "));
    Ok((!wrong.is_empty()).then(say))
}

async fn wrong_with(notebook: &NotebookClient, sha256: &Hash) -> Result<Option<&'static str>, Failure> {
    let request = notebook.client.request(Method::GET, &notebook.path(&format!("/blobs/{sha256}")));
    let mut answer = match notebook.client.send(request).await {
        Ok(answer) => answer,
        Err(failure) if failure.is_not_found() => return Ok(Some("is missing")),
        Err(failure) if failure.has_code("damaged") => return Ok(Some("is damaged")),
        Err(failure) => return Err(failure),
    };
    let mut digest = Sha256::new();
    let cut = |error: reqwest::Error| Failure::connection(format!("a blob was cut off ({error}): try again"));
    while let Some(piece) = answer.chunk().await.map_err(cut)? {
        digest.update(&piece);
    }
    Ok((Hash(digest.finalize().into()) != *sha256).then_some("is damaged"))
}
