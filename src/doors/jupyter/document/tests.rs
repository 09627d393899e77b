//! The projection with a client beside it: a second Y document that gets and sends updates as over the wire.

use std::sync::Arc;

use notarium_core::{Cell, CellContent, CellFlags, CellType, Command, Document, OrderKey, Place, RawObject};
use serde_json::{Value, json};
use yrs::updates::decoder::Decode;
use yrs::{
    Array, ArrayRef, Doc, GetString, In, Map, MapPrelim, MapRef, OffsetKind, Options, Out, ReadTxn, StateVector, Text,
    TextPrelim, TextRef, Transact, Update, WriteTxn,
};

use super::cell_view::BlobTexts;
use super::differences::command;
use super::projection::{Projection, Touched, UpdateError};
use super::values::to_json;
use crate::limits::JupyterLimits;

fn cell(source: &str, key: &OrderKey) -> Arc<Cell> {
    let content = CellContent {
        cell_type: CellType::Code,
        source: source.to_owned(),
        order_key: key.clone(),
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlags::default(),
    };
    Arc::new(Cell { content, reply: None, cell_version: 1, source_version: 1 })
}

fn notebook(sources: &[&str]) -> Document {
    let mut document = Document { version: 1, ..Document::new("n".parse().unwrap()) };
    let mut last = None;
    for (index, source) in sources.iter().enumerate() {
        let key = OrderKey::between(last.as_ref(), None);
        let id: notarium_core::CellId = format!("c{index}").parse().unwrap();
        document.cells.insert(id.clone(), cell(source, &key));
        document.order.push(id);
        last = Some(key);
    }
    document
}

struct Client {
    doc: Doc,
    cells: ArrayRef,
    sent: StateVector,
}

impl Client {
    fn of(projection: &Projection) -> Self {
        let doc = Doc::with_options(Options { offset_kind: OffsetKind::Utf16, ..Options::default() });
        let cells = doc.get_or_insert_array("cells");
        let mut client = Self { doc, cells, sent: StateVector::default() };
        client.take(&projection.missing(&[0]).unwrap());
        client
    }

    fn take(&mut self, update: &[u8]) {
        self.doc.transact_mut().apply_update(Update::decode_v1(update).unwrap()).unwrap();
        self.sent = self.doc.transact().state_vector();
    }

    /// Changes that were not sent.
    fn update(&mut self) -> Vec<u8> {
        let update = self.doc.transact().encode_state_as_update_v1(&self.sent);
        self.sent = self.doc.transact().state_vector();
        update
    }

    fn cell(&self, index: u32) -> MapRef {
        match self.cells.get(&self.doc.transact(), index) {
            Some(Out::YMap(cell)) => cell,
            other => panic!("no cell: {other:?}"),
        }
    }

