"""`get_variables` and `inspect_variable`: what the kernel holds, in a size that a model can read.

`get_variables` runs no code of the user's types but `shape` of well-known libraries. `inspect_variable` asks one object
for its `repr`, within seconds and characters.
"""

import contextlib
import difflib
import inspect
import itertools
import re
import signal
import sys
import types
import unicodedata

MAX_LISTED = 200
MAX_NAME = 100
MAX_TEXT = 500
MAX_SHORT = 100
MAX_ITEMS = 20
MAX_COLUMNS = 100
HEAD_ROWS = 5
HEAD_COLUMNS = 20
MAX_STATISTICS = 10_000_000
REPR_SECONDS = 5
CONTAINERS = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
CALLABLES = (type, types.FunctionType, types.BuiltinFunctionType)
LIBRARIES = {"numpy", "pandas", "polars", "torch", "tensorflow", "jax", "jaxlib", "xarray", "scipy", "pyarrow", "cupy"}
SECRET_FIELD = re.compile(
    r"(['\"]?\w*(?:" + SECRET_NAME.pattern + r")\w*['\"]?\s*[=:]\s*)(?:b?'[^']*(?:'|\Z)|b?\"[^\"]*(?:\"|\Z))", re.I
)


class TooSlow(BaseException):
    """No `except Exception` in somebody's `__repr__` can swallow it."""


def too_slow(*_):
    raise TooSlow


@contextlib.contextmanager
def time_limit(seconds):
    """Raises `TooSlow` in code that takes longer, where Python can interrupt it at all."""
    try:
        handler = signal.getsignal(signal.SIGALRM)
        signal.signal(signal.SIGALRM, too_slow if handler is not None else None)
    except (AttributeError, TypeError, ValueError):  # no such signal, somebody else's, or not the main thread
        yield
        return
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)


def user_names():
    """The user's own names, in the order of their definition."""
    hidden = getattr(SHELL, "user_ns_hidden", {})
    names = ((name, value) for name, value in list(SHELL.user_ns.items()) if isinstance(name, str))
    return {
        name: value
        for name, value in names
        if not name.startswith("_") and not (name in hidden and hidden[name] is value)
    }


def has_type(value, kinds):
    """As `isinstance`, which asks a proxy for its `__class__` and may so run anything."""
    return issubclass(type(value), kinds)


def type_name(value):
    kind = type(value)
    module = type.__dict__["__module__"].__get__(kind)
    name = type.__dict__["__qualname__"].__get__(kind)
    is_plain = module in ("builtins", "__main__") or not isinstance(module, str)
    return (name if is_plain else f"{module}.{name}")[:MAX_NAME]


def is_a(value, library, *names):
    """Whether it is of one of these types of a library that has been imported."""
    module = sys.modules.get(library)
    kinds = tuple(kind for kind in (getattr(module, name, None) for name in names) if isinstance(kind, type))
    return bool(kinds) and has_type(value, kinds)


def is_secret(name, value):
    return bool(SECRET_NAME.search(name)) or has_type(value, type(os.environ))


def cut(text, limit):
    return text if len(text) <= limit else text[:limit] + "…[truncated]"


def sizes(value):
    """`shape` and `bytes` of arrays and tables, `length` of containers; what is not cheap is left out."""
    found = {}
    for kind in CONTAINERS:
        if has_type(value, kind):
            return {"length": kind.__len__(value)}
    if any(str(getattr(base, "__module__", "")).split(".")[0] in LIBRARIES for base in type(value).__mro__):
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and all(type(length) is int for length in shape):
            found["shape"] = list(shape)
        size = getattr(value, "nbytes", None)
        if is_a(value, "pandas", "DataFrame"):
            size = int(value.memory_usage(deep=False).sum())
        if type(size) is int:
            found["bytes"] = size
    return found


def plain(value, limit):
    """Text of a value whose type is Python's own, else nothing."""
    kind = type(value)
    if value is None or kind in (bool, float, complex, range):
        return repr(value)
    if kind is int:
        return repr(value) if value.bit_length() <= 256 else f"<int of {value.bit_length()} bits>"
    if kind is str:
        return repr(value) if len(value) <= limit else repr(value[:limit]) + "…[truncated]"
    return None


