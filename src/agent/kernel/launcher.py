"""Starts ipykernel as `python -m ipykernel_launcher` does, with output that waits for its reader.

ipykernel's output socket drops messages when 1,000 of them wait for a slow reader. With XPUB_NODROP it blocks the
kernel's output thread until the reader has caught up. The options must be set before the socket is bound.
What the output thread has not sent piles up in the kernel's memory without end, and a `print` of it all becomes one
message. So whoever writes more than a little waits until it is sent; an interrupt ends the wait. IPython keeps all that
cells print, for `%notebook`: here it keeps the beginning.
"""

import os
import sys

# Messages that wait in the socket; each holds about as much text as may wait before it.
WAITING_MESSAGES = 32
# Characters of text, or bytes of other output, that may wait for the output thread.
WAITING_SIZE = 256 * 1024
# A print that is longer goes in pieces.
PIECE = 128 * 1024
# Characters of each stream of a cell that IPython keeps.
KEPT_SIZE = 1024 * 1024


def bound_output(iostream, threading):
    """Makes writers wait for the output thread. It never waits itself, nor do processes that forked off."""

    def wait_until_sent(thread, before=None):
        if threading.current_thread() is thread.thread or os.getpid() != thread._master_pid:
            return
        thread.waiting_size = 0
        sent = threading.Event()
        if before is not None:
            thread.schedule(before)
        thread.schedule(sent.set)
        while not sent.wait(1) and thread.thread.is_alive():
            pass

    write, send = iostream.OutStream.write, iostream.IOPubThread.send_multipart

    def bounded_write(self, string):
        if isinstance(string, str) and len(string) > PIECE:
            for start in range(0, len(string), PIECE):
                bounded_write(self, string[start : start + PIECE])
            return len(string)
        written = write(self, string)
        thread = self.pub_thread
        thread.waiting_size += len(string)
        if thread.waiting_size > WAITING_SIZE:
            wait_until_sent(thread, self._flush)
        return written

    def bounded_send(self, message, *arguments, **keywords):
        send(self, message, *arguments, **keywords)
        self.waiting_size += sum(len(part) for part in message)
        if self.waiting_size > WAITING_SIZE:
            wait_until_sent(self)

    iostream.IOPubThread.waiting_size = 0
    iostream.OutStream.write = bounded_write
    iostream.IOPubThread.send_multipart = bounded_send


def bound_history(shell_class, contextlib):
    """Hands IPython's recorder of printed text the beginning alone."""
    tee = getattr(shell_class, "_tee", None)
    if tee is None:
        return

    @contextlib.contextmanager
    def bounded_tee(self, channel):
        stream = getattr(sys, channel)
        unrecorded = stream.write
        with tee(self, channel):
            recorded, size = stream.write, 0

            def write(data, *arguments, **keywords):
                nonlocal size
                size += len(data) if isinstance(data, str) else 0
                return (recorded if size <= KEPT_SIZE else unrecorded)(data, *arguments, **keywords)

            stream.write = write
            yield

    shell_class._tee = bounded_tee


def offer_sql(shell_class):
    """SQL cells reach the kernel as `%%notarium_sql`. Nothing of it is imported before the first one."""
    init_magics = shell_class.init_magics

    def notarium_sql(line, cell):
        from IPython import get_ipython

        try:
            from notarium_kernel.sql.magic import run_magic
        except ImportError as error:
            raise ImportError(
                f"SQL cells cannot run: {error}. The kernel's Python has a package notarium of its own that is older: "
                "run `%pip uninstall notarium`, or install its newest wheel"
            ) from None
        run_magic(get_ipython(), line, cell)

    def with_sql(self):
        init_magics(self)
        self.register_magic_function(notarium_sql, "cell", "notarium_sql")

    shell_class.init_magics = with_sql


def offer_tables(formatter_class):
    """A data frame is displayed with its first rows as data, beside what its library shows of it. Nothing of it is imported
    before the first frame, and no display fails for it."""
    format_of = formatter_class.format

    def with_table(self, obj, include=None, exclude=None):
        data, metadata = format_of(self, obj, include=include, exclude=exclude)
        if not data or include or exclude or type(obj).__module__ == "builtins":
            return data, metadata
        if not any(str(kind.__module__).startswith(("pandas", "polars")) for kind in type(obj).__mro__):
            return data, metadata
        try:
            from notarium_kernel import tables

            tables.add(obj, data, self)
        except Exception:
            pass
        return data, metadata

    formatter_class.format = with_table


def answer_questions(threading):
    """Which tables the kernel's databases have is asked while a cell runs, too: by the runtime agent, over a socket that the
    kernel opens. Nothing of SQL is imported before the first question."""
    import json
    import socket

    def connected(address):
        channel = socket.socket(socket.AF_UNIX)
        # A path may be longer than an address of a socket; by its open folder it is short, on Linux.
        folder = os.open(os.path.dirname(address), os.O_RDONLY)
        try:
            channel.connect(f"/proc/self/fd/{folder}/{os.path.basename(address)}" if len(address) > 100 else address)
        finally:
            os.close(folder)
        channel.sendall(b"?\n")
        return channel

    def answer(address):
        try:
            while True:
                channel = connected(address)
                if not channel.recv(1, socket.MSG_PEEK):
                    return
                from notarium_kernel.sql.questions import serve

                # Until a question is given up; then the next one has a socket of its own.
                serve(channel)
                channel.close()
        except (OSError, ImportError):
            return

    address = json.loads(os.environ.get("NOTARIUM_CONNECTIONS") or "{}").get("socket")
    if address:
        threading.Thread(target=answer, args=(address,), name="notarium questions", daemon=True).start()


