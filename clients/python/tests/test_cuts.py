"""Real connections that are lost, and programs that are interrupted."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import notarium
import pytest
from notarium.config import find_target

from .conftest import Server, launch

HERE = Path(__file__).resolve().parents[1]


class Proxy:
    """Proxy to the server that can cut its connections and refuse new ones."""

    def __init__(self, host: str, port: int) -> None:
        self.target, self.is_down = (host, port), False
        self.writers: set[asyncio.StreamWriter] = set()
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.is_down:
            writer.close()
            return
        try:
            there, back = await asyncio.open_connection(*self.target)
        except OSError:
            writer.close()
            return
        self.writers |= {writer, back}
        await asyncio.gather(self.pass_on(reader, back), self.pass_on(there, writer))

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()
        self.writers.discard(writer)

    def cut(self) -> None:
        for writer in list(self.writers):
            writer.transport.abort()


def address(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[tuple[Proxy, str]]:
    between = Proxy(*address(server.url))
    listener = await asyncio.start_server(between.serve, sock=server.door.dup())
    yield between, f"http://127.0.0.1:{server.door.getsockname()[1]}"
    between.cut()
    listener.close()


async def test_typing_goes_on_over_cuts_and_nothing_is_lost_or_doubled(
    server: Server, proxy: tuple[Proxy, str]
) -> None:
    between, url = proxy
    async with (
        notarium.aio.connect(url, server.token) as ann_client,
        ann_client.create("Cuts") as ann,
        notarium.aio.connect(server.url, server.token) as bob_client,
        bob_client.open(ann.id) as bob,
    ):
        ann_client._session.connection._rest = lambda attempt: 0.05
        cell = await ann.append("")
        await bob._replica.until(lambda: len(bob) == 1)
        for number in range(40):
            await cell.splice(0, 0, f"a{number};", wait=False)
            await bob[cell.id].splice(10**6, 10**6, f"b{number};", wait=False)
            if number % 8 == 3:
                between.cut()
            if number % 8 == 7 and not between.is_down:
                await ann.flush()
            if number == 26:
                between.is_down = True
                between.cut()
            await asyncio.sleep(0)
        assert cell.source.startswith("a39;")
        between.is_down = False
        await ann.flush()
        await bob.flush()
        await bob._replica.until(lambda: bob.version >= ann.version)
        await ann._replica.until(lambda: ann.version >= bob.version)
        assert cell.source == bob[cell.id].source
        pieces = cell.source.split(";")
        assert sorted(pieces) == sorted([*(f"{who}{n}" for who in "ab" for n in range(40)), ""])
        assert await bob.check()
        assert between.connections > 3


async def test_a_command_without_a_connection_waits_and_says_what_is_known(
    server: Server, proxy: tuple[Proxy, str]
) -> None:
    between, url = proxy
    async with notarium.aio.connect(url, server.token, timeout=2) as nt, nt.create("Down") as nb:
        nt._session.connection._rest = lambda attempt: 0.05
        between.is_down = True
        between.cut()
        with pytest.raises(notarium.WaitTimeout, match="cannot be reached now"):
            await nb.rename("Later")
        assert not nt.is_connected
        between.is_down = False
        await nb.rename("Now")
        assert nb.title == "Now"
        assert [event.type async for event in nb.events()] == ["NotebookCreated", "NotebookRenamed"]


async def test_a_server_that_is_killed_while_somebody_types_has_all_of_it_when_it_is_back(
    server: Server, tmp_path: Path
) -> None:
    allowed = f"127.0.0.1:{server.door.getsockname()[1]}"
    process, url, token = await asyncio.to_thread(launch, tmp_path, server.model, allowed)
    between = Proxy(*address(url))
    listener = await asyncio.start_server(between.serve, sock=server.door.dup())
    try:
        async with notarium.aio.connect(f"http://{allowed}", token, timeout=120) as nt, nt.create("Killed") as nb:
            nt._session.connection._rest = lambda attempt: 0.05
            cell = await nb.append("")
            for number in range(60):
                await cell.splice(0, 0, f"{number};", wait=False)
                if number == 30:
                    await nb.flush()
                    process.kill()
                await asyncio.sleep(0)
            renamed = asyncio.create_task(nb.rename("Still here"))
            await asyncio.to_thread(process.wait)
            process, url, _ = await asyncio.to_thread(launch, tmp_path, server.model, allowed)
            between.target = address(url)
            await renamed
            await nb.flush()
            assert cell.source == "".join(f"{number};" for number in reversed(range(60)))
            assert nb.title == "Still here"
            assert await nb.check()
            assert (await nb.verify()).ok
    finally:
        between.cut()
        listener.close()
        process.kill()
        process.wait()


def interrupted(server: Server, code: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program and interrupts it once it prints that it waits."""
    environment = {**server.environment, "PYTHONPATH": str(HERE), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert program.stdout is not None
    assert program.stdout.readline() == "waiting\n", program.communicate()
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=30)
    return subprocess.CompletedProcess(command, program.returncode, out, err)


