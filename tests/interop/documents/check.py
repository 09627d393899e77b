"""Runs the commands of README.md and docs/, in order, against a server with a real kernel.

    python tests/interop/documents/check.py NOTARIUM_BINARY [DOCUMENT …]

Each document gets its own server, home and working folder, and one shell for all of its blocks. The words after the language
of a block say how it runs:

    ```sh                 is run; a command that fails fails the document
    ```sh background      each line is started, and ends with the document; one that ends by itself must not have failed
    ```sh not-run         needs what a test does not have: a browser, another machine, a key
    ```python             is run with the Python client of this repository
    ```python losses.py   is written to the working folder under that name (any language)
    ```text               is no command

The Python that runs this has the packages of clients/python/requirements-dev.txt; its kernels run the cells. Exit code 1 when a
command failed, or when a block does not say how it runs.
"""

import contextlib
import http.server
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 240
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
# Checks that background programs still run or have ended successfully.
BACKGROUND = """
if test ${#started[@]} -gt 0; then sleep 1; fi
for each in "${started[@]}"; do kill -0 "$each" 2>/dev/null || wait "$each"; done
"""
CELLS = [
    ("intro", "markdown", "# Losses"),
    ("load", "code", "import pandas as pd\nlosses = pd.read_csv('losses.csv')\nlosses"),
    ("sum", "code", "total = losses['loss'].sum()\ntotal"),
]


def prepare(work):
    """Writes the files that the documents assume in the reader's folder."""
    cells = [
        {"id": name, "cell_type": kind, "metadata": {}, "source": source}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for name, kind, source in CELLS
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    (work / "analysis.ipynb").write_text(json.dumps(notebook), "utf8")
    (work / "losses.csv").write_text("month,loss\n1,2.5\n2,3.5\n", "utf8")
    with contextlib.closing(sqlite3.connect(work / "shop.sqlite")) as shop:
        shop.execute("CREATE TABLE orders (id INTEGER, region TEXT, net REAL)")
        shop.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(1, "north", 10), (2, "south", 20)])
        shop.commit()


class Model(http.server.BaseHTTPRequestHandler):
    """Model with OpenAI's protocol. It adds a cell if a table is requested, and says that it is done."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        wants_cell = asked[-1]["role"] == "user" and "table" in json.dumps(asked[-1]["content"])
        arguments = json.dumps({"cell_type": "code", "source": "losses.describe()"})
        call = {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "create_cell", "arguments": arguments},
        }
        delta = {"tool_calls": [call]} if wants_cell else {"content": "Done."}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for part, reason in [(delta, None), ({}, "tool_calls" if wants_cell else "stop")]:
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": part, "finish_reason": reason}],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def model(folder):
    """Starts a model provider; yields the file for `--providers`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        file = folder / "providers.json"
        file.write_text(
            json.dumps([{"family": "compatible", "name": "script", "base_url": address, "model": "script"}])
        )
        yield file
        server.shutdown()


@contextlib.contextmanager
def server(binary, home, work, providers, environment):
    """Starts `notarium up` on empty data; yields its address."""
    command = [binary, "up", "--listen", "127.0.0.1:0", "--kernel-path", sys.prefix, "--providers", providers]
    log = home / "up.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=work, env=environment, stdout=output, stderr=output)
    try:
        end = time.monotonic() + PATIENCE_SECONDS
        while not (found := re.search(r"is up: (\S+)[\s\S]*Data: ", log.read_text("utf8"))):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"notarium up did not start: {log.read_text('utf8')}")
            time.sleep(0.05)
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def script(document, text, work):
    """Returns one shell script of all blocks of a document, and the errors of its blocks."""
    lines, wrong = ["set -euo pipefail; started=()"], []
    for number, block in enumerate(BLOCK.finditer(text)):
        language, how, code = block[1], block[2].split(), block[3]
        place = f"{document}:{text.count(chr(10), 0, block.start()) + 1}"
        lines.append(f"echo '@@ {place}'")
        if how and "." in how[0]:
            (work / how[0]).write_text(code, "utf8")
        elif (language, how) == ("sh", ["background"]):
            lines += [f"{{ {line}\n}} >>background.log 2>&1 & started+=($!)" for line in code.splitlines()]
        elif (language, how) == ("sh", []):
            lines.append(code)
        elif (language, how) == ("python", []):
            (work / f"block{number}.py").write_text(code, "utf8")
            lines.append(f"python block{number}.py")
        elif how[:1] != ["not-run"] and language != "text":
            wrong.append(f"{place}: the block does not say how it runs")
    lines.append(BACKGROUND)
    outside = BLOCK.sub("", text)
    wrong += [
        f"{document}: no fence around {line.strip()!r}" for line in outside.splitlines() if re.match(r" {4}\S", line)
    ]
    return "\n".join(lines) + "\n", wrong


def run(binary, document):
    """Runs a document; returns the errors."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir(mode=0o700)
        work.mkdir()
        prepare(work)
        text, wrong = script(document, (ROOT / document).read_text("utf8"), work)
        if wrong:
            return "\n".join(wrong)
        environment = {
            "PATH": os.pathsep.join([str(Path(binary).parent), str(Path(sys.prefix) / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT / "clients" / "python"),
            "HOME": str(home),
            "LANG": "C.UTF-8",
        }
        with model(home) as providers, server(binary, home, work, providers, environment) as address:
            environment["SERVER"] = address
            shell = subprocess.Popen(
                ["bash", "-c", text],
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            # Background programs keep the pipe open: wait only for the shell.
            said = []
            reader = threading.Thread(target=lambda: said.extend(shell.stdout), daemon=True)
            reader.start()
            try:
                code = shell.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                code = f"nothing after {PATIENCE_SECONDS} s"
            # Background programs of a shell ignore SIGINT.
            for ending in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(shell.pid, ending)
                reader.join(10)
            background = work / "background.log"
            more = background.read_text("utf8") if background.exists() else ""
            return "" if code == 0 else f"{document}: {code}\n{''.join(said[-40:])}{more}"


def main():
    binary, *chosen = sys.argv[1:]
    documents = chosen or ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
    failed = False
    for document in documents:
        began = time.monotonic()
        wrong = run(str(Path(binary).resolve()), document)
        print(wrong or f"{document}: every command worked ({time.monotonic() - began:.0f} s)", flush=True)
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
