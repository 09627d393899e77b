"""The past of a notebook: earlier versions, moments, what ever stood in its cells, differences, and authors."""

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .cells import PastCell
from .document import Json
from .errors import NotariumError, NotFound
from .event import as_time
from .link import NotebookState
from .session import Session


class PastNotebook(NotebookState):
    """Read-only notebook at a version."""

    def __init__(self, session: Session, notebook_id: str, state: Json | None = None) -> None:
        self._session, self._notebook_id, self._past = session, notebook_id, state or {}

    @property
    def _state(self) -> Json:
        return self._past

    @property
    def title(self) -> str:
        """The notebook's title."""
        return str(self._state["title"])

    @property
    def metadata(self) -> dict[str, Any]:
        """Notebook metadata, as in nbformat."""
        return dict(self._state["metadata"])

    @property
    def is_archived(self) -> bool:
        """True if the notebook is archived: it can be read, exported and forked, but not changed or run."""
        return bool(self._state.get("archived", False))

    @property
    def updated_at(self) -> datetime:
        """Time at which the last event was recorded, in UTC."""
        return as_time(self._state["updated_at"])

    @property
    def named_versions(self) -> dict[int, str]:
        """Names of versions, by version."""
        return {int(version): name for version, name in dict(self._state.get("named_versions", {})).items()}

    @property
    def functions(self) -> dict[str, Any]:
        """Functions that users have registered as tools for assistants, by name."""
        return dict(self._state.get("functions", {}))

    @property
    def reactivity(self) -> str:
        """Reactive execution: `off`, `lazy` (run stale inputs first) or `eager` (also run dependents)."""
        return str(self._state.get("reactivity", "off"))

    @property
    def access(self) -> list[dict[str, Any]]:
        """Access list: the role of each subject."""
        return list(self._state["access"])

    @property
    def cells(self) -> list[PastCell]:
        """Cells from top to bottom."""
        return [PastCell(self, cell_id) for cell_id in list(self._state["order"])]

    def _find(self, key: str | int) -> str:
        """Resolves a cell's index, id or unique end of an id to its id."""
        order = list(self._state["order"])
        if isinstance(key, int):
            return str(order[key])
        if key in self._state["cells"]:
            return key
        found = [cell_id for cell_id in order if cell_id.lower().endswith(key.lower())]
        if len(found) != 1:
            raise NotFound(f"{len(found) or 'no'} cells have an id that ends with {key!r}", code="unknown_cell")
        return str(found[0])

    def __getitem__(self, key: str | int) -> PastCell:
        return PastCell(self, self._find(key))

    def __len__(self) -> int:
        return len(self._state["order"])

    def __iter__(self) -> Iterator[PastCell]:
        return iter(self.cells)

    def __repr__(self) -> str:
        return f"<Notebook {self.title!r} version {self.version}, {len(self)} cells>"

    def _repr_html_(self) -> str:
        cells = "".join(cell._repr_html_() for cell in self.cells[:20])
        more = f"<p>… and {len(self) - 20} more cells</p>" if len(self) > 20 else ""
        return f"<h3>{html.escape(self.title)}</h3>{cells}{more}"


@dataclass(frozen=True)
class FoundPlace:
    """A line that holds a text, or held it: `last` is None where it stands now, and then `line_number` counts from 1.

    `first` and `last` are the versions of the stretch in which the cell held the text; `first` is None unless the past was searched.
    """

    cell_id: str
    line: str
    line_number: int | None = None
    first: int | None = None
    last: int | None = None
    is_deleted: bool = False


async def find(session: Session, notebook_id: str, text: str, ever: bool) -> list[FoundPlace]:
    """Places of a text. Raises `NotariumError` if the past is not looked through yet, or if there are too many places."""
    query: Json = {"text": text, **({"ever": "true"} if ever else {})}
    answer = await session.rest.get(f"/api/notebooks/{notebook_id}/find", **query)
    if not answer["is_complete"]:
        up_to = (
            f"the past is looked through up to version {answer['looked_up_to']}"
            if ever
            else "there are more than 500 places"
        )
        raise NotariumError(f"{up_to}: try again, or search for a longer text", code="incomplete")
    return [FoundPlace(**place) for place in answer["found"]]


@dataclass(frozen=True)
class CellDiff:
    """A cell that differs between two versions. `changes` has any of `added`, `deleted`, `moved`, `edited`, `retyped`, `run`."""

    cell_id: str
    changes: list[str]
    source: str = ""
    """A unified diff of the source; empty if the source is the same."""


