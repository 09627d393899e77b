"""Runs the examples of docstrings, the README and the example programs."""

import doctest
import inspect
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import notarium
import pytest
from notarium import blocking, text

from .conftest import Server

HERE = Path(__file__).resolve().parents[1]
FLAGS = doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS


def documented() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for module in (blocking, text) for test in finder.find(module) if test.examples]


@pytest.mark.parametrize("test", documented(), ids=lambda test: test.name)
def test_the_examples_of_docstrings_work(test: doctest.DocTest, nt: notarium.Client, nb: notarium.Notebook) -> None:
    said: list[str] = []
    test.globs.update(nt=nt, nb=nb, notarium=notarium)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    assert result.failed == 0, "".join(said)


def test_every_public_name_says_what_it_is() -> None:
    for name in notarium.__all__:
        value = getattr(notarium, name)
        assert isinstance(value, str) or inspect.getdoc(value), name
        if inspect.isclass(value):
            for member, found in vars(value).items():
                assert member.startswith("_") or not callable(found) or inspect.getdoc(found), f"{name}.{member}"


def test_what_is_derived_is_fresh() -> None:
    done = subprocess.run([sys.executable, HERE / "generate.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_import_needs_nothing_and_costs_nothing() -> None:
    code = "import sys, notarium; print([name for name in ('websockets', 'httpx', 'asyncio') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_code_of_an_error_has_its_exception() -> None:
    from notarium.errors import RateLimited, rejection

    page = (
        (HERE.parents[1] / "protocol" / "errors.md")
        .read_text("utf8")
        .split("<!-- rejections -->")[1]
        .split("<!-- end -->")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.M)
    assert len(rows) > 40
    for code, status in rows:
        error, by_status = (
            rejection({"code": code, "message": "m"}),
            rejection({"code": "new", "message": "m"}, int(status)),
        )
        assert type(error) is type(by_status), code
        assert (error.code, error.message) == (code, "m")
    details = {"kind": "retry_after", "seconds": 12}
    refused = rejection({"code": "rate_limited", "message": "m", "details": details})
    assert isinstance(refused, RateLimited) and (refused.details, refused.retry_after) == (details, 12)
    assert rejection({"code": "conflict", "message": "m"}).details is None


# --- the example programs ---


def run_example(server: Server, name: str, *arguments: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, HERE / "examples" / name, *map(str, arguments)]
    environment = {**server.environment, "PYTHONPATH": str(HERE)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def test_the_bot_answers_and_ends_quietly(server: Server, nb: notarium.Notebook) -> None:
    cell = nb.append("a = 1\nb = 2")
    environment = {**server.environment, "PYTHONPATH": str(HERE)}
    bot = subprocess.Popen(
        [sys.executable, HERE / "examples" / "bot.py", nb.id], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert bot.stdout is not None
    assert bot.stdout.readline() == "listening in Test\n"
    following = nb.events(follow=True)
    thread = cell.comment("@bot how many lines?")
    while [comment.text for comment in thread.comments][1:] != ["This cell has 2 lines."]:
        next(following)
    bot.send_signal(signal.SIGINT)
    assert bot.stdout.read() == "bye\n"
    assert bot.wait(timeout=20) == 0


def test_the_gate_passes_and_fails(server: Server, tmp_path: Path) -> None:
    def file(source: str) -> Path:
        cell = {
            "id": "a",
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        path = tmp_path / "check.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}))
        return path

    good = run_example(server, "gate.py", file("assert limit == 3"), "limit=3")
    assert (good.returncode, "passed" in good.stdout) == (0, True), good.stderr
    bad = run_example(server, "gate.py", file("assert limit == 3"), "limit=4")
    assert bad.returncode == 1
    assert "AssertionError" in bad.stderr


def test_the_record_goes_to_parquet(server: Server, nb: notarium.Notebook, tmp_path: Path) -> None:
    import polars

    nb.append("1")
    done = run_example(server, "to_parquet.py", nb.id, tmp_path / "record.parquet")
    assert done.stdout == "2 events of Test\n", done.stderr
    assert polars.read_parquet(tmp_path / "record.parquet")["type"].to_list() == ["NotebookCreated", "CellInserted"]


def test_the_dashboard_shows_runs(server: Server, nb: notarium.Notebook) -> None:
    nb.append("print('x')").run().wait(60)
    done = run_example(server, "dashboard.py", nb.id, "--once")
    assert "ok" in done.stdout, done.stderr
    assert "print('x')" in done.stdout


def test_a_record_is_proved_without_our_code(server: Server, nb: notarium.Notebook, tmp_path: Path) -> None:
    nb.append("price = '{\"payload\": 1}' # 😀").comment("why?")
    headers = {"Authorization": f"Bearer {server.token}", "Accept": "application/x-ndjson"}
    record = httpx.get(f"{server.url}/api/notebooks/{nb.id}/events", headers=headers).text
    path = tmp_path / "record.jsonl"
    path.write_text(record, "utf8")
    done = run_example(server, "verify_record.py", path)
    assert done.stdout == f"{nb.version} events, {nb.verify().hash}\n", done.stderr
    path.write_text(record.replace("price", "prise"), "utf8")
    assert run_example(server, "verify_record.py", path).stdout == "the record breaks at version 2\n"
    nb.redact("it leaked", text="price")
    record = httpx.get(f"{server.url}/api/notebooks/{nb.id}/events", headers=headers).text
    path.write_text(record, "utf8")
    assert run_example(server, "verify_record.py", path).stdout == f"{nb.version} events, {nb.verify().hash}\n"
    path.write_text(record.replace("█", "X", 1), "utf8")
    assert run_example(server, "verify_record.py", path).stdout == "no redaction names what is at version 2\n"
    lines = (HERE / "examples" / "verify_record.py").read_text("utf8").splitlines()
    assert len(lines) <= 60
    assert "import notarium" not in "\n".join(lines)


def test_a_signed_head_is_verified_without_our_code(server: Server, nb: notarium.Notebook, tmp_path: Path) -> None:
    nb.append("1")
    headers = {"Authorization": f"Bearer {server.token}"}
    note = httpx.get(f"{server.url}/api/notebooks/{nb.id}/signed-head", headers=headers).text
    key = httpx.get(f"{server.url}/.well-known/notarium-keys").json()["keys"][-1]["key"]
    path = tmp_path / "head.txt"
    path.write_text(note, "utf8")
    done = run_example(server, "verify_head.py", path, key)
    assert done.stdout == f"{nb.version}:{nb.verify().hash}\n", done.stderr
    path.write_text(note.replace(f"version {nb.version}", "version 1"), "utf8")
    assert run_example(server, "verify_head.py", path, key).stderr == "this head is not signed with that key\n"
    lines = (HERE / "examples" / "verify_head.py").read_text("utf8").splitlines()
    assert len(lines) <= 65
    assert "import notarium" not in "\n".join(lines)


def test_the_readmes_example_runs(server: Server) -> None:
    readme = (HERE / "README.md").read_text("utf8")
    code = re.findall(r"```python\n(.*?)```", readme, re.S)[0]
    environment = {**server.environment, "PYTHONPATH": str(HERE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "42"
