"""Data frames as tables: recorded rows, further rows from the kernel, and frames that are garbage-collected."""

from __future__ import annotations

import base64
import gc
import importlib.util
import json
import weakref
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from IPython.core.formatters import DisplayFormatter
from notarium_kernel.tables import display, questions, registry, values

LAUNCHER = Path(__file__).parents[4] / "src" / "agent" / "kernel" / "launcher.py"


@pytest.fixture(scope="module")
def formatter():
    """IPython's formatter, as the kernel launcher configures it."""
    spec = importlib.util.spec_from_file_location("launcher", LAUNCHER)
    launcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launcher)

    class Formatter(DisplayFormatter):
        pass

    launcher.offer_tables(Formatter)
    return Formatter()


@pytest.fixture(autouse=True)
def empty():
    registry.tables.entries.clear()


def shown(formatter: Any, value: Any) -> dict[str, Any]:
    return formatter.format(value)[0]


def table_of(data: dict[str, Any]) -> dict[str, Any]:
    """First rows and columns, from JSON or Arrow."""
    if display.JSON in data:
        return data[display.JSON]
    read = pa.ipc.open_stream(base64.b64decode(data[display.ARROW])).read_all()
    head = json.loads(read.schema.metadata[b"notarium"])
    return {**head, "data": [column.to_pylist() for column in read.columns]}


def ask(**asked: Any) -> Any:
    content = questions.answer(json.dumps(asked)).content
    return content.get("ok") or content["refused"]["kind"]


class Silent:
    def __repr__(self):
        raise ValueError("no")


def odd(rows: int) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "big": [2**60 + i for i in range(rows)],
            "inf": [float("inf") if i % 2 else float("-inf") for i in range(rows)],
            "mixed": [i if i % 2 else f"x{i}" for i in range(rows)],
            "zone": pd.date_range("2026-01-01", periods=rows, tz="Europe/Berlin"),
            "nat": [pd.NaT] * rows,
            "none": pd.Series([None] * rows, dtype=object),
            "kind": pd.Categorical(["a" if i % 2 else "b" for i in range(rows)]),
            "nested": [{"a": [i]} for i in range(rows)],
            "bytes": [b"\x00\xff"] * rows,
            "Int": pd.array([None, *range(rows - 1)], dtype="Int64"),
            "decimal": [Decimal("1.10")] * rows,
            ("a", 1): range(rows),
            5: pd.arrays.SparseArray([0] * rows),
        }
    )
    return pd.concat([frame, frame[["big"]]], axis=1)


def test_a_small_frame_is_there_as_a_whole_and_the_kernel_keeps_nothing_of_it(formatter):
    data = shown(formatter, pd.DataFrame({"x": [1.5, None], "y": ["a", None]}, index=["r", "s"]))
    assert {"text/html", "text/plain"} < data.keys()
    table = table_of(data)
    assert table["data"] == [["r", "s"], [1.5, None], ["a", None]]
    assert [(column["name"], column["kind"]) for column in table["columns"]] == [
        ("", "text"),
        ("x", "number"),
        ("y", "text"),
    ]
    assert "table" not in table and not registry.tables.entries


@pytest.mark.parametrize("number", range(15))
def test_every_odd_column_is_recorded_sorted_filtered_and_counted(formatter, number):
    frame = odd(300)
    head = table_of(shown(formatter, frame))
    assert (head["rows"], len(head["columns"]), len(head["data"][0])) == (300, 15, 200)
    page = ask(table=head["table"], first=200, count=100, sort={"column": number, "is_descending": True})
    assert (page["matching"], len(page["data"])) == (300, 100)
    assert ask(table=head["table"], summarize=number)["rows"] == 300
    for operator in [
        "contains",
        "lacks",
        "equal",
        "not_equal",
        "less",
        "at_most",
        "more",
        "at_least",
        "empty",
        "not_empty",
    ]:
        for value in ("5", "a", "2026-02-01"):
            asked = {"column": number, "operator": operator, "value": value}
            assert ask(table=head["table"], count=1, filters=[asked])["rows"] == 300, (operator, value)


