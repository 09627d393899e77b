"""Dependency graph of a notebook's cells, and which of them are stale."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .document import Json
from .errors import NotFound


@dataclass(frozen=True)
class StaleReason:
    """Reason why a cell is not fresh."""

    #: `not_run`, `kernel_gone`, `edited`, `failed`, `cancelled`, `lost`, `restored`, `circle`, `ran_since`, `cell_stale`,
    #: `cell_failed`, `skipped`, `overwritten`, `other_value` or `may_be_stale`; a later server may have more.
    kind: str
    #: The other cell: for `ran_since`, `cell_stale` and `cell_failed` one from which this cell reads, for `skipped` the one that
    #: failed before it, else the one that has bound `name`.
    cell_id: str | None = None
    #: For `circle`: the first cells, beginning with this one, each with a name that it defines and the next one reads.
    circle: Sequence[tuple[str, str]] = ()
    #: For `circle`: number of further cells.
    more: int = 0
    #: The name, for `overwritten`, `other_value` and `may_be_stale`.
    name: str | None = None


@dataclass(frozen=True)
class Dependencies:
    """Dependencies of one code or SQL cell."""

    cell_id: str
    #: Names that the cell reads from other cells, and names that it defines for them; both sorted.
    reads: Sequence[str]
    writes: Sequence[str]
    #: Names by cell id: read from each parent, and read by each child.
    parents: dict[str, Sequence[str]]
    children: dict[str, Sequence[str]]
    #: `fresh`, `stale`, `blocked` or `cycle`.
    standing: str
    #: Sentence for people that says why the cell is not fresh.
    why: str | None = None
    #: The same as fields. None: the cell is fresh, or the server is older than this field.
    reason: StaleReason | None = None
    #: Names that the cell reads and no cell defines.
    missing: Sequence[str] = ()
    #: The cell's text does not parse: the names are those of an earlier text.
    is_outdated: bool = False


@dataclass(frozen=True)
class Graph:
    """Dependencies between the cells of a notebook at one version. `notebook.graph()` returns it."""

    version: int
    #: `off`, `lazy` or `eager`.
    reactivity: str
    #: Cells by id, in the order of the page.
    cells: dict[str, Dependencies]
    #: Names that several cells define, with the ids of those cells.
    defined_twice: dict[str, Sequence[str]] = field(default_factory=dict)

    def __getitem__(self, cell: Any) -> Dependencies:
        cell_id = str(getattr(cell, "id", cell))
        if cell_id not in self.cells:
            raise NotFound(f"the graph has no cell {cell_id!r}: it has code and SQL cells alone", code="unknown_cell")
        return self.cells[cell_id]

    def __iter__(self) -> Iterator[Dependencies]:
        return iter(self.cells.values())

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def stale(self) -> list[str]:
        """Ids of cells that are not fresh, in the order of the page."""
        return [cell.cell_id for cell in self if cell.standing != "fresh"]

    def to_dot(self) -> str:
        """The graph in Graphviz's DOT language. Stale cells have dashed boxes, cells that cannot run bold ones."""
        looks = {"fresh": "solid", "stale": "dashed"}
        lines = ["digraph notebook {", "  rankdir=LR; node [shape=box];"]
        for cell in self:
            label = f"{cell.cell_id}\\n{' '.join(cell.writes)}"
            lines.append(f'  "{cell.cell_id}" [label="{label}", style={looks.get(cell.standing, "bold")}];')
        for cell in self:
            for parent, names in cell.parents.items():
                lines.append(f'  "{parent}" -> "{cell.cell_id}" [label="{" ".join(names)}"];')
        return "\n".join([*lines, "}"])

    def _repr_html_(self) -> str:
        rows = [
            (cell.cell_id, ", ".join(cell.reads), ", ".join(cell.writes), cell.standing, cell.why or "")
            for cell in self
        ]
        cells = ["".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><tr><th>cell</th><th>reads</th><th>writes</th><th></th><th></th></tr>{body}</table>"


def of_json(answer: Json) -> Graph:
    """Graph from the server's JSON."""
    cells = [_cell(cell) for cell in answer["cells"]]
    twice: dict[str, Sequence[str]] = {
        clash["name"]: tuple(clash["cells"]) for clash in answer.get("defined_twice", ())
    }
    return Graph(answer["version"], answer["reactivity"], {cell.cell_id: cell for cell in cells}, twice)


def _cell(cell: Json) -> Dependencies:
    return Dependencies(
        cell["cell_id"],
        tuple(cell["reads"]),
        tuple(cell["writes"]),
        _links(cell.get("parents", ())),
        _links(cell.get("children", ())),
        cell["standing"],
        cell.get("why"),
        _reason(cell.get("reason")),
        tuple(cell.get("missing", ())),
        bool(cell.get("outdated", False)),
    )


def _reason(reason: Json | None) -> StaleReason | None:
    if reason is None:
        return None
    circle = tuple((step["cell_id"], step["name"]) for step in reason.get("cells", ()))
    return StaleReason(reason["kind"], reason.get("cell_id"), circle, reason.get("more", 0), reason.get("name"))


def _links(links: Sequence[Json]) -> dict[str, Sequence[str]]:
    return {link["cell_id"]: tuple(link["names"]) for link in links}
