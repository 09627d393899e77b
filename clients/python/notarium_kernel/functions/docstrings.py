"""Parses descriptions of a function and its parameters out of a docstring: styles of Google, NumPy and Sphinx."""

from __future__ import annotations

import inspect
import re

_PARAMETERS = {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"}
_GOOGLE_HEADING = re.compile(r"([A-Z][A-Za-z ]*):\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\((.*?)\))?\s*:\s*(.*)")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SPHINX_FIELD = re.compile(r":(\w+)\s*([^:]*):\s*(.*)")
_SPHINX_PARAMETERS = {"param", "parameter", "arg", "argument", "key", "keyword"}
_SPHINX_TYPES = {"type", "rtype", "vartype"}


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """`(description, {parameter: description})`: the description is all but the sections of parameters."""
    if not docstring:
        return "", {}
    lines = inspect.cleandoc(docstring).splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        at = (
            _numpy(lines, at, parameters)
            or _google(lines, at, parameters)
            or _sphinx(lines, at, parameters, kept)
            or _keep(lines, at, kept)
        )
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return description, {name: text for name, text in parameters.items() if text}


def _keep(lines: list[str], at: int, kept: list[str]) -> int:
    kept.append(lines[at])
    return at + 1


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_rule(lines: list[str], at: int) -> bool:
    return at < len(lines) and re.fullmatch(r"\s*-{3,}\s*", lines[at]) is not None


def _block(lines: list[str], at: int, depth: int) -> int:
    """End of the lines that are blank or deeper than `depth`."""
    while at < len(lines) and (not lines[at].strip() or _indentation(lines[at]) > depth):
        at += 1
    return at


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _google(lines: list[str], at: int, parameters: dict[str, str]) -> int | None:
    match = _GOOGLE_HEADING.fullmatch(lines[at])
    if match is None or match[1].lower() not in _PARAMETERS:
        return None
    end = _block(lines, at + 1, 0)
    inside = [line for line in lines[at + 1 : end] if line.strip()]
    depth = min((_indentation(line) for line in inside), default=0)
    name = None
    for line in inside:
        entry = _GOOGLE_ENTRY.fullmatch(line.strip()) if _indentation(line) == depth else None
        if entry is not None:
            name = entry[1]
            parameters[name] = entry[3].strip()
        elif name is not None:
            parameters[name] = _joined([parameters[name], line])
    return end


def _numpy(lines: list[str], at: int, parameters: dict[str, str]) -> int | None:
    if lines[at].strip().lower() not in _PARAMETERS or not _is_rule(lines, at + 1):
        return None
    at += 2
    while at < len(lines):
        line = lines[at].strip()
        if line and _is_rule(lines, at + 1):
            break
        entry = _NUMPY_ENTRY.fullmatch(line) if line and _indentation(lines[at]) == 0 else None
        if line and entry is None:
            break
        end = _block(lines, at + 1, 0)
        if entry is not None:
            text = _joined(lines[at + 1 : end])
            for name in entry[1].split(","):
                parameters[name.strip().lstrip("*")] = text
        at = max(end, at + 1)
    return at


def _sphinx(lines: list[str], at: int, parameters: dict[str, str], kept: list[str]) -> int | None:
    match = _SPHINX_FIELD.fullmatch(lines[at].strip())
    if match is None:
        return None
    field, subject, text = match.groups()
    is_known = (
        field in _SPHINX_PARAMETERS or field in _SPHINX_TYPES or field in {"return", "returns", "raises", "raise"}
    )
    if not is_known:
        return None
    end = _block(lines, at + 1, _indentation(lines[at]))
    text = _joined([text, *lines[at + 1 : end]])
    if field in _SPHINX_PARAMETERS and subject.split():
        parameters[subject.split()[-1].lstrip("*")] = text
    elif field not in _SPHINX_PARAMETERS and field not in _SPHINX_TYPES:
        heading = "Returns" if field.startswith("return") else f"Raises {subject}".strip()
        kept.append(f"{heading}: {text}")
    return end
