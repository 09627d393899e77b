"""Text changes in CodeMirror's format (protocol, section 4): apply, compose, map.

A change covers the whole text: `n` keeps n units, `[n]` deletes n, `[n, "line", "line"]` replaces n by those lines. Positions
count UTF-16 units. `splice` and `difference` take Python strings and count characters.
"""

import re
from difflib import SequenceMatcher
from typing import TypeAlias

Section: TypeAlias = int | list[int | str]
Change: TypeAlias = list[Section]
# Section as a pair: count of units, and their replacement (`None`: kept).
_Pair: TypeAlias = tuple[int, str | None]

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# Longer texts are compared only by their common ends: `difflib` is quadratic.
_MOST_LINES_COMPARED = 2_000


def to_units(text: str) -> str:
    """The text with one character for each UTF-16 unit, so that Python's indices count units."""
    if text.isascii() or not _ASTRAL.search(text):
        return text
    return _ASTRAL.sub(lambda found: _halves(ord(found[0])), text)


def _halves(point: int) -> str:
    point -= 0x10000
    return chr(0xD800 + (point >> 10)) + chr(0xDC00 + (point & 0x3FF))


def from_units(units: str) -> str:
    """The text of these UTF-16 units."""
    return units if units.isascii() else units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def apply_change(change: Change, text: str) -> str:
    """The text after the change.

    >>> apply_change([1, [0, "X"], 2], "abc")
    'aXbc'
    """
    units = text if text.isascii() else to_units(text)
    kept: list[str] = []
    at = 0
    for section in change:
        if isinstance(section, int):
            kept.append(units[at : at + section])
            at += section
        else:
            at += int(section[0])
            if len(section) > 1:
                kept.append("\n".join(map(str, section[1:])))
    if at != len(units):
        raise ValueError(f"the change is for {at} units, the text has {len(units)}")
    result = "".join(kept)
    return result if units is text else from_units(result)


def _pairs(change: Change) -> list[_Pair]:
    return [
        (section, None) if isinstance(section, int) else (int(section[0]), to_units("\n".join(map(str, section[1:]))))
        for section in change
    ]


def _sections(pairs: list[_Pair]) -> Change:
    return [
        length if text is None else [length, *from_units(text).split("\n")] if text else [length]
        for length, text in pairs
    ]


def _add(pairs: list[_Pair], length: int, text: str | None, is_open: bool = False) -> None:
    """Appends a section. Joins it to the last one by CodeMirror's rules."""
    if not length and not text:
        return
    if pairs:
        last_length, last_text = pairs[-1]
        is_same_kind = not text and not last_text and (text is None) == (last_text is None)
        if is_same_kind:
            pairs[-1] = (last_length + length, last_text)
            return
        if is_open or (not length and not last_length):
            pairs[-1] = (last_length + length, (last_text or "") + (text or ""))
            return
    pairs.append((length, text))


class _Walk:
    """Cursor in a change: the rest of the current section, and the part already passed."""

    __slots__ = ("index", "inserts", "is_done", "left", "pairs", "passed", "text")

    def __init__(self, change: Change) -> None:
        self.pairs, self.index = _pairs(change), 0
        self.next()

    def next(self) -> None:
        self.is_done, self.passed = self.index >= len(self.pairs), 0
        self.left, self.text = (0, None) if self.is_done else self.pairs[self.index]
        self.inserts = 0 if self.text is None else len(self.text)
        self.index += 1

    @property
    def is_kept(self) -> bool:
        return self.text is None and not self.is_done

    @property
    def is_changed(self) -> bool:
        return self.text is not None

    @property
    def left_after(self) -> int:
        """Remaining units of this section in the text after the change."""
        return self.left if self.text is None else self.inserts

    def forward(self, length: int) -> None:
        if length == self.left:
            self.next()
        else:
            self.left, self.passed = self.left - length, self.passed + length

    def forward_after(self, length: int) -> None:
        """Moves forward by units of the text after the change."""
        if self.text is None:
            self.forward(length)
        elif length == self.inserts:
            self.next()
        else:
            self.inserts, self.passed = self.inserts - length, self.passed + length


def compose(first: Change, second: Change) -> Change:
    """One change that does what `first` and then `second` do.

    >>> compose([[0, "a"]], [1, [0, "b"]])
    [[0, 'ab']]
    """
    pairs: list[_Pair] = []
    a, b, is_open = _Walk(first), _Walk(second), False
    while not (a.is_done and b.is_done):
        if a.is_changed and not a.inserts:
            _add(pairs, a.left, "", is_open)
            a.next()
        elif not b.left and not b.is_done:
            _add(pairs, 0, b.text, is_open)
            b.next()
        elif a.is_done or b.is_done:
            raise ValueError("the second change is for a text of another length")
        else:
            length, before = min(a.left_after, b.left), len(pairs)
            replaced = a.left if a.is_kept or not a.passed else 0
            if a.is_kept:
                _add(pairs, length, None if b.text is None else "" if b.passed else b.text, is_open)
            elif b.is_kept:
                text = (a.text or "")[a.passed : a.passed + length]
                _add(pairs, replaced, text, is_open)
            else:
                _add(pairs, replaced, "" if b.passed else b.text, is_open)
            is_cut = (a.is_changed and a.inserts > length) or (b.is_changed and b.left > length)
            is_open = is_cut and (is_open or len(pairs) > before)
            a.forward_after(length)
            b.forward(length)
    return _sections(pairs)


