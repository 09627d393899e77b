//! Refuses an imported file with a part that is too large, by the cell's number. The core would refuse it too, without the place.

use notarium_core::{LimitName, Limits, Rejection};
use notarium_wire::ipynb::{Document, DocumentCell, Object};

pub fn check(file: &Document, limits: &Limits) -> Result<(), Rejection> {
    let max = limits.max_metadata_bytes;
    let bytes = size(&file.metadata);
    refuse(LimitName::Metadata, bytes, max, || {
        let largest = file.metadata.iter().max_by_key(|(_, value)| value.get().len()).map(|(name, _)| name.as_str());
        let name = largest.unwrap_or_default();
        format!(
            "the notebook's metadata has {bytes} bytes, more than the {max} allowed: make '{name}' in it smaller, or remove it"
        )
    })?;
    (1..).zip(&file.cells).try_for_each(|(number, cell)| check_cell(number, cell, limits))
}

fn check_cell(number: usize, cell: &DocumentCell, limits: &Limits) -> Result<(), Rejection> {
    let id = &cell.id;
    let (bytes, max) = (cell.source.len(), limits.max_source_bytes);
    refuse(LimitName::Source, bytes, max, || {
        format!(
            "cell {number} ({id}) has {bytes} bytes of text, more than the {max} that this server allows in a cell: split it, or \
             start the server with a larger --max-cell-size"
        )
    })?;
    let (bytes, max) = (cell.attachments.as_ref().map_or(0, size), limits.max_attachments_bytes);
    refuse(LimitName::Attachments, bytes, max, || {
        format!("cell {number} ({id}) has {bytes} bytes of attachments, more than the {max} allowed: link large files")
    })?;
    let (bytes, max) = (size(&cell.metadata), limits.max_metadata_bytes);
    refuse(LimitName::Metadata, bytes, max, || {
        format!("cell {number} ({id}) has {bytes} bytes of metadata, more than the {max} allowed: remove large entries")
    })
}

fn refuse(limit: LimitName, bytes: usize, max: usize, message: impl FnOnce() -> String) -> Result<(), Rejection> {
    if bytes > max { Err(limit.refusal(max as u64, message())) } else { Ok(()) }
}

/// Bytes of the object as JSON.
fn size(object: &Object) -> usize {
    2 + object.iter().map(|(name, value)| name.len() + value.get().len() + 4).sum::<usize>()
}
