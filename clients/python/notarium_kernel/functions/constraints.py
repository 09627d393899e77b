"""Descriptions and limits of types, read from `Annotated`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .errors import ArgumentError
from .values import Schema

#: Names in JSON Schema of the constraints of `annotated_types` and pydantic.
_CONSTRAINTS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def described(note: Any, schema: Schema) -> Schema:
    """Schema of one note of `Annotated`: a text, a `Doc`, a pydantic `Field` or a constraint of `annotated_types`."""
    if isinstance(note, str):
        return {"description": note}
    if isinstance(text := getattr(note, "documentation", None), str):
        return {"description": text}
    found: Schema = {}
    if isinstance(text := getattr(note, "description", None), str):
        found["description"] = text
    for each in (note, *(getattr(note, "metadata", None) or ())):
        for name, word in _CONSTRAINTS.items():
            value = getattr(each, name, None)
            if value is not None and not callable(value) and isinstance(value, int | float | str):
                found[_for_arrays(word, schema)] = value
    return found


def _for_arrays(word: str, schema: Schema) -> str:
    return word.replace("Length", "Items") if schema.get("type") == "array" else word


def check(schema: Schema, value: Any, place: str) -> None:
    """Checks the constraints of `Annotated`. They may concern values that only the function's own type has."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        for word, holds, words in _RANGES:
            if word in schema and not holds(value, schema[word]):
                raise ArgumentError(f"{place} must be {words} {schema[word]}")
    if isinstance(value, str | list):
        kind = "Length" if isinstance(value, str) else "Items"
        what = "characters" if isinstance(value, str) else "entries"
        if len(value) < schema.get(f"min{kind}", 0):
            raise ArgumentError(f"{place} must have at least {schema[f'min{kind}']} {what}")
        if len(value) > schema.get(f"max{kind}", len(value)):
            raise ArgumentError(f"{place} must have at most {schema[f'max{kind}']} {what}")
    if isinstance(value, str) and "pattern" in schema and re.search(schema["pattern"], value) is None:
        raise ArgumentError(f"{place} must match {schema['pattern']}")


_RANGES: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("minimum", lambda value, limit: value >= limit, "at least"),
    ("maximum", lambda value, limit: value <= limit, "at most"),
    ("exclusiveMinimum", lambda value, limit: value > limit, "more than"),
    ("exclusiveMaximum", lambda value, limit: value < limit, "less than"),
    ("multipleOf", lambda value, step: value % step == 0, "a multiple of"),
)
