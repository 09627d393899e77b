"""Kernels in one process: each namespace is a kernel of IPython, with SQLite for SQL cells.

Reads a JSON line for each run: {"kernel": 1, "source": "x = 1"}; a run in an unknown kernel starts it. Answers with a JSON
line: {"ok": true, "shown": "…"}. {"end": 1} forgets a kernel.
"""

import contextlib
import io
import json
import os
import re
import sqlite3
import sys
import types

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

answers = os.fdopen(os.dup(1), "w")
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.showtraceback = lambda *args, **kwargs: None
shell.showsyntaxerror = lambda *args, **kwargs: None


def sql(line: str, cell: str) -> None:
    first = cell.split("\n")[0]
    variable = first.partition(">")[2].strip() if first.startswith("--") else ""
    database = databases.setdefault(id(shell.user_ns), sqlite3.connect(":memory:"))
    rows: list[tuple] = []
    for statement in (part for part in cell.split(";") if part.strip()):
        values = [shell.user_ns[name] for name in re.findall(r"\{(\w+)\}", statement)]
        rows = database.execute(re.sub(r"\{\w+\}", "?", statement), values).fetchall()
    print(rows)
    if variable:
        shell.user_ns[variable] = rows


shell.register_magic_function(sql, "cell", "notarium_sql")
kernels: dict[int, types.ModuleType] = {}
databases: dict[int, sqlite3.Connection] = {}


def enter(kernel: int) -> None:
    if kernel not in kernels:
        kernels[kernel] = types.ModuleType("__main__")
        shell.user_module = kernels[kernel]
        shell.user_ns = kernels[kernel].__dict__
        shell.init_user_ns()
    shell.user_module = kernels[kernel]
    shell.user_ns = kernels[kernel].__dict__


def run(source: str) -> dict[str, object]:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        result = shell.run_cell(source, store_history=False)
    lines = [line for line in shown.getvalue().split("\n") if not line.startswith(("CPU times", "Wall time"))]
    return {"ok": bool(result.success), "shown": "\n".join(lines)}


for line in sys.stdin:
    request = json.loads(line)
    if "end" in request:
        ended = kernels.pop(request["end"], None)
        if ended and (database := databases.pop(id(ended.__dict__), None)):
            database.close()
        continue
    enter(request["kernel"])
    answers.write(json.dumps(run(request["source"])) + "\n")
    answers.flush()