def pipe_through_file(iostream, zmq, folder):
    """Forked processes send their output to the kernel over a socket in a file: a held run has no port."""
    thread = iostream.IOPubThread
    path = os.path.join(folder, "output")
    if len(path) > 100 or not (hasattr(thread, "_setup_pipe_in") and hasattr(thread, "_setup_pipe_out")):
        return

    def setup_pipe_in(self):
        # Known to the kernel's own processes alone, as in ipykernel.
        self._pipe_uuid = os.urandom(16)
        pipe_in = self.socket.context.socket(zmq.PULL)
        pipe_in.linger = 0
        pipe_in.bind("ipc://" + path)
        self._pipe_in = iostream.ZMQStream(pipe_in, self.io_loop)
        self._pipe_in.on_recv(self._handle_pipe_msg)

    def setup_pipe_out(self):
        # A new context after a fork; a message that cannot be sent is given up after 3 s.
        context = zmq.Context()
        pipe_out = context.socket(zmq.PUSH)
        pipe_out.linger = 3000
        pipe_out.connect("ipc://" + path)
        return context, pipe_out

    thread._setup_pipe_in = setup_pipe_in
    thread._setup_pipe_out = setup_pipe_out


def when_imported(name, before=None, after=None):
    """Calls `before` without arguments and `after` with the module around the first import of a module."""
    import importlib.util

    class Finder:
        def find_spec(self, wanted, path=None, target=None):
            if wanted != name:
                return None
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            if spec is None or spec.loader is None:
                # It may be installed later.
                sys.meta_path.insert(0, self)
                return spec
            load = spec.loader.exec_module

            def load_between(module):
                if before is not None:
                    before()
                load(module)
                if after is not None:
                    after(module)

            spec.loader.exec_module = load_between
            return spec

    sys.meta_path.insert(0, Finder())


def carry_dialogs():
    """Requests of dialoghelper go over the socket to the runtime agent. Nothing of it is imported before dialoghelper is."""
    import json

    address = json.loads(os.environ.get("NOTARIUM_CONNECTIONS") or "{}").get("socket")
    notebook = os.environ.get("NOTARIUM_NOTEBOOK")

    def mount():
        try:
            from notarium_kernel import dialogs
        except ImportError as error:
            print(f"notarium: dialoghelper finds no server: {error}", file=sys.stderr)
        else:
            dialogs.mount(address, notebook)

    if address and notebook:
        when_imported("dialoghelper", before=mount)


def settle_temporary_files(functools, folder):
    """DuckDB writes what outgrows memory beside the data, where a held run must not write: it gets a folder of its own when it is
    imported."""
    import contextlib

    def settle(duckdb):
        connect = duckdb.connect

        @functools.wraps(connect)
        def connect_settled(*arguments, **keywords):
            connection = connect(*arguments, **keywords)
            settle_connection(connection)
            return connection

        duckdb.connect = connect_settled
        settle_connection(duckdb)

    def settle_connection(connection):
        # Fails if it has been set already, or if this version calls it otherwise.
        with contextlib.suppress(Exception):
            connection.execute("SET temp_directory = '" + folder.replace("'", "''") + "'")

    when_imported("duckdb", after=settle)


def note_environment(folder):
    """Leaves the names and versions of the installed distributions for the runtime agent, by the names of their folders: to read
    each one's metadata would take longer than the start."""
    import re

    system, found = os.uname(), {}
    for place in sys.path:
        try:
            entries = os.listdir(place or ".")
        except OSError:
            continue
        for entry in entries:
            stem, kind = os.path.splitext(entry)
            name, _, version = (stem.rpartition if kind == ".dist-info" else stem.partition)("-")
            if kind == ".egg-info":
                version = re.sub(r"-py\d.*$", "", version)
            name = re.sub(r"[-_.]+", "-", name).lower()
            if (
                kind in (".dist-info", ".egg-info")
                and re.fullmatch(r"[a-z0-9-]+", name)
                and re.fullmatch(r"[!-~]+", version)
            ):
                found.setdefault(name, version)
    with open(os.path.join(folder, "environment.txt"), "x", encoding="ascii") as file:
        file.write(f"# Python {sys.version.split()[0]}\n# {system.sysname}-{system.release}-{system.machine}\n")
        file.writelines(f"{name}=={version}\n" for name, version in sorted(found.items()))


if __name__ == "__main__":
    # `python FILE` puts the file's folder on the path where `-m` puts the working folder; ipykernel_launcher removes
    # that while it imports, and IPython adds it again.
    if sys.path and os.path.realpath(sys.path[0] or ".") in (
        os.path.dirname(os.path.realpath(__file__)),
        os.path.realpath("."),
    ):
        del sys.path[0]

    # The package that cells use of Notarium. At the end: what is installed comes first.
    sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "packages"))

    import importlib.util

    launcher = importlib.util.find_spec("ipykernel_launcher")
    if launcher is not None and launcher.origin:
        sys.argv[0] = launcher.origin
    del launcher

    import contextlib
    import functools
    import threading

    # An environment that cannot be listed is not recorded.
    with contextlib.suppress(Exception):
        note_environment(os.path.dirname(os.path.realpath(__file__)))

    import zmq
    from ipykernel import iostream
    from ipykernel import kernelapp as app
    from IPython.core.formatters import DisplayFormatter
    from IPython.core.interactiveshell import InteractiveShell

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
    bound_history(InteractiveShell, contextlib)
    offer_sql(InteractiveShell)
    offer_tables(DisplayFormatter)
    answer_questions(threading)
    carry_dialogs()
    if os.environ.get("NOTARIUM_HELD"):
        pipe_through_file(iostream, zmq, os.environ["TMPDIR"])
        settle_temporary_files(functools, os.path.join(os.environ["TMPDIR"], "duckdb"))
    app.launch_new_instance()
