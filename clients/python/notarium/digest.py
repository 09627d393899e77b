"""Digest of a document: SHA-256 over its canonical JSON (protocol, section 2; RFC 8785)."""

import hashlib
import json
import re
from decimal import Decimal
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
# The order of code points can differ from that of UTF-16 units only if both occur.
_ASTRAL, _BEHIND_SURROGATES = re.compile("[\U00010000-\U0010ffff]"), re.compile("[\ue000-\uffff]")
# Integer that a double may not hold exactly. A match inside a string only costs time.
_LONG_NUMBER = re.compile(r"\d{16}")
_DEPTH_OF_ITEMS = 2


class _Float(Exception):
    """Number with a fraction or an exponent: Python prints it differently from ECMAScript."""


def _refuse_float(_: str) -> float:
    raise _Float


_DECODER = json.JSONDecoder(parse_float=_refuse_float)


def digest(document: dict[str, Any]) -> str:
    """The digest, in lower-case hex."""
    return hashlib.sha256(canonical(document).encode()).hexdigest()


def canonical(value: Any, depth: int = _DEPTH_OF_ITEMS) -> str:
    """Canonical JSON. The C encoder writes values that it prints as ECMAScript does; other values are written item by item."""
    text = _ENCODER.encode(value)
    if _is_canonical(text):
        return text
    if depth and isinstance(value, dict):
        return _object(value, lambda item: canonical(item, depth - 1))
    return _slowly(value)


def _is_canonical(text: str) -> bool:
    if _LONG_NUMBER.search(text) or (not text.isascii() and _ASTRAL.search(text) and _BEHIND_SURROGATES.search(text)):
        return False
    try:
        _DECODER.decode(text)
    except _Float:
        return False
    return True


def _object(value: dict[str, Any], write: Any) -> str:
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{_ENCODER.encode(key)}:{write(value[key])}" for key in keys) + "}"


def _slowly(value: Any) -> str:
    if isinstance(value, dict):
        return _object(value, _slowly)
    if isinstance(value, list):
        return "[" + ",".join(map(_slowly, value)) + "]"
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return _ENCODER.encode(value)
    return _number(float(value))


def _number(value: float) -> str:
    """A double as ECMAScript prints it."""
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        plain = format(Decimal(repr(value)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{'+' if int(exponent) > 0 else ''}{int(exponent)}"