def test_values_lose_nothing_that_a_reader_could_see(formatter):
    first = {
        column["name"]: held[1]
        for column, held in zip(
            *(table_of(shown(formatter, odd(300)))[key] for key in ("columns", "data")), strict=True
        )
    }
    assert first["big"] == str(2**60 + 1) and first["inf"] == float("inf")
    assert (first["mixed"], first["nat"], first["none"], first["kind"]) == ("1", None, None, "a")
    assert first["zone"] == "2026-01-02 00:00:00+01:00" and first["nested"] == "{'a': [1]}"
    assert (first["bytes"], first["Int"], first["decimal"], first["a / 1"]) == ("\\x00ff", 0, "1.10", 1)
    assert values.plain(Silent()) == "<Silent: its text raises ValueError>"


def test_all_rows_are_sorted_and_filtered_not_those_alone_that_are_recorded(formatter):
    frame = pd.DataFrame({"n": [(7 * i) % 1000 for i in range(1000)], "word": [f"w{i}" for i in range(1000)]})
    name = table_of(shown(formatter, frame))["table"]
    top = ask(table=name, count=3, sort={"column": 1, "is_descending": True})
    assert [row[1] for row in top["data"]] == [999, 998, 997]
    rows = ask(table=name, count=10, filters=[{"column": 1, "operator": "at_least", "value": "990"}], search="W9")
    assert rows["matching"] == sum(frame["n"].ge(990) & frame["word"].str.contains("w9"))
    summary = ask(table=name, summarize=1)
    assert (summary["min"], summary["max"], summary["mean"], summary["distinct"]) == (0, 999, 499.5, 1000)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_values_come_last_in_both_directions_and_equal_rows_keep_their_order(formatter, library):
    held = {"n": [2.0, None, 1.0, 2.0] * 100, "at": list(range(400))}
    frame = pd.DataFrame(held) if library == "pandas" else pl.DataFrame(held)
    table = table_of(shown(formatter, frame))
    at = [column["name"] for column in table["columns"]].index("n")
    for is_descending in (False, True):
        rows = ask(table=table["table"], count=400, sort={"column": at, "is_descending": is_descending})["data"]
        found = [row[at] for row in rows]
        held_values = [value for value in found if value is not None]
        assert found[-100:] == [None] * 100 and held_values == sorted(held_values, reverse=is_descending)
        twos = [row[at + 1] for row in rows if row[at] == 2.0]
        assert twos == sorted(twos)


def test_polars_is_the_same_view(formatter):
    frame = pl.DataFrame(
        {
            "n": range(500),
            "when": pl.datetime_range(pl.datetime(2026, 1, 1), pl.datetime(2026, 1, 1), eager=True).new_from_index(
                0, 500
            ),
            "l": [[1, 2]] * 500,
            "s": ["A", None] * 250,
        }
    )
    table = table_of(shown(formatter, frame))
    assert [column["kind"] for column in table["columns"]] == ["integer", "datetime", "any", "text"]
    page = ask(table=table["table"], first=498, count=9, filters=[{"column": 0, "operator": "less", "value": "499.5"}])
    assert (page["matching"], page["data"][0]) == (500, [498, "2026-01-01 00:00:00", "[1, 2]", "A"])
    assert ask(table=table["table"], search="a", count=0)["matching"] == 250
    assert "data" in table_of(shown(formatter, pl.Series("x", [1, 2])))


def test_a_large_frame_does_not_live_on_for_having_been_shown(formatter):
    frame = pd.DataFrame({str(at): range(300_000) for at in range(5)})
    name = table_of(shown(formatter, frame))["table"]
    reference = weakref.ref(frame)
    assert ask(table=name, first=299_999, count=1)["data"][0][0] == 299_999
    del frame
    gc.collect()
    assert reference() is None and ask(table=name, count=1) == "gone"


def test_a_part_of_a_large_frame_keeps_none_of_it_and_copies_are_bounded(formatter):
    large = pd.DataFrame({"x": range(3_000_000)})
    part = large.iloc[:1000]
    name = table_of(shown(formatter, part))["table"]
    entry = registry.tables.entries[name]
    assert entry.copy is not None and not __import__("numpy").shares_memory(entry.copy["x"].array, large["x"].array)
    del part
    gc.collect()
    assert ask(table=name, first=999, count=1)["data"] == [[999, 999]]
    for _ in range(700):
        registry.tables.put(str(_), pd.DataFrame({"x": range(50_000)}))
    held = sum(entry.copy_bytes for entry in registry.tables.entries.values())
    assert held <= registry.MAX_COPIES_BYTES and len(registry.tables.entries) == registry.MAX_TABLES


