//! Pictures of cells: what `get_cell_image` records of one, and how it is found again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::{CellId, NotebookId, Output};
use serde_json::{Value, json};

use crate::host::Host;

/// Bytes of a picture, as PNG: more no model takes.
pub const MAX_IMAGE_BYTES: usize = 5 << 20;

/// What `get_cell_image` records: where the picture is, or the picture itself where it is small.
pub struct PngResult {
    pub size_bytes: usize,
    pub sha256: Option<String>,
    pub base64: Option<String>,
}

impl PngResult {
    pub fn of(output: &Output, png: &[u8]) -> Self {
        let part = output.blobs.iter().find(|part| part.pointer == "/data/image~1png");
        let sha256 = part.map(|part| part.sha256.clone());
        let base64 = sha256.is_none().then(|| STANDARD.encode(png));
        Self { size_bytes: png.len(), sha256, base64 }
    }

    pub fn to_text(&self, cell_id: &CellId) -> String {
        let mut image = json!({"media_type": "image/png", "size_bytes": self.size_bytes});
        if let Some(sha256) = &self.sha256 {
            image["blob"] = json!(sha256);
        }
        if let Some(base64) = &self.base64 {
            image["base64"] = json!(base64);
        }
        json!({"cell_id": cell_id, "image": image}).to_string()
    }

    fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let image = value.get("image")?;
        let word = |name: &str| image.get(name).and_then(Value::as_str).map(str::to_owned);
        let size_bytes = usize::try_from(image.get("size_bytes")?.as_u64()?).ok()?;
        Some(Self { size_bytes, sha256: word("blob"), base64: word("base64") })
    }

    /// The PNG that a recorded result of `get_cell_image` names, as base64. `None`: it is gone, too large or damaged.
    pub async fn load(host: &dyn Host, notebook: &NotebookId, result: &str) -> Option<String> {
        let found = Self::parse(result)?;
        let text = match found.base64 {
            Some(base64) => base64,
            None => {
                // The blob is the output's own text: base64, with line breaks.
                let blob = host.blob(notebook, &found.sha256?, 2 * MAX_IMAGE_BYTES).await?;
                let text: String = String::from_utf8_lossy(&blob).chars().filter(|one| !one.is_whitespace()).collect();
                text.trim_matches('"').to_owned()
            }
        };
        let png = STANDARD.decode(&text).ok()?;
        (png.len() <= MAX_IMAGE_BYTES).then_some(text)
    }
}

/// Whether a result may be one of `get_cell_image`.
pub fn may_show(result: &str) -> bool {
    result.contains("\"image/png\"")
}

/// The result without the picture's own data: a model sees that as a picture, or not at all.
pub fn without_data(result: &str) -> Option<String> {
    let mut value: Value = may_show(result).then(|| serde_json::from_str(result).ok()).flatten()?;
    value.get_mut("image")?.as_object_mut()?.remove("base64")?;
    Some(value.to_string())
}
