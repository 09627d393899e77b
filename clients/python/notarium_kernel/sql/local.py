"""DuckDB and SQLite in the kernel itself. They reach only what the kernel's code reaches, and need no credential."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import catalog
from .binding import BoundStatement
from .duckdb_texts import LOSSY, DuckDbTexts
from .errors import Cancelled, ConnectionFailed, MissingDriver, SqlError
from .results import BATCH_ROWS, TEXT_COLUMN, Result, ResultColumn, arrow
from .rows import of_rows
from .tokens import line_of, tokens

Take = Callable[[Any], bool]
"""Takes a batch. Returns False to end the reading."""


NO_DUCKDB = "this cell runs in DuckDB, which the kernel's Python does not have: run `%pip install duckdb` in a cell, then this again"


_OFF = (
    # Cells name data frames in braces: DuckDB must not take the kernel's variables for tables.
    "python_enable_replacements",
    "python_scan_all_frames",
    # An extension is code from the network: only a cell's own INSTALL and LOAD bring it.
    "autoinstall_known_extensions",
    "autoload_known_extensions",
)
"""Settings that are switched off. They belong to the process: none is written into the database."""


_LOSSLESS = "arrow_lossless_conversion"
_PLAN = ["explain_key", "explain_value"]
"""Columns of EXPLAIN."""


class DuckDb:
    """DuckDB in memory, or in a file."""

    dialect = "duckdb"

    def __init__(self, path: Path | None = None, writes: bool = False):
        try:
            import duckdb
        except ImportError:
            raise MissingDriver(NO_DUCKDB) from None
        self.duckdb, self.path = duckdb, path
        self.using = threading.Lock()
        try:
            self.connection = duckdb.connect(str(path)) if path and writes else self._connected(path)
        except duckdb.Error as error:
            raise ConnectionFailed(f"{path} cannot be opened: {_short(error)}") from None
        for setting in _OFF:
            self.connection.execute(f"SET {setting} = false")
        # Types that Arrow does not have come as extensions, from which their texts can be read. DuckDB has it since 1.2.
        with suppress(duckdb.Error):
            self.connection.execute(f"SET {_LOSSLESS} = true")
        self.texts = DuckDbTexts(duckdb, _OFF)
        self._settle_temporary_files()

    def _settle_temporary_files(self) -> None:
        """DuckDB writes what outgrows memory beside the data, unless the kernel has a temporary folder of its own."""
        if folder := os.environ.get("TMPDIR"):
            # The error: the kernel's code has opened the same file before, and its folder is in use.
            with suppress(self.duckdb.Error):
                self.connection.execute(f"SET temp_directory = {_quoted(os.path.join(folder, 'duckdb'))}")

    def _connected(self, path: Path | None) -> Any:
        return self.duckdb.connect(":memory:") if path is None else self.duckdb.connect(str(path), read_only=True)

    def execute(self, bound: BoundStatement, result: Result, take: Take) -> None:
        with self.using:
            self._execute_bound(bound, result, take)

    def _execute_bound(self, bound: BoundStatement, result: Result, take: Take) -> None:
        for name, table in bound.relations.items():
            self.connection.register(name, table)
        try:
            self._execute(bound, result, take)
        except self.duckdb.InterruptException:
            raise Cancelled("the statement was interrupted") from None
        except (self.duckdb.Error, RuntimeError, ValueError, NotImplementedError) as error:
            raise SqlError(bound.as_written(_short(error)), line=_line_in(str(error), bound)) from None
        finally:
            for name in bound.relations:
                self.connection.unregister(name)

    def _execute(self, bound: BoundStatement, result: Result, take: Take) -> None:
        statements = self.connection.extract_statements(bound.text)
        is_select = [each.type for each in statements] == [self.duckdb.StatementType.SELECT]
        self._select(bound, result, take) if is_select else self._other(bound, result, take)

    def _select(self, bound: BoundStatement, result: Result, take: Take) -> None:
        """Runs a SELECT as a relation. Only relations return rows as they are computed, without holding all of them."""
        try:
            relation = self.connection.sql(bound.text, params=bound.values or None)
        except self.duckdb.Error as error:
            raise self._located(error, bound) from None
        kinds = zip(relation.columns, relation.types, strict=True)
        result.columns = [ResultColumn(name, str(kind)) for name, kind in kinds]
        result.write = self.texts
        relation = _with_texts(relation, [column.type or "" for column in result.columns])
        has_extensions = any(re.search(LOSSY, column.type or "") for column in result.columns)
        if not has_extensions:
            # HUGEINT, UUID and JSON, also in lists, are numbers and texts of Arrow.
            with suppress(self.duckdb.Error):
                self.connection.execute(f"SET {_LOSSLESS} = false")
        try:
            self._read(relation, take)
        finally:
            with suppress(self.duckdb.Error):
                self.connection.execute(f"SET {_LOSSLESS} = true")

    @staticmethod
    def _read(found: Any, take: Take) -> None:
        open_reader = getattr(found, "to_arrow_reader", None) or getattr(found, "fetch_arrow_reader", None)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
            reader = open_reader(BATCH_ROWS) if open_reader else found.fetch_record_batch(BATCH_ROWS)
        try:
            for batch in reader:
                if not take(batch):
                    break
        finally:
            reader.close()

    def _located(self, error: Exception, bound: BoundStatement) -> Exception:
        """The same error with its line, which relations leave out. EXPLAIN plans the statement and does not run it."""
        if "\n\nLINE " in str(error):
            return error
        try:
            self.connection.execute(f"EXPLAIN {bound.text}", bound.values)
        except self.duckdb.Error as found:
            if str(found).splitlines()[:1] == str(error).splitlines()[:1]:
                return found
        return error

    def _other(self, bound: BoundStatement, result: Result, take: Take) -> None:
        """Runs a statement that is no SELECT, exactly once: a relation might run it again."""
        self.connection.execute(bound.text, bound.values)
        described = self.connection.description or []
        if [each[0] for each in described] == ["Count"]:
            counted = self.connection.fetchone()
            result.affected = counted[0] if counted else None
        elif described:
            result.columns = [ResultColumn(each[0], str(each[1])) for each in described]
            result.write, result.is_plan = self.texts, [each[0] for each in described] == _PLAN
            arrow()
            self._read(self.connection, take)

    def cancel(self) -> None:
        self.connection.interrupt()

    def close(self) -> None:
        self.connection.close()

    def describe(self, matching: str, seconds: float) -> dict[str, Any]:
        """Lists tables and columns, from any thread. Reads no rows. While a statement runs, temporary tables are left out."""
        if self.using.acquire(blocking=False):
            try:
                return self._describe(self.connection, matching, seconds)
            except (self.duckdb.Error, RuntimeError):
                # Such as in a failed transaction: try a connection beside it.
                pass
            finally:
                self.using.release()
        with self.connection.cursor() as beside:
            try:
                return self._describe(beside, matching, seconds)
            except self.duckdb.InterruptException:
                raise Cancelled(_LATE.format(seconds=seconds)) from None
            except (self.duckdb.Error, RuntimeError) as error:
                raise SqlError(_short(error)) from None

    def _describe(self, connection: Any, matching: str, seconds: float) -> dict[str, Any]:
        with _within(seconds, connection.interrupt):
            return catalog.of_duckdb(connection, matching)


def _with_texts(relation: Any, types: list[str]) -> Any:
    """Adds texts of nested columns: Arrow does not bring all that is in them back to DuckDB."""
    nested = [at for at, kind in enumerate(types) if re.search(r"\]$|^(?:STRUCT|MAP|UNION)\(", kind)]
    if not nested:
        return relation
    # Arrow cannot tell a union that is NULL from one that holds NULL.
    unions = {at for at in nested if "UNION(" in types[at]}
    columns = [f"CAST(#{at + 1} AS VARCHAR)" if at in unions else f"#{at + 1}" for at in range(len(types))]
    columns += [f'CAST(#{at + 1} AS VARCHAR) AS "{TEXT_COLUMN}{at}"' for at in nested if at not in unions]
    return relation.project(", ".join(columns))


def _short(error: BaseException) -> str:
    """First paragraph of the message. DuckDB's excerpt of the statement shows placeholders."""
    return str(error).split("\n\nLINE ")[0].strip()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _line_in(message: str, bound: BoundStatement) -> int:
    """Line of the cell. DuckDB tells none for a table that DESCRIBE, COPY or DELETE name: their first use is meant."""
    if found := re.search(r"^LINE (\d+):", message, re.M):
        return bound.line + int(found[1]) - 1
    if found := re.search(r'Table with name "?(.+?)"? does not exist', message):
        words = (each for each in tokens(bound.text, "duckdb") if each.kind in ("word", "name"))
        at = next((each.at for each in words if each.text.strip('"').lower() == found[1].lower()), 0)
        return bound.line + line_of(bound.text, at) - 1
    return bound.line


