//! Tests with random kills of server, agent and kernel: each run ends with the right status, none runs twice, and the next run works soon.
//!
//! `NOTARIUM_KILLS` is the number of kills; `NOTARIUM_SEED` replays a story.

use std::path::Path;
use std::time::{Duration, Instant};

use notarium_core::{Event, ExecutionId, ExecutionStatus, Recorded};

use crate::processes::{Fixture, Process, Visitor, environment, notarium};

/// Maximum time until a run works again. Test machines with concurrent builds are slower than people's.
const WORKS_WITHIN: Duration = Duration::from_secs(10);
pub const SLOWNESS: u32 = 3;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Random numbers (splitmix64): the same seed gives the same story.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Server,
    Agent,
    Both,
    /// Killed by its own code, after so many milliseconds.
    Kernel(u64),
}

struct Story {
    fixture: Fixture,
    agent: Process,
    ada: Visitor,
    /// File in which each run notes its start.
    begun: std::path::PathBuf,
}

const LINES: usize = 25;

impl Story {
    /// Starts a run that takes about a second, and notes its start once.
    async fn begin(&mut self, name: &str, victim: Victim) -> ExecutionId {
        let death = match victim {
            Victim::Kernel(after) => format!(
                "import threading, os, signal\n\
                 threading.Timer({after} / 1000, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()\n"
            ),
            _ => String::new(),
        };
        let source = format!(
            "import time\nopen({:?}, 'a').write('{name}\\n')\n{death}for i in range({LINES}):\n    \
             print(i, flush=True)\n    time.sleep(0.04)",
            self.begun
        );
        self.ada.run(&source).await
    }

    async fn kill(&mut self, victim: Victim) {
        let (server, agent) =
            (matches!(victim, Victim::Server | Victim::Both), matches!(victim, Victim::Agent | Victim::Both));
        if agent {
            self.agent.kill();
        }
        if server {
            self.fixture.kill_server();
            self.fixture.restart_server().await;
        }
        if agent {
            self.agent = self.fixture.agent().await;
        }
    }

    /// Checks that the run's status agrees with its record.
    async fn check_end(&mut self, id: &ExecutionId, name: &str, victim: Victim) {
        let told = while_it_lives(&mut self.agent, self.ada.until_over(id)).await;
        let all: String = (0..LINES).map(|i| format!("{i}\n")).collect();
        let begun = std::fs::read_to_string(&self.begun).unwrap_or_default();
        let times = begun.lines().filter(|line| *line == name).count();
        assert!(times <= 1, "{name} ran {times} times");
        assert!(all.starts_with(&told.text), "{name}: lines are missing or out of order: {:?}", told.text);
        match told.status {
            ExecutionStatus::Ok => assert_eq!((told.text, times), (all, 1), "{name} is called ok"),
            ExecutionStatus::Lost => assert!(told.notice.is_some(), "{name} does not say why it is lost"),
            ExecutionStatus::Cancelled => assert_eq!(times, 0, "{name} ran and is called cancelled: {:?}", told.notice),
            other => panic!("{name}, whose {victim:?} was killed, is called {other:?}: {:?}", told.notice),
        }
        if victim == Victim::Server {
            assert_eq!(told.status, ExecutionStatus::Ok, "{name}: a kernel outlives the server; {:?}", told.notice);
        }
    }

    async fn check_works_again(&mut self, since: Instant) -> Duration {
        while_it_lives(&mut self.agent, works_again(&mut self.ada, since)).await
    }
}

/// Waits as long as the agent runs. Without an agent no run ends; its last line on standard error says why.
async fn while_it_lives<T>(agent: &mut Process, waited: impl Future<Output = T>) -> T {
    tokio::select! {
        done = waited => done,
        status = agent.ended() => panic!("the agent ended ({status}) while its runs were waited for"),
    }
}

