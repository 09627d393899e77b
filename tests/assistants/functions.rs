//! Tests of functions that a cell registers with `@notarium.tool`, in a kernel that has the module without an installation.

use notarium_core::{
    CellId, Command, Document, Event, ExecutionCause, ExecutionTarget, RequestExecution, RestartKernel, Risk,
    StopReason,
};
use serde_json::{Value, json};

use super::gate::Gate;
use super::scene::{Scene, script};
use crate::processes::PATIENCE;
use crate::support::terminal::{Words, at_terminal};

const DEFINES: &str = r#"
import notarium
from typing import Literal

@notarium.tool(risk="destructive")
def wipe(rows: int, how: Literal["fast", "slow"] = "fast") -> dict:
    """Wipes rows of the table.

    Args:
        rows: How many.
    """
    print("wiping", rows, how)
    open("wiped", "w").write(str(rows))
    return {"wiped": rows, "how": how}

@notarium.tool(risk="read")
async def count(words: list[str]) -> int:
    """Counts words."""
    return len(words)
"#;

fn source(text: &str) -> String {
    text.trim_start().to_owned()
}

async fn run_cell(scene: &mut Scene, cell: &CellId) {
    let target = ExecutionTarget::Cell { cell_id: cell.clone(), cell_version: None };
    scene.ada.command(Command::RequestExecution(RequestExecution::new(target))).await;
}

fn is_callable(state: &Document, name: &str) -> bool {
    notarium_core::tools::find(state, name).is_ok()
}

