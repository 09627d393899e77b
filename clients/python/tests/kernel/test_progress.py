"""Progress of loops: as text without a runtime agent, else as messages to it."""

import asyncio
import importlib

import pytest
from notarium import progress

module = importlib.import_module("notarium_kernel.progress")


class Comm:
    def __init__(self, said, data):
        self.said = said
        said.append(("open", data["state"]))

    def send(self, data):
        self.said.append(("update", data["state"]))

    def close(self):
        self.said.append(("close", None))


@pytest.fixture
def said(monkeypatch):
    said = []
    monkeypatch.setattr(module.host, "open_comm", lambda target, data: Comm(said, data))
    return said


def test_a_loop_tells_where_it_begins_and_where_it_ends(said):
    assert list(progress(["a", "b"], label="reading")) == ["a", "b"]
    assert said[0] == ("open", {"label": "reading", "done": 0, "total": 2})
    assert said[-2:] == [("update", {"label": "reading", "done": 2, "total": 2}), ("close", None)]


def test_messages_are_few(said):
    for _ in progress(range(200_000)):
        pass
    assert len(said) < 40


def test_many_short_loops_open_few_bars(said):
    for _ in range(1_000):
        for _ in progress(range(3)):
            pass
    assert len(said) < 100


def test_a_loop_that_is_left_or_fails_is_closed(said):
    for _ in progress(range(10)):
        break
    import gc

    gc.collect()
    assert said[-1] == ("close", None)
    said.clear()
    module.Progress._opened_at = float("-inf")
    with pytest.raises(ValueError), progress(total=2) as bar:
        bar.update(1)
        raise ValueError
    assert said[-1] == ("close", None) and said[-2][1]["done"] == 1


def test_steps_total_and_label_by_hand(said):
    with progress(total=10, label="a") as bar:
        bar.total = 20
        bar.update(5)
        bar.label = "b"
    assert said[-2] == ("update", {"label": "b", "done": 5, "total": 20})
    bar.update(1)
    assert said[-1] == ("close", None), "nothing comes after the end"


def test_async_loops(said):
    async def numbers():
        for number in range(3):
            yield number

    async def run():
        return [number async for number in progress(numbers())]

    assert asyncio.run(run()) == [0, 1, 2]
    assert said[0][1]["total"] is None and said[-2][1]["done"] == 3


def test_text_where_nobody_listens(capsys):
    assert list(progress([1, 2], label="reading")) == [1, 2]
    text = capsys.readouterr().err
    assert text.startswith("\rreading:   0% |") and text.endswith("\n") and "2/2" in text


def test_a_line():
    assert module.line({"label": "r", "done": 5, "total": 10}, 2).startswith(
        "r:  50% |████████████            | 5/10 [00:02<00:02, 2.5/s]"
    )
    assert module.line({"label": "", "done": 5, "total": None}, 0) == "5 [00:00]"


def test_what_is_no_total_is_refused():
    for total in (-1, float("inf"), "many"):
        with pytest.raises(ValueError, match="a total is a number from 0"):
            progress(total=total)
    with pytest.raises(TypeError, match="nothing to iterate over"):
        list(progress(total=3))
