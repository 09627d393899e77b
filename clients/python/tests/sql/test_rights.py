"""Rights of runs: without the right to write, nothing that a kernel sends to a broker changes a database or its server."""

import socket

import pytest
from notarium_kernel.sql import wire
from notarium_kernel.sql.errors import SqlError

from .conftest import owner
from .test_postgresql import ATTEMPTS, wait_until

REFUSED = "this run may not write to databases"
MAY_WRITE, MAY_NOT, MAY_AGAIN = 1, 2, 3


class HostileKernel:
    """Sends frames of its own to the broker of `desk`, whose connection may write."""

    def __init__(self, agent):
        self.channel = socket.socket(socket.AF_UNIX)
        self.channel.connect(agent.address)
        self.channel.sendall(b"desk\n")
        self.number = 0

    def send(self, sql, writes=False, values=()):
        self.number += 1
        head = {
            "execute": self.number,
            "sql": sql,
            "values": list(values),
            "writes": writes,
            "right": 1,
            "may_write": True,
        }
        wire.send(self.channel, head)
        return self.number

    def answer(self, number):
        """The end of a statement, with its rows' number as `batch`."""
        found = {}
        while True:
            head, _ = wire.receive(self.channel)
            if head.get("of") == number:
                found |= head
                if found.keys() & {"error", "done", "affected"}:
                    return found

    def run(self, sql, writes=False, values=()):
        return self.answer(self.send(sql, writes, values))


@pytest.fixture
def hostile(agent, postgresql):
    with owner(postgresql) as connection:
        connection.execute("DROP TABLE IF EXISTS own, kept CASCADE; DROP SEQUENCE IF EXISTS numbers")
        connection.execute("CREATE TABLE kept (a int); CREATE SEQUENCE numbers; GRANT ALL ON kept, numbers TO ann")
        # Rights that no account of notebooks should have: here they let each effect through that nothing else stops.
        connection.execute("ALTER ROLE ann SUPERUSER")
    kernel = HostileKernel(agent)
    yield kernel
    kernel.channel.close()
    with owner(postgresql) as connection:
        connection.execute("ALTER ROLE ann NOSUPERUSER")


def state(postgresql):
    """All that an attempt could have changed."""
    with owner(postgresql) as connection:
        return connection.execute(
            "SELECT (SELECT count(*) FROM kept), to_regclass('own')::text, (SELECT is_called FROM numbers),"
            " (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),"
            " (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_proc WHERE proname = 'own')"
        ).fetchone()


MORE_ATTEMPTS = [
    "COPY kept TO PROGRAM 'cat > {path}'",
    "COPY (SELECT 1) TO '{path}'",
    "--\rCOPY (SELECT 1) TO '{path}' -- \nSELECT 1",
    "--\rDO $$ BEGIN\nCOPY (SELECT 1) TO '{path}'; END $$",
    "/* /* */ SELECT */ COPY (SELECT 1) TO '{path}'",
    "/* -- */ COPY (SELECT 1) TO '{path}'",
    "DO $$ BEGIN COPY (SELECT 1) TO '{path}'; END $$",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_export(1, '{path}')",
    "SELECT pg_advisory_lock(7)",
    'SELECT "pg_advisory_lock"(7)',
    "SELECT pg_catalog . PG_Advisory_Lock /**/ (7)",
    'SELECT U&"pg\\005fadvisory_lock"(7)',
    'SELECT \'"\', "pg_advisory_lock"(7)',
    "SELECT query_to_xml('SELECT pg_advisory_' || 'lock(7)', true, true, '')",
    "EXPLAIN ANALYZE SELECT pg_advisory_lock(7)",
    "VALUES (pg_advisory_lock(7))",
    "WITH x AS MATERIALIZED (SELECT pg_advisory_lock(7)) SELECT * FROM x",
    "SELECT * FROM kept RIGHT JOIN LATERAL pg_advisory_lock(7) ON true",
    "SELECT pg_create_physical_replication_slot('own', true)",
    "CREATE FUNCTION pg_temp.own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TEMP TABLE own (a int)",
    "LOCK TABLE kept IN ACCESS EXCLUSIVE MODE",
    "LOAD 'plpgsql'",
    "CALL nothing()",
    "VACUUM kept",
    "CHECKPOINT",
]


@pytest.mark.parametrize("writes", [False, True])
def test_nothing_that_a_kernel_sends_writes(agent, hostile, postgresql, writes):
    agent.right = MAY_NOT
    path = postgresql / "written"
    before = state(postgresql)
    for attempt in [*ATTEMPTS, *MORE_ATTEMPTS]:
        answer = hostile.run(attempt.replace("{path}", str(path)), writes)
        assert "error" in answer, attempt
        assert state(postgresql) == before and not path.exists(), attempt
    # The connection still reads.
    assert "error" not in hostile.run("SELECT 1")


def test_what_a_read_only_transaction_lets_through_is_undone(agent, hostile, postgresql):
    """PostgreSQL makes the table of an explained CREATE TABLE AS in a read-only transaction too."""
    agent.right = MAY_NOT
    assert "error" not in hostile.run("EXPLAIN ANALYZE CREATE TABLE own AS SELECT 1")
    assert state(postgresql)[1] is None


