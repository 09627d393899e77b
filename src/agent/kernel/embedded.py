"""The package `notarium` of kernels in which the client is not installed. This file is its `__init__`; `kernel` and `sql` lie beside it."""

from importlib import import_module

from .kernel import call_function, progress, tool

__all__ = ["call_function", "progress", "tool"]


def __getattr__(name: str) -> object:
    if name == "sql":
        return import_module(".sql", __name__)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"this kernel has of notarium what cells use ({', '.join(__all__)}, sql), and not {name}: for the client run %pip install with the file of its wheel (notarium-….whl), and restart the kernel"
    )
