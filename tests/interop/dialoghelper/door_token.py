"""Adds a token to requests of dialoghelper, which sends none: docs/dialoghelper.md has the same lines. Code in a kernel needs it for
channels alone."""

import httpx

try:
    import websockets
except ImportError:  # before 0.2.39
    websockets = None


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
    use_token_for_channels(token, port)


def use_token_for_channels(token, port):
    """Adds the token to WebSockets to the door on this machine."""
    if websockets is None:
        return
    connect = websockets.connect

    def connect_with_token(address, **options):
        if address.startswith(f"ws://localhost:{port}/"):
            options["additional_headers"] = {"Authorization": f"Bearer {token}"}
        return connect(address, **options)

    websockets.connect = connect_with_token
