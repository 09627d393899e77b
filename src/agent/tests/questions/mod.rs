//! Questions about code that is being written, from the server to the kernel and back.

use notarium_wire::{KernelAnswer, KernelQuestionMessage, QuestionKind, QuestionRefusal};

use super::*;

fn question(id: u64, notebook: &NotebookId, session: &KernelSessionId) -> KernelQuestionMessage {
    KernelQuestionMessage {
        id,
        notebook: notebook.clone(),
        kernel_session: session.clone(),
        asker: "c1".to_owned(),
        code: "numbers.app".to_owned(),
        cursor: 11,
        kind: QuestionKind::Complete {},
        timeout_ms: 60_000,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_the_kernel_and_leaves_no_event() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run("numbers = [1]").await;
    ada.until_over(&server, &id).await;
    let (version, session) = (server.state(&ada.notebook).version, ada.session());
    let KernelAnswer::Completed(completion) = server.ask(question(7, &ada.notebook, &session)).await else { panic!() };
    let texts: Vec<&str> = completion.matches.iter().map(|one| one.text.as_str()).collect();
    assert_eq!((texts, completion.from, completion.to), (vec!["append"], 8, 11));
    assert_eq!(server.state(&ada.notebook).version, version);
    let elsewhere = server.ask(question(8, &ada.notebook, &"gone".parse().unwrap())).await;
    assert!(matches!(elsewhere, KernelAnswer::Refused { code: QuestionRefusal::NoKernel, .. }), "{elsewhere:?}");
}

fn describe(id: u64, of: (&NotebookId, &KernelSessionId), connection: &str, matching: &str) -> KernelQuestionMessage {
    let (connection, matching) = (connection.to_owned(), matching.to_owned());
    KernelQuestionMessage { kind: QuestionKind::Describe { connection, matching }, ..question(id, of.0, of.1) }
}

fn tables(answer: KernelAnswer) -> Vec<String> {
    let KernelAnswer::Described(schema) = answer else { panic!("{answer:?}") };
    schema.tables.into_iter().map(|table| table.name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_told_also_while_the_kernel_runs_something_and_a_change_is_seen_at_once() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run("import sqlite3\nshop = sqlite3.connect('shop.sqlite')\nshop.execute('CREATE TABLE a (x)')").await;
    ada.until_over(&server, &id).await;
    let (notebook, session) = (ada.notebook.clone(), ada.session());
    let of = (&notebook, &session);
    assert_eq!(tables(server.ask(describe(1, of, "shop.sqlite", "")).await), ["a"]);
    let id = ada.run("shop.execute('CREATE TABLE b (x)')").await;
    ada.until_over(&server, &id).await;
    assert_eq!(tables(server.ask(describe(2, of, "shop.sqlite", "")).await), ["a", "b"]);

    let busy = ada.run("import time\nprint('begun', flush=True)\nwhile True: time.sleep(1)").await;
    ada.until("the start", |state| state.executions.get(&busy).is_some_and(|run| !run.outputs.is_empty())).await;
    assert_eq!(tables(server.ask(describe(3, of, "shop.sqlite", "B")).await), ["b"]);
    let unknown = server.ask(describe(4, of, "warehouse", "")).await;
    let KernelAnswer::Refused { code: QuestionRefusal::UnknownConnection, message, .. } = unknown else {
        panic!("{unknown:?}")
    };
    assert!(message.contains("there is no connection 'warehouse'"), "{message}");
    assert!(!ada.connection.replica(&notebook).unwrap().executions[&busy].status.is_finished());
    ada.command(Command::CancelExecution { execution_id: busy.clone() }).await;
    ada.until_over(&server, &busy).await;
}
