//! Freedom of people in a kernel in which an assistant runs code.

use std::time::{Duration, Instant};

use notarium_agent::kernel::{InputQuestion, KernelEvent};
use notarium_core::{Effect, Effects};
use notarium_wire::QuestionKind;
use tokio::sync::oneshot;

use crate::scene::{Held, PATIENCE};

const WRITER: &str = "import threading, os
def work():
    while not stop.is_set():
        step.wait(); step.clear()
        try:
            open('OUT/log.txt', 'a').write('x')
            wrote.append(True)
        except OSError:
            wrote.append(False)
        try:
            if remove:
                os.remove('OUT/kept.txt')
                removed.append(True)
        except OSError:
            removed.append(False)
        done.set()
step, done, stop = threading.Event(), threading.Event(), threading.Event()
wrote, removed, remove = [], [], False
thread = threading.Thread(target=work); thread.start()
";
const STEP: &str = "done.clear(); step.set(); done.wait(); print(wrote[-1], removed[-1:])";

#[tokio::test]
async fn a_clean_kernel_holds_nothing() {
    let mut held = Held::start().await;
    held.free("import os\nopen('OUT/a', 'w').write('x')\nos.rename('OUT/a', 'OUT/b')\nos.remove('OUT/b')")
        .await
        .is_ok();
    held.free("import subprocess\nsubprocess.run('echo x > OUT/c && rm OUT/c', shell=True, check=True)").await.is_ok();
    held.nothing_outside_changed();
}

#[tokio::test]
async fn a_persons_run_is_free_after_a_held_one() {
    let mut held = Held::start().await;
    held.mix().await;
    held.free("import os, socket\nopen('OUT/a', 'w').write('x')\nos.remove('OUT/a')\nsocket.socket().close()")
        .await
        .is_ok();
    held.free("import subprocess\nsubprocess.run('echo x > OUT/c', shell=True, check=True)").await.is_ok();
    assert_eq!(std::fs::read_to_string(held.path("outside/c")).unwrap(), "x\n");
    held.free("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    list(pool.map(lambda i: open(f'OUT/{i}', 'w'), range(20)))").await.is_ok();
    assert!(held.path("outside/19").exists());
    // Held again, and free again.
    assert_eq!(held.held("open('OUT/d', 'w')").await.kinds(), [Effect::Write]);
    held.free("import os\nos.remove('OUT/c')").await.is_ok();
}

#[tokio::test]
async fn runs_in_a_row_have_their_own_modes() {
    let mut held = Held::start().await;
    held.mix().await;
    let mut ids = Vec::new();
    for number in 0..10 {
        let effects = if number % 2 == 0 { Effects::Free } else { Effects::held([]) };
        ids.push((number, held.execute(&format!("open('OUT/{number}', 'w').close()"), effects).await));
    }
    for (number, id) in ids {
        let ran = held.end_of(&id).await;
        let is_free = number % 2 == 0;
        assert_eq!(ran.refused().is_empty(), is_free, "{number} {}", ran.text());
        assert_eq!(held.path(&format!("outside/{number}")).exists(), is_free, "{number} {:?}", ran.events);
    }
}

#[tokio::test]
async fn a_thread_from_before_goes_on_writing_and_cannot_remove() {
    let mut held = Held::start().await;
    held.free(WRITER).await.is_ok();
    held.free(STEP).await.is_ok();
    // The thread is at work in a held run and afterwards.
    assert!(held.held(STEP).await.text().starts_with("True"));
    assert!(held.free(STEP).await.text().starts_with("True"));
    held.free("remove = True").await.is_ok();
    assert_eq!(held.free(STEP).await.text(), "True [False]\n");
    assert_eq!(held.held(STEP).await.text(), "True [False]\n");
    assert!(held.path("outside/kept.txt").exists());
    held.free("stop.set(); step.set(); thread.join()").await.is_ok();
}

