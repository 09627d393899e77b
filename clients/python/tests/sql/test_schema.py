"""Tables and columns of PostgreSQL, SQLite and DuckDB, without rows: content, limits, and while a cell runs."""

import json
import re
import socket
import sqlite3
import threading
from contextlib import contextmanager

import pytest
from notarium import sql
from notarium_kernel.sql import catalog, connections, questions, wire
from notarium_kernel.sql.binding import BoundStatement
from notarium_kernel.sql.errors import Cancelled, ConnectionFailed, MissingDriver, SqlError, UnknownConnection
from notarium_kernel.sql.results import Result

from .conftest import PASSWORD, owner

SECRET_ROW = "a-row-that-nobody-asked-for"


def shown(described: dict) -> list[str]:
    """Each table as `schema.name kind: column type, column type?`. `?`: may be NULL; `!`: needs its schema."""
    return [
        f"{table['schema']}.{table['name']}{'' if table['is_visible'] else '!'} {table['kind']}: "
        + ", ".join(f"{each['name']} {each['type']}{'?' if each['nullable'] else ''}" for each in table["columns"])
        for table in described["tables"]
    ]


def describe(name: str = "duckdb", matching: str = "", seconds: float = 30) -> dict:
    return connections.open_connections.describe(name, matching, seconds)


@contextmanager
def running(engine, statement: str):
    """Context in which this statement runs. At the end it is cancelled."""
    ended = []

    def work():
        try:
            engine.execute(BoundStatement(1, statement), Result(), lambda batch: True)
        except SqlError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    begun = threading.Event()
    using = engine.using

    class Told:
        def __enter__(self):
            using.acquire()
            begun.set()

        def __exit__(self, *_):
            using.release()

        acquire, release = using.acquire, using.release

    engine.using = Told()
    thread.start()
    assert begun.wait(30)
    try:
        yield
        assert thread.is_alive(), "the statement should run still"
    finally:
        while thread.is_alive():
            engine.cancel()
            thread.join(0.05)
        engine.using = using
    assert ended and isinstance(ended[0], Cancelled)


# --- DuckDB ---


def test_duckdb_tells_tables_views_and_types(run):
    run("CREATE TABLE orders (id INT NOT NULL, city TEXT, kind ENUM ('new', 'old'))")
    run(f"INSERT INTO orders VALUES (1, '{SECRET_ROW}', 'new')")
    run("CREATE VIEW large AS SELECT id + 1 AS next FROM orders")
    run("CREATE SCHEMA other; CREATE TABLE other.days (day DATE)")
    run("CREATE TEMP TABLE scratch (x DOUBLE)")
    described = describe()
    assert shown(described) == [
        "main.large view: next INTEGER?",
        "main.orders table: id INTEGER, city VARCHAR?, kind ENUM('new', 'old')?",
        "main.scratch table: x DOUBLE?",
        "other.days! table: day DATE?",
    ]
    assert described["kind"] == "duckdb" and [each.get("catalog") for each in described["tables"]] == [
        None,
        None,
        "temp",
        None,
    ]
    assert SECRET_ROW not in json.dumps(described) and "tables_left_out" not in described
    assert shown(describe(matching="OTHER.d")) == ["other.days! table: day DATE?"]
    assert describe(matching="no such")["tables"] == []


def test_a_database_that_was_attached_is_told_with_its_catalog(run):
    run("ATTACH ':memory:' AS lake; CREATE TABLE lake.main.t (a INT); CREATE TABLE t (b INT)")
    found = [(each.get("catalog"), each["is_visible"]) for each in describe()["tables"]]
    assert found == [(None, True), ("lake", False)]


def test_a_change_of_the_schema_is_seen_at_once(run):
    assert describe()["tables"] == []
    run("CREATE TABLE t (a INT)")
    assert shown(describe()) == ["main.t table: a INTEGER?"]
    run("ALTER TABLE t ADD COLUMN b TEXT")
    assert shown(describe()) == ["main.t table: a INTEGER?, b VARCHAR?"]


def test_duckdb_answers_while_a_cell_runs_in_it(run):
    run("CREATE TABLE t (a INT); CREATE TEMP TABLE own (b INT)")
    engine = connections.open_connections.engine("duckdb", False)
    with running(engine, "SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b"):
        assert shown(describe()) == ["main.t table: a INTEGER?"]
    assert shown(describe()) == ["main.t table: a INTEGER?", "main.own table: b INTEGER?"]


