"""State that all objects of a client share: connection, REST interface and timeout."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from .config import ServerTarget
from .connection import Connection
from .document import Json
from .errors import WaitTimeout
from .transport import Rest


class Closable(Protocol):
    """Object that `async with` can close."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


# Timeout without limit. None means the session's default.
FOR_EVER = float("inf")

C = TypeVar("C", bound=Closable)


class Opening(Generic[C]):
    """Object that `await` opens, or that `async with` opens and closes."""

    def __init__(self, open: Callable[[], Awaitable[C]]) -> None:
        self._open = open
        self._opened: C | None = None

    def __await__(self) -> Generator[Any, None, C]:
        return self._open().__await__()

    async def __aenter__(self) -> C:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


async def opened(opening: "Opening[C]") -> C:
    """Opens an `Opening`, as a coroutine."""
    return await opening


class Session:
    """Session: one server and one token."""

    def __init__(self, target: ServerTarget, connection: Connection, rest: Rest, timeout: float | None) -> None:
        self.target, self.connection, self.rest, self.timeout = target, connection, rest, timeout

    async def command(self, notebook: str, name: str, /, *, expected_version: int | None = None, **fields: Any) -> Json:
        """Sends a command and waits for its ack. Fields that are None are left out."""
        body = {name: {key: value for key, value in fields.items() if value is not None}}
        command_id, answer = self.connection.command(notebook, body, expected_version=expected_version)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), self.timeout)
        except asyncio.TimeoutError as error:
            raise WaitTimeout(
                f"the server has not answered {name} for {self.timeout:g} s: whether it is done is not known"
                + ("" if self.connection.is_connected else ", because it cannot be reached now")
            ) from error
        finally:
            self.connection.withdraw(command_id)

    async def within(self, waiting: Awaitable[Any], what: str, timeout: float | None = None) -> Any:
        """Waits at most `timeout` seconds (default: the session's). Raises `WaitTimeout` with the text `what`."""
        limit = self.timeout if timeout is None else timeout
        try:
            return await asyncio.wait_for(waiting, None if limit == FOR_EVER else limit)
        except asyncio.TimeoutError as error:
            raise WaitTimeout(f"{what} within {limit:g} s") from error
