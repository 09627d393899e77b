"""The text of one cell while somebody types in it here (protocol, section 4).

At most one change is under way; what is typed meanwhile waits in a buffer. What others do is mapped over both, as
`@codemirror/collab` does it. Nothing here knows a connection.
"""

from asyncio import Future
from typing import Any

from .text import Change, apply_change, compose, map_change


class Unconfirmed:
    """What the cell says here, and what of it the server has not confirmed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sent: Change | None = None
        self.command_id: str | None = None
        self.buffer: Change | None = None
        # The version at which the server has what was sent, once it said so.
        self.acked_version: int | None = None
        # Who waits for what was sent, and who for what is in the buffer.
        self.waiting_for_sent: list[Future[None]] = []
        self.waiting_for_buffer: list[Future[None]] = []

    def type(self, change: Change) -> None:
        """Somebody types here: a change of `text`."""
        self.text = apply_change(change, self.text)
        self.buffer = change if self.buffer is None else compose(self.buffer, change)

    def send(self, command_id: str) -> Change:
        """Takes the buffer: it is under way from now on, as this command."""
        if self.buffer is None:
            raise ValueError("there is nothing to send")
        self.sent, self.command_id, self.buffer, self.acked_version = self.buffer, command_id, None, None
        self.waiting_for_sent, self.waiting_for_buffer = self.waiting_for_buffer, []
        return self.sent

    def hear(self, change: Change) -> None:
        """Somebody else changed the cell."""
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
        """What was sent stands in the record."""
        self.sent = self.command_id = None
        settle(self.waiting_for_sent, None)

    def give_up(self, error: Exception) -> None:
        """The server will not take it: everybody who waits is told."""
        self.sent = self.command_id = self.buffer = None
        settle(self.waiting_for_sent, error)
        settle(self.waiting_for_buffer, error)

    @property
    def is_confirmed(self) -> bool:
        """Whether nothing is left."""
        return self.sent is None and self.buffer is None


def ignore_unseen(future: "Future[Any]") -> None:
    """An answer that nobody waits for any more is no fault of the program."""
    if not future.cancelled():
        future.exception()


def settle(waiting: "list[Future[None]]", error: Exception | None) -> None:
    """Ends all waiting, and forgets who waited."""
    for future in waiting:
        if not future.done():
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
    waiting.clear()