def module_name(value):
    """A module's name, whatever its own `__getattr__` does."""
    name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
    return name[:MAX_NAME] if isinstance(name, str) else "?"


def signature(value):
    """The parameters; of their defaults only harmless ones, so that no `repr` runs and nothing secret is shown."""

    class Dots:
        __repr__ = staticmethod(lambda: "...")

    def shown(parameter):
        default = parameter.default
        is_open = type(default) in (bool, int, float, str, type(None)) and not SECRET_NAME.search(parameter.name)
        is_open = is_open and (type(default) is not str or len(default) <= 40)
        return parameter if default is parameter.empty or is_open else parameter.replace(default=Dots())

    try:
        whole = inspect.signature(value)
        parameters = [shown(parameter) for parameter in whole.parameters.values()]
        return cut(str(whole.replace(parameters=parameters)), MAX_TEXT)
    except Exception:
        return "(...)"


def described(name, value):
    """A function or class."""
    entry = {"name": name[:MAX_NAME], "kind": "class" if has_type(value, type) else "function"}
    with contextlib.suppress(Exception):  # a metaclass can do anything
        doc, module = value.__doc__, value.__module__
        lines = doc.splitlines() if isinstance(doc, str) else []
        first = next((line.strip() for line in lines if line.strip()), "")
        entry.update(signature=signature(value), doc=cut(first, 200))
        if isinstance(module, str) and module != "__main__":
            entry["from"] = module[:MAX_NAME]
    return {key: part for key, part in entry.items() if part}


def variable(name, value):
    entry = {"name": name[:MAX_NAME], "type": type_name(value)}
    if is_secret(name, value):
        return dict(entry, preview=HIDDEN)
    try:
        entry.update(sizes(value))
        preview = plain(value, 80)
    except (Exception, KeyboardInterrupt) as error:
        preview = f"<its size cannot be told: {type(error).__name__}>"
    return entry if preview is None else dict(entry, preview=preview)


def get_variables():
    variables, modules, functions = [], [], []
    for name, value in user_names().items():
        if has_type(value, types.ModuleType):
            modules.append({"name": module_name(value), "as": name[:MAX_NAME]})
        elif has_type(value, CALLABLES):
            functions.append((name, value))
        else:
            variables.append((name, value))
    listed = {"variables": variables, "modules": modules, "functions": functions}
    more = {kind: len(found) - MAX_LISTED for kind, found in listed.items() if len(found) > MAX_LISTED}
    # Those defined last are what the work is about.
    found = {
        "variables": [variable(name, value) for name, value in variables[-MAX_LISTED:]],
        "modules": modules[-MAX_LISTED:],
        "functions": [described(name, value) for name, value in functions[-MAX_LISTED:]],
    }
    return dict(found, more=more) if more else found


def own_text(value, limit):
    """What the object says of itself, whatever its `__repr__` does."""
    try:
        with time_limit(REPR_SECONDS):
            text = repr(value)
            return SECRET_FIELD.sub(r"\1" + HIDDEN, cut(text, limit))
    except (TooSlow, KeyboardInterrupt):
        return f"<{type_name(value)}: its repr takes too long>"
    except Exception as error:
        return f"<{type_name(value)}: its repr raises {type(error).__name__}>"


def short(value):
    """A value inside another one."""
    text = plain(value, MAX_SHORT)
    if text is not None:
        return text
    for kind in CONTAINERS:
        if has_type(value, kind):
            return f"<{type_name(value)} of {kind.__len__(value)}>"
    if is_a(value, "numpy", "generic") or is_a(value, "pandas", "Timestamp", "Timedelta"):
        return str(value)[:MAX_SHORT]
    size = sizes(value)
    if size.get("shape"):
        return f"<{type_name(value)} {size['shape']}>"
    return own_text(value, MAX_SHORT)


def field(name, value):
    """A value that stands under a name."""
    return HIDDEN if is_secret(name, value) else short(value)


def table(rows, count, names, kinds):
    """A table's columns and the beginning of its rows."""
    columns = [{"name": cut(str(name), MAX_SHORT), "dtype": str(kind)} for name, kind in zip(names, kinds)]
    preview = f"[DataFrame: {count} rows x {len(columns)} cols]"
    head = [[field(column["name"], value) for column, value in zip(columns[:HEAD_COLUMNS], row)] for row in rows]
    found = {"preview": preview, "columns": columns[:MAX_COLUMNS], "head": head}
    more = len(columns) - MAX_COLUMNS
    return dict(found, more_columns=more) if more > 0 else found


