//! Results of calls whose runs are lost: a kernel that never starts, or an agent that ends, before the wait's timeout and
//! after it, by the server's clock.

use notarium_core::{
    Event, ExecutionId, ExecutionReport, ExecutionSubject, KernelCause, KernelSessionId, Policy, RequestToolCall,
    ToolCallEnd,
};
use serde_json::{Value, json};

use super::*;

impl Scene {
    /// A server with an assistant whose calls pass.
    async fn trusting() -> Self {
        let scene = Self::start().await;
        scene.as_ann(&Command::SetPolicy { policy: Policy::Trusted }).await;
        scene
    }

    /// Requests a tool, and waits only for its start.
    async fn begin(&self, function: &str, arguments: Value) -> ToolCallId {
        let call_id: ToolCallId = ulid::Ulid::generate().into();
        let command = Command::RequestToolCall(RequestToolCall {
            call_id: Some(call_id.clone()),
            turn_id: None,
            function: function.to_owned(),
            arguments: RawObject::parse(&arguments.to_string()).unwrap(),
            after: None,
            conversation_title: None,
            token: None,
        });
        let (id, actor) = (ulid::Ulid::generate().into(), Self::assistant());
        self.server.assistant_host().execute_as(id, &actor, &self.notebook, &command).await.unwrap();
        self.until_recorded(&call_id, "ToolCallStarted").await;
        call_id
    }

    /// The call's result for the model.
    async fn heard(&self, call_id: &ToolCallId) -> (String, bool) {
        let called = self.assistants.await_call(&Self::assistant(), &self.notebook, call_id, PATIENCE).await;
        let Called::Ended { text, is_error, .. } = called.unwrap() else { panic!("it goes on") };
        (text, is_error)
    }

