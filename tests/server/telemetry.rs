//! Tests that the metrics of the dashboard, the alerts and the documentation are those that the server has, and that it counts what happens.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use notarium_server::metrics::{MetricDescription, Metrics};
use serde_json::{Value, json};

use crate::support::{Http, TestServer};

const DASHBOARD: &str = "deploy/grafana/notarium.json";
const ALERTS: &str = "deploy/prometheus/alerts.yaml";

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap()
}

async fn with_metrics() -> (TestServer, Http) {
    let server = TestServer::with(|config| config.metrics_listen = Some(([127, 0, 0, 1], 0).into())).await;
    let metrics = Http::new(format!("http://{}", server.running().metrics_addr.unwrap()), None);
    (server, metrics)
}

/// Value of a series in a scrape.
fn value(scrape: &str, series: &str) -> f64 {
    let line = scrape.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {scrape}")).parse().unwrap()
}

#[tokio::test]
async fn what_happens_is_counted() {
    let (server, metrics) = with_metrics().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    let notebook =
        http.post("/api/notebooks", json!({"title": "Counted"})).await.ok()["notebook"].as_str().unwrap().to_owned();
    let path = format!("/api/notebooks/{notebook}");
    assert_eq!(http.patch(&path, json!({"title": ""})).await.status, 400);
    let mut socket = server.connect(&ann).await;
    socket.subscribe(&notebook).await;
    let insert = serde_json::from_value(json!({"InsertCell": {"cell_type": "code"}})).unwrap();
    socket.run(&notebook, &insert).await.unwrap();
    let scrape = metrics.get("/metrics").await.text;
    for (series, expected) in [
        (r#"notarium_commands_total{outcome="ack"}"#, 2.0),
        (r#"notarium_commands_total{outcome="invalid_value"}"#, 1.0),
        (r#"notarium_http_requests_total{method="POST",route="/api/notebooks",status="2xx"}"#, 1.0),
        (r#"notarium_http_requests_total{method="PATCH",route="/api/notebooks/{notebook}",status="4xx"}"#, 1.0),
        (r#"notarium_http_requests_total{method="GET",route="/api/socket",status="1xx"}"#, 1.0),
        (r#"notarium_catch_ups_total{with="snapshot"}"#, 1.0),
        ("notarium_sockets", 1.0),
        ("notarium_open_notebooks", 1.0),
        ("notarium_leases", 1.0),
        ("notarium_append_seconds_count", 2.0),
        ("notarium_commit_batch_seconds_count", 2.0),
        ("notarium_commit_batch_events_sum", 2.0),
        ("notarium_cut_off", 0.0),
        (r#"notarium_problems{part="lease"}"#, 0.0),
    ] {
        assert_eq!(value(&scrape, series), expected, "{series}");
    }
    for series in
        ["notarium_store_bytes", "notarium_log_bytes", "notarium_disk_free_bytes", "process_resident_memory_bytes"]
    {
        assert!(value(&scrape, series) > 0.0, "{series}");
    }
    assert!(value(&scrape, "notarium_room_inbox_wait_seconds_count") >= 3.0);
    for secret in [&notebook, &ann.token, ann.id.as_str()] {
        assert!(!scrape.contains(secret), "a label names {secret}");
    }
}

#[tokio::test]
async fn any_method_and_path_of_a_stranger_is_one_series() {
    let (server, metrics) = with_metrics().await;
    let http = server.http_as("").without_token();
    for number in 0..3 {
        let method = reqwest::Method::from_bytes(format!("M{number}").as_bytes()).unwrap();
        http.send(http.request(method, &format!("/api/unknown/{number}"))).await;
    }
    let scrape = metrics.get("/metrics").await.text;
    assert_eq!(value(&scrape, r#"notarium_http_requests_total{method="other",route="other",status="4xx"}"#), 3.0);
}

#[tokio::test]
async fn a_scraper_gets_the_format_that_it_asks_for() {
    let (_server, metrics) = with_metrics().await;
    let older = metrics.get("/metrics").await.text;
    assert!(older.contains("# TYPE notarium_commands_total counter\n") && !older.contains("# EOF"), "{older}");
    let request = metrics
        .request(reqwest::Method::GET, "/metrics")
        .header("accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    let newer = metrics.send(request).await.text;
    assert!(newer.contains("# TYPE notarium_commands counter\n") && newer.ends_with("# EOF\n"), "{newer}");
    promtool(&["check", "metrics"], &older);
}

// --- dashboard, alerts, documentation ---

/// Expressions of the dashboard.
fn dashboard_queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read(DASHBOARD)).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().replace("$__rate_interval", "5m")).collect()
}

/// Expressions of the alerts: `expr: …` in a line, or in the more indented lines after `expr: >-`.
fn alert_queries() -> Vec<String> {
    let (text, mut found) = (read(ALERTS), Vec::new());
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(expression) = line.trim_start().strip_prefix("expr: ") else { continue };
        let indent = line.len() - line.trim_start().len();
        let more = lines[at + 1..].iter().take_while(|more| more.len() - more.trim_start().len() > indent);
        found.push(match expression {
            ">-" => more.map(|line| line.trim()).collect::<Vec<_>>().join(" "),
            expression => expression.to_owned(),
        });
    }
    found
}

const FUNCTIONS: [&str; 13] = [
    "sum",
    "max",
    "min",
    "rate",
    "increase",
    "histogram_quantile",
    "topk",
    "time",
    "abs",
    "predict_linear",
    "max_over_time",
    "label_values",
    "count",
];
const KEYWORDS: [&str; 4] = ["by", "and", "or", "unless"];
/// Labels that Prometheus adds.
const ADDED_LABELS: [&str; 3] = ["instance", "job", "le"];

/// Words of a query outside of texts, with their places.
fn words(query: &str) -> Vec<(usize, String)> {
    let (mut words, mut is_text) = (Vec::<(usize, String)>::new(), false);
    for (at, letter) in query.char_indices() {
        is_text ^= letter == '"';
        if is_text || !(letter.is_ascii_alphanumeric() || letter == '_') {
            continue;
        }
        match words.last_mut() {
            Some((begin, word)) if *begin + word.len() == at => word.push(letter),
            _ => words.push((at, letter.to_string())),
        }
    }
    words.retain(|(_, word)| !word.starts_with(|first: char| first.is_ascii_digit()));
    words
}

/// Refuses a query that names a metric or a label that does not exist, or that cannot be PromQL.
fn check(query: &str, metrics: &[MetricDescription]) -> Result<(), String> {
    let mut open = Vec::new();
    for letter in query.chars() {
        match letter {
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => {
                let opened = open.pop().ok_or("a bracket too many")?;
                if !["()", "[]", "{}"].contains(&format!("{opened}{letter}").as_str()) {
                    return Err(format!("{opened} is closed by {letter}"));
                }
            }
            _ => {}
        }
    }
    if !open.is_empty() || query.matches('"').count() % 2 == 1 {
        return Err("a bracket or a text is not closed".to_owned());
    }
    let labels: BTreeSet<&str> = metrics.iter().flat_map(|metric| metric.labels).copied().chain(ADDED_LABELS).collect();
    let mut is_named = false;
    for (at, word) in words(query) {
        let rest = query[at + word.len()..].trim_start();
        let is_known = KEYWORDS.contains(&word.as_str()) || labels.contains(word.as_str());
        let is_call = rest.starts_with('(') || rest.starts_with("by (");
        if is_known || (is_call && FUNCTIONS.contains(&word.as_str())) || word == "up" {
            continue;
        }
        let metric = metrics.iter().find(|metric| {
            let parts = ["_bucket", "_sum", "_count"].map(|part| format!("{}{part}", metric.name));
            if metric.kind == "histogram" { parts.contains(&word) } else { metric.name == word }
        });
        let metric = metric.ok_or_else(|| format!("no metric, label or function {word}"))?;
        is_named = true;
        let is_counter = metric.kind != "gauge";
        let before = query[..at].trim_end();
        let is_in_rate = ["rate(", "increase("].iter().any(|function| before.ends_with(function));
        if is_counter != is_in_rate {
            return Err(format!("{word} is a {}: counters belong in rate or increase, gauges do not", metric.kind));
        }
    }
    if is_named || query.starts_with("up{") { Ok(()) } else { Err("no metric".to_owned()) }
}

#[test]
fn every_metric_of_dashboard_and_alerts_exists() {
    let metrics = Metrics::default();
    let (dashboard, alerts) = (dashboard_queries(), alert_queries());
    assert!(dashboard.len() > 50 && alerts.len() > 15, "{} and {} were read", dashboard.len(), alerts.len());
    for query in dashboard.iter().chain(&alerts) {
        // A gauge over time is the one exception of the rule for rates.
        let plain = query
            .replace("max_over_time(", "(")
            .replace("predict_linear(", "(")
            .replace("[6h], 86400)", ")")
            .replace("[1d])", ")");
        check(&plain, metrics.descriptions()).unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    for described in metrics.descriptions() {
        assert!(dashboard.iter().any(|query| query.contains(described.name)), "the dashboard lacks {}", described.name);
    }
}

#[test]
fn a_wrong_query_is_found() {
    let metrics = Metrics::default();
    for (query, error) in [
        ("sum(notarium_typo)", "no metric"),
        ("sum(rate(notarium_commands_total[5m])", "not closed"),
        ("sum(notarium_commands_total)", "belong in rate"),
        ("rate(notarium_turns[5m])", "gauges do not"),
        ("sum by (colour) (notarium_turns)", "no metric, label"),
        ("sum(notarium_append_seconds)", "no metric"),
        ("sum(notarium_turns]", "is closed by"),
        ("mean(notarium_turns)", "function mean"),
    ] {
        let found = check(query, metrics.descriptions()).unwrap_err();
        assert!(found.contains(error), "{query}: {found}");
    }
}

#[test]
fn prometheus_reads_the_alerts_and_the_queries_of_the_dashboard() {
    promtool(&["check", "rules", at(ALERTS).to_str().unwrap()], "");
    let mut rules = "groups:\n  - name: dashboard\n    rules:\n".to_owned();
    for (number, query) in dashboard_queries().iter().enumerate() {
        // A text of JSON is one of YAML.
        rules +=
            &format!("      - record: query_{number}\n        expr: {}\n", json!(query.replace("$instance", ".*")));
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), rules).unwrap();
    promtool(&["check", "rules", file.path().to_str().unwrap()], "");
}

/// Runs promtool of Debian's package `prometheus`, if it is on this machine.
fn promtool(arguments: &[&str], input: &str) {
    use std::io::Write;
    let program = std::env::var("NOTARIUM_PROMTOOL").unwrap_or_else(|_| "promtool".to_owned());
    let begun = Command::new(program)
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let Ok(mut running) = begun else {
        eprintln!("SKIPPED: promtool {arguments:?}: it is not here (Debian: apt-get install prometheus)");
        return;
    };
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = running.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "promtool {arguments:?}: {said}");
}

#[test]
fn the_list_of_metrics_in_operations_md_is_current() {
    let path = at("docs/operations.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let metrics = Metrics::default();
    let rows = metrics.descriptions().iter().map(|MetricDescription { name, kind, labels, help }| {
        let labels = labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
        format!("| `{name}` | {kind} | {labels} | {help} |\n")
    });
    let table = format!("| metric | type | labels | |\n| --- | --- | --- | --- |\n{}", rows.collect::<String>());
    let (head, rest) = text.split_once("<!-- metrics -->\n").expect("a mark of the table");
    let (_, tail) = rest.split_once("<!-- end -->").expect("an end mark");
    let current = format!("{head}<!-- metrics -->\n{table}<!-- end -->{tail}");
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        std::fs::write(&path, &current).unwrap();
        return;
    }
    assert_eq!(
        current, text,
        "docs/operations.md is stale: NOTARIUM_BLESS=1 cargo test --test in_process server::telemetry"
    );
}
