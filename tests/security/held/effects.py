"""Effects outside a kernel, as texts of Python that stand alone: `compose.py` has each of them reached in many ways.

`{kept}`, `{other}`, `{new}`, `{folder}`, `{tree}`, `{empty}` become expressions of paths in the control folder; `{port}` and the
like become numbers; `{victim}` an expression that finds a process which a person's run started.
"""

FILES = {
    "open w": "open({new}, 'w').write('x')",
    "open w over a file": "open({kept}, 'w').close()",
    "open a": "open({kept}, 'a').write('x')",
    "open r+": "open({kept}, 'r+').write('x')",
    "open x": "open({new}, 'x').close()",
    "FileIO": "import io\nio.FileIO({kept}, 'w').close()",
    "os.open O_CREAT": "import os\nos.close(os.open({new}, os.O_CREAT | os.O_RDONLY, 0o600))",
    "os.open O_TRUNC": "import os\nos.close(os.open({kept}, os.O_RDONLY | os.O_TRUNC))",
    "os.open O_APPEND": "import os\nos.write(os.open({kept}, os.O_WRONLY | os.O_APPEND), b'x')",
    "pathlib": "import pathlib\npathlib.Path({new}).write_text('x')",
    "pathlib touch": "import pathlib\npathlib.Path({kept}).touch()",
    "truncate": "import os\nos.truncate({kept}, 0)",
    "mkdir": "import os\nos.mkdir({new})",
    "makedirs": "import os\nos.makedirs({new} + '/a/b')",
    "rename": "import os\nos.rename({kept}, {new})",
    "replace": "import os\nos.replace({kept}, {other})",
    "rename a folder": "import os\nos.rename({tree}, {new})",
    "symlink": "import os\nos.symlink({kept}, {new})",
    "link": "import os\nos.link({kept}, {new})",
    "link into TMPDIR": "import os, tempfile\nos.link({kept}, tempfile.mktemp())",
    "rename out of TMPDIR": "import os, tempfile\nnumber, path = tempfile.mkstemp()\nos.rename(path, {new})",
    "chmod": "import os\nos.chmod({kept}, 0o611)",
    "utime": "import os\nos.utime({kept}, (1, 1))",
    "chown": "import os\nos.chown({kept}, os.getuid(), os.getgid())",
    "setxattr": "import os\nos.setxattr({kept}, 'user.notarium', b'x')",
    "mkfifo": "import os\nos.mkfifo({new})",
    "mknod": "import os\nos.mknod({new})",
    "fchmod": "import os\nos.fchmod(os.open({kept}, os.O_RDONLY), 0o611)",
    "fchown": "import os\nos.fchown(os.open({kept}, os.O_RDONLY), os.getuid(), os.getgid())",
    "futimens": "import os\nos.utime(os.open({kept}, os.O_RDONLY), (1, 1))",
    "by a folder's descriptor": "import os\nat = os.open({folder}, os.O_RDONLY)\nos.close(os.open('new-here', os.O_CREAT | os.O_WRONLY, dir_fd=at))",
    "mkdir by a folder's descriptor": "import os\nos.mkdir('new-there', dir_fd=os.open({folder}, os.O_RDONLY))",
    "after chdir": "import os\nback = os.getcwd()\nos.chdir({folder})\ntry:\n    open('new-after', 'w').close()\nfinally:\n    os.chdir(back)",
    "/proc/self/fd": "import os\nopen('/proc/self/fd/%d' % os.open({kept}, os.O_RDONLY), 'w').close()",
    "/dev/fd": "import os\nopen('/dev/fd/%d' % os.open({kept}, os.O_RDONLY), 'a').write('x')",
    "O_PATH": "import os\nopen('/proc/self/fd/%d' % os.open({kept}, os.O_PATH), 'w').close()",
    "mmap": "import mmap\nwith open({kept}, 'r+b') as file:\n    mmap.mmap(file.fileno(), 0)[:1] = b'x'",
    "in the working folder": "open('new-in-the-working-folder', 'w').close()",
}

