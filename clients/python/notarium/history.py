"""The record: events as a stream and as a table, and the proof of its integrity (protocol, section 9)."""

import asyncio
import hashlib
import json
from collections import deque
from dataclasses import dataclass
from typing import Any

from .connection import backoff
from .digest import digest
from .document import Document, Json, UnknownEvent
from .errors import Disconnected, NotariumError, RateLimited, Unavailable
from .event import Event, as_time
from .events import event_of
from .portal import Stream
from .replica import Replica
from .session import Session

_PAGE = 1_000
# Limit of queued events. A follower farther behind reads from the record instead.
_MOST_QUEUED = 50_000
_DECODER = json.JSONDecoder()


class EventStream(Stream[Event]):
    """Events after a version, without gaps: live ones from the replica, missed ones from the record."""

    def __init__(self, session: Session, replica: Replica, start: int, follow: bool) -> None:
        self._session, self._replica, self._version, self._follow = session, replica, start, follow
        self._frames: deque[list[Json]] = deque()
        self._queued = self._head = 0
        self._failure: Exception | None = None

    # --- called by the replica ---

    def take(self, events: list[Json]) -> None:
        """Queues events that the replica received."""
        self._head = max(self._head, events[-1]["version"])
        self._queued += len(events)
        self._frames.append(events)
        if self._queued > _MOST_QUEUED:
            self._frames.clear()
            self._queued = 0

    def reach(self, version: int) -> None:
        """A snapshot replaced events: they are read from the record."""
        if version < self._version:
            self._version = version
        self._head = version

    def fail(self, error: Exception) -> None:
        """No more events will come."""
        self._failure = error

    # --- reading ---

    async def batch(self) -> list[Event]:
        """All events available now, at least one; empty at the end."""
        if self not in self._replica.followers:
            self._replica.followers.add(self)
            self._head = max(self._head, 0 if self._replica.document is None else self._replica.document.version)
        while True:
            events = self._next()
            if not events and self._version < self._head:
                events = await self._page()
            if events:
                self._version = events[-1]["version"]
                return [event_of(event) for event in events]
            if not self._follow:
                return []
            if self._failure is not None:
                raise self._failure
            await self._replica.until(lambda: bool(self._frames) or self._version < self._head)

    def _next(self) -> list[Json]:
        """Queued events that directly follow the last one read; empty if there is a gap."""
        ready: list[Json] = []
        version = self._version
        while self._frames:
            frame = self._frames[0]
            if frame[0]["version"] > version + 1:
                break
            self._queued -= len(frame)
            ready += [event for event in self._frames.popleft() if event["version"] > version]
            version = max(version, frame[-1]["version"])
        return ready

    async def _page(self) -> list[Json]:
        path = f"/api/notebooks/{self._replica.notebook_id}/events"
        attempt = 0
        while True:
            try:
                page = await self._session.rest.get(path, after=self._version, limit=_PAGE)
                break
            except (Disconnected, RateLimited, Unavailable):
                # A follower waits for the server, as the connection does.
                if not self._follow or self._failure is not None:
                    raise
                await asyncio.sleep(backoff(attempt))
                attempt += 1
        events: list[Json] = page["events"]
        if not events:
            self._head = self._version
        return events

    async def aclose(self) -> None:
        self._replica.followers.discard(self)


class History:
    """The record of a notebook."""

    def __init__(self, session: Session, replica: Replica, since: int) -> None:
        self._session, self._replica, self._since = session, replica, since

    async def events(self) -> list[Event]:
        """All events."""
        return [event async for event in EventStream(self._session, self._replica, self._since, False)]

    async def rows(self) -> list[dict[str, Any]]:
        """One row for each event; its payload is JSON text.

        >>> [(row["version"], row["type"], row["actor"]) for row in await nb.history().rows()]
        [(1, 'NotebookCreated', 'user')]
        """
        return [_row(event) for event in await self.events()]

    async def to_pandas(self) -> Any:
        """The events as a `pandas.DataFrame` with the index `version`."""
        pandas = _library("pandas")
        return pandas.DataFrame(await self.rows()).set_index("version")

    async def to_polars(self) -> Any:
        """The events as a `polars.DataFrame`."""
        polars = _library("polars")
        return polars.DataFrame(await self.rows(), infer_schema_length=None)

    async def to_arrow(self) -> Any:
        """The events as a `pyarrow.Table`."""
        pyarrow = _library("pyarrow")
        return pyarrow.Table.from_pylist(await self.rows())

    def __repr__(self) -> str:
        return f"<History of {self._replica.notebook_id}: to_pandas(), to_polars(), to_arrow(), events()>"


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        message = f"this needs {name}: pip install {name}"
        raise NotariumError(message, code="missing_library") from error


