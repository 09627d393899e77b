"""Calls the functions of the installed dialoghelper against a door, and prints one line for each that works.

    python functions.py PORT TOKEN

Runs in an environment with one version of dialoghelper: check.py makes them. Exit code 1 if a function does something else.
"""

import asyncio
import html
import importlib.metadata
import inspect
import json
import os
import re
import sys
import threading
import urllib.request
import uuid

PORT, TOKEN = int(sys.argv[1]), sys.argv[2]
os.environ["__DIALOG_NAME"] = "demo"
__dialog_name = "demo"
__msg_id = ""

import dialoghelper.core as c  # noqa: E402
from door_token import use_token  # noqa: E402

use_token(TOKEN, PORT)
c.dh_settings["port"] = PORT
VERSION = tuple(int(part) for part in importlib.metadata.version("dialoghelper").split("."))
IS_OLD = VERSION < (0, 0, 63)
RUN = uuid.uuid4().hex[:6]
# The id under which a script or an event waits for data.
ASKED = re.compile(r"""pushData\('([0-9a-f-]{36})'|"idx": *"([0-9a-f-]{36})\"""")


def call(name, *arguments, **options):
    """Calls a function of any version: ids were `msgid` until 0.0.62, functions are coroutines from 0.1.23."""
    if IS_OLD and "id" in options:
        options["msgid"] = options.pop("id")
    result = getattr(c, name)(*arguments, **options)
    return asyncio.run(result) if inspect.isawaitable(result) else result


def post(endpoint, **fields):
    """Sends a form as a page does."""
    return c.xpost(f"http://localhost:{PORT}/{endpoint}", data={"dlg_name": "demo", **fields}).json()


def post_text(endpoint, **fields):
    """The same, for an answer that is text."""
    return c.xpost(f"http://localhost:{PORT}/{endpoint}", data={"dlg_name": "demo", **fields}).text


def first(*names):
    """Returns the first of the names that this version has."""
    return next((name for name in names if hasattr(c, name)), None)


def message(name="read_msg", **options):
    """Reads one message; old clients wrap it."""
    read = call(name, **options)
    return read.get("msg", read)


def read(id):
    return message(n=0, id=id)


def check(condition, what, *shown):
    if not condition:
        raise AssertionError(f"{what}: {shown}")


def refuses(work, *words):
    """Expects the error of the door: an exception from 0.2.41, before a text or a dict."""
    try:
        result = work()
    except Exception as error:
        result = error
    check(all(word in str(result) for word in words), "a refusal that says why", result)


def adding():
    dialog = call("curr_dialog")
    check(dialog["name"] == "demo" and dialog["mode"], "curr_dialog", dialog)
    first_id = call("add_msg", f"# Head {RUN}", placement="at_end")
    code = call("add_msg", "x = 1\nprint(x)", placement="add_after", id=first_id, msg_type="code", pinned=1)
    note = call("add_msg", "note one\nnote two\nnote three", placement="add_before", id=code)
    call("add_msg", "start", placement="at_start")
    raw = call("add_msg", "raw text", placement="at_end", msg_type="raw")
    prompt = call("add_msg", "a question", placement="at_end", msg_type="prompt", output="an answer")
    check(
        all(isinstance(id, str) and len(id) == 8 for id in (first_id, code, note, raw, prompt)), "ids", first_id, prompt
    )
    places = [call("msg_idx", id=id) for id in (first_id, note, code, raw, prompt)]
    check(places == list(range(places[0], places[0] + 5)), "msg_idx", places)
    check(read(prompt)["output"] == "an answer" and read(raw)["msg_type"] == "raw", "read_msg", read(prompt))
    check(read("_" + code)["pinned"] == 1, "an id with an underscore", read(code))
    check(message(n=1, id=note)["id"] == code, "a relative place")
    check(message(n=-1, relative=False)["id"] == prompt, "an absolute place")
    lines = {"view_range": [2, -1]} if "view_range" in inspect.signature(c.read_msg).parameters else {"start_line": 2}
    check(
        message(n=0, id=note, nums=True, **lines)["content"] == "     2 │ note two\n     3 │ note three",
        "view_range",
        lines,
    )
    return first_id, note, code, prompt


