//! Outputs of runs: appended, updated by their display ids, cleared. The record and the replay are folded alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use notarium_core::{BlobPart, ExecutionId, Hash, MovedOutputs, Output, unescape_key};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;

/// Largest value of an output that is compared, in bytes.
const MAX_VALUE_BYTES: u64 = 64 << 20;

/// Outputs by run.
#[derive(Debug, Default)]
pub struct RunOutputs {
    by_run: BTreeMap<ExecutionId, Vec<Output>>,
    /// Runs whose outputs go when the next one comes.
    to_clear: BTreeSet<ExecutionId>,
}

impl RunOutputs {
    pub fn append(&mut self, id: &ExecutionId, outputs: &[Output]) {
        if self.to_clear.remove(id) {
            self.by_run.remove(id);
        }
        self.by_run.entry(id.clone()).or_default().extend_from_slice(outputs);
    }

    /// Replaces the content of all outputs with this id: the last update counts.
    pub fn update(&mut self, display_id: &str, update: &Output) {
        for output in self.by_run.values_mut().flatten().filter(|output| output.is_display(display_id)) {
            (output.content, output.blobs) = (update.content.clone(), update.blobs.clone());
        }
    }

    pub fn clear(&mut self, id: &ExecutionId, waits: bool) {
        if waits {
            self.to_clear.insert(id.clone());
        } else {
            self.by_run.remove(id);
        }
    }

    /// Replaces outputs by those with their large values in blobs.
    pub fn replace(&mut self, id: &ExecutionId, moved: &[MovedOutputs]) {
        let Some(outputs) = self.by_run.get_mut(id) else { return };
        for MovedOutputs { first, count, output } in moved.iter().rev() {
            let end = first.saturating_add(*count).min(outputs.len());
            if *first < end {
                outputs.splice(*first..end, [output.clone()]);
            }
        }
    }

