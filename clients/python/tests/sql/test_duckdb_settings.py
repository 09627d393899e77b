"""Settings of the kernel's DuckDB: extensions come only by a cell's own word, and temporary files have a folder of their own."""

import duckdb
import pytest
from notarium_kernel.sql.errors import SqlError

SETTINGS = """-- {first}
SELECT current_setting('autoinstall_known_extensions') AS installs, current_setting('autoload_known_extensions') AS loads,
       current_setting('temp_directory') AS folder"""


@pytest.mark.parametrize("first", ["@duckdb", "@lake.duckdb write", "@lake.duckdb"])
def test_extensions_do_not_come_by_themselves(run, tmp_path, monkeypatch, first):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "it's"))
    run("-- @lake.duckdb write\nCREATE TABLE IF NOT EXISTS t (a int)")
    (row,) = run(SETTINGS.format(first=first)).resource["data"]
    assert row == {"installs": False, "loads": False, "folder": str(tmp_path / "it's" / "duckdb")}
    with pytest.raises(SqlError, match="sqlite_scanner"):
        run(f"-- {first}\nSELECT * FROM sqlite_scan('x.db', 't')")


def test_other_databases_keep_their_settings(run, tmp_path, monkeypatch):
    """The settings are of a process and its database, and nothing of them is in the file."""
    monkeypatch.delenv("TMPDIR", raising=False)
    before = duckdb.connect().execute("SELECT name, value FROM duckdb_settings() ORDER BY name").fetchall()
    run("-- @lake.duckdb write\nCREATE TABLE t (a int)")
    run("SELECT 1")
    assert duckdb.connect().execute("SELECT name, value FROM duckdb_settings() ORDER BY name").fetchall() == before
    from notarium_kernel.sql import connections

    connections.open_connections.close("lake.duckdb")
    with duckdb.connect("lake.duckdb") as connection:
        value = connection.execute("SELECT current_setting('autoload_known_extensions')").fetchone()
        assert value == (True,)
