"""SQL cut into statements and parameters, as far as the text itself tells.

A `{name}` is a parameter where it stands in the code, and nothing where it stands in a text, a quoted name or a comment:
their syntax differs from database to database. Nothing here puts a value into a text, so a mistake here can make a
statement fail, but cannot make a value a part of it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from .errors import ParameterError, SqlError


@dataclass(frozen=True)
class Token:
    kind: str
    """`space` (comments too), `text` (a literal), `name` (a quoted one), `word`, `number`, `sign`, `placeholder`, `{` or `}`."""
    text: str
    at: int


_SPACE = re.compile(r"\s+|--[^\n]*")
_WORD = re.compile(r"[^\W\d][\w$]*")
_NUMBER = re.compile(r"\d(?:[\w.]|(?<=[eE])[+-](?=\d))*")
_ESCAPED = re.compile(r"[eE]'(?:[^'\\]|\\.|'')*'", re.S)
_PLAIN = re.compile(r"'(?:[^']|'')*'")
_DOLLARS = re.compile(r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$", re.S)
_NAMES = {'"': re.compile(r'"(?:[^"]|"")*"'), "`": re.compile(r"`(?:[^`]|``)*`"), "[": re.compile(r"\[[^\]]*\]")}
_PLACEHOLDER = re.compile(r"\$\d+")
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def line_of(sql: str, at: int) -> int:
    return sql.count("\n", 0, at) + 1


def tokens(sql: str, dialect: str) -> Iterator[Token]:
    at = 0
    while at < len(sql):
        kind, end = _next(sql, at, dialect)
        yield Token(kind, sql[at:end], at)
        at = end


def _next(sql: str, at: int, dialect: str) -> tuple[str, int]:
    first = sql[at]
    if found := _SPACE.match(sql, at):
        return "space", found.end()
    if sql.startswith("/*", at):
        return "space", _comment_end(sql, at, nests=dialect != "sqlite")
    if dialect != "sqlite":
        if found := _ESCAPED.match(sql, at) or _DOLLARS.match(sql, at):
            return "text", found.end()
        if found := _PLACEHOLDER.match(sql, at):
            return "placeholder", found.end()
    if first == "'":
        return "text", _end(_PLAIN, sql, at, "text")
    if first == '"' or (dialect == "sqlite" and first in "`["):
        return "name", _end(_NAMES[first], sql, at, "name")
    for kind, pattern in (("word", _WORD), ("number", _NUMBER)):
        if found := pattern.match(sql, at):
            return kind, found.end()
    return (first if first in "{}" else "sign"), at + 1


def _end(pattern: re.Pattern[str], sql: str, at: int, what: str) -> int:
    found = pattern.match(sql, at)
    if not found:
        raise SqlError(f"the {what} that begins with {sql[at]} does not end", line=line_of(sql, at))
    return found.end()


def _comment_end(sql: str, at: int, nests: bool) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, at):
        depth += 1 if edge.group() == "/*" and (nests or depth == 0) else 0
        depth -= 1 if edge.group() == "*/" else 0
        if depth == 0:
            return edge.end()
    raise SqlError("the comment that begins with /* does not end", line=line_of(sql, at))


@dataclass(frozen=True)
class Parameter:
    """A variable's place in a statement."""

    name: str
    place: str
    """Kind of value that fits: a `value`, a `relation`, a `name`; a `list` among others in the brackets of IN, the `only list` of
    them, a `bare list` after IN without brackets. A `source` is the relation behind BY NAME, which needs a FROM."""
    line: int
    takes_alias: bool = False
    """True for a relation that may be followed by an alias and has none."""


@dataclass
class Statement:
    line: int
    """Line of its first word in the cell."""
    parts: list[str | Parameter] = field(default_factory=list)
    relations: set[str] = field(default_factory=set)
    """Tables, common table expressions and aliases that the statement names itself, in small letters."""

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else f"{{{part.name}}}" for part in self.parts)


def parse(sql: str, dialect: str) -> list[Statement]:
    """The statements of a cell. `dialect`: `postgresql`, `duckdb` or `sqlite`."""
    return _Parser(sql, dialect).statements()


