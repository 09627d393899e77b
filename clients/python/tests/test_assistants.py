"""Turns with a scripted model: changes, confirmation and undo."""

import notarium
import pytest

from .conftest import Server
from .model import calls_once


@pytest.fixture(autouse=True)
def fresh(server: Server) -> None:
    server.model.script = calls_once("I have nothing to do.")


def test_a_turn_makes_a_cell_and_is_undone(server: Server, nb: notarium.Notebook) -> None:
    server.model.script = calls_once(
        "I make one.", ("create_cell", {"cell_type": "code", "source": "chart()"}), then="Made."
    )
    with nb.turn("make a chart") as turn:
        words = "".join(turn.stream())
    assert turn.status == "finished"
    assert turn.text.split() == ["I", "make", "one.", "Made."]
    assert words.split() == turn.text.split()
    assert [cell.source for cell in nb.cells] == ["chart()"]
    assert [call.function for call in turn.calls] == ["create_cell"]
    assert turn.calls[0].result
    assert turn.calls[0].is_over
    turn.undo()
    assert nb.cells == []


def test_what_destroys_waits_for_a_person(server: Server, nb: notarium.Notebook) -> None:
    keep, drop = nb.extend(["keep", "drop"])
    server.model.script = calls_once(
        "I delete both.", *(("delete_cell", {"cell_id": one.id, "cell_version": one.version}) for one in (keep, drop))
    )
    with nb.turn("delete them") as turn:
        for call in turn.waiting():
            assert (call.function, call.risk) == ("delete_cell", "destructive")
            assert call in nb.calls
            assert call.details()["confirmation"]["effects"][0]["source"] in ("keep", "drop")
            if call.arguments["cell_id"] == drop.id:
                call.confirm()
            else:
                call.deny("it is needed")
    assert nb.cells == [keep]
    assert turn.raise_for_status().status == "finished"
    turn.calls[1].undo()
    assert [cell.source for cell in nb.cells] == ["keep", "drop"]


def test_a_token_that_may_not_confirm_is_told(server: Server, nb: notarium.Notebook) -> None:
    cell = nb.append("mine")
    server.model.script = calls_once(
        "I delete it.", ("delete_cell", {"cell_id": cell.id, "cell_version": cell.version})
    )
    import httpx

    headers = {"Authorization": f"Bearer {server.token}"}
    body = {"label": "weak", "scopes": ["read", "edit"]}
    weak = httpx.post(f"{server.url}/api/tokens", headers=headers, json=body).raise_for_status().json()["token"]
    with notarium.connect(server.url, weak) as nt, nt.open(nb.id) as theirs:
        with pytest.raises(notarium.Forbidden), theirs.turn("delete it") as turn:
            next(turn.waiting()).confirm()
        # The error has cancelled the turn and its waiting calls.
        with notarium.connect(server.url, server.token) as me, me.open(nb.id) as mine:
            assert mine.calls == []
    assert cell in nb.cells


def test_a_prompt_cell_is_answered_and_a_failed_turn_says_why(server: Server, nb: notarium.Notebook) -> None:
    server.model.script = calls_once("It is 42.")
    cell = nb.append("What is it?", "prompt")
    with nb.turn(cell=cell) as turn:
        pass
    assert cell.reply is not None
    assert cell.reply.strip() == "It is 42."
    server.model.script = lambda messages: (_ for _ in ()).throw(RuntimeError("no model"))
    with nb.turn("again", conversation=turn.conversation, timeout=100) as failed:
        pass
    with pytest.raises(notarium.TurnFailed):
        failed.raise_for_status()
