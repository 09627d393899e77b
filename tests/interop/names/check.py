"""Which names cells read and write, told by Notarium and by Python's own `symtable`: they must agree.

    cargo build -p notarium-judge --example names_of
    python tests/interop/names/check.py target/debug/examples/names_of [FILE.ipynb | FOLDER of .py] …

Cells of notebooks are taken as they are, modules are cut into pieces of a few statements. Without files and folders:
the notebooks of the tests and the standard library of this Python. `--expected FILE` writes what Python says of 150
of them, for the tests of Rust.

`symtable` knows no order, so this is compared:

- what a cell binds or deletes (`writes`) is the same set of names;
- what it reads is among the names that it refers to, and what it refers to and does not read it binds itself.

Left out are cells that Python cannot parse, lines of IPython's own syntax (`!ls`, `%matplotlib`), and the differences that
`protocol/reactivity.md` lists (`is_odd`, `in_classes`).
"""

import argparse
import ast
import builtins
import json
import re
import subprocess
import symtable
import sys
import sysconfig
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parents[3]
MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)
#: Names that a module and IPython define without any import.
GIVEN = set(dir(builtins)) | {
    *("__file__", "__name__", "__doc__", "__package__", "__spec__", "__loader__", "__builtins__", "__class__"),
    *("_", "__", "___", "_i", "_ih", "_oh", "_dh", "In", "Out", "get_ipython", "display", "exit", "quit"),
    *("copyright", "credits", "license", "help", "_IncompleteInputError", "PythonFinalizationError"),
}
#: Maximum size of code that is parsed.
MAX_BYTES = 100_000
#: Count of statements in a piece of a module.
STATEMENTS = 6


def cells_of_notebook(path):
    cells = json.loads(path.read_text()).get("cells", [])  # a notebook of nbformat 3 has none
    for cell in cells:
        source = "".join(cell.get("source", ""))
        if cell.get("cell_type") == "code" and not source.lstrip().startswith("%%"):
            yield MAGIC.sub("", source)


def cells_of_module(path):
    try:
        text = path.read_text()
        body = ast.parse(text).body
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        return
    lines = text.splitlines(keepends=True)
    for at in range(0, len(body), STATEMENTS):
        part = body[at : at + STATEMENTS]
        first = min([part[0].lineno, *(d.lineno for d in getattr(part[0], "decorator_list", []))])
        if part[0].col_offset == 0:
            yield "".join(lines[first - 1 : part[-1].end_lineno])


def collect(paths, limit):
    for path in paths:
        if path.suffix == ".ipynb":
            yield from cells_of_notebook(path)
        else:
            modules = sorted(path.rglob("*.py"))
            for module in modules[:: max(1, len(modules) // limit)]:
                yield from cells_of_module(module)


def told_by_python(source):
    """Names that the cell binds and refers to at module level. None if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    binds, refers = set(), set()
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
            binds.add(name)
        if symbol.is_referenced():
            refers.add(name)
    # `symtable` counts a bare `x: int` as assigned, but it binds nothing.
    bare = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name)
    }
    plain = bound_otherwise(tree)
    binds -= {name for name in bare if name not in plain}
    inner(table, binds, refers)
    deleted = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    added = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    # Deleted names and targets of `+=` are also read, which `symtable` does not report.
    refers |= (deleted & {symbol.get_name() for symbol in table.get_symbols()}) | (added & binds)
    return {"binds": sorted(binds), "refers": sorted(refers - GIVEN), "classes": sorted(in_classes(table))}


def bound_otherwise(tree):
    """Names that are bound by more than a bare annotation."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is None:
            node.target = ast.Constant(0)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
    return names


def is_odd(source):
    """True if the results differ intentionally or by an error of `symtable`."""
    strings = len(re.findall(r"[A-Za-z][\"']", source))
    # Unevaluated annotations count as read; 1,500 strings are too many; `symtable` confuses a function `top` with the module.
    return "from __future__ import annotations" in source or strings > 1500 or re.search(r"def top\(", source)


def in_classes(table):
    """Names that a class binds and also reads: `name = name` reads the module's."""
    names = set()
    for child in table.get_children():
        if child.get_type() == "class":
            names |= {it.get_name() for it in child.get_symbols() if it.is_local() and it.is_referenced()}
        names |= in_classes(child)
    return names


def inner(table, binds, refers):
    for child in table.get_children():
        for symbol in child.get_symbols():
            if symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                    binds.add(symbol.get_name())
                if symbol.is_referenced():
                    refers.add(symbol.get_name())
        inner(child, binds, refers)


def difference(ours, theirs):
    reads, writes = set(ours["reads"]) - GIVEN, set(ours["writes"])
    binds, refers = set(theirs["binds"]), set(theirs["refers"])
    if writes != binds:
        return f"writes {sorted(writes ^ binds)}"
    if not reads <= refers | set(theirs["classes"]):
        return f"reads {sorted(reads - refers)}, which it does not refer to"
    if not refers - reads <= writes:
        return f"does not read {sorted(refers - reads - writes)}"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names_of", type=Path)
    arguments.add_argument("paths", nargs="*", type=Path)
    arguments.add_argument("--modules", type=int, default=1500, help="of each folder about so many")
    arguments.add_argument("--expected", type=Path)
    given = arguments.parse_args()
    notebooks = sorted((HERE / "tests/fixtures/notebooks").glob("*.ipynb"))
    paths = given.paths or [*notebooks, Path(sysconfig.get_path("stdlib"))]
    sources = sorted({source for source in collect(paths, given.modules) if 0 < len(source.encode()) <= MAX_BYTES})
    lines = "".join(json.dumps(source) + "\n" for source in sources)
    ran = subprocess.run([given.names_of], input=lines, capture_output=True, text=True, check=True)
    print(ran.stderr.strip())
    compared, expected, failures = 0, [], []
    for source, line in zip(sources, ran.stdout.splitlines(), strict=True):
        ours, theirs = json.loads(line), told_by_python(source)
        if theirs is None or is_odd(source):
            continue
        compared += 1
        found = "does not parse here" if ours is None else difference(ours, theirs)
        if found:
            failures.append(f"--- {found}\n{source[:600]}")
        elif len(source) < 600 and not theirs["classes"]:
            expected.append({"source": source, "binds": theirs["binds"], "refers": theirs["refers"]})
    print("\n".join(failures[:20]))
    print(f"{compared} cells compared, {len(failures)} differ")
    if given.expected:
        every = max(1, len(expected) // 150)
        given.expected.write_text("".join(json.dumps(case) + "\n" for case in expected[::every]))
    sys.exit(bool(failures) or compared < 2000)


if __name__ == "__main__":
    main()
