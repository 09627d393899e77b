"""WebSocket and HTTP. The only module that uses `websockets` and `httpx`."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from ._version import __version__
from .config import ServerTarget
from .connection import Wire
from .document import Json
from .errors import Disconnected, NotariumError, rejection

USER_AGENT = f"notarium-python/{__version__}"
# Server and client ping every 20 s. A peer without an answer for 40 s is disconnected.
_PING_SECONDS, _PONG_SECONDS = 20, 40


class WebSocket:
    """A `Wire` over a real socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        """Sends one frame."""
        try:
            await self._socket.send(text)
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def receive(self) -> str:
        """Receives the next frame."""
        try:
            return str(await self._socket.recv(decode=True))
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def close(self) -> None:
        """Closes the socket with a close frame."""
        await self._socket.close()


async def dial(target: ServerTarget, timeout: float) -> Wire:
    """Opens the WebSocket of a server, within `timeout` seconds."""
    try:
        socket = await connect(
            target.socket_url,
            user_agent_header=USER_AGENT,
            # The network is fast or a proxy compresses: compression here would only cost time.
            compression=None,
            max_size=None,
            open_timeout=timeout,
            close_timeout=2,
            ping_interval=_PING_SECONDS,
            ping_timeout=_PONG_SECONDS,
        )
    except InvalidStatus as error:
        status, body = error.response.status_code, _problem(error.response.body)
        if 400 <= status < 500:
            raise rejection(body, status) from error
        raise ConnectionError(f"{target.url} answers {status}") from error
    except InvalidHandshake as error:
        message = f"{target.url} is no Notarium server, or a proxy between does not let WebSockets through: {error}"
        raise Disconnected(message) from error
    except (OSError, TimeoutError) as error:
        raise Disconnected(f"no server answers at {target.url}: {error or 'timed out'}") from error
    return WebSocket(socket)


def _problem(body: bytes | bytearray | None) -> Json:
    try:
        problem = httpx.Response(200, content=bytes(body or b"{}")).json()
    except ValueError:
        problem = {}
    return problem if isinstance(problem, dict) else {}


class Rest:
    """REST client: returns JSON, raises exceptions for refusals."""

    def __init__(self, target: ServerTarget, timeout: float | None) -> None:
        headers = {"Authorization": f"Bearer {target.token}", "User-Agent": USER_AGENT}
        self._client = httpx.AsyncClient(base_url=target.url, headers=headers, timeout=timeout)

    async def close(self) -> None:
        """Closes the HTTP connections."""
        await self._client.aclose()

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Sends a request and returns the response. Raises the exception of an error status."""
        # A server may redirect downloads to the bucket of its blobs. The token is not sent there.
        options.setdefault("follow_redirects", method == "GET")
        try:
            response = await self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise Disconnected(f"the server did not answer {method} {path}: {error or type(error).__name__}") from error
        if response.is_error:
            raise problem_of(response)
        return response

    async def get(self, path: str, **query: Any) -> Any:
        """Reads JSON. Parameters that are None are left out."""
        query = {name: value for name, value in query.items() if value is not None}
        return (await self.request("GET", path, params=query)).json()

    async def post(self, path: str, body: Any) -> Any:
        """Posts JSON and returns the JSON answer."""
        return (await self.request("POST", path, json=body)).json()

    async def lines(self, path: str) -> AsyncIterator[str]:
        """Yields the lines of a JSON Lines response as they arrive."""
        async with self._client.stream("GET", path, headers={"Accept": "application/x-ndjson"}) as response:
            if response.is_error:
                await response.aread()
                raise problem_of(response)
            try:
                async for line in response.aiter_lines():
                    if line:
                        yield line
            except httpx.HTTPError as error:
                raise Disconnected(f"the answer of {path} broke off: {error}") from error


def problem_of(response: httpx.Response) -> NotariumError:
    """The exception for an error response."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    body.setdefault("detail", f"the server answered {response.status_code} to {response.request.url.path}")
    return rejection(body, response.status_code)
