"""Variables of a notebook's kernel, and rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .document import Json
from .session import Session


@dataclass(frozen=True)
class Variable:
    """Variable of the kernel."""

    name: str
    type: str
    shape: tuple[int, ...] | None = None
    """Shape of arrays and tables."""
    length: int | None = None
    """Length of containers and texts."""
    bytes: int | None = None
    """Memory in bytes, if it is cheap to find."""
    preview: str | None = None
    """Beginning of the value as text."""
    is_table: bool = False
    """True if `Notebook.table` can read the variable."""


@dataclass(frozen=True)
class TableRows:
    """Rows of a table at the time of the request."""

    columns: tuple[str, ...]
    """Column names; index columns come first."""
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Values as in JSON. Times, and whole numbers beyond 2**53, are texts."""
    total: int
    """Count of all rows of the table."""
    matching: int
    """Count of rows that match the search."""
    is_cut: bool = False
    """True if not all requested rows fit in the answer: request the next ones after the last."""

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(list(self.rows), columns=list(self.columns))


def _variable(told: Json) -> Variable:
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


def _rows(told: Json) -> TableRows:
    columns = told["columns"]
    return TableRows(
        tuple(column["name"] for column in columns),
        tuple(column["type"] for column in columns),
        tuple(tuple(row) for row in told["data"]),
        told["rows"],
        told["matching"],
        told.get("is_cut", False),
    )


class KernelMemory:
    """Reads the memory of a notebook's kernel. Needs the right to run; requests are not recorded."""

    _session: Session
    _notebook_id: str

    async def variables(self, *, kernel: str | None = None) -> list[Variable]:
        """Reads the variables of an idle kernel: names, types and sizes. The request is not recorded.

        Needs the right to run. `Conflict`: no kernel runs, or it is busy.
        """
        told = await self._session.rest.get(f"/api/notebooks/{self._notebook_id}/variables", kernel=kernel)
        return [_variable(each) for each in told["variables"]]

    async def table(
        self,
        variable: str,
        *,
        first: int = 0,
        count: int = 1000,
        sort: str | None = None,
        is_descending: bool = False,
        search: str = "",
        kernel: str | None = None,
    ) -> TableRows:
        """Reads rows of a data frame or series in a variable. `sort`: a column. `search`: only rows that contain this text.

        Needs the right to run. `NotFound`: no such variable holds a table; `Conflict`: no kernel runs, or it is busy.
        """
        path, of = f"/api/notebooks/{self._notebook_id}/table", {"variable": variable}
        read: Json = {"of": of, "first": first, "count": count, "search": search}
        if sort is not None:
            head = await self._session.rest.post(path, {"read": {"of": of, "count": 0}, "kernel": kernel})
            names = [column["name"] for column in head["columns"]]
            if sort not in names:
                raise ValueError(f"{variable} has no column {sort!r}: it has {', '.join(names[:20])}")
            read["sort"] = {"column": names.index(sort), "is_descending": is_descending}
        return _rows(await self._session.rest.post(path, {"read": read, "kernel": kernel}))
