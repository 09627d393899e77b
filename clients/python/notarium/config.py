"""Finds server and token: arguments, then the environment, then the files that `notarium login` and `notarium up` stored."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from .errors import ConfigurationError


@dataclass(frozen=True)
class ServerTarget:
    """A server and the token for it."""

    url: str
    token: str = field(repr=False)

    @property
    def socket_url(self) -> str:
        """URL of the WebSocket."""
        return "ws" + self.url.removeprefix("http") + "/api/socket"


def find_target(url: str | None, token: str | None, token_file: str | os.PathLike[str] | None = None) -> ServerTarget:
    """Returns the server and token to use. Raises `ConfigurationError` if one is missing."""
    stored = _stored()
    found_url = url or os.environ.get("NOTARIUM_SERVER") or stored.get("server")
    if not found_url:
        raise ConfigurationError(
            "no server is known: pass its address, as in notarium.connect('http://127.0.0.1:8787'), set NOTARIUM_SERVER,"
            " or sign in with `notarium login --server URL`"
        )
    found_url = _normal(found_url)
    found_token = token or (_read(token_file) if token_file else None) or _token_of_environment()
    if not found_token and stored.get("server") and _normal(stored["server"]) == found_url:
        found_token = stored.get("token")
    if not found_token:
        raise ConfigurationError(
            f"no token for {found_url} is known: pass token=…, set NOTARIUM_TOKEN or NOTARIUM_TOKEN_FILE, or sign in with"
            f" `notarium login --server {found_url}`"
        )
    return ServerTarget(found_url, found_token.strip())


def _token_of_environment() -> str | None:
    token, path = os.environ.get("NOTARIUM_TOKEN"), os.environ.get("NOTARIUM_TOKEN_FILE")
    return token or (_read(path) if path else None)


def _read(path: str | os.PathLike[str]) -> str:
    """The first line of a file, or of standard input for `-`."""
    try:
        text = sys.stdin.readline() if os.fspath(path) == "-" else Path(path).read_text("utf8")
    except OSError as error:
        raise ConfigurationError(f"the token's file cannot be read: {error}") from error
    return text.strip().split("\n")[0]


def _normal(url: str) -> str:
    """Normalises a server URL to `http(s)://host:port`. `ws://` and `wss://` become `http://` and `https://`."""
    for socket, plain in (("ws://", "http://"), ("wss://", "https://")):
        if url.startswith(socket):
            url = plain + url.removeprefix(socket)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError(f"{url!r} is no address of a server: it begins with http:// or https://")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _stored() -> dict[str, str]:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    try:
        stored = json.loads(Path(folder, "notarium", "config.json").read_text("utf8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}
