"""Adds a token to requests of dialoghelper, which sends none: docs/dialoghelper.md has the same lines."""

import httpx


def use_token(token, port):
    """Adds the token to requests to the door on this machine. Port 5001, which old clients have built in, leads there too."""
    for kind in (httpx.Client, httpx.AsyncClient):
        send = kind.send

        def send_with_token(self, request, _send=send, **options):
            if request.url.host == "localhost" and request.url.port in (5001, port):
                request.url = request.url.copy_with(port=port)
                request.headers["Host"] = f"localhost:{port}"
                request.headers["Authorization"] = f"Bearer {token}"
            return _send(self, request, **options)

        kind.send = send_with_token
