"""The client, blocking and asynchronous, with a real server and a real kernel."""

import asyncio
import json
import threading
import time
from pathlib import Path

import httpx
import notarium
import pytest
from notarium import events

from .conftest import Server


def test_a_notebook_is_made_edited_run_and_looked_at(nt: notarium.Client) -> None:
    with nt.create("First steps") as nb:
        cell = nb.append("print('printed'); 6 * 7")
        run = cell.run().wait(timeout=60)
        assert (run.status, run.text, str(run.result)) == ("ok", "printed\n", "42")
        assert cell.status == "ok"
        assert cell.latest_run == run
        assert [output.output_type for output in cell.outputs] == ["stream", "execute_result"]
        assert "42" in cell._repr_html_()
        assert "<h3>First steps</h3>" in nb._repr_html_()
        assert nb.role == "owner"
        assert nb.kernels[0].name == "python3"
        assert nb.kernels[0].is_reachable
    found = [info for info in nt.search("First steps") if info.id == nb.id]
    assert [(info.title, info.cells) for info in found] == [("First steps", 1)]
    with nt.open(nb.id) as again:
        assert again[cell.id[-6:]].source == "print('printed'); 6 * 7"


def test_a_notebook_is_opened_by_its_title_if_only_one_has_it(nt: notarium.Client) -> None:
    title = f"Only one {time.time_ns()}"
    with nt.create(title) as nb, nt.open(title) as again:
        assert again.id == nb.id
    with nt.create(title), pytest.raises(notarium.Conflict, match="2 notebooks have the title"):
        nt.open(title)
    with pytest.raises(notarium.NotFound) as caught:
        nt.open("nobody-has-this")
    assert caught.value.code == "unknown_notebook"


def test_cells_are_moved_deleted_restored_marked_and_undone(nb: notarium.Notebook) -> None:
    first, second, third = nb.extend(["1", "2", "3"])
    third.move(before=first)
    assert nb.cells == [third, first, second]
    second.move("start")
    assert nb[0] == second
    first.delete()
    assert first not in nb.cells
    with pytest.raises(notarium.NotFound, match="restore it"):
        first.source  # noqa: B018
    first.restore()
    assert nb.cells == [second, third, first]
    first.set_type("markdown")
    first.set_flags(pinned=True)
    first.set_metadata({"ratio": 1.50, "big": 1e21})
    assert (first.cell_type, first.flags, first.metadata["ratio"]) == ("markdown", {"pinned": True}, 1.5)
    assert nb.check()
    nb.rename("Renamed")
    nb.undo()
    assert nb.title == "Test"
    nb.redo()
    assert nb.title == "Renamed"
    nb.archive()
    with pytest.raises(notarium.Conflict) as caught:
        nb.append("x")
    assert caught.value.code == "notebook_archived"
    nb.unarchive()


def test_a_reactive_notebook_says_what_hangs_together_and_runs_so(nb: notarium.Notebook) -> None:
    price, total, note, twice = nb.extend(["price = 3", "total = price * 7", "tax", "price = 4"])
    assert nb.reactivity == "off"
    nb.set_reactivity("lazy")
    assert nb.reactivity == "lazy"
    twice.delete()
    run = total.run().wait(timeout=60)
    assert run.status == "ok"
    assert price.status == "ok", "what it reads ran before it"
    graph = nb.graph()
    assert (graph.version, graph.reactivity, list(graph.cells)) == (nb.version, "lazy", [price.id, total.id, note.id])
    assert graph.stale == [note.id]
    assert (graph[note].missing, graph[price].children) == (("tax",), {total.id: ("price",)})
    price.edit("price = 30")
    graph = nb.graph()
    assert [(cell.standing, cell.why) for cell in graph][:2] == [
        ("stale", "its text has changed since it ran"),
        ("stale", f"cell {price.id}, from which it reads, is not up to date"),
    ]
    assert [(cell.reason.kind, cell.reason.cell_id) for cell in graph if cell.reason][:2] == [
        ("edited", None),
        ("cell_stale", price.id),
    ]
    assert f'"{price.id}" -> "{total.id}" [label="price"];' in graph.to_dot()
    assert "its text has changed" in graph._repr_html_()
    assert nb.at(1).reactivity == "off"
    twice.restore()
    assert nb.graph().defined_twice == {"price": (price.id, twice.id)}
    text = nb.append("words", cell_type="markdown")
    with pytest.raises(notarium.NotFound, match="code and SQL cells alone"):
        nb.graph()[text]


