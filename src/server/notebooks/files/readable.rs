//! Files for reading (HTML, Markdown, Python). Unlike `.ipynb` their text is made whole, so their outputs have a
//! smaller limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{Document, RawObject};
use notarium_export::{Cell, Format, Kind, Notebook};
use notarium_wire::ipynb::DocumentCell;
use notarium_wire::rest::ExportFormat;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::export;
use super::pieces::MAX_MAKING_MIB;
use crate::http::extract::too_large;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::rooms::metadata;

/// Limit of all large outputs in one file.
const MAX_BLOB_BYTES: u64 = 64 << 20;
/// Memory for one file: as values, as text, and while it is sanitised.
const MAKING_MIB: u32 = MAX_MAKING_MIB / 2;

pub async fn write(notebooks: &Notebooks, state: Arc<Document>, format: ExportFormat) -> Result<String, Problem> {
    let format = match format {
        ExportFormat::Html => Format::Html,
        ExportFormat::Md => Format::Markdown,
        ExportFormat::Py | ExportFormat::Ipynb => Format::Percent,
    };
    let kernelspec = kernelspec(&state.metadata);
    if format == Format::Percent && !["", "python", "ipython"].contains(&kernelspec.2.as_str()) {
        let detail = format!("the notebook's language is {}, not Python: export it as html, md or ipynb", kernelspec.2);
        return Err(Problem::invalid(detail));
    }
    let named = if format == Format::Percent { Vec::new() } else { export::named_blobs(&state, &state.order) };
    let total: u64 = named.iter().map(|part| part.size_bytes).sum();
    if total > MAX_BLOB_BYTES {
        return Err(too_large(format!(
            "the outputs have {total} bytes, more than the {MAX_BLOB_BYTES} of a file for reading: export it as ipynb, or clear large ones"
        )));
    }
    let _permits = notebooks.making_files.acquire_many(MAKING_MIB).await;
    let mut loaded = BTreeMap::new();
    for part in named {
        if let Some(bytes) = notebooks.blobs.load(&state.notebook_id, &part.sha256).await? {
            loaded.insert(part.sha256.clone(), bytes);
        }
    }
    let making = tokio::task::spawn_blocking(move || {
        let files = state.order.iter().filter_map(|id| export::cell(&state, id, &loaded));
        let (kernel_name, kernel_display_name, language) = kernelspec;
        let cells = files.map(cell).collect();
        let notebook = Notebook { title: state.title.clone(), kernel_name, kernel_display_name, language, cells };
        notarium_export::write(format, &notebook)
    });
    making.await.map_err(|error| {
        tracing::error!(%error, "writing a file failed");
        Problem::internal("the file could not be written: report it")
    })
}

/// Name, display name, language.
fn kernelspec(metadata: &RawObject) -> (String, String, String) {
    let metadata: Value = serde_json::from_str(metadata.get()).unwrap_or_default();
    let field = |part: &str, name: &str| metadata[part][name].as_str().unwrap_or_default().to_owned();
    let language = Some(field("kernelspec", "language")).filter(|language| !language.is_empty());
    let name = field("kernelspec", "name");
    let shown =
        Some(field("kernelspec", "display_name")).filter(|shown| !shown.is_empty()).unwrap_or_else(|| name.clone());
    (name, shown, language.unwrap_or_else(|| field("language_info", "name")).to_lowercase())
}

fn cell(file: DocumentCell) -> Cell {
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    let is_on = |flag: &str| file.flags.get(flag).is_some_and(|raw| raw.get() == "true");
    let mut outputs: Vec<Value> = file.outputs.iter().map(|raw| value(raw)).collect();
    outputs
        .extend(reply(&file).map(|text| json!({ "output_type": "display_data", "data": { "text/markdown": text } })));
    let attachments = file.attachments.iter().flatten().map(|(name, raw)| (name.clone(), value(raw))).collect();
    Cell {
        kind: match file.cell_type.as_str() {
            "markdown" => Kind::Markdown,
            "raw" => Kind::Raw,
            "sql" => Kind::Sql,
            "prompt" => Kind::Prompt,
            _ => Kind::Code,
        },
        execution_count: file.execution_count,
        outputs,
        attachments: Value::Object(attachments),
        is_source_hidden: is_on("source_hidden"),
        are_outputs_hidden: is_on("outputs_hidden"),
        source: file.source,
    }
}

/// The assistant's answer to a prompt.
fn reply(file: &DocumentCell) -> Option<String> {
    let own: Value = serde_json::from_str(file.metadata.get("notarium")?.get()).ok()?;
    own[metadata::REPLY]["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
