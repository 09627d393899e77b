"""Data frames in DuckDB's cells: `{orders}` is the frame and `orders` the table, at every place that takes a table."""

from __future__ import annotations

import pandas as pd
import pytest
from notarium_kernel.sql.errors import ParameterError, SqlError

ORDERS = pd.DataFrame({"id": [7, 8], "qty": [1, 2]})
DF = pd.DataFrame({"id": [1, 2], "t": ["a", "b"]})


@pytest.fixture
def rows(run):
    """Function that runs a cell and returns the rows of its last result."""
    run("CREATE TABLE orders AS SELECT 99 AS id, 1 AS qty", orders=ORDERS, df=DF, word="hello", n=3, col="i")

    def rows(sql: str) -> list[tuple]:
        frame = run.names["found"] = None
        run("-- > found\n" + sql)
        frame = run.names["found"]
        return [tuple(row) for row in frame.itertuples(index=False)]

    return rows


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM orders o JOIN {orders} f ON o.id = f.id", [(0,)]),
        ("SELECT count(*) FROM orders JOIN {orders} USING (id)", [(0,)]),
        ("SELECT * FROM orders EXCEPT SELECT * FROM {orders}", [(99, 1)]),
        ("WITH orders AS (SELECT 42 AS id) SELECT (FROM orders), max(id) FROM {orders}", [(42, 8)]),
        (
            "WITH a AS (SELECT 1), orders AS (SELECT 42 AS id) SELECT max(o.id), orders.id FROM {orders} o, orders GROUP BY ALL",
            [(8, 42)],
        ),
        ("INSERT INTO orders SELECT * FROM {orders}; SELECT id FROM orders ORDER BY id", [(7,), (8,), (99,)]),
        ("UPDATE orders SET qty = f.qty FROM {orders} f WHERE f.id = orders.id - 92; SELECT qty FROM orders", [(1,)]),
        ("DELETE FROM orders USING {orders} f WHERE f.id = orders.id - 92; SELECT count(*) FROM orders", [(0,)]),
        ("SELECT orders.qty FROM {orders} WHERE orders.id = 8", [(2,)]),
        ("SELECT orders.id, df.id FROM {orders}, {df} WHERE df.t = 'a' AND orders.id = 7", [(7, 1)]),
        ("SELECT orders.id FROM orders WHERE NOT EXISTS (SELECT 1 FROM {orders} f WHERE f.id = orders.id)", [(99,)]),
        ("SELECT other.t FROM {df} JOIN {df} AS other USING (id) WHERE id = 2", [("b",)]),
        (
            "SELECT (SELECT max(id) FROM {orders}) + id FROM {df} LEFT JOIN {orders} USING (id) ORDER BY 1",
            [(9,), (10,)],
        ),
    ],
)
def test_a_frame_and_a_table_of_the_same_name_do_not_hide_each_other(rows, sql, expected):
    assert rows(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT MAP {1: 'one'}[1]", [("one",)]),
        ("SELECT MAP {DATE '2024-01-01': 1}[DATE '2024-01-01']", [(1,)]),
        ("SELECT MAP {[1, 2]: MAP {'a': {n}}}[[1, 2]]['a']", [(3,)]),
        ("SELECT MAP {{n}: {word}}[3], MAP {{'a': 1}}['a']", [("hello", 1)]),
        ("SELECT position('lo' IN {word})", [(4,)]),
        ("SELECT 3 IN ({n}), position({word} IN {word})", [(True, 1)]),
        ("PIVOT {df} ON t USING count(*) GROUP BY id ORDER BY id", [(1, 1, 0), (2, 0, 1)]),
        ("UNPIVOT {df} ON id INTO NAME k VALUE v", [("a", "id", 1), ("b", "id", 2)]),
        ("COPY {df} TO 'o.csv'; SELECT t FROM 'o.csv'", [("a",), ("b",)]),
        ("CREATE TABLE t (t TEXT, id INT); INSERT INTO t BY NAME {df}; SELECT * FROM t", [("a", 1), ("b", 2)]),
        ("SELECT i FROM range(2) r(i) ORDER BY i, {n} * i", [(0,), (1,)]),
        ("SELECT i FROM range(2) r(i) ORDER BY {n} * -i", [(1,), (0,)]),
        ("TABLE {df}", [(1, "a"), (2, "b")]),
        ("SELECT column_name FROM (DESCRIBE {df})", [("id",), ("t",)]),
        ("SELECT column_name FROM (SUMMARIZE {df})", [("id",), ("t",)]),
        (
            "MERGE INTO orders USING {orders} f ON (f.id = orders.id) WHEN NOT MATCHED THEN INSERT VALUES (f.id, f.qty); "
            "SELECT id FROM orders ORDER BY 1",
            [(7,), (8,), (99,)],
        ),
    ],
)
def test_every_place_of_a_table_or_value_is_found(rows, sql, expected):
    assert rows(sql) == expected


