"""Bad input at the Jupyter door: each is refused with a sentence, and hurts nobody."""

import asyncio
import contextlib
import json
import time

import requests
import websockets
from door import (
    DOOR,
    OWNER,
    PATIENCE,
    VIEWER,
    VIEWER_ID,
    Rejoining,
    ask_for,
    asks_to_reload,
    call,
    client,
    closes_with,
    new_notebook,
    own,
    socket_url,
    sources,
    texts,
    type_at,
    url_of,
    wait_until_listed,
)
from pycrdt import create_update_message
from waiting import until


def paths_that_are_no_notebooks():
    new_notebook("Here", ["a"])
    for method, path, body in [
        ("PUT", "collaboration/session/nowhere.ipynb", {"format": "json", "type": "notebook"}),
        ("PUT", "collaboration/session/..%2F..%2Fetc%2Fpasswd", {"format": "text", "type": "file"}),
        ("POST", "sessions", {"path": "nowhere.ipynb", "type": "notebook", "kernel": {"name": "python3"}}),
        ("POST", "contents/nowhere", {"type": "notebook"}),
        ("PATCH", "contents/nowhere.ipynb", {"path": "other.ipynb"}),
        ("DELETE", "contents/nowhere.ipynb", None),
        ("GET", "contents/nowhere.ipynb/checkpoints", None),
        ("GET", "kernels/nowhere", None),
    ]:
        assert call(method, f"/jupyter/api/{path}", body, expected=404)["message"], path
    for method, path, body in [
        ("PUT", "collaboration/session/working%20files", {"format": "json", "type": "notebook"}),
        ("POST", "sessions", {"path": "working files", "type": "notebook"}),
        ("POST", "contents", {"type": "file", "ext": ".txt"}),
        ("POST", "contents", {"type": "directory"}),
        ("PUT", "contents/notes.txt", {"type": "file", "format": "text", "content": "a"}),
        ("PATCH", "contents/Here.ipynb", {}),
        ("DELETE", "contents/working%20files", None),
        ("POST", "contents/working%20files", {"type": "notebook"}),
    ]:
        assert call(method, f"/jupyter/api/{path}", body, expected=400)["message"], path


def broken_uploads():
    notebook = new_notebook("Upload", ["a"])
    good = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    cell = {"cell_type": "code", "id": "x", "source": "a", "metadata": {}, "outputs": [], "execution_count": None}
    for content in (
        None,
        7,
        "text",
        [],
        {},
        {**good, "cells": 7},
        {**good, "cells": [7]},
        {**good, "cells": [{**cell, "source": 7}]},
        {**good, "cells": [{**cell, "id": 7}]},
        {**good, "cells": [cell, cell]},
    ):
        body = {"type": "notebook", "format": "json", "content": content}
        assert call("PUT", "/jupyter/api/contents/Upload.ipynb", body, expected=400)["message"], content
    assert sources(notebook) == ["a"]
    headers = {"Authorization": f"token {OWNER}"}
    for data in (b"{", b"\xff", b'"' * 1000, b"[" * 100_000):
        answer = requests.put(f"{DOOR}/api/contents/Upload.ipynb", data=data, headers=headers, timeout=PATIENCE)
        assert answer.status_code == 400 and answer.json()["message"], (data[:20], answer.text)
    assert sources(notebook) == ["a"]


async def hostile_updates_hurt_nobody():
    notebook = new_notebook("Hostile", ["a"])
    url = url_of("Hostile")
    async with client("Hostile") as ann:
        await asks_to_reload(url, [create_update_message(b"\x05garbage")])
        await asks_to_reload(url, [create_update_message(b"\xff" * 10_000_000)])
        for cut_off in (bytes(20_000_000), b"\x00\x00\xff\xff"):
            assert await closes_with(url, [cut_off]) != 1000
        type_at(ann, 0, 1, "!")
        async with client("Hostile") as bob:
            await until(bob, lambda: texts(bob) == ["a!"])
    assert sources(notebook) == ["a!"]
    await asks_to_reload(url.replace("sessionId=", "sessionId=old"))
    await asks_to_reload(url.split("?")[0] + "?sessionId=%22" + 200 * "x" + "&token=" + OWNER)


