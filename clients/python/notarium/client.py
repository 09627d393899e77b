"""The client: a signed-in connection to a server."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from .config import ServerTarget, find_target
from .connection import Connection
from .document import Json
from .errors import Conflict, NotFound
from .event import as_time
from .ids import new_id
from .notebook import Notebook
from .replica import Replica
from .session import Opening, Session
from .transport import USER_AGENT, Rest, dial

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class NotebookInfo:
    """Entry in the list of notebooks."""

    id: str
    title: str
    version: int
    cells: int
    is_archived: bool
    is_template: bool
    updated_at: datetime

    def _repr_html_(self) -> str:
        return f"<b>{self.title}</b> {self.cells} cells, {self.updated_at:%Y-%m-%d %H:%M}"


class Client:
    """Connection to a server. It reconnects automatically and re-sends unconfirmed edits and commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                for replica in list(self._session.connection.replicas.values()):
                    await Notebook(self._session, replica).flush()
        finally:
            await self.close()

    async def close(self) -> None:
        """Closes the connection. Leaving a `with` block also waits until edits are confirmed."""
        await self._session.connection.close()
        await self._session.rest.close()

    @property
    def url(self) -> str:
        """URL of the server."""
        return self._session.target.url

    @property
    def is_connected(self) -> bool:
        """True while the connection is up."""
        return self._session.connection.is_connected

    @property
    def actor(self) -> dict[str, Any]:
        """Your actor, as recorded in events."""
        return dict(self._session.connection.welcome["actor"])

    @property
    def scopes(self) -> list[str]:
        """Scopes of the token: `read`, `edit`, `run`, `confirm` …"""
        return list(self._session.connection.welcome["scopes"])

    @property
    def features(self) -> list[str]:
        """Optional features of the server: `assistants`, `comms` …"""
        return list(self._session.connection.welcome["features"])

    async def me(self) -> dict[str, Any]:
        """Reads your account and the rights of your token."""
        me: Json = await self._session.rest.get("/api/me")
        return me

    async def model_usage(
        self,
        by: str = "day",
        *,
        since: str | None = None,
        until: str | None = None,
        everybody: bool = False,
        workspace: str | None = None,
    ) -> list[dict[str, Any]]:
        """Reads tokens and cost of assistants, summed by `day`, `model`, `person`, `workspace` or `notebook`.

        Days are texts such as `2026-11-29`, in UTC. `everybody` is for administrators, a workspace (its id) for its owners.
        Costs are decimal texts; `unpriced_calls` counts calls whose price is not known.

        >>> all(row["calls"] > 0 for row in await nt.model_usage("model", since="2026-01-01"))
        True
        """
        query = {"by": by, "since": since, "until": until, "workspace": workspace, "all": "true" if everybody else None}
        answer = await self._session.rest.get("/api/spending", **query)
        return list(answer["rows"])

    async def caps(self) -> list[dict[str, Any]]:
        """Reads the caps on spending that apply to you and your workspaces, with what is used of them."""
        answer = await self._session.rest.get("/api/caps")
        return list(answer["caps"])

    # --- notebooks ---

    async def notebooks(
        self, text: str | None = None, *, archived: bool | None = None, limit: int | None = None
    ) -> list[NotebookInfo]:
        """Lists the notebooks that you may read, last changed first. `text`: only those that contain it.

        >>> [info.title for info in await nt.notebooks() if info.id == nb.id] == [nb.title]
        True
        """
        found: list[NotebookInfo] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            query = {"text": text, "archived": None if archived is None else str(archived).lower(), "cursor": cursor}
            page = await self._session.rest.get("/api/notebooks", **query)
            found += [_info(line) for line in page["notebooks"]]
            cursor = page.get("next")
            if cursor is None:
                break
        return found[:limit]

    async def search(self, text: str) -> list[NotebookInfo]:
        """Lists the notebooks that contain `text`."""
        return await self.notebooks(text)

    def open(self, notebook: str) -> Opening[Notebook]:
        """Opens a notebook by its id or a unique title."""
        return Opening(partial(self._open, notebook))

    async def _open(self, notebook: str) -> Notebook:
        missing = NotFound(
            f"no notebook that you may see has the id or the title {notebook!r}", code="unknown_notebook"
        )
        if _ID.fullmatch(notebook):
            try:
                return await self._follow(notebook)
            except NotFound as error:
                missing = error
        lines = [line for line in await self.notebooks() if line.title == notebook]
        if not lines:
            raise missing
        if len(lines) > 1:
            ids = ", ".join(line.id for line in lines)
            raise Conflict(
                f"{len(lines)} notebooks have the title {notebook!r}: open one by its id, {ids}", code="conflict"
            )
        return await self._follow(lines[0].id)

    async def _follow(self, notebook_id: str) -> Notebook:
        connection = self._session.connection
        replica = connection.replicas.get(notebook_id)
        if replica is None:
            replica = connection.replicas[notebook_id] = Replica(notebook_id, connection)
            replica.subscribe()
        replica.holders += 1
        notebook = Notebook(self._session, replica)
        try:
            await self._session.within(replica.opened(), f"the server has not sent notebook {notebook_id}")
        except BaseException:
            await notebook.close()
            raise
        return notebook

    def create(
        self, title: str, *, template: str | None = None, metadata: dict[str, Any] | None = None
    ) -> Opening[Notebook]:
        """Creates a notebook and opens it. `template` is the id of a starter, or of a notebook marked as template.

        >>> async with nt.create("Losses") as losses:
        ...     losses.title, losses.role
        ('Losses', 'owner')
        """
        return Opening(partial(self._create, title, template, metadata or {}))

    async def _create(self, title: str, template: str | None, metadata: dict[str, Any]) -> Notebook:
        notebook_id = new_id()
        if template is None:
            await self._session.command(notebook_id, "CreateNotebook", title=title, metadata=metadata)
        else:
            starters = [one["id"] for one in (await self._session.rest.get("/api/templates")).get("starters", [])]
            choice = {"starter" if template in starters else "notebook": template}
            body = {"id": notebook_id, "title": title, "metadata": metadata, "template": choice}
            await self._session.rest.request("POST", "/api/notebooks", json=body)
        return await self._follow(notebook_id)

    def import_notebook(
        self, source: str | os.PathLike[str] | bytes | Mapping[str, Any], *, title: str | None = None
    ) -> Opening[Notebook]:
        """Imports an `.ipynb` file, its bytes or its JSON (nbformat 1 to 4) as a new notebook, and opens it."""
        return Opening(partial(self._import, source, title))

    async def _import(
        self, source: "str | os.PathLike[str] | bytes | Mapping[str, Any]", title: str | None
    ) -> Notebook:
        query: dict[str, str] = {} if title is None else {"title": title}
        if isinstance(source, bytes):
            body = source
        elif isinstance(source, Mapping):
            body = json.dumps(source).encode()
        else:
            body, query["filename"] = Path(source).read_bytes(), Path(source).name
        headers = {"Content-Type": "application/octet-stream"}
        answer = await self._session.rest.request("POST", "/api/import", params=query, content=body, headers=headers)
        return await self._follow(answer.json()["notebook"])

    async def confirmations(self) -> list[dict[str, Any]]:
        """Lists tool calls that wait for your decision in all notebooks, oldest first."""
        calls: list[Json] = (await self._session.rest.get("/api/confirmations"))["calls"]
        return calls

    def __repr__(self) -> str:
        return f"<Client {self.url}{'' if self.is_connected else ', not connected now'}>"


