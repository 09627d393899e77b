"""The Jupyter door with the clients that people have: `jupyter-nbmodel-client` with `pycrdt`.

Started by `tests/interop/mod.rs`.
"""

import asyncio
import json

import bad_input
import histories
import websockets
from door import (
    OWNER,
    PATIENCE,
    VIEWER,
    VIEWER_ID,
    call,
    client,
    event_types,
    new_notebook,
    own,
    socket_url,
    sources,
    texts,
    type_at,
    url_of,
    version,
)
from waiting import until


async def edits_reach_everybody():
    notebook = new_notebook("Edits", ["a = 1", "b😀 = 2"])
    async with client("Edits") as ann, client("Edits") as bob:
        assert texts(ann) == texts(bob) == ["a = 1", "b😀 = 2"]
        type_at(ann, 1, 5, "x")
        await until(bob, lambda: texts(bob)[1].count("x") == 1)
        assert sources(notebook) == texts(ann) == texts(bob)
        cell = own("GET", f"/api/notebooks/{notebook}")["notebook"]["order"][0]
        read = own("GET", f"/api/notebooks/{notebook}/cells/{cell}")["cell"]["cell_version"]
        own("PATCH", f"/api/notebooks/{notebook}/cells/{cell}", {"source": "a = 10", "cell_version": read})
        await until(ann, lambda: texts(ann)[0] == "a = 10")
        await until(bob, lambda: texts(bob)[0] == "a = 10")
        ann.add_markdown_cell("# Title")
        await until(bob, lambda: len(bob) == 3)
        bob.set_cell_source(2, "# Other title")
        await until(ann, lambda: texts(ann)[2] == "# Other title")
        bob.delete_cell(0)
        await until(ann, lambda: len(ann) == 2)
        assert sources(notebook) == texts(ann) == texts(bob)
        assert ann[1]["cell_type"] == "markdown"
        own("POST", f"/api/notebooks/{notebook}/undo", {})
        await until(ann, lambda: len(ann) == 3 and texts(ann)[0] == "a = 10")
        assert len({cell["id"] for cell in ann}) == 3


async def a_move_is_a_move():
    notebook = new_notebook("Moves", ["a", "b", "c"])
    before = version(notebook)
    async with client("Moves") as ann, client("Moves") as bob:
        with ann._doc.ydoc.transaction():
            copy = ann._doc.ycells[0].to_py()
            del ann._doc.ycells[0]
            ann._doc.ycells.append(ann._doc.create_ycell(copy))
        await until(bob, lambda: texts(bob) == ["b", "c", "a"])
        assert event_types(notebook, before) == ["CellMoved"], event_types(notebook, before)
        assert sources(notebook) == ["b", "c", "a"]


async def what_saving_writes_is_no_event():
    notebook = new_notebook("Saved", ["a"])
    before = version(notebook)
    async with client("Saved") as ann, client("Saved") as bob:
        for _ in range(3):
            ann._doc.ycells[0]["metadata"]["trusted"] = True
        type_at(ann, 0, 1, "!")
        await until(bob, lambda: texts(bob) == ["a!"])
        assert event_types(notebook, before) == ["CellSourceEdited"], event_types(notebook, before)
        ann.set_cell_metadata(0, "tags", ["x"])
        await until(bob, lambda: bob[0]["metadata"].get("tags") == ["x"])
        assert event_types(notebook, before) == ["CellSourceEdited", "CellMetadataSet"]