async def diff(session: Session, notebook_id: str, since: int, until: int | None) -> list[CellDiff]:
    """Cells that differ, from top to bottom; then deleted ones."""
    query: Json = {"from": since, **({} if until is None else {"to": until})}
    answer = await session.rest.get(f"/api/notebooks/{notebook_id}/diff", **query)
    return [CellDiff(**cell) for cell in answer["cells"]]


@dataclass(frozen=True)
class BlamedLine:
    """A line of a cell, with the newest event that wrote in it."""

    cell_id: str
    number: int
    """Number of the line in the cell, from 1."""
    text: str
    version: int
    actor: dict[str, Any] = field(hash=False)
    at: datetime


async def blame(session: Session, notebook_id: str, cell_id: str | None, at: int | None) -> list[BlamedLine]:
    """Authors of the lines of a cell, or of all cells."""
    query: Json = {**({} if cell_id is None else {"cell": cell_id}), **({} if at is None else {"at": at})}
    answer = await session.rest.get(f"/api/notebooks/{notebook_id}/blame", **query)
    return [line for cell in answer["cells"] for line in _lines(cell, answer["events"])]


def _lines(cell: Json, events: Json) -> Iterator[BlamedLine]:
    """Lines with their newest versions. Positions count UTF-16 code units; an empty line is its line break's."""
    versions = [run["version"] for run in cell["runs"] for _ in range(run["length"])]
    start = 0
    for number, text in enumerate(cell["source"].split("\n"), 1):
        end = start + len(text.encode("utf-16-le")) // 2
        around = versions[start:end] or versions[end : end + 1] or versions[-1:]
        version = max(around, default=0)
        event = events.get(str(version))
        actor, at = (event["actor"], event["recorded_at"]) if event else ({"kind": "system"}, 0)
        yield BlamedLine(cell["cell_id"], number, text, version, actor, as_time(at))
        start = end + 1


@dataclass(frozen=True)
class Redaction:
    """Content that was removed from the record, or would be. `epoch` is the version of the redaction; `None` for a preview."""

    versions: list[int]
    blobs: int
    epoch: int | None


async def redact(session: Session, notebook_id: str, reason: str, target: Json, preview: bool) -> Redaction:
    """Removes content from the record."""
    body = {"reason": reason, "target": target, "preview": preview}
    answer = await session.rest.post(f"/api/notebooks/{notebook_id}/redactions", body)
    return Redaction(answer["versions"], answer["blobs"], answer.get("epoch"))


def redaction_target(event: int | None, text: str | None, cell_id: str | None) -> Json:
    """The one target that is named."""
    named: list[Json] = []
    if event is not None:
        named.append({"event": {"version": event}})
    if text is not None:
        named.append({"text": {"text": text}})
    if cell_id is not None:
        named.append({"cell": {"cell_id": cell_id}})
    if len(named) != 1:
        raise ValueError("name one of event, text and cell")
    return named[0]


async def version_of(session: Session, notebook_id: str, names: dict[int, str], moment: int | str | datetime) -> int:
    """The version that a number, a name or a time means; a time without a zone is local. Raises `NotFound` for an unknown name, and for a time before the first event."""
    if isinstance(moment, datetime):
        return await _version_at(session, notebook_id, round(moment.timestamp() * 1000))
    if isinstance(moment, int):
        return moment
    versions = [version for version, name in names.items() if name == moment]
    if len(versions) == 1:
        return versions[0]
    found = f"is the name of the versions {versions}" if versions else "is no name of a version"
    raise NotFound(f"'{moment}' {found}: see nb.named_versions, or take a number or a time", code="unknown_version")


async def _version_at(session: Session, notebook_id: str, at: int) -> int:
    """The last version at that time or before. Times never go back, so it is found by halving."""
    path = f"/api/notebooks/{notebook_id}/events"
    before, after = 0, (await session.rest.get(path, after=0, limit=1))["head"]["version"] + 1
    while after - before > 1:
        middle = (before + after) // 2
        events = (await session.rest.get(path, after=middle - 1, limit=1))["events"]
        if events and events[0]["recorded_at"] <= at:
            before = middle
        else:
            after = middle
    if before == 0:
        raise NotFound("the notebook did not exist yet: take a later time", code="unknown_version")
    return before
