"""Random SQL expressions of every type of DuckDB and PostgreSQL, with the values that Python cannot hold among them."""

from __future__ import annotations

import random
import string


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _float(pick: random.Random) -> str:
    if pick.random() < 0.25:
        return pick.choice(["inf", "-inf", "nan", "0", "-0.0", "1", "100", "1e15", "1e16", "1e-5", "123456789"])
    digits = pick.choice([1, 3, 7, 17])
    return f"{pick.uniform(-9, 9):.{digits}g}e{pick.randint(-30, 30)}"


def _text(pick: random.Random) -> str:
    return "".join(pick.choice(string.ascii_letters + " ,'\"{}[]=\\é:;") for _ in range(pick.randint(0, 8)))


class Expressions:
    """Random types, and values for each."""

    def __init__(self, seed: int):
        self.pick = random.Random(seed)

    def typed(self) -> str:
        """A type of a column."""
        raise NotImplementedError

    def value(self, kind: str) -> str:
        raise NotImplementedError

    def select(self, columns: int, rows: int) -> tuple[str, list[str]]:
        """A query, and its types."""
        kinds = [self.typed() for _ in range(columns)]
        lines = []
        for _ in range(rows):
            values = ["NULL" if self.pick.random() < 0.15 else self.value(kind) for kind in kinds]
            lines.append(
                ", ".join(
                    f"CAST({value} AS {kind}) AS c{at}"
                    for at, (value, kind) in enumerate(zip(values, kinds, strict=True))
                )
            )
        return " UNION ALL ".join(f"SELECT {number} AS row, {line}" for number, line in enumerate(lines)), kinds


DUCKDB = [
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UBIGINT", "UHUGEINT", "BIGNUM", "BOOLEAN"),
    *(
        "FLOAT",
        "DOUBLE",
        "DECIMAL(4,1)",
        "DECIMAL(18,3)",
        "DECIMAL(38,10)",
        "VARCHAR",
        "UUID",
        "BIT",
        "JSON",
        "INTERVAL",
    ),
    *("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ", "TIME", "TIMETZ", "TIME_NS"),
    *("BLOB", "ENUM('a', 'b''c')"),
]
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128, "BIGNUM": 200}


class OfDuckDb(Expressions):
    def typed(self, depth: int = 0) -> str:
        if depth < 2 and self.pick.random() < 0.25:
            inner = self.typed(depth + 1)
            return self.pick.choice(
                [
                    f"{inner}[]",
                    f"{inner}[2]",
                    f'STRUCT(a {inner}, "b c" VARCHAR)',
                    f"MAP(VARCHAR, {inner})",
                    f"UNION(k {inner})",
                ]
            )
        return self.pick.choice(DUCKDB)

    def value(self, kind: str) -> str:
        pick = self.pick
        if kind.endswith("[]"):
            return f"[{', '.join(self.cast(kind[:-2]) for _ in range(pick.randint(0, 3)))}]::{kind}"
        if kind.endswith("[2]"):
            return f"[{self.cast(kind[:-3])}, {self.cast(kind[:-3])}]"
        if kind.startswith("STRUCT(a "):
            return f"{{'a': {self.cast(kind[9:-16])}, 'b c': {quoted(_text(pick))}}}"
        if kind.startswith("MAP("):
            return f"MAP {{{quoted(_text(pick))}: {self.cast(kind[13:-1])}}}"
        if kind.startswith("UNION("):
            return f"union_value(k := {self.cast(kind[8:-1])})"
        if kind in _BITS or kind.startswith("U") and kind != "UUID":
            bits = _BITS.get(kind) or {"UTINYINT": 8, "UBIGINT": 64, "UHUGEINT": 128}[kind]
            some = pick.randint(1, bits - 1)
            number = pick.getrandbits(some)
            return f"{quoted(str(number if kind.startswith('U') or pick.random() < 0.5 else -number))}"
        return self.scalar(kind)

    def cast(self, kind: str) -> str:
        return "NULL" if self.pick.random() < 0.1 else f"CAST({self.value(kind)} AS {kind})"

    def scalar(self, kind: str) -> str:
        pick = self.pick
        near = pick.choice([10**6, 10**10, 10**13, 10**15, 9 * 10**15, 2 * 10**17])
        moment = pick.randint(-near, near)
        if kind.startswith("DECIMAL"):
            return quoted(f"{pick.uniform(-900, 900):.1f}")
        if kind in ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "DATE") and pick.random() < 0.2:
            return quoted(
                pick.choice(["infinity", "-infinity", "0044-03-15 (BC)", "12024-01-01", "0001-01-01", "9999-12-31"])
            )
        values = {
            "BOOLEAN": lambda: pick.choice(["true", "false"]),
            "FLOAT": lambda: quoted(_float(pick)),
            "DOUBLE": lambda: quoted(_float(pick)),
            "VARCHAR": lambda: quoted(_text(pick)),
            "UUID": lambda: quoted(f"{pick.getrandbits(128):032x}"),
            "BIT": lambda: quoted("".join(pick.choice("01") for _ in range(pick.randint(1, 20)))),
            "JSON": lambda: quoted(pick.choice(['{"a": [1, null]}', "1e3", '"x"'])),
            "INTERVAL": lambda: (
                f"to_months({pick.randint(-30, 30)}) + to_days({pick.randint(-40, 40)}) + to_microseconds({moment % 10**11})"
            ),
            "DATE": lambda: f"DATE '1970-01-01' + {moment % 10**6 - 5 * 10**5}",
            "TIMESTAMP_NS": lambda: f"make_timestamp_ns({moment})" if pick.random() < 0.9 else "'infinity'",
            "TIME": lambda: quoted(pick.choice(["24:00:00", "00:00:00", "12:34:56.7", "23:59:59.999999"])),
            "TIMETZ": lambda: quoted(pick.choice(["12:00:00+02", "24:00:00-15:59", "01:02:03.5+05:30"])),
            "TIME_NS": lambda: quoted(pick.choice(["12:00:00.123456789", "12:00:00.5", "00:00:00"])),
            "BLOB": lambda: (
                quoted(pick.choice(["abc", "\\x00\\xFF", "é", ""])) + ("" if pick.random() < 0.5 else "::VARCHAR::BLOB")
            ),
        }
        if kind.startswith("ENUM"):
            return pick.choice(["'a'", "'b''c'"])
        if kind == "BLOB":
            return quoted(pick.choice(["abc", "\\x00\\xFF", "\\xC3\\xA9", ""]))
        return values.get(kind, lambda: f"make_timestamp({moment})")()


