"""Fixtures: a real server with a real kernel and a scripted model, shared by all tests; and clients of a fake server."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import notarium
import pytest
from notarium.connection import Connection
from notarium.replica import Replica

from .fake import NOTEBOOK, FakeServer, Start
from .model import ScriptedModel

# A shell script starts background programs with SIGINT ignored, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("NOTARIUM_BINARY", ROOT / "target" / "debug" / "notarium")).resolve()


@dataclass
class Server:
    """Running server: its address, token, data folder and model."""

    url: str
    token: str
    folder: Path
    model: ScriptedModel
    # Listening socket for a proxy. The server accepts its address as a host name.
    door: socket.socket

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that lead programs to this server."""
        return {**os.environ, "NOTARIUM_SERVER": self.url, "NOTARIUM_TOKEN": self.token}


def _wait_for(process: "subprocess.Popen[str]", pattern: str) -> str:
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"the server ended: {said}")


def launch(folder: Path, model: ScriptedModel, allowed: str) -> "tuple[subprocess.Popen[str], str, str]":
    """Starts a server on a data folder, which a killed one may have used. Returns process, address and token."""
    providers = folder / "providers.json"
    providers.write_text(json.dumps([{"family": "compatible", "base_url": model.url, "model": "scripted"}]))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    command = [BINARY, "up", "--data", folder / "data", "--listen", "127.0.0.1:0", "--allow-host", allowed]
    command += ["--providers", providers, "--kernel-path", sys.prefix, "--working-dir", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        url = _wait_for(process, r"^Notarium is up: (http\S+)")
        _wait_for(process, r"(^Kernels:.*)")
    except BaseException:
        process.kill()
        raise
    return process, url, json.loads((folder / "data" / "up.json").read_text())["session"]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is missing: cargo build --bin notarium, or set NOTARIUM_BINARY")
    with tempfile.TemporaryDirectory(prefix="notarium-python-") as name, ScriptedModel() as model:
        folder = Path(name)
        door = socket.create_server(("127.0.0.1", 0))
        allowed = f"127.0.0.1:{door.getsockname()[1]}"
        process, url, token = launch(folder, model, allowed)
        try:
            yield Server(url, token, folder, model, door)
        finally:
            door.close()
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture
def nt(server: Server) -> Iterator[notarium.Client]:
    with notarium.connect(server.url, server.token) as client:
        yield client


@pytest.fixture
def nb(nt: notarium.Client) -> Iterator[notarium.Notebook]:
    with nt.create("Test") as notebook:
        yield notebook
        for kernel in notebook.kernels:
            kernel.shut_down()


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Function that starts clients of a fake server. They are closed after the test."""
    connections: list[Connection] = []

    async def begin(server: FakeServer) -> tuple[Connection, Replica]:
        connection = Connection(server.dial, "nt_token", "test", rest=lambda _: 0)
        connections.append(connection)
        await connection.start()
        replica = connection.replicas[NOTEBOOK] = Replica(NOTEBOOK, connection)
        replica.subscribe()
        await replica.opened()
        return connection, replica

    yield begin
    for connection in connections:
        await connection.close()
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not left, left
