"""What a notebook's kernel holds: its variables, and the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .document import Json
from .session import Session


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
    """What a notebook tells of its kernel's memory. It needs the right to run; nothing of it is recorded."""

    _session: Session
    _notebook_id: str

    async def variables(self, *, kernel: str | None = None) -> list[Variable]:
        """The variables of its kernel, asked for when that runs nothing: names, types, sizes. Nothing of it is recorded.

        It needs the right to run. `Conflict`: no kernel runs, or it is busy.
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
        """Rows of a data frame or a series that a variable holds, sorted by a column, only those with `search` in one.

        It needs the right to run. `NotFound`: no such variable holds a table; `Conflict`: no kernel runs, or it is busy.
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