def test_a_transaction_that_failed_hides_nothing(run):
    run("CREATE TABLE t (a INT PRIMARY KEY)")
    run("BEGIN TRANSACTION")
    with pytest.raises(SqlError):
        run("SELECT 1 // 0, error('stop')")
    assert shown(describe()) == ["main.t table: a INTEGER"]


def test_a_file_of_duckdb_is_not_kept_open(run):
    run("-- @data.duckdb write\nCREATE TABLE t (a INT)")
    assert shown(describe("data.duckdb")) == ["main.t table: a INTEGER?"]
    connections.open_connections.close("data.duckdb")
    assert shown(describe("data.duckdb")) == ["main.t table: a INTEGER?"]
    assert connections.open_connections.opened == {}
    run("-- @data.duckdb write\nCREATE TABLE u (a INT)")


def test_more_tables_than_an_answer_holds_are_counted(run):
    count = catalog.MAX_TABLES + 3
    run("; ".join(f"CREATE TABLE t{number:04} (a INT)" for number in range(count)))
    described = describe()
    assert (len(described["tables"]), described["tables_left_out"]) == (catalog.MAX_TABLES, 3)
    assert shown(describe(matching=f"t{count - 1:04}")) == [f"main.t{count - 1:04} table: a INTEGER?"]


def test_without_duckdb_the_answer_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(connections.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDriver, match="%pip install duckdb"):
        describe()


# --- SQLite ---


@pytest.fixture
def shop(run, tmp_path, monkeypatch):
    """Connection `shop`: an SQLite file with tables, two views of which one is broken, and a full-text index."""
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            f"""CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, city TEXT NOT NULL, price,
                  twice GENERATED ALWAYS AS (price * 2));
                INSERT INTO orders (city) VALUES ('{SECRET_ROW}');
                CREATE VIEW cities AS SELECT city FROM orders;
                CREATE VIEW broken AS SELECT * FROM gone;
                CREATE TABLE "odd "" name" ("a b" TEXT);
                CREATE VIRTUAL TABLE notes USING fts5(body)"""
        )
    connection.close()
    told = {"connections": [{"name": "shop", "kind": "sqlite", "writes": True, "path": str(path)}]}
    monkeypatch.setenv("NOTARIUM_CONNECTIONS", json.dumps(told))
    return path


def test_sqlite_tells_tables_views_and_types(run, shop):
    described = describe("shop")
    assert shown(described) == [
        "main.broken view: ",
        "main.cities view: city TEXT?",
        "main.notes table: body ?",
        'main.odd " name table: a b TEXT?',
        "main.orders table: id INTEGER, city TEXT, price ?, twice ?",
    ]
    assert described["kind"] == "sqlite" and SECRET_ROW not in json.dumps(described)
    assert [table["name"] for table in describe("shop", "ORD")["tables"]] == ["orders"]
    assert connections.open_connections.opened == {}, "what is asked keeps no file open"


def test_sqlite_answers_while_a_cell_runs_in_it(run, shop):
    run("-- @shop write\nCREATE TEMP TABLE own (b INT); ATTACH ':memory:' AS beside; CREATE TABLE beside.t (c INT)")
    engine = connections.open_connections.engine("shop", True)
    assert "temp.own table: b INT?" in shown(describe("shop")) and "beside.t! table: c INT?" in shown(describe("shop"))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with running(engine, endless):
        names = [table["name"] for table in describe("shop")["tables"]]
        assert "orders" in names and "own" not in names


def test_limits_of_columns_and_bytes(run, shop, monkeypatch):
    monkeypatch.setattr(catalog, "MAX_COLUMNS", 3)
    described = describe("shop")
    assert sum(len(table["columns"]) for table in described["tables"]) == 3
    assert described["tables"][-1] == {
        "schema": "main",
        "name": "orders",
        "kind": "table",
        "is_visible": True,
        "columns": [],
        "columns_left_out": 4,
    }
    monkeypatch.setattr(catalog, "MAX_COLUMNS", 100)
    monkeypatch.setattr(catalog, "MAX_BYTES", 60)
    described = describe("shop")
    assert 0 < len(described["tables"]) < 5 and described["tables_left_out"] == 5 - len(described["tables"])


