"""Makes `modules.txt` and `attributes.txt`: what the judge knows to be harmless.

    python -m venv v && v/bin/pip install -r src/judge/known/libraries.txt && v/bin/python src/judge/known/generate.py

`reviewed.txt` says which modules are looked at and which names are withheld or given back by hand. What remains is
looked at by machine: a function is withheld when its code, or that of a function it calls, reaches a primitive that
writes, runs, evaluates, connects or loads. `--why NAME` prints the way to the primitive.
"""

import builtins
import dis
import importlib
import importlib.metadata
import inspect
import os
import pkgutil
import re
import sys
import types
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
os.environ.setdefault("MPLBACKEND", "Agg")
HERE = Path(__file__).parent
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(len))


def reviewed():
    """The sections of reviewed.txt: a list of words each."""
    sections, current = {}, None
    for line in (HERE / "reviewed.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if current is sections.get("older") and line and not line.startswith("["):
            current.append(line)
        elif line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line:
            current.extend(line.split())
    return sections


REVIEWED = reviewed()
GIVEN = set(REVIEWED["given"])
SUSPECT = re.compile("|".join(REVIEWED["withheld-attributes"]))
WITHHELD = re.compile("|".join(REVIEWED["withheld"]))
PURE = re.compile("|".join(REVIEWED["stops"]))


def imported(name):
    try:
        return importlib.import_module(name)
    except BaseException:  # noqa: BLE001 — a part of a library that does not import here offers nothing
        return None


def expanded(words):
    """Modules by name; `a.*` takes the public modules below `a` too."""
    for word in words:
        name = word.removesuffix(".*")
        module = imported(name)
        if module is None:
            print("not here:", name, file=sys.stderr)
            continue
        yield name
        if word.endswith(".*"):
            for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
                parts = found.name.split(".")
                private = any(part.startswith("_") or part in REVIEWED["skipped"] for part in parts)
                if not private and not WITHHELD.fullmatch(found.name) and imported(found.name) is not None:
                    yield found.name


# --- what a function reaches ---

PRIMITIVE_MODULES = set(REVIEWED["primitive-modules"])
PRIMITIVE_BUILTINS = set(REVIEWED["primitive-builtins"])
HARMLESS_PRIMITIVES = set(REVIEWED["harmless-primitives"])
PRIMITIVE_METHODS = set(REVIEWED["primitive-methods"])
SELF_VALUE = object()


class Method:
    """A method that is called on something that nobody knows."""

    def __init__(self, name):
        self.name = name


def text(thing, name):
    value = getattr(thing, name, None)
    return value if isinstance(value, str) else ""


def primitive(thing):
    """The name of a primitive, or None."""
    if isinstance(thing, types.ModuleType):
        return None
    name, module = text(thing, "__name__"), text(thing, "__module__")
    if not name:
        return None
    if getattr(builtins, name, None) is thing:
        return name if name in PRIMITIVE_BUILTINS else None
    module = {"posix": "os", "_io": "io", "_socket": "socket", "_pickle": "pickle"}.get(module, module)
    full = f"{module}.{name}"
    is_primitive = any(module == one or module.startswith(one + ".") for one in PRIMITIVE_MODULES)
    return full if is_primitive and full not in HARMLESS_PRIMITIVES else None


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def resolved(thing, name):
    if issubclass(type(thing), type):
        return inspect.getattr_static(thing, name, None)
    return vars(thing).get(name) if issubclass(type(thing), types.ModuleType) else None


def mentions(function, owner):
    """Objects that the function's code names: globals, attributes of modules and classes, methods of self, imports."""
    for code in codes(function.__code__):
        current, first = None, code.co_varnames[:1]
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                current = function.__globals__.get(name, getattr(builtins, name, None))
                yield name, current
            elif step.opname == "IMPORT_NAME":
                package = function.__globals__.get("__package__") or ""
                module = sys.modules.get(name) if name in sys.modules else sys.modules.get(f"{package}.{name}")
                current = module
            elif step.opname == "IMPORT_FROM":
                yield name, resolved(current, name)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                if name in PRIMITIVE_METHODS:
                    yield name, Method(name)
                current = resolved(owner if current is SELF_VALUE else current, name)
                if current is not None:
                    yield name, current
            elif step.opname == "LOAD_FAST":
                current = SELF_VALUE if (name,) == first and name in ("self", "cls") and owner else None
            elif step.opname not in ("CACHE", "PRECALL"):
                current = None


def plain(thing):
    """The Python function behind decorators, properties and class methods."""
    for _ in range(8):
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        elif isinstance(thing, property):
            thing = thing.fget
        elif type(getattr(thing, "func", None)) is types.FunctionType:
            thing = thing.func
        elif type(getattr(thing, "__wrapped__", None)) in (types.FunctionType, classmethod):
            thing = thing.__wrapped__
        else:
            break
    return thing


WAYS = {}


def way(thing, owner=None, depth=0):
    """How the thing reaches a primitive: a list of names, or None."""
    if type(thing) is Method:
        return [f".{thing.name}"]
    if type(thing).__module__.startswith("polars") and not isinstance(thing, type):
        return None
    found = primitive(thing)
    if found:
        return [found]
    if isinstance(thing, type):
        if PURE.fullmatch(f"{thing.__module__}.{thing.__qualname__}"):
            return None
        init = inspect.getattr_static(thing, "__init__", None)
        return way(init, thing, depth) if isinstance(init, types.FunctionType) else None
    thing = plain(thing)
    if not isinstance(thing, types.FunctionType) or depth > 12:
        return None
    full = f"{thing.__module__}.{thing.__qualname__}"
    if full in WAYS:
        return WAYS[full]
    WAYS[full] = None
    if PURE.fullmatch(full):
        return None
    for name, other in mentions(thing, owner):
        further = way(other, owner if name != text(other, "__name__") else None, depth + 1)
        if further:
            WAYS[full] = [full, *further]
            break
    return WAYS[full]


# --- the lists ---


def is_harmless(full, thing):
    if full in GIVEN:
        return True
    # A metaclass makes classes from names that nobody sees.
    if isinstance(thing, type) and issubclass(thing, type):
        return False
    return not WITHHELD.fullmatch(full) and way(thing) is None


def names_of(name, known_modules):
    module = importlib.import_module(name)
    names = (
        dir(module)
        if name in sys.stdlib_module_names or not hasattr(module, "__all__")
        else set(module.__all__) | set(dir(module))
    )
    for word in sorted(names):
        if word.startswith("_"):
            continue
        try:
            thing = getattr(module, word)
        except BaseException:  # noqa: BLE001
            continue
        if isinstance(thing, types.ModuleType):
            if f"{name}.{word}" in known_modules:
                yield word
            elif thing.__name__ in known_modules and thing.__name__.startswith(name.split(".")[0]):
                yield f"{word}={thing.__name__}"
            continue
        home = text(thing, "__module__") or name
        foreign = home.split(".")[0] in PRIMITIVE_MODULES | {"importlib", "inspect", "gc"}
        if foreign and f"{name}.{word}" not in GIVEN and home != name:
            continue
        if is_harmless(f"{name}.{word}", thing):
            yield word


def classes():
    """All classes that are loaded: those of the libraries, of the standard library and the built-in ones."""
    seen, rest = set(), [object]
    while rest:
        one = rest.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            rest.extend(type.__subclasses__(one))
        except TypeError:
            continue
    return sorted(seen, key=lambda one: (str(one.__module__), one.__qualname__))


SELF = re.compile(r"\bself\.([A-Za-z]\w*)\s*(?:,|=[^=]|:)")


def instance_attributes(roots):
    """`self.name = …` in the sources of the libraries."""
    for root in sorted(roots):
        module = sys.modules.get(root)
        for folder in getattr(module, "__path__", []):
            for path in sorted(Path(folder).rglob("*.py")):
                if "tests" not in path.parts:
                    yield from SELF.findall(path.read_text(errors="replace"))


PRIVATE = re.compile(r"\bself\.(_[a-z]\w*)\s*=\s*(.*)")
HOLDS = re.compile(
    r"\b(sys|os|io|module|modules|\w*loop|open|[pP]open|socket|subprocess|globals|frame|pickle|import\w*|exec|eval|code|getattr|builtins|fp|\w*file|stream|proc|process|session|shell|kernel|client|conn|connection|store|vars|env)\b"
)


def private_attributes():
    """Private names of all classes and of the sources of all modules that are loaded, if they may hold what does harm."""
    names = set()
    for one in classes():
        for name, thing in vars(one).items():
            if (
                isinstance(name, str)
                and re.fullmatch(r"_[a-zA-Z]\w*", name)
                and (isinstance(thing, types.ModuleType) or way(thing, one))
            ):
                names.add(name)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if path.endswith(".py") and Path(path).is_file():
            for name, value in PRIVATE.findall(Path(path).read_text(errors="replace")):
                if HOLDS.search(value):
                    names.add(name)
    return (names - GIVEN) | set(REVIEWED["private"])


def attributes(roots):
    harmless, withheld = set(), {}
    for one in classes():
        root, *parts = str(one.__module__).split(".")
        if (
            root not in roots
            and root not in ("builtins", "_io")
            or {"distutils", "f2py", "testing", "tests"} & set(parts)
        ):
            continue
        for name, thing in vars(one).items():
            if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
                continue
            # Nobody gets hold of an object of these classes without a question.
            is_withheld_class = any(
                (str(one.__module__) + ".").startswith(module + ".") for module in PRIMITIVE_MODULES
            )
            if is_withheld_class and not SUSPECT.fullmatch(name):
                continue
            bad = isinstance(thing, types.ModuleType) or SUSPECT.fullmatch(name) or way(thing, one)
            if bad and name not in GIVEN and f"{one.__module__}.{one.__qualname__}.{name}" not in GIVEN:
                withheld.setdefault(name, f"{one.__module__}.{one.__qualname__}: {bad}")
            else:
                harmless.add(name)
    for name in instance_attributes(roots):
        if SUSPECT.fullmatch(name) and name not in GIVEN:
            withheld.setdefault(name, "instance")
        else:
            harmless.add(name)
    # Classes that no import here has loaded have them too.
    for name in REVIEWED["withheld-attributes"]:
        if name.isidentifier() and name not in GIVEN:
            withheld.setdefault(name, "by hand")
    harmless |= {name for name in GIVEN if "." not in name}
    return harmless - set(withheld), withheld


def wrapped(words, width=118):
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += (" " if line else "") + word
    if line:
        yield line


def header():
    libraries = [line.split("=")[0].strip() for line in (HERE / "libraries.txt").read_text().split()]
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted(libraries))
    return f"# Made by generate.py, not by hand. Python {sys.version.split()[0]}, {versions}\n"


def main():
    modules = sorted({name for name in expanded(REVIEWED["modules"])})
    known = set(modules)
    if len(sys.argv) > 2 and sys.argv[1] == "--why":
        for name in sys.argv[2:]:
            print(name, [way_ for full, way_ in WAYS.items() if full.endswith(name)])
    older = {name: names.split() for name, names in (line.split(":") for line in REVIEWED["older"])}
    names = {name: [*names_of(name, known), *older.pop(name, [])] for name in modules} | older
    lines = [f"{name} {' '.join(dict.fromkeys(names[name]))}".rstrip() for name in sorted(names)]
    roots = {name.split(".")[0] for name in modules}
    harmless, withheld = attributes(roots)
    (HERE / "modules.txt").write_text(header() + "\n".join(lines) + "\n")
    private = private_attributes()
    body = [
        "harmless",
        *wrapped(sorted(harmless)),
        "withheld",
        *wrapped(sorted(withheld)),
        "private",
        *wrapped(sorted(private)),
    ]
    (HERE / "attributes.txt").write_text(header() + "\n".join(body) + "\n")
    if "--review" in sys.argv:
        for name, why in sorted(withheld.items()):
            print(name, why[:300])
        for name in modules:
            listed = set(next(line for line in lines if line.split()[0] == name).split())
            module = importlib.import_module(name)
            for word in getattr(module, "__all__", dir(module)):
                if not word.startswith("_") and word not in listed:
                    thing = getattr(module, word, None)
                    if callable(thing):
                        print("MODULE", f"{name}.{word}", way(thing))


main()
