"""Kernels through the Jupyter door, with `jupyter-kernel-client` and `jupyter-nbmodel-client`, on a real kernel.

Started by `tests/agent/jupyter.rs` beside a server with `--door jupyter` and a runtime agent.
"""

import asyncio
import contextlib
import os
import pty
import select
import subprocess
import sys
import threading
from pathlib import Path

import requests
from jupyter_kernel_client import JupyterKernelClient
from jupyter_nbmodel_client import NbModelClient, get_jupyter_notebook_websocket_url
from waiting import until

SERVER = os.environ["NOTARIUM_URL"]
TOKEN = os.environ["NOTARIUM_TOKEN"]
DOOR = f"{SERVER}/jupyter"
PATIENCE = 120


def call(method, path, body=None, expected=None):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = requests.request(method, SERVER + path, json=body, headers=headers, timeout=PATIENCE)
    assert answer.status_code == expected if expected else answer.ok, (path, answer.status_code, answer.text)
    return answer


def new_notebook(title, cells):
    notebook = call("POST", "/api/notebooks", {"title": title}).json()["notebook"]
    for source in cells:
        call("POST", f"/api/notebooks/{notebook}/cells", {"cell_type": "code", "source": source})
    return notebook


def subjects(notebook):
    return [
        run["execution"]["subject"]["kind"] for run in call("GET", f"/api/notebooks/{notebook}/runs").json()["runs"]
    ]


