"""Ways of processes and threads around the supervisor: signals, limits, numbers, floods. Runs after attacks.py, which has the names."""

# ruff: noqa: F821 - attacks.py has the names

import contextlib
import fcntl
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import threading
import time


def both(*pids):
    """The first of these processes that is there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return pid
    raise LookupError("no such process is seen")


@way
def by_a_signal_to_the_agent():
    os.kill(both(FACTS["agent"]), signal.SIGCONT)
    return "signalled"


@way
def by_a_signal_to_a_thread_of_the_agent():
    call(234, 131, both(FACTS["agent"]), FACTS["agent"], signal.SIGCONT)
    return "signalled"


@way
def by_a_signal_to_the_parent():
    os.kill(os.getppid(), signal.SIGCONT)
    return "signalled"


@way
def by_limits_of_the_parent():
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE, resource.prlimit(os.getppid(), resource.RLIMIT_CORE))
    return "set"


@way
def by_priority_of_the_parent():
    os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid()))
    return "set"


@way
def by_priority_of_a_group():
    os.setpriority(os.PRIO_PGRP, victim.pid, 3)
    return "set"


@way
def by_stopping_the_person_s_process():
    os.kill(victim.pid, signal.SIGSTOP)
    return "stopped"


@way
def by_a_queued_signal():
    information = ctypes.create_string_buffer(struct.pack("iii", signal.SIGTERM, 0, -1) + bytes(116))
    call(129, 138, victim.pid, signal.SIGTERM, address(information))
    return "queued"


@way
def by_the_signal_of_a_descriptor():
    """The system signals the owner of a descriptor when something can be read there."""
    read, write = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, victim.pid)
    fcntl.fcntl(read, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write, b"x")
    return "signalled"


@way
def by_exec_of_a_thread():
    """`execve` of another thread gives that thread the number of the first."""
    path = new("exec-of-a-thread")

    def work():
        code = f"open({path!r}, 'w').close()"
        thread = threading.Thread(target=os.execv, args=(sys.executable, [sys.executable, "-c", code]))
        thread.start()
        thread.join()

    with contextlib.suppress(PermissionError):
        in_child(work)
    return written(path)


@way
def by_a_process_without_its_main_thread():
    path = new("without-main")

    def work():
        def later():
            end = time.monotonic() + 2
            leader = pathlib.Path(f"/proc/self/task/{os.getpid()}/stat")
            while "Z" not in leader.read_text().rsplit(")", 1)[1][:3] and time.monotonic() < end:
                pass
            try:
                open(path, "w").close()
            finally:
                os._exit(0)

        threading.Thread(target=later).start()
        call(60, 93, 0)

    with contextlib.suppress(PermissionError):
        in_child(work)
    return written(path)


@way
def by_the_number_of_a_thread_that_ended():
    """A number that a person's thread had: the system gives the one after the last one that it gave."""
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(person_ended - 1))
    path, found = new("reused"), []

    def work():
        found.append(threading.get_native_id() == person_ended)
        open(path, "w").close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return written(path)


@way
def by_forks_at_the_same_time():
    path = new("forks")

    def work():
        for _ in range(5):
            with contextlib.suppress(OSError):
                subprocess.run(["sh", "-c", f": > {path}"], capture_output=True)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return written(path)


@way
def by_many_threads():
    path = new("threads")
    start = threading.Barrier(200)

    def work():
        start.wait(60)
        with contextlib.suppress(OSError):
            open(path, "w").close()

    threads = [threading.Thread(target=work) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return written(path)


@way
def by_ten_thousand_refusals():
    path, got = new("flood").encode(), 0
    for _ in range(10_000):
        got += (
            C.syscall(
                ctypes.c_long(257 if IS_X86 else 56),
                ctypes.c_long(-100),
                path,
                ctypes.c_long(0o101),
                ctypes.c_long(0o600),
            )
            >= 0
        )
    return f"{got} descriptors" if got else written(path)