/// Returns the time until a run works. A person repeats a run that fails because the variables are lost.
async fn works_again(ada: &mut Visitor, since: Instant) -> Duration {
    loop {
        let id = ada.run("print('it works')").await;
        let told = ada.until_over(&id).await;
        if told.status == ExecutionStatus::Ok {
            assert_eq!(told.text, "it works\n");
            return since.elapsed();
        }
        assert!(told.notice.is_some(), "{:?} without a word", told.status);
        assert!(since.elapsed() < WORKS_WITHIN * SLOWNESS, "{:?}: {:?}", told.status, told.notice);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_them_is_killed_once_and_runs_end_truthfully() {
    let mut chance = Chance(7);
    let victims = [Victim::Server, Victim::Agent, Victim::Both, Victim::Kernel(chance.below(900))];
    kill_all(&victims, &mut chance).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes on a busy machine: `make soak`"]
async fn whatever_is_killed_runs_end_truthfully_and_the_next_one_works() {
    let (kills, seed) = (number("NOTARIUM_KILLS", 10), number("NOTARIUM_SEED", 1));
    println!("seed {seed}");
    let (mut chance, mut choice) = (Chance(seed), Chance(!seed));
    let victim = |_| match choice.below(4) {
        0 => Victim::Server,
        1 => Victim::Agent,
        2 => Victim::Both,
        _ => Victim::Kernel(choice.below(900)),
    };
    let victims: Vec<Victim> = (0..kills).map(victim).collect();
    kill_all(&victims, &mut chance).await;
}

/// Kills the victims one after the other, each at a random moment.
async fn kill_all(victims: &[Victim], chance: &mut Chance) {
    let kills = victims.len();
    let fixture = Fixture::start().await;
    let (agent, ada) = (fixture.agent().await, fixture.person().await);
    // A folder that the kernel may write to.
    let begun = fixture.folder().join("begun");
    let mut story = Story { fixture, agent, ada, begun };
    let mut slowest = Duration::ZERO;
    story.check_works_again(Instant::now()).await;
    for (kill, victim) in victims.iter().copied().enumerate() {
        let name = format!("run-{kill}");
        let id = story.begin(&name, victim).await;
        // Kills at a random moment of the run, so there is no event to wait for.
        tokio::time::sleep(Duration::from_millis(chance.below(1_200))).await;
        story.kill(victim).await;
        let since = Instant::now();
        story.check_end(&id, &name, victim).await;
        let ended = since.elapsed();
        let recovered = story.check_works_again(since).await;
        println!("kill {kill}: {victim:?}; its run ended after {ended:?}, another worked after {recovered:?}");
        slowest = slowest.max(recovered);
    }
    assert!(kills < 4 || story.ada.events().iter().any(says_what_is_lost), "no launch says what was lost");
    println!("{kills} kills, the slowest recovery took {slowest:?}");
    assert!(slowest < WORKS_WITHIN * SLOWNESS, "{slowest:?}");
}

fn says_what_is_lost(recorded: &Recorded) -> bool {
    matches!(&recorded.event, Event::KernelLaunchRequested(event) if event.replaces.is_some())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes on a busy machine: `make soak`"]
async fn up_that_is_killed_three_times_in_a_row_works_each_time() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let start = |listen: &str| {
        let mut up = notarium(folder.path());
        up.args(["up", "--listen", listen, "--data"]).arg(folder.path().join("data"));
        up.arg("--kernel-path").arg(environment());
        Process::start(up)
    };
    let mut up = start("127.0.0.1:0");
    let url = up.line_with("Notarium is up: ").await;
    let token = up.line_with("Token: ").await;
    let mut ada = Visitor::enter(&url, &token).await;
    let id = ada.run("x = 1").await;
    assert_eq!(ada.until_over(&id).await.status, ExecutionStatus::Ok);
    // Dead processes are not reaped: each stays as a zombie, whose pid is still taken.
    let mut dead = Vec::new();
    for life in 0..3 {
        up.kill_unawaited();
        dead.push(up);
        up = start(url.strip_prefix("http://").unwrap());
        up.line_with("Notarium is up: ").await;
        let since = Instant::now();
        ada.until_connected().await;
        // Requested once, when the kernel is not known to be dead yet.
        let id = ada.run("print('it works')").await;
        let told = ada.until_over(&id).await;
        assert_eq!((told.status, told.text.as_str()), (ExecutionStatus::Ok, "it works\n"), "{:?}", told.notice);
        println!("life {life}: a run worked {:?} after up was back", since.elapsed());
        assert!(since.elapsed() < WORKS_WITHIN * SLOWNESS, "{:?}", since.elapsed());
    }
    assert_eq!(ada.events().iter().filter(|recorded| says_what_is_lost(recorded)).count(), 3, "once for each life");
    let left = std::fs::read_dir(folder.path().join("data")).unwrap().filter_map(Result::ok);
    let ledgers = left.filter(|entry| is_ledger(&entry.path())).count();
    assert_eq!(ledgers, 1, "of the living agent alone");
}

fn is_ledger(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
}
