//! The projection with a client beside it: a second Y document that gets and sends updates as over the wire.

use std::sync::Arc;

use notarium_core::{Cell, CellContent, CellFlags, CellType, Command, Document, OrderKey, Place, RawObject};
use serde_json::{Value, json};
use yrs::updates::decoder::Decode;
use yrs::updates::encoder::Encode;
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
    assert_eq!(projection.integrate(&client.update()).unwrap_err(), UpdateError::Incomplete);
    let mut other = Client::of(&projection);
    other.source(0).insert(&mut other.doc.transact_mut(), 1, "!");
    assert_eq!(sent(&mut projection, &mut other).0["EditSource"]["change"], json!([1, [0, "!"]]));
}

#[test]
fn a_document_of_another_session_is_never_merged() {
    let (mut projection, client) = scene(&["a", "b"]);
    let (_, mut stale) = scene(&["a", "b"]);
    let vector = stale.doc.transact().state_vector();
    assert_eq!(projection.missing(&vector.encode_v1()), Err(UpdateError::OtherHistory));
    stale.sent = StateVector::default();
    assert_eq!(projection.integrate(&stale.update()).unwrap_err(), UpdateError::OtherHistory);
    let whole = projection.missing(&[0]).unwrap();
    let mut other = Client::of(&projection);
    other.take(&whole);
    assert_eq!((client.sources(), other.sources()), (vec!["a".into(), "b".into()], vec!["a".into(), "b".into()]));
}

#[test]
fn a_kept_document_goes_on_with_its_clients() {
    let (projection, mut client) = scene(&["a", "b"]);
    let (kept, grown_bytes) = projection.whole();
    drop(projection);
    // Typed without a connection, while the record went on.
    client.source(0).insert(&mut client.doc.transact_mut(), 1, "!");
    let (limits, newer) = (JupyterLimits::default(), notebook(&["a", "b2"]));
    let mut restored = Projection::restored(&kept, grown_bytes, newer, BlobTexts::new(), limits.clone()).unwrap();
    let shown = restored.show(&Touched::everything()).unwrap();
    assert_eq!(sent(&mut restored, &mut client).0["EditSource"]["change"], json!([1, [0, "!"]]));
    client.take(&shown);
    assert_eq!(client.sources(), ["a!", "b2"]);
    assert!(restored.show(&Touched { structure: true, ..Touched::default() }).is_some(), "the record has no edit");
    // A copy of an earlier time lacks changes that the server has made since.
    let mut older = Projection::restored(&kept, 0, notebook(&["a", "b"]), BlobTexts::new(), limits.clone()).unwrap();
    let vector = client.doc.transact().state_vector();
    assert_eq!(older.missing(&vector.encode_v1()), Err(UpdateError::OtherHistory));
    client.sent = StateVector::default();
    assert_eq!(older.integrate(&client.update()).unwrap_err(), UpdateError::OtherHistory);
    assert!(Projection::restored(b"garbage", 0, notebook(&[]), BlobTexts::new(), limits).is_none());
}

#[test]
fn a_document_that_has_grown_too_much_is_worn() {
    let limits = JupyterLimits { max_document_growth_bytes: 10_000, ..JupyterLimits::default() };
    let mut projection = Projection::new(notebook(&["a"]), BlobTexts::new(), limits);
    let mut client = Client::of(&projection);
    let mut steps = 0;
    while !projection.is_worn() {
        // The text stays short: what was deleted leaves traces.
        client.source(0).insert(&mut client.doc.transact_mut(), 1, &"x".repeat(500));
        client.source(0).remove_range(&mut client.doc.transact_mut(), 1, 500);
        sent(&mut projection, &mut client);
        steps += 1;
        assert!(steps < 1_000, "it grows without end");
    }
    assert!(steps > 1);
}

#[test]
fn a_copy_of_a_cell_never_takes_back_a_newer_text() {
    for place in [0, 2] {
        let (mut projection, mut client) = scene(&["a, and newer", "b"]);
        let copy: MapPrelim = [
            ("id", In::from("c0")),
            ("cell_type", In::from("code")),
            ("source", In::from(TextPrelim::new("a"))),
            ("metadata", In::from(MapPrelim::from_iter([] as [(&str, In); 0]))),
        ]
        .into_iter()
        .collect();
        client.cells.insert(&mut client.doc.transact_mut(), place, copy);
        let (command, touched) = sent(&mut projection, &mut client);
        let moves = json!({"MoveCell": {"cell_id": "c0", "place": "start"}});
        assert!(command == Value::Null || command == moves, "{command}");
        client.take(&projection.show(&touched).unwrap());
        assert_eq!(client.sources(), ["a, and newer", "b"]);
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
