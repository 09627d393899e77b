"""Cells as black writes them, with the settings of the working folder's `pyproject.toml`. `ANSWER` is an object whose only format is
the answer. Nothing of the cells runs.
"""

import ast

MAX_SECONDS = 5


class Answer:
    """Goes out as one MIME type."""

    def __init__(self, content):
        self.content = content

    def __repr__(self):
        return "<an answer for Notarium>"

    def _repr_mimebundle_(self, **_):
        return {MIME: self.content}


def mode_of(black):
    """As `black` on the command line would find it; a file that cannot be read is none."""
    chosen = {}
    try:
        # It remembers where it found one: a kernel lives longer than a file.
        for each in list(vars(black.files).values()):
            if hasattr(each, "cache_clear"):
                each.cache_clear()
        found = black.find_pyproject_toml((os.getcwd(),))
        read = black.parse_pyproject_toml(found) if found else {}
        if "line_length" in read:
            chosen["line_length"] = int(read["line_length"])
        chosen["string_normalization"] = not read.get("skip_string_normalization", False)
        chosen["magic_trailing_comma"] = not read.get("skip_magic_trailing_comma", False)
        chosen["preview"] = bool(read.get("preview", False))
    except Exception:
        chosen = {}
    return black.Mode(is_ipynb=True, **chosen)


def formatted(black, mode, source):
    """Nothing where black cannot read the cell, or leaves it alone: other languages, magics without `black[jupyter]`."""
    # It would write the question in another form.
    if re.search(r"\?\s*$", source, re.M):
        return None
    try:
        return black.format_cell(source, fast=False, mode=mode)
    except black.NothingChanged:
        return source if is_python(source) else None
    except ImportError:
        return plainly(black, mode, source)
    except Exception:
        return None


def plainly(black, mode, source):
    """Without black's extra for notebooks: what has no magics and shows its last value."""
    if not is_python(source) or source.rstrip().endswith(";"):
        return None
    try:
        return black.format_str(source, mode=mode).rstrip("\n")
    except Exception:
        return None


def is_python(source):
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def all_formatted(cells):
    try:
        import black
    except Exception:
        return {"cells": []}
    mode = mode_of(black)
    return {
        "formatter": f"black {black.__version__}",
        "cells": [formatted(black, mode, source) for source in cells],
    }


try:
    with time_limit(MAX_SECONDS):
        ANSWER = Answer({"ok": all_formatted(**json.loads(ARGUMENTS))})
except (TooSlow, KeyboardInterrupt):
    ANSWER = Answer({"refused": {"kind": "slow", "message": "Formatting takes too long. Format fewer cells at once."}})
except Exception as error:
    ANSWER = Answer({"refused": {"kind": "failed", "message": f"The kernel can't format: {type(error).__name__}."}})
