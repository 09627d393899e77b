"""The Jupyter door with the clients that people have: `jupyter-nbmodel-client` with `pycrdt`.

Started by `tests/interop/mod.rs`, which restarts the server and revokes a token when this program asks for it on its standard output.
"""

import asyncio
import os
import sys

import requests
import websockets
from jupyter_nbmodel_client import NbModelClient, get_jupyter_notebook_websocket_url
from pycrdt import create_update_message
from waiting import until

SERVER = os.environ["NOTARIUM_URL"]
OWNER = os.environ["NOTARIUM_TOKEN"]
VIEWER = os.environ["NOTARIUM_VIEWER_TOKEN"]
VIEWER_ID = os.environ["NOTARIUM_VIEWER"]
DOOR = f"{SERVER}/jupyter"
PATIENCE = 60


def call(method, path, body=None, token=OWNER, expected=None, scheme="token"):
    headers = {"Authorization": f"{scheme} {token}"} if token else {}
    answer = requests.request(method, SERVER + path, json=body, headers=headers, timeout=PATIENCE)
    if expected:
        assert answer.status_code == expected, (method, path, answer.status_code, answer.text)
    else:
        assert answer.ok, (method, path, answer.status_code, answer.text)
    return answer.json() if answer.content else None


def own(method, path, body=None):
    return call(method, path, body, scheme="Bearer")


def sources(notebook):
    state = own("GET", f"/api/notebooks/{notebook}")["notebook"]
    return [state["cells"][cell]["source"] for cell in state["order"]]


def event_types(notebook, since):
    events = own("GET", f"/api/notebooks/{notebook}/events?since={since}")["events"]
    return [event["type"] for event in events]


def version(notebook):
    return own("GET", f"/api/notebooks/{notebook}")["version"]


def new_notebook(title, cells):
    notebook = own("POST", "/api/notebooks", {"title": title})["notebook"]
    for source in cells:
        own("POST", f"/api/notebooks/{notebook}/cells", {"cell_type": "code", "source": source})
    return notebook


def wait_until_listed(title, token):
    """The list of somebody else's notebooks may lag behind a grant."""
    for _ in range(1000):
        root = call("GET", "/jupyter/api/contents?content=1", token=token)
        if f"{title}.ipynb" in [entry["path"] for entry in root["content"]]:
            return
    raise AssertionError(f"{title} is never listed")


def client(title, token=OWNER):
    wait_until_listed(title, token)
    return NbModelClient(get_jupyter_notebook_websocket_url(DOOR, f"{title}.ipynb", token))


def texts(model):
    return [str(cell["source"]) for cell in model._doc.ycells]


def type_at(model, cell, index, text):
    model._doc.ycells[cell]["source"].insert(index, text)


def ask_for(what):
    """Asks the program that started this one for something."""
    print(what, flush=True)
    assert sys.stdin.readline().strip() == "done", what


async def edits_reach_everybody():
    notebook = new_notebook("Edits", ["a = 1", "b😀 = 2"])
    async with client("Edits") as ann, client("Edits") as bob:
        assert texts(ann) == texts(bob) == ["a = 1", "b😀 = 2"]
        type_at(ann, 1, 5, "x")
        await until(bob, lambda: texts(bob)[1].count("x") == 1)
        assert sources(notebook) == texts(ann) == texts(bob)
        cell = own("GET", f"/api/notebooks/{notebook}")["notebook"]["order"][0]
        read = own("GET", f"/api/notebooks/{notebook}/cells/{cell}")["cell"]["cell_version"]
        own("PATCH", f"/api/notebooks/{notebook}/cells/{cell}", {"source": "a = 10", "cell_version": read})
        await until(ann, lambda: texts(ann)[0] == "a = 10")
        await until(bob, lambda: texts(bob)[0] == "a = 10")
        ann.add_markdown_cell("# Title")
        await until(bob, lambda: len(bob) == 3)
        bob.set_cell_source(2, "# Other title")
        await until(ann, lambda: texts(ann)[2] == "# Other title")
        bob.delete_cell(0)
        await until(ann, lambda: len(ann) == 2)
        assert sources(notebook) == texts(ann) == texts(bob)
        assert ann[1]["cell_type"] == "markdown"
        own("POST", f"/api/notebooks/{notebook}/undo", {})
        await until(ann, lambda: len(ann) == 3 and texts(ann)[0] == "a = 10")
        assert len({cell["id"] for cell in ann}) == 3