def pandas_table(value):
    # By place: two columns may have one name.
    head = value.iloc[:HEAD_ROWS, :HEAD_COLUMNS]
    rows = [[head.iat[row, column] for column in range(head.shape[1])] for row in range(head.shape[0])]
    return table(rows, len(value), list(value.columns), list(value.dtypes))


def polars_table(value):
    return table(value.head(HEAD_ROWS).rows(), value.height, value.columns, value.dtypes)


def series(value):
    head = [field(str(value.name), part) for part in list(value.head(HEAD_ROWS))]
    return {"preview": f"[Series: {len(value)} values]", "dtype": str(value.dtype), "head": head}


def array(value):
    found = {"preview": f"[{type_name(value)}: {'x'.join(map(str, value.shape)) or 'scalar'} {value.dtype}]"}
    found["dtype"] = str(value.dtype)
    if 0 < value.size <= MAX_STATISTICS and value.dtype.kind in "biuf":
        found.update(min=short(value.min().item()), max=short(value.max().item()))
    found["head"] = [short(part) for part in value.flat[:MAX_ITEMS].tolist()]
    return found


def items_of(items, count):
    return {"items": items, "more": count - len(items)} if count > len(items) else {"items": items}


def mapping(value):
    pairs = itertools.islice(dict.items(value), MAX_ITEMS)
    items = [
        [short(key), HIDDEN if isinstance(key, str) and SECRET_NAME.search(key) else short(part)] for key, part in pairs
    ]
    return items_of(items, dict.__len__(value))


def sequence(value):
    kind = next(kind for kind in (list, tuple, set, frozenset) if has_type(value, kind))
    items = [short(part) for part in itertools.islice(kind.__iter__(value), MAX_ITEMS)]
    return items_of(items, kind.__len__(value))


def contents(value):
    """What a value holds, by its kind."""
    if is_a(value, "pandas", "DataFrame"):
        return pandas_table(value)
    if is_a(value, "polars", "DataFrame"):
        return polars_table(value)
    if is_a(value, "pandas", "Series", "Index") or is_a(value, "polars", "Series"):
        return series(value if hasattr(value, "head") else value.to_series())
    if is_a(value, "numpy", "ndarray"):
        return array(value)
    if has_type(value, str):
        return {"preview": SECRET_FIELD.sub(r"\1" + HIDDEN, cut(str.__str__(value), MAX_TEXT))}
    if has_type(value, dict):
        return mapping(value)
    if has_type(value, (list, tuple, set, frozenset)):
        return sequence(value)
    if has_type(value, (bytes, bytearray)):
        return {"preview": repr(bytes(value[:64])) + ("…[truncated]" if len(value) > 64 else "")}
    return {"preview": plain(value, MAX_TEXT) or own_text(value, MAX_TEXT)}


def inspect_variable(name):
    if not name.isidentifier():
        raise Refused(f"'{name}' is no variable's name: give the name alone, and look inside by running code in a cell")
    name = unicodedata.normalize("NFKC", name)
    if name.startswith("_"):
        raise Refused("names that begin with _ are not shown")
    names = user_names()
    if name not in names:
        close = difflib.get_close_matches(name, list(names), 3)
        hint = f"did you mean {' or '.join(close)}?" if close else "get_variables lists what there is"
        raise Refused(f"the kernel has no variable '{name}': {hint}")
    value = names[name]
    if has_type(value, types.ModuleType):
        return {"name": name, "type": "module", "module": module_name(value)}
    if has_type(value, CALLABLES):
        return described(name, value)
    entry = {"name": name, "type": type_name(value)}
    if is_secret(name, value):
        return dict(entry, preview=HIDDEN)
    try:
        with time_limit(REPR_SECONDS):
            return dict(entry, **sizes(value), **contents(value))
    except (TooSlow, KeyboardInterrupt):
        return dict(entry, preview="<looking at it takes too long>")
    except Exception as error:
        return dict(entry, preview=f"<it cannot be shown: {type(error).__name__}>")
