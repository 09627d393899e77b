"""Checks after the storm: the record, the nodes' answers, the clients' documents and the runs. Each returns what differs."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/interop/deploy")]

import notarium  # noqa: E402
from nodes import request  # noqa: E402

# Commands that are one event each.
SINGLE = "('CellInserted', 'CellSourceEdited', 'ExecutionRequested')"
GAPS = """
SELECT events.notebook, count(*), min(events.version), max(events.version), notebooks.version FROM events
JOIN notebooks ON notebooks.id = events.notebook GROUP BY events.notebook, notebooks.version
HAVING count(*) <> max(events.version) OR min(events.version) <> 1 OR max(events.version) <> notebooks.version
"""
DOUBLED = f"""
SELECT notebook, type, command_id, actor, count(*) FROM events WHERE type IN {SINGLE}
GROUP BY notebook, type, command_id, actor HAVING count(*) > 1
"""
STARTED_TWICE = """
SELECT notebook, subject, count(*) FROM events WHERE type = 'ExecutionStarted'
GROUP BY notebook, subject HAVING count(*) > 1
"""
# A call starts once, and only after somebody confirmed it, if it waited.
CALLED_TWICE = """
SELECT notebook, type, subject, count(*) FROM events WHERE type IN ('ToolCallStarted', 'ToolCallExecuted', 'ToolCallConfirmed')
GROUP BY notebook, type, subject HAVING count(*) > 1
"""
ENDED_TWICE = """
SELECT notebook, subject, count(*) FROM events WHERE type IN ('TurnFinished', 'TurnFailed', 'TurnCancelled')
GROUP BY notebook, subject HAVING count(*) > 1
"""
LAST_OF_A_TURN = """
SELECT version, to_timestamp(recorded_at / 1000)::time, type, left(payload, 200) FROM events WHERE notebook = 'turns'
ORDER BY version DESC LIMIT 12
"""
NAMING = """
SELECT version, to_timestamp(recorded_at / 1000)::time, type, subject, left(payload, 300) FROM events WHERE notebook = 'turns'
AND payload LIKE '%{}%' ORDER BY version LIMIT 40
"""
OPEN_TURNS = """
SELECT notebook, subject FROM events WHERE type IN ('TurnStarted', 'TurnFinished', 'TurnFailed', 'TurnCancelled')
GROUP BY notebook, subject HAVING count(*) = 1
"""
INSERTED = "SELECT notebook, subject, version FROM events WHERE type = 'CellInserted'"


def sql(database, query):
    """Returns the rows as lists of texts."""
    command = [f"{os.environ['NOTARIUM_TEST_POSTGRESQL_BIN']}/psql", "-qXAtv", "ON_ERROR_STOP=1", database]
    answer = subprocess.run([*command, "-c", query], capture_output=True, text=True, check=True)
    return [line.split("|") for line in answer.stdout.splitlines()]


def check_record(database, acked):
    differs = [f"versions have gaps, or another head: {row}" for row in sql(database, GAPS)]
    differs += [f"a command was written more than once: {row}" for row in sql(database, DOUBLED)]
    found = collections.defaultdict(list)
    for notebook, cell, version in sql(database, INSERTED):
        found[notebook, cell].append(int(version))
    return differs + compare_cells("the table", found, acked)


def compare_cells(where, found, acked):
    differs = []
    for notebook, cells in acked.items():
        for cell, version in cells.items():
            versions = found.get((notebook, cell), [])
            if versions != [version]:
                what = "lost" if not versions else "doubled" if len(versions) > 1 else "moved"
                differs.append(f"{what}: {cell} of {notebook}, acknowledged as {version}, has {versions} in {where}")
    return differs


def check_node(node, token, acked):
    """Reads the record of each notebook through a node."""
    found, differs = collections.defaultdict(list), []
    for notebook in acked:
        path = f"{node.url}/api/notebooks/{notebook}/events?after=0"
        code, text = request(path, token=token, headers={"Accept": "application/x-ndjson"}, timeout=120)
        if code != 200:
            differs.append(f"{notebook} cannot be read at {node.name}: {code} {text}")
            continue
        events = [json.loads(line) for line in text.splitlines()] if isinstance(text, str) else [text]
        versions = [event["version"] for event in events]
        if versions != list(range(1, len(versions) + 1)):
            differs.append(f"{notebook} has gaps at {node.name}")
        for event in events:
            if event["type"] == "CellInserted":
                found[notebook, event["payload"]["cell_id"]].append(event["version"])
    return differs + compare_cells(node.name, found, acked)


def check_typists(nodes, token, typists):
    """Compares the clients' documents with each node's, and looks for every confirmed line."""
    differs = []
    for notebook in typists[0].notebooks:
        documents = {}
        for node in nodes:
            code, answer = request(f"{node.url}/api/notebooks/{notebook}", token=token, timeout=60)
            if code != 200:
                differs.append(f"{notebook} cannot be read at {node.name}: {code} {answer}")
                continue
            documents[node.name] = {key: cell["source"] for key, cell in answer["notebook"]["cells"].items()}
        for typist in typists:
            documents[typist.name] = typist.sources(notebook)
            try:
                if not typist.open[notebook].check():
                    differs.append(f"{typist.name} has another document of {notebook} than the server")
            except notarium.NotariumError as error:
                connected = "connected" if typist.client.is_connected else "not connected"
                differs.append(f"{typist.name} ({connected}) cannot compare its document of {notebook}: {error!r}")
        first = next(iter(documents))
        for name, document in documents.items():
            if document != documents[first]:
                differs.append(f"{name} and {first} differ in {notebook}")
        lines = collections.Counter(line for text in documents[first].values() for line in text.split("\n") if line)
        differs += [f"{line!r} is {count} times in {notebook}" for line, count in lines.items() if count > 1]
        # Letters, not lines: an edit of another client may come between a typist's look at the text and its own edit, and split a line.
        confirmed = "".join(f"{line}\n" for typist in typists for other, line in typist.typed if other == notebook)
        letters = collections.Counter("".join(documents[first].values()))
        letters.subtract(confirmed)
        if any(letters.values()):
            differs.append(f"{notebook} does not have just the letters that were confirmed: {dict(letters)}")
    return differs


def check_runs(nodes, token, database, runner, effects):
    differs = [f"started more than once: {row}" for row in sql(database, STARTED_TWICE)]
    lines = collections.Counter(effects.read_text().splitlines() if effects.exists() else [])
    differs += [f"{line!r} happened {count} times" for line, count in lines.items() if count > 1]
    for number, status in runner.ends.items():
        if status == "ok" and not lines[f"run {number}"]:
            differs.append(f"run {number} ended as ok and did not happen")
    differs += [f"{run!r} is shown as {run.status}" for run in runner.book.runs]
    for node in nodes:
        code, answer = request(f"{node.url}/api/notebooks?live=true&limit=200", token=token, timeout=60)
        if code != 200:
            differs.append(f"the list of notebooks cannot be read at {node.name}: {code} {answer}")
            continue
        for line in answer["notebooks"]:
            now = line.get("now") or {"running": 0, "queued": 0}
            if now["running"] or now["queued"]:
                differs.append(f"{node.name} shows runs of {line['id']}: {now}")
    return differs


def check_turns(database, asker):
    """Each turn made its cell at most once, exactly once if it finished, and has ended; a confirmed deletion is done."""
    differs = [f"called more than once: {row}" for row in sql(database, CALLED_TWICE)]
    differs += [f"a turn ended more than once: {row}" for row in sql(database, ENDED_TWICE)]
    for row in sql(database, OPEN_TURNS):
        last = "\n".join(" ".join(event) for event in sql(database, LAST_OF_A_TURN))
        differs.append(f"a turn has not ended: {row}; the last events of its notebook:\n{last}")
    cells = {cell.id: cell.source for cell in asker.book.cells}
    made = collections.Counter(source for source in cells.values() if source.startswith("turn "))
    for source in (source for source, count in made.items() if count > 1):
        naming = "\n".join(" ".join(event) for event in sql(database, NAMING.format(source)))
        differs.append(f"{source!r} was made {made[source]} times; the events that name it:\n{naming}")
    differs += [
        f"turn {number} finished without its cell"
        for number, status in asker.ends.items()
        if status == "finished" and not made[f"turn {number}"]
    ]
    differs += [f"cell {cell} was deleted and is there" for cell in asker.deleted if cell in cells]
    if not asker.deleted:
        differs.append(
            f"no assistant's deletion was confirmed and done, so nothing was tried: {collections.Counter(asker.ends.values())}"
        )
    return differs


def check_verify(node, token):
    try:
        said = node.command("verify", "--all", token=token)
    except SystemExit as error:
        return [f"verify --all: {str(error)[-2000:]}"]
    print(said.strip().splitlines()[-1], flush=True)
    return []