def _row(event: Event) -> dict[str, Any]:
    actor, payload = event.actor, event.payload
    return {
        "version": event.version,
        "recorded_at": as_time(event.raw["recorded_at"]),
        "type": event.type,
        "actor": actor["kind"],
        "actor_id": actor.get("id") or actor.get("for_user") or actor.get("share_link"),
        "cell_id": payload.get("cell_id") or payload.get("subject", {}).get("cell_id"),
        "execution_id": payload.get("execution_id"),
        "command_id": event.command_id,
        "correlation_id": event.correlation_id,
        "undoes": event.undoes,
        "event_id": event.id,
        "payload": json.dumps(payload, ensure_ascii=False),
    }


# --- verification ---


@dataclass(frozen=True)
class Verification:
    """Result of a verification. `problem` says where the record was changed."""

    ok: bool
    version: int
    hash: str
    problem: str | None = None


def seal(before: bytes, event: Json, payload: str) -> tuple[str, bytes]:
    """`payload_digest` and `hash` of an event, from the previous hash and the payload's bytes. Of redacted content only the digest is left."""
    salt = event.get("salt")
    payload_digest = (
        bytes.fromhex(event["payload_digest"])
        if salt is None
        else hashlib.sha256(bytes.fromhex(salt) + payload.encode()).digest()
    )
    fields = (
        event["id"],
        event["notebook_id"],
        event["version"].to_bytes(8, "big"),
        event["type"],
        event["schema"].to_bytes(2, "big"),
        _actor_key(event["actor"]),
        event.get("command_id"),
        event.get("correlation_id"),
        event.get("causation_id"),
        event.get("undoes"),
        event["recorded_at"].to_bytes(8, "big"),
    )
    header = b"\x01" + b"".join(map(_field, fields))
    return payload_digest.hex(), hashlib.sha256(before + header + payload_digest).digest()


def _field(value: str | bytes | None) -> bytes:
    if value is None:
        return b"\xff\xff\xff\xff"
    value = value.encode() if isinstance(value, str) else value
    return len(value).to_bytes(4, "big") + value


def _actor_key(actor: Json) -> str:
    kind = actor["kind"]
    if kind == "assistant":
        return f"assistant:{actor['for_user']}:{actor['conversation']}"
    return str(kind) if kind == "system" else f"{kind}:{actor.get('id') or actor.get('share_link')}"


def payload_text(line: str) -> str:
    """The payload in an event's line, unchanged. Quotes in texts are escaped, so the first `"payload":` is the field."""
    start = line.index('"payload":') + len('"payload":')
    while line[start].isspace():
        start += 1
    return line[start : _DECODER.raw_decode(line, start)[1]]


async def verify(session: Session, replica: Replica) -> Verification:
    """Follows the hash chain from the first event, folds the events, and compares the results with the server's."""
    head, version = bytes(32), 0
    redactions = _Redactions()
    document: Document | None = Document.empty(replica.notebook_id)
    async for line in session.rest.lines(f"/api/notebooks/{replica.notebook_id}/events"):
        event, payload = json.loads(line), payload_text(line)
        payload_digest, hashed = seal(head, event, payload)
        if event["version"] != version + 1 or event["notebook_id"] != replica.notebook_id:
            return Verification(False, version, head.hex(), f"after version {version} comes version {event['version']}")
        if payload_digest != event["payload_digest"] or hashed.hex() != event["hash"]:
            return Verification(False, version, head.hex(), f"version {event['version']} is not what was recorded")
        redactions.hear(event, payload)
        head, version, document = hashed, event["version"], _folded(document, event)
    server = await session.rest.get(f"/api/notebooks/{replica.notebook_id}/verify", at=version)
    problem = redactions.problem()
    if server["hash"] != head.hex():
        problem = f"the server names another hash at version {version}"
    elif document is not None and not await _is_shown(session, replica, version, digest(document.state)):
        problem = f"the events do not lead to the state that the server shows at version {version}"
    return Verification(
        problem is None and server["ok"],
        version,
        head.hex(),
        problem or server.get("problem") or server.get("contradiction"),
    )


class _Redactions:
    """Redacted events of a record, and what its redactions say is in their place."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}
        self._named: dict[int, str] = {}

    def hear(self, event: Json, payload: str) -> None:
        if "salt" not in event:
            self._found[event["version"]] = hashlib.sha256(payload.encode()).hexdigest()
        if event["type"] == "ContentRedacted":
            self._named |= {each["version"]: each["stand_in"] for each in event["payload"]["redactions"]}

    def problem(self) -> str | None:
        """Names the first redacted event that has another content than the last redaction of it left."""
        unnamed = (version for version, stand_in in self._found.items() if self._named.get(version) != stand_in)
        return next((f"no redaction names what is at version {version}" for version in unnamed), None)


async def _is_shown(session: Session, replica: Replica, version: int, expected: str) -> bool:
    """True if the server's document at a version has this digest."""
    await session.within(replica.until(lambda: not replica.is_checking), "a check has no answer")
    return bool(await session.within(replica.check(version, expected), "the server has not answered the check"))


def _folded(document: Document | None, event: Json) -> Document | None:
    """The document after the event. None after an unknown event: then only the hash chain is verified."""
    if document is not None:
        try:
            document.apply(event)
        except UnknownEvent:
            return None
    return document
