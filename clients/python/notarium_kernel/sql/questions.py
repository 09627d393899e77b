"""What the runtime agent asks of this kernel's databases: which tables they have. Answered in a thread of its own, so also while
a cell runs; only code that lets no other thread of Python run keeps it waiting."""

from __future__ import annotations

from typing import Any

from . import connections, wire
from .errors import Cancelled, ConnectionFailed, MissingDriver, SqlError, UnknownConnection


def serve(channel: Any) -> None:
    """Answers over this socket until the other side closes it."""
    while True:
        try:
            head, _ = wire.receive(channel)
            wire.send(channel, {"of": head["describe"], **_answer(head)})
        except (wire.Closed, OSError):
            return


def _answer(head: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"described": connections.kept.describe(head["connection"], head["matching"], head["seconds"])}
    except SqlError as error:
        return {"error": {"kind": _kind(error), "message": str(error)}}
    except Exception as error:
        return {"error": {"kind": "statement", "message": f"{type(error).__name__}: {error}"}}


_KINDS: list[tuple[type[SqlError], str]] = [
    (UnknownConnection, "unknown"),
    (ConnectionFailed, "connection"),
    (MissingDriver, "driver"),
    (Cancelled, "cancelled"),
]


def _kind(error: SqlError) -> str:
    return next((word for kind, word in _KINDS if isinstance(error, kind)), "statement")