POSTGRESQL = [
    *(
        "int2",
        "int4",
        "int8",
        "numeric",
        "numeric(9,2)",
        "float4",
        "float8",
        "text",
        "varchar(7)",
        "uuid",
        "jsonb",
        "interval",
    ),
    *(
        "date",
        "timestamp",
        "timestamptz",
        "time",
        "timetz",
        "bytea",
        "bit(5)",
        "varbit",
        "inet",
        "money",
        "int4range",
        "point",
    ),
    *("daterange", "tsvector", "name"),
]


class OfPostgreSql(Expressions):
    def typed(self) -> str:
        kind = self.pick.choice(POSTGRESQL)
        return f"{kind}[]" if self.pick.random() < 0.3 else kind

    def value(self, kind: str) -> str:
        if kind.endswith("[]"):
            listed = [
                "NULL" if self.pick.random() < 0.1 else f"CAST({self.value(kind[:-2])} AS {kind[:-2]})"
                for _ in range(self.pick.randint(0, 3))
            ]
            return f"ARRAY[{', '.join(listed)}]::{kind}"
        pick = self.pick
        year = pick.choice(
            [f"{pick.randint(1, 9999):04d}", f"{pick.randint(1900, 2100)}", f"{pick.randint(10000, 99999)}"]
        )
        day = f"{year}-{pick.randint(1, 12):02d}-{pick.randint(1, 28):02d}"
        if pick.random() < 0.2:
            day = pick.choice(["infinity", "-infinity", "0044-03-15 BC"])
        moment = (
            day
            if "inf" in day or "BC" in day
            else f"{day} {pick.choice(['00:00:00', '12:34:56.7', '23:59:59.999999'])}"
        )
        values = {
            "int2": str(pick.randint(-32768, 32767)),
            "int4": str(pick.randint(-(2**31), 2**31 - 1)),
            "int8": str(pick.randint(-(2**63), 2**63 - 1)),
            "numeric": pick.choice(
                [
                    "Infinity",
                    "-Infinity",
                    "NaN",
                    "0",
                    "1.500",
                    f"{pick.randint(-(10**30), 10**30)}",
                    f"{pick.uniform(-1, 1):.12f}",
                ]
            ),
            "numeric(9,2)": pick.choice(["NaN", "1.5", "-0.05"]),
            "float4": _float(pick),
            "float8": _float(pick),
            "uuid": f"{pick.getrandbits(128):032x}",
            "jsonb": pick.choice(['{"a": [1, null]}', "1.50"]),
            "interval": f"{pick.randint(-30, 30)} months {pick.randint(-40, 40)} days {pick.randint(-9999, 9999) / 10} seconds",
            **dict.fromkeys(("date",), day),
            **dict.fromkeys(("timestamp", "timestamptz"), moment),
            "time": pick.choice(["24:00:00", "00:00:00", "12:34:56.7"]),
            "timetz": pick.choice(["12:00:00+02", "24:00:00-15:59", "01:02:03.5+05:30"]),
            "bytea": pick.choice(["\\x00ff", "abc", ""]),
            "bit(5)": "".join(pick.choice("01") for _ in range(5)),
            "varbit": "".join(pick.choice("01") for _ in range(pick.randint(0, 9))),
            "inet": pick.choice(["10.0.0.1/8", "::1"]),
            "money": "12.5",
            "int4range": pick.choice(["[1,5)", "empty", "(,3]"]),
            "daterange": pick.choice(["[2024-01-01,infinity)", "empty"]),
            "point": "(1.5,1e20)",
            "tsvector": "a:1 b:2",
        }
        text = values.get(kind) or (_text(pick) if kind not in ("bytea", "varbit") else values[kind])
        if kind in ("float4", "float8") and kind == "float4" and "e" in text:
            text = f"{pick.uniform(-10, 10):.7g}e{pick.randint(-20, 20)}"
        return quoted(text)
