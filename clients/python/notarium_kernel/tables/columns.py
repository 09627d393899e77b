"""Columns of tables, and values that filters compare with theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_COLUMNS = 2_000
"""Most columns of a table. Further ones are only counted."""


@dataclass(frozen=True)
class TableColumn:
    name: str
    type: str
    """Type name of the library."""
    kind: str
    """`integer`, `number`, `boolean`, `datetime`, `text`, or `any`."""
    missing: str
    """Text by which the library shows a missing value. The default is `NaN`."""
    is_index: bool = False

    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = {"name": self.name, "type": self.type, "kind": self.kind}
        if self.missing != "NaN":
            told["missing"] = self.missing
        return {**told, "is_index": True} if self.is_index else told


def number_of(value: str) -> int | float | None:
    plain = value.strip().replace(",", "").replace("_", "")
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return None


def could_be_in_number(text: str) -> bool:
    return all(letter in "0123456789.eE+-infaNtrulsT:" for letter in text)
