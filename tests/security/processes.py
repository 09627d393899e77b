"""Ways to other processes, and around the system. Runs within attacks.py."""

# ruff: noqa: F821 - attacks.py has the names

import ctypes
import glob
import os
import pathlib
import platform
import signal
import socket
import subprocess


@way
def by_signal():
    os.kill(UP, signal.SIGCONT)
    return "signalled the server"


@way
def by_signal_to_the_parent():
    if os.getppid() == 1:
        raise PermissionError("the parent is inside")
    os.kill(os.getppid(), signal.SIGCONT)
    return "signalled the parent"


@way
def by_pidfd_signal():
    signal.pidfd_send_signal(os.pidfd_open(UP), signal.SIGCONT)
    return "signalled the server"


@way
def by_signal_through_proc():
    folder = os.open(f"/proc/{UP}", os.O_RDONLY | os.O_DIRECTORY)
    try:
        signal.pidfd_send_signal(folder, signal.SIGCONT)
    finally:
        os.close(folder)
    return "signalled the server"


@way
def by_signal_to_a_thread():
    checked(LIBC.tgkill(UP, UP, signal.SIGCONT))
    return "signalled a thread of the server"


@way
def by_the_list_of_processes():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            arguments = pathlib.Path(path).read_bytes().split(b"\0")
            if arguments[:2] == [FACTS["binary"].encode(), b"up"]:
                return f"sees the server at {path}"
    raise LookupError("no server among the processes")


@way
def by_limits_of_the_server():
    import resource

    return f"limits of the server: {resource.prlimit(UP, resource.RLIMIT_CORE)}"


@way
def by_priority_of_the_server():
    os.setpriority(os.PRIO_PROCESS, UP, os.getpriority(os.PRIO_PROCESS, UP))
    return "may slow the server down"


@way
def by_control_groups():
    for folder in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True):
        with contextlib.suppress(OSError), open(folder, "a"):
            return f"may move processes by {folder}"
    raise PermissionError("no control group may be written")


@way
def by_writing_the_memory_of_the_server():
    with open(f"/proc/{UP}/mem", "r+b"):
        return "may write it"


@way
def by_capabilities():
    """Capabilities: those that the sandbox leaves have no effect outside its namespace."""
    harmless = sum(1 << bit for bit in (0, 1, 3, 4, 6, 7, 10))
    own = "/proc/self/status"
    texts = [pathlib.Path(own).read_text(), subprocess.run(["cat", own], capture_output=True, text=True).stdout]
    for line in "".join(texts).splitlines():
        if line.startswith("Cap") and int(line.split()[1], 16) & ~harmless and "Bnd" not in line:
            return f"has {line}"
    raise PermissionError("none")


@way
def by_a_raw_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    return "may listen to the network"


@way
def by_loading_a_module():
    LIBC.syscall({"x86_64": 175, "aarch64": 105}[platform.machine()], b"", 0, b"")
    if ctypes.get_errno() in (1, 38):
        raise PermissionError("not permitted")
    return "may load modules"


@way
def by_a_device_of_its_own():
    disk = next(path for path in glob.glob("/sys/class/block/*/dev"))
    major, minor = map(int, pathlib.Path(disk).read_text().split(":"))
    pathlib.Path("disk").unlink(missing_ok=True)
    os.mknod("disk", 0o060600, os.makedev(major, minor))
    with open("disk", "rb") as device:
        return f"read {len(device.read(512))} bytes"


@way
def by_memory_of_the_first_process():
    """Environment of the process that started the kernel."""
    with open(f"/proc/{os.getppid()}/environ", "rb") as environment:
        return f"read {len(environment.read())} bytes"


@way
def by_pidfd_getfd():
    pidfd = os.pidfd_open(UP)
    descriptor = checked(LIBC.syscall(438, pidfd, 3, 0))
    return f"took the descriptor {descriptor}"
