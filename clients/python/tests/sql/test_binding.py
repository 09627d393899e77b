"""Variables are bound as values and never become part of the SQL."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from notarium_kernel.sql.binding import bind, to_value
from notarium_kernel.sql.errors import ParameterError
from notarium_kernel.sql.tokens import parse

INJECTIONS = [json.loads(line) for line in (Path(__file__).parent / "injections.jsonl").read_text().splitlines()]


def bound(sql, dialect="postgresql", **names):
    (statement,) = parse(sql, dialect)
    return bind(statement, dialect, names.__getitem__)


def test_there_are_enough_attempts():
    assert len(set(INJECTIONS)) >= 200


@pytest.mark.parametrize("dialect", ["postgresql", "duckdb", "sqlite"])
def test_no_attempt_becomes_a_part_of_the_statement(dialect):
    empty = bound("SELECT {x} WHERE y IN ({x}) AND z IN {xs}", dialect, x="", xs=["", ""])
    for attempt in INJECTIONS:
        found = bound("SELECT {x} WHERE y IN ({x}) AND z IN {xs}", dialect, x=attempt, xs=[attempt, attempt])
        assert found.text == empty.text
        assert found.values == [attempt] * 4


def test_attempts_stay_values_in_sqlite_and_duckdb(run):
    """The database returns each injection attempt, finds the row by it, and loses no table."""
    for connection in ("duckdb", "shop.sqlite write"):
        head = f"-- @{connection}"
        run(f"{head}\nCREATE TABLE victims (secret text); INSERT INTO victims VALUES ('kept')")
        for attempt in INJECTIONS:
            run(
                f"{head} > found\nSELECT {{x}} AS x WHERE {{x}} = {{y}} AND {{x}} IN {{xs}}",
                x=attempt,
                y=str(attempt),
                xs=["-", attempt],
            )
            assert list(run.names["found"]["x"]) == [attempt]
        run(f"{head} > left\nSELECT * FROM victims")
        assert list(run.names["left"]["secret"]) == ["kept"]


def test_attempts_stay_values_in_postgresql(agent, run):
    run(
        "-- @desk write\nCREATE TABLE IF NOT EXISTS victims (secret text); TRUNCATE victims; INSERT INTO victims VALUES ('kept')"
    )
    for attempt in INJECTIONS:
        run(
            "-- @desk write > found\nSELECT {x}::text AS x WHERE {x} = {y}::text AND {x} IN {xs}",
            x=attempt,
            y=attempt,
            xs=["-", attempt],
        )
        assert list(run.names["found"]["x"]) == [attempt]
    run("-- @desk > left\nSELECT * FROM victims")
    assert list(run.names["left"]["secret"]) == ["kept"]


class Sly(str):
    def __str__(self):
        return "'; DROP TABLE victims; --"

    __repr__ = __format__ = __str__


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (1.5, 1.5),
        (Decimal("1.10"), Decimal("1.10")),
        (datetime.date(2026, 1, 2), datetime.date(2026, 1, 2)),
        (UUID(int=7), UUID(int=7)),
        (bytearray(b"ab"), b"ab"),
        (Sly("plain"), "plain"),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.float32(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.datetime64("2026-01-02T03:04:05"), datetime.datetime(2026, 1, 2, 3, 4, 5)),
        (np.datetime64("NaT"), None),
        (pd.Timestamp("2026-01-02"), datetime.datetime(2026, 1, 2)),
        (pd.Timedelta("1h"), datetime.timedelta(hours=1)),
        (pd.NaT, None),
        (pd.NA, None),
        (range(2), [0, 1]),
        (pd.Series([1, 2]), [1, 2]),
        (pd.Index(["a"]), ["a"]),
        (pl.Series([1, None]), [1, None]),
        (np.array([1, 2]), [1, 2]),
        ((Decimal(1), None), [Decimal(1), None]),
    ],
)
def test_values_are_plain_ones_of_python(value, plain):
    found = to_value(value)
    assert found == plain
    assert type(found) is type(plain)
    if isinstance(found, list):
        assert [type(each) for each in found] == [type(each) for each in plain]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": 1}, "json.dumps"),
        ([[1]], "list of lists"),
        (np.zeros((2, 2)), "2 dimensions"),
        (object(), "bind a number, text"),
        ("\ud800", "lone surrogates"),
        (np.complex128(1j), "complex"),
    ],
)
def test_what_cannot_be_bound_says_what_to_do(value, reason):
    with pytest.raises(ParameterError, match=reason):
        bound("SELECT {x}", x=value)


def test_lists_fill_in_and_an_empty_one_holds_nothing(run):
    assert bound("SELECT 1 WHERE x IN {xs}", xs=[1, 2]).text == "SELECT 1 WHERE x IN ($1, $2)"
    assert bound("SELECT 1 WHERE x IN (0, {xs}, 9)", "sqlite", xs=[1, 2]).text == "SELECT 1 WHERE x IN (0, ?1, ?2, 9)"
    for connection in ("duckdb", "shop.sqlite write"):
        run(f"-- @{connection} > n\nSELECT (1 IN {{xs}}) AS inside, (1 NOT IN ({{xs}})) AS outside", xs=[])
        assert [bool(value) for value in run.names["n"].iloc[0]] == [False, True]
    with pytest.raises(ParameterError, match="at most 10000"):
        bound("SELECT 1 WHERE x IN {xs}", xs=range(10_001))
    with pytest.raises(ParameterError, match="compare with ="):
        bound("SELECT 1 WHERE x IN {xs}", xs=1)
    with pytest.raises(ParameterError, match="behind IN alone"):
        bound("SELECT {xs}", "sqlite", xs=[1])


@pytest.mark.parametrize("sql", ["SELECT * FROM {x}", "SELECT t.{x} FROM t", "SELECT 1 ORDER BY {x}", "DROP TABLE {x}"])
def test_names_and_fragments_are_refused_with_the_way_to_do_it(sql):
    with pytest.raises(ParameterError, match="write the name itself into the SQL.*CASE"):
        bound(sql, x="victims")


def test_a_variable_that_is_not_there_names_its_line():
    with pytest.raises(
        ParameterError, match="line 2: the kernel has no variable 'nowhere': run the cell that defines it"
    ):
        bound("SELECT\n{nowhere}")


def test_a_table_is_a_relation_in_duckdb_and_nowhere_else(run):
    for table in (pd.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1, 2]}), pl.LazyFrame({"a": [1, 2]})):
        run("-- > total\nSELECT sum(a) AS s FROM {table} JOIN {table} AS other USING (a)", table=table)
        assert run.names["total"]["s"][0] == 3
    with pytest.raises(ParameterError, match="stands behind FROM or JOIN"):
        run("SELECT {table}", table=pd.DataFrame())
    with pytest.raises(ParameterError, match="run this cell in DuckDB"):
        bound("SELECT * FROM {table}", table=pd.DataFrame())
    # A variable without braces is not a table.
    with pytest.raises(Exception, match="table_of_python does not exist"):
        run("SELECT * FROM table_of_python", table_of_python=pd.DataFrame({"a": [1]}))
