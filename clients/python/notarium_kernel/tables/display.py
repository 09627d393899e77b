"""Data of a displayed frame, beside the library's HTML and text: its first rows, and its name in the registry."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from typing import Any

from . import values
from .columns import TableColumn
from .frames import FrameTable, is_frame, table
from .registry import tables

ARROW = "application/vnd.notarium.table+arrow"
JSON = "application/vnd.notarium.table+json"
MAX_ROWS = 200
MAX_BYTES = 256 << 10
MAX_VALUES = 20_000
"""Most values of one output. Of a wide frame fewer rows are recorded."""
MAX_ARROW_COLUMNS = 100
"""Most columns in Arrow. With more, JSON is smaller and faster."""
DIGEST_ROWS = 20
DIGEST_COLUMNS = 200
_LIBRARIES = ("pandas.", "polars.")


def add(value: Any, data: dict[str, Any], formatter: Any = None) -> None:
    """Adds the frame's data to a MIME bundle, unless a user or another library has changed how it is shown.

    `formatter`: IPython's, whose formats users can replace.
    """
    if not has_own_look(value, data) or has_formats(value, formatter):
        return
    found = table(value)
    if found is None:
        return
    mime, content, _is_whole = recorded(found, value)
    if content is not None:
        data[mime] = content


def has_own_look(value: Any, data: dict[str, Any]) -> bool:
    """True if the library itself made the HTML (of a series of pandas: the text)."""
    if is_frame(value) is None or "text/plain" not in data:
        return False
    methods = ["__repr__"] if "text/html" not in data else ["__repr__", "_repr_html_"]
    if "text/html" not in data and getattr(type(value), "_repr_html_", None) is not None:
        # Its HTML is switched off.
        return False
    if hasattr(type(value), "_repr_mimebundle_"):
        return False
    return all(str(getattr(getattr(type(value), name), "__module__", "")).startswith(_LIBRARIES) for name in methods)


def has_formats(value: Any, formatter: Any) -> bool:
    """True if a user or library has registered a format for this type."""
    if formatter is None:
        return False
    formats = [
        formatter.mimebundle_formatter,
        *(formatter.formatters.get(mime) for mime in ("text/html", "text/plain")),
    ]
    for each in formats:
        try:
            if each is not None:
                each.lookup(value)
                return True
        except KeyError:
            continue
    return False


def recorded(found: FrameTable, value: Any) -> tuple[str, Any, bool]:
    """Returns the MIME type, the content, and whether it holds all rows."""
    head = told(found)
    count = min(found.rows, MAX_ROWS, max(1, MAX_VALUES // max(1, len(found.columns))))
    rows = first_rows(found, count)
    is_whole = count == found.rows and found.columns_left_out == 0
    attempts: list[tuple[int, int | None]] = [(count, None)]
    for most, characters in attempts:
        if (most, characters) != (count, None):
            is_whole = False
        if not is_whole and "table" not in head:
            head["table"] = tables.add(value, digest(found))
        part = [[_shorter(value, characters) for value in column[:most]] for column in rows]
        mime, content = packed(head, found.columns, part)
        size = len(content) if isinstance(content, str) else len(json.dumps(content, ensure_ascii=False).encode())
        if size <= MAX_BYTES:
            return mime, content, is_whole
        if len(attempts) == 1:
            fitting = count * MAX_BYTES * 9 // 10 // size
            attempts += [(fitting, None)] if fitting >= min(count, 5) else []
            attempts += [(count, 200), (max(1, count // 4), 200), (1, 20)]
    tables.entries.pop(head.get("table", ""), None)
    return JSON, None, False


def _shorter(value: Any, characters: int | None) -> Any:
    return values.cut(value, characters) if characters and isinstance(value, str) else value


def told(found: FrameTable) -> dict[str, Any]:
    head: dict[str, Any] = {
        "version": 1,
        "kind": found.kind,
        "rows": found.rows,
        "columns": [column.told() for column in found.columns],
    }
    if found.columns_left_out:
        head["columns_left_out"] = found.columns_left_out
    return head


def first_rows(found: FrameTable, count: int, characters: int = values.MAX_CHARACTERS) -> list[list[Any]]:
    """First rows, by columns."""
    return [[values.plain(value, characters) for value in column] for column in found.read(None, 0, count)]


def digest(found: FrameTable) -> str:
    """Hash of the frame's shape, types and first rows. It differs if the frame was changed since it was shown."""
    head = told(found)
    head.pop("version")
    few = found.read(None, 0, DIGEST_ROWS, DIGEST_COLUMNS)
    text = json.dumps([head, [[values.plain(value, 100) for value in column] for column in few]], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def packed(head: dict[str, Any], columns: list[TableColumn], data: list[list[Any]]) -> tuple[str, Any]:
    """Packs rows as Arrow if pyarrow is installed, else as JSON."""
    pyarrow = _pyarrow() if len(columns) <= MAX_ARROW_COLUMNS and not is_masked() else None
    if pyarrow is None:
        return JSON, {**head, "data": data}
    arrays = [arrow_array(pyarrow, column, held) for column, held in zip(columns, data, strict=True)]
    schema = pyarrow.schema(
        [pyarrow.field(str(at), array.type) for at, array in enumerate(arrays)],
        metadata={"notarium": json.dumps(head, ensure_ascii=False)},
    )
    batch = pyarrow.RecordBatch.from_arrays(arrays, schema=schema)
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(batch)
    return ARROW, base64.b64encode(sink.getvalue()).decode()


def is_masked() -> bool:
    """True if keys in outputs are masked before they are recorded: in runs that an assistant requested. Those allow no stdin.

    The mask could not find keys in Arrow's bytes.
    """
    ipython = sys.modules.get("IPython")
    kernel: Any = getattr(ipython.get_ipython() if ipython else None, "kernel", None)
    try:
        return bool(kernel.get_parent("shell")["content"]["allow_stdin"] is False)
    except Exception:  # No kernel, or one without this field.
        return False


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        return None
    return pyarrow


_NOT_FINITE = {"NaN": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def arrow_array(pyarrow: Any, column: TableColumn, data: list[Any]) -> Any:
    """Arrow array of numbers, booleans or texts. Values of several types all become texts, so that Arrow refuses none."""
    if column.kind == "number":
        data = [_NOT_FINITE.get(value, value) if isinstance(value, str) else value for value in data]
    kinds = {type(value) for value in data} - {type(None)}
    if kinds == {bool}:
        return pyarrow.array(data, pyarrow.bool_())
    if kinds == {int}:
        return pyarrow.array(data, pyarrow.int64())
    if kinds and kinds <= {int, float}:
        return pyarrow.array(data, pyarrow.float64())
    return pyarrow.array([value if value is None else _text(value) for value in data], pyarrow.string())


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)