    pub fn of(&self, id: &ExecutionId) -> &[Output] {
        self.by_run.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The place of an output's large values.
pub enum BlobSource {
    Server(NotebookClient),
    /// A folder with a file for each, named by its SHA-256.
    Folder(PathBuf),
}

impl BlobSource {
    /// The bytes of a blob. `None`: it is not there, is another one, or is too large to be compared.
    pub async fn read(&self, sha256: &str, size_bytes: u64) -> Result<Option<Vec<u8>>, Failure> {
        // A name from a file may be a path.
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash || size_bytes > MAX_VALUE_BYTES {
            return Ok(None);
        }
        let bytes = match self {
            Self::Folder(folder) => tokio::fs::read(folder.join(sha256)).await.ok(),
            Self::Server(notebook) => {
                let answer = match notebook.blob(sha256).await {
                    Err(failure) if failure.is_not_found() || failure.has_code("damaged") => return Ok(None),
                    answer => answer?,
                };
                let cut = |error| Failure::connection(format!("a blob was cut off ({error}): try again"));
                Some(answer.bytes().await.map_err(cut)?.to_vec())
            }
        };
        Ok(bytes.filter(|bytes| Hash(Sha256::digest(bytes).into()).to_string() == sha256))
    }

    /// The outputs as nbformat's whole objects. The error names a value that is not there.
    pub async fn whole(&self, outputs: &[Output]) -> Result<Result<Vec<Value>, String>, Failure> {
        let mut whole = Vec::with_capacity(outputs.len());
        for output in outputs {
            let mut value: Value = serde_json::from_str(output.content.get()).unwrap_or_default();
            for part in output.blobs.iter().filter(|part| counts(part)) {
                let Some(bytes) = self.read(&part.sha256, part.size_bytes).await? else {
                    let size = crate::cli::terminal::print::size(part.size_bytes);
                    return Ok(Err(format!(
                        "a value of {size} (blob {}) is missing, damaged or too large",
                        part.sha256
                    )));
                };
                put(&mut value, part, &bytes);
            }
            whole.push(value);
        }
        Ok(Ok(whole))
    }
}

/// True for a value that is compared. The overflow of a run that wrote too much is none of its outputs, and tables of the page repeat
/// what their output shows.
fn counts(part: &BlobPart) -> bool {
    let is_own = part.mime().is_some_and(|mime| mime.starts_with("application/vnd.notarium."));
    !is_own && !part.pointer.starts_with("/metadata/")
}

fn put(output: &mut Value, part: &BlobPart, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = match part.json {
        true => serde_json::from_str(&text).unwrap_or_default(),
        false => Value::String(text.into_owned()),
    };
    let mut place = output;
    for key in part.pointer.split('/').skip(1).map(unescape_key) {
        if !place.is_object() {
            return;
        }
        place = &mut place[key];
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use notarium_core::RawJson;

    use super::*;

    fn output(text: &str, display_id: Option<&str>) -> Output {
        let content = serde_json::json!({"output_type": "display_data", "data": {"text/plain": text}});
        let content = RawJson::of(&content).unwrap();
        Output { content, blobs: Vec::new(), display_id: display_id.map(str::to_owned) }
    }

    fn texts(outputs: &RunOutputs, id: &ExecutionId) -> Vec<String> {
        let text = |output: &Output| {
            let value: Value = serde_json::from_str(output.content.get()).unwrap();
            value["data"]["text/plain"].as_str().unwrap().to_owned()
        };
        outputs.of(id).iter().map(text).collect()
    }

    #[test]
    fn the_last_update_of_a_display_counts_in_every_run() {
        let (one, two): (ExecutionId, ExecutionId) = ("one".parse().unwrap(), "two".parse().unwrap());
        let mut outputs = RunOutputs::default();
        outputs.append(&one, &[output("a", Some("d")), output("b", None)]);
        outputs.append(&two, &[output("c", Some("d"))]);
        outputs.update("d", &output("x", None));
        outputs.update("d", &output("y", None));
        assert_eq!(
            (texts(&outputs, &one), texts(&outputs, &two)),
            (vec!["y".into(), "b".into()], vec!["y".to_owned()])
        );
    }

    #[test]
    fn cleared_outputs_go_now_or_with_the_next() {
        let id: ExecutionId = "one".parse().unwrap();
        let mut outputs = RunOutputs::default();
        outputs.append(&id, &[output("a", None)]);
        outputs.clear(&id, true);
        assert_eq!(texts(&outputs, &id), ["a"]);
        outputs.append(&id, &[output("b", None)]);
        assert_eq!(texts(&outputs, &id), ["b"]);
        outputs.clear(&id, false);
        assert!(outputs.of(&id).is_empty());
    }

    #[test]
    fn moved_outputs_replace_their_places() {
        let id: ExecutionId = "one".parse().unwrap();
        let mut outputs = RunOutputs::default();
        outputs.append(&id, &["a", "b", "c", "d"].map(|text| output(text, None)));
        let moved = |first, count, text| MovedOutputs { first, count, output: output(text, None) };
        outputs.replace(&id, &[moved(0, 2, "ab"), moved(3, 1, "D"), moved(9, 1, "no")]);
        assert_eq!(texts(&outputs, &id), ["ab", "c", "D"]);
    }

    #[tokio::test]
    async fn large_values_come_back_to_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let sha256 = Hash(Sha256::digest("large").into()).to_string();
        std::fs::write(folder.path().join(&sha256), "large").unwrap();
        let part = |pointer: &str, sha256: &str| BlobPart {
            pointer: pointer.to_owned(),
            sha256: sha256.to_owned(),
            size_bytes: 5,
            json: false,
        };
        let source = BlobSource::Folder(folder.path().to_owned());
        let own = part("/data/application~1vnd.notarium.table+arrow", "missing");
        let blobs = vec![part("/data/image~1svg+xml", &sha256), own];
        let whole = source.whole(&[Output { blobs, ..output("a", None) }]).await.unwrap().unwrap();
        assert_eq!(whole[0]["data"], serde_json::json!({"text/plain": "a", "image/svg+xml": "large"}));
        std::fs::write(folder.path().join("c".repeat(64)), "another").unwrap();
        for missing in ["../secret", &"b".repeat(64), &"c".repeat(64)] {
            let lost = Output { blobs: vec![part("/data/x", missing)], ..output("a", None) };
            assert!(source.whole(&[lost]).await.unwrap().is_err());
        }
    }
}
