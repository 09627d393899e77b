"""Compares notarium's reading and writing of .ipynb files with Python's nbformat, the oracle.

    pip install nbformat            # in a virtual environment
    cargo build -p notarium-wire --example ipynb_roundtrip
    python tests/interop/ipynb/check.py [--cases N] [--seed S] [FILE ...]

With NOTARIUM_BLESS=1 it writes `tests/fixtures/notebooks/expected/` instead.

For each file and each generated odd notebook:
  1. what nbformat reads, we read;
  2. what we write validates with nbformat.validate, strictly (no repair by the validator);
  3. our cells, sources, outputs and metadata are those of nbformat.read(as_version=4);
  4. where nbformat's own result is valid 4.5 (with ids), our bytes are the bytes that nbformat writes;
  5. reading our export again gives the same document without a notice.
"""

import argparse
import copy
import json
import logging
import math
import os
import pathlib
import random
import subprocess
import sys
import warnings

import nbformat
import odd
import odd_random
from nbformat.v4.rwbase import _rejoin_mimebundle

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "notebooks"
PROGRAM = ROOT / "target" / "debug" / "examples" / "ipynb_roundtrip"
KNOWN = {
    "code": {"id", "cell_type", "metadata", "source", "outputs", "execution_count"},
    "markdown": {"id", "cell_type", "metadata", "source", "attachments"},
    "raw": {"id", "cell_type", "metadata", "source", "attachments"},
}


def ours(texts):
    """Notarium's answer for each text."""
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([PROGRAM, "--many"], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def theirs(text):
    """nbformat's reading as version 4, or the error with which it refuses or crashes."""
    try:
        return nbformat.reads(text, as_version=4), None
    except Exception as error:  # the oracle crashes with exceptions of any type
        return None, f"{type(error).__name__}: {error}"


def finite(value):
    """Replaces NaN and infinities by null, and lone surrogates by U+FFFD, as Notarium does."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not value.isascii() else value
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {finite(key): finite(item) for key, item in value.items()}
    return value


def normal_output(output):
    """Output of nbformat with Notarium's default fields and joined text."""
    if not isinstance(output, dict):
        return {"output_type": "unrecognized", "value": output}
    kind = output.get("output_type")
    defaults = {
        "display_data": {"data": {}, "metadata": {}},
        "execute_result": {"data": {}, "metadata": {}, "execution_count": None},
        "stream": {"name": "stdout", "text": ""},
        "error": {"ename": "", "evalue": "", "traceback": []},
    }
    output = {**defaults.get(kind, {}), **output} if isinstance(kind, str) else dict(output)
    if isinstance(output.get("data"), dict) and kind in ("display_data", "execute_result"):
        _rejoin_mimebundle(output["data"])
    if kind in ("stream", "error") and output.get("metadata") == {}:
        del output["metadata"]
    return output


def upgraded_here(output):
    return isinstance(output, dict) and output.get("output_type") in ("pyout", "pyerr")


def differences(nb, answer):
    """Yields the parts of nbformat's notebook that are not in our document."""
    document = answer["document"]
    nb = finite(json.loads(json.dumps(nb)))
    if len(nb["cells"]) != len(document["cells"]):
        yield f"{len(document['cells'])} cells instead of {len(nb['cells'])}"
        return
    metadata = nb["metadata"] if isinstance(nb.get("metadata"), dict) else {}
    yield from metadata_differences("notebook", metadata, document["metadata"], document["extra"])
    for index, (cell, got) in enumerate(zip(nb["cells"], document["cells"], strict=False)):
        yield from (f"cell {index}: {difference}" for difference in cell_differences(cell, got))


def metadata_differences(where, expected, got, extra):
    expected = {
        key: value
        for key, value in expected.items()
        if key not in ("orig_nbformat", "orig_nbformat_minor", "signature", "trusted")
    }
    for key, value in expected.items():
        mine = got.get(key)
        if key in ("kernelspec", "language_info") and isinstance(value, dict) and isinstance(mine, dict):
            mine = {name: mine.get(name) for name in value}
        if key not in ("notarium", "jupyter") and mine != value:
            yield f"{where} metadata {key}: {mine!r} instead of {value!r}"


def cell_differences(cell, got):
    kind = cell.get("cell_type")
    kind = kind if isinstance(kind, str) else repr(kind)
    want = {"heading": "markdown", "html": "markdown"}.get(kind, kind)
    if want in KNOWN and got["cell_type"] != want and "notarium" not in cell.get("metadata", {}):
        yield f"type {got['cell_type']} instead of {kind}"
    source = cell.get("source", "")
    if (
        isinstance(source, str)
        and kind != "heading"
        and source.replace("\r\n", "\n").replace("\r", "\n") != got["source"]
    ):
        yield f"source {got['source']!r} instead of {source!r}"
    if isinstance(cell.get("metadata"), dict):
        yield from metadata_differences("cell", cell["metadata"], got["metadata"], got["extra"])
    if isinstance(cell.get("attachments"), dict) and cell["attachments"] != (got["attachments"]):
        yield f"attachments {got['attachments']!r} instead of {cell['attachments']!r}"
    if want == "code":
        yield from output_differences(cell, got)
    # nbformat strips `trusted`, except from notebooks of nbformat 3.
    known = KNOWN.get(want, KNOWN.get(got["cell_type"], set())) | {"attachments", "level", "cell_type", "trusted"}
    for key in set(cell) - known:
        if (
            key not in got["extra"]
            and cell[key] not in (None, [], {}, "")
            and got["cell_type"] in ("code", "markdown", "raw")
        ):
            yield f"key {key} is lost"


def output_differences(cell, got):
    count = cell.get("execution_count")
    if (
        isinstance(count, int)
        and not isinstance(count, bool)
        and 0 <= count < 2**63
        and count != got["execution_count"]
    ):
        yield f"execution count {got['execution_count']} instead of {count}"
    outputs = cell.get("outputs", [])
    if not isinstance(outputs, list) or any(upgraded_here(output) for output in outputs):
        return
    if [normal_output(output) for output in outputs] != got["outputs"]:
        yield f"outputs {got['outputs']!r} instead of {outputs!r}"


def strictly_valid(nb):
    """None if valid without repairs by the validator, else the error."""
    before = copy.deepcopy(nb)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nbformat.validate(nb)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if nb == before else "the validator changed it"


def their_bytes(nb, answer):
    """Bytes that nbformat writes for its own reading as 4.5 with our ids. None if that is not valid."""
    nb = copy.deepcopy(nb)
    nb["nbformat_minor"] = 5
    for cell, mine in zip(nb["cells"], answer["document"]["cells"], strict=False):
        cell["id"] = mine["id"]
    if strictly_valid(copy.deepcopy(nb)):
        return None
    text = nbformat.writes(nb) + "\n"
    # nbformat writes images of nbformat 3 as lists of strings, and joins them when it reads them again.
    return nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"


def check(name, text, answer, tally):
    nb, refusal = theirs(text)
    if "error" in answer:
        tally["both refuse" if nb is None else "only we refuse"] += 1
        if nb is not None and not cells_are_no_list(text):
            yield f"we refuse what nbformat reads: {answer['error']}"
        return
    tally["both read" if nb is not None else "only we read"] += 1
    invalid = strictly_valid(nbformat.from_dict(json.loads(answer["ipynb"])))
    if invalid:
        yield f"our export is invalid: {invalid}"
    if not answer["stable"]:
        yield "importing our export changes something"
    if nb is None or loses_sources(json.loads(text)):
        return
    yield from differences(nb, answer)
    expected = their_bytes(nb, answer)
    if expected is not None and not has_repairs(answer):
        tally["same bytes"] += 1
        yield from byte_differences(expected, without_aside(answer))


def cells_are_no_list(text):
    """True if `cells` is not a list. nbformat accepts an empty object or text and writes an unreadable file."""
    return not isinstance(json.loads(text).get("cells"), list)


def loses_sources(value):
    """True if nbformat loses sources. It reads a missing or boolean version as 1, and there repeats the cell before an unknown
    one. In version 3 it prefers a missing `input` to a `source`."""
    if value.get("nbformat", 1) == 1:
        known = all(cell.get("cell_type") in ("code", "text") for cell in value["cells"])
        return "nbformat" not in value or value["nbformat"] is True or not known
    cells = [cell for sheet in value.get("worksheets", []) for cell in sheet["cells"]] if value["nbformat"] < 4 else []
    return any(cell["cell_type"] == "code" and "source" in cell for cell in cells)


def without_aside(answer):
    """Our bytes without the metadata that we preserve and nbformat drops."""
    notices = {
        "cell_id",
        "unknown_cell_key",
        "unknown_notebook_key",
        "notebook_metadata",
        "upgraded",
        "worksheets_flattened",
    }
    if "notarium" not in answer["ipynb"] or not has(answer, *notices):
        return answer["ipynb"]
    nb = nbformat.reads(answer["ipynb"], as_version=4)
    for part in [nb, *nb["cells"]]:
        part["metadata"].pop("notarium", None)
    return nbformat.writes(nb) + "\n"


def byte_differences(expected, got):
    if expected != got:
        at = next(
            (i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got))
        )
        around = slice(max(0, at - 60), at + 60)
        yield f"bytes differ at {at}: {got[around]!r} instead of {expected[around]!r}"