def test_two_who_edit_one_cell_lose_nothing(server: Server, nb: notarium.Notebook) -> None:
    cell = nb.append("a = 1\nb = 2\n")
    with notarium.connect(server.url, server.token) as other, other.open(nb.id) as theirs:
        theirs[cell.id].edit("a = 10\nb = 2\n", wait=False)
        cell.edit("a = 1\nb = 20 # 😀\n", wait=False)
        nb.flush()
        theirs.flush()
        stale = cell.version - 1
        with pytest.raises(notarium.Conflict) as caught:
            cell.replace("all new", version=stale)
        assert caught.value.actual_version == cell.version
    with notarium.connect(server.url, server.token) as third:
        assert third.open(nb.id)[cell.id].source == "a = 10\nb = 20 # 😀\n"


def test_a_failing_run_says_so_and_blocks_what_is_behind_it(nb: notarium.Notebook) -> None:
    nb.extend(["1 / 0", "'never'"])
    bad, blocked = nb.run()
    bad.wait(60)
    assert blocked.wait(60).status == "blocked"
    with pytest.raises(notarium.RunFailed, match="ZeroDivisionError: division by zero") as caught:
        bad.raise_for_status()
    assert caught.value.ename == "ZeroDivisionError"
    assert "Traceback" in caught.value.traceback


def test_outputs_come_while_a_run_goes_on_and_it_can_be_cancelled(nb: notarium.Notebook) -> None:
    run = nb.append("import time\nprint('first', flush=True)\ntime.sleep(600)").run()
    outputs = run.stream()
    assert next(outputs).text == "first\n"
    assert nb.runs == [run]
    run.cancel()
    assert list(outputs)[-1].output_type == "error"
    assert run.status in ("error", "cancelled")


def test_a_progress_bar_is_one_output_and_a_stream_of_pieces(nb: notarium.Notebook) -> None:
    code = "import time\nfor done in range(5):\n    print(f'\\r{done * 25}%', end='', flush=True)\n    time.sleep(0.4)"
    cell = nb.append(code + "\nprint(' 日本\\b\\b!')")
    run = cell.run()
    pieces = [output.text for output in run.stream()]
    assert len(pieces) > 1
    for (output,) in (run.outputs, cell.outputs, nb.past_run(run.id).outputs, nb.at(nb.version)[cell.id].outputs):
        assert (output.name, output.text) == ("stdout", "100% 日!\n")
        assert "".join(piece["text"] for piece in output.pieces) == "".join(pieces)
    assert run.text == cell.text == "100% 日!\n"


def test_a_question_on_stdin_is_answered(nb: notarium.Notebook) -> None:
    run = nb.append("name = input('Who? ')\nprint('Hello', name)").run()
    assert run.asks(60) == "Who? "
    run.answer("Ada")
    assert run.wait(60).text.endswith("Hello Ada\n")


def test_a_kernel_is_restarted_and_forgets(nb: notarium.Notebook) -> None:
    nb.append("x = 1").run().wait(60)
    kernel = nb.kernels[0].restart()
    run = nb.append("x").run().wait(60)
    assert run.status == "error"
    assert nb.kernels == [kernel]
    scratch = nb.execute("print(2)").wait(60)
    assert (scratch.cell_id, scratch.text) == (None, "2\n")
    assert nb.past_run(scratch.id).text == "2\n"


def test_a_kernel_is_started_interrupted_and_shut_down(nb: notarium.Notebook) -> None:
    kernel = nb.start_kernel("python3")
    run = nb.append("import time\nprint('on', flush=True)\ntime.sleep(600)").run()
    assert next(run.stream()).text == "on\n"
    assert (kernel.phase, nb.kernels) == ("started", [kernel])
    kernel.interrupt()
    with pytest.raises(notarium.RunFailed, match="KeyboardInterrupt"):
        run.wait(60).raise_for_status()
    kernel.shut_down()
    following = nb.events(since=0, follow=True)
    assert any(isinstance(event, events.KernelSessionEnded) for event in following)
    assert kernel.phase == "ended"


def test_a_notebook_begins_as_a_template_and_who_one_is_can_be_asked(nt: notarium.Client) -> None:
    with nt.create("From a template", template="table") as nb:
        assert len(nb) > 0
        assert nb.metadata
        nb.set_metadata({**nb.metadata, "mine": [1.5, None]})
        assert nb.metadata["mine"] == [1.5, None]
        assert nb.access[0]["role"] == "owner"
        assert nb.check()
    assert nt.me()["actor"] == nt.actor
    assert nt.confirmations() == []
    assert nt.is_connected
    assert len(nt.notebooks(limit=1)) == 1


