"""Columns of PostgreSQL's texts as arrays of Arrow, beside the texts. Part of the broker: see `broker.py`.

Each value comes as the server writes it. What Python cannot read (`infinity`, 0044-03-15 BC, `'Infinity'::numeric`) is missing in
the array and stays in the texts, so that one value fails no result.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

TEXT_COLUMN = "text "
"""Beginning of the names of columns with texts; the number of the column follows."""


class ColumnLoader:
    """Reads one column of a result. `kind`: its Arrow type, None if the values tell it."""

    def __init__(self, pa: Any, kind: Any, load: Callable[[str], Any] | None):
        self.pa, self.kind, self.load = pa, kind, load

    def arrays(self, texts: list[str | None]) -> tuple[Any, Any]:
        """Array of values, and the texts if outputs show them instead of the values."""
        pa = self.pa
        if self.load is None:
            return pa.array(texts, pa.string()), None
        values = [None if text is None else self.loaded(text) for text in texts]
        # The values say it all for some integers and booleans.
        is_plain = self.kind is not None and (pa.types.is_integer(self.kind) or pa.types.is_boolean(self.kind))
        if self.kind is not None and pa.types.is_list(self.kind) and _are_deep(values):
            self.kind = None
        try:
            return pa.array(values, self.kind), None if is_plain else pa.array(texts, pa.string())
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.nulls(len(texts), self.kind or pa.null()), pa.array(texts, pa.string())

    def loaded(self, text: str) -> Any:
        try:
            value = self.load(text) if self.load else text
        except Exception:  # No value of Python: the text is kept.
            return None
        return None if isinstance(value, Decimal) and not value.is_finite() else value


def _are_deep(values: list[Any]) -> bool:
    """True for arrays of several dimensions, which are lists of lists."""
    return any(isinstance(each, list) for value in values if value is not None for each in value)


def column_loader(pa: Any, name: str, is_array: bool, kind: Any, load: Callable[[str], Any]) -> ColumnLoader:
    """`name`: the type, of an array that of its elements. `load`: the driver's own function."""
    simple: dict[str, Callable[[str], Any]] = {
        "bool": lambda text: text == "t",
        **dict.fromkeys(("int2", "int4", "int8", "oid"), int),
        **dict.fromkeys(("float4", "float8"), float),
        "numeric": Decimal,
        **dict.fromkeys(("date", "time", "timestamp", "timestamptz", "bytea"), load),
    }
    if is_array:
        # Its digits are those of 32 bits.
        return ColumnLoader(pa, pa.list_(pa.float32()) if name == "float4" else None, load)
    return ColumnLoader(pa, kind, simple.get(name))


def batch_of(pa: Any, rows: list[tuple[str | None, ...]], loaders: list[ColumnLoader]) -> Any:
    """Batch of all columns, and of texts behind them."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(loaders)
    arrays, names, texts = [], [], []
    for at, (loader, column) in enumerate(zip(loaders, columns, strict=True)):
        array, written = loader.arrays(list(column))
        arrays.append(array)
        names.append(str(at))
        if written is not None:
            texts.append((f"{TEXT_COLUMN}{at}", written))
    arrays += [written for _, written in texts]
    names += [name for name, _ in texts]
    return pa.RecordBatch.from_arrays(arrays, names=names) if arrays else pa.record_batch({})
