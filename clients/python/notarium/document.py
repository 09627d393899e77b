"""A notebook's document: the state, and what each event does to it (protocol, section 2, “State”).

The state is plain JSON. Runs, cells and kernels are changed in place, so references to them stay current. Readers in other
threads copy lists.
"""

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any, TypeAlias, get_args

from . import document_assistants as assistants
from . import document_schedules as schedules
from .document_parts import compact, drop, pick, put
from .text import apply_change, map_position
from .words import ExecutionStatus

Json: TypeAlias = dict[str, Any]
Apply: TypeAlias = Callable[[Json, Json, Json], object]

# Version of the rules that fold events into the state.
RULES = 1
# Newest known schema of each event type, if it is not 1.
SCHEMAS: dict[str, int] = {
    "ExecutionRequested": 2,
    "CellRestored": 2,
    "KernelFunctionsRegistered": 2,
    "GrantIssued": 2,
    "KernelLaunchRequested": 2,
}
ENDED = frozenset(get_args(ExecutionStatus)) - {"queued", "assigned", "running"}
# Order of subject kinds in `access`.
_SUBJECTS = ("user", "share_link", "workspace", "agent")
_FIELDS = frozenset(
    ("notebook_id", "version", "title", "archived", "erased", "metadata", "created_at", "updated_at", "access", "cells")
    + ("order", "latest", "threads", "executions", "kernels", "kernel_notice", "functions", "named_versions", "policy")
    + ("redaction_epoch", "reactivity", "kernel_settings", "conversations", "turns", "tool_calls", "grants")
    + ("schedules",)
)


class UnknownEvent(Exception):
    """Event that this client cannot fold. The server's snapshot must replace the state."""


class Document:
    """The state of a notebook at a version."""

    def __init__(self, state: Json) -> None:
        self.state = state

    @classmethod
    def empty(cls, notebook_id: str) -> "Document":
        """The state before the first event."""
        state: Json = {"notebook_id": notebook_id, "version": 0, "title": "", "metadata": {}, "created_at": 0}
        state |= {
            "updated_at": 0,
            "access": [],
            "cells": {},
            "order": [],
            "latest": {},
            "executions": {},
            "kernels": {},
        }
        return cls(state)

    @property
    def version(self) -> int:
        """Version of the last applied event."""
        version: int = self.state["version"]
        return version

    @property
    def is_known_whole(self) -> bool:
        """True if the state has no field of a newer server. Such a field would change the digest."""
        return self.state.keys() <= _FIELDS

    def apply(self, event: Json) -> None:
        """Applies the next event."""
        kind, payload = event["type"], event["payload"]
        effects = _EFFECTS.get(kind)
        if effects is None or event["schema"] > SCHEMAS.get(kind, 1):
            raise UnknownEvent(kind)
        state = self.state
        for group, key, effect in effects:
            target = state if group is None else state.get(group, {}).get(payload.get(key))
            if target is not None:
                effect(target, payload, event)
        if "execution_id" in payload:
            self._note_output(payload)
            _forget_run(state, payload["execution_id"])
        state["version"], state["updated_at"] = event["version"], event["recorded_at"]

    def _note_output(self, payload: Json) -> None:
        run = self.state["executions"].get(payload["execution_id"])
        if run is not None and "output_seq" in payload:
            run["output_seq"] = payload["output_seq"]


def _forget_run(state: Json, run_id: str | None) -> None:
    """Removes a finished run from the state, unless it is the latest run of a live cell."""
    run = state["executions"].get(run_id)
    if run is None or run["status"] not in ENDED:
        return
    if state["latest"].get(run["subject"].get("cell_id")) != run_id:
        del state["executions"][run_id]


# --- the notebook ---


def _created(state: Json, payload: Json, event: Json) -> None:
    state.update(title=payload["title"], metadata=payload["metadata"], created_at=event["recorded_at"])
    _granted(state, {"subject": payload["owner"], "role": "owner"}, event)


def _reactivity_set(state: Json, payload: Json, event: Json) -> None:
    put(state, "reactivity", None if payload["reactivity"] == "off" else payload["reactivity"])


