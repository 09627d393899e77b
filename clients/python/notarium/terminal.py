"""Text of programs as a terminal shows it: 4,000 columns wide, never scrolling. Colours stay as escape sequences.

Does what `src/terminal/` does, byte for byte; `tests/fixtures/terminal/` has cases that both read.
"""

from __future__ import annotations

import re
from enum import Enum

from .escapes import Kind, is_plain, next_part, plain_end
from .screen import Row, Screen, UnknownEffect
from .sgr import DEFAULT, Style, change, styled

MAX_ROWS = 2_000
MAX_CELLS = 262_144
# Longest run of characters that is written to the screen before its size is checked, in bytes.
_STEP_BYTES = 4_096


def folded(text: str) -> str:
    """The text that a terminal shows at its end, with colours as escape sequences.

    >>> folded("50%\\r100%\\ndone\\n")
    '100%\\ndone\\n'
    """
    return text if is_plain(text) else _Fold().folded(text)


class _Mode(Enum):
    FOLDING = 1
    # In a line that is too long: the text stays as it came up to the line's end.
    LONG_LINE = 2
    # After a sequence with an unknown effect: the text stays as it came.
    STOPPED = 3


class _Fold:
    def __init__(self) -> None:
        self.mode = _Mode.FOLDING
        self.screen = Screen(MAX_ROWS)
        self.out = Writer()
        # Text behind all others that is not on the screen yet, and its bytes.
        self.pending: list[str] = []
        self.pending_bytes = 0
        # Bytes written to the screen since its size was measured.
        self.unmeasured = 0

    def folded(self, text: str) -> str:
        at = 0
        while at < len(text):
            if self.mode is _Mode.STOPPED:
                self.out.put(text[at:])
                break
            end = self.fold_part(text, at) if self.mode is _Mode.FOLDING else self.pass_part(text, at)
            if end is None:
                return self.finished() + text[at:]
            at = end
        return self.finished()

    def fold_part(self, text: str, at: int) -> int | None:
        """Folds the next part; returns its end. None: the text ends within a sequence."""
        if self.pending or self.screen.is_at_end:
            end = self.append(text, at)
            if end > at:
                return end
        part = next_part(text, at)
        if part.kind is Kind.UNFINISHED:
            return None
        if part.kind is Kind.DROPPED:
            return part.end
        self.place_pending()
        if self.mode is not _Mode.FOLDING:
            return at
        content = text[at : part.end]
        if part.kind is Kind.TEXT:
            content = _within(content, _STEP_BYTES)
        try:
            self.screen.apply(part, content)
        except UnknownEffect:
            self.flush()
            self.mode = _Mode.STOPPED
            return at
        self.unmeasured += _bytes(content)
        self.forget()
        return at + len(content)

    def append(self, text: str, at: int) -> int:
        """Appends text behind all others as it came, if the next part allows it; returns its end."""
        end = plain_end(text, at)
        kept = text[at:end]
        if end == at:
            if text.startswith("\r\n", at):
                kept, end = "\n", at + 2
            else:
                part = next_part(text, at)
                if not (part.kind is Kind.KEPT or (part.kind is Kind.CSI and part.final == "m")):
                    return at
                kept, end = text[at : part.end], part.end
        self.pending.append(kept)
        self.pending_bytes += _bytes(kept)
        if self.pending_bytes > 2 * MAX_CELLS:
            self.settle_beginning()
        return end

    def settle_beginning(self) -> None:
        """Writes out all pending lines but the last ones, and forgets the rows."""
        self.flush()
        pending = "".join(self.pending)
        last = pending.encode("utf8", "surrogatepass")
        cut = last.find(b"\n", len(last) - MAX_CELLS) + 1 or len(last)
        if cut == len(last) and not last.endswith(b"\n"):
            self.mode = _Mode.LONG_LINE
        gone = last[:cut].decode("utf8", "surrogatepass")
        self.out.put(gone)
        style = self.screen.style
        for parameters in re.findall("\x1b\\[([0-9:;]*)m", gone):
            style = styled(style, parameters)
        self.restart(len(self.screen.rows) - 1 + gone.count("\n"), style)
        self.pending = [pending[len(gone) :]] if len(gone) < len(pending) else []
        self.pending_bytes = len(last) - cut

    def restart(self, rows_above: int, style: Style) -> None:
        self.screen.restart(rows_above, style)
        self.out.follow_unchanged(self.screen)

    def place_pending(self) -> None:
        """Puts the pending text on the screen."""
        pending = "".join(self.pending)
        self.unmeasured += self.pending_bytes
        self.pending, self.pending_bytes = [], 0
        self.screen.append(pending)
        self.forget()

    def forget(self) -> None:
        """Keeps the screen within its limits: writes the first rows out and forgets them."""
        screen = self.screen
        if len(screen.rows) <= MAX_ROWS and self.unmeasured < MAX_CELLS // 4:
            return
        self.unmeasured = 0
        cells = sum(len(row.cells) for row in screen.rows)
        while (len(screen.rows) > MAX_ROWS or cells > MAX_CELLS) and screen.y > 0:
            self.out.write_row(screen, 0)
            self.out.move_down(1)
            cells -= len(screen.rows[0].cells)
            screen.forget_first()
            self.out.forget_first()
        if cells > MAX_CELLS:
            self.flush()
            if len(screen.rows) > 1:
                self.mode = _Mode.STOPPED
            else:
                self.restart(0, screen.style)
                self.mode = _Mode.LONG_LINE

    def flush(self) -> None:
        """Writes what changed on the screen, and moves to its cursor."""
        if not self.out.has_all(self.screen):
            self.out.write_changes(self.screen)
            self.out.follow(self.screen)

    def pass_part(self, text: str, at: int) -> int | None:
        """Passes on one part of a line that is too long; folds again from its end."""
        part = next_part(text, at)
        if part.kind is Kind.UNFINISHED:
            return None
        content = text[at : part.end]
        if part.kind is Kind.CSI and part.final == "m":
            self.screen.style = styled(self.screen.style, part.parameters)
        elif content == "\n":
            self.mode = _Mode.FOLDING
            self.restart(1, self.screen.style)
        elif part.kind in (Kind.CSI, Kind.UNKNOWN):
            self.mode = _Mode.STOPPED
            return at
        self.out.put(content)
        return part.end

    def finished(self) -> str:
        """All text as it is at the end: without moves of the cursor, unless text follows that is not folded."""
        if self.mode is not _Mode.FOLDING:
            return self.out.text()
        screen, out = self.screen, self.out
        if not out.has_all(screen):
            self.place_pending()
        if self.pending or self.mode is not _Mode.FOLDING:
            self.flush()
            return out.text() + "".join(self.pending)
        was_followed = out.has_all(screen)
        for row in screen.rows:
            if row.is_changed:
                row.trim()
        out.write_changes(screen)
        out.move_down(screen.y)
        if not was_followed:
            out.dress(DEFAULT)
        return out.text()


