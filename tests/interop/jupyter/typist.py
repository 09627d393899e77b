"""A person with `jupyter-nbmodel-client` who does what its standard input says, one JSON object a line, and answers each with a line.

{"types": "N1", "line": 2}      types at the end of that line of the first cell
{"adds": "N2"}                  adds a Markdown cell
{"runs": "model"}               runs the cell with that id
{"connects": true}              connects anew, after a cut
{"shows": true}                 answers with the notebook
"""

import asyncio
import json
import logging
import os
import sys

import requests
from jupyter_nbmodel_client import NbModelClient, get_jupyter_notebook_websocket_url

DOOR = os.environ["NOTARIUM_DOOR"]
TOKEN = os.environ["NOTARIUM_TOKEN"]
PATH, NOTEBOOK = os.environ["NOTARIUM_PATH"], os.environ["NOTARIUM_NOTEBOOK"]
PATIENCE = 60


async def connected() -> NbModelClient:
    url = await asyncio.to_thread(get_jupyter_notebook_websocket_url, DOOR, PATH, TOKEN)
    client = NbModelClient(url)
    await client.start()
    assert client.synced, "the client has no document"
    return client


def run(cell: str) -> None:
    body = {"cell_id": cell, "document_id": f"json:notebook:{NOTEBOOK}"}
    headers = {"Authorization": f"token {TOKEN}"}
    answer = requests.post(f"{DOOR}/api/kernels/{NOTEBOOK}/execute", json=body, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 202, answer.text


async def do(client: NbModelClient, order: dict) -> object:
    if "types" in order:
        with client._lock:
            source = client._doc.ycells[0]["source"]
            lines = str(source).split("\n")[: order["line"] + 1]
            source.insert(len("\n".join(lines)), order["types"])
    elif "adds" in order:
        client.add_markdown_cell(order["adds"])
    elif "runs" in order:
        await asyncio.to_thread(run, order["runs"])
    return client.as_dict() if "shows" in order else True


async def main() -> None:
    # A cut connection is expected here, and told at length.
    logging.disable(logging.CRITICAL)
    client = await connected()
    print(json.dumps(True), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        if "connects" in order:
            await client.stop()
            client = await connected()
        print(json.dumps(await do(client, order)), flush=True)
    await client.stop()


if __name__ == "__main__":
    asyncio.run(main())
