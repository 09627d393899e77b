"""The broker of one connection: the one process that has its URL. The runtime agent starts it outside the kernel's sandbox.

It speaks with one kernel (or with the agent, which asks for tables and columns) over the socket that is its standard output,
and ends with it. Its standard input gives it, one JSON line, the connection and this code, with `wire.py`, `loading.py`,
`catalog.py` and `reading.py` before it in one namespace: nothing of it is read from a place that a kernel could have written.
What it writes to standard error goes to the agent's log. One line there is a question: whether the run that has the kernel may
write to databases. The agent answers with a number on standard input. It asks when a statement arrives, and again before the
statement runs: one that was sent in a run without the right does not wait for a run that has it.
"""

from __future__ import annotations

import os
import queue
import re
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    # At run time these files come before this one in the same namespace.
    from .catalog import of_postgresql
    from .loading import ColumnLoader, batch_of, column_loader
    from .reading import effect_of
    from .wire import receive, send, unpacked

CONNECT_SECONDS = 15
CANCEL_AGAIN_SECONDS = 0.2
LAST_CANCEL_SECONDS = 3
BATCH_ROWS = 8_192
FIRST_ROWS = 1_000
_INSTALL = "the connection {name} needs {packages} in the Python of the runtime agent's kernels ({python}): {python} -m pip install {packages}"


MAY_WRITE = "\0may write"
"""The question to the agent. No other line begins with this character."""
_NOT_IN_THIS_RUN = (
    'this run may not write to databases: ask for it with effects: ["database"], or let a person run the cell'
)


class RequestRefused(Exception):
    """Refusal of a request. `kind` selects the class of the error in the kernel."""

    def __init__(self, kind: str, message: str, code: str | None = None, line: int | None = None):
        super().__init__(message)
        self.told = {"kind": kind, "message": message, "code": code, "line": line}


