"""Tables of a notebook's databases through the program itself: server, runtime agent, a real kernel in its sandbox, PostgreSQL.

NOTARIUM_BINARY names the program; absent: the debug build of this repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import notarium
import pytest

from .conftest import PASSWORD, owner, url
from .test_end_to_end import BINARY


@pytest.fixture(scope="module")
def up(postgresql, tmp_path_factory):
    """Starts a server and an agent with the connections `warehouse`, `shop` (a file) and `down`; yields address and token."""
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not built: cargo build")
    folder = tmp_path_factory.mktemp("up")
    work = folder / "work"
    work.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "NOTARIUM_CONNECTION_WAREHOUSE": url(postgresql),
        "NOTARIUM_CONNECTION_DOWN": f"postgresql://ann:hidden-word@/postgres?host={folder}",
    }
    command = [BINARY, "up", "--data", folder / "data", "--listen", "127.0.0.1:0", "--kernel-path", sys.prefix]
    command += ["--working-dir", work, "--connection", f"shop=sqlite:{work / 'shop.db'}", "--connection-writes", "shop"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("Kernels:"):
            break
    else:
        pytest.fail(f"the server ended: {said}")
    told = json.loads((folder / "data" / "up.json").read_text())
    address = next(line.split()[-1] for line in said.splitlines() if line.startswith("Notarium is up:"))
    try:
        yield address, told["session"]
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def nb(up):
    with notarium.connect(*up) as nt, nt.create("Databases") as notebook:
        yield notebook
        for kernel in notebook.kernels:
            kernel.shut_down()


def shown(schema):
    return [str(table) for table in schema.tables]


def run(nb, source, cell_type="sql"):
    return nb.append(source, cell_type).run().wait(timeout=120).raise_for_status()


def test_tables_of_every_database_are_told_without_a_row(nb, up, postgresql):
    with owner(postgresql) as connection:
        connection.execute("DROP TABLE IF EXISTS sold; CREATE TABLE sold (id bigint NOT NULL, city text)")
        connection.execute("INSERT INTO sold VALUES (1, 'a-row-that-nobody-asked-for'); GRANT SELECT ON sold TO ann")
    named = {each.name: (each.kind, each.writes) for each in nb.connections()}
    assert named == {"down": ("postgresql", False), "shop": ("sqlite", True), "warehouse": ("postgresql", False)}
    with pytest.raises(notarium.Conflict, match="no kernel runs") as caught:
        nb.schema("warehouse")
    assert caught.value.code == "no_kernel"

    run(nb, "CREATE TABLE frame (a INT)")
    run(nb, "-- @shop write\nCREATE TABLE orders (n INTEGER PRIMARY KEY, price)")
    version = nb.version
    warehouse = nb.schema("warehouse", matching="sold")
    assert shown(warehouse) == ["sold(id bigint, city text)"]
    assert [column.nullable for column in warehouse["public.sold"].columns] == [False, True]
    assert shown(nb.schema()) == ["frame(a INTEGER)"]
    assert shown(nb.schema("shop")) == shown(nb.schema("shop.db")) == ["orders(n INTEGER, price)"]
    assert nb.version == version, "nothing of it is recorded"

    command = [BINARY, "connections", nb.id, "warehouse", "--matching", "sold"]
    environment = {"PATH": os.environ["PATH"], "NOTARIUM_SERVER": up[0], "NOTARIUM_TOKEN": up[1]}
    printed = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert printed == "sold table\n  id    bigint not null\n  city  text\n"
    listed = subprocess.run([BINARY, "connections", nb.id], capture_output=True, text=True, env=environment, check=True)
    assert "warehouse   postgresql  read\n" in listed.stdout, listed.stdout


def test_a_busy_kernel_answers_and_a_change_is_seen_at_once(nb):
    run(nb, "CREATE TABLE t (a INT)")
    assert shown(nb.schema()) == ["t(a INTEGER)"]
    run(nb, "ALTER TABLE t ADD COLUMN b TEXT")
    assert shown(nb.schema()) == ["t(a INTEGER, b VARCHAR)"]
    busy = nb.append("print('begun', flush=True)\nimport time\nwhile True: time.sleep(1)").run()
    next(iter(busy.stream()))
    assert shown(nb.schema(matching="T")) == ["t(a INTEGER, b VARCHAR)"]
    assert nb.schema("warehouse", matching="no such table").tables == ()
    assert not busy.is_over
    nb.kernels[0].interrupt()
    busy.wait(timeout=60)


def test_what_goes_wrong_is_said_in_words_without_a_credential(nb):
    run(nb, "1", "code")
    for connection, error, code, words in [
        ("down", notarium.Unavailable, "connection_failed", "the connection down cannot be opened"),
        ("nowhere", notarium.NotFound, "unknown_connection", "there are: down, shop, warehouse, duckdb"),
        ("gone.sqlite", notarium.NotFound, "unknown_connection", "there is no file gone.sqlite"),
        ("", notarium.Invalid, "invalid_value", "say which connection"),
    ]:
        with pytest.raises(error, match=words) as caught:
            nb.schema(connection)
        assert caught.value.code == code
        assert "hidden-word" not in str(caught.value) and PASSWORD not in str(caught.value)
    nb.kernels[0].restart()
    with pytest.raises(notarium.NotFound):
        nb.schema("warehouse", kernel="gone")
