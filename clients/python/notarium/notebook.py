"""Live notebooks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from . import past
from .assistants import ToolCall, Turn
from .cells import Cell, id_of, place_of
from .comments import Thread, threads_of
from .document import Json
from .errors import Disconnected, NotFound
from .event import Event
from .files import WorkingFiles
from .graph import Graph, of_json
from .history import EventStream, History, Verification, verify
from .ids import new_id
from .link import NotebookLink
from .machines import AgentInfo, agents_of, place_fields
from .outputs import blob
from .past import BlamedLine, CellDiff, FoundPlace, PastNotebook, Redaction, redaction_target, version_of
from .portal import Stream
from .replica import Replica
from .runs import Kernel, Run, request_runs
from .schedules import Schedules
from .schema import Databases
from .session import Opening, Session
from .variables import KernelMemory
from .words import CellType, Reactivity, Role


class Notebook(NotebookLink, PastNotebook, WorkingFiles, KernelMemory, Databases, Schedules):
    """Live notebook. It follows the changes of people, programs and assistants.

    >>> cell = await nb.append("1 + 1")
    >>> nb[cell.id].source, cell in nb.cells
    ('1 + 1', True)
    """

    def __init__(self, session: Session, replica: Replica) -> None:
        super().__init__(session, replica)
        self._is_open = True

    async def __aenter__(self) -> "Notebook":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self._is_open:
                await self.flush()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stops following the notebook. Leaving a `with` block also waits until edits are confirmed."""
        replicas = self._session.connection.replicas
        if self._is_open:
            self._is_open = False
            self._replica.holders -= 1
            if not self._replica.holders and replicas.get(self.id) is self._replica:
                del replicas[self.id]
                self._session.connection.send("unsubscribe", notebook=self.id)
                self._replica.fail(Disconnected("the notebook was closed here: open it again"))

    # --- properties ---

    @property
    def role(self) -> str | None:
        """Your role: `owner`, `editor`, `runner`, `viewer` …"""
        return self._replica.role

    @property
    def is_read_only(self) -> bool:
        """True if a newer server has written the notebook, or its record is damaged."""
        return self._replica.is_read_only

    @property
    def cells(self) -> list[Cell]:  # type: ignore[override]
        """Cells from top to bottom."""
        return [Cell(self, cell_id) for cell_id in list(self._state["order"])]

    def __getitem__(self, key: str | int) -> Cell:
        return Cell(self, self._find(key))

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    @property
    def kernels(self) -> list[Kernel]:
        """Kernels of the notebook. Runs use the first one unless they name another."""
        kernels = dict(self._state["kernels"])
        return [Kernel(self, one) for one in sorted(kernels, key=lambda one: kernels[one]["requested_version"])]

    @property
    def runs(self) -> list[Run]:
        """Unfinished runs, in the order of requests."""
        waiting = [(run["requested_version"], key) for key, run in list(self._state["executions"].items())]
        return [run for run in (Run(self, key) for _, key in sorted(waiting)) if not run.is_over]

    @property
    def peers(self) -> list[dict[str, Any]]:
        """Presence of the other connections: `name`, `actor`, and the caret in `state`."""
        mine = self._session.connection.welcome.get("connection")
        return [peer for key, peer in list(self._replica.peers.items()) if key != mine]

    @property
    def threads(self) -> list[Thread]:
        """Comment threads, including resolved ones."""
        return threads_of(self)

    @property
    def calls(self) -> list[ToolCall]:
        """Unfinished tool calls of assistants."""
        return [ToolCall(self, key) for key in list(self._state.get("tool_calls", {}))]

    # --- cells ---

    async def append(self, source: str = "", cell_type: CellType = "code", **more: Any) -> Cell:
        """Inserts a new cell at the end and returns it."""
        return await self.insert(source, cell_type, **more)

    async def insert(
        self,
        source: str = "",
        cell_type: CellType = "code",
        *,
        at: str | None = None,
        before: Cell | str | None = None,
        after: Cell | str | None = None,
        index: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Cell:
        """Inserts a new cell at the `"start"` or `"end"`, or before or after another one, and returns it.

        `index`: at this position among the cells that are there now, as `list.insert` counts.

        >>> first = await nb.insert("# Losses", "markdown", at="start")
        >>> second = await nb.insert("x = 1", index=1)
        >>> nb[0] == first, nb[1] == second
        (True, True)
        """
        if index is not None:
            if (before, after, at) != (None, None, None):
                raise ValueError("give one of index, before, after and at")
            following = self.cells[index:]
            before = following[0] if following else None
        cell_id, place = new_id(), place_of(before, after, at)
        fields: Json = {"cell_id": cell_id, "cell_type": cell_type, "source": source, "place": place}
        await self._command("InsertCell", **fields, metadata=metadata or {})
        return Cell(self, cell_id)

    async def extend(self, sources: Sequence[str], cell_type: CellType = "code") -> list[Cell]:
        """Inserts several new cells at the end, all or none. Undo takes one step."""
        ids = [new_id() for _ in sources]
        cells = zip(ids, sources, strict=True)
        inserts = [{"InsertCell": {"cell_id": key, "cell_type": cell_type, "source": one}} for key, one in cells]
        await self._command("Batch", commands=inserts)
        return [Cell(self, key) for key in ids]

    async def trash(self) -> list[Cell]:
        """Lists the cells in the trash, last deleted first. `restore` brings one back.

        >>> cell = await nb.append("gone")
        >>> await cell.delete()
        >>> [(await one.restore()).source for one in await nb.trash()]
        ['gone']
        """
        trash = await self._session.rest.get(f"/api/notebooks/{self.id}/trash")
        return [Cell(self, one["cell_id"]) for one in trash["cells"]]

    async def undo(self, steps: int = 1, *, cell: Cell | str | None = None, group: str | None = None) -> None:
        """Undoes your last changes. `cell`: only those of its text. `group`: those of one `correlation_id`.

        The notebook's initial content is undone only by its `group`, the `correlation_id` of the first event.
        """
        named = {"cell_id": cell and id_of(cell), "correlation_id": group}
        await self._command("Undo", steps=steps, **{key: value for key, value in named.items() if value is not None})

    async def redo(self, steps: int = 1, *, cell: Cell | str | None = None) -> None:
        """Redoes your last undos. `cell`: only those of its text."""
        place: Json = {} if cell is None else {"cell_id": id_of(cell)}
        await self._command("Redo", steps=steps, **place)

    # --- runs ---

    async def run(
        self,
        cells: Sequence[Cell | str] | None = None,
        *,
        timeout: float | None = None,
        kernel: str | None = None,
        stop_on_error: bool = True,
    ) -> list[Run]:
        """Requests runs of these cells, or of all code cells, in this order. After a failed run the later ones are blocked.

        >>> cells = await nb.extend(["a = 20", "a + 1"])
        >>> [(await run.wait()).status for run in await nb.run(cells)]
        ['ok', 'ok']
        """
        await self.flush()
        chosen = self.cells if cells is None else cells
        ids = [id_of(cell) for cell in chosen if cells is not None or self[id_of(cell)].cell_type == "code"]
        if not ids:
            return []
        return await request_runs(self, ids, timeout, kernel, stop_on_error)

    async def execute(self, source: str, purpose: str = "from Python") -> Run:
        """Runs code without a cell. The run is recorded like any other."""
        run_id = new_id()
        target = {"scratch": {"source": source, "purpose": purpose}}
        ack = await self._command("RequestExecution", execution_id=run_id, target=target)
        return Run(self, run_id, ack["version"])

    async def start_kernel(
        self,
        name: str | None = None,
        *,
        agent: AgentInfo | str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Kernel:
        """Requests a kernel. A runtime agent that offers it launches it, now or once one connects.

        `agent` (a name or an id) names the only agent that may launch it, `labels` those that the agent must have. Without
        both, the labels of the notebook's settings count.
        """
        place = await place_fields(self, agent, labels)
        ack = await self._command("LaunchKernel", kernelspec=name, **place)
        return Kernel(self, ack["outcome"]["kernel_session"])

    async def agents(self) -> list[AgentInfo]:
        """Lists the runtime agents that may run kernels of this notebook: labels, cores, memory, GPUs and load."""
        return await agents_of(self)

    async def set_kernel_settings(
        self, *, replacement: str | None = None, labels: Mapping[str, str] | None = None
    ) -> None:
        """Changes settings of the notebook's kernels. None leaves a setting as it is.

        `replacement`: what happens to a kernel with variables if its agent is gone: `ask`, `replace` or `wait`. `labels`: what
        launches ask for if they say nothing themselves.
        """
        changes: Json = {} if replacement is None else {"replacement": replacement}
        changes |= {} if labels is None else {"labels": dict(labels)}
        await self._command("SetKernelSettings", **changes)

    async def stop(self) -> None:
        """Cancels queued runs and interrupts running ones."""
        await self._command("StopAll")

    async def past_run(self, run_id: str) -> Run:
        """Reads any run of the past, with its outputs."""
        return await Run(self, run_id).refresh()

    # --- notebook ---

    async def rename(self, title: str) -> None:
        """Changes the title."""
        await self._command("RenameNotebook", title=title)

    async def set_metadata(self, metadata: dict[str, Any]) -> None:
        """Sets the notebook metadata, as in nbformat."""
        await self._command("SetNotebookMetadata", metadata=metadata)

    async def archive(self) -> None:
        """Archives the notebook: it can no longer be changed or run."""
        await self._command("ArchiveNotebook")

    async def unarchive(self) -> None:
        """Takes it out of the archive."""
        await self._command("UnarchiveNotebook")

    async def erase(self, reason: str) -> None:
        """Erases the notebook for everybody: its record, outputs and files are deleted. Nothing takes it back. Owners only.

        What is left says who erased it, when and why, and the hash of the erased record.
        """
        await self._command("EraseNotebook", reason=reason)

    async def set_reactivity(self, reactivity: Reactivity) -> None:
        """Sets reactive execution. `lazy`: run stale inputs first. `eager`: also run dependents. `off`: run only the cell."""
        await self._command("SetReactivity", reactivity=reactivity)

    async def graph(self) -> Graph:
        """Reads the dependencies between cells and which are stale, also if the notebook is not reactive.

        >>> price = await nb.append("price = 3")
        >>> total = await nb.append("total = price * 7")
        >>> graph = await nb.graph()
        >>> graph[total].parents == {price.id: ("price",)}
        True
        >>> graph[total].why
        'it has not run here'
        """
        return of_json(await self._session.rest.get(f"/api/notebooks/{self.id}/graph"))

    async def restore(self, to: int | str | datetime) -> None:
        """Takes the notebook back to a version, to the name of one, or to a time: cells, their order and metadata.

        Runs, outputs, comments and access stay. `undo` takes the restoration back.

        >>> cell = await nb.append("later")
        >>> await nb.restore(1)
        >>> len(nb)
        0
        """
        await self._command("RestoreNotebook", version=await self._version_of(to))

    async def name_version(self, name: str, version: int | None = None) -> None:
        """Names a version (default: the current one)."""
        await self._command("NameVersion", version=self.version if version is None else version, name=name)

    async def share(self, login: str, role: Role = "editor") -> None:
        """Grants a user a role: `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`."""
        await self._command("GrantAccess", subject={"kind": "user", "id": await self._person(login)}, role=role)

    async def unshare(self, login: str) -> None:
        """Revokes a user's role."""
        await self._command("RevokeAccess", subject={"kind": "user", "id": await self._person(login)})

    async def share_link(self, role: Role = "viewer", label: str = "") -> str:
        """Creates a link for people without an account. Its URL is returned only once."""
        body = {"role": role, "label": label}
        answer = await self._session.rest.request("POST", f"/api/notebooks/{self.id}/share-links", json=body)
        return str(answer.json()["url"])

    async def export(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        version: int | None = None,
        format: str | None = None,
    ) -> bytes:
        """Exports the notebook, now or at `version`, as bytes. If `path` is given, writes them there too.

        `format` is `ipynb` (nbformat 4.5), `html`, `md` or `py`. The default is the suffix of `path`, else `ipynb`.
        """
        query: dict[str, Any] = {} if version is None else {"at": version}
        ending = "" if path is None else Path(path).suffix.lower().lstrip(".")
        query["format"] = format or (ending if ending in ("html", "md", "py") else "ipynb")
        body = (await self._session.rest.request("GET", f"/api/notebooks/{self.id}/export", params=query)).content
        if path is not None:
            Path(path).write_bytes(body)
        return body

    async def blob(self, sha256: str) -> bytes:
        """Reads a large part of an output and checks its hash."""
        return await blob(self._session, self.id, sha256)

    # --- history ---

    def events(self, since: int | None = None, *, follow: bool = False) -> Stream[Event]:
        """Events after version `since` (default 0); with `follow` also future ones, without end (default: the current version).

        >>> cell = await nb.append("x")
        >>> [event.type async for event in nb.events(since=nb.version - 1)]
        ['CellInserted']
        """
        start = since if since is not None else self.version if follow else 0
        return EventStream(self._session, self._replica, start, follow)

    def history(self, since: int = 0) -> History:
        """The record as a table: `to_pandas()`, `to_polars()`, `to_arrow()`, or as events."""
        return History(self._session, self._replica, since)

    async def at(self, moment: int | str | datetime) -> PastNotebook:
        """Reads the notebook as it was at a version, at the name of one, or at a time.

        >>> cell = await nb.append("before")
        >>> version = nb.version
        >>> await cell.edit("after")
        >>> (await nb.at(version))[cell.id].source
        'before'
        """
        version = await self._version_of(moment)
        answer = await self._session.rest.get(f"/api/notebooks/{self.id}", at=version)
        return PastNotebook(self._session, self.id, answer["notebook"])

    async def find(self, text: str, *, ever: bool = False) -> list[FoundPlace]:
        """Finds a text in the cells, capitals aside; with `ever` also where it stood once.

        >>> cell = await nb.append("password = 1")
        >>> await cell.edit("")
        >>> [place.last == nb.version - 1 for place in await nb.find("PASSWORD", ever=True)]
        [True]
        """
        return await past.find(self._session, self.id, text, ever)

    async def diff(self, since: int | str | datetime, until: int | str | datetime | None = None) -> list[CellDiff]:
        """Cells that differ between two versions, names of versions or times; without `until`, since the first one.

        >>> cell = await nb.append("total = 1")
        >>> version = nb.version
        >>> await cell.edit("total = 2")
        >>> [(changed.changes, changed.source.splitlines()[-1]) for changed in await nb.diff(version)]
        [(['edited'], '+total = 2')]
        """
        to = None if until is None else await self._version_of(until)
        return await past.diff(self._session, self.id, await self._version_of(since), to)

    async def blame(
        self, cell: Cell | str | None = None, *, at: int | str | datetime | None = None
    ) -> list[BlamedLine]:
        """Each line of a cell, or of all cells, with the newest event that wrote in it.

        >>> cell = await nb.append("first")
        >>> await cell.edit("first\\nsecond")
        >>> [(line.text, line.version == nb.version) for line in await nb.blame(cell)]
        [('first', False), ('second', True)]
        """
        version = None if at is None else await self._version_of(at)
        return await past.blame(self._session, self.id, self._cell_id(cell), version)

    async def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        since: int | str | datetime | None = None,
        until: int | str | datetime | None = None,
    ) -> bytes:
        """A page of HTML for auditors about the events after `since` up to `until`. If `path` is given, writes it there too.

        >>> (await nb.report()).startswith(b"<!doctype html>")
        True
        """
        bounds = {"from": since, "to": until}
        query = {name: await self._version_of(bound) for name, bound in bounds.items() if bound is not None}
        body = (await self._session.rest.request("GET", f"/api/notebooks/{self.id}/report", params=query)).content
        if path is not None:
            Path(path).write_bytes(body)
        return body

    async def redact(
        self,
        reason: str,
        *,
        event: int | None = None,
        text: str | None = None,
        cell: Cell | str | None = None,
        preview: bool = False,
    ) -> Redaction:
        """Removes content from the record permanently: all texts of an event, a text wherever it stood, or the past of a cell.

        Owners only. `reason` stays in the record, with the author and the time. With `preview` nothing is changed.
        """
        target = redaction_target(event, text, self._cell_id(cell))
        return await past.redact(self._session, self.id, reason, target, preview)

    def _cell_id(self, cell: Cell | str | None) -> str | None:
        """The id of a cell. A string may be the id of a deleted cell."""
        if cell is None or isinstance(cell, Cell):
            return None if cell is None else cell.id
        try:
            return self._find(cell)
        except NotFound:
            return cell

    async def _version_of(self, moment: int | str | datetime) -> int:
        return await version_of(self._session, self.id, self.named_versions, moment)

    async def verify(self) -> Verification:
        """Verifies locally, by the hash chain, that the record is intact and leads to the current state.

        >>> (await nb.verify()).ok
        True
        """
        return await verify(self._session, self._replica)

    async def check(self) -> bool:
        """Compares the local state with the server's; returns True if they are equal. A difference is repaired immediately."""
        return bool(await self._within(self._replica.check(), "the server has not answered the check"))

    # --- assistants ---

    def turn(
        self,
        text: str | None = None,
        *,
        cell: Cell | str | None = None,
        conversation: str | None = None,
        model: str | None = None,
        timeout: float | None = None,
    ) -> Opening[Turn]:
        """Starts a turn of an assistant in the notebook, from a message or a prompt cell.

        Leaving the `with` block waits until the turn ends. An exception in it cancels the turn.
        """
        cell_id = None if cell is None else id_of(cell)
        return Opening(lambda: Turn._start(self, text, cell_id, conversation, model, timeout))

    async def show_presence(self, cell: Cell | str | None = None, selection: tuple[int, int] | None = None) -> None:
        """Shows the others your position. It expires after 30 seconds."""
        state: Json = {} if cell is None else {"cell_id": id_of(cell)}
        if selection is not None:
            state["selection"] = list(selection)
        self._session.connection.send("presence", notebook=self.id, state=state)
