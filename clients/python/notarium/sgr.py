"""Colours and attributes of characters (SGR), read from escape sequences and written as such."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class Style(NamedTuple):
    """Look of a character. Colours are SGR codes; "" is the default one."""

    fore: str = ""
    back: str = ""
    # Attributes from 1 (bold) to 9 (struck out), in order.
    attributes: tuple[int, ...] = ()


DEFAULT = Style()


@lru_cache(4096)
def erased(style: Style) -> Style:
    """Look of an erased place: its background alone."""
    return Style(back=style.back)


@lru_cache(4096)
def styled(style: Style, parameters: str) -> Style:
    """The style after an SGR sequence with these parameters."""
    parts = iter(parameters.split(";"))
    for part in parts:
        code, colon, detail = part.partition(":")
        if colon:
            style = _detailed(style, code, detail)
        elif part and int(part) in (38, 48, 58):
            colour = _colour(parts)
            if colour:
                style = _coloured(style, int(part), colour)
        else:
            style = _applied(style, int(part or "0"))
    return style


def _coloured(style: Style, code: int, colour: str) -> Style:
    if code == 38:
        return style._replace(fore=f"38;{colour}")
    return style._replace(back=f"48;{colour}") if code == 48 else style


def _applied(style: Style, code: int) -> Style:
    if code == 0:
        return DEFAULT
    if 1 <= code <= 9:
        return style._replace(attributes=tuple(sorted({*style.attributes, code})))
    if 22 <= code <= 29:
        ended = {22: (1, 2), 25: (5, 6)}.get(code, (code - 20,))
        return style._replace(attributes=tuple(one for one in style.attributes if one not in ended))
    if 30 <= code <= 37 or 90 <= code <= 97:
        return style._replace(fore=str(code))
    if 40 <= code <= 47 or 100 <= code <= 107:
        return style._replace(back=str(code))
    if code in (39, 49):
        return style._replace(fore="") if code == 39 else style._replace(back="")
    return style


def _byte(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text.lstrip("0")) < 4 and int(text) < 256 else None


def _colour(parts: Iterator[str]) -> str:
    """Reads `5;INDEX` or `2;RED;GREEN;BLUE`. Ends at the first parameter that is no byte."""
    kind = _byte(next(parts, ""))
    codes: list[str] = []
    for _ in range({5: 1, 2: 3}.get(kind or 0, 0)):
        code = _byte(next(parts, ""))
        if code is None:
            return ""
        codes.append(str(code))
    return ";".join([str(kind), *codes]) if codes else ""


def _detailed(style: Style, code: str, detail: str) -> Style:
    """Applies a parameter with parts: `4:3` (kinds of underlines), `38:5:1`, `38:2::1:2:3`."""
    numbers = [_byte(part) or 0 for part in detail.split(":")]
    if code == "4":
        return _applied(style, 24 if numbers[0] == 0 else 4)
    if code not in ("38", "48"):
        return style
    colour = ""
    if numbers[0] == 5 and len(numbers) > 1:
        colour = f"5;{numbers[1]}"
    elif numbers[0] == 2 and len(numbers) > 3:
        first = 1 if len(numbers) == 4 else 2
        colour = ";".join(map(str, [2, *numbers[first : first + 3]]))
    if colour:
        return _coloured(style, int(code), colour)
    return style._replace(fore="") if code == "38" else style._replace(back="")


def change(old: Style, new: Style) -> str:
    """Escape sequences that turn one style into another."""
    if old == new:
        return ""
    reset = "" if old == DEFAULT else "\x1b[0m"
    if new == DEFAULT:
        return reset
    codes = [*map(str, new.attributes), *filter(None, (new.fore, new.back))]
    return f"{reset}\x1b[{';'.join(codes)}m"
