"""Data frames as tables: what is recorded beside pandas' and polars' own HTML, and further rows while the kernel has the frame.

The launcher of kernels calls `add` when a frame is displayed, and runtime agents ask `answer`. Nothing here keeps a large frame
alive: see `registry`.
"""

from __future__ import annotations

from .display import add
from .questions import answer

__all__ = ["add", "answer"]
