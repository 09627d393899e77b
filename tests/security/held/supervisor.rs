//! Tests of attacks on the supervisor, by an assistant's code that asked for nothing. The same code without the supervisor and the
//! sandbox, run by a person, shows that the attacks work.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{Effect, Execution};
use serde::Deserialize;
use serde_json::json;

use super::{HeldScene, text};

const ATTACKS: &str =
    concat!(include_str!("attacks.py"), include_str!("attacks_on_processes.py"), include_str!("attacks_on_folders.py"));
/// Code of a person's run that leaves for the attacks: links in TMPDIR, the number of a thread that has ended.
const PREPARED: &str = "
import os, tempfile
os.symlink(FACTS['folder'], tempfile.gettempdir() + '/person-link')
try:
    os.link(FACTS['folder'] + '/kept.txt', tempfile.gettempdir() + '/person-file')
except OSError:
    os.symlink(FACTS['folder'] + '/kept.txt', tempfile.gettempdir() + '/person-file')
ended = threading.Thread(target=int)
ended.start()
person_ended = ended.native_id
ended.join()
";
/// Attacks that do nothing anywhere: they would prove a fault of the supervisor itself.
const NEVER_OPEN: &[&str] = &["by_the_listener_itself", "by_dots_behind_dev_null"];
/// Attacks that need a part of the system, a processor or an account that not every machine has.
const OPEN_TO_SOME: &[&str] = &[
    "by_int_0x80",
    // It must come at the right moment.
    "by_a_link_that_comes_between",
    "by_x32",
    "by_io_uring",
    "by_userfaultfd",
    "by_bpf",
    "by_perf_events",
    "by_a_handle_of_a_file",
    "by_add_key",
    "by_a_message_queue",
    "by_a_raw_socket",
    "by_setxattrat",
    "by_the_number_of_a_thread_that_ended",
    "by_another_root",
    "by_priority_of_the_parent",
    "by_exchanging",
];
/// Attacks whose refusals are counted.
const FLOOD: (&str, u64) = ("by_ten_thousand_refusals", 10_000);

/// Result of one attack.
#[derive(Debug, Deserialize)]
struct Tried {
    got: Option<String>,
    refused: Option<String>,
}

/// Returns the text after `mark` on the line that begins with it.
fn line<'a>(printed: &'a str, mark: &str) -> &'a str {
    printed.lines().find_map(|line| line.strip_prefix(mark)).unwrap_or_else(|| panic!("no {mark} in {printed}"))
}

fn tried(printed: &str) -> Tried {
    serde_json::from_str(line(printed, "RESULT ")).unwrap()
}

impl HeldScene {
    /// Returns code with the facts that attackers know.
    fn facts(&self) -> String {
        let facts = json!({
            "folder": self.witness.folder(), "home": self.home.path(), "agent": self.agent.id(), "datagrams": self.witness.datagram_port(),
            "ipc": std::fs::read_link("/proc/self/ns/ipc").unwrap(),
        });
        format!("FACTS = {facts}\n")
    }

