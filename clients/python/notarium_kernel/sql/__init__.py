"""SQL cells in a kernel: PostgreSQL, SQLite and DuckDB, with variables as bound parameters.

    -- @warehouse > orders
    SELECT * FROM orders WHERE day >= {start} AND region IN {regions}

A notebook's SQL cells come here by themselves. From Python: `notarium.sql.query("SELECT 1")`, `notarium.sql.tables("warehouse")`.
"""

from __future__ import annotations

from typing import Any

from . import cell, connections
from .connections import Connection
from .errors import Cancelled, ConnectionFailed, MissingDriver, ParameterError, SqlError, TooLarge, UnknownConnection
from .results import Settings

settings = cell.settings
"""Limits of results, and the type of data frames, in this kernel."""

__all__ = [
    "Cancelled",
    "Connection",
    "ConnectionFailed",
    "MissingDriver",
    "ParameterError",
    "Settings",
    "SqlError",
    "TooLarge",
    "UnknownConnection",
    "query",
    "settings",
    "tables",
]


def query(sql: str, connection: str = "duckdb", *, write: bool = False, **variables: Any) -> Any:
    """Runs SQL and returns the rows of its last statement: `query("SELECT {a} + 1 AS b", a=1)`. None if it gives no rows."""
    head = f"-- @{connection}{' write' if write else ''} > _result\n"
    namespace = dict(variables)
    try:
        return cell.run(head + sql, namespace, lambda *_: None)
    except SqlError as error:
        if error.line:
            error.line -= 1
        if "_result is not set: no statement" in str(error):
            return None
        raise


def tables(connection: str = "duckdb") -> list[dict[str, Any]]:
    """Lists the tables: `{"schema", "table", "columns": [{"name", "type"}]}`. Reads no rows."""
    described = connections.open_connections.engine(connection, False).describe("", connections.DESCRIBE_SECONDS)
    return [
        {
            "schema": table["schema"],
            "table": table["name"],
            "columns": [{"name": column["name"], "type": column["type"]} for column in table["columns"]],
        }
        for table in described["tables"]
    ]
