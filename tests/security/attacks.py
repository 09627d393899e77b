"""Runs in a kernel that knows everything about Notarium's files, processes, sockets and API, and tries to reach the keys.

Each way returns what it got hold of. A way that is closed raises, or finds nothing.
"""

import contextlib
import ctypes
import glob
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

FACTS = json.loads(pathlib.Path(FACTS_FILE).read_text())  # noqa: F821 - set by the test
CONFIG, DATA, SECRETS = pathlib.Path(FACTS["config"]), pathlib.Path(FACTS["data"]), pathlib.Path(FACTS["secrets"])
UP, URL, HOME = FACTS["up"], FACTS["url"], pathlib.Path(FACTS["home"])
KEYS = DATA / "up.json"
LIBC = ctypes.CDLL(None, use_errno=True)
TOKEN = re.compile(rb"\bnt_[a-z]+_[0-9A-Za-z]+_[0-9a-f]{64}")
# The ways to other processes are in a file of their own; it begins where this one has got to.
PROCESSES = pathlib.Path(FACTS["ways"]) / "processes.py"
WAYS = {}


def way(function):
    WAYS[function.__name__] = function
    return function


def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def key(text):
    """Returns a mark if the text holds a token that can confirm, or proves that a secret was read."""
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    for mark in ("nt_", "SECRET-OF-THE-PERSON", "SQLite format 3"):
        if mark in text:
            return f"found {mark}"
    raise LookupError("no key in it")


def opens(token):
    """Returns true if this server takes the token. Other servers of the machine are not under attack."""
    request = urllib.request.Request(f"{URL}/api/me", headers={"Authorization": f"Bearer {token.decode()}"})
    try:
        return urllib.request.urlopen(request, timeout=10).status == 200
    except urllib.error.HTTPError:
        return False


def shell(command, **more):
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, **more)
    return key(done.stdout)


@way
def read_the_configuration():
    return key(CONFIG.read_text())


@way
def read_the_keys_of_up():
    return key(KEYS.read_text())


@way
def read_the_database():
    return key((DATA / "notarium.db").read_bytes())


@way
def read_the_journal_of_the_database():
    names = [path for path in DATA.rglob("*") if path.is_file() and "python" not in path.parts]
    return key(b"".join(path.read_bytes() for path in names))


@way
def read_a_key_of_the_person():
    return key((SECRETS / "id_ed25519").read_text())


@way
def read_a_hidden_file():
    return key((HOME / ".netrc").read_text())


@way
def read_the_key_of_a_model():
    return key((HOME / "keys/model").read_text())


@way
def read_credentials_that_a_variable_of_the_agent_names():
    return key((HOME / "keys/service.json").read_text())


@way
def read_credentials_of_containers():
    return key((HOME / ".config/containers/auth.json").read_text())


@way
def by_symlink():
    link = pathlib.Path("link-to-config")
    link.unlink(missing_ok=True)
    link.symlink_to(CONFIG)
    return key(link.read_text())


@way
def by_hard_link():
    link = pathlib.Path("hard-link")
    link.unlink(missing_ok=True)
    os.link(KEYS, link)
    return key(link.read_text())


@way
def by_rename():
    # Outside nothing must have moved afterwards.
    os.rename(KEYS, KEYS.with_suffix(".moved"))
    os.rename(KEYS.with_suffix(".moved"), KEYS)
    return "moved the keys"


@way
def by_dots():
    return key(open(f"{FACTS['work']}/./../.config/notarium/config.json").read())


@way
def by_a_folder_that_was_opened():
    folder = os.open(DATA, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with open(os.open("up.json", os.O_RDONLY, dir_fd=folder)) as file:
            return key(file.read())
    finally:
        os.close(folder)


@way
def by_inherited_descriptors():
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError, LookupError):
            target = os.readlink(f"/proc/self/fd/{name}")
            if target.startswith((str(DATA), str(CONFIG.parent))):
                return f"found an open {target}"
    return key("")


@way
def by_bind_mount():
    pathlib.Path("mounted").mkdir(exist_ok=True)
    checked(LIBC.mount(str(DATA).encode(), b"mounted", None, 4096, None))
    text = pathlib.Path("mounted/up.json").read_text()
    LIBC.umount2(b"mounted", 2)
    return key(text)


