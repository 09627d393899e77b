//! The Y document of one notebook: a projection of the record that Jupyter's clients edit.
//!
//! Invariants:
//! - After each step the Y document shows the [`Document`], which is folded from events alone. A refused change is undone by the same
//!   step that shows other people's changes ([`Projection::show`]).
//! - A client's document of another history is recognised by the server's changes in it, and never merged.
//! - A client's update is tried on a staging copy first. What is malformed, too large or of another history never reaches the document
//!   that others have.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use notarium_core::{CellId, Document, Event, Recorded};
use parking_lot::Mutex;
use yrs::types::{Event as YEvent, PathSegment};
use yrs::updates::decoder::Decode;
use yrs::updates::encoder::Encode;
use yrs::{
    Array, ArrayRef, DeepObservable, Doc, MapRef, OffsetKind, Options, Out, ReadTxn, StateVector, Transact, Update,
    WriteTxn,
};

use crate::document::cell_view::BlobTexts;
use crate::document::own_ids::{is_other_history, own_id};
use crate::limits::JupyterLimits;

/// Reason why a client's update was not taken. The client must load the notebook again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    #[error("the update has more than {max_bytes} bytes: save large content as a file, and reload the notebook")]
    TooLarge { max_bytes: usize },
    #[error("the update cannot be read: reload the notebook")]
    Malformed,
    #[error("the update belongs to an earlier session of this notebook: reload it")]
    OtherHistory,
    #[error("the update needs changes that were not sent: reload the notebook")]
    Incomplete,
    #[error("the update makes more than {max_cells} cells: reload the notebook")]
    TooManyCells { max_cells: u32 },
}

/// Parts of the Y document that differ, or may differ, from the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Cells were inserted, deleted or moved: all are compared.
    pub structure: bool,
    pub meta: bool,
    pub cells: Vec<String>,
}

impl Touched {
    pub fn everything() -> Self {
        Self { structure: true, meta: true, cells: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        !self.structure && !self.meta && self.cells.is_empty()
    }

    pub fn add(&mut self, other: Touched) {
        self.structure |= other.structure;
        self.meta |= other.meta;
        other.cells.into_iter().for_each(|id| self.add_cell(id));
    }

    fn add_cell(&mut self, id: String) {
        if !self.cells.contains(&id) {
            self.cells.push(id);
        }
    }
}

/// Indexes that a transaction changed, as its observers saw them.
#[derive(Debug, Default)]
struct Noticed {
    structure: bool,
    meta: bool,
    indexes: Vec<u32>,
}

pub struct Projection {
    doc: Doc,
    staging: Doc,
    pub(super) cells: ArrayRef,
    pub(super) meta: MapRef,
    pub(super) document: Document,
    pub(super) blobs: BlobTexts,
    noticed: Arc<Mutex<Noticed>>,
    limits: JupyterLimits,
    /// Bytes of all updates so far: what was deleted leaves traces in a Y document.
    grown_bytes: usize,
}

impl Projection {
    /// A new Y document that shows the notebook.
    pub fn new(document: Document, blobs: BlobTexts, limits: JupyterLimits) -> Self {
        let mut projection = Self::over(new_doc(), document, blobs, limits);
        projection.show(&Touched::everything());
        projection.grown_bytes = 0;
        projection
    }

    /// A Y document that was kept, of which clients may have copies. It shows the notebook only after [`Projection::show`]. `None` if it
    /// cannot be read.
    pub fn restored(
        kept: &[u8],
        grown_bytes: usize,
        document: Document,
        blobs: BlobTexts,
        limits: JupyterLimits,
    ) -> Option<Self> {
        let doc = new_doc();
        let is_whole = {
            let mut transaction = doc.transact_mut();
            transaction.apply_update(Update::decode_v1(kept).ok()?).ok()?;
            !transaction.has_missing_updates()
        };
        let mut projection = Self::over(doc, document, blobs, limits);
        projection.reset_staging();
        projection.grown_bytes = grown_bytes;
        is_whole.then_some(projection)
    }

