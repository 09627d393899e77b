"""The package as runtime agents write it for kernels: complete, without other dependencies."""

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "notarium"
AGENT = Path(__file__).parents[4] / "src" / "agent"


def test_what_agents_embed_is_all_of_it_and_needs_nothing_else(tmp_path):
    listed = (AGENT / "python_package.rs").read_text()
    embedded = set(re.findall(r'"kernel/(\w+\.py)"', listed))
    assert embedded == {path.name for path in (PACKAGE / "kernel").glob("*.py")}
    # The broker runs outside kernels. The runtime agent embeds it separately.
    needed = {path.name for path in (PACKAGE / "sql").glob("*.py")} - {"broker.py"}
    assert set(re.findall(r'"sql/(\w+\.py)"', listed)) == needed
    assert set(re.findall(r'"tables/(\w+\.py)"', listed)) == {path.name for path in (PACKAGE / "tables").glob("*.py")}
    folder = tmp_path / "notarium"
    (folder / "kernel").mkdir(parents=True)
    (folder / "__init__.py").write_text((AGENT / "embedded.py").read_text())
    for name in embedded:
        (folder / "kernel" / name).write_text((PACKAGE / "kernel" / name).read_text())
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import notarium\n"
        "@notarium.tool(risk='read')\ndef f(x: int) -> int:\n    'Adds.'\n    return x + 1\n"
        "print(notarium.call_function('f', {'x': 1}))\n"
        "try: notarium.connect\nexcept AttributeError as error: print(error)\n"
    )
    # `-S`: no site packages, only the standard library.
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert (
        ran.stdout.startswith("2\nthis kernel has of notarium what cells use") and "pip install notarium" in ran.stdout
    )
