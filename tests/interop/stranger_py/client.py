"""Client written from protocol/socket.md alone: connecting, following, commands."""

import json
import uuid

from document import Unknown, apply_event, digest
from websockets.sync.client import connect


class Rejected(Exception):
    def __init__(self, reject):
        super().__init__(f"{reject['code']}: {reject['message']}")
        self.code = reject["code"]


class Notebook:
    """Live document. `state` is the folded state; `healed` counts snapshots that replaced it."""

    def __init__(self, url, token, notebook):
        self.notebook, self.state, self.event_id, self.healed, self.is_waiting = notebook, None, None, 0, False
        self.socket = connect(url.replace("http", "ws", 1) + "/api/socket", max_size=None)
        self.send("hello", protocols={"min": 1, "max": 1}, token=token, client="stranger-py/1")
        self.until("welcome")

    def send(self, message, **fields):
        self.socket.send(json.dumps({message: fields}))

    def until(self, wanted, fits=lambda _: True):
        """Receives messages until one of that name fits, and returns it."""
        while True:
            ((name, body),) = json.loads(self.socket.recv(timeout=60)).items()
            self.take(name, body)
            if name == "error" and (body.get("fatal") or wanted != "error") or name == "reject" and fits(body):
                raise Rejected(body)
            if name == wanted and fits(body):
                return body

    def take(self, name, body):
        if name == "subscribed":
            self.is_waiting = False
            if "snapshot" in body:
                self.healed += self.state is not None
                self.state, self.event_id = body["snapshot"], body.get("event_id")
                assert digest(self.state) == body["digest"], "the snapshot has another digest than the server says"
        if name != "events" or self.is_waiting:
            return
        for event in body["events"]:
            if event["version"] <= self.state["version"]:
                continue
            try:
                apply_event(self.state, event)
                self.event_id = event["id"]
            except Unknown:
                return self.subscribe()
        return None

    def subscribe(self, **since):
        self.is_waiting = True
        self.send("subscribe", notebook=self.notebook, **since)

    def follow(self, **since):
        self.subscribe(**since)
        self.until("subscribed")
        return self

    def resume(self, other):
        """Resumes from the state of another connection."""
        self.state, self.event_id = other.state, other.event_id
        return self.follow(since={"version": self.state["version"], "event_id": self.event_id})

    def do(self, command, **fields):
        command_id = str(uuid.uuid4())
        self.send("command", id=command_id, notebook=self.notebook, body={command: fields})
        return self.until("ack", lambda body: body["id"] == command_id)

    def check(self):
        """Returns True if the server's document at this version equals this one."""
        self.send("check", notebook=self.notebook, version=self.state["version"], digest=digest(self.state))
        return not self.until("checked").get("differs", False)


def new(url, token, title):
    notebook = Notebook(url, token, str(uuid.uuid4()))
    notebook.do("CreateNotebook", title=title, metadata={})
    return notebook.follow()
