"""Rows of Python's values as a batch of Arrow."""

from __future__ import annotations

from typing import Any


def of_rows(names: list[str], rows: list[tuple[Any, ...]]) -> Any:
    """A batch of Python's values. A column of several types becomes text."""
    import pyarrow as pa  # type: ignore[import-untyped]

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = [_array(pa, values) for values in columns]
    return pa.RecordBatch.from_arrays(arrays, names=[*map(str, range(len(names)))]) if arrays else pa.record_batch({})


def _array(pa: Any, values: tuple[Any, ...]) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        texts = [None if value is None else value if isinstance(value, str) else str(value) for value in values]
        return pa.array([text and text.encode("utf-8", "replace").decode() for text in texts], pa.string())