def _kernel_settings_set(state: Json, payload: Json, event: Json) -> None:
    is_unset = payload["settings"] == {"replacement": "ask", "labels": {}}
    put(state, "kernel_settings", None if is_unset else payload["settings"])


def _version_named(state: Json, payload: Json, event: Json) -> None:
    state.setdefault("named_versions", {})[str(payload["version"])] = payload["name"]


def _revoked(state: Json, payload: Json, event: Json) -> None:
    state["access"] = [entry for entry in state["access"] if entry["subject"] != payload["subject"]]


def _granted(state: Json, payload: Json, event: Json) -> None:
    _revoked(state, payload, event)
    state["access"].append(pick(payload, "subject", "role", "expires_at"))
    state["access"].sort(key=lambda entry: (_SUBJECTS.index(entry["subject"]["kind"]), entry["subject"]["id"]))


# --- cells ---


def _enter(state: Json, cell_id: str) -> None:
    cells = state["cells"]
    insort(state["order"], cell_id, key=lambda one: (cells[one]["order_key"], one))


def _leave(state: Json, cell_id: str) -> None:
    cells, order = state["cells"], state["order"]
    place = bisect_left(order, (cells[cell_id]["order_key"], cell_id), key=lambda one: (cells[one]["order_key"], one))
    if order[place : place + 1] == [cell_id]:
        del order[place]


def _show(state: Json, cell_id: str, run_id: str | None) -> None:
    """Sets the latest run of a cell, or removes it if `run_id` is None."""
    before = state["latest"].pop(cell_id, None)
    if run_id is not None:
        state["latest"][cell_id] = run_id
    _forget_run(state, before)


def _inserted(state: Json, payload: Json, event: Json) -> None:
    cell_id = payload["cell_id"]
    if cell_id in state["cells"]:
        _leave(state, cell_id)
    cell = compact(payload["cell"])
    cell |= {"source": payload["cell"]["source"], "cell_version": event["version"], "source_version": event["version"]}
    if reply := payload.get("reply"):
        cell["reply"] = compact(reply) | {"prompt": reply["prompt"], "text": reply["text"]}
    state["cells"][cell_id] = cell
    _enter(state, cell_id)


def _restored(state: Json, payload: Json, event: Json) -> None:
    _inserted(state, payload, event)
    if run_id := payload.get("latest_execution"):
        if run := payload.get("execution"):
            past = compact(run) | {"output_seq": run["output_seq"]}
            put(past, "outputs", list(run.get("outputs") or ()))
            state["executions"].setdefault(run_id, past)
        _show(state, payload["cell_id"], run_id)


def _deleted(state: Json, payload: Json, event: Json) -> None:
    cell_id = payload["cell_id"]
    if cell_id in state["cells"]:
        _leave(state, cell_id)
        del state["cells"][cell_id]
        _show(state, cell_id, None)


def _moved(state: Json, payload: Json, event: Json) -> None:
    cell = state["cells"].get(payload["cell_id"])
    if cell is not None:
        _leave(state, payload["cell_id"])
        cell.update(order_key=payload["order_key"], cell_version=event["version"])
        _enter(state, payload["cell_id"])


def _source_edited(cell: Json, payload: Json, event: Json) -> None:
    cell["source"] = apply_change(payload["change"], cell["source"])
    cell["cell_version"] = cell["source_version"] = event["version"]


def _type_changed(cell: Json, payload: Json, event: Json) -> None:
    cell.update(cell_type=payload["cell_type"], cell_version=event["version"])


# --- comments ---


def _ranges_follow(state: Json, payload: Json, event: Json) -> None:
    threads = state.get("threads")
    if not threads or payload["cell_id"] not in state["cells"]:
        return
    for thread in threads.values():
        if thread["cell_id"] == payload["cell_id"] and "range" in thread:
            start = map_position(thread["range"][0], payload["change"], True)
            thread["range"] = [start, max(start, map_position(thread["range"][1], payload["change"], False))]


def _thread_started(state: Json, payload: Json, event: Json) -> None:
    thread: Json = pick(payload, "cell_id", "range", "quote") | {"comments": []}
    state.setdefault("threads", {})[payload["thread_id"]] = thread


