//! Tests of questions to kernels about code and about tables of databases: permissions and answers, and that nothing is recorded.

use std::time::Duration;

use notarium_core::{Command, KernelSessionId, RawObject, Scope};
use notarium_wire::{
    AskKernelMessage, CONNECTION_SCHEMAS, ClientMessage, Completion, CompletionMatch, ConnectionSchema, KERNEL_TABLES,
    KernelAnswer, KernelQuestionMessage, MAX_TABLE_ROWS, MAX_TABLES, OfferMessage, QuestionKind, QuestionRefusal,
    ReadTable, ServerMessage, Table, TableName, TablePage, Variable, VariableList,
};
use serde_json::json;

use crate::support::{Http, Person, TestClient, TestServer};

/// Creates a notebook with a kernel of a connected agent.
async fn kernel(server: &TestServer, ann: &Person) -> (Http, TestClient, KernelSessionId) {
    kernel_of(server, ann, &[CONNECTION_SCHEMAS, KERNEL_TABLES]).await
}

async fn kernel_of(server: &TestServer, ann: &Person, features: &[&str]) -> (Http, TestClient, KernelSessionId) {
    let http = server.http(ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    http.post("/api/notebooks/n/cells", json!({"cell_id": "c", "cell_type": "code", "source": ""})).await.ok();
    http.post("/api/notebooks/n/cells", json!({"cell_id": "m", "cell_type": "markdown", "source": ""})).await.ok();
    let token = server.agent_token(ann, "gpu").await;
    let mut agent = TestClient::connect_knowing(server.address(), &token, features).await;
    agent.send(&ClientMessage::Offer(OfferMessage::default())).await;
    agent.subscribe("n").await;
    let launched = http.post("/api/notebooks/n/kernels", json!({})).await.ok();
    let kernel: KernelSessionId = launched["outcome"]["kernel_session"].as_str().unwrap().parse().unwrap();
    let kernel_session = kernel.clone();
    agent.run("n", &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
    let (language_info, sandbox) = (RawObject::default(), RawObject::default());
    let started = Command::ReportKernelStarted { kernel_session, language_info, sandbox, environment: None };
    agent.run("n", &started).await.unwrap();
    (http, agent, kernel)
}

fn question(id: u32) -> AskKernelMessage {
    let (notebook, code, kind) = ("n".parse().unwrap(), "é😀.x".to_owned(), QuestionKind::Complete {});
    AskKernelMessage { id, notebook, cell_id: None, kernel_session: None, code, cursor: 5, kind }
}

async fn ask(client: &mut TestClient, question: AskKernelMessage) {
    client.send(&ClientMessage::AskKernel(question)).await;
}

/// Returns the next question to the agent.
async fn asked(agent: &mut TestClient) -> KernelQuestionMessage {
    let is_question = |message: &ServerMessage| matches!(message, ServerMessage::KernelQuestion(_));
    let at = agent.until(|agent| agent.others.iter().position(is_question)).await;
    let ServerMessage::KernelQuestion(question) = agent.others.remove(at) else { unreachable!() };
    question
}

/// Waits for the answer to this question.
async fn answer(client: &mut TestClient, id: u32) -> KernelAnswer {
    client
        .until(|client| {
            client.others.iter().find_map(|message| match message {
                ServerMessage::KernelAnswer(message) if message.id == id => Some(message.answer.clone()),
                _ => None,
            })
        })
        .await
}

async fn refusal(client: &mut TestClient, question: AskKernelMessage) -> QuestionRefusal {
    let id = question.id;
    ask(client, question).await;
    match answer(client, id).await {
        KernelAnswer::Refused { code, message, .. } => {
            assert!(!message.is_empty());
            code
        }
        other => panic!("{other:?}"),
    }
}

fn completed(texts: &[&str]) -> KernelAnswer {
    let one = |text: &&str| CompletionMatch { text: (*text).to_owned(), match_type: None, signature: None };
    KernelAnswer::Completed(Completion { from: 4, to: 5, matches: texts.iter().map(one).collect(), is_cut: false })
}

#[tokio::test]
async fn a_question_goes_to_the_kernel_s_agent_and_nothing_of_it_is_recorded() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let before = http.get("/api/notebooks/n").await.ok()["version"].clone();
    let mut client = server.connect(&ann).await;
    assert!(client.welcome.as_ref().unwrap().features.contains(&"kernel_questions".to_owned()));
    ask(&mut client, AskKernelMessage { cell_id: Some("c".parse().unwrap()), ..question(7) }).await;
    let came = asked(&mut agent).await;
    assert_eq!((&came.kernel_session, came.code.as_str(), came.cursor), (&kernel, "é😀.x", 5));
    assert_eq!((came.kind, came.timeout_ms), (QuestionKind::Complete {}, 3_000));
    // An answer by another client is refused.
    client.send(&ClientMessage::AnswerQuestion { id: came.id, answer: completed(&["forged"]) }).await;
    client.error("only agents answer").await;
    let many: Vec<&str> = std::iter::repeat_n("x1", notarium_wire::MAX_MATCHES + 1).collect();
    agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer: completed(&many) }).await;
    let KernelAnswer::Completed(completion) = answer(&mut client, 7).await else { panic!() };
    assert_eq!((completion.matches.len(), completion.is_cut), (notarium_wire::MAX_MATCHES, true));
    assert_eq!(http.get("/api/notebooks/n").await.ok()["version"], before, "the record has grown");
}

