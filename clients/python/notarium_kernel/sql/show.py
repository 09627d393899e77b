"""Output of a result: the first rows with their types, the count of rows, and the duration."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

from .results import PAGE_ROWS, Result, ResultColumn, arrow, unique
from .written import INTEGERS, first_rows, plain, shown_table

RESOURCE = "application/vnd.dataresource+json"
ARROW = "application/vnd.apache.arrow.stream"
_TEXT_ROWS = 20
_TEXT_WIDTH = 40
_HTML_ROWS = 100


def bundle(
    result: Result, connection: str, notice: str | None = None, is_whole: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The output's MIME bundle and its metadata. `is_whole`: nothing more comes."""
    page = first_rows(result, PAGE_ROWS)
    names = unique([column.name for column in result.columns or []])
    types = _types(result)
    said = caption(result, connection, notice, is_whole)
    fields = [
        {"name": name, "type": kind, **({"database_type": column.type} if column.type else {})}
        for name, kind, column in zip(names, types, result.columns or [], strict=True)
    ]
    rows = [dict(zip(names, row, strict=True)) for row in page]
    resource = {"schema": {"fields": fields}, "data": rows, "total": result.rows, "caption": said}
    shape = f"[{result.rows} rows x {len(names)} columns]"
    data: dict[str, Any] = {
        RESOURCE: resource,
        "text/html": _html(names, page, f"{shape[1:-1].replace(' x ', ' × ')}", said),
        "text/plain": f"{_text(names, page)}\n\n{shape}\n{said}",
    }
    if result.is_plan:
        # Lines that hang together, as the database's own shell prints them.
        data = {"text/plain": "\n".join([*(str(row[-1]).rstrip("\n") for row in page), "", said])}
    elif is_whole and result.rows > PAGE_ROWS and result.batches:
        data[ARROW] = _arrow_text(result)
    return data, {
        "notarium": {
            "connection": connection,
            "rows": result.rows,
            "seconds": round(result.seconds, 6),
            "cut": result.is_cut,
        }
    }


def caption(result: Result, connection: str, notice: str | None = None, is_whole: bool = True) -> str:
    time = f"{result.seconds * 1000:.0f} ms" if result.seconds < 1 else f"{result.seconds:.1f} s"
    if result.columns is None:
        count = (
            "" if result.affected is None else f"{result.affected:,} row{'s' if result.affected != 1 else ''} changed, "
        )
        return f"Done: {count}{time}, {connection}"
    shown = f"the first {PAGE_ROWS:,} of " if result.rows > PAGE_ROWS else ""
    more = " so far" if not is_whole else ""
    said = f"{shown}{result.rows:,} row{'s' if result.rows != 1 else ''}{more}, {time}, {connection}"
    return f"{said}. {notice}" if notice else said


def words(value: Any) -> str:
    if value is None:
        return "NULL"
    shown = plain(value)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _types(result: Result) -> list[str]:
    """Types of the columns, by the names of Frictionless."""
    pa = arrow()
    if not result.batches:
        return ["any"] * len(result.columns or [])
    named = (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_decimal, "number"),
        (pa.types.is_date, "date"),
        (pa.types.is_timestamp, "datetime"),
        (pa.types.is_time, "time"),
        (pa.types.is_string, "string"),
        (pa.types.is_nested, "array"),
    )
    kinds = [next((name for fits, name in named if fits(field.type)), "any") for field in result.batches[0].schema]
    return ["integer" if result.type_of(at) in INTEGERS else kind for at, kind in enumerate(kinds)]


def _text(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    def cut(text: str) -> str:
        line = text.replace("\n", " ")
        return line if len(line) <= _TEXT_WIDTH else line[: _TEXT_WIDTH - 1] + "…"

    shown = [[cut(name) for name in names], *([cut(words(value)) for value in row] for row in rows[:_TEXT_ROWS])]
    widths = [max(len(row[at]) for row in shown) for at in range(len(names))]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    return "\n".join(lines + (["…"] if len(rows) > _TEXT_ROWS else []))


def _html(names: list[str], rows: list[tuple[Any, ...]], shape: str, said: str) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(words(value))}</td>" for value in row) + "</tr>"
        for row in rows[:_HTML_ROWS]
    )
    return (
        f'<table border="1" class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        f"<p>{shape}</p><p>{html.escape(said)}</p>"
    )


def _arrow_text(result: Result) -> str:
    """All rows that were read, as Arrow's stream with Zstandard, in base64. The page reads it to show further rows."""
    pa = arrow()
    table = shown_table(result)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def column_words(columns: list[ResultColumn]) -> str:
    return ", ".join(f"{column.name} {column.type}" if column.type else column.name for column in columns)
