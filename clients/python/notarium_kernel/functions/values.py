"""Single values as JSON: texts, numbers, choices; and what no JSON can say."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid
from collections.abc import Callable
from typing import Any

from .errors import ArgumentError

Schema = dict[str, Any]
#: From a JSON value, and where it stands (`rows[2].name`), to what the type is; raises ArgumentError.
Convert = Callable[[Any, str], Any]


TEXTS: dict[object, tuple[Callable[[str], object], str | None]] = {
    datetime.datetime: (lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")), "date-time"),
    datetime.date: (datetime.date.fromisoformat, "date"),
    datetime.time: (datetime.time.fromisoformat, "time"),
    uuid.UUID: (uuid.UUID, "uuid"),
    pathlib.Path: (pathlib.Path, None),
    pathlib.PurePath: (pathlib.PurePath, None),
    decimal.Decimal: (decimal.Decimal, None),
}


class InexpressibleType(Exception):
    """No JSON stands for this type; the text says why and what to take instead."""


@dataclasses.dataclass
class Shape:
    """A type as JSON."""

    schema: Schema
    convert: Convert


def named(kind: object) -> str:
    """A type as people write it."""
    if isinstance(kind, type):
        home = "" if kind.__module__ in {"builtins", "__main__"} else f"{kind.__module__.split('.')[0]}."
        return f"{home}{kind.__qualname__}"
    return str(kind).replace("typing.", "")


def typed(value: Any, kind: type | tuple[type, ...], words: str, place: str) -> Any:
    if isinstance(value, kind) and (not isinstance(value, bool) or kind is bool):
        return value
    raise ArgumentError(f"{place} must be {words}, not {json_kind(value)}")


def json_kind(value: object) -> str:
    """Kind of a JSON value, in words."""
    for kind, words in (
        (bool, "true or false"),
        (str, "a text"),
        (int, "a whole number"),
        (float, "a number"),
        (list, "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, kind):
            return words
    return "null" if value is None else type(value).__name__


def only_none(value: Any, place: str) -> None:
    if value is not None:
        raise ArgumentError(f"{place} must be null, not {json_kind(value)}")


def _int(value: Any, place: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return typing.cast("int", typed(value, int, "a whole number", place))


def _float(value: Any, place: str) -> float:
    return float(typed(value, (int, float), "a number", place))


SCALARS: dict[object, Callable[[], Shape]] = {
    bool: lambda: Shape({"type": "boolean"}, lambda value, place: typed(value, bool, "true or false", place)),
    int: lambda: Shape({"type": "integer"}, _int),
    float: lambda: Shape({"type": "number"}, _float),
    str: lambda: Shape({"type": "string"}, lambda value, place: typed(value, str, "a text", place)),
}


def seconds(value: Any, place: str) -> datetime.timedelta:
    return datetime.timedelta(seconds=_float(value, place))


def text_of(kind: Any) -> Shape:
    read, form = TEXTS[kind]
    is_decimal = kind is decimal.Decimal

    def convert(value: Any, place: str) -> object:
        text = str(value) if is_decimal and isinstance(value, int | float) and not isinstance(value, bool) else value
        try:
            return read(typed(text, str, "a text", place))
        except (ValueError, ArithmeticError):
            raise ArgumentError(f"{place}: {text!r} is no {form or kind.__name__.lower()}") from None

    schema: Schema = {"type": ["string", "number"] if is_decimal else "string"}
    return Shape(schema | ({"format": form} if form else {}), convert)


# Pairs of a JSON value and its Python value. A dictionary would take True for 1.
_Choices = list[tuple[Any, object]]


def _choice(choices: _Choices, place: str, value: Any) -> object:
    for known, meant in choices:
        if known == value and isinstance(known, bool) == isinstance(value, bool):
            return meant
    raise ArgumentError(f"{place} must be one of {', '.join(repr(known) for known, _ in choices)}, not {value!r}")


def _choices(choices: _Choices) -> Shape:
    known = [each for each, _ in choices]
    schema: Schema = {"enum": known}
    kinds = {next(name for kind, name in _KINDS if isinstance(each, kind)) for each in known}
    if len(kinds) == 1:
        schema = {"type": kinds.pop(), **schema}
    return Shape(schema, lambda value, place: _choice(choices, place, value))


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (type(None), "null"),
)


def is_json_scalar(value: object) -> bool:
    return any(isinstance(value, kind) for kind, _ in _KINDS)


def literal(values: tuple[Any, ...]) -> Shape:
    choices: _Choices = [(value.value if isinstance(value, enum.Enum) else value, value) for value in values]
    if wrong := [value for value, _ in choices if not is_json_scalar(value)]:
        raise InexpressibleType(f"{wrong[0]!r} of its Literal is no JSON value: take texts or numbers")
    return _choices(choices)


def enumeration(kind: type[enum.Enum]) -> Shape:
    members = list(kind)
    if not members:
        raise InexpressibleType(f"{named(kind)} has no members")
    by_value = all(is_json_scalar(member.value) for member in members)
    return _choices([(member.value if by_value else member.name, member) for member in members])


def is_exactly(wanted: object, value: object) -> bool:
    names = wanted if isinstance(wanted, list) else [wanted]
    return any(
        isinstance(value, kind) and name in names for kind, name in _KINDS if isinstance(value, bool) == (kind is bool)
    )


def why_not(kind: Any) -> str:
    name = named(kind)
    if kind is bytes or kind is bytearray or kind is memoryview:
        return f"{name} is no JSON value: take str, or the path of a file"
    if kind is complex:
        return "complex is no JSON value: take two floats"
    home = getattr(kind, "__module__", "").split(".")[0]
    if home in {"pandas", "polars", "numpy", "pyarrow", "torch", "jax"}:
        return f"{name} is no JSON value: take the name of the variable, the path of a file, or a list"
    if kind is collections.abc.Callable or typing.get_origin(kind) is collections.abc.Callable:
        return "a function is no JSON value: take its name as a Literal"
    return f"{name} is no JSON value: take a dataclass, a pydantic model, or str, int, float, bool, list and dict"
