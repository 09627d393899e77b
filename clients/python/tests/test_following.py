"""Followers of events, and those who wait for a turn, while the server cannot answer or refuses."""

import asyncio
from typing import Any, cast

import pytest
from notarium.assistants import Turn
from notarium.config import ServerTarget
from notarium.connection import Connection
from notarium.errors import Disconnected, Forbidden, Unavailable
from notarium.history import EventStream
from notarium.link import NotebookLink
from notarium.session import Session
from notarium.transport import Rest

from .fake import FakeServer, Start


class FailingRest:
    """REST interface of a server that cannot answer a few times."""

    def __init__(self, server: FakeServer, *errors: Exception) -> None:
        self.server, self.errors = server, list(errors)

    async def get(self, _: str, *, after: int, limit: int) -> Any:
        if self.errors:
            raise self.errors.pop(0)
        return {"events": self.server.events[after : after + limit]}


def session_with(connection: Connection, rest: FailingRest) -> Session:
    return Session(ServerTarget("http://fake", "nt_token"), connection, cast(Rest, rest), None)


async def test_who_follows_events_waits_for_a_server_that_cannot_answer(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notarium.history.backoff", lambda _: 0)
    server = FakeServer()
    connection, replica = await start(server)
    away = [Unavailable("it is restarted", code="unavailable"), Disconnected("no answer")]
    following = EventStream(session_with(connection, FailingRest(server, *away)), replica, 0, True)
    assert [event.version for event in await following.batch()] == [event["version"] for event in server.events]
    # A reader of what there is now gets the error.
    reading = EventStream(session_with(connection, FailingRest(server, *away)), replica, 0, False)
    with pytest.raises(Unavailable):
        await reading.batch()
    # Waiting does not help against a refusal.
    refused = FailingRest(server, Forbidden("you may not read it", code="forbidden"))
    with pytest.raises(Forbidden):
        await EventStream(session_with(connection, refused), replica, 0, True).batch()


async def test_who_waits_for_a_turn_gets_the_error_after_which_its_events_cannot_be_read(start: Start) -> None:
    server = FakeServer()
    connection, replica = await start(server)
    refused = FailingRest(server, Forbidden("you may not read it", code="forbidden"))
    notebook = NotebookLink(session_with(connection, refused), replica)
    turn = Turn(notebook, "turn", "conversation", None)
    following = asyncio.create_task(turn._follow(EventStream(notebook._session, replica, 0, True)))
    with pytest.raises(Forbidden):
        await turn.wait(10)
    with pytest.raises(Forbidden):
        await turn.waiting().batch()
    await following
    assert not replica.followers