    /// Waits until the other notebook exists and has requested a kernel.
    pub(super) async fn until_wanted(&self, notebook: &NotebookId) {
        let host = self.server.assistant_host();
        let wanted = async {
            while host.read(notebook).await.map_or(true, |state| state.document.kernels.is_empty()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, wanted).await.expect("the notebook is made");
    }

    async fn recorded_end(&self, call_id: &ToolCallId) -> ToolCallEnd {
        let events = self.server.assistant_host().events_of_subject(&self.notebook, call_id.as_str()).await.unwrap();
        let end = events.iter().find_map(|stored| match stored.typed().unwrap().event {
            Event::ToolCallExecuted(event) => event.end.known().copied(),
            _ => None,
        });
        end.expect("it has ended")
    }

    pub(super) async fn as_agent(&self, notebook: &NotebookId, command: &Command) {
        let identity = Identity {
            actor: Actor::Agent { id: "gpu".parse().unwrap() },
            authority: Authority::agent(),
            name: "gpu".into(),
            connection: String::new(),
        };
        self.execute(notebook, identity, command).await;
    }

    /// Starts the requested kernel as an agent, and begins its first run.
    pub(super) async fn kernel(&self, notebook: &NotebookId) -> KernelSessionId {
        let kernels = self.server.assistant_host().read(notebook).await.unwrap().document.kernels.clone();
        let kernel_session = kernels.keys().next().cloned().expect("a kernel is wanted");
        self.as_agent(notebook, &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await;
        let language_info = RawObject::parse(r#"{"name": "python"}"#).unwrap();
        let started = Command::ReportKernelStarted {
            kernel_session: kernel_session.clone(),
            language_info,
            sandbox: RawObject::parse(r#"{"effects": "held"}"#).unwrap(),
            environment: None,
        };
        self.as_agent(notebook, &started).await;
        let state = self.server.assistant_host().read(notebook).await.unwrap().document;
        let (id, run) = state.executions.iter().find(|(_, run)| run.fence.is_some()).expect("a run is assigned");
        let (execution_id, fence) = (id.clone(), run.fence.unwrap());
        let report = ExecutionReport::Started {};
        self.as_agent(notebook, &Command::ReportExecution { execution_id, fence, seq: 1, report }).await;
        kernel_session
    }

    /// Ends the kernel as died, with its runs.
    async fn lose(&self, notebook: &NotebookId, kernel_session: KernelSessionId) {
        let (cause, detail) = (KernelCause::Died, Some("the machine was switched off".to_owned()));
        self.as_agent(notebook, &Command::ReportKernelEnded { kernel_session, cause, detail }).await;
    }

    async fn check_unknown(&self, call_id: &ToolCallId, function: &str) -> String {
        let (text, is_error) = self.heard(call_id).await;
        let is_told = text.starts_with("Nobody knows how this ended") && text.contains("the machine was switched off");
        assert!(is_error && is_told, "{function}: {text}");
        assert_eq!(self.recorded_end(call_id).await, ToolCallEnd::OutcomeUnknown, "{function}");
        text
    }

    /// The run that the tool requested.
    async fn run_of_tool(&self) -> ExecutionId {
        let state = self.state().await;
        let of_tool = |subject: &ExecutionSubject| matches!(subject, ExecutionSubject::Tool { .. });
        state.executions.iter().find(|(_, run)| of_tool(&run.subject)).map(|(id, _)| id.clone()).expect("a run")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_never_comes_is_waited_for_so_long_and_told_to_the_model() {
    let scene = Scene::trusting().await;
    let call_id = scene.begin("get_variables", json!({})).await;
    let (text, is_error) = scene.passing(scene.heard(&call_id)).await;
    assert!(!is_error && text.contains("Still queued after 30 s") && text.contains("execution_id"), "{text}");
    assert_eq!(scene.recorded_end(&call_id).await, ToolCallEnd::Ok);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_gone_after_the_wait_is_told_of_by_get_run_status() {
    let scene = Scene::trusting().await;
    let call_id = scene.begin("get_variables", json!({})).await;
    let kernel = scene.kernel(&scene.notebook).await;
    let run = scene.run_of_tool().await;
    let (text, is_error) = scene.passing(scene.heard(&call_id)).await;
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((is_error, &told["status"], &told["execution_id"]), (false, &json!("running"), &json!(run)), "{text}");
    assert!(text.contains("do not call it again. Ask get_run_status"), "{text}");
    scene.lose(&scene.notebook, kernel).await;
    let status = scene.begin("get_run_status", json!({"execution_id": run})).await;
    let (text, is_error) = scene.heard(&status).await;
    let told: Value = serde_json::from_str(&text).unwrap();
    let lost = (false, &json!("lost"), &json!("the machine was switched off"));
    assert_eq!((is_error, &told["status"], &told["notice"]), lost, "{text}");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_run_is_lost_has_an_unknown_outcome_whatever_the_tool() {
    let cells = json!([{"source": "y = 1"}, {"source": "z = 1"}]);
    for (function, arguments) in [
        ("get_variables", json!({})),
        ("save_data", json!({"path": "x.csv", "content": "1"})),
        ("execute_cell", json!({"cell_id": "c"})),
        ("run_all", json!({})),
        ("create_cells", json!({"run": true, "cells": cells})),
    ] {
        let scene = Scene::trusting().await;
        let call_id = scene.begin(function, arguments).await;
        let kernel = scene.kernel(&scene.notebook).await;
        scene.lose(&scene.notebook, kernel).await;
        scene.check_unknown(&call_id, function).await;
        scene.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_notebook_whose_run_is_lost_is_told_with_what_was_made() {
    let scene = Scene::trusting().await;
    let arguments = json!({"title": "New", "notebook_id": "new", "run": true, "cells": [{"source": "y = 1"}]});
    let call_id = scene.begin("create_notebook", arguments).await;
    let new: NotebookId = "new".parse().unwrap();
    scene.until_wanted(&new).await;
    let kernel = scene.kernel(&new).await;
    scene.lose(&new, kernel).await;
    let text = scene.check_unknown(&call_id, "create_notebook").await;
    assert!(text.contains(r#""notebook_id":"new""#), "{text}");
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_people_ended_has_failed_for_certain() {
    let scene = Scene::trusting().await;
    let call_id = scene.begin("execute_cell", json!({"cell_id": "c"})).await;
    let kernel_session = scene.kernel(&scene.notebook).await;
    scene.as_ann(&Command::ShutDownKernel { kernel_session: kernel_session.clone() }).await;
    scene.lose(&scene.notebook, kernel_session).await;
    let (text, is_error) = scene.heard(&call_id).await;
    assert!(is_error && text.contains(r#""status":"cancelled""#), "{text}");
    assert_eq!(scene.recorded_end(&call_id).await, ToolCallEnd::Error);
    scene.stop().await;
}
