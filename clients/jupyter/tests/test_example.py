"""`make example-jupyter`: its script starts Notarium and JupyterLab on one notebook, and ends both."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from .conftest import BINARY, ROOT, wait_for


def test_the_example_shows_a_shared_notebook_in_jupyterlab(tmp_path: Path) -> None:
    command = [
        ROOT / "scripts" / "example-jupyter",
        BINARY,
        sys.prefix,
        tmp_path / "data",
        "--no-browser",
    ]
    command += ["--ServerApp.port=0", "--IdentityProvider.token=jupyters-own"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        server, _ = wait_for(process, r"^Notarium is up: (http\S+)")
        lab, _ = wait_for(process, r"(http://127\S+)/lab/tree/Shared.ipynb\?token=")
        headers = {"Authorization": "token jupyters-own"}
        cells = httpx.get(f"{lab}/api/contents/Shared.ipynb", headers=headers, timeout=60).json()["content"]["cells"]
        assert [cell["cell_type"] for cell in cells] == ["markdown", "code"]
    finally:
        process.terminate()
        process.wait(timeout=60)
    with pytest.raises(httpx.ConnectError):
        httpx.get(server)
