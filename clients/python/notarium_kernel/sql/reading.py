"""Refuses statements with effects that a read-only transaction and its rollback do not stop, such as the signal of
`pg_terminate_backend` or the file of `COPY`. Used in runs that may not write to databases.

Part of the broker: see `broker.py`. Reads words, never structure, so that no notation hides a call. It does not see what a
view, an operator, a policy or a function declared stable calls: only roles that may write can make these.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

READING = {"select", "values", "table", "with", "explain", "show"}
"""First words of statements that read."""

HARMLESS = [
    *("clock_timestamp", "timeofday", "random", "random_normal", "setseed", "gen_random_uuid", "uuidv4", "uuidv7"),
    *("pg_sleep", "pg_sleep_for", "pg_sleep_until", "currval", "lastval", "txid_current_if_assigned"),
    *("pg_relation_size", "pg_table_size", "pg_indexes_size", "pg_total_relation_size"),
    *("pg_database_size", "pg_tablespace_size", "pg_current_wal_lsn", "pg_is_in_recovery", "has_sequence_privilege"),
]
"""Volatile functions of PostgreSQL that change nothing which outlives the session."""

_BEFORE_FIRST_WORD = re.compile(r"[ \t\n\r\f\v]+|\(|--[^\n\r]*|/\*")
_COMMENT_MARK = re.compile(r"/\*|\*/")
_WORD = re.compile("[A-Za-z_\x80-\U0010ffff][A-Za-z_0-9$\x80-\U0010ffff]*")
_ODD_NAME = re.compile(r'u&"|""', re.I)
"""A quoted name with escapes, or with a quotation mark in it."""

_VOLATILE = """
SELECT p.proname FROM pg_catalog.pg_proc AS p
WHERE p.provolatile OPERATOR(pg_catalog.=) 'v'
  AND p.proname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[])
  AND p.prorettype OPERATOR(pg_catalog.<>) 'pg_catalog.trigger'::pg_catalog.regtype
  AND NOT (p.pronamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace
           AND p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.text[]))
ORDER BY 1 LIMIT 1
"""
"""With schemas everywhere: a `search_path` must not lead to other operators."""

Query = Callable[[str, list[Any]], list[tuple[Any, ...]]]


def effect_of(sql: str, query: Query) -> str | None:
    """Names what in a statement may have effects, as "it calls f". None: it reads. `query` asks the database."""
    first = first_word(sql)
    if first not in READING:
        return f"it begins with {first.upper()}" if first else "it does not begin with a word"
    if _ODD_NAME.search(sql):
        return 'a name in it could be written with U&" or ""'
    found = query(_VOLATILE, [sorted(names(sql)), HARMLESS])
    return f"it calls {found[0][0]}" if found else None


def first_word(sql: str) -> str:
    """First word after blanks, comments and parentheses, in small letters: it decides the kind of a statement."""
    at = 0
    while match := _BEFORE_FIRST_WORD.match(sql, at):
        at = _after_comment(sql, match.end()) if match[0] == "/*" else match.end()
    word = _WORD.match(sql, at)
    return word[0].lower() if word else ""


def _after_comment(sql: str, at: int) -> int:
    """Returns the end of a comment. In PostgreSQL comments nest."""
    depth = 1
    while depth:
        mark = _COMMENT_MARK.search(sql, at)
        if mark is None:
            return len(sql)
        depth, at = depth + (1 if mark[0] == "/*" else -1), mark.end()
    return at


def names(sql: str) -> set[str]:
    """All words of the text, also in strings and comments, and all that is between quotation marks: the names of its
    functions are among them.

    PostgreSQL folds ASCII letters of bare names, and other letters only in some encodings: both forms are given. It cuts
    names at 63 bytes.
    """
    words = {word for each in _WORD.findall(sql) for word in (each.lower(), _folded(each))}
    return {_cut(word) for word in words | set(sql.split('"'))}


def _folded(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def _cut(name: str) -> str:
    return name.encode()[:63].decode(errors="ignore")
