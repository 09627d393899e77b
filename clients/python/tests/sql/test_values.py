"""Every value is shown as its database writes it: on the first page, in all rows of it, and in the rows that a variable keeps."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from notarium_kernel.sql import cell
from notarium_kernel.sql.duckdb_texts import DuckDbTexts
from notarium_kernel.sql.errors import SqlError
from notarium_kernel.sql.results import Settings
from notarium_kernel.tables import questions

from .conftest import found
from .expressions import OfDuckDb, OfPostgreSql

SEEDS = range(int(os.environ.get("NOTARIUM_SQL_SEEDS", "8")))


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setattr(cell, "settings", Settings())
    return cell.settings


def displayed(value) -> str | None:
    """A value of JSON as JavaScript writes it."""
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def page(shown) -> list[list[str | None]]:
    fields = [each["name"] for each in shown.resource["schema"]["fields"]]
    return [[displayed(row[name]) for name in fields[1:]] for row in shown.resource["data"]]


def arrow_rows(shown) -> list[list[str | None]]:
    data = base64.b64decode(shown[-1][0]["application/vnd.apache.arrow.stream"])
    table = pa.ipc.open_stream(data).read_all()
    columns = [[displayed(_in_javascript(value)) for value in column.to_pylist()] for column in table.columns[1:]]
    return [list(row) for row in zip(*columns, strict=True)]


def _in_javascript(value):
    """A value of Arrow as the page reads it: bytes, floats and times of its own it would write in its own way."""
    assert value is None or isinstance(value, (int, str, Decimal)), value
    return str(value) if isinstance(value, Decimal) else value


def kept_rows(shown, first: int) -> list[list[str | None]]:
    name = shown[-1][0]["application/vnd.notarium.table+json"]["table"]
    told = questions.answer(json.dumps({"table": name, "first": first, "count": 100})).content["ok"]
    return [[displayed(value) for value in row[1:]] for row in told["data"]]


def compare(
    run, connection: str, sql: str, expected: list[list[str | None]], kinds: list[str], is_kept_exact: bool
) -> None:
    head = f"-- @{connection}"
    assert page(run(f"{head}\n{sql} ORDER BY 1")) == expected, kinds
    # All rows several times, so that there are more than the first page has.
    times = 1000 // len(expected) + 2
    many = f"SELECT f.* FROM ({sql}) AS f, generate_series(1, {times}) AS g(n) ORDER BY g.n, f.row"
    listed = (expected * times)[:1010]
    assert arrow_rows(run(f"{head}\n{many}"))[:1010] == listed, kinds
    shown = run(f"{head} > kept\n{many}")
    assert page(shown) == listed[:1000]
    if is_kept_exact:
        is_pandas = cell.settings.frame == "pandas"
        rows, wanted = kept_rows(shown, 1000)[:10], listed[1000:1010]
        assert [_kept(row, is_pandas, kinds) for row in rows] == [_kept(row, is_pandas, kinds) for row in wanted], kinds


def _kept(row: list[str | None], is_pandas: bool, kinds: list[str]) -> list[str | None]:
    """pandas has one missing value for NaN and NULL. polars has one scale for all numbers of a column."""
    scaled = ("numeric[]",) if is_pandas else ("numeric", "numeric[]")
    row = [
        each if each is None or kind not in scaled else re.sub(r"\.0*(?=[,}]|$)|(\.\d*[1-9])0+(?=[,}]|$)", r"\1", each)
        for each, kind in zip(row, kinds, strict=True)
    ]
    if not is_pandas:
        return row
    return [None if each is None or each.lower() == "nan" else re.sub("(?i)nan", "NULL", each) for each in row]


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb_shows_what_duckdb_writes(run, settings, seed, frame):
    sql, kinds = OfDuckDb(seed).select(columns=12, rows=6)
    casts = ", ".join(f"CAST(c{at} AS VARCHAR)" for at in range(len(kinds)))
    oracle = duckdb.connect()
    expected = [list(row) for row in oracle.execute(f"SELECT {casts} FROM ({sql}) ORDER BY row").fetchall()]
    settings.frame = frame
    compare(run, "duckdb", sql, expected, kinds, frame != "arrow")


@pytest.mark.parametrize("frame", ["pandas", "polars"])
@pytest.mark.parametrize("seed", SEEDS)
def test_postgresql_shows_what_psql_prints(agent, postgresql, run, settings, seed, frame):
    sql, kinds = OfPostgreSql(seed).select(columns=12, rows=6)
    columns = ", ".join(f"c{at}" for at in range(len(kinds)))
    printed = subprocess.run(
        [
            found("psql"),
            "-X",
            "-h",
            postgresql,
            "-U",
            "owner",
            "-d",
            "postgres",
            "-A",
            "-t",
            "-z",
            "-0",
            "-P",
            "null=\x01",
        ]
        + ["-c", f"SELECT {columns} FROM ({sql}) AS f ORDER BY row"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    rows = _rows_of(printed, len(kinds))
    settings.frame = frame
    compare(run, "warehouse", sql, rows, kinds, True)


def _rows_of(printed: str, count: int) -> list[list[str | None]]:
    """psql's output with NUL between fields and behind rows."""
    fields = printed.rstrip("\n").split("\0")
    fields = fields[:-1] if len(fields) % count else fields
    values = [None if field == "\x01" else field for field in fields]
    return [values[at : at + count] for at in range(0, len(values), count)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("'infinity'::DATE", "infinity"),
        ("'0044-03-15 (BC)'::DATE", "0044-03-15 (BC)"),
        ("'12024-01-01'::TIMESTAMP", "12024-01-01 00:00:00"),
        ("'-infinity'::TIMESTAMPTZ", "-infinity"),
        ("['infinity'::DATE]", "[infinity]"),
        ("TIME '24:00:00'", "24:00:00"),
    ],
)
@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
def test_a_value_that_python_cannot_hold_makes_its_column_text_and_fails_no_result(run, settings, value, text, frame):
    settings.frame = frame
    for rows in (2, 2000):
        source = f"-- > x\nSELECT CASE WHEN range = 1 THEN {value} END AS v, DATE '2024-01-01' AS d FROM range({rows})"
        shown = run(source)
        assert shown.resource["data"][1] == {"v": text, "d": "2024-01-01"}
        assert "In x, v is text, as the database writes it" in shown.text
        found = pa.table(run.names["x"]) if frame != "polars" else run.names["x"].to_arrow()
        assert found.column("v").to_pylist()[:2] == [None, text]
        assert pa.types.is_date(found.schema.field("d").type) or frame == "pandas"
    run("-- > x\nSELECT DATE '2024-01-01' AS v")
    assert "is text" not in run("-- > x\nSELECT DATE '2024-01-01' AS v").text


