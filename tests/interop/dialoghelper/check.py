"""Real clients of dialoghelper, in all supported versions, against `notarium up`.

    python tests/interop/dialoghelper/check.py NOTARIUM_BINARY [VERSION …]

Makes an environment for each version in target/dialoghelper, and runs functions.py in it; then a cell that imports the newest client
in a real kernel, whose current message is the executing cell. Most versions need Python 3.12 (NOTARIUM_DIALOGHELPER_PYTHON names one,
else `python3.12`). Without it, those that run on an older Python are tried, and the others are listed as left out.
Exit code 1 if a check fails. Needs Python with ipykernel.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENVS = HERE.parents[2] / "target/dialoghelper"
# Packages in the version that works beside it, whatever it asks for.
VERSIONS = {
    "0.0.47": [],
    "0.0.62": [],
    "0.1.23": ["toolslm==0.3.20"],
    "0.2.33": ["safepyrun==0.0.23", "pyskills==0.0.20"],
    "0.2.41": [],
}
# Versions that run on Python 3.11, too.
OLD = ["0.0.47"]
PYTHON = os.environ.get("NOTARIUM_DIALOGHELPER_PYTHON", "python3.12")


class Server:
    """Runs `notarium up` in a temporary folder and acts as its owner."""

    def __init__(self, binary, folder, kernels):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")}
        environment["NOTARIUM_CONFIG"] = str(folder / "config" / "config.json")
        listen = ["--listen", "127.0.0.1:0", "--dialoghelper-listen", "127.0.0.1:0"]
        command = [binary, "up", "--data", str(folder / "data"), *listen, "--kernel-path", kernels]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        said = ""
        while not re.search(r"^Kernels: ", said, re.M):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"notarium up ended: {said}")
            said += line
        self.url = re.search(r"Notarium is up: (\S+)", said)[1]
        self.session = re.search(r"Token: (\S+)", said)[1]
        self.port = int(re.search(r"dialoghelper: http://127.0.0.1:(\d+)", said)[1])
        scopes = {"label": "dialoghelper", "scopes": ["read", "edit", "run"], "covers": {}}
        self.token = self.rest("POST", "/api/tokens", scopes)["token"]

    def rest(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.session}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def has_python():
    try:
        return subprocess.run([PYTHON, "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def environment_of(version):
    """Returns the Python of a version's environment, which is made if it is missing."""
    folder = VENVS / version
    python, ready = folder / "bin/python", folder / ".ready"
    if not ready.exists():
        subprocess.run([PYTHON if has_python() else sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, f"dialoghelper=={version}", "python-fasthtml", "ipykernel"], check=True)
        for package in VERSIONS[version]:
            subprocess.run([*install, "--no-deps", package], check=True)
        ready.touch()
    return python


CELL = """
import sys
sys.path.insert(0, {folder!r})
from door_token import use_token
use_token({token!r}, {port})
import os
os.environ['__DIALOG_NAME'] = 'in-kernel'
import dialoghelper.core as c
c.dh_settings['port'] = {port}
place = await c.msg_idx()
await c.add_msg('first')
await c.add_msg('second')
above = (await c.read_msg(-1))['content']
print(place, above)
"""


def in_a_kernel(server):
    """Without an id, a client means the message that runs: the one in which it was called."""
    notebook = server.rest("POST", "/api/notebooks", {"title": "in-kernel"})["notebook"]
    path = f"/api/notebooks/{notebook}"
    server.rest("POST", f"{path}/cells", {"cell_id": "above", "cell_type": "markdown", "source": "above"})
    source = CELL.format(folder=str(HERE), token=server.token, port=server.port)
    server.rest("POST", f"{path}/cells", {"cell_id": "caller", "cell_type": "code", "source": source})
    server.rest("POST", f"{path}/runs", {"cells": ["caller"]})
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        state = server.rest("GET", path)["notebook"]
        execution = state["executions"][state["latest"]["caller"]]
        if execution["status"] in ("ok", "error", "lost", "cancelled"):
            break
    shown = [state["cells"][cell]["source"] for cell in state["order"] if cell != "caller"]
    printed = json.dumps(execution["outputs"])
    if execution["status"] != "ok" or "1 above" not in printed or shown != ["above", "second", "first"]:
        raise AssertionError(f"the current message is not the executing cell: {shown} {printed}")
    print("in a kernel: the current message is the executing cell")


def main():
    binary, *wanted = sys.argv[1:]
    versions = wanted or (list(VERSIONS) if has_python() else OLD)
    left_out = [version for version in VERSIONS if version not in versions]
    if left_out and not wanted:
        print(f"left out, because there is no {PYTHON}: {', '.join(left_out)}")
    newest = environment_of(versions[-1])
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, Path(folder), str(newest.parents[1]))
        try:
            server.rest("POST", "/api/notebooks", {"title": "demo"})
            for version in versions:
                command = [str(environment_of(version)), "functions.py", str(server.port), server.token]
                subprocess.run(command, cwd=HERE, check=True, timeout=600)
            if versions[-1] == "0.2.41":
                in_a_kernel(server)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
