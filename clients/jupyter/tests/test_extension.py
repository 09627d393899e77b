"""The extension in a real Jupyter server, before a real Notarium server, and before a fake one that shows what it gets."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import notarium
import pytest
from jupyter_nbmodel_client import NbModelClient, get_jupyter_notebook_websocket_url
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as connect_once
from websockets.typing import Origin

from .conftest import Server, Start

PEOPLE = """
from jupyter_server.auth import IdentityProvider, User

class Named(IdentityProvider):
    def get_user(self, handler):
        name = handler.request.headers.get("X-Who")
        return User(name) if name else None

c.ServerApp.identity_provider_class = Named
c.Notarium.tokens = {tokens!r}
"""


def test_jupyter_shows_the_notebooks_of_notarium(server: Server, nt: notarium.Client, jupyter: Start) -> None:
    lab = jupyter(server.environment)
    # jupyter-collaboration is installed, but its own documents are off.
    assert "notarium_jupyter | extension was successfully loaded" in lab.said
    assert "jupyter_server_ydoc | extension was successfully" not in lab.said
    # One token: it says whose it is.
    assert "everybody who opens this Jupyter server works as " in lab.said and server.token not in lab.said
    with nt.create("Shown") as notebook:
        cell = notebook.append("print(6 * 7)")
        listed = lab.request("GET", "/api/contents?content=1").json()["content"]
        assert "Shown.ipynb" in [entry["path"] for entry in listed]
        session = lab.request(
            "PUT", "/api/collaboration/session/Shown.ipynb", json={"format": "json", "type": "notebook"}
        )
        assert session.json()["fileId"] == notebook.id
        asked = lab.request("POST", f"/api/kernels/{notebook.id}/execute", json={"cell_id": cell.id})
        # The address of the answer is one of this Jupyter server.
        assert asked.status_code == 202 and asked.headers["Location"].startswith("/lab/me/api/kernels/"), asked.headers
        while (run := lab.request("GET", asked.headers["Location"].removeprefix("/lab/me"))).status_code == 202:
            pass
        assert run.json()["status"] == "ok" and "42" in run.json()["outputs"]
    missing = lab.request("GET", "/api/contents/None.ipynb")
    assert missing.status_code == 404 and missing.json()["message"]
    # Without Jupyter's own token nobody comes to Notarium.
    assert lab.request("GET", "/api/contents", headers={"Authorization": "token guessed"}).status_code == 403


async def test_a_shared_document_goes_through(server: Server, nt: notarium.Client, jupyter: Start) -> None:
    lab = await asyncio.to_thread(jupyter, server.environment)
    notebook = await asyncio.to_thread(lambda: nt.create("Typed").__enter__())
    url = await asyncio.to_thread(get_jupyter_notebook_websocket_url, lab.url, "Typed.ipynb", "jupyters-own")
    async with NbModelClient(url) as model:
        model.add_code_cell("typed = 'through Jupyter'")
        while not (await asyncio.to_thread(lambda: nt.open(notebook.id).__enter__())).cells:
            await asyncio.sleep(0)
    assert notebook.cells[0].source == "typed = 'through Jupyter'"
    # The reason why Notarium ends a socket reaches the client: load the notebook again.
    async with connect(url.replace("sessionId=", "sessionId=old")) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert (
        closed.value.rcvd is not None
        and closed.value.rcvd.code == 1003
        and "reload" in closed.value.rcvd.reason.lower()
    )


def test_each_person_has_a_token_of_their_own(server: Server, jupyter: Start) -> None:
    tokens = {"ada": server.account("ada"), "bo": server.account("bo")}
    lab = jupyter({"NOTARIUM_SERVER": server.url}, PEOPLE.replace("{tokens!r}", repr(tokens)))
    for name in tokens:
        me = lab.request("GET", "/api/me", headers={"X-Who": name}).json()
        assert me["identity"]["name"] == name.title()
    stranger = lab.request("GET", "/api/me", headers={"X-Who": "eve"})
    assert stranger.status_code == 403 and "c.Notarium.tokens" in stranger.text
    assert lab.request("GET", "/api/me").status_code == 403


def test_settings_that_are_missing_or_wrong_are_said(jupyter: Start) -> None:
    lab = jupyter({})
    assert "notarium login" in lab.said
    answer = lab.request("GET", "/api/contents")
    assert answer.status_code == 503 and "no server is known" in answer.json()["message"]


def test_a_server_that_does_not_answer_is_said(jupyter: Start) -> None:
    lab = jupyter({"NOTARIUM_SERVER": "http://127.0.0.1:9", "NOTARIUM_TOKEN": "t"}, "c.Notarium.cut_seconds = 0.1")
    answer = lab.request("GET", "/api/contents")
    assert answer.status_code == 503 and "Notarium does not answer" in answer.json()["message"]
    # The socket does not open, so that JupyterLab waits longer before each further try.
    with pytest.raises(InvalidStatus, match="503"):
        connect_once(lab.url.replace("http", "ws") + "/api/kernels/k/channels?token=jupyters-own")


# --- what Notarium gets ---


class Asked(RequestHandler):
    seen: list[tuple[str, dict[str, str]]] = []

    def get(self) -> None:
        self.seen.append((self.request.uri or "", dict(self.request.headers)))
        self.write({"identity": {"name": "Fake"}})


class Followed(WebSocketHandler):
    def open(self) -> None:
        Asked.seen.append((self.request.uri or "", dict(self.request.headers)))
        self.close(4404, "gone")


@pytest.fixture
async def fake() -> AsyncIterator[str]:
    """Address of a server that takes down what it is asked."""
    Asked.seen.clear()
    server = HTTPServer(Application([(r"/jupyter/api/.*/channels", Followed), (r"/.*", Asked)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    server.stop()


async def test_notarium_gets_its_own_token_and_nothing_of_jupyters(fake: str, jupyter: Start) -> None:
    lab = await asyncio.to_thread(jupyter, {"NOTARIUM_SERVER": fake, "NOTARIUM_TOKEN": "notariums"})
    Asked.seen.clear()
    cookie = {"Authorization": "token jupyters-own", "Cookie": "a=jupyters-own", "X-XSRFToken": "jupyters-own"}
    async with httpx.AsyncClient(headers=cookie) as client:
        place = f"{lab.url}/api/contents/a%20%C3%A9%2Fb"
        assert (
            await client.get(place, params={"content": "1", "token": "jupyters-own", "type": ""})
        ).status_code == 200
        for path in ("/api/contents/%2e%2e/%2e%2e/%2e%2e/api/me", "/api/contents/a/..%2F..%2F..%2Fapi%2Fme"):
            assert (await client.get(lab.url + path)).status_code == 400
    socket = lab.url.replace("http", "ws") + "/api/kernels/k/channels?session_id=s&token=jupyters-own"
    async with connect(socket) as near:
        with pytest.raises(ConnectionClosed) as closed:
            await near.recv()
    assert closed.value.rcvd is not None and (closed.value.rcvd.code, closed.value.rcvd.reason) == (4404, "gone")
    places = [place for place, _ in Asked.seen]
    assert places == [
        "/jupyter/api/contents/a%20%C3%A9%2Fb?content=1&type=",
        "/jupyter/api/kernels/k/channels?session_id=s",
    ]
    for _, headers in Asked.seen:
        assert headers["Authorization"] == "token notariums"
        assert "jupyters-own" not in str(headers)


async def test_a_short_cut_is_not_noticed(jupyter: Start) -> None:
    sockets = bind_sockets(0, "127.0.0.1")
    port = sockets[0].getsockname()[1]
    sockets[0].close()
    settings = {"NOTARIUM_SERVER": f"http://127.0.0.1:{port}", "NOTARIUM_TOKEN": "notariums"}
    lab = await asyncio.to_thread(jupyter, settings, "c.Notarium.cut_seconds = 120")
    asked = asyncio.create_task(asyncio.to_thread(lab.request, "GET", "/api/contents"))
    server = HTTPServer(Application([(r"/.*", Asked)]))
    server.listen(port, "127.0.0.1")
    assert (await asked).status_code == 200
    server.stop()


async def test_pages_of_other_sites_reach_nothing(fake: str, jupyter: Start) -> None:
    lab = await asyncio.to_thread(jupyter, {"NOTARIUM_SERVER": fake, "NOTARIUM_TOKEN": "notariums"})
    async with httpx.AsyncClient() as client:
        await client.get(f"{lab.url}/api/contents", params={"token": "jupyters-own"})
        # The browser sends the cookie of the login along, and another site cannot know the token against forgery.
        Asked.seen.clear()
        answer = await client.put(f"{lab.url}/api/contents/a.ipynb", json={}, headers={"Origin": "http://evil.example"})
        assert answer.status_code in (403, 404)
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    socket = lab.url.replace("http", "ws") + "/api/kernels/k/channels"
    with pytest.raises(InvalidStatus, match="403"):
        await connect(socket, origin=Origin("http://evil.example"), additional_headers=cookie)
    assert Asked.seen == []