    fn source(&self, index: u32) -> TextRef {
        match self.cell(index).get(&self.doc.transact(), "source") {
            Some(Out::YText(text)) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    fn sources(&self) -> Vec<String> {
        let transaction = self.doc.transact();
        let cells = self.cells.iter(&transaction);
        cells
            .map(|cell| match cell {
                Out::YMap(cell) => match cell.get(&transaction, "source") {
                    Some(Out::YText(text)) => text.get_string(&transaction),
                    other => panic!("no text: {other:?}"),
                },
                other => panic!("no cell: {other:?}"),
            })
            .collect()
    }
}

fn scene(sources: &[&str]) -> (Projection, Client) {
    let projection = Projection::new(notebook(sources), BlobTexts::new(), JupyterLimits::default());
    let client = Client::of(&projection);
    (projection, client)
}

/// Integrates the client's update; returns its command as JSON, and the parts that it touched.
fn sent(projection: &mut Projection, client: &mut Client) -> (Value, Touched) {
    let (_, touched) = projection.integrate(&client.update()).unwrap();
    let command: Option<Command> = command(projection, &touched);
    (serde_json::to_value(command).unwrap(), touched)
}

#[test]
fn a_client_sees_the_notebook() {
    let (_, client) = scene(&["a", "b😀"]);
    assert_eq!(client.sources(), ["a", "b😀"]);
    let first = to_json(&Out::YMap(client.cell(0)), &client.doc.transact());
    let expected = json!({
        "cell_type": "code", "execution_count": null, "execution_state": "idle", "id": "c0", "metadata": {},
        "outputs": [], "source": "a",
    });
    assert_eq!(first, expected);
}

#[test]
fn typing_is_an_edit_and_its_refusal_takes_it_back() {
    let (mut projection, mut client) = scene(&["a😀b"]);
    client.source(0).insert(&mut client.doc.transact_mut(), 3, "x");
    let (command, touched) = sent(&mut projection, &mut client);
    let change = json!([3, [0, "x"], 1]);
    assert_eq!(command, json!({"EditSource": {"cell_id": "c0", "base": 1, "change": change}}));
    client.take(&projection.show(&touched).unwrap());
    assert_eq!(client.sources(), ["a😀b"]);
    assert!(projection.show(&touched).is_none(), "nothing is left to undo");
}

#[test]
fn a_cell_that_is_deleted_and_inserted_again_is_moved() {
    let (mut projection, mut client) = scene(&["a", "b", "c"]);
    {
        let mut transaction = client.doc.transact_mut();
        client.cells.remove(&mut transaction, 0);
        let copy: MapPrelim = [
            ("id", In::from("c0")),
            ("cell_type", In::from("code")),
            ("source", In::from(TextPrelim::new("a"))),
            ("metadata", In::from(MapPrelim::from_iter([] as [(&str, In); 0]))),
        ]
        .into_iter()
        .collect();
        client.cells.insert(&mut transaction, 2, copy);
    }
    let (command, touched) = sent(&mut projection, &mut client);
    assert_eq!(command, json!({"MoveCell": {"cell_id": "c0", "place": {"after": "c2"}}}));
    client.take(&projection.show(&touched).unwrap());
    assert_eq!(client.sources(), ["a", "b", "c"], "it was refused");
}

#[test]
fn new_and_deleted_cells_are_one_batch() {
    let (mut projection, mut client) = scene(&["a", "b"]);
    {
        let mut transaction = client.doc.transact_mut();
        client.cells.remove(&mut transaction, 1);
        let new: MapPrelim = [
            ("id", In::from("new")),
            ("cell_type", In::from("markdown")),
            ("source", In::from(TextPrelim::new("# t\r\n"))),
        ]
        .into_iter()
        .collect();
        client.cells.insert(&mut transaction, 0, new);
    }
    let (command, _) = sent(&mut projection, &mut client);
    let commands = command["Batch"]["commands"].as_array().unwrap();
    assert_eq!(commands[0], json!({"DeleteCell": {"cell_id": "c1"}}));
    let insertion: Command = serde_json::from_value(commands[1].clone()).unwrap();
    let Command::InsertCell(insertion) = insertion else { panic!("{insertion:?}") };
    assert_eq!((insertion.source.as_str(), insertion.place), ("# t\n", Place::Start));
}

#[test]
fn metadata_of_saving_is_no_change_and_outputs_are_ours() {
    let (mut projection, mut client) = scene(&["a"]);
    let cell = client.cell(0);
    let transaction = client.doc.transact();
    let Some(Out::YMap(metadata)) = cell.get(&transaction, "metadata") else { panic!("no metadata") };
    let Some(Out::YArray(outputs)) = cell.get(&transaction, "outputs") else { panic!("no outputs") };
    drop(transaction);
    {
        let mut transaction = client.doc.transact_mut();
        metadata.insert(&mut transaction, "trusted", true);
        outputs.push_back(&mut transaction, "an output of the client");
    }
    let (command, touched) = sent(&mut projection, &mut client);
    assert_eq!(command, Value::Null);
    client.take(&projection.show(&touched).unwrap());
    let shown = to_json(&Out::YMap(client.cell(0)), &client.doc.transact());
    assert_eq!((&shown["outputs"], &shown["metadata"]), (&json!([]), &json!({"trusted": true})));
    metadata.insert(&mut client.doc.transact_mut(), "tags", vec![1.0_f64]);
    let (command, _) = sent(&mut projection, &mut client);
    assert_eq!(command, json!({"SetCellMetadata": {"cell_id": "c0", "metadata": {"tags": [1]}}}));
}

#[test]
fn hostile_updates_change_nothing() {
    let (mut projection, mut client) = scene(&["a"]);
    assert_eq!(projection.integrate(&[1, 2, 3]).unwrap_err(), UpdateError::Malformed);
    assert_eq!(projection.integrate(&vec![0; 17 << 20]).unwrap_err(), UpdateError::TooLarge { max_bytes: 16 << 20 });
    // A change that needs one that was never sent.
    client.source(0).insert(&mut client.doc.transact_mut(), 0, "lost");
    client.update();
    client.source(0).insert(&mut client.doc.transact_mut(), 4, "late");
    assert_eq!(projection.integrate(&client.update()).unwrap_err(), UpdateError::OtherHistory);
    let mut other = Client::of(&projection);
    other.source(0).insert(&mut other.doc.transact_mut(), 1, "!");
    assert_eq!(sent(&mut projection, &mut other).0["EditSource"]["change"], json!([1, [0, "!"]]));
}

#[test]
fn a_document_of_another_session_doubles_nothing() {
    let (mut projection, mut client) = scene(&["a", "b"]);
    let (_, mut stale) = scene(&["a", "b"]);
    stale.sent = StateVector::default();
    let (_, touched) = projection.integrate(&stale.update()).unwrap();
    assert_eq!(command(&projection, &touched), None);
    let whole = {
        projection.show(&touched);
        projection.missing(&[0]).unwrap()
    };
    client.take(&whole);
    assert_eq!(client.sources(), ["a", "b"]);
}

#[test]
fn an_old_document_never_takes_back_a_newer_text() {
    // Which of two copies comes first depends on the clients' random ids.
    for _ in 0..20 {
        let (mut projection, _) = scene(&["a, and newer", "b"]);
        let (_, mut stale) = scene(&["a", "b"]);
        stale.sent = StateVector::default();
        let (_, touched) = projection.integrate(&stale.update()).unwrap();
        assert_eq!(command(&projection, &touched), None);
    }
}

#[test]
fn cells_of_another_schema_are_removed_again() {
    let (mut projection, mut client) = scene(&["a"]);
    {
        let mut transaction = client.doc.transact_mut();
        client.cells.push_back(&mut transaction, "no cell");
        client.cells.push_back(&mut transaction, MapPrelim::from_iter([("id", In::from("x"))]));
        transaction.get_or_insert_map("elsewhere").insert(&mut transaction, "key", "value");
    }
    let (command, touched) = sent(&mut projection, &mut client);
    assert_eq!(command, Value::Null);
    client.take(&projection.show(&touched).unwrap());
    assert_eq!(client.sources(), ["a"]);
}
