//! Previews, as a readable golden file: `NOTARIUM_BLESS=1` rewrites it.

use base64::Engine;
use notarium_assistant::preview::{
    ErrorOutput, MAX_PREVIEW_CHARACTERS, joined_streams, no_blobs, preview, truncated, without_escapes,
};
use notarium_core::{BlobPart, Output};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::golden;

fn output(content: &Value) -> Output {
    serde_json::from_value(json!({ "content": content })).expect("an output")
}

fn result(data: Value) -> Value {
    json!({"output_type": "execute_result", "metadata": {}, "execution_count": 1, "data": data})
}

fn stream(name: &str, text: &str) -> Value {
    json!({"output_type": "stream", "name": name, "text": text})
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn png(width: u32, height: u32, bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(height.to_be_bytes());
    png.resize(bytes, 0);
    base64(&png)
}

const PANDAS: &str = r#"<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style><table border="1" class="dataframe"><thead>
<tr style="text-align: right;"><th></th><th>sepal &amp; length</th><th>species</th></tr></thead><tbody>
<tr><th>0</th><td>5.1</td><td>setosa</td></tr><tr><th>1</th><td>4.9</td><td>setosa</td></tr></tbody></table>"#;

fn texts() -> Vec<(&'static str, Value)> {
    vec![
        ("stdout", stream("stdout", "hello\n")),
        ("stdout in lines", json!({"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]})),
        ("stderr", stream("stderr", "\u{1b}[31mwarning\u{1b}[0m: old\n")),
        ("500 characters", stream("stdout", &"é".repeat(500))),
        ("501 characters", stream("stdout", &"😀".repeat(501))),
        ("progress", stream("stderr", "10%\r50%\r100%\nready\r\n")),
        ("nothing", stream("stdout", "")),
        ("plain text", result(json!({"text/plain": "42"}))),
        ("markdown", result(json!({"text/markdown": "**bold**", "text/plain": "<Markdown>"}))),
        ("latex", result(json!({"text/latex": "$x^2$", "text/plain": "x**2"}))),
        (
            "html",
            result(
                json!({"text/html": "<script>evil()</script><b>two</b>\n<i>words</i> &lt;", "text/plain": "<HTML object>"}),
            ),
        ),
        ("html and words", result(json!({"text/html": "<b>x</b>", "text/plain": "Model(3)"}))),
        ("json", result(json!({"application/json": {"a": [1, 2]}}))),
        ("unknown kinds", result(json!({"application/x-a": "abc", "application/pdf": "abcd"}))),
        (
            "a widget",
            result(
                json!({"application/vnd.jupyter.widget-view+json": {"model_id": "x"}, "text/plain": "IntSlider(value=3)"}),
            ),
        ),
        ("an unknown output", json!({"output_type": "hologram"})),
        ("no object", json!([1])),
        (
            "an error",
            json!({"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero",
                "traceback": ["\u{1b}[0;31m-----\u{1b}[0m", "\u{1b}[0;32mline 1\u{1b}[0m in f()", &"long ".repeat(200)]}),
        ),
        (
            "an error without a traceback",
            json!({"output_type": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": []}),
        ),
    ]
}

fn tables() -> Vec<(&'static str, Value)> {
    let large = PANDAS.replace("</table>", "</table>\n<p>1,500 rows</p><p>150 rows × 5 columns</p></div>");
    let polars = r#"<div><small>shape: (3, 2)</small><table border="1" class="dataframe"><thead><tr><th>a</th><th>b</th></tr><tr><td>i64</td><td>str</td></tr></thead><tbody><tr><td>1</td><td>x</td></tr></tbody></table></div>"#;
    vec![
        ("pandas", result(json!({"text/html": PANDAS, "text/plain": "…"}))),
        ("pandas, cut", result(json!({"text/html": large, "text/plain": "…"}))),
        ("polars", result(json!({"text/html": polars}))),
        (
            "pandas as text",
            result(json!({"text/plain": "     a  b c\n0    1  2\n..  .. ..\n99   1  2\n\n[100 rows x 2 columns]"})),
        ),
        ("a series", result(json!({"text/plain": "0    1.5\n1    2.5\nName: price, dtype: float64"}))),
        ("a long series", result(json!({"text/plain": "0    1\n    ..\n99   1\nName: n, Length: 100, dtype: int64"}))),
        ("another table", result(json!({"text/html": "<table><tr><td>1</td><td>2</td></tr></table>"}))),
    ]
}

fn figures() -> Vec<(&'static str, Value)> {
    let numbers: Vec<u32> = (0..150).collect();
    let plotly = |figure: Value| result(json!({"application/vnd.plotly.v1+json": figure, "text/html": "<div>"}));
    let vega = |chart: Value| result(json!({"application/vnd.vegalite.v5+json": chart, "image/png": png(1, 1, 30)}));
    vec![
        (
            "plotly",
            plotly(json!({"data": [{"type": "scatter", "mode": "markers", "x": numbers, "y": numbers}],
            "layout": {"title": {"text": "Iris"}, "xaxis": {"title": {"text": "sepal width"}}, "yaxis": {"title": "petal"}}})),
        ),
        (
            "plotly, two series",
            plotly(
                json!({"data": [{"type": "bar", "name": "a", "x": [1, 2]}, {"type": "scatter", "mode": "lines", "name": "b", "y": [1, 2, 3]}]}),
            ),
        ),
        (
            "plotly, typed array",
            plotly(json!({"data": [{"type": "scattergl", "x": {"dtype": "f8", "bdata": base64(&[0; 80])}}]})),
        ),
        ("plotly, empty", plotly(json!({}))),
        (
            "vega-lite",
            vega(json!({"mark": {"type": "point"}, "data": {"name": "d1"}, "datasets": {"d1": [{"a": 1}, {"a": 2}]},
            "encoding": {"x": {"field": "a", "title": "Age"}, "y": {"aggregate": "mean", "field": "b"}, "color": {"field": "c"}}})),
        ),
        (
            "vega-lite, layers",
            vega(json!({"title": "Both", "data": {"values": [1, 2, 3]}, "layer": [
            {"mark": "line", "encoding": {"x": {"field": "t"}, "y": {"field": "v"}}}, {"mark": "rule"}]})),
        ),
        (
            "vega",
            result(
                json!({"application/vnd.vega.v5+json": {"marks": [{"type": "symbol"}], "data": [{"values": [1, 2]}],
            "axes": [{"orient": "bottom", "title": "t"}]}}),
            ),
        ),
    ]
}

fn images() -> Vec<(&'static str, Value)> {
    let image = |kind: &str, value: &str| {
        let mut data = serde_json::Map::new();
        data.insert(kind.to_owned(), value.into());
        result(Value::Object(data))
    };
    let jpeg = base64(&[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0x01, 0xe0, 0x02, 0x80, 3, 0, 0]);
    let mut lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0/".to_vec();
    lossless.extend((99_u32 | 49 << 14).to_le_bytes());
    vec![
        ("png", image("image/png", &png(640, 480, 32 << 10))),
        (
            "png of a figure",
            result(json!({"image/png": png(640, 480, 2_000_000), "text/plain": "<Figure size 640x480 with 1 Axes>"})),
        ),
        ("jpeg", image("image/jpeg", &jpeg)),
        ("gif", image("image/gif", &base64(b"GIF89a\x0a\0\x14\0\0\0\0"))),
        ("webp", image("image/webp", &base64(&lossless))),
        ("bmp", image("image/bmp", &base64(&[&b"BM"[..], &[0; 16], &[7, 0, 0, 0, 9, 0, 0, 0]].concat()))),
        ("svg", image("image/svg+xml", "<?xml version='1.0'?><svg xmlns='x' width=\"120.5pt\" height=\"80pt\"></svg>")),
        ("svg by its view box", image("image/svg+xml", "<svg viewBox='0 0 30 40'/>")),
        ("broken", image("image/png", "not base64 at all")),
        ("jpeg without a frame", image("image/jpeg", &base64(&[0xff, 0xd8, 0xff, 0xff, 0xff]))),
    ]
}

#[test]
fn previews_are_as_in_the_golden_file() {
    let mut text = String::new();
    for (name, content) in [texts(), tables(), figures(), images()].concat() {
        text.push_str(&format!("## {name}\n{}\n\n", preview(&output(&content), &no_blobs)));
    }
    golden::check("previews.md", &text);
}

fn in_blob(content: &Value, pointer: &str, size_bytes: u64, json: bool) -> Output {
    let part = BlobPart { pointer: pointer.to_owned(), sha256: "00".to_owned(), size_bytes, json };
    Output { blobs: vec![part], ..output(content) }
}

#[test]
fn what_stands_in_a_blob_is_read_or_named() {
    let empty = result(json!({}));
    let image = png(800, 600, 50_000);
    let size = image.len() as u64;
    let head = |_: &BlobPart, most: usize| Some(image.as_bytes()[..most.min(image.len())].to_vec());
    let away = in_blob(&empty, "/data/image~1png", size, false);
    assert_eq!(preview(&away, &head), "[image: PNG, 800x600, 49 KB]");
    assert_eq!(preview(&away, &no_blobs), "[image: PNG, 49 KB]");
    let text = |_: &BlobPart, _: usize| Some(b"all of it".to_vec());
    let stream = in_blob(&json!({"output_type": "stream", "name": "stderr"}), "/text", 9, false);
    assert_eq!(preview(&stream, &text), "[stderr] all of it");
    assert_eq!(preview(&stream, &no_blobs), "[stderr] [text: 9 bytes]");
    let chart = in_blob(&empty, "/data/application~1vnd.plotly.v1+json", 30, true);
    let figure = |_: &BlobPart, _: usize| Some(br#"{"data":[{"type":"bar","y":[1,2]}]}"#.to_vec());
    assert_eq!(preview(&chart, &figure), "[bar chart with 2 points]");
    assert_eq!(preview(&chart, &no_blobs), "[chart: 30 bytes]");
    let error = in_blob(&json!({"output_type": "error", "ename": "E", "evalue": "m"}), "/traceback", 9, true);
    let lines = |_: &BlobPart, _: usize| Some(br#"["one","two"]"#.to_vec());
    assert_eq!(preview(&error, &lines), "E: m\none\ntwo");
}

#[test]
fn an_error_is_known_and_whole() {
    let message = "x".repeat(5_000);
    let error = output(&json!({"output_type": "error", "ename": "E", "evalue": message, "traceback": []}));
    let failure = ErrorOutput::of(&error, &no_blobs).expect("an error");
    assert_eq!(failure.message.len(), 5_000);
    assert!(preview(&error, &no_blobs).contains(&message));
    assert_eq!(ErrorOutput::of(&output(&stream("stdout", "E")), &no_blobs), None);
}

#[test]
fn the_pieces_of_a_progress_bar_are_one_output() {
    let pieces = ["0%", "\r50%", "\r\u{1b}[K100%", "\ndone\n"].map(|text| output(&stream("stderr", text)));
    let others = [output(&stream("stdout", "x")), output(&result(json!({"text/plain": "1"})))];
    let outputs = [&pieces[..], &others].concat();
    let joined: Vec<String> = joined_streams(&outputs).iter().map(|output| preview(output, &no_blobs)).collect();
    assert_eq!(joined[..2], ["[stderr] 100%\ndone\n", "x"]);
    assert_eq!(joined.len(), 3);
}

#[test]
fn escape_codes_go() {
    let cases = [
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}", "link"),
        ("a\u{1b}", "a"),
        ("\u{1b}é", "é"),
        ("\u{1b}[", ""),
        ("\u{1b}]open", ""),
    ];
    for (text, shown) in cases {
        assert_eq!(without_escapes(text), shown, "{text:?}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(kind in prop::sample::select(vec!["text/plain", "text/html", "image/png", "image/jpeg", "image/svg+xml", "image/webp",
            "application/vnd.plotly.v1+json", "application/vnd.vegalite.v5+json", "application/vnd.vega.v5+json"]), text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..60),
            head in prop::sample::select(vec!["", "<table class=\"dataframe", "<thead>", "<svg width=", " rows × ", "shape: ("])) {
        for value in [json!(format!("{head}{text} columns")), json!(base64(&bytes)), json!([text.clone()]), json!({"data": [{"x": text, "type": 3}], "mark": text, "layer": [text]})] {
            let mut data = serde_json::Map::new();
            data.insert(kind.to_owned(), value);
            prop_assert!(!preview(&output(&result(Value::Object(data))), &no_blobs).is_empty());
        }
        let header: Vec<u8> = [&b"\xff\xd8\xff\xc4"[..], &bytes].concat();
        preview(&output(&result(json!({"image/jpeg": base64(&header)}))), &no_blobs);
    }

    #[test]
    fn texts_are_cut_between_characters(text in any::<String>(), count in 0_usize..3) {
        let text = text.repeat(count * 20);
        let cut = truncated(&text);
        prop_assert!(cut.chars().count() <= MAX_PREVIEW_CHARACTERS + "…[truncated]".chars().count());
        prop_assert_eq!(cut.ends_with("…[truncated]") && cut.len() != text.len(), text.chars().count() > MAX_PREVIEW_CHARACTERS);
    }
}

#[test]
fn previews_show_no_keys_even_where_they_are_cut_off() {
    let key = "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2";
    let cut = format!("{}{key}", " x".repeat(235));
    let error = json!({"output_type": "error", "ename": "E", "evalue": key, "traceback": ["a", key]});
    for content in [stream("stdout", &cut), result(json!({"text/plain": key})), error] {
        let text = preview(&output(&content), &no_blobs);
        assert!(text.contains("[masked") && !text.contains("ghp_"), "{text}");
    }
    let part = BlobPart { pointer: "/text".into(), sha256: String::new(), size_bytes: 1, json: false };
    let away = Output { blobs: vec![part], ..output(&json!({"output_type": "stream", "name": "stdout"})) };
    let bytes = |_: &BlobPart, _: usize| Some(key.as_bytes().to_vec());
    assert_eq!(preview(&away, &bytes), "[masked: a key]");
}
