"""Fake server and network under the test's control: the test delivers or loses frames, or cuts the connection.

It implements only the subscriptions and text edits of protocol/README.md.
"""

import asyncio
import json
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from notarium.connection import Connection
from notarium.digest import digest
from notarium.document import Document
from notarium.replica import Replica
from notarium.text import map_change

NOTEBOOK = "nb"
Json = dict[str, Any]


class FakeWire:
    """Client's side of one connection."""

    def __init__(self, server: "FakeServer", number: int) -> None:
        self.server, self.number = server, number
        self.to_server: deque[str] = deque()
        self.to_client: deque[str] = deque()
        self.is_cut = self.is_following = False
        self._arrived: asyncio.Queue[str | None] = asyncio.Queue()

    async def send(self, text: str) -> None:
        if self.is_cut:
            raise ConnectionError("cut")
        self.to_server.append(text)
        self.server.stir()

    async def receive(self) -> str:
        text = await self._arrived.get()
        if text is None:
            raise ConnectionError("cut")
        return text

    async def close(self) -> None:
        self.cut()

    def say(self, name: str, **body: Any) -> None:
        self.to_client.append(json.dumps({name: body}))

    def deliver(self) -> None:
        self._arrived.put_nowait(self.to_client.popleft())

    def cut(self) -> None:
        """Cuts the connection. Frames to the client are lost; frames to the server may still arrive."""
        if not self.is_cut:
            self.is_cut = True
            self.to_client.clear()
            self._arrived.put_nowait(None)