#[tokio::test]
async fn a_thread_that_a_person_starts_in_a_mixed_kernel_writes() {
    let mut held = Held::start().await;
    held.mix().await;
    held.free(WRITER).await.is_ok();
    assert!(held.held(STEP).await.text().starts_with("True"));
    assert!(held.free(STEP).await.text().starts_with("True"));
    held.free("stop.set(); step.set(); thread.join()").await.is_ok();
}

#[tokio::test]
async fn a_held_thread_stays_held() {
    let mut held = Held::start().await;
    held.held(WRITER).await.is_ok();
    assert!(held.free(STEP).await.text().starts_with("False"));
    assert!(held.free(STEP).await.text().starts_with("False"));
    held.nothing_outside_changed();
    held.free("stop.set(); step.set(); thread.join()").await.is_ok();
}

#[tokio::test]
async fn a_program_of_a_person_goes_on() {
    let mut held = Held::start().await;
    let code = "import subprocess\np = subprocess.Popen(['sh', '-c', 'while read line; do echo $line >> OUT/log && echo ok; done'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)";
    let say = "p.stdin.write('x\\n'); p.stdin.flush(); print(p.stdout.readline().strip())";
    held.free(code).await.is_ok();
    assert_eq!(held.free(say).await.text(), "ok\n");
    assert_eq!(held.held(say).await.text(), "ok\n");
    assert_eq!(held.free(say).await.text(), "ok\n");
    assert_eq!(std::fs::read_to_string(held.path("outside/log")).unwrap(), "x\nx\nx\n");
    held.free("p.stdin.close(); p.wait()").await.is_ok();
}

#[tokio::test]
async fn a_persons_thread_ends_the_processes_of_the_kernel() {
    let mut held = Held::start().await;
    let code = "import subprocess, threading\np = subprocess.Popen(['sleep', '1000'])\ndef end():\n    try:\n        p.terminate()\n    except OSError as error:\n        print(type(error).__name__, flush=True)\n    done.set()\ndone = threading.Event()";
    held.mix().await;
    held.free(code).await.is_ok();
    let ran = held.held("threading.Thread(target=end).start(); _ = done.wait()").await;
    assert_eq!((ran.text().as_str(), ran.kinds()), ("PermissionError\n", vec![Effect::Signal]));
    held.free("done.clear(); threading.Thread(target=end).start(); done.wait(); assert p.wait() == -15").await.is_ok();
}

#[tokio::test]
async fn processes_of_a_held_run_end_with_it() {
    for in_sandbox in [false, true] {
        let mut held = if in_sandbox { Held::start_in_sandbox().await } else { Held::start().await };
        let code = "import subprocess, os\np = subprocess.Popen(['sleep', '1000'])\nq = subprocess.Popen(['sleep', '1000'], start_new_session=True)\nr, w = os.pipe()\nif os.fork() == 0:\n    if os.fork() == 0:\n        os.setsid()\n        os.execvp('sleep', ['sleep', '1000'])\n    os._exit(0)\nos.close(w)\nos.wait()";
        held.held(code).await;
        // The pipe's other end is closed when the last of them has ended.
        let ran = held.held("print(p.wait(), q.wait(), os.read(r, 1))").await;
        assert_eq!(ran.text(), "-9 -9 b''\n", "{in_sandbox}");
    }
}

#[tokio::test]
async fn a_question_is_held_in_everybodys_name() {
    let mut held = Held::start().await;
    held.mix().await;
    held.free("class Trap:\n    def __dir__(self):\n        try:\n            open('OUT/trap', 'w')\n            fired.append(True)\n        except OSError:\n            fired.append(False)\n        return []\nfired, trap = [], Trap()").await.is_ok();
    let (answer, answered) = oneshot::channel();
    let (code, deadline) = ("trap.".to_owned(), Instant::now() + PATIENCE);
    let asker = "a".to_owned();
    held.kernel().ask(InputQuestion { asker, code, cursor: 5, kind: QuestionKind::Complete {}, deadline, answer });
    answered.await.unwrap();
    let text = held.free("print(fired)").await.is_ok();
    assert!(text.contains("False") && !text.contains("True"), "{text}");
    held.nothing_outside_changed();
    // A person's run that comes while a question is with the kernel waits for its end.
    let (answer, _answered) = oneshot::channel();
    let (code, deadline) = ("trap.".to_owned(), Instant::now() + PATIENCE);
    held.kernel().ask(InputQuestion {
        asker: "b".to_owned(),
        code,
        cursor: 5,
        kind: QuestionKind::Complete {},
        deadline,
        answer,
    });
    held.free("open('OUT/own', 'w')").await.is_ok();
    assert!(!held.path("outside/trap").exists());
}

