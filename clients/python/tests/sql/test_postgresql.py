"""A real PostgreSQL behind the broker: types, read-only connections, cancelling and errors. The URL is never disclosed."""

import datetime
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from decimal import Decimal

import pytest
from notarium import sql
from notarium_kernel.sql import connections
from notarium_kernel.sql.errors import Cancelled, ConnectionFailed, SqlError

from .conftest import BROKER, PASSWORD, SQL, owner


def test_types_survive(agent, run):
    shown = run(
        """-- @warehouse > t
        SELECT * FROM (VALUES (1::int, 2::bigint, true, 1.25::numeric(9, 2), DATE '2026-01-02', TIMESTAMP '2026-01-02 03:04:05',
          TIMESTAMPTZ '2026-01-02 03:04:05+00', 'é', '\\x00'::bytea, ARRAY[1, 2], '{"a": 1}'::jsonb,
          '00000000-0000-0000-0000-000000000007'::uuid, 1e30::numeric, INTERVAL '1 month'),
          (NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0.5, NULL))
          AS t(i, b, ok, n, d, ts, tz, s, x, l, j, u, wide, every)"""
    )
    frame = run.names["t"]
    assert [str(frame[name].dtype) for name in ("i", "b", "ok")] == ["Int32", "int64", "boolean"]
    assert frame["n"].tolist() == [Decimal("1.25"), None] and frame["wide"].tolist() == [
        Decimal("1E30"),
        Decimal("0.5"),
    ]
    assert (
        frame["d"][0] == datetime.date(2026, 1, 2) and frame["ts"].dtype.kind == "M" and frame["tz"].dt.tz is not None
    )
    assert (frame["s"][0], frame["x"][0], list(frame["l"][0]), frame["j"][0]) == ("é", b"\0", [1, 2], '{"a": 1}')
    assert frame["u"][0] == "00000000-0000-0000-0000-000000000007" and frame["every"][0] == "1 mon"
    fields = {each["name"]: each["database_type"] for each in shown.resource["schema"]["fields"]}
    assert (fields["n"], fields["i"], fields["j"], fields["tz"]) == ("numeric", "int4", "jsonb", "timestamptz")
    shown = run("-- @warehouse\nSELECT 1.5::numeric(9, 2) AS n, 'a'::varchar(7) AS s")
    assert [each["database_type"] for each in shown.resource["schema"]["fields"]] == ["numeric(9,2)", "varchar(7)"]


def test_parameters_of_every_type(agent, run):
    values = {
        "i": 7,
        "big": 2**80,
        "f": 0.5,
        "n": Decimal("1.10"),
        "s": "a'b",
        "d": datetime.date(2026, 1, 2),
        "ts": datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone.utc),
        "x": b"\0\xff",
        "none": None,
        "ok": True,
        "span": datetime.timedelta(hours=1),
    }
    run(
        """-- @warehouse > t
        SELECT {i} + 0 AS i, {big} + 0 AS big, {f} AS f, {n} + 0 AS n, {s}::text AS s, {d} + 1 AS d, {ts} AS ts, {x} AS x,
               {none}::int AS none, NOT {ok} AS ok, {ts} + {span} AS later, {ls} AS ls, 2 IN {ls} AS inside""",
        ls=[1, 2],
        **values,
    )
    row = run.names["t"].iloc[0]
    assert (row["i"], row["big"], row["f"], row["n"], row["s"]) == (7, 2**80, 0.5, Decimal("1.10"), "a'b")
    assert row["d"] == datetime.date(2026, 1, 3) and row["ts"] == values["ts"] and row["x"] == b"\0\xff"
    assert row["later"] - row["ts"] == values["span"] and list(row["ls"]) == [1, 2] and row["inside"] and not row["ok"]


