"""What code in a kernel uses of Notarium: functions for assistants and people, and progress.

    import notarium

    @notarium.tool(risk="read")
    def losses(year: int, unit: Literal["k", "m"] = "k") -> list[float]:
        \"\"\"The losses of a year, by month.

        Args:
            year: Of four digits.
            unit: Thousands or millions.
        \"\"\"

    for file in notarium.progress(files, label="reading"):
        ...

The standard library alone, so that every kernel can import it. Kernels of Notarium's runtime agents have it without an installation.
"""

from .errors import ArgumentError, FunctionError
from .progress import Progress, progress
from .registry import call_function, registered, tool

__all__ = ["ArgumentError", "FunctionError", "Progress", "call_function", "progress", "registered", "tool"]
