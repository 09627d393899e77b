"""Runs notebooks with `notarium run` and with nbclient, and compares the results.

    python tests/interop/nbclient_compare.py NOTARIUM_BINARY FILE.ipynb …

Equal means: the same cells, the same outputs but for addresses, times and the count that a parameter cell would shift,
the same errors. Every file that notarium writes must pass `nbformat.validate`. Exit code 1 when anything differs.
The Python that runs this must have nbclient, nbformat and ipykernel.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
TIME = re.compile(r"\d+(\.\d+)? ?(ns|us|µs|ms|s|min)\b|\d\d:\d\d:\d\d(\.\d+)?")
TEMPORARY = re.compile(r"ipykernel_\d+(/\d+)?(\.py)?")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def text(value):
    return "".join(value) if isinstance(value, list) else value


def neutral(value):
    """Replaces values that differ from run to run."""
    if isinstance(value, dict):
        return {key: neutral(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [neutral(entry) for entry in value]
    if isinstance(value, str):
        for pattern in (COLOUR, ADDRESS, TEMPORARY, TIME):
            value = pattern.sub("…", value)
    return value


def outputs_of(cell):
    """Outputs with merged streams. The order between stdout and stderr is ignored, because it depends on the kernel's threads."""
    outputs = []
    for output in cell.get("outputs", []):
        output = json.loads(json.dumps(output))
        if output["output_type"] == "stream":
            # notarium normalises text as a terminal would: `\r\n` ends a line like `\n`.
            output["text"] = text(output["text"]).replace("\r\n", "\n")
            same = [other for other in outputs if other["output_type"] == "stream" and other["name"] == output["name"]]
            if same:
                same[-1]["text"] += output["text"]
                continue
        output.pop("metadata", None) if not output.get("metadata") else None
        if "data" in output:
            output["data"] = {mime: text(data) for mime, data in output["data"].items()}
        outputs.append(neutral(output))
    return sorted(outputs, key=lambda output: (output["output_type"] != "stream", output.get("name", "")))


def with_nbclient(path):
    """Returns the executed notebook and the duration in seconds."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    kernel = notebook.metadata.get("kernelspec", {}).get("name", "python3")
    began = time.monotonic()
    for name in (kernel, "python3"):
        try:
            NotebookClient(notebook, timeout=600, kernel_name=name, resources={"metadata": {"path": "."}}).execute()
        except CellExecutionError:
            pass
        except Exception as error:  # no such kernel
            if name == "python3" and kernel == "python3" or "NoSuchKernel" not in type(error).__name__:
                raise
            continue
        break
    return notebook, time.monotonic() - began


def with_notarium(binary, path, folder):
    output = Path(folder) / "out.ipynb"
    command = [binary, "run", str(path), "-o", str(output), "--kernel-path", sys.prefix, "--pass-env", "PYTHONHASHSEED"]
    began = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900)
    seconds = time.monotonic() - began
    if not output.exists():
        raise SystemExit(f"{path}: {' '.join(command)} wrote nothing: {ended.stderr}")
    notebook = nbformat.read(output, as_version=4)
    nbformat.validate(notebook)
    return notebook, seconds, ended


def differences(expected, found):
    if len(expected.cells) != len(found.cells):
        yield f"{len(expected.cells)} cells, found {len(found.cells)}"
    for number, (want, have) in enumerate(zip(expected.cells, found.cells, strict=False), 1):
        # Cells of unknown types are stored as raw, with their type in our metadata.
        if want.cell_type not in ("code", "markdown", "raw"):
            continue
        for field in ("cell_type", "source"):
            if want.get(field, "").replace("\r\n", "\n").replace("\r", "\n") != have[field]:
                yield f"cell {number}: {field} {want.get(field)!r:.80}, found {have[field]!r:.80}"
        if want.cell_type == "code":
            if outputs_of(want) != outputs_of(have):
                yield f"cell {number}: outputs differ\n    nbclient {outputs_of(want)}\n    notarium {outputs_of(have)}"
            if want.execution_count != have.execution_count:
                yield f"cell {number}: execution_count {want.execution_count}, found {have.execution_count}"


def main():
    os.environ["PYTHONHASHSEED"] = "0"
    binary, files = sys.argv[1], sys.argv[2:]
    warnings.simplefilter("ignore")
    failed = 0
    for path in files:
        try:
            expected, reference = with_nbclient(path)
        except Exception as error:
            print(f"skip  {path}: nbclient cannot: {type(error).__name__}: {str(error)[:200]}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, seconds, ended = with_notarium(binary, path, folder)
        problems = list(differences(expected, found))
        if problems:
            # Ignore differences that also occur between two runs of nbclient.
            again, _ = with_nbclient(path)
            chance = {problem.split(":")[0] for problem in differences(expected, again)}
            problems = [problem for problem in problems if problem.split(":")[0] not in chance]
        has_error = any(o.output_type == "error" for c in expected.cells for o in c.get("outputs", []))
        if ended.returncode != (1 if has_error else 0):
            problems.append(f"exit code {ended.returncode}: {ended.stderr[-300:]}")
        print(f"{'FAIL' if problems else 'ok  '}  {path}  nbclient {reference:.2f} s, notarium {seconds:.2f} s")
        for problem in problems[:8]:
            print(f"  {problem}"[:1500])
        failed += bool(problems)
    sys.exit(1 if failed else 0)


main()
