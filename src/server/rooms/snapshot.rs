//! What a snapshot holds: the document, which clients have too, and the ledger, which is this server's own. Each part has a
//! format of its own: the ledger may change with every release, and then costs a replay; the document may be read without it.

use std::sync::Arc;

use notarium_core::{Document, Head, Ledger, Notebook};
use notarium_store::Snapshot;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Of the parts' container.
const FORMAT: u32 = 5;
/// Raised when the document changes so that old JSON would be read wrongly.
const DOCUMENT_FORMAT: u32 = 1;
/// Raised when the ledger changes so that old JSON would be read wrongly.
const LEDGER_FORMAT: u32 = 2;
/// A snapshot that unpacks to more is not ours.
const MAX_BYTES: usize = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Parts<D, L> {
    document: Part<D>,
    ledger: Part<L>,
}

#[derive(Serialize, Deserialize)]
struct Part<T> {
    format: u32,
    state: T,
}

pub(super) fn pack(notebook: &Notebook, head: Head) -> Result<Snapshot, String> {
    let parts = Parts {
        document: Part { format: DOCUMENT_FORMAT, state: &*notebook.document },
        ledger: Part { format: LEDGER_FORMAT, state: &notebook.ledger },
    };
    let json = serde_json::to_vec(&parts).map_err(|error| error.to_string())?;
    Snapshot::compress(FORMAT, head, &json).map_err(|error| error.to_string())
}

/// Both parts; the error is a sentence.
pub(super) fn unpack(snapshot: &Snapshot) -> Result<Notebook, String> {
    let parts = parts(snapshot)?;
    let document: Document = read("document", DOCUMENT_FORMAT, &parts.document)?;
    let ledger: Ledger = read("ledger", LEDGER_FORMAT, &parts.ledger)?;
    Ok(Notebook { document: Arc::new(document), ledger })
}

/// The document alone, whatever the ledger beside it is.
pub(crate) fn unpack_document(snapshot: &Snapshot) -> Result<Document, String> {
    read("document", DOCUMENT_FORMAT, &parts(snapshot)?.document)
}

fn parts(snapshot: &Snapshot) -> Result<Parts<Box<RawValue>, Box<RawValue>>, String> {
    if snapshot.format != FORMAT {
        return Err(format!("its format is {}, this server knows {FORMAT}", snapshot.format));
    }
    let json = snapshot.decompress(MAX_BYTES).map_err(|error| error.to_string())?;
    serde_json::from_slice(&json).map_err(|error| error.to_string())
}

fn read<T: serde::de::DeserializeOwned>(what: &str, format: u32, part: &Part<Box<RawValue>>) -> Result<T, String> {
    if part.format != format {
        return Err(format!("the format of its {what} is {}, this server knows {format}", part.format));
    }
    serde_json::from_str(part.state.get()).map_err(|error| format!("its {what} does not parse: {error}"))
}

/// The same snapshot with another format of one part, as a newer server would write it.
#[cfg(test)]
pub(super) fn of_another_format(snapshot: &Snapshot, part: &str) -> Snapshot {
    let json = snapshot.decompress(MAX_BYTES).expect("it unpacks");
    let mut parts: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    parts[part]["format"] = 99.into();
    Snapshot::compress(snapshot.format, snapshot.head, parts.to_string().as_bytes()).expect("it compresses")
}
