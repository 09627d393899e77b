"""WebSocket connection that reconnects (protocol, section 1), with its unanswered commands (section 3)."""

import asyncio
import contextlib
import json
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from .document import Json
from .errors import Disconnected, LimitExceeded, NotariumError, Unauthenticated, UnsupportedProtocol, rejection
from .ids import new_id
from .replica import Replica
from .unconfirmed import ignore_unseen

_LOG = logging.getLogger("notarium")

_DECODER = json.JSONDecoder()

PROTOCOL = 1
# The server allows 256 on a connection before it reads more slowly.
_MOST_UNANSWERED = 200
# Retries after `unavailable` before the caller receives the error.
_MOST_ATTEMPTS = 6
_CHECK_EVERY_SECONDS = 20.0


class Wire(Protocol):
    """Connection of text frames. Raises `ConnectionError` when it is lost."""

    async def send(self, text: str) -> None: ...

    async def receive(self) -> str: ...

    async def close(self) -> None: ...


Dial: TypeAlias = Callable[[], Awaitable[Wire]]


class PendingCommand:
    """Unanswered command. Its text is stored, because a retry with the same id must have the same bytes."""

    def __init__(self, command_id: str, notebook: str, text: str, answer: "asyncio.Future[Json]") -> None:
        self.id, self.notebook, self.text, self.answer = command_id, notebook, text, answer
        self.is_sent, self.is_withdrawn, self.attempts = False, False, 0


def backoff(attempt: int) -> float:
    """Seconds before the next attempt: doubled each time up to 30, with jitter."""
    return float(min(0.5 * 2 ** min(attempt, 10), 30.0)) * random.uniform(0.5, 1.5)