def test_large_outputs_are_fetched_when_asked(nb: notarium.Notebook) -> None:
    run = nb.append("print('x' * 50_000)").run().wait(60)
    assert "fetch() brings them" in run.text
    assert run.fetch().text == "x" * 50_000 + "\n"
    (missing,) = run.outputs[0].missing.values() or [0]
    assert missing == 0


def test_comments_begin_are_answered_and_settled(nb: notarium.Notebook) -> None:
    cell = nb.append("😀 = 1")
    thread = cell.comment("Why?", range=(2, 3))
    assert (thread.quote, thread.cell_id) == ("=", cell.id)
    reply = thread.reply("Because.")
    thread.edit(reply.id, "Because!")
    assert [comment.text for comment in thread.comments] == ["Why?", "Because!"]
    thread.resolve()
    assert cell.threads[0].is_resolved
    thread.reopen()
    thread.delete(reply.id)
    assert len(nb.threads[0].comments) == 1


def test_a_file_comes_in_and_goes_out(nt: notarium.Client, tmp_path: Path) -> None:
    source = {"nbformat": 4, "nbformat_minor": 5, "metadata": {},
              "cells": [{"id": "a", "cell_type": "markdown", "source": "# Täglich", "metadata": {}}]}  # fmt: skip
    (tmp_path / "daily.ipynb").write_text(json.dumps(source))
    with nt.import_notebook(tmp_path / "daily.ipynb") as nb, nt.import_notebook(source, title="Other") as other:
        assert (nb.title, nb[0].source, other.title) == ("daily", "# Täglich", "Other")
        nb.export(tmp_path / "out.ipynb")
        assert json.loads((tmp_path / "out.ipynb").read_text())["cells"][0]["source"] in ("# Täglich", ["# Täglich"])


def test_differences_authors_and_reports_of_the_past(nb: notarium.Notebook, tmp_path: Path) -> None:
    cell = nb.append("a = '😀'\nb = 1\n\nd")
    other = nb.append("gone")
    nb.name_version("begun")
    begun = nb.version - 1
    cell.edit("a = '😀'\nb = 22\n\nd")
    edited = nb.version
    other.delete()
    changed = {diff.cell_id: diff for diff in nb.diff("begun")}
    assert changed[cell.id].changes == ["edited"]
    assert changed[cell.id].source.splitlines()[-3:] == ["+b = 22", " ", " d"]
    assert changed[other.id].changes == ["deleted"]
    assert nb.diff(begun, begun) == []

    lines = nb.blame(cell)
    inserted = lines[0].version
    assert [(line.number, line.text, line.version) for line in lines] == [
        (1, "a = '😀'", inserted),
        (2, "b = 22", edited),
        (3, "", inserted),
        (4, "d", inserted),
    ]
    assert lines[0].actor["kind"] == "user"
    assert {line.version for line in nb.blame(cell, at="begun")} == {inserted}
    assert {line.cell_id for line in nb.blame()} == {cell.id}
    assert [line.text for line in nb.blame(other.id, at="begun")] == ["gone"]

    page = nb.report(tmp_path / "report.html", since=begun)
    assert (tmp_path / "report.html").read_bytes() == page
    assert b"edited cell" in page and b"made the notebook" not in page
    with pytest.raises(notarium.Invalid, match="no event after version"):
        nb.report(since=nb.version, until=1)


def test_an_owner_redacts_a_text_an_event_and_a_cell(nt: notarium.Client, nb: notarium.Notebook) -> None:
    cell = nb.append("key = 'hunter2-hunter2'")
    inserted = nb.version
    cell.edit("key = 'hunter2-hunter2'\n1")
    preview = nb.redact("a key", text="hunter2-hunter2", preview=True)
    assert (preview.versions, preview.epoch, cell.source) == ([inserted], None, "key = 'hunter2-hunter2'\n1")
    done = nb.redact("a key", text="hunter2-hunter2")
    assert done.versions == [inserted]
    with nt.open(nb.id) as again:
        assert again[cell.id].source == f"key = '{'█' * 15}'\n1"
        assert again.find("hunter2-hunter2", ever=True) == []
        event = next(event for event in again.events() if event.type == "ContentRedacted")
        assert (event.payload["reason"], [each["version"] for each in event.payload["redactions"]]) == (
            "a key",
            [inserted],
        )
        assert again.verify().ok
    assert nb.redact("all of it", cell=cell).versions
    nb.append("personal")
    assert nb.redact("all of it", event=nb.version).epoch
    with pytest.raises(ValueError, match="one of event, text and cell"):
        nb.redact("which?", event=1, text="text")


