"""Cells: source, outputs, editing and running."""

import html
from collections.abc import Sequence
from typing import Any

from .comments import Thread, threads_of
from .document import Json
from .errors import NotFound
from .link import NotebookLink, NotebookState
from .outputs import Output, joined, shown
from .runs import Run, request_runs
from .text import Change, difference, splice, to_units
from .words import CellType


def place_of(before: "PastCell | str | None", after: "PastCell | str | None", at: str | None) -> Any:
    """The protocol's `place` for these arguments."""
    if before is not None:
        return {"before": id_of(before)}
    if after is not None:
        return {"after": id_of(after)}
    return at or "end"


def id_of(cell: "PastCell | str") -> str:
    """A cell's id."""
    return cell if isinstance(cell, str) else cell.id


class PastCell:
    """Read-only cell of an earlier version; base class of live cells."""

    def __init__(self, notebook: NotebookState, cell_id: str) -> None:
        self._book, self._id = notebook, cell_id

    @property
    def id(self) -> str:
        """The cell's id. It never changes."""
        return self._id

    @property
    def _json(self) -> Json:
        cell: Json | None = self._book._state["cells"].get(self._id)
        if cell is None:
            message = f"cell {self._id} is not in the notebook, or in the trash: restore it first"
            raise NotFound(message, code="cell_deleted")
        return cell

    @property
    def source(self) -> str:
        """The cell's text."""
        return str(self._json["source"])

    @property
    def cell_type(self) -> str:
        """`code`, `markdown`, `raw`, `sql` or `prompt`."""
        return str(self._json["cell_type"])

    @property
    def metadata(self) -> dict[str, Any]:
        """Cell metadata, as in nbformat."""
        return dict(self._json.get("metadata", {}))

    @property
    def flags(self) -> dict[str, Any]:
        """Flags that are set: `pinned`, `skipped`, `source_hidden` …"""
        return dict(self._json.get("flags", {}))

    @property
    def version(self) -> int:
        """Version of the last event that changed the cell's text, type or place."""
        return int(self._json["cell_version"])

    @property
    def _execution(self) -> Json:
        state = self._book._state
        execution: Json = state["executions"].get(state["latest"].get(self._id), {})
        return execution

    @property
    def status(self) -> str | None:
        """Status of the latest run. None if the cell shows no run."""
        return self._execution.get("status")

    @property
    def execution_count(self) -> int | None:
        """The kernel's execution count of the latest run."""
        return self._execution.get("execution_count")

    @property
    def outputs(self) -> list[Output]:
        """Outputs of the latest run. The pieces in which a stream came are one output."""
        return joined(self._book._session, self._book.id, list(self._execution.get("outputs", ())))

    @property
    def text(self) -> str:
        """The outputs as a terminal would show them."""
        return "".join(output.text for output in self.outputs)

    @property
    def is_stale(self) -> bool:
        """True if the text has changed since the run whose outputs the cell shows."""
        subject = self._execution.get("subject")
        if subject is None:
            return False
        # Kernels receive an SQL cell's text after a line with the magic command.
        line = "%%notarium_sql\n" if self.cell_type == "sql" else ""
        return bool(subject.get("source") != line + self.source)

    @property
    def reply(self) -> str | None:
        """The assistant's answer to a prompt cell."""
        reply: Json = self._json.get("reply", {})
        return reply.get("text")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PastCell) and self._id == other._id and self._book.id == other._book.id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        cell: Json = self._book._state["cells"].get(self._id, {})
        first = str(cell.get("source", "")).split("\n")[0][:50]
        return f"<Cell {self._id[-6:]} {cell.get('cell_type', 'deleted')} {first!r}>"

    def _repr_html_(self) -> str:
        return f"<pre><code>{html.escape(self.source)}</code></pre>{shown(self.outputs)}"