def finding(head, note, code):
    parameters = inspect.signature(c.find_msgs).parameters
    found = lambda *given, **options: [found["id"] for found in call("find_msgs", *given, **options)]  # noqa: E731
    context = {"context": 0} if "context" in parameters else {}
    check(note in found("note two$", **context) and code not in found("note two$", **context), "a pattern")
    check(code in found("PRINT", msg_type="code", **context), "a kind")
    check(len(found(limit=1, **context)) == 1, "limit")
    check("output" not in call("find_msgs", "x = 1", include_output=False)[0], "include_output")
    if "as_xml" in parameters:
        xml = call("find_msgs", ids=note, as_xml=True, nums=True, **context)
        check(f'<markdown id="{note}">     1 │ note one' in str(xml), "as_xml", xml)
        check("<msgs>" in str(call("view_dlg")), "view_dlg")
        check(set(found(ids=f"{note},{code}", **context)) == {note, code}, "ids")
        check(found("note two", use_case=True, use_regex=False, **context) == [note], "text")
        check(not found(only_err=True, **context) and not found(only_exp=True, **context), "errors and exports")
    if "headers_only" in parameters:
        check(head in found(headers_only=True), "headers_only")
        check({head, note, code} <= set(found(header_section=f"# Head {RUN}", **context)), "header_section")
    if "context" in parameters:
        check(found("note two", before=1, context=0) == [head, note], "before", found("note two", before=1, context=0))
    refuses(lambda: call("find_msgs", "("), *([] if IS_OLD else ["cannot be used"]))


def changing(note, code):
    call("update_msg", id=note, content="note one\nnote two", skipped=1)
    check((read(note)["content"], read(note)["skipped"]) == ("note one\nnote two", 1), "update_msg", read(note))
    edited = call("msg_str_replace", note, "note one", "line one")
    check(edited, "msg_str_replace", edited)
    call("msg_insert_line", note, 0, "line zero")
    call("msg_strs_replace", note, ["line zero", "line one"], ["a", "b"])
    call("msg_replace_lines", note, 2, 2, "c\n")
    check(read(note)["content"].splitlines() == ["a", "c", "note two"], "edits by lines and strings", read(note))
    refuses(lambda: call("msg_str_replace", note, "not there", "x"), "not")
    if hasattr(c, "msg_del_lines"):
        call("msg_del_lines", note, 1, 1)
        check(read(note)["content"].splitlines() == ["c", "note two"], "msg_del_lines", read(note))
    if not IS_OLD:
        whole = read(note)
        check(call("update_msg", msg=whole) == note, "a whole message sent back")
    if hasattr(c, "toggle_comment"):
        call("toggle_comment", code)
        check(read(code)["content"].startswith("# x = 1"), "toggle_comment", read(code))
        call("toggle_comment", code)


def marking(head, note, code):
    copy, paste = first("copy_msgs", "copy_msg"), first("paste_msgs", "paste_msg")
    if copy and not IS_OLD:
        check(call(copy, f"{head},{note}"), "copy")
        check(call(paste, id=code), "paste")
        pasted = message(n=1, id=code)
        check(pasted["content"] == f"# Head {RUN}" and pasted["id"] != head, "a pasted message", pasted)
        check(call("toggle_header", head) and read(head)["heading_collapsed"] == 1, "toggle_header")
    if hasattr(c, "toggle_bookmark"):
        check(call("toggle_bookmark", head, 3) and read(head)["bookmark"] == 3, "toggle_bookmark", read(head))
    if hasattr(c, "toggle_export"):
        check(call("toggle_export", [head, code])["exported"] and read(code)["exported"] == 1, "toggle_export")


def exchanging():
    id = str(uuid.uuid4())
    check(post("push_data_", data_id=id, result="42") == {"status": "success"}, "push_data_")
    check(c.pop_data(id).result == "42", "pop_data")
    refuses(lambda: c.pop_data(str(uuid.uuid4()), timeout=1 if VERSION < (0, 2, 32) else 12), "no data came")
    c.add_html("<div>pushed</div>") if not inspect.iscoroutinefunction(c.add_html) else call(
        "add_html", "<div>pushed</div>"
    )
    c.iife("1") if not inspect.iscoroutinefunction(c.iife) else call("iife", "1")


class Browser(threading.Thread):
    """Follows pushed HTML as a page of Solveit does, and answers scripts that wait for data."""

    def __init__(self):
        super().__init__(daemon=True)
        self.pushed = []
        address = f"http://localhost:{PORT}/html_stream_?dlg_name=demo"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {TOKEN}"})
        self.stream = urllib.request.urlopen(request, timeout=60)
        check(self.stream.readline() == b": open\n", "html_stream_")

    def run(self):
        for line in self.stream:
            if line.startswith(b"data:"):
                self.pushed.append(html.unescape(json.loads(line[5:])["content"]))
                asked = ASKED.search(self.pushed[-1])
                if asked:
                    post("push_data_", data_id=asked[1] or asked[2], result="42", ready="true")


