//! Schedules by REST: due runs, missed ones, rights, refusals. The clock is the test's.

use std::time::Duration;

use notarium_core::{Command, ExecutionId, ExecutionOutcome, ExecutionReport, ExecutionStatus};
use notarium_server::Clock;
use notarium_store::accounts::AccountChange;
use notarium_wire::{ClientMessage, OfferMessage, OfferedKernelspec, ServerMessage};
use serde_json::{Value, json};

use crate::support::{Answer, Http, PATIENCE, Person, TestClient, TestServer};

const MINUTES_5: Duration = Duration::from_secs(5 * 60);
const EVERY_5: &str = "*/5 * * * *";
const RUNS: &str = "/api/notebooks/n/schedules/often/runs";

struct Scene {
    server: TestServer,
    clock: Clock,
    ann: Person,
    http: Http,
}

impl Scene {
    /// Ann's notebook, whose only cell is of this type.
    async fn of(cell_type: &str, source: &str) -> Self {
        let clock = Clock::adjustable();
        let server = TestServer::with(|config| config.clock = clock.clone()).await;
        let ann = server.person("Ann").await;
        let http = server.http(&ann);
        http.post("/api/notebooks", json!({"id": "n", "title": "Report"})).await.ok();
        let cell = json!({"cell_id": "c", "cell_type": cell_type, "source": source});
        http.post("/api/notebooks/n/cells", cell).await.ok();
        Self { server, clock, ann, http }
    }

    async fn text() -> Self {
        Self::of("markdown", "# Words").await
    }

    async fn set(&self, more: Value) {
        let mut body = json!({"cron": EVERY_5});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.http.put("/api/notebooks/n/schedules/often", body).await.ok();
    }

