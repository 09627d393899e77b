"""Benchmarks of the Python client: opening a notebook of 10,000 cells, following events at full speed, and reactive runs
compared with the same cells run by hand.

    NOTARIUM_BINARY=target/release/notarium python clients/python/benches/bench.py

The server runs on the same machine. `alone` measures the client without a server: the same frames from memory.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import notarium
from notarium.digest import digest
from notarium.document import Document
from notarium.replica import Replica
from notarium.text import splice

CELLS, EVENTS, BATCH = 10_000, 100_000, 500
CHAIN, ROUNDS = 50, 20


class Nowhere:
    """Sender that drops all messages."""

    def send(self, message: str, **fields: Any) -> None:
        pass

    def command(self, notebook: str, body: Any) -> Any:
        raise NotImplementedError

    def withdraw(self, command_id: str) -> None:
        pass


def say(what: str, value: str) -> None:
    print(f"| {what} | {value} |", flush=True)


def edits(count: int, cells: list[str], start: int, length: int = 24) -> list[str]:
    """Frames of one event each, as a busy room sends them: single-character edits of many cells."""
    frames = []
    for number in range(count):
        change = [length + number // len(cells), [0, "x"]]
        event = {"version": start + number + 1, "id": f"e{number}", "type": "CellSourceEdited", "schema": 1,
                 "actor": {"kind": "user", "id": "ann"}, "command_id": f"c{number}", "correlation_id": f"c{number}",
                 "recorded_at": 1_795_305_600_000 + number,
                 "payload": {"cell_id": cells[number % len(cells)], "change": change, "removed": []}}  # fmt: skip
        frames.append(json.dumps({"events": {"notebook": "nb", "from": event["version"], "events": [event]}}))
    return frames


async def alone() -> None:
    """Measures folding without a socket."""
    state = Document.empty("nb").state
    for number in range(CELLS):
        cell = {"cell_type": "code", "source": "x = 1  # a line of code!", "order_key": f"a{number:05}"}
        state["cells"][f"c{number:05}"] = cell | {"cell_version": 1, "source_version": 1}
    state["order"] = sorted(state["cells"])
    subscribed = {"notebook": "nb", "version": 0, "event_id": "e", "role": "owner", "document": 1, "snapshot": state}
    replica = Replica("nb", Nowhere())
    replica.receive("subscribed", subscribed)
    frames = edits(EVENTS, state["order"][:1_000], 0)
    start = time.process_time()
    for frame in frames:
        ((name, body),) = json.loads(frame).items()
        replica.receive(name, body)
    took = time.process_time() - start
    say("alone: one event a frame, parsed and folded", f"{EVENTS / took:,.0f} events/s of CPU time")
    start = time.process_time()
    digest(state)
    say("alone: digest of 10,000 cells", f"{(time.process_time() - start) * 1000:.0f} ms of CPU time")


async def flood() -> None:
    """Server that answers the handshake and then sends frames as fast as the socket accepts them."""
    from websockets.asyncio.server import ServerConnection, serve

    async def talk(socket: ServerConnection) -> None:
        state = Document.empty("nb").state
        for number in range(1_000):
            cell = {"cell_type": "code", "source": "x = 1  # a line of code!", "order_key": f"a{number:05}"}
            state["cells"][f"c{number:05}"] = cell | {"cell_version": 1, "source_version": 1}
        state["order"] = sorted(state["cells"])
        frames = edits(EVENTS, state["order"], 0)
        welcome = {
            "protocol": 1,
            "connection": "c1",
            "actor": {},
            "scopes": [],
            "features": [],
            "max_frame_bytes": 1 << 23,
        }
        subscribed = {
            "notebook": "nb",
            "version": 0,
            "event_id": "e",
            "role": "owner",
            "document": 1,
            "snapshot": state,
        }
        async for text in socket:
            match next(iter(json.loads(text))):
                case "hello":
                    await socket.send(json.dumps({"welcome": welcome}))
                case "subscribe":
                    await socket.send(json.dumps({"subscribed": subscribed}))
                case "presence":
                    for frame in frames:
                        await socket.send(frame)

    async with serve(talk, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


async def drink(port: int) -> None:
    """Measures following that flood: socket, parsing, folding and typed events."""
    async with notarium.aio.connect(f"http://127.0.0.1:{port}", "nt_x") as nt, nt.open("nb") as nb:
        events = nb.events(follow=True)
        first = asyncio.create_task(events.batch())
        await asyncio.sleep(0)
        start, before = time.perf_counter(), time.process_time()
        await nb.show_presence()
        seen = len(await first)
        while seen < EVENTS:
            seen += len(await events.batch())
        took, spent = time.perf_counter() - start, time.process_time() - before
        rates = f"{EVENTS / took:,.0f} events/s; {EVENTS / spent:,.0f} for each second of its own CPU time"
        say("over a socket: one event a frame, folded, as typed events", rates)
        assert nb.version == EVENTS


def socket_alone() -> None:
    """Measures the client alone: the flood runs in another process on the same machine."""
    server = subprocess.Popen([sys.executable, __file__, "--flood"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        asyncio.run(drink(int(server.stdout.readline())))
    finally:
        server.terminate()
        server.wait()


async def fill(url: str, token: str) -> str:
    """Creates a notebook of 10,000 cells and returns its id."""
    async with notarium.aio.connect(url, token, timeout=300) as nt, nt.create("Large") as nb:
        for _ in range(CELLS // BATCH):
            await nb.extend(["x = 1  # a line of code!"] * BATCH)
        return nb.id


async def open_it(url: str, token: str, notebook: str) -> None:
    times = []
    async with notarium.aio.connect(url, token) as nt:
        for _ in range(10):
            start = time.perf_counter()
            async with nt.open(notebook) as nb:
                times.append(time.perf_counter() - start)
                assert len(nb) == CELLS
    say("open 10,000 cells", f"{statistics.median(times) * 1000:.0f} ms (slowest of ten {max(times) * 1000:.0f} ms)")


async def follow(url: str, token: str, count: int) -> None:
    """Measures one program that sends edits and another that follows them as typed events, on the server's machine."""
    async with (
        notarium.aio.connect(url, token, timeout=600) as nt,
        nt.create("Busy") as nb,
    ):
        cells = await nb.extend(["x"] * 64)
        writer = subprocess.Popen([sys.executable, __file__, "--write", url, token, nb.id, str(count)])
        events = nb.events(follow=True)
        seen, start = 0, None
        while seen < count:
            batch = await events.batch()
            start = start or time.perf_counter()
            seen += len(batch)
        took = time.perf_counter() - (start or 0)
        writer.wait()
        assert await nb.check()
        say(f"follow {count:,} events while another program writes {len(cells)} cells", f"{seen / took:,.0f} events/s")
        start = time.perf_counter()
        seen = sum([1 async for _ in nb.events()])
        say("read the same from the record", f"{seen / (time.perf_counter() - start):,.0f} events/s")


