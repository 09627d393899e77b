//! Tests of an agent that hangs: people are notified within ten seconds, and nothing is lost when it resumes.

use std::time::{Duration, Instant};

use notarium_core::ExecutionStatus;
use rustix::process::Signal;

use super::killing::SLOWNESS;
use crate::processes::Fixture;

const TOLD_WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_hangs_is_told_soon_and_loses_nothing_when_it_goes_on() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run("x = 42").await;
    assert_eq!(ada.until_over(&id).await.status, ExecutionStatus::Ok);
    let running = ada.run("import time\nfor i in range(40):\n    print(i, flush=True)\n    time.sleep(0.05)").await;
    ada.until("a line", |state| state.executions.get(&running).is_some_and(|run| !run.outputs.is_empty())).await;

    agent.signal(Signal::STOP);
    let since = Instant::now();
    ada.until_unreachable().await;
    println!("an agent that hangs is told after {:?}", since.elapsed());
    assert!(since.elapsed() < TOLD_WITHIN * SLOWNESS, "{:?}", since.elapsed());

    agent.signal(Signal::CONT);
    ada.until_reachable().await;
    println!("it is back after {:?}", since.elapsed());
    let run = ada.until_over(&running).await;
    assert_eq!(run.status, ExecutionStatus::Ok, "{:?}", run.notice);
    assert_eq!(run.text, (0..40).map(|i| format!("{i}\n")).collect::<String>(), "every line once, in order");
    let id = ada.run("print(x)").await;
    assert_eq!(ada.until_over(&id).await.text, "42\n", "the next run works, in the same kernel");
    agent.stop();
}