def test_the_past_is_read_named_and_proved(nb: notarium.Notebook) -> None:
    cell = nb.append("before")
    nb.name_version("draft")
    version = nb.version - 1
    cell.edit("after")
    assert nb.at(version)[cell.id].source == "before"
    assert list(nb.named_versions.values()) == ["draft"]
    assert nb.verify() == notarium.Verification(True, nb.version, nb.verify().hash, None)
    table = nb.history().to_pandas()
    assert list(table["type"])[:2] == ["NotebookCreated", "CellInserted"]
    assert nb.history().to_polars().height == nb.history().to_arrow().num_rows == nb.version


def test_events_are_typed_and_followed_live_without_a_gap(nb: notarium.Notebook) -> None:
    following = nb.events(since=0, follow=True)
    assert isinstance(next(following), events.NotebookCreated)
    cell = nb.append("x")
    writer = threading.Thread(target=lambda: [cell.splice(0, 0, "y") for _ in range(50)])
    writer.start()
    seen = [next(following) for _ in range(51)]
    writer.join()
    assert [event.version for event in seen] == list(range(2, 53))
    match seen[-1]:
        case events.CellSourceEdited(cell_id=cell_id, change=change):
            assert cell_id == cell.id
            assert change[0] == [0, "y"]
        case other:
            pytest.fail(f"{other}")
    following.close()


def test_people_share_and_see_each_other(server: Server, nb: notarium.Notebook) -> None:
    with notarium.connect(server.url, server.token) as other, other.open(nb.id) as theirs:
        theirs.show_presence()
        for _ in nb.events(since=nb.version, follow=False):
            pass
        deadline = time.monotonic() + 20
        while not nb.peers and time.monotonic() < deadline:
            nb.check()
        assert nb.peers[0]["actor"] == other.actor
    with pytest.raises(notarium.NotFound):
        nb.share("nobody-of-this-name")
    headers, login = {"Authorization": f"Bearer {server.token}"}, f"bo{time.time_ns()}"
    body = {"login": login, "name": "Bo"}
    httpx.post(f"{server.url}/api/users", headers=headers, json=body).raise_for_status()
    nb.share(login, "runner")
    assert sorted(entry["role"] for entry in nb.access) == ["owner", "runner"]
    nb.unshare(login)
    assert [entry["role"] for entry in nb.access] == ["owner"]
    link = nb.share_link("viewer")
    token = link.split("#")[1].split("=")[-1]
    with notarium.connect(server.url, token) as guest, guest.open(nb.id) as looked_at:
        assert looked_at.role == "viewer"
        with pytest.raises(notarium.Forbidden):
            looked_at.append("no")


def test_a_token_that_is_not_known_is_told_at_once(server: Server) -> None:
    with pytest.raises(notarium.Unauthenticated):
        notarium.connect(server.url, "nt_session_unknown")
    with pytest.raises(notarium.Disconnected, match=r"no server answers at http://127\.0\.0\.1:1"):
        notarium.connect("http://127.0.0.1:1", "nt_x")
    assert not [thread for thread in threading.enumerate() if thread.name == "notarium"]


def test_nothing_is_left_after_the_end(server: Server) -> None:
    with pytest.raises(KeyboardInterrupt), notarium.connect(server.url, server.token) as nt, nt.create("Cut") as nb:
        assert [thread for thread in threading.enumerate() if thread.name == "notarium"]
        nb.append("x")
        raise KeyboardInterrupt
    assert not [thread for thread in threading.enumerate() if thread.name == "notarium"]
    with pytest.raises(RuntimeError, match="closed"):
        nb.append("y")


def test_leaving_waits_for_what_was_typed_and_ends_what_follows(server: Server, nb: notarium.Notebook) -> None:
    cell = nb.append("")
    with notarium.connect(server.url, server.token) as nt:
        theirs = nt.open(nb.id)
        following = theirs.events(since=0, follow=True)
        assert next(following).version == 1
        for letter in "hello":
            theirs[cell.id].splice(0, 0, letter, wait=False)
    with notarium.connect(server.url, server.token) as nt, nt.open(nb.id) as again:
        assert again[cell.id].source == "olleh"
        run = again.execute("import time; time.sleep(600)")
        waiting = again.events(follow=True)
        next(waiting)
    with pytest.raises((notarium.Disconnected, RuntimeError)):
        list(waiting)
    with pytest.raises(RuntimeError, match="closed"):
        run.wait()
    nb.stop()