@way
def by_unmounting_the_cover():
    for place in (DATA, CONFIG.parent):
        checked(LIBC.umount2(str(place).encode(), 2))
    return key(KEYS.read_text())


@way
def by_namespaces_of_its_own():
    return shell(f"unshare -Urm sh -c 'umount -l {DATA}; umount -l {CONFIG.parent}; cat {KEYS} {CONFIG}'")


@way
def by_chroot():
    pid = os.fork()
    if pid == 0:
        try:
            os.chroot("/proc/1/root")
            os._exit(0)
        except OSError:
            os._exit(1)
    if os.waitpid(pid, 0)[1] != 0:
        raise PermissionError("no other root")
    return "another root"


@way
def by_environment_of_the_server():
    return f"read {len(pathlib.Path(f'/proc/{UP}/environ').read_bytes())} bytes"


@way
def by_memory_of_the_server():
    maps = pathlib.Path(f"/proc/{UP}/maps").read_text().splitlines()
    with open(f"/proc/{UP}/mem", "rb") as memory:
        for line in maps:
            span, rights = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if rights.startswith("rw"):
                memory.seek(begin)
                return f"read {len(memory.read(min(4096, end - begin)))} bytes"


@way
def by_files_of_the_server():
    for name in os.listdir(f"/proc/{UP}/fd"):
        with contextlib.suppress(OSError, LookupError):
            return f"{os.readlink(f'/proc/{UP}/fd/{name}')} is open there"
    return key("")


@way
def by_root_of_the_server():
    return key(pathlib.Path(f"/proc/{UP}/root{KEYS}").read_text())


@way
def by_working_folder_of_the_server():
    return f"entered {os.listdir(f'/proc/{UP}/cwd')}"


@way
def by_threads_of_the_server():
    task = os.listdir(f"/proc/{UP}/task")[0]
    return key(pathlib.Path(f"/proc/{UP}/task/{task}/root{KEYS}").read_text())


@way
def by_arguments_of_processes():
    """Never open, sandbox or not: nothing that confirms stands in any command line."""
    texts = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            texts.append(pathlib.Path(path).read_bytes())
    # Words like "content_type" stand in command lines as well.
    found = next(filter(opens, TOKEN.findall(b" ".join(texts))), None)
    return f"found {found[:12]}" if found else key("")


@way
def by_ptrace():
    checked(LIBC.ptrace(16, UP, 0, 0))
    os.waitpid(UP, 0x40000000)
    LIBC.ptrace(17, UP, 0, 0)
    return "traced the server"


@way
def by_process_vm_readv():
    class Span(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    begin = int(FACTS["address"], 16)
    buffer = ctypes.create_string_buffer(16)
    local = Span(ctypes.cast(buffer, ctypes.c_void_p), 16)
    remote = Span(begin, 16)
    call = LIBC.process_vm_readv
    return f"read {checked(call(UP, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))} bytes"


exec(compile(PROCESSES.read_text(), PROCESSES, "exec"))


@way
def by_abstract_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + FACTS["abstract"])
    return "connected"


@way
def by_socket_with_a_path():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(FACTS["socket"])
    return "connected"


@way
def by_connection_files_of_other_kernels():
    own = pathlib.Path(sys.argv[sys.argv.index("-f") + 1]) if "-f" in sys.argv else None
    own = own or pathlib.Path(get_ipython().kernel.config["IPKernelApp"]["connection_file"])  # noqa: F821
    others = [path for path in own.parent.parent.glob("nk-*/kernel.json") if path.parent != own.parent]
    return f"found {json.loads(others[0].read_text())['key'][:1]}…" if others else key("")


@way
def by_profile_of_the_browser():
    return key((HOME / ".config/chromium/Default/Cookies").read_text())


@way
def by_history_of_the_shell():
    return key((HOME / ".bash_history").read_text())


@way
def by_subprocess():
    return shell(f"cat {KEYS} {CONFIG}")


@way
def by_multiprocessing():
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        with contextlib.suppress(OSError):
            os.write(write, KEYS.read_bytes())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    return key(os.read(read, 4096))


@way
def by_preloading_a_library():
    # Whatever runs it, the program stays inside.
    return shell(f"cat {KEYS}", env={"LD_PRELOAD": "libc.so.6", "PATH": os.environ["PATH"]})


