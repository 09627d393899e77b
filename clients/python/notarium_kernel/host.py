"""The kernel that runs this code: its shell, comms to the runtime agent, and the running cell."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

# The runtime agent sets this variable for its kernels. Without it nothing listens to these comms.
VARIABLE = "NOTARIUM_KERNEL"
_PROCESS = os.getpid()


def shell() -> Any:
    """IPython's shell. None outside a kernel, and in processes that it forked."""
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython is not None else None
    is_kernel = found is not None and getattr(found, "kernel", None) is not None
    return found if is_kernel and os.getpid() == _PROCESS else None


def is_heard() -> bool:
    """True if a runtime agent of Notarium listens to this process."""
    return bool(os.environ.get(VARIABLE)) and shell() is not None


def open_comm(target: str, data: dict[str, Any]) -> Any:
    """Opens a comm to the runtime agent, with `data`. None: no agent listens."""
    if not is_heard():
        return None
    try:
        from comm import create_comm
    except ImportError:
        return None
    return create_comm(target_name=target, data=data)


def current_cell() -> str | None:
    """Id of the cell that runs. None for code of no cell, and in kernels that do not tell."""
    found = shell()
    if found is None:
        return None
    try:
        parent = found.kernel.get_parent("shell") or {}
        cell = (parent.get("metadata") or {}).get("cellId")
    except Exception:  # Kernels differ in the metadata they keep; that must not fail a registration.
        return None
    return cell if isinstance(cell, str) else None


def is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