/// Runs the program as the owner; returns success, output and errors.
async fn notarium(scene: &Scene, arguments: &[&str]) -> (bool, String, String) {
    let address = format!("http://{}", scene.fixture.address());
    let mut command = tokio::process::Command::from(scene.fixture.owner_of(&address));
    let ran = command.args(arguments).output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.success(), text(&ran.stdout), text(&ran.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registered_function_is_called_with_a_confirmation_by_people_and_again_after_a_restart() {
    let rules: Value = json!([
        {"when": {"user": "wipe"}, "reply": {"calls": [{"name": "wipe", "arguments": {"rows": 3}}]}},
        {"when": {"user": "wipe", "after_tool": "wipe"}, "reply": {"text": "Wiped."}},
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    let cell = scene.cell(&source(DEFINES)).await;
    run_cell(&mut scene, &cell).await;
    scene.ada.until("the functions", |state| is_callable(state, "wipe") && is_callable(state, "count")).await;
    let known = &scene.ada.state().functions["wipe"].function;
    assert_eq!((known.risk.judged(), known.description.as_str()), (Risk::Destructive, "Wipes rows of the table."));
    let schema: Value = serde_json::from_str(known.schema.get()).unwrap();
    assert_eq!(schema["properties"]["rows"], json!({"type": "integer", "description": "How many."}));

    // Call by an assistant, after a confirmation.
    let turn = scene.ask("wipe").await;
    let call = scene.waiting().await;
    scene.confirm(&call).await;
    scene.until_over(&turn).await;
    assert_eq!(scene.end_of(&turn), Some(Ok(StopReason::EndTurn)), "{:#?}", scene.story());
    let (result, is_error) = scene.results().pop().unwrap();
    assert!(!is_error && result.contains(r#""wiped":3"#), "{result}");
    assert!(scene.whole_record().await.contains("wiping 3 fast"), "what it prints stands in the run");

    // Call by a person, on the command line and over REST.
    let notebook = scene.ada.notebook().to_string();
    let (_, listed, _) = notarium(&scene, &["call", &notebook]).await;
    assert!(listed.contains("wipe") && listed.contains("destructive") && listed.contains("Counts words."), "{listed}");
    let (_, _, refused) = notarium(&scene, &["call", &notebook, "wipe", "--arg", "rows=4"]).await;
    assert!(refused.contains("registered as destructive: call it with --yes"), "{refused}");
    let (is_good, shown, said) =
        notarium(&scene, &["call", &notebook, "wipe", "--arg", "rows=4", "--arg", "how=slow", "--yes"]).await;
    assert!(is_good && shown.contains("wiping 4 slow") && shown.contains("'wiped': 4"), "{shown}{said}");
    let (_, _, refused) = notarium(&scene, &["call", &notebook, "wipe", "--arg", "rows=many", "--yes"]).await;
    assert!(refused.contains("rows takes integer"), "{refused}");
    let (is_good, counted, said) =
        notarium(&scene, &["call", &notebook, "count", "--arguments", r#"{"words": ["a", "b"]}"#, "--json"]).await;
    let counted: Value = serde_json::from_str(&counted).unwrap_or_else(|error| panic!("{error}: {counted}{said}"));
    assert!(is_good && counted["execution"]["outputs"].to_string().contains("\"2\""), "{counted:#}");
    let answer = scene
        .request(reqwest::Method::POST, "functions/count/calls")
        .json(&json!({"arguments": {"words": 3}}))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "invalid_arguments");

    // A new kernel runs the defining cell again automatically, without calls of its functions.
    let other = scene.cell("import os\nos.remove('wiped')").await;
    run_cell(&mut scene, &other).await;
    let kernel = scene.ada.state().kernels.keys().next().cloned().unwrap();
    scene.ada.command(Command::RestartKernel(RestartKernel::on_its_agent(kernel.clone()))).await;
    let is_back = |state: &Document| {
        let of = |name: &str| state.functions[name].kernel_session.as_ref().is_some_and(|now| *now != kernel);
        of("wipe") && of("count")
    };
    scene.ada.until("the functions in the new kernel", is_back).await;
    let restored = scene.ada.events().iter().filter_map(|recorded| match &recorded.event {
        Event::ExecutionRequested(event) if event.cause == ExecutionCause::FunctionsRestored => event.subject.cell_id(),
        _ => None,
    });
    assert_eq!(restored.collect::<Vec<_>>(), [&cell]);
    assert_eq!(scene.ada.state().functions["wipe"].function.risk.judged(), Risk::Destructive);
    assert_eq!(scene.ada.state().functions["count"].function.risk.judged(), Risk::Read);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_changed_beside_its_registration_is_not_called_in_its_place() {
    let rules: Value = json!([
        {"when": {"user": "count"}, "reply": {"calls": [{"name": "count", "arguments": {"words": ["a"]}}]}},
        {"when": {"after_tool": "count"}, "reply": {"text": "Done."}},
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    let cell = scene.cell(&source(DEFINES)).await;
    run_cell(&mut scene, &cell).await;
    scene.ada.until("the functions", |state| is_callable(state, "count")).await;
    // A second cell with the same name is refused, so the record has only the first definition.
    let other = scene.cell(&source(DEFINES).replace("len(words)", "-1")).await;
    run_cell(&mut scene, &other).await;
    let is_refused = |state: &Document| {
        let run = state.latest.get(&other).and_then(|run| state.executions.get(run));
        run.is_some_and(|run| {
            run.outputs.iter().any(|output| output.content.get().contains("two functions are called"))
        })
    };
    scene.ada.until("the refusal", is_refused).await;
    let turn = scene.ask("count").await;
    scene.until_over(&turn).await;
    let (result, is_error) = scene.results().pop().unwrap();
    assert!(is_error && result.contains("is not what was asked for"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_function_raises_and_what_it_cannot_take_is_told_whole() {
    let rules: Value = json!([
        {"when": {"user": "fail"}, "reply": {"calls": [{"name": "fail", "arguments": {"day": "tomorrow"}}]}},
        {"when": {"user": "again"}, "reply": {"calls": [{"name": "fail", "arguments": {"day": "2024-02-29"}}]}},
        {"when": {"after_tool": "fail"}, "reply": {"text": "I see."}},
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    let code = "import notarium, datetime\n@notarium.tool(risk='read')\ndef fail(day: datetime.date) -> None:\n    'Fails.'\n    raise LookupError(f'no such day: {day}')";
    let cell = scene.cell(code).await;
    run_cell(&mut scene, &cell).await;
    scene.ada.until("the function", |state| is_callable(state, "fail")).await;
    scene.answered("fail").await;
    assert_eq!(scene.results().pop(), Some(("fail: day: 'tomorrow' is no date".to_owned(), true)));
    scene.answered("again").await;
    let (result, is_error) = scene.results().pop().unwrap();
    assert!(
        is_error && result.contains("LookupError: no such day: 2024-02-29") && result.contains("Traceback"),
        "{result}"
    );
}

/// Starts the program at a terminal.
fn terminal(scene: &Scene, home: &std::path::Path, arguments: &[&str]) -> tokio::process::Child {
    let mut process = at_terminal(arguments);
    process.current_dir(home).env("NOTARIUM_CONFIG", home.join("config.json")).env("TERM", "xterm");
    process.env("NOTARIUM_SERVER", format!("http://{}", scene.fixture.address()));
    process.env("NOTARIUM_TOKEN", scene.fixture.session()).spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn how_far_a_run_has_come_is_seen_by_all_who_follow_and_recorded_nowhere() {
    let mut gate = Gate::start().await;
    let mut scene = Scene::with_kernel(script(&json!([]))).await;
    let home = tempfile::tempdir().unwrap();
    let waits = gate.code().replace('\n', "; ");
    let code = format!(
        "import notarium\nfor n in notarium.progress(range(4), label='reading'):\n    if n == 2:\n        {waits}"
    );
    let notebook = scene.ada.notebook().to_string();
    let mut watch = terminal(&scene, home.path(), &["watch", &notebook]);
    let mut watched = Words::of(watch.stdout.take().unwrap());
    watched.until("watching").await;
    let mut exec = terminal(&scene, home.path(), &["exec", &notebook, "--code", &code]);
    let mut shown = Words::of(exec.stdout.take().unwrap());
    for words in [&mut shown, &mut watched] {
        words.until("reading: ").await;
    }
    gate.until_arrived(1).await;
    gate.open();
    assert!(tokio::time::timeout(PATIENCE, exec.wait()).await.unwrap().unwrap().success());
    let _ = watch.kill().await;
    let record = scene.whole_record().await;
    assert!(!record.contains("\"total\"") && !record.contains("notarium.progress\",\"state"), "{record}");
    scene.ada.until("the run's end", |state| state.executions.is_empty()).await;
}
