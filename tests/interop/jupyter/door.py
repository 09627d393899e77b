"""The Jupyter door under test, and what its tests share.

`tests/interop/mod.rs` starts the programs, restarts the server and revokes a token when they ask for it on their standard output.
"""

import asyncio
import json
import os
import sys

import requests
import websockets
from jupyter_nbmodel_client import NbModelClient, get_jupyter_notebook_websocket_url
from pycrdt import Array, Doc, YMessageType, create_sync_message, create_update_message, handle_sync_message

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
    return NbModelClient(url_of(title, token))


def texts(model):
    return [str(cell["source"]) for cell in model._doc.ycells]


def type_at(model, cell, index, text):
    model._doc.ycells[cell]["source"].insert(index, text)


def ask_for(what):
    """Asks the program that started this one for something."""
    print(what, flush=True)
    assert sys.stdin.readline().strip() == "done", what


def url_of(title, token=OWNER):
    return get_jupyter_notebook_websocket_url(DOOR, f"{title}.ipynb", token)


def socket_url(path, token=OWNER):
    """Address of a WebSocket of the door."""
    return f"{DOOR}/{path}?token={token}".replace("http", "ws", 1)


async def closed(url, frames=()):
    """The close frame with which the door answers these frames; `None` if the connection is cut without one."""
    async with websockets.connect(url, max_size=None) as socket:
        try:
            for frame in frames:
                await socket.send(frame)
            async with asyncio.timeout(PATIENCE):
                while True:
                    await socket.recv()
        except websockets.ConnectionClosed as end:
            return end.rcvd


async def closes_with(url, frames=()):
    frame = await closed(url, frames)
    return frame.code if frame else None


async def asks_to_reload(url, frames=()):
    """The door closes so that JupyterLab offers to load the page again."""
    frame = await closed(url, frames)
    assert frame is not None and frame.code == 1003, frame
    reason = json.loads(frame.reason)
    assert reason["reason"] == "unknown_session" and reason["reloadable"] is True, reason
    return reason["sessionId"]


class Rejoining:
    """A client with a document that it may have for long, as a browser's page has while its connection is cut."""

    def __init__(self):
        self.doc = Doc()
        self.cells = self.doc.get("cells", type=Array)

    def sources(self):
        return [str(cell["source"]) for cell in self.cells]

    async def join(self, url):
        """Connects, and synchronises in both directions."""
        async with websockets.connect(url, max_size=None) as socket:
            await self.synchronise(socket)

    async def synchronise(self, socket):
        await socket.send(create_sync_message(self.doc))
        # The first round answers the server's question, so the second comes after our changes are decided.
        for number in (1, 2):
            await socket.send(b"\x02\x04save" + bytes([number]))
            await self._until_saved(socket)

    def type(self, index, text):
        """Types into the first cell. Returns the message with that change alone."""
        updates = []
        subscription = self.doc.observe(lambda event: updates.append(event.update))
        self.cells[0]["source"].insert(index, text)
        self.doc.unobserve(subscription)
        return create_update_message(updates[0])

    async def _until_saved(self, socket):
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await socket.recv()
                if message[0] == YMessageType.SYNC:
                    reply = handle_sync_message(message[1:], self.doc)
                    if reply is not None:
                        await socket.send(reply)
                elif b'"save"' in message:
                    return
