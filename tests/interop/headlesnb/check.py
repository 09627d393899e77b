"""Calls everything in the table of docs/from-headlesnb.md, with a real kernel.

    python tests/interop/headlesnb/check.py NOTARIUM_BINARY

Needs the Python client's packages and ipykernel. Exit code 1 if a row does not work, or if a tool of HeadlesNB has no row.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/interop/dialoghelper"), str(ROOT / "clients/python")]

import notarium  # noqa: E402
from check import Server  # noqa: E402
from kernels import Notebook, Outside, check  # noqa: E402

# The tools of HeadlesNB's headlesnb/mcp_server.py.
TOOLS = [
    "list_files",
    "list_kernels",
    "use_notebook",
    "list_notebooks",
    "restart_notebook",
    "unuse_notebook",
    "read_notebook",
    "insert_cell",
    "overwrite_cell_source",
    "execute_cell",
    "insert_execute_code_cell",
    "read_cell",
    "delete_cell",
    "execute_code",
    "stop_execution",
    "set_active_notebook",
    "move_cell",
    "swap_cells",
    "reorder_cells",
    "undo",
    "redo",
    "get_history",
    "clear_history",
]
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", re.M)
WAITS = ["delete_cell", "restart_kernel"]
NONE = "–"


def rows():
    """Returns HeadlesNB's name, the tool with its arguments, and the code of each row."""
    found = ROW.findall((ROOT / "docs/from-headlesnb.md").read_text())
    check(sorted(name for name, _, _ in found) == sorted(TOOLS), "each tool has one row", found)
    return [(name, tool.strip("`"), code.strip("`")) for name, tool, code in found]


def call(outside, notebook, text):
    """Calls a tool as its row says, with the present version of its cell."""
    tool, arguments = text.split(" ", 1)
    arguments = json.loads(arguments)
    if "cell_version" in arguments:
        arguments["cell_version"] = notebook.state()["cells"][arguments["cell_id"]]["cell_version"]
    if tool not in ("list_notebooks", "create_notebook"):
        arguments["notebook"] = notebook.id
    answer = outside.send("tools/call", {"name": tool, "arguments": arguments})
    check("result" in answer, text, answer)
    said = "".join(part.get("text", "") for part in answer["result"]["content"])
    check(not answer["result"].get("isError"), text, said)
    check(said.startswith("Waiting for confirmation") == (tool in WAITS), text, said)
    print(f"  {text}")


def new_notebook(server, title):
    notebook = Notebook(server, title)
    for cell in ("first", "second"):
        notebook.add(cell, "code", "1")
    notebook.run("first")
    return notebook


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], Path(folder), sys.prefix)
        try:
            table = rows()
            outside, notebook = Outside(server), new_notebook(server, "for an assistant")
            for _, tool, _ in table:
                if tool != NONE:
                    call(outside, notebook, tool)
            new_notebook(server, "demo")
            with notarium.connect(server.url, server.session) as nt:
                nb = nt.open("demo")
                for _, _, code in table:
                    if code != NONE:
                        eval(code, {"nt": nt, "nb": nb})
                        print(f"  {code}")
        finally:
            server.stop()
    print("from HeadlesNB: every row of the page works")


main()
