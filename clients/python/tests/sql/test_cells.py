"""SQL cells with DuckDB and SQLite: results, variables and errors."""

import base64
import datetime
import json
import os
import signal
import threading
import time
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from notarium import sql
from notarium_kernel.sql import cell, frame_advice, written
from notarium_kernel.sql.errors import SqlError, TooLarge

GOLDEN = Path(__file__).resolve().parents[4] / "protocol/golden"


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setattr(cell, "settings", sql.Settings())
    return cell.settings


def test_a_result_is_shown_with_types_rows_and_time(run):
    shown = run("SELECT 1 AS a, 'x' AS b, 1.50::DECIMAL(4, 2) AS c, NULL AS d")
    assert [(each["name"], each["type"]) for each in shown.resource["schema"]["fields"]][:3] == [
        ("a", "integer"),
        ("b", "string"),
        ("c", "number"),
    ]
    assert shown.resource["schema"]["fields"][2]["database_type"] == "DECIMAL(4,2)"
    assert shown.resource["data"] == [{"a": 1, "b": "x", "c": "1.50", "d": None}]
    assert "[1 rows x 4 columns]" in shown.text and "1 row, " in shown.text and shown.text.endswith("duckdb")
    assert shown[-1][1]["notarium"]["rows"] == 1


def test_names_that_are_twice_differ(run):
    run("-- > t\nSELECT 1 AS id, 2 AS id, 3 AS id_1")
    assert list(run.names["t"].columns) == ["id", "id_2", "id_1"]
    assert run.names["t"].iloc[0].tolist() == [1, 2, 3]


def test_types_survive_in_pandas_polars_and_arrow(run, settings):
    source = """-- > t
        SELECT * FROM (VALUES (1::INT, 2::BIGINT, true, 1.25::DECIMAL(9, 2), DATE '2026-01-02', TIMESTAMP '2026-01-02 03:04:05',
        'é', '\\x00'::BLOB, [1, 2]), (NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) AS t(i, b, ok, n, d, ts, s, x, l)"""
    run(source)
    frame = run.names["t"]
    assert isinstance(frame, pd.DataFrame)
    assert (str(frame["i"].dtype), str(frame["b"].dtype), str(frame["ok"].dtype)) == ("Int32", "int64", "boolean")
    assert frame["n"][0] == Decimal("1.25") and frame["d"][0] == datetime.date(2026, 1, 2)
    assert frame["ts"].dtype.kind == "M" and frame["x"][0] == b"\0" and list(frame["l"][0]) == [1, 2]
    settings.frame = "polars"
    run(source)
    assert run.names["t"].schema["n"] == pl.Decimal(9, 2) and run.names["t"]["i"].to_list() == [1, None]
    settings.frame = "arrow"
    run(source)
    assert run.names["t"].schema.field("l").type == pa.list_(pa.int32())
    settings.frame = "numpy"
    with pytest.raises(SqlError, match="'pandas', 'polars' or 'arrow'"):
        run(source)


def test_sqlite_values_keep_their_types_and_mixed_columns_become_texts(run):
    run("-- @a.sqlite write\nCREATE TABLE t (i INT, r REAL, s TEXT, b BLOB, m)")
    run("-- @a.sqlite write\nINSERT INTO t VALUES (1, 0.5, 'é', x'00', 1), (NULL, NULL, NULL, NULL, 'a')")
    shown = run("-- @a.sqlite > t\nSELECT * FROM t")
    frame = run.names["t"]
    assert [str(kind) for kind in frame.dtypes[:2]] == ["Int64", "float64"]
    assert frame["m"].tolist() == ["1", "a"] and frame["b"][0] == b"\0"
    assert shown.resource["data"][0]["b"] == "\\x00"
    day = datetime.date(2026, 1, 2)
    run("-- @a.sqlite > t\nSELECT {day} < '2026-02-01' AS earlier, typeof({n}) AS n", day=day, n=Decimal("1.5"))
    assert run.names["t"]["earlier"][0] == 1


def test_the_first_thousand_rows_are_shown_and_all_are_kept(run):
    shown = run("-- > t\nSELECT range AS i FROM range(2500)")
    assert len(shown) == 1 and len(shown.resource["data"]) == 1000 and shown.resource["total"] == 2500
    assert "the first 1,000 of 2,500 rows" in shown.text and len(run.names["t"]) == 2500
    shown = run("SELECT range AS i FROM range(2500)")
    rest = pa.ipc.open_stream(base64.b64decode(shown[-1][0]["application/vnd.apache.arrow.stream"])).read_all()
    assert rest.column("i").to_pylist() == list(range(2500))