def has(answer, *codes):
    return any(notice["code"] in codes for notice in answer["notices"])


def has_repairs(answer):
    """True if we made repairs that nbformat does not make. Then the bytes differ intentionally."""
    return has(
        answer,
        "line_endings",
        "not_finite",
        "lone_surrogate",
        "empty_field_dropped",
        "output_upgraded",
        "kernelspec_completed",
        "stale_aside",
        "execution_count",
    )


def write_expected():
    for path in sorted(FIXTURES.glob("*.ipynb")):
        text = path.read_text(encoding="utf8")
        answer = ours([text])[0]
        expected = their_bytes(theirs(text)[0], answer)
        if expected is not None:
            (FIXTURES / "expected" / path.name).write_text(expected, encoding="utf8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if "NOTARIUM_BLESS" in os.environ:
        return write_expected()
    files = sorted(FIXTURES.glob("*.ipynb")) + options.files
    cases = [(path.name, path.read_text(encoding="utf8")) for path in files]
    cases += odd.named(FIXTURES)
    cases += odd_random.generated(random.Random(options.seed), options.cases, FIXTURES)
    tally = dict.fromkeys(["both read", "both refuse", "only we read", "only we refuse", "same bytes"], 0)
    failed = 0
    for (name, text), answer in zip(cases, ours([text for _, text in cases]), strict=False):
        found = list(check(name, text, answer, tally))
        failed += bool(found)
        for line in found[:3]:
            print(f"FAIL {name}: {line[:600]}")
    print(
        f"{len(cases)} cases, {len(cases) - failed} agree; "
        + ", ".join(f"{key} {count}" for key, count in tally.items())
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
