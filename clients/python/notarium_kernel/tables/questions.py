"""Answers the runtime agent's questions about a table while the kernel is idle: sorted and filtered rows, summaries of columns."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Generator
from typing import Any

from . import values
from .display import digest, told
from .frames import FrameTable, is_frame, table
from .registry import ShownFrame, tables

MIME = "application/vnd.notarium.result+json"
MAX_SECONDS = 5
"""Time limit of an answer. The kernel runs nothing else meanwhile."""
MAX_ROWS = 10_000
MAX_BYTES = 512 << 10
"""Largest size of the rows of one answer."""
MAX_CACHED_ROWS = 4_000_000


class QuestionRefused(Exception):
    """The question cannot be answered. `kind` selects the runtime agent's refusal."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class TooSlow(BaseException):
    """The time limit has passed. No `except Exception` in a user's code can swallow it."""


class TableAnswer:
    """Answer that is displayed as one MIME type."""

    def __init__(self, content: dict[str, Any]):
        self.content = content

    def __repr__(self) -> str:
        return "<an answer for Notarium>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: self.content}


def answer(text: str) -> TableAnswer:
    """Answers a question in JSON: an order and filters, or `summarize`."""
    try:
        with _time_limit(MAX_SECONDS):
            return TableAnswer({"ok": _answered(json.loads(text))})
    except QuestionRefused as refused:
        return TableAnswer({"refused": {"kind": refused.kind, "message": str(refused)}})
    except (TooSlow, KeyboardInterrupt):
        message = f"This takes the kernel longer than {MAX_SECONDS} s. Filter one column instead, or do it in a cell."
        return TableAnswer({"refused": {"kind": "slow", "message": message}})
    except Exception as error:
        message = f"The table can't be read: {type(error).__name__}: {values.cut(str(error), 200)}"
        return TableAnswer({"refused": {"kind": "failed", "message": message}})


def _answered(asked: dict[str, Any]) -> dict[str, Any]:
    name, frame, entry = _frame(asked)
    found = table(frame, entry.is_bare)
    if found is None:
        raise QuestionRefused("gone", "The kernel no longer has this table.")
    if "summarize" in asked:
        column = _column(found, asked["summarize"])
        held = found.columns[column]
        return {"column": held.told(), "rows": found.rows, **found.summary(column)}
    is_changed = bool(entry.digest) and entry.digest != digest(found)
    return _page(name, found, asked, is_changed, entry.texts)


def _frame(asked: dict[str, Any]) -> tuple[str, Any, ShownFrame]:
    """Returns the table's name in the registry, the frame, and its entry."""
    if asked.get("table"):
        found = tables.find(asked["table"])
        if found is None:
            raise QuestionRefused("gone", "The kernel no longer has this table.")
        return asked["table"], *found
    from IPython import get_ipython

    variable = asked.get("variable", "")
    frame = get_ipython().user_ns.get(variable)
    if is_frame(frame) is None:
        raise QuestionRefused("gone", f"The kernel has no table named {variable}.")
    name = tables.add(frame)
    return name, frame, tables.entries[name]


def _column(found: FrameTable, column: int) -> int:
    if not 0 <= column < len(found.columns):
        raise QuestionRefused("invalid", f"The table has {len(found.columns)} columns, and no column {column}.")
    return column


def _page(name: str, found: FrameTable, asked: dict[str, Any], is_changed: bool, texts: Any = None) -> dict[str, Any]:
    positions = _positions(name, found, asked)
    matching, first = found.length(positions), max(0, asked.get("first", 0))
    count = max(0, min(asked.get("count", 100), MAX_ROWS, matching - first))
    rows, is_cut = _rows(found, positions, first, count, texts)
    page = {**told(found), "table": name, "matching": matching, "first": first, "data": rows}
    page.pop("version")
    return {**page, "is_cut": is_cut, "is_changed": is_changed}


def _rows(found: FrameTable, positions: Any, first: int, count: int, texts: Any = None) -> tuple[list[list[Any]], bool]:
    """Reads as many rows as fit in one answer. `texts`: see `ShownFrame`."""
    rows: list[list[Any]] = []
    left, step = MAX_BYTES, max(1, 50_000 // max(1, len(found.columns)))
    while len(rows) < count:
        some = min(step, count - len(rows))
        columns = found.read(positions, first + len(rows), some)
        if texts is not None:
            columns = [texts(at, found.columns[at].name, column) for at, column in enumerate(columns)]
        for row in zip(*columns, strict=True) if columns else ():
            held = [values.plain(value) for value in row]
            left -= len(json.dumps(held, ensure_ascii=False).encode())
            if left < 0 and rows:
                return rows, True
            rows.append(held)
        if not columns:
            break
    return rows, False


class _Cache:
    """Positions of the last question, until a cell runs: paging sorts once."""

    def __init__(self) -> None:
        self.key: Any = None
        self.positions: Any = None
        self.is_listening = False

    def forget(self, *_: Any) -> None:
        self.key = self.positions = None

    def listen(self) -> None:
        """Forgets the positions when a cell runs. Questions are silent, and do not count as runs."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        if shell is not None and not self.is_listening:
            shell.events.register("pre_run_cell", self.forget)
            self.is_listening = True


_cache = _Cache()


def _positions(name: str, found: FrameTable, asked: dict[str, Any]) -> Any:
    key = (name, found.rows, json.dumps([asked.get("sort"), asked.get("filters"), asked.get("search")]))
    if _cache.key == key:
        return _cache.positions
    positions = _sorted_and_filtered(found, asked)
    _cache.listen()
    _cache.forget()
    if _cache.is_listening and positions is not None and found.length(positions) <= MAX_CACHED_ROWS:
        _cache.key, _cache.positions = key, positions
    return positions


def _sorted_and_filtered(found: FrameTable, asked: dict[str, Any]) -> Any:
    positions, sort = None, asked.get("sort")
    if sort:
        positions = found.order(_column(found, sort["column"]), bool(sort.get("is_descending")))
    mask = None
    for each in asked.get("filters") or []:
        passing = found.passing(_column(found, each["column"]), each["operator"], each.get("value", ""))
        mask = passing if mask is None else found.both(mask, passing)
    search = (asked.get("search") or "").strip()
    if search and found.columns:
        containing = None
        for at in range(len(found.columns)):
            one = found.containing(at, search)
            containing = one if containing is None else found.either(containing, one)
        mask = containing if mask is None else found.both(mask, containing)
    return positions if mask is None else found.kept(positions, mask)


@contextlib.contextmanager
def _time_limit(seconds: float) -> Generator[None]:
    """Raises `TooSlow` in code that takes longer, where Python can interrupt it at all."""

    def too_slow(*_: Any) -> None:
        raise TooSlow

    try:
        handler = signal.getsignal(signal.SIGALRM)
        signal.signal(signal.SIGALRM, too_slow)
    except (AttributeError, TypeError, ValueError):  # No such signal, or not the main thread.
        yield
        return
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler if handler is not None else signal.SIG_DFL)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)
