//! Pictures of cells: the recorded result of `get_cell_image`, and loading it again.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::{CellId, NotebookId, Output};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::Host;

/// Most bytes of a PNG: no model takes more.
pub const MAX_IMAGE_BYTES: usize = 5 << 20;

/// The recorded result of `get_cell_image`.
#[derive(Serialize, Deserialize)]
struct Shown {
    cell_id: CellId,
    image: PngResult,
}

/// Reference to the picture, or a small picture itself.
#[derive(Serialize, Deserialize)]
pub struct PngResult {
    media_type: Cow<'static, str>,
    size_bytes: usize,
    /// SHA-256 of the blob.
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl PngResult {
    /// The call's result for this output of the cell.
    pub fn text(cell_id: &CellId, output: &Output, png: &[u8]) -> String {
        let part = output.blobs.iter().find(|part| part.pointer == "/data/image~1png");
        let blob = part.map(|part| part.sha256.clone());
        let base64 = blob.is_none().then(|| STANDARD.encode(png));
        let image = Self { media_type: "image/png".into(), size_bytes: png.len(), blob, base64 };
        serde_json::to_string(&Shown { cell_id: cell_id.clone(), image }).unwrap_or_default()
    }

    /// The PNG that a recorded result of `get_cell_image` names, as base64. `None`: it is missing, too large or damaged.
    pub async fn load(host: &dyn Host, notebook: &NotebookId, result: &str) -> Option<String> {
        let found = serde_json::from_str::<Shown>(result).ok()?.image;
        let text = match found.base64 {
            Some(base64) => base64,
            None => {
                // The blob is the output's own text: base64, with line breaks.
                let blob = host.blob(notebook, &found.blob?, 2 * MAX_IMAGE_BYTES).await?;
                let text: String = String::from_utf8_lossy(&blob).chars().filter(|one| !one.is_whitespace()).collect();
                text.trim_matches('"').to_owned()
            }
        };
        let png = STANDARD.decode(&text).ok()?;
        (png.len() <= MAX_IMAGE_BYTES).then_some(text)
    }
}

/// True if a result may be one of `get_cell_image`.
pub fn may_show(result: &str) -> bool {
    result.contains("\"image/png\"")
}

/// The result without the picture's data: a model gets the data as a picture, or not at all.
pub fn without_data(result: &str) -> Option<String> {
    let mut value: Value = may_show(result).then(|| serde_json::from_str(result).ok()).flatten()?;
    value.get_mut("image")?.as_object_mut()?.remove("base64")?;
    Some(value.to_string())
}
