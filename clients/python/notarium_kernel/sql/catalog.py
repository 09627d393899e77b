"""Which tables and columns a database has, and never a row of them. The broker is given this file too: it imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MAX_TABLES = 1_000
"""Tables of one answer at most: those that need no schema before their name come first."""

MAX_COLUMNS = 10_000
"""Columns of all of them."""

MAX_BYTES = 256 << 10
"""Bytes of all names and types."""

MAX_NAME_BYTES = 1 << 10
"""Longest name. Tables and columns with longer ones are left out."""

MAX_TYPE_CHARACTERS = 200
"""Longest type. A longer one, as of an enum or a struct, is cut."""

KINDS_OF_POSTGRESQL = {"r": "table", "p": "table", "v": "view", "m": "materialized_view", "f": "foreign_table"}

# Partitions are read through their table, and would bury the others.
TABLES_OF_POSTGRESQL = f"""
SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text, pg_table_is_visible(c.oid),
  (SELECT count(*) FROM pg_attribute a
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT')),
  count(*) OVER ()
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_(catalog$|toast)' AND NOT pg_is_other_temp_schema(n.oid)
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  AND strpos(lower(n.nspname || '.' || c.relname), lower($1::text)) > 0
ORDER BY 5 DESC, 2, 3 LIMIT {MAX_TABLES}
"""

COLUMNS_OF_POSTGRESQL = f"""
SELECT a.attrelid::int8, a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull
FROM unnest($1::int8[]) WITH ORDINALITY AS wanted(oid, place) JOIN pg_attribute a ON a.attrelid = wanted.oid::oid
WHERE a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY wanted.place, a.attnum LIMIT {MAX_COLUMNS}
"""

TABLES_OF_DUCKDB = f"""
WITH found AS (
  SELECT database_name AS catalog, schema_name AS schema, table_name AS name, 'table' AS kind, column_count AS columns
  FROM duckdb_tables() WHERE NOT internal
  UNION ALL
  SELECT database_name, schema_name, view_name, 'view', column_count FROM duckdb_views() WHERE NOT internal)
SELECT catalog, schema, name, kind,
  catalog = 'temp' OR catalog = current_database() AND schema = current_schema() AS is_visible, columns, count(*) OVER (),
  catalog <> current_database()
FROM found WHERE contains(lower(schema || '.' || name), lower($1))
ORDER BY 5 DESC, 1, 2, 3 LIMIT {MAX_TABLES}
"""

COLUMNS_OF_DUCKDB = """
SELECT database_name, schema_name, table_name, column_name, data_type, is_nullable
FROM duckdb_columns() WHERE NOT internal AND contains(lower(schema_name || '.' || table_name), lower($1))
ORDER BY database_name, schema_name, table_name, column_index
"""


class Catalog:
    """Collects within the limits. Tables come in the order in which they are shown, then columns, by the key of their table."""

    def __init__(self, kind: str, total: int):
        self.kind, self.total = kind, total
        self.tables: dict[Any, dict[str, Any]] = {}
        self.counts: dict[Any, int] = {}
        self.columns = self.size = 0

    def add_table(
        self, key: Any, catalog: str | None, schema: str, name: str, kind: str, is_visible: bool, columns: int
    ) -> None:
        """`catalog`: of a database beside the one that names without a catalog are of. `columns`: how many it has."""
        if len(self.tables) >= MAX_TABLES or not self._fits(catalog or "", schema, name):
            return
        table: dict[str, Any] = {"schema": schema, "name": name, "kind": kind, "is_visible": is_visible, "columns": []}
        self.tables[key] = {"catalog": catalog, **table} if catalog else table
        self.counts[key] = columns

    def add_columns(self, found: Iterable[Sequence[Any]]) -> None:
        """Each is a key, a name, a type, and whether it may be NULL. Ends where no more fit."""
        for key, name, kind, nullable in found:
            if self.columns >= MAX_COLUMNS:
                return
            kind = kind or ""
            kind = kind if len(kind) <= MAX_TYPE_CHARACTERS else kind[: MAX_TYPE_CHARACTERS - 1] + "…"
            if key in self.tables and self._fits(name, kind):
                self.columns += 1
                column = {"name": name, "type": kind, "nullable": bool(nullable)}
                self.tables[key]["columns"].append(column)

    def _fits(self, *texts: str) -> bool:
        sizes = [len(text.encode("utf-8", "replace")) for text in texts]
        if max(sizes) > MAX_NAME_BYTES or self.size + sum(sizes) > MAX_BYTES:
            return False
        self.size += sum(sizes)
        return True

    def told(self) -> dict[str, Any]:
        """Description for the runtime agent."""
        for key, table in self.tables.items():
            left_out = self.counts[key] - len(table["columns"])
            if left_out > 0:
                table["columns_left_out"] = left_out
        told: dict[str, Any] = {"kind": self.kind, "tables": list(self.tables.values())}
        if self.total > len(self.tables):
            told["tables_left_out"] = self.total - len(self.tables)
        return told


def of_postgresql(query: Any, matching: str) -> dict[str, Any]:
    """`query(sql, values)` gives rows."""
    rows = query(TABLES_OF_POSTGRESQL, [matching])
    catalog = Catalog("postgresql", rows[0][6] if rows else 0)
    for oid, schema, name, kind, is_visible, columns, _ in rows:
        catalog.add_table(oid, None, schema, name, KINDS_OF_POSTGRESQL[kind], is_visible, columns)
    catalog.add_columns(query(COLUMNS_OF_POSTGRESQL, [list(catalog.tables)]))
    return catalog.told()


def of_duckdb(connection: Any, matching: str) -> dict[str, Any]:
    rows = connection.execute(TABLES_OF_DUCKDB, [matching]).fetchall()
    catalog = Catalog("duckdb", rows[0][6] if rows else 0)
    for database, schema, name, kind, is_visible, columns, _, is_another in rows:
        another = database if is_another else None
        catalog.add_table((database, schema, name), another, schema, name, kind, is_visible, columns)
    found = connection.execute(COLUMNS_OF_DUCKDB, [matching])
    each = iter(found.fetchone, None)
    catalog.add_columns((tuple(row[:3]), *row[3:]) for row in each)
    return catalog.told()


def of_sqlite(connection: Any, matching: str) -> dict[str, Any]:
    found = []
    for _, schema, _ in connection.execute("PRAGMA database_list").fetchall():
        found += [(schema, *table) for table in _tables_of_sqlite(connection, schema)]
    word = matching.lower()
    found = [table for table in found if word in f"{table[0]}.{table[1]}".lower()]
    found.sort(key=lambda table: (table[0] not in ("main", "temp"), table[0], table[1].lower()))
    catalog = Catalog("sqlite", len(found))
    for schema, name, kind in found:
        columns = _columns_of_sqlite(connection, schema, name) if len(catalog.tables) < MAX_TABLES else []
        catalog.add_table((schema, name), None, schema, name, kind, schema in ("main", "temp"), len(columns))
        catalog.add_columns(((schema, name), *column) for column in columns)
    return catalog.told()


def _tables_of_sqlite(connection: Any, schema: str) -> list[tuple[str, str]]:
    master = f"{_quoted(schema)}.{'sqlite_temp_master' if schema == 'temp' else 'sqlite_master'}"
    rows = connection.execute(f"SELECT name, type FROM {master} WHERE type IN ('table', 'view')").fetchall()
    # Shadow tables of an index for full text. SQLite marks them only since 3.37.
    try:
        listed = connection.execute(f"PRAGMA {_quoted(schema)}.table_list").fetchall()
    except Exception:
        listed = []
    shadows = {name for of, name, kind, *_ in listed if of == schema and kind == "shadow"}
    return [(name, kind) for name, kind in rows if not name.startswith("sqlite_") and name not in shadows]


def _columns_of_sqlite(connection: Any, schema: str, name: str) -> list[tuple[str, str, bool]]:
    """Columns of a table. A view whose tables are gone has none."""
    try:
        rows = connection.execute(f"PRAGMA {_quoted(schema)}.table_xinfo({_quoted(name)})").fetchall()
    except Exception:
        return []
    is_row_id = [key and kind.upper() == "INTEGER" for _, _, kind, _, _, key, _ in rows]
    return [
        (column, kind, not required and not row_id)
        for (_, column, kind, required, _, _, hidden), row_id in zip(rows, is_row_id, strict=True)
        if hidden != 1
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
