"""Loads the extension: JupyterLab's notebooks, kernels and sessions become those of a Notarium server."""

import json
import re

from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.web import HTTPError

from .proxy import DOOR, RestProxy, SocketProxy, client
from .settings import Notarium

SOCKETS = r"collaboration/room/.+|kernels/[^/]+/channels|events/subscribe"
PARTS = r"(?:contents|sessions|kernels|kernelspecs|collaboration|me|events)(?:/.*)?"


def load(serverapp: ServerApp) -> None:
    notarium = Notarium(parent=serverapp)
    application = serverapp.web_app
    place = re.escape(serverapp.base_url) + "api/"
    shared = {"notarium": notarium}
    handlers = [(f"{place}({SOCKETS})", SocketProxy, shared), (f"{place}({PARTS})", RestProxy, shared)]
    application.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]
    # Before the rules of other extensions, whatever the order in which they are loaded.
    rules = application.default_router.rules
    rules.insert(0, rules.pop(-2))
    page = application.settings.setdefault("page_config_data", {})
    # Runs go to the server as requests; their outputs come back through the shared document alone.
    page.update({"serverSideExecution": True, "disableRTC": False})
    serverapp.io_loop.add_callback(announce, serverapp, notarium)


async def announce(serverapp: ServerApp, notarium: Notarium) -> None:
    """Says at the start whose notebooks these are."""
    if notarium.tokens:
        serverapp.log.info("Notarium: %d people have a token of their own (c.Notarium.tokens)", len(notarium.tokens))
        return
    try:
        target = notarium.target("")
        headers = {"Authorization": f"token {target.token}"}
        answer = await client().fetch(HTTPRequest(f"{target.url}{DOOR}api/me", headers=headers))
        name = json.loads(answer.body)["identity"]["name"]
    except (OSError, ValueError, KeyError, HTTPError, HTTPClientError) as error:
        serverapp.log.warning("Notarium cannot be used yet: %s", reason_of(error))
        return
    serverapp.log.info(
        "Notarium at %s: everybody who opens this Jupyter server works as %s there, because it has one token"
        " (c.Notarium.tokens gives each person their own)",
        target.url,
        name,
    )


def reason_of(error: Exception) -> object:
    if isinstance(error, HTTPError):
        return error.log_message
    if isinstance(error, HTTPClientError) and error.code == 401:
        return "its token is not valid any more: sign in with `notarium login`"
    if isinstance(error, HTTPClientError) and error.code == 404:
        return "the server does not speak Jupyter's API: start it with `notarium serve --door jupyter` or `notarium up`"
    return error
