"""Processes of `notarium serve` for tests: start, sign in, requests over HTTP."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

PATIENCE_SECONDS = 60


def free_port():
    """Returns a port that no program listens on."""
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(condition, problem, seconds=PATIENCE_SECONDS):
    """Returns the first true value of `condition`; fails with `problem` if there is none in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"{problem}, after {seconds} s")
        time.sleep(0.1)
    return value


def request(url, method="GET", token=None, body=None, key=None, headers=(), timeout=30):
    """Returns the status and the answer, or 0 and the reason if there was no answer."""
    headers = {"Content-Type": "application/json", **dict(headers)}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if key:
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            text = answer.read().decode()
            return answer.status, json.loads(text) if text[:1] in ("{", "[") and "\n{" not in text else text
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (OSError, urllib.error.URLError) as error:
        return 0, str(error)


class Node:
    """A process of `notarium serve`."""

    def __init__(self, binary, arguments, environment, folder, name):
        self.binary, self.name, self.folder = binary, name, folder
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("NOTARIUM_", "AWS_"))}
        self.environment = clean | {"HOME": str(folder)} | environment
        self.log = folder / f"{name}.log"
        self.said, self.process = "", None
        self.arguments = [str(argument) for argument in arguments]
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [self.binary, *self.arguments],
                env=self.environment,
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.said = ""
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        found = wait_for(
            lambda: re.search(r"on (http://\S+)", self.said) or self._ended(), f"{self.name} does not start"
        )
        # The address that it listens on may be that of all networks.
        self.url = found[1].replace("0.0.0.0", "127.0.0.1")

    def _read(self, process):
        for line in process.stdout:
            self.said += line

    def _ended(self):
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended: {self.said}{self.log.read_text()[-3000:]}")

    def is_ready(self, headers=()):
        return request(f"{self.url}/readyz", headers=headers, timeout=5)[0] == 200

    def owner_token(self):
        """Returns the token that the first start prints; `None`: another node has printed it."""
        found = re.search(r"nt_owner_\w+", self.said)
        return found and found[0]

    def command(self, *arguments, token=None, stdin=None):
        """Runs a command of notarium against this node; returns what it printed."""
        environment = self.environment | {"NOTARIUM_SERVER": self.url} | ({"NOTARIUM_TOKEN": token} if token else {})
        done = subprocess.run(
            [self.binary, *arguments],
            env=environment,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=600,
        )
        if done.returncode:
            raise SystemExit(f"notarium {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def sign_in(self, owner_token):
        """Spends the printed token; returns a token for programs."""
        self.command("login", "--token", owner_token, "--login", "ann", "--name", "Ann", stdin="a long password\n")
        scopes = [word for scope in ("read", "edit", "manage", "admin") for word in ("--scope", scope)]
        return re.search(r"nt_\w+", self.command("token", "new", "--label", "test", *scopes))[0]

    def stop(self, how=signal.SIGTERM):
        """Ends the process; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
