"""Databases that a notebook's SQL cells can use, and their tables and columns. Rows are never read."""

import html
from dataclasses import dataclass, field

from .document import Json
from .errors import NotFound
from .session import Session


@dataclass(frozen=True)
class ConnectionInfo:
    """Database connection. A cell names it in its first line: `-- @warehouse`."""

    name: str
    kind: str
    """`postgresql`, `sqlite` or `duckdb`."""
    writes: bool = False
    """True if a cell that says `write` may write."""


@dataclass(frozen=True)
class Column:
    """Column of a table."""

    name: str
    type: str
    """Type name of the database; empty for SQLite columns without a type."""
    nullable: bool = True


@dataclass(frozen=True)
class Table:
    """Table or view."""

    name: str
    schema: str
    kind: str = "table"
    """`table`, `view`, `materialized_view` or `foreign_table`."""
    columns: tuple[Column, ...] = ()
    catalog: str | None = None
    is_visible: bool = True
    """True if SQL finds the table by its name without the schema."""
    columns_left_out: int = 0
    """Count of columns that do not fit in the answer."""

    def __str__(self) -> str:
        columns = ", ".join(f"{column.name} {column.type}".rstrip() for column in self.columns)
        return f"{self.name if self.is_visible else f'{self.schema}.{self.name}'}({columns})"


@dataclass(frozen=True)
class ConnectionSchema:
    """Tables of a connection, without system schemas and without tables that its account may not read.

    `schema["orders"]` or `schema["sales.orders"]` returns one table.
    """

    connection: str
    kind: str
    tables: tuple[Table, ...] = field(default=())
    tables_left_out: int = 0
    """Count of tables that do not fit in the answer: select by name with `matching`."""

    def __getitem__(self, name: str) -> Table:
        found = [table for table in self.tables if name in (table.name, f"{table.schema}.{table.name}")]
        if not found:
            raise NotFound(f"{self.connection} tells of no table {name}", code="unknown_table")
        return next((table for table in found if table.is_visible), found[0])

    def __len__(self) -> int:
        return len(self.tables)

    def __str__(self) -> str:
        return "\n".join(map(str, self.tables)) or f"{self.connection} has no tables"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(table.schema)}</td><td>{html.escape(table.name)}</td><td>{table.kind.replace('_', ' ')}</td>"
            f"<td>{html.escape(', '.join(f'{each.name} {each.type}'.rstrip() for each in table.columns))}</td></tr>"
            for table in self.tables
        )
        more = f"<p>… and {self.tables_left_out} tables more</p>" if self.tables_left_out else ""
        return f"<table><tr><th>schema</th><th>table</th><th>kind</th><th>columns</th></tr>{rows}</table>{more}"


def connection_of(told: Json) -> ConnectionInfo:
    """Connection from the server's JSON."""
    return ConnectionInfo(told["name"], told["kind"], told.get("writes", False))


def schema_of(connection: str, told: Json) -> ConnectionSchema:
    """Schema of a connection from the server's JSON."""
    tables = tuple(_table_of(table) for table in told["tables"])
    return ConnectionSchema(connection, told["kind"], tables, told.get("tables_left_out", 0))


def _table_of(told: Json) -> Table:
    columns = tuple(Column(each["name"], each["type"], each["nullable"]) for each in told["columns"])
    left_out = told.get("columns_left_out", 0)
    return Table(told["name"], told["schema"], told["kind"], columns, told.get("catalog"), told["is_visible"], left_out)


class Databases:
    """Database operations of a notebook."""

    _session: Session
    _notebook_id: str

    async def connections(self) -> list[ConnectionInfo]:
        """Lists the connections of SQL cells, besides `duckdb` over the kernel's memory and files of its folder."""
        kernels = await self._session.rest.get(f"/api/notebooks/{self._notebook_id}/kernels")
        return [connection_of(told) for told in kernels.get("connections", [])]

    async def schema(
        self, connection: str = "duckdb", *, matching: str = "", kernel: str | None = None
    ) -> ConnectionSchema:
        """Reads the tables and columns of a connection through the kernel, also while it is busy. Rows are never read.

        `matching` is a part of `schema.table`. Needs the right to run. `Conflict`: no kernel runs; `NotFound`: no such
        connection; `Unavailable`: the database cannot be reached.
        """
        path, query = f"/api/notebooks/{self._notebook_id}/schema", {"connection": connection, "matching": matching}
        return schema_of(connection, await self._session.rest.get(path, **query, kernel=kernel))
