"""`jupyter-mcp-server` as a client of the Jupyter door: an assistant's tools, called over the Model Context Protocol, on a real kernel.

Started by `tests/agent/jupyter.rs` beside a server with `--door jupyter` and a runtime agent. The environment is its own
(`mcp-requirements.txt`): it needs a whole Jupyter Server.
"""

import asyncio
import os
import sys

import requests
from mcp import Client, StdioServerParameters

SERVER = os.environ["NOTARIUM_URL"]
TOKEN = os.environ["NOTARIUM_TOKEN"]
DOOR = f"{SERVER}/jupyter"
PATIENCE = 120


def rest(method, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = requests.request(method, SERVER + path, json=body, headers=headers, timeout=PATIENCE)
    assert answer.ok, (path, answer.status_code, answer.text)
    return answer.json()


def cells(notebook):
    state = rest("GET", f"/api/notebooks/{notebook}")["notebook"]
    return [(cell, state["cells"][cell]["cell_type"], state["cells"][cell]["source"]) for cell in state["order"]]


def sources(notebook):
    return [source for _, _, source in cells(notebook)]


async def has_sources(notebook, expected):
    """Waits until the cells have these sources: the client sends a change and leaves without an answer to it."""
    async with asyncio.timeout(PATIENCE):
        while await asyncio.to_thread(sources, notebook) != expected:
            pass


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content if hasattr(part, "text"))
    assert not result.is_error, (tool, arguments, text)
    return text


async def tools_work_in_a_shared_notebook(client):
    notebook = rest("POST", "/api/notebooks", {"title": "Model"})["notebook"]
    rest("POST", f"/api/notebooks/{notebook}/cells", {"cell_type": "code", "source": "a = 6"})
    assert "Model.ipynb" in await call(client, "list_files")
    used = await call(
        client, "use_notebook", notebook_name="model", notebook_path="Model.ipynb", mode="connect", kernel_id="NEW"
    )
    assert notebook in used, used
    assert "a = 6" in await call(client, "read_notebook", notebook_name="model", response_format="detailed")
    await call(client, "insert_cell", cell_index=1, cell_type="code", cell_source="a * 7")
    await call(client, "insert_cell", cell_index=0, cell_type="markdown", cell_source="# Model")
    await has_sources(notebook, ["# Model", "a = 6", "a * 7"])
    await call(client, "overwrite_cell_source", cell_index=1, cell_source="a = 7")
    await call(client, "execute_cell", cell_index=1)
    assert "49" in await call(client, "execute_cell", cell_index=2)
    assert "49" in await call(client, "read_cell", cell_index=2)
    assert "scratch 7" in await call(client, "execute_code", code="print('scratch', a)")
    await call(client, "delete_cell", cell_indices=[0])
    await has_sources(notebook, ["a = 7", "a * 7"])
    runs = rest("GET", f"/api/notebooks/{notebook}/runs")["runs"]
    assert [run["execution"]["subject"]["kind"] for run in runs].count("cell") == 2, runs
    # Another connection sees the outputs: they are the record's.
    exported = rest("GET", f"/api/notebooks/{notebook}/export?format=ipynb")
    assert exported["cells"][1]["outputs"][0]["data"]["text/plain"] in ("49", ["49"]), exported
    assert notebook in await call(client, "list_kernels")
    await call(client, "unuse_notebook", notebook_name="model")


async def main():
    arguments = ["start", "--transport", "stdio", "--jupyter-url", DOOR, "--jupyter-token", TOKEN]
    environment = {**os.environ, "HOME": os.getcwd()}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "jupyter_mcp_server", *arguments], env=environment
    )
    async with Client(server) as client:
        print(sorted(tool.name for tool in (await client.list_tools()).tools))
        await tools_work_in_a_shared_notebook(client)


if __name__ == "__main__":
    asyncio.run(main())