class Secrets:
    """Parts of the connection's URL that no message may contain."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        found = {url, parts.netloc, parts.password, parts.password and unquote(parts.password)}
        # A password in the query, or in libpq's own form: `host=h password='a b'`.
        found.update(re.findall(r"(?:password|sslpassword|options)\s*=\s*'?([^\s'&]+)", url))
        self.words = sorted((word for word in found if word), key=len, reverse=True)
        self.places = [word for word in (parts.hostname, parts.username) if word]

    def scrub(self, text: str) -> str:
        for word in self.words:
            text = text.replace(word, "***")
        return text

    def scrub_place(self, text: str) -> str:
        """Removes host and user too. A message about the connection itself names them; only the operator may know them."""
        for word in self.places:
            text = re.sub(rf"(?<![\w.]){re.escape(word)}(?![\w.])", "***", text)
        place = r'server (?:at|on socket) "[^"]*"(?: \([^)]*\))?(?:, port \d+)?'
        return re.sub(place, "the server", self.scrub(text))


class PostgreSql:
    def __init__(self, name: str, url: str, writes: bool):
        self.name, self.url, self.writes, self.secrets = name, url, writes, Secrets(url)
        self.connection: Any = None

    def drivers(self) -> tuple[Any, Any]:
        try:
            import psycopg
            import pyarrow  # type: ignore[import-untyped]
        except ImportError:
            raise RequestRefused(
                "driver", _INSTALL.format(name=self.name, packages='"psycopg[binary]" pyarrow', python=sys.executable)
            ) from None
        return psycopg, pyarrow

    def connect(self, seconds: float = CONNECT_SECONDS) -> Any:
        psycopg, _ = self.drivers()
        if self.connection is not None and not self.connection.closed and not self.connection.broken:
            return self.connection
        try:
            self.connection = psycopg.connect(
                self.url,
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                connect_timeout=max(2, int(seconds)),
                application_name="notarium",
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
            )
        except psycopg.Error as error:
            print(self.secrets.scrub(f"{self.name}: {error}"), file=sys.stderr, flush=True)
            reason = self.secrets.scrub_place(str(error).strip())
            raise RequestRefused(
                "connection", f"the connection {self.name} cannot be opened: {reason}", error.sqlstate
            ) from None
        self.prepare_types(psycopg)
        return self.connection

    def prepare_types(self, psycopg: Any) -> None:
        """Loads types that Python cannot represent faithfully as the database's text."""
        from psycopg.types.string import TextLoader

        for name in ("interval", "timetz", "json", "jsonb", "uuid"):
            self.connection.adapters.register_loader(name, TextLoader)

    def execute(self, sql: str, values: list[Any], writes: bool, tell: Any, may_write: bool) -> None:
        """Runs a statement. Without `may_write` all that it does in the database is undone, its settings of the session too."""
        psycopg, pyarrow = self.drivers()
        connection = self.connect()
        try:
            # After its first query the transaction cannot be made a writing one.
            connection.execute("BEGIN" if writes and may_write else "BEGIN READ ONLY; SELECT 1")
            if not may_write:
                self.refuse_effects(connection, sql)
            done = self.run(connection, pyarrow, sql, values, tell)
            if may_write and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("COMMIT")
            # A deferred constraint fails at the end, and the next cell may come by another connection.
            tell(done)
        except psycopg.Error as error:
            raise self.refusal(psycopg, error, sql, may_write) from None
        finally:
            self.end(psycopg, connection)

    def refuse_effects(self, connection: Any, sql: str) -> None:
        def query(text: str, values: list[Any]) -> list[tuple[Any, ...]]:
            rows: list[tuple[Any, ...]] = connection.execute(text, values).fetchall()
            return rows

        effect = effect_of(sql, query)
        if effect is not None:
            raise RequestRefused("statement", f"{_NOT_IN_THIS_RUN} ({effect})")

    def end(self, psycopg: Any, connection: Any) -> None:
        """Ends the transaction in any case, so that the next statement begins a new one."""
        if connection.closed or connection.broken:
            return
        try:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            connection.close()

    def run(self, connection: Any, pyarrow: Any, sql: str, values: list[Any], tell: Any) -> dict[str, Any]:
        """Runs the statement and tells its rows. Returns what to tell when it is committed."""
        cursor = connection.cursor()
        read_texts(connection, cursor)
        if not self.gives_rows(connection, sql, values):
            # `binary` keeps it one statement: the simple protocol would take several.
            cursor.execute(sql, values, binary=True)
            return {"affected": cursor.rowcount if cursor.rowcount >= 0 else None}
        rows: list[tuple[Any, ...]] = []
        loaders: list[ColumnLoader] = []
        limit = FIRST_ROWS
        for row in cursor.stream(sql, values):
            if not loaders:
                loaders = self.tell_columns(connection, cursor, pyarrow, tell)
            rows.append(row)
            if len(rows) >= limit:
                self.flush(pyarrow, rows, loaders, tell)
                rows, limit = [], BATCH_ROWS
        if not loaders:
            loaders = self.tell_columns(connection, cursor, pyarrow, tell)
        self.flush(pyarrow, rows, loaders, tell)
        return {"done": True}

    def gives_rows(self, connection: Any, sql: str, values: list[Any]) -> bool:
        from psycopg import adapt, errors, pq

        dumper = adapt.Transformer(connection)
        dumper.dump_sequence(values, [adapt.PyFormat.AUTO] * len(values))
        prepared = connection.pgconn.prepare(b"", sql.encode(), dumper.types)
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            raise errors.error_from_result(prepared, connection.info.encoding)
        return bool(connection.pgconn.describe_prepared(b"").nfields > 0)

    def flush(self, pyarrow: Any, rows: list[tuple[Any, ...]], loaders: list[ColumnLoader], tell: Any) -> None:
        batch = batch_of(pyarrow, rows, loaders)
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        tell({"batch": len(rows)}, memoryview(sink.getvalue()))

    def tell_columns(self, connection: Any, cursor: Any, pyarrow: Any, tell: Any) -> list[ColumnLoader]:
        loaders, columns = [], []
        for column in cursor.description or []:
            loaders.append(_loader(pyarrow, column, connection))
            columns.append(
                [column.name, column.type_display if hasattr(column, "type_display") else str(column.type_code)]
            )
        tell({"columns": columns})
        return loaders

    def refusal(self, psycopg: Any, error: Any, sql: str, may_write: bool) -> RequestRefused:
        if isinstance(error, psycopg.errors.QueryCanceled):
            return RequestRefused(
                "cancelled",
                "the statement was cancelled on the server: " + self.secrets.scrub(_words(error)),
                error.sqlstate,
            )
        if self.connection.closed or self.connection.broken:
            reason = self.secrets.scrub_place(_words(error))
            return RequestRefused(
                "connection", f"the connection {self.name} ended while the statement ran: {reason}", error.sqlstate
            )
        position = error.diag.statement_position
        line = sql.count("\n", 0, int(position) - 1) + 1 if position else None
        message = self.secrets.scrub(_words(error))
        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            message += ": a cell that writes says so in its first line, as in `-- @connection write`"
            message += "" if may_write else f". Besides, {_NOT_IN_THIS_RUN}"
        return RequestRefused("statement", message, error.sqlstate, line)

    def describe(self, matching: str, seconds: float) -> dict[str, Any]:
        """Lists the tables and columns that this account may read. Reads no rows; no text of a question enters the statements."""
        psycopg, _ = self.drivers()
        end = time.monotonic() + seconds
        connection = self.connect(min(seconds, CONNECT_SECONDS))

        def query(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
            rows: list[tuple[Any, ...]] = connection.execute(sql, values).fetchall()
            return rows

        try:
            connection.execute("BEGIN READ ONLY")
            left = max(1, int((end - time.monotonic()) * 1000))
            connection.execute(f"SET LOCAL statement_timeout = {left}")
            return of_postgresql(query, matching)
        except psycopg.Error as error:
            raise self.refusal(psycopg, error, "", may_write=True) from None
        finally:
            self.end(psycopg, connection)

    def cancel(self) -> None:
        if self.connection is not None and not self.connection.closed:
            self.connection.cancel_safe(timeout=5)


def _words(error: Any) -> str:
    """Message and hint of the database. Its excerpt of the statement is left out, for it shows placeholders."""
    parts = [error.diag.message_primary or str(error).split("\nLINE ")[0].strip()]
    if error.diag.message_detail:
        parts.append(error.diag.message_detail)
    if error.diag.message_hint:
        parts.append("hint: " + error.diag.message_hint)
    return ". ".join(part.rstrip(".") for part in parts)


def read_texts(connection: Any, cursor: Any) -> None:
    """Has the cursor give every value as the server writes it."""
    from psycopg.types.string import TextLoader

    for info in connection.adapters.types:
        for oid in (info.oid, info.array_oid):
            if oid:
                cursor.adapters.register_loader(oid, TextLoader)


def _loader(pa: Any, column: Any, connection: Any) -> ColumnLoader:
    from psycopg import adapt, pq

    info = connection.adapters.types.get(column.type_code)
    is_array = bool(info and column.type_code != info.oid)
    loader = adapt.Transformer(connection).get_loader(column.type_code, pq.Format.TEXT)
    encoding = connection.info.encoding

    def load(text: str) -> Any:
        return loader.load(text.encode(encoding))

    return column_loader(pa, info.name if info else "", is_array, _arrow_type(pa, column, connection), load)


def _arrow_type(pa: Any, column: Any, connection: Any) -> Any:
    """Arrow type for a type of the database. None: Arrow infers it from the values."""
    info = connection.adapters.types.get(column.type_code)
    name = info.name if info else ""
    if name == "numeric":
        precision, scale = column.precision, column.scale
        return (
            pa.decimal128(precision, scale)
            if precision and precision <= 38 and 0 <= (scale or 0) <= precision
            else None
        )
    zone = connection.info.parameter_status("TimeZone") or "UTC"
    return {
        "bool": pa.bool_(),
        "int2": pa.int16(),
        "int4": pa.int32(),
        "oid": pa.int64(),
        "int8": pa.int64(),
        "float4": pa.float32(),
        "float8": pa.float64(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", zone),
        "bytea": pa.binary(),
        **dict.fromkeys(
            ("text", "varchar", "bpchar", "name", "uuid", "json", "jsonb", "interval", "timetz"), pa.string()
        ),
    }.get(name if not info or column.type_code == info.oid else "")


class Broker:
    """Frames in, frames out. Statements run in the main thread, so that one can be cancelled while it runs.

    `right` asks for the right to write. Odd: the run that has the kernel may write to databases. Each change of the right
    makes the number larger.
    """

    def __init__(self, channel: socket.socket, database: Any, right: Callable[[], int]):
        self.channel, self.database, self.right = channel, database, right
        self.asked: queue.SimpleQueue[tuple[dict[str, Any], int]] = queue.SimpleQueue()
        self.current: int | None = None
        self.done = 0
        # Held while a cancel is sent, so that it cannot meet the next statement.
        self.turn = threading.Lock()

    def run(self) -> None:
        threading.Thread(target=self.listen, daemon=True).start()
        while True:
            head, right = self.asked.get()
            with self.turn:
                self.current = _number(head)
            self.serve(head, right)
            with self.turn:
                self.current, self.done = None, _number(head)

    def listen(self) -> None:
        try:
            while True:
                head, _ = receive(self.channel)
                if "execute" in head or "describe" in head:
                    self.asked.put((head, self.right() if "execute" in head else 0))
                elif "cancel" in head:
                    threading.Thread(target=self.cancel_until_over, args=(head["cancel"],), daemon=True).start()
        except Exception:
            # The kernel is gone: cancel its statement, for a server that computes does not notice.
            end = time.monotonic() + LAST_CANCEL_SECONDS
            while self.current is not None and time.monotonic() < end:
                self.cancel()
                time.sleep(CANCEL_AGAIN_SECONDS)
            os._exit(0)

    def cancel_until_over(self, number: int) -> None:
        """Repeats the cancel until the statement ends: a server between two statements of a transaction ignores it."""
        while self.done < number:
            with self.turn:
                if self.current == number:
                    self.cancel()
            time.sleep(CANCEL_AGAIN_SECONDS)

    def cancel(self) -> None:
        try:
            self.database.cancel()
        except Exception as error:
            print(f"not cancelled: {type(error).__name__}", file=sys.stderr, flush=True)

    def serve(self, head: dict[str, Any], right: int) -> None:
        """Serves a request. `right`: the right when it arrived."""
        number = _number(head)

        def tell(what: dict[str, Any], body: Any = b"") -> None:
            send(self.channel, {"of": number, **what}, body)

        try:
            if "describe" in head:
                tell({"described": self.database.describe(head["matching"], head["seconds"])})
                return
            if head["writes"] and not self.database.writes:
                message = f"the connection {self.database.name} is for reading alone: whoever runs the agent lets it write with --connection-writes"
                raise RequestRefused("statement", message)
            may_write = right % 2 == 1 and self.right() == right
            if head["writes"] and not may_write:
                raise RequestRefused("statement", _NOT_IN_THIS_RUN)
            values = [unpacked(value) for value in head["values"]]
            self.database.execute(head["sql"], values, head["writes"], tell, may_write)
        except RequestRefused as refused:
            tell({"error": refused.told})
        except (KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            message = self.database.secrets.scrub(f"{type(error).__name__}: {error}")
            tell({"error": {"kind": "statement", "message": message, "code": None, "line": None}})


def _number(head: dict[str, Any]) -> int:
    number: int = head["execute"] if "execute" in head else head["describe"]
    return number


class Agent:
    """The agent, which knows the run that has the kernel. The kernel is not asked: its code can send whatever it likes."""

    def __init__(self) -> None:
        # Held from a question until its answer.
        self.asking = threading.Lock()

    def right(self) -> int:
        """The right to write: see `Broker`. 0, and so none, if the agent does not answer."""
        with self.asking:
            print(MAY_WRITE, file=sys.stderr, flush=True)
            answer = sys.stdin.buffer.readline().strip()
        return int(answer) if answer.isdigit() else 0


def main(given: dict[str, Any]) -> None:
    channel = socket.socket(fileno=os.dup(1))
    os.dup2(2, 1)
    database = PostgreSql(given["name"], given["url"], given["writes"])
    try:
        Broker(channel, database, Agent().right).run()
    except (BrokenPipeError, KeyboardInterrupt):
        return
