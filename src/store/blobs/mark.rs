//! The file of a data folder that names the place of its blobs, so that no later start takes the folder itself.

use std::path::Path;

use super::{BlobError, BlobLocation, BlobLocationError};

const MARK_FILE: &str = "blobs.location";

/// Returns an error if the data folder names another place for its blobs, and none is given.
pub fn check_mark(folder: &Path, location: Option<&BlobLocation>) -> Result<(), BlobLocationError> {
    let mark = folder.join(MARK_FILE);
    let Ok(text) = std::fs::read_to_string(&mark) else { return Ok(()) };
    let place = text.trim().to_owned();
    match location {
        None => Err(BlobLocationError::Elsewhere { place, mark: mark.display().to_string() }),
        Some(location) if location.to_string() != place => {
            tracing::warn!(%location, before = place, "the blobs of this data were in another place: those that were not moved are missing");
            Ok(())
        }
        Some(_) => Ok(()),
    }
}

/// Writes the place of the blobs into the data folder.
pub fn set_mark(folder: &Path, location: &BlobLocation) -> Result<(), BlobLocationError> {
    let mark = folder.join(MARK_FILE);
    let unwritable = |error| BlobError::Unavailable { reason: format!("{}: {error}", mark.display()) };
    Ok(std::fs::write(&mark, format!("{location}\n")).map_err(unwritable)?)
}