def test_of_fifty_million_rows_the_first_page_comes_and_the_memory_stays_bounded(run, settings):
    import resource

    settings.max_shown_bytes = 4 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shown = run("SELECT range AS i, 'row ' || range AS s FROM range(50_000_000)")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert "More rows were not read: 4 MiB" in shown.text and len(shown.resource["data"]) == 1000
    assert shown[-1][1]["notarium"]["cut"] is True and grown < 200 << 10, f"{grown} KiB"
    settings.max_bytes = 4 << 20
    with pytest.raises(TooLarge, match="larger than 4 MiB.*t is not set.*max_bytes"):
        run("-- > t\nSELECT range AS i FROM range(50_000_000)")
    assert "t" not in run.names
    assert run("SELECT 1 AS a").resource["data"] == [{"a": 1}], "the connection goes on"


def test_of_several_statements_the_one_that_failed_is_named(run):
    with pytest.raises(SqlError, match=r"(?s)line 3: statement 2 of 3: .*nowhere.*; the one before it is done"):
        run("CREATE TABLE t (a INT);\n\nSELECT * FROM nowhere;\nSELECT 1")
    shown = run("INSERT INTO t VALUES (1), (2); SELECT count(*) AS n FROM t")
    assert [each[0]["text/plain"].split(",")[0] for each in shown][0] == "Done: 2 rows changed"
    assert shown.resource["data"] == [{"n": 2}]


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})])
def test_an_unknown_table_that_is_a_variable_is_written_in_braces(run, frame):
    kind = type(frame).__name__
    with pytest.raises(
        SqlError, match=rf"does not exist.*\. df is a variable of the kernel \({kind}\): write {{df}} to read it"
    ):
        run("SELECT * FROM df", df=frame)
    assert run("SELECT * FROM {df}", df=frame).resource["data"] == [{"a": 1}]
    run("-- @a.sqlite write\nCREATE TABLE t (a INT)")
    with pytest.raises(SqlError, match="no such table: df. df is a variable .* in DuckDB .*write {df}"):
        run("-- @a.sqlite\nSELECT * FROM df", df=frame)


def test_an_unknown_table_that_is_no_frame_gets_no_advice(run):
    for source, names in [
        ("SELECT * FROM df", {}),
        ("SELECT * FROM df", {"df": 1}),
        ("SELECT df.x FROM nowhere", {"df": pd.DataFrame()}),
    ]:
        with pytest.raises(SqlError) as failed:
            run(source, **names)
        assert "variable" not in str(failed.value)
    with pytest.raises(SqlError, match="statement 2 of 2: .*write {Sales} to read it; the one before it is done$"):
        run("SELECT 1; SELECT * FROM sales", Sales=pd.DataFrame({"a": [1]}))


def test_the_name_in_the_message_of_postgresql_is_found():
    error = SqlError('relation "df" does not exist')
    frame_advice.advise(error, "postgresql", {"df": pd.DataFrame(), "DF": 1})
    assert str(error).startswith(
        'relation "df" does not exist. df is a variable of the kernel (DataFrame): run this cell in DuckDB'
    )
    other = SqlError('column "df" does not exist')
    frame_advice.advise(other, "postgresql", {"df": pd.DataFrame()})
    assert str(other) == 'column "df" does not exist'


def test_what_cannot_be_bound_leaves_nothing_half_done(run):
    with pytest.raises(SqlError, match="no variable"):
        run("CREATE TABLE t (a INT); SELECT {missing}")
    run("CREATE TABLE t (a INT)")


def test_a_cell_without_a_result_for_its_variable_says_so(run):
    with pytest.raises(SqlError, match="x is not set: no statement of the cell gives rows"):
        run("-- > x\nCREATE TABLE t (a INT)")
    with pytest.raises(SqlError, match="holds no statement"):
        run("-- only a comment\n")


