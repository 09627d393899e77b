//! Tests that background work of a person goes on beside an assistant's runs, and that these cannot use it to remove anything.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_core::{Execution, ExecutionStatus};

use super::{Called, HeldScene, text};

const BACKGROUND: &str = include_str!("background.py");
/// Kinds of work, by the file of each; the server is asked.
const KINDS: &[&str] = &["training", "watch", "pool", "timer", "loop", "process", "subprocess", "joblib", "queue"];
/// Kinds that keep a file open: the next run asks about it.
const HOLDING: &[&str] = &["log", "subprocess-log"];
/// Most time for a step of each.
const PATIENCE: Duration = Duration::from_secs(60);

impl HeldScene {
    fn progress(&self, kinds: &[&'static str]) -> BTreeMap<&'static str, u64> {
        let length =
            |kind: &str| std::fs::metadata(self.witness.working().join("progress").join(kind)).map(|file| file.len());
        kinds.iter().map(|kind| (*kind, length(kind).unwrap_or_default())).collect()
    }

    /// Has the assistant run code. Files that are open for a moment, just when the supervisor looks, make it ask: then the
    /// code runs again.
    async fn beside(&mut self, code: &str) -> Arc<Execution> {
        for _ in 0..20 {
            let (mut runs, _) = self.confirmed(&[code], &[]).await;
            if runs[0].status != ExecutionStatus::Cancelled {
                return runs.remove(0);
            }
        }
        panic!("the kernel holds something open: {:?}", self.confirmed(&[code], &[]).await.0[0].end_sentence());
    }

    /// Waits until each kind has taken two steps: one of them may have begun before.
    fn until_all_go_on(&self, kinds: &[&'static str], port: u16, when: &str) {
        let (before, end) = (self.progress(kinds), Instant::now() + PATIENCE);
        loop {
            ask(port);
            let now = self.progress(kinds);
            let still: Vec<_> = before.iter().filter(|(kind, bytes)| now[**kind] < **bytes + 6).collect();
            if still.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "{when}: these do not go on: {still:?}");
            // There is no event for a file.
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Asks the person's server, which must answer.
fn ask(port: u16) {
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the person's server is there");
    server.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    server.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("served"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn background_work_of_a_person_goes_on_beside_an_assistant_s_runs() {
    let mut scene = HeldScene::start().await;
    let said = scene.person(BACKGROUND).await.text;
    let port: u16 = said.trim().rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{said}"));
    scene.assert_holds();
    scene.until_all_go_on(KINDS, port, "before the first run of an assistant");
    let work = "import threading\ndone = []\nthreads = [threading.Thread(target=done.append, args=[n]) for n in range(20)]\n\
                [thread.start() for thread in threads], [thread.join() for thread in threads]\nprint(sum(range(100000)), len(done))";
    for round in 1..4 {
        let run = scene.beside(work).await;
        assert_eq!(text(&run), "4999950000 20\n", "{run:?}");
        scene.until_all_go_on(KINDS, port, &format!("after {round} runs"));
    }
    // Work that begins between runs of an assistant goes on too.
    scene.person("repeat('later')\nrepeat('training-later', train)").await;
    let kinds = [KINDS, &["later", "training-later"]].concat();
    scene.until_all_go_on(&kinds, port, "begun later");
    scene.beside(work).await;
    scene.until_all_go_on(&kinds, port, "begun later, after a run");

    // The training may write, and nothing that is slipped into it removes a file.
    let slipped =
        format!("import os, __main__\n__main__.train_hook = lambda: os.remove({:?})", scene.witness.path("kept.txt"));
    scene.beside(&slipped).await;
    scene.until_all_go_on(&["training"], port, "a removal in the training");
    assert_eq!(scene.progress(&["training-was-refused"])["training-was-refused"], 3, "it was tried once");
    assert!(std::fs::exists(scene.witness.path("kept.txt")).unwrap(), "a thread of the person's removed it");

    // Files that are held open: asked about once, and the work goes on.
    scene.person("hold_open()").await;
    let kinds = [&kinds[..], HOLDING].concat();
    scene.until_all_go_on(&kinds, port, "with open files");
    let (runs, _) = scene.confirmed(&[work], &[]).await;
    let said = runs[0].end_sentence().unwrap_or_default();
    assert!(said.contains("progress/log") && said.contains("subprocess-log"), "{said}");
    assert!(matches!(scene.held_with(&[work], &["open"]).await, Called::Waited(_)));
    let (runs, _) = scene.confirmed(&[work], &["open"]).await;
    assert_eq!(text(&runs[0]), "4999950000 20\n", "{:?}", runs[0]);
    scene.until_all_go_on(&kinds, port, "with open files, after a confirmed run");
    scene.person("stop.set()").await;
}
