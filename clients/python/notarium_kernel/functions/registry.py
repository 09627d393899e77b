"""Functions of this kernel as tools: registered by `@tool`, told to the runtime agent, and called for assistants and people."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import re
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from .. import host
from . import calls
from .errors import ArgumentError, FunctionError
from .results import to_json
from .signature import Signature, signature_of

__all__ = ["call_function", "registered", "tool"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TARGET = "notarium.functions"
#: In rising order: calls of the first never wait for a person, calls of the last always do.
RISKS = ("read", "edit", "sensitive", "destructive")
#: Kinds of effects outside the kernel's memory.
EFFECTS = ("create", "write", "remove", "network", "signal", "database", "open")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_MAX_DESCRIPTION = 4_000
_MAX_SCHEMA_BYTES = 16 << 10


@dataclasses.dataclass
class RegisteredFunction:
    """A function that can be called."""

    name: str
    risk: str
    #: Kinds of effects that a call may have. None: all, if its risk lets it have any.
    effects: list[str] | None
    version: str
    signature: Signature
    timeout: float | None
    #: The module that defines it, the line there, and the cell in which that ran.
    module: str
    line: int | None
    cell: str | None
    _function: Callable[[], Callable[..., Any] | None]
    #: Name that holds it in its module. None for one inside another function or a class.
    _variable: str | None

    def function(self) -> Callable[..., Any] | None:
        """The function. None: it was deleted, or its name means something else by now."""
        function = self._function()
        if function is None or self._variable is None:
            return function
        held = getattr(inspect.unwrap(function), "__globals__", {}).get(self._variable)
        is_other = isinstance(held, types.FunctionType) and not _leads_to(held, function)
        return None if held is None or is_other or not callable(held) else function

    def place(self) -> str:
        """Place of the definition, in words for people."""
        line = "" if self.line is None else f" line {self.line}"
        if self.module != "__main__":
            return f"the module {self.module}{line}"
        return f"the cell {self.cell}{line}" if self.cell else f"the notebook{line}"

    def declared(self) -> dict[str, Any]:
        """Description for the runtime agent."""
        place = {"module": None if self.module == "__main__" else self.module, "line": self.line, "cell_id": self.cell}
        return {
            "name": self.name,
            "version": self.version,
            "description": self.signature.description[:_MAX_DESCRIPTION],
            "schema": self.signature.schema,
            "risk": self.risk,
            **({} if self.effects is None else {"effects": self.effects}),
            "place": {name: value for name, value in place.items() if value is not None},
        }


def _leads_to(held: Any, function: Callable[..., Any]) -> bool:
    while held is not function and hasattr(held, "__wrapped__"):
        held = held.__wrapped__
    return held is function


_registered: dict[str, RegisteredFunction] = {}
_told: list[dict[str, Any]] = []
_hooked: Any = None


@overload
def tool(function: _Function, /) -> _Function: ...
@overload
def tool(
    *,
    risk: str = ...,
    effects: Iterable[str] | None = ...,
    name: str | None = ...,
    description: str | None = ...,
    timeout: float | None = ...,
) -> Callable[[_Function], _Function]: ...
def tool(
    function: Any = None,
    /,
    *,
    risk: str = "destructive",
    effects: Iterable[str] | None = None,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
) -> Any:
    """Registers a function that assistants and people may call: `@notarium.tool(risk="edit")`.

    Its schema comes from the type hints, the descriptions from the docstring. The function itself stays as it is.

    Args:
        risk: The worst that a call can do. `read` never asks a person, `edit` asks as the notebook's policy says, `sensitive` reaches
            outside the notebook and asks, `destructive` always asks. The default is `destructive`.
        effects: What a call by an assistant may do outside the kernel's memory, of `create`, `write`, `remove`, `network`, `signal`,
            `database` and `open`. The default is all of it for the risks `sensitive` and `destructive`. Functions that say `read` or
            `edit` can do none of it: the system refuses it.
        name: Name for callers; the default is the function's own.
        description: Replaces the docstring's.
        timeout: Seconds after which a call is ended.
    """
    register = functools.partial(
        _register, risk=risk, effects=effects, name=name, description=description, timeout=timeout
    )
    return register if function is None else register(function)


def _register(
    function: Any,
    *,
    risk: str,
    effects: Iterable[str] | None,
    name: str | None,
    description: str | None,
    timeout: float | None,
) -> Any:
    if not callable(function) or isinstance(function, type):
        raise FunctionError(
            f"@notarium.tool stands above a function, not above {function!r}: write @notarium.tool or @notarium.tool(risk=…)"
        )
    name = name or str(getattr(function, "__name__", ""))
    if not _NAME.fullmatch(name):
        raise FunctionError(
            f"{name!r} cannot be a tool's name: it takes ASCII letters, digits and _, begins with a letter, and has at most 64 characters."
            " Say another: @notarium.tool(name=…)"
        )
    if risk not in RISKS:
        raise FunctionError(f"{name}: {risk!r} is no risk: take one of {', '.join(RISKS)}")
    kinds = _kinds(name, risk, effects)
    if timeout is not None and not timeout > 0:
        raise FunctionError(f"{name}: a timeout is a number of seconds above 0, not {timeout!r}")
    signature = signature_of(function, name, description)
    schema = json.dumps(signature.schema, sort_keys=True, ensure_ascii=False)
    if len(schema.encode()) > _MAX_SCHEMA_BYTES:
        raise FunctionError(
            f"{name}: its parameters are described in more than {_MAX_SCHEMA_BYTES >> 10} KiB: simplify their types"
        )
    plain = inspect.unwrap(function)
    one = RegisteredFunction(
        name=name,
        risk=risk,
        effects=kinds,
        version=_version(function, risk, schema, signature.description, timeout, kinds),
        signature=signature,
        timeout=timeout,
        module=getattr(plain, "__module__", None) or "__main__",
        line=_line(plain),
        cell=host.current_cell(),
        _function=_reference(function),
        _variable=_variable(plain),
    )
    _refuse_clash(one)
    _registered[name] = one
    _tell_soon()
    return function


def _kinds(name: str, risk: str, effects: Iterable[str] | None) -> list[str] | None:
    """The kinds of effects, each once, in the order of `EFFECTS`."""
    if effects is None:
        return None
    named = [effects] if isinstance(effects, str) else list(effects)
    unknown = next((kind for kind in named if kind not in EFFECTS), None)
    if unknown is not None:
        raise FunctionError(f"{name}: {unknown!r} is no effect: take some of {', '.join(EFFECTS)}")
    if named and risk in ("read", "edit"):
        raise FunctionError(
            f'{name}: a function of the risk {risk!r} has no effects: leave them out, or take risk="sensitive"'
        )
    return [kind for kind in EFFECTS if kind in named]


def _reference(function: Callable[..., Any]) -> Callable[[], Callable[..., Any] | None]:
    """Weak reference to a function that its module holds; strong one to a function inside another, which has no other holder."""
    if _variable(inspect.unwrap(function)) is None:
        return lambda: function
    return weakref.ref(function)


def _variable(plain: Any) -> str | None:
    qualified = getattr(plain, "__qualname__", "")
    is_held = isinstance(plain, types.FunctionType) and qualified == plain.__name__ and qualified != "<lambda>"
    return qualified if is_held else None


def _line(plain: Any) -> int | None:
    code = getattr(plain, "__code__", None)
    return None if code is None else typing.cast("int", code.co_firstlineno)


def _version(
    function: Callable[..., Any],
    risk: str,
    schema: str,
    description: str,
    timeout: float | None,
    effects: list[str] | None,
) -> str:
    """Hash of the function's text and of its description for callers."""
    plain = inspect.unwrap(function)
    try:
        text = inspect.getsource(plain)
    except (OSError, TypeError):
        code = getattr(plain, "__code__", None)
        text = "" if code is None else f"{code.co_code.hex()} {code.co_consts!r} {code.co_names!r}"
    named = [] if effects is None else [effects]
    parts = json.dumps([text, risk, schema, description, timeout, *named], ensure_ascii=True)
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _refuse_clash(one: RegisteredFunction) -> None:
    """Refuses a name that another module has registered, for callers would reach one by chance. A module may redefine its own."""
    other = _registered.get(one.name)
    if other is None or other.module == one.module or other.function() is None:
        return
    raise FunctionError(
        f"two functions are called {one.name}: one in {other.place()}, one in {one.place()}."
        " Give one another name, as in @notarium.tool(name=…), or delete the other first"
    )


