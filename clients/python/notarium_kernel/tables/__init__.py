"""Data frames as tables: the first rows as data in the output, and further rows while the kernel has the frame.

The launcher of kernels calls `add` when a frame is displayed, and runtime agents call `answer`. Nothing here keeps a large frame
alive: see `registry`.
"""

from __future__ import annotations

from .display import add
from .questions import answer

__all__ = ["add", "answer"]
