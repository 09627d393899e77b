//! The manifest beside an exported file: read, and compared with the file.

use std::io::{self, ErrorKind};
use std::path::Path;

use notarium_core::Hash;
use notarium_wire::record_manifest::{MANIFEST_SCHEMA, RecordFormat, RecordManifest};

use crate::cli::Failure;
use crate::cli::history::export_record::{Hashing, manifest_of};

/// The manifest of an exported file.
pub fn read(file: &Path) -> Result<RecordManifest, Failure> {
    let path = manifest_of(file);
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::unreadable(&path, &error))?;
    parse(&path, &text)
}

/// The manifest of a file; `None` if there is none beside it.
pub fn find(file: &Path) -> Result<Option<RecordManifest>, Failure> {
    let path = manifest_of(file);
    match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unreadable(&path, &error)),
        Ok(text) => parse(&path, &text).map(Some),
    }
}

fn parse(path: &Path, text: &str) -> Result<RecordManifest, Failure> {
    let unusable = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!("{} is no manifest ({reason}): `notarium export-record` writes one", path.display()))
    };
    let schema = serde_json::from_str::<serde_json::Value>(text).map_err(|error| unusable(&error))?["schema"].clone();
    if schema != MANIFEST_SCHEMA {
        return Err(unusable(&format!("its schema is {schema}, this program knows {MANIFEST_SCHEMA}: update it")));
    }
    let manifest: RecordManifest = serde_json::from_str(text).map_err(|error| unusable(&error))?;
    if manifest.format != RecordFormat::Jsonl {
        return Err(unusable(&"only JSON Lines are verified and imported: export the record as jsonl"));
    }
    Ok(manifest)
}

/// Compares size and SHA-256 of the file with its manifest.
pub fn problem_of_file(file: &Path, manifest: &RecordManifest) -> Result<Option<String>, Failure> {
    let (sha256, size_bytes) = hash_of(file)?;
    if (sha256, size_bytes) == (manifest.sha256, manifest.size_bytes) {
        return Ok(None);
    }
    let fault = match size_bytes == manifest.size_bytes {
        true => "its SHA-256 is another than the manifest says; it was changed".to_owned(),
        false => {
            format!("it has {size_bytes} bytes, the manifest says {}; it was cut or changed", manifest.size_bytes)
        }
    };
    Ok(Some(format!("{} is not the file of its manifest: {fault}", file.display())))
}

/// SHA-256 and size of a file.
pub fn hash_of(file: &Path) -> Result<(Hash, u64), Failure> {
    let unreadable = |error: &io::Error| Failure::unreadable(file, error);
    let mut reader = std::fs::File::open(file).map_err(|error| unreadable(&error))?;
    let mut hashing = Hashing::new(io::sink());
    io::copy(&mut reader, &mut hashing).map_err(|error| unreadable(&error))?;
    let (sha256, size_bytes, _) = hashing.hashed();
    Ok((sha256, size_bytes))
}