async def a_move_is_a_move():
    notebook = new_notebook("Moves", ["a", "b", "c"])
    before = version(notebook)
    async with client("Moves") as ann, client("Moves") as bob:
        with ann._doc.ydoc.transaction():
            copy = ann._doc.ycells[0].to_py()
            del ann._doc.ycells[0]
            ann._doc.ycells.append(ann._doc.create_ycell(copy))
        await until(bob, lambda: texts(bob) == ["b", "c", "a"])
        assert event_types(notebook, before) == ["CellMoved"], event_types(notebook, before)
        assert sources(notebook) == ["b", "c", "a"]


async def what_saving_writes_is_no_event():
    notebook = new_notebook("Saved", ["a"])
    before = version(notebook)
    async with client("Saved") as ann, client("Saved") as bob:
        for _ in range(3):
            ann._doc.ycells[0]["metadata"]["trusted"] = True
        type_at(ann, 0, 1, "!")
        await until(bob, lambda: texts(bob) == ["a!"])
        assert event_types(notebook, before) == ["CellSourceEdited"], event_types(notebook, before)
        ann.set_cell_metadata(0, "tags", ["x"])
        await until(bob, lambda: bob[0]["metadata"].get("tags") == ["x"])
        assert event_types(notebook, before) == ["CellSourceEdited", "CellMetadataSet"]


