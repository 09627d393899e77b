//! Charts whose data is in the output (Plotly, Vega-Lite, Vega), and images: kind, width and height from the header, size.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::Value;

use super::text::truncated;

/// The reader of this MIME type, if it is a chart's.
pub(super) fn chart_of_kind(kind: &str) -> Option<fn(&Value) -> String> {
    if kind.starts_with("application/vnd.plotly.") {
        Some(plotly)
    } else if kind.starts_with("application/vnd.vegalite.") {
        Some(vega_lite)
    } else if kind.starts_with("application/vnd.vega.") {
        Some(vega)
    } else {
        None
    }
}

/// `[scatter chart with 150 points] title: …; x: …; y: …`
fn described<'a>(
    kinds: impl Iterator<Item = &'a str>,
    points: Option<usize>,
    series: usize,
    words: &[(&str, Option<String>)],
) -> String {
    let kinds: Vec<&str> = kinds.collect::<BTreeSet<_>>().into_iter().collect();
    let kinds = if kinds.is_empty() { "empty".to_owned() } else { kinds.join("+") };
    let points = points.map(|points| format!(" with {points} points")).unwrap_or_default();
    let series = if series > 1 { format!(" in {series} series") } else { String::new() };
    let rendered =
        words.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}: {}", truncated(value))));
    let rendered = rendered.collect::<Vec<_>>().join("; ");
    format!("[{kinds} chart{points}{series}] {rendered}").trim_end().to_owned()
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// A title: a text, or an object with one.
fn title(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let text = value.as_str().or_else(|| text(value, "text"))?;
    (!text.is_empty()).then(|| text.to_owned())
}

// --- Plotly ---

fn plotly(figure: &Value) -> String {
    let traces: Vec<&Value> = list(figure, "data").collect();
    let is_line = |trace: &Value| text(trace, "mode").is_some_and(|mode| !mode.contains("markers"));
    let kinds = traces.iter().map(|trace| match text(trace, "type").unwrap_or("scatter") {
        "scatter" | "scattergl" if is_line(trace) => "line",
        "scattergl" => "scatter",
        other => other,
    });
    let points = traces.iter().map(|trace| plotly_points(trace)).sum();
    let layout = figure.get("layout");
    let named = |path: &str| title(layout.and_then(|layout| layout.pointer(path)));
    let words = [
        ("title", named("/title")),
        ("x", named("/xaxis/title")),
        ("y", named("/yaxis/title")),
        ("series", plotly_names(&traces)),
    ];
    described(kinds, Some(points), traces.len(), &words)
}

fn plotly_names(traces: &[&Value]) -> Option<String> {
    let names = traces.iter().filter_map(|trace| text(trace, "name")).filter(|name| !name.is_empty());
    let names: Vec<&str> = names.collect();
    (!names.is_empty() && traces.len() > 1).then(|| names.join(", "))
}

fn plotly_points(trace: &Value) -> usize {
    let fields = ["x", "y", "values", "labels", "r", "theta", "lat", "lon", "locations", "z", "a", "open"];
    fields.iter().filter_map(|field| trace.get(*field)).map(plotly_length).max().unwrap_or(0)
}

/// A list, or Plotly's typed array: `{"dtype": "f8", "bdata": base64, "shape": "10, 20"}`.
fn plotly_length(values: &Value) -> usize {
    if let Some(list) = values.as_array() {
        return list.len();
    }
    let Some(bytes) = text(values, "bdata").map(decoded_length) else { return 0 };
    let width = text(values, "dtype")
        .and_then(|dtype| dtype.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok())
        .unwrap_or(8);
    usize::try_from(bytes).unwrap_or(usize::MAX) / std::cmp::max(1, width)
}

// --- Vega ---

const MAX_LAYERS: usize = 100;

fn vega_lite(chart: &Value) -> String {
    let layers = layers(chart);
    let kinds = layers.iter().filter_map(|layer| mark(layer.get("mark")?));
    let points = layers.iter().find_map(|layer| rows(chart, layer)).or_else(|| rows(chart, chart));
    let axis = |name: &str| layers.iter().chain([&chart]).find_map(|layer| channel(layer.get("encoding")?.get(name)?));
    let words = [("title", title(chart.get("title"))), ("x", axis("x")), ("y", axis("y")), ("color", axis("color"))];
    described(kinds, points, 1, &words)
}

