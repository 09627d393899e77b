"""What is a table, and what its columns are."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from .columns import MAX_COLUMNS, Column

LIBRARIES = {"pandas": ("DataFrame", "Series"), "polars": ("DataFrame", "Series")}


class Table(Protocol):
    """A frame by the places of its rows and columns. Positions are the library's own numbers of rows, in the order wanted."""

    kind: str
    rows: int
    columns: list[Column]
    columns_left_out: int

    def read(self, positions: Any, first: int, count: int, columns: int = MAX_COLUMNS) -> list[list[Any]]:
        """So many columns, each with Python's values, None where there is none. `positions` None: all rows in their order."""
        ...

    def order(self, column: int, is_descending: bool) -> Any:
        """Positions of all rows, sorted. Rows without a value come last, equal ones keep their order."""

    def passing(self, column: int, operator: str, value: str) -> Any:
        """A truth value for each row."""

    def containing(self, column: int, text: str) -> Any:
        """A truth value for each row: whether its text has `text`, in small letters or capitals."""

    def both(self, first: Any, second: Any) -> Any: ...

    def either(self, first: Any, second: Any) -> Any: ...

    def kept(self, positions: Any, mask: Any) -> Any:
        """Those positions (None: all) whose row passes."""

    def length(self, positions: Any) -> int: ...

    def summary(self, column: int) -> dict[str, Any]: ...


def is_frame(value: Any) -> str | None:
    """The library of a data frame or a series. Nothing is imported: who has made one has the library."""
    for library, names in LIBRARIES.items():
        module = sys.modules.get(library)
        kinds = tuple(kind for name in names if isinstance(kind := getattr(module, name, None), type))
        if kinds and issubclass(type(value), kinds):
            return library
    return None


def table(value: Any, is_bare: bool = False) -> Table | None:
    """`is_bare`: without its index."""
    library = is_frame(value)
    if library == "pandas":
        from .of_pandas import PandasTable

        return PandasTable(value, is_bare)
    if library == "polars":
        from .of_polars import PolarsTable

        return PolarsTable(value)
    return None
