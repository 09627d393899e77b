"""Text of one cell with local edits that are not confirmed (protocol, section 4).

At most one change is in flight; later edits wait in a buffer. Changes by others are mapped over both, as in
`@codemirror/collab`. This module has no connection.
"""

from asyncio import Future
from typing import Any

from .text import Change, apply_change, compose, map_change


class UnconfirmedText:
    """Local text of a cell, and its changes that the server has not confirmed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sent: Change | None = None
        self.command_id: str | None = None
        self.buffer: Change | None = None
        # Version in the ack of the sent change.
        self.acked_version: int | None = None
        # Futures of callers that wait for the sent change, and for the buffer.
        self.waiting_for_sent: list[Future[None]] = []
        self.waiting_for_buffer: list[Future[None]] = []

    def type(self, change: Change) -> None:
        """Applies a local change of `text` and adds it to the buffer."""
        self.text = apply_change(change, self.text)
        self.buffer = change if self.buffer is None else compose(self.buffer, change)

    def send(self, command_id: str) -> Change:
        """Moves the buffer into flight as this command, and returns it."""
        if self.buffer is None:
            raise ValueError("there is nothing to send")
        self.sent, self.command_id, self.buffer, self.acked_version = self.buffer, command_id, None, None
        self.waiting_for_sent, self.waiting_for_buffer = self.waiting_for_buffer, []
        return self.sent

    def hear(self, change: Change) -> None:
        """Applies a change by others, and rebases the local changes over it."""
        over_sent = change
        if self.sent is not None:
            over_sent = map_change(change, self.sent, True)
            self.sent = map_change(self.sent, change)
        shown = over_sent
        if self.buffer is not None:
            shown = map_change(over_sent, self.buffer, True)
            self.buffer = map_change(self.buffer, over_sent)
        self.text = apply_change(shown, self.text)

    def confirm(self) -> None:
        """Marks the sent change as confirmed."""
        self.sent = self.command_id = None
        settle(self.waiting_for_sent, None)

    def take_back(self) -> None:
        """Puts the refused sent change back before the buffer. It is sent again as another command."""
        if self.sent is not None:
            self.buffer = self.sent if self.buffer is None else compose(self.sent, self.buffer)
        self.sent = self.command_id = None
        self.waiting_for_buffer = [*self.waiting_for_sent, *self.waiting_for_buffer]
        self.waiting_for_sent = []

    def give_up(self, error: Exception) -> None:
        """Drops all local changes after a rejection. Waiting callers receive the error."""
        self.sent = self.command_id = self.buffer = None
        settle(self.waiting_for_sent, error)
        settle(self.waiting_for_buffer, error)

    @property
    def is_confirmed(self) -> bool:
        """True if no change is in flight or in the buffer."""
        return self.sent is None and self.buffer is None


def ignore_unseen(future: "Future[Any]") -> None:
    """Retrieves a future's exception, so that asyncio does not log it if no caller waits."""
    if not future.cancelled():
        future.exception()


def settle(waiting: "list[Future[None]]", error: Exception | None) -> None:
    """Completes all futures of the list and clears it."""
    for future in waiting:
        if not future.done():
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
    waiting.clear()