def scripting():
    """Functions that run JavaScript in the pages of the dialog."""
    browser = Browser()
    browser.start()
    for name, arguments in [
        ("add_scr", ["1"]),
        ("iife", ["1"]),
        ("add_mod", ["1"]),
        ("fire_event", ["told"]),
        ("event_get", ["asked"]),
        ("js_run", ["done()"]),
        ("js_eval", ["return 42"]),
    ]:
        for variant in (name, name + "_a"):
            if not hasattr(c, variant):
                continue
            before = len(browser.pushed)
            answer = call(variant, *arguments)
            while len(browser.pushed) == before:
                pass
            if name in ("event_get", "js_run", "js_eval"):
                check(answer.result == "42", variant, answer)


def loading():
    """load_dialog itself needs a kernel; its endpoint runs the code of one dialog in the kernel of another."""
    loaded = post_text("load_dialog_", src_dname="demo")
    check("<msgs>" in loaded and "print(" in loaded, "load_dialog_", loaded)


def running(code):
    call("update_msg", id=code, content="print(6 * 7)")
    queued = call("run_msg", code)
    check("queued" in str(queued), "run_msg", queued)
    while read(code)["run"]:
        pass
    check(read(code)["output"] == "42", "the output of a run", read(code))
    check(post("run_msgs_", ids=code) == {"outputs": ["42"]}, "run_msgs_")
    prompt = call("add_msg", "What is the answer?", placement="at_end", msg_type="prompt")
    refused = post("run_msgs_", ids=f"{code},{prompt}")
    check("code alone" in refused["error"], "run_msgs_ with a prompt", refused)
    check("queued" in str(call("run_msg", prompt)), "a prompt is queued")
    while read(prompt)["run"]:
        pass
    check(read(prompt)["output"] == "The answer is 42.", "a prompt runs as a turn", read(prompt))


def managing():
    create = first("create_or_run_dialog", "create_dialog")
    if create is None:
        return
    made = call(create, f"made-{RUN}")
    check(made["success"] == f'"made-{RUN}" is now running', create, made)
    if hasattr(c, "list_dialogs"):
        listed = call("list_dialogs")["items"]
        check(f"made-{RUN}" in listed and "demo" in listed, "list_dialogs", listed)
        check(call("realpath", "/made") == "/made", "realpath")
    if hasattr(c, "stop_dialog"):
        check(call("stop_dialog", f"made-{RUN}")["success"] == "dialog stopped", "stop_dialog")
    check(call("rm_dialog", f"made-{RUN}")["success"] == f'deleted "made-{RUN}"', "rm_dialog")
    if hasattr(c, "search"):
        refuses(lambda: call("search", "x"), "does not search the web")
        refuses(lambda: call("searches", ["x"]), "does not search the web")
        refuses(lambda: call("web_answer", "x", ["y"]), "does not search the web")
    if hasattr(c, "connfiles"):
        refuses(lambda: asyncio.run(c.call_endpa("connfiles_", json=True, required=False)), "given to nobody")


def relaying():
    if not hasattr(c, "Channel"):
        return

    async def talk():
        address = f"ws://x:{TOKEN}@localhost:{PORT}/wsx?chan=check"
        one, two = await c.Channel.connect("check", address), await c.Channel.connect("check", address)

        async def answer():
            asked = await two.events.get()
            await two.send(id=asked["id"], answer=asked["question"] + 1)

        answering = asyncio.create_task(answer())
        reply = await one.request(question=41)
        await answering
        check(reply["answer"] == 42, "a reply over a channel", reply)
        await one.close()
        await two.close()

    asyncio.run(talk())


def deleting(note):
    delete = first("del_msgs", "del_msg")
    call(delete, note)
    refuses(lambda: call(delete, note), "404")
    refuses(lambda: read(note), *([] if VERSION < (0, 2, 41) else ["was deleted"]))


def main():
    head, note, code, _ = adding()
    for work in (
        lambda: finding(head, note, code),
        lambda: changing(note, code),
        lambda: marking(head, note, code),
        exchanging,
        scripting,
        lambda: running(code),
        loading,
        managing,
        relaying,
        lambda: deleting(note),
    ):
        work()
    print(f"dialoghelper {'.'.join(map(str, VERSION))}: every function does what it says")


main()
