"""Values as DuckDB writes them. A DuckDB of its own casts them to VARCHAR, so that no rule of its is written here again."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from .results import arrow

MAX_BLOB_BYTES = 2_001
"""Bytes of a BLOB that are written: outputs cut its text anyway."""

LOSSY = r"\b(?:UHUGEINT|BIT|TIME WITH TIME ZONE)\b"
"""Types that Arrow has only as DuckDB's own extensions."""


class DuckDbTexts:
    def __init__(self, duckdb: Any, settings_off: tuple[str, ...]):
        self.duckdb, self.settings_off = duckdb, settings_off
        self.connection: Any = None
        self.zone = ""
        self.using = threading.Lock()

    def __call__(self, array: Any) -> Any:
        """Array of Arrow → array of its texts."""
        pa = arrow()
        if pa.types.is_binary(array.type):
            compute: Any = import_module("pyarrow.compute")
            array = compute.binary_slice(array, 0, MAX_BLOB_BYTES)
        if pa.types.is_nested(array.type) and (kind := without_dictionaries(array.type)) != array.type:
            # DuckDB reads an ENUM in a list as its numbers.
            array = _converted(array, kind)
        table = pa.table({"value": array})
        with self.using:
            connection = self._connection(_zone(array.type))
            connection.register("written", table)
            try:
                found = connection.sql("SELECT CAST(value AS VARCHAR) FROM written").to_arrow_table().column(0)
            finally:
                connection.unregister("written")
        return found.cast(pa.string()).combine_chunks()

    def _connection(self, zone: str) -> Any:
        if self.connection is None:
            self.connection = self.duckdb.connect(":memory:", config={"threads": 1})
            for setting in self.settings_off:
                self.connection.execute(f"SET {setting} = false")
        if zone and zone != self.zone:
            self.connection.execute("SET TimeZone = '" + zone.replace("'", "''") + "'")
            self.zone = zone
        return self.connection


def _converted(array: Any, kind: Any) -> Any:
    try:
        return array.cast(kind)
    except (arrow().ArrowInvalid, arrow().ArrowNotImplementedError):
        return arrow().array(array.to_pylist(), kind)


def without_dictionaries(kind: Any) -> Any:
    """The type with texts in place of dictionaries of texts."""
    pa, types = arrow(), arrow().types
    if types.is_dictionary(kind):
        return kind.value_type
    if types.is_struct(kind):
        return pa.struct([each.with_type(without_dictionaries(each.type)) for each in kind])
    if types.is_map(kind):
        return pa.map_(without_dictionaries(kind.key_type), without_dictionaries(kind.item_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(without_dictionaries(kind.value_type), kind.list_size)
    return pa.list_(without_dictionaries(kind.value_type)) if types.is_list(kind) else kind


def _zone(kind: Any) -> str:
    """Time zone of a type, or of one in it."""
    types = arrow().types
    if types.is_timestamp(kind):
        return kind.tz or ""
    if types.is_nested(kind):
        return next((zone for at in range(kind.num_fields) if (zone := _zone(kind.field(at).type))), "")
    return ""
