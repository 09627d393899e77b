//! Effects that a held run must not have, and those that a person confirmed.

use notarium_core::{Effect, Effects};

use crate::scene::Held;

/// Code, and the kind of its effect.
const HARMFUL: &[(&str, Effect)] = &[
    ("open('OUT/kept.txt', 'w').write('x')", Effect::Write),
    ("open('OUT/kept.txt', 'r+').write('x')", Effect::Write),
    ("open('OUT/kept.txt', 'a').write('x')", Effect::Write),
    ("open('OUT/new.txt', 'x')", Effect::Write),
    ("import os; os.truncate('OUT/kept.txt', 0)", Effect::Write),
    ("import os; os.rename('OUT/kept.txt', 'OUT/other.txt')", Effect::Write),
    ("import os; os.symlink('/etc', 'OUT/link')", Effect::Write),
    ("import os; os.link('OUT/kept.txt', 'OUT/link')", Effect::Write),
    ("import os; os.chmod('OUT/kept.txt', 0)", Effect::Write),
    ("import os; os.utime('OUT/kept.txt', (1, 1))", Effect::Write),
    ("import os; os.mkdir('OUT/folder')", Effect::Write),
    ("import os; os.mkfifo('OUT/pipe')", Effect::Write),
    ("import os; os.setxattr('OUT/kept.txt', 'user.a', b'x')", Effect::Write),
    ("import os; os.open('OUT/kept.txt', os.O_RDONLY | os.O_TRUNC)", Effect::Write),
    ("open('work.txt', 'w')", Effect::Create),
    ("open('kept.txt', 'w')", Effect::Write),
    ("import os; os.remove('OUT/kept.txt')", Effect::Remove),
    ("import os; os.rmdir('OUT')", Effect::Remove),
    ("import shutil; shutil.rmtree('OUT')", Effect::Remove),
    ("import socket; socket.create_connection(('127.0.0.1', 9))", Effect::Network),
    ("import socket; socket.socket(socket.AF_UNIX).connect('/run/docker.sock')", Effect::Network),
    ("import socket; socket.socket(socket.AF_UNIX).bind('OUT/socket')", Effect::Network),
    ("import os; os.kill(os.getppid(), 15)", Effect::Signal),
    ("import os; os.kill(-1, 15)", Effect::Signal),
    ("import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", Effect::Signal),
    ("import resource, os; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (64, 64))", Effect::Signal),
];

#[tokio::test]
async fn effects_of_a_held_run_are_refused_and_told() {
    let mut held = Held::start().await;
    for (code, kind) in HARMFUL {
        let ran = held.held(code).await;
        assert!(ran.text().contains("Error"), "{code}: {}", ran.text());
        assert_eq!(ran.kinds().first(), Some(kind), "{code}: {:?} {}", ran.refusals(), ran.text());
        held.nothing_outside_changed();
    }
    assert_eq!(std::fs::read_to_string(held.path("work/kept.txt")).unwrap(), "kept");
    assert!(!held.path("work/work.txt").exists());
}

#[tokio::test]
async fn in_a_sandbox_it_is_the_same() {
    let mut held = Held::start_in_sandbox().await;
    for (code, kind) in HARMFUL {
        let ran = held.held(code).await;
        assert_eq!(ran.kinds().first(), Some(kind), "{code}: {:?} {}", ran.refusals(), ran.text());
        held.nothing_outside_changed();
    }
}

#[tokio::test]
async fn a_program_that_held_code_starts_is_held() {
    let mut held = Held::start().await;
    let code = "import subprocess\nprint(subprocess.run(['sh', '-c', 'echo x > OUT/new; rm -f OUT/kept.txt; echo done'], capture_output=True, text=True))";
    let ran = held.held(code).await;
    assert!(ran.text().contains("done"), "{}", ran.text());
    assert_eq!(ran.kinds(), [Effect::Write, Effect::Remove], "{:?}", ran.refusals());
    held.nothing_outside_changed();
    let ran = held.held("!echo x > OUT/new").await;
    assert_eq!(ran.kinds(), [Effect::Write], "{} {:?}", ran.text(), ran.refusals());
    held.nothing_outside_changed();
}