async def two_type_at_once_beside_our_own_client():
    notebook = new_notebook("Together", ["-"])
    cell = own("GET", f"/api/notebooks/{notebook}")["notebook"]["order"][0]
    async with client("Together") as ann, client("Together") as bob:

        async def types(model, letter):
            for _ in range(40):
                type_at(model, 0, len(texts(model)[0]) // 2, letter)
                await asyncio.sleep(0)

        def ours():
            for _ in range(10):
                base = own("GET", f"/api/notebooks/{notebook}")
                length = len(base["notebook"]["cells"][cell]["source"])
                edit = {"cell_id": cell, "base": base["version"], "change": [length, [0, "c"]]}
                own("POST", f"/api/notebooks/{notebook}/commands", {"body": {"EditSource": edit}})

        await asyncio.gather(types(ann, "a"), types(bob, "b"), asyncio.to_thread(ours))
        everything = sorted("-" + 40 * "a" + 40 * "b" + 10 * "c")
        await until(ann, lambda: sorted(texts(ann)[0]) == everything)
        await until(bob, lambda: sorted(texts(bob)[0]) == everything)
        await until(ann, lambda: texts(ann) == texts(bob))
        assert sources(notebook) == texts(ann) == texts(bob)


async def a_viewer_s_edits_are_undone():
    notebook = new_notebook("Read only", ["a", "b"])
    grant = {"subject": {"kind": "user", "id": VIEWER_ID}, "role": "viewer"}
    own("PUT", f"/api/notebooks/{notebook}/access", grant)
    before = version(notebook)
    async with client("Read only") as ann, client("Read only", VIEWER) as eve:
        type_at(eve, 0, 0, "never ")
        await until(eve, lambda: texts(eve) == ["a", "b"])
        del eve._doc.ycells[0]
        await until(eve, lambda: texts(eve) == ["a", "b"])
        eve.add_code_cell("mine")
        await until(eve, lambda: texts(eve) == ["a", "b"])
        assert version(notebook) == before and texts(ann) == ["a", "b"]
        type_at(ann, 0, 1, "!")
        await until(eve, lambda: texts(eve) == ["a!", "b"])


async def closes_with(url, frames):
    """Close code with which the door answers these frames."""
    async with websockets.connect(url, max_size=None) as socket:
        try:
            for frame in frames:
                await socket.send(frame)
            async with asyncio.timeout(PATIENCE):
                while True:
                    await socket.recv()
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


async def hostile_updates_hurt_nobody():
    notebook = new_notebook("Hostile", ["a"])
    url = get_jupyter_notebook_websocket_url(DOOR, "Hostile.ipynb", OWNER)
    async with client("Hostile") as ann:
        assert await closes_with(url, [create_update_message(b"\x05garbage")]) == 1003
        assert await closes_with(url, [create_update_message(b"\xff" * 10_000_000)]) == 1003
        for cut_off in (bytes(20_000_000), b"\x00\x00\xff\xff"):
            assert await closes_with(url, [cut_off]) != 1000
        type_at(ann, 0, 1, "!")
        async with client("Hostile") as bob:
            await until(bob, lambda: texts(bob) == ["a!"])
    assert sources(notebook) == ["a!"]
    assert await closes_with(url.replace("sessionId=", "sessionId=old"), []) == 1003
    assert await closes_with(url.split("?")[0] + "?sessionId=x&token=" + OWNER, []) == 1003


def contents_are_notebooks():
    new_notebook("Listed", ["a = 1"])
    root = call("GET", "/jupyter/api/contents?content=1")
    assert root["type"] == "directory"
    assert "Listed.ipynb" in [entry["path"] for entry in root["content"]]
    model = call("GET", "/jupyter/api/contents/Listed.ipynb")
    assert model["content"]["cells"][0]["source"] in ("a = 1", ["a = 1"])
    content = model["content"]
    content["cells"][0]["source"] = "a = 2"
    call("PUT", "/jupyter/api/contents/Listed.ipynb", {"type": "notebook", "format": "json", "content": content})
    assert call("GET", "/jupyter/api/contents/Listed.ipynb")["content"]["cells"][0]["source"] in ("a = 2", ["a = 2"])
    broken = {"type": "notebook", "format": "json", "content": {"cells": 7}}
    refused = call("PUT", "/jupyter/api/contents/Listed.ipynb", broken, expected=400)
    assert "no list of cells" in refused["message"], refused
    refused = call("PUT", "/jupyter/api/contents/New.ipynb", broken, expected=400)
    assert refused["message"], refused
    assert call("GET", "/jupyter/api/contents/nowhere/x.ipynb", expected=404)["message"]
    made = call("POST", "/jupyter/api/contents", {"type": "notebook"})
    assert made["name"].startswith("Untitled")
    renamed = call("PATCH", f"/jupyter/api/contents/{made['path']}", {"path": "Renamed.ipynb"})
    assert renamed["path"] == "Renamed.ipynb"
    checkpoint = call("POST", "/jupyter/api/contents/Renamed.ipynb/checkpoints")
    assert checkpoint in call("GET", "/jupyter/api/contents/Renamed.ipynb/checkpoints")
    refused = call("POST", f"/jupyter/api/contents/Renamed.ipynb/checkpoints/{checkpoint['id']}", {}, expected=409)
    assert "history" in refused["message"]
    call("DELETE", "/jupyter/api/contents/Renamed.ipynb")
    call("GET", "/jupyter/api/contents/Renamed.ipynb", expected=404)


def the_rest_answers():
    assert call("GET", "/jupyter/api", token=OWNER)["version"]
    assert call("GET", "/jupyter/api/status")["connections"] >= 0
    assert call("GET", "/jupyter/api/me")["identity"]["name"]
    assert call("GET", "/jupyter/api/kernelspecs")["default"]
    assert call("GET", "/jupyter/api/sessions") == []
    assert call("GET", "/jupyter/api/kernels") == []
    call("GET", "/jupyter/api/status", token=None, expected=401)
    call("GET", "/jupyter/api/status", token="wrong", expected=401)
    call("GET", f"/jupyter/api/status?token={OWNER}", token=None, expected=401)


async def a_restart_makes_clients_load_again():
    notebook = new_notebook("Restarted", ["a", "b"])
    url = get_jupyter_notebook_websocket_url(DOOR, "Restarted.ipynb", OWNER)
    async with client("Restarted") as ann:
        old = ann._doc.ydoc.get_update()
        assert texts(ann) == ["a", "b"]
    ask_for("restart")
    assert await closes_with(url, [create_update_message(old)]) == 1003
    async with client("Restarted") as ann:
        assert texts(ann) == ["a", "b"]
        new_url = get_jupyter_notebook_websocket_url(DOOR, "Restarted.ipynb", OWNER)
        async with websockets.connect(new_url, max_size=None) as stale:
            await stale.send(create_update_message(old))
            # The answer to a save comes after the update is decided.
            await stale.send(b"\x02\x04save\x01")
            while not (await stale.recv()).startswith(b"\x02"):
                pass
            type_at(ann, 0, 1, "!")
            async with client("Restarted") as bob:
                await until(bob, lambda: texts(bob) == ["a!", "b"])
    assert sources(notebook) == ["a!", "b"]


async def a_revoked_token_ends_its_sockets():
    notebook = new_notebook("Revoked", ["a"])
    grant = {"subject": {"kind": "user", "id": VIEWER_ID}, "role": "viewer"}
    own("PUT", f"/api/notebooks/{notebook}/access", grant)
    wait_until_listed("Revoked", VIEWER)
    url = get_jupyter_notebook_websocket_url(DOOR, "Revoked.ipynb", VIEWER)
    async with websockets.connect(url, max_size=None) as socket:
        await socket.recv()
        ask_for("revoke")
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await socket.recv()
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 1008, closed
    call("GET", "/jupyter/api/contents", token=VIEWER, expected=401)


async def main():
    the_rest_answers()
    contents_are_notebooks()
    scenes = [
        edits_reach_everybody,
        a_move_is_a_move,
        what_saving_writes_is_no_event,
        two_type_at_once_beside_our_own_client,
        a_viewer_s_edits_are_undone,
        hostile_updates_hurt_nobody,
        a_restart_makes_clients_load_again,
        a_revoked_token_ends_its_sockets,
    ]
    for scene in scenes:
        await scene()
        print(f"# {scene.__name__}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