#[tokio::test]
async fn the_next_question_of_a_connection_cancels_the_one_before_and_no_other_s() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (_, mut agent, _) = kernel(&server, &ann).await;
    let (mut one, mut other) = (server.connect(&ann).await, server.connect(&ann).await);
    ask(&mut other, question(1)).await;
    let of_other = asked(&mut agent).await;
    ask(&mut one, question(1)).await;
    let first = asked(&mut agent).await;
    assert_eq!(refusal_after(&mut one, &mut agent, first).await, QuestionRefusal::Cancelled);
    agent.send(&ClientMessage::AnswerQuestion { id: of_other.id, answer: completed(&["x1"]) }).await;
    assert_eq!(answer(&mut other, 1).await, completed(&["x1"]));
}

/// Returns the refusal of question 1 after question 2 was asked and answered.
async fn refusal_after(
    client: &mut TestClient,
    agent: &mut TestClient,
    first: KernelQuestionMessage,
) -> QuestionRefusal {
    ask(client, question(2)).await;
    let second = asked(agent).await;
    assert_eq!(first.asker, second.asker);
    for id in [first.id, second.id] {
        agent.send(&ClientMessage::AnswerQuestion { id, answer: completed(&["x2"]) }).await;
    }
    assert_eq!(answer(client, 2).await, completed(&["x2"]));
    match answer(client, 1).await {
        KernelAnswer::Refused { code, .. } => code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_may_not_run_may_not_ask() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let mut client = server.connect(&bob).await;
    assert_eq!(refusal(&mut client, question(1)).await, QuestionRefusal::UnknownNotebook);
    let complete = format!("/api/notebooks/n/kernels/{kernel}/complete");
    let body = || json!({"code": "x.", "cursor": 2});
    for (id, role) in (2..).zip(["viewer", "commenter", "author"]) {
        let subject = json!({"kind": "user", "id": bob.id.as_str()});
        http.put("/api/notebooks/n/access", json!({"subject": subject, "role": role})).await.ok();
        assert_eq!(refusal(&mut client, question(id)).await, QuestionRefusal::Forbidden, "{role}");
        assert_eq!(server.http(&bob).post(&complete, body()).await.refused(403), "forbidden", "{role}");
    }
    let editor = server.api_token(&ann, &[Scope::Read, Scope::Edit]).await;
    let mut client = server.connect_as(&editor).await;
    assert_eq!(refusal(&mut client, question(9)).await, QuestionRefusal::Forbidden);
    assert!(agent.others.iter().all(|message| !matches!(message, ServerMessage::KernelQuestion(_))));
    // A runtime agent may not ask questions.
    assert_eq!(refusal(&mut agent, question(1)).await, QuestionRefusal::Forbidden);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_by_its_cause() {
    let server = TestServer::with(|config| config.limits.kernel_question_timeout = Duration::from_millis(50)).await;
    let ann = server.person("Ann").await;
    let (http, agent, kernel) = kernel(&server, &ann).await;
    let mut client = server.connect(&ann).await;
    let of_cell = |cell: &str| AskKernelMessage { cell_id: Some(cell.parse().unwrap()), ..question(1) };
    let long = "x".repeat((256 << 10) + 1);
    for (id, (asked, code)) in (10..).zip([
        (of_cell("m"), QuestionRefusal::NotRunnable),
        (of_cell("gone"), QuestionRefusal::NotRunnable),
        (AskKernelMessage { cursor: 2, ..question(1) }, QuestionRefusal::InvalidValue),
        (AskKernelMessage { cursor: 6, ..question(1) }, QuestionRefusal::InvalidValue),
        (AskKernelMessage { code: long, ..question(1) }, QuestionRefusal::LimitExceeded),
        (
            AskKernelMessage { kernel_session: Some("x".parse().unwrap()), ..question(1) },
            QuestionRefusal::UnknownKernelSession,
        ),
        // The agent reads the question, and does not answer.
        (question(1), QuestionRefusal::Timeout),
    ]) {
        assert_eq!(refusal(&mut client, AskKernelMessage { id, ..asked }).await, code);
    }
    drop(agent);
    assert_eq!(refusal(&mut client, question(30)).await, QuestionRefusal::AgentUnreachable);
    http.delete(&format!("/api/notebooks/n/kernels/{kernel}")).await.ok();
    assert_eq!(refusal(&mut client, question(31)).await, QuestionRefusal::NoKernel);
    for id in 100.. {
        if refusal(&mut client, question(id)).await == QuestionRefusal::RateLimited {
            break;
        }
    }
}

#[tokio::test]
async fn an_agent_that_goes_answers_by_going() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (_, mut agent, _) = kernel(&server, &ann).await;
    let mut client = server.connect(&ann).await;
    ask(&mut client, question(1)).await;
    asked(&mut agent).await;
    drop(agent);
    assert!(matches!(
        answer(&mut client, 1).await,
        KernelAnswer::Refused { code: QuestionRefusal::AgentUnreachable, .. }
    ));
}

#[tokio::test]
async fn rest_asks_the_same() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let inspect = format!("/api/notebooks/n/kernels/{kernel}/inspect");
    let inspected = json!({"found": true, "data": {"text/plain": "Signature: f()"}});
    let body = json!({"code": "f(", "cursor": 2, "detail": 1});
    let answering = async {
        let came = asked(&mut agent).await;
        assert_eq!(came.kind, QuestionKind::Inspect { detail: 1 });
        let answer = serde_json::from_value(json!({"inspected": inspected})).unwrap();
        agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer }).await;
        // The other question gets an answer of the wrong kind.
        let came = asked(&mut agent).await;
        agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer: completed(&[]) }).await;
    };
    let asking = async {
        let answer = http.post(&inspect, body).await.ok();
        (answer, http.post(&inspect, json!({"code": "f(", "cursor": 2})).await.refused(502))
    };
    let ((found, refused), ()) = tokio::join!(asking, answering);
    assert_eq!((found, refused.as_str()), (inspected, "kernel_failed"));
    assert_eq!(http.post(&inspect, json!({"code": "", "cursor": 1})).await.refused(400), "invalid_value");
    assert_eq!(http.post(&inspect, json!({"code": "", "cursor": 0, "x": 1})).await.refused(400), "malformed");
}

