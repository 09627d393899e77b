"""A connection whose credentials the kernel never has: its statements go to the broker that the runtime agent starts."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

from . import wire
from .binding import BoundStatement
from .errors import Cancelled, ConnectionFailed, MissingDriver, SqlError
from .postgresql_texts import postgresql_texts
from .results import Result, ResultColumn, arrow

_GONE = (
    "the broker of the connection {name} is gone: run the cell again; if it stays away, look at the runtime agent's log"
)


MAX_ADDRESS_BYTES = 100
"""The shortest limit of all systems is 103."""


class Remote:
    """One connection of one kernel. The broker keeps it open between cells."""

    def __init__(self, address: str, name: str, kind: str, writes: bool = False):
        self.name, self.dialect, self.writes = name, kind, writes
        self.number = 0
        self.sending = threading.Lock()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connect(self.socket, address)
            self.socket.sendall(name.encode() + b"\n")
        except OSError as error:
            raise ConnectionFailed(
                f"the runtime agent offers the connection {name} no more ({error}): restart the kernel"
            ) from None

    def execute(self, bound: BoundStatement, result: Result, take: Any) -> None:
        self.number += 1
        values = [wire.packed(value) for value in bound.values]
        try:
            self.send({"execute": self.number, "sql": bound.text, "values": values, "writes": self.writes})
            self.follow(bound, result, take)
        except (wire.ConnectionClosed, OSError):
            raise ConnectionFailed(_GONE.format(name=self.name)) from None

    def send(self, head: dict[str, Any]) -> None:
        with self.sending:
            wire.send(self.socket, head)

    def follow(self, bound: BoundStatement, result: Result, take: Any) -> None:
        pa, is_wanted = arrow(), True
        while True:
            head, body = wire.receive(self.socket)
            if head.get("of") != self.number:
                continue
            if "columns" in head:
                result.columns = [ResultColumn(name, kind) for name, kind in head["columns"]]
                result.write = postgresql_texts
                result.is_plan = [column.name for column in result.columns] == ["QUERY PLAN"]
            elif "batch" in head:
                for batch in pa.ipc.open_stream(body) if is_wanted else ():
                    is_wanted = is_wanted and take(batch)
                if not is_wanted:
                    self.cancel()
            elif "error" in head:
                if is_wanted or head["error"]["kind"] != "cancelled":
                    raise _error(head["error"], bound)
                return
            else:
                result.affected = head.get("affected")
                return

    def cancel(self) -> None:
        """May come from another thread than the one that follows."""
        try:
            self.send({"cancel": self.number})
        except OSError:
            return

    def close(self) -> None:
        self.socket.close()

    def describe(self, matching: str, seconds: float) -> dict[str, Any]:
        """Tables and columns, and no row: see `catalog`."""
        self.number += 1
        try:
            self.send({"describe": self.number, "matching": matching, "seconds": seconds})
            while True:
                head, _ = wire.receive(self.socket)
                if head.get("of") != self.number:
                    continue
                if "error" in head:
                    raise _error(head["error"], BoundStatement(0, ""))
                described: dict[str, Any] = head["described"]
                return described
        except (wire.ConnectionClosed, OSError):
            raise ConnectionFailed(_GONE.format(name=self.name)) from None


def connect(channel: socket.socket, address: str) -> None:
    """A path may be longer than an address of a socket; by its open folder it is short, on Linux."""
    if len(address.encode()) <= MAX_ADDRESS_BYTES:
        return channel.connect(address)
    folder = os.open(os.path.dirname(address), os.O_RDONLY)
    try:
        return channel.connect(f"/proc/self/fd/{folder}/{os.path.basename(address)}")
    finally:
        os.close(folder)


def _error(error: dict[str, Any], bound: BoundStatement) -> SqlError:
    line = error.get("line")
    kinds = {"connection": ConnectionFailed, "driver": MissingDriver, "cancelled": Cancelled}
    kind = kinds.get(error["kind"], SqlError)
    at = bound.line + line - 1 if line else bound.line if kind is SqlError else None
    return kind(error["message"], line=at, code=error.get("code"))
