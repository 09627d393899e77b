//! Schedules with real kernels: a run with parameters and outputs, a failure, and a server that is killed amid a run.

use notarium_core::{Command, NotebookId, RunSchedule, ScheduledRunOutcome, SetSchedule};
use serde_json::Value;

use crate::processes::{Fixture, Visitor};
use crate::support::Http;

/// Sets the schedule of the visitor's notebook; `run`: also runs it now.
async fn set(ada: &Visitor, parameters: &str) {
    let command = Command::SetSchedule(Box::new(SetSchedule {
        schedule_id: "s".parse().unwrap(),
        cron: "0 0 1 1 *".to_owned(),
        timezone: None,
        version: None,
        parameters: notarium_core::RawObject::parse(parameters).unwrap(),
        agent: None,
        labels: None,
        catch_up: false,
        max_run_minutes: None,
        kept_runs: None,
    }));
    ada.command(command).await;
}

async fn run(ada: &Visitor, run: &str) {
    let (schedule_id, run) = ("s".parse().unwrap(), NotebookId::new(run).unwrap());
    ada.command(Command::RunSchedule(RunSchedule { schedule_id, run })).await;
}

async fn insert(ada: &Visitor, id: &str, source: &str) {
    let insert = serde_json::json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": source}});
    ada.command(serde_json::from_value(insert).unwrap()).await;
}

/// Waits for the end of the run.
async fn outcome(ada: &mut Visitor, run: &str) -> (ScheduledRunOutcome, Option<String>) {
    let run = NotebookId::new(run).unwrap();
    let id = "s".parse().unwrap();
    let last = |state: &notarium_core::Document| {
        state.schedules.get(&id).and_then(|it| it.last.clone()).filter(|it| it.notebook.as_ref() == Some(&run))
    };
    ada.until("the end of the scheduled run", |state| last(state).is_some()).await;
    let ended = last(ada.state()).unwrap();
    (*ended.outcome.known().unwrap(), ended.error)
}

async fn texts(http: &Http, run: &str) -> String {
    let state = http.get(&format!("/api/notebooks/{run}")).await.ok();
    let executions = state["notebook"]["executions"].as_object().unwrap();
    let outputs = executions.values().flat_map(|run| run["outputs"].as_array().cloned().unwrap_or_default());
    let texts = outputs.filter_map(|output| match &output["content"]["text"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_run_has_its_outputs_and_a_failed_one_its_error() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let http = Http::new(format!("http://{}", fixture.address()), Some(fixture.session().to_owned()));
    insert(&ada, "print", "print('region', region)").await;
    set(&ada, r#"{"region": "north"}"#).await;
    run(&ada, "good").await;
    assert_eq!(outcome(&mut ada, "good").await, (ScheduledRunOutcome::Succeeded, None));
    assert_eq!(texts(&http, "good").await, "region north\n");
    insert(&ada, "fail", "raise ValueError('no rows')").await;
    run(&ada, "bad").await;
    assert_eq!(outcome(&mut ada, "bad").await, (ScheduledRunOutcome::Failed, Some("ValueError".to_owned())));
    agent.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_amid_a_run_reports_its_end_once() {
    let mut fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let begun = fixture.folder().join("begun.txt");
    let source = format!(
        "import time\nopen({begun:?}, 'a').write('begun\\n')\nfor i in range(60):\n    print(i, flush=True)\n    time.sleep(0.05)"
    );
    insert(&ada, "slow", &source).await;
    set(&ada, "{}").await;
    run(&ada, "run").await;
    let http = Http::new(format!("http://{}", fixture.address()), Some(fixture.session().to_owned()));
    let begins = async {
        while !begun.exists() {
            // There is no event of this notebook for the start of the run in another one.
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::processes::PATIENCE, begins).await.expect("the run begins");
    for _ in 0..2 {
        fixture.kill_server();
        fixture.restart_server().await;
        ada.until_connected().await;
    }
    assert_eq!(outcome(&mut ada, "run").await, (ScheduledRunOutcome::Succeeded, None));
    let expected: String = (0..60).map(|i| format!("{i}\n")).collect();
    assert_eq!(texts(&http, "run").await, expected);
    assert_eq!(std::fs::read_to_string(&begun).unwrap(), "begun\n", "it ran once");
    let events = ada.events().iter().map(|recorded| recorded.event.event_type());
    let count = |name: &str| events.clone().filter(|event| *event == name).count();
    assert_eq!((count("ScheduledRunStarted"), count("ScheduledRunEnded")), (1, 1));
    agent.stop();
}