#[tokio::test]
async fn confirmed_kinds_are_let_through_and_no_other() {
    let mut held = Held::start().await;
    let write = || Effects::held([Effect::Write]);
    held.run("open('OUT/new.txt', 'w').write('x')", write()).await.is_ok();
    assert_eq!(held.run("import os; os.remove('OUT/new.txt')", write()).await.kinds(), [Effect::Remove]);
    held.run("os.remove('OUT/new.txt')", Effects::held([Effect::Remove])).await.is_ok();
    held.nothing_outside_changed();
    // A thread and a program of the run have its kinds, and lose them with the run.
    let code = "import threading, subprocess, time\ndef later():\n    go.wait()\n    try:\n        open('OUT/late.txt', 'w')\n    except OSError as error:\n        result.append(error)\ngo, result = threading.Event(), []\nt = threading.Thread(target=later)\nt.start()\nsubprocess.run(['sh', '-c', 'echo x > OUT/new.txt'], check=True)";
    held.run(code, write()).await.is_ok();
    assert_eq!(std::fs::read_to_string(held.path("outside/new.txt")).unwrap(), "x\n");
    held.run("go.set(); t.join(); print(result)", write()).await;
    assert!(!held.path("outside/late.txt").exists(), "its own run was confirmed, not this one");
}

#[tokio::test]
async fn new_files_replace_nothing() {
    let mut held = Held::start().await;
    let create = || Effects::held([Effect::Create]);
    held.run("import os\nos.makedirs('a/b', exist_ok=True)\nopen('a/b/new.txt', 'w').write('x')", create())
        .await
        .is_ok();
    assert_eq!(std::fs::read_to_string(held.path("work/a/b/new.txt")).unwrap(), "x");
    let ran = held.run("open('kept.txt', 'w')", create()).await;
    assert_eq!(ran.kinds(), [Effect::Write], "{:?}", ran.refusals());
    assert_eq!(std::fs::read_to_string(held.path("work/kept.txt")).unwrap(), "kept");
    std::os::unix::fs::symlink(held.path("outside"), held.path("work/link")).unwrap();
    for path in ["link/new.txt", "../outside/new.txt", "OUT/new.txt"] {
        let ran = held.run(&format!("open('{path}', 'w')"), create()).await;
        assert_eq!(ran.kinds(), [Effect::Write], "{path} {:?}", ran.refusals());
    }
    held.nothing_outside_changed();
}

#[tokio::test]
async fn a_flood_of_refusals_is_a_number() {
    let mut held = Held::start().await;
    let code = "n = 0\nfor i in range(20_000):\n    try:\n        open(f'OUT/{i}', 'w')\n    except PermissionError:\n        n += 1\nprint(n)";
    let ran = held.held(code).await;
    assert_eq!(ran.text(), "20000\n");
    let (kind, target, count) = ran.refusals()[0].clone();
    assert_eq!((kind, count), (Effect::Write, 20_000));
    assert!(target.ends_with("/outside/0"), "{target}");
    held.nothing_outside_changed();
}

#[tokio::test]
async fn a_held_loop_is_interrupted() {
    let mut held = Held::start().await;
    let code =
        "print('on', flush=True)\nwhile True:\n    try:\n        open('OUT/x', 'w')\n    except OSError:\n        pass";
    let id = held.execute(code, Effects::held([])).await;
    held.until_text("on").await;
    held.kernel().interrupt().unwrap();
    let ran = held.end_of(&id).await;
    assert!(ran.text().contains("KeyboardInterrupt"), "{}", ran.text());
    assert_eq!(held.free("40 + 2").await.is_ok(), "42");
}
