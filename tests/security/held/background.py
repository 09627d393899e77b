"""Background work as people start it in notebooks: each kind leaves a growing file in `progress/`. `stop` ends all of it."""

import asyncio
import concurrent.futures
import http.server
import logging
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading
import time

stop = threading.Event()
folder = pathlib.Path("progress").absolute()
folder.mkdir(exist_ok=True)
fork = multiprocessing.get_context("fork")
train_hook = None


def note(kind):
    """Appends a line, with the file open for that moment alone."""
    with open(folder / kind, "a") as file:
        file.write("on\n")


def repeat(kind, work=note):
    def go_on():
        while not stop.wait(0.01):
            work(kind)

    threading.Thread(target=go_on, daemon=True).start()


def train(kind):
    """A step of a training: its checkpoint replaces the one before."""
    global train_hook
    hook, train_hook = train_hook, None
    if hook is not None:
        try:
            hook()
        except OSError:
            note("training-was-refused")
    partial = folder / f"{kind}.partial"
    partial.write_text("weights")
    os.replace(partial, folder / f"{kind}.checkpoint")
    note(kind)


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served")

    def log_message(self, *how):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def watch(kind):
    """A watch of the working folder, as those of libraries that load changed modules again."""
    seen = {entry.name: entry.stat().st_mtime for entry in os.scandir(".")}
    if seen:
        note(kind)


def of_pool(kind):
    pool.submit(note, kind).result()


class Repeated(threading.Timer):
    """A timer that goes on, as many write it."""

    def run(self):
        while not self.finished.wait(self.interval):
            self.function(*self.args)


async def looped(kind):
    while not stop.is_set():
        note(kind)
        await asyncio.sleep(0.01)


def process_of(kind):
    parent = os.getppid()
    while os.getppid() == parent and not stop.wait(0.01):
        note(kind)


def of_joblib(kind):
    import joblib

    joblib.Parallel(n_jobs=2)(joblib.delayed(append)(str(folder / kind)) for _ in range(2))


def append(path):
    with open(path, "a") as file:
        file.write("on\n")


LOOP = "import sys, time\nwhile True:\n    {}\n    time.sleep(0.01)"

# Forks come first: they would keep what another thread has open at that moment.
pool = concurrent.futures.ProcessPoolExecutor(2, mp_context=fork)
concurrent.futures.wait([pool.submit(time.sleep, 0.1) for _ in range(2)])
fork.Process(target=process_of, args=["process"], daemon=True).start()
repeat("training", train)
repeat("watch", watch)
repeat("pool", of_pool)
repeated = Repeated(0.01, note, ["timer"])
repeated.daemon = True
repeated.start()
threading.Thread(target=asyncio.run, args=[looped("loop")], daemon=True).start()
subprocess.Popen([sys.executable, "-c", LOOP.format("open(sys.argv[1], 'a').write('on\\n')"), folder / "subprocess"])
repeat("joblib", of_joblib)
threading.Thread(target=lambda: [note("queue") for _ in iter(lambda: stop.wait(0.01), True)], daemon=True).start()
port = serve()


def hold_open():
    """Two kinds that keep their files open: a log of the program, and one of a subprocess."""
    log = logging.getLogger("held")
    log.addHandler(logging.FileHandler(folder / "log"))
    log.propagate = False
    repeat("log", lambda kind: log.warning("on"))
    with open(folder / "subprocess-log", "a") as file:
        subprocess.Popen([sys.executable, "-u", "-c", LOOP.format("print('on')")], stdout=file)


print("PORT", port)
