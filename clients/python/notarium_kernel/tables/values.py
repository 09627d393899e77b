"""Converts one value of a table to JSON, without a loss that a reader could see."""

from __future__ import annotations

import datetime
import math
import re
import reprlib
from decimal import Decimal
from typing import Any

MAX_CHARACTERS = 2_000
"""Longest text of one value."""
LARGEST_NUMBER = 2**53
"""Largest integer that JavaScript's numbers hold exactly. Larger ones become text."""

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdict = _short.maxdeque = 50
_short.maxstring = _short.maxother = _short.maxlong = 400
_short.maxlevel = 4


def plain(value: Any, characters: int = MAX_CHARACTERS) -> Any:
    """Converts a value to JSON. Values that JSON would round or cannot hold become text."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if -LARGEST_NUMBER <= value <= LARGEST_NUMBER else _digits(value, characters)
    if kind is float:
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if kind is str:
        return cut(value, characters)
    if kind.__module__ == "numpy" and hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        return _of_numpy(value, characters)
    return cut(text(value, characters), characters)


def text(value: Any, characters: int = MAX_CHARACTERS) -> str:
    """Text of a value. An error in its own `__str__` does not escape."""
    try:
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            head = bytes(value[: characters // 2 + 1])
            return "\\x" + head.hex()
        if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, Decimal)):
            return str(value)
        if isinstance(value, (list, tuple, dict, set, frozenset)):
            return _short.repr(value)
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__}: its text raises {type(error).__name__}>"


def cut(value: str, characters: int = MAX_CHARACTERS) -> str:
    value = value if len(value) <= characters else value[:characters] + "…"
    # JSON cannot carry half a surrogate pair.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def _digits(value: int, characters: int) -> str:
    if value.bit_length() > 4 * characters:
        return f"<int of {value.bit_length()} bits>"
    return str(value)


def _of_numpy(value: Any, characters: int) -> Any:
    if value.dtype.kind in "f":
        # The shortest text that means it: 0.1 stays 0.1 in 32 bits.
        return plain(float(str(value)), characters)
    if value.dtype.kind in "biu":
        return plain(value.item(), characters)
    if value.dtype.kind == "M":
        return (
            re.sub(r"\.?0*$", "", str(value).replace("T", " ")) if "." in str(value) else str(value).replace("T", " ")
        )
    return cut(str(value), characters)
