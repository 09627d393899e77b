"""The wheel: its files, and that it works without other packages."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from .conftest import Server

HERE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, HERE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("notarium-*-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"notarium/py.typed", "notarium_kernel/py.typed"} <= set(names)
    assert all(name.startswith(("notarium/", "notarium_kernel/", "notarium-")) for name in names), names
    (sdist,) = built.glob("notarium-*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/README.md") for name in archive.getnames())


def test_the_wheel_installs_in_a_fresh_environment_and_the_readmes_example_runs(
    built: Path, server: Server, tmp_path: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    code = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text("utf8"), re.S)[0]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"NOTARIUM_SERVER": server.url, "NOTARIUM_TOKEN": server.token}
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.stdout.splitlines()[-1:] == ["42"], done.stderr
    # Table exports name the missing package, and the import needs no other package.
    asks = "import notarium; notarium.aio.History(None, None, 0); from notarium.history import _library; _library('pandas')"
    done = subprocess.run([python, "-c", asks], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert "this needs pandas: pip install pandas" in done.stderr