ATTEMPTS = [
    "CREATE TABLE own (a int)",
    "COMMIT; CREATE TABLE own (a int)",
    "ROLLBACK; BEGIN; CREATE TABLE own (a int); COMMIT",
    "BEGIN READ WRITE; CREATE TABLE own (a int); COMMIT",
    "SET TRANSACTION READ WRITE; CREATE TABLE own (a int)",
    "SET default_transaction_read_only = off; CREATE TABLE own (a int)",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; CREATE TABLE own (a int)",
    "SELECT set_config('transaction_read_only', 'off', true); CREATE TABLE own (a int)",
    "WITH x AS (SELECT set_config('transaction_read_only', 'off', true)) INSERT INTO kept SELECT 2 FROM x",
    "DO $$ BEGIN COMMIT; CREATE TABLE own (a int); END $$",
    "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); CREATE TABLE own (a int); END $$",
    "WITH x AS (INSERT INTO kept VALUES (2) RETURNING 1) SELECT * FROM x",
    "SELECT nextval('numbers')",
    "SELECT a FROM kept FOR UPDATE",
    "EXPLAIN ANALYZE INSERT INTO kept VALUES (2)",
    "COPY kept FROM STDIN",
    "PREPARE p AS INSERT INTO kept VALUES (2); EXECUTE p",
]


@pytest.mark.parametrize("connection", ["warehouse", "desk"])
def test_a_cell_that_does_not_say_write_cannot(agent, run, connection):
    run("-- @desk write\nDROP TABLE IF EXISTS own; CREATE TABLE IF NOT EXISTS kept (a int); TRUNCATE kept")
    run("-- @desk write\nCREATE SEQUENCE IF NOT EXISTS numbers")
    for attempt in ATTEMPTS:
        with pytest.raises(SqlError):
            run(f"-- @{connection}\n{attempt}")
        shown = run("-- @warehouse\nSELECT count(*) AS n, to_regclass('own') AS own FROM kept")
        assert shown.resource["data"] == [{"n": 0, "own": None}], attempt


def test_several_statements_in_one_text_never_pass_the_broker(agent, run):
    """The broker's protocol accepts only one statement at a time, whatever the kernel sends."""
    from notarium_kernel.sql.binding import BoundStatement
    from notarium_kernel.sql.results import Result

    engine = connections.open_connections.engine("warehouse", False)
    for text in ("SELECT 1; COMMIT; CREATE TABLE own (a int)", "COMMIT; BEGIN; CREATE TABLE own (a int)"):
        with pytest.raises(SqlError, match="multiple commands"):
            engine.execute(BoundStatement(1, text), Result(), lambda batch: True)
    engine.writes = True
    with pytest.raises(SqlError, match="for reading alone"):
        engine.execute(BoundStatement(1, "CREATE TABLE own (a int)"), Result(), lambda batch: True)


def test_a_cell_that_writes_says_so_and_may(agent, run):
    run("-- @desk write\nDROP TABLE IF EXISTS sold; CREATE TABLE sold (a int)")
    shown = run("-- @desk write\nINSERT INTO sold VALUES (1), (2)")
    assert shown.text.startswith("Done: 2 rows changed") and shown.text.endswith("desk")
    shown = run("-- @desk write\nINSERT INTO sold VALUES (3) RETURNING a")
    assert shown.resource["data"] == [{"a": 3}]
    assert run("-- @warehouse\nSELECT sum(a) AS s FROM sold").resource["data"] == [{"s": 6}]
    with pytest.raises(SqlError, match="statement 2 of 3: .*does not exist; the one before it is done"):
        run("-- @desk write\nINSERT INTO sold VALUES (4); INSERT INTO nowhere VALUES (1); INSERT INTO sold VALUES (5)")
    assert run("-- @warehouse\nSELECT max(a) AS m FROM sold").resource["data"] == [{"m": 4}]
    with pytest.raises(SqlError, match="warehouse is for reading alone.*--connection-writes"):
        run("-- @warehouse write\nINSERT INTO sold VALUES (9)")