REMOVING = {
    "remove": "import os\nos.remove({kept})",
    "unlink": "import pathlib\npathlib.Path({other}).unlink()",
    "rmdir": "import os\nos.rmdir({empty})",
    "rmtree": "import shutil\nshutil.rmtree({tree})",
    "unlink by a folder's descriptor": "import os\nos.unlink('kept.txt', dir_fd=os.open({folder}, os.O_RDONLY))",
}

LIBRARIES = {
    "sqlite3": "import sqlite3\nsqlite3.connect({new}).execute('create table t (a)')",
    "sqlite3 attach": "import sqlite3\nbase = sqlite3.connect(':memory:')\nbase.execute('attach ? as b', [{new}])\nbase.execute('create table b.t (a)')",
    "zipfile": "import zipfile\nzipfile.ZipFile({new}, 'w').close()",
    "tarfile": "import tarfile\ntarfile.open({new}, 'w').close()",
    "gzip": "import gzip\ngzip.open({new}, 'wb').close()",
    "bz2": "import bz2\nbz2.open({new}, 'wb').close()",
    "lzma": "import lzma\nlzma.open({new}, 'wb').close()",
    "dbm": "import dbm.dumb\nbase = dbm.dumb.open({new}, 'n')\nbase.close()",
    "wave": "import wave\nfile = wave.open({new}, 'wb')\nfile.setparams((1, 1, 8000, 0, 'NONE', ''))\nfile.close()",
    "copyfile": "import shutil\nshutil.copyfile({kept}, {new})",
    "copytree": "import shutil\nshutil.copytree({tree}, {new})",
    "move": "import shutil\nshutil.move({kept}, {new})",
    "FileHandler": "import logging\nlogging.FileHandler({new}).close()",
    "NamedTemporaryFile elsewhere": "import tempfile\ntempfile.NamedTemporaryFile(dir={folder}).close()",
    "py_compile": "import py_compile\npy_compile.compile({code}, cfile={new}, doraise=True)",
    "cProfile": "import cProfile\ncProfile.Profile().dump_stats({new})",
    "fileinput": "import fileinput\nwith fileinput.input({kept}, inplace=True) as lines:\n    for line in lines:\n        pass",
    "xml": "import xml.etree.ElementTree as tree\ntree.ElementTree(tree.Element('a')).write({new})",
    "configuration": "import configparser\nwith open({new}, 'w') as file:\n    configparser.ConfigParser().write(file)",
    "numpy.save": "import numpy\nnumpy.save({new}, numpy.zeros(2))",
    "numpy.tofile": "import numpy\nnumpy.zeros(2).tofile({kept})",
    "numpy.memmap": "import numpy\nnumpy.memmap({kept}, mode='r+')[0] = 7",
    "pandas": "import pandas\npandas.DataFrame({{'a': [1]}}).to_csv({new})",
    "fopen": "import ctypes\nctypes.CDLL(None).fopen({new}.encode(), b'w')",
    "system": "import os, shlex\nos.system('echo x > ' + shlex.quote({new}))",
}