    /// Begins a kernel with what a person's run leaves, and returns code with the facts.
    async fn kernel_to_attack(&mut self) -> String {
        let facts = self.facts();
        self.new_kernel().await;
        self.person(&format!("{facts}{PREPARED}")).await;
        self.witness.reset();
        facts
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ways_around_the_supervisor_lead_nowhere() {
    let mut scene = HeldScene::start().await;
    let facts = scene.kernel_to_attack().await;
    scene.assert_holds();
    let (runs, _) = scene.confirmed(&[&format!("{facts}{ATTACKS}")], &[]).await;
    let names: Vec<String> = serde_json::from_str(line(&text(&runs[0]), "WAYS ")).unwrap();
    assert!(names.len() >= 60, "{} ways", names.len());
    let mut open = BTreeMap::new();
    for name in &names {
        let before = scene.victim();
        let (runs, _) = scene.confirmed(&[&format!("attempt('{name}')")], &[]).await;
        let run = &runs[0];
        let tried = tried(&text(run));
        let mut seen = Vec::from_iter(scene.changes());
        seen.extend((scene.victim() != before).then(|| "the person's process is not as it was".to_owned()));
        if tried.got.is_some() || !seen.is_empty() {
            open.insert(name, (tried, seen));
            scene.witness.reset();
        }
        if name == FLOOD.0 {
            assert_eq!(refusals(run, Effect::Write), FLOOD.1, "{:?}", run.refused);
        }
    }
    println!("{} ways were tried", names.len());
    assert!(open.is_empty(), "ways around the supervisor: {open:#?}");
    // The kernel and its agent go on. The end of the kernel would remove the second name, which changes the file's times.
    let end = "import os, tempfile\nos.remove(tempfile.gettempdir() + '/person-file')\nprint(keep)";
    assert_eq!(scene.person(end).await.text, "kept\n");
    assert_eq!(scene.changes(), BTreeSet::from(["changed control/kept.txt".to_owned()]));
    scene.ada.end_kernels().await;
    assert_eq!(scene.changes(), BTreeSet::new());
}

fn refusals(run: &Execution, kind: Effect) -> u64 {
    run.refused.iter().filter(|refused| refused.kind == kind).map(|refused| refused.count).sum()
}

/// Proves that the attacks above do something where nothing stops them.
#[tokio::test(flavor = "multi_thread")]
async fn without_supervisor_and_sandbox_the_same_ways_are_open() {
    let mut scene = HeldScene::with(&["--kernel-sandbox", "off", "--kernel-effects", "off"]).await;
    let setup = scene.person_setup();
    scene.person(&setup).await;
    let facts = scene.facts();
    scene.person(&format!("{facts}{PREPARED}")).await;
    let defined = scene.person(&format!("{facts}{ATTACKS}")).await.text;
    let names: Vec<String> = serde_json::from_str(line(&defined, "WAYS ")).unwrap();
    let (mut closed, mut never) = (BTreeMap::new(), BTreeMap::new());
    for name in names {
        scene.person("if victim.poll() is None:\n    victim.kill(), victim.wait()\nmake_victim()").await;
        let tried = tried(&scene.person(&format!("attempt('{name}')")).await.text);
        if NEVER_OPEN.contains(&name.as_str()) {
            assert!(tried.refused.is_some(), "{name}: {tried:?}");
            never.insert(name, tried);
        } else if tried.got.is_none() && !OPEN_TO_SOME.contains(&name.as_str()) {
            closed.insert(name, tried);
        }
        scene.witness.reset();
    }
    assert_eq!(never.len(), NEVER_OPEN.len());
    assert!(closed.is_empty(), "these ways prove nothing: {closed:#?}");
}

/// Processes that a held run leaves behind end with it, also those that left their group and their parent.
#[tokio::test(flavor = "multi_thread")]
async fn processes_of_an_assistant_s_run_end_with_it() {
    let mut scene = HeldScene::start().await;
    let own = scene.mark().replace("victim", "person");
    // Its parent and its group are others than the kernel's; `wait` is until it has its name.
    let starts = |mark: &str| {
        format!(
            "import os\nread, write = os.pipe()\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n        \
             os.execv('/bin/sh', [{mark:?}, '-c', 'sleep 600; :'])\n    os._exit(0)\n\
             os.close(write)\nos.read(read, 1)\nprint('left')"
        )
    };
    scene.person(&starts(&own)).await;
    let held = scene.mark().replace("victim", "held");
    let (runs, _) = scene.confirmed(&[&starts(&held)], &[]).await;
    assert!(text(&runs[0]).contains("left"), "{:?}", runs[0]);
    scene.settle().await;
    assert_eq!(super::compositions::process_named(&held), None, "it outlives its run");
    assert!(super::compositions::process_named(&own).is_some(), "the person's goes on");
}