def test_names_and_types_beyond_measure():
    found = catalog.Catalog("duckdb", 2)
    found.add_table(1, None, "main", "x" * (catalog.MAX_NAME_BYTES + 1), "table", True, 1)
    found.add_table(2, None, "main", "t", "table", True, 2)
    found.add_columns([(1, "a", "INT", True), (2, "é" * catalog.MAX_NAME_BYTES, "INT", True), (2, "a", "S" * 999, 0)])
    told = found.told()
    (table,) = told["tables"]
    assert (told["tables_left_out"], table["columns_left_out"]) == (1, 1)
    (column,) = table["columns"]
    assert len(column["type"]) == catalog.MAX_TYPE_CHARACTERS and column["type"].endswith("S…")
    assert column["nullable"] is False


def test_a_database_that_takes_too_long_is_given_up(run, monkeypatch):
    run("CREATE TABLE t (a INT)")
    endless = "SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b"
    monkeypatch.setattr(catalog, "of_duckdb", lambda connection, matching: connection.execute(endless).fetchall())
    with pytest.raises(Cancelled, match="within 0.05 s"):
        describe(seconds=0.05)


# --- PostgreSQL ---


@pytest.fixture
def schemas(agent, run, postgresql):
    """Drops the test's schema and table before and after each test."""

    def drop():
        run("-- @desk write\nDROP SCHEMA IF EXISTS sales CASCADE; DROP TABLE IF EXISTS sold CASCADE")

    with owner(postgresql) as connection:
        connection.execute("GRANT CREATE ON DATABASE postgres TO ann")
    drop()
    yield
    drop()


def test_postgresql_tells_tables_views_and_types(agent, run, schemas, postgresql):
    run('-- @desk write\nCREATE TABLE sold (a int PRIMARY KEY, "odd name" numeric(9, 2), gone int)')
    run(f"-- @desk write\nINSERT INTO sold VALUES (1, 2, 3); COMMENT ON TABLE sold IS '{SECRET_ROW}'")
    run("-- @desk write\nALTER TABLE sold DROP COLUMN gone")
    run("-- @desk write\nCREATE SCHEMA sales; CREATE VIEW sales.recent AS SELECT a FROM sold")
    run("-- @desk write\nCREATE MATERIALIZED VIEW sales.kept AS SELECT now() AS at")
    run("-- @desk write\nCREATE TABLE sales.parted (d date NOT NULL) PARTITION BY RANGE (d)")
    run("-- @desk write\nCREATE TABLE sales.part PARTITION OF sales.parted DEFAULT")
    with owner(postgresql) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS hidden (secret_column text)")
        connection.execute("REVOKE ALL ON hidden FROM PUBLIC")
        connection.execute("CREATE TABLE IF NOT EXISTS half (open text, closed text)")
        connection.execute("GRANT SELECT (open) ON half TO ann")
    described = describe("warehouse", "s")
    found = shown(described)
    for expected in [
        "public.sold table: a integer, odd name numeric(9,2)?",
        "sales.kept! materialized_view: at timestamp with time zone?",
        "sales.parted! table: d date",
        "sales.recent! view: a integer?",
    ]:
        assert expected in found, found
    assert described["kind"] == "postgresql" and "catalog" not in described["tables"][0]
    everything = json.dumps(describe("warehouse"))
    for absent in ["secret_column", "closed", "pg_class", "information_schema", "pg_toast", '"part"', SECRET_ROW]:
        assert absent not in everything
    assert shown(describe("warehouse", "HALF")) == ["public.half table: open text?"]


def test_what_is_asked_for_is_never_sql(agent, run, schemas):
    run("-- @desk write\nCREATE TABLE sold (a int)")
    for matching in ["'", "' OR true --", "%", "$1", "\\", "_o_d"]:
        assert describe("warehouse", matching)["tables"] == [], matching
    assert describe("warehouse", "SOLD")["tables"]


