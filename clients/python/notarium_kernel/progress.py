"""Progress bars of loops, visible to all who follow the notebook. They are not recorded."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar, overload

from . import host

__all__ = ["Progress", "progress"]

_Item = TypeVar("_Item")
_TARGET = "notarium.progress"
#: Least time between two messages; the first and the last are always sent.
_INTERVAL_SECONDS = 0.1
_MAX_LABEL = 200
_BAR_WIDTH = 24


class Progress(Generic[_Item]):
    """Progress of a loop. Iterate over it, or use it in a `with` block and call `update` after each step."""

    #: Shared by all instances: many short loops open few bars.
    _opened_at = float("-inf")

    def __init__(
        self, iterable: Iterable[_Item] | AsyncIterable[_Item] | None, total: float | None, label: str | None
    ) -> None:
        self._iterable = iterable
        self._total = _length(iterable) if total is None else total
        self._label = label or ""
        self._done: float = 0
        self._shown: _CommBar | _TextBar | None = None
        self._lock = threading.RLock()
        self._due = 0.0

    # --- state ---

    @property
    def done(self) -> float:
        """Count of finished steps."""
        return self._done

    @property
    def total(self) -> float | None:
        """Count of all steps. None if unknown."""
        return self._total

    @total.setter
    def total(self, total: float | None) -> None:
        self._total = total
        self._tell(now=True)

    @property
    def label(self) -> str:
        """Short name of the work."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        self._label = label
        self._tell()

    def update(self, by: float = 1) -> None:
        """Adds `by` finished steps."""
        self._done += by
        self._tell()

    def close(self) -> None:
        """Ends the progress. The end of the loop, of the `with` block and of the run do the same."""
        with self._lock:
            shown, self._shown = self._shown, None
            self._due = float("inf")
            if shown is not None:
                shown.close(self._state())

    def _state(self) -> dict[str, Any]:
        return {"label": self._label[:_MAX_LABEL], "done": self._done, "total": self._total}

    def _tell(self, now: bool = False) -> None:
        clock = time.monotonic()
        if clock < self._due and not now:
            return
        with self._lock:
            if self._due == float("inf"):
                return
            self._due = clock + _INTERVAL_SECONDS
            if self._shown is None:
                if clock < Progress._opened_at + _INTERVAL_SECONDS:
                    self._due = Progress._opened_at + _INTERVAL_SECONDS
                    return
                Progress._opened_at = clock
                self._shown = _CommBar.open(self._state()) or _TextBar(self._state())
            else:
                self._shown.update(self._state())

    # --- ways to use it ---

    def __enter__(self) -> Progress[_Item]:
        self._tell(now=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        if self._total is None:
            raise TypeError("nobody has said how much there is in all: progress(…, total=…)")
        return int(self._total)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[_Item]:
        if not isinstance(self._iterable, Iterable):
            raise TypeError(
                "there is nothing to iterate over: progress(iterable), or with progress(total=…) and update()"
            )
        with self:
            for item in self._iterable:
                yield item
                self.update()

    async def __aiter__(self) -> AsyncIterator[_Item]:
        if not isinstance(self._iterable, AsyncIterable):
            raise TypeError("there is nothing to iterate over with `async for`: progress(iterable)")
        with self:
            async for item in self._iterable:
                yield item
                self.update()


@overload
def progress(iterable: Iterable[_Item], total: float | None = ..., label: str | None = ...) -> Progress[_Item]: ...
@overload
def progress(iterable: AsyncIterable[_Item], total: float | None = ..., label: str | None = ...) -> Progress[_Item]: ...
@overload
def progress(iterable: None = ..., total: float | None = ..., label: str | None = ...) -> Progress[Any]: ...
def progress(iterable: Any = None, total: Any = None, label: str | None = None) -> Progress[Any]:
    """Shows the progress of a loop: `for row in notarium.progress(rows, label="reading")`.

    All who follow the notebook see it; it is not recorded. Outside Notarium it is a line on standard error.

    Args:
        iterable: Items of the loop; `for` and `async for` both work. Without one: `with progress(total=…) as bar: bar.update(5)`.
        total: Count of all steps; the default is the length of the iterable, if it has one.
        label: Short name of the work.
    """
    if total is not None and (not isinstance(total, int | float) or not total >= 0 or total == float("inf")):
        raise ValueError(f"a total is a number from 0, not {total!r}")
    return Progress(iterable, total, label)


def _length(iterable: Any) -> float | None:
    try:
        return len(iterable)
    except TypeError:
        hint: Callable[[], float] | None = getattr(iterable, "__length_hint__", None)
        return (hint() or None) if hint else None


class _CommBar:
    """Shows progress through the runtime agent."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm

    @classmethod
    def open(cls, state: dict[str, Any]) -> _CommBar | None:
        comm = host.open_comm(_TARGET, {"state": state})
        return None if comm is None else cls(comm)

    def update(self, state: dict[str, Any]) -> None:
        self._comm.send({"method": "update", "state": state})

    def close(self, state: dict[str, Any]) -> None:
        self.update(state)
        self._comm.close()


class _TextBar:
    """Shows progress as one line on standard error, which each update overwrites."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._began = time.monotonic()
        self._width = 0
        self.update(state)

    def update(self, state: dict[str, Any]) -> None:
        text = line(state, time.monotonic() - self._began)
        print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def close(self, state: dict[str, Any]) -> None:
        self.update(state)
        print(file=sys.stderr, flush=True)


def line(state: dict[str, Any], seconds: float) -> str:
    """Bar as text: `reading:  50% |████    | 5/10 [00:01<00:01, 5.0/s]`."""
    label, done, total = state["label"], state["done"], state["total"]
    rate = done / seconds if seconds > 0 and done > 0 else None
    speed = "" if rate is None else f", {rate:.1f}/s"
    head = f"{label}: " if label else ""
    if not total:
        return f"{head}{done:g} [{_clock(seconds)}{speed}]"
    part = min(max(done / total, 0), 1)
    filled = int(part * _BAR_WIDTH)
    rest = "?" if rate is None else _clock(max(total - done, 0) / rate)
    bar = "█" * filled + " " * (_BAR_WIDTH - filled)
    return f"{head}{part:4.0%} |{bar}| {done:g}/{total:g} [{_clock(seconds)}<{rest}{speed}]"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"
