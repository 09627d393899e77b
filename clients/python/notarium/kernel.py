"""Functions for assistants and people, and progress: `notarium_kernel` by the name that cells use."""

from notarium_kernel.functions import ArgumentError, FunctionError, call_function, registered, tool
from notarium_kernel.progress import Progress, progress

__all__ = ["ArgumentError", "FunctionError", "Progress", "call_function", "progress", "registered", "tool"]
