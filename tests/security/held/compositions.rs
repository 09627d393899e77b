//! Fuzzer: composes effects with ways to reach them. In an assistant's runs none of them changes anything outside; in a person's run
//! each effect and each way works.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use notarium_core::{Document, Execution, ExecutionStatus};
use serde::Deserialize;
use serde_json::json;

use super::{Called, HeldScene, text};
use crate::processes::environment;

/// Code of a person's run: threads, executors, loops, processes in each kernel.
const PERSON: &str = include_str!("person.py");
/// Compositions of one call, and calls of one kernel.
const PER_CALL: usize = 10;
const CALLS_PER_KERNEL: usize = 8;
/// Effects and ways that do nothing on some machines: without a file system with attributes, without IPv6, on another C library.
const SOMETIMES: &[&str] = &["setxattr", "raw setxattr", "IPv6", "loader", "interpreter"];

#[derive(Debug, Deserialize)]
struct Composition {
    what: String,
    effect: String,
    chain: Vec<String>,
    code: String,
}

impl HeldScene {
    pub fn mark(&self) -> String {
        format!("victim-of-{}", self.witness.folder().display())
    }

    fn compositions(&self, arguments: &[&str]) -> Vec<Composition> {
        let witness = &self.witness;
        let facts = json!({
            "folder": witness.folder(), "port": witness.port(), "datagrams": witness.datagram_port(),
            "free": witness.free_port(), "mark": self.mark(),
        });
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security/held/compose.py");
        let mut compose = Command::new(environment().join("bin/python"));
        let made = compose.arg(program).arg(facts.to_string()).args(arguments).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let lines = String::from_utf8(made.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the code that a person's run leaves things with.
    pub fn person_setup(&self) -> String {
        format!("MARK, LOG = {:?}, {:?}\n{PERSON}", self.mark(), self.home.path().join("log"))
    }

    /// Begins a new kernel with what a person's run leaves in it.
    pub async fn new_kernel(&mut self) {
        self.ada.end_kernels().await;
        let setup = self.person_setup();
        self.person(&setup).await;
        self.assert_holds();
        self.witness.reset();
    }

    /// Returns what a witness sees of the person's process: its state, its limits, its priority.
    pub fn victim(&self) -> Option<String> {
        let number = process_named(&self.mark())?;
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{number}/{name}")).unwrap_or_default();
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let is_stopped = fields[0] == "T";
        Some(format!("{number} stopped: {is_stopped} nice: {} {}", fields[16], read("limits")))
    }
}

/// Returns the number of the process whose arguments begin with this name.
pub fn process_named(name: &str) -> Option<u32> {
    let mut numbers =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.find(|number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next() == Some(name.as_bytes())
    })
}

/// Proves that the witness sees each effect, and that each way leads to one.
#[tokio::test(flavor = "multi_thread")]
async fn each_effect_and_each_way_works_in_a_person_s_run() {
    let mut scene = HeldScene::start().await;
    scene.new_kernel().await;
    let again = "victim.kill(), victim.wait(), make_victim()\nimport sys\nsys.listener = None";
    let mut idle = Vec::new();
    let each = scene.compositions(&["each"]);
    for Composition { what, effect, chain, code } in &each {
        let before = scene.victim();
        scene.person(code).await;
        scene.person("pass").await;
        let (changes, is_victim) = (scene.changes(), scene.victim() != before);
        let sometimes = SOMETIMES.contains(&effect.as_str()) || SOMETIMES.contains(&chain[0].as_str());
        if changes.is_empty() && !is_victim && !sometimes {
            idle.push(what);
        }
        if is_victim || effect == "listen" {
            scene.person(again).await;
        }
        if !changes.is_empty() {
            restore(&mut scene);
        }
    }
    assert!(each.len() > 150, "{}", each.len());
    assert!(idle.is_empty(), "these do nothing that is seen: {idle:#?}");
}

/// Makes the control folder as it was.
fn restore(scene: &mut HeldScene) {
    let _ = std::fs::create_dir(scene.witness.folder().join("empty"));
    scene.witness.reset();
}

async fn nothing_is_changed(seed: u64, count: usize) {
    println!("NOTARIUM_SEED={seed}");
    let mut scene = HeldScene::start().await;
    let all = scene.compositions(&[&seed.to_string(), &count.to_string()]);
    assert_eq!(all.len(), count);
    let (mut through, mut waited, mut ends) = (Vec::new(), 0, Vec::new());
    for kernel in all.chunks(PER_CALL * CALLS_PER_KERNEL) {
        scene.new_kernel().await;
        for batch in kernel.chunks(PER_CALL) {
            if !scene.ada.state().kernels.values().any(|kernel| kernel.fence.is_some()) {
                scene.new_kernel().await;
            }
            let whats = || batch.iter().map(|composition| composition.what.clone()).collect::<Vec<_>>();
            let before = scene.victim();
            let codes: Vec<&str> = batch.iter().map(|composition| composition.code.as_str()).collect();
            let (runs, has_waited) = scene.confirmed(&codes, &[]).await;
            waited += usize::from(has_waited);
            let is_lost = runs.iter().any(|run| run.status == ExecutionStatus::Lost);
            if is_lost || has_ended(scene.ada.state()) {
                ends.push(whats());
            } else {
                let is_ok = |run: &Arc<Execution>| run.status == ExecutionStatus::Ok;
                assert!(runs.iter().all(is_ok), "a composition did not run: {runs:#?} {:#?}", whats());
                scene.settle().await;
            }
            let changes = scene.changes();
            let victim = scene.victim();
            if !changes.is_empty() || (victim != before && !has_ended(scene.ada.state())) {
                through.push((changes, victim == before, whats()));
                scene.new_kernel().await;
                restore(&mut scene);
            }
        }
    }
    scene.ada.end_kernels().await;
    let at_the_end = scene.changes();
    assert!(through.is_empty() && at_the_end.is_empty(), "one of each list: {through:#?}\nat the end: {at_the_end:#?}");
    println!("{waited} of {} calls waited for a person, {} ended the kernel", count.div_ceil(PER_CALL), ends.len());
    // A kernel that ends has not run the rest of its compositions.
    assert!(ends.len() * 20 <= count / PER_CALL, "{ends:#?}");
}

fn has_ended(state: &Document) -> bool {
    state.kernels.is_empty()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_composition_of_an_assistant_changes_anything_outside() {
    nothing_is_changed(number("NOTARIUM_SEED").unwrap_or(24), 200).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes an hour: `make soak`"]
async fn thousands_of_compositions_change_nothing_outside() {
    let seed = number("NOTARIUM_SEED").unwrap_or_else(|| std::process::id().into());
    nothing_is_changed(seed, number("NOTARIUM_COMPOSITIONS").unwrap_or(10_000) as usize).await;
}

/// A file that a person's run has left open can be written without a call that the system tells: so the next run asks.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_s_run_has_left_open_makes_the_next_call_wait() {
    let opens = [
        ("a file", "left = open(PATH, 'a')", "left.close()", "kept.txt"),
        (
            "a mapping",
            "import mmap\nwith open(PATH, 'r+b') as file:\n    left = mmap.mmap(file.fileno(), 0)",
            "left.close()",
            "kept.txt",
        ),
        (
            "a connection",
            "import socket\nleft = socket.create_connection(('127.0.0.1', PORT))",
            "left.close()",
            "127.0.0.1",
        ),
        (
            "a file of a child",
            "import subprocess\nleft = subprocess.Popen(['cat'], stdin=-1, stdout=open(PATH, 'a'))",
            "left.stdin.close(), left.wait()",
            "kept.txt",
        ),
    ];
    let mut scene = HeldScene::start().await;
    // It accepts by itself, and keeps the connection.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for (what, open, close, name) in opens {
        scene.ada.end_kernels().await;
        let path = format!("{:?}", scene.witness.path("kept.txt"));
        scene.person(&open.replace("PATH", &path).replace("PORT", &port)).await;
        scene.assert_holds();
        scene.witness.forget();
        let runs = scene.held(&["print('began')"]).await.runs();
        let said = runs[0].end_sentence().unwrap_or_default();
        assert!(runs[0].outputs.is_empty() && said.contains(name), "{what} was open: {said} {:?}", runs[0]);
        match scene.held_with(&["print('asked')"], &["open"]).await {
            Called::Waited(reasons) => {
                assert!(reasons.iter().any(|reason| reason.contains(name)), "{what}: {reasons:?}")
            }
            Called::Ran(runs) => panic!("{what} was open, and nobody was asked: {runs:?}"),
        }
        scene.person(close).await;
        let ran = scene.held(&["print('on')"]).await;
        assert!(text(&ran.runs()[0]).contains("on"), "{what} is closed");
        assert!(scene.changes().is_empty());
    }
}