def a_kernel_client_runs_code():
    with JupyterKernelClient(server_url=DOOR, token=TOKEN) as kernel:
        reply = kernel.execute("x = 6 * 7\nprint('é😀', x)", timeout=PATIENCE)
        assert reply["status"] == "ok", reply
        assert reply["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "é😀 42\n"}], reply
        reply = kernel.execute("x + 1", timeout=PATIENCE)
        assert reply["outputs"][0]["data"]["text/plain"] == "43", reply
        reply = kernel.execute("1 / 0", timeout=PATIENCE)
        assert reply["status"] == "error" and reply["outputs"][0]["ename"] == "ZeroDivisionError", reply
        reply = kernel.execute("'y' * 20_000", timeout=PATIENCE)
        assert reply["outputs"][0]["data"]["text/plain"] == repr("y" * 20_000), "a large value is in a blob"

        def answers(message):
            assert message["content"]["prompt"] == "name? "
            kernel._manager.client.input("Ada")

        reply = kernel.execute("print(input('name? '))", allow_stdin=True, stdin_hook=answers, timeout=PATIENCE)
        assert reply["outputs"][-1]["text"].endswith("Ada\n"), reply

        began = threading.Event()

        def interrupts():
            began.wait(PATIENCE)
            kernel.interrupt()

        other = threading.Thread(target=interrupts)
        other.start()
        reply = kernel._manager.client.execute_interactive(
            "print('on', flush=True)\nimport time\ntime.sleep(600)",
            timeout=PATIENCE,
            output_hook=lambda message: began.set() if message["msg_type"] == "stream" else None,
        )
        other.join()
        assert reply["content"]["ename"] == "KeyboardInterrupt", reply
        assert set(subjects(kernel.id)) == {"scratch"}
        kernel.restart(timeout=PATIENCE)
        reply = kernel.execute("print('x' in globals())", timeout=PATIENCE)
        assert reply["outputs"][0]["text"] == "False\n", reply
        kernel_id = kernel.id
        assert kernel_id in [model["id"] for model in kernel.list_kernels()]
    call("GET", f"/jupyter/api/kernels/{kernel_id}", expected=404)


async def a_cell_runs_as_that_cell():
    notebook = new_notebook("Runs", ["print('cell')", "2 ** 10"])
    session = {"path": "Runs.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    session = call("POST", "/jupyter/api/sessions", session, expected=201).json()
    assert session["kernel"]["id"] == notebook
    # JupyterLab starts a session under a path of its own making, and then gives it the notebook's.
    made_up = {"path": "7b5c", "type": "notebook", "name": "Runs.ipynb", "kernel": {"name": "python3"}}
    started = call("POST", "/jupyter/api/sessions", made_up, expected=201).json()
    assert (started["path"], started["kernel"]["id"]) == ("7b5c", notebook)
    changed = call("PATCH", f"/jupyter/api/sessions/{started['id']}", {"path": "Runs.ipynb"}).json()
    assert (changed["path"], changed["name"]) == ("Runs.ipynb", "Runs.ipynb")
    assert session["id"] in [other["id"] for other in call("GET", "/jupyter/api/sessions").json()]
    url = get_jupyter_notebook_websocket_url(DOOR, "Runs.ipynb", TOKEN)
    async with NbModelClient(url) as model:
        with JupyterKernelClient(server_url=DOOR, token=TOKEN, kernel_id=notebook) as kernel:
            result = await asyncio.to_thread(model.execute_cell, 0, kernel, timeout=PATIENCE)
            assert result["status"] == "ok", result
            await until(model, lambda: model[0]["execution_state"] == "idle" and model[0]["execution_count"] == 1)
            await until(model, lambda: [output["text"] for output in model[0]["outputs"]] == ["cell\n"])
        body = {"code": "2 ** 10", "metadata": {"cell_id": model[1]["id"], "document_id": f"json:notebook:{notebook}"}}
        answer = call("POST", f"/jupyter/api/kernels/{notebook}/execute", body, expected=202)
        await until(model, lambda: model[1]["execution_count"] == 2 and model[1]["execution_state"] == "idle")
        assert model[1]["outputs"][0]["data"]["text/plain"] == "1024", model[1]
        result = call("GET", answer.headers["Location"], expected=200).json()
        assert result["status"] == "ok" and result["execution_count"] == 2 and "1024" in result["outputs"], result
        assert subjects(notebook) == ["cell", "cell"]
        with model._lock, model._doc.ydoc.transaction():
            del model._doc.ycells[1]["outputs"][:]
        run = {"cells": [model[0]["id"]]}
        call("POST", f"/api/notebooks/{notebook}/runs", run)
        await until(model, lambda: model[0]["execution_count"] == 3)
        assert model[1]["outputs"] == []
    types = [event["type"] for event in call("GET", f"/api/notebooks/{notebook}/events?since=0").json()["events"]]
    assert "CellOutputsCleared" in types, types


def opened_session(path, name, kind):
    body = {"path": path, "name": name, "type": kind, "kernel": {"name": "python3"}}
    return call("POST", "/jupyter/api/sessions", body, expected=201).json()


def title(notebook):
    return call("GET", f"/api/notebooks/{notebook}").json()["notebook"]["title"]


def printed(session, code):
    with JupyterKernelClient(server_url=DOOR, token=TOKEN, kernel_id=session["kernel"]["id"]) as kernel:
        reply = kernel.execute(code, timeout=PATIENCE)
    assert reply["status"] == "ok", reply
    return "".join(output["text"] for output in reply["outputs"])


def vs_code_runs_its_own_files():
    """VS Code opens a session for a file that is on its machine alone, under a name that it makes for each session."""
    first = opened_session("plot-jvsc-aa-11.ipynb", "plot-11.ipynb", "notebook")
    assert (first["path"], first["name"], first["type"]) == ("plot-jvsc-aa-11.ipynb", "plot-11.ipynb", "notebook")
    assert opened_session("plot-jvsc-aa-11.ipynb", "plot-11.ipynb", "notebook")["id"] == first["id"], "the same path"
    assert printed(first, "here = 1; print(here)") == "1\n"
    # Another window with a file of the same name has a kernel of its own.
    other = opened_session("plot-jvsc-bb-22.ipynb", "plot-22.ipynb", "notebook")
    assert other["kernel"]["id"] != first["kernel"]["id"]
    assert printed(other, "print('here' in globals())") == "False\n"
    assert title(first["id"]) == title(other["id"]) == "Runs of plot in VS Code"
    assert set(subjects(first["id"])) == {"scratch"}
    listed = call("GET", "/jupyter/api/sessions").json()
    assert {"plot-jvsc-aa-11.ipynb", "plot-jvsc-bb-22.ipynb"} <= {session["path"] for session in listed}
    for session in (first, other):
        call("DELETE", f"/jupyter/api/sessions/{session['id']}", expected=204)
    # Tomorrow's session goes on in the same record, with a new kernel.
    later = opened_session("plot-jvsc-cc-33.ipynb", "plot-33.ipynb", "notebook")
    assert later["id"] in (first["id"], other["id"])
    assert printed(later, "print('here' in globals())") == "False\n"
    call("DELETE", f"/jupyter/api/sessions/{later['id']}", expected=204)


def consoles_have_kernels():
    console = opened_session("console-1-aa", "Console 1", "console")
    assert (console["path"], console["type"]) == ("console-1-aa", "console")
    assert title(console["id"]) == "Runs of Console 1"
    assert printed(console, "print('console')") == "console\n"
    # A console beside a notebook names the notebook's kernel.
    body = {"path": "console-2-bb", "type": "console", "kernel": {"id": console["kernel"]["id"]}}
    beside = call("POST", "/jupyter/api/sessions", body, expected=201).json()
    assert beside["kernel"]["id"] == console["kernel"]["id"]
    call("DELETE", f"/jupyter/api/sessions/{console['id']}", expected=204)


def konsole_runs_code():
    """`jupyter konsole` of jupyter-kernel-client, in a terminal of its own."""
    leader, follower = pty.openpty()
    command = [Path(sys.executable).with_name("jupyter-konsole"), "--simple-prompt", "--no-confirm-exit"]
    with subprocess.Popen(
        [*command, f"--url={DOOR}", f"--token={TOKEN}"], stdin=follower, stdout=follower, stderr=follower
    ) as konsole:
        os.close(follower)
        screen = ""

        def shows(text):
            nonlocal screen
            while text not in screen:
                assert select.select([leader], [], [], PATIENCE)[0], screen
                screen += os.read(leader, 65536).decode(errors="replace")
            screen = screen.split(text, 1)[1]

        shows("In [")
        os.write(leader, b"print(6 * 7, 'from the konsole')\n")
        shows("42 from the konsole")
        shows("In [")
        os.write(leader, b"1 / 0\n")
        shows("ZeroDivisionError")
        shows("In [")
        os.write(leader, b"exit\n")
        # The terminal is read to its end, which is an error on Linux.
        with contextlib.suppress(OSError):
            while select.select([leader], [], [], PATIENCE)[0] and os.read(leader, 65536):
                pass
        assert konsole.wait(PATIENCE) == 0
    os.close(leader)


if __name__ == "__main__":
    a_kernel_client_runs_code()
    vs_code_runs_its_own_files()
    consoles_have_kernels()
    konsole_runs_code()
    asyncio.run(a_cell_runs_as_that_cell())