fn describe(id: u32, connection: &str) -> AskKernelMessage {
    let kind = QuestionKind::Describe { connection: connection.to_owned(), matching: String::new() };
    AskKernelMessage { kind, code: String::new(), cursor: 0, ..question(id) }
}

fn described(names: &[&str]) -> KernelAnswer {
    let table = |name: &&str| Table { name: (*name).to_owned(), ..Table::default() };
    let tables = names.iter().map(table).collect();
    KernelAnswer::Described(ConnectionSchema { kind: "duckdb".to_owned(), tables, tables_left_out: 0 })
}

#[tokio::test]
async fn tables_are_told_by_socket_and_rest_within_limits_and_nothing_of_it_is_recorded() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let before = http.get("/api/notebooks/n").await.ok()["version"].clone();
    let mut client = server.connect(&ann).await;
    assert!(client.welcome.as_ref().unwrap().features.contains(&CONNECTION_SCHEMAS.to_owned()));
    // Such questions of one connection do not cancel each other.
    ask(&mut client, describe(1, "warehouse")).await;
    ask(&mut client, describe(2, "duckdb")).await;
    ask(&mut client, question(3)).await;
    let (first, second, third) = (asked(&mut agent).await, asked(&mut agent).await, asked(&mut agent).await);
    assert_eq!((&first.kernel_session, first.timeout_ms), (&kernel, 10_000));
    assert!(matches!(&first.kind, QuestionKind::Describe { connection, .. } if connection == "warehouse"));
    for (came, answer) in [(&first, described(&["a"])), (&third, completed(&["x"]))] {
        agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer }).await;
    }
    let many = described(&vec!["t"; MAX_TABLES + 2]);
    agent.send(&ClientMessage::AnswerQuestion { id: second.id, answer: many }).await;
    assert_eq!(answer(&mut client, 1).await, described(&["a"]));
    let KernelAnswer::Described(schema) = answer(&mut client, 2).await else { panic!() };
    assert_eq!((schema.tables.len(), schema.tables_left_out), (MAX_TABLES, 2));
    assert_eq!(answer(&mut client, 3).await, completed(&["x"]));

    let answering = async {
        let came = asked(&mut agent).await;
        let wanted = QuestionKind::Describe { connection: "data/shop.db".to_owned(), matching: "a b".to_owned() };
        assert_eq!(came.kind, wanted);
        agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer: described(&["a"]) }).await;
        for code in [QuestionRefusal::UnknownConnection, QuestionRefusal::ConnectionFailed] {
            let came = asked(&mut agent).await;
            agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer: code.because("because") }).await;
        }
    };
    let schema = "/api/notebooks/n/schema?connection=data/shop.db";
    let asking = async {
        let found = http.get(&format!("{schema}&matching=a%20b&kernel={kernel}")).await.ok();
        (found, http.get(schema).await.refused(404), http.get(schema).await.refused(502))
    };
    let ((found, unknown, failed), ()) = tokio::join!(asking, answering);
    assert_eq!(found["tables"][0]["name"], "a");
    assert_eq!((unknown.as_str(), failed.as_str()), ("unknown_connection", "connection_failed"));
    assert_eq!(http.get("/api/notebooks/n/schema").await.refused(400), "invalid_value");
    assert_eq!(http.get("/api/notebooks/n").await.ok()["version"], before, "the record has grown");
}

