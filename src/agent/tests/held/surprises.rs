//! Traps that an assistant's run laid in memory, in a person's run: effects that the person's text does not lead to.

use notarium_core::{Effect, Effects, KernelSurprises};

use crate::scene::Held;

/// Effects of a text that calls no library.
fn nothing() -> Effects {
    Effects::expected([])
}

/// Traps, each with a person's text that springs it.
const TRAPS: &[(&str, &str)] = &[
    (
        "import json, os\ndumps = json.dumps\ndef trap(*a, **k):\n    TRY\n    return dumps(*a, **k)\njson.dumps = trap",
        "print(json.dumps({}))",
    ),
    (
        "import os\nclass Table:\n    def _repr_html_(self):\n        TRY\n        return '<b>x</b>'\ntable = Table()",
        "table",
    ),
    ("import os\nclass Trap:\n    def __del__(self):\n        TRY\ntrap = Trap()", "trap = None; print('{}')"),
    ("import os\ndef trap(*a):\n    TRY\nget_ipython().events.register('pre_run_cell', trap)", "print('{}')"),
];

/// A kernel with a trap that removes a file outside.
async fn with_trap(laid: &str) -> Held {
    let mut held = Held::start().await;
    let act = "try: os.remove('OUT/kept.txt')\n    except OSError: pass";
    let deeper = "try: os.remove('OUT/kept.txt')\n        except OSError: pass";
    let source = if laid.contains("        TRY") { laid.replace("TRY", deeper) } else { laid.replace("TRY", act) };
    // The kernel itself may spring it in this run.
    held.held(&source).await;
    held
}

#[tokio::test]
async fn a_trap_does_not_remove_in_a_persons_name() {
    for (laid, text) in TRAPS {
        let mut held = with_trap(laid).await;
        let ran = held.run(text, nothing()).await;
        let [(Effect::Remove, target, _)] = &ran.refusals()[..] else { panic!("{text}: {:?}", ran.refusals()) };
        assert!(target.ends_with("/outside/kept.txt"), "{target}");
        held.nothing_outside_changed();
    }
}

#[tokio::test]
async fn allow_runs_it_again_with_all_effects() {
    let (laid, text) = TRAPS[0];
    let mut held = with_trap(laid).await;
    assert_eq!(held.run(text, nothing()).await.kinds(), [Effect::Remove]);
    assert_eq!(held.free(text).await.is_ok(), "{}\n");
    assert!(!held.path("outside/kept.txt").exists());
}

#[tokio::test]
async fn what_the_text_leads_to_happens() {
    let mut held = Held::start().await;
    held.mix().await;
    let text = "import os\nopen('OUT/new', 'w').write('x')\nos.remove('OUT/new')";
    held.run(text, Effects::expected([Effect::Create, Effect::Write, Effect::Remove])).await.is_ok();
    held.run("import tempfile\nwith tempfile.NamedTemporaryFile() as f: f.write(b'x')", nothing()).await.is_ok();
    let ran = held.run("import socket\nsocket.socket()", nothing()).await;
    assert_eq!(ran.kinds(), [Effect::Network]);
    held.nothing_outside_changed();
    // A person's own run may use files that the kernel holds open.
    held.free("f = open('OUT/log', 'w')").await.is_ok();
    held.run("f.write('x'); f.flush()", nothing()).await.is_ok();
}

#[tokio::test]
async fn threads_of_a_persons_run_have_its_kinds_and_never_remove() {
    let mut held = Held::start().await;
    held.mix().await;
    let text = "import os, threading\ndef work():\n    open('OUT/log', 'w').close()\n    os.remove('OUT/log')\nt = threading.Thread(target=work); t.start(); t.join()";
    let ran = held.run(text, Effects::expected([Effect::Create, Effect::Write, Effect::Remove])).await;
    assert_eq!(ran.kinds(), [Effect::Remove], "{}", ran.text());
    assert!(held.path("outside/log").exists());
}

#[tokio::test]
async fn processes_of_a_persons_run_have_its_kinds_while_it_lasts() {
    let mut held = Held::start().await;
    held.mix().await;
    let removing = Effects::expected([Effect::Create, Effect::Write, Effect::Remove]);
    held.run("!echo x > OUT/a && rm OUT/a && echo gone", removing.clone()).await.is_ok();
    let text = "import subprocess, sys\nsubprocess.run(['sh', '-c', 'echo x > OUT/b; rm OUT/b'], check=True)";
    held.run(text, removing.clone()).await.is_ok();
    let forks = "import os\nif os.fork() == 0:\n    open('OUT/c', 'w').close()\n    os.remove('OUT/c')\n    os._exit(0)\nassert os.wait()[1] == 0";
    held.run(forks, removing.clone()).await.is_ok();
    // A thread could have been handed the work by held code.
    let by_thread = "import threading\nends = []\ndef work(): ends.append(subprocess.run(['rm', 'OUT/kept.txt'], stderr=subprocess.DEVNULL).returncode)\nt = threading.Thread(target=work); t.start(); t.join(); assert ends == [1]";
    let ran = held.run(by_thread, removing.clone()).await;
    assert_eq!(ran.kinds(), [Effect::Remove], "{}", ran.text());
    // Afterwards a process goes on without these kinds.
    let lasting = "p = subprocess.Popen(['sh', '-c', 'while read name; do rm OUT/$name 2> /dev/null; echo $?; done'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\ndef say(name):\n    p.stdin.write(name + '\\n'); p.stdin.flush()\n    return p.stdout.readline().strip()";
    let ran = held.run(&format!("{lasting}\nopen('OUT/d', 'w').close(); print(say('d'))"), removing.clone()).await;
    assert_eq!(ran.text(), "0\n");
    assert_eq!(held.run("print(say('kept.txt'))", removing).await.text(), "1\n");
    held.run("p.stdin.close(); p.wait()", nothing()).await.is_ok();
    held.nothing_outside_changed();
}

#[tokio::test]
async fn a_run_ends_its_own_processes_and_no_others() {
    let mut held = Held::start().await;
    held.free("import subprocess\nold = subprocess.Popen(['sleep', '1000'])").await.is_ok();
    held.mix().await;
    held.run("new = subprocess.Popen(['sleep', '1000']); new.terminate(); assert new.wait() == -15", nothing())
        .await
        .is_ok();
    let ran = held.run("try: old.terminate()\nexcept PermissionError: print('refused')", nothing()).await;
    assert_eq!((ran.text().as_str(), ran.kinds()), ("refused\n", vec![Effect::Signal]));
    held.free("old.terminate(); assert old.wait() == -15").await.is_ok();
}

#[tokio::test]
async fn a_clean_kernel_refuses_nothing() {
    let mut held = Held::start().await;
    held.run("import os\nopen('OUT/a', 'w').close()\nos.remove('OUT/a')", nothing()).await.is_ok();
}

#[tokio::test]
async fn an_agent_that_does_not_ask_refuses_nothing_to_people() {
    let mut held = Held::start_with(|options| options.surprises = KernelSurprises::Off).await;
    held.mix().await;
    held.run("import os\nos.remove('OUT/kept.txt')", nothing()).await.is_ok();
    assert!(!held.path("outside/kept.txt").exists());
}
