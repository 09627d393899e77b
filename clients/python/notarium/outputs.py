"""Outputs of runs, as in nbformat. Large parts are fetched on demand."""

import asyncio
import copy
import hashlib
import html
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from .document import Json
from .errors import NotariumError
from .escapes import without_escapes
from .session import Session
from .terminal import folded


def as_text(value: Any) -> str:
    """Text of nbformat, which is a string or a list of lines, as a string."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


class Output:
    """One output: a `stream`, `display_data`, an `execute_result` or an `error`."""

    def __init__(self, session: Session, notebook_id: str, raw: Json, pieces: Sequence[Json] = ()) -> None:
        self._session, self._notebook_id, self._raw = session, notebook_id, raw
        # Recorded pieces of a stream that this output joins, and the content with their text.
        self._pieces, self._joined = pieces, None if pieces else raw["content"]

    @property
    def content(self) -> dict[str, Any]:
        """nbformat's output object, without the parts in `missing`. A stream's text is as a terminal shows it."""
        if self._joined is None:
            content = self._raw["content"]
            self._joined = {**content, "text": folded(content["text"])}
        return self._joined

    @property
    def pieces(self) -> list[dict[str, Any]]:
        """nbformat's output objects as they were recorded: many for a stream, whose text comes in pieces."""
        return [piece["content"] for piece in self._pieces or (self._raw,)]

    @property
    def output_type(self) -> str:
        """`stream`, `display_data`, `execute_result` or `error`."""
        return str(self.content.get("output_type", ""))

    @property
    def name(self) -> str | None:
        """`stdout` or `stderr` if the output is a stream."""
        return self.content.get("name")

    @property
    def data(self) -> dict[str, Any]:
        """Data by MIME type. Large parts are in `missing` until `fetch`."""
        data: Json = self.content.get("data", {})
        return data

    @property
    def missing(self) -> dict[str, int]:
        """Large parts that are not loaded: size in bytes by JSON pointer into `content`."""
        missing: dict[str, int] = {}
        for part in self._raw.get("blobs", []):
            missing[part["pointer"]] = missing.get(part["pointer"], 0) + part["size_bytes"]
        return missing

    @property
    def text(self) -> str:
        """The output as a terminal would show it."""
        kind = self.output_type
        if self._pieces and self.missing:
            return "\n".join(_texts(self._pieces))
        if kind == "stream":
            return self._part(self.content.get("text"), "/text")
        if kind == "error":
            trace = self.content.get("traceback") or [f"{self.content.get('ename')}: {self.content.get('evalue')}"]
            return self._part("\n".join(map(str, trace)), "/traceback")
        return self._part(self.data.get("text/plain"), "/data/text~1plain")

    def _part(self, value: Any, pointer: str) -> str:
        size = self.missing.get(pointer)
        if size is not None:
            return _placeholder(size)
        return "" if value is None else as_text(value)

    async def fetch(self) -> "Output":
        """Loads the large parts and returns the complete output.

        >>> run = await (await nb.append("'x' * 20_000")).run()
        >>> (await run.wait()).result.text
        '[20,002 bytes: fetch() brings them]'
        >>> len((await run.result.fetch()).text)
        20002
        """
        if not self.missing:
            return self
        if self._pieces:
            pieces = [Output(self._session, self._notebook_id, piece) for piece in self._pieces]
            whole = await asyncio.gather(*(piece.fetch() for piece in pieces))
            return joined(self._session, self._notebook_id, [piece._raw for piece in whole])[0]
        content = copy.deepcopy(self.content)
        parts = self._raw["blobs"]
        bodies = await asyncio.gather(*(blob(self._session, self._notebook_id, part["sha256"]) for part in parts))
        for part, body in zip(parts, bodies, strict=True):
            value = json.loads(body) if part.get("json") else body.decode("utf8")
            _set(content, part["pointer"], value)
        rest = {key: value for key, value in self._raw.items() if key != "blobs"}
        return Output(self._session, self._notebook_id, rest | {"content": content})

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Output {self.output_type} {self.text[:60]!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Output) and self._raw == other._raw

    def __hash__(self) -> int:
        return hash(self.text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.data or {"text/plain": self.text}


def joined(session: Session, notebook_id: str, recorded: Iterable[Json]) -> list[Output]:
    """The outputs for a reader: consecutive pieces of one stream are one output."""
    outputs: list[Output] = []
    # A name for each stream; other outputs stay alone.
    for name, group in groupby(enumerate(recorded), lambda one: _stream_of(one[1]) or one[0]):
        pieces = [raw for _, raw in group]
        if isinstance(name, int):
            outputs.append(Output(session, notebook_id, pieces[0]))
            continue
        text = "".join(as_text(raw["content"].get("text", "")) for raw in pieces)
        whole: Json = {"content": {**pieces[0]["content"], "text": text}}
        blobs = [part for raw in pieces for part in raw.get("blobs", ())]
        outputs.append(Output(session, notebook_id, whole | ({"blobs": blobs} if blobs else {}), pieces))
    return outputs


def _stream_of(raw: Json) -> str | None:
    """Name of the stream of which this is a piece."""
    content: Json = raw["content"]
    is_piece = content.get("output_type") == "stream" and raw.get("display_id") is None
    return str(content.get("name")) if is_piece else None


def _texts(pieces: Sequence[Json]) -> Iterable[str]:
    """Texts of a stream of which parts are missing."""
    for is_missing, group in groupby(pieces, lambda raw: bool(raw.get("blobs"))):
        if is_missing:
            yield _placeholder(sum(part["size_bytes"] for raw in group for part in raw["blobs"]))
        else:
            yield folded("".join(as_text(raw["content"].get("text", "")) for raw in group))


def _placeholder(size: int) -> str:
    return f"[{size:,} bytes: fetch() brings them]"


def shown(outputs: Iterable[Output]) -> str:
    """Outputs as HTML without active content: images as images, everything else as text."""
    return "".join(map(_shown, outputs))


def _shown(output: Output) -> str:
    picture = output.data.get("image/png")
    if picture is not None:
        return f'<img src="data:image/png;base64,{html.escape("".join(as_text(picture).split()))}">'
    return f"<pre>{html.escape(without_escapes(output.text))}</pre>"


async def blob(session: Session, notebook_id: str, sha256: str) -> bytes:
    """Downloads a blob and checks its hash. Raises `NotariumError` (`damaged`) if it differs."""
    body = (await session.rest.request("GET", f"/api/notebooks/{notebook_id}/blobs/{sha256}")).content
    if hashlib.sha256(body).hexdigest() != sha256:
        raise NotariumError(f"the server sent other bytes than {sha256} stands for", code="damaged")
    return body


def _set(content: Any, pointer: str, value: Any) -> None:
    """Sets the value at a JSON pointer (RFC 6901)."""
    *path, last = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    for key in path:
        content = content[int(key)] if isinstance(content, list) else content.setdefault(key, {})
    if isinstance(content, list):
        content[int(last)] = value
    else:
        content[last] = value