_RELATION = {
    *("FROM", "JOIN", "INTO", "UPDATE", "TABLE", "ONLY", "DESCRIBE", "DESC", "SHOW", "SUMMARIZE", "COPY"),
    *("PIVOT", "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER"),
}
_OF_DUCKDB = {"DESC", "SHOW", "COPY", "PIVOT", "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER"}
"""Words of `_RELATION` that stand before a relation in DuckDB alone, or are read only there."""
_FOLLOWS_TABLE = {
    *(
        "WHERE",
        "JOIN",
        "INNER",
        "LEFT",
        "RIGHT",
        "FULL",
        "CROSS",
        "NATURAL",
        "ASOF",
        "POSITIONAL",
        "SEMI",
        "ANTI",
        "ON",
    ),
    *(
        "USING",
        "GROUP",
        "ORDER",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "WINDOW",
        "QUALIFY",
        "SELECT",
    ),
    *("TABLESAMPLE", "SET", "RETURNING", "PIVOT", "UNPIVOT", "FETCH", "AT", "WITH", "TO", "WHEN", "FOR"),
}
"""Words that follow a table and are no alias of it."""
_COMPUTES = {"BETWEEN", "COLLATE", "IN", "IS", "LIKE", "ILIKE", "NOT", "AND", "OR", "SIMILAR", "GLOB"}
"""Words behind which a value goes on as part of an expression."""
_CLAUSES = {
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "SET",
        "VALUES",
        "ON",
        "USING",
        "WINDOW",
        "UNION",
        "JOIN",
        "INTO",
    ),
    *("QUALIFY", "RETURNING", "EXCEPT", "INTERSECT", "FETCH", "WHEN", "THEN", "ELSE"),
}
# Functions in whose brackets FROM comes before a value.
_TAKES_FROM = {"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY"}


@dataclass
class _Level:
    """Nesting level: the statement itself, or open brackets in it."""

    function: str = ""
    clause: str = ""
    is_in: bool = False