class Cell(PastCell):
    """A live cell.

    >>> cell = await nb.append("x = 1")
    >>> await cell.edit("x = 2")
    >>> cell.source
    'x = 2'
    """

    def __init__(self, notebook: NotebookLink, cell_id: str) -> None:
        super().__init__(notebook, cell_id)
        self._notebook = notebook

    @property
    def source(self) -> str:
        """The cell's text in this client, with local edits that are not confirmed yet."""
        unconfirmed = self._notebook._replica.unconfirmed.get(self._id)
        return unconfirmed.text if unconfirmed is not None else super().source

    @property
    def latest_run(self) -> Run | None:
        """The run whose outputs the cell shows."""
        run_id = self._notebook._state["latest"].get(self._id)
        return None if run_id is None else Run(self._notebook, run_id)

    @property
    def threads(self) -> list[Thread]:
        """Comment threads on the cell, including resolved ones."""
        return [thread for thread in threads_of(self._notebook) if thread.cell_id == self._id]

    # --- text ---

    async def _change(self, make: Any, wait: bool) -> None:
        replica = self._notebook._replica
        change: Change = make(self.source)
        if all(isinstance(section, int) for section in change):
            return
        done = replica.edit(self._id, change)
        if wait:
            await self._notebook._within(
                done, "the server has not confirmed what was typed, which is kept and sent again"
            )

    async def edit(self, source: str, *, wait: bool = True) -> None:
        """Sets the text. Only the difference is sent, so that concurrent edits by others remain.

        `source` shows the edit immediately, also offline. `wait=False` does not wait for confirmation: `nb.flush()` does.
        """
        await self._change(lambda text: difference(text, source), wait)

    async def splice(self, start: int, end: int, text: str, *, wait: bool = True) -> None:
        """Replaces the characters from `start` to `end` by `text`. Positions count characters.

        >>> cell = await nb.append("1 + 1")
        >>> await cell.splice(4, 5, "41")
        >>> cell.source
        '1 + 41'
        """
        await self._change(lambda source: splice(source, start, end, text), wait)

    async def replace(self, source: str, *, version: int | None = None) -> None:
        """Sets the text. Raises `Conflict` if the cell has changed since `version` (default: the version in this client)."""
        await self._command("ReplaceSource", cell_version=self.version if version is None else version, source=source)

    # --- other commands ---

    async def _command(self, name: str, **fields: Any) -> Json:
        return await self._notebook._command(name, cell_id=self._id, **fields)

    async def run(self, *, timeout: float | None = None, kernel: str | None = None) -> Run:
        """Requests a run of the current source. The kernel is interrupted after `timeout` seconds."""
        await self._notebook.flush()
        return (await request_runs(self._notebook, [self._id], timeout, kernel))[0]

    async def move(
        self, to: str | None = None, *, before: "Cell | str | None" = None, after: "Cell | str | None" = None
    ) -> None:
        """Moves the cell to `"start"` or `"end"`, or before or after another cell."""
        await self._command("MoveCell", place=place_of(before, after, to))

    async def delete(self, *, version: int | None = None) -> None:
        """Moves the cell to the trash; `restore` brings it back. With `version`, only if unchanged since then."""
        await self._command("DeleteCell", cell_version=version)

    async def restore(self) -> "Cell":
        """Restores the cell from the trash to its previous place."""
        await self._command("RestoreCell")
        return self

    async def set_type(self, cell_type: CellType) -> None:
        """Changes the type to `code`, `markdown`, `raw`, `sql` or `prompt`."""
        await self._command("ChangeCellType", cell_type=cell_type)

    async def set_metadata(self, metadata: dict[str, Any]) -> None:
        """Sets the cell metadata, as in nbformat."""
        await self._command("SetCellMetadata", metadata=metadata)

    async def set_flags(self, **flags: bool) -> None:
        """Sets flags, as in `set_flags(pinned=True)`."""
        await self._command("SetCellFlags", flags=flags)

    async def clear(self) -> None:
        """Clears the outputs. The runs remain in the record."""
        await self._command("ClearOutputs")

    async def comment(self, text: str, *, range: tuple[int, int] | None = None, mentions: Sequence[str] = ()) -> Thread:
        """Starts a comment thread on the cell, or on a range of its characters.

        >>> thread = await (await nb.append("x = 1")).comment("Why *one*?", range=(4, 5))
        >>> thread.quote
        '1'
        """
        target: Json = {"cell_id": self._id}
        if range is not None:
            await self._notebook.flush()
            source = self.source
            target["range"] = [len(to_units(source[:end])) for end in range]
            target["base"] = self._notebook.version
        people = [await self._notebook._person(login) for login in mentions]
        ack = await self._notebook._command("AddComment", target={"cell": target}, text=text, mentions=people)
        return Thread(self._notebook, ack["outcome"]["thread"])
