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
