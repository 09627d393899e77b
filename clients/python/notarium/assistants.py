"""Assistants: turns that work in the notebook, and tool calls that wait for confirmation."""

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

from . import events
from .document import Json
from .errors import NotariumError
from .event import Event
from .history import EventStream
from .ids import new_id
from .link import NotebookLink
from .portal import Stream
from .session import FOR_EVER


class ToolCall:
    """Tool call that an assistant requested. Destructive calls wait until a person confirms them."""

    def __init__(self, notebook: NotebookLink, call_id: str) -> None:
        self._notebook, self._id = notebook, call_id
        self._last: Json = {}
        self._end: Event | None = None

    @property
    def id(self) -> str:
        """The call's id. Events that the call caused have it as `correlation_id`."""
        return self._id

    @property
    def _json(self) -> Json:
        self._last = self._notebook._state.get("tool_calls", {}).get(self._id, self._last)
        return self._last

    @property
    def function(self) -> str:
        """Name of the tool, or of the function that a user has registered."""
        return str(self._json.get("function", ""))

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the call, as JSON."""
        return dict(self._json.get("arguments", {}))

    @property
    def risk(self) -> str:
        """`read`, `edit`, `sensitive` or `destructive`."""
        return str(self._json.get("risk", "destructive"))

    @property
    def reasons(self) -> list[str]:
        """Sentences that explain the risk."""
        return list(self._json.get("reasons", ()))

    @property
    def is_over(self) -> bool:
        """True once the call has ended in any way."""
        return self._id not in self._notebook._state.get("tool_calls", {})

    @property
    def is_waiting(self) -> bool:
        """True while the call waits for a person's confirmation."""
        phase = self._json.get("phase", {}).get("phase")
        return not self.is_over and phase not in ("passed", "confirmed", "started")

    @property
    def result(self) -> str | None:
        """Result that the assistant received. None before the call is executed, or if this client does not follow its turn."""
        return self._end.result if isinstance(self._end, events.ToolCallExecuted) else None

    async def details(self) -> dict[str, Any]:
        """Reads the call as JSON. A waiting call includes its preview: the diff, the deletions and the code to run."""
        details: Json = await self._notebook._session.rest.get(f"/api/notebooks/{self._notebook.id}/calls/{self._id}")
        return details

    async def confirm(self) -> None:
        """Confirms the call once, if the cells it changes are unchanged. Needs a person, or a token with the scope `confirm`."""
        await self._notebook._command("ConfirmToolCall", call_id=self._id, arguments_hash=self._json["arguments_hash"])

    async def deny(self, reason: str | None = None) -> None:
        """Denies the call. The assistant receives the reason."""
        await self._notebook._command("DenyToolCall", call_id=self._id, detail=reason)

    async def withdraw(self) -> None:
        """Withdraws the call before it starts."""
        await self._notebook._command("WithdrawToolCall", call_id=self._id)

    async def undo(self) -> None:
        """Undoes the call's changes, also after later edits by others. Runs are not undone."""
        await self._notebook._command("Undo", correlation_id=self._id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCall) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        state = "over" if self.is_over else "waits for a person" if self.is_waiting else "under way"
        return f"<ToolCall {self.function} {self.risk} {state}>"


class TurnFailed(NotariumError):
    """The assistant's turn failed or was cancelled. `turn.raise_for_status()` raises it."""

    code = "turn_failed"


