"""The first line of an SQL cell: on which connection it runs, whether it writes, and which variable gets the result.

    -- @warehouse write > orders

Every part may be left out, and so may the line: then the cell runs in DuckDB in the kernel's memory, and its result is shown
alone. It is a comment for every database, so the cell runs elsewhere too.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass

from .errors import SqlError

DEFAULT = "duckdb"
"""The connection of a cell that names none."""

_LINE = re.compile(
    r"--[ \t]*(?=[@>])(?:@(?P<connection>\S*))?(?P<words>(?:[ \t]+[^\s>]+)*)[ \t]*(?:>(?P<variable>.*))?"
)


@dataclass(frozen=True)
class Header:
    connection: str = DEFAULT
    writes: bool = False
    variable: str | None = None


def read(source: str) -> Header:
    """The header of a cell's source. Blank lines may stand before it."""
    first = next((line for line in source.split("\n") if line.strip()), "").strip()
    found = _LINE.fullmatch(first)
    if not found:
        return Header()
    words = found["words"].split()
    unknown = [word for word in words if word != "write"]
    if unknown:
        raise SqlError(
            f"the first line says {unknown[0]!r}, which means nothing there: it is `-- @connection write > variable`"
        )
    if found["connection"] == "":
        raise SqlError("the first line names no connection behind the @: it is `-- @connection > variable`")
    variable = found["variable"]
    variable = None if variable is None else variable.strip()
    if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
        raise SqlError(f"the result cannot be kept in {variable!r}: behind the > stands the name of a variable")
    return Header(found["connection"] or DEFAULT, bool(words), variable)
