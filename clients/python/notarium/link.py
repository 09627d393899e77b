"""Access to one notebook, shared by its cells, runs, kernels, threads, tool calls and turns."""

from typing import Any

from .document import Json
from .replica import Replica
from .session import Session


class NotebookState:
    """Id and state of a notebook, live or at a version."""

    _session: Session
    _notebook_id: str

    @property
    def _state(self) -> Json:
        raise NotImplementedError

    @property
    def id(self) -> str:
        """The notebook's id. It never changes."""
        return self._notebook_id

    @property
    def version(self) -> int:
        """Version of this state: the number of events so far."""
        return int(self._state["version"])


class NotebookLink(NotebookState):
    """Live notebook, as its parts use it: its replica, and commands to the server."""

    def __init__(self, session: Session, replica: Replica) -> None:
        self._session, self._notebook_id, self._replica = session, replica.notebook_id, replica

    @property
    def _state(self) -> Json:
        document = self._replica.document
        return {} if document is None else document.state

    async def _command(self, command: str, /, **fields: Any) -> Json:
        return await self._session.command(self.id, command, **fields)

    async def _within(self, waiting: Any, what: str, timeout: float | None = None) -> Any:
        return await self._session.within(waiting, what, timeout)

    async def _person(self, login: str) -> str:
        person = await self._session.rest.get("/api/people", login=login)
        return str(person["id"])

    async def flush(self) -> None:
        """Waits until the server has confirmed all local edits."""
        await self._within(
            self._replica.until(lambda: not self._replica.unconfirmed),
            "the server has not confirmed what was typed, which is kept and sent again",
        )