def test_sums_of_integers_are_integers_of_64_bits_where_they_fit_and_exact_beyond(run, settings):
    source = "-- > x\nSELECT sum(range) AS s, sum(range) * 10::HUGEINT ** 30::INT AS f, 170141183460469231731687303715884105727 - sum(range) AS big, [9007199254740993, NULL] AS l FROM range(5)"
    shown = run(source)
    assert shown.resource["data"][0]["s"] == 10
    assert shown.resource["data"][0]["big"] == "170141183460469231731687303715884105717"
    assert [each["type"] for each in shown.resource["schema"]["fields"]][::2] == ["integer", "integer"]
    row = run.names["x"].iloc[0]
    assert str(run.names["x"]["s"].dtype) == "int64" and row["big"] == 2**127 - 11 and type(row["big"]) is int
    assert list(row["l"]) == [2**53 + 1, None]
    wide = 3**200
    for frame, expected in (("pandas", wide), ("polars", str(wide)), ("arrow", str(wide))):
        settings.frame = frame
        shown = run(f"-- > x\nSELECT '{wide}'::BIGNUM AS n")
        assert shown.resource["data"] == [{"n": str(wide)}]
        column = run.names["x"]["n"]
        assert (column.to_pylist() if frame == "arrow" else column.to_list()) == [expected]
    settings.frame = "polars"
    run("-- > x\nSELECT sum(range) AS s, sum(range) + 10000000000000000000000 AS big FROM range(5)")
    assert run.names["x"].schema["s"] == pl.Int64 and run.names["x"]["big"][0] == 10**22 + 10


