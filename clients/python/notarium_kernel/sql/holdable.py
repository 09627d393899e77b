"""Finds columns with values that Python, pandas or polars cannot hold: `infinity`, years before 1 and after 9999, 24:00:00.

A variable gets such a column as the database's text, and no value fails the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

_DAY = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, as days from 1970-01-01."""
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MAX_NANOSECONDS = 2**63 - 1


def arrow() -> Any:
    import pyarrow  # type: ignore[import-untyped]

    return pyarrow


def needs_text(kind: Any) -> bool:
    """True for types that data frames do not have: intervals, bits, times with a zone, unions, and all that contain one."""
    types = arrow().types
    if isinstance(kind, arrow().BaseExtensionType) or types.is_union(kind) or types.is_interval(kind):
        return True
    if (
        types.is_struct(kind)
        and [each.name for each in kind] == ["metadata", "value"]
        and types.is_binary(kind[0].type)
    ):
        # DuckDB's VARIANT.
        return True
    return types.is_nested(kind) and any(needs_text(kind.field(at).type) for at in range(kind.num_fields))


def is_holdable(array: Any) -> bool:
    return all(_is_within(leaf) for leaf in _leaves(array))


def has_integers_and_nulls(column: Any) -> bool:
    leaves = (leaf for chunk in column.chunks for leaf in _leaves(chunk))
    return any(arrow().types.is_integer(leaf.type) and leaf.null_count for leaf in leaves)


def _leaves(array: Any) -> Iterator[Any]:
    types, kind = arrow().types, array.type
    if types.is_struct(kind):
        for each in array.flatten():
            yield from _leaves(each)
    elif types.is_map(kind):
        # Keys and items of all maps, also of those before an offset: a value too many makes text at worst.
        yield from _leaves(array.keys)
        yield from _leaves(array.items)
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        yield from _leaves(array.flatten())
    else:
        yield array


def _is_within(array: Any) -> bool:
    pa, kind = arrow(), array.type
    if pa.types.is_date32(kind):
        return _is_between(array.cast(pa.int32()), _FIRST_DAY, _LAST_DAY)
    if pa.types.is_timestamp(kind):
        # A zone may move a time by a day.
        margin = _DAY if kind.tz else 0
        per = _PER_SECOND[kind.unit]
        last = (_LAST_DAY + 1) * _DAY * per - 1 - margin * per
        first = _FIRST_DAY * _DAY * per + margin * per
        if kind.unit == "ns":
            first, last = -_MAX_NANOSECONDS + 1, _MAX_NANOSECONDS - 1
        return _is_between(array.cast(pa.int64()), first, last)
    if pa.types.is_time(kind):
        numbers = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        is_day = _is_between(numbers, 0, _DAY * _PER_SECOND[kind.unit] - 1)
        # Python's times have microseconds.
        return is_day and (kind.unit != "ns" or numbers.cast(pa.int64()).equals(_thousands(numbers)))
    return True


def _thousands(numbers: Any) -> Any:
    pc: Any = import_module("pyarrow.compute")

    return pc.multiply(pc.divide(numbers, 1_000), 1_000)


def _is_between(numbers: Any, first: int, last: int) -> bool:
    pc: Any = import_module("pyarrow.compute")

    found = pc.min_max(numbers).as_py()
    return found["min"] is None or (first <= found["min"] and found["max"] <= last)
