"""Answers the runtime agent's questions about the tables of this kernel's databases.

A separate thread answers, also while a cell runs. Only code that holds Python's global lock delays it.
"""

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
        except (wire.ConnectionClosed, OSError):
            return


def _answer(head: dict[str, Any]) -> dict[str, Any]:
    try:
        return {
            "described": connections.open_connections.describe(head["connection"], head["matching"], head["seconds"])
        }
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
