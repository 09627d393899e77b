"""Registration of functions, their source positions and versions, and calls."""

import asyncio
import contextvars
import dataclasses
import enum
import gc
import importlib
import signal
import sys
import threading

import pytest
from notarium import call_function, tool
from notarium_kernel.functions import registered, registry
from notarium_kernel.functions.errors import ArgumentError, FunctionError


def load(rows: int = 1) -> list[int]:
    """Loads rows."""
    return list(range(rows))


def declared(name):
    return registered()[name].declared()


def test_a_function_stays_what_it_is_and_is_declared():
    assert tool(risk="read")(load) is load
    told = declared("load")
    assert (
        told["risk"] == "read"
        and told["description"] == "Loads rows."
        and told["schema"]["properties"]["rows"]["default"] == 1
    )
    assert told["place"] == {"module": __name__, "line": load.__code__.co_firstlineno}


def test_without_a_word_about_risk_it_counts_as_the_worst():
    tool(load)
    assert declared("load")["risk"] == "destructive"


def test_effects_are_told_each_once_and_change_the_version():
    tool(risk="sensitive")(load)
    assert "effects" not in declared("load")
    unnamed = declared("load")["version"]
    tool(risk="sensitive", effects=["network", "create", "network"])(load)
    assert declared("load")["effects"] == ["create", "network"]
    named = declared("load")["version"]
    tool(risk="sensitive", effects=[])(load)
    assert declared("load")["effects"] == []
    assert len({unnamed, named, declared("load")["version"]}) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"risk": "none"}, "take one of read, edit, sensitive, destructive"),
        ({"name": "1x"}, "cannot be a tool's name"),
        ({"name": "ä"}, "cannot be a tool's name"),
        ({"timeout": 0}, "a number of seconds above 0"),
        ({"effects": ["moon"]}, "take some of create, write, remove, network, signal, database, open"),
        ({"risk": "edit", "effects": ["write"]}, "has no effects: leave them out"),
    ],
)
def test_what_is_wrong_is_said(arguments, words):
    with pytest.raises(FunctionError, match=words):
        tool(**arguments)(load)
    assert not registered()


def test_only_functions_are_registered():
    for thing in (3, int, "load"):
        with pytest.raises(FunctionError, match="stands above a function"):
            tool(thing)


def test_a_schema_that_is_too_large_is_refused():
    kinds = enum.Enum("Kinds", {f"a{number}": "x" * 100 + str(number) for number in range(200)})

    def f(kind: kinds):
        """Does it."""

    with pytest.raises(FunctionError, match="more than 16 KiB"):
        tool(f)


def define(source, names=None, module="__main__"):
    names = {"__name__": module, "tool": tool} if names is None else names
    exec(source, names)
    return names


PLAIN = "@tool(risk='read')\ndef f(x: int) -> int:\n    'Adds.'\n    return x + {}\n"


def test_what_is_defined_anew_is_a_new_version_and_what_is_the_same_is_not():
    names = define(PLAIN.format(1))
    first = declared("f")["version"]
    define(PLAIN.format(1), names)
    assert declared("f")["version"] == first
    define(PLAIN.format(2), names)
    assert declared("f")["version"] != first and call_function("f", {"x": 1}) == 3
    with pytest.raises(ArgumentError, match="is not what was asked for"):
        call_function("f", {"x": 1}, version=first)
    assert call_function("f", {"x": 1}, version=declared("f")["version"]) == 3


@pytest.mark.parametrize("end", ["del f", "f = 3", "def f(x): pass", "f = None"])
def test_what_is_deleted_or_means_something_else_is_gone(end):
    names = define(PLAIN.format(1))
    exec(end, names)
    gc.collect()
    assert not registered()
    with pytest.raises(ArgumentError, match="no function f any more .there are: none.: run the cell"):
        call_function("f", {"x": 1})


def test_what_wraps_it_keeps_it():
    names = define("import functools\n@functools.lru_cache\n" + PLAIN.format(1))
    assert "f" in registered() and callable(names["f"])


def test_a_function_inside_another_stays():
    define("def make(n):\n  @tool(risk='read')\n  def inner(x: int) -> int:\n    'Adds.'\n    return x + n\nmake(5)\n")
    gc.collect()
    assert call_function("inner", {"x": 1}) == 6


