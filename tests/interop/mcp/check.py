"""The official Python client of the Model Context Protocol against `notarium up`, over HTTP and over standard input and output.

    python tests/interop/mcp/check.py NOTARIUM_BINARY [--conformance]

Covers tools, resources, prompts, a notebook that is created, run, fixed and summarised on a real kernel, a call that a person
confirms over REST, and refusals of wrong tokens, origins and sizes. --conformance adds the official scenarios (run.mjs).
Exit code 1 if a check fails. Needs Python with mcp and ipykernel.
"""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).parent
PATIENCE_SECONDS = 120
NEWEST = "2026-07-28"
KERNEL_TOOLS = {"execute_cell", "get_variables", "run_all", "restart_kernel"}


class Server:
    """Runs `notarium up` in a temporary folder and acts as its owner."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")},
            "NOTARIUM_CONFIG": str(folder / "config" / "config.json"),
        }
        self.start("127.0.0.1:0")

    def start(self, listen):
        data = ["--data", str(self.folder / "data"), "--listen", listen]
        # All connections of this check share one person's rate limit.
        pace = ["--max-calls-per-minute", "1000"]
        command = [self.binary, "up", *data, *pace, "--kernel-path", sys.prefix, "--working-dir", str(self.folder)]
        self.process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        said = ""
        while not re.search(r"^Data: ", said, re.M):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"notarium up ended: {said}{self.process.stderr.read()}")
            said += line
        self.url = re.search(r"Notarium is up: (\S+)", said)[1]
        self.session = re.search(r"Token: (\S+)", said)[1]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)

    def rest(self, method, path, body=None, token=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token or self.session}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
        return json.loads(text) if text else None

    def cli(self, *arguments):
        command = [self.binary, *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout.strip()

    def token(self, *scopes, covers=None):
        body = {"label": "check", "scopes": scopes or ["read", "edit", "run"], "covers": covers or {}}
        return self.rest("POST", "/api/tokens", body)["token"]

    def confirm(self, notebook, call):
        """Confirms a call as the person."""
        waiting = self.rest("GET", f"/api/notebooks/{notebook}/calls/{call}")
        answer = {"arguments_hash": waiting["call"]["arguments_hash"]}
        self.rest("POST", f"/api/notebooks/{notebook}/calls/{call}/confirm", answer)


def check(condition, what, *shown):
    if not condition:
        raise AssertionError(f"{what}: {shown}")


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def call(client, tool, **arguments):
    """Calls a tool, which must succeed, and returns the result."""
    result = await client.call_tool(tool, arguments)
    check(not result.is_error, f"{tool} {arguments}", text(result))
    return result


def overall(state, cell_id):
    return next(cell for cell in state["cells"] if cell["cell_id"] == cell_id)


async def state_of(client, notebook):
    return (await call(client, "get_notebook_state", notebook=notebook)).structured_content


# --- checks for every transport ---


async def lists(client, notebook):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    check({"create_cell", "delete_cell", "await_confirmation"} | KERNEL_TOOLS <= set(tools), "tools", set(tools))
    check(tools["get_notebook_state"].annotations.read_only_hint is True, "reading is marked")
    check(tools["delete_cell"].annotations.destructive_hint is True, "what destroys is marked")
    check("notebook" in tools["create_cell"].input_schema["properties"], "each tool takes the notebook")
    uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
    check(f"notarium://notebooks/{notebook}" in uris, "resources", uris)
    templates = [template.uri_template for template in (await client.list_resource_templates()).resource_templates]
    check("notarium://notebooks/{id}/cells/{cell}" in templates, "templates", templates)
    prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
    check({"summarise_notebook", "fix_failing_cell"} <= prompts, "prompts", prompts)
    prompt = await client.get_prompt("summarise_notebook", {"notebook": "Losses"})
    check("Losses" in prompt.messages[0].content.text, "a prompt takes its arguments", prompt)
    check("await_confirmation" in (client.instructions or ""), "instructions", client.instructions)


async def creates_runs_fixes_summarises(client, notebook):
    cells = [
        {"cell_type": "markdown", "source": "# Losses"},
        {"source": "losses = [3, 2, 1]\nprint(sum(losses))"},
        {"source": "print(losses[3])"},
    ]
    made = await client.call_tool("create_cells", {"notebook": notebook, "cells": cells, "run": True})
    check(made.is_error and "IndexError" in text(made), "the failure is told", text(made))
    state = await state_of(client, notebook)
    broken = next(cell for cell in state["cells"] if cell["status"] == "error")
    source = "print(len(losses))"
    wrong = {"notebook": notebook, "cell_id": broken["cell_id"], "cell_version": 1, "source": source}
    stale = await client.call_tool("modify_cell", wrong)
    check(stale.is_error and "read it again" in text(stale), "a stale version is refused", text(stale))
    await call(client, "modify_cell", **{**wrong, "cell_version": broken["version"]})
    version = overall(await state_of(client, notebook), broken["cell_id"])["version"]
    ran = await call(client, "execute_cell", notebook=notebook, cell_id=broken["cell_id"], cell_version=version)
    check("3" in text(ran), "the cell runs", text(ran))
    state = await state_of(client, notebook)
    check(all(cell["status"] != "error" for cell in state["cells"]), "all is well", state)
    variables = text(await call(client, "get_variables", notebook=notebook))
    check("losses" in variables, "the kernel's variables", variables)
    return broken["cell_id"]


async def reads_resources(client, notebook, cell):
    def resource(path):
        return client.read_resource(f"notarium://notebooks{path}")

    listed = json.loads((await resource("")).contents[0].text)
    check(any(one["notebook_id"] == notebook for one in listed["notebooks"]), "the list", listed)
    whole = json.loads((await resource(f"/{notebook}")).contents[0].text)
    check(whole["notebook_id"] == notebook and len(whole["cells"]) >= 3, "a notebook", whole)
    one = json.loads((await resource(f"/{notebook}/cells/{cell}")).contents[0].text)
    check(one["cell_id"] == cell and "3" in one["outputs"][0], "a cell", one)
    with contextlib.suppress(Exception):
        await resource("/there-is-none")
        raise SystemExit("a notebook that does not exist was read")


async def waits_for_a_person(client, server, notebook, cell):
    version = overall(await state_of(client, notebook), cell)["version"]
    asked = {"notebook": notebook, "cell_id": cell, "cell_version": version}
    began = time.monotonic()
    gated = await client.call_tool("delete_cell", asked)
    check(time.monotonic() - began < 10, "a gated call returns at once")
    facts = gated.structured_content
    check(not gated.is_error and facts["status"] == "waiting_for_confirmation", "it waits", text(gated), facts)
    waiting = {"notebook": notebook, "call_id": facts["call_id"]}
    still = await call(client, "await_confirmation", **waiting, seconds=0)
    check(still.structured_content["status"] == "waiting_for_confirmation", "it still waits", text(still))
    ids = [one["cell_id"] for one in (await state_of(client, notebook))["cells"]]
    check(cell in ids, "nothing was done yet", ids)
    awaiting = asyncio.create_task(client.call_tool("await_confirmation", {**waiting, "seconds": 30}))
    await asyncio.to_thread(server.confirm, notebook, facts["call_id"])
    over = await asyncio.wait_for(awaiting, 30)
    check(not over.is_error, "the confirmed call is done", text(over))
    ids = [one["cell_id"] for one in (await state_of(client, notebook))["cells"]]
    check(cell not in ids, "the cell is gone", ids)


async def is_refused_by_a_person(client, server, notebook):
    gated = (await call(client, "restart_kernel", notebook=notebook)).structured_content
    path = f"/api/notebooks/{notebook}/calls/{gated['call_id']}/deny"
    server.rest("POST", path, {"reason": "my variables are dear to me"})
    over = await client.call_tool("await_confirmation", {"notebook": notebook, "call_id": gated["call_id"]})
    check(over.is_error and "dear to me" in text(over), "a denial is told with its reason", text(over))


async def exercise(client, server, title):
    notebook = server.cli("new", title)
    await lists(client, notebook)
    cell = await creates_runs_fixes_summarises(client, notebook)
    await reads_resources(client, notebook, cell)
    await waits_for_a_person(client, server, notebook, cell)
    await is_refused_by_a_person(client, server, notebook)
    unknown = await client.call_tool("get_notebook_state", {"notebook": "no such notebook"})
    check(unknown.is_error and "list_notebooks" in text(unknown), "an unknown notebook", text(unknown))
    calls = server.rest("GET", f"/api/notebooks/{notebook}/calls")["calls"]
    check({"create_cells", "delete_cell"} <= {one["function"] for one in calls}, "the log has every call", calls)


# --- transports ---


@contextlib.asynccontextmanager
async def over_http(server, token, mode, query=""):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=90) as http:
        transport = streamable_http_client(f"{server.url}/mcp{query}", http_client=http)
        async with Client(transport, mode=mode, cache=None) as client:
            yield client


def over_stdio(server, mode, *arguments):
    environment = {**server.environment}
    parameters = StdioServerParameters(command=server.binary, args=["mcp", *arguments], env=environment)
    return Client(parameters, mode=mode, cache=None)


async def all_ways(server):
    token = server.token()
    async with over_http(server, token, "legacy") as client:
        await exercise(client, server, "HTTP with sessions")
    async with over_http(server, token, "auto") as client:
        check(client.protocol_version == NEWEST, "the newest version", client.protocol_version)
        await exercise(client, server, "HTTP without sessions")
    async with over_stdio(server, "legacy") as client:
        await exercise(client, server, "Pipes with sessions")
    async with over_stdio(server, "auto") as client:
        check(client.protocol_version == NEWEST, "the newest version", client.protocol_version)
        await exercise(client, server, "Pipes without sessions")
    tokens = server.rest("GET", "/api/tokens")
    check(all(one["label"] != "notarium mcp" for one in tokens), "the bridge revokes its token", tokens)


# Stand-in for the Python module: a table of functions, and one function that calls them.
MODULE = """
import sys, types, comm
notarium = types.ModuleType("notarium")
notarium.call_function = lambda name, arguments: {"twice": arguments["number"] * 2}
sys.modules["notarium"] = notarium
schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
comm.create_comm(target_name="notarium.functions", data={"functions": [
    {"name": "double", "version": "1", "description": "Doubles a number", "schema": schema, "risk": "read"}]})
