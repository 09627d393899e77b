"""The package as runtime agents write it for kernels: complete, without other dependencies."""

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).parents[2]
AGENT = Path(__file__).parents[4] / "src" / "agent" / "kernel"


def test_what_agents_embed_is_all_of_it_and_needs_nothing_else(tmp_path):
    listed = (AGENT / "python_package.rs").read_text()
    embedded = set(re.findall(r'"([\w/]+\.py)"', listed)) - {"notarium/__init__.py", "embedded.py"}
    # The broker and its part `reading` run outside kernels. The runtime agent embeds them separately.
    needed = {str(path.relative_to(CLIENT)) for path in (CLIENT / "notarium_kernel").rglob("*.py")}
    needed -= {"notarium_kernel/sql/broker.py", "notarium_kernel/sql/reading.py"}
    assert embedded == needed | {"notarium/kernel.py", "notarium/sql.py"}
    for name in embedded:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((CLIENT / name).read_text())
    (tmp_path / "notarium" / "__init__.py").write_text((AGENT / "embedded.py").read_text())
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import notarium\n"
        "@notarium.tool(risk='read')\ndef f(x: int) -> int:\n    'Adds.'\n    return x + 1\n"
        "print(notarium.call_function('f', {'x': 1}))\n"
        "from notarium_kernel.sql import cell\nassert notarium.sql.settings is cell.settings and notarium.kernel.registered()\n"
        "try: notarium.connect\nexcept AttributeError as error: print(error)\n"
    )
    # `-S`: no site packages, only the standard library.
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("2\nthis kernel has of notarium what cells use") and "notarium-….whl" in ran.stdout
