"""Values as PostgreSQL writes them. Needed where the server's own text is no longer there: rows beyond the first page."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import Any

from .results import arrow

_DIGITS = {"float": 6, "double": 15}
"""Digits before the point from which PostgreSQL writes an exponent, by the type of Arrow."""
_QUOTED = re.compile(r'[{},"\\\s]')


def postgresql_texts(array: Any) -> Any:
    """Array of Arrow → array of its texts."""
    pa = arrow()
    return pa.array([None if value is None else _text(value, array.type) for value in _values(array)], pa.string())


def _values(array: Any) -> list[Any]:
    if arrow().types.is_float32(array.type):
        # Shortest digits of 32 bits, not of the same number in 64.
        listed: list[Any] = [None if each is None else float(str(_float32(each))) for each in array.to_pylist()]
        return listed
    values: list[Any] = array.to_pylist()
    return values


def _float32(value: float) -> Any:
    import numpy

    return numpy.float32(value)


def _text(value: Any, kind: Any) -> str:
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return _number(value, _DIGITS.get(str(kind), 15))
    if isinstance(value, list):
        return "{" + ",".join(_element(each, kind.value_type) for each in value) + "}"
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + value.hex()
    if isinstance(value, (datetime.datetime, datetime.time)):
        return _time(value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _element(value: Any, kind: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float) and arrow().types.is_float32(kind):
        value = float(str(_float32(value)))
    text = _text(value, kind)
    if isinstance(value, list) or text and text.upper() != "NULL" and not _QUOTED.search(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _number(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign, figures, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, point = "".join(map(str, figures)), len(figures) + exponent
    minus = "-" if sign else ""
    if value == 0:
        return minus + "0"
    if not -4 <= point - 1 < digits:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return f"{minus}{mantissa}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    return minus + (text.ljust(point, "0") if len(text) <= point else f"{text[:point]}.{text[point:]}")


def _time(value: datetime.datetime | datetime.time) -> str:
    text = value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    # Zeros at the end of a fraction and whole hours of a zone are left out.
    text = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", text)
    return re.sub(r"([+-]\d\d):00$", r"\1", re.sub(r"\.(?=$|[+-])", "", text))
