//! Ways round the supervisor. Each leaves the folder outside as it was.

use notarium_core::Effect;

use crate::scene::Held;

/// Calls that fail for everybody: numbers of x86-64.
#[cfg(target_arch = "x86_64")]
const CLOSED_CALLS: &[(&str, &[i64], i64)] = &[
    ("io_uring_setup", &[425, 8, 0], 1),
    ("ptrace", &[101, 0, 0, 0, 0], 1),
    ("pidfd_getfd", &[438, 0, 0, 0], 1),
    ("second listener", &[317, 1, 8, 0], 1),
    ("process_vm_writev", &[311, 1, 0, 0, 0, 0, 0], 1),
    ("bpf", &[321, 0, 0, 0], 1),
    ("openat2", &[437, -100, 0, 0, 0], 38),
    ("clone3", &[435, 0, 0], 38),
    ("x32 open", &[0x4000_0002, 0, 0o101, 0o600], 38),
];

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_round_the_filter_fail_in_everybodys_runs() {
    let mut held = Held::start().await;
    let code = |arguments: &[i64]| {
        format!(
            "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nprint(c.syscall(*map(ctypes.c_long, {arguments:?})), ctypes.get_errno())"
        )
    };
    for (name, arguments, error) in CLOSED_CALLS {
        let expected = format!("-1 {error}\n");
        assert_eq!(held.free(&code(arguments)).await.text(), expected, "{name}, in a clean kernel");
    }
    for (name, arguments, error) in CLOSED_CALLS {
        assert_eq!(held.held(&code(arguments)).await.text(), format!("-1 {error}\n"), "{name}");
    }
    held.nothing_outside_changed();
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_old_interface_is_closed() {
    let mut held = Held::start().await;
    // mov eax, 5; mov ebx, path; mov ecx, 0101; mov edx, 0600; int 0x80; ret: with the path below 4 GiB.
    let code = "import ctypes, mmap
MAP_32BIT = 0x40
m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_32BIT, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
a = ctypes.addressof(ctypes.c_char.from_buffer(m))
path = b'OUT/old\\0'
m[1024:1024 + len(path)] = path
n = lambda v: v.to_bytes(4, 'little')
code = b'\\x53\\xb8' + n(5) + b'\\xbb' + n(a + 1024) + b'\\xb9' + n(0o101) + b'\\xba' + n(0o600) + b'\\xcd\\x80\\x5b\\xc3'
m[0:len(code)] = code
print(ctypes.CFUNCTYPE(ctypes.c_int)(a)())";
    assert_eq!(held.held(code).await.text(), "-38\n");
    held.nothing_outside_changed();
}

/// Code that reaches for the file outside; its text may say anything.
const WAYS: &[&str] = &[
    "import threading\nt = threading.Thread(target=lambda: open('OUT/x', 'w')); t.start(); t.join()",
    "import os\nif os.fork() == 0:\n    try:\n        open('OUT/x', 'w')\n    finally:\n        os._exit(0)\nos.wait()",
    "import os\nif os.fork() == 0:\n    if os.fork() == 0:\n        os.setsid()\n        try:\n            open('OUT/x', 'w')\n        finally:\n            os._exit(0)\n    os._exit(0)\nos.wait()",
    "import ctypes\nctypes.CDLL(None).creat(b'OUT/x', 0o600)",
    "import ctypes\nc = ctypes.CDLL(None)\nc.syscall.argtypes = [ctypes.c_long] * 6\nif c.syscall(56, 17, 0, 0, 0, 0) == 0:\n    c.creat(b'OUT/x', 0o600)\n    c._exit(0)",
    "import os\nf = os.open('OUT/kept.txt', os.O_RDONLY)\nos.write(os.open(f'/proc/self/fd/{f}', os.O_WRONLY | os.O_TRUNC), b'x')",
    "f = open('OUT/kept.txt')\nopen(f'/dev/fd/{f.fileno()}', 'w').write('x')",
    "import os\nf = os.memfd_create('a', 0)\nos.write(f, b'#!/bin/sh\\necho x > OUT/x\\n')\nos.system(f'/proc/{os.getpid()}/fd/{f}')",
    "import tempfile, os\nd = tempfile.mkdtemp()\nos.symlink('OUT', d + '/l')",
    "import tempfile, os\nd = tempfile.mkdtemp()\nos.link('OUT/kept.txt', d + '/l')\nopen(d + '/l', 'w')",
    "import tempfile, os\nopen(tempfile.gettempdir() + '/../../../../../../../../OUT/x', 'w')",
    "import tempfile, os\nos.rename('OUT/kept.txt', tempfile.gettempdir() + '/x')",
    "import tempfile, os\nopen(tempfile.gettempdir() + '/x', 'w')\nos.rename(tempfile.gettempdir() + '/x', 'OUT/x')",
    "import os\nos.sendfile(os.open('OUT/x', os.O_WRONLY | os.O_CREAT), 0, 0, 1)",
    "import os\nfd = os.open('OUT', os.O_RDONLY | os.O_DIRECTORY)\nos.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=fd)",
    "import os\nos.open('OUT', os.O_TMPFILE | os.O_RDWR)",
    "import atexit, subprocess\nsubprocess.run(['python3', '-c', 'open(\"OUT/x\", \"w\")'])",
    "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'open(\"OUT/x\", \"w\")'])",
    "get_ipython().kernel.iopub_thread.schedule(lambda: open('OUT/x', 'w'))\nimport time; time.sleep(0.2)",
    "import asyncio\nasync def f(): open('OUT/x', 'w')\nt = asyncio.ensure_future(f())\nasyncio.get_event_loop().call_later(0, lambda: open('OUT/y', 'w'))",
    "pool.submit(open, 'OUT/x', 'w').exception()",
    "import signal\nsignal.signal(signal.SIGALRM, lambda *a: open('OUT/x', 'w'))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nimport time; time.sleep(0.1)",
    "import fcntl, os\nfcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())",
    "class A:\n    def __del__(self): open('OUT/x', 'w')\na = A(); del a",
];

#[tokio::test]
async fn no_way_of_a_held_run_leads_outside() {
    for in_sandbox in [false, true] {
        let mut held = if in_sandbox { Held::start_in_sandbox().await } else { Held::start().await };
        // A person's pool, which used nothing.
        held.free("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\npool.submit(int).result()").await.is_ok();
        for code in WAYS {
            held.held(code).await;
            held.held("pass").await;
            held.nothing_outside_changed();
        }
        assert_eq!(held.free("40 + 2").await.is_ok(), "42");
        held.nothing_outside_changed();
    }
}

#[tokio::test]
async fn a_second_name_of_a_file_outside_is_not_emptied() {
    let mut held = Held::start().await;
    let name = held.free("import tempfile; print(tempfile.gettempdir())").await.is_ok();
    let link = std::path::Path::new(name.trim()).join("second");
    std::fs::hard_link(held.path("outside/kept.txt"), &link).unwrap();
    let ran = held.held(&format!("open({:?}, 'w')", link.to_str().unwrap())).await;
    assert_eq!(ran.kinds(), [Effect::Write], "{}", ran.text());
    held.nothing_outside_changed();
}

#[tokio::test]
async fn a_socket_outside_is_not_reached_through_the_temporary_folder() {
    let mut held = Held::start().await;
    let listener = std::os::unix::net::UnixListener::bind(held.path("work/docker.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let folder = held.free("import tempfile; print(tempfile.gettempdir())").await.is_ok();
    let folder = std::path::Path::new(folder.trim());
    std::fs::hard_link(held.path("work/docker.sock"), folder.join("second")).unwrap();
    std::os::unix::fs::symlink(held.path("work/docker.sock"), folder.join("link")).unwrap();
    let upwards = format!("../../../../../../../../../..{}", held.path("work/docker.sock").display());
    for name in ["second", "link", &upwards] {
        let code = format!(
            "import socket, tempfile\nsocket.socket(socket.AF_UNIX).connect(tempfile.gettempdir() + '/{name}')"
        );
        let ran = held.held(&code).await;
        assert!(ran.text().contains("Error"), "{name} {}", ran.text());
        assert!(listener.accept().is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_process_without_room_for_descriptors_gets_its_error() {
    let mut held = Held::start().await;
    let code = "import tempfile, os, resource\nd = tempfile.mkdtemp()\nsoft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\nopen_files = []\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))\ntry:\n    for i in range(200):\n        open_files.append(os.open(d + '/a', os.O_CREAT | os.O_WRONLY))\nexcept OSError as error:\n    print(error.errno)\nfor f in open_files: os.close(f)\nresource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))";
    assert_eq!(held.held(code).await.text(), "24\n");
    assert_eq!(held.free("40 + 2").await.is_ok(), "42");
}

#[tokio::test]
async fn sockets_of_the_system_do_not_end_the_kernel() {
    let mut held = Held::start().await;
    let code = "import zmq\nc = zmq.Context()\ns = c.socket(zmq.REP)\ntry:\n    s.bind('tcp://127.0.0.1:*')\nexcept zmq.ZMQError as error:\n    print('refused')\ns.close(0); c.term()";
    let ran = held.held(code).await;
    assert!(ran.text().contains("refused") && ran.kinds() == [Effect::Network], "{} {:?}", ran.text(), ran.refusals());
    assert_eq!(held.free("40 + 2").await.is_ok(), "42");
}

#[tokio::test]
async fn threads_of_both_at_once_keep_their_kinds() {
    let mut held = Held::start().await;
    // A held thread and a person's thread start threads as fast as they can.
    let code = "import threading, sys\nsys.setswitchinterval(1e-5)\ndef race(name, out, count):\n    def one(i):\n        try:\n            open(f'OUT/{name}{i}', 'w').close()\n            out.append(True)\n        except OSError:\n            out.append(False)\n    def all():\n        for i in range(count):\n            t = threading.Thread(target=one, args=(i,)); t.start(); t.join()\n    t = threading.Thread(target=all); t.start()\n    return t\nmine, theirs = [], []";
    held.free(code).await.is_ok();
    held.held("a = race('held', theirs, 100)").await;
    held.free("b = race('own', mine, 100); a.join(); b.join(); print(sum(theirs), sum(mine))").await;
    let counts = held.free("print(sum(theirs), sum(mine))").await.is_ok();
    let (theirs, mine) = counts.trim().split_once(' ').unwrap();
    assert_eq!(theirs, "0");
    assert!(mine.parse::<usize>().unwrap() >= 90, "{counts}");
}
