"""The package `notarium` as kernels have it without an installation: this stands as its `__init__`, with `kernel`, `sql` and `tables` beside it."""

from importlib import import_module

from .kernel import call_function, progress, tool

__all__ = ["call_function", "progress", "tool"]


def __getattr__(name: str) -> object:
    if name in ("sql", "tables"):
        return import_module("." + name, __name__)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"this kernel has of notarium what cells use ({', '.join(__all__)}, sql), and not {name}: for the client run %pip install notarium, and restart the kernel"
    )