class _Parser:
    def __init__(self, sql: str, dialect: str):
        self.sql, self.dialect = sql, dialect
        self.found: list[Statement] = []
        self.braces: list[str] = []
        self.begin()

    def begin(self) -> None:
        self.current: Statement | None = None
        self.before: list[str] = []
        self.levels = [_Level()]
        self.atomic = 0
        self.is_in_relation = False
        self.verb = ""

    def statements(self) -> list[Statement]:
        listed = list(tokens(self.sql, self.dialect))
        at = 0
        while at < len(listed):
            at += self.take(listed, at)
        self.end()
        return self.found

    def take(self, listed: list[Token], at: int) -> int:
        """Takes a token and what belongs to it. Returns the count of tokens taken."""
        token = listed[at]
        if token.kind in "{}":
            return self.brace(listed, at)
        if token.kind == "placeholder":
            message = f"{token.text} has no value: name a variable of the kernel in braces, as in {{name}}"
            raise ParameterError(message, line=line_of(self.sql, token.at))
        if token.text == ";" and not self.atomic:
            return self.semicolon(token)
        if token.kind == "space" and self.current is None:
            return 1
        self.add(token.text, token.at)
        if token.kind != "space":
            self.follow(token)
        return 1

    def add(self, part: str | Parameter, at: int) -> None:
        if self.current is None:
            self.current = Statement(line_of(self.sql, at))
        self.current.parts.append(part)

    def semicolon(self, token: Token) -> int:
        # The body of a trigger has semicolons of its own.
        if self.dialect == "sqlite" and self.current and not sqlite3.complete_statement(self.current.text + ";"):
            self.add(token.text, token.at)
            return 1
        self.end()
        return 1

    def end(self) -> None:
        if self.braces:
            raise ParameterError("a { does not end: write {{ for a brace that is part of the SQL")
        if self.current is not None:
            self.found.append(self.current)
        self.begin()

    def follow(self, token: Token) -> None:
        """Keeps where in the statement we are."""
        word = token.text.upper() if token.kind == "word" else token.text if token.kind == "sign" else token.kind
        level = self.levels[-1]
        last = self.before[-1] if self.before else ""
        self.follow_names(token, last)
        if word == "(":
            self.levels.append(_Level(function=last, is_in=last == "IN"))
        elif word == ")" and len(self.levels) > 1:
            self.levels.pop()
        elif word == "WITH" and level.clause in ("", "INTO"):
            level.clause = word
        elif word == "BY" and last in ("ORDER", "GROUP", "PARTITION"):
            level.clause = "BY"
        elif word in _CLAUSES and not (word == "FROM" and self.is_before_value(last)):
            level.clause = word
        if self.dialect == "postgresql":
            self.atomic += word == "ATOMIC" and last == "BEGIN" or (self.atomic > 0 and word == "CASE")
            self.atomic -= self.atomic > 0 and word == "END"
        if word in ("DELETE", "MERGE", "SELECT"):
            self.verb = word
        self.before = [*self.before[-2:], word]

    def follow_names(self, token: Token, last: str) -> None:
        """Keeps names of tables, common table expressions and aliases. A word too many among them does no harm."""
        if self.current is None or token.kind not in ("word", "name"):
            self.is_in_relation = self.is_in_relation and token.text == "."
            return
        in_list = self.levels[-1].clause in ("FROM", "JOIN", "USING", "WITH")
        begins = last in _RELATION or last in ("WITH", "RECURSIVE", "USING") or (in_list and last in (",", ")"))
        is_alias = in_list and last == "AS"
        if begins or is_alias or self.is_in_relation:
            name = token.text[1:-1].replace('""', '"') if token.kind == "name" else token.text
            self.current.relations.add(name.lower())
        self.is_in_relation = begins or (self.is_in_relation and last == ".")

    def is_before_value(self, last: str) -> bool:
        return self.levels[-1].function in _TAKES_FROM or last == "DISTINCT" and self.before[-2:-1] != ["SELECT"]

    # --- braces ---

    def brace(self, listed: list[Token], at: int) -> int:
        token = listed[at]
        follows = [other.text for other in listed[at + 1 : at + 3]]
        is_double = follows[:1] == [token.text] and not self.is_key(listed[at + 2 : at + 8])
        if token.text == "}":
            return self.closing(token, is_double)
        if is_double:
            self.braces.append("{{")
            self.add("{", token.at)
            self.follow(token)
            return 2
        if len(follows) == 2 and follows[1] == "}" and listed[at + 1].kind == "word":
            self.parameter(token, follows[0], listed[at + 3 :])
            return 3
        # DuckDB writes structs so: {'a': 1}; and maps, whose keys may be any expression: MAP {1: 'a'}.
        is_map = self.before[-1:] == ["MAP"]
        is_struct = self.dialect == "duckdb" and (is_map or self.is_struct(listed, at))
        if not is_struct:
            line = line_of(self.sql, token.at)
            message = "in braces stands the name of one variable and nothing else: bind it in Python first (total = a + b, then "
            raise ParameterError(message + "{total}); a brace that is part of the SQL is written twice", line=line)
        self.braces.append("{")
        self.add("{", token.at)
        self.follow(token)
        return 1

    def is_key(self, behind: list[Token]) -> bool:
        """True if the second of two braces begins a variable that is a key: MAP {{name}: 1}."""
        texts = [token.text for token in behind if token.kind != "space"]
        return self.dialect == "duckdb" and self.before[-1:] == ["MAP"] and texts[1:3] == ["}", ":"]

    @staticmethod
    def is_struct(listed: list[Token], at: int) -> bool:
        inside = [token for token in listed[at + 1 : at + 6] if token.kind != "space"][:2]
        kinds = [token.kind for token in inside]
        is_key = kinds[:1] and kinds[0] in ("word", "text", "name", "}")
        return bool(is_key) and (kinds[0] == "}" or [token.text for token in inside[1:]] == [":"])

    def closing(self, token: Token, is_double: bool) -> int:
        opened = self.braces[-1] if self.braces else "{{"
        if opened == "{{" and not is_double:
            raise ParameterError(
                "a } stands alone: write }} for a brace that is part of the SQL", line=line_of(self.sql, token.at)
            )
        if self.braces:
            self.braces.pop()
        self.add("}", token.at)
        self.follow(token)
        return 2 if opened == "{{" else 1

    def parameter(self, token: Token, name: str, rest: list[Token]) -> None:
        behind = next((other for other in rest[:8] if other.kind != "space"), Token("space", "", 0))
        place = self.place(behind)
        takes_alias = place == "relation" and self.takes_alias(behind)
        self.add(Parameter(name, place, line_of(self.sql, token.at), takes_alias), token.at)
        self.follow(Token("text", "", token.at))

    def takes_alias(self, behind: Token) -> bool:
        is_listed = self.before[-1] in ("FROM", "JOIN", ",") or (self.before[-1] == "USING" and behind.text != "(")
        has_alias = behind.kind == "name" or behind.kind == "word" and behind.text.upper() not in _FOLLOWS_TABLE
        return is_listed and not has_alias

    def place(self, behind: Token) -> str:
        last = self.before[-1] if self.before else ""
        level = self.levels[-1]
        if last == "." or behind.text == "." or last == "AS":
            return "name"
        if last == "FROM" and (level.function in _TAKES_FROM or self.before[-2:-1] == ["DISTINCT"]):
            return "value"
        if self.is_relation(last, level):
            return "relation"
        if self.before[-2:] == ["BY", "NAME"]:
            return "source"
        if last == "BY" or (last == "," and level.clause == "BY" and level.function != "OVER"):
            return "value" if self.goes_on(behind) else "name"
        if last == "IN":
            # A value in POSITION('a' IN {text}), a list elsewhere.
            return "value" if level.function == "POSITION" else "bare list"
        if level.is_in and last == "(" and behind.text == ")":
            return "only list"
        return "list" if level.is_in and last in ("(", ",") else "value"

    def is_relation(self, last: str, level: _Level) -> bool:
        if last in _RELATION:
            return self.dialect == "duckdb" or last not in _OF_DUCKDB
        if last == "USING" and self.dialect == "duckdb":
            # DELETE FROM t USING {frame}, MERGE INTO t USING {frame}.
            return self.verb in ("DELETE", "MERGE")
        return last == "," and level.clause in ("FROM", "JOIN")

    @staticmethod
    def goes_on(behind: Token) -> bool:
        """True if a value is part of an expression: alone behind ORDER BY it would sort by a constant."""
        is_operator = behind.kind == "sign" and behind.text not in (",", ")", ";", ":", "[", ".")
        return is_operator or (behind.kind == "word" and behind.text.upper() in _COMPUTES)