def test_the_attempts_would_do_something(agent, hostile, postgresql):
    """With the right these pass, so that the refusals above are the broker's."""
    path = postgresql / "written"
    for attempt in (
        "COPY (SELECT 1) TO '{path}'",
        "SELECT lo_create(0)",
        "SELECT nextval('numbers')",
        "CREATE TABLE own (a int)",
    ):
        assert "error" not in hostile.run(attempt.replace("{path}", str(path)), writes=True), attempt
    assert path.exists() and state(postgresql)[1:4] == ("own", True, 1)
    path.unlink()
    assert "error" not in hostile.run("SELECT lo_unlink(oid) FROM pg_largeobject_metadata", writes=True)
    assert "error" not in hostile.run("--\rDO $$ BEGIN\nCOPY (SELECT 1) TO '" + str(path) + "'; END $$", writes=True)
    assert path.exists()
    path.unlink()


def test_other_sessions_live_on(agent, hostile, postgresql):
    agent.right = MAY_NOT
    with owner(postgresql) as other:
        (pid,) = other.execute("SELECT pg_backend_pid()").fetchone()
        for function in ("pg_terminate_backend", "pg_cancel_backend", '"pg_terminate_backend"'):
            refused = hostile.run(f"SELECT {function}({pid})")["error"]["message"]
            assert REFUSED in refused and 'effects: ["database"]' in refused, refused
            assert function.strip('"') in refused
        assert other.execute("SELECT 1").fetchone() == (1,)


def test_functions_of_people_count_as_their_volatility_says(agent, hostile, postgresql):
    with owner(postgresql) as connection:
        body = "LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(7); RETURN 1; END $$"
        connection.execute(f'CREATE OR REPLACE FUNCTION "Lock Now"() RETURNS int {body}')
        connection.execute(f"CREATE OR REPLACE FUNCTION attribute(kept) RETURNS int {body}")
        connection.execute(
            "CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2 * n'"
        )
        connection.execute("INSERT INTO kept VALUES (1)")
    agent.right = MAY_NOT
    for attempt in (
        'SELECT "Lock Now"()',
        'SELECT \'"\', "Lock Now"()',
        "SELECT (k).attribute FROM kept AS k",
        "SELECT k.attribute FROM kept k",
    ):
        assert REFUSED in hostile.run(attempt)["error"]["message"], attempt
    assert state(postgresql)[4] == 0
    assert "error" not in hostile.run("SELECT twice(a), random(), clock_timestamp(), count(*) OVER () FROM kept")


def test_settings_of_a_run_without_the_right_do_not_meet_the_next_run(agent, hostile, postgresql):
    """A `search_path` that a held run leaves behind would send a person's statement to another table."""
    agent.right = MAY_NOT
    for attempt in (
        "SET search_path = evil",
        "SELECT set_config('search_path', 'evil', false)",
        "PREPARE p AS SELECT 1",
        "LISTEN x",
    ):
        assert REFUSED in hostile.run(attempt)["error"]["message"], attempt
    agent.right = MAY_AGAIN
    assert "error" not in hostile.run("INSERT INTO kept VALUES (1)", writes=True)
    assert state(postgresql)[0] == 1


def test_a_statement_does_not_wait_for_a_run_that_may_write(agent, hostile, postgresql):
    """A held run queues a statement behind a slow one, so that it runs within a person's run."""
    agent.right = MAY_NOT
    slow = hostile.send("SELECT pg_sleep(60)")
    queued = hostile.send("INSERT INTO kept VALUES (1)", writes=True)
    # The broker asks for the right of a statement when it arrives: at the two arrivals, and before the first runs.
    wait_until(lambda: agent.answered >= 2 and sleeping(postgresql))
    agent.right = MAY_AGAIN
    wire.send(hostile.channel, {"cancel": slow})
    assert hostile.answer(slow)["error"]["kind"] == "cancelled"
    assert REFUSED in hostile.answer(queued)["error"]["message"]
    assert state(postgresql)[0] == 0
    assert "error" not in hostile.run("INSERT INTO kept VALUES (1)", writes=True)


def test_a_statement_of_a_run_that_is_over_does_not_begin(agent, hostile, postgresql):
    slow = hostile.send("SELECT pg_sleep(60)")
    queued = hostile.send("INSERT INTO kept VALUES (1)", writes=True)
    wait_until(lambda: agent.answered >= 3 and sleeping(postgresql))
    agent.right = MAY_NOT
    wire.send(hostile.channel, {"cancel": slow})
    hostile.answer(slow)
    assert REFUSED in hostile.answer(queued)["error"]["message"]
    assert state(postgresql)[0] == 0


def sleeping(postgresql):
    with owner(postgresql) as connection:
        return connection.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").fetchone()


def test_a_cell_in_a_run_without_the_right(agent, run, postgresql):
    run("-- @desk write\nDROP TABLE IF EXISTS sold; CREATE TABLE sold (a int)")
    agent.right = MAY_NOT
    with pytest.raises(SqlError, match=REFUSED):
        run("-- @desk write\nINSERT INTO sold VALUES (1)")
    # A read in a cell that says write.
    assert run("-- @desk\nSELECT count(*) AS n FROM sold").resource["data"] == [{"n": 0}]
    with pytest.raises(SqlError, match=REFUSED):
        run("-- @desk\nINSERT INTO sold VALUES (1)")
    agent.right = MAY_AGAIN
    run("-- @desk write\nINSERT INTO sold VALUES (1)")
    assert run("-- @desk\nSELECT count(*) AS n FROM sold").resource["data"] == [{"n": 1}]


def test_an_agent_that_is_gone_gives_no_right(agent, hostile, postgresql):
    hostile.run("SELECT 1")
    agent.brokers[-1].stdin.close()
    assert REFUSED in hostile.run("INSERT INTO kept VALUES (1)", writes=True)["error"]["message"]
    assert "error" not in hostile.run("SELECT 1")