@way
def by_a_fork_that_outlives_the_kernel():
    result = pathlib.Path(FACTS["work"]) / "of-the-fork"
    result.unlink(missing_ok=True)
    code = f"import time, shutil; time.sleep(0.5); shutil.copy({str(KEYS)!r}, {str(result)!r})"
    command = f'setsid -f {sys.executable} -c "{code}" >/dev/null 2>&1 </dev/null'
    subprocess.run(["/bin/sh", "-c", command], check=True)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not result.exists():
        time.sleep(0.1)
    return key(result.read_text())


@way
def by_starting_the_launcher_again():
    plan = {"plan": {"hidden": [], "shown": ["/"], "read_only": [], "network": "all", "namespaces": False}}
    found = subprocess.run([FACTS["binary"], "kernel-launcher"], input=json.dumps(plan).encode(), capture_output=True)
    plan["standing"] = json.loads(found.stdout)
    path = pathlib.Path("plan.json")
    path.write_text(json.dumps(plan))
    done = subprocess.run([FACTS["binary"], "kernel-launcher", str(path), "cat", str(KEYS)], capture_output=True)
    return key(done.stdout)


@way
def by_setuid_helpers():
    status = pathlib.Path("/proc/self/status").read_text()
    if "NoNewPrivs:\t1" in status:
        raise PermissionError("no new privileges")
    return "may gain privileges"


@way
def by_file_handle():
    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("handle", ctypes.c_ubyte * 128)]

    handle, mount = Handle(), ctypes.c_int()
    handle.bytes = 128
    checked(LIBC.name_to_handle_at(-100, str(HOME).encode(), ctypes.byref(handle), ctypes.byref(mount), 0))
    home = os.open(HOME, os.O_RDONLY)
    descriptor = checked(LIBC.open_by_handle_at(home, ctypes.byref(handle), os.O_RDONLY))
    return f"opened {descriptor} by its handle"


@way
def by_raw_disk():
    for path in glob.glob("/dev/*"):
        with contextlib.suppress(OSError):
            if os.stat(path).st_mode & 0o170000 == 0o060000:
                with open(path, "rb") as disk:
                    return f"read {len(disk.read(4096))} bytes of {path}"
    return key("")


@way
def by_settings_of_the_system():
    path = pathlib.Path("/proc/sys/kernel/core_pattern")
    path.write_text(path.read_text())
    return "may name the program that handles crashes"


@way
def by_startup_file_of_the_shell():
    with open(HOME / ".bashrc", "a") as file:
        file.write("# from the kernel\n")
    return "wrote what the person's next shell runs"


@way
def by_the_program_itself():
    binary = FACTS["binary"]
    os.rename(binary, binary + ".moved")
    os.rename(binary + ".moved", binary)
    return "may put another program in its place"


def moved(path):
    os.rename(path, f"{path}.moved")
    os.rename(f"{path}.moved", path)
    return "may put another in its place"


@way
def by_moving_the_folder_above_the_configuration():
    return moved(CONFIG.parent.parent)


@way
def by_moving_the_folder_above_the_data():
    return moved(DATA.parent)


@way
def by_moving_the_folder_of_the_program():
    return moved(pathlib.Path(FACTS["binary"]).parent)


@way
def by_moving_the_home_folder():
    return moved(HOME)


@way
def by_a_startup_file_that_was_missing():
    (HOME / ".zshenv").write_text("# from the kernel\n")
    os.unlink(HOME / ".zshenv")
    return "wrote what the person's next shell runs"


@way
def by_a_secret_place_that_was_missing():
    os.mkdir(HOME / ".aws")
    os.rmdir(HOME / ".aws")
    return "made a place in which the person's next key would lie"


@way
def by_command_line():
    done = subprocess.run([FACTS["binary"], "whoami"], capture_output=True, env={"HOME": str(HOME), "PATH": ""})
    if done.returncode != 0:
        raise PermissionError("nobody is signed in")
    return "signed in"


@way
def by_confirming_without_a_token():
    """Never open, sandbox or not."""
    request = urllib.request.Request(f"{URL}/api/confirmations", method="GET")
    return f"answered {urllib.request.urlopen(request, timeout=10).status}"


results = {}
for name, attempt in WAYS.items():
    try:
        results[name] = {"got": attempt() or "nothing said"}
    except BaseException as error:
        results[name] = {"refused": f"{type(error).__name__}: {error}"[:200]}
print("RESULTS " + json.dumps(results))
