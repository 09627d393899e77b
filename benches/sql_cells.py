"""Times SQL cells against their driver alone: `python benches/sql_cells.py`, with DuckDB, pyarrow, pandas, psycopg and PostgreSQL.

It starts a PostgreSQL of its own as the tests do, and runs cells without a kernel around them: what is measured is ours.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "clients/python/tests/sql"
sys.path.insert(0, str(TESTS))
import conftest  # noqa: E402
import psycopg  # noqa: E402
from notarium_kernel.sql import cell, connections  # noqa: E402

ROUNDS = 40


def median_ms(act) -> float:
    act()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def main() -> None:
    server = conftest.postgresql.__wrapped__()
    folder = next(server)
    url = conftest.url(folder)
    agent = conftest.Agent(Path(tempfile.mkdtemp(prefix="nk-")), {"w": {"url": url, "writes": False}})
    import os

    os.environ["NOTARIUM_CONNECTIONS"] = agent.told()
    bare, duck = psycopg.connect(url, autocommit=True), connections.open_connections.engine("duckdb", False).connection

    def ours(head: str):
        return median_ms(lambda: cell.run(f"-- @{head}\nSELECT 1 AS a", {}, lambda *_: None))

    print(
        f"postgresql: bare {median_ms(lambda: bare.execute('SELECT 1 AS a').fetchall()):.1f} ms, cell {ours('w > t'):.1f} ms"
    )
    print(
        f"duckdb:     bare {median_ms(lambda: duck.sql('SELECT 1 AS a').df()):.1f} ms, cell {ours('duckdb > t'):.1f} ms"
    )

    query = "SELECT i, i::text AS s, i * 1.5 AS x FROM generate_series(1, 1000000) AS i"
    for head, sql in [("w > t", query), ("duckdb > t", query.replace("AS i", "AS g(i)"))]:
        first, whole = 0.0, 0.0
        for _ in range(2):
            shown = []
            started = time.perf_counter()
            cell.run(f"-- @{head}\n{sql}", {}, lambda *_, shown=shown: shown.append(time.perf_counter()))
            first, whole = (shown[0] - started) * 1000, time.perf_counter() - started
        print(
            f"{head.split()[0]}: of 1,000,000 rows the first page after {first:.0f} ms, all of them in the variable after {whole:.1f} s"
        )
    started = time.perf_counter()
    stream = bare.cursor().stream(query)
    for _ in range(1000):
        next(stream)
    print(f"w: psycopg alone has its first 1,000 rows after {(time.perf_counter() - started) * 1000:.0f} ms")
    stream.close()
    agent.close()
    next(server, None)


if __name__ == "__main__":
    main()