def _thread_moved(thread: Json, payload: Json, event: Json) -> None:
    thread["cell_id"] = payload["cell_id"]
    put(thread, "range", payload.get("range"))


def _thread_resolved(thread: Json, payload: Json, event: Json) -> None:
    thread["resolved"] = {"by": event["actor"], "at": event["recorded_at"]}


def _comment_posted(thread: Json, payload: Json, event: Json) -> None:
    comment = pick(payload, "comment_id", "text", "mentions")
    thread["comments"].append(comment | {"author": event["actor"], "posted_at": event["recorded_at"]})


def _comment_edited(thread: Json, payload: Json, event: Json) -> None:
    for comment in thread["comments"]:
        if comment["comment_id"] == payload["comment_id"]:
            comment.update(text=payload["text"], edited_at=event["recorded_at"])
            put(comment, "mentions", payload.get("mentions"))


def _comment_deleted(state: Json, payload: Json, event: Json) -> None:
    thread = state.get("threads", {}).get(payload["thread_id"])
    if thread is not None:
        thread["comments"] = [one for one in thread["comments"] if one["comment_id"] != payload["comment_id"]]
        if not thread["comments"]:
            drop(state, "threads", payload["thread_id"])


# --- runs ---


def _run_requested(state: Json, payload: Json, event: Json) -> None:
    run = pick(payload, "kernel_session", "timeout_ms", "stop_on_error")
    run |= {"subject": payload["subject"], "status": "queued", "cause": payload["cause"], "output_seq": 0}
    # A payload of schema 1 has none: that run was free.
    run["effects"] = payload.get("effects", "free")
    run |= {"requested_by": event["actor"], "requested_at": event["recorded_at"]}
    run |= {"requested_version": event["version"], "correlation_id": event["correlation_id"]}
    state["executions"][payload["execution_id"]] = run
    cell_id = payload["subject"].get("cell_id")
    if cell_id in state["cells"]:
        _show(state, cell_id, payload["execution_id"])


def _run_assigned(run: Json, payload: Json, event: Json) -> None:
    run.update(pick(payload, "kernel_session", "agent", "fence"), status="assigned")


def _effect_refused(run: Json, payload: Json, event: Json) -> None:
    refused = {key: payload[key] for key in ("kind", "target", "count")}
    known: list[Json] = list(run.get("refused") or ())
    place = next((index for index, one in enumerate(known) if one["kind"] == refused["kind"]), len(known))
    known[place : place + 1] = [refused]
    run["refused"] = known


def _run_started(run: Json, payload: Json, event: Json) -> None:
    run.update(status="running", started_at=event["recorded_at"])


def _output_appended(run: Json, payload: Json, event: Json) -> None:
    outputs = [compact(output) for output in payload["outputs"]]
    if run.pop("clear_on_next_output", False):
        run.pop("outputs", None)
    if "outputs" in run:
        run["outputs"].extend(outputs)
    else:
        put(run, "outputs", outputs)


def _outputs_moved(run: Json, payload: Json, _: Json) -> None:
    outputs = run.get("outputs", [])
    # Backwards, so that earlier indices remain valid.
    for moved in reversed(payload["moved"]):
        first, end = moved["first"], moved["first"] + moved["count"]
        if end <= len(outputs):
            outputs[first:end] = [compact(moved["output"])]


def _outputs_cleared(run: Json, payload: Json, event: Json) -> None:
    put(run, "clear_on_next_output", payload["wait"])
    if not payload["wait"]:
        run.pop("outputs", None)


def _output_updated(state: Json, payload: Json, event: Json) -> None:
    shown = compact(payload["output"]) | {"display_id": payload["display_id"]}
    for run in state["executions"].values():
        outputs = run.get("outputs", ())
        for index, output in enumerate(outputs):
            if output.get("display_id") == payload["display_id"]:
                outputs[index] = shown


def _input_requested(run: Json, payload: Json, event: Json) -> None:
    run["pending_input"] = {"prompt": payload["prompt"], "password": payload["password"]}


