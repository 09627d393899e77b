"""Splits text of programs into plain runs, control characters and escape sequences."""

import re
from enum import Enum
from typing import NamedTuple

# Longest escape sequence that is waited for, in bytes. A longer one is not folded.
_MAX_SEQUENCE_BYTES = 4_096
_PRINTED = re.compile("[^\x00-\x1f\x7f-\x9f]+")
_PLAIN = re.compile("[^\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_CSI = re.compile("\x1b\\[([\x20-\x3f]*)")
_COMMAND = re.compile("\x1b\\][^\x00-\x1f]*")
_MODES = {"?25", "?12", "?7", "?2004", "?2026", "?1004", "?1"}
_NUMBERS = re.compile("[0-9:;]*")


class Kind(Enum):
    """Kind of a part of a text."""

    TEXT = 1
    CONTROL = 2
    CSI = 3
    # Without an effect on characters, but with content: a link, a title, a bell.
    KEPT = 4
    # Without an effect on characters: a cursor's look, a mode of the keyboard.
    DROPPED = 5
    # The effect is not known.
    UNKNOWN = 6
    # The text ends within a sequence.
    UNFINISHED = 7


class Part(NamedTuple):
    """A part of a text, up to its end. Parameters and final character are those of a CSI sequence."""

    kind: Kind
    end: int
    parameters: str = ""
    final: str = ""


def is_plain(text: str) -> bool:
    """True if the text needs no folding."""
    return plain_end(text, 0) == len(text)


def plain_end(text: str, at: int) -> int:
    """End of the printed text, line breaks and tabs at a place."""
    found = _PLAIN.match(text, at)
    return found.end() if found else at


def next_part(text: str, at: int) -> Part:
    """The part of the text at a place."""
    printed = _PRINTED.match(text, at)
    if printed:
        return Part(Kind.TEXT, printed.end())
    character = text[at]
    if character == "\x1b":
        return _sequence(text, at)
    if character in "\n\r\t\b":
        return Part(Kind.CONTROL, at + 1)
    return Part(Kind.UNKNOWN if character in "\v\f" or character >= "\x80" else Kind.KEPT, at + 1)


def without_escapes(text: str) -> str:
    """The text without escape sequences; other characters stay."""
    kept, start, at = [], 0, text.find("\x1b")
    while at >= 0:
        kept.append(text[start:at])
        part = next_part(text, at)
        start = _skipped(text, at) if part.kind is Kind.UNKNOWN else part.end
        at = text.find("\x1b", start)
    return "".join(kept) + text[start:]


def _skipped(text: str, at: int) -> int:
    """End of a sequence with an unknown effect: its final character."""
    found = _CSI.match(text, at)
    if found is None:
        return min(at + 2, len(text))
    end = found.end()
    return end + 1 if "@" <= text[end : end + 1] <= "\x7f" else end


def _sequence(text: str, at: int) -> Part:
    second = text[at + 1 : at + 2]
    if second == "[":
        return _csi(text, at)
    if second == "]":
        return _command(text, at)
    if second == "":
        return Part(Kind.UNFINISHED, len(text))
    if second in "=>\\":
        return Part(Kind.DROPPED, at + 2)
    if second in "()":
        third = text[at + 2 : at + 3]
        if third == "":
            return Part(Kind.UNFINISHED, len(text))
        return Part(Kind.DROPPED, at + 3) if third == "B" else Part(Kind.UNKNOWN, at + 1)
    return Part(Kind.UNKNOWN, at + 1)


def _csi(text: str, at: int) -> Part:
    found = _CSI.match(text, at)
    if found is None or found.end() == len(text):
        return _unfinished(text, at)
    parameters, final, end = found[1], text[found.end()], found.end() + 1
    if final in "hl" and parameters in _MODES:
        return Part(Kind.DROPPED, end)
    if (final == "q" and parameters.endswith(" ")) or (final in "nc" and re.fullmatch("[0-9]*", parameters)):
        return Part(Kind.DROPPED, end)
    if not _NUMBERS.fullmatch(parameters):
        return Part(Kind.DROPPED, end) if final == "m" else Part(Kind.UNKNOWN, at + 1)
    return Part(Kind.CSI, end, parameters, final) if final in "ABCDEFGHJKPX@dfm" else Part(Kind.UNKNOWN, at + 1)


def _command(text: str, at: int) -> Part:
    """An operating system command: a link, a title."""
    found = _COMMAND.match(text, at)
    if found is None or found.end() == len(text):
        return _unfinished(text, at)
    end = found.end()
    if text[end] == "\x07":
        return Part(Kind.KEPT, end + 1)
    if text.startswith("\x1b\\", end):
        return Part(Kind.KEPT, end + 2)
    return _unfinished(text, at) if text[end:] == "\x1b" else Part(Kind.UNKNOWN, at + 1)


def _unfinished(text: str, at: int) -> Part:
    is_long = len(text[at:].encode("utf8", "surrogatepass")) > _MAX_SEQUENCE_BYTES
    return Part(Kind.UNKNOWN, at + 1) if is_long else Part(Kind.UNFINISHED, len(text))
