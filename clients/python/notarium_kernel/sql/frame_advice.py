"""Advice for a statement that names a variable of the kernel as if it were a table of the database."""

from __future__ import annotations

import re
from typing import Any

from .binding import is_frame
from .errors import SqlError

_UNKNOWN_TABLE = {
    "duckdb": re.compile(
        r"(?:Table with name \"?|Referenced table \"|syntax error at or near \")(.+?)(?:\"? does not exist|\" not found|\"$)",
        re.M,
    ),
    "sqlite": re.compile(r"no such table: (?:main\.)?([^\s.]+)"),
    "postgresql": re.compile(r"relation \"([^\"]+)\" does not exist"),
}
"""Names in the databases' messages about an unknown table."""


def advise(error: SqlError, dialect: str, namespace: dict[str, Any]) -> None:
    """Adds to the error that a variable is written in braces, if the unknown table is one that holds a table."""
    unknown = _UNKNOWN_TABLE.get(dialect)
    found = unknown.search(error.args[0]) if unknown else None
    name = found and _frame_named(found[1], namespace)
    if not name:
        return
    kind = type(namespace[name]).__name__
    advice = f"{name} is a variable of the kernel ({kind}): "
    if dialect == "duckdb":
        advice += f"write {{{name}}} to read it"
    else:
        advice += f"run this cell in DuckDB (a first line `-- @duckdb`), and write {{{name}}}"
    # The next line has DuckDB's guess among its own tables.
    happened = error.args[0].splitlines()[0].rstrip("!. ")
    error.args = (f"{happened}. {advice}",)


def _frame_named(name: str, namespace: dict[str, Any]) -> str | None:
    """The variable, which databases may have written in small letters."""
    named = [each for each, value in namespace.items() if each.lower() == name.lower() and is_frame(value)]
    return name if name in named else named[0] if len(named) == 1 else None
