"""The client on an unreliable network: edits survive, and all clients converge to the same document."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from notarium.connection import Connection
from notarium.digest import digest
from notarium.document import Document
from notarium.errors import (
    Conflict,
    Disconnected,
    Forbidden,
    LimitExceeded,
    NotFound,
    Rejected,
    Unauthenticated,
    Unavailable,
    UnsupportedProtocol,
)
from notarium.replica import Replica
from notarium.text import difference, splice

from .fake import NOTEBOOK, FakeServer, FakeWire, Start


async def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


async def test_an_edit_is_shown_at_once_and_confirmed_later(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.is_automatic = False
    done = replica.edit("c0", splice("start", 5, 5, "!"))
    assert replica.source("c0") == "start!"
    assert not done.done()
    server.is_automatic = True
    await eventually(lambda: server.stir() or done.done())
    assert server.document.state["cells"]["c0"]["source"] == "start!"
    assert not replica.unconfirmed


async def test_while_one_edit_is_under_way_others_wait_in_one_buffer(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.is_automatic = False
    for letter in "abc":
        replica.edit("c0", splice(replica.source("c0"), 0, 0, letter))
    await eventually(lambda: bool(server.wires[0].to_server))
    assert len(server.wires[0].to_server) == 1
    server.is_automatic = True
    await eventually(lambda: server.stir() or not replica.unconfirmed)
    assert [event["type"] for event in server.events].count("CellSourceEdited") == 2
    assert server.document.state["cells"]["c0"]["source"] == "cbastart"


@pytest.mark.parametrize("is_decided", [False, True], ids=["before the server had it", "after it had it"])
async def test_a_cut_before_the_ack_loses_nothing_and_repeats_nothing(start: Start, is_decided: bool) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.is_automatic = False
    done = replica.edit("c0", splice("start", 0, 0, "x"))
    await eventually(lambda: bool(server.wires[0].to_server))
    if is_decided:
        server.process(server.wires[0])
    else:
        server.wires[0].to_server.clear()
    server.wires[0].cut()
    server.is_automatic = True
    await eventually(lambda: server.stir() or done.done())
    assert replica.source("c0") == server.document.state["cells"]["c0"]["source"] == "xstart"
    assert len(server.applied) == 1


async def test_a_command_that_arrives_on_the_old_wire_after_its_repetition_counts_once(start: Start) -> None:
    server = FakeServer()
    connection, _ = await start(server)
    server.is_automatic = False
    _, answer = connection.command(NOTEBOOK, {"RenameNotebook": {"title": "New"}})
    old = server.wires[0]
    await eventually(lambda: bool(old.to_server))
    old.cut()
    await eventually(lambda: len(server.wires) == 2 and bool(server.wires[1].to_server))
    while not answer.done():
        while server.wires[1].to_server:
            server.process(server.wires[1])
        while server.wires[1].to_client:
            server.wires[1].deliver()
        await asyncio.sleep(0)
    server.process(old)
    assert server.applied == [answer.result()["id"]]


async def test_an_edit_that_came_to_nothing_is_confirmed_by_its_ack(start: Start) -> None:
    server = FakeServer()
    _, ann = await start(server)
    _, bob = await start(server)
    server.is_automatic = False
    everything = difference("start", "")
    done = [replica.edit("c0", everything) for replica in (ann, bob)]
    server.is_automatic = True
    await eventually(lambda: server.stir() or all(one.done() for one in done))
    assert ann.source("c0") == bob.source("c0") == ""
    assert not ann.unconfirmed
    assert not bob.unconfirmed


async def test_the_ack_of_an_edit_that_came_to_nothing_counts_also_across_a_cut(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.is_automatic = False
    done = replica.edit("c0", difference("start", ""))
    await eventually(lambda: bool(server.wires[0].to_server))
    server.record("CellSourceEdited", {"cell_id": "c0", "change": [[5]]})
    server.process(server.wires[0])
    server.wires[0].cut()
    server.is_automatic = True
    await eventually(lambda: server.stir() or done.done())
    assert replica.source("c0") == ""


async def test_a_refused_edit_goes_with_its_buffer_and_is_handed_back(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.rejects["EditSource"] = [{"code": "cell_deleted", "message": "restore it first"}]
    first = replica.edit("c0", splice("start", 0, 0, "mine "))
    second = replica.edit("c0", splice(replica.source("c0"), 0, 0, "and "))
    with pytest.raises(NotFound, match="restore it first") as caught:
        await first
    assert caught.value.text == "and mine start"
    with pytest.raises(NotFound):
        await second
    assert replica.source("c0") == "start"


async def test_an_edit_that_no_frame_can_hold_is_refused_here_and_leaves_the_text_as_it_was(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    with pytest.raises(LimitExceeded, match="send less at once") as caught:
        await replica.edit("c0", splice("start", 0, 0, "x" * 1_000_000))
    assert caught.value.text == "x" * 1_000_000 + "start"
    assert replica.source("c0") == "start"
    await replica.edit("c0", splice("start", 0, 0, "y"))
    assert server.document.state["cells"]["c0"]["source"] == "ystart"


async def test_unavailable_is_tried_again_with_the_same_id(start: Start) -> None:
    server = FakeServer()
    connection, _ = await start(server)
    server.rejects["RenameNotebook"] = [{"code": "unavailable", "message": "later"}] * 3
    command_id, answer = connection.command(NOTEBOOK, {"RenameNotebook": {"title": "New"}})
    assert (await answer)["id"] == command_id
    server.rejects["RenameNotebook"] = [{"code": "unavailable", "message": "later"}] * 100
    _, answer = connection.command(NOTEBOOK, {"RenameNotebook": {"title": "Newer"}})
    with pytest.raises(Unavailable):
        await answer


async def test_an_event_that_is_not_known_leads_to_the_snapshot(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    wire = server.wires[0]
    server.is_automatic = False
    strange = {**server.events[-1], "version": 3, "id": "e3", "type": "CellPainted", "payload": {"cell_id": "c0"}}
    server.events.append(strange)
    server.document.state.update(version=3, title="as the newer server sees it")
    wire.say("events", notebook=NOTEBOOK, **{"from": 3}, events=[strange])
    server.is_automatic = True
    await eventually(lambda: server.stir() or replica.document.version == 3)  # type: ignore[union-attr]
    assert replica.document is not None
    assert replica.document.state["title"] == "as the newer server sees it"
    assert replica.healed == 1


async def test_a_planted_difference_is_found_and_healed_also_while_somebody_types(start: Start) -> None:
    server = FakeServer(cells=2)
    _, replica = await start(server)
    assert replica.document is not None
    assert await replica.check()
    replica.document.state["title"] = "wrong"
    server.is_automatic = False
    done = replica.edit("c1", splice("start", 0, 0, "typed "))
    check = replica.check()
    server.is_automatic = True
    server.stir()
    assert not await check
    await eventually(lambda: server.stir() or replica.document.state["title"] == "T")  # type: ignore[union-attr]
    await eventually(lambda: server.stir() or done.done())
    assert replica.source("c1") == "typed start"
    await eventually(lambda: server.stir() or replica.may_check)
    assert await replica.check()


async def test_a_gap_is_noticed(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.is_automatic = False
    server.record("NotebookRenamed", {"title": "A"})
    server.wires[0].to_client.clear()
    server.record("NotebookRenamed", {"title": "B"})
    server.is_automatic = True
    await eventually(lambda: server.stir() or replica.document.version == 4)  # type: ignore[union-attr]
    assert replica.document is not None
    assert replica.document.state["title"] == "B"


async def test_what_the_first_connection_is_refused_for_is_said_at_once() -> None:
    for message, error, words in (
        ({"code": "unauthenticated", "message": "the token has expired: take a new one", "fatal": True}, Unauthenticated, "take a new"),
        ({"code": "unsupported_protocol", "message": "this server speaks 2 to 3, this client 1: update the older one", "fatal": True}, UnsupportedProtocol, "update the older"),
    ):  # fmt: skip
        server = FakeServer()
        server.on_hello = lambda wire, _, message=message: wire.say("error", **message)  # type: ignore[method-assign]
        with pytest.raises(error, match=words):
            await Connection(server.dial, "t", "test").start()

    async def nobody() -> FakeWire:
        raise Disconnected("no server answers at http://127.0.0.1:1")

    with pytest.raises(Disconnected, match="no server answers"):
        await Connection(nobody, "t", "test").start()


async def test_a_token_that_ends_later_fails_what_waits_and_is_not_tried_again(start: Start) -> None:
    server = FakeServer()
    connection, replica = await start(server)
    server.is_automatic = False
    done = replica.edit("c0", splice("start", 0, 0, "x"))
    server.wires[0].say("error", code="unauthenticated", message="the token was revoked", fatal=True)
    server.wires[0].deliver()
    with pytest.raises(Unauthenticated) as caught:
        await done
    assert caught.value.text == "xstart"
    with pytest.raises(Unauthenticated):
        connection.command(NOTEBOOK, {"RenameNotebook": {"title": "New"}})
    assert len(server.wires) == 1


async def test_at_most_two_hundred_commands_are_under_way(start: Start) -> None:
    server = FakeServer()
    connection, _ = await start(server)
    server.is_automatic = False
    answers = [connection.command(NOTEBOOK, {"RenameNotebook": {"title": f"{n}"}})[1] for n in range(1_000)]
    await eventually(lambda: len(server.wires[0].to_server) == 200)
    server.is_automatic = True
    await eventually(lambda: server.stir() or all(answer.done() for answer in answers))
    assert server.document.state["title"] == "999"


async def test_an_error_keeps_the_versions_of_a_conflict(start: Start) -> None:
    server = FakeServer()
    connection, _ = await start(server)
    reject = {"code": "conflict", "message": "read it again", "expected_version": 1, "actual_version": 2}
    server.rejects["RenameNotebook"] = [reject]
    with pytest.raises(Conflict, match="read it again") as caught:
        await connection.command(NOTEBOOK, {"RenameNotebook": {"title": "x"}})[1]
    assert (caught.value.expected_version, caught.value.actual_version, caught.value.code) == (1, 2, "conflict")
    assert isinstance(caught.value, Rejected)


async def test_an_edit_whose_base_the_server_no_longer_has_is_mapped_and_sent_as_another_command(start: Start) -> None:
    server = FakeServer(cells=1)
    _, replica = await start(server)
    server.rejects["EditSource"] = [{"code": "base_too_old", "message": "subscribe again"}]
    server.is_automatic = False
    first = replica.edit("c0", splice("start", 5, 0, " one"))
    await eventually(lambda: bool(server.wires[0].to_server))
    server.record("CellSourceEdited", {"cell_id": "c0", "change": splice("start", 0, 0, "other ")})
    second = replica.edit("c0", splice(replica.source("c0"), len(replica.source("c0")), 0, " two"))
    server.is_automatic = True
    await eventually(lambda: server.stir() or first.done() and second.done())
    await first
    await second
    assert replica.source("c0") == server.document.state["cells"]["c0"]["source"] == "other start one two"
    edits = [event["command_id"] for event in server.events if "command_id" in event]
    assert len(set(edits)) == len(edits)


async def test_a_server_restored_from_a_backup_counts_and_what_cannot_be_merged_is_handed_back(start: Start) -> None:
    server = FakeServer(cells=2)
    _, replica = await start(server)
    await replica.edit("c0", splice("start", 0, 0, "acked after the backup "))
    server.is_automatic = False
    done = replica.edit("c0", splice(replica.source("c0"), 0, 0, "typed "))
    await eventually(lambda: bool(server.wires[0].to_server))
    server.wires[0].to_server.clear()
    server.wires[0].cut()
    server.events.pop()
    server.document = Document.empty(NOTEBOOK)
    for event in json.loads(json.dumps(server.events)):
        server.document.apply(event)
    server.on_subscribe = lambda wire, _: wire.say(  # type: ignore[method-assign]
        "subscribed", **server.subscribed(), snapshot=server.document.state, diverged=True, base_too_old=["c0"]
    )
    server.is_automatic = True
    with pytest.raises(Conflict, match="cannot be merged") as caught:
        await done
    assert caught.value.text == "typed acked after the backup start"
    await eventually(lambda: server.stir() or replica.source("c0") == "start")
    assert replica.document is not None
    assert replica.document.version == len(server.events)


async def test_a_document_of_other_rules_is_shown_by_snapshots_and_never_folded(start: Start) -> None:
    server = FakeServer()
    answer = server.subscribed
    server.subscribed = lambda: {**answer(), "document": 2}  # type: ignore[method-assign]
    server.snapshots = 1.0
    _, replica = await start(server)
    server.record("NotebookRenamed", {"title": "A"})
    await eventually(lambda: server.stir() or replica.document.state["title"] == "A")  # type: ignore[union-attr]
    assert replica.healed == 1


async def test_an_access_that_ends_is_told_to_who_waits(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    waiting = asyncio.ensure_future(replica.until(lambda: False))
    await asyncio.sleep(0)
    server.wires[0].say("access", notebook=NOTEBOOK, role=None)
    server.stir()
    with pytest.raises(Forbidden, match="has ended"):
        await waiting
    with pytest.raises(Forbidden):
        replica.edit("c0", splice("start", 0, 0, "x"))


async def test_a_state_that_is_wrong_heals_instead_of_failing(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    assert replica.document is not None
    replica.document.state["cells"]["c0"]["source"] = "wrong length"
    server.record("CellSourceEdited", {"cell_id": "c0", "change": [5, [0, "!"]]})
    await eventually(lambda: server.stir() or replica.source("c0") == "start!")
    assert replica.healed == 1


async def test_a_notebook_that_cannot_be_opened_now_is_asked_for_again(start: Start) -> None:
    server = FakeServer()
    answer, refused = server.on_subscribe, []

    def refuse(wire: FakeWire, body: dict[str, Any]) -> None:
        if len(refused) < 3:
            refused.append(body)
            wire.say("error", code="unavailable", message="again later", notebook=NOTEBOOK)
        else:
            answer(wire, body)

    server.on_subscribe = refuse  # type: ignore[method-assign]
    _, replica = await start(server)
    assert replica.source("c0") == "start"


@pytest.mark.parametrize("code", ["too_many_requests", "unavailable"])
async def test_a_check_that_the_server_cannot_make_now_is_made_later(start: Start, code: str) -> None:
    server = FakeServer()
    _, replica = await start(server)
    answer, refused = server.on_check, []

    def refuse(wire: FakeWire, body: dict[str, Any]) -> None:
        if len(refused) < 2:
            refused.append(body)
            wire.say("error", code=code, message="not now", notebook=NOTEBOOK)
        else:
            answer(wire, body)

    server.on_check = refuse  # type: ignore[method-assign]
    assert replica.document is not None
    assert await replica.check() and len(refused) == 2
    refused.clear()
    replica.document.state["title"] = "wrong"
    assert not await replica.check() and len(refused) == 2
    assert not replica.is_checking


async def test_a_version_that_cannot_be_compared_is_not_called_equal(start: Start) -> None:
    server = FakeServer()
    _, replica = await start(server)
    server.on_check = lambda wire, _: wire.say(  # type: ignore[method-assign]
        "error", code="version_too_old", message="too far back", notebook=NOTEBOOK
    )
    with pytest.raises(Rejected, match="too far back"):
        await replica.check(1, "00")
    assert replica.failure is None


async def test_a_subscription_without_an_answer_is_sent_again(start: Start) -> None:
    server = FakeServer()
    connection, replica = await start(server)
    server.is_automatic = False
    replica.subscribe()
    await eventually(lambda: bool(server.wires[0].to_server))
    server.wires[0].to_server.clear()
    replica.nudge()
    replica.nudge()
    server.is_automatic = True
    await eventually(lambda: server.stir() or replica.may_check)


LETTERS = "ab\né😀"


def random_edit(replica: Replica, chance: random.Random) -> None:
    cell_id = chance.choice(["c0", "c1"])
    source = replica.source(cell_id)
    start = chance.randint(0, len(source))
    end = min(len(source), start + chance.choice([0, 0, 1, 3]))
    replica.edit(cell_id, splice(source, start, end, "".join(chance.choices(LETTERS, k=chance.randint(0, 3)))))


def trouble(server: FakeServer, chance: random.Random) -> None:
    wires = [wire for wire in server.wires if not wire.is_cut]
    if not wires:
        return
    wire = chance.choice(wires)
    match chance.randint(0, 3):
        case 0:
            wire.cut()
        case 1 if wire.to_client and wire.to_client[0].startswith('{"events"'):
            wire.to_client.append(wire.to_client[0])
        case 2 if wire.is_following:
            server.resync(wire)
        case _:
            wire.to_server.clear()
            wire.cut()


@pytest.mark.parametrize("seed", range(200))
async def test_everybody_ends_with_the_same_text_whatever_the_network_does(start: Start, seed: int) -> None:
    chance = random.Random(seed)
    server = FakeServer(seed, cells=2)
    server.snapshots = chance.choice([0.0, 0.3, 1.0])
    replicas = [(await start(server))[1] for _ in range(3)]
    server.is_automatic = False
    for _ in range(150):
        what = chance.random()
        if what < 0.3:
            random_edit(chance.choice(replicas), chance)
        elif what < 0.33:
            trouble(server, chance)
        else:
            server.step()
        for _ in range(chance.randint(0, 3)):
            await asyncio.sleep(0)
    server.is_automatic = True
    wanted = len(server.events)

    def is_over() -> bool:
        server.stir()
        return all(not one.unconfirmed and one.document.version >= wanted for one in replicas)  # type: ignore[union-attr]

    for _ in range(20):
        await eventually(is_over)
        wanted = len(server.events)
    texts = {cell_id: cell["source"] for cell_id, cell in server.document.state["cells"].items()}
    for replica in replicas:
        assert replica.document is not None
        assert {cell_id: replica.source(cell_id) for cell_id in texts} == texts
        assert digest(replica.document.state) == digest(server.document.state)
    assert len(server.applied) == len(set(server.applied))
    json.dumps(server.events)