def test_errors_name_the_line_and_the_code(agent, run):
    with pytest.raises(SqlError, match='line 4: column "nowhere" does not exist') as caught:
        run("-- @warehouse\nSELECT 1,\n  2,\n  nowhere")
    assert caught.value.code == "42703"
    assert run("-- @warehouse\nSELECT 1 AS a").resource["data"] == [{"a": 1}]


def activity(postgresql) -> list[str]:
    with owner(postgresql) as connection:
        query = "SELECT query FROM pg_stat_activity WHERE usename = 'ann' AND state = 'active'"
        return [row[0] for row in connection.execute(query).fetchall()]


def wait_until(holds, seconds=50):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def interrupted_when_active(postgresql):
    def interrupt():
        wait_until(lambda: activity(postgresql))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()


def test_an_interrupt_cancels_on_the_server(agent, run, postgresql):
    interrupted_when_active(postgresql)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run("-- @warehouse\nSELECT pg_sleep(60)")
    assert time.monotonic() - started < 55
    wait_until(lambda: not activity(postgresql))
    assert run("-- @warehouse\nSELECT 1 AS a").resource["data"] == [{"a": 1}], "the connection goes on"


# A broker ends its process when its kernel's socket closes: keep the sockets open.
kept_open = []


class HardOfHearing:
    """Database that ignores the first two cancels, as between two statements."""

    def __init__(self):
        self.name, self.writes, self.cancels, self.is_over = "hard", False, 0, threading.Event()

    def execute(self, sql, values, writes, tell, may_write):
        assert self.is_over.wait(30)
        tell({"done": True})

    def cancel(self):
        self.cancels += 1
        if self.cancels == 3:
            self.is_over.set()


def test_a_cancel_that_nobody_heard_is_said_again_and_never_to_the_next_statement():
    space = {"__name__": "notarium_broker"}
    for part in BROKER:
        exec(compile((SQL / part).read_text(), part, "exec"), space)
    kernel, channel = socket.socketpair()
    kept_open.append(kernel)
    database = HardOfHearing()
    threading.Thread(target=space["Broker"](channel, database, lambda: 0).run, daemon=True).start()
    # A cancel can also arrive before its statement.
    space["send"](kernel, {"cancel": 1})
    space["send"](kernel, {"execute": 1, "sql": "", "values": [], "writes": False})
    assert space["receive"](kernel)[0] == {"of": 1, "done": True} and database.cancels == 3
    space["send"](kernel, {"execute": 2, "sql": "", "values": [], "writes": False})
    assert space["receive"](kernel)[0] == {"of": 2, "done": True} and database.cancels == 3


def test_a_kernel_that_ends_takes_its_statements_with_it(agent, postgresql):
    code = "import sys; sys.path.insert(0, sys.argv[1])\nfrom notarium import sql\nsql.query('SELECT pg_sleep(60)', 'warehouse')"
    kernel = subprocess.Popen([sys.executable, "-c", code, str(SQL.parents[1])], stderr=subprocess.DEVNULL)
    wait_until(lambda: activity(postgresql))
    kernel.kill()
    kernel.wait()
    wait_until(lambda: not activity(postgresql))
    agent.brokers[-1].wait(10)


def test_a_statement_that_somebody_else_ends(agent, run, postgresql):
    def end(function):
        wait_until(lambda: activity(postgresql))
        with owner(postgresql) as connection:
            connection.execute(
                f"SELECT {function}(pid) FROM pg_stat_activity WHERE usename = 'ann' AND state = 'active'"
            )

    for function, error, words in [
        ("pg_cancel_backend", Cancelled, "cancelled on the server"),
        ("pg_terminate_backend", ConnectionFailed, "warehouse ended while the statement ran"),
    ]:
        threading.Thread(target=end, args=(function,)).start()
        with pytest.raises(error, match=words):
            run("-- @warehouse\nSELECT generate_series(1, 10), pg_sleep(60)")
        assert run("-- @warehouse\nSELECT 1 AS a").resource["data"] == [{"a": 1}], "the next cell connects again"


