//! `--attach`: pictures and text files for a question.

use std::path::Path;

use notarium_core::attachments::kind_of;
use notarium_core::{Attachment, Hash};
use notarium_wire::rest::Uploaded;
use reqwest::{Method, header};
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::input;

/// Uploads a file for the notebook.
pub async fn upload(notebook: &NotebookClient, file: &Path) -> Result<Attachment, Failure> {
    let bytes = input::bytes(file).await?;
    let unnamed = || Failure::usage(format!("{} has no name that can be sent: rename it", file.display()));
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(unnamed)?.to_owned();
    let media_type = media_type(&name, &bytes);
    if kind_of(&media_type).is_none() {
        let message = format!(
            "{name} is neither a picture (PNG, JPEG, GIF, WebP) nor text, and models take nothing else: `notarium upload` brings it \
             beside the notebook, where the assistant reads it by code"
        );
        return Err(Failure::usage(message));
    }
    let sha256 = Hash(Sha256::digest(&bytes).into()).to_string();
    let request = notebook.client.request(Method::PUT, &notebook.path(&format!("/blobs/{sha256}")));
    let request = request.header(header::CONTENT_TYPE, media_type.as_str()).body(bytes);
    let Uploaded { size_bytes, .. } = notebook.client.json(request).await?;
    Ok(Attachment { sha256, size_bytes, media_type, name })
}

/// The MIME type by content, because a file's name is unreliable.
fn media_type(name: &str, bytes: &[u8]) -> String {
    let pictures: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ];
    if let Some((_, media_type)) = pictures.iter().find(|(begins, _)| bytes.starts_with(begins)) {
        return (*media_type).to_owned();
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp".to_owned();
    }
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        _ if !is_text => "application/octet-stream",
        Some("json" | "ipynb") => "application/json",
        Some("csv") => "text/csv",
        Some("md") => "text/markdown",
        Some("py") => "text/x-python",
        _ => "text/plain",
    }
    .to_owned()
}