_RAW = "import ctypes, platform\nC = ctypes.CDLL(None)\nL = ctypes.c_long\nN = lambda *n: L(n[platform.machine() == 'aarch64'])\n"
RAW = {
    "raw openat": _RAW + "C.syscall(N(257, 56), L(-100), {new}.encode(), L(0o101), L(0o600))",
    "raw openat O_TRUNC": _RAW + "C.syscall(N(257, 56), L(-100), {kept}.encode(), L(0o1000), L(0))",
    "raw mkdirat": _RAW + "C.syscall(N(258, 34), L(-100), {new}.encode(), L(0o700))",
    "raw unlinkat": _RAW + "C.syscall(N(263, 35), L(-100), {kept}.encode(), L(0))",
    "raw renameat2": _RAW + "C.syscall(N(316, 276), L(-100), {kept}.encode(), L(-100), {new}.encode(), L(0))",
    "raw linkat": _RAW + "C.syscall(N(265, 37), L(-100), {kept}.encode(), L(-100), {new}.encode(), L(0))",
    "raw symlinkat": _RAW + "C.syscall(N(266, 36), b'/etc', L(-100), {new}.encode())",
    "raw mknodat": _RAW + "C.syscall(N(259, 33), L(-100), {new}.encode(), L(0o100600), L(0))",
    "raw fchmodat": _RAW + "C.syscall(N(268, 53), L(-100), {kept}.encode(), L(0o611))",
    "raw truncate": _RAW + "C.syscall(N(76, 45), {kept}.encode(), L(1))",
    "raw utimensat": _RAW + "C.syscall(N(280, 88), L(-100), {kept}.encode(), L(0), L(0))",
    "raw setxattr": _RAW + "C.syscall(N(188, 5), {kept}.encode(), b'user.raw', b'x', L(1), L(0))",
    "libc creat": "import ctypes\nctypes.CDLL(None).creat({new}.encode(), 0o600)",
    "libc unlink": "import ctypes\nctypes.CDLL(None).unlink({kept}.encode())",
    "libc rename": "import ctypes\nctypes.CDLL(None).rename({kept}.encode(), {new}.encode())",
}

NETWORK = {
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 5).close()",
    "connect_ex": "import socket\nsocket.socket().connect_ex(('127.0.0.1', {port}))",
    "urllib": "import socket, urllib.request\nsocket.setdefaulttimeout(0.2)\nurllib.request.urlopen('http://127.0.0.1:{port}/x')",
    "http.client": "import http.client\nhttp.client.HTTPConnection('127.0.0.1', {port}, timeout=5).connect()",
    "connect to a path": "import socket\nsocket.socket(socket.AF_UNIX).connect({stream})",
    "sendto": "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {datagrams}))",
    "connect and send": "import socket\nudp = socket.socket(type=socket.SOCK_DGRAM)\nudp.connect(('127.0.0.1', {datagrams}))\nudp.send(b'x')",
    "sendmsg": "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', {datagrams}))",
    "sendto a path": "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', {datagram_path})",
    "sendmsg to a path": "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, {datagram_path})",
    "bind a path": "import socket\nsocket.socket(socket.AF_UNIX).bind({new})",
    "IPv6": "import socket\nsocket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', {port}))",
}
# A listener is seen only while its process lives.
LISTENING = {"listen": "import socket, sys\nsys.listener = socket.create_server(('127.0.0.1', {free}))"}

SIGNALS = {
    "kill": "import os\nos.kill({victim}, 9)",
    "terminate": "import os, signal\nos.kill({victim}, signal.SIGTERM)",
    "stop": "import os, signal\nos.kill({victim}, signal.SIGSTOP)",
    "killpg": "import os\nos.killpg({victim}, 9)",
    "pidfd": "import os, signal\nsignal.pidfd_send_signal(os.pidfd_open({victim}), 9)",
    "prlimit": "import resource\nresource.prlimit({victim}, resource.RLIMIT_NOFILE, (9, 9))",
    "setpriority": "import os\nos.setpriority(os.PRIO_PROCESS, {victim}, 19)",
    "raw tgkill": _RAW + "V = {victim}\nC.syscall(N(234, 131), L(V), L(V), L(9))",
}

# Effects that a thread which a person's run used for writing may have.
OF_WRITERS = {**FILES, **LIBRARIES, **RAW}
EFFECTS = {**FILES, **REMOVING, **LIBRARIES, **RAW, **NETWORK, **LISTENING, **SIGNALS}
# Effects of packages that a bare interpreter does not have.
OF_PACKAGES = {"numpy.save", "numpy.tofile", "numpy.memmap", "pandas"}
