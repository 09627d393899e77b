"""The kernel that this code runs in, as far as Notarium is concerned: its comms, the cell that runs."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

# The runtime agent sets it for its kernels. Elsewhere nobody hears what is said on our comms.
VARIABLE = "NOTARIUM_KERNEL"
_PROCESS = os.getpid()


def shell() -> Any:
    """IPython's shell, where this is the process of its kernel."""
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython is not None else None
    is_kernel = found is not None and getattr(found, "kernel", None) is not None
    return found if is_kernel and os.getpid() == _PROCESS else None


def is_heard() -> bool:
    """Whether a runtime agent of Notarium listens to this very process."""
    return bool(os.environ.get(VARIABLE)) and shell() is not None


def open_comm(target: str, data: dict[str, Any]) -> Any:
    """Says `data` to the runtime agent; the comm, for more. `None`: nobody listens."""
    if not is_heard():
        return None
    try:
        from comm import create_comm
    except ImportError:
        return None
    return create_comm(target_name=target, data=data)


def current_cell() -> str | None:
    """The id of the cell whose run this is; `None` for code of no cell, and where nobody says it."""
    found = shell()
    if found is None:
        return None
    try:
        parent = found.kernel.get_parent("shell") or {}
        cell = (parent.get("metadata") or {}).get("cellId")
    except Exception:  # Kernels differ in what they tell; no registration fails for that.
        return None
    return cell if isinstance(cell, str) else None


def is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
