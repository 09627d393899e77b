"""No circle of imports between modules, counting those within functions and those for type checkers alone."""

import ast
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[1]


def modules(root: Path) -> dict[str, Path]:
    """Files of the modules below a folder, by name. A package is named without `__init__`."""
    names = {path: path.relative_to(root).with_suffix("").parts for path in root.rglob("*.py")}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in names.items()}


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Names of the known modules that a module imports anywhere in its text."""
    found: set[str] = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            # `from package import name` imports the module `name`, if there is one, and the package otherwise.
            whole = {alias.name: f"{home}.{alias.name}" for alias in node.names}
            found |= {full if full in known else home for full in whole.values()}
    return found & known.keys() - {name}


def circles(root: Path, *packages: str) -> list[list[str]]:
    """Groups of modules of which each imports all others of its group, directly or through them."""
    known = {name: path for name, path in modules(root).items() if name.split(".")[0] in packages}
    graph = {name: imports(name, path, known) for name, path in known.items()}

    def reached(start: str) -> set[str]:
        found, ahead = set[str](), [start]
        while ahead:
            new = graph[ahead.pop()] - found
            found |= new
            ahead += new
        return found

    reach = {name: reached(name) for name in graph}
    groups = {frozenset(other for other in reach[name] if name in reach[other]) for name in graph}
    return sorted(sorted(group) for group in groups if group)


def test_no_modules_import_each_other() -> None:
    assert circles(CLIENT, "notarium", "notarium_kernel") == []


def test_circles_are_found_also_in_functions_and_for_type_checkers(tmp_path: Path) -> None:
    files = {
        "one/__init__.py": "",
        "one/first.py": "from . import second",
        "one/second.py": "def f():\n    from .deep.third import g",
        "one/deep/__init__.py": "",
        "one/deep/third.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from ..first import h",
        "one/outside.py": "import os\nimport one.first",
        "two.py": "import one.outside",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert circles(tmp_path, "one", "two") == [["one.deep.third", "one.first", "one.second"]]
    (tmp_path / "one/deep/third.py").write_text("import os")
    assert circles(tmp_path, "one", "two") == []
