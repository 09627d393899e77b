"""A function as a tool: JSON Schema of its parameters, and conversion of arguments."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from . import docstrings
from .errors import ArgumentError, FunctionError
from .shapes import Shapes, with_default
from .values import InexpressibleType, Schema, Shape

_PARAMETER = inspect.Parameter


@dataclasses.dataclass
class Signature:
    """Name, description and parameters of a function."""

    name: str
    description: str
    schema: Schema
    parameters: dict[str, tuple[inspect.Parameter, Shape]]
    #: Shape of each value of `**names`.
    others: Shape | None

    def bind(self, arguments: Any) -> tuple[list[Any], dict[str, Any]]:
        """Checks and converts arguments to the positional and keyword arguments of the function."""
        if not isinstance(arguments, Mapping):
            raise ArgumentError(f"{self.name} takes its arguments as an object, by name")
        unknown = [name for name in arguments if name not in self.parameters]
        if unknown and self.others is None:
            takes = ", ".join(self.parameters) or "none"
            raise ArgumentError(f"Unknown parameters: {', '.join(unknown)}. {self.name} takes: {takes}")
        missing = [name for name in self.schema.get("required", ()) if name not in arguments]
        if missing:
            raise ArgumentError(f"Missing required parameters: {', '.join(missing)}")
        positional, keywords = [], {}
        for name, (parameter, shape) in self.parameters.items():
            if name in arguments:
                value = shape.convert(arguments[name], f"{self.name}: {name}")
            elif parameter.kind is _PARAMETER.POSITIONAL_ONLY:
                value = parameter.default
            else:
                continue
            if parameter.kind is _PARAMETER.POSITIONAL_ONLY:
                positional.append(value)
            else:
                keywords[name] = value
        if self.others is not None:
            keywords.update({name: self.others.convert(arguments[name], f"{self.name}: {name}") for name in unknown})
        return positional, keywords


def signature_of(function: Callable[..., Any], name: str, description: str | None) -> Signature:
    """Reads the signature. Raises FunctionError, which names what JSON Schema cannot express."""
    told, parameters_told = docstrings.parse(inspect.getdoc(function) if description is None else description)
    if description is not None:
        _, parameters_told = docstrings.parse(inspect.getdoc(function))
    if not told:
        raise FunctionError(
            f"{name} has no docstring: say in a sentence what it does and when to use it, for who is to call it"
        )
    shapes, parameters, properties, required = Shapes(), {}, {}, []
    others = None
    try:
        known = inspect.signature(function).parameters.values()
    except NameError as problem:
        # Newer Pythons read hints only now.
        raise FunctionError(
            f"{name}: one of its types is not known here ({problem}): run the cell that defines it first"
        ) from None
    for parameter in known:
        shape = _shape(function, name, parameter, shapes)
        if parameter.kind is _PARAMETER.VAR_KEYWORD:
            others = shape
            continue
        parameters[parameter.name] = (parameter, shape)
        schema = with_default(shape.schema, parameter.default)
        text = parameters_told.get(parameter.name)
        if text and "description" not in schema:
            schema = schema | {"description": text}
        properties[parameter.name] = schema
        if parameter.default is _PARAMETER.empty:
            required.append(parameter.name)
    whole: Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False if others is None else others.schema,
    }
    if required:
        whole["required"] = required
    if shapes.definitions:
        whole["$defs"] = shapes.definitions
    return Signature(name, told, whole, parameters, others)


def _shape(function: Callable[..., Any], name: str, parameter: inspect.Parameter, shapes: Shapes) -> Shape:
    place = f"{name}: the parameter {parameter.name}"
    if parameter.kind is _PARAMETER.VAR_POSITIONAL:
        raise FunctionError(f"{name}: *{parameter.name} has no names that a caller could use: take a list instead")
    if parameter.name == "notebook":
        raise FunctionError(f"{place} has the name by which assistants say which notebook they mean: rename it")
    if parameter.annotation is _PARAMETER.empty:
        own = (
            " A method is no function of its own: register a function that calls it."
            if parameter.name in {"self", "cls"}
            else ""
        )
        raise FunctionError(f"{place} has no type: write {parameter.name}: str, or what it is.{own}")
    try:
        return shapes.of(_resolved(function, parameter.annotation))
    except InexpressibleType as problem:
        raise FunctionError(f"{place}: {problem}") from None


def _resolved(function: Callable[..., Any], annotation: Any) -> Any:
    """Hints that stand as text are read where the function stands."""
    plain = inspect.unwrap(function)
    names = dict(getattr(plain, "__globals__", {}))
    closure = getattr(plain, "__closure__", None) or ()
    inner: dict[str, Any] = {}
    for variable, cell in zip(plain.__code__.co_freevars, closure, strict=True) if closure else ():
        try:
            inner[variable] = cell.cell_contents
        except ValueError:
            continue
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, names, inner, include_extras=True)["it"]
    except NameError as problem:
        raise InexpressibleType(
            f"its type {annotation!r} is not known here ({problem}): run the cell that defines it first"
        ) from None
    except Exception as problem:
        raise InexpressibleType(f"its type {annotation!r} cannot be read: {problem}") from None
