"""Replica of one notebook: its document, equal to the server's (protocol, section 2), and local edits of text (section 4).

It has no socket: messages come in by `receive` and go out by `send` and `command`. So tests can lose and repeat them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from .digest import digest
from .document import RULES, Document, Json, UnknownEvent
from .errors import Disconnected, Forbidden, NotariumError, NotFound, Rejected, rejection
from .text import Change
from .unconfirmed import UnconfirmedText, ignore_unseen, settle

# Pause before a check is sent again.
_BUSY_SECONDS = 0.2
_CANNOT_MERGE = "the cell has changed too much since this was typed: it cannot be merged any more"


class Sender(Protocol):
    """Interface that a replica needs of its connection."""

    def send(self, message: str, **fields: Any) -> None: ...

    def command(self, notebook: str, body: Json) -> "tuple[str, asyncio.Future[Json]]": ...

    def withdraw(self, command_id: str) -> None: ...


class Follower(Protocol):
    """Consumer of a replica's events."""

    def take(self, events: list[Json]) -> None: ...

    def reach(self, version: int) -> None: ...

    def fail(self, error: Exception) -> None: ...


class Replica:
    """Live document, its subscription and its unconfirmed edits."""

    def __init__(self, notebook_id: str, sender: Sender) -> None:
        self.notebook_id = notebook_id
        self.document: Document | None = None
        self.event_id: str | None = None
        self.role: str | None = None
        self.is_read_only = False
        self.undo: Json = {}
        self.peers: dict[str, Json] = {}
        self.kernel_status: dict[str, Json] = {}
        self.followers: set[Follower] = set()
        self.activity: set[Callable[[list[Json]], None]] = set()
        self.unconfirmed: dict[str, UnconfirmedText] = {}
        # Count of snapshots that replaced the state; count of open `Notebook` objects; the error that ended the subscription.
        self.healed = 0
        self.holders = 0
        self.failure: Exception | None = None
        self._sender = sender
        self._can_fold = True
        self._is_subscribing = self._is_resyncing = self._is_late = False
        # Cells with local edits that each unanswered `subscribe` named: its answer takes their text into account.
        self._asked: deque[set[str]] = deque()
        self._waiting: list[asyncio.Future[None]] = []
        # The unanswered check, and what it asks.
        self._check: asyncio.Future[bool] | None = None
        self._checked: Json = {}

    # --- outgoing ---

    def subscribe(self, is_fresh: bool = False) -> None:
        """Subscribes from the last event that is known. `is_fresh`: requests a snapshot in any case."""
        self._is_subscribing = True
        fields: Json = {}
        if self.document is not None and not is_fresh and self.event_id is not None:
            fields["since"] = {"version": self.document.version, "event_id": self.event_id}
        named = set(self.unconfirmed)
        self._asked.append(named)
        if self.document is not None and named:
            base = self.document.version
            fields["unconfirmed"] = [{"cell_id": cell_id, "base": base} for cell_id in sorted(named)]
        self._sender.send("subscribe", notebook=self.notebook_id, **fields)

    def disconnected(self) -> None:
        """Resets the subscription after a disconnect; `subscribe` resumes it."""
        self._is_subscribing, self._is_resyncing = True, False
        self._asked.clear()
        self.peers.clear()
        self._end_check(Disconnected("the connection was cut before the answer came: ask again"))

    def nudge(self) -> None:
        """Re-sends a subscription that is unanswered since the last call. Called at intervals while connected."""
        if self._is_subscribing and self._is_late:
            self.ask_again()
        self._is_late = self._is_subscribing

    def ask_again(self) -> None:
        """Subscribes again, because earlier subscriptions will not be answered."""
        if self.failure is None:
            self._asked.clear()
            self._is_resyncing = False
            self.subscribe()

    def edit(self, cell_id: str, change: Change) -> "asyncio.Future[None]":
        """Changes the local text of a cell. The future is done when the server has confirmed the edit."""
        document = self._known()
        if cell_id not in document.state["cells"] and cell_id not in self.unconfirmed:
            raise NotFound(f"no cell {cell_id} is in this notebook", code="unknown_cell")
        text = self.unconfirmed.get(cell_id) or UnconfirmedText(document.state["cells"][cell_id]["source"])
        text.type(change)
        self.unconfirmed[cell_id] = text
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.add_done_callback(ignore_unseen)
        text.waiting_for_buffer.append(future)
        self._flush(cell_id)
        return future

    def _flush(self, cell_id: str) -> None:
        text = self.unconfirmed.get(cell_id)
        if text is None or text.sent is not None or self._is_subscribing or self.document is None:
            return
        if text.is_confirmed:
            del self.unconfirmed[cell_id]
            return
        body = {"cell_id": cell_id, "base": self.document.version, "change": text.buffer}
        try:
            command_id, answer = self._sender.command(self.notebook_id, {"EditSource": body})
        except NotariumError as error:
            return self._give_up(cell_id, error)
        text.send(command_id)
        answer.add_done_callback(lambda done: self._answered(cell_id, command_id, done))

    def _answered(self, cell_id: str, command_id: str, answer: "asyncio.Future[Json]") -> None:
        """Handles the answer to an edit. Edits without effect have an ack but no event. Rejected ones lose their buffer."""
        if answer.cancelled():
            return
        error = answer.exception()
        text = self.unconfirmed.get(cell_id)
        if text is None or text.command_id != command_id:
            return
        if isinstance(error, Rejected) and error.code == "base_too_old":
            # The server no longer has the changes since the base. The mapped change is sent after `subscribed`.
            text.take_back()
            if not self._is_subscribing:
                self.subscribe()
        elif error is not None:
            self._give_up(cell_id, error if isinstance(error, Exception) else RuntimeError(str(error)))
        else:
            text.acked_version = answer.result()["version"]
            self._confirm_acked()

    def _confirm_acked(self) -> None:
        """Confirms acked edits whose version the document has reached. Before that, the event may still arrive."""
        for cell_id, text in list(self.unconfirmed.items()):
            is_there = text.acked_version is not None and self._known().version >= text.acked_version
            if is_there and text.sent is not None:
                self._confirm(cell_id)

    def _confirm(self, cell_id: str) -> None:
        self.unconfirmed[cell_id].confirm()
        self._flush(cell_id)

    def _give_up(self, cell_id: str, error: Exception) -> None:
        text = self.unconfirmed.pop(cell_id)
        if text.command_id is not None:
            self._sender.withdraw(text.command_id)
        if isinstance(error, Rejected):
            error.text = text.text
        text.give_up(error)
        self.wake()

    def check(self, version: int | None = None, expected: str | None = None) -> "asyncio.Future[bool]":
        """Compares the server's document with this one, or with the digest `expected` at `version`. One check at a time.

        A snapshot repairs a difference.
        """
        if self._is_subscribing:
            raise Disconnected("the server cannot be reached now: ask again when it can")
        if self._check is None:
            document, self._check = self._known(), asyncio.get_running_loop().create_future()
            self._check.add_done_callback(ignore_unseen)
            if expected is None and document.is_known_whole and self._can_fold:
                expected = digest(document.state)
            self._checked = {"version": document.version if version is None else version}
            if expected is not None:
                self._checked["digest"] = expected
            self._send_check(self._check)
        return self._check

    def _send_check(self, check: "asyncio.Future[bool]") -> None:
        if self._check is check:
            self._sender.send("check", notebook=self.notebook_id, **self._checked)

    def ask_later(self, seconds: float) -> None:
        """Asks again for what is unanswered, after a pause: the server could not read the notebook."""
        if self._is_subscribing:
            asyncio.get_running_loop().call_later(seconds, self._ask_again_if_waiting)
        self._check_later(seconds)

    def _ask_again_if_waiting(self) -> None:
        if self._is_subscribing:
            self.ask_again()

    def _check_later(self, seconds: float) -> None:
        if self._check is not None:
            asyncio.get_running_loop().call_later(seconds, self._send_check, self._check)

    @property
    def is_checking(self) -> bool:
        """True while a check is unanswered."""
        return self._check is not None

    @property
    def may_check(self) -> bool:
        """True if the document can be compared now."""
        document = self.document
        return document is not None and document.is_known_whole and not self._is_subscribing and not self.is_read_only

    def _known(self) -> Document:
        if self.failure is not None:
            raise self.failure
        if self.document is None:
            raise RuntimeError("the notebook is not open yet")
        return self.document

    # --- incoming ---

    def receive(self, name: str, body: Json) -> None:
        """Handles a message about this notebook."""
        handler = getattr(self, f"_on_{name}", None)
        if handler is not None:
            handler(body)
            self.wake()

    def _on_events(self, body: Json) -> None:
        events = body["events"]
        for follower in self.followers:
            follower.take(events)
        if self._is_subscribing or self.document is None:
            return
        if not self._can_fold:
            return self.subscribe(is_fresh=True)
        if body["from"] > self.document.version + 1:
            return self.subscribe()
        self._apply(events)

    def _apply(self, events: list[Json]) -> None:
        document, unconfirmed = self._known(), self.unconfirmed
        for event in events:
            if event["version"] <= document.version:
                continue
            try:
                document.apply(event)
            except (UnknownEvent, ValueError, KeyError, TypeError):
                # Unknown event or damaged state: request the server's snapshot.
                return self.subscribe(is_fresh=True)
            self.event_id = event["id"]
            if unconfirmed:
                self._hear(event)
        if unconfirmed:
            self._confirm_acked()

    def _hear(self, event: Json) -> None:
        """Confirms or rebases local edits by an event."""
        cell_id = event["payload"].get("cell_id")
        text = self.unconfirmed.get(cell_id)
        if text is None or event["type"] != "CellSourceEdited":
            return
        if text.command_id is not None and event.get("command_id") == text.command_id:
            self._confirm(cell_id)
        else:
            try:
                text.hear(event["payload"]["change"])
            except ValueError:
                self._give_up(cell_id, rejection({"code": "base_too_old", "message": _CANNOT_MERGE}))

    def _on_subscribed(self, body: Json) -> None:
        snapshot = body.get("snapshot")
        named: set[str] = set()
        if self._is_resyncing:
            self._is_resyncing = False
        elif self._asked:
            named = self._asked.popleft()
        if snapshot is not None and not named >= self.unconfirmed.keys():
            # The snapshot was requested before these local edits: subscribe again.
            return None if self._asked else self.subscribe()
        self._is_subscribing = bool(self._asked)
        self.role, self.is_read_only = body["role"], body.get("read_only", False)
        self.undo = body.get("undo", {})
        self.peers = {peer["connection"]: peer for peer in body.get("peers", [])}
        self.kernel_status = {one["kernel_session"]: one for one in body.get("kernels", [])}
        self._can_fold = body["document"] == RULES
        if snapshot is not None:
            self._take(snapshot, body)
        self._confirm_acked()
        for cell_id in list(self.unconfirmed):
            self._flush(cell_id)

    def _take(self, snapshot: Json, body: Json) -> None:
        self.healed += self.document is not None
        before = -1 if self.document is None else self.document.version
        for event in body.get("unconfirmed_events", []):
            if event["version"] > before:
                self._hear_first(event)
        for cell_id in body.get("base_too_old", []):
            if cell_id in self.unconfirmed:
                self._give_up(cell_id, rejection({"code": "base_too_old", "message": _CANNOT_MERGE}))
        self.document, self.event_id = Document(snapshot), body.get("event_id")
        for follower in self.followers:
            follower.reach(snapshot["version"])

    def _hear_first(self, event: Json) -> None:
        """Calls `_hear` without sending the buffer. It is sent after the snapshot is taken."""
        is_subscribing, self._is_subscribing = self._is_subscribing, True
        try:
            self._hear(event)
        finally:
            self._is_subscribing = is_subscribing

    def _on_resync(self, body: Json) -> None:
        self._is_resyncing = True

    def _on_checked(self, body: Json) -> None:
        differs = body.get("differs", False)
        if differs and self.unconfirmed:
            self.subscribe(is_fresh=True)
        self._end_check(not differs)

    def _end_check(self, answer: bool | Exception) -> None:
        if self._check is not None and not self._check.done():
            if isinstance(answer, Exception):
                self._check.set_exception(answer)
            else:
                self._check.set_result(answer)
        self._check = None

    def _on_access(self, body: Json) -> None:
        self.role = body["role"]
        if self.role is None:
            self.fail(Forbidden("your access to this notebook has ended: ask its owner", code="forbidden"))

    def _on_presence(self, body: Json) -> None:
        for connection in body.get("left", []):
            self.peers.pop(connection, None)
        self.peers.update({peer["connection"]: peer for peer in body.get("peers", [])})

    def _on_kernels(self, body: Json) -> None:
        self.kernel_status = {one["kernel_session"]: one for one in body["kernels"]}

    def _on_activity(self, body: Json) -> None:
        for listener in list(self.activity):
            listener(body["activity"])

    def _on_ack(self, body: Json) -> None:
        self.undo = body.get("undo", self.undo)

    def _on_error(self, body: Json) -> None:
        # A refused check does not end the subscription.
        if body["code"] == "too_many_requests":
            # The server makes one check at a time for a connection, which may be another notebook's.
            self._check_later(_BUSY_SECONDS)
        elif body["code"] in ("version_in_future", "version_too_old"):
            self._end_check(rejection(body))
        else:
            self.fail(rejection(body))

    # --- waiting ---

    def fail(self, error: Exception) -> None:
        """Ends the subscription with an error."""
        self.failure = error
        for cell_id in list(self.unconfirmed):
            self._give_up(cell_id, error)
        for follower in self.followers:
            follower.fail(error)
        self._end_check(error)
        self.wake()

    def wake(self) -> None:
        """Wakes the tasks in `until`, which test their conditions again."""
        if self._waiting:
            settle(self._waiting, None)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until a condition is true. Raises the error that ends the subscription."""
        while not holds():
            if self.failure is not None:
                raise self.failure
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    async def opened(self) -> None:
        """Waits for the first snapshot."""
        await self.until(lambda: self.document is not None)

    def source(self, cell_id: str) -> str:
        """Local text of a cell, with unconfirmed edits."""
        text = self.unconfirmed.get(cell_id)
        source: str = text.text if text is not None else self._known().state["cells"][cell_id]["source"]
        return source