def _end(run: Json, event: Json, status: str, notice: str | None, **why: str) -> None:
    run.update(status=status, ended_at=event["recorded_at"], **why)
    put(run, "notice", notice)
    run.pop("pending_input", None)


def _run_completed(run: Json, payload: Json, event: Json) -> None:
    outcome = payload["outcome"]
    _end(run, event, "ok" if outcome == "ok" else "error", payload.get("notice"))
    put(run, "end_cause", None if outcome in ("ok", "error") else outcome)
    put(run, "execution_count", payload.get("execution_count"))


def _run_cancelled(run: Json, payload: Json, event: Json) -> None:
    _end(run, event, "cancelled", payload.get("detail"), end_cause=payload["cause"])


def _run_lost(run: Json, payload: Json, event: Json) -> None:
    _end(run, event, "lost", payload.get("detail"), end_cause=payload["cause"])


def _run_blocked(run: Json, payload: Json, event: Json) -> None:
    _end(run, event, "blocked", None, blocked_by=payload["blocked_by"])


# --- kernels ---


def _launch_requested(state: Json, payload: Json, event: Json) -> None:
    kernel: Json = pick(payload, "kernelspec") | {"phase": "requested", "requested_version": event["version"]}
    put(kernel, "placement", pick(payload, "agent", "labels"))
    state["kernels"][payload["kernel_session"]] = kernel


def _kernel_started(kernel: Json, payload: Json, event: Json) -> None:
    kernel.update(phase="started", agent=payload["agent"], fence=event["version"])
    put(kernel, "language_info", payload["language_info"])
    put(kernel, "sandbox", payload.get("sandbox"))


def _restart_requested(state: Json, payload: Json, event: Json) -> None:
    kernel = state["kernels"].get(payload["kernel_session"])
    if kernel is not None:
        kernel["phase"] = "ending"
        following: Json = pick(kernel, "kernelspec", "agent", "requested_version", "placement") | {"phase": "claimed"}
        state["kernels"][payload["next"]] = following


def _kernel_ended(state: Json, payload: Json, event: Json) -> None:
    session = payload["kernel_session"]
    for function in state.get("functions", {}).values():
        if function.get("kernel_session") == session:
            del function["kernel_session"]
    kernel = state["kernels"].pop(session, None)
    if kernel is not None and kernel["phase"] != "ending":
        state["kernel_notice"] = pick(payload, "kernel_session", "cause", "detail") | {"version": event["version"]}


def _functions_registered(state: Json, payload: Json, event: Json) -> None:
    known, session = state.get("functions", {}), payload["kernel_session"]
    names = {function["name"] for function in payload["functions"]}
    kept = {name: one for name, one in known.items() if name in names or one.get("kernel_session") != session}
    for function in payload["functions"]:
        before = known.get(function["name"])
        version = event["version"]
        if before is not None and before["function"] == function:
            version = before["registered_version"]
        kept[function["name"]] = {"function": function, "registered_version": version, "kernel_session": session}
    put(state, "functions", kept)


def _functions_forgotten(state: Json, payload: Json, event: Json) -> None:
    for name in payload["names"]:
        drop(state, "functions", name)


def _erased(state: Json, payload: Json, event: Json) -> None:
    empty = Document.empty(state["notebook_id"]).state
    empty |= {"version": state["version"], "updated_at": state["updated_at"], "access": payload["access"]}
    erased = {name: payload[name] for name in ("reason", "version", "hash")}
    state.clear()
    state.update(empty, erased={"by": event["actor"], "at": event["recorded_at"], **erased})


def _nothing(*_: Json) -> None:
    pass


