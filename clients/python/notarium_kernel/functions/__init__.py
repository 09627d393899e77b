"""Functions that assistants and people may call: a kernel registers them by `notarium.tool`.

    import notarium

    @notarium.tool(risk="read")
    def losses(year: int, unit: Literal["k", "m"] = "k") -> list[float]:
        \"\"\"The losses of a year, by month.

        Args:
            year: Of four digits.
            unit: Thousands or millions.
        \"\"\"

It uses only the standard library, so that every kernel can import it.
"""

from .errors import ArgumentError, FunctionError
from .registry import call_function, registered, tool

__all__ = ["ArgumentError", "FunctionError", "call_function", "registered", "tool"]
