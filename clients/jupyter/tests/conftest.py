"""Fixtures: a real Notarium server with a real kernel, and Jupyter servers with the extension as it is installed."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import notarium
import pytest

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("NOTARIUM_BINARY", ROOT / "target" / "debug" / "notarium")).resolve()


@dataclass
class Server:
    """A running Notarium server, and a token of its owner."""

    url: str
    token: str
    folder: Path

    @property
    def door(self) -> str:
        """Address for Jupyter's clients."""
        return f"{self.url}/jupyter"

    @property
    def environment(self) -> dict[str, str]:
        return {"NOTARIUM_SERVER": self.url, "NOTARIUM_TOKEN": self.token}

    def account(self, login: str) -> str:
        """Creates an account; returns a token of it."""
        headers = {"Authorization": f"Bearer {self.token}"}
        body = {"name": login.title(), "login": login}
        made = httpx.post(f"{self.url}/api/users", json=body, headers=headers).raise_for_status().json()
        proof = {"token": made["invitation"]["token"], "password": "a horse in the harbour"}
        return str(httpx.post(f"{self.url}/api/session", json=proof).raise_for_status().json()["token"])


def wait_for(process: "subprocess.Popen[str]", pattern: str) -> tuple[str, str]:
    """Reads the output until a line has the pattern. Returns the first group, and everything that was read."""
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if found := re.search(pattern, line):
            return found[1], said
    raise AssertionError(f"the program ended: {said}")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is missing: cargo build --bin notarium, or set NOTARIUM_BINARY")
    with tempfile.TemporaryDirectory(prefix="notarium-jupyter-") as name:
        folder = Path(name)
        environment = {"PATH": os.environ["PATH"], "HOME": name, "TMPDIR": name}
        command = [BINARY, "up", "--data", folder / "data", "--listen", "127.0.0.1:0", "--working-dir", folder]
        command += ["--kernel-path", sys.prefix, "--dialoghelper-listen", "127.0.0.1:0"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        try:
            url, _ = wait_for(process, r"^Notarium is up: (http\S+)")
            wait_for(process, r"^(Kernels:)")
            token = json.loads((folder / "data" / "up.json").read_text())["session"]
            yield Server(url, token, folder)
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture
def nt(server: Server) -> Iterator[notarium.Client]:
    with notarium.connect(server.url, server.token) as client:
        yield client


@dataclass
class Jupyter:
    """A running Jupyter server, and what it printed at its start."""

    url: str
    said: str

    def request(self, method: str, path: str, **more: object) -> httpx.Response:
        headers = {"Authorization": "token jupyters-own", **more.pop("headers", {})}  # type: ignore[dict-item]
        return httpx.request(method, self.url + path, headers=headers, timeout=60, **more)  # type: ignore[arg-type]


Start = Callable[..., Jupyter]


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Start]:
    """Starts `jupyter server`, which has the extension because it is installed."""
    started = []

    def start(
        environment: dict[str, str], config: str = "", said: str = r"(Notarium (?:at|cannot)|Notarium: \d+)"
    ) -> Jupyter:
        (tmp_path / "jupyter_server_config.py").write_text(config)
        everything = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "JUPYTER_CONFIG_DIR": str(tmp_path),
            **environment,
        }
        command = [
            sys.executable,
            "-m",
            "jupyter_server",
            "--no-browser",
            "--allow-root",
            "--ServerApp.base_url=/lab/me/",
        ]
        command += ["--ServerApp.port=0", "--IdentityProvider.token=jupyters-own"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=everything, cwd=tmp_path
        )
        started.append(process)
        address, log = wait_for(process, r"(http://\S+/lab/me/)\?token=")
        url = address.rstrip("/")
        if not re.search(said, log):
            log += wait_for(process, said)[1]
        return Jupyter(url, log)

    yield start
    for process in started:
        process.kill()
        process.wait(timeout=30)