class FakeServer:
    """Fake server with one notebook."""

    def __init__(self, seed: int = 0, cells: int = 1) -> None:
        self.random = random.Random(seed)
        self.wires: list[FakeWire] = []
        self.events: list[Json] = []
        self.document = Document.empty(NOTEBOOK)
        self.answers: dict[str, tuple[str, Json]] = {}
        self.applied: list[str] = []
        self.is_automatic = True
        # Probability that a `subscribe` is answered with an unnecessary snapshot.
        self.snapshots = 0.0
        self.rejects: dict[str, list[Json]] = {}
        self.record("NotebookCreated", {"title": "T", "metadata": {}, "owner": {"kind": "user", "id": "ann"}})
        for index in range(cells):
            cell = {"cell_type": "code", "source": "start", "order_key": f"a{index}"}
            self.record("CellInserted", {"cell_id": f"c{index}", "cell": cell})

    async def dial(self) -> FakeWire:
        wire = FakeWire(self, len(self.wires))
        self.wires.append(wire)
        return wire

    def stir(self) -> None:
        if self.is_automatic:
            self.settle()

    def settle(self) -> None:
        """Delivers all frames."""
        while any(wire.to_server for wire in self.wires):
            for wire in self.wires:
                while wire.to_server:
                    self.process(wire)
        for wire in self.wires:
            while wire.to_client:
                wire.deliver()

    def step(self) -> None:
        """Delivers one random frame."""
        sending = [wire for wire in self.wires if wire.to_server]
        hearing = [wire for wire in self.wires if wire.to_client]
        if sending and (not hearing or self.random.random() < 0.5):
            self.process(self.random.choice(sending))
        elif hearing:
            self.random.choice(hearing).deliver()

    def process(self, wire: FakeWire) -> None:
        ((name, body),) = json.loads(wire.to_server.popleft()).items()
        handler = getattr(self, f"on_{name}", None)
        if handler is not None:
            handler(wire, body)
        if wire.is_cut:
            wire.to_client.clear()

    # --- messages ---

    def on_hello(self, wire: FakeWire, body: Json) -> None:
        actor = {"kind": "user", "id": "ann"}
        wire.say("welcome", protocol=1, server="fake", connection=f"c{wire.number}", actor=actor, scopes=["edit"],
                 max_frame_bytes=1_000_000, heartbeat_ms=20_000, features=[])  # fmt: skip

    def on_subscribe(self, wire: FakeWire, body: Json) -> None:
        wire.is_following = True
        since = body.get("since")
        answer = self.subscribed()
        if since and self.random.random() >= self.snapshots:
            wire.say("subscribed", **{**answer, "version": since["version"], "event_id": since["event_id"]})
            self.catch_up(wire, since["version"])
            return
        bases = {one["cell_id"]: one["base"] for one in body.get("unconfirmed", [])}
        missed = [e for e in self.events if e["version"] > bases.get(e["payload"].get("cell_id"), len(self.events))]
        state = json.loads(json.dumps(self.document.state))
        wire.say("subscribed", **answer, snapshot=state, unconfirmed_events=missed)

    def subscribed(self) -> Json:
        return {"notebook": NOTEBOOK, "version": len(self.events), "event_id": self.events[-1]["id"], "role": "owner",
                "document": 1, "digest": digest(self.document.state)}  # fmt: skip

    def catch_up(self, wire: FakeWire, version: int) -> None:
        for event in self.events[version:]:
            wire.say("events", notebook=NOTEBOOK, **{"from": event["version"]}, events=[event])

    def resync(self, wire: FakeWire) -> None:
        """Drops the events of a slow client and sends it a snapshot."""
        wire.to_client = deque(frame for frame in wire.to_client if not frame.startswith('{"events"'))
        wire.say("resync", notebook=NOTEBOOK, reason="slow")
        wire.say("subscribed", **self.subscribed(), snapshot=json.loads(json.dumps(self.document.state)))

    def on_check(self, wire: FakeWire, body: Json) -> None:
        document = Document.empty(NOTEBOOK)
        for event in json.loads(json.dumps(self.events[: body["version"]])):
            document.apply(event)
        right = digest(document.state)
        differs = body.get("digest", right) != right
        wire.say("checked", notebook=NOTEBOOK, version=body["version"], digest=right, differs=differs)
        if differs:
            self.resync(wire)

    def on_command(self, wire: FakeWire, command: Json) -> None:
        key, text = command["id"], json.dumps(command)
        if self.rejects.get(key_of(command)):
            wire.say("reject", id=key, notebook=NOTEBOOK, **self.rejects[key_of(command)].pop(0))
            return
        if key in self.answers:
            assert self.answers[key][0] == text, "the same id with another body"
        else:
            self.decide(command)
            self.applied.append(key)
            self.answers[key] = (text, {"id": key, "notebook": NOTEBOOK, "version": len(self.events)})
        wire.say("ack", **self.answers[key][1])

    def decide(self, command: Json) -> None:
        ((name, fields),) = command["body"].items()
        if name == "EditSource":
            change = fields["change"]
            for event in self.events[fields["base"] :]:
                if event["type"] == "CellSourceEdited" and event["payload"]["cell_id"] == fields["cell_id"]:
                    change = map_change(change, event["payload"]["change"])
            if any(isinstance(section, list) for section in change):
                self.record("CellSourceEdited", {"cell_id": fields["cell_id"], "change": change}, command["id"])
        elif name == "RenameNotebook":
            self.record("NotebookRenamed", fields, command["id"])

    def record(self, kind: str, payload: Json, command_id: str | None = None) -> None:
        version = len(self.events) + 1
        event = {"version": version, "id": f"e{version}", "type": kind, "schema": 1, "payload": payload,
                 "actor": {"kind": "user", "id": "ann"}, "correlation_id": "x", "recorded_at": 1_000 + version}  # fmt: skip
        if command_id is not None:
            event["command_id"] = command_id
        self.events.append(event)
        self.document.apply(json.loads(json.dumps(event)))
        for wire in self.wires:
            if wire.is_following and not wire.is_cut:
                wire.say("events", notebook=NOTEBOOK, **{"from": version}, events=[event])


def key_of(command: Json) -> str:
    ((name, _),) = command["body"].items()
    return str(name)


# Starts a client of a fake server, and waits until it has the notebook.
Start = Callable[[FakeServer], "asyncio.Future[tuple[Connection, Replica]]"]
