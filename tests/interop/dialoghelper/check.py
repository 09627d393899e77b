"""Real clients of dialoghelper, in all supported versions, against `notarium up`.

    python tests/interop/dialoghelper/check.py NOTARIUM_BINARY [VERSION …]

Makes an environment for each version in target/dialoghelper, and runs functions.py in it; then cells that import the newest client
in a real kernel, without a token (kernels.py); then the client's own notebook as a dialog (own_notebook.py). Most versions need Python 3.12 (NOTARIUM_DIALOGHELPER_PYTHON names one,
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
import urllib.request
from pathlib import Path

import kernels
import model

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
BEFORE_COROUTINES = ["0.0.47", "0.0.62"]
# Versions whose own notebook runs as a dialog.
OWN_NOTEBOOKS = ["0.0.47", "0.1.23", "0.2.41"]
PYTHON = os.environ.get("NOTARIUM_DIALOGHELPER_PYTHON", "python3.12")


class Server:
    """Runs `notarium up` in a temporary folder and acts as its owner."""

    def __init__(self, binary, folder, kernels):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")}
        environment["NOTARIUM_CONFIG"] = str(folder / "config" / "config.json")
        listen = ["--listen", "127.0.0.1:0", "--dialoghelper-listen", "127.0.0.1:0"]
        providers = folder / "providers.json"
        scripted = {"family": "compatible", "name": "script", "base_url": model.start(), "model": "script"}
        providers.write_text(json.dumps([scripted]))
        options = ["--kernel-path", kernels, "--providers", str(providers)]
        command = [binary, "up", "--data", str(folder / "data"), *listen, *options]
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
            kernels.in_a_kernel(server, is_old=versions[-1] in BEFORE_COROUTINES)
            kernels.of_an_assistant(server)
        finally:
            server.stop()
    for version in OWN_NOTEBOOKS:
        if version in versions:
            command = [sys.executable, "own_notebook.py", os.path.abspath(binary), version]
            subprocess.run(command, cwd=HERE, check=True, timeout=1200)


if __name__ == "__main__":
    main()
