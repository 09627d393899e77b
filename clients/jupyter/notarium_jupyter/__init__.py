"""Notarium in Jupyter: `jupyter lab` works on shared notebooks, and papermill runs notebooks there.

Jupyter Server calls the two functions below; `engine` is for papermill.
"""

from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["__version__"]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "notarium_jupyter"}]


def _load_jupyter_server_extension(serverapp: "ServerApp") -> None:
    # papermill loads the engine of this package without Jupyter Server.
    from .extension import load

    load(serverapp)
