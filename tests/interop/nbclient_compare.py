"""Runs notebooks with `notarium run` and with nbclient, and compares the results.

    python tests/interop/nbclient_compare.py [--allow-errors] NOTARIUM_BINARY FILE.ipynb|FOLDER …

Equal means: the same cells, the same outputs but for addresses, times, random values and the count that a parameter cell would
shift, the same errors, the same language, the same values of widgets. If a cell differs, nbclient runs the notebook again, up to
twice: what varies between its runs is compared without numbers and images, or else by the kinds of its outputs. Every file that notarium
writes must pass `nbformat.validate`. Each program runs a notebook in a new copy of the folder at the same path. Exit code 1
when anything differs. The Python that runs this must have nbclient, nbformat, ipykernel and what the notebooks import.
A notebook without code, and one that nbclient cannot run (another language, over the time limit), is left out and listed.
"""

import argparse
import json
import os
import re
import shutil
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
# `%timeit` chooses how many loops it times.
TIME = re.compile(r"\d+(\.\d+)? ?(ns|us|µs|μs|ms|s|min)\b|\d\d:\d\d:\d\d(\.\d+)?|\d[\d,]* loops? each")
TEMPORARY = re.compile(r"ipykernel_\d+(/\d+)?(\.py)?")
IDENTIFIER = re.compile(r"\b[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}\b")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Texts that these show in a pager or put into cells are in our file, and in no file of nbclient's.
OFFERS = re.compile(
    r"^\s*(\?+\s*$|\?{1,2}\S|.*\S\?{1,2}\s*$"
    r"|%(load|loadpy|recall|rep|pinfo2?|pdoc|psource|pfile|pdef|quickref|magic|page|pycat|cat|more|less|man)\b)",
    re.MULTILINE,
)
# Most further runs of nbclient for a notebook that differs.
MOST_REPETITIONS = 2
# Our kernels have a folder for temporary files of their own.
OWN_TEMPORARY = re.compile(r"/tmp/nk-[0-9a-f]{12}/tmp\b")
# The magic of SQL cells, which our kernels have besides IPython's: `%lsmagic` lists it.
OWN_MAGIC = "  %%notarium_sql"


def text(value):
    return "".join(value) if isinstance(value, list) else value


