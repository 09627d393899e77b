use super::*;

const SCHEMA: &str = include_str!("../../../tests/fixtures/notebooks/nbformat.v4.5.schema.json");

fn import(text: &str) -> Imported {
    try_import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn try_import(bytes: &[u8]) -> Result<Imported, IpynbError> {
    let mut next = 0;
    read(bytes, &FileLimits::default(), &mut || {
        next += 1;
        format!("new-{next}")
    })
}

fn codes(imported: &Imported) -> Vec<NoticeCode> {
    imported.notices.iter().map(|notice| notice.code).collect()
}

/// Returns a notebook of nbformat 4.5 with these cells.
fn notebook(cells: &str) -> String {
    format!(r#"{{"cells": [{cells}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}"#)
}

fn code_cell(outputs: &str) -> String {
    notebook(&format!(
        r#"{{"id": "a", "cell_type": "code", "source": "", "metadata": {{}}, "execution_count": null, "outputs": [{outputs}]}}"#
    ))
}

/// Exports, and checks the laws of every export.
fn export(document: &Document) -> String {
    let text = write(document);
    assert_valid(&text);
    let again = import(&text);
    assert_eq!(write(&again.document), text, "write(read(write(d))) differs");
    text
}

fn assert_valid(text: &str) {
    thread_local! {
        static VALIDATOR: jsonschema::Validator = {
            let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
            jsonschema::validator_for(&schema).expect("the schema compiles")
        };
    }
    let value = serde_json::from_str(text).expect("an export is JSON");
    VALIDATOR.with(|validator| {
        if let Err(error) = validator.validate(&value) {
            panic!("{error}\n{text}");
        }
    });
    let ids: Vec<&str> =
        value["cells"].as_array().expect("cells").iter().map(|cell| cell["id"].as_str().expect("id")).collect();
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

/// Imports, exports and imports again: the second import must equal the first and repair nothing.
fn round_trip(text: &str) -> Imported {
    let first = import(text);
    let exported = export(&first.document);
    let second = import(&exported);
    assert_eq!(second.notices, [], "{exported}");
    assert_eq!(format!("{:?}", second.document.cells), format!("{:?}", first.document.cells));
    assert_eq!(format!("{:?}", second.document.metadata), format!("{:?}", first.document.metadata));
    assert_eq!(format!("{:?}", second.document.extra), format!("{:?}", first.document.extra));
    first
}

fn raw(text: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(text.to_owned()).expect("valid JSON")
}

macro_rules! expected_of_nbformat {
    ($($name:ident: $file:literal,)*) => {$(
        #[test]
        fn $name() {
            let imported = round_trip(include_str!(concat!("../../../tests/fixtures/notebooks/", $file)));
            let expected = include_str!(concat!("../../../tests/fixtures/notebooks/expected/", $file));
            assert_eq!(write(&imported.document), expected);
        }
    )*};
}

expected_of_nbformat! {
    nbformat_2_as_python_upgrades_it: "test2.ipynb",
    nbformat_3_as_python_upgrades_it: "test3.ipynb",
    nbformat_4_0_as_python_writes_it: "test4.ipynb",
    nbformat_4_4_with_many_tracebacks: "many_tracebacks.ipynb",
    nbformat_4_5_as_python_writes_it: "test4.5.ipynb",
    nbformat_4_5_without_ids: "v4_5_no_cell_id.ipynb",
    a_real_notebook: "Cheryl.ipynb",
}

#[test]
fn an_invalid_id_is_replaced_and_kept_aside() {
    let imported = round_trip(include_str!("../../../tests/fixtures/notebooks/invalid_cell_id.ipynb"));
    let cell = &imported.document.cells[0];
    assert_eq!((cell.id.as_str(), cell.extra["id"].get()), ("new-1", "\"$illegal_chars\""));
    assert!(codes(&imported).contains(&NoticeCode::CellId));
}

#[test]
fn ids_are_of_64_characters_at_most() {
    let cell =
        |length| format!(r#"{{"id": "{}", "cell_type": "raw", "source": "", "metadata": {{}}}}"#, "x".repeat(length));
    let imported = round_trip(&notebook(&format!("{}, {}", cell(64), cell(65))));
    assert_eq!((imported.document.cells[0].id.len(), imported.document.cells[1].id.as_str()), (64, "new-1"));
}

#[test]
fn a_notebook_of_the_future_loses_nothing() {
    let imported = round_trip(include_str!("../../../tests/fixtures/notebooks/test4plus.ipynb"));
    let document = &imported.document;
    assert_eq!(document.extra["extra"].get(), "\"future\"");
    let future = document.cells.iter().find(|cell| cell.id == "future-10").expect("kept");
    assert_eq!((future.cell_type.as_str(), future.extra["cell_type"].get()), ("raw", "\"future cell\""));
    let outputs = &document.cells.iter().find(|cell| cell.id == "future-11").expect("kept").outputs;
    assert_eq!(outputs[1].get(), r#"{"output_type":"future output","some key":["some data"]}"#);
    assert!(codes(&imported).contains(&NoticeCode::NewerMinor));
}

#[test]
fn what_is_no_notebook_is_refused_with_the_reason() {
    let depth = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let deep = notebook("").replace("\"metadata\": {}", &format!("\"metadata\": {{\"deep\": {depth}}}"));
    let cases: [(&[u8], &str); 13] = [
        (b"\n<!DOCTYPE html>", "it is a web page"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \n", "the file is empty"),
        (b"{\"a\": \"\xff\"}", "not UTF-8 (at byte 7)"),
        (b"{\"cells\": [\n  {\"id\": ", "line 2, column 10: the file ends too early"),
        (b"{} {}", "line 1, column 4: there is something after the end"),
        (b"[]", "not an object"),
        (b"{}", "neither a format version"),
        (b"{\"nbformat\": 4, \"metadata\": {}}", "no list of cells"),
        (b"{\"nbformat\": 5, \"cells\": []}", "nbformat 5 is not supported"),
        (b"{\"nbformat\": 0, \"cells\": []}", "nbformat 0 is not supported"),
        (b"\xff\xfe{\0}\0", "not UTF-8 (at byte 0)"),
        (deep.as_bytes(), "deeper than 100 levels"),
    ];
    for (bytes, expected) in cases {
        let error = try_import(bytes).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error} / {expected}");
    }
}

#[test]
fn limits_are_typed() {
    let text = notebook("{}, {}");
    let read_with =
        |max_bytes, max_cells| read(text.as_bytes(), &FileLimits { max_bytes, max_cells }, &mut String::new).err();
    assert_eq!(read_with(10, 9), Some(IpynbError::TooLarge { bytes: text.len(), max_bytes: 10 }));
    assert_eq!(read_with(999, 1), Some(IpynbError::TooManyCells { cells: 2, max_cells: 1 }));
    assert_eq!(read_with(999, 2), None);
}

#[test]
fn what_is_as_deep_as_allowed_survives_being_put_aside() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let output = |levels| code_cell(&format!(r#"{{"output_type": "odd", "value": {}}}"#, deep(levels)));
    round_trip(&output(99));
    assert_eq!(try_import(output(100).as_bytes()).err(), Some(IpynbError::TooDeep { max_depth: MAX_DEPTH }));
    let mut document = import(&notebook("")).document;
    document.metadata.insert("deep".to_owned(), raw(&deep(5_000)));
    assert!(export(&document).contains("\"deep\": \"[[["));
}

use NoticeCode::*;

/// Irregular cells and the notices of their repair.
const ODD_CELLS: &[(&str, &[NoticeCode])] = &[
    (r#"{"id": "a", "cell_type": "markdown", "source": "x"}"#, &[CellMetadata]),
    (r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": null}"#, &[CellMetadata]),
    (r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": "odd"}"#, &[CellMetadata, UnknownCellKey]),
    (
        r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": {}, "outputs": [], "execution_count": null}"#,
        &[EmptyFieldDropped],
    ),
    (
        r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": {}, "outputs": [1], "execution_count": 3}"#,
        &[UnknownCellKey],
    ),
    (r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": {}, "attachments": null}"#, &[Attachments]),
    (r#"{"id": "a", "cell_type": "markdown", "source": "x", "metadata": {}, "attachments": {"a.png": "odd"}}"#, &[]),
    (
        r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}, "attachments": {}, "outputs": [], "execution_count": 1}"#,
        &[],
    ),
    (r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}}"#, &[OutputsMissing]),
    (
        r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}, "outputs": {"odd": 1}}"#,
        &[UnknownCellKey, OutputsMissing],
    ),
    (
        r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}, "outputs": [], "execution_count": -1}"#,
        &[UnknownCellKey, ExecutionCount],
    ),
    (
        r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}, "outputs": [], "execution_count": "3"}"#,
        &[UnknownCellKey, ExecutionCount],
    ),
    (
        r#"{"id": "a", "cell_type": "code", "source": "x", "metadata": {}, "outputs": [], "execution_count": 99999999999999999999}"#,
        &[UnknownCellKey, ExecutionCount],
    ),
    (r#"{"id": "a", "cell_type": "raw", "source": null, "metadata": {}}"#, &[Source]),
    (r#"{"id": "a", "cell_type": "raw", "source": ["a", 1], "metadata": {}}"#, &[UnknownCellKey, Source]),
    (r#"{"id": "a", "cell_type": "raw", "source": "a\r\nb\rc", "metadata": {}}"#, &[LineEndings]),
    (r#"{"id": 7, "cell_type": "raw", "source": "", "metadata": {}}"#, &[CellId, UnknownCellKey]),
    (r#"{"cell_type": "raw", "source": "", "metadata": {}}"#, &[CellId]),
    (r#"{"id": "a", "cell_type": "new", "source": "", "metadata": {}}"#, &[CellType, UnknownCellKey]),
    (r#"{"id": "a", "source": "", "metadata": {}}"#, &[CellType]),
    (r#"{"id": "a", "cell_type": 4, "source": "", "metadata": {}}"#, &[CellType, UnknownCellKey]),
    (r#""not a cell""#, &[CellNotAnObject, CellId]),
    (
        r#"{"id": "a", "cell_type": "code", "source": "", "metadata": {"name": "", "tags": ["a", "a"], "collapsed": 1, "scrolled": "x", "execution": {"a": 1}, "jupyter": 3}, "outputs": []}"#,
        &[],
    ),
    (
        r#"{"id": "a", "cell_type": "raw", "source": "", "metadata": {"format": 3, "collapsed": 1, "notarium": "odd"}}"#,
        &[],
    ),
    (r#"{"id": "a", "cell_type": "raw", "source": "", "metadata": {"notarium": {}}}"#, &[]),
    (
        r#"{"id": "a", "cell_type": "raw", "source": "\ud800", "metadata": {"x": NaN, "y": 1, "y": 2}}"#,
        &[LoneSurrogate, NotFinite, DuplicateKey],
    ),
];

#[test]
fn odd_cells_are_repaired_with_a_notice_and_lose_nothing() {
    for (cell, expected) in ODD_CELLS {
        let imported = round_trip(&notebook(cell));
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(codes(&imported), expected, "{cell}");
    }
}

#[test]
fn odd_outputs_keep_their_place_and_their_parts() {
    let cases: &[(&str, &[NoticeCode])] = &[
        (r#"{"output_type": "stream", "name": "stdout", "text": "a", "metadata": {}}"#, &[EmptyFieldDropped]),
        (r#"{"output_type": "stream", "name": "stdout", "text": "a", "metadata": {"a": 1}}"#, &[]),
        (r#"{"output_type": "stream", "name": null, "text": ["a", 2]}"#, &[]),
        (r#"{"output_type": "stream"}"#, &[OutputCompleted]),
        (r#"{"output_type": "error", "ename": null, "evalue": 5, "traceback": "one text"}"#, &[]),
        (r#"{"output_type": "error"}"#, &[OutputCompleted]),
        (
            r#"{"output_type": "display_data", "data": {"text/plain": "kept", "text/html": {"odd": 1}}, "metadata": {}, "transient": {}}"#,
            &[],
        ),
        (r#"{"output_type": "display_data", "data": ["odd"], "metadata": null}"#, &[]),
        (
            r#"{"output_type": "execute_result", "data": {"application/x+json": [1, 12345678901234567890123]}}"#,
            &[OutputCompleted],
        ),
        (r#"{"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": "1"}"#, &[]),
        (r#"{"output_type": "pyout", "prompt_number": 3, "text": ["a\n", "b"]}"#, &[OutputUpgraded]),
        (r#"{"output_type": "table", "rows": [1]}"#, &[UnknownOutput]),
        (r#"{"text": "no type"}"#, &[UnknownOutput]),
        (r#""not an object""#, &[OutputNotAnObject]),
    ];
    for (output, expected) in cases {
        let text = code_cell(&format!(r#"{output}, {{"output_type": "stream", "name": "stdout", "text": "after"}}"#));
        let imported = round_trip(&text);
        assert_eq!(codes(&imported), *expected, "{output}");
        assert_eq!(imported.document.cells[0].outputs.len(), 2);
    }
}

#[test]
fn the_part_of_an_output_that_fits_is_shown_to_others() {
    let text = code_cell(
        r#"{"output_type": "display_data", "data": {"text/plain": "kept", "a/b": 1}, "metadata": {}, "transient": 2}"#,
    );
    let exported: serde_json::Value = serde_json::from_str(&export(&import(&text).document)).expect("JSON");
    let cell = &exported["cells"][0];
    assert_eq!(cell["outputs"][0]["data"], serde_json::json!({"text/plain": ["kept"]}));
    let patch = &cell["metadata"]["notarium"]["output_patches"][0];
    assert_eq!((&patch["data"], &patch["set"]), (&serde_json::json!({"a/b": 1}), &serde_json::json!({"transient": 2})));
}

#[test]
fn lines_end_where_python_ends_them() {
    let text = "a\nb\r\nc\rd\u{b}e\u{c}f\u{1c}g\u{1d}h\u{1e}i\u{85}j\u{2028}k\u{2029}l\u{1f}\n\n\r";
    let expected = [
        "a\n",
        "b\r\n",
        "c\r",
        "d\u{b}",
        "e\u{c}",
        "f\u{1c}",
        "g\u{1d}",
        "h\u{1e}",
        "i\u{85}",
        "j\u{2028}",
        "k\u{2029}",
        "l\u{1f}\n",
        "\n",
        "\r",
    ];
    assert_eq!(output::lines(text), json::Json::Array(expected.map(json::Json::text).into()));
    assert_eq!(output::lines(""), json::Json::Array(Vec::new()));
}

#[test]
fn a_patch_is_left_out_when_another_program_has_run_the_cell() {
    let text = export(
        &import(&code_cell(r#"{"output_type": "stream", "name": "stdout", "text": "old", "more": 1}"#)).document,
    );
    let imported = import(&text.replace("\"old\"", "\"new\""));
    assert_eq!(codes(&imported), [NoticeCode::StaleAside]);
    assert_eq!(imported.document.cells[0].outputs[0].get(), r#"{"name":"stdout","output_type":"stream","text":"new"}"#);
    assert!(!write(&imported.document).contains("notarium"));
}

fn cell_of_type(cell_type: &str) -> DocumentCell {
    DocumentCell { id: "a".to_owned(), cell_type: cell_type.to_owned(), ..DocumentCell::default() }
}

#[test]
fn our_cell_types_and_flags_come_back() {
    let mut sql = cell_of_type("sql");
    sql.flags = Object::from([("pinned".to_owned(), raw("true")), ("source_hidden".to_owned(), raw("true"))]);
    sql.attachments = Some(Object::from([("a.png".to_owned(), raw(r#"{"image/png":"AA"}"#))]));
    let mut prompt = cell_of_type("prompt");
    prompt.id = "b".to_owned();
    prompt.execution_count = Some(4);
    prompt.outputs = vec![raw(r#"{"data":{"text/markdown":"the\nreply"},"metadata":{},"output_type":"display_data"}"#)];
    let document = Document { cells: vec![sql, prompt], ..Document::default() };
    let text = export(&document);
    assert_eq!(format!("{:?}", import(&text).document.cells), format!("{:?}", document.cells));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&value["cells"][0]["cell_type"], &value["cells"][1]["cell_type"]),
        (&"code".into(), &"markdown".into())
    );
    let metadata = serde_json::json!({
        "jupyter": {"source_hidden": true},
        "notarium": {"attachments": {"a.png": {"image/png": "AA"}}, "cell_type": "sql", "flags": {"pinned": true}},
    });
    assert_eq!(value["cells"][0]["metadata"], metadata);
}

#[test]
fn a_document_of_any_kind_is_written_valid() {
    let mut odd = cell_of_type("no such type");
    odd.id = "not valid!".to_owned();
    odd.execution_count = Some(-5);
    odd.source = "a\r\n\u{2028}b".to_owned();
    odd.outputs = vec![raw("3"), raw(r#"{"output_type":"stream"}"#)];
    let cells = vec![odd, cell_of_type("code"), cell_of_type("code"), cell_of_type("raw")];
    export(&Document { cells, ..Document::default() });
}

#[test]
fn versions_are_guessed_from_the_shape() {
    let cases = [
        (r#"{"cells": [{"cell_type": "code", "source": "s", "outputs": []}]}"#, "s"),
        (
            r#"{"nbformat": "4", "nbformat_minor": 2, "metadata": {}, "cells": [{"cell_type": "code", "source": "s", "outputs": []}]}"#,
            "s",
        ),
        (r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["s"], "outputs": []}]}]}"#, "s"),
        (
            r#"{"nbformat": 4, "worksheets": [{"cells": [{"cell_type": "code", "input": ["s\n", "t"], "outputs": []}]}]}"#,
            "s\nt",
        ),
        (r#"{"nbformat": 3, "cells": [{"cell_type": "code", "input": ["s", "t"]}]}"#, "s\nt"),
        (r#"{"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "code", "input": ["s", "t"]}]}]}"#, "s\nt"),
        (
            r#"{"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "markdown", "source": ["s\n", "t"]}]}]}"#,
            "s\n\nt",
        ),
        (r#"{"cells": [{"cell_type": "code", "code": "s", "prompt_number": 4}]}"#, "s"),
        (r#"{"nbformat": 1, "cells": [{"cell_type": "text", "text": "s"}]}"#, "s"),
    ];
    for (text, source) in cases {
        assert_eq!(round_trip(text).document.cells[0].source, source, "{text}");
    }
}

#[test]
fn an_old_file_without_worksheets_is_an_empty_notebook() {
    for text in [r#"{"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "Old"}}"#, r#"{"nbformat": 2}"#] {
        let imported = round_trip(text);
        assert_eq!(imported.document.cells.len(), 0, "{text}");
        assert!(imported.notices.iter().any(|notice| notice.code == NoticeCode::Upgraded), "{text}");
    }
    for text in [r#"{"nbformat": 3, "worksheets": {}}"#, r#"{"nbformat": 4}"#] {
        let refused = try_import(text.as_bytes()).unwrap_err();
        assert!(matches!(refused, IpynbError::NotANotebook { .. }), "{text}: {refused}");
    }
}

#[test]
fn worksheets_are_flattened_and_the_name_is_offered_as_title() {
    let imported = round_trip(
        r#"{"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "Old", "signature": "x"}, "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": ["a\n", "b"]}], "metadata": {"kept": 1}},
            {"cells": [{"cell_type": "code", "language": "R", "collapsed": true, "input": [], "prompt_number": 3,
                "outputs": [{"output_type": "pyout", "prompt_number": 3, "json": ["{\"a\":1.0}"], "png": "AA"}]}]}]}"#,
    );
    let document = &imported.document;
    assert_eq!(imported.title.as_deref(), Some("Old"));
    assert!(codes(&imported).contains(&NoticeCode::WorksheetsFlattened));
    assert_eq!(document.cells[0].source, "## a b");
    let code = &document.cells[1];
    assert_eq!(
        (code.extra["language"].get(), code.metadata["collapsed"].get(), code.execution_count),
        ("\"R\"", "true", Some(3))
    );
    assert_eq!(
        code.outputs[0].get(),
        r#"{"data":{"application/json":{"a":1.0},"image/png":"AA"},"execution_count":3,"metadata":{},"output_type":"execute_result"}"#
    );
    assert_eq!(document.extra["worksheets"].get(), r#"[{"metadata":{"kept":1}},{}]"#);
}

#[test]
fn a_source_that_an_input_displaces_is_kept_aside() {
    let text = r#"{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "a", "source": "b"}]}]}"#;
    let cell = &round_trip(text).document.cells[0];
    assert_eq!((cell.source.as_str(), cell.extra["input"].get()), ("a", "\"b\""));
}

#[test]
fn a_kernelspec_without_a_name_to_show_is_completed() {
    let text = notebook("").replace(
        "\"metadata\": {}",
        r#""metadata": {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {}, "title": 3}"#,
    );
    let imported = round_trip(&text);
    assert_eq!(imported.document.metadata["kernelspec"].get(), r#"{"display_name":"ir","language":"R","name":"ir"}"#);
    assert_eq!(imported.document.metadata["language_info"].get(), r#"{"name":"R"}"#);
    assert_eq!((imported.document.metadata["title"].get(), imported.title), ("3", None));
}

mod laws;
