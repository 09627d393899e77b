"""Streams: one text for all pieces, as a terminal shows it."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from notarium.config import ServerTarget
from notarium.errors import NotariumError
from notarium.escapes import without_escapes
from notarium.outputs import Output, blob, joined, shown
from notarium.screen import width
from notarium.terminal import folded
from notarium.transport import Rest

FIXTURES = Path(__file__).resolve().parents[3] / "tests" / "fixtures" / "terminal"
CASES = [json.loads(line) for line in (FIXTURES / "cases.jsonl").read_text("utf8").strip().split("\n")]


def stream(text: str, name: str = "stdout", **more: Any) -> dict[str, Any]:
    return {"content": {"output_type": "stream", "name": name, "text": text}, **more}


def outputs(*recorded: dict[str, Any], session: Any = None) -> list[Output]:
    return joined(session, "nb", recorded)


def test_each_stream_is_folded_as_the_agent_folds_it() -> None:
    assert len(CASES) >= 400
    for case in CASES:
        text = folded("".join(case["pieces"]))
        assert (text, without_escapes(text)) == (case["folded"], case["plain"]), case["pieces"]


def test_characters_have_the_widths_that_the_agent_counts() -> None:
    assert [width(character) for character in "a日é\u0301\u200b😀\xadㇰ"] == [1, 2, 1, 0, 0, 2, 0, 2]
    from notarium import widths

    changes = "".join(
        f"{_base_36(start - before)}{'ZNWT'[columns]}"
        for before, start, columns in zip(widths.STARTS, widths.STARTS[1:], widths.WIDTHS[1:], strict=False)
    )
    assert changes == (FIXTURES / "widths.txt").read_text("utf8").strip()


def _base_36(number: int) -> str:
    digit = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]
    return digit if number < 36 else _base_36(number // 36) + digit


def test_only_the_last_2000_lines_can_be_written_over() -> None:
    lines = "".join(f"{number}\n" for number in range(2_500))
    assert folded(f"{lines}\x1b[1999Ax").split("\n")[501] == "x01"
    assert folded(f"{lines}\x1b[2000Ax") == f"{lines}\x1b[2000Ax"


def test_the_pieces_of_a_stream_are_one_output() -> None:
    pieces = [stream(f"\r{percent}%") for percent in range(101)]
    (output,) = outputs(*pieces)
    assert (output.output_type, output.name, output.text, output.missing) == ("stream", "stdout", "100%", {})
    assert output.content == stream("100%")["content"]
    assert output.pieces == [piece["content"] for piece in pieces]
    (split,) = outputs(stream("\x1b[3"), stream("1mred\x1b[0m\rR"))
    assert (split.text, shown([split])) == ("R\x1b[31med\x1b[0m", "<pre>Red</pre>")


def test_streams_and_other_outputs_stay_in_their_order() -> None:
    table = {"content": {"output_type": "display_data", "data": {"text/plain": "table\rT"}, "metadata": {}}}
    found = outputs(stream("a"), stream("b\r"), stream("!", "stderr"), stream("?\n"), table, table, stream("c"))
    texts = [(output.name, output.text) for output in found]
    streams = [("stdout", "ab"), ("stderr", "!"), ("stdout", "?\n")]
    assert texts == [*streams, (None, "table\rT"), (None, "table\rT"), ("stdout", "c")]
    assert found[3].pieces == [table["content"]]
    assert outputs() == []


async def test_a_stream_of_which_parts_are_missing_is_one_output() -> None:
    body = b"10%\r20%\r"
    blob = {"pointer": "/text", "sha256": hashlib.sha256(body).hexdigest(), "size_bytes": len(body)}

    async def request(*_: Any) -> Any:
        return SimpleNamespace(content=body)

    session = SimpleNamespace(rest=SimpleNamespace(request=request))
    pieces = stream("", blobs=[blob]), stream("", blobs=[blob]), stream("30%"), stream("\rx")
    (output,) = outputs(*pieces, session=session)
    assert output.missing == {"/text": 16}
    assert output.text == "[16 bytes: fetch() brings them]\nx0%"
    whole = await output.fetch()
    assert (whole.text, whole.missing, len(whole.pieces)) == ("x0%", {}, 4)
    assert await whole.fetch() is whole


@pytest.mark.parametrize("text", ["", "plain\n", "tab\there\n", "日本\n"])
def test_plain_text_stays_byte_for_byte(text: str) -> None:
    assert outputs(stream(text), stream(text))[0].text == text + text


async def test_a_blob_is_fetched_from_the_bucket_without_the_token() -> None:
    asked: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.host, request.headers.get("authorization")))
        if request.url.host == "bucket":
            return httpx.Response(200, content=b"large")
        return httpx.Response(307, headers={"location": "http://bucket/notes/large?X-Amz-Expires=300"})

    rest = Rest(ServerTarget("http://server", "nt_planted"), 5)
    await rest.close()
    headers = {"Authorization": "Bearer nt_planted"}
    rest._client = httpx.AsyncClient(base_url="http://server", headers=headers, transport=httpx.MockTransport(answer))
    session: Any = SimpleNamespace(rest=rest)
    assert await blob(session, "nb", hashlib.sha256(b"large").hexdigest()) == b"large"
    assert asked == [("server", "Bearer nt_planted"), ("bucket", None)]
    with pytest.raises(NotariumError, match="other bytes"):
        await blob(session, "nb", "0" * 64)
    await rest.close()