#[tokio::test]
async fn what_is_open_already_is_named_before_a_held_run() {
    let mut held = Held::start().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    held.free("f = open('OUT/sales.db', 'w')").await.is_ok();
    let open = held.held("f.write('x')").await.open().expect("it is not begun");
    assert!(open.len() == 1 && open[0].ends_with("/outside/sales.db"), "{open:?}");
    held.run("print('allowed')", Effects::held([Effect::Open])).await.is_ok();
    held.free("f.close()\nimport mmap\ng = open('OUT/sales.db', 'w+b'); g.truncate(10); m = mmap.mmap(g.fileno(), 10); g.close()").await.is_ok();
    let open = held.held("m[0] = 1").await.open().expect("a mapping");
    assert!(open[0].ends_with("/outside/sales.db"), "{open:?}");
    held.free(&format!("m.close()\nimport socket\ns = socket.create_connection(('127.0.0.1', {port}))")).await.is_ok();
    let open = held.held("s.send(b'x')").await.open().expect("a connection");
    assert_eq!(open, [format!("127.0.0.1:{port}")]);
    let unix = std::os::unix::net::UnixListener::bind(held.path("outside/docker.sock")).unwrap();
    held.free("s.close()\nu = socket.socket(socket.AF_UNIX)\nu.connect('OUT/docker.sock')").await.is_ok();
    let open = held.held("u.send(b'x')").await.open().expect("a connection");
    assert!(open.len() == 1 && open[0].ends_with("/outside/docker.sock"), "{open:?}");
    held.free("u.close()").await.is_ok();
    held.held("pass").await.is_ok();
    drop((listener, unix));
}

#[tokio::test]
async fn the_kernel_ends_with_its_supervisor() {
    let mut held = Held::start().await;
    held.free("print('runs')").await.is_ok();
    held.kernel().stop_supervisor();
    let wait = tokio::time::timeout(Duration::from_secs(60), async {
        while let Some(event) = held.events.recv().await {
            if matches!(event, KernelEvent::Ended { .. }) {
                return true;
            }
        }
        false
    });
    assert!(wait.await.expect("the kernel lives on"));
}

/// A process of the person's that makes the file whose path it is sent.
const WORKER: &str = "import socket
server = socket.create_server(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
client, _ = server.accept()
while path := client.recv(99):
    open(path, 'w').close()
    client.sendall(b'k')
";

#[tokio::test]
async fn a_process_that_takes_orders_over_a_socket_is_asked_about() {
    let mut held = Held::start().await;
    std::fs::write(held.path("work/worker.py"), WORKER).unwrap();
    let begin = "import os, socket, subprocess, sys\n\
                 worker = subprocess.Popen([sys.executable, 'worker.py'], stdout=-1, text=True)\n\
                 s = socket.create_connection(('127.0.0.1', int(worker.stdout.readline())))\n\
                 s.sendall(b'OUT/a'); s.recv(1); os.remove('OUT/a')";
    held.free(begin).await.is_ok();
    let open = held.held("s.sendall(b'OUT/b'); s.recv(1)").await.open().expect("a connection");
    assert!(open.iter().all(|name| name.starts_with("127.0.0.1:")), "{open:?}");
    held.free("s.close(); worker.wait()").await.is_ok();
    held.held("1").await.is_ok();
    held.nothing_outside_changed();
}
