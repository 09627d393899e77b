"""Values of a result as outputs show them: as the database writes them, where JSON or Python would write them otherwise.

Columns of integers, texts, booleans and decimals are shown from their values. Of all others the database's text is shown.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from .duckdb_texts import without_dictionaries
from .holdable import is_holdable, needs_text
from .results import OWN_SCALES, Result, arrow, joined, unique

_MAX_CELL = 2_000
_LARGEST_NUMBER = 2**53
"""Largest integer that JavaScript's numbers hold exactly. Larger ones are sent as text."""
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?")
INTEGERS = {"HUGEINT", "UHUGEINT", "BIGNUM"}
"""Types of DuckDB whose integers are wider than Arrow's."""


def is_plain(kind: Any) -> bool:
    """True if a value is shown as it is."""
    types = arrow().types
    return any(
        fits(kind)
        for fits in (
            types.is_null,
            types.is_boolean,
            types.is_integer,
            types.is_string,
            types.is_large_string,
            types.is_decimal,
        )
    ) or (types.is_dictionary(kind) and types.is_string(kind.value_type))


def texts(result: Result, batch: int, at: int) -> Any:
    """The database's texts of a column in a batch. None: its values are shown plainly."""
    array = result.batches[batch].column(at)
    given = result.texts[batch].get(at)
    if given is not None:
        return given
    if result.write is None or is_plain(array.type):
        return None
    try:
        return result.write(array)
    except Exception:  # A type that the database does not read again: better Python's text than no result.
        return arrow().array([_of_python(scalar) for scalar in array], arrow().string())


def _of_python(scalar: Any) -> str | None:
    try:
        return str(scalar.as_py()) if scalar.is_valid else None
    except Exception:
        return f"<{scalar.type}>"


def first_rows(result: Result, count: int) -> list[tuple[Any, ...]]:
    """First rows in values of JSON."""
    rows: list[tuple[Any, ...]] = []
    for number, batch in enumerate(result.batches):
        wanted = min(count - len(rows), batch.num_rows)
        part = Result(result.columns, [batch.slice(0, wanted)], write=result.write)
        part.texts = [{at: each.slice(0, wanted) for at, each in result.texts[number].items()}]
        columns = [
            column(part.batches[0].column(at), texts(part, 0, at), result.type_of(at))
            for at in range(batch.num_columns)
        ]
        rows.extend(zip(*columns, strict=True))
        if len(rows) >= count:
            break
    return rows


def column(array: Any, written: Any, kind: str | None) -> list[Any]:
    """A column's values of JSON. `written`: the database's texts of it, if they are shown."""
    if kind in INTEGERS:
        found = (written if written is not None else array).to_pylist()
        return [None if value is None else plain(int(value)) for value in found]
    if written is None:
        return [plain(value) for value in array.to_pylist()]
    listed = written.to_pylist()
    if arrow().types.is_floating(array.type):
        return [None if text is None else number(text) for text in listed]
    return [plain(text) for text in listed]


def number(text: str) -> Any:
    """The text of a number, or the number if JavaScript writes it the same way."""
    if not _PLAIN_NUMBER.fullmatch(text) or text == "-0":
        return text
    value: Any = float(text) if "." in text else int(text)
    same = repr(value) == text and abs(value) <= _LARGEST_NUMBER
    return value if same else text


def plain(value: Any) -> Any:
    """Converts a value to JSON. Values that JSON would round or cannot hold become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if len(value) <= _MAX_CELL else value[:_MAX_CELL] + "…"
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_NUMBER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + value[: _MAX_CELL // 2].hex() + ("…" if len(value) > _MAX_CELL // 2 else "")
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    if isinstance(value, (list, dict)):
        text = json.dumps(value, default=str, ensure_ascii=False)
        return json.loads(text) if len(text) <= _MAX_CELL else text[:_MAX_CELL] + "…"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def shown_table(result: Result) -> Any:
    """All rows, for a page that shows them: with the database's texts."""
    return _table(result, [at for at in range(len(result.columns or [])) if _is_written(result, at)])


def _is_written(result: Result, at: int) -> bool:
    return any(
        result.texts[number].get(at) is not None or (result.write is not None and not is_plain(batch.column(at).type))
        for number, batch in enumerate(result.batches)
    )


