"""Types of Python as JSON: the schema that a caller is told, and the way from what it sends to what the function is called with."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import values as single
from .constraints import check, described
from .errors import ArgumentError
from .values import InexpressibleType, Schema, Shape

_ARRAYS: dict[object, Callable[[list[Any]], object]] = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
}
_OBJECTS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
_UNIONS = {typing.Union, getattr(types, "UnionType", typing.Union)}
_WRAPPERS = {"Required", "NotRequired", "ReadOnly", "Final"}


class Shapes:
    """The types of one function: those with names of their own stand in `definitions` once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._shapes: dict[object, Shape] = {}

    def of(self, kind: Any) -> Shape:
        if kind is Any or kind is object:
            return Shape({}, lambda value, _: value)
        if kind is None or kind is type(None):
            return Shape({"type": "null"}, single.only_none)
        if isinstance(kind, str | typing.ForwardRef):
            raise InexpressibleType(f"{kind} is no type that is known here: define or import it in a cell before")
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self._annotated(parts[0], parts[1:])
        if origin is typing.Literal or getattr(origin, "__name__", "") == "Literal":
            return single.literal(parts)
        if origin in _UNIONS:
            return self._union(parts)
        if getattr(origin, "_name", None) in _WRAPPERS and len(parts) == 1:
            return self.of(parts[0])
        if hasattr(kind, "__supertype__"):
            return self.of(kind.__supertype__)
        if isinstance(kind, typing.TypeVar):
            return self._variable(kind)
        if type(kind).__name__ == "TypeAliasType":
            return self.of(kind.__value__)
        return self._container(origin or kind, parts) or self._plain(kind)

    # --- what holds others ---

    def _container(self, kind: Any, parts: tuple[Any, ...]) -> Shape | None:
        if kind is tuple:
            return self._tuple(parts)
        if kind in _ARRAYS:
            return self._array(
                self.of(parts[0] if parts else Any), _ARRAYS[kind], is_set=_ARRAYS[kind] in (set, frozenset)
            )
        if kind in _OBJECTS:
            return self._mapping(parts)
        return None

    def _array(self, item: Shape, build: Callable[[list[Any]], object], *, is_set: bool = False) -> Shape:
        schema: Schema = {"type": "array", "items": item.schema}
        if is_set:
            schema["uniqueItems"] = True

        def convert(value: Any, place: str) -> object:
            values = single.typed(value, list, "a list", place)
            return build([item.convert(each, f"{place}[{index}]") for index, each in enumerate(values)])

        return Shape(schema, convert)

    def _tuple(self, parts: tuple[Any, ...]) -> Shape:
        if not parts or parts[-1] is Ellipsis:
            return self._array(self.of(parts[0] if parts else Any), tuple)
        if parts == ((),):
            parts = ()
        items = [self.of(part) for part in parts]
        schema: Schema = {
            "type": "array",
            "prefixItems": [item.schema for item in items],
            "minItems": len(items),
            "maxItems": len(items),
        }
        if items and all(item.schema == items[0].schema for item in items):
            schema["items"] = items[0].schema

        def convert(value: Any, place: str) -> object:
            values = single.typed(value, list, "a list", place)
            if len(values) != len(items):
                raise ArgumentError(f"{place} must have {len(items)} entries, not {len(values)}")
            return tuple(
                item.convert(each, f"{place}[{index}]")
                for index, (item, each) in enumerate(zip(items, values, strict=True))
            )

        return Shape(schema, convert)

    def _mapping(self, parts: tuple[Any, ...]) -> Shape:
        key, value = parts if parts else (str, Any)
        keys, values = self.of(key), self.of(value)
        if keys.schema.get("type", "string") != "string":
            raise InexpressibleType(
                f"the keys of a JSON object are texts, not {single.named(key)}: take dict[str, …] or a list of pairs"
            )
        schema: Schema = {"type": "object", "additionalProperties": values.schema}
        if "enum" in keys.schema:
            schema["propertyNames"] = {"enum": keys.schema["enum"]}

        def convert(given: Any, place: str) -> object:
            found = single.typed(given, dict, "an object", place)
            return {
                keys.convert(name, f"a key of {place}"): values.convert(each, f"{place}.{name}")
                for name, each in found.items()
            }

        return Shape(schema, convert)

    def _union(self, parts: tuple[Any, ...]) -> Shape:
        shapes = [self.of(part) for part in parts]

        def convert(value: Any, place: str) -> object:
            problems = []
            # A whole number is no text and no float where the type says which it is.
            for shape in sorted(shapes, key=lambda shape: not single.is_exactly(shape.schema.get("type"), value)):
                try:
                    return shape.convert(value, place)
                except ArgumentError as problem:
                    problems.append(str(problem))
            raise ArgumentError(
                problems[0]
                if len(problems) == 1
                else f"{place} fits none of its types: {'; '.join(dict.fromkeys(problems))}"
            )

        return Shape({"anyOf": [shape.schema for shape in shapes]}, convert)

    def _variable(self, kind: typing.TypeVar) -> Shape:
        if kind.__constraints__:
            return self._union(kind.__constraints__)
        return self.of(kind.__bound__ or Any)

    def _annotated(self, kind: Any, notes: Iterable[Any]) -> Shape:
        shape = self.of(kind)
        schema = dict(shape.schema)
        for note in notes:
            schema.update(described(note, schema))
        if schema == shape.schema:
            return shape

        def convert(value: Any, place: str) -> object:
            check(schema, value, place)
            return shape.convert(value, place)

        return Shape(schema, convert)

    # --- what has a name of its own ---

    def _plain(self, kind: Any) -> Shape:
        if kind in single.SCALARS:
            return single.SCALARS[kind]()
        if kind in single.TEXTS:
            return single.text_of(kind)
        if kind is datetime.timedelta:
            return Shape({"type": "number", "description": "seconds"}, single.seconds)
        if is_pydantic(kind):
            return self._pydantic(kind)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return single.enumeration(kind)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return self._named(kind, _dataclass_fields)
        if typing.is_typeddict(kind):
            return self._named(kind, _typeddict_fields)
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named(kind, _namedtuple_fields)
        raise InexpressibleType(single.why_not(kind))

    def _named(self, kind: type, fields_of: Callable[[type], Iterable[_Field]]) -> Shape:
        """An object with fields, which may hold others of its kind."""
        if kind in self._shapes:
            return self._shapes[kind]
        name = self._free_name(kind)
        schema: Schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        self.definitions[name] = schema
        fields: dict[str, tuple[_Field, Shape]] = {}

        def convert(value: Any, place: str) -> object:
            return kind(**_object(value, place, fields))

        self._shapes[kind] = shape = Shape({"$ref": f"#/$defs/{name}"}, convert)
        for field in fields_of(kind):
            try:
                inner = self.of(field.kind)
            except InexpressibleType as problem:
                raise InexpressibleType(f"{kind.__name__}.{field.name}: {problem}") from None
            fields[field.name] = (field, inner)
            schema["properties"][field.name] = with_default(inner.schema, field.default)
            if field.is_required:
                schema["required"].append(field.name)
        if not schema["required"]:
            del schema["required"]
        text = inspect.getdoc(kind) if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}(") else None
        if text and not typing.is_typeddict(kind):
            schema["description"] = text
        return shape

    def _free_name(self, kind: type) -> str:
        name, number = kind.__name__, 2
        while name in self.definitions:
            name, number = f"{kind.__name__}{number}", number + 1
        return name

    def _pydantic(self, kind: Any) -> Shape:
        adapter = sys.modules["pydantic"].TypeAdapter(kind)
        schema = adapter.json_schema()
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise InexpressibleType(f"two types are called {name}: rename one")

        def convert(value: Any, place: str) -> object:
            try:
                return adapter.validate_python(value)
            except ValueError as error:
                raise ArgumentError(_pydantic_words(error, place)) from None

        if schema.get("type") == "object" and "properties" in schema and isinstance(kind, type):
            name = kind.__name__ if self.definitions.get(kind.__name__) in (None, schema) else self._free_name(kind)
            self.definitions[name] = schema
            schema = {"$ref": f"#/$defs/{name}"}
        return Shape(schema, convert)


# --- objects ---


_MISSING = object()


@dataclasses.dataclass
class _Field:
    name: str
    kind: Any
    is_required: bool
    default: object = _MISSING


def hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as problem:
        raise InexpressibleType(f"{single.named(kind)} has a type that is not known here ({problem})") from None


def _dataclass_fields(kind: type) -> Iterable[_Field]:
    known = hints(kind)
    for field in dataclasses.fields(kind):
        if field.init:
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = _MISSING if field.default is dataclasses.MISSING else field.default
            yield _Field(field.name, known[field.name], is_required, default)


def _typeddict_fields(kind: type) -> Iterable[_Field]:
    required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    for name, each in hints(kind).items():
        outer = getattr(typing.get_origin(each), "_name", None)
        yield _Field(name, each, name in required if outer not in {"Required", "NotRequired"} else outer == "Required")


def _namedtuple_fields(kind: type) -> Iterable[_Field]:
    known, defaults = hints(kind), getattr(kind, "_field_defaults", {})
    for name in kind._fields:  # type: ignore[attr-defined]
        yield _Field(name, known.get(name, Any), name not in defaults, defaults.get(name, _MISSING))


def _object(value: Any, place: str, fields: Mapping[str, tuple[_Field, Shape]]) -> dict[str, Any]:
    given = single.typed(value, dict, "an object", place)
    if unknown := [name for name in given if name not in fields]:
        raise ArgumentError(f"{place}.{unknown[0]} is not known: there are {', '.join(fields)}")
    if missing := [name for name, (field, _) in fields.items() if field.is_required and name not in given]:
        raise ArgumentError(f"{place}.{missing[0]} is missing")
    return {name: fields[name][1].convert(each, f"{place}.{name}") for name, each in given.items()}


def with_default(schema: Schema, default: object) -> Schema:
    """The schema with the default, where JSON can say it."""
    if default is _MISSING or default is inspect.Parameter.empty:
        return schema
    value = default.value if isinstance(default, enum.Enum) else default
    if isinstance(value, list | tuple) and all(map(single.is_json_scalar, value)):
        value = list(value)
    elif isinstance(value, float) and value != value or not (single.is_json_scalar(value) or value == {}):
        return schema
    return schema | {"default": value}


# --- pydantic, where it is loaded ---


def is_pydantic(kind: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not hasattr(pydantic, "TypeAdapter"):
        return False
    return hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")


def _pydantic_words(error: Any, place: str) -> str:
    errors = getattr(error, "errors", None)
    if errors is None:
        return f"{place}: {error}"

    def where(steps: Iterable[Any]) -> str:
        return place + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)

    return "; ".join(f"{where(each['loc'])}: {each['msg']}" for each in errors()[:5])
