"""How much later a run ends for a client of the Jupyter door than for one of our own socket: `1+1` in one notebook, in turns.

    target/test-venv/bin/python benches/jupyter.py NOTARIUM_BINARY [RUNS]

Starts `notarium up` with a real kernel. On a quiet machine. Needs Python with ipykernel and websockets.
"""

import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path

from websockets.sync.client import connect

TIMEOUT = 120


class Own:
    """The socket of Notarium."""

    def __init__(self, url, token, notebook):
        self.notebook = notebook
        self.socket = connect(url.replace("http", "ws", 1) + "/api/socket", max_size=None)
        self.send("hello", protocols={"min": 1, "max": 1}, token=token, client="bench")
        self.send("subscribe", notebook=notebook)
        self.until(lambda name, _: name == "subscribed")

    def send(self, message, **fields):
        self.socket.send(json.dumps({message: fields}))

    def until(self, fits):
        while True:
            ((name, body),) = json.loads(self.socket.recv(timeout=TIMEOUT)).items()
            assert name not in ("reject", "error"), body
            if fits(name, body):
                return

    def run(self):
        run = str(uuid.uuid4())
        target = {"scratch": {"source": "1+1", "purpose": "bench"}}
        body = {"RequestExecution": {"execution_id": run, "target": target}}
        self.send("command", id=str(uuid.uuid4()), notebook=self.notebook, body=body)

        def ends(name, body):
            events = body["events"] if name == "events" else []
            return any(
                event["type"] == "ExecutionCompleted" and event["payload"]["execution_id"] == run for event in events
            )

        self.until(ends)


class Door:
    """The channels of a kernel."""

    def __init__(self, url, token, notebook):
        url = f"{url}/jupyter/api/kernels/{notebook}/channels".replace("http", "ws", 1)
        self.socket = connect(url, max_size=None, additional_headers={"Authorization": f"token {token}"})

    def run(self):
        number = str(uuid.uuid4())
        header = {"msg_id": number, "msg_type": "execute_request", "session": "bench", "version": "5.3"}
        message = {
            "channel": "shell",
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": {"code": "1+1"},
        }
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=TIMEOUT))
            if answer["header"]["msg_type"] == "execute_reply" and answer["parent_header"]["msg_id"] == number:
                assert answer["content"]["status"] == "ok", answer
                return


def started(binary, folder):
    command = [binary, "up", "--data", f"{folder}/data", "--listen", "127.0.0.1:0", "--max-calls-per-minute", "100000"]
    command += ["--kernel-path", sys.prefix, "--working-dir", folder]
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    said = ""
    while not re.search(r"^Data: ", said, re.M):
        line = server.stdout.readline()
        assert line, said
        said += line
    return server, re.search(r"Notarium is up: (\S+)", said)[1], re.search(r"Token: (\S+)", said)[1]


def measured(client):
    began = time.perf_counter()
    client.run()
    return (time.perf_counter() - began) * 1000


def main(binary, runs="300"):
    with tempfile.TemporaryDirectory() as folder:
        server, url, token = started(binary, folder)
        try:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            request = urllib.request.Request(f"{url}/api/notebooks", b'{"title": "Bench"}', headers, method="POST")
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                notebook = json.loads(answer.read())["notebook"]
            own, door = Own(url, token, notebook), Door(url, token, notebook)
            for client in (own, door) * 20:
                client.run()
            times = {own: [], door: []}
            for _ in range(int(runs)):
                for client, list_ in times.items():
                    list_.append(measured(client))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    ours, doors = (statistics.median(list_) for list_ in times.values())
    print(
        f"median of {runs} runs of 1+1: own socket {ours:.2f} ms, Jupyter door {doors:.2f} ms, {doors - ours:+.2f} ms"
    )


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), *sys.argv[2:])