def test_a_frame_that_was_changed_since_is_told_as_it_is_now(formatter):
    frame = pd.DataFrame({"x": range(500)})
    name = table_of(shown(formatter, frame))["table"]
    assert not ask(table=name, count=1)["is_changed"]
    frame.loc[0, "x"] = 7
    page = ask(table=name, count=1)
    assert page["is_changed"] and page["data"] == [[0, 7]]


def test_frames_of_any_shape_are_quick_and_within_their_size(formatter):
    wide = pd.DataFrame(__import__("numpy").random.rand(50, 2000))
    for frame, rows, columns, left_out in [
        (pd.DataFrame(), 0, 1, 0),
        (pd.DataFrame(columns=["a", "b"]), 0, 3, 0),
        (pd.DataFrame(index=range(5)), 5, 1, 0),
        (wide, 50, 2001, 0),
        (pd.concat([wide, wide], axis=1), 50, 2001, 2000),
        (pd.DataFrame({"x": ["y" * 100_000] * 50}), 50, 2, 0),
        (
            pd.DataFrame({"v": range(4)}, index=pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", None])),
            4,
            3,
            0,
        ),
    ]:
        data = shown(formatter, frame)
        table = table_of(data)
        assert (table["rows"], len(table["columns"]), table.get("columns_left_out", 0)) == (rows, columns, left_out)
        sizes = [len(json.dumps(data[mime])) for mime in (display.ARROW, display.JSON) if mime in data]
        assert sizes[0] <= display.MAX_BYTES + 2
        if "table" in table:
            assert ask(table=table["table"], count=2)["rows"] == rows


def test_without_pyarrow_it_is_json_with_the_same_values(formatter, monkeypatch):
    frame = odd(300)
    arrow = table_of(shown(formatter, frame))
    monkeypatch.setattr(display, "_pyarrow", lambda: None)
    data = shown(formatter, frame)
    assert display.ARROW not in data and display.JSON in data
    assert [held[:3] for held in data[display.JSON]["data"]][1] == arrow["data"][1][:3]


def test_a_look_of_one_s_own_stays_what_is_shown(formatter):
    class Own(pd.DataFrame):
        def _repr_html_(self):
            return "<b>mine</b>"

    class Bundle(pd.DataFrame):
        def _repr_mimebundle_(self, **_):
            return {"text/plain": "mine"}

    def has_table(value):
        return bool({display.ARROW, display.JSON} & shown(formatter, value).keys())

    frame = pd.DataFrame({"x": [1]})
    assert has_table(frame) and has_table(frame["x"])
    assert not has_table(Own({"x": [1]})) and not has_table(Bundle({"x": [1]}))
    assert not has_table(frame.style) if importlib.util.find_spec("jinja2") else True
    assert not has_table("text") and not has_table(pd.Timestamp("2026-01-01"))
    with pd.option_context("display.notebook_repr_html", False):
        assert not has_table(frame)
    formatter.formatters["text/html"].for_type(pd.DataFrame, lambda _: "<i>registered</i>")
    try:
        assert not has_table(frame)
    finally:
        formatter.formatters["text/html"].pop(pd.DataFrame)
    assert formatter.format(frame, include={"text/plain"})[0].keys() == {"text/plain"}


def test_what_takes_too_long_or_is_not_there_is_refused_in_words(monkeypatch):
    assert ask(table="no-such-table", count=1) == "gone"
    frame = pd.DataFrame({"x": range(500)})
    name = registry.tables.add(frame)
    assert ask(table=name, count=1, sort={"column": 9}) == "invalid"
    monkeypatch.setattr(questions, "MAX_SECONDS", 0.05)
    monkeypatch.setattr(questions, "_answered", lambda _: [sum(range(1000)) for _ in range(1_000_000)])
    assert ask(table=name, count=1) == "slow"
