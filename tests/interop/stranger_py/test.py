"""The Python client against the golden files, and with NOTARIUM_URL and NOTARIUM_TOKEN against a server."""

import json
import os
import pathlib
import sys

from client import Notebook, Rejected, new
from document import Unknown, apply_change, apply_event, canonical, digest, fresh

GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "protocol" / "golden"
LINES = 450


def load(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf8"))


def test_size():
    files = ("document.py", "client.py")
    text = "".join((pathlib.Path(__file__).parent / name).read_text(encoding="utf8") for name in files)
    lines = sum(1 for line in text.splitlines() if line.strip())
    assert lines <= LINES, f"{lines} lines: a client must stay small"


def test_digest():
    example = load("digest.json")
    assert canonical(example["document"]) == example["canonical"]
    assert digest(example["document"]) == example["digest"]


def test_text():
    cases = (GOLDEN / "text" / "codemirror-cases.jsonl").read_text(encoding="utf8").strip().split("\n")
    for case in map(json.loads, cases):
        assert apply_change(case["a"], case["doc"]) == case["after_a"], case


def test_scenarios():
    scenarios = sorted((GOLDEN / "scenarios").glob("*.json"))
    assert len(scenarios) >= 5
    for path in scenarios:
        scenario = load(path)
        state = fresh(scenario["state"]["notebook_id"])
        for event, wanted in zip(scenario["events"], scenario["digests"], strict=True):
            apply_event(state, event)
            assert digest(state) == wanted, f"{path.name}: {event['type']}, version {event['version']}"
        assert state == scenario["state"], path.name


def test_unknown_events():
    for strange in ({"type": "CellPainted", "schema": 1}, {"type": "NotebookRenamed", "schema": 2}):
        try:
            apply_event(fresh("nb"), {"version": 1, "recorded_at": 1, "payload": {}, **strange})
        except Unknown:
            continue
        raise AssertionError(f"{strange} was applied")


def test_with_server(url, token):
    ann = new(url, token, "Täglich 😀")
    cell = ann.do("InsertCell", cell_type="code", source="x = '😀'")["outcome"]["cells"][0]
    bob = Notebook(url, token, ann.notebook).follow()
    ann.do("EditSource", cell_id=cell, base=ann.state["version"], change=[5, [2], [0, "é"], 1])
    ann.do("SetCellMetadata", cell_id=cell, metadata={"a": 1.50, "b": [1e21, -0.0]})
    ack = ann.do("MoveCell", cell_id=cell, place="start")
    bob.until("events", lambda _: bob.state["version"] >= ann.state["version"])
    assert ann.state["cells"][cell]["source"] == "x = 'é'", ann.state
    assert ann.state == bob.state and ann.check() and bob.check()
    assert "undo" in ack["undo"], ack
    again = Notebook(url, token, ann.notebook).resume(bob)
    ann.do("RenameNotebook", title="Weekly")
    again.until("events", lambda _: again.state["version"] >= ann.state["version"])
    assert again.state["title"] == "Weekly" and again.healed == 0 and again.check()
    ann.do("Undo")
    assert ann.state["title"] == "Täglich 😀"
    # A deliberate difference is found and repaired by a snapshot.
    ann.state["title"] = "wrong"
    assert not ann.check()
    if ann.healed == 0:
        ann.until("subscribed")
    assert ann.healed == 1 and ann.state["title"] == "Täglich 😀" and ann.check()
    try:
        ann.do("DeleteCell", cell_id="nobody")
    except Rejected as rejected:
        assert rejected.code == "unknown_cell", rejected
    else:
        raise AssertionError("an unknown cell was deleted")


def main():
    url, token = os.environ.get("NOTARIUM_URL"), os.environ.get("NOTARIUM_TOKEN")
    tests = [test_size, test_digest, test_text, test_scenarios, test_unknown_events]
    for test in tests:
        test()
        print("ok   ", test.__name__)
    if url:
        test_with_server(url, token)
        print("ok    test_with_server")
    else:
        print("no NOTARIUM_URL: the rest needs a server")


if __name__ == "__main__":
    sys.exit(main())
