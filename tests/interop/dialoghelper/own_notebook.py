"""dialoghelper's own notebook, which is its test suite, as a dialog in a real kernel.

    python own_notebook.py NOTARIUM_BINARY VERSION

The notebook is nbs/00_core.ipynb of that version's tag, from the folder that NOTARIUM_DIALOGHELPER_NOTEBOOKS names (as
VERSION.ipynb), else from GitHub. If neither has it, this is skipped. Cells that need the internet, a browser or other programs are
skipped. Exit code 1 if another cell fails.
"""

import json
import os
import re
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from check import HERE, VENVS, Server, environment_of

ADDRESS = "https://raw.githubusercontent.com/AnswerDotAI/dialoghelper/{version}/nbs/00_core.ipynb"

NEEDS_MORE = re.compile(
    r"url2note\(|gist|js_run|js_eval|event_get|event_once|pop_data\(|ast_grep|iife\(|search\(|searches\(|web_answer\(|"
    r"spawn_agent|solveit_docs|read_url|from nbdev|import nbdev"
)
# Cells that use what a skipped cell before them would have made.
AFTER_SKIPPED = {"fca3268c", "b02115e6", "392dc090"}
# Cells about another dialog. Code in a kernel is told that it reaches its own notebook alone; functions.py calls these with a token.
OTHER_DIALOG = re.compile(r"test_dialog")
ENDED = ("ok", "error", "lost", "cancelled", "blocked")
SETUP = """
import os, sys, warnings
warnings.filterwarnings("ignore")
sys.path.insert(0, {folder!r})
os.environ["__DIALOG_NAME"] = __dialog_name = "nb/00_core"
import dialoghelper.core
dialoghelper.core.dh_settings["port"] = {port}
from door_token import use_token_for_channels
use_token_for_channels({token!r}, {port})
"""


class Dialog:
    """The notebook on the server."""

    def __init__(self, server):
        self.server = server
        made = server.rest("POST", "/api/notebooks", {"title": "nb/00_core"})
        self.path = f"/api/notebooks/{made['notebook']}"

    def add(self, cell_id, cell_type, source):
        cell = {"cell_id": cell_id, "cell_type": cell_type, "source": source}
        self.server.rest("POST", f"{self.path}/cells", cell)

    def run(self, cell_id):
        """Returns the status and the outputs of a run."""
        self.server.rest("POST", f"{self.path}/runs", {"cells": [cell_id]})
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            state = self.server.rest("GET", self.path)["notebook"]
            if cell_id not in state["cells"]:
                return "ok", []
            execution = state["executions"][state["latest"][cell_id]]
            if execution["status"] in ENDED:
                return execution["status"], execution.get("outputs", [])
        return "late", []


def sources(notebook, port):
    """Returns id, type and source of the notebook's cells, with the port of this server."""
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if "dh_settings = {'port':5001}" in source:
            source = source.replace("5001", str(port)).replace("# dh_settings", "#")
        yield cell.get("id") or f"c{number}", cell["cell_type"], source


def text_of_notebook(version):
    """Returns the notebook's text. None: it cannot be had here."""
    folder = os.environ.get("NOTARIUM_DIALOGHELPER_NOTEBOOKS")
    kept = Path(folder or VENVS) / f"{version}.ipynb"
    if kept.exists():
        return kept.read_text()
    try:
        with urllib.request.urlopen(ADDRESS.format(version=version), timeout=30) as response:
            text = response.read().decode()
    except OSError as error:
        print(f"SKIPPED: the own notebook of dialoghelper {version} cannot be fetched: {error}")
        return None
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    return text


def main():
    binary, version = sys.argv[1:]
    text = text_of_notebook(version)
    if text is None:
        return
    python = environment_of(version)
    failed, passed, skipped = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, Path(folder), str(python.parents[1]))
        try:
            dialog = Dialog(server)
            dialog.add("setup", "code", SETUP.format(folder=str(HERE), token=server.token, port=server.port))
            cells = list(sources(json.loads(text), server.port))
            for cell in cells:
                dialog.add(*cell)
            dialog.run("setup")
            for cell_id, cell_type, source in cells:
                needs_more = NEEDS_MORE.search(source) and "def " not in source
                if cell_type != "code" or not source.strip() or needs_more:
                    skipped += cell_type == "code" and bool(source.strip())
                    continue
                status, outputs = dialog.run(cell_id)
                told = json.dumps(outputs)
                is_refused = OTHER_DIALOG.search(source) and "its own notebook alone" in told
                passed += status == "ok" or bool(is_refused)
                if status != "ok" and not is_refused and cell_id not in AFTER_SKIPPED:
                    failed.append(f"{cell_id} {status}\n{source}\n{told[-1500:]}")
        finally:
            server.stop()
    print("\n".join(failed))
    print(f"dialoghelper {version}: {passed} cells of its own notebook work, {len(failed)} fail, {skipped} need more")
    sys.exit(bool(failed))


main()
