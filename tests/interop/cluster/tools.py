"""MCP's tools at every node of a cluster, in a notebook that one of them owns, and calls that wait for a person while its owner dies.

    scripts/with-postgresql python tests/interop/cluster/tools.py NOTARIUM_BINARY

The Python that runs this has mcp, httpx and ipykernel. Exit code 1 if a check fails.
"""

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from storm import HOLDERS, Cluster, post, request, sql, wait_for

NOTEBOOK = "tools"
PATIENCE_SECONDS = 60


def check(condition, what, *shown):
    if not condition:
        raise AssertionError(f"{what}: {shown}")


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


@contextlib.asynccontextmanager
async def connected(node, token):
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=90) as http,
        Client(streamable_http_client(f"{node.url}/mcp", http_client=http), cache=None) as client,
    ):
        yield client


def agents_at(node, person):
    code, kernels = request(f"{node.url}/api/notebooks/{NOTEBOOK}/kernels", token=person)
    return code == 200 and kernels.get("agents")


async def creates(client, name):
    """Creates a cell that runs, and returns its id and version."""
    cells = [{"source": f"print('seen from {name}')"}]
    made = await client.call_tool("create_cells", {"notebook": NOTEBOOK, "cells": cells, "run": True})
    check(not made.is_error and "successfully" in text(made), "a cell is created and runs", name, text(made))
    state = (await client.call_tool("get_notebook_state", {"notebook": NOTEBOOK})).structured_content
    cell = state["cells"][-1]
    return {"cell_id": cell["cell_id"], "cell_version": cell["version"]}


async def asks_to_delete(client, cell):
    """Asks for a deletion, which waits for a person; returns the call."""
    asked = await client.call_tool("delete_cell", {"notebook": NOTEBOOK, **cell})
    facts = asked.structured_content
    check(not asked.is_error and facts["status"] == "waiting_for_confirmation", "it waits", text(asked), facts)
    return facts["call_id"]


def confirms(node, person, call):
    """Confirms a call as a person. A node whose neighbour has just died may ask to try again."""
    path = f"{node.url}/api/notebooks/{NOTEBOOK}/calls/{call}"

    def confirmed():
        code, waiting = request(path, token=person)
        if code != 200:
            return False
        answer = {"arguments_hash": waiting["call"]["arguments_hash"]}
        return request(f"{path}/confirm", "POST", person, answer, key=f"confirm-{call}")[0] in (200, 201, 204)

    wait_for(confirmed, f"{node.name} does not take the confirmation")


async def is_deleted(client, call, cell):
    """Waits for the end of a confirmed call."""
    waiting = {"notebook": NOTEBOOK, "call_id": call, "seconds": PATIENCE_SECONDS}
    over = await client.call_tool("await_confirmation", waiting)
    check(not over.is_error, "the confirmed call is done", text(over))
    state = (await client.call_tool("get_notebook_state", {"notebook": NOTEBOOK})).structured_content
    check(cell["cell_id"] not in [one["cell_id"] for one in state["cells"]], "the cell is gone")


async def at_every_node(nodes, person, assistant):
    for node, another in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
        async with connected(node, assistant) as client:
            cell = await creates(client, node.name)
            call = await asks_to_delete(client, cell)
            waiting = asyncio.create_task(is_deleted(client, call, cell))
            await asyncio.to_thread(confirms, another, person, call)
            await asyncio.wait_for(waiting, PATIENCE_SECONDS)


async def while_the_owner_dies(cluster, person, assistant):
    holder = dict(sql(cluster.database, HOLDERS))[NOTEBOOK]
    owner = next(node for node in cluster.nodes if node.url == holder)
    other, third = (node for node in cluster.nodes if node is not owner)
    async with connected(other, assistant) as client:
        cell = await creates(client, other.name)
        call = await asks_to_delete(client, cell)
        waiting = asyncio.create_task(is_deleted(client, call, cell))
        await asyncio.to_thread(owner.process.kill)
        await asyncio.to_thread(confirms, third, person, call)
        await asyncio.wait_for(waiting, PATIENCE_SECONDS)


def main():
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        print("SKIPPED: several nodes need PostgreSQL, which cannot be had here (scripts/with-postgresql)")
        return
    folder = Path(tempfile.mkdtemp(prefix="notarium-tools.", dir="/tmp"))
    cluster = Cluster(str(Path(sys.argv[1]).resolve()), folder, False)
    try:
        person = cluster.sign_in()
        cluster.start_agent(person)
        post(f"{cluster.nodes[0].url}/api/notebooks", person, {"id": NOTEBOOK, "title": "Tools"})
        for node in cluster.nodes:
            wait_for(lambda node=node: agents_at(node, person), f"{node.name} has no runtime agent")
        new = {"label": "tools", "scopes": ["read", "edit", "run"], "covers": {}}
        code, made = request(f"{cluster.nodes[0].url}/api/tokens", "POST", person, new)
        check(code in (200, 201), "a token is made", made)
        asyncio.run(at_every_node(cluster.nodes, person, made["token"]))
        asyncio.run(while_the_owner_dies(cluster, person, made["token"]))
        print("tools: each of three nodes, and the death of the owner")
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