async def catch_up(url: str, token: str, notebook: str) -> None:
    """Measures catching up: the server sends recorded events as fast as the socket accepts them."""
    async with notarium.aio.connect(url, token, timeout=600) as nt, nt.open(notebook) as nb:
        text = splice("x = 1  # a line of code!", 0, 0, "y")
        start, before = time.perf_counter(), nb.version
        bodies = [{"EditSource": {"cell_id": cell.id, "base": before, "change": text}} for cell in nb.cells]
        await nb._command("Batch", commands=bodies)
        took = time.perf_counter() - start
        assert nb.version == before + CELLS
        say("10,000 edits in one batch, sent, acknowledged and folded", f"{CELLS / took:,.0f} events/s")


async def write(url: str, token: str, notebook: str, count: int) -> None:
    async with notarium.aio.connect(url, token, timeout=600) as nt, nt.open(notebook) as nb:
        ids = [cell.id for cell in nb.cells]
        for sent in range(0, count, BATCH):
            base = nb.version
            texts = {cell_id: nb[cell_id].source for cell_id in ids}
            bodies = []
            for number in range(min(BATCH, count - sent)):
                cell_id = ids[number % len(ids)]
                change = [len(texts[cell_id]), [0, "y"]]
                bodies.append({"EditSource": {"cell_id": cell_id, "base": base, "change": change}})
            await nb._command("Batch", commands=bodies)


async def chain(url: str, token: str) -> None:
    """Measures a chain in which each cell reads the one above. By hand, all cells are requested; reactive, only the last."""
    async with notarium.aio.connect(url, token, timeout=300) as nt, nt.create("Chain") as nb:
        cells = await nb.extend(["x0 = 0"] + [f"x{number} = x{number - 1} + 1" for number in range(1, CHAIN)])
        by_hand, reactive = [], []
        for round_number in range(ROUNDS + 1):
            await nb.set_reactivity("off")
            start = time.perf_counter()
            for run in await nb.run():
                assert (await run.wait()).status == "ok"
            by_hand.append(time.perf_counter() - start)
            await nb.set_reactivity("lazy")
            await cells[0].edit(f"x0 = {round_number}")
            before = len(nb.runs)
            start = time.perf_counter()
            assert (await (await cells[-1].run()).wait()).status == "ok"
            reactive.append(time.perf_counter() - start)
            assert all(cell.status == "ok" for cell in cells) and len(nb.runs) == before
        # Excludes the first round, which starts the kernel.
        hand, plan = statistics.median(by_hand[1:]), statistics.median(reactive[1:])
        times = f"{plan * 1000:.0f} ms, by hand {hand * 1000:.0f} ms: {plan / hand:.2f} ×"
        say(f"a reactive chain of {CHAIN} cells after an edit of the first ({ROUNDS} rounds)", times)


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        asyncio.run(write(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])))
        return
    if sys.argv[1:2] == ["--flood"]:
        asyncio.run(flood())
        return
    asyncio.run(alone())
    socket_alone()
    if "NOTARIUM_BINARY" not in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        command = [os.environ["NOTARIUM_BINARY"], "up", "--data", folder + "/data", "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(
            [*command, "--kernel-path", sys.prefix], stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            assert server.stdout is not None
            url = next(line.split()[-1] for line in server.stdout if line.startswith("Notarium is up"))
            token = json.loads(Path(folder, "data", "up.json").read_text())["session"]
            notebook = asyncio.run(fill(url, token))
            asyncio.run(open_it(url, token, notebook))
            asyncio.run(catch_up(url, token, notebook))
            asyncio.run(follow(url, token, 20_000))
            asyncio.run(chain(url, token))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