class Sqlite:
    """SQLite in a file. Without `writes` it is opened read-only."""

    dialect = "sqlite"

    def __init__(self, path: Path, writes: bool = False, *, runs_cells: bool = True):
        self.path, self.writes, mode = path, writes, "rw" if writes else "ro"
        self.using = threading.Lock()
        try:
            # Each statement runs in another thread; never two at the same time.
            self.connection = sqlite3.connect(
                f"file:{quote(str(path))}?mode={mode}", uri=True, check_same_thread=False, isolation_level=None
            )
            self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise ConnectionFailed(f"{path} cannot be opened as SQLite: {error}") from None
        if not writes and runs_cells:
            self.connection.set_authorizer(_reads)

    def execute(self, bound: BoundStatement, result: Result, take: Take) -> None:
        with self.using:
            self._execute(bound, result, take)

    def _execute(self, bound: BoundStatement, result: Result, take: Take) -> None:
        before = self.connection.total_changes
        cursor = self.connection.cursor()
        try:
            cursor.execute(bound.text, [_storable(value) for value in bound.values])
            if cursor.description is None:
                if cursor.rowcount >= 0:
                    result.affected = self.connection.total_changes - before
                return
            result.columns = [ResultColumn(each[0]) for each in cursor.description]
            while rows := cursor.fetchmany(BATCH_ROWS):
                if not take(of_rows([column.name for column in result.columns], rows)):
                    return
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise Cancelled("the statement was interrupted") from None
            raise SqlError(_advice(error), line=_line_of_sqlite(str(error), bound)) from None
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise SqlError(_advice(error), line=_line_of_sqlite(str(error), bound)) from None
        finally:
            cursor.close()

    def cancel(self) -> None:
        self.connection.interrupt()

    def close(self) -> None:
        self.connection.close()

    def describe(self, matching: str, seconds: float) -> dict[str, Any]:
        """Lists tables and columns, from any thread. Reads no rows. While a statement runs, temporary tables are left out."""
        # A read-only connection has no temporary tables, and may not read an index for full text.
        if self.writes and self.using.acquire(blocking=False):
            try:
                return self._describe(self.connection, matching, seconds)
            finally:
                self.using.release()
        beside = Sqlite(self.path, runs_cells=False)
        try:
            return self._describe(beside.connection, matching, seconds)
        finally:
            beside.close()

    def _describe(self, connection: sqlite3.Connection, matching: str, seconds: float) -> dict[str, Any]:
        try:
            with _within(seconds, connection.interrupt):
                return catalog.of_sqlite(connection, matching)
        except sqlite3.Error as error:
            if "interrupted" in str(error):
                raise Cancelled(_LATE.format(seconds=seconds)) from None
            raise SqlError(str(error)) from None


