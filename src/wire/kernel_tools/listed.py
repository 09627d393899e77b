"""The variables as a person's panel shows them: `ANSWER` is an object whose only format is the answer. No code of the user's types
runs but `shape` of well-known libraries.
"""

MAX_PREVIEW = 120
PREVIEWED = 10


class Answer:
    """Goes out as one MIME type."""

    def __init__(self, content):
        self.content = content

    def __repr__(self):
        return "<an answer for Notarium>"

    def _repr_mimebundle_(self, **_):
        return {MIME: self.content}


def is_table(value):
    return is_a(value, "pandas", "DataFrame", "Series") or is_a(value, "polars", "DataFrame", "Series")


def item(value):
    """A value inside another one, without its own words."""
    text = plain(value, 40)
    return f"<{type_name(value)}>" if text is None else text


def beginning(value):
    """What a container or a table begins with."""
    if has_type(value, dict):
        pairs = list(itertools.islice(dict.items(value), PREVIEWED))
        hidden = [isinstance(key, str) and bool(SECRET_NAME.search(key)) for key, _ in pairs]
        shown = [f"{item(key)}: {HIDDEN if secret else item(part)}" for (key, part), secret in zip(pairs, hidden)]
        return "{" + ", ".join(shown) + (", …}" if dict.__len__(value) > len(pairs) else "}")
    for kind, (left, right) in ((list, "[]"), (tuple, "()"), (set, "{}"), (frozenset, "{}")):
        if has_type(value, kind):
            shown = [item(part) for part in itertools.islice(kind.__iter__(value), PREVIEWED)]
            return left + ", ".join(shown) + (", …" if kind.__len__(value) > len(shown) else "") + right
    if is_a(value, "pandas", "DataFrame") or is_a(value, "polars", "DataFrame"):
        return ", ".join(str(name) for name in list(value.columns[:PREVIEWED]))
    if is_a(value, "pandas", "Series") or is_a(value, "polars", "Series"):
        return str(value.dtype)
    if is_a(value, "numpy", "ndarray"):
        return f"{value.dtype}: " + ", ".join(item(part) for part in value.flat[:PREVIEWED].tolist())
    if has_type(value, (bytes, bytearray)):
        return repr(bytes(value[:40]))
    return None


def shown(name, value):
    entry = variable(name, value)
    preview = entry.get("preview")
    if preview != HIDDEN:
        if is_table(value):
            entry["is_table"] = True
            if len(value.shape) == 1:
                entry["shape"] = [len(value)]
        try:
            with time_limit(1):
                preview = beginning(value) if preview is None else preview
        except (Exception, TooSlow) as error:
            preview = f"<it cannot be shown: {type(error).__name__}>"
        if "bytes" not in entry and type(value) in (*CONTAINERS, int, float, bool, complex):
            entry["bytes"] = sys.getsizeof(value)
    if preview is not None:
        entry["preview"] = cut(SECRET_FIELD.sub(r"\1" + HIDDEN, preview), MAX_PREVIEW).replace("…[truncated]", "…")
    return entry


def listed():
    found = [
        (name, value)
        for name, value in user_names().items()
        if not has_type(value, types.ModuleType) and not has_type(value, CALLABLES)
    ]
    last = [shown(name, value) for name, value in found[-MAX_LISTED:]]
    return {"variables": last, "left_out": max(0, len(found) - MAX_LISTED)}


try:
    ANSWER = Answer({"ok": masked(listed(), secret_values())})
except (Exception, TooSlow) as error:
    ANSWER = Answer(
        {"refused": {"kind": "failed", "message": f"The variables can't be listed: {type(error).__name__}."}}
    )