    /// Waits until the run's notebook is there and its cells are requested.
    async fn until_requested(&self, run: &str) {
        let asking = async {
            loop {
                let answer = self.http.get(&format!("/api/notebooks/{run}")).await;
                if answer.status == 200 && answer.json()["notebook"]["executions"] != json!({}) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.expect("the cells are requested");
    }

    /// Past runs, the last first, once as many have ended.
    async fn ended(&self, count: usize) -> Vec<Value> {
        let is_so = |runs: &Value| {
            let runs = runs["runs"].as_array().unwrap();
            runs.len() >= count && runs.iter().all(|run| run["outcome"].is_string())
        };
        self.http.until(RUNS, is_so).await["runs"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_due_run_is_a_notebook_of_its_own_and_each_minute_runs_once() {
    let scene = Scene::text().await;
    scene.set(json!({})).await;
    let listed = scene.http.get("/api/notebooks/n/schedules").await.ok();
    let next = listed["schedules"][0]["next"][0].as_u64().unwrap();
    assert_eq!((next % 300_000, &listed["schedules"][0]["maker_name"]), (0, &json!("Ann")));
    scene.clock.advance(MINUTES_5);
    let runs = scene.ended(1).await;
    assert_eq!((runs.len(), &runs[0]["outcome"], runs[0]["due"].as_u64()), (1, &json!("succeeded"), Some(next)));
    let run = runs[0]["run"].as_str().unwrap();
    let made = scene.http.get(&format!("/api/notebooks/{run}")).await.ok();
    assert_eq!(made["role"], "owner");
    let title = made["notebook"]["title"].as_str().unwrap();
    assert!(
        title.starts_with("Report – 20") && title.ends_with(if next % 600_000 == 0 { "0" } else { "5" }),
        "{title}"
    );
    scene.clock.advance(MINUTES_5);
    let again = scene.ended(2).await;
    assert_eq!(again[0]["due"].as_u64(), Some(next + 300_000));
    assert_ne!(again[0]["run"], again[1]["run"]);
    let everywhere = scene.http.get("/api/schedules").await.ok();
    assert_eq!(
        (&everywhere["notebooks"][0]["notebook"], &everywhere["notebooks"][0]["title"]),
        (&json!("n"), &json!("Report"))
    );
}

#[tokio::test]
async fn missed_runs_are_told_once_with_their_number_and_do_not_run_late() {
    let mut scene = Scene::text().await;
    scene.set(json!({"cron": "0 * * * *"})).await;
    scene.server.stop().await;
    // Ten minutes after the full hour: too late for its run.
    let (hour, now) = (3_600_000, scene.clock.now());
    let last = (now / hour + 13) * hour;
    scene.clock.advance(Duration::from_millis(last - now) + MINUTES_5 * 2);
    scene.server.start_again().await;
    let runs = scene.ended(1).await;
    assert_eq!(
        (runs.len(), &runs[0]["outcome"], runs[0]["missed"].as_u64()),
        (1, &json!("missed"), Some(13)),
        "{runs:?}"
    );
    assert_eq!((&runs[0]["run"], runs[0]["due"].as_u64()), (&Value::Null, Some(last)));
}

#[tokio::test]
async fn the_last_missed_run_runs_late_if_asked_for() {
    let mut scene = Scene::text().await;
    let (hour, at) = (3_600_000, scene.clock.now());
    // Once a day, at an hour that is not near.
    let due_hour = (at / hour + 5) % 24;
    scene.set(json!({"cron": format!("0 {due_hour} * * *"), "catch_up": true})).await;
    scene.server.stop().await;
    scene.clock.advance(Duration::from_secs(3 * 24 * 3_600));
    scene.server.start_again().await;
    let runs = scene.ended(2).await;
    assert_eq!((&runs[0]["outcome"], runs[0]["run"].is_string()), (&json!("succeeded"), true), "{runs:?}");
    assert_eq!((&runs[1]["outcome"], runs[1]["missed"].as_u64()), (&json!("missed"), Some(2)), "{runs:?}");
    assert_eq!(runs[0]["due"].as_u64().unwrap() - runs[1]["due"].as_u64().unwrap(), 24 * hour);
}

#[tokio::test]
async fn a_closed_account_stops_its_schedules() {
    let scene = Scene::text().await;
    let bob = scene.server.person("Bob").await;
    let subject = json!({"subject": {"kind": "user", "id": bob.id.to_string()}, "role": "owner"});
    scene.http.post("/api/notebooks/n/commands", json!({"body": {"GrantAccess": subject}})).await.ok();
    scene.set(json!({})).await;
    let at = scene.clock.now();
    scene.server.apply(AccountChange::DeactivateUser { user: scene.ann.id.clone(), at }).await;
    scene.clock.advance(MINUTES_5);
    let bobs = scene.server.http(&bob);
    let runs = bobs.until(RUNS, |runs| runs["runs"][0]["outcome"].is_string()).await;
    assert_eq!((&runs["runs"][0]["outcome"], &runs["runs"][0]["run"]), (&json!("refused"), &Value::Null));
    let listed = bobs.get("/api/notebooks/n/schedules").await.ok();
    assert_eq!(
        (&listed["schedules"][0]["schedule"]["stopped"], &listed["schedules"][0]["next"]),
        (&json!(true), &json!([]))
    );
    // Bob sets it in his name.
    bobs.put("/api/notebooks/n/schedules/often", json!({"cron": EVERY_5})).await.ok();
    scene.clock.advance(MINUTES_5);
    let is_so = |runs: &Value| runs["runs"][0]["outcome"] == "succeeded";
    bobs.until(RUNS, is_so).await;
}

#[tokio::test]
async fn a_lost_role_stops_a_schedule_too() {
    let scene = Scene::text().await;
    let bob = scene.server.person("Bob").await;
    let subject = json!({"kind": "user", "id": bob.id.to_string()});
    let grant = json!({"body": {"GrantAccess": {"subject": subject, "role": "runner"}}});
    scene.http.post("/api/notebooks/n/commands", grant).await.ok();
    let bobs = scene.server.http(&bob);
    bobs.put("/api/notebooks/n/schedules/often", json!({"cron": EVERY_5})).await.ok();
    let grant = json!({"body": {"GrantAccess": {"subject": subject, "role": "viewer"}}});
    scene.http.post("/api/notebooks/n/commands", grant).await.ok();
    scene.clock.advance(MINUTES_5);
    let runs = scene.ended(1).await;
    assert_eq!(runs[0]["outcome"], "refused");
    assert!(runs[0]["detail"].as_str().unwrap().contains("may not run this notebook any more"), "{runs:?}");
}

/// The sentence of a refusal with this status.
fn sentence(answer: &Answer, status: u16) -> String {
    answer.refused(status);
    answer.json()["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_gives_no_times_is_refused_with_a_sentence() {
    let scene = Scene::text().await;
    let put = async |body: Value| sentence(&scene.http.put("/api/notebooks/n/schedules/odd", body).await, 400);
    for (cron, words) in [
        ("0 0 31 2 *", "never comes"),
        ("* * * * *", "comes after 1 min already"),
        ("0 6 * *", "has 4 fields"),
        ("0 25 * * *", "is no line of cron"),
    ] {
        let said = put(json!({"cron": cron})).await;
        assert!(said.contains(words), "{cron}: {said}");
        let path = format!("/api/schedule-times?cron={}", cron.replace(' ', "+"));
        let times = sentence(&scene.http.get(&path).await, 400);
        assert!(times.contains(words), "{cron}: {times}");
    }
    assert!(put(json!({"cron": EVERY_5, "timezone": "Mars/Olympus"})).await.contains("no time zone"));
    assert!(put(json!({"cron": EVERY_5, "parameters": {"class": 1}})).await.contains("word of Python"));
    assert!(put(json!({"cron": EVERY_5, "parameters": {"a b": 1}})).await.contains("no variable name"));
    let times = scene.http.get("/api/schedule-times?cron=0+6+*+*+1-5&timezone=Europe/Berlin").await.ok();
    assert_eq!(times["next"].as_array().unwrap().len(), 5);
    assert_eq!(scene.http.get("/api/notebooks/n/schedules").await.ok()["schedules"], json!([]));
}

/// An agent that offers `python3`.
async fn agent(scene: &Scene) -> TestClient {
    let mut agent = scene.server.connect_as(&scene.server.agent_token(&scene.ann, "gpu").await).await;
    let kernelspec = OfferedKernelspec {
        name: "python3".to_owned(),
        display_name: "Python 3".to_owned(),
        language: "python".to_owned(),
        effects: None,
    };
    agent.send(&ClientMessage::Offer(OfferMessage { kernelspecs: vec![kernelspec], ..OfferMessage::default() })).await;
    agent
}

/// Claims and starts the kernel of the next run; returns the run's notebook.
async fn start(agent: &mut TestClient) -> String {
    let (notebook, kernel_session) = agent
        .until(|agent| {
            agent.others.iter().find_map(|message| match message {
                ServerMessage::Work { notebook, kernel_session, .. } => {
                    Some((notebook.to_string(), kernel_session.clone()))
                }
                _ => None,
            })
        })
        .await;
    agent.subscribe(&notebook).await;
    agent.run(&notebook, &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
    let started = Command::ReportKernelStarted {
        kernel_session,
        language_info: Default::default(),
        sandbox: Default::default(),
        environment: None,
    };
    agent.run(&notebook, &started).await.unwrap();
    notebook
}

/// Ends the run that is assigned.
async fn finish(agent: &mut TestClient, notebook: &str, outcome: ExecutionOutcome) {
    let assigned = |agent: &TestClient| {
        let runs = &agent.state(notebook).executions;
        let mut runs = runs.iter().filter(|(_, run)| run.status == ExecutionStatus::Assigned);
        runs.next().map(|(id, run)| (id.clone(), run.fence.unwrap()))
    };
    let (execution_id, fence): (ExecutionId, u64) = agent.until(assigned).await;
    let completed = ExecutionReport::Completed { outcome, execution_count: Some(1), notice: None };
    for (seq, report) in [(1, ExecutionReport::Started {}), (2, completed)] {
        let report = Command::ReportExecution { execution_id: execution_id.clone(), fence, seq, report };
        agent.run(notebook, &report).await.unwrap();
    }
}

#[tokio::test]
async fn a_run_now_has_its_parameters_and_a_failed_cell_stops_those_after_it() {
    let scene = Scene::of("code", "x = 1").await;
    for (id, source) in [("bad", "1/0"), ("after", "print(x)")] {
        let cell = json!({"cell_id": id, "cell_type": "code", "source": source});
        scene.http.post("/api/notebooks/n/cells", cell).await.ok();
    }
    let metadata = json!({"body": {"SetCellMetadata": {"cell_id": "c", "metadata": {"tags": ["parameters"]}}}});
    scene.http.post("/api/notebooks/n/commands", metadata).await.ok();
    scene.set(json!({"cron": "0 0 1 1 *", "parameters": {"x": 2, "name": "north"}})).await;
    let mut agent = agent(&scene).await;
    let answer = scene.http.post(RUNS, json!({})).await;
    let run = answer.ok()["run"].as_str().unwrap().to_owned();
    assert!(sentence(&scene.http.post(RUNS, json!({})).await, 409).contains("under way"));
    assert_eq!(start(&mut agent).await, run);
    let state = scene.http.get(&format!("/api/notebooks/{run}")).await.ok();
    assert_eq!(state["notebook"]["order"], json!(["c", "parameters", "bad", "after"]));
    let source = state["notebook"]["cells"]["parameters"]["source"].as_str().unwrap();
    assert_eq!(source, "# Parameters\nx = 2\nname = \"north\"\n");
    for outcome in [ExecutionOutcome::Ok, ExecutionOutcome::Ok, ExecutionOutcome::Error] {
        finish(&mut agent, &run, outcome).await;
    }
    let runs = scene.ended(1).await;
    assert_eq!((&runs[0]["outcome"], &runs[0]["cell_id"]), (&json!("failed"), &json!("bad")), "{runs:?}");
    assert_eq!(runs[0]["requested_by"]["id"], scene.ann.id.to_string());
    let ending =
        |agent: &TestClient| agent.state(&run).kernels.values().all(|kernel| !kernel.is_usable()).then_some(());
    agent.until(ending).await;
}

#[tokio::test]
async fn a_schedule_that_is_removed_during_its_run_stops_it_and_the_record_says_so() {
    let scene = Scene::of("code", "1").await;
    scene.set(json!({"cron": "0 0 1 1 *"})).await;
    let mut agent = agent(&scene).await;
    scene.http.post(RUNS, json!({"run": "run"})).await.ok();
    assert_eq!(start(&mut agent).await, "run");
    scene.until_requested("run").await;
    scene.http.delete("/api/notebooks/n/schedules/often").await.ok();
    let ending =
        |agent: &TestClient| agent.state("run").kernels.values().all(|kernel| !kernel.is_usable()).then_some(());
    agent.until(ending).await;
    let events = scene.http.get("/api/notebooks/n/events?after=0&limit=200").await.ok();
    let events = events["events"].as_array().unwrap();
    let ends: Vec<_> = events.iter().filter(|event| event["type"] == "ScheduledRunEnded").collect();
    assert_eq!((ends.len(), &ends[0]["payload"]["outcome"]), (1, &json!("cancelled")), "{ends:?}");
}

#[tokio::test]
async fn a_run_that_no_agent_takes_or_that_takes_too_long_ends() {
    let scene = Scene::of("code", "1").await;
    scene.set(json!({"cron": "0 0 1 1 *", "max_run_minutes": 40})).await;
    scene.http.post(RUNS, json!({"run": "first"})).await.ok();
    scene.until_requested("first").await;
    scene.clock.advance(Duration::from_secs(31 * 60));
    let runs = scene.ended(1).await;
    assert_eq!(runs[0]["outcome"], "not_started", "{runs:?}");
    assert!(runs[0]["detail"].as_str().unwrap().contains("no runtime agent"), "{runs:?}");
    let mut agent = agent(&scene).await;
    scene.http.post(RUNS, json!({"run": "second"})).await.ok();
    assert_eq!(start(&mut agent).await, "second");
    scene.clock.advance(Duration::from_secs(41 * 60));
    let runs = scene.ended(2).await;
    assert_eq!(runs[0]["outcome"], "timed_out", "{runs:?}");
}

#[tokio::test]
async fn a_restart_amid_a_run_goes_on_with_it_and_runs_nothing_twice() {
    let mut scene = Scene::of("code", "1").await;
    scene.set(json!({"cron": "0 0 1 1 *"})).await;
    scene.http.post(RUNS, json!({"run": "run"})).await.ok();
    scene.until_requested("run").await;
    scene.server.stop().await;
    scene.server.start_again().await;
    let mut agent = agent(&scene).await;
    assert_eq!(start(&mut agent).await, "run");
    finish(&mut agent, "run", ExecutionOutcome::Ok).await;
    let runs = scene.ended(1).await;
    assert_eq!((runs.len(), &runs[0]["outcome"]), (1, &json!("succeeded")), "{runs:?}");
    let events = scene.http.get("/api/notebooks/run/events?after=0&limit=200").await.ok();
    let of_type =
        |name: &str| events["events"].as_array().unwrap().iter().filter(|event| event["type"] == name).count();
    assert_eq!(
        (of_type("ExecutionRequested"), of_type("KernelLaunchRequested"), of_type("NotebookCreated")),
        (1, 1, 1)
    );
}

#[tokio::test]
async fn old_runs_are_archived() {
    let scene = Scene::text().await;
    scene.set(json!({"cron": "0 0 1 1 *", "kept_runs": 2})).await;
    for (number, run) in ["one", "two", "three"].iter().enumerate() {
        scene.http.post(RUNS, json!({"run": run})).await.ok();
        scene.ended(number + 1).await;
    }
    let archived: &dyn Fn(&Value) -> bool = &|state| state["notebook"]["archived"] == true;
    scene.http.until("/api/notebooks/one", archived).await;
    assert!(!archived(&scene.http.get("/api/notebooks/two").await.ok()));
}

#[tokio::test]
async fn a_run_that_names_another_person_s_notebook_leaves_it_alone() {
    let scene = Scene::text().await;
    let bob = scene.server.person("Bob").await;
    let his = scene.server.http(&bob);
    his.post("/api/notebooks", json!({"id": "his", "title": "Bob's"})).await.ok();
    his.post("/api/notebooks/his/commands", json!({"body": {"LaunchKernel": {}}})).await.ok();
    let before = his.get("/api/notebooks/his").await.ok();
    assert_ne!(before["notebook"]["kernels"], json!({}));
    scene.set(json!({"cron": "0 0 1 1 *", "kept_runs": 1})).await;
    for (number, (run, outcome)) in [("his", "not_started"), ("own", "succeeded")].into_iter().enumerate() {
        scene.http.post(RUNS, json!({"run": run})).await.ok();
        let runs = scene.ended(number + 1).await;
        assert_eq!((&runs[0]["run"], &runs[0]["outcome"]), (&json!(run), &json!(outcome)), "{runs:?}");
    }
    // The end of a run is recorded before old ones are archived; the next one comes after both.
    scene.http.post(RUNS, json!({"run": "next"})).await.ok();
    scene.http.until("/api/notebooks/own", &|state: &Value| state["notebook"]["archived"] == true).await;
    assert_eq!(his.get("/api/notebooks/his").await.ok(), before, "its kernel stays, and it is not archived");
}

#[tokio::test]
async fn a_run_of_another_person_who_loses_the_role_ends_and_the_schedule_stays() {
    let scene = Scene::of("code", "x = 1").await;
    scene.set(json!({"cron": "0 0 1 1 *"})).await;
    let bob = scene.server.person("Bob").await;
    let subject = json!({"kind": "user", "id": bob.id.to_string()});
    let grant = |role| json!({"body": {"GrantAccess": {"subject": subject, "role": role}}});
    scene.http.post("/api/notebooks/n/commands", grant("editor")).await.ok();
    let run = scene.server.http(&bob).post(RUNS, json!({})).await.ok()["run"].as_str().unwrap().to_owned();
    scene.until_requested(&run).await;
    scene.http.post("/api/notebooks/n/commands", grant("viewer")).await.ok();
    // The run looks at the rights of its person every half minute.
    scene.clock.advance(Duration::from_secs(31));
    let runs = scene.ended(1).await;
    assert_eq!((&runs[0]["run"], &runs[0]["outcome"]), (&json!(run), &json!("cancelled")), "{runs:?}");
    let listed = scene.http.get("/api/notebooks/n/schedules").await.ok();
    assert!(listed["schedules"][0]["next"][0].is_u64(), "Ann's schedule goes on: {listed}");
}
