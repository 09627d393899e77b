//! Property tests of notebook files, on random ones.

use proptest::prelude::*;

use super::super::json::Json;
use super::*;

const FILES: [&str; 5] = [
    include_str!("../../../../tests/fixtures/notebooks/test4plus.ipynb"),
    include_str!("../../../../tests/fixtures/notebooks/many_tracebacks.ipynb"),
    include_str!("../../../../tests/fixtures/notebooks/invalid_cell_id.ipynb"),
    include_str!("../../../../tests/fixtures/notebooks/v4_5_no_cell_id.ipynb"),
    r#"{"nbformat":3,"metadata":{"name":"n"},"worksheets":[{"cells":[{"cell_type":"code","input":["a"],"language":"x","outputs":[{"output_type":"pyout","text":["a"],"json":"{}"},{"output_type":"stream","stream":"e","text":"b"}]},{"cell_type":"heading","level":3,"source":"h"}]}]}"#,
];

/// Keys and texts with a meaning in some place, so that random JSON reaches the branches.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "id",
        "cell_type",
        "source",
        "metadata",
        "outputs",
        "execution_count",
        "attachments",
        "notarium",
        "flags",
        "extra",
        "output_patches",
        "jupyter",
        "source_hidden",
        "tags",
        "name",
        "collapsed",
        "output_type",
        "data",
        "text",
        "traceback",
        "text/plain",
        "application/json",
        "image/png",
        "display_data",
        "stream",
        "error",
        "pyout",
        "code",
        "markdown",
        "raw",
        "sql",
        "prompt",
        "heading",
        "level",
        "kernelspec",
        "language_info",
        "display_name",
        "set",
        "output",
        "index",
        "digest",
        "a",
        "a\r\nb",
        "",
        "trusted",
        "title",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn any_json() -> impl Strategy<Value = Json> {
    let numbers = prop::sample::select(vec!["0", "1", "-1", "2.5", "1e3", "99999999999999999999", "1.10"]);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        numbers.prop_map(|text| Json::Number(text.to_owned())),
        word().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::btree_map(word(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

fn object(fields: &[&'static str]) -> impl Strategy<Value = Json> + use<> {
    let fields = fields.to_vec();
    let count = fields.len();
    let own = prop::collection::vec(prop::option::weighted(0.7, any_json()), count..=count);
    (own, prop::collection::btree_map(word(), any_json(), 0..2)).prop_map(move |(own, mut map)| {
        let own = fields.iter().zip(own).filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
        map.extend(own);
        Json::Object(map)
    })
}

fn typed(
    key: &'static str,
    types: &'static [&'static str],
    of: impl Strategy<Value = Json>,
) -> impl Strategy<Value = Json> {
    (prop::sample::select(types), of).prop_map(move |(name, value)| {
        let Json::Object(mut map) = value else {
            return value;
        };
        map.insert(key.to_owned(), Json::text(name));
        Json::Object(map)
    })
}

fn any_output() -> impl Strategy<Value = Json> {
    let fields = ["data", "metadata", "text", "name", "ename", "evalue", "traceback", "execution_count"];
    let known =
        typed("output_type", &["display_data", "execute_result", "stream", "error", "pyout", "odd"], object(&fields));
    prop_oneof![9 => known, 1 => any_json()]
}

fn any_aside() -> impl Strategy<Value = Json> {
    object(&["flags", "extra", "metadata", "attachments", "outputs", "execution_count", "cell_type", "output_patches"])
}

fn any_cell() -> impl Strategy<Value = Json> {
    let base = object(&["id", "source", "metadata", "attachments", "execution_count"]);
    let parts = (base, prop::collection::vec(any_output(), 0..3), prop::option::of(any_aside()));
    let cell = parts.prop_map(|(base, outputs, aside)| {
        let Json::Object(mut cell) = base else {
            return base;
        };
        cell.insert("outputs".to_owned(), Json::Array(outputs));
        if let (Some(aside), Some(Json::Object(metadata))) = (aside, cell.get_mut("metadata")) {
            metadata.insert("notarium".to_owned(), aside);
        }
        Json::Object(cell)
    });
    let types = &["code", "markdown", "raw", "sql", "heading", "html", "odd"];
    prop_oneof![9 => typed("cell_type", types, cell), 1 => any_json()]
}

fn any_notebook() -> impl Strategy<Value = String> {
    let parts = (prop::collection::vec(any_cell(), 0..4), object(&["metadata"]), 0..8_u32, any::<bool>());
    parts.prop_map(|(cells, base, minor, old)| {
        let Json::Object(mut root) = base else {
            return base.compact();
        };
        let cells = Json::Array(cells);
        let sheet = Json::Array(vec![Json::Object([("cells".to_owned(), cells.clone())].into())]);
        root.insert(if old { "worksheets" } else { "cells" }.to_owned(), if old { sheet } else { cells });
        root.insert("nbformat".to_owned(), Json::Number(if old { "3" } else { "4" }.to_owned()));
        root.insert("nbformat_minor".to_owned(), Json::Number(minor.to_string()));
        let mut text = String::new();
        Json::Object(root).print(&mut text, 0);
        text
    })
}

fn any_object() -> impl Strategy<Value = Object> {
    prop::collection::btree_map(word(), any_json().prop_map(|value| value.to_raw()), 0..4)
}

fn any_document_cell() -> impl Strategy<Value = DocumentCell> {
    let kinds = prop::sample::select(vec!["code", "markdown", "raw", "sql", "prompt", "odd"]);
    let outputs = prop::collection::vec(any_output().prop_map(|value| value.to_raw()), 0..3);
    let maps =
        (any_object(), prop::option::of(any_aside()), prop::option::of(any_object()), any_object(), any_object());
    (word(), kinds, word(), maps, prop::option::of(-2..3_i64), outputs).prop_map(
        |(id, kind, source, (mut metadata, aside, attachments, flags, extra), execution_count, outputs)| {
            metadata.extend(aside.map(|aside| ("notarium".to_owned(), aside.to_raw())));
            DocumentCell {
                id,
                cell_type: kind.to_owned(),
                source,
                metadata,
                attachments,
                execution_count,
                outputs,
                flags,
                extra,
            }
        },
    )
}

/// Text of the file's first cell, which has this output.
fn cell_with(output: Box<RawValue>) -> String {
    let cell = DocumentCell { outputs: vec![output], ..cell_of_type("code") };
    Pieces::new(std::iter::once("a")).cell(0, &cell)
}

fn output_with(key: &str, text: &str) -> Box<RawValue> {
    let output = match key {
        "text" => serde_json::json!({"output_type": "stream", "name": "stdout", "text": text}),
        mime => serde_json::json!({"output_type": "display_data", "data": {mime: text, "text/a": "a"}, "metadata": {}}),
    };
    serde_json::value::to_raw_value(&output).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_long_text_in_pieces_is_the_same_text(
        pieces in prop::collection::vec("[ab\"\\\\\r\n\u{2028}é]{0,6}", 1..6),
        key in prop::sample::select(vec!["text", "text/plain", "image/png", "application/json"]),
    ) {
        let whole = pieces.concat();
        prop_assume!(!whole.is_empty());
        let marks = LongMarks::new("of this file");
        let marked = cell_with(output_with(key, &marks.mark(0)));
        let (before, mut values) = marks.split(&marked);
        let (mut text, mut value) = (before.to_owned(), values.remove(0));
        pieces.iter().for_each(|piece| value.push(piece, &mut text));
        value.end(&mut text);
        prop_assert_eq!(text, cell_with(output_with(key, &whole)));
    }

    #[test]
    fn long_json_in_pieces_is_the_same_json(value in any_object(), sizes in prop::collection::vec(1..9_usize, 1..9)) {
        let whole = serde_json::value::to_raw_value(&value).unwrap();
        let shown = format!(
            r#"{{"output_type": "display_data", "metadata": {{}}, "data": {{"application/x+json": {whole}, "image/png": "abc"}}}}"#
        );
        let marks = LongMarks::new("of this file");
        let marked = serde_json::json!({"output_type": "display_data", "metadata": {},
            "data": {"image/png": marks.mark(0), "application/x+json": marks.mark(1)}});
        let marked = cell_with(serde_json::value::to_raw_value(&marked).unwrap());
        let (before, values) = marks.split(&marked);
        let mut text = before.to_owned();
        for mut long in values {
            match long.number {
                0 => long.push("abc", &mut text),
                _ => {
                    long.set_json(true);
                    let characters: Vec<char> = Json::from_raw(&whole).compact().chars().collect();
                    let mut rest = characters.as_slice();
                    for size in sizes.iter().cycle() {
                        let (some, others) = rest.split_at((*size).min(rest.len()));
                        long.push(&some.iter().collect::<String>(), &mut text);
                        rest = others;
                        if rest.is_empty() {
                            break;
                        }
                    }
                }
            }
            long.end(&mut text);
        }
        prop_assert_eq!(text, cell_with(RawValue::from_string(shown).unwrap()));
    }

    #[test]
    fn any_notebook_comes_in_and_goes_out_unchanged(text in any_notebook()) {
        round_trip(&text);
    }

    #[test]
    fn any_document_is_written_valid_and_stable(
        metadata in any_object(), extra in any_object(), cells in prop::collection::vec(any_document_cell(), 0..4)
    ) {
        let document = Document { metadata, extra, cells, nbformat_original: (4, 5) };
        export(&document);
    }

    #[test]
    fn a_damaged_file_never_panics(
        file in 0..FILES.len(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6)
    ) {
        let mut bytes = FILES[file].as_bytes().to_vec();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len().max(1));
            if bytes.is_empty() {
                break;
            }
            match kind {
                0 => bytes[at] = byte,
                1 => _ = bytes.remove(at),
                2 => bytes.insert(at, b"[]{}\",:\\u0"[usize::from(byte) % 10]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        if let Ok(imported) = try_import(&bytes) {
            export(&imported.document);
        }
    }
}