class Turn:
    """One turn of an assistant: its answer to one message, with the tool calls it makes."""

    def __init__(self, notebook: NotebookLink, turn_id: str, conversation: str, timeout: float | None) -> None:
        self._notebook, self._id, self._conversation, self._timeout = notebook, turn_id, conversation, timeout
        self._calls: dict[str, ToolCall] = {}
        self._texts: list[str] = []
        self._end: Event | None = None
        self._failure: Exception | None = None
        self._deltas: list[str] = []
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def _start(
        cls,
        notebook: NotebookLink,
        text: str | None,
        cell_id: str | None,
        conversation: str | None,
        model: str | None,
        timeout: float | None,
    ) -> "Turn":
        turn = cls(notebook, new_id(), conversation or new_id(), timeout)
        stream = EventStream(notebook._session, notebook._replica, notebook.version, True)
        fields = {"conversation_id": turn._conversation, "turn_id": turn._id, "text": text, "cell_id": cell_id}
        notebook._replica.activity.add(turn._hear)
        try:
            await notebook._command("StartTurn", **fields, model=model)
        except BaseException:
            await turn.close()
            raise
        turn._task = asyncio.create_task(turn._follow(stream))
        return turn

    async def __aenter__(self) -> "Turn":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.wait(self._timeout)
            elif not self.is_over:
                with contextlib.suppress(NotariumError):
                    await self.cancel()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stops following the turn. The assistant continues; `cancel` stops it."""
        self._notebook._replica.activity.discard(self._hear)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self, stream: EventStream) -> None:
        try:
            async for event in stream:
                self._take(event)
                self._notebook._replica.wake()
                if self._end is not None:
                    return
        except Exception as error:
            self._failure = error
            self._notebook._replica.wake()
        finally:
            await stream.aclose()

    async def _until(self, holds: Callable[[], bool]) -> None:
        """Waits until a condition is true. Raises the error after which no event of the turn comes."""
        await self._notebook._replica.until(lambda: holds() or self._failure is not None)
        if self._failure is not None and not holds():
            raise self._failure

    def _take(self, event: Event) -> None:
        payload = event.payload
        if isinstance(event, events.ToolCallRequested) and event.turn_id == self._id:
            call = ToolCall(self._notebook, event.call_id)
            call._last = payload
            self._calls[call.id] = call
        elif isinstance(event, events.MessagePosted) and event.turn_id == self._id and event.role == "assistant":
            blocks = [block["text"]["text"] for block in event.blocks if isinstance(block, dict) and "text" in block]
            self._texts += ["".join(blocks)] if blocks else []
        elif isinstance(event, events.TurnFinished | events.TurnCancelled | events.TurnFailed):
            self._end = event if payload["turn_id"] == self._id else self._end
        elif payload.get("call_id") in self._calls and event.type not in ("ToolCallStarted", "ToolCallConfirmed"):
            self._calls[payload["call_id"]]._end = event

    def _hear(self, activity: list[Json]) -> None:
        for one in activity:
            if one.get("turn_id") == self._id and one["what"]["type"] == "text_delta":
                self._deltas.append(one["what"]["text"])

    # --- properties ---

    @property
    def id(self) -> str:
        """The turn's id."""
        return self._id

    @property
    def conversation(self) -> str:
        """Id of the conversation. `nb.turn("…", conversation=turn.conversation)` continues it."""
        return self._conversation

    @property
    def text(self) -> str:
        """The assistant's messages so far, separated by blank lines."""
        return "\n\n".join(text for text in self._texts if text)

    @property
    def calls(self) -> list[ToolCall]:
        """Tool calls that the turn has requested so far."""
        return list(self._calls.values())

    @property
    def is_over(self) -> bool:
        """True once the turn has ended."""
        return self._end is not None

    @property
    def status(self) -> str:
        """`running`, `finished`, `cancelled` or `failed`."""
        return "running" if self._end is None else self._end.type.removeprefix("Turn").lower()

    # --- methods ---

    def stream(self) -> Stream[str]:
        """Streams text as the model writes it, until the turn ends. A model call may be retried, so only `text` is final."""
        return _TextStream(self)

    def waiting(self) -> Stream[ToolCall]:
        """Streams each call that waits for a person once, until the turn ends. `confirm` or `deny` them."""
        return _WaitingCalls(self)

    async def wait(self, timeout: float | None = None) -> "Turn":
        """Waits until the turn ends, at most `timeout` seconds (None: no limit). Calls wait up to a day for a person."""
        await self._notebook._within(
            self._until(lambda: self._end is not None),
            "the assistant has not finished",
            FOR_EVER if timeout is None else timeout,
        )
        return self

    async def cancel(self) -> None:
        """Cancels the turn. Its changes remain and can be undone."""
        await self._notebook._command("CancelTurn", turn_id=self._id)

    async def undo(self) -> None:
        """Undoes all changes of the turn, also after later edits by others. Runs are not undone."""
        await self._notebook._command("Undo", turn_id=self._id)

    def raise_for_status(self) -> "Turn":
        """Raises `TurnFailed` if the turn failed or was cancelled."""
        if self._end is not None and not isinstance(self._end, events.TurnFinished):
            payload = self._end.payload
            raise TurnFailed(str(payload.get("detail") or payload.get("cause") or f"the turn was {self.status}"))
        return self

    def __repr__(self) -> str:
        return f"<Turn {self.status}, {len(self._calls)} calls>"

    def _repr_markdown_(self) -> str:
        return self.text


class _TextStream(Stream[str]):
    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    async def batch(self) -> list[str]:
        await self._turn._until(lambda: bool(self._turn._deltas) or self._turn.is_over)
        words, self._turn._deltas = self._turn._deltas, []
        return words


class _WaitingCalls(Stream[ToolCall]):
    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._given: set[str] = set()

    def _news(self) -> list[ToolCall]:
        return [call for call in self._turn.calls if call.is_waiting and call.id not in self._given]

    async def batch(self) -> list[ToolCall]:
        await self._turn._until(lambda: bool(self._news()) or self._turn.is_over)
        calls = self._news()
        self._given.update(call.id for call in calls)
        return calls
