"""Handlers that pass requests and WebSockets of JupyterLab on to Notarium, with the person's token."""

import asyncio
import contextlib
import time
from urllib.parse import parse_qsl, unquote, urlencode

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from tornado import web
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    WebSocketHandler,
    websocket_connect,
)

from .settings import Notarium

# Largest message, request or answer in bytes.
MAX_BYTES = 256 << 20
# Deadlines in seconds.
CONNECT_TIMEOUT, REQUEST_TIMEOUT = 10.0, 600.0
# Pause before a request is sent again, in seconds.
AGAIN_SECONDS = 0.2
# Place of Jupyter's API on a Notarium server.
DOOR = "/jupyter/"
# Headers that are passed on. Cookies and tokens of Jupyter are not: Notarium gets its own token.
ASKED = ("Accept", "Content-Type", "If-Match", "If-None-Match")
ANSWERED = ("Allow", "Cache-Control", "Etag", "Last-Modified", "Location", "Retry-After")
KERNEL_PROTOCOL = "v1.kernel.websocket.jupyter.org"


class Forwarding(JupyterHandler):
    """Base of both handlers: rights, address and headers of the request to Notarium."""

    def initialize(self, notarium: Notarium) -> None:
        self.notarium = notarium

    async def request_to(self, scheme: str = "") -> HTTPRequest:
        """The request that Notarium gets. Raises 401 or 403 if Jupyter does not allow it."""
        if self.current_user is None:
            raise web.HTTPError(403)
        place = self.request.path.removeprefix(self.base_url)
        resource = place.split("/")[1]
        action = "execute" if scheme else "read" if self.request.method in ("GET", "HEAD") else "write"
        if not await ensure_async(self.authorizer.is_authorized(self, self.current_user, action, resource)):
            raise web.HTTPError(403)
        if ".." in unquote(place).split("/"):
            raise web.HTTPError(400, "a path has no '..' here")
        target = self.notarium.target(self.current_user.username)
        # A token in the query is Jupyter's own.
        query = [(key, value) for key, value in parse_qsl(self.request.query, True) if key != "token"]
        url = f"{target.url}{DOOR}{place}{'?' if query else ''}{urlencode(query)}"
        headers = {name: self.request.headers[name] for name in ASKED if name in self.request.headers}
        headers["Authorization"] = f"token {target.token}"
        return HTTPRequest(
            scheme + url.removeprefix("http") if scheme else url,
            method=self.request.method or "GET",
            headers=headers,
            body=self.request.body or None,
            follow_redirects=False,
            connect_timeout=CONNECT_TIMEOUT,
            request_timeout=REQUEST_TIMEOUT,
            allow_nonstandard_methods=True,
        )


class RestProxy(APIHandler, Forwarding):
    """REST."""

    @web.authenticated
    async def get(self, _: str) -> None:
        answer = await self.answer(await self.request_to())
        self.set_status(answer.code, answer.reason)
        for name in ANSWERED:
            for value in answer.headers.get_list(name):
                self.set_header(name, self.base_url + value.removeprefix(DOOR) if value.startswith(DOOR) else value)
        await self.finish(answer.body, set_content_type=answer.headers.get("Content-Type", "application/json"))

    head = post = put = patch = delete = get

    async def answer(self, request: HTTPRequest) -> HTTPResponse:
        """Sends the request. One that only reads waits for the end of a short cut, of which JupyterLab then does not hear."""
        last = time.monotonic() + (self.notarium.cut_seconds if request.method in ("GET", "HEAD") else 0)
        while True:
            try:
                return await client().fetch(request, raise_error=False)
            except (OSError, HTTPClientError) as error:
                if time.monotonic() > last:
                    raise unreachable(error) from error
            await asyncio.sleep(AGAIN_SECONDS)


class SocketProxy(WebSocketMixin, WebSocketHandler, Forwarding):
    """WebSockets of kernels, of shared documents and of events."""

    far: WebSocketClientConnection

    @property
    def max_message_size(self) -> int:
        return MAX_BYTES

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return KERNEL_PROTOCOL if KERNEL_PROTOCOL in subprotocols else None

    async def get(self, *arguments: str) -> None:
        request = await self.request_to("ws")
        if not self.check_origin():
            raise web.HTTPError(403)
        protocols = [KERNEL_PROTOCOL] if KERNEL_PROTOCOL in request_protocols(self) else None
        # Before the client's own socket opens: clients wait longer after each socket that does not open.
        self.far = await self.connected(request, protocols)
        try:
            await super().get(*arguments)
        finally:
            self.far.close()

    async def connected(self, request: HTTPRequest, protocols: list[str] | None) -> WebSocketClientConnection:
        """Connects to Notarium. A short cut or a restart is waited for."""
        last = time.monotonic() + self.notarium.cut_seconds
        while True:
            try:
                return await websocket_connect(request, subprotocols=protocols, max_message_size=MAX_BYTES)
            except HTTPClientError as error:
                raise web.HTTPError(error.code if error.code < 500 else 503, str(error)) from error
            except (OSError, WebSocketError) as error:
                if time.monotonic() > last:
                    raise unreachable(error) from error
            await asyncio.sleep(AGAIN_SECONDS)

    def open(self, *arguments: str) -> None:
        super().open(*arguments)
        self.reading = asyncio.ensure_future(self.read())

    async def read(self) -> None:
        """Passes on what Notarium sends, and the reason of its end."""
        with contextlib.suppress(WebSocketClosedError):
            while (message := await self.far.read_message()) is not None:
                await self.write_message(message, isinstance(message, bytes))
            # 1005 and 1006 say that no code came; they must not be sent.
            is_code = self.far.close_code is not None and self.far.close_code not in (1005, 1006)
            self.close(self.far.close_code if is_code else 1012, self.far.close_reason)

    async def on_message(self, message: str | bytes) -> None:
        with contextlib.suppress(WebSocketClosedError):
            await self.far.write_message(message, isinstance(message, bytes))


def unreachable(error: Exception) -> web.HTTPError:
    """503: after any other status of a kernel JupyterLab gives it up as dead."""
    return web.HTTPError(503, f"Notarium does not answer ({error}): start it, or correct its address")


def request_protocols(handler: JupyterHandler) -> list[str]:
    return [name.strip() for name in handler.request.headers.get("Sec-WebSocket-Protocol", "").split(",")]


def client() -> AsyncHTTPClient:
    """The client of this thread's loop, for many requests side by side."""
    return SimpleAsyncHTTPClient(max_clients=200, max_body_size=MAX_BYTES, max_buffer_size=MAX_BYTES)