def table(result: Result) -> Any:
    """All rows, for a variable: a column is text if data frames have no such type, or cannot hold one of its values."""
    found = _table(result, [at for at in range(len(result.columns or [])) if is_text(result, at)])
    for at in range(found.num_columns):
        if result.type_of(at) in INTEGERS:
            found = found.set_column(at, found.column_names[at], _narrowed(found.column(at)))
    return found


def _table(result: Result, written: list[int]) -> Any:
    pa = arrow()
    names = unique([column.name for column in result.columns or []])
    tables = []
    for number, batch in enumerate(result.batches):
        arrays = list(batch.columns)
        for at in written:
            arrays[at] = _as_texts(result, number, at)
        tables.append(pa.Table.from_arrays(arrays, names=names))
    return joined(tables)


def _as_texts(result: Result, number: int, at: int) -> Any:
    found = texts(result, number, at)
    if found is not None:
        return found
    return result.batches[number].column(at).cast(arrow().string())


def is_text(result: Result, at: int) -> bool:
    return any(needs_text(batch.column(at).type) for batch in result.batches) or at in unheld(result)


def unheld(result: Result) -> set[int]:
    """Columns with a value that data frames cannot hold."""
    if result.unheld is None:
        result.unheld = {
            at
            for number, batch in enumerate(result.batches)
            for at in range(batch.num_columns)
            if not needs_text(batch.column(at).type)
            and (_has_lost(batch.column(at), result.texts[number].get(at)) or not is_holdable(batch.column(at)))
        }
    return result.unheld


def _has_lost(array: Any, written: Any) -> bool:
    """True if there is a text of a value that could not be read."""
    return written is not None and bool(array.null_count > written.null_count)


def _narrowed(found: Any) -> Any:
    """Integers in 64 bits if they fit, else in 38 digits."""
    pa = arrow()
    for kind in (pa.int64(), pa.uint64()):
        try:
            return found.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    if not pa.types.is_string(found.type):
        return found
    # Arrow's own cast of longer texts wraps around without an error.
    numbers = [None if text is None else Decimal(text) for text in found.to_pylist()]
    is_fitting = all(each is None or len(each.as_tuple().digits) <= 38 for each in numbers)
    return pa.chunked_array([pa.array(numbers, pa.decimal128(38, 0))]) if is_fitting else found


def objects(result: Result, found: Any) -> dict[int, list[Any]]:
    """Numbers that pandas has as objects: integers beyond 64 bits, and numerics with a scale each. By column."""
    types = arrow().types
    listed: dict[int, list[Any]] = {}
    for at, kind in enumerate(found.schema.types):
        if result.type_of(at) in INTEGERS and not types.is_integer(kind):
            listed[at] = [None if value is None else int(value) for value in found.column(at).to_pylist()]
        elif result.type_of(at) == OWN_SCALES and types.is_decimal(kind):
            texts_of = [texts(result, number, at) for number in range(len(result.batches))]
            if all(each is not None for each in texts_of):
                values = [text for each in texts_of for text in each.to_pylist()]
                listed[at] = [None if text is None else Decimal(text) for text in values]
    return listed


class KeptTexts:
    """Writes values of a variable's rows, which the page requests later, as the first rows were written."""

    def __init__(self, result: Result, found: Any, frame: Any):
        # pandas has one missing value for NaN and NULL. A column without NULL has NaN.
        self.is_pandas = type(frame).__module__.startswith("pandas")
        self.has_nulls = [bool(column.null_count) for column in found.columns]
        self.names = found.column_names
        self.types = [without_dictionaries(field.type) for field in found.schema]
        self.kinds = [result.type_of(at) for at in range(len(self.names))]
        self.write: Callable[[Any], Any] | None = result.write

    def __call__(self, at: int, name: str, values: list[Any]) -> list[Any]:
        """The values themselves, if the column is another one by now."""
        if at >= len(self.names) or self.names[at] != name or self.write is None:
            return values
        if is_plain(self.types[at]):
            return [plain(value) if isinstance(value, Decimal) else value for value in values]
        try:
            if self.is_pandas and not self.has_nulls[at] and arrow().types.is_floating(self.types[at]):
                values = [float("nan") if value is None else value for value in values]
                array = arrow().array(values, self.types[at])
            else:
                array = arrow().array(values, self.types[at], from_pandas=self.is_pandas)
            return column(array, self.write(array), self.kinds[at])
        except Exception:
            return values
