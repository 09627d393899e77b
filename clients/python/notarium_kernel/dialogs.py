"""Carries requests of dialoghelper, the client of Solveit, from code in a kernel to the server.

The requests take the socket to the runtime agent. They have no token: the server finds the run that has the kernel, and with it the cell
and the person. `mount` is called when dialoghelper is imported first; `httpx` comes with it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import socket
import sys
from typing import Any

import httpx

from . import host
from .sql.remote import connect

DEFAULT_PORT = 5001
DEFAULT_TIMEOUT_SECONDS = 15.0


class KernelTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends requests over the socket to the runtime agent."""

    def __init__(self, address: str):
        self.address = address

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._exchange(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await asyncio.to_thread(self._exchange, request, await request.aread())

    def _exchange(self, request: httpx.Request, body: bytes) -> httpx.Response:
        timeout = request.extensions.get("timeout", {}).get("read", DEFAULT_TIMEOUT_SECONDS)
        head = {
            "endpoint": request.url.path.strip("/"),
            "accept": request.headers.get("Accept", ""),
            "content_type": request.headers.get("Content-Type", ""),
            "size_bytes": len(body),
        }
        try:
            answer, content = _ask(self.address, head, body, timeout)
        except TimeoutError as error:
            raise httpx.ReadTimeout("Notarium did not answer in time", request=request) from error
        except (OSError, ValueError) as error:
            raise httpx.ConnectError(f"the runtime agent does not answer: {error}", request=request) from error
        headers = {"Content-Type": answer["content_type"]}
        return httpx.Response(answer["status"], headers=headers, content=content, request=request)


def _ask(address: str, head: dict[str, Any], body: bytes, timeout: float | None) -> tuple[dict[str, Any], bytes]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        connect(channel, address)
        channel.settimeout(timeout)
        channel.sendall(b"@\n" + json.dumps(head).encode() + b"\n" + body)
        with channel.makefile("rb") as answered:
            answer = json.loads(answered.readline())
            return answer, answered.read()


def _ports() -> set[int]:
    """Ports that the client calls: 5001, which old clients have built in, and its present setting."""
    core = sys.modules.get("dialoghelper.core")
    return {DEFAULT_PORT, int(getattr(core, "dh_settings", {}).get("port", DEFAULT_PORT))}


def mount(address: str, notebook: str) -> None:
    """Mounts the transport in every HTTP client that is made from now on, and names the dialog as clients look for it."""
    transport = KernelTransport(address)
    for kind in (httpx.Client, httpx.AsyncClient):
        _mount_in(kind, transport)
    os.environ.setdefault("__DIALOG_NAME", notebook)
    shell = host.shell()
    if shell is None:
        return

    # Clients before 0.2.7 look for these names in the frames that call them.
    def name_message(*_: object) -> None:
        shell.user_ns.setdefault("__dialog_name", notebook)
        shell.user_ns["__msg_id"] = host.current_cell() or ""

    shell.events.register("pre_run_cell", name_message)
    name_message()


def _mount_in(kind: type[Any], transport: KernelTransport) -> None:
    initialise = kind.__init__

    @functools.wraps(initialise)
    def with_transport(self: Any, *arguments: Any, mounts: Any = None, **options: Any) -> None:
        own = {f"http://localhost:{port}": transport for port in _ports()}
        initialise(self, *arguments, mounts={**own, **(mounts or {})}, **options)

    kind.__init__ = with_transport