async def two_type_at_once_beside_our_own_client():
    notebook = new_notebook("Together", ["-"])
    cell = own("GET", f"/api/notebooks/{notebook}")["notebook"]["order"][0]
    async with client("Together") as ann, client("Together") as bob:

        async def types(model, letter):
            for _ in range(40):
                type_at(model, 0, len(texts(model)[0]) // 2, letter)
                await asyncio.sleep(0)

        def ours():
            for _ in range(10):
                base = own("GET", f"/api/notebooks/{notebook}")
                length = len(base["notebook"]["cells"][cell]["source"])
                edit = {"cell_id": cell, "base": base["version"], "change": [length, [0, "c"]]}
                own("POST", f"/api/notebooks/{notebook}/commands", {"body": {"EditSource": edit}})

        await asyncio.gather(types(ann, "a"), types(bob, "b"), asyncio.to_thread(ours))
        everything = sorted("-" + 40 * "a" + 40 * "b" + 10 * "c")
        await until(ann, lambda: sorted(texts(ann)[0]) == everything)
        await until(bob, lambda: sorted(texts(bob)[0]) == everything)
        await until(ann, lambda: texts(ann) == texts(bob))
        assert sources(notebook) == texts(ann) == texts(bob)


async def a_viewer_s_edits_are_undone_with_a_word():
    notebook = new_notebook("Read only", ["a", "b"])
    own("PUT", f"/api/notebooks/{notebook}/access", {"subject": {"kind": "user", "id": VIEWER_ID}, "role": "viewer"})
    before = version(notebook)
    async with (
        websockets.connect(socket_url("api/events/subscribe", VIEWER)) as events,
        websockets.connect(socket_url("api/events/subscribe")) as events_of_ann,
    ):
        # The socket listens when it answers.
        await events.send(b"\x00\x00\x01\x00")
        await events.recv()
        async with client("Read only") as ann, client("Read only", VIEWER) as eve:
            async with websockets.connect(url_of("Read only", VIEWER), max_size=None) as raw:
                type_at(eve, 0, 0, "never ")
                await until(eve, lambda: texts(eve) == ["a", "b"])
                del eve._doc.ycells[0]
                await until(eve, lambda: texts(eve) == ["a", "b"])
                eve.add_code_cell("mine")
                await until(eve, lambda: texts(eve) == ["a", "b"])
                assert version(notebook) == before and texts(ann) == ["a", "b"]
                async with asyncio.timeout(PATIENCE):
                    word = json.loads(await events.recv())
                assert word["schema_id"] == "https://schema.jupyter.org/jupyter_collaboration/session/v1", word
                assert (word["path"], word["level"]) == ("Read only.ipynb", "ERROR"), word
                assert "undone" in word["msg"] and "viewer" in word["msg"], word
                await raw.close()
            type_at(ann, 0, 1, "!")
            await until(eve, lambda: texts(eve) == ["a!", "b"])
        # Three refusals, one sentence, for the person who typed.
        for socket in (events, events_of_ann):
            await socket.send(b"\x00\x00\x01\x00")
            assert await socket.recv() == b"\x00\x01\x02\x00\x00"


def files_of_vs_code_are_no_notebooks():
    made = call("POST", "/jupyter/api/contents", {"type": "notebook"}, expected=201)
    path = "plot-jvsc-6a1b2c3d.ipynb"
    renamed = call("PATCH", f"/jupyter/api/contents/{made['path']}", {"path": path}, expected=200)
    assert (renamed["path"], renamed["type"]) == (path, "notebook")
    content = {"cells": [], "metadata": {"by": "vs code"}, "nbformat": 4, "nbformat_minor": 5}
    call("PUT", f"/jupyter/api/contents/{path}", {"type": "notebook", "format": "json", "content": content})
    assert call("GET", f"/jupyter/api/contents/{path}")["content"] == content
    call("GET", f"/jupyter/api/contents/{path}", token=VIEWER, expected=404)
    for archived in ("false", "true"):
        listed = own("GET", f"/api/notebooks?archived={archived}")["notebooks"]
        assert not [line for line in listed if "jvsc" in line["title"] or "Untitled" in line["title"]], listed
    assert path not in [entry["path"] for entry in call("GET", "/jupyter/api/contents")["content"]]
    call("DELETE", f"/jupyter/api/contents/{path}", expected=204)
    call("GET", f"/jupyter/api/contents/{path}", expected=404)
    # An untitled notebook that is used under its name is one, at once.
    made = call("POST", "/jupyter/api/contents", {"type": "notebook"}, expected=201)
    assert made["path"] in [entry["path"] for entry in call("GET", "/jupyter/api/contents")["content"]]
    call("DELETE", f"/jupyter/api/contents/{made['path']}", expected=204)


def contents_are_notebooks():
    new_notebook("Listed", ["a = 1"])
    root = call("GET", "/jupyter/api/contents?content=1")
    assert root["type"] == "directory"
    assert "Listed.ipynb" in [entry["path"] for entry in root["content"]]
    model = call("GET", "/jupyter/api/contents/Listed.ipynb")
    assert model["content"]["cells"][0]["source"] in ("a = 1", ["a = 1"])
    content = model["content"]
    content["cells"][0]["source"] = "a = 2"
    call("PUT", "/jupyter/api/contents/Listed.ipynb", {"type": "notebook", "format": "json", "content": content})
    assert call("GET", "/jupyter/api/contents/Listed.ipynb")["content"]["cells"][0]["source"] in ("a = 2", ["a = 2"])
    broken = {"type": "notebook", "format": "json", "content": {"cells": 7}}
    refused = call("PUT", "/jupyter/api/contents/Listed.ipynb", broken, expected=400)
    assert "no list of cells" in refused["message"], refused
    refused = call("PUT", "/jupyter/api/contents/New.ipynb", broken, expected=400)
    assert refused["message"], refused
    assert call("GET", "/jupyter/api/contents/nowhere/x.ipynb", expected=404)["message"]
    made = call("POST", "/jupyter/api/contents", {"type": "notebook"})
    assert made["name"].startswith("Untitled")
    renamed = call("PATCH", f"/jupyter/api/contents/{made['path']}", {"path": "Renamed.ipynb"})
    assert renamed["path"] == "Renamed.ipynb"
    checkpoint = call("POST", "/jupyter/api/contents/Renamed.ipynb/checkpoints")
    assert checkpoint in call("GET", "/jupyter/api/contents/Renamed.ipynb/checkpoints")
    refused = call("POST", f"/jupyter/api/contents/Renamed.ipynb/checkpoints/{checkpoint['id']}", {}, expected=409)
    assert "history" in refused["message"]
    call("DELETE", "/jupyter/api/contents/Renamed.ipynb")
    call("GET", "/jupyter/api/contents/Renamed.ipynb", expected=404)


def the_rest_answers():
    assert call("GET", "/jupyter/api", token=OWNER)["version"]
    assert call("GET", "/jupyter/api/status", token=None)["connections"] == 0, "it answers everybody, and tells nothing"
    assert call("GET", "/jupyter/api/me")["identity"]["name"]
    assert call("GET", "/jupyter/api/kernelspecs")["default"]
    assert call("GET", "/jupyter/api/sessions") == []
    assert call("GET", "/jupyter/api/kernels") == []
    call("GET", "/jupyter/api/me", token=None, expected=401)
    call("GET", "/jupyter/api/me", token="wrong", expected=401)
    call("GET", f"/jupyter/api/me?token={OWNER}", token=None, expected=401)


async def main():
    the_rest_answers()
    contents_are_notebooks()
    files_of_vs_code_are_no_notebooks()
    bad_input.paths_that_are_no_notebooks()
    bad_input.broken_uploads()
    scenes = [
        edits_reach_everybody,
        a_move_is_a_move,
        what_saving_writes_is_no_event,
        two_type_at_once_beside_our_own_client,
        a_viewer_s_edits_are_undone_with_a_word,
        bad_input.hostile_updates_hurt_nobody,
        bad_input.another_schema_is_no_notebook,
        bad_input.messages_of_kernels_that_cannot_be_read,
        histories.fifty_clients_type_at_once,
        histories.a_client_types_before_it_is_asked_for_what_it_typed_offline,
        histories.a_document_that_grows_without_end_is_replaced,
        histories.a_restart_goes_on_with_the_same_document,
        histories.a_lost_document_makes_clients_load_again,
        bad_input.a_token_for_one_notebook_opens_no_other,
        bad_input.a_revoked_token_ends_its_sockets,
    ]
    for scene in scenes:
        await scene()
        print(f"# {scene.__name__}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
