"""SQL cells of a notebook through the program itself: `notarium run`, a real kernel in its sandbox, a real PostgreSQL.

NOTARIUM_BINARY names the program; absent: the debug build of this repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PASSWORD, owner, url

ROOT = Path(__file__).resolve().parents[4]
BINARY = Path(os.environ.get("NOTARIUM_BINARY", ROOT / "target/debug/notarium"))

SEARCH = f"""
import glob, os, sys
word = {PASSWORD[:3]!r} + {PASSWORD[3:]!r}
quoted = word.replace("/", "%2F")
found = []
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + glob.glob("/proc/*/mem"):
    try:
        if path.endswith("mem"):
            # The kernel's own memory holds the text of this cell.
            continue
        text = open(path, "rb").read().decode("utf-8", "replace")
        if word in text or quoted in text:
            found.append(path)
    except OSError:
        pass
for name, value in os.environ.items():
    if word in value or quoted in value:
        found.append(name)
try:
    open(os.path.join(sys.prefix, "planted.pth"), "w").write("")
    found.append("the drivers' folder is written")
    os.remove(os.path.join(sys.prefix, "planted.pth"))
except OSError:
    pass
print("found", found)
"""


def code(source):
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        "id": f"c{abs(hash(source))}",
    }


def sql(source):
    return {**code(source), "metadata": {"notarium": {"cell_type": "sql"}}}


class Ran:
    def __init__(self, process, out):
        self.code, self.said = process.returncode, process.stdout + process.stderr
        self.cells = json.loads(out.read_text())["cells"] if out.exists() else []

    def text(self, at):
        outputs = self.cells[at]["outputs"]
        texts = [
            each.get("data", {}).get("text/plain") or each.get("text") or each.get("evalue") or "" for each in outputs
        ]
        return "".join("".join(text) for text in texts)


@pytest.fixture
def notebook(tmp_path):
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not built: cargo build")
    # Test folders are in /tmp, where the kernel's sandbox hides nothing.
    work = tmp_path / "work"
    work.mkdir()

    def run(*cells, arguments=(), environment=None):
        file, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
        kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        file.write_text(
            json.dumps(
                {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernelspec}, "cells": list(cells)}
            )
        )
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        kept = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(tmp_path)}
        command = [BINARY, "run", file, "-o", out, "--kernel-path", sys.prefix, "--working-dir", work, *arguments]
        process = subprocess.run(
            command, env={**kept, **(environment or {})}, capture_output=True, text=True, timeout=300
        )
        return Ran(process, out)

    run.work = work
    return run


def test_python_and_sql_of_two_databases_work_together(notebook, postgresql):
    with owner(postgresql) as connection:
        connection.execute("DROP TABLE IF EXISTS orders")
        connection.execute(
            "CREATE TABLE orders AS SELECT i, 1.5::numeric(9, 2) AS net, CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END AS region FROM generate_series(1, 3000) AS i"
        )
        connection.execute("GRANT SELECT ON orders TO ann")
    ran = notebook(
        code("least = 1001\nregions = ['north', 'west']"),
        sql(
            "-- @warehouse > orders\nSELECT i, net, region FROM orders WHERE i >= {least} AND region IN {regions} ORDER BY i"
        ),
        code("print(orders.shape, orders['i'].dtype, type(orders['net'][0]).__name__)"),
        sql("-- > total\nSELECT region, sum(net) AS net FROM {orders} GROUP BY region"),
        code("print(total['net'].tolist())"),
        sql("SELECT '{' || 'braces' || '}' AS b"),
        code(SEARCH),
        environment={"NOTARIUM_CONNECTION_WAREHOUSE": url(postgresql)},
    )
    assert ran.code == 0, ran.said
    assert "1,000 rows, " in ran.text(1) and ran.text(1).rstrip().endswith("warehouse"), ran.text(1)
    assert ran.text(2).strip() == "(1000, 3) int32 Decimal"
    assert ran.text(4).strip() == "[Decimal('1500.00')]"
    assert ran.cells[1]["metadata"]["notarium"]["cell_type"] == "sql" and ran.cells[1]["source"][0].startswith(
        "-- @warehouse"
    )
    found = ran.text(6).strip()
    expected = "found []" if "without a sandbox" not in ran.said else "found"
    assert found.startswith(expected), found
    assert PASSWORD not in ran.said


def test_an_sql_error_is_the_cells_and_says_its_line(notebook, postgresql):
    ran = notebook(
        sql("-- @warehouse\nSELECT 1,\n nowhere"),
        environment={"NOTARIUM_CONNECTION_WAREHOUSE": url(postgresql)},
    )
    assert ran.code == 1
    (error,) = [each for each in ran.cells[0]["outputs"] if each["output_type"] == "error"]
    assert (error["ename"], error["evalue"]) == ("SqlError", 'line 3: column "nowhere" does not exist')
    assert error["traceback"] == ['SqlError: line 3: column "nowhere" does not exist']


def test_a_run_that_takes_too_long_is_cancelled_on_the_server(notebook, postgresql):
    ran = notebook(
        sql("-- @warehouse\nSELECT pg_sleep(60)"),
        arguments=["--timeout", "2"],
        environment={"NOTARIUM_CONNECTION_WAREHOUSE": url(postgresql)},
    )
    assert ran.code == 1 and "interrupted after 2 s" in ran.said, ran.said
    with owner(postgresql) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'ann' AND state = 'active'"
        assert connection.execute(query).fetchone() == (0,)


def test_files_are_named_by_the_operator_and_by_their_path(notebook):
    shop = notebook.work / "shop.db"
    ran = notebook(
        sql("-- @shop write\nCREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)"),
        sql("-- @shop.db > t\nSELECT sum(a) AS s FROM t"),
        code("print(int(t['s'][0]))"),
        sql("-- @shop\nINSERT INTO t VALUES (3)"),
        arguments=["--connection", f"shop=sqlite:{shop}", "--connection-writes", "shop", "--allow-errors"],
    )
    assert ran.text(2).strip() == "3", (ran.said, ran.cells)
    assert "not authorized" in ran.text(3) and "`-- @connection write`" in ran.text(3)


def test_a_password_leaves_the_command_line_and_wrong_options_say_no_url(notebook, postgresql):
    ran = notebook(
        sql("-- @w > t\nSELECT 7 AS a"), code("print(t['a'][0])"), arguments=["--connection", f"w={url(postgresql)}"]
    )
    assert (ran.code, ran.text(1).strip()) == (0, "7"), ran.said
    for arguments, words in [
        (["--connection", "w=mysql://ann:hidden@h/d"], "postgresql://…"),
        (["--connection", "postgresql://hidden"], "NAME=URL"),
        (["--connection-writes", "w"], "no such connection"),
        (["--connection", "w=@/nowhere/hidden.txt"], "No such file"),
    ]:
        ran = notebook(code("1"), arguments=arguments)
        assert ran.code == 2 and words in ran.said and ("hidden@" not in ran.said), ran.said