#[tokio::test]
async fn who_may_not_run_is_told_no_tables() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let mut client = server.connect(&bob).await;
    let schema = "/api/notebooks/n/schema?connection=warehouse";
    assert_eq!(refusal(&mut client, describe(1, "warehouse")).await, QuestionRefusal::UnknownNotebook);
    assert_eq!(server.http(&bob).get(schema).await.refused(404), "unknown_notebook");
    for (id, role) in (2..).zip(["viewer", "commenter", "author"]) {
        let subject = json!({"kind": "user", "id": bob.id.as_str()});
        http.put("/api/notebooks/n/access", json!({"subject": subject, "role": role})).await.ok();
        assert_eq!(refusal(&mut client, describe(id, "warehouse")).await, QuestionRefusal::Forbidden, "{role}");
        assert_eq!(server.http(&bob).get(schema).await.refused(403), "forbidden", "{role}");
    }
    let editor = server.api_token(&ann, &[Scope::Read, Scope::Edit]).await;
    let mut client = server.connect_as(&editor).await;
    assert_eq!(refusal(&mut client, describe(1, "warehouse")).await, QuestionRefusal::Forbidden);

    let mut client = server.connect(&ann).await;
    let long = "x".repeat(1_025);
    for (id, connection, code) in [(1, "", QuestionRefusal::InvalidValue), (2, &long, QuestionRefusal::LimitExceeded)] {
        assert_eq!(refusal(&mut client, describe(id, connection)).await, code);
    }
    // A runtime agent may not ask questions; this one was not asked either.
    assert_eq!(refusal(&mut agent, describe(1, "warehouse")).await, QuestionRefusal::Forbidden);
    assert!(agent.others.iter().all(|message| !matches!(message, ServerMessage::KernelQuestion(_))));
    http.delete(&format!("/api/notebooks/n/kernels/{kernel}")).await.ok();
    assert_eq!(refusal(&mut client, describe(3, "duckdb")).await, QuestionRefusal::NoKernel);
}

#[tokio::test]
async fn an_older_agent_is_not_asked_for_tables() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (http, _agent, _) = kernel_of(&server, &ann, &[]).await;
    let mut client = server.connect(&ann).await;
    assert_eq!(refusal(&mut client, describe(1, "duckdb")).await, QuestionRefusal::AgentTooOld);
    assert_eq!(http.get("/api/notebooks/n/schema?connection=duckdb").await.refused(501), "agent_too_old");
}

