"""Round trip with the client that openapi-python-client generates from protocol/openapi.json.

Run by check.py, which puts the generated package `notarium_client` on the path.
"""

import hashlib
import io
import json
import os
import time

from notarium_client import AuthenticatedClient
from notarium_client.api.access import put_notebooks_notebook_access
from notarium_client.api.assistants import post_notebooks_notebook_grants
from notarium_client.api.blobs import get_notebooks_notebook_blobs_sha256, put_notebooks_notebook_blobs_sha256
from notarium_client.api.cells import delete_notebooks_notebook_cells_cell, post_notebooks_notebook_cells
from notarium_client.api.files import get_notebooks_notebook_export, post_import
from notarium_client.api.notebooks import get_notebooks, get_notebooks_notebook, post_notebooks
from notarium_client.models import AccessGrant, NewCell, NewGrant, NewNotebook, Problem
from notarium_client.types import File

SENT = bytes([0, 255, 10, 13, 128])
client = AuthenticatedClient(base_url=os.environ["NOTARIUM_URL"], token=os.environ["NOTARIUM_TOKEN"])


def answered(call, *arguments, **keywords):
    answer = call.sync_detailed(*arguments, client=client, **keywords)
    assert answer.status_code < 300, (answer.status_code, answer.content)
    return answer.parsed


def refused(call, *arguments, **keywords):
    answer = call.sync_detailed(*arguments, client=client, **keywords)
    assert isinstance(answer.parsed, Problem), answer
    assert answer.headers["content-type"] == "application/problem+json", answer.headers
    assert answer.parsed.status == answer.status_code, answer
    return answer.parsed


def cells(notebook):
    new = NewCell.from_dict({"cell_type": "code", "source": "x = 1"})
    cell = answered(post_notebooks_notebook_cells, notebook, body=new).outcome.cells[0]
    read = answered(get_notebooks_notebook, notebook)
    assert read.notebook.cells[cell].source == "x = 1", read
    late = refused(delete_notebooks_notebook_cells_cell, notebook, cell, if_match=f'"{read.version + 7}"')
    assert (late.code, late.actual_version) == ("conflict", read.version), late


def binary(notebook):
    sha256 = hashlib.sha256(SENT).hexdigest()
    uploaded = answered(put_notebooks_notebook_blobs_sha256, notebook, sha256, body=File(io.BytesIO(SENT)))
    assert (uploaded.sha256, uploaded.size_bytes) == (sha256, len(SENT)), uploaded
    found = answered(get_notebooks_notebook_blobs_sha256, notebook, sha256)
    assert found.payload.read() == SENT, found
    file = answered(get_notebooks_notebook_export, notebook).to_dict()
    text = json.dumps(file).encode()
    imported = answered(post_import, body=File(io.BytesIO(text)), title="Again")
    assert imported.title == "Again", imported


def refusals(notebook):
    nobody = AccessGrant.from_dict({"subject": {"kind": "user", "id": "nobody"}, "role": "viewer"})
    assert refused(put_notebooks_notebook_access, notebook, body=nobody).code == "unknown_subject"
    grant = NewGrant(conversation="none", expires_at=int(time.time() * 1000) + 60_000)
    assert refused(post_notebooks_notebook_grants, notebook, body=grant).code == "unknown_conversation"
    assert refused(get_notebooks_notebook, "nowhere").code == "unknown_notebook"


def main():
    title = "Made by Python"
    notebook = answered(post_notebooks, body=NewNotebook(title=title)).notebook
    listed = answered(get_notebooks, text="Python")
    assert any(line.id == notebook and line.title == title for line in listed.notebooks), listed
    cells(notebook)
    binary(notebook)
    refusals(notebook)
    print("Python: the round trip is as the document says")


main()
