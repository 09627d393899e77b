"""From a variable of the kernel to a value that a driver binds. A value never becomes a part of the SQL."""

from __future__ import annotations

import datetime
import decimal
import re
import secrets
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .errors import ParameterError
from .tokens import Parameter, Statement

MAX_LISTED = 10_000
"""Values of one list behind IN: databases take a limited number of parameters."""

_NAME_ADVICE = (
    "{{{name}}} stands where a name must stand, and a variable is bound as a value: write the name itself into the SQL. "
    "To choose between columns by a variable: CASE {{{name}}} WHEN 'price' THEN price WHEN 'day' THEN day END"
)
_FRAME_ADVICE = (
    "{{{name}}} is a table ({kind}), which {dialect} cannot read from Python: run this cell in DuckDB (a first line "
    "`-- @duckdb`), or bind a list of one column"
)


@dataclass
class BoundStatement:
    """A statement with placeholders, and what stands for them."""

    line: int
    text: str
    values: list[Any] = field(default_factory=list)
    relations: dict[str, Any] = field(default_factory=dict)
    """Tables of Python by the name that they have in the text, which nothing else can have."""
    written: dict[str, str] = field(default_factory=dict)
    """Names of these tables in the text, by the name that the cell writes."""

    def as_written(self, message: str) -> str:
        """Puts the cell's own names into a message of the database."""
        for name, internal in self.written.items():
            message = message.replace(f'"{internal}"', f"{{{name}}}").replace(internal, f"{{{name}}}")
        return message


_LASTING = re.compile(
    r"\s*(?:CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?(?:RECURSIVE\s+)?(VIEW|MACRO|FUNCTION)|(PREPARE))\b",
    re.I,
)
"""Statements that read their tables later, when a frame has gone."""


def bind(statement: Statement, dialect: str, look_up: Callable[[str], Any]) -> BoundStatement:
    """`look_up` gives a variable's value, or raises KeyError."""
    bound = BoundStatement(statement.line, "")
    texts = []
    for part in statement.parts:
        texts.append(part if isinstance(part, str) else _placed(part, statement, dialect, look_up, bound))
    bound.text = "".join(texts).strip()
    return bound


def _placed(
    parameter: Parameter, statement: Statement, dialect: str, look_up: Callable[[str], Any], bound: BoundStatement
) -> str:
    name = parameter.name
    try:
        value = look_up(name)
    except KeyError:
        message = (
            f"the kernel has no variable {name!r}: run the cell that defines it, or write {{{{ and }}}} for braces"
        )
        raise ParameterError(message, line=parameter.line) from None

    def refuse(message: str) -> ParameterError:
        return ParameterError(message, line=parameter.line)

    if is_frame(value):
        if dialect != "duckdb":
            raise refuse(_FRAME_ADVICE.format(name=name, kind=type(value).__name__, dialect=dialect))
        if parameter.place not in ("relation", "source"):
            raise refuse(
                f"{{{name}}} is a table: it stands behind FROM or JOIN, or name a column: {name}_ids = {name}['id']"
            )
        if lasting := _lasting(statement):
            raise refuse(
                f"a {lasting} cannot keep {{{name}}}, which is a variable of the kernel: copy it first (CREATE TABLE "
                f"{name}_rows AS SELECT * FROM {{{name}}}), and read the copy in the {lasting}"
            )
        return _relation(parameter, value, statement, bound)
    if parameter.place in ("relation", "name", "source"):
        raise refuse(_NAME_ADVICE.format(name=name))
    try:
        converted = to_value(value)
    except ValueError as error:
        raise refuse(f"{{{name}}} cannot be bound: {error}") from None
    return _placeholders(parameter, converted, dialect, bound, refuse)


def _relation(parameter: Parameter, value: Any, statement: Statement, bound: BoundStatement) -> str:
    """A name that no table, view or common table expression can have: neither hides the other.

    The variable's own name becomes the alias, unless the statement gives it to something else.
    """
    name = parameter.name
    internal = bound.written.setdefault(name, f"notarium_frame_{secrets.token_hex(8)}")
    bound.relations[internal] = value
    alias = f' AS "{name}"' if parameter.takes_alias and name.lower() not in statement.relations else ""
    return f'{"FROM " if parameter.place == "source" else ""}"{internal}"{alias}'


def _lasting(statement: Statement) -> str | None:
    words = (part for part in statement.parts if isinstance(part, str) and not part.startswith(("--", "/*")))
    found = _LASTING.match("".join(words))
    if found is None:
        return None
    return "prepared statement" if found[2] else found[1].lower()


