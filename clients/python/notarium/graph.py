"""Which cell of a notebook reads what another leaves, and which are stale."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .document import Json
from .errors import NotFound


@dataclass(frozen=True)
class Dependencies:
    """One code or query cell."""

    cell_id: str
    #: Names that it reads from other cells, and names that it leaves to them; both sorted.
    reads: Sequence[str]
    writes: Sequence[str]
    #: By cell: the names that it reads there; and, of those that read from it, which.
    parents: dict[str, Sequence[str]]
    children: dict[str, Sequence[str]]
    #: `fresh`, `stale`, `blocked` or `cycle`.
    standing: str
    #: A sentence: why it is not fresh.
    why: str | None = None
    #: Names that it reads and no cell leaves.
    missing: Sequence[str] = ()
    #: Its text does not parse: the names are those of an earlier one.
    is_outdated: bool = False


@dataclass(frozen=True)
class Graph:
    """How the cells of a notebook hang together, at one version of it: what `notebook.graph()` gives."""

    version: int
    #: `off`, `lazy` or `eager`.
    reactivity: str
    #: By id, in the order of the page.
    cells: dict[str, Dependencies]
    #: Names that several cells leave, with those cells.
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
        """The ids of cells that do not show what running them now would give, in the order of the page."""
        return [cell.cell_id for cell in self if cell.standing != "fresh"]

    def to_dot(self) -> str:
        """For Graphviz. Stale cells have dashed boxes, cells that cannot run bold ones."""
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
    """What the server says of a notebook's graph."""
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
        tuple(cell.get("missing", ())),
        bool(cell.get("outdated", False)),
    )


def _links(links: Sequence[Json]) -> dict[str, Sequence[str]]:
    return {link["cell_id"]: tuple(link["names"]) for link in links}
