"""A server, an agent and an assistant of this machine, for the scripts that run code as an assistant or as a person."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Events that end a run.
ENDS = {"ExecutionCompleted", "ExecutionCancelled", "ExecutionLost", "ExecutionBlocked"}
# Pause between two looks at the record.
LOOK_SECONDS = 0.005


def default_binary():
    built = [ROOT / "target" / profile / "notarium" for profile in ("release", "local", "debug")]
    return next((path for path in built if path.exists()), built[-1])


class Scene:
    """`notarium serve` in a folder of its own, a person in it, and agents. `with` ends all."""

    def __init__(self, binary, kernel_path):
        self.binary, self.kernel_path = pathlib.Path(binary).resolve(), pathlib.Path(kernel_path).resolve()
        self.home = tempfile.TemporaryDirectory(prefix="notarium-")
        self.processes, self.session = [], None

    def __enter__(self):
        server = self.start(
            "serve", "--listen", "127.0.0.1:0", "--data", f"{self.home.name}/data", "--max-calls-per-minute", "100000"
        )
        self.url = owner = None
        while not owner:
            line = server.stdout.readline() or sys.exit("the server did not start")
            words = line.split()
            self.url = next((word for word in words if word.startswith("http://")), self.url)
            owner = next((word for word in words if word.startswith("nt_owner_")), None)
        who = {"token": owner, "name": "Ann", "login": "ann", "password": "correct horse", "label": "script"}
        self.person = self.request("POST", "/api/session", who, token=None)["token"]
        scopes = {"label": "assistant", "scopes": ["read", "edit", "run"]}
        self.assistant = self.request("POST", "/api/tokens", scopes)["token"]
        self.enter()
        return self

    def enter(self):
        """Opens a session of MCP."""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "script", "version": "1"}}
        self.call("initialize", hello)
        self.request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, token=self.assistant)

    def __exit__(self, *how):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.home.cleanup()

    def start(self, *arguments, cwd=None, environment=None):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")}
        variables |= {"HOME": self.home.name} | (environment or {})
        process = subprocess.Popen(
            [self.binary, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            env=variables,
            cwd=cwd or self.home.name,
        )
        self.processes.append(process)
        return process

    def agent(self, folder, *arguments):
        """Starts an agent whose kernels begin in this folder."""
        token = self.request("POST", "/api/agents", {"name": "script"})["token"]
        command = ["agent", "--server", self.url, "--kernel-path", self.kernel_path, *arguments]
        return self.start(*command, cwd=folder, environment={"NOTARIUM_TOKEN": token})

    def stop(self, process):
        self.processes.remove(process)
        process.terminate()
        process.wait()

    def request(self, method, path, body=None, token=""):
        # MCP may answer with a stream of one event; other routes would follow the notebook for as long as it is there.
        accept = "application/json, text/event-stream" if path == "/mcp" else "application/json"
        headers = {"content-type": "application/json", "accept": accept}
        token = self.person if token == "" else token
        if self.session and path == "/mcp":
            headers["mcp-session-id"] = self.session
        if token:
            headers["authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                text = answer.read().decode()
                self.session = answer.headers.get("mcp-session-id") or self.session
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from None
        streamed = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        return json.loads((streamed or [text])[-1] or "null")

    def call(self, method, parameters):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return self.request("POST", "/mcp", request, token=self.assistant)

    def tool(self, name, **arguments):
        """Calls a tool as the assistant, over MCP."""
        return self.call("tools/call", {"name": name, "arguments": arguments})

    def notebook(self, title):
        return Notebook(self, self.request("POST", "/api/notebooks", {"title": title})).until_offered()


class Run:
    """Questions, refusals and ends of one cell's runs."""

    def __init__(self):
        self.reasons, self.refused, self.ends, self.requested, self.effects = [], [], [], set(), []

    @property
    def is_over(self):
        return len(self.ends) >= len(self.requested)


class Notebook:
    def __init__(self, scene, made):
        self.scene, self.version = scene, 0
        self.id = made["notebook"]

    def until_offered(self):
        """Waits until an agent offers a kernel: before that nothing is known to be held."""
        while not self.scene.request("GET", f"/api/notebooks/{self.id}/kernels")["kernelspecs"]:
            time.sleep(LOOK_SECONDS)
        return self

    def news(self):
        """Events since the last look."""
        found = []
        while True:
            page = self.scene.request("GET", f"/api/notebooks/{self.id}/events?after={self.version}&limit=1000")
            found += page["events"]
            if not page["events"]:
                return found
            self.version = page["events"][-1]["version"]

    def take(self, run):
        """Notes what the record says of the run; denies a call that waits."""
        for event in self.news():
            payload = event["payload"]
            match event["type"]:
                case "ToolCallRequested" if payload["gate"].get("kind") != "passes":
                    run.reasons += payload.get("reasons") or ["it asks"]
                    self.scene.request("POST", f"/api/notebooks/{self.id}/calls/{payload['call_id']}/deny", {})
                case "ExecutionRequested":
                    run.requested.add(payload["execution_id"])
                    run.effects.append(payload["effects"])
                case "ExecutionEffectRefused":
                    run.refused.append((payload["kind"], payload["target"]))
                case end if end in ENDS:
                    run.ends.append(payload.get("detail") or payload.get("cause") or payload.get("outcome"))
                    if payload.get("cause") == "holds_open":
                        run.reasons.append(f"the kernel holds open: {payload.get('detail')}")

    def by_assistant(self, source, seconds):
        """Runs a cell by an assistant's call, which nobody confirms. Ends the kernel if it takes longer."""
        run, end = Run(), time.monotonic() + seconds
        cells = [{"source": source}]
        call = threading.Thread(
            target=self.scene.tool, args=["create_cells"], kwargs={"notebook": self.id, "run": True, "cells": cells}
        )
        call.start()
        # A call answers after half a minute, also if its run goes on.
        while call.is_alive() or not run.is_over:
            self.take(run)
            if time.monotonic() > end and run.requested:
                run.reasons.append(f"it took longer than {seconds} s")
                self.scene.request("POST", f"/api/notebooks/{self.id}/stop", {})
                end += seconds
            time.sleep(LOOK_SECONDS)
        call.join()
        self.take(run)
        return run

    def cell_by_person(self, source, seconds):
        """Runs a cell as the person. Interrupts it if it takes longer."""
        run = Run()
        made = self.scene.request("POST", f"/api/notebooks/{self.id}/cells", {"cell_type": "code", "source": source})
        asked = {"cells": made["outcome"]["cells"], "timeout_ms": int(1000 * seconds)}
        self.scene.request("POST", f"/api/notebooks/{self.id}/runs", asked)
        while not run.requested or not run.is_over:
            self.take(run)
            time.sleep(LOOK_SECONDS)
        return run

    def by_person(self, source):
        """Runs code as the person; returns what it printed."""
        ran = self.scene.request(
            "POST", f"/api/notebooks/{self.id}/runs", {"scratch": {"source": source, "purpose": "script"}}
        )
        run = ran["outcome"]["executions"][0]
        while True:
            found = self.scene.request("GET", f"/api/notebooks/{self.id}/runs/{run}")["execution"]
            if found["status"] not in ("queued", "assigned", "running"):
                return found
            time.sleep(LOOK_SECONDS)
