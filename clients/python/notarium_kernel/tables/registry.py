"""Frames that outputs show, by unique names, so that a later variable of the same name is never taken for one.

A frame is held by a weak reference, so that showing it keeps no memory. A small one may be gone with the statement that
showed it (`display(frame.query(…))`), so a copy is kept, within a few megabytes for all copies.
"""

from __future__ import annotations

import secrets
import sys
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

MAX_TABLES = 500
MAX_COPY_BYTES = 8 << 20
MAX_COPIES_BYTES = 64 << 20
MAX_DEEP_VALUES = 20_000
"""Most Python objects in a frame that is copied: the size of each must be found."""


@dataclass
class ShownFrame:
    frame: Any
    """Weak reference; None if the frame allows none."""
    copy: Any = None
    copy_bytes: int = 0
    digest: str = ""
    """Hash of the first rows as they were shown."""
    is_bare: bool = False
    """True if it is shown without its index."""
    texts: Any = None
    """Writes values of a column as its database does: `texts(position, name, values)`. For results of SQL cells."""

    def found(self) -> Any:
        live = self.frame() if self.frame is not None else None
        return self.copy if live is None else live


class FrameRegistry:
    def __init__(self) -> None:
        self.entries: OrderedDict[str, ShownFrame] = OrderedDict()

    def add(self, frame: Any, digest: str = "") -> str:
        """Registers the frame as it is shown now, and returns its name."""
        name = new_name()
        self.put(name, frame, digest)
        return name

    def put(self, name: str, frame: Any, digest: str = "", is_bare: bool = False, texts: Any = None) -> None:
        try:
            reference = weakref.ref(frame)
        except TypeError:
            reference = None
        copy, size = _copied(frame)
        self.entries[name] = ShownFrame(reference, copy, size, digest, is_bare, texts)
        while len(self.entries) > MAX_TABLES:
            self.entries.popitem(last=False)
        self._bound_copies()

    def find(self, name: str) -> tuple[Any, ShownFrame] | None:
        """The frame and its entry. None if the frame is gone."""
        entry = self.entries.get(name)
        frame = entry.found() if entry else None
        return None if entry is None or frame is None else (frame, entry)

    def _bound_copies(self) -> None:
        total = sum(entry.copy_bytes for entry in self.entries.values())
        for entry in self.entries.values():
            if total <= MAX_COPIES_BYTES:
                return
            total -= entry.copy_bytes
            entry.copy, entry.copy_bytes = None, 0


tables = FrameRegistry()


def new_name() -> str:
    return secrets.token_hex(12)


def _copied(frame: Any) -> tuple[Any, int]:
    """Copies a small frame. A part of a large frame shares its memory; a copy does not."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(frame) not in (pandas.DataFrame, pandas.Series):
        return None, 0
    try:
        rows, columns = len(frame), 1 if frame.ndim == 1 else frame.shape[1]
        if rows * columns > MAX_COPY_BYTES:
            return None, 0
        types = [frame.dtype] if frame.ndim == 1 else list(frame.dtypes)
        objects = sum(1 for dtype in types if getattr(dtype, "kind", "O") == "O")
        if rows * objects > MAX_DEEP_VALUES:
            return None, 0
        used = frame.memory_usage(deep=True)
        size = int(used if frame.ndim == 1 else used.sum())
        return (frame.copy(), size) if size <= MAX_COPY_BYTES else (None, 0)
    except Exception:  # The copy is optional: no display fails for it.
        return None, 0
