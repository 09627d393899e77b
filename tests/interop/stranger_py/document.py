"""A notebook's document, from protocol/events.md (apply, digest, assistants) and protocol/socket.md (text) alone."""

import hashlib
import json
from decimal import Decimal

ENDED = {"ok", "error", "cancelled", "blocked", "lost"}
SUBJECTS = ["user", "share_link", "workspace", "agent"]
# Newest schema of each type that this client knows, if it is not 1.
SCHEMAS = {
    "ExecutionRequested": 2,
    "CellRestored": 2,
    "KernelFunctionsRegistered": 2,
    "GrantIssued": 2,
    "KernelLaunchRequested": 2,
}


class Unknown(Exception):
    """Event that this client cannot fold. The server's snapshot is needed."""


# --- digest ---


def canonical(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return json.dumps(value, ensure_ascii=False)
    return number(float(value))


def number(value):
    """A double as ECMAScript prints it."""
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        plain = format(Decimal(repr(value)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{'+' if int(exponent) > 0 else ''}{int(exponent)}"


def digest(document):
    return hashlib.sha256(canonical(document).encode()).hexdigest()


# --- text: positions count UTF-16 units ---


def parts(section):
    kept = isinstance(section, int)
    return (True, section, b"") if kept else (False, section[0], "\n".join(section[1:]).encode("utf-16-le"))


def apply_change(change, text):
    units, at, out = text.encode("utf-16-le"), 0, b""
    for section in change:
        kept, length, inserted = parts(section)
        out += units[at : at + 2 * length] if kept else inserted
        at += 2 * length
    if at != len(units):
        raise ValueError(f"the change is for {at // 2} units, the text has {len(units) // 2}")
    return out.decode("utf-16-le")


def first_units(text, units):
    return text if units is None else text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")


# --- the state ---


def fresh(notebook_id):
    state = {"notebook_id": notebook_id, "version": 0, "title": "", "metadata": {}, "created_at": 0, "updated_at": 0}
    return state | {"access": [], "cells": {}, "order": [], "latest": {}, "executions": {}, "kernels": {}}


def put(target, key, value, default=None):
    """Sets a field. Empty and default values are left out."""
    target.pop(key, None)
    target.update(compact({key: None if value == default else value}))


def compact(value):
    return {key: one for key, one in value.items() if one not in (None, {}, []) and one is not False}


def pick(payload, *keys):
    return compact({key: payload.get(key) for key in keys})


def drop(state, group, key):
    state.get(group, {}).pop(key, None)
    put(state, group, state.get(group))


# --- effects of events on the state, or on one cell, run or kernel ---


def notebook_created(s, p, e):
    s.update(title=p["title"], metadata=p["metadata"], created_at=e["recorded_at"])
    access_granted(s, {"subject": p["owner"], "role": "owner"}, e)


def access_revoked(s, p, e):
    s["access"] = [entry for entry in s["access"] if entry["subject"] != p["subject"]]


def access_granted(s, p, e):
    access_revoked(s, p, e)
    s["access"].append(pick(p, "subject", "role", "expires_at"))
    s["access"].sort(key=lambda entry: (SUBJECTS.index(entry["subject"]["kind"]), entry["subject"]["id"]))


def cell_inserted(s, p, e):
    versions = {"cell_version": e["version"], "source_version": e["version"]}
    cell = compact(p["cell"]) | {"source": p["cell"]["source"]} | versions
    if p.get("reply"):
        cell["reply"] = compact(p["reply"]) | {key: p["reply"][key] for key in ("prompt", "text")}
    s["cells"][p["cell_id"]] = cell


def cell_restored(s, p, e):
    cell_inserted(s, p, e)
    if run := p.get("latest_execution"):
        s["latest"][p["cell_id"]] = run
        if p.get("execution"):
            s["executions"].setdefault(run, compact(p["execution"]) | {"output_seq": p["execution"]["output_seq"]})


def cell_deleted(s, p, e):
    s["cells"].pop(p["cell_id"], None)
    s["latest"].pop(p["cell_id"], None)


def cell_source_edited(cell, p, e):
    cell["source"] = apply_change(p["change"], cell["source"])
    cell.update(cell_version=e["version"], source_version=e["version"])


def moved(spot, change, after):
    old = new = 0
    for section in change:
        kept, length, inserted = parts(section)
        size = length if kept else len(inserted) // 2
        if kept and old + length > spot:
            return new + spot - old
        if not kept and (old + length > spot or (old + length == spot and not length and not after)):
            return new if spot == old or not after else new + size
        old, new = old + length, new + size
    return new


def ranges_follow(s, p, e):
    for thread in s.get("threads", {}).values():
        if thread["cell_id"] == p["cell_id"] and "range" in thread and p["cell_id"] in s["cells"]:
            start = moved(thread["range"][0], p["change"], True)
            thread["range"] = [start, max(start, moved(thread["range"][1], p["change"], False))]


def thread_started(s, p, e):
    s.setdefault("threads", {})[p["thread_id"]] = pick(p, "cell_id", "range", "quote") | {"comments": []}


def comment_posted(thread, p, e):
    said = pick(p, "comment_id", "text", "mentions")
    thread["comments"].append(said | {"author": e["actor"], "posted_at": e["recorded_at"]})


def comment_edited(thread, p, e):
    for comment in thread["comments"]:
        if comment["comment_id"] == p["comment_id"]:
            comment.update(text=p["text"], edited_at=e["recorded_at"])
            put(comment, "mentions", p.get("mentions"))


def comment_deleted(s, p, e):
    thread = s["threads"][p["thread_id"]]
    thread["comments"] = [one for one in thread["comments"] if one["comment_id"] != p["comment_id"]]
    if not thread["comments"]:
        drop(s, "threads", p["thread_id"])


def execution_requested(s, p, e):
    run = pick(p, "subject", "cause", "effects", "kernel_session", "timeout_ms", "stop_on_error")
    run |= {"requested_at": e["recorded_at"], "requested_version": e["version"], "correlation_id": e["correlation_id"]}
    s["executions"][p["execution_id"]] = run | {"requested_by": e["actor"], "status": "queued", "output_seq": 0}
    if p["subject"].get("cell_id") in s["cells"]:
        s["latest"][p["subject"]["cell_id"]] = p["execution_id"]


def execution_effect_refused(run, p, e):
    refused = {one["kind"]: one for one in run.get("refused", [])}
    run["refused"] = [*(refused | {p["kind"]: {key: p[key] for key in ("kind", "target", "count")}}).values()]


def execution_output_appended(run, p, e):
    kept = [] if run.pop("clear_on_next_output", False) else run.get("outputs", [])
    put(run, "outputs", kept + [compact(output) for output in p["outputs"]])


def execution_outputs_cleared(run, p, e):
    put(run, "clear_on_next_output", p["wait"])
    put(run, "outputs", run.get("outputs") if p["wait"] else None)


def execution_output_updated(s, p, e):
    shown = compact(p["output"]) | {"display_id": p["display_id"]}
    for run in s["executions"].values():
        put(run, "outputs", [shown if it.get("display_id") == p["display_id"] else it for it in run.get("outputs", [])])


def splice(outputs, moved):
    if (end := moved["first"] + moved["count"]) <= len(outputs):
        outputs[moved["first"] : end] = [compact(moved["output"])]


def execution_completed(run, p, e):
    outcome = p["outcome"]
    ended(run, e, "ok" if outcome == "ok" else "error", p.get("notice"))
    put(run, "end_cause", None if outcome in ("ok", "error") else outcome)
    put(run, "execution_count", p.get("execution_count"))


def kernel_launch_requested(s, p, e):
    kernel = pick(p, "kernelspec") | {"phase": "requested", "requested_version": e["version"]}
    if placement := {name: p[name] for name in ("agent", "labels") if p.get(name)}:
        kernel["placement"] = placement
    s["kernels"][p["kernel_session"]] = kernel


def kernel_settings_set(s, p, e):
    put(s, "kernel_settings", p["settings"], {"replacement": "ask", "labels": {}})


def kernel_session_started(kernel, p, e):
    kernel.update(pick(p, "agent", "language_info", "sandbox"), phase="started", fence=e["version"])


def kernel_restart_requested(s, p, e):
    if kernel := s["kernels"].get(p["kernel_session"]):
        kernel["phase"] = "ending"
        s["kernels"][p["next"]] = pick(kernel, "kernelspec", "agent", "requested_version", "placement") | {
            "phase": "claimed"
        }


def kernel_launch_failed(s, p, e):
    for function in s.get("functions", {}).values():
        if function.get("kernel_session") == p["kernel_session"]:
            del function["kernel_session"]
    kernel = s["kernels"].pop(p["kernel_session"], None)
    if kernel and kernel["phase"] != "ending":
        s["kernel_notice"] = pick(p, "kernel_session", "cause", "detail") | {"version": e["version"]}


def kernel_functions_registered(s, p, e):
    known, session = s.get("functions", {}), p["kernel_session"]
    names = {function["name"] for function in p["functions"]}
    kept = {name: one for name, one in known.items() if name in names or one.get("kernel_session") != session}
    for function in p["functions"]:
        before = known.get(function["name"])
        is_same = before is not None and before["function"] == function
        version = before["registered_version"] if is_same else e["version"]
        kept[function["name"]] = {"function": function, "registered_version": version, "kernel_session": session}
    put(s, "functions", kept)


def conversation_started(s, p, e):
    begun = pick(p, "title") | {"started_by": e["actor"], "started_at": e["recorded_at"]}
    put(begun, "is_outside", e["actor"]["kind"] == "assistant")
    s.setdefault("conversations", {})[p["conversation_id"]] = begun


def message_posted(s, p, e):
    reply = reply_of(s, p.get("turn_id"))
    if reply is None or p["role"] != "assistant":
        return
    whole = "".join(block["text"]["text"] for block in p["blocks"] if isinstance(block, dict) and "text" in block)
    shown = first_units(whole, p.get("reply_units"))
    put(reply, "is_cut", reply.get("is_cut", False) or shown != whole)
    reply["text"] += ("\n\n" if reply["text"] and shown else "") + shown


def message_flagged(conversation, p, e):
    flagged = conversation.get("flagged", {})
    put(flagged, p["message_id"], compact(p["flags"]))
    put(conversation, "flagged", flagged)


def turn_started(s, p, e):
    if conversation := s.get("conversations", {}).get(p["conversation_id"]):
        conversation["turn"] = p["turn_id"]
        conversation.pop("is_outside", None)
    keys = ("conversation_id", "message_id", "cell_id", "model", "scopes", "is_bound")
    turn = {key: p[key] for key in keys if p.get(key) is not None}
    turn |= {"requested_by": e["actor"], "started_version": e["version"], "started_at": e["recorded_at"]}
    s.setdefault("turns", {})[p["turn_id"]] = turn | {"model_calls": 0, "attempts": 0}
    if cell := s["cells"].get(p.get("cell_id")):
        cell["reply"] = {"turn_id": p["turn_id"], "status": "running", "prompt": cell["source"], "text": ""}


def turn_model_call_started(turn, p, e):
    turn.update(model_calls=p["number"], attempts=p["attempt"], model_call_claimant=p["claimant"])
    turn.pop("is_model_call_failed", None)


def turn_model_call_finished(turn, p, e):
    turn.pop("model_call_claimant", None)
    put(turn, "is_model_call_failed", p.get("failure") is not None)


def tool_call_requested(s, p, e):
    call = pick(p, "function", "arguments_hash", "risk", "reasons", "targets", "turn_id", "gate", "after")
    call |= {"arguments": p["arguments"], "requested_by": e["actor"], "requested_at": e["recorded_at"]}
    phase = {"phase": "passed" if p["gate"]["kind"] == "passes" else "waiting"}
    s.setdefault("tool_calls", {})[p["call_id"]] = call | {"requested_version": e["version"], "phase": phase}


def grant_issued(s, p, e):
    grant = pick(p, "conversation_id", "for_user", "functions", "kinds", "expires_at") | {"issued_by": e["actor"]}
    s.setdefault("grants", {})[p["grant_id"]] = grant


def ended(run, e, status, notice, **why):
    run.update(status=status, ended_at=e["recorded_at"], **why)
    put(run, "notice", notice)
    run.pop("pending_input", None)


def reply_of(s, turn_id):
    cell_id = s.get("turns", {}).get(turn_id, {}).get("cell_id")
    reply = s["cells"].get(cell_id, {}).get("reply")
    return reply if reply and reply.get("turn_id") == turn_id else None


def end_turn(s, p, **how):
    if turn := s.get("turns", {}).get(p["turn_id"]):
        if reply := reply_of(s, p["turn_id"]):
            reply.update(how)
        s.get("conversations", {}).get(turn["conversation_id"], {}).pop("turn", None)
        drop(s, "turns", p["turn_id"])


def notebook_erased(s, p, e):
    why = {"by": e["actor"], "at": e["recorded_at"], **pick(p, "reason", "version", "hash")}
    kept = pick(s, "notebook_id", "version", "updated_at") | {"access": p["access"], "erased": why}
    s.clear()
    s.update(kept, title="", metadata={}, created_at=0, cells={}, order=[], latest={}, executions={}, kernels={})


def schedule_set(s, p, e):
    kept = pick(s.get("schedules", {}).get(p["schedule_id"], {}), "run", "last")
    schedule = {"maker": e["actor"], "settings": p["settings"], "after": e["recorded_at"]} | kept
    s.setdefault("schedules", {})[p["schedule_id"]] = schedule


def scheduled_run_started(schedule, p, e):
    actor = e["actor"] if e["actor"]["kind"] == "user" else schedule["maker"]
    run = {"notebook": p["run"], "started_at": e["recorded_at"], "actor": actor, "settings": schedule["settings"]}
    schedule["run"] = run | pick(p, "version", "due")
    schedule["after"] = max(schedule["after"], p.get("due") or 0)


def scheduled_run_ended(schedule, p, e):
    last = pick(p, "due", "outcome", "cell_id", "error", "detail", "missed") | {"ended_at": e["recorded_at"]}
    if p.get("run"):
        last["notebook"] = p["run"]
        schedule.pop("run", None)
    if p["outcome"] == "refused":
        schedule["stopped"] = True
    schedule.update(last=last, after=max(schedule["after"], p.get("due") or 0))


STATE = {
    "ScheduleSet": schedule_set,
    "ScheduleRemoved": lambda s, p, e: drop(s, "schedules", p["schedule_id"]),
    **dict.fromkeys(("UndoSkipped", "NotebookRestored", "KernelInterruptRequested"), lambda s, p, e: None),
    "NotebookCreated": notebook_created,
    "NotebookRenamed": lambda s, p, e: s.update(title=p["title"]),
    "NotebookMetadataSet": lambda s, p, e: s.update(metadata=p["metadata"]),
    "NotebookArchived": lambda s, p, e: s.update(archived=True),
    "NotebookUnarchived": lambda s, p, e: s.pop("archived", None),
    "ContentRedacted": lambda s, p, e: s.update(redaction_epoch=e["version"]),
    "NotebookErased": notebook_erased,
    "NotebookVersionNamed": lambda s, p, e: s.setdefault("named_versions", {}).update({str(p["version"]): p["name"]}),
    "NotebookKernelSettingsSet": kernel_settings_set,
    "NotebookReactivitySet": lambda s, p, e: put(s, "reactivity", p["reactivity"], "off"),
    "NotebookPolicyChanged": lambda s, p, e: put(s, "policy", p["policy"], "guarded"),
    "AccessGranted": access_granted,
    "AccessRevoked": access_revoked,
    "CellInserted": cell_inserted,
    "CellRestored": cell_restored,
    "CellDeleted": cell_deleted,
    "CellSourceEdited": ranges_follow,
    "ThreadStarted": thread_started,
    "CommentDeleted": lambda s, p, e: comment_deleted(s, p, e) if p["thread_id"] in s.get("threads", {}) else None,
    "CellOutputsCleared": lambda s, p, e: s["latest"].pop(p["cell_id"], None),
    "ExecutionRequested": execution_requested,
    "ExecutionOutputUpdated": execution_output_updated,
    "KernelLaunchRequested": kernel_launch_requested,
    "KernelSessionStarted": lambda s, p, e: s.pop("kernel_notice", None),
    "KernelRestartRequested": kernel_restart_requested,
    "KernelLaunchFailed": kernel_launch_failed,
    "KernelFunctionsRegistered": kernel_functions_registered,
    "KernelFunctionsForgotten": lambda s, p, e: [drop(s, "functions", name) for name in p["names"]],
    "ConversationStarted": conversation_started,
    "ConversationClosed": lambda s, p, e: drop(s, "conversations", p["conversation_id"]),
    "MessagePosted": message_posted,
    "TurnStarted": turn_started,
    "TurnFinished": lambda s, p, e: end_turn(s, p, status="finished", stop_reason=p["stop_reason"]),
    "TurnCancelled": lambda s, p, e: end_turn(s, p, status="stopped"),
    "TurnFailed": lambda s, p, e: end_turn(s, p, status="failed", **pick(p, "cause", "detail")),
    "ToolCallRequested": tool_call_requested,
    "ToolCallExecuted": lambda s, p, e: drop(s, "tool_calls", p["call_id"]),
    "GrantIssued": grant_issued,
    "GrantRevoked": lambda s, p, e: drop(s, "grants", p["grant_id"]),
}
CELLS = {
    "CellSourceEdited": cell_source_edited,
    "CellMoved": lambda cell, p, e: cell.update(order_key=p["order_key"], cell_version=e["version"]),
    "CellTypeChanged": lambda cell, p, e: cell.update(cell_type=p["cell_type"], cell_version=e["version"]),
    "CellMetadataSet": lambda cell, p, e: put(cell, "metadata", p["metadata"]),
    "CellAttachmentsSet": lambda cell, p, e: put(cell, "attachments", p["attachments"]),
    "CellFlagsSet": lambda cell, p, e: put(cell, "flags", compact(p["flags"])),
}
RUNS = {
    "ExecutionAssigned": lambda run, p, e: run.update(pick(p, "kernel_session", "agent", "fence"), status="assigned"),
    "ExecutionStarted": lambda run, p, e: run.update(status="running", started_at=e["recorded_at"]),
    "ExecutionOutputAppended": execution_output_appended,
    "ExecutionOutputsCleared": execution_outputs_cleared,
    "ExecutionOutputsMoved": lambda run, p, e: [splice(run["outputs"], one) for one in reversed(p["moved"])],
    "ExecutionInputRequested": lambda run, p, e: run.update(pending_input={k: p[k] for k in ("prompt", "password")}),
    "ExecutionInputAnswered": lambda run, p, e: run.pop("pending_input", None),
    "ExecutionEffectRefused": execution_effect_refused,
    "ExecutionCancelRequested": lambda run, p, e: run.update(cancel_requested=True),
    "ExecutionOutputRecovered": lambda run, p, e: None,
    "ExecutionCompleted": execution_completed,
    "ExecutionCancelled": lambda run, p, e: ended(run, e, "cancelled", p.get("detail"), end_cause=p["cause"]),
    "ExecutionLost": lambda run, p, e: ended(run, e, "lost", p.get("detail"), end_cause=p["cause"]),
    "ExecutionBlocked": lambda run, p, e: ended(run, e, "blocked", None, blocked_by=p["blocked_by"]),
}
THREADS = {
    "ThreadMoved": lambda thread, p, e: (put(thread, "cell_id", p["cell_id"]), put(thread, "range", p.get("range"))),
    "ThreadResolved": lambda thread, p, e: thread.update(resolved={"by": e["actor"], "at": e["recorded_at"]}),
    "ThreadReopened": lambda thread, p, e: thread.pop("resolved", None),
    "CommentPosted": comment_posted,
    "CommentEdited": comment_edited,
}
KERNELS = {
    "KernelSessionStarted": kernel_session_started,
    "KernelLaunchClaimed": lambda kernel, p, e: kernel.update(phase="claimed", agent=p["agent"]),
    "KernelShutdownRequested": lambda kernel, p, e: kernel.update(phase="ending"),
}
TURNS = {"TurnModelCallStarted": turn_model_call_started, "TurnModelCallFinished": turn_model_call_finished}
CALLS = {
    "ToolCallConfirmed": lambda call, p, e: call.update(phase={"phase": "confirmed", "by": e["actor"]}),
    "ToolCallStarted": lambda c, p, e: c.update(phase=dict(pick(p, "claimant"), phase="started", at=e["recorded_at"])),
}
SCHEDULES = {"ScheduledRunStarted": scheduled_run_started, "ScheduledRunEnded": scheduled_run_ended}
TABLES = (  # part of the state that an event changes, by the id in its payload
    ("cells", "cell_id", CELLS),
    ("executions", "execution_id", RUNS),
    ("kernels", "kernel_session", KERNELS),
    ("threads", "thread_id", THREADS),
    ("conversations", "conversation_id", {"MessageFlagged": message_flagged}),
    ("turns", "turn_id", TURNS),
    ("tool_calls", "call_id", CALLS),
    ("schedules", "schedule_id", SCHEDULES),
)
STATE["KernelSessionEnded"], STATE["GrantExpired"] = kernel_launch_failed, STATE["GrantRevoked"]
STATE |= {f"ToolCall{end}": STATE["ToolCallExecuted"] for end in ("Denied", "Withdrawn", "Voided", "Expired")}


def apply_event(s, event):
    kind, p = event["type"], event["payload"]
    if event["schema"] > SCHEMAS.get(kind, 1) or not any(kind in table for table in (STATE, *(t[2] for t in TABLES))):
        raise Unknown(kind)
    run = s["executions"].get(p.get("execution_id"))
    if run is not None and "output_seq" in p:
        run["output_seq"] = p["output_seq"]
    targets = [(table, s.get(group, {}).get(p.get(key))) for group, key, table in TABLES]
    for table, target in ((STATE, s), *targets):
        if kind in table and target is not None:
            table[kind](target, p, event)
    s["order"] = sorted(s["cells"], key=lambda cell_id: (s["cells"][cell_id]["order_key"], cell_id))
    shown = set(s["latest"].values())
    s["executions"] = {id: run for id, run in s["executions"].items() if run["status"] not in ENDED or id in shown}
    s.update(version=event["version"], updated_at=event["recorded_at"])
