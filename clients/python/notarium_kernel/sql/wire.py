"""Messages between a kernel and the broker of a connection: frames of a JSON head and bytes, over a socket.

A value is sent as JSON, or as `{"type": "text"}` if JSON has no such type. Rows are sent as an Arrow stream, so that types survive.
"""

from __future__ import annotations

import base64
import datetime
import json
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

_SIZES = struct.Struct(">II")
MAX_HEAD = 64 << 20
MAX_BODY = 256 << 20


class ConnectionClosed(Exception):
    """The other side is gone."""


def send(socket: Any, head: dict[str, Any], body: bytes | memoryview = b"") -> None:
    text = json.dumps(head).encode()
    socket.sendall(_SIZES.pack(len(text), len(body)) + text)
    if body:
        socket.sendall(body)


def receive(socket: Any) -> tuple[dict[str, Any], bytes]:
    head_size, body_size = _SIZES.unpack(_exactly(socket, _SIZES.size))
    if head_size > MAX_HEAD or body_size > MAX_BODY:
        raise ConnectionClosed
    head = json.loads(_exactly(socket, head_size))
    return head, _exactly(socket, body_size)


def _exactly(socket: Any, size: int) -> bytes:
    found = bytearray(size)
    view, at = memoryview(found), 0
    while at < size:
        got = socket.recv_into(view[at:])
        if not got:
            raise ConnectionClosed
        at += got
    return bytes(found)


_OF_TEXT: dict[str, Callable[[str], Any]] = {
    "decimal": Decimal,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "uuid": uuid.UUID,
    "bytes": base64.b64decode,
    "seconds": lambda text: datetime.timedelta(microseconds=int(text)),
    "int": int,
    "float": float,
}


def packed(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, list):
        return [packed(each) for each in value]
    if isinstance(value, datetime.timedelta):
        return {"seconds": str(value // datetime.timedelta(microseconds=1))}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    for name, kind in (("int", int), ("float", float), ("decimal", Decimal), ("uuid", uuid.UUID)):
        if isinstance(value, kind):
            return {name: str(value)}
    name = (
        "datetime" if isinstance(value, datetime.datetime) else "date" if isinstance(value, datetime.date) else "time"
    )
    return {name: value.isoformat()}


def unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [unpacked(each) for each in value]
    if isinstance(value, dict):
        ((name, text),) = value.items()
        return _OF_TEXT[name](text)
    return value
