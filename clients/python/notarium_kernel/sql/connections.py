"""Connections of the kernel: those that the operator named, files of the working folder, and DuckDB in memory."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import header
from .errors import ConnectionFailed, MissingDriver, SqlError, UnknownConnection
from .local import NO_DUCKDB, DuckDb, Sqlite
from .remote import Remote

VARIABLE = "NOTARIUM_CONNECTIONS"
"""Set by the runtime agent: names and kinds, and where the brokers are. No URL, no credential."""

FILES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
"""Kinds of databases by suffix of a file in the working folder: `-- @data/shop.sqlite`."""

DESCRIBE_SECONDS = 10.0
"""Time limit for listing the tables of a database."""

_SQLITE_BEGINS = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Connection:
    name: str
    kind: str
    """`postgresql`, `sqlite` or `duckdb`."""
    writes: bool = False
    """True if a cell that says `write` may write."""
    path: str | None = None
    """Path, if the operator named a file."""


def _told() -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(os.environ.get(VARIABLE) or "{}")
        return told
    except ValueError:
        return {}


def named() -> list[Connection]:
    """Connections that the operator named."""
    return [
        Connection(each["name"], each["kind"], each.get("writes", False), each.get("path"))
        for each in _told().get("connections", [])
    ]


def dialect(name: str) -> str:
    """SQL dialect of a connection."""
    return _find(name).kind


def _find(name: str) -> Connection:
    for connection in named():
        if connection.name == name:
            return connection
    if name == header.DEFAULT:
        return Connection(name, "duckdb", writes=True)
    kind = FILES.get(Path(name).suffix.lower())
    if kind is None:
        known = ", ".join([*(connection.name for connection in named()), header.DEFAULT])
        raise UnknownConnection(
            f"there is no connection {name!r}; there are: {known}. Whoever runs the agent names them (notarium agent "
            "--connection NAME=URL); a file of the working folder is named by its path, as in `-- @data/shop.sqlite`"
        )
    return Connection(name, kind, writes=True, path=name)


class OpenConnections:
    """The connections that this kernel has opened. They stay open: temporary tables live from cell to cell."""

    def __init__(self) -> None:
        self.opened: dict[tuple[str, bool], Any] = {}
        # Questions about tables come in a thread of their own.
        self.changing = threading.RLock()

    def engine(self, name: str, writes: bool) -> Any:
        with self.changing:
            return self._engine(name, writes)

    def _engine(self, name: str, writes: bool) -> Any:
        connection = _find(name)
        if writes and not connection.writes:
            raise SqlError(
                f"the connection {name} is for reading alone: whoever runs the agent lets it write with --connection-writes {name}"
            )
        if name == header.DEFAULT and connection.path is None:
            writes = False
        key = (name, writes)
        if key not in self.opened:
            if connection.path is not None:
                self.close(name)
            self.opened[key] = self._made(connection, writes)
        return self.opened[key]

    def close(self, name: str) -> None:
        """Closes the connection. Two connections to one file block each other."""
        with self.changing:
            for key in [key for key in self.opened if key[0] == name]:
                self.opened.pop(key).close()

    def describe(self, name: str, matching: str = "", seconds: float = DESCRIBE_SECONDS) -> dict[str, Any]:
        """Lists tables and columns, and reads no rows (`catalog`). Any thread may call it, also while a cell runs."""
        connection = _find(name)
        if connection.kind == "postgresql":
            return self._described_apart(connection, matching, seconds)
        with self.changing:
            engine = self.opened.get((name, True)) or self.opened.get((name, False))
            if engine is None and connection.path is not None:
                # The lock keeps the file from being opened for writing meanwhile: two connections to one file block each other.
                return self._described_apart(connection, matching, seconds)
        if engine is not None:
            described: dict[str, Any] = engine.describe(matching, seconds)
            return described
        if importlib.util.find_spec("duckdb") is None:
            raise MissingDriver(NO_DUCKDB)
        return {"kind": "duckdb", "tables": []}

    def _described_apart(self, connection: Connection, matching: str, seconds: float) -> dict[str, Any]:
        """Lists tables by a separate connection, so that a running cell is not disturbed."""
        engine = self._made(connection, False)
        try:
            described: dict[str, Any] = engine.describe(matching, seconds)
            return described
        finally:
            engine.close()

    def _made(self, connection: Connection, writes: bool) -> Any:
        if connection.kind == "postgresql":
            return Remote(_told().get("socket", ""), connection.name, connection.kind, writes)
        if connection.path is None:
            return DuckDb()
        path = Path(connection.path)
        if not path.exists() and not writes:
            raise UnknownConnection(
                f"there is no file {connection.path}: a cell that makes it says so, as in `-- @{connection.path} write`"
            )
        if connection.kind == "sqlite" and not path.exists():
            path.touch()
        is_sqlite = path.exists() and (path.stat().st_size == 0 or path.open("rb").read(16) == _SQLITE_BEGINS)
        if connection.kind == "sqlite" and not is_sqlite:
            raise ConnectionFailed(f"{connection.path} is no SQLite database")
        return Sqlite(path, writes) if connection.kind == "sqlite" else DuckDb(path, writes)


open_connections = OpenConnections()
