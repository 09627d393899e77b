//! Tests that a run with endless output neither exhausts the memory of agent, server or kernel, nor delays other people.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use notarium_core::{Command, ExecutionStatus};

use crate::processes::{Fixture, PATIENCE, Told, Visitor};

/// Maximum peak memory of each process. Before, an agent used three to six times as much, and the kernel gigabytes.
const MAX_RESIDENT_KIB: u64 = 256 << 10;
/// Duration of the output: several times what the log, and then the overflow file, can take.
const FLOOD: Duration = Duration::from_secs(8);
/// Maximum time from an interrupt to the end of the run and its output: up to 256 MiB are sent to the server then.
const ENDS_WITHIN: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 20 });

/// Maximum increase of the p99 of another person's edits.
const MAX_DELAY: Duration = Duration::from_millis(50);

/// Returns a value of `/proc/PID/status`, in KiB.
pub fn status_kib(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the peak memory of a process.
pub fn peak_kib(process: u32) -> u64 {
    status_kib(process, "VmHWM:")
}

/// Measures this person's edits, one after the other, until `is_over`; returns p50 and p99 until the ack.
async fn edits(person: &Visitor, is_over: &AtomicBool) -> (Duration, Duration) {
    let mut took = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let asked = Instant::now();
        person.command(Command::RenameNotebook { title: format!("Title {}", took.len()) }).await;
        took.push(asked.elapsed());
    }
    took.sort();
    (took[took.len() / 2], took[took.len() * 99 / 100])
}

/// Lets a run print for a while, and interrupts it; returns its record and the time until its end.
async fn flood(ada: &mut Visitor, line: &str, is_over: &AtomicBool) -> (Told, Duration) {
    let flood = ada.run(&format!("while True: {line}")).await;
    ada.until("the flood", |state| state.executions.get(&flood).is_some_and(|run| !run.outputs.is_empty())).await;
    // Fixed duration of the output; there is no event to wait for.
    tokio::time::sleep(FLOOD).await;
    let asked = Instant::now();
    ada.command(Command::CancelExecution { execution_id: flood.clone() }).await;
    let told = tokio::time::timeout(PATIENCE, ada.until_over(&flood)).await.unwrap();
    is_over.store(true, Ordering::SeqCst);
    (told, asked.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute and wants a quiet machine: `make soak`"]
#[cfg(target_os = "linux")]
async fn an_endless_print_leaves_memory_flat_and_others_alone() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let (mut ada, mut bob) = (fixture.person().await, fixture.person().await);
    let id = bob.run("x = 1").await;
    bob.until_over(&id).await;
    let id = ada.run(crate::processes::WHO).await;
    let kernel = crate::processes::number_of(&ada.until_over(&id).await.text);
    let is_over = AtomicBool::new(false);
    let ((usual, usual_p99), ()) = tokio::join!(edits(&bob, &is_over), async {
        // Fixed duration of the measurement; there is no event to wait for.
        tokio::time::sleep(FLOOD / 2).await;
        is_over.store(true, Ordering::SeqCst);
    });
    println!("edits of another person, nobody prints: p50 {usual:?}, p99 {usual_p99:?}");
    for line in [
        "print('x' * 100)",
        "print('x' * 100, flush=True)",
        "print('x' * 1_000_000)",
        "display({'text/plain': 'x' * 1_000_000}, raw=True)",
    ] {
        let before = [agent.id(), fixture.server_id(), kernel].map(|process| status_kib(process, "VmRSS:") >> 10);
        let is_over = AtomicBool::new(false);
        let ((p50, p99), (told, ended)) = tokio::join!(edits(&bob, &is_over), flood(&mut ada, line, &is_over));
        let id = bob.run("print(x)").await;
        assert_eq!(bob.until_over(&id).await.text, "1\n");
        assert_eq!(told.status, ExecutionStatus::Cancelled, "{line}: {:?}", told.notice);
        let peaks = [agent.id(), fixture.server_id(), kernel].map(peak_kib);
        println!(
            "{line}: MiB before {before:?}, at most {:?} (agent, server, kernel); ended {ended:?} after the interrupt; edits \
             p50 {p50:?}, p99 {p99:?}",
            peaks.map(|kib| kib >> 10)
        );
        assert!(peaks.iter().all(|kib| *kib < MAX_RESIDENT_KIB), "{line}: {peaks:?} KiB");
        assert!(ended < ENDS_WITHIN, "{line}: {ended:?}");
        // Timings of a debug build, or on a machine with concurrent builds, are meaningless.
        let is_measured = !cfg!(debug_assertions) || std::env::var_os("NOTARIUM_BINARY").is_some();
        assert!(!is_measured || p99 < usual_p99 + MAX_DELAY, "{line}: {p99:?}, not {usual_p99:?}");
    }
    agent.stop();
}