def map_change(change: Change, over: Change, before: bool = False) -> Change:
    """Rebases a change over `over`. With `before`, its insertion comes first if both insert at the same position.

    >>> map_change([[0, "mine"], 1], [[0, "theirs"], 1])
    [6, [0, 'mine'], 1]
    """
    pairs: list[_Pair] = []
    a, b, inserted = _Walk(change), _Walk(over), 0
    while not (a.is_done and b.is_done):
        if (a.is_done and b.left) or (b.is_done and a.left):
            raise ValueError("the changes are for texts of different lengths")
        if a.is_kept and b.is_kept:
            length = min(a.left, b.left)
            _add(pairs, length, None)
            a.forward(length)
            b.forward(length)
        elif b.is_changed and (not a.is_changed or inserted == a.index or _is_first(b, a, before)):
            inserted = _pass_over(pairs, a, b, inserted)
        else:
            length, left = _not_deleted(a, b)
            _add(pairs, length, a.text if inserted < a.index else "")
            inserted = a.index
            a.forward(a.left - left)
    return _sections(pairs)


def _is_first(b: _Walk, a: _Walk, before: bool) -> bool:
    return not a.passed and (b.left < a.left or (b.left == a.left and not before))


def _pass_over(pairs: list[_Pair], a: _Walk, b: _Walk, inserted: int) -> int:
    """Passes a section of the other change: keeps its insertion; our sections that it covers keep only their insertions."""
    length = b.left
    _add(pairs, b.inserts, None)
    while length:
        piece = min(a.left, length)
        if a.is_changed and inserted < a.index and a.left <= piece:
            _add(pairs, 0, a.text)
            inserted = a.index
        a.forward(piece)
        length -= piece
    b.next()
    return inserted


def _not_deleted(a: _Walk, b: _Walk) -> tuple[int, int]:
    """Units of our section that remain, and units of it after the other change's next insertion."""
    length, left = 0, a.left
    while left:
        if b.is_kept:
            piece = min(left, b.left)
            length, left = length + piece, left - piece
            b.forward(piece)
        elif b.is_changed and not b.inserts and b.left < left:
            left -= b.left
            b.next()
        else:
            break
    return length, left


def map_position(position: int, change: Change, is_start: bool) -> int:
    """Position of a range's end after the change. Text typed at the edges is outside (section 4, “Comments”)."""
    old = new = 0
    for length, text in _pairs(change):
        size = length if text is None else len(text)
        if text is None and old + length > position:
            return new + position - old
        if text is not None and (old + length > position or (old + length == position and not length and not is_start)):
            return new if position == old or not is_start else new + size
        old, new = old + length, new + size
    return new


def splice(text: str, start: int, end: int, inserted: str) -> Change:
    """The change that replaces the characters from `start` to `end` by `inserted`.

    >>> splice("1 + 1", 4, 5, "2")
    [4, [1, '2']]
    """
    start, end, _ = slice(start, end).indices(len(text))
    units = [len(to_units(part)) for part in (text[:start], text[start : max(start, end)], text[max(start, end) :])]
    pairs: list[_Pair] = []
    _add(pairs, units[0], None)
    _add(pairs, units[1], to_units(inserted))
    _add(pairs, units[2], None)
    return _sections(pairs)


def difference(old: str, new: str) -> Change:
    """A small change from `old` to `new`, so that concurrent edits by others remain.

    >>> difference("a = 1\\nb = 2\\n", "a = 1\\nb = 3\\n")
    [10, [1, '3'], 1]
    """
    pairs: list[_Pair] = []
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if max(len(old_lines), len(new_lines)) > _MOST_LINES_COMPARED:
        old_lines, new_lines = [old], [new]
    for _, start, end, new_start, new_end in SequenceMatcher(None, old_lines, new_lines, False).get_opcodes():
        _add_difference(pairs, "".join(old_lines[start:end]), "".join(new_lines[new_start:new_end]))
    return _sections(pairs)


def _add_difference(pairs: list[_Pair], old: str, new: str) -> None:
    same = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - same)
    _add(pairs, len(to_units(old[:same])), None)
    _add(pairs, len(to_units(old[same : len(old) - tail])), to_units(new[same : len(new) - tail]))
    _add(pairs, len(to_units(old[len(old) - tail :])), None)


def _common(one: str, other: str) -> int:
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))