BLOCKING = """
import threading, notarium
with notarium.connect() as nt, nt.create("Interrupted") as nb:
    run = nb.execute("import time; time.sleep(600)")
    try:
        print("waiting")
        run.wait()
    except KeyboardInterrupt:
        run.cancel()
        print("cancelled")
    for kernel in nb.kernels:
        kernel.shut_down()
print([thread.name for thread in threading.enumerate()])
"""
ASYNCIO = """
import asyncio, notarium
async def main():
    async with notarium.aio.connect() as nt, nt.create("Interrupted") as nb:
        print("waiting")
        async for event in nb.events(since=nb.version, follow=True):
            print(event)
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("ended")
"""
OPEN = """
import notarium
nt = notarium.connect()
nb = nt.create("Left open")
print("waiting")
for event in nb.events(follow=True):
    print(event)
"""


def test_ctrl_c_ends_the_waiting_and_leaves_nothing_behind(server: Server) -> None:
    done = interrupted(server, BLOCKING)
    assert done.stdout.splitlines() == ["cancelled", "['MainThread']"], done.stderr
    assert done.stderr == ""
    done = interrupted(server, ASYNCIO)
    assert (done.stdout, done.stderr) == ("ended\n", "")
    done = interrupted(server, OPEN)
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert "Exception ignored" not in done.stderr
    assert "Task was destroyed" not in done.stderr


def test_the_server_and_token_come_from_arguments_the_environment_and_login(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("NOTARIUM_SERVER", "NOTARIUM_TOKEN", "NOTARIUM_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(notarium.ConfigurationError, match="notarium login --server"):
        find_target(None, None)
    (tmp_path / "notarium").mkdir()
    stored = {"server": "https://notes.example.org/", "token": "nt_stored"}
    (tmp_path / "notarium" / "config.json").write_text(json.dumps(stored))
    assert find_target(None, None).token == "nt_stored"
    assert find_target("wss://notes.example.org", None).socket_url == "wss://notes.example.org/api/socket"
    # A stored token is sent only to its own server.
    with pytest.raises(notarium.ConfigurationError, match="no token for http://other"):
        find_target("http://other:1", None)
    monkeypatch.setenv("NOTARIUM_SERVER", "http://other:1")
    monkeypatch.setenv("NOTARIUM_TOKEN_FILE", str(tmp_path / "token"))
    (tmp_path / "token").write_text("nt_file\n")
    assert (find_target(None, None).url, find_target(None, None).token) == ("http://other:1", "nt_file")
    monkeypatch.setenv("NOTARIUM_TOKEN", "nt_environment")
    assert find_target(None, None).token == "nt_environment"
    assert find_target(None, "nt_argument").token == "nt_argument"
    assert "nt_" not in repr(find_target(None, None))
    with pytest.raises(notarium.ConfigurationError, match="begins with http"):
        find_target("notes.example.org", "t")
