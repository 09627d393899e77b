"""Runs an SQL cell: its statements one after the other, each in a thread beside the kernel's, so that it can be cancelled."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from ..tables.display import JSON as TABLE
from ..tables.registry import new_name, tables
from . import connections, header, results, show, written
from .binding import BoundStatement, bind
from .errors import ConnectionFailed, SqlError, TooLarge
from .frame_advice import advise
from .results import Result, Settings, arrow
from .tokens import parse

CANCEL_SECONDS = 5.0
"""Longest wait for a cancelled statement to end."""

SIGNAL_SECONDS = 0.1
"""Longest delay until an interrupt is noticed."""

settings = Settings()

_UNHELD = "In {variable}, {columns} {is_text}, as the database writes it: data frames cannot hold every value of it"

_CUT = "More rows were not read: {size} of them are there. Aggregate or LIMIT in SQL, or raise notarium.sql.settings.max_shown_bytes"
_TOO_LARGE = (
    "the result is larger than {size}: {rows:,} rows were read, and {variable} is not set. Aggregate or LIMIT in SQL, or raise "
    "notarium.sql.settings.max_bytes"
)


def run(source: str, namespace: dict[str, Any], display: Callable[..., Any]) -> Any:
    """Runs a cell and shows its results. Returns the last result that has rows, as the variable has it, or None.

    `display(data, metadata, display_id, update)` shows a MIME bundle.
    """
    read = header.read(source)
    dialect = connections.dialect(read.connection)
    statements = parse(source, dialect)
    statements = [statement for statement in statements if _says_something(statement)]
    if not statements:
        raise SqlError("the cell holds no statement")

    def look_up(name: str) -> Any:
        return namespace[name]

    # Bind all statements before the first runs, so that a wrong parameter leaves nothing half done.
    bound = [bind(statement, dialect, look_up) for statement in statements]
    arrow()
    engine = connections.open_connections.engine(read.connection, read.writes)
    kept = None
    for number, each in enumerate(bound, 1):
        try:
            result = _StatementRun(engine, each, read, display).result()
        except SqlError as error:
            if isinstance(error, ConnectionFailed):
                # The next cell connects again.
                connections.open_connections.close(read.connection)
            advise(error, dialect, namespace)
            raise _naming(error, number, len(bound)) from None
        if result.columns is not None:
            kept = result
    if read.variable is None:
        return None
    if kept is None:
        raise SqlError(f"{read.variable} is not set: no statement of the cell gives rows")
    table = written.table(kept)
    try:
        frame = results.frame(table, settings, written.objects(kept, table))
    except SqlError:
        raise
    except Exception as error:
        kind = settings.chosen_frame()
        message = f"{read.variable} is not set: {kind} cannot hold the rows ({error}). notarium.sql.settings.frame = 'arrow' keeps them"
        raise SqlError(message) from None
    namespace[read.variable] = frame
    if kept.name:
        tables.put(kept.name, frame, is_bare=True, texts=written.KeptTexts(kept, table, frame))
    return frame


def _says_something(statement: Any) -> bool:
    return any(
        not isinstance(part, str) or part.strip() and not part.startswith(("--", "/*")) for part in statement.parts
    )


def _naming(error: SqlError, number: int, count: int) -> SqlError:
    if count == 1:
        return error
    before = "" if number == 1 else "; those before it are done" if number > 2 else "; the one before it is done"
    error.args = (f"statement {number} of {count}: {error.args[0]}{before}",)
    return error


def spoken(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"


class _StatementRun:
    """Run of one statement."""

    def __init__(self, engine: Any, bound: BoundStatement, read: header.Header, display: Callable[..., Any]):
        self.engine, self.bound, self.read, self.display = engine, bound, read, display
        self.found = Result(is_kept=read.variable is not None)
        self.limit = settings.max_bytes if read.variable else settings.max_shown_bytes
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.display_id: str | None = None
        self.has_page = False

    def result(self) -> Result:
        started = time.perf_counter()
        thread = threading.Thread(target=self.work, name="notarium SQL", daemon=True)
        thread.start()
        try:
            while (said := self.next_said()) == "page":
                self.found.seconds = time.perf_counter() - started
                self.show_page()
        except KeyboardInterrupt:
            self.engine.cancel()
            thread.join(CANCEL_SECONDS)
            if thread.is_alive():
                connections.open_connections.close(self.read.connection)
            raise
        if said is not None:
            raise said
        self.found.seconds = time.perf_counter() - started
        self.finish()
        return self.found

    def next_said(self) -> Any:
        """Waits in short steps: with some libraries (polars) a signal does not wake a waiting thread."""
        while True:
            try:
                return self.said.get(timeout=SIGNAL_SECONDS)
            except queue.Empty:
                continue

    # --- in the thread ---

    def work(self) -> None:
        try:
            self.engine.execute(self.bound, self.found, self.take)
            self.said.put(None)
        except BaseException as error:
            self.said.put(error)

    def take(self, batch: Any) -> bool:
        if self.found.size + batch.nbytes > self.limit and self.found.rows:
            self.found.is_cut = True
            return False
        self.found.add(batch)
        if not self.has_page and self.found.rows >= results.PAGE_ROWS:
            self.has_page = True
            self.said.put("page")
        return True

    # --- in the kernel's ---

    def show_page(self) -> None:
        """Shows the first rows as soon as they are read. The complete output replaces them later."""
        found = self.found
        first = Result(
            found.columns, found.batches[:1], seconds=found.seconds, write=found.write, texts=found.texts[:1]
        )
        first.rows = sum(batch.num_rows for batch in first.batches)
        self.display_id = f"notarium-sql-{id(self):x}-{time.time_ns():x}"
        data, metadata = show.bundle(first, self.read.connection, is_whole=False)
        self.display(data, metadata, self.display_id, False)

    def finish(self) -> None:
        found, variable = self.found, self.read.variable
        size = spoken(self.limit)
        notice = _CUT.format(size=size) if found.is_cut else None
        if found.columns is None:
            self.display({"text/plain": show.caption(found, self.read.connection)}, {}, None, False)
            return
        if found.is_cut and variable:
            raise TooLarge(_TOO_LARGE.format(size=size, rows=found.rows, variable=variable))
        if variable and (unheld := written.unheld(found)):
            names = results.unique([column.name for column in found.columns])
            listed = ", ".join(names[at] for at in sorted(unheld))
            is_text = "is text" if len(unheld) == 1 else "are text"
            notice = _UNHELD.format(variable=variable, columns=listed, is_text=is_text)
        data, metadata = show.bundle(found, self.read.connection, notice)
        if variable:
            data.pop(show.ARROW, None)
            if found.rows > results.PAGE_ROWS:
                found.name = new_name()
                data[TABLE] = {"version": 1, "table": found.name}
        self.display(data, metadata, self.display_id, self.display_id is not None)
