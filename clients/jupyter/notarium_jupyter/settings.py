"""Finds the Notarium server and the token of the person who makes a request."""

from typing import Any

from notarium.config import ServerTarget, find_target
from notarium.errors import ConfigurationError
from tornado.web import HTTPError
from traitlets import Dict, Float, Unicode
from traitlets.config import LoggingConfigurable


class Notarium(LoggingConfigurable):
    """Settings of the extension: `c.Notarium.server = …` in `jupyter_server_config.py`."""

    server: Any = Unicode(
        "",
        config=True,
        help="Address of the Notarium server. Else NOTARIUM_SERVER, or the server of `notarium login` or `notarium up`.",
    )
    tokens: Any = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        config=True,
        help=(
            "Notarium token of each person, by the user name that Jupyter's identity provider gives. Without it, everybody who"
            " opens this Jupyter server works with one token: NOTARIUM_TOKEN, NOTARIUM_TOKEN_FILE or that of `notarium login`."
        ),
    )

    cut_seconds: Any = Float(
        5.0,
        config=True,
        help="Time for which reading requests and sockets wait while Notarium does not answer, as in a restart.",
    )

    def target(self, username: str) -> ServerTarget:
        """The server, with the token of this person. Read anew at each request: `notarium login` may change it."""
        if self.tokens and username not in self.tokens:
            raise HTTPError(403, f"no Notarium token for {username!r}: add it to c.Notarium.tokens")
        try:
            return find_target(self.server or None, self.tokens.get(username))
        except ConfigurationError as error:
            raise HTTPError(503, str(error)) from error
