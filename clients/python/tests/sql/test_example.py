"""The README's example at a terminal: `make example` without the installation."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from .conftest import found
from .test_end_to_end import BINARY, ROOT

PATIENCE_SECONDS = 240


class Terminal:
    def __init__(self, command, home, folder):
        ours, theirs = pty.openpty()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder, start_new_session=True
        )
        os.close(theirs)
        self.keys, self.shown, self.read = ours, "", 0

    def until(self, words: str) -> str:
        """Returns the output up to these words, since the previous call."""
        end, begin = time.monotonic() + PATIENCE_SECONDS, self.read
        while words not in self.shown[begin:]:
            ready, _, _ = select.select([self.keys], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{words!r} did not come: {self.shown}"
            try:
                self.shown += re.sub(
                    r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(self.keys, 65536).decode("utf-8", "replace")
                )
            except OSError:
                pytest.fail(f"it ended before {words!r}: {self.shown}")
        self.read = self.shown.index(words, begin) + len(words)
        return self.shown[begin : self.read]

    def say(self, words: str) -> None:
        os.write(self.keys, words.encode())


@pytest.fixture
def terminal(tmp_path):
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not built: cargo build")
    if not found("postgres"):
        pytest.skip("PostgreSQL is not installed: scripts/need-postgresql says how")
    command = [ROOT / "scripts/with-warehouse", BINARY, "demo", "--example", "--data", tmp_path / "demo"]
    home, folder = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    folder.mkdir()
    # Path relative to the folder, as in `make example`.
    terminal = Terminal([*command, "--kernel-path", os.path.relpath(sys.prefix, folder)], home, folder)
    yield terminal
    if terminal.process.poll() is None:
        os.killpg(terminal.process.pid, signal.SIGTERM)
        terminal.process.wait(20)
    os.close(terminal.keys)


def test_two_databases_a_function_and_an_assistant_in_one_reactive_notebook(terminal):
    ran = terminal.until("> Cancel order 7")
    assert "Bremen" in ran and "a chart of the euros by city" in ran, ran
    asked = terminal.until("[q]uit: ")
    assert "cancel_order" in asked, asked
    terminal.say("y\n")
    terminal.until("Order 7 is cancelled.")
    terminal.until("It is your turn")
    terminal.until("> ")
    terminal.say("\x04")
    assert terminal.process.wait(PATIENCE_SECONDS) == 0, terminal.shown
