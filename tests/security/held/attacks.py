"""Ways around the supervisor, tried by an assistant's code that has asked for nothing. `FACTS` is set by the test.

Each way returns what it got. A way that is closed raises, or finds nothing. Those that end a process do so in a child.
"""

# ruff: noqa: F821 - the test sets FACTS, person.py has the person's names

import contextlib
import ctypes
import json
import mmap
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import time

C = ctypes.CDLL(None, use_errno=True)
#: Keeps Python's lock while it calls.
LOCKED = ctypes.PyDLL(None, use_errno=True)
IS_X86 = platform.machine() == "x86_64"
FOLDER, KEPT = FACTS["folder"], FACTS["folder"] + "/kept.txt"
WAYS = {}
CLONE_PARENT = 0x8000


def way(function):
    WAYS[function.__name__] = function
    return function


def new(name):
    return f"{FOLDER}/new-{name}"


def call(x86, arm, *arguments, library=C):
    """A system call by its number; raises what it answers."""
    long = [
        argument if isinstance(argument, (bytes, ctypes.Array)) else ctypes.c_long(argument) for argument in arguments
    ]
    result = library.syscall(ctypes.c_long(x86 if IS_X86 else arm), *long)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def address(buffer):
    return ctypes.addressof(buffer)


def written(path):
    if not os.path.exists(path):
        raise LookupError("nothing was made")
    return f"made {path}"


def in_child(work):
    """Runs the work in a fork, and returns what it says."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            said = work() or ""
        except BaseException as error:
            said = f"refused: {type(error).__name__}: {error}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    said = b""
    while piece := os.read(read, 4096):
        said += piece
    os.close(read)
    os.waitpid(pid, 0)
    if not said or said.startswith(b"refused"):
        raise PermissionError(said.decode())
    return said.decode()


@way
def by_a_second_listener():
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, address(instruction)))

    def work():
        call(157, 167, 38, 1, 0, 0, 0)
        return f"listener {call(317, 277, 1, 8, address(program))}"

    return in_child(work)


@way
def by_the_listener_itself():
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if "seccomp" in os.readlink(f"/proc/self/fd/{name}"):
                return f"descriptor {name}"
    raise LookupError("no listener among the descriptors")


@way
def by_io_uring():
    return f"ring {call(425, 425, 8, ctypes.create_string_buffer(120))}"


@way
def by_pidfd_getfd():
    for pid in (victim.pid, os.getppid()):
        with contextlib.suppress(ProcessLookupError):
            return f"descriptor {call(438, 438, os.pidfd_open(pid), 0, 0)}"
    raise LookupError("no process")


@way
def by_ptrace():
    call(101, 117, 16, victim.pid, 0, 0)
    os.waitpid(victim.pid, 0)
    call(101, 117, 17, victim.pid, 0, 0)
    return "attached to the person's process"


def writable_of(pid):
    with open(f"/proc/{pid}/maps") as lines:
        return int(next(line for line in lines if " rw-p " in line).split("-")[0], 16)


@way
def by_process_vm_writev():
    text = ctypes.create_string_buffer(b"x")
    ours = ctypes.create_string_buffer(struct.pack("QQ", address(text), 1))
    theirs = ctypes.create_string_buffer(struct.pack("QQ", writable_of(victim.pid), 1))
    return f"wrote {call(311, 271, victim.pid, address(ours), 1, address(theirs), 1, 0)} byte"


@way
def by_process_vm_readv():
    text = ctypes.create_string_buffer(1)
    ours = ctypes.create_string_buffer(struct.pack("QQ", address(text), 1))
    theirs = ctypes.create_string_buffer(struct.pack("QQ", writable_of(victim.pid), 1))
    return f"read {call(310, 270, victim.pid, address(ours), 1, address(theirs), 1, 0)} byte"


@way
def by_own_memory():
    with open("/proc/self/mem", "r+b"):
        return "may write it"


@way
def by_memory_of_the_person_s_process():
    with open(f"/proc/{victim.pid}/mem", "r+b"):
        return "may write it"


@way
def by_int_0x80():
    """`open` of the 32-bit table, in which the number of the filter's own table is another call."""
    if not IS_X86:
        raise NotImplementedError("no such instruction")
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=7)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    path = new("int80").encode() + b"\0"
    # push rbx; mov eax, 5; mov ebx, path; mov ecx, O_CREAT | O_WRONLY; mov edx, 0600; int 0x80; pop rbx; ret
    code = b"\x53\xb8\x05\0\0\0\xbb" + struct.pack("I", place + 256) + b"\xb9\x41\0\0\0\xba\x80\x01\0\0\xcd\x80\x5b\xc3"
    page[: len(code)] = code
    page[256 : 256 + len(path)] = path
    result = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return f"descriptor {result}"


@way
def by_x32():
    if not IS_X86:
        raise NotImplementedError("no such numbers")
    return f"descriptor {call(0x40000002, 0, new('x32').encode(), os.O_CREAT | os.O_WRONLY, 0o600)}"


@way
def by_openat2():
    how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o600, 0))
    return f"descriptor {call(437, 437, -100, new('openat2').encode(), address(how), 24)}"