_NOTEBOOK: dict[str, Apply] = {
    "NotebookCreated": _created,
    "NotebookRenamed": lambda state, payload, _: state.update(title=payload["title"]),
    "NotebookMetadataSet": lambda state, payload, _: state.update(metadata=payload["metadata"]),
    "NotebookArchived": lambda state, *_: state.update(archived=True),
    "NotebookUnarchived": lambda state, *_: state.pop("archived", None),
    "NotebookVersionNamed": _version_named,
    "NotebookReactivitySet": _reactivity_set,
    "NotebookKernelSettingsSet": _kernel_settings_set,
    "NotebookRestored": _nothing,
    "ContentRedacted": lambda state, _, event: state.update(redaction_epoch=event["version"]),
    "NotebookErased": _erased,
    "UndoSkipped": _nothing,
    "AccessGranted": _granted,
    "AccessRevoked": _revoked,
    "CellInserted": _inserted,
    "CellRestored": _restored,
    "CellDeleted": _deleted,
    "CellMoved": _moved,
    "CellSourceEdited": _ranges_follow,
    "CellOutputsCleared": lambda state, payload, _: _show(state, payload["cell_id"], None),
    "ThreadStarted": _thread_started,
    "CommentDeleted": _comment_deleted,
    "ExecutionRequested": _run_requested,
    "ExecutionOutputUpdated": _output_updated,
    "KernelLaunchRequested": _launch_requested,
    "KernelSessionStarted": lambda state, *_: state.pop("kernel_notice", None),
    "KernelRestartRequested": _restart_requested,
    "KernelInterruptRequested": _nothing,
    "KernelLaunchFailed": _kernel_ended,
    "KernelSessionEnded": _kernel_ended,
    "KernelFunctionsRegistered": _functions_registered,
    "KernelFunctionsForgotten": _functions_forgotten,
    **assistants.NOTEBOOK,
    **schedules.NOTEBOOK,
}
_CELLS: dict[str, Apply] = {
    "CellSourceEdited": _source_edited,
    "CellTypeChanged": _type_changed,
    "CellMetadataSet": lambda cell, payload, _: put(cell, "metadata", payload["metadata"]),
    "CellAttachmentsSet": lambda cell, payload, _: put(cell, "attachments", payload["attachments"]),
    "CellFlagsSet": lambda cell, payload, _: put(cell, "flags", compact(payload["flags"])),
}
_RUNS: dict[str, Apply] = {
    "ExecutionAssigned": _run_assigned,
    "ExecutionStarted": _run_started,
    "ExecutionOutputAppended": _output_appended,
    "ExecutionOutputsCleared": _outputs_cleared,
    "ExecutionOutputsMoved": _outputs_moved,
    "ExecutionInputRequested": _input_requested,
    "ExecutionInputAnswered": lambda run, *_: run.pop("pending_input", None),
    "ExecutionEffectRefused": _effect_refused,
    "ExecutionCancelRequested": lambda run, *_: run.update(cancel_requested=True),
    "ExecutionOutputRecovered": _nothing,
    "ExecutionCompleted": _run_completed,
    "ExecutionCancelled": _run_cancelled,
    "ExecutionLost": _run_lost,
    "ExecutionBlocked": _run_blocked,
}
_THREADS: dict[str, Apply] = {
    "ThreadMoved": _thread_moved,
    "ThreadResolved": _thread_resolved,
    "ThreadReopened": lambda thread, *_: thread.pop("resolved", None),
    "CommentPosted": _comment_posted,
    "CommentEdited": _comment_edited,
}
_KERNELS: dict[str, Apply] = {
    "KernelSessionStarted": _kernel_started,
    "KernelLaunchClaimed": lambda kernel, payload, _: kernel.update(phase="claimed", agent=payload["agent"]),
    "KernelShutdownRequested": lambda kernel, *_: kernel.update(phase="ending"),
}
# Handlers by event type: table of the state, field of the payload that names the entry, functions.
_TABLES: tuple[tuple[str | None, str, dict[str, Apply]], ...] = (
    (None, "", _NOTEBOOK),
    ("cells", "cell_id", _CELLS),
    ("executions", "execution_id", _RUNS),
    ("kernels", "kernel_session", _KERNELS),
    ("threads", "thread_id", _THREADS),
    *assistants.TABLES,
)
_EFFECTS: dict[str, list[tuple[str | None, str, Apply]]] = {}
for _group, _key, _table in _TABLES:
    for _kind, _effect in _table.items():
        _EFFECTS.setdefault(_kind, []).append((_group, _key, _effect))
