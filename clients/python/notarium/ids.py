"""Client-chosen ids: ULIDs, which sort by time."""

import os
import time

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id() -> str:
    """A new ULID."""
    number = int(time.time() * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))
