"""Rows of a terminal and its cursor. Rows above the first one may be unknown."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from functools import lru_cache
from typing import NamedTuple

from .escapes import Kind, Part, next_part
from .sgr import DEFAULT, Style, erased, styled
from .widths import STARTS, WIDTHS

# Columns to which a cursor can be moved.
COLUMNS = 4_000
# Most bytes of marks (accents, joined emoji) behind a character.
_MARK_BYTES = 64

# Characters of one column, with their marks, and their style. The second column of a wide character has no text.
Cell = tuple[str, Style]
_BLANK: Cell = (" ", DEFAULT)


class UnknownEffect(Exception):
    """The effect of a part depends on something that is not known."""


class Original(NamedTuple):
    """Text of a row as it came, from a column to the end, with the styles before and after it and the column after it."""

    column: int
    text: str
    before: Style
    after: Style
    end: int


@lru_cache(4096)
def width(character: str) -> int:
    """Columns of a character."""
    return WIDTHS[bisect_right(STARTS, ord(character)) - 1]


class Row:
    """One line of the screen."""

    __slots__ = ("cells", "is_changed", "original", "rest")

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        # Style of the columns behind the cells.
        self.rest = DEFAULT
        # True if the row differs from what was written out.
        self.is_changed = False
        # All that changed, if it is still as it came.
        self.original: Original | None = None

    def touch(self) -> None:
        """Notes a change."""
        self.is_changed = True
        self.original = None

    def trim(self) -> None:
        """Removes plain blanks at the end."""
        if self.rest == DEFAULT and self.original is None:
            while self.cells and self.cells[-1] == _BLANK:
                self.cells.pop()

    def extend_to(self, column: int) -> None:
        """Fills the row with blanks up to a column."""
        missing = column - len(self.cells)
        if missing > 0:
            self.touch()
            self.cells.extend([(" ", self.rest)] * missing)

    def split_wide(self, column: int) -> None:
        """Puts blanks in place of a wide character whose second half is at a column."""
        if 0 < column < len(self.cells) and self.cells[column][0] == "":
            for half in (column - 1, column):
                self.cells[half] = (" ", self.cells[half][1])
            self.touch()

    def put(self, column: int, character: str, columns: int, style: Style) -> None:
        """Writes a character."""
        self.extend_to(column)
        if column < len(self.cells):
            self.split_wide(column)
            self.split_wide(column + columns)
        self.touch()
        self.cells[column : column + columns] = [(character, style), *[("", style)] * (columns - 1)]

    def put_all(self, column: int, text: str, style: Style) -> None:
        """Writes characters of one column each."""
        self.extend_to(column)
        end = column + len(text)
        if column < len(self.cells):
            self.split_wide(column)
            self.split_wide(end)
        self.touch()
        self.cells[column:end] = [(character, style) for character in text]

    def mark(self, column: int, mark: str) -> None:
        """Adds a character without a width to the one before the column."""
        at = column - 1
        if not 0 <= at < len(self.cells):
            return
        if self.cells[at][0] == "":
            at -= 1
        text, style = self.cells[at]
        if len(text[1:].encode("utf8", "surrogatepass")) < _MARK_BYTES:
            self.cells[at] = (text + mark, style)
            self.touch()

    def erase(self, start: int, end: int | None, style: Style) -> None:
        """Erases columns; no end means all behind."""
        if end is not None and (end < len(self.cells) or style != self.rest):
            self.extend_to(end)
            self.split_wide(start)
            self.split_wide(end)
            self.cells[start:end] = [(" ", style)] * (end - start)
        else:
            if start < len(self.cells):
                self.split_wide(start)
                del self.cells[start:]
            if style != self.rest:
                self.extend_to(start)
                self.rest = style
        self.touch()

    def delete(self, start: int, count: int) -> None:
        """Removes columns; the rest of the row moves to the left."""
        if start < len(self.cells):
            end = min(start + count, len(self.cells))
            self.split_wide(start)
            self.split_wide(end)
            del self.cells[start:end]
            self.touch()

    def insert(self, at: int, count: int) -> None:
        """Inserts blank columns; the rest of the row moves to the right."""
        if at < len(self.cells):
            self.split_wide(at)
            self.cells[at:at] = [_BLANK] * count
            self.touch()


class Screen:
    """The rows that are kept, the cursor and the style of the next character."""

    def __init__(self, max_rows: int) -> None:
        self.rows: deque[Row] = deque([Row()])
        # Rows above the first one, which were forgotten.
        self.forgotten = 0
        self.y = self.x = 0
        self.style = DEFAULT
        self._max_rows = max_rows

    def restart(self, rows_above: int, style: Style) -> None:
        """Forgets all rows and begins a new one below them."""
        self.forgotten += rows_above
        self.rows = deque([Row()])
        self.y = self.x = 0
        self.style = style

    def forget_first(self) -> None:
        """Forgets the first row. The cursor must be below it."""
        self.rows.popleft()
        self.forgotten += 1
        self.y -= 1

    @property
    def is_at_end(self) -> bool:
        """True if the next character comes behind all others."""
        return self.y + 1 == len(self.rows) and self.x >= len(self.rows[self.y].cells)

    def apply(self, part: Part, content: str) -> None:
        """Carries out a part of the text. Raises `UnknownEffect`."""
        if part.kind is Kind.TEXT:
            self._write(content)
        elif part.kind is Kind.CONTROL:
            self._control(content)
        elif part.kind is Kind.CSI:
            if part.final == "m":
                self.style = styled(self.style, part.parameters)
            else:
                self._sequence(part.parameters, part.final)
        elif part.kind is Kind.UNKNOWN:
            raise UnknownEffect

    def append(self, text: str) -> None:
        """Appends text behind all others, and keeps it as it came as long as its rows do not change."""
        for number, line in enumerate(text.split("\n")):
            if number > 0:
                self._control("\n")
            row, column, before = self.rows[self.y], self.x, self.style
            was_changed, at = row.is_changed, 0
            while at < len(line):
                part = next_part(line, at)
                self.apply(part, line[at : part.end])
                at = part.end
            if row.is_changed and not was_changed:
                row.original = Original(column, line, before, self.style, self.x)

    def _write(self, text: str) -> None:
        row, style, x = self.rows[self.y], self.style, self.x
        if text.isascii():
            row.put_all(x, text, style)
            self.x += len(text)
            return
        for character in text:
            columns = width(character)
            if columns == 0:
                row.mark(x, character)
            else:
                row.put(x, character, columns, style)
                x += columns
        self.x = x

    def _control(self, control: str) -> None:
        if control == "\n":
            self.x = 0
            self.y += 1
            if self.y == len(self.rows):
                self.rows.append(Row())
        elif control == "\r":
            self.x = 0
        elif control == "\t":
            self.x = self.x // 8 * 8 + 8
        else:
            self.x = max(0, self.x - 1)

    def _sequence(self, parameters: str, final: str) -> None:
        first, second = [*map(_number, parameters.split(";")), 0][:2]
        count, row = max(first, 1), self.rows[self.y]
        if final in "AF":
            self._up(count)
        elif final in "BE":
            self._move_to_row(self.forgotten + self.y + count)
        elif final in "Hfd":
            self._move_to_row(count - 1)
        if final in "EFHf":
            self.x = 0
        if final == "C":
            self._move_to_column(self.x + count)
        elif final == "D":
            self.x = max(0, self.x - count)
        elif final in "GHf":
            self._move_to_column((count if final == "G" else max(second, 1)) - 1)
        elif final == "K":
            self._erase_in_row(first)
        elif final == "J":
            self._erase_rows(first)
        elif final == "X":
            row.erase(self.x, self.x + min(count, COLUMNS), erased(self.style))
        elif final == "P":
            row.delete(self.x, count)
        elif final == "@":
            row.insert(self.x, min(count, COLUMNS))

    def _move_to_column(self, column: int) -> None:
        self.x = min(column, max(COLUMNS - 1, self.x))

    def _up(self, count: int) -> None:
        if count > self.y and self.forgotten > 0:
            raise UnknownEffect
        self.y = max(0, self.y - count)

    def _move_to_row(self, row: int) -> None:
        """Moves to a row, counted from the first of all."""
        row -= self.forgotten
        if not 0 <= row < self._max_rows:
            raise UnknownEffect
        while len(self.rows) <= row:
            self.rows.append(Row())
        self.y = row

    def _erase_in_row(self, kind: int) -> None:
        if kind > 2:
            raise UnknownEffect
        start, end = [(self.x, None), (0, self.x + 1), (0, None)][kind]
        self.rows[self.y].erase(start, end, erased(self.style))

    def _erase_rows(self, kind: int) -> None:
        if kind > 3 or (kind > 0 and self.forgotten > 0):
            raise UnknownEffect
        start, end = (self.y + 1, len(self.rows)) if kind == 0 else (0, self.y if kind == 1 else len(self.rows))
        for at in range(start, end):
            self.rows[at].erase(0, None, erased(self.style))
        if kind < 2:
            self._erase_in_row(kind)


def _number(text: str) -> int:
    """A parameter. One that is missing, or above 65,535, counts as 0."""
    return int(text) if text.isdecimal() and len(text.lstrip("0")) < 6 and int(text) < 65_536 else 0
