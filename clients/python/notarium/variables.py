"""What a notebook's kernel holds: its variables, and the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .document import Json


@dataclass(frozen=True)
class Variable:
    """A variable of the kernel."""

    name: str
    type: str
    shape: tuple[int, ...] | None = None
    """Of arrays and tables."""
    length: int | None = None
    """Of containers and texts."""
    bytes: int | None = None
    """Of memory, where that is known cheaply."""
    preview: str | None = None
    """The beginning of what it holds."""
    is_table: bool = False
    """Whether `Notebook.table` reads it."""


@dataclass(frozen=True)
class TableRows:
    """Rows of a table, as it was in the kernel when it was asked."""

    columns: tuple[str, ...]
    """Their names; those of the index come first."""
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Values as JSON has them: times, and whole numbers beyond 2**53, are texts."""
    total: int
    """Rows of the table."""
    matching: int
    """Rows that have what was searched for."""
    is_cut: bool = False
    """Fewer rows than asked for fit in one answer: ask on behind the last."""

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """A data frame of these rows."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(list(self.rows), columns=list(self.columns))


def variable_of(told: Json) -> Variable:
    shape = told.get("shape")
    return Variable(
        told["name"],
        told["type"],
        None if shape is None else tuple(shape),
        told.get("length"),
        told.get("bytes"),
        told.get("preview"),
        told.get("is_table", False),
    )


def rows_of(told: Json) -> TableRows:
    columns = told["columns"]
    return TableRows(
        tuple(column["name"] for column in columns),
        tuple(column["type"] for column in columns),
        tuple(tuple(row) for row in told["data"]),
        told["rows"],
        told["matching"],
        told.get("is_cut", False),
    )
