"""Checks of dialoghelper in a real kernel, without a token: a person's code, an assistant's, and attacks. check.py calls them."""

import json
import time
import urllib.error
import urllib.request

ENDED = ("ok", "error", "lost", "cancelled", "blocked")
PATIENCE_SECONDS = 180

PRELUDE = """
import inspect, json
import dialoghelper.core as c
async def call(*names, **options):
    name = next(name for name in names[0].split() if hasattr(c, name))
    result = getattr(c, name)(*names[1:], **options)
    return await result if inspect.isawaitable(result) else result
async def refusal(*names, **options):
    try:
        result = await call(*names, **options)
    except Exception as error:
        result = error
    return str(result)
"""
PERSONS = """
place = await call("msg_idx")
above = await call("read_msg", -1)
await call("add_msg", "first")
await call("add_msg", "second")
print(json.dumps({"place": place, "above": above.get("msg", above)["content"]}))
"""
OTHER_NOTEBOOK = """
print(await refusal("add_msg", "stolen", placement="at_end", dname="/secret"))
print(await refusal("find_msgs", "hidden", dname="/secret"))
"""
ASSISTANTS = """
await call("add_msg", "from an assistant", placement="at_end")
print(await refusal("del_msgs del_msg", "victim"))
import threading
go, done = threading.Event(), threading.Event()
def linger():
    go.wait(120)
    import httpx
    try:
        answer = httpx.post("http://localhost:5001/rm_msg_", data={"msid": "victim"})
        found.append(answer.text)
    except Exception as error:
        found.append(repr(error))
    done.set()
found = []
threading.Thread(target=linger, daemon=True).start()
"""
PERSON_AFTER_IT = """
go.set()
done.wait(60)
print(found)
"""


def check(condition, what, *shown):
    if not condition:
        raise AssertionError(f"{what}: {shown}")


class Outside:
    """An outside assistant, over the Model Context Protocol."""

    def __init__(self, server):
        self.server, self.session, self.number = server, None, 0
        information = {"name": "check", "version": "1"}
        parameters = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": information}
        self.send("initialize", parameters)
        self.send("notifications/initialized", {}, is_notice=True)

    def send(self, method, parameters, is_notice=False):
        message = {"jsonrpc": "2.0", "method": method, "params": parameters}
        if not is_notice:
            self.number += 1
            message["id"] = self.number
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"mcp-session-id": self.session} if self.session else {}),
        }
        request = urllib.request.Request(self.server.url + "/mcp", json.dumps(message).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=120) as response:
            self.session = response.headers.get("mcp-session-id") or self.session
            body = response.read()
        # An answer is JSON, or the last event of a stream.
        lines = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith((b"{", b"data:"))]
        answers = [json.loads(line) for line in lines if line.strip()]
        return answers[-1] if answers else None

    def call(self, tool, **arguments):
        """Returns the text of a tool's result."""
        answer = self.send("tools/call", {"name": tool, "arguments": arguments})
        return "".join(part.get("text", "") for part in answer["result"]["content"])


class Notebook:
    def __init__(self, server, title):
        self.server = server
        self.id = server.rest("POST", "/api/notebooks", {"title": title})["notebook"]
        self.path = f"/api/notebooks/{self.id}"

    def add(self, cell_id, cell_type, source):
        cell = {"cell_id": cell_id, "cell_type": cell_type, "source": source}
        self.server.rest("POST", f"{self.path}/cells", cell)

    def state(self):
        return self.server.rest("GET", self.path)["notebook"]

    def sources(self):
        state = self.state()
        return [state["cells"][cell]["source"] for cell in state["order"]]

    def run(self, cell_id):
        """Returns what a run of the cell printed."""
        self.server.rest("POST", f"{self.path}/runs", {"cells": [cell_id]})
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            state = self.state()
            execution = state["executions"][state["latest"][cell_id]]
            if execution["status"] in ENDED:
                outputs = execution.get("outputs", [])
                check(execution["status"] == "ok", f"the run of {cell_id}", outputs)
                return "".join(output["content"].get("text", "") for output in outputs)
        raise AssertionError(f"the run of {cell_id} does not end")


def in_a_kernel(server, is_old):
    """A person's code needs no token; without an id the executing cell is meant, and no other notebook is reached."""
    notebook, secret = Notebook(server, "in-kernel"), Notebook(server, "secret")
    secret.add("hidden", "markdown", "hidden")
    notebook.add("above", "markdown", "above")
    notebook.add("caller", "code", PRELUDE + PERSONS)
    said = json.loads(notebook.run("caller").splitlines()[-1])
    check(said == {"place": 1, "above": "above"}, "the current message is the executing cell", said)
    # Clients before 0.2.7 take the new message for the current one.
    added = ["first", "second"] if is_old else ["second", "first"]
    shown = [source for source in notebook.sources() if "import" not in source]
    check(shown == ["above", *added], "added messages", shown)
    notebook.add("thief", "code", OTHER_NOTEBOOK)
    said = notebook.run("thief")
    check("its own notebook alone" in said and "hidden" not in said, "another notebook", said)
    check(secret.sources() == ["hidden"], "another notebook is not changed", said)
    print("in a kernel: no token, the executing cell is the current message, no other notebook is reached")


def of_an_assistant(server):
    """An assistant's code edits by tool calls. What it deletes waits for a person, also in a thread that lives on."""
    notebook = Notebook(server, "assistants")
    notebook.add("victim", "markdown", "victim")
    # Newer clients write a settings file when they are imported first, which an assistant's code may not.
    notebook.add("import", "code", "import dialoghelper.core")
    notebook.run("import")
    outside = Outside(server)
    said = outside.call("execute_code", notebook=notebook.id, source=PRELUDE + ASSISTANTS)
    check("from an assistant" in notebook.sources(), "an assistant's edit", said, notebook.sources())
    calls = waiting_calls(notebook)
    check([call["function"] for call in calls] == ["delete_cell"], "the deletion waits", said, calls)
    notebook.add("after", "code", PERSON_AFTER_IT)
    said = notebook.run("after")
    check("waits for a person" in said, "a thread that lives on", said)
    check("victim" in notebook.sources(), "a thread that lives on deletes nothing", said)
    server.rest(
        "POST", f"{notebook.path}/calls/{calls[0]['id']}/confirm", {"arguments_hash": calls[0]["arguments_hash"]}
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "victim" in notebook.sources():
        check(time.monotonic() < deadline, "a confirmed deletion is done", waiting_calls(notebook))
    print("an assistant's code: edits are tool calls, deletions wait for a person")


def waiting_calls(notebook):
    calls = notebook.server.rest("GET", f"{notebook.path}/calls")["calls"]
    return [call for call in calls if call["state"] == "waiting"]