def test_a_database_is_read_only_unless_the_first_line_says_otherwise(run):
    for name in ("a.sqlite", "a.duckdb"):
        with pytest.raises(SqlError, match="there is no file .*write"):
            run(f"-- @{name}\nSELECT 1")
        run(f"-- @{name} write\nCREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
        for statement in ("INSERT INTO t VALUES (2)", "DROP TABLE t", "CREATE TABLE u (a INT)"):
            with pytest.raises(SqlError, match=r"(?i)read.?only"):
                run(f"-- @{name}\n{statement}")
        assert run(f"-- @{name}\nSELECT a FROM t").resource["data"] == [{"a": 1}]


def test_errors_of_sqlite_have_the_line_of_the_word_that_they_name(run):
    head = "-- @a.sqlite write\n"
    run(head + "CREATE TABLE t (a INT)")
    for text, line in [
        ("SELECT a,\n nope\nFROM t", 3),
        ("SELECT a\nFROM t\nGROUP 7", 4),
        ("SELECT 1;\nSELECT *\nFROM nowhere", 4),
        ("SELECT\nnofunction(a) FROM t", 3),
        ("SELECT 'nope',\n t.nope FROM t", 3),
        ("SELECT nope,\n nope FROM t", 2),
    ]:
        with pytest.raises(SqlError) as failed:
            run(head + text)
        assert failed.value.line == line, (text, failed.value)


def test_sqlite_cannot_be_made_to_write(run):
    run("-- @a.sqlite write\nCREATE TABLE t (a INT)")
    for attempt in (
        "PRAGMA query_only = OFF; INSERT INTO t VALUES (1)",
        "ATTACH 'a.sqlite' AS b; INSERT INTO b.t VALUES (1)",
    ):
        with pytest.raises(SqlError):
            run(f"-- @a.sqlite\n{attempt}")
    assert run("-- @a.sqlite\nSELECT count(*) AS n FROM t").resource["data"] == [{"n": 0}]


def test_parquet_and_csv_of_the_working_folder_are_read(run):
    pl.DataFrame({"a": [1, 2]}).write_parquet("x.parquet")
    assert run("SELECT sum(a) AS s FROM read_parquet('x.parquet')").resource["data"][0]["s"] in (3, "3")
    assert run("SELECT sum(a) AS s FROM 'x.parquet'").resource["data"][0]["s"] in (3, "3")


@pytest.mark.parametrize("connection", ["duckdb", "a.sqlite write"])
def test_an_interrupt_ends_the_statement(run, connection):
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    begun = threading.Event()
    execute = cell._StatementRun.work

    def work(self):
        begun.set()
        execute(self)

    def interrupt():
        begun.wait()
        # The statement starts after the event, without a signal.
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    started = time.monotonic()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(cell._StatementRun, "work", work)
        run(f"-- @{connection}\n{endless}")
    assert time.monotonic() - started < 5
    assert run(f"-- @{connection}\nSELECT 1 AS a").resource["data"] == [{"a": 1}]


def test_unknown_connections_name_those_that_there_are(run, monkeypatch):
    monkeypatch.setenv(
        "NOTARIUM_CONNECTIONS", '{"connections": [{"name": "shop", "kind": "sqlite", "path": "/nowhere.db"}]}'
    )
    with pytest.raises(SqlError, match="no connection 'warehouse'; there are: shop, duckdb.*--connection NAME=URL"):
        run("-- @warehouse\nSELECT 1")
    with pytest.raises(SqlError, match="there is no file"):
        run("-- @shop\nSELECT 1")
    with pytest.raises(SqlError, match="for reading alone.*--connection-writes shop"):
        run("-- @shop write\nSELECT 1")


def test_from_python_queries_and_schemas(run):
    assert sql.query("SELECT {a} + 1 AS b", a=1)["b"].tolist() == [2]
    assert sql.query("CREATE TABLE t (a INT, b TEXT)") is None
    assert sql.tables() == [
        {
            "schema": "main",
            "table": "t",
            "columns": [{"name": "a", "type": "INTEGER"}, {"name": "b", "type": "VARCHAR"}],
        }
    ]
    with pytest.raises(SqlError, match="line 2:"):
        sql.query("SELECT\n{missing}")


def test_a_missing_driver_says_which_and_how(run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SqlError, match="%pip install duckdb"):
        run("SELECT 1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SqlError, match="%pip install pyarrow"):
        run("-- @a.sqlite write\nSELECT 1")


def test_all_rows_are_arrow_and_read_as_the_first_rows_do():
    golden = json.loads((GOLDEN / "sql_result.json").read_text())
    table = pa.ipc.open_stream(base64.b64decode(golden["arrow"])).read_all()
    assert table.column_names == golden["names"]
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)

    def text(value):
        shown = written.plain(value)
        return shown if isinstance(shown, str) else json.dumps(shown, separators=(",", ":"))

    assert [["" if value is None else text(value) for value in row] for row in rows] == golden["rows"]