async def test_the_same_for_asyncio(server: Server) -> None:
    async with notarium.aio.connect(server.url, server.token) as nt, nt.create("Async") as nb:
        cells = await nb.extend(["a = 20", "a + 1"])
        runs = await nb.run(cells)
        await asyncio.gather(*(run.wait(60) for run in runs))
        assert str(runs[1].result) == "21"
        texts = [output.text async for output in runs[1].stream()]
        assert texts == ["21"]
        seen = [event.type async for event in nb.events()]
        assert seen[0] == "NotebookCreated"
        with pytest.raises(notarium.WaitTimeout, match=r"has not ended within 0\.1 s"):
            await (await nb.execute("import time; time.sleep(60)")).wait(0.1)
        await nb.stop()
        for kernel in nb.kernels:
            await kernel.shut_down()


async def test_the_blocking_face_works_inside_a_running_loop(server: Server) -> None:
    with notarium.connect(server.url, server.token) as nt, nt.create("Nested") as nb:
        assert nb.append("x").source == "x"


def test_it_works_in_a_notebooks_own_kernel(server: Server, nb: notarium.Notebook) -> None:
    package = Path(notarium.__file__).parents[1]
    code = f"""
import sys; sys.path.insert(0, {str(package)!r})
import notarium
with notarium.connect({server.url!r}, {server.token!r}) as nt, nt.open({nb.id!r}) as me:
    me.append("# written from inside", "markdown")
async with notarium.aio.connect({server.url!r}, {server.token!r}) as nt, nt.open({nb.id!r}) as me:
    await me.append("# and awaited", "markdown")
"""
    nb.append(code).run().wait(60).raise_for_status()
    assert [cell.source for cell in nb.cells][1:] == ["# written from inside", "# and awaited"]


def test_files_are_brought_moved_deleted_and_restored(nb: notarium.Notebook, tmp_path: Path) -> None:
    folder = f"shelf-{time.time_ns()}"
    stored = nb.upload_file(b"a,b\n1,2\n", f"{folder}/losses.csv")
    assert (stored.path, stored.size_bytes) == (f"{folder}/losses.csv", 8)
    with pytest.raises(notarium.Conflict) as caught:
        nb.upload_file(b"other", stored.path)
    assert caught.value.code == "file_exists"
    (tmp_path / "new.csv").write_text("new")
    nb.upload_file(tmp_path / "new.csv", f"{folder}/new.csv")
    with pytest.raises(notarium.Conflict):
        nb.move_file(stored.path, f"{folder}/new.csv")
    assert nb.move_file(stored.path, f"{folder}/old.csv") == f"{folder}/old.csv"
    assert [(file.name, file.kind, file.size_bytes) for file in nb.files(folder)] == [
        ("new.csv", "file", 3),
        ("old.csv", "file", 8),
    ]
    removed = nb.remove_file(folder)
    assert (removed.path, removed.kind, removed.size_bytes) == (folder, "folder", 11)
    assert removed in nb.file_trash()
    with pytest.raises(notarium.NotFound):
        nb.download_file(f"{folder}/old.csv")
    assert nb.restore_file(removed) == folder
    assert nb.download_file(f"{folder}/old.csv", tmp_path / "fetched.csv") == b"a,b\n1,2\n"
    nb.remove_file(folder)
    assert nb.restore_file(folder, to=f"{folder} again") == f"{folder} again"
    with pytest.raises(notarium.NotFound, match="not in the trash"):
        nb.restore_file(folder)


def test_a_kernel_waits_for_the_machine_that_is_chosen(nb: notarium.Notebook) -> None:
    (agent,) = nb.agents()
    assert agent.is_connected and agent.machine["cores"] > 0
    nb.set_kernel_settings(replacement="replace", labels={"gpu": "a100"})
    kernel = nb.start_kernel("python3")
    assert kernel.phase == "requested"
    here = kernel.restart(agent=agent.name)
    (run,) = nb.run(nb.extend(["6 * 7"]), kernel=here.id)
    assert str(run.wait(60).result) == "42"
    nb.set_kernel_settings(labels={})
    with pytest.raises(notarium.Rejected, match="KEY=VALUE"):
        nb.start_kernel(labels={"gpu": ""})