    fn over(doc: Doc, document: Document, blobs: BlobTexts, limits: JupyterLimits) -> Self {
        let (cells, meta) = (doc.get_or_insert_array("cells"), doc.get_or_insert_map("meta"));
        doc.get_or_insert_map("state");
        let noticed = Arc::new(Mutex::new(Noticed::default()));
        let (of_cells, of_meta) = (noticed.clone(), noticed.clone());
        cells.observe_deep("door", move |_, events| events.iter().for_each(|event| notice(&of_cells, event)));
        meta.observe_deep("door", move |_, _| of_meta.lock().meta = true);
        Self { doc, staging: new_doc(), cells, meta, document, blobs, noticed, limits, grown_bytes: 0 }
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn blobs(&mut self) -> &mut BlobTexts {
        &mut self.blobs
    }

    /// Blobs with their sizes that touched cells show and that were not fetched.
    pub fn missing_blobs(&self, touched: &Touched) -> Vec<(String, u64)> {
        let is_touched = |id: &CellId| touched.structure || touched.cells.iter().any(|touched| touched == id.as_str());
        let runs = self.document.latest.iter().filter(|(id, _)| is_touched(id));
        let outputs = runs.filter_map(|(_, run)| self.document.executions.get(run)).flat_map(|run| &run.outputs);
        let parts = outputs.flat_map(|output| &output.blobs).filter(|part| !self.blobs.contains_key(&part.sha256));
        parts.map(|part| (part.sha256.clone(), part.size_bytes)).collect()
    }

    /// True if the Y document has grown so much that a new session should replace it.
    pub fn is_worn(&self) -> bool {
        self.grown_bytes > self.limits.max_document_growth_bytes
    }

    /// The whole document, and the bytes by which it has grown: both together restore it.
    pub fn whole(&self) -> (Vec<u8>, usize) {
        (self.doc.transact().encode_state_as_update_v1(&StateVector::default()), self.grown_bytes)
    }

    /// The state vector, for the first message of a synchronisation.
    pub fn state_vector(&self) -> Vec<u8> {
        self.doc.transact().state_vector().encode_v1()
    }

    /// The part of the document that a client with that state vector lacks.
    pub fn missing(&self, state_vector: &[u8]) -> Result<Vec<u8>, UpdateError> {
        let known = StateVector::decode_v1(state_vector).map_err(|_| UpdateError::Malformed)?;
        let transaction = self.doc.transact();
        if is_other_history(&known, &transaction.state_vector()) {
            return Err(UpdateError::OtherHistory);
        }
        Ok(transaction.encode_state_as_update_v1(&known))
    }

    /// Takes a client's update. Returns the update for the other clients, and the parts to compare with the record.
    pub fn integrate(&mut self, bytes: &[u8]) -> Result<(Vec<u8>, Touched), UpdateError> {
        let max_bytes = self.limits.max_update_bytes;
        if bytes.len() > max_bytes {
            return Err(UpdateError::TooLarge { max_bytes });
        }
        if let Err(error) = self.stage(bytes) {
            self.reset_staging();
            return Err(error);
        }
        *self.noticed.lock() = Noticed::default();
        let update = Update::decode_v1(bytes).map_err(|_| UpdateError::Malformed)?;
        let forward = {
            let mut transaction = self.doc.transact_mut();
            transaction.apply_update(update).map_err(|_| UpdateError::Malformed)?;
            transaction.encode_update_v1()
        };
        self.grown_bytes += bytes.len();
        Ok((forward, self.touched()))
    }

    /// Applies an update to the staging copy. The library may panic on hostile input, so that is caught.
    fn stage(&self, bytes: &[u8]) -> Result<(), UpdateError> {
        let staged = catch_unwind(AssertUnwindSafe(|| {
            let update = Update::decode_v1(bytes).map_err(|_| UpdateError::Malformed)?;
            let mut transaction = self.staging.transact_mut();
            let cells = transaction.get_or_insert_array("cells");
            transaction.apply_update(update).map_err(|_| UpdateError::Malformed)?;
            let present = self.doc.transact().state_vector();
            if is_other_history(&transaction.state_vector(), &present) {
                return Err(UpdateError::OtherHistory);
            }
            if transaction.has_missing_updates() {
                return Err(UpdateError::Incomplete);
            }
            let max_cells = self.limits.max_cells;
            if cells.len(&transaction) > max_cells { Err(UpdateError::TooManyCells { max_cells }) } else { Ok(()) }
        }));
        staged.unwrap_or(Err(UpdateError::Malformed))
    }

    fn reset_staging(&mut self) {
        self.staging = new_doc();
        let (whole, _) = self.whole();
        self.stage_own(&whole);
    }

    fn stage_own(&self, update: &[u8]) {
        if let Ok(update) = Update::decode_v1(update) {
            let _ = self.staging.transact_mut().apply_update(update);
        }
    }

    /// Parts that the last transaction changed, by the ids that the cells have now.
    fn touched(&self) -> Touched {
        let noticed = std::mem::take(&mut *self.noticed.lock());
        let transaction = self.doc.transact();
        let mut touched = Touched { structure: noticed.structure, meta: noticed.meta, cells: Vec::new() };
        for index in noticed.indexes {
            match self.cells.get(&transaction, index) {
                Some(Out::YMap(cell)) => match super::schema::id_of(&cell, &transaction) {
                    Some(id) => touched.add_cell(id),
                    None => touched.structure = true,
                },
                _ => touched.structure = true,
            }
        }
        touched
    }

    /// Folds in an event; returns the parts that it changes. Events that are known already change nothing.
    pub fn apply(&mut self, recorded: &Recorded) -> Touched {
        let mut touched = Touched::default();
        if recorded.envelope.version <= self.document.version {
            return touched;
        }
        let before = self.shown_by(&recorded.event);
        self.document.apply(recorded);
        touched.meta = matches!(recorded.event, Event::NotebookMetadataSet(_) | Event::NotebookCreated(_));
        touched.structure = changes_order(&recorded.event);
        // New content of a display may be shown by any cell.
        if matches!(recorded.event, Event::ExecutionOutputUpdated(_)) {
            touched.cells = self.document.latest.keys().map(|id| id.as_str().to_owned()).collect();
        }
        let after = self.shown_by(&recorded.event);
        before.into_iter().chain(after).for_each(|id| touched.add_cell(id.as_str().to_owned()));
        touched
    }

    fn shown_by(&self, event: &Event) -> Option<CellId> {
        let of_run = |id| self.document.executions.get(id).and_then(|execution| execution.subject.cell_id().cloned());
        event.cell_id().cloned().or_else(|| event.execution_id().and_then(of_run))
    }

    /// Replaces the state by a newer one, after missed events.
    pub fn replace(&mut self, document: Document) -> Touched {
        if document.version <= self.document.version {
            return Touched::default();
        }
        self.document = document;
        Touched::everything()
    }

    /// Makes the touched parts of the Y document equal to the record; returns the update for the clients, if there is one.
    pub fn show(&mut self, touched: &Touched) -> Option<Vec<u8>> {
        if touched.is_empty() {
            return None;
        }
        let update = {
            let mut transaction = self.doc.transact_mut();
            super::writing::write(self, &mut transaction, touched);
            let is_changed = transaction.has_changes();
            is_changed.then(|| transaction.encode_update_v1())
        }?;
        *self.noticed.lock() = Noticed::default();
        self.grown_bytes += update.len();
        self.stage_own(&update);
        Some(update)
    }

    /// Runs a reader in a transaction.
    pub(super) fn read<T>(&self, reader: impl FnOnce(&yrs::Transaction<'_>) -> T) -> T {
        reader(&self.doc.transact())
    }
}

fn new_doc() -> Doc {
    Doc::with_options(Options { offset_kind: OffsetKind::Utf16, client_id: own_id(), ..Options::default() })
}

fn notice(noticed: &Mutex<Noticed>, event: &YEvent) {
    let mut noticed = noticed.lock();
    match event.path().front() {
        Some(PathSegment::Index(index)) => {
            if !noticed.indexes.contains(index) {
                noticed.indexes.push(*index);
            }
        }
        _ => noticed.structure = true,
    }
}

fn changes_order(event: &Event) -> bool {
    matches!(
        event,
        Event::CellInserted(_)
            | Event::CellRestored(_)
            | Event::CellDeleted(_)
            | Event::CellMoved(_)
            | Event::CellTypeChanged(_)
    )
}
