"""Tests clients generated from `protocol/openapi.json` against a real server.

    python tests/interop/openapi/check.py NOTARIUM_BINARY [--schemathesis PROGRAM]

The TypeScript client (openapi-typescript) and the Python client (openapi-python-client) are generated, compiled and do a round
trip. With --schemathesis, that program calls every operation instead, with valid and invalid input. Exit code 1 if the server
does not follow the document. Needs Python with openapi-python-client.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[2] / "protocol" / "openapi.json"
MADE = HERE / "node_modules" / ".cache" / "notarium"
# Disabled check: schemathesis cannot know which values are meaningful (existing ids, future times, hashes of bodies).
NOT_ASKED = "positive_data_acceptance"
# Excluded operations: they end the session or its rights, or stream without end.
PASSED_OVER = r"/api/session|/api/me/password|/api/tokens/|/api/users/\{user\}/(deactivate|admin|reset)|/stream$|/chat$"
# Path parameters that exist: a notebook with a cell, and the signed-in user.
SOUGHT = """
[parameters]
"path.notebook" = "soak"
"path.cell" = "cell"
"path.user" = "{user}"

# No runtime agent is there: where the document promises it, that is the answer.
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
"""


@contextlib.contextmanager
def server(binary, folder):
    """Starts `notarium serve` on empty data; yields its address and the owner's session."""
    command = [binary, "serve", "--data", str(folder), "--listen", "127.0.0.1:0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while not (owner := re.search(r"^(nt_owner_\S+)$", said, re.M)):
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"notarium serve ended: {said}")
            said += line
        url = re.search(r" on (http://\S+)", said)[1]
        yield url, sign_in(url, owner[1])
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def sign_in(url, owner):
    profile = {"token": owner, "name": "Ada", "login": "ada", "password": "correct horse"}
    request = urllib.request.Request(f"{url}/api/session", json.dumps(profile).encode(), method="POST")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]


def run(command, folder=HERE, **environment):
    ended = subprocess.run(command, env={**os.environ, **environment}, cwd=folder)
    if ended.returncode != 0:
        raise SystemExit(f"{Path(command[0]).name} ended with {ended.returncode}")


def typescript(environment):
    MADE.mkdir(parents=True, exist_ok=True)
    programs = HERE / "node_modules" / ".bin"
    # Fields with a default may be left out of a request.
    make = [programs / "openapi-typescript", DOCUMENT, "--output", MADE / "api.ts", "--default-non-nullable", "false"]
    run(make)
    run([programs / "tsc", "--project", HERE / "tsconfig.json"])
    run(["node", MADE / "roundtrip.js"], **environment)


def python(environment, folder):
    package = folder / "notarium_client"
    program = Path(sys.executable).with_name("openapi-python-client")
    make = [
        program,
        "generate",
        "--path",
        DOCUMENT,
        "--output-path",
        package,
        "--meta",
        "none",
        "--config",
        HERE / "generator.yaml",
        "--fail-on-warning",
    ]
    run(make, PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    run([sys.executable, HERE / "roundtrip.py"], **environment, PYTHONPATH=str(folder))


def ask(url, token, path, body=None):
    request = urllib.request.Request(url + path, json.dumps(body).encode() if body else None)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def schemathesis(program, url, token, folder):
    ask(url, token, "/api/notebooks", {"id": "soak", "title": "Soak"})
    ask(url, token, "/api/notebooks/soak/cells", {"cell_id": "cell", "cell_type": "code", "source": "1"})
    config = folder / "schemathesis.toml"
    config.write_text(SOUGHT.format(user=ask(url, token, "/api/me")["actor"]["id"]))
    run(
        [program, "--config-file", config, "run", DOCUMENT, "--url", url, "--header", f"Authorization: Bearer {token}"]
        + ["--exclude-checks", NOT_ASKED, "--exclude-path-regex", PASSED_OVER]
        + ["--max-examples", "30", "--phases", "examples,coverage,fuzzing", "--continue-on-failure", "--no-color"],
        folder,
    )


def main(arguments):
    binary = str(Path(arguments[0]).resolve())
    program = os.path.abspath(arguments[2]) if arguments[1:2] == ["--schemathesis"] else None
    with tempfile.TemporaryDirectory() as folder, server(binary, Path(folder) / "data") as (url, token):
        if program:
            return schemathesis(program, url, token, Path(folder))
        environment = {"NOTARIUM_URL": url, "NOTARIUM_TOKEN": token}
        typescript(environment)
        python(environment, Path(folder))


main(sys.argv[1:])
