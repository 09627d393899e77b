"""Documents of the Jupyter door across restarts: clients that come back never double content (jupyter-collaboration #594, #621)."""

import asyncio
import os

import websockets
from door import (
    PATIENCE,
    Rejoining,
    ask_for,
    asks_to_reload,
    client,
    event_types,
    new_notebook,
    own,
    sources,
    texts,
    type_at,
    url_of,
    version,
)
from pycrdt import create_update_message
from waiting import until


async def a_restart_goes_on_with_the_same_document():
    notebook = new_notebook("Kept", ["a", "b"])
    url, page = url_of("Kept"), Rejoining()
    await page.join(url)
    assert page.sources() == ["a", "b"]
    before = version(notebook)
    # The page types while it has no connection, and somebody else changes the notebook beside the door.
    page.cells[0]["source"].insert(1, "!")
    cell = own("GET", f"/api/notebooks/{notebook}")["notebook"]["order"][1]
    own("PATCH", f"/api/notebooks/{notebook}/cells/{cell}", {"source": "b2", "cell_version": before})
    ask_for("restart")
    assert url_of("Kept") == url, "the session goes on"
    await page.join(url)
    assert (page.sources(), sources(notebook)) == (["a!", "b2"], ["a!", "b2"]), (page.sources(), sources(notebook))
    assert event_types(notebook, before) == ["CellSourceEdited", "CellSourceEdited"]
    # The same while clients are connected: the server stops under them.
    async with client("Kept") as ann:
        type_at(ann, 0, 2, "?")
        async with client("Kept") as bob:
            await until(bob, lambda: texts(bob)[0] == "a!?")
        ask_for("restart")
    await page.join(url)
    assert (page.sources(), sources(notebook)) == (["a!?", "b2"], ["a!?", "b2"]), (page.sources(), sources(notebook))
    ids = [cell["id"] for cell in page.cells]
    assert len(ids) == len(set(ids)) == 2, ids


async def a_lost_document_makes_clients_load_again():
    notebook = new_notebook("Lost", ["a", "b"])
    url, page = url_of("Lost"), Rejoining()
    await page.join(url)
    page.cells[0]["source"].insert(1, " typed while the connection was cut")
    before = version(notebook)
    ask_for("restart without documents")
    await asks_to_reload(url)
    new_url = url_of("Lost")
    assert new_url != url
    # A client that comes back with its old document under the new session is recognised too.
    session = await asks_to_reload(new_url, [create_update_message(page.doc.get_update())])
    assert session and f"sessionId={session}" in new_url
    async with client("Lost") as ann:
        assert texts(ann) == ["a", "b"]
        type_at(ann, 0, 1, "!")
        async with client("Lost") as bob:
            await until(bob, lambda: texts(bob) == ["a!", "b"])
    assert sources(notebook) == ["a!", "b"]
    assert event_types(notebook, before) == ["CellSourceEdited"]


async def a_client_types_before_it_is_asked_for_what_it_typed_offline():
    notebook = new_notebook("Early", ["a"])
    url, page = url_of("Early"), Rejoining()
    await page.join(url)
    page.type(1, "!")
    async with websockets.connect(url) as socket:
        for index, letter in ((2, "?"), (3, "#")):
            await socket.send(page.type(index, letter))
        await page.synchronise(socket)
        assert sources(notebook) == ["a!?#"], sources(notebook)
        # Once it was asked, what is missing will not come.
        page.type(4, "lost")
        await socket.send(page.type(8, "late"))
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await socket.recv()
        except websockets.ConnectionClosed as end:
            assert end.rcvd.code == 1003, end.rcvd
    assert sources(notebook) == ["a!?#"], sources(notebook)


async def a_document_that_grows_without_end_is_replaced():
    """The limit of this test's door is 4 MiB."""
    notebook = new_notebook("Growing", ["a"])
    url = url_of("Growing")
    page = Rejoining()
    await page.join(url)
    updates, text = [], os.urandom(150_000).hex()
    subscription = page.doc.observe(lambda event: updates.append(event.update))
    for _ in range(20):
        page.cells[0]["source"].insert(1, text)
        del page.cells[0]["source"][1:]
    page.doc.unobserve(subscription)
    await asks_to_reload(url, [create_update_message(update) for update in updates])
    new_url = url_of("Growing")
    assert new_url != url
    fresh = Rejoining()
    await fresh.join(new_url)
    assert fresh.sources() == sources(notebook)
    assert len(fresh.doc.get_update()) < 1_000_000, "the traces of deleted text are gone"


async def fifty_clients_type_at_once():
    notebook = new_notebook("Fifty", ["-"])
    clients = [client("Fifty") for _ in range(50)]
    models = await asyncio.gather(*(one.__aenter__() for one in clients))
    try:
        for number, model in enumerate(models):
            type_at(model, 0, len(texts(model)[0]), chr(ord("A") + number))
        everything = sorted("-" + "".join(chr(ord("A") + number) for number in range(50)))
        for model in models:
            await until(model, lambda model=model: sorted(texts(model)[0]) == everything)
        await until(models[0], lambda: texts(models[0]) == sources(notebook))
        assert all(texts(model) == sources(notebook) for model in models)
    finally:
        await asyncio.gather(*(one.__aexit__(None, None, None) for one in clients))