def _info(line: Json) -> NotebookInfo:
    return NotebookInfo(
        line["id"],
        line["title"],
        line["version"],
        line["cells"],
        line.get("archived", False),
        line.get("is_template", False),
        as_time(line["updated_at"]),
    )


def connect(
    url: str | None = None,
    token: str | None = None,
    *,
    token_file: str | os.PathLike[str] | None = None,
    timeout: float | None = 30.0,
) -> Opening[Client]:
    """Connects to a server.

    Server and token come from these arguments, else from `NOTARIUM_SERVER`, `NOTARIUM_TOKEN` and `NOTARIUM_TOKEN_FILE`, else from
    the files that `notarium login` or `notarium up` stored. `timeout` is the deadline of an answer in seconds; None: no limit.
    """
    return Opening(partial(_connect, url, token, token_file, timeout))


async def _connect(
    url: str | None, token: str | None, token_file: "str | os.PathLike[str] | None", timeout: float | None
) -> Client:
    target = find_target(url, token, token_file)
    connection = Connection(partial(dial, target, timeout or 30.0), target.token, USER_AGENT)
    return await signed_in(target, connection, timeout)


async def signed_in(target: ServerTarget, connection: Connection, timeout: float | None) -> Client:
    """Client over a connection, once the server has sent `welcome`."""
    rest = Rest(target, timeout)
    session = Session(target, connection, rest, timeout)
    try:
        await session.within(connection.start(), f"{target.url} has not said welcome")
    except BaseException:
        await rest.close()
        raise
    return Client(session)