def raw_fork(x86, arm, *arguments):
    """Forks without Python's knowledge. No thread may ask for Python's lock meanwhile: the child would wait for that thread for ever."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    # Threads that wait already ask within the old interval, and get it now.
    time.sleep(0.05)
    try:
        return call(x86, arm, *arguments, library=LOCKED)
    finally:
        sys.setswitchinterval(interval)


def child_that_writes(result, name):
    """Goes on after a raw fork: the child writes, the parent waits for it."""
    if not result:
        LOCKED.open(new(name).encode(), os.O_CREAT | os.O_WRONLY, 0o600)
        LOCKED._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(result, 0)
    return written(new(name))


@way
def by_clone3():
    arguments = ctypes.create_string_buffer(struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0))
    return child_that_writes(raw_fork(435, 435, address(arguments), 88), "clone3")


@way
def by_a_raw_fork():
    return child_that_writes(raw_fork(56, 220, signal.SIGCHLD, 0, 0, 0, 0), "raw-fork")


@way
def by_a_child_of_the_parent():
    """The child's parent is the kernel's own parent, so that it descends from nothing that is held."""
    said = new("clone-parent")
    read, write = os.pipe()
    if not raw_fork(56, 220, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0):
        LOCKED.open(said.encode(), os.O_CREAT | os.O_WRONLY, 0o600)
        LOCKED._exit(0)
    os.close(write)
    # The pipe ends when the child does.
    select.select([read], [], [], 20)
    os.close(read)
    return written(said)


@way
def by_userfaultfd():
    return f"descriptor {call(323, 282, 1)}"


@way
def by_bpf():
    return f"map {call(321, 280, 0, ctypes.create_string_buffer(struct.pack('IIII', 2, 4, 4, 1) + bytes(112)), 128)}"


@way
def by_perf_events():
    attributes = ctypes.create_string_buffer(struct.pack("IIQ", 1, 128, 0) + bytes(112))
    return f"descriptor {call(298, 241, address(attributes), 0, -1, -1, 0)}"


@way
def by_a_handle_of_a_file():
    handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
    call(303, 264, -100, KEPT.encode(), address(handle), ctypes.addressof(mount), 0)
    return f"descriptor {call(304, 265, os.open(FOLDER, os.O_RDONLY), address(handle), os.O_WRONLY)}"


@way
def by_add_key():
    return f"key {call(248, 217, b'user', b'notarium', b'x', 1, -3)}"


@way
def by_a_message_queue():
    queue = call(240, 180, b"notarium-held", os.O_CREAT | os.O_RDWR, 0o600, 0)
    call(241, 181, b"notarium-held")
    return f"queue {queue}"


@way
def by_shared_memory_of_system_v():
    if os.readlink("/proc/self/ns/ipc") != FACTS["ipc"]:
        raise PermissionError("the kernel has such objects of its own")
    number = call(29, 194, 0x24242424, 4096, 0o1600)
    call(31, 195, number, 0, 0)
    return f"segment {number}"


@way
def by_netlink():
    return f"descriptor {socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()}"


@way
def by_zmq():
    """libzmq ends the whole process on an answer that it does not expect."""
    import zmq

    return f"port {zmq.Context.instance().socket(zmq.REP).bind_to_random_port('tcp://127.0.0.1')}"


@way
def by_a_raw_socket():
    return f"descriptor {socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno()}"


@way
def by_a_socket_like_that_of_docker():
    client = socket.socket(socket.AF_UNIX)
    client.connect(FOLDER + "/stream.socket")
    return "connected"


@way
def by_a_descriptor_from_outside():
    """A process outside would send a file open for writing over its socket: first one must reach it."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.sendmsg(
        [b"send it"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 1))], 0, FOLDER + "/datagrams.socket"
    )
    return "asked for it"


@way
def by_sendmmsg():
    place = ctypes.create_string_buffer(
        struct.pack("=HH4s8x", socket.AF_INET, socket.htons(FACTS["datagrams"]), b"\x7f\0\0\1")
    )
    text = ctypes.create_string_buffer(b"x")
    vector = ctypes.create_string_buffer(struct.pack("QQ", address(text), 1))
    header = struct.pack("QIxxxxQQQQIxxxxIxxxx", address(place), 16, address(vector), 1, 0, 0, 0, 0)
    client = socket.socket(type=socket.SOCK_DGRAM)
    return f"sent {call(307, 269, client.fileno(), ctypes.create_string_buffer(header), 1, 0)}"


@way
def by_setxattrat():
    value = ctypes.create_string_buffer(b"x")
    arguments = ctypes.create_string_buffer(struct.pack("QII", address(value), 1, 0))
    call(463, 463, -100, KEPT.encode(), 0, b"user.notarium", address(arguments), 16)
    return "set"


@way
def by_a_memory_that_nobody_reads():
    """A supervisor that cannot read the path must not let it pass."""

    def work():
        call(157, 167, 4, 0, 0, 0, 0)
        open(new("undumpable"), "w").close()
        return "written"

    return in_child(work)


@way
def by_a_program_without_a_file():
    path = new("memfd")
    program = os.memfd_create("program", 0)
    os.write(program, f"#!{sys.executable}\nopen({path!r}, 'w').close()".encode())
    subprocess.run([f"/proc/self/fd/{program}"], pass_fds=[program], capture_output=True)
    os.close(program)
    return written(path)


@way
def by_another_root():
    def work():
        call(272, 97, 0x10000000)
        os.chroot(FOLDER)
        open("/new-root", "w").close()
        return "written"

    return in_child(work)


def attempt(name):
    try:
        result = {"got": WAYS[name]() or "nothing said"}
    except BaseException as error:
        result = {"refused": f"{type(error).__name__}: {error}"[:200]}
    print("RESULT " + json.dumps(result))
