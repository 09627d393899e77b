"""Frames and series of pandas."""

from __future__ import annotations

import sys
from typing import Any

from . import values
from .columns import MAX_COLUMNS, TableColumn, could_be_in_number, number_of

MAX_TOP = 5
MAX_COUNTED = 2_000_000
"""Most rows of which unique values are counted: of texts it takes seconds."""
MAX_COUNTED_NUMBERS = 100_000
"""The same for numbers, of which most differ."""


class PandasTable:
    def __init__(self, value: Any, is_bare: bool = False):
        self.pandas: Any = sys.modules["pandas"]
        is_series = issubclass(type(value), self.pandas.Series)
        self.kind = "pandas.Series" if is_series else "pandas.DataFrame"
        self.value = value
        self.rows = len(value)
        self.index = value.index
        self.index_levels = 0 if is_bare else self.index.nlevels
        self.known: dict[Any, tuple[str, str, str]] = {}
        if is_series:
            labels: list[Any] = ["value" if value.name is None else value.name]
            types: list[Any] = [value.dtype]
        else:
            labels, types = list(value.columns[:MAX_COLUMNS]), list(value.dtypes.iloc[:MAX_COLUMNS])
        self.is_series = is_series
        self.columns_left_out = 0 if is_series else max(0, value.shape[1] - MAX_COLUMNS)
        self.columns = [*self._index_columns(), *map(self._column, labels, types)]

    def _index_columns(self) -> list[TableColumn]:
        if not self.index_levels:
            return []
        names = list(self.index.names)
        types = list(self.index.dtypes) if self.index_levels > 1 else [self.index.dtype]
        return [
            self._column("" if name is None else name, dtype, True) for name, dtype in zip(names, types, strict=True)
        ]

    def _column(self, label: Any, dtype: Any, is_index: bool = False) -> TableColumn:
        name = " / ".join(map(values.text, label)) if isinstance(label, tuple) else values.text(label)
        words = self.known.get(dtype)
        if words is None:
            words = self.known[dtype] = values.cut(str(dtype), 100), self._kind(dtype), _missing(dtype)
        return TableColumn(values.cut(name, 200), *words, is_index)

    def _kind(self, dtype: Any) -> str:
        types = self.pandas.api.types
        if types.is_bool_dtype(dtype):
            return "boolean"
        if types.is_integer_dtype(dtype):
            return "integer"
        if types.is_float_dtype(dtype):
            return "number"
        if types.is_datetime64_any_dtype(dtype):
            return "datetime"
        return "text" if types.is_string_dtype(dtype) and not types.is_object_dtype(dtype) else "any"

    def series(self, column: int) -> Any:
        """By its place: two columns may have one name."""
        if column < self.index_levels:
            level = self.index.get_level_values(column) if self.index_levels > 1 else self.index
            return self.pandas.Series(level, copy=False)
        return self.value if self.is_series else self.value.iloc[:, column - self.index_levels]

    def read(self, positions: Any, first: int, count: int, columns: int = MAX_COLUMNS) -> list[list[Any]]:
        wanted = slice(first, first + count) if positions is None else positions[first : first + count]
        index, levels = self.index[wanted], range(min(self.index_levels, columns))
        parts = [index.get_level_values(level) if self.index_levels > 1 else index for level in levels]
        found = [self.listed(self.pandas.Series(part)) for part in parts]
        rest = max(0, min(columns, len(self.columns)) - self.index_levels)
        if self.is_series:
            return [*found, self.listed(self.value.iloc[wanted])][:columns]
        # All columns of a wide frame at once: to take each by its place takes ten times as long.
        part = (self.value if rest == self.value.shape[1] else self.value.iloc[:, :rest]).iloc[wanted]
        return [*found, *(self.listed(series) for _, series in part.items())]

    def listed(self, series: Any) -> list[Any]:
        kind = getattr(series.dtype, "kind", "O")
        if kind in "fiub" and type(series.dtype).__module__.startswith("numpy"):
            held: list[Any] = list(series.to_numpy()) if kind == "f" and series.dtype.itemsize < 8 else series.tolist()
            return held if kind != "f" else [value if value == value else None for value in held]
        try:
            missing = series.isna().tolist()
        except Exception:  # An extension type that cannot say.
            missing = [False] * len(series)
        return [None if is_missing else value for value, is_missing in zip(list(series), missing, strict=True)]

    def order(self, column: int, is_descending: bool) -> Any:
        series = self.series(column).reset_index(drop=True)
        options: dict[str, Any] = {"ascending": not is_descending, "kind": "stable", "na_position": "last"}
        try:
            is_text = self.columns[column].kind == "text"
            ordered = series.sort_values(**options, key=(lambda it: it.str.casefold()) if is_text else None)
        except Exception:  # Values of several types, or of one that has no order.
            texts = self.texts(series).str.casefold().where(~series.isna())
            ordered = texts.sort_values(**options)
        return ordered.index.to_numpy()

    def texts(self, series: Any) -> Any:
        if self._kind(series.dtype) == "text":
            return series
        if self._kind(series.dtype) == "boolean":
            return series.map({True: "true", False: "false"}).astype("object")
        listed = [None if value is None else str(values.plain(value)) for value in self.listed(series)]
        return self.pandas.Series(listed, index=series.index, dtype="object")

    def passing(self, column: int, operator: str, value: str) -> Any:
        series, kind = self.series(column).reset_index(drop=True), self.columns[column].kind
        missing = series.isna().to_numpy(dtype=bool)
        if operator in ("empty", "not_empty"):
            empty = missing if kind not in ("text", "any") else missing | self.truth(self.texts(series) == "")
            return empty if operator == "empty" else ~empty
        if operator in ("contains", "lacks"):
            found = self.containing(column, value)
            return found if operator == "contains" else ~found
        held, wanted = self.comparable(series, kind, value)
        compared = {"equal": held.eq, "not_equal": held.ne, "less": held.lt, "at_most": held.le, "more": held.gt}
        found = self.truth(compared.get(operator, held.ge)(wanted))
        return found | missing if operator == "not_equal" else found & ~missing

    def comparable(self, series: Any, kind: str, value: str) -> tuple[Any, Any]:
        """Numbers and times as such, everything else as texts."""
        number = number_of(value)
        if kind in ("integer", "number") and number is not None:
            return series, number
        if kind == "datetime":
            time = self.pandas.to_datetime(value.strip(), errors="coerce")
            if not self.pandas.isna(time):
                zone = getattr(series.dtype, "tz", None)
                if zone is None:
                    return series, time.tz_localize(None)
                return series, time.tz_convert(zone) if time.tzinfo else time.tz_localize(zone)
        if kind == "any" and number is not None:
            numbers = self.pandas.to_numeric(series.where(~series.map(type).isin([dict, list])), errors="coerce")
            if not numbers.isna().all():
                return numbers, number
        return self.texts(series).str.casefold(), value.strip().casefold()

    def containing(self, column: int, text: str) -> Any:
        series, kind = self.series(column).reset_index(drop=True), self.columns[column].kind
        if kind in ("integer", "number") and not could_be_in_number(text):
            return self.truth(self.pandas.Series(False, index=series.index))
        return self.truth(self.texts(series).str.contains(text, case=False, regex=False, na=False))

    @staticmethod
    def truth(found: Any) -> Any:
        return found.fillna(False).to_numpy(dtype=bool) if found.dtype != bool else found.to_numpy()

    def both(self, first: Any, second: Any) -> Any:
        return first & second

    def either(self, first: Any, second: Any) -> Any:
        return first | second

    def kept(self, positions: Any, mask: Any) -> Any:
        return mask.nonzero()[0] if positions is None else positions[mask[positions]]

    def length(self, positions: Any) -> int:
        return self.rows if positions is None else len(positions)

    def summary(self, column: int) -> dict[str, Any]:
        series, kind = self.series(column), self.columns[column].kind
        found: dict[str, Any] = {"missing": int(series.isna().sum())}
        held = series.dropna()
        if kind in ("integer", "number") and len(held):
            quarters = held.astype("float64").quantile([0.25, 0.5, 0.75])
            found.update(
                min=values.plain(self.listed(held.iloc[[held.argmin()]])[0]),
                max=values.plain(self.listed(held.iloc[[held.argmax()]])[0]),
                mean=values.plain(float(held.mean())),
                std=values.plain(float(held.astype("float64").std())) if len(held) > 1 else None,
                quartiles=[values.plain(float(each)) for each in quarters],
            )
        elif kind == "datetime" and len(held):
            found.update(min=values.plain(held.min()), max=values.plain(held.max()))
        if len(held) <= (MAX_COUNTED_NUMBERS if kind == "number" else MAX_COUNTED):
            found.update(self.counted(held))
        return {key: value for key, value in found.items() if value is not None}

    def counted(self, held: Any) -> dict[str, Any]:
        try:
            counts = held.value_counts()
        except Exception:  # Lists and dicts are not to be counted.
            counts = self.texts(held).value_counts()
        counts = counts[counts > 0]
        top = [
            {"value": values.plain(value), "count": int(count)}
            for value, count in zip(
                self.listed(self.pandas.Series(counts.index[:MAX_TOP])), counts.iloc[:MAX_TOP], strict=True
            )
        ]
        return {"distinct": len(counts), "top": top}


def _missing(dtype: Any) -> str:
    kind = getattr(dtype, "kind", "O")
    if kind == "O" and str(dtype) == "object":
        return "None"
    if kind in "mM":
        return "NaT"
    text = str(getattr(dtype, "na_value", "NaN"))
    return "NaN" if text == "nan" else text
