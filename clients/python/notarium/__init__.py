"""Notarium: notebooks that people, programs and AI assistants write together.

    import notarium

    with notarium.connect() as nt:
        nb = nt.open("analysis")
        print(nb.append("1 + 1").run().wait().result)

`notarium.aio` is the same for asyncio. `import notarium` is lazy: modules load on first use. The import itself needs no other
package, so that a kernel can import it for `notarium.tool` alone.
"""

from importlib import import_module

from ._version import __version__

# Type checkers know this name. Importing it from `typing` would take longer than the rest of this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from . import aio, events, sql
    from .assistants import TurnFailed
    from .blocking import (
        Cell,
        Client,
        History,
        Kernel,
        Notebook,
        Output,
        PastCell,
        PastNotebook,
        Run,
        Thread,
        ToolCall,
        Turn,
        connect,
    )
    from .client import NotebookInfo
    from .comments import Comment
    from .errors import (
        ConfigurationError,
        Conflict,
        Disconnected,
        Forbidden,
        Invalid,
        LimitExceeded,
        NotariumError,
        NotFound,
        RateLimited,
        Rejected,
        RunFailed,
        Unauthenticated,
        Unavailable,
        UnsupportedProtocol,
        WaitTimeout,
    )
    from .event import Event
    from .files import FileInfo, TrashedFile
    from .graph import Dependencies, Graph, StaleReason
    from .history import Verification
    from .kernel import call_function, progress, tool
    from .machines import AgentInfo
    from .past import BlamedLine, CellDiff, FoundPlace, Redaction
    from .schedules import Schedule, ScheduledRun
    from .schema import Column, ConnectionInfo, ConnectionSchema, Table
    from .variables import TableRows, Variable

_BLOCKING = "Cell Client History Kernel Notebook Output PastCell PastNotebook Run Thread ToolCall Turn connect"
_ERRORS = (
    "ConfigurationError Conflict Disconnected Forbidden Invalid LimitExceeded NotariumError NotFound RateLimited Rejected"
    " RunFailed Unauthenticated Unavailable UnsupportedProtocol WaitTimeout"
)
# Module of this package that defines each public name. A name equal to its module means the module itself.
_HOMES = {
    "aio": "aio",
    "events": "events",
    "sql": "sql",
    "tool": "kernel",
    "progress": "kernel",
    "call_function": "kernel",
    "Comment": "comments",
    "Dependencies": "graph",
    "Event": "event",
    **dict.fromkeys(("FileInfo", "TrashedFile"), "files"),
    **dict.fromkeys(("Graph", "StaleReason"), "graph"),
    "AgentInfo": "machines",
    **dict.fromkeys(("BlamedLine", "CellDiff", "FoundPlace", "Redaction"), "past"),
    "NotebookInfo": "client",
    "TurnFailed": "assistants",
    "Verification": "history",
    **dict.fromkeys(("TableRows", "Variable"), "variables"),
    **dict.fromkeys(("Schedule", "ScheduledRun"), "schedules"),
    **dict.fromkeys(("Column", "ConnectionInfo", "ConnectionSchema", "Table"), "schema"),
    **dict.fromkeys(_BLOCKING.split(), "blocking"),
    **dict.fromkeys(_ERRORS.split(), "errors"),
}

__all__ = [
    "AgentInfo",
    "BlamedLine",
    "Cell",
    "CellDiff",
    "Client",
    "Column",
    "Comment",
    "ConfigurationError",
    "Conflict",
    "ConnectionInfo",
    "ConnectionSchema",
    "Dependencies",
    "Disconnected",
    "Event",
    "FileInfo",
    "Forbidden",
    "FoundPlace",
    "Graph",
    "History",
    "Invalid",
    "Kernel",
    "LimitExceeded",
    "NotFound",
    "NotariumError",
    "Notebook",
    "NotebookInfo",
    "Output",
    "PastCell",
    "PastNotebook",
    "RateLimited",
    "Redaction",
    "Rejected",
    "Run",
    "RunFailed",
    "Schedule",
    "ScheduledRun",
    "StaleReason",
    "Table",
    "TableRows",
    "Thread",
    "ToolCall",
    "TrashedFile",
    "Turn",
    "TurnFailed",
    "Unauthenticated",
    "Unavailable",
    "UnsupportedProtocol",
    "Variable",
    "Verification",
    "WaitTimeout",
    "__version__",
    "aio",
    "call_function",
    "connect",
    "events",
    "progress",
    "sql",
    "tool",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'notarium' has no attribute {name!r}")
    module = import_module(f".{home}", __name__)
    value = module if name == home else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
