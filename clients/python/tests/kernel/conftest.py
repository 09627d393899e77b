"""Fixtures: an empty registry for each test, and the path to the package if it is not installed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from notarium_kernel.functions import registry
from notarium_kernel.progress import Progress


@pytest.fixture(autouse=True)
def no_functions(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_told", [])
    monkeypatch.setattr(Progress, "_opened_at", float("-inf"))