def test_a_connection_that_ends_in_the_middle_of_a_result(agent, run, postgresql):
    run("-- @warehouse\nSELECT 1")
    (broker,) = agent.brokers
    shown = []

    def display(*arguments):
        shown.append(arguments)
        if len(shown) == 1:
            broker.kill()

    from notarium_kernel.sql import cell

    with pytest.raises(ConnectionFailed, match="broker of the connection warehouse is gone: run the cell again"):
        cell.run(
            "-- @warehouse > t\nSELECT i, repeat('x', 500) FROM generate_series(1, 1000000) AS i", run.names, display
        )
    assert "t" not in run.names
    assert run("-- @warehouse\nSELECT 1 AS a").resource["data"] == [{"a": 1}]


def test_of_many_rows_the_rest_is_not_fetched(agent, run, postgresql, monkeypatch):
    from notarium_kernel.sql import cell

    monkeypatch.setattr(cell, "settings", sql.Settings(max_shown_bytes=1 << 20))
    started = time.monotonic()
    shown = run("-- @warehouse\nSELECT i, i::text AS s FROM generate_series(1, 50000000) AS i")
    assert "More rows were not read: 1 MiB" in shown.text and len(shown.resource["data"]) == 1000
    assert time.monotonic() - started < 30
    wait_until(lambda: not activity(postgresql))


@pytest.mark.parametrize("name", ["wrong", "down"])
def test_a_connection_that_is_wrong_or_down_says_so_and_not_where_it_leads(agent, run, name):
    with pytest.raises(ConnectionFailed, match=f"the connection {name} cannot be opened") as caught:
        run(f"-- @{name}\nSELECT 1")
    told = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert not re.search(r"guessed-word|hidden-word|\bann\b|PGSQL", told) and "to the server failed" in told, told


def test_nothing_in_the_kernel_holds_the_url(agent, run):
    """The URL is not in the kernel's environment, its objects or the database's messages."""
    run("-- @warehouse\nSELECT 1")
    with pytest.raises(SqlError) as caught:
        run("-- @warehouse\nSELECT {word}::int", word="x" + PASSWORD)
    assert PASSWORD not in str(caught.value) and "x***" in str(caught.value)
    engine = connections.open_connections.engine("warehouse", False)
    assert PASSWORD not in os.environ["NOTARIUM_CONNECTIONS"] + repr(vars(engine))
    broker = agent.brokers[0].pid
    with open(f"/proc/{broker}/cmdline", "rb") as line, open(f"/proc/{broker}/environ", "rb") as environment:
        assert b"s3cret" not in line.read() + environment.read()


def test_a_broker_without_the_driver_says_what_to_install(tmp_path):
    import socket

    ours, theirs = socket.socketpair()
    code = [[part, (SQL / part).read_text()] for part in BROKER]
    given = {
        "name": "w",
        "url": "postgresql://ann:hidden@/x",
        "writes": False,
        "code": [["no", "import sys; sys.modules['psycopg'] = None"], *code],
    }
    from .conftest import BOOT

    broker = subprocess.Popen([sys.executable, "-I", "-c", BOOT], stdin=subprocess.PIPE, stdout=theirs, text=True)
    theirs.close()
    broker.stdin.write(json.dumps(given) + "\n")
    # Nobody answers its questions.
    broker.stdin.close()
    from notarium_kernel.sql import wire

    wire.send(ours, {"execute": 1, "sql": "SELECT 1", "values": [], "writes": False})
    head, _ = wire.receive(ours)
    assert head["error"]["kind"] == "driver" and 'pip install "psycopg[binary]" pyarrow' in head["error"]["message"]
    ours.close()
    broker.wait(10)
