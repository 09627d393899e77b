//! Charts whose data is in the output: Plotly, Vega-Lite, Vega.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text::truncated;

/// Who reads this MIME type, if it is a chart's.
pub(super) fn of_kind(kind: &str) -> Option<fn(&Value) -> String> {
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
fn described(
    kinds: &BTreeSet<String>,
    points: Option<usize>,
    series: usize,
    words: &[(&str, Option<String>)],
) -> String {
    let kinds = if kinds.is_empty() { "empty".to_owned() } else { kinds.iter().cloned().collect::<Vec<_>>().join("+") };
    let points = points.map(|points| format!(" with {points} points")).unwrap_or_default();
    let series = if series > 1 { format!(" in {series} series") } else { String::new() };
    let rendered =
        words.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}: {}", truncated(value))));
    let rendered = rendered.collect::<Vec<_>>().join("; ");
    format!("[{kinds} chart{points}{series}] {rendered}").trim_end().to_owned()
}

/// A title is a text, or an object with one.
fn title(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let text = value.as_str().or_else(|| value.get("text")?.as_str())?;
    (!text.is_empty()).then(|| text.to_owned())
}

// --- Plotly ---

fn plotly(figure: &Value) -> String {
    let traces: Vec<&Value> = figure.get("data").and_then(Value::as_array).into_iter().flatten().collect();
    let kind = |trace: &&Value| match trace.get("type").and_then(Value::as_str).unwrap_or("scatter") {
        "scatter" | "scattergl"
            if trace.get("mode").and_then(Value::as_str).is_some_and(|mode| !mode.contains("markers")) =>
        {
            "line".to_owned()
        }
        "scattergl" => "scatter".to_owned(),
        other => other.to_owned(),
    };
    let kinds = traces.iter().map(kind).collect();
    let points = traces.iter().map(|trace| plotly_points(trace)).sum();
    let layout = figure.get("layout");
    let named = |path: &str| title(layout.and_then(|layout| layout.pointer(path)));
    let words = [
        ("title", named("/title")),
        ("x", named("/xaxis/title")),
        ("y", named("/yaxis/title")),
        ("series", plotly_names(&traces)),
    ];
    described(&kinds, Some(points), traces.len(), &words)
}

fn plotly_names(traces: &[&Value]) -> Option<String> {
    let names = traces.iter().filter_map(|trace| trace.get("name")?.as_str()).filter(|name| !name.is_empty());
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
    let text = |name: &str| values.get(name).and_then(Value::as_str);
    let Some(bytes) = text("bdata").map(super::image::decoded_length) else { return 0 };
    let width = text("dtype")
        .and_then(|dtype| dtype.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok())
        .unwrap_or(8);
    usize::try_from(bytes).unwrap_or(usize::MAX) / std::cmp::max(1, width)
}

// --- Vega ---

const MAX_LAYERS: usize = 100;

fn vega_lite(chart: &Value) -> String {
    let layers = layers(chart);
    let kinds: BTreeSet<String> = layers.iter().filter_map(|layer| mark(layer.get("mark")?)).collect();
    let points = layers.iter().find_map(|layer| rows(chart, layer)).or_else(|| rows(chart, chart));
    let axis = |name: &str| layers.iter().chain([&chart]).find_map(|layer| channel(layer.get("encoding")?.get(name)?));
    let words = [("title", title(chart.get("title"))), ("x", axis("x")), ("y", axis("y")), ("color", axis("color"))];
    described(&kinds, points, 1, &words)
}

/// The charts inside a chart: layers, and those beside each other.
fn layers(chart: &Value) -> Vec<&Value> {
    let mut found = vec![chart];
    let mut at = 0;
    while at < found.len() && found.len() < MAX_LAYERS {
        let parts =
            ["layer", "hconcat", "vconcat", "concat"].iter().filter_map(|name| found[at].get(*name)?.as_array());
        let inner: Vec<&Value> = parts.flatten().chain(found[at].get("spec")).collect();
        found.extend(inner);
        at += 1;
    }
    found
}

fn mark(mark: &Value) -> Option<String> {
    let name = mark.as_str().or_else(|| mark.get("type")?.as_str())?;
    Some(match name {
        "point" | "circle" | "square" => "scatter".to_owned(),
        other => other.to_owned(),
    })
}

fn channel(encoding: &Value) -> Option<String> {
    let own = title(encoding.get("title")).or_else(|| title(encoding.pointer("/axis/title")));
    let field = encoding.get("field").and_then(Value::as_str).map(str::to_owned);
    let aggregate = encoding.get("aggregate").and_then(Value::as_str);
    own.or_else(|| match (aggregate, field) {
        (Some(aggregate), Some(field)) => Some(format!("{aggregate}({field})")),
        (aggregate, field) => field.or_else(|| aggregate.map(str::to_owned)),
    })
}

fn rows(chart: &Value, layer: &Value) -> Option<usize> {
    let data = layer.get("data")?;
    let named = || chart.get("datasets")?.get(data.get("name")?.as_str()?);
    data.get("values").or_else(named)?.as_array().map(Vec::len)
}

fn vega(chart: &Value) -> String {
    let marks = chart.get("marks").and_then(Value::as_array).into_iter().flatten();
    let kinds = marks
        .filter_map(|found| found.get("type")?.as_str())
        .map(|name| if name == "symbol" { "scatter" } else { name });
    let data = chart.get("data").and_then(Value::as_array).into_iter().flatten();
    let points = data.filter_map(|data| data.get("values")?.as_array()).map(Vec::len).max();
    let axes: Vec<&Value> = chart.get("axes").and_then(Value::as_array).into_iter().flatten().collect();
    let axis = |place: &str| {
        axes.iter()
            .find(|axis| axis.get("orient").and_then(Value::as_str) == Some(place))
            .and_then(|axis| title(axis.get("title")))
    };
    let words = [("title", title(chart.get("title"))), ("x", axis("bottom")), ("y", axis("left"))];
    described(&kinds.map(str::to_owned).collect(), points, 1, &words)
}