fn of_variable(name: &str, count: u32) -> QuestionKind {
    let of = TableName { table: None, variable: Some(name.to_owned()) };
    QuestionKind::ReadTable(ReadTable { of, count, ..ReadTable::default() })
}

#[tokio::test]
async fn variables_and_rows_of_tables_come_through_both_doors_cancel_nothing_and_are_not_recorded() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (http, mut agent, kernel) = kernel(&server, &ann).await;
    let before = http.get("/api/notebooks/n").await.ok()["version"].clone();
    let mut client = server.connect(&ann).await;
    assert!(client.welcome.as_ref().unwrap().features.contains(&KERNEL_TABLES.to_owned()));
    ask(
        &mut client,
        AskKernelMessage { kind: QuestionKind::Variables {}, code: String::new(), cursor: 0, ..question(1) },
    )
    .await;
    let listed = asked(&mut agent).await;
    ask(&mut client, AskKernelMessage { kind: of_variable("df", 5), ..question(2) }).await;
    let read = asked(&mut agent).await;
    assert_ne!(listed.asker, read.asker, "one would cancel the other");
    assert_eq!(read.kernel_session, kernel);
    let variable = Variable {
        name: "df".to_owned(),
        variable_type: "pandas.DataFrame".to_owned(),
        shape: Some(vec![3, 2]),
        length: None,
        bytes: Some(48),
        preview: None,
        is_table: true,
    };
    let list = KernelAnswer::Variables(VariableList { variables: vec![variable], left_out: 0 });
    let row = vec![json!(1), json!("a"), json!(null)];
    let page = TablePage { table: "t".to_owned(), rows: 3, matching: 3, data: vec![row], ..TablePage::default() };
    let page = KernelAnswer::TableRead(Box::new(page));
    for (id, said) in [(listed.id, &list), (read.id, &page)] {
        agent.send(&ClientMessage::AnswerQuestion { id, answer: said.clone() }).await;
    }
    assert_eq!((answer(&mut client, 1).await, answer(&mut client, 2).await), (list.clone(), page.clone()));
    let request = http.get("/api/notebooks/n/variables");
    let told = async {
        let id = asked(&mut agent).await.id;
        agent.send(&ClientMessage::AnswerQuestion { id, answer: list.clone() }).await;
    };
    let (response, ()) = tokio::join!(request, told);
    assert_eq!(response.ok()["variables"][0]["name"], "df");
    let read = json!({"read": {"of": {"variable": "df"}, "count": 5, "filters": [{"column": 1, "operator": "at_least", "value": "2"}]}});
    let request = http.post("/api/notebooks/n/table", read);
    let told = async {
        let came = asked(&mut agent).await;
        agent.send(&ClientMessage::AnswerQuestion { id: came.id, answer: page.clone() }).await;
    };
    let (response, ()) = tokio::join!(request, told);
    assert_eq!(response.ok()["data"], json!([[1, "a", null]]));
    assert_eq!(http.get("/api/notebooks/n").await.ok()["version"], before, "the record has grown");
}

#[tokio::test]
async fn questions_about_tables_have_their_limits_and_an_older_agent_is_named() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (_http, _agent, _) = kernel_of(&server, &ann, &[CONNECTION_SCHEMAS]).await;
    let mut client = server.connect(&ann).await;
    let both = TableName { table: Some("t".to_owned()), variable: Some("df".to_owned()) };
    for (id, (kind, code)) in (1..).zip([
        (QuestionKind::Variables {}, QuestionRefusal::AgentTooOld),
        (of_variable("df", MAX_TABLE_ROWS + 1), QuestionRefusal::LimitExceeded),
        (of_variable(&"x".repeat(2_000), 1), QuestionRefusal::LimitExceeded),
        (
            QuestionKind::ReadTable(ReadTable { of: both, count: 1, ..ReadTable::default() }),
            QuestionRefusal::InvalidValue,
        ),
        (QuestionKind::ReadTable(ReadTable::default()), QuestionRefusal::InvalidValue),
    ]) {
        assert_eq!(refusal(&mut client, AskKernelMessage { kind, ..question(id) }).await, code);
    }
}
