"""Frames and series of polars."""

from __future__ import annotations

import sys
from typing import Any

from . import values
from .columns import MAX_COLUMNS, TableColumn, could_be_in_number, number_of
from .of_pandas import MAX_COUNTED, MAX_COUNTED_NUMBERS, MAX_TOP


class PolarsTable:
    def __init__(self, value: Any):
        self.polars: Any = sys.modules["polars"]
        is_series = issubclass(type(value), self.polars.Series)
        self.kind = "polars.Series" if is_series else "polars.DataFrame"
        self.value = value.to_frame() if is_series else value
        self.rows: int = self.value.height
        self.columns_left_out = max(0, self.value.width - MAX_COLUMNS)
        schema = list(self.value.schema.items())[:MAX_COLUMNS]
        self.columns = [
            TableColumn(values.cut(name, 200), values.cut(str(dtype), 100), self._kind(dtype), "null")
            for name, dtype in schema
        ]

    def _kind(self, dtype: Any) -> str:
        pl = self.polars
        if dtype == pl.Boolean:
            return "boolean"
        if dtype.is_integer():
            return "integer"
        if dtype.is_float():
            return "number"
        if dtype in (pl.Datetime, pl.Date):
            return "datetime"
        return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else "any"

    def series(self, column: int) -> Any:
        return self.value.to_series(column)

    def read(self, positions: Any, first: int, count: int, columns: int = MAX_COLUMNS) -> list[list[Any]]:
        part = self.value.select(self.value.columns[: min(columns, len(self.columns))])
        part = part.slice(first, count) if positions is None else part[positions.slice(first, count)]
        return [self.listed(series) for series in part.get_columns()]

    def listed(self, series: Any) -> list[Any]:
        if series.dtype == self.polars.Float32:
            # The shortest text that means it, not what it is in 64 bits.
            series = series.cast(self.polars.String).cast(self.polars.Float64)
        if series.dtype == self.polars.Datetime("ns") and series.dtype.time_zone is None:
            # Python's times have microseconds, numpy's have them all.
            times = zip(series.to_numpy(), series.is_null(), strict=True)
            return [None if is_missing else time for time, is_missing in times]
        listed: list[Any] = series.to_list()
        return listed

    def order(self, column: int, is_descending: bool) -> Any:
        series = self.series(column)
        try:
            keys = series.str.to_lowercase() if series.dtype == self.polars.String else series
            frame = self.polars.DataFrame({"key": keys}).with_row_index("at")
            options = {"descending": is_descending, "nulls_last": True, "maintain_order": True}
            return frame.sort("key", **options)["at"]
        except Exception:  # Nested and other types that have no order.
            frame = self.polars.DataFrame({"key": self.texts(series).str.to_lowercase()}).with_row_index("at")
            return frame.sort("key", descending=is_descending, nulls_last=True, maintain_order=True)["at"]

    def texts(self, series: Any) -> Any:
        if series.dtype == self.polars.String:
            return series
        try:
            if self._kind(series.dtype) != "any":
                return series.cast(self.polars.String)
        except Exception:
            pass
        listed = [None if value is None else str(values.plain(value)) for value in series.to_list()]
        return self.polars.Series(listed, dtype=self.polars.String)

    def passing(self, column: int, operator: str, value: str) -> Any:
        series, kind = self.series(column), self.columns[column].kind
        missing = series.is_null()
        if operator in ("empty", "not_empty"):
            empty = missing if kind != "text" else missing | (self.texts(series) == "").fill_null(False)
            return empty if operator == "empty" else ~empty
        if operator in ("contains", "lacks"):
            found = self.containing(column, value)
            return found if operator == "contains" else ~found
        held, wanted = self.comparable(series, kind, value)
        compared = {"equal": held.__eq__, "not_equal": held.__ne__, "less": held.__lt__, "at_most": held.__le__}
        compared["more"] = held.__gt__
        found = compared.get(operator, held.__ge__)(wanted).fill_null(False)
        return found | missing if operator == "not_equal" else found & ~missing

    def comparable(self, series: Any, kind: str, value: str) -> tuple[Any, Any]:
        number = number_of(value)
        if kind in ("integer", "number") and number is not None:
            return series, number
        if kind == "datetime":
            try:
                text = self.polars.Series([value.strip().replace("T", " ")])
                wide = text if ":" in value else text + " 00:00:00"
                zone = getattr(series.dtype, "time_zone", None)
                held = series.cast(self.polars.Datetime("us"))
                if zone:
                    held = series.dt.replace_time_zone(None).cast(self.polars.Datetime("us"))
                return held, wide.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us")[0]
            except Exception:
                pass
        return self.texts(series).str.to_lowercase(), value.strip().lower()

    def containing(self, column: int, text: str) -> Any:
        series, kind = self.series(column), self.columns[column].kind
        if kind in ("integer", "number") and not could_be_in_number(text):
            return self.polars.repeat(False, self.rows, eager=True)
        return self.texts(series).str.to_lowercase().str.contains(text.lower(), literal=True).fill_null(False)

    def both(self, first: Any, second: Any) -> Any:
        return first & second

    def either(self, first: Any, second: Any) -> Any:
        return first | second

    def kept(self, positions: Any, mask: Any) -> Any:
        return mask.arg_true() if positions is None else positions.filter(mask.gather(positions))

    def length(self, positions: Any) -> int:
        return self.rows if positions is None else len(positions)

    def summary(self, column: int) -> dict[str, Any]:
        series, kind = self.series(column), self.columns[column].kind
        found: dict[str, Any] = {"missing": series.null_count()}
        held = series.drop_nulls()
        if kind in ("integer", "number") and len(held):
            quarters = [held.quantile(each, "linear") for each in (0.25, 0.5, 0.75)]
            found.update(
                min=values.plain(held.min()),
                max=values.plain(held.max()),
                mean=values.plain(held.mean()),
                std=values.plain(held.std()),
                quartiles=[values.plain(each) for each in quarters],
            )
        elif kind == "datetime" and len(held):
            found.update(min=values.plain(held.min()), max=values.plain(held.max()))
        if len(held) <= (MAX_COUNTED_NUMBERS if kind == "number" else MAX_COUNTED):
            found.update(self.counted(held))
        return {key: value for key, value in found.items() if value is not None}

    def counted(self, held: Any) -> dict[str, Any]:
        try:
            counts = held.rename("value").value_counts(sort=True, name="count")
        except Exception:
            counts = self.texts(held).rename("value").value_counts(sort=True, name="count")
        top = [{"value": values.plain(value), "count": count} for value, count in counts.head(MAX_TOP).rows()]
        return {"distinct": counts.height, "top": top}