def test_postgresql_counts_what_it_leaves_out(agent, run, schemas):
    many = catalog.MAX_TABLES + 2
    run(f"""-- @desk write
        DO $$ BEGIN CREATE SCHEMA sales; FOR n IN 1..{many} LOOP
          EXECUTE format('CREATE TABLE sales.t%s (a int, b int, c int, d int, e int, f int, g int, h int, i int, j int, k int)', n);
        END LOOP; END $$""")
    described = describe("warehouse", "sales.")
    assert (len(described["tables"]), described["tables_left_out"]) == (catalog.MAX_TABLES, 2)
    columns = sum(len(table["columns"]) for table in described["tables"])
    left_out = sum(table.get("columns_left_out", 0) for table in described["tables"])
    assert (columns, left_out) == (catalog.MAX_COLUMNS, catalog.MAX_TABLES)


def test_postgresql_answers_while_a_cell_runs_there(agent, run, schemas):
    run("-- @desk write\nCREATE TABLE sold (a int)")
    engine = connections.open_connections.engine("warehouse", False)
    thread = threading.Thread(target=lambda: pytest.raises(Cancelled, sleep, engine))
    thread.start()
    try:
        assert shown(describe("warehouse", "sold")) == ["public.sold table: a integer?"]
        assert thread.is_alive()
    finally:
        engine.cancel()
        thread.join(60)


def sleep(engine):
    engine.execute(BoundStatement(1, "SELECT pg_sleep(60)"), Result(), lambda batch: True)


def test_a_database_that_is_locked_keeps_nobody_longer_than_asked(agent, run, schemas, postgresql):
    """The catalog itself is locked."""
    engine = connections.open_connections.engine("warehouse", False)
    engine.describe("", 30)
    with owner(postgresql) as connection:
        connection.execute("BEGIN; LOCK pg_catalog.pg_class IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Cancelled, match="cancelled on the server"):
            engine.describe("", 0.2)
        connection.execute("ROLLBACK")
    assert describe("warehouse")["kind"] == "postgresql"


@pytest.mark.parametrize("name", ["wrong", "down"])
def test_a_connection_that_is_wrong_or_down_says_so_and_not_where_it_leads(agent, run, name):
    with pytest.raises(ConnectionFailed, match=f"the connection {name} cannot be opened") as caught:
        describe(name)
    for secret in (PASSWORD, "guessed-word", "hidden-word", r"\bann\b", "PGSQL"):
        assert not re.search(secret, str(caught.value))


def test_tables_from_python(agent, run, schemas):
    run('-- @desk write\nCREATE TABLE sold (a int, "odd name" numeric(9, 2))')
    found = next(each for each in sql.tables("warehouse") if each["table"] == "sold")
    assert found["columns"] == [{"name": "a", "type": "integer"}, {"name": "odd name", "type": "numeric(9,2)"}]


# --- the runtime agent's questions ---


@pytest.fixture
def ask(run):
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=questions.serve, args=(theirs,), daemon=True)
    thread.start()

    def ask(connection: str, matching: str = "") -> dict:
        wire.send(ours, {"describe": 7, "connection": connection, "matching": matching, "seconds": 5})
        head, _ = wire.receive(ours)
        assert head.pop("of") == 7
        return head

    yield ask
    ours.close()
    thread.join(10)
    assert not thread.is_alive()


def test_the_agent_is_answered_with_tables_or_the_kind_of_the_error(ask, run, shop, tmp_path):
    assert ask("duckdb") == {"described": {"kind": "duckdb", "tables": []}}
    assert [table["name"] for table in ask("shop", "cit")["described"]["tables"]] == ["cities"]
    (tmp_path / "work" / "text.db").write_text("no database at all")
    for name, kind, words in [
        ("nowhere", "unknown", "there is no connection 'nowhere'; there are: shop, duckdb"),
        ("gone.sqlite", "unknown", "there is no file"),
        ("text.db", "connection", "is no SQLite database"),
    ]:
        error = ask(name)["error"]
        assert error["kind"] == kind and words in error["message"], error


def test_errors_have_their_kinds():
    for error, kind in [
        (UnknownConnection("x"), "unknown"),
        (ConnectionFailed("x"), "connection"),
        (MissingDriver("x"), "driver"),
        (Cancelled("x"), "cancelled"),
        (SqlError("x"), "statement"),
    ]:
        assert questions._kind(error) == kind
