"""Notarium for asyncio: the same as `notarium`, with `await`.

async with notarium.aio.connect() as nt, nt.open("analysis") as nb:
    cell = await nb.append("1 + 1")
    run = await cell.run()
    print((await run.wait()).result)
"""

from .assistants import ToolCall, Turn
from .cells import Cell, PastCell
from .client import Client, NotebookInfo, connect
from .comments import Comment, Thread
from .files import FileInfo, TrashedFile
from .graph import Dependencies, Graph, StaleReason
from .history import History, Verification
from .machines import AgentInfo
from .notebook import Notebook
from .outputs import Output
from .past import BlamedLine, CellDiff, FoundPlace, PastNotebook, Redaction
from .runs import Kernel, Run
from .schedules import Schedule, ScheduledRun
from .schema import Column, ConnectionInfo, ConnectionSchema, Table
from .variables import TableRows, Variable

__all__ = [
    "AgentInfo",
    "BlamedLine",
    "Cell",
    "CellDiff",
    "Client",
    "Column",
    "Comment",
    "ConnectionInfo",
    "ConnectionSchema",
    "Dependencies",
    "FileInfo",
    "FoundPlace",
    "Graph",
    "History",
    "Kernel",
    "Notebook",
    "NotebookInfo",
    "Output",
    "PastCell",
    "PastNotebook",
    "Redaction",
    "Run",
    "Schedule",
    "ScheduledRun",
    "StaleReason",
    "Table",
    "TableRows",
    "Thread",
    "ToolCall",
    "TrashedFile",
    "Turn",
    "Variable",
    "Verification",
    "connect",
]
