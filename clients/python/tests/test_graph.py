"""The dependency graph from the server's JSON."""

from notarium import StaleReason
from notarium.graph import of_json


def test_reasons_are_read_as_fields() -> None:
    def report(cell_id: str, **more: object) -> dict[str, object]:
        return {"cell_id": cell_id, "reads": [], "writes": [], "standing": "stale", **more}

    steps = [{"cell_id": "d", "name": "x"}, {"cell_id": "e", "name": "y"}]
    cells = [
        report("a", reason={"kind": "edited"}),
        report(
            "b", reason={"kind": "cell_stale", "cell_id": "a"}, why="cell a, from which it reads, is not up to date"
        ),
        report("c", why="of an older server"),
        report("d", reason={"kind": "circle", "cells": steps, "more": 3}),
        report("e", reason={"kind": "of_a_later_server", "moon": "full"}),
        report("f", reason={"kind": "overwritten", "name": "x", "cell_id": "b"}),
    ]
    graph = of_json({"version": 1, "reactivity": "lazy", "cells": cells})
    assert [cell.reason for cell in graph] == [
        StaleReason("edited"),
        StaleReason("cell_stale", "a"),
        None,
        StaleReason("circle", circle=(("d", "x"), ("e", "y")), more=3),
        StaleReason("of_a_later_server"),
        StaleReason("overwritten", "b", name="x"),
    ]
