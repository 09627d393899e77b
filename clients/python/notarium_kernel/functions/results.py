"""Converts the result of a function to JSON for a model. A value that is no JSON is displayed in the run, and described."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import sys
import uuid
from typing import Any

#: Characters of the text of a value that is no JSON.
_MAX_TEXT = 2_000
_MAX_DEPTH = 50
#: Entries of an array that become a list; of a larger one its shape is told.
_MAX_ENTRIES = 10_000


def to_json(value: Any, depth: int = 0) -> Any:
    """Converts a value to JSON, as faithfully as JSON can."""
    if value is None or isinstance(value, bool | str | int):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, enum.Enum):
        return to_json(value.value, depth + 1)
    if isinstance(value, dict):
        return {_key(key): to_json(each, depth + 1) for key, each in value.items()}
    if isinstance(value, tuple) and (as_dict := getattr(value, "_asdict", None)):
        return to_json(as_dict(), depth + 1)
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(each, depth + 1) for each in value]
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal | uuid.UUID | pathlib.PurePath):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value[:_MAX_TEXT]).decode("ascii")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return to_json(dump(mode="json"), depth + 1)
    return _of_libraries(value, depth)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(to_json(key))


def _of_libraries(value: Any, depth: int) -> Any:
    if (
        hasattr(value, "dtype")
        and callable(getattr(value, "item", None))
        and getattr(value, "size", None) == 1
        and not getattr(value, "shape", None)
    ):
        return to_json(value.item(), depth + 1)
    is_array = callable(getattr(value, "tolist", None)) and hasattr(value, "shape") and not hasattr(value, "index")
    if is_array and getattr(value, "size", _MAX_ENTRIES + 1) <= _MAX_ENTRIES:
        return to_json(value.tolist(), depth + 1)
    if depth == 0:
        _show(value)
    told: dict[str, Any] = {"type": f"{type(value).__module__}.{type(value).__qualname__}", "text": _text(value)}
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(each, int) for each in shape):
        told["shape"] = list(shape)
    columns = getattr(value, "columns", None)
    if columns is not None and not callable(columns):
        told["columns"] = [str(column) for column in list(columns)[:100]]
    return told


def _text(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as problem:
        text = f"<it cannot be shown: {problem}>"
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


def _show(value: Any) -> None:
    """Displays the value as an output of the run, for people and for previews."""
    display = sys.modules.get("IPython.display")
    if display is not None:
        display.display(value)
