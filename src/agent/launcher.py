"""Starts ipykernel as `python -m ipykernel_launcher` does, with an output channel that waits instead of losing output.

ipykernel's output socket drops messages when 1,000 of them wait for a slow reader. With XPUB_NODROP it blocks the
kernel's output thread until the reader has caught up. The option must be set before the socket is bound.
"""

import os
import sys

if __name__ == "__main__":
    # `python FILE` puts the file's folder on the path where `-m` puts the working folder; ipykernel_launcher removes
    # that while it imports, and IPython adds it again.
    if sys.path and os.path.realpath(sys.path[0] or ".") in (
        os.path.dirname(os.path.realpath(__file__)),
        os.path.realpath("."),
    ):
        del sys.path[0]

    import importlib.util

    launcher = importlib.util.find_spec("ipykernel_launcher")
    if launcher is not None and launcher.origin:
        sys.argv[0] = launcher.origin
    del launcher

    import zmq
    from ipykernel import kernelapp as app

    bind_socket = getattr(app.IPKernelApp, "_bind_socket", None)
    if bind_socket is None:
        print("notarium: this ipykernel has no _bind_socket; fast output may get lost", file=sys.stderr)
    else:

        def bind_without_drop(self, socket, *arguments, **keywords):
            if socket.socket_type in (zmq.PUB, zmq.XPUB):
                socket.setsockopt(zmq.XPUB_NODROP, 1)
            return bind_socket(self, socket, *arguments, **keywords)

        app.IPKernelApp._bind_socket = bind_without_drop

    app.launch_new_instance()
