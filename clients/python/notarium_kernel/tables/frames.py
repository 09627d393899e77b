"""Tables: the interface that data frames of pandas and polars share."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from .columns import MAX_COLUMNS, TableColumn

LIBRARIES = {"pandas": ("DataFrame", "Series"), "polars": ("DataFrame", "Series")}


class FrameTable(Protocol):
    """Data frame or series, read by the positions of rows and columns. Row positions are the library's, in the requested order."""

    kind: str
    rows: int
    columns: list[TableColumn]
    columns_left_out: int

    def read(self, positions: Any, first: int, count: int, columns: int = MAX_COLUMNS) -> list[list[Any]]:
        """Reads values by columns, None for missing ones. `positions` None: all rows in their order."""
        ...

    def order(self, column: int, is_descending: bool) -> Any:
        """Positions of all rows, sorted. Rows without a value come last; equal ones keep their order."""

    def passing(self, column: int, operator: str, value: str) -> Any:
        """Mask of the rows that pass a filter."""

    def containing(self, column: int, text: str) -> Any:
        """Mask of the rows whose text contains `text`, in any case."""

    def both(self, first: Any, second: Any) -> Any: ...

    def either(self, first: Any, second: Any) -> Any: ...

    def kept(self, positions: Any, mask: Any) -> Any:
        """Positions (None: all) that the mask keeps."""

    def length(self, positions: Any) -> int: ...

    def summary(self, column: int) -> dict[str, Any]: ...


def is_frame(value: Any) -> str | None:
    """Library of a data frame or series, if it is one. Nothing is imported: a frame exists only if its library is loaded."""
    for library, names in LIBRARIES.items():
        module = sys.modules.get(library)
        kinds = tuple(kind for name in names if isinstance(kind := getattr(module, name, None), type))
        if kinds and issubclass(type(value), kinds):
            return library
    return None


def table(value: Any, is_bare: bool = False) -> FrameTable | None:
    """Table of a data frame or series; None for other values. `is_bare`: without its index."""
    library = is_frame(value)
    if library == "pandas":
        from .of_pandas import PandasTable

        return PandasTable(value, is_bare)
    if library == "polars":
        from .of_polars import PolarsTable

        return PolarsTable(value)
    return None
