"""Fixtures: a real PostgreSQL on a Unix socket, and the broker as the runtime agent starts it."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PACKAGE))
SQL = PACKAGE / "notarium_kernel" / "sql"
BROKER = ("wire.py", "loading.py", "catalog.py", "reading.py", "broker.py")
"""Files of the broker's code, in order: see `src/agent/connections.rs`."""

BOOT = """
import json, sys
given = json.loads(sys.stdin.buffer.readline())
space = {"__name__": "notarium_broker"}
for name, code in given["code"]:
    exec(compile(code, name, "exec"), space)
space["main"](given)
"""
PASSWORD = "s3cret/word"


def found(program: str) -> str | None:
    places = [Path(folder) / program for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return next((str(place) for place in places if place.exists()), shutil.which(program))


@pytest.fixture(scope="session")
def postgresql():
    """Runs PostgreSQL and yields the folder of its socket. PostgreSQL refuses root, so another account runs it."""
    initdb, server = found("initdb"), found("postgres")
    if not initdb or not server:
        print("PostgreSQL is not installed (Debian: apt install postgresql): its tests are skipped")
        pytest.skip("PostgreSQL is not installed: scripts/need-postgresql says how")
    account = {}
    if os.getuid() == 0:
        account = {"user": pwd.getpwnam("nobody").pw_uid, "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="notarium-pg-"))
    if account:
        os.chown(folder, account["user"], account["group"])
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    run = {"env": environment, "cwd": folder, **account}
    data = folder / "data"
    subprocess.run(
        [initdb, "-D", data, "-U", "owner", "-A", "trust", "--no-sync", "-E", "UTF8"],
        check=True,
        capture_output=True,
        **run,
    )
    (data / "pg_hba.conf").write_text("local all owner trust\nlocal all all scram-sha-256\n")
    settings = [f"unix_socket_directories={folder}", "listen_addresses=", "fsync=off", "max_connections=30"]
    options = [part for setting in settings for part in ("-c", setting)]
    process = subprocess.Popen([server, "-D", data, *options], stderr=subprocess.PIPE, text=True, **run)
    for line in process.stderr:
        if "ready to accept connections" in line:
            break
    else:
        pytest.fail("PostgreSQL did not start")
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
    try:
        with owner(folder) as connection:
            connection.execute(f"CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("GRANT ALL ON SCHEMA public TO ann")
        yield folder
    finally:
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
        process.send_signal(signal.SIGINT)
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def owner(folder: Path):
    import psycopg

    return psycopg.connect(f"host={folder} user=owner dbname=postgres", autocommit=True)


def url(folder: Path, password: str = PASSWORD) -> str:
    from urllib.parse import quote

    return f"postgresql://ann:{quote(password, safe='')}@/postgres?host={quote(str(folder), safe='')}"


class Agent:
    """The runtime agent's part for one kernel: a socket, and a broker for each connection."""

    def __init__(self, folder: Path, connections: dict[str, dict]):
        self.address = str(folder / "sql")
        self.connections = connections
        self.brokers: list[subprocess.Popen] = []
        # The right of the run that has the kernel: odd if it may write.
        self.right = 1
        self.answered = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.address)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                channel, _ = self.listener.accept()
            except OSError:
                return
            name = b""
            while not name.endswith(b"\n"):
                name += channel.recv(1)
            code = [[part, (SQL / part).read_text()] for part in BROKER]
            given = {"name": name.decode().strip(), **self.connections[name.decode().strip()], "code": code}
            broker = subprocess.Popen(
                [sys.executable, "-I", "-c", BOOT],
                stdin=subprocess.PIPE,
                stdout=channel,
                stderr=subprocess.PIPE,
                text=True,
            )
            channel.close()
            broker.stdin.write(json.dumps(given) + "\n")
            broker.stdin.flush()
            self.brokers.append(broker)
            threading.Thread(target=self.answer, args=(broker,), daemon=True).start()

    def answer(self, broker: subprocess.Popen) -> None:
        for line in broker.stderr:
            if line == "\0may write\n" and not broker.stdin.closed:
                broker.stdin.write(f"{self.right}\n")
                broker.stdin.flush()
                self.answered += 1

    def told(self) -> str:
        named = [
            {"name": name, "kind": "postgresql", "writes": each["writes"]} for name, each in self.connections.items()
        ]
        return json.dumps({"socket": self.address, "connections": named})

    def close(self) -> None:
        self.listener.close()
        for broker in self.brokers:
            broker.kill()
            broker.wait()


@pytest.fixture
def agent(postgresql, tmp_path, monkeypatch):
    """Agent with the connections `warehouse` (reads), `desk` (may write), `wrong` (a bad password) and `down`."""
    good = url(postgresql)
    made = Agent(
        tmp_path,
        {
            "warehouse": {"url": good, "writes": False},
            "desk": {"url": good, "writes": True},
            "wrong": {"url": url(postgresql, "guessed-word"), "writes": False},
            "down": {"url": f"postgresql://ann:{'hidden-word'}@/postgres?host={tmp_path}", "writes": False},
        },
    )
    monkeypatch.setenv("NOTARIUM_CONNECTIONS", made.told())
    yield made
    made.close()


class Shown(list):
    """Displays of a cell: the last `data` of each display."""

    def __call__(self, data, metadata, display_id, update):
        if update:
            at = next(at for at, each in enumerate(self) if each[2] == display_id)
            self[at] = (data, metadata, display_id)
        else:
            self.append((data, metadata, display_id))

    @property
    def text(self) -> str:
        return self[-1][0]["text/plain"]

    @property
    def resource(self) -> dict:
        return self[-1][0]["application/vnd.dataresource+json"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Function that runs a cell in a temporary working folder and returns its displays. `run.names`: the kernel's variables."""
    from notarium_kernel.sql import cell, connections

    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(connections, "open_connections", connections.OpenConnections())

    def run(source: str, **names) -> Shown:
        shown = Shown()
        run.names.update(names)
        cell.run(source, run.names, shown)
        return shown

    run.names = {}
    yield run
    for engine in connections.open_connections.opened.values():
        engine.close()