def test_a_constant_is_no_order(rows):
    for sql in ("SELECT 1 ORDER BY {col}", "SELECT 1 ORDER BY 1, {col} DESC", "SELECT 1 GROUP BY ({n}), {col}"):
        with pytest.raises(ParameterError, match="stands where a name must stand"):
            rows(sql)


@pytest.mark.parametrize("head", ["", "-- @file.duckdb write\n"])
def test_what_outlives_the_cell_cannot_keep_a_frame(run, head):
    for made in ("VIEW v", "OR REPLACE TEMP VIEW v", "MACRO m()"):
        kind = "macro" if "MACRO" in made else "view"
        of = "TABLE " if kind == "macro" else ""
        with pytest.raises(ParameterError, match=f"a {kind} cannot keep {{df}}.*CREATE TABLE df_rows AS SELECT"):
            run(f"{head}CREATE {made} AS {of}SELECT * FROM {{df}}", df=DF)
    with pytest.raises(ParameterError, match="a prepared statement cannot keep {df}"):
        run(head + "PREPARE p AS SELECT * FROM {df}")
    run(head + "CREATE TABLE df_rows AS SELECT * FROM {df}; CREATE VIEW v AS SELECT * FROM df_rows")
    assert run(head + "SELECT count(*) AS n FROM v").resource["data"] == [{"n": 2}]


def test_a_transaction_of_several_cells_reads_frames(run):
    for sql in (
        "CREATE TABLE t (id INT, t TEXT)",
        "BEGIN",
        "INSERT INTO t FROM {df}",
        "INSERT INTO t FROM {df}",
        "COMMIT",
    ):
        run(sql, df=DF)
    assert run("SELECT count(*) AS n FROM t").resource["data"] == [{"n": 4}]


@pytest.mark.parametrize(
    ("sql", "line", "words"),
    [
        ("SELECT 1\n+ nope\nFROM {df}", 2, '"nope" not found'),
        ("SELECT\n\ndf.nope FROM {df}", 3, '"df" does not have a column named "nope"'),
        ("INSERT INTO\n{df} VALUES (1)", 1, "{df} is not an table"),
        ("SELECT *\nFROM df", 2, "write {df} to read it"),
        ("SELECT 1;\nDESCRIBE\n\ndf", 4, "write {df} to read it"),
        ("SELECT 'df';\nDELETE FROM -- df\ndf", 3, "write {df} to read it"),
        ("SELECT\ndf.id FROM range(2)", 2, "write {df} to read it"),
        ("CREATE TABLE t (id INT);\nINSERT INTO t\nBY NAME df", 3, "write {df} to read it"),
        ("PIVOT\ndf ON t", 2, "write {df} to read it"),
        ("COPY\ndf TO 'x.csv'", 2, "write {df} to read it"),
    ],
)
def test_errors_have_the_names_and_lines_of_the_cell(run, sql, line, words):
    with pytest.raises(SqlError) as failed:
        run(sql, df=DF)
    assert failed.value.line == line and words in str(failed.value)
    assert "notarium_frame" not in str(failed.value)
