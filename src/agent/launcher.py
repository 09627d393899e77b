"""Starts ipykernel as `python -m ipykernel_launcher` does, with output that waits for its reader.

ipykernel's output socket drops messages when 1,000 of them wait for a slow reader. With XPUB_NODROP it blocks the
kernel's output thread until the reader has caught up. The options must be set before the socket is bound.
What the output thread has not sent piles up in the kernel's memory without end, and a `print` of it all becomes one
message. So whoever writes more than a little waits until it is sent; an interrupt ends the wait.
"""

import os
import sys

# Messages that wait in the socket; each holds about as much text as may wait before it.
WAITING_MESSAGES = 32
# Characters of text, or bytes of other output, that may wait for the output thread.
WAITING_SIZE = 256 * 1024
# A print that is longer goes in pieces.
PIECE = 128 * 1024


def bound_output(iostream, threading):
    """Makes writers wait for the output thread. It never waits itself, nor do processes that forked off."""

    def wait_until_sent(thread, before=None):
        thread.waiting_size = 0
        sent = threading.Event()
        if before is not None:
            thread.schedule(before)
        thread.schedule(sent.set)
        while not sent.wait(1) and thread.thread.is_alive():
            pass

    def must_wait(thread, size):
        thread.waiting_size = getattr(thread, "waiting_size", 0) + size
        if thread.waiting_size <= WAITING_SIZE or not thread.thread.is_alive():
            return False
        return threading.current_thread() is not thread.thread and os.getpid() == thread._master_pid

    write, send = iostream.OutStream.write, iostream.IOPubThread.send_multipart

    def bounded_write(self, string):
        if not isinstance(string, str) or self.pub_thread is None:
            return write(self, string)
        for start in range(0, len(string) or 1, PIECE):
            piece = string if len(string) <= PIECE else string[start : start + PIECE]
            write(self, piece)
            if must_wait(self.pub_thread, len(piece)):
                wait_until_sent(self.pub_thread, self._flush)
        return len(string)

    def bounded_send(self, message, *arguments, **keywords):
        send(self, message, *arguments, **keywords)
        if must_wait(self, sum(len(part) for part in message)):
            wait_until_sent(self)

    iostream.OutStream.write = bounded_write
    iostream.IOPubThread.send_multipart = bounded_send


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

    import threading

    import zmq
    from ipykernel import iostream
    from ipykernel import kernelapp as app

    bind_socket = getattr(app.IPKernelApp, "_bind_socket", None)
    if bind_socket is None:
        print("notarium: this ipykernel has no _bind_socket; fast output may get lost", file=sys.stderr)
    else:

        def bind_without_drop(self, socket, *arguments, **keywords):
            if socket.socket_type in (zmq.PUB, zmq.XPUB):
                socket.setsockopt(zmq.XPUB_NODROP, 1)
                socket.setsockopt(zmq.SNDHWM, WAITING_MESSAGES)
            return bind_socket(self, socket, *arguments, **keywords)

        app.IPKernelApp._bind_socket = bind_without_drop

    bound_output(iostream, threading)
    app.launch_new_instance()
