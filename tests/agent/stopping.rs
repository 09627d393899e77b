//! Tests of an agent that is stopped: output of its runs is reported within ten seconds, or the runs are reported as lost.

use std::time::{Duration, Instant};

use notarium_core::ExecutionStatus;
use rustix::process::{Pid, Signal, kill_process};

use super::killing::SLOWNESS;
use crate::processes::{Fixture, Process, Told, Visitor};

/// Maximum time for these reports and the rest of its end.
const STOPS_WITHIN: Duration = Duration::from_secs(12);

/// Stops the agent, and waits for its end.
fn stop(agent: &mut Process) {
    let since = Instant::now();
    let code = tokio::task::block_in_place(|| agent.stop());
    println!("the agent has ended after {:?}", since.elapsed());
    assert!(since.elapsed() < STOPS_WITHIN * SLOWNESS, "{:?}", since.elapsed());
    assert_eq!(code, Some(0));
}

/// Starts a run that counts without end, so that missing lines are detected.
async fn counting(ada: &mut Visitor) -> notarium_core::ExecutionId {
    let id = ada.run("i = 0\nwhile True:\n    print(i, flush=True)\n    i += 1").await;
    ada.until("some lines", |state| state.executions.get(&id).is_some_and(|run| run.output_seq > 20)).await;
    id
}

fn assert_no_line_lacks(run: &Told) {
    // The kernel may have ended between a number and its line end, as `print` writes them separately.
    let (whole, rest) = run.text.rsplit_once('\n').expect("lines");
    whole.lines().enumerate().for_each(|(at, line)| assert_eq!(line, at.to_string()));
    let next = whole.lines().count().to_string();
    assert!(next.starts_with(rest), "{rest:?} instead of {next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_have_written_is_reported_before_the_agent_ends() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = counting(&mut ada).await;
    stop(&mut agent);
    let run = ada.until_over(&id).await;
    assert_eq!(run.status, ExecutionStatus::Lost);
    assert!(run.notice.as_deref().is_some_and(|notice| notice.contains("stopped")), "{:?}", run.notice);
    assert_no_line_lacks(&run);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_does_not_keep_it_and_the_run_is_lost() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = counting(&mut ada).await;
    let server = Pid::from_raw(i32::try_from(fixture.server_id()).unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    stop(&mut agent);
    kill_process(server, Signal::CONT).unwrap();
    let mut again = fixture.agent().await;
    let run = ada.until_over(&id).await;
    assert_eq!(run.status, ExecutionStatus::Lost);
    assert!(run.notice.is_some());
    assert_no_line_lacks(&run);
    again.stop();
}
