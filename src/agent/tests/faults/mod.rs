//! Faults: a server whose store fails, an agent that stops meanwhile, and runs above their output limit.

use super::*;

const COUNT: &str = "import time\nfor i in range(150):\n    print(i, flush=True)\n    time.sleep(0.01)";

fn counted() -> String {
    (0..150).map(|i| format!("{i}\n")).collect()
}

/// The `output_seq` of a run's events, in the order of the log.
fn numbers(server: &FakeServer, ada: &Person, id: &ExecutionId) -> Vec<u64> {
    let events = server.events(&ada.notebook).into_iter().filter(|recorded| recorded.event.execution_id() == Some(id));
    let number = |event: Event| match event {
        Event::ExecutionStarted(event) => Some(event.output_seq),
        Event::ExecutionOutputAppended(event) => Some(event.output_seq),
        Event::ExecutionCompleted(event) => Some(event.output_seq),
        _ => None,
    };
    events.filter_map(|recorded| number(recorded.event)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_fails_now_and_then_outputs_keep_their_order_and_the_end_comes_last() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    server.fail_every(3);
    let id = ada.run(COUNT).await;
    let (status, text, notice) = ada.until_over(&server, &id).await;
    assert_eq!((status, text, notice), (ExecutionStatus::Ok, counted(), None));
    let numbers = numbers(&server, &ada, &id);
    assert!(numbers.len() > 10 && numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_stops_while_the_store_fails_reports_what_waits_when_it_can() {
    let server = FakeServer::start().await;
    let agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run(&format!("{COUNT}\ntime.sleep(60)")).await;
    ada.until("an output", |state| state.executions.get(&id).is_some_and(|run| !run.outputs.is_empty())).await;
    server.fail_every(1);
    let mending = server.clone();
    let mend = tokio::spawn(async move {
        mending.until_failed(4).await;
        mending.fail_every(0);
    });
    agent.stop().await;
    mend.await.unwrap();
    let (status, text, _) = ada.until_over(&server, &id).await;
    assert_eq!(status, ExecutionStatus::Lost);
    assert!(counted().starts_with(&text) && !text.is_empty(), "{text}");
    let last = server.events(&ada.notebook).pop().unwrap();
    assert!(matches!(last.event, Event::KernelSessionEnded(event) if event.cause == KernelCause::AgentStopped));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_could_not_report_in_time_is_marked_lost_by_the_next() {
    let (server, state) = (FakeServer::start().await, tempfile::tempdir().unwrap());
    let hasty = |options: &mut AgentOptions| {
        options.state_dir = Some(state.path().to_owned());
        options.stop_timeout = std::time::Duration::from_millis(500);
    };
    let agent = start_agent_with(&server, "agent-a", environment(), KernelSessionLimits::default(), hasty);
    let mut ada = Person::enter(&server).await;
    let id = ada.run(&format!("{COUNT}\ntime.sleep(60)")).await;
    ada.until("an output", |state| state.executions.get(&id).is_some_and(|run| !run.outputs.is_empty())).await;
    server.fail_every(1);
    agent.stop().await;
    server.fail_every(0);
    let _next = start_agent_with(&server, "agent-a", environment(), KernelSessionLimits::default(), hasty);
    let (status, _, notice) = ada.until_over(&server, &id).await;
    assert_eq!(status, ExecutionStatus::Lost);
    assert!(notice.as_deref().unwrap().contains("stopped before it could report the end"), "{notice:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_beyond_the_server_s_limit_says_so_and_ends() {
    let server = FakeServer::start().await;
    server.limit(|limits| limits.max_output_bytes_per_run = 300_000);
    let mut limits = KernelSessionLimits::default();
    limits.outputs.large_part_bytes = 1 << 20;
    let _agent = start_agent(&server, "agent-a", environment(), limits);
    let mut ada = Person::enter(&server).await;
    let id = ada.run("for i in range(40): print('x' * 40_000, flush=True)\nprint('done')").await;
    let (status, text, notice) = ada.until_over(&server, &id).await;
    assert_eq!(status, ExecutionStatus::Ok);
    assert!(text.contains("all that the server records of one run"), "no notice in {} bytes", text.len());
    assert!(text.len() < 400_000, "{} bytes", text.len());
    assert!(notice.as_deref().unwrap().contains("was not recorded"), "{notice:?}");
    let id = ada.run("print('next')").await;
    assert_eq!(ada.until_over(&server, &id).await.1, "next\n");
}