class Connection:
    """Sends and receives for all notebooks of a client. After a disconnect it resumes."""

    def __init__(self, dial: Dial, token: str, client: str, *, rest: Callable[[int], float] = backoff) -> None:
        self.welcome: Json = {}
        self.replicas: dict[str, Replica] = {}
        self.pending: dict[str, PendingCommand] = {}
        self.failure: Exception | None = None
        self.check_every = _CHECK_EVERY_SECONDS
        self._dial, self._token, self._client, self._rest = dial, token, client, rest
        self._wire: Wire | None = None
        self._outbox: list[str] = []
        self._unsent: deque[str] = deque()
        # Commands of notebooks not yet subscribed on this connection. The subscription decides which of them are still valid.
        self._held: dict[str, list[str]] = {}
        self._unanswered = 0
        self._has_mail = asyncio.Event()
        self._is_closed = False
        self._first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Connects. Raises the error if the first attempt fails."""
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._check_now_and_then())]
        try:
            await self._first
        except BaseException:
            await self.close()
            raise

    @property
    def is_connected(self) -> bool:
        """True while the connection is up."""
        return self._wire is not None

    async def close(self) -> None:
        """Closes the connection and ends its tasks."""
        self._is_closed = True
        wire, self._wire = self._wire, None
        if wire is not None:
            with contextlib.suppress(ConnectionError):
                await wire.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._fail(Disconnected("the connection was closed"))

    # --- the socket ---

    async def _run(self) -> None:
        attempt = 0
        while not self._is_closed and self.failure is None:
            try:
                wire = await self._dial()
                attempt = 0 if await self._serve(wire) else attempt + 1
            except (NotariumError, ConnectionError) as error:
                attempt += 1
                self._refused(error)
            except Exception as error:
                self._fail(Disconnected(f"the server sent what this client does not understand: {error!r}"))
                raise
            if not self._is_closed and self.failure is None:
                await asyncio.sleep(self._rest(attempt))

    def _refused(self, error: Exception) -> None:
        """Fails on any error of the first attempt, later only on errors that a retry cannot fix."""
        if isinstance(error, Unauthenticated | UnsupportedProtocol) or not self._first.done():
            self._fail(error)

    async def _serve(self, wire: Wire) -> bool:
        """Serves one connection until it is lost. Returns True if the server had sent `welcome`."""
        # Messages for the previous connection are dropped: subscriptions and commands are sent again below.
        self._outbox.clear()
        self._has_mail.clear()
        writer = asyncio.create_task(self._write(wire))
        try:
            hello = {"protocols": {"min": PROTOCOL, "max": PROTOCOL}, "token": self._token, "client": self._client}
            await wire.send(json.dumps({"hello": hello}))
            while True:
                self._receive(wire, await wire.receive())
        except ConnectionError as error:
            if not self._first.done():
                raise Disconnected(f"the server closed the connection: {error}") from error
            return self._wire is wire
        finally:
            self._wire = None
            writer.cancel()
            for replica in self.replicas.values():
                replica.disconnected()
            with contextlib.suppress(ConnectionError):
                await wire.close()

    async def _write(self, wire: Wire) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await self._has_mail.wait()
                self._has_mail.clear()
                texts, self._outbox = self._outbox, []
                for text in texts:
                    await wire.send(text)

    def _receive(self, wire: Wire, text: str) -> None:
        ((name, body),) = _DECODER.raw_decode(text)[0].items()
        if name in ("ack", "reject"):
            self._on_answer(name, body)
        elif name == "welcome":
            self._on_welcome(wire, body)
        elif name == "error" and body.get("fatal"):
            self._on_fatal(body)
        elif "notebook" in body:
            replica = self.replicas.get(body["notebook"])
            if replica is not None and name == "error" and body["code"] == "unavailable":
                # Only this notebook is unavailable: keep the connection.
                replica.ask_later(self._rest(1))
                return
            if replica is not None:
                replica.receive(name, body)
            if name in ("subscribed", "error"):
                self._unsent.extendleft(reversed(self._held.pop(body["notebook"], ())))
                self._pump()
        elif name == "error":
            _LOG.warning("the server says: %s (%s)", body.get("message"), body.get("code"))

    def _on_welcome(self, wire: Wire, body: Json) -> None:
        if body["protocol"] != PROTOCOL:
            message = f"the server speaks protocol {body['protocol']}, this client {PROTOCOL}: update the older one"
            raise UnsupportedProtocol(message)
        self.welcome, self._wire = body, wire
        for replica in self.replicas.values():
            replica.subscribe()
        self.pending = {key: pending for key, pending in self.pending.items() if not pending.is_withdrawn}
        for pending in self.pending.values():
            pending.is_sent = False
        self._unsent, self._unanswered = deque(self.pending), 0
        self._held = {notebook: [] for notebook in self.replicas}
        self._pump()
        if not self._first.done():
            self._first.set_result(None)

    def _on_fatal(self, body: Json) -> None:
        if body["code"] == "unsupported_protocol":
            raise UnsupportedProtocol(body["message"])
        error = rejection(body)
        if body["code"] in ("unauthenticated", "forbidden"):
            self._fail(error)
        raise error

    def send(self, message: str, **fields: Any) -> None:
        """Sends a message if connected, else drops it. Reconnecting re-sends subscriptions and commands."""
        if self._wire is not None:
            self._outbox.append(json.dumps({message: fields}))
            self._has_mail.set()

    def _fail(self, error: Exception) -> None:
        """Ends the connection for good: all pending commands and replicas receive the error."""
        self.failure = self.failure or error
        if not self._first.done():
            self._first.set_exception(error)
        pending, self.pending = self.pending, {}
        for command in pending.values():
            if not command.answer.done():
                command.answer.set_exception(error)
        for replica in list(self.replicas.values()):
            replica.fail(error)

    async def _check_now_and_then(self) -> None:
        """Compares the documents with the server's at intervals."""
        checked: dict[str, int] = {}
        while True:
            await asyncio.sleep(self.check_every)
            for notebook, replica in list(self.replicas.items() if self.is_connected else ()):
                replica.nudge()
                version = 0 if replica.document is None else replica.document.version
                if replica.may_check and checked.get(notebook) != version:
                    checked[notebook] = version
                    replica.check()

    # --- commands ---

    def command(
        self,
        notebook: str,
        body: Json,
        *,
        expected_version: int | None = None,
        correlation_id: str | None = None,
    ) -> "tuple[str, asyncio.Future[Json]]":
        """Sends a command, also again after each reconnect. Returns its id and a future of the ack or rejection."""
        if self.failure is not None:
            raise self.failure
        command: Json = {"id": new_id(), "notebook": notebook}
        if expected_version is not None:
            command["expected_version"] = expected_version
        if correlation_id is not None:
            command["correlation_id"] = correlation_id
        text = json.dumps({"command": command | {"body": body}})
        most = self.welcome["max_frame_bytes"]
        if len(text) > most:
            message = f"this command has {len(text):,} bytes, and the server takes {most:,}: send less at once"
            details = {"kind": "limit", "limit": "frame", "max": most, "unit": "bytes"}
            raise LimitExceeded(message, code="limit_exceeded", details={"details": details})
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(ignore_unseen)
        self.pending[command["id"]] = PendingCommand(command["id"], notebook, text, answer)
        self._unsent.append(command["id"])
        self._pump()
        return command["id"], answer

    def withdraw(self, command_id: str) -> None:
        """Drops a command whose caller no longer waits. It is not sent again."""
        pending = self.pending.get(command_id)
        if pending is not None and pending.is_sent:
            pending.is_withdrawn = True
        else:
            self.pending.pop(command_id, None)

    def _pump(self) -> None:
        """Sends queued commands up to the limit of unanswered ones."""
        while self._wire is not None and self._unsent and self._unanswered < _MOST_UNANSWERED:
            pending = self.pending.get(self._unsent.popleft())
            if pending is None or pending.is_sent:
                continue
            if pending.notebook in self._held:
                self._held[pending.notebook].append(pending.id)
            else:
                pending.is_sent = True
                self._unanswered += 1
                self._outbox.append(pending.text)
                self._has_mail.set()

    def _on_answer(self, name: str, body: Json) -> None:
        replica = self.replicas.get(body.get("notebook", ""))
        if replica is not None:
            replica.receive(name, body)
        pending = self.pending.get(body["id"])
        if pending is None:
            return
        self._unanswered -= pending.is_sent
        pending.is_sent = False
        if body.get("code") == "unavailable" and pending.attempts < _MOST_ATTEMPTS:
            pending.attempts += 1
            asyncio.get_running_loop().call_later(self._rest(pending.attempts), self._again, body["id"])
            return
        del self.pending[body["id"]]
        if not pending.answer.done():
            if name == "ack":
                pending.answer.set_result(body)
            else:
                pending.answer.set_exception(rejection(body))
        self._pump()

    def _again(self, command_id: str) -> None:
        self._unsent.append(command_id)
        self._pump()