/// The charts inside a chart: layers, and concatenated ones.
fn layers(chart: &Value) -> Vec<&Value> {
    let mut found = vec![chart];
    let mut at = 0;
    while at < found.len() && found.len() < MAX_LAYERS {
        let parts = ["layer", "hconcat", "vconcat", "concat"].iter().flat_map(|name| list(found[at], name));
        let inner: Vec<&Value> = parts.chain(found[at].get("spec")).collect();
        found.extend(inner);
        at += 1;
    }
    found
}

fn mark(mark: &Value) -> Option<&str> {
    let name = mark.as_str().or_else(|| text(mark, "type"))?;
    Some(if matches!(name, "point" | "circle" | "square") { "scatter" } else { name })
}

fn channel(encoding: &Value) -> Option<String> {
    let own = title(encoding.get("title")).or_else(|| title(encoding.pointer("/axis/title")));
    own.or_else(|| match (text(encoding, "aggregate"), text(encoding, "field")) {
        (Some(aggregate), Some(field)) => Some(format!("{aggregate}({field})")),
        (aggregate, field) => field.or(aggregate).map(str::to_owned),
    })
}

fn rows(chart: &Value, layer: &Value) -> Option<usize> {
    let data = layer.get("data")?;
    let named = || chart.get("datasets")?.get(data.get("name")?.as_str()?);
    data.get("values").or_else(named)?.as_array().map(Vec::len)
}

fn vega(chart: &Value) -> String {
    let kinds = list(chart, "marks").filter_map(|mark| text(mark, "type"));
    let kinds = kinds.map(|name| if name == "symbol" { "scatter" } else { name });
    let points = list(chart, "data").filter_map(|data| data.get("values")?.as_array()).map(Vec::len).max();
    let axis = |place: &str| {
        list(chart, "axes").find(|axis| text(axis, "orient") == Some(place)).and_then(|axis| title(axis.get("title")))
    };
    let words = [("title", title(chart.get("title"))), ("x", axis("bottom")), ("y", axis("left"))];
    described(kinds, points, 1, &words)
}

/// Most base64 that is decoded to find the dimensions: a JPEG may contain a long thumbnail before them.
pub(super) const MAX_HEADER_CHARACTERS: usize = 128 << 10;

/// `[image: PNG, 640x480, 32 KB]`; `head` is the beginning of the value, `length` its whole length.
pub(super) fn image(kind: &str, head: &[u8], length: u64) -> String {
    let name = kind.trim_start_matches("image/").split(['+', ';']).next().unwrap_or_default().to_ascii_uppercase();
    let is_text = name == "SVG";
    let dimensions = if is_text { svg(&String::from_utf8_lossy(head)) } else { raster(head) };
    let bytes = if is_text { length } else { base64_bytes(head, length) };
    let dimensions = dimensions.map(|(width, height)| format!(", {width}x{height}")).unwrap_or_default();
    format!("[image: {name}{dimensions}, {}]", super::size(bytes))
}

/// Bytes that a base64 text encodes, without decoding it.
fn decoded_length(base64: &str) -> u64 {
    let bytes = base64.as_bytes();
    let signs = bytes.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'=').count();
    signs as u64 * 3 / 4
}

/// Like [`decoded_length`] when only the beginning is loaded; kernels break lines evenly.
fn base64_bytes(head: &[u8], length: u64) -> u64 {
    let head_length = head.len() as u64;
    if head_length == length {
        return decoded_length(&String::from_utf8_lossy(head));
    }
    length * 3 / 4
}

fn decoded(head: &[u8]) -> Vec<u8> {
    let signs: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    // A cut piece may end inside a group of four; its last bits are unusable.
    let whole = signs.len() / 4 * 4;
    STANDARD_NO_PAD.decode(&signs).or_else(|_| STANDARD_NO_PAD.decode(&signs[..whole])).unwrap_or_default()
}

fn raster(head: &[u8]) -> Option<(usize, usize)> {
    imagesize::blob_size(&decoded(head)).ok().map(|size| (size.width, size.height))
}

/// The numbers of `width` and `height` of the first `<svg …>`, else those of its `viewBox`.
fn svg(text: &str) -> Option<(usize, usize)> {
    let tag = text.split_once("<svg")?.1.split('>').next()?;
    let attribute = |name: &str| {
        let value = tag.split_once(&format!(" {name}="))?.1;
        value.get(1..)?.split(value.chars().next()?).next()
    };
    // Whole pixels: a fraction is useless to a model.
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let posted = || Some((number(attribute("width")?)?, number(attribute("height")?)?));
    let seen = || {
        let mut parts = attribute("viewBox")?.split_whitespace().skip(2);
        Some((number(parts.next()?)?, number(parts.next()?)?))
    };
    posted().or_else(seen)
}