def _placeholders(
    parameter: Parameter, value: Any, dialect: str, bound: BoundStatement, refuse: Callable[[str], ParameterError]
) -> str:
    def placeholder(value: Any) -> str:
        bound.values.append(value)
        return f"?{len(bound.values)}" if dialect == "sqlite" else f"${len(bound.values)}"

    if not isinstance(value, list):
        if parameter.place == "bare list":
            raise refuse(
                f"{{{parameter.name}}} is one value, and behind IN stands a list: make it a list, or compare with ="
            )
        return placeholder(value)
    if parameter.place == "value":
        if dialect == "sqlite":
            raise refuse(
                f"{{{parameter.name}}} is a list, which SQLite takes behind IN alone: x IN {{{parameter.name}}}"
            )
        return placeholder(value)
    if len(value) > MAX_LISTED:
        message = f"{{{parameter.name}}} has {len(value)} values, and behind IN stand at most {MAX_LISTED}: "
        raise refuse(message + "join with a table of them (in DuckDB a DataFrame, as in FROM {frame})")
    if not value and parameter.place == "list":
        raise refuse(f"{{{parameter.name}}} is an empty list among other values: make one list of all of them")
    # Nothing is in an empty list, and everything is not in it: `IN (NULL)` would say "unknown" to both.
    listed = ", ".join(placeholder(each) for each in value) if value else "SELECT NULL WHERE 1 = 0"
    return f"({listed})" if parameter.place == "bare list" else listed


def is_frame(value: Any) -> bool:
    kind = type(value)
    return (_library(kind), kind.__name__) in {
        ("pandas", "DataFrame"),
        ("polars", "DataFrame"),
        ("polars", "LazyFrame"),
        ("pyarrow", "Table"),
        ("pyarrow", "RecordBatch"),
    }


def _library(kind: type) -> str:
    return (kind.__module__ or "").split(".")[0]


_PLAIN = (decimal.Decimal, datetime.date, datetime.time, datetime.timedelta, uuid.UUID)


def to_value(value: Any) -> Any:
    """A plain Python value, or a list of them. ValueError says what it is instead, and what to do."""
    if isinstance(value, (list, tuple, set, frozenset, range)) or _is_column(value):
        return [_scalar(each) for each in _each(value)]
    return _scalar(value)


def _is_column(value: Any) -> bool:
    named = (_library(type(value)), type(value).__name__)
    if named == ("numpy", "ndarray"):
        if value.ndim != 1:
            raise ValueError(f"it is an array of {value.ndim} dimensions: bind one of its rows or columns")
        return True
    is_index = named[0] == "pandas" and named[1].endswith("Index")
    return is_index or named in {("pandas", "Series"), ("polars", "Series"), ("pyarrow", "ChunkedArray")}


def _each(value: Any) -> Iterable[Any]:
    to_list = getattr(value, "to_pylist", None)
    each: Iterable[Any] = to_list() if to_list else value
    return each


def _scalar(value: Any) -> Any:
    """Exactly one of the types that drivers know: what a class of its own does when it is written never counts."""
    library = _library(type(value))
    if value is None or library == "pandas" and type(value).__name__ in ("NaTType", "NAType"):
        return None
    if library == "numpy":
        return _of_numpy(value)
    if library == "pandas" and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    if library == "pandas" and hasattr(value, "to_pytimedelta"):
        return value.to_pytimedelta()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, _PLAIN):
        return value
    kind = type(value).__name__
    if isinstance(value, dict):
        raise ValueError("it is a dict: bind one of its values, or json.dumps of it as a text")
    if isinstance(value, (list, tuple, set)):
        raise ValueError("it is a list of lists: bind a list of plain values")
    raise ValueError(
        f"it is a {kind}: bind a number, text, date, Decimal, bytes, UUID, None, a list of these, or a DataFrame"
    )


def _of_numpy(value: Any) -> Any:
    kind = type(value).__name__
    if kind == "datetime64":
        return value.astype("datetime64[us]").item()
    if kind == "timedelta64":
        return value.astype("timedelta64[us]").item()
    if not hasattr(value, "item") or getattr(value, "ndim", 1) != 0:
        raise ValueError(f"it is a numpy {kind}: bind one number, or an array of one dimension")
    plain = value.item()
    if plain is value or type(plain).__module__ == "numpy":
        raise ValueError(f"it is a numpy {kind}, which no database has: convert it first")
    return _scalar(plain)


def _text(value: str) -> str:
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it has characters that UTF-8 cannot hold (lone surrogates)") from None
    # A subclass hands itself on.
    return text if type(text) is str else "".join(text)