def test_columns_named_like_ours_stay_columns(run):
    shown = run('-- > x\nSELECT [1] AS "text 0", [2] AS "text 1", 3 AS "text 1"')
    assert shown.resource["data"] == [{"text 0": "[1]", "text 1": "[2]", "text 1_1": 3}]
    assert list(run.names["x"].iloc[0]) == [[1], [2], 3]


def test_a_frame_that_cannot_hold_the_rows_is_an_error_with_a_way_out(run, monkeypatch):
    def fails(*_):
        raise pa.ArrowNotImplementedError("no such type")

    monkeypatch.setattr(cell.results, "_of_pandas", fails)
    with pytest.raises(SqlError, match="x is not set: pandas cannot hold the rows .no such type.*frame = 'arrow'"):
        run("-- > x\nSELECT 1 AS a")


def test_a_type_that_duckdb_does_not_read_again_is_shown_from_its_value(run, monkeypatch):
    def fails(*_):
        raise duckdb.NotImplementedException("no such type")

    monkeypatch.setattr(DuckDbTexts, "__call__", fails)
    assert run("SELECT 1.5::DOUBLE AS a, NULL::DATE AS d").resource["data"] == [{"a": 1.5, "d": None}]


def test_explain_shows_the_plan_as_lines(agent, run):
    shown = run("EXPLAIN SELECT * FROM {df}", df=pd.DataFrame({"a": [1]}))
    assert shown.text.startswith("╭─ Pandas Scan") and "\n│ Function: PANDAS_SCAN │\n" in shown.text
    shown = run("-- @warehouse\nEXPLAIN (COSTS OFF) SELECT * FROM pg_class WHERE oid = 1")
    assert shown.text.startswith(
        "Index Scan using pg_class_oid_index on pg_class\n  Index Cond: (oid = '1'::oid)\n\n2 rows"
    )


def test_rows_that_are_no_select_are_written_by_the_database_too(run):
    run("CREATE TABLE t (i INTERVAL, d DATE, h HUGEINT, b BIT, f FLOAT)")
    shown = run("INSERT INTO t VALUES (INTERVAL 1 DAY, 'infinity', 5, '101', 0.1) RETURNING *")
    assert shown.resource["data"] == [{"i": "1 day", "d": "infinity", "h": 5, "b": "101", "f": 0.1}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("'infinity'::timestamptz", "infinity"),
        ("'Infinity'::numeric", "Infinity"),
        ("'0044-03-15 BC'::date", "0044-03-15 BC"),
        ("'12024-01-01'::date", "12024-01-01"),
        ("ARRAY['infinity'::date, '2024-01-01']", "{infinity,2024-01-01}"),
        ("ARRAY['NaN'::numeric]", "{NaN}"),
    ],
)
def test_postgresql_has_no_value_that_fails_a_result(agent, run, value, text):
    for rows in (2, 2000):
        shown = run(
            f"-- @warehouse > x\nSELECT CASE WHEN n = {rows} THEN {value} END AS v, n FROM generate_series(1, {rows}) AS n ORDER BY n DESC"
        )
        assert shown.resource["data"][0] == {"v": text, "n": rows}
        assert run.names["x"]["v"].iloc[0] == text and run.names["x"]["v"].isna().sum() == rows - 1
        assert "In x, v is text, as the database writes it" in shown.text


def test_a_constraint_that_fails_at_the_end_of_a_transaction_fails_the_cell(agent, run):
    run("-- @desk write\nDROP TABLE IF EXISTS late; CREATE TABLE late (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(SqlError, match="duplicate key"):
        run("-- @desk write\nINSERT INTO late VALUES (1), (1)")
