"""Rows of Python's values as a batch of Arrow. The broker is given this file alone: it imports nothing of ours."""

from __future__ import annotations

from typing import Any


def of_rows(names: list[str], rows: list[tuple[Any, ...]], types: list[Any] | None = None) -> Any:
    """A batch of Python's values. What is no value of its column's type, or differs within a column, is text."""
    import pyarrow as pa  # type: ignore[import-untyped]

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    types = types or [None] * len(names)
    arrays = [_array(pa, values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[*map(str, range(len(names)))]) if arrays else pa.record_batch({})


def _array(pa: Any, values: tuple[Any, ...], kind: Any) -> Any:
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        texts = [None if value is None else value if isinstance(value, str) else str(value) for value in values]
        return pa.array([text and text.encode("utf-8", "replace").decode() for text in texts], pa.string())
