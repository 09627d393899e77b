"""Result of one statement, within limits, and its conversion to the value of a variable."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .errors import MissingDriver, SqlError
from .holdable import has_integers_and_nulls

PAGE_ROWS = 1_000
"""Rows of the first page."""
BATCH_ROWS = 16_384
OWN_SCALES = "numeric"
"""PostgreSQL's type whose values have a scale each: a column of Arrow has one for all."""
TEXT_COLUMN = "text "
"""Beginning of the names of a batch's columns that hold the database's texts; the number of the column follows."""


def arrow() -> Any:
    """pyarrow, which holds every result."""
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        message = "SQL cells need the package pyarrow in the kernel's Python: run `%pip install pyarrow` in a cell, then this again"
        raise MissingDriver(message) from None
    return pyarrow


@dataclass
class Settings:
    """Limits of results, and the type of data frames; `notarium.sql.settings` is the kernel's."""

    frame: str | None = None
    """`pandas`, `polars` or `arrow`; None: the first of these that is installed."""
    max_bytes: int = 1 << 30
    """Largest result for a variable. A larger one fails: sums over a part of a table would be wrong."""
    max_shown_bytes: int = 16 << 20
    """Largest result that is only shown. Further rows are not fetched, and a notice says so."""

    def chosen_frame(self) -> str:
        if self.frame in ("pandas", "polars", "arrow"):
            return self.frame
        if self.frame is not None:
            raise SqlError(f"notarium.sql.settings.frame is {self.frame!r}: it is 'pandas', 'polars' or 'arrow'")
        return next((name for name in ("pandas", "polars") if _is_installed(name)), "arrow")


def _is_installed(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


@dataclass(frozen=True)
class ResultColumn:
    name: str
    type: str | None = None
    """Type name of the database, if it tells one."""


@dataclass
class Result:
    """Rows, or the count of changed rows, of one statement."""

    columns: list[ResultColumn] | None = None
    """None if the statement gives no rows."""
    batches: list[Any] = field(default_factory=list)
    rows: int = 0
    """Count of rows that were read."""
    size: int = 0
    affected: int | None = None
    seconds: float = 0.0
    is_cut: bool = False
    """True if there are more rows, which were not read."""
    name: str = ""
    """Name by which a page requests further rows, while the variable that holds them lives."""
    is_plan: bool = False
    """True for the plan of EXPLAIN: lines of text."""
    write: Callable[[Any], Any] | None = None
    """Array of values → array of texts, as the database writes them. None: the values are shown."""
    texts: list[dict[int, Any]] = field(default_factory=list)
    """Texts of the database by column, for each batch, where they came with the rows."""
    is_kept: bool = False
    """True if a variable gets the rows: then texts of further rows are not kept beside them."""
    unheld: set[int] | None = None
    """Columns with values that data frames cannot hold, once they are known: see `written.unheld`."""

    def add(self, batch: Any) -> None:
        """Adds a batch. Its columns behind those of the result are texts, with the number of their column in the name."""
        count = len(self.columns or [])
        # DuckDB adds `_1` to a name that the query has too.
        extra = {
            int(name.split()[-1].split("_")[0]): batch.column(count + at)
            for at, name in enumerate(batch.schema.names[count:])
        }
        batch = batch.select(range(count)) if extra else batch
        if self.is_kept and self.rows >= PAGE_ROWS:
            extra = {
                at: each
                for at, each in extra.items()
                if self.type_of(at) == OWN_SCALES or batch.column(at).null_count > each.null_count
            }
        self.batches.append(batch)
        self.texts.append(extra)
        self.rows += batch.num_rows
        self.size += batch.nbytes

    def type_of(self, at: int) -> str | None:
        return self.columns[at].type if self.columns else None


def unique(names: list[str]) -> list[str]:
    """Makes column names unique, as Python's tables need: `id`, `id` become `id`, `id_1`."""
    found: list[str] = []
    taken = set(names)
    for name in names:
        other, number = name, 0
        while other in found:
            number += 1
            candidate = f"{name}_{number}"
            other = candidate if candidate not in taken else other
        found.append(other)
    return found


def joined(tables: list[Any]) -> Any:
    """Joins batches whose types may differ. Columns without a common type become text."""
    pa = arrow()
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.concat_tables([_texts_where_needed(table, tables) for table in tables], promote_options="permissive")


def _texts_where_needed(table: Any, tables: list[Any]) -> Any:
    pa = arrow()
    for at, field_ in enumerate(table.schema):
        types = {other.schema.field(at).type for other in tables} - {pa.null()}
        if len(types) > 1:
            texts = [None if value is None else str(value) for value in table.column(at).to_pylist()]
            table = table.set_column(at, pa.field(field_.name, pa.string()), pa.array(texts, pa.string()))
    return table


def frame(table: Any, settings: Settings, objects: dict[int, list[Any]] | None = None) -> Any:
    """Converts a table to the value of the variable that the cell names.

    `objects`: Python's values of the columns whose numbers pandas would not have exactly so.
    """
    wanted = settings.chosen_frame()
    if wanted == "arrow":
        return table
    if not _is_installed(wanted):
        raise MissingDriver(
            f"notarium.sql.settings.frame is {wanted!r}, which is not installed: run `%pip install {wanted}`"
        )
    if wanted == "polars":
        import polars

        for at, kind in enumerate(table.schema.types):
            # polars has no numbers of more than 38 digits.
            if arrow().types.is_decimal256(kind):
                table = table.set_column(at, table.column_names[at], table.column(at).cast(arrow().string()))
        return polars.from_arrow(table)
    import pandas  # type: ignore[import-untyped]

    found = _of_pandas(table)
    for at, values in (objects or {}).items():
        found.isetitem(at, pandas.Series(values, dtype="object", index=found.index))
    return found


def _of_nested(pandas: Any, name: str, column: Any) -> Any:
    """Lists with integers beside NULL become Python's: numpy would make floats of them, and round those beyond 2**53."""
    if has_integers_and_nulls(column):
        return pandas.Series(column.to_pylist(), dtype="object")
    return arrow().table({name: column}).to_pandas()[name]


def _of_pandas(table: Any) -> Any:
    """Converts a table to pandas. Integers and booleans keep their type also if some are missing."""
    import pandas  # pyright: ignore[reportMissingTypeStubs]

    pa = arrow()
    nullable = {pa.bool_(): pandas.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        nullable[getattr(pa, f"int{bits}")()] = getattr(pandas, f"Int{bits}Dtype")()
        nullable[getattr(pa, f"uint{bits}")()] = getattr(pandas, f"UInt{bits}Dtype")()
    has_missing = any(column.null_count or pa.types.is_nested(column.type) for column in table.columns)
    if not has_missing:
        return table.to_pandas()
    parts = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_nested(column.type) and column.type != pa.list_(pa.null()):
            parts[name] = _of_nested(pandas, name, column)
            continue
        mapper = nullable.get if column.null_count else None
        parts[name] = pa.table({name: column}).to_pandas(types_mapper=mapper)[name]
    return pandas.DataFrame(parts)