def neutral(value):
    """Replaces values that differ from run to run."""
    if isinstance(value, dict):
        return {key: neutral(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [neutral(entry) for entry in value]
    if isinstance(value, str):
        value = OWN_TEMPORARY.sub("/tmp", value.replace(OWN_MAGIC, ""))
        for pattern in (COLOUR, ADDRESS, TEMPORARY, IDENTIFIER, TIME):
            value = pattern.sub("…", value)
    return value


def on_terminal(value):
    """The text that a terminal shows. notarium stores this, and nbclient the carriage returns of progress bars."""
    shown = []
    for line in COLOUR.sub("", value).split("\n"):
        characters, column = [], 0
        for character in line:
            if character in "\r\b":
                column = 0 if character == "\r" else max(0, column - 1)
                continue
            characters[column : column + 1] = [character]
            column += 1
        shown.append("".join(characters))
    return "\n".join(shown)


def stream_with_others(cell, stream):
    """The outputs of a cell without the other stream: the order between stdout and stderr depends on the kernel's threads."""
    outputs = []
    for output in cell.get("outputs", []):
        output = json.loads(json.dumps(output))
        if output["output_type"] == "stream":
            if output["name"] != stream:
                continue
            output["text"] = text(output["text"])
            if outputs and outputs[-1]["output_type"] == "stream":
                outputs[-1]["text"] += output["text"]
                continue
        output.pop("metadata", None) if not output.get("metadata") else None
        if "data" in output:
            output["data"] = {mime: text(data) for mime, data in output["data"].items()}
        outputs.append(output)
    for output in outputs:
        if output["output_type"] == "stream":
            output["text"] = on_terminal(output["text"])
    return [neutral(output) for output in outputs]


def without_numbers(value):
    if isinstance(value, dict):
        return {key: without_numbers(entry) for key, entry in value.items() if not key.startswith("image/")}
    if isinstance(value, list):
        return [without_numbers(entry) for entry in value]
    # Tables and arrays are padded to the width of their numbers.
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?|\s+", "", value) if isinstance(value, str) else value


def kinds(outputs):
    return [
        (output["output_type"], output.get("name"), output.get("ename"), sorted(output.get("data", [])))
        for output in outputs
    ]


# From the strictest to the most lenient.
VIEWS = (lambda outputs: outputs, without_numbers, kinds)


def in_copy(folder, path, work):
    """Calls `work` with the notebook in a copy of the folder. All runs have the same path, because notebooks print it."""
    copy = Path(tempfile.gettempdir()) / f"beside-nbclient-{os.getpid()}"
    ignored = shutil.ignore_patterns(".git", ".ipynb_checkpoints")
    try:
        shutil.copytree(folder, copy, ignore=ignored, ignore_dangling_symlinks=True)
        return work(copy / path.relative_to(folder))
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def with_nbclient(path, seconds, allow_errors):
    """Returns the executed notebook and the duration in seconds."""
    notebook = nbformat.read(path, as_version=4)
    # Neither program runs empty cells; both leave them as they were.
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    if not code:
        raise ValueError("has no code")
    for cell in code:
        cell.outputs, cell.execution_count = [], None
    kernel = notebook.metadata.get("kernelspec", {}).get("name", "python3")
    began = time.monotonic()
    for name in (kernel, "python3"):
        try:
            NotebookClient(
                notebook,
                timeout=seconds,
                kernel_name=name,
                allow_errors=allow_errors,
                resources={"metadata": {"path": str(path.parent)}},
            ).execute()
        except CellExecutionError:
            pass
        except Exception as error:  # no such kernel
            if name == "python3" and kernel == "python3" or "NoSuchKernel" not in type(error).__name__:
                raise
            continue
        break
    return notebook, time.monotonic() - began


def with_notarium(binary, path, seconds, allow_errors):
    output = path.with_suffix(".written-by-notarium")
    command = [binary, "run", path.name, "-o", output.name, "--kernel-path", sys.prefix]
    # Kernels of nbclient have the whole environment.
    command += [word for name in os.environ if not name.startswith("NOTARIUM_") for word in ("--pass-env", name)]
    command += ["--timeout", str(seconds)] + ["--allow-errors"] * allow_errors
    began = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    seconds = time.monotonic() - began
    if not output.exists():
        raise SystemExit(f"{path}: {' '.join(command)} wrote nothing: {ended.stderr}")
    notebook = nbformat.read(output, as_version=4)
    nbformat.validate(notebook)
    return notebook, seconds, ended


def widgets_of(notebook):
    """Pairs of model and value of each widget that has a value."""
    states = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    shown = [
        (state["model_name"], neutral(state["state"].get("value", state["state"].get("outputs"))))
        for state in states.values()
    ]
    return [pair for pair in shown if pair[1] is not None]


def metadata_differences(expected, found):
    if expected.metadata.get("language_info") != found.metadata.get("language_info"):
        yield f"language_info: {expected.metadata.get('language_info')}, found {found.metadata.get('language_info')}"
    theirs = widgets_of(expected)
    # Only widgets that outputs show are kept here.
    lacking = [pair for pair in widgets_of(found) if pair not in theirs]
    if lacking:
        yield f"widgets: {lacking} are not among {theirs}"


def lines(source):
    return source.replace("\r\n", "\n").replace("\r", "\n")


def is_loaded(want, have):
    """Returns true if `%load` put a text into the cell, below its own line as a comment."""
    return bool(OFFERS.search(want)) and have.startswith(f"# {want.strip()}")


def without_offers(expected, found):
    """Cells without those that the kernel offered below others: files may have no ids, so cells are known by their sources."""
    kept = []
    for cell in found:
        want = lines(expected[len(kept)].source) if len(kept) < len(expected) else None
        if want is not None and (cell.source == want or is_loaded(want, cell.source)):
            kept.append(cell)
    return kept


def is_within(few, many):
    """Returns true if `many` has all entries of `few` in the same order."""
    rest = iter(many)
    return all(one in rest for one in few)


def from_first_difference(*values):
    """Returns the texts of two values from shortly before their first difference."""
    texts = [json.dumps(value, ensure_ascii=False, sort_keys=True) for value in values]
    same = len(os.path.commonprefix(texts))
    return [text[max(0, same - 100) : same + 500] for text in texts]


def differences(expected, found, view):
    yield from metadata_differences(expected, found)
    if any(cell.cell_type == "code" and OFFERS.search(cell.source) for cell in expected.cells):
        found.cells = without_offers(expected.cells, found.cells)
    if len(expected.cells) != len(found.cells):
        yield f"{len(expected.cells)} cells, found {len(found.cells)}"
    for number, (want, have) in enumerate(zip(expected.cells, found.cells, strict=False), 1):
        # Cells of unknown types are stored as raw, with their type in our metadata.
        if want.cell_type not in ("code", "markdown", "raw"):
            continue
        for field in ("cell_type", "source"):
            theirs, ours = lines(want.get(field, "")), have[field]
            if theirs != ours and not is_loaded(theirs, ours):
                yield f"cell {number}: {field} {want.get(field)!r:.80}, found {have[field]!r:.80}"
        if want.cell_type == "code":
            offers = OFFERS.search(want.source)
            for stream in ("stdout", "stderr"):
                theirs, ours = (view(stream_with_others(cell, stream)) for cell in (want, have))
                if theirs != ours and not (offers and is_within(theirs, ours)):
                    shown = "\n    notarium ".join(from_first_difference(theirs, ours))
                    yield f"cell {number}: outputs differ\n    nbclient {shown}"
                    break
            if want.execution_count != have.execution_count:
                yield f"cell {number}: execution_count {want.execution_count}, found {have.execution_count}"


def notebooks(paths):
    """Pairs of a folder and a notebook in it. Notebooks of a folder may use all of its files."""
    found = []
    for path in map(Path.resolve, paths):
        found += [(path.parent, path)] if path.is_file() else [(path, one) for one in sorted(path.rglob("*.ipynb"))]
    return [(folder, path) for folder, path in found if ".ipynb_checkpoints" not in path.parts]


def place(problem):
    return problem.split(":")[0]


def beyond_chance(expected, others, found):
    """Returns the differences between the programs at places where all runs of nbclient agree, and the places where they do not."""
    problems, varying = {}, set()
    for view in VIEWS:
        chance = {place(problem) for again in others for problem in differences(expected, again, view)}
        varying |= chance
        for problem in differences(expected, found, view):
            if place(problem) not in chance:
                problems.setdefault(place(problem), problem)
    return list(problems.values()), varying


def problems_of(binary, folder, path, seconds, allow_errors):
    """Returns the problems, a note, and both durations."""
    expected, reference = in_copy(folder, path, lambda copy: with_nbclient(copy, seconds, allow_errors))
    found, taken, ended = in_copy(folder, path, lambda copy: with_notarium(binary, copy, seconds, allow_errors))
    problems, varying, others = list(differences(expected, found, VIEWS[0])), set(), []
    # A sum of a few random numbers can be the same in two runs.
    while problems and len(others) < MOST_REPETITIONS:
        others.append(in_copy(folder, path, lambda copy: with_nbclient(copy, seconds, allow_errors))[0])
        problems, varying = beyond_chance(expected, others, found)
    errors = [o for c in expected.cells for o in c.get("outputs", []) if o.output_type == "error"]
    expects = [c for c in expected.cells if "raises-exception" in c.metadata.get("tags", [])]
    failure = 1 if errors and not expects and not allow_errors else 0
    if ended.returncode != failure and not (expects and ended.returncode == 1):
        problems.append(f"exit code {ended.returncode}: {ended.stderr[-300:]}")
    code = [cell for cell in expected.cells if cell.cell_type == "code"]
    note = f", {sum(bool(cell.outputs) for cell in code)} of {len(code)} cells with outputs"
    note += f", {len(varying)} vary" if varying else ""
    note += f", {len(errors)} with errors, last {errors[-1]['ename']}: {errors[-1]['evalue'][:60]}" if errors else ""
    return problems, note, reference, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--seconds", type=int, default=600, help="time limit of a cell")
    parser.add_argument("--allow-errors", action="store_true", help="run the cells after an error too")
    options = parser.parse_args()
    os.environ["PYTHONHASHSEED"] = "0"
    warnings.simplefilter("ignore")
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    for folder, path in notebooks(options.paths):
        try:
            problems, note, reference, taken = problems_of(
                str(options.binary.resolve()), folder, path, options.seconds, options.allow_errors
            )
        except Exception as error:
            counts["skip"] += 1
            print(f"skip  {path}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            continue
        verdict = "FAIL" if problems else "ok"
        counts[verdict] += 1
        print(f"{verdict:<4}  {path}  nbclient {reference:.2f} s, notarium {taken:.2f} s{note}", flush=True)
        for problem in problems[:8]:
            print(f"  {problem}"[:1500], flush=True)
    print(f"{counts['ok']} without a difference, {counts['FAIL']} with one, {counts['skip']} left out")
    sys.exit(1 if counts["FAIL"] or not counts["ok"] else 0)


main()