async def another_schema_is_no_notebook():
    notebook = new_notebook("Schema", ["a"])
    other = Rejoining()
    await other.join(url_of("Schema"))
    other.doc.get("elsewhere", type=type(other.cells)).append("not a notebook")
    other.cells.append("no cell")
    other.cells.append({"id": "x", "cell_type": "heading", "source": "old"})
    await other.join(url_of("Schema"))
    assert sources(notebook) == ["a"]
    async with client("Schema") as ann:
        assert len(ann) == 1 and texts(ann) == ["a"]


async def messages_of_kernels_that_cannot_be_read():
    notebook = new_notebook("Channels", ["a"])
    url = socket_url(f"api/kernels/{notebook}/channels")
    for malformed in ("garbage", "[]", "{}", '{"header": 7}', b"", b"\xff" * 64, b"\x00\x00\x00\x01\x7f\xff\xff\xff"):
        assert await closes_with(url, [malformed]) == 1007, malformed
    for large in (100_000_000 * "x", bytes(100_000_000)):
        with contextlib.suppress(websockets.ConnectionClosed, ConnectionError):
            assert await closes_with(url, [large]) in (1009, None)
    # Known, and useless: the connection goes on.
    async with websockets.connect(url, max_size=None) as socket:
        for number, (msg_type, content) in enumerate(
            [
                ("no_such_request", {}),
                ("input_reply", {"value": 7}),
                ("comm_msg", {"comm_id": "nowhere", "data": 7}),
                ("comm_open", {"comm_id": "own", "target_name": "own", "data": {}}),
                ("comm_info_request", {}),
            ]
        ):
            header = {"msg_id": str(number), "msg_type": msg_type}
            await socket.send(json.dumps({"channel": "shell", "header": header, "content": content}))
        seen = {}
        async with asyncio.timeout(PATIENCE):
            while "comm_info_reply" not in seen:
                message = json.loads(await socket.recv())
                seen[message["header"]["msg_type"]] = message
    assert seen["comm_close"]["content"]["comm_id"] == "own", "as a kernel does for an unknown target"
    assert seen["comm_info_reply"]["content"] == {"status": "ok", "comms": {}}


async def a_token_for_one_notebook_opens_no_other():
    notebook = new_notebook("One", ["a"])
    other = new_notebook("Other", ["a"])
    new = {"label": "one", "scopes": ["read", "edit", "run"], "covers": {"notebooks": [notebook]}}
    soon = int(time.time() * 1000) + 3_600_000
    token = own("POST", "/api/tokens", {**new, "expires_at": soon})["token"]
    listed = [entry["path"] for entry in call("GET", "/jupyter/api/contents", token=token)["content"]]
    assert listed == ["One.ipynb", "working files"], listed
    session = {"format": "json", "type": "notebook"}
    call("PUT", "/jupyter/api/collaboration/session/Other.ipynb", session, token=token, expected=404)
    # With the session of somebody who may, too: the room asks the server for itself.
    stranger = url_of("Other").split("&token=")[0] + f"&token={token}"
    assert await closes_with(stranger) in (1003, 4404)
    assert await closes_with(socket_url(f"api/kernels/{other}/channels", token)) == 4404
    async with client("One", token) as ann:
        type_at(ann, 0, 1, "!")
        async with client("One") as bob:
            await until(bob, lambda: texts(bob) == ["a!"])
    assert sources(notebook) == ["a!"] and sources(other) == ["a"]


async def a_revoked_token_ends_its_sockets():
    notebook = new_notebook("Revoked", ["a"])
    own("PUT", f"/api/notebooks/{notebook}/access", {"subject": {"kind": "user", "id": VIEWER_ID}, "role": "viewer"})
    wait_until_listed("Revoked", VIEWER)
    urls = [
        url_of("Revoked", VIEWER),
        socket_url(f"api/kernels/{notebook}/channels", VIEWER),
        socket_url("api/events/subscribe", VIEWER),
        socket_url("api/collaboration/room/JupyterLab:globalAwareness", VIEWER),
    ]
    sockets = [await websockets.connect(url, max_size=None) for url in urls]
    await sockets[0].recv()
    # Each has its own connection to the server when it answers.
    info = {"channel": "shell", "header": {"msg_id": "1", "msg_type": "comm_info_request"}, "content": {}}
    await sockets[1].send(json.dumps(info))
    await sockets[1].recv()
    for silent in sockets[2:]:
        await silent.send(b"\x00\x00\x01\x00")
        await silent.recv()
    ask_for("revoke")
    for socket in sockets:
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    await socket.recv()
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 1008, closed
    call("GET", "/jupyter/api/contents", token=VIEWER, expected=401)
