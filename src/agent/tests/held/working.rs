//! Code that works in a held run as before.

use crate::scene::Held;

/// Code that has no effect outside the kernel, its temporary folder and its shared memory.
const HARMLESS: &[&str] = &[
    "import own_module\nassert own_module.a == 7",
    "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n    f.write('x'); f.flush(); f.seek(0)\n    assert f.read() == 'x'",
    "import tempfile, os\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/a', 'w').write('x')\n    os.rename(d + '/a', d + '/b')\n    os.makedirs(d + '/c/d', exist_ok=True)\n    os.chmod(d + '/b', 0o600)\n    os.utime(d + '/b', (5, 5))\n    assert os.stat(d + '/b').st_mtime == 5\n    os.chdir(d)\n    open('relative', 'w')\n    assert sorted(os.listdir()) == ['b', 'c', 'relative']\n    os.chdir('/')",
    "import tempfile, os\nold = os.umask(0o077)\nf = tempfile.mkdtemp() + '/x'\nopen(f, 'w')\nassert os.stat(f).st_mode & 0o777 == 0o600\nos.umask(old)",
    "import shutil, tempfile, os\nd = tempfile.mkdtemp()\nopen(d + '/a', 'w').write('x')\nshutil.copy2(d + '/a', d + '/b')\nshutil.make_archive(d + '/c', 'zip', d)\nshutil.rmtree(d)",
    "import sqlite3, tempfile\nc = sqlite3.connect(tempfile.mkdtemp() + '/a.db')\nc.execute('create table t (a)')\nc.execute('insert into t values (1)')\nc.commit()\nassert c.execute('select a from t').fetchall() == [(1,)]\nc.close()",
    "open('/dev/null', 'w').write('x')",
    "import subprocess\nassert subprocess.run(['ls', '/'], capture_output=True, check=True).stdout\nassert subprocess.run(['true'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0",
    "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\np.terminate()\nassert p.wait() == -15",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n    assert sum(pool.map(lambda x: x * x, range(100))) == 328350",
    "import asyncio\nawait asyncio.sleep(0)\nassert await asyncio.to_thread(lambda: 3) == 3",
    "import signal, threading, os\nsignal.raise_signal(signal.SIGCHLD)\nsignal.pthread_kill(threading.get_ident(), signal.SIGCHLD)\nos.kill(os.getpid(), 0)\nos.kill(os.getpid(), signal.SIGCHLD)",
    "import socket\na, b = socket.socketpair()\na.sendall(b'x')\nassert b.recv(1) == b'x'",
    "import multiprocessing as mp, os\nfrom multiprocessing.reduction import send_handle, recv_handle\nr, w = os.pipe()\na, b = mp.Pipe()\nsend_handle(a, w, os.getpid())\nos.write(recv_handle(b), b'x')\nassert os.read(r, 1) == b'x'",
    "import socket, tempfile, os\np = tempfile.mkdtemp() + '/s'\nl = socket.socket(socket.AF_UNIX); l.bind(p); l.listen()\nassert l.getsockname() == p\nc = socket.socket(socket.AF_UNIX); c.connect(p)\nl.accept()[0].sendall(b'x')\nassert c.recv(1) == b'x'\nos.remove(p)",
    "import uuid, getpass, platform\nuuid.uuid4(), getpass.getuser(), platform.uname()",
    "import psutil\npsutil.virtual_memory(), psutil.Process().memory_info(), psutil.pids()",
    "from tqdm import tqdm\nfor i in tqdm(range(3)): pass",
    "import multiprocessing as mp\nlock = mp.Lock()\nwith lock: pass",
    "import multiprocessing as mp\nq = mp.get_context('fork').Queue()\nq.put(7)\nassert q.get() == 7",
    "from multiprocessing import shared_memory\ns = shared_memory.SharedMemory(create=True, size=64)\ns.buf[0] = 7\ns.close(); s.unlink()",
    "import multiprocessing as mp\nwith mp.get_context('fork').Pool(2) as pool:\n    assert pool.map(abs, [-1, -2]) == [1, 2]",
    "import multiprocessing as mp\nwith mp.Manager() as manager:\n    d = manager.dict()\n    d['a'] = 1\n    assert dict(d) == {'a': 1}",
    "import os\nif os.fork() == 0:\n    print('from the child', flush=True)\n    os._exit(0)\nassert os.wait()[1] == 0",
    "%timeit -n 1 -r 1 1 + 1",
    "%history -n 1",
    "%cd /",
    "import ipywidgets\nipywidgets.IntSlider()",
    "def f():\n    return [x for x in range(3)]\nf()",
];

