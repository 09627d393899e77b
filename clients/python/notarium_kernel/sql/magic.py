"""Cell magic `%%notarium_sql`: the kernel receives SQL cells with this line before their source."""

from __future__ import annotations

from typing import Any

from . import cell
from .errors import SqlError


def run_magic(shell: Any, line: str, body: str) -> None:
    """Runs an SQL cell and publishes its outputs. Of an SqlError the kernel shows only the message."""
    if line.strip():
        raise SqlError("%%notarium_sql takes nothing on its line: the connection stands in the first line of the SQL")

    def display(data: dict[str, Any], metadata: dict[str, Any], display_id: str | None, update: bool) -> None:
        transient = {"display_id": display_id} if display_id else {}
        shell.display_pub.publish(data, metadata, transient=transient, update=update)

    cell.run(body, shell.user_ns, display)