# --- telling ---


def _tell_soon() -> None:
    """Reports the functions at the end of the run; from a thread that outlives its run, immediately."""
    global _hooked
    shell = host.shell()
    if shell is None:
        return
    if _hooked is not shell:
        shell.events.register("post_execute", tell)
        _hooked = shell
    if not host.is_main_thread():
        tell()


def tell() -> None:
    """Reports the functions to the runtime agent, if they have changed."""
    global _told
    for name in [name for name, one in _registered.items() if one.function() is None]:
        del _registered[name]
    declared = [one.declared() for one in _registered.values()]
    if declared != _told and host.open_comm(_TARGET, {"functions": declared}) is not None:
        _told = declared


def registered() -> dict[str, RegisteredFunction]:
    """Functions that can be called now, by name."""
    return {name: one for name, one in _registered.items() if one.function() is not None}


# --- calling ---


def call_function(name: str, arguments: Mapping[str, Any], *, as_json: bool = True, version: str | None = None) -> Any:
    """Calls a registered function with arguments as JSON has them, and returns JSON, or with `as_json=False` what it returned.

    The arguments are checked and converted first; an `async` function is awaited. What it raises goes through. With a `version` it
    is called only if it is that very one.
    """
    __tracebackhide__ = True
    one = _registered.get(name)
    function = one.function() if one is not None else None
    if one is None or function is None:
        there = ", ".join(registered()) or "none"
        raise ArgumentError(
            f"the kernel has no function {name} any more (there are: {there}): run the cell that registers it again"
        )
    if version and version != one.version:
        raise ArgumentError(
            f"{name} in this kernel ({one.place()}) is not what was asked for: look at it, and ask again"
        )
    positional, keywords = one.signature.bind(arguments)
    result = calls.call(name, functools.partial(function, *positional, **keywords), one.timeout)
    return to_json(result) if as_json else result
