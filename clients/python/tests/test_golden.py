"""The protocol's golden files, which every client must read and compute alike."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from notarium.digest import canonical, digest
from notarium.document import Document, UnknownEvent
from notarium.event import Event
from notarium.events import event_of
from notarium.replica import Replica
from notarium.text import apply_change, compose, difference, map_change, splice

GOLDEN = Path(__file__).resolve().parents[3] / "protocol" / "golden"
CASES = [json.loads(line) for line in (GOLDEN / "text/codemirror-cases.jsonl").read_text("utf8").strip().split("\n")]


def load(path: Path) -> Any:
    return json.loads(path.read_text("utf8"))


@pytest.mark.parametrize("path", sorted((GOLDEN / "scenarios").glob("*.json")), ids=lambda path: path.stem)
def test_a_scenario_leads_to_its_digests_and_its_state(path: Path) -> None:
    scenario = load(path)
    document = Document.empty(scenario["state"]["notebook_id"])
    for event, wanted in zip(scenario["events"], scenario["digests"], strict=True):
        document.apply(event)
        assert digest(document.state) == wanted, f"{event['type']}, version {event['version']}"
    assert document.state == scenario["state"]
    assert document.is_known_whole


@pytest.mark.parametrize("path", sorted((GOLDEN / "events").glob("*.json")), ids=lambda path: path.stem)
def test_an_event_about_what_is_not_there_changes_nothing_else(path: Path) -> None:
    event = load(path)
    document = Document.empty("nb")
    document.apply(event)
    assert document.version == event["version"]


@pytest.mark.parametrize("path", sorted((GOLDEN / "events").glob("*.json")), ids=lambda path: path.stem)
def test_an_event_is_an_object_of_its_types_class_and_each_of_its_fields_can_be_read(path: Path) -> None:
    event = event_of(load(path))
    assert type(event).__name__ == event.type == path.name.split(".")[0]
    for name, _ in inspect.getmembers(type(event), lambda member: isinstance(member, property)):
        value = getattr(event, name)
        assert name not in event.payload or name in ("version", "type", "id") or value == event.payload[name]


def test_an_event_of_another_type_is_an_event() -> None:
    event = event_of({**load(GOLDEN / "events/CellMoved.1.json"), "type": "CellPainted"})
    assert type(event) is Event
    assert event.type == "CellPainted"


async def test_every_message_of_the_server_is_understood() -> None:
    class Nowhere:
        def send(self, message: str, **fields: Any) -> None: ...

        def command(self, notebook: str, body: Any) -> Any: ...

        def withdraw(self, command_id: str) -> None: ...

    paths = sorted((GOLDEN / "messages/server").glob("*.json"))
    assert len(paths) > 20
    for path in paths:
        replica = Replica("nb", Nowhere())
        replica.receive("subscribed", load(GOLDEN / "messages/server/subscribed.json")["subscribed"])
        ((name, body),) = load(path).items()
        replica.receive(name, body)
        assert replica.document is not None, path.name


def test_every_field_of_the_state_is_known() -> None:
    from notarium.document import _FIELDS

    assert set(load(GOLDEN.parent / "schema/notebook.json")["properties"]) == _FIELDS


def test_the_digest_of_the_document() -> None:
    example = load(GOLDEN / "digest.json")
    assert canonical(example["document"]) == example["canonical"]
    assert digest(example["document"]) == example["digest"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"b": 1, "a": [True, None, -0.0]}, '{"a":[true,null,0],"b":1}'),
        ({"\ufb33": 1, "😀": 2}, '{"😀":2,"\ufb33":1}'),
        (
            [1e21, 1e-7, 1.5, 1e16, 10**17 + 1, 123456789012345680000.0],
            "[1e+21,1e-7,1.5,10000000000000000,100000000000000000,123456789012345680000]",
        ),
        (
            {"cells": {"a": {"source": "1.5e3"}, "b": {"metadata": {"x": 2.0}}}},
            '{"cells":{"a":{"source":"1.5e3"},"b":{"metadata":{"x":2}}}}',
        ),
    ],
)
def test_numbers_and_names_are_written_as_ecmascript_writes_them(value: Any, wanted: str) -> None:
    assert canonical(value) == wanted


@pytest.mark.parametrize("strange", [{"type": "CellPainted", "schema": 1}, {"type": "NotebookRenamed", "schema": 2}])
def test_an_event_that_is_not_known_is_not_folded(strange: dict[str, Any]) -> None:
    with pytest.raises(UnknownEvent):
        Document.empty("nb").apply({"version": 1, "recorded_at": 1, "payload": {"title": "x"}, **strange})


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_text_changes_as_codemirror_changes_it(case: dict[str, Any]) -> None:
    a, b, c = case["a"], case["b"], case["c"]
    assert apply_change(a, case["doc"]) == case["after_a"]
    assert apply_change(b, case["doc"]) == case["after_b"]
    composed, over = compose(a, c), map_change(b, a)
    assert apply_change(composed, case["doc"]) == case["after_compose"]
    assert apply_change(over, case["after_a"]) == case["after_a_then_b"]
    if case["exact"]:
        assert composed == case["compose"]
        assert over == case["b_over_a"]
        assert map_change(b, a, True) == case["b_over_a_before"]
        assert map_change(a, b) == case["a_over_b"]
        assert map_change(a, b, True) == case["a_over_b_before"]


@pytest.mark.parametrize("case", CASES[:100], ids=range(100))
def test_a_difference_makes_one_text_of_another(case: dict[str, Any]) -> None:
    assert apply_change(difference(case["doc"], case["after_a"]), case["doc"]) == case["after_a"]


def test_places_are_counted_in_characters_and_sent_in_units() -> None:
    assert splice("x = '😀'", 5, 6, "é") == [5, [2, "é"], 1]
    assert splice("abc", -1, 3, "") == [2, [1]]
    with pytest.raises(ValueError, match="the text has 3"):
        apply_change([2], "abc")