"""


async def functions(server):
    """Functions registered in a kernel: listed on connections for the notebook, called by name on all."""
    notebook, other = server.cli("new", "Functions"), server.cli("new", "None")
    server.cli("exec", notebook, "--code", MODULE)
    async with over_http(server, server.token(), "legacy", f"?notebook={notebook}") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        check("double" in tools, "a function of the notebook is listed", set(tools))
        check(tools["double"].description == "Doubles a number", "with its words", tools["double"])
        check(tools["double"].input_schema["required"] == ["number"], "and its arguments", tools["double"])
        doubled = await call(client, "double", number=21)
        check(doubled.structured_content == {"twice": 42}, "it is called", text(doubled))
        for arguments, said in [({}, "Missing required parameters: number"), ({"number": "many"}, "number")]:
            wrong = await client.call_tool("double", arguments)
            check(wrong.is_error and said in text(wrong), "wrong arguments are told", text(wrong))
    for mode in ("legacy", "auto"):
        async with over_http(server, server.token(), mode) as client:
            check("double" not in {tool.name for tool in (await client.list_tools()).tools}, "it is one notebook's")
            told = (await state_of(client, notebook))["functions"]
            check([one["name"] for one in told] == ["double"], "its state tells what can be called", told)
            check(told[0]["arguments"]["required"] == ["number"], "and how", told)
            doubled = await call(client, "double", notebook=notebook, number=4)
            check(doubled.structured_content == {"twice": 8}, "it is called by its name", text(doubled))
            check("functions" not in await state_of(client, other), "another notebook has none")
            with contextlib.suppress(Exception):
                await client.call_tool("double", {"notebook": other, "number": 4})
                raise SystemExit("a function was called where there is none")
    async with over_http(server, server.token("read", "edit"), "legacy", f"?notebook={notebook}") as client:
        check("double" not in {tool.name for tool in (await client.list_tools()).tools}, "who may not run has none")
        refused = await client.call_tool("double", {"number": 4})
        check(refused.is_error and "scope" in text(refused), "nor calls one", text(refused))


async def one_notebook(server):
    own, other = server.cli("new", "Own"), server.cli("new", "Other")
    async with over_http(server, server.token(), "legacy", f"?notebook={own}") as client:
        await call(client, "create_cell", source="1")
        outside = await client.call_tool("get_notebook_state", {"notebook": other})
        check(outside.is_error, "a connection for one notebook", text(outside))
    async with over_stdio(server, "legacy", "--notebook", "Own") as client:
        state = (await call(client, "get_notebook_state")).structured_content
        check(state["notebook_id"] == own and len(state["cells"]) == 1, "the bridge is for one notebook", state)
        listed = (await call(client, "list_notebooks")).structured_content["notebooks"]
        check([one["notebook_id"] for one in listed] == [own], "it lists that one", listed)
    async with over_http(server, server.token(covers={"notebooks": [own]}), "legacy") as client:
        outside = await client.call_tool("create_cell", {"notebook": other, "source": "1"})
        check(outside.is_error and "no notebook" in text(outside), "a token for one notebook", text(outside))
    async with over_http(server, server.token("read"), "legacy") as client:
        refused = await client.call_tool("create_cell", {"notebook": own, "source": "1"})
        check(refused.is_error and "scope" in text(refused), "a token that reads", text(refused))


async def survives_a_restart(server):
    notebook = server.cli("new", "Restart")
    async with over_stdio(server, "legacy") as client:
        await call(client, "create_cell", notebook=notebook, source="1")
        address = server.url.removeprefix("http://")
        await asyncio.to_thread(server.stop)
        with contextlib.suppress(Exception):
            await client.call_tool("create_cell", {"notebook": notebook, "source": "2"})
            raise SystemExit("a call succeeded without a server")
        await asyncio.to_thread(server.start, address)
        await call(client, "create_cell", notebook=notebook, source="3")
        sources = [cell["source"] for cell in (await state_of(client, notebook))["cells"]]
        check(sources == ["1", "3"], "the bridge finds the server again", sources)


# --- refusals ---

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}},
}


def refusal(server, token, body=None, **headers):
    """Returns the status, the challenge and the problem of a refused request."""
    sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    data = json.dumps(body or INITIALIZE).encode()
    try:
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/mcp", data, sent, method="POST"), timeout=60)
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("WWW-Authenticate"), json.loads(error.read())
    return 200, None, {}


def strangers(server):
    token = server.token()
    check(refusal(server, token)[0] == 200, "a good token")
    status, challenge, _ = refusal(server, None)
    check((status, challenge) == (401, "Bearer"), "no token", status, challenge)
    check(refusal(server, token[:-4] + "0000")[:2] == (401, "Bearer"), "a wrong token")
    for scopes in (["read", "edit", "run", "confirm"], ["read", "manage"]):
        status, _, problem = refusal(server, server.token(*scopes))
        check(status == 403 and "notarium token new" in problem["detail"], "a token that can confirm", status, problem)
    check(refusal(server, server.session)[0] == 403, "an interactive session")
    agent = server.rest("POST", "/api/agents", {"name": "check"})["token"]
    check(refusal(server, agent)[0] == 403, "an agent's token")
    status, _, problem = refusal(server, token, Origin="https://evil.example")
    check((status, problem["code"]) == (403, "wrong_origin"), "a page of another origin", problem)
    status, _, problem = refusal(server, token, Host="evil.example")
    check((status, problem["code"]) == (403, "wrong_host"), "another host name", problem)
    # Only slightly too large: with much more, the connection may close before the answer is read.
    large = {**INITIALIZE, "params": {"padding": "x" * (8 << 20)}}
    status, _, problem = refusal(server, token, large)
    check((status, problem["code"]) == (413, "limit_exceeded"), "a message that is too large", status, problem)


async def revocation_ends_streams(server):
    made = server.rest("POST", "/api/tokens", {"label": "short", "scopes": ["read", "edit", "run"]})
    headers = {"Authorization": f"Bearer {made['token']}", "Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=60) as http:
        session = {"mcp-session-id": (await http.post("/mcp", json=INITIALIZE)).headers["mcp-session-id"]}
        await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        async with http.stream("GET", "/mcp", headers=session) as stream:
            check(stream.status_code == 200, "the stream opens", stream.status_code)
            await asyncio.to_thread(server.rest, "DELETE", f"/api/tokens/{made['id']}")
            async with asyncio.timeout(20):
                async for _ in stream.aiter_bytes():
                    pass
        after = await http.post("/mcp", json=INITIALIZE)
        check(after.status_code == 401, "the next request is refused", after.status_code)


def signed_out(server):
    """Without a login the bridge prints instructions to standard error, and nothing to standard output."""
    environment = {**server.environment, "NOTARIUM_CONFIG": str(server.folder / "nothing.json")}
    for extra in ([], ["--server", "http://127.0.0.1:9", "--token", "nt_api_x_" + "0" * 64]):
        ran = subprocess.run(
            [server.binary, "mcp", *extra], env=environment, input="", capture_output=True, text=True, timeout=60
        )
        check(ran.returncode in (2, 3) and ran.stdout == "" and "notarium" in ran.stderr, "signed out", ran)
    confirming = server.token("read", "confirm")
    command = [server.binary, "mcp", "--server", server.url, "--token", confirming]
    ran = subprocess.run(command, env=environment, input="", capture_output=True, text=True, timeout=60)
    check(ran.returncode == 1 and ran.stdout == "", "a token that can confirm", ran)


def conformance(server):
    environment = {**os.environ, "NOTARIUM_URL": server.url, "NOTARIUM_TOKEN": server.token()}
    subprocess.run(["node", str(HERE / "run.mjs")], env=environment, check=True, timeout=300)


def main():
    binary = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, Path(folder))
        try:
            strangers(server)
            signed_out(server)
            asyncio.run(asyncio.wait_for(all_ways(server), 4 * PATIENCE_SECONDS))
            asyncio.run(asyncio.wait_for(one_notebook(server), PATIENCE_SECONDS))
            asyncio.run(asyncio.wait_for(functions(server), PATIENCE_SECONDS))
            asyncio.run(asyncio.wait_for(revocation_ends_streams(server), PATIENCE_SECONDS))
            asyncio.run(asyncio.wait_for(survives_a_restart(server), PATIENCE_SECONDS))
            if "--conformance" in sys.argv:
                conformance(server)
        finally:
            server.stop()
    print("mcp: the official client works over HTTP and over pipes")


if __name__ == "__main__":
    main()