_NAMED_BY_SQLITE = re.compile(
    r'^near "(.+)": syntax error|^(?:no such (?:column|table|function)|ambiguous column name): (?:.*\.)?(.+)$'
)


def _line_of_sqlite(message: str, bound: BoundStatement) -> int:
    """Line of the one word that SQLite's message names. SQLite tells no place: a word that is there twice leaves the first line."""
    found = _NAMED_BY_SQLITE.search(message)
    if not found:
        return bound.line
    word = (found[1] or found[2]).lower()
    places = [each.at for each in tokens(bound.text, "sqlite") if each.text.strip('"[]`').lower() == word]
    return bound.line + line_of(bound.text, places[0]) - 1 if len(places) == 1 else bound.line


_LATE = "the database did not tell its tables within {seconds:g} s: ask again, or for fewer"


@contextmanager
def _within(seconds: float, interrupt: Callable[[], None]) -> Generator[None, None, None]:
    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_READING_PRAGMAS = {
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "foreign_key_list",
    "database_list",
}


def _reads(action: int, first: str | None, second: str | None, *_: Any) -> int:
    """Authorizer of a read-only connection: it cannot write the file, nor attach another one."""
    is_allowed = (
        action in _READING
        or action == sqlite3.SQLITE_FUNCTION
        and second != "load_extension"
        or action == sqlite3.SQLITE_PRAGMA
        and str(first).lower() in _READING_PRAGMAS
    )
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _advice(error: Exception) -> str:
    message = str(error)
    if "readonly database" in message or "not authorized" in message:
        return f"{message}, for this cell is read-only: one that writes says so in its first line, as in `-- @connection write`"
    return message


def _storable(value: Any) -> Any:
    """Converts a value for SQLite, which has numbers, texts and bytes. Dates become the texts that its functions read."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    return value.isoformat(" ") if hasattr(value, "hour") and hasattr(value, "year") else str(value)