#[tokio::test]
async fn harmless_code_runs_untouched() {
    let mut held = Held::start().await;
    std::fs::write(held.path("work/own_module.py"), "a = 7\n").unwrap();
    for code in HARMLESS {
        let ran = held.held(code).await;
        assert!(ran.refused().is_empty(), "{code}\n{:?}\n{}", ran.refusals(), ran.text());
        ran.is_ok();
        assert!(!ran.text().contains("unexpected error"), "{code}\n{}", ran.text());
    }
    held.nothing_outside_changed();
}

/// Needs a terminal or a list of processes of the kernel's own.
const IN_A_SANDBOX: &[&str] = &["!ls / | head -1"];

#[tokio::test]
async fn in_a_sandbox_more_works() {
    let mut held = Held::start_in_sandbox().await;
    std::fs::write(held.path("work/own_module.py"), "a = 7\n").unwrap();
    for code in HARMLESS.iter().chain(IN_A_SANDBOX) {
        let ran = held.held(code).await;
        assert!(ran.refused().is_empty(), "{code}\n{:?}\n{}", ran.refusals(), ran.text());
        ran.is_ok();
    }
    assert!(held.held("!ls -d /").await.text().contains('/'));
    held.nothing_outside_changed();
}

/// Libraries that not every test environment has.
const WITH_LIBRARIES: &[(&str, &str)] = &[
    ("pandas", "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ndf.groupby('a').sum()\ndf"),
    ("matplotlib", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"),
    (
        "sklearn",
        "from sklearn.ensemble import RandomForestClassifier\nRandomForestClassifier(n_estimators=4, n_jobs=-1).fit([[0], [1]], [0, 1])",
    ),
    ("duckdb", "import duckdb\nduckdb.sql('select 1').fetchall()"),
];

#[tokio::test]
async fn libraries_work_in_held_runs() {
    let mut held = Held::start_in_sandbox().await;
    for (library, code) in WITH_LIBRARIES {
        let has = held.free(&format!("import importlib.util as u; print(u.find_spec('{library}') is not None)")).await;
        if has.is_ok().contains("True") {
            let ran = held.held(code).await;
            assert!(ran.refused().is_empty(), "{library} {:?} {}", ran.refusals(), ran.text());
        }
    }
}

#[tokio::test]
async fn a_pool_of_an_earlier_run_is_made_anew() {
    let mut held = Held::start().await;
    let code = "from joblib import Parallel, delayed\nprint(Parallel(n_jobs=2)(delayed(pow)(3, n) for n in range(5)))";
    for _ in 0..4 {
        let ran = held.held(code).await;
        assert_eq!(ran.is_ok(), "[1, 3, 9, 27, 81]\n");
    }
}

#[tokio::test]
async fn code_writes_in_a_working_folder_of_its_own_and_nowhere_else() {
    let mut held = Held::start_with(|options| options.owns_working_dir = true).await;
    let code = "import os\nf = open('kept.txt', 'a+')\nf.write('more')\nf.flush()\nos.mkdir('d')\nos.rename('kept.txt', 'd/moved')\n\
                print(open('d/moved').read())";
    assert_eq!(held.held(code).await.is_ok(), "keptmore\n");
    // The file is open still.
    assert_eq!(
        held.held("f.write('!')\nf.close()\nos.remove('d/moved')\nos.rmdir('d')\nprint(os.listdir())").await.is_ok(),
        "[]\n"
    );
    for code in ["open('OUT/kept.txt', 'w')", "open('../outside/new.txt', 'w')", "os.symlink('OUT', 'out')"] {
        assert!(!held.held(code).await.refused().is_empty(), "{code}");
    }
    held.nothing_outside_changed();
}