class Writer:
    """Writes rows as text, and knows where a reader's terminal is after it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.y = self.x = 0
        self.style = DEFAULT

    def text(self) -> str:
        """All that was written."""
        return "".join(self._parts)

    def put(self, text: str) -> None:
        """Writes text that changes the reader's place in a way that its caller notes."""
        self._parts.append(text)

    def has_all(self, screen: Screen) -> bool:
        """True if nothing is left to write."""
        is_here = (self.y, self.x, self.style) == (screen.y, screen.x, screen.style)
        return is_here and not any(row.is_changed for row in screen.rows)

    def follow_unchanged(self, screen: Screen) -> None:
        """Notes that the reader has got the text unchanged."""
        self.y, self.x, self.style = screen.y, screen.x, screen.style

    def forget_first(self) -> None:
        """Notes that the first row is forgotten. The reader must be below it."""
        self.y -= 1

    def write_changes(self, screen: Screen) -> None:
        """Writes all changed rows."""
        for at in range(len(screen.rows)):
            self.write_row(screen, at)

    def write_row(self, screen: Screen, at: int) -> None:
        """Writes a row if it changed."""
        row = screen.rows[at]
        if not row.is_changed:
            return
        if at != screen.y:
            row.trim()
        row.is_changed = False
        if not row.cells and row.rest == DEFAULT:
            return
        original = row.original
        if original is not None and original.column == 0:
            self.move_to(at, 0)
            self.dress(original.before)
            self.put(original.text)
            self.x, self.style = original.end, original.after
            return
        self._write_cells(row, at)
        self.dress(screen.style)

    def _write_cells(self, row: Row, at: int) -> None:
        self.move_to(at, 0)
        for text, style in row.cells:
            self.dress(style)
            self.put(text)
        self.x = len(row.cells)
        if row.rest != DEFAULT:
            self.dress(row.rest)
            self.put("\x1b[K")

    def dress(self, style: Style) -> None:
        """Changes to a style."""
        if style != self.style:
            self.put(change(self.style, style))
            self.style = style

    def move_down(self, y: int) -> None:
        """Moves down to a row."""
        if self.y < y:
            self.put("\n" * (y - self.y))
            self.y, self.x = y, 0

    def move_to(self, y: int, x: int) -> None:
        """Moves to a place."""
        self.move_down(y)
        if self.y > y:
            self.put(f"\x1b[{self.y - y}A")
            self.y = y
        if self.x == x:
            return
        if self.x > 0:
            self.put("\r")
        if x > 0:
            self.put(f"\x1b[{x}C")
        self.x = x

    def follow(self, screen: Screen) -> None:
        """Moves to the screen's cursor."""
        self.move_to(screen.y, screen.x)
        self.dress(screen.style)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf8", "surrogatepass"))


def _within(text: str, most: int) -> str:
    """The longest beginning of at most that many bytes."""
    return text[:most] if text.isascii() else text.encode("utf8", "replace")[:most].decode("utf8", "ignore")
