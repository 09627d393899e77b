//! A run that prints without end costs neither agent nor server memory, and the next person nothing.

use std::time::{Duration, Instant};

use notarium_core::{Command, ExecutionStatus};

use crate::processes::{Fixture, PATIENCE};

/// Of each of the two processes, at its highest. Before, an agent took three to six times as much.
const MAX_RESIDENT_KIB: u64 = 256 << 10;
/// How long it prints: several times what the log, and then the file beside it, take.
const FLOOD: Duration = Duration::from_secs(8);

/// The most memory that a process has had.
fn peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute and wants a quiet machine: `make soak`"]
#[cfg(target_os = "linux")]
async fn an_endless_print_leaves_the_memory_of_agent_and_server_flat() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let (mut ada, mut bob) = (fixture.person().await, fixture.person().await);
    let id = bob.run("x = 1").await;
    bob.until_over(&id).await;
    for line in ["print('x' * 100)", "print('x' * 100, flush=True)", "print('x' * 1_000_000)"] {
        let flood = ada.run(&format!("while True: {line}")).await;
        ada.until("the flood", |state| state.executions.get(&flood).is_some_and(|run| !run.outputs.is_empty())).await;
        let began = Instant::now();
        while began.elapsed() < FLOOD {
            let id = bob.run("print(x)").await;
            assert_eq!(bob.until_over(&id).await.text, "1\n");
        }
        ada.command(Command::CancelExecution { execution_id: flood.clone() }).await;
        let told = tokio::time::timeout(PATIENCE, ada.until_over(&flood)).await.unwrap();
        assert_eq!(told.status, ExecutionStatus::Cancelled, "{line}: {:?}", told.notice);
        let (agent_kib, server_kib) = (peak_kib(agent.id()), peak_kib(fixture.server_id()));
        println!("{line}: agent {} MiB, server {} MiB", agent_kib >> 10, server_kib >> 10);
        assert!(agent_kib < MAX_RESIDENT_KIB, "{line}: the agent took {agent_kib} KiB");
        assert!(server_kib < MAX_RESIDENT_KIB, "{line}: the server took {server_kib} KiB");
    }
    agent.stop();
}