def test_two_modules_with_one_name_clash_and_both_are_named(tmp_path, monkeypatch):
    text = "from notarium import tool\n\n@tool(risk='read')\ndef f(x: int) -> int:\n    'Adds.'\n    return x\n"
    for name in ("one_module", "other_module"):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    one = importlib.import_module("one_module")
    with pytest.raises(
        FunctionError, match="one in the module one_module line 3, one in the module other_module line 3"
    ):
        importlib.import_module("other_module")
    (tmp_path / "one_module.py").write_text(text + "    # other\n" + "    # text\n")
    importlib.invalidate_caches()
    version = declared("f")["version"]
    importlib.reload(one)
    assert declared("f")["place"]["module"] == "one_module" and version
    del one.f
    gc.collect()
    importlib.import_module("other_module")
    assert declared("f")["place"]["module"] == "other_module"


# --- calls ---


class Kind(enum.Enum):
    A = "a"


@dataclasses.dataclass
class Box:
    size: int
    kind: Kind = Kind.A


def test_arguments_are_checked_and_converted():
    @tool(risk="read")
    def f(box: Box, kind: Kind = Kind.A) -> Box:
        """Looks."""
        assert isinstance(box, Box) and kind is Kind.A
        return box

    assert call_function("f", {"box": {"size": 1}, "kind": "a"}) == {"size": 1, "kind": "a"}
    assert call_function("f", {"box": {"size": 1}}, as_json=False) == Box(1)
    with pytest.raises(ArgumentError, match=r"f: box\.size must be a whole number") as caught:
        call_function("f", {"box": {"size": "1"}})
    assert caught.value.is_refusal


def test_what_a_function_raises_goes_through():
    @tool(risk="read")
    def f() -> None:
        """Fails."""
        raise ValueError("why")

    with pytest.raises(ValueError, match="why") as caught:
        call_function("f", {})
    assert not hasattr(caught.value, "is_refusal")


def test_async_functions_are_awaited_in_the_callers_context_on_one_loop():
    who = contextvars.ContextVar("who", default="nobody")
    loops = []

    @tool(risk="read")
    async def f(seconds: float) -> str:
        """Waits."""
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(seconds)
        return who.get()

    async def inside_a_running_loop():
        who.set("ann")
        return call_function("f", {"seconds": 0})

    assert asyncio.run(inside_a_running_loop()) == "ann"
    assert call_function("f", {"seconds": 0}) == "nobody"
    assert loops[0] is loops[1]


def test_a_timeout_ends_a_call():
    @tool(risk="read", timeout=0.1)
    def busy() -> None:
        """Never ends."""
        while True:
            pass

    @tool(risk="read", timeout=0.1)
    async def idle() -> None:
        """Never ends."""
        await asyncio.Event().wait()

    for name in ("busy", "idle"):
        with pytest.raises(TimeoutError, match=f"{name} took more than 0.1 s"):
            call_function(name, {})


def test_an_interrupt_cancels_an_async_call():
    ended = threading.Event()

    @tool(risk="read")
    async def idle() -> None:
        """Never ends."""
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        call_function("idle", {})
    assert ended.wait(5)


def test_results_become_json():
    pandas = pytest.importorskip("pandas")
    import datetime
    import math

    frame = pandas.DataFrame({"a": [1, 2]})
    cases = [
        ({1: (Kind.A, {2}), "n": math.nan}, {"1": ["a", [2]], "n": "nan"}),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (frame["a"].sum(), 3),
        (frame["a"].to_numpy(), [1, 2]),
        (b"ab", "YWI="),
    ]
    for value, meant in cases:
        assert registry.to_json(value) == meant
    told = registry.to_json(frame)
    assert (
        told["type"].endswith("DataFrame")
        and told["shape"] == [2, 1]
        and told["columns"] == ["a"]
        and "0  1" in told["text"]
    )


# --- messages to the agent ---


def test_the_agent_is_told_all_functions_when_one_changes(monkeypatch):
    told = []
    monkeypatch.setattr(registry.host, "open_comm", lambda target, data: told.append((target, data)) or object())
    names = define(PLAIN.format(1))
    registry.tell()
    registry.tell()
    assert len(told) == 1 and told[0][0] == "notarium.functions"
    assert [one["name"] for one in told[0][1]["functions"]] == ["f"]
    del names["f"]
    gc.collect()
    registry.tell()
    assert told[1][1] == {"functions": []}
