"""Folds the events of assistants into the state (protocol, section 11, “State of assistants”)."""

from collections.abc import Callable
from typing import Any, TypeAlias

from .document_parts import compact, drop, pick, put
from .text import from_units, to_units

Json: TypeAlias = dict[str, Any]
Apply: TypeAlias = Callable[[Json, Json, Json], object]


def _policy_changed(state: Json, payload: Json, event: Json) -> None:
    put(state, "policy", None if payload["policy"] == "guarded" else payload["policy"])


def _conversation_started(state: Json, payload: Json, event: Json) -> None:
    begun: Json = pick(payload, "title") | {"started_by": event["actor"], "started_at": event["recorded_at"]}
    put(begun, "is_outside", event["actor"]["kind"] == "assistant")
    state.setdefault("conversations", {})[payload["conversation_id"]] = begun


def _message_posted(state: Json, payload: Json, event: Json) -> None:
    reply = _reply_of(state, payload.get("turn_id"))
    if reply is None or payload["role"] != "assistant":
        return
    whole = "".join(block["text"]["text"] for block in payload["blocks"] if isinstance(block, dict) and "text" in block)
    shown = _first_units(whole, payload.get("reply_units"))
    put(reply, "is_cut", reply.get("is_cut", False) or shown != whole)
    reply["text"] += ("\n\n" if reply["text"] and shown else "") + shown


def _first_units(text: str, units: int | None) -> str:
    if units is None:
        return text
    first = to_units(text)[:units]
    return from_units(first[:-1] if first and "\ud800" <= first[-1] <= "\udbff" else first)


def _message_flagged(conversation: Json, payload: Json, event: Json) -> None:
    flagged = conversation.get("flagged", {})
    put(flagged, payload["message_id"], compact(payload["flags"]))
    put(conversation, "flagged", flagged)


def _turn_started(state: Json, payload: Json, event: Json) -> None:
    conversation = state.get("conversations", {}).get(payload["conversation_id"])
    if conversation is not None:
        conversation["turn"] = payload["turn_id"]
        conversation.pop("is_outside", None)
    keys = ("conversation_id", "message_id", "cell_id", "model", "scopes", "is_bound")
    turn = {key: payload[key] for key in keys if payload.get(key) is not None}
    turn |= {"requested_by": event["actor"], "started_version": event["version"], "started_at": event["recorded_at"]}
    state.setdefault("turns", {})[payload["turn_id"]] = turn | {"model_calls": 0, "attempts": 0}
    cell = state["cells"].get(payload.get("cell_id"))
    if cell is not None:
        cell["reply"] = {"turn_id": payload["turn_id"], "status": "running", "prompt": cell["source"], "text": ""}


def _model_call_started(turn: Json, payload: Json, event: Json) -> None:
    turn.update(model_calls=payload["number"], attempts=payload["attempt"], model_call_claimant=payload["claimant"])
    turn.pop("is_model_call_failed", None)


def _model_call_finished(turn: Json, payload: Json, event: Json) -> None:
    turn.pop("model_call_claimant", None)
    put(turn, "is_model_call_failed", payload.get("failure") is not None)


def _reply_of(state: Json, turn_id: str | None) -> Json | None:
    cell_id = state.get("turns", {}).get(turn_id, {}).get("cell_id")
    reply: Json | None = state["cells"].get(cell_id, {}).get("reply")
    return reply if reply and reply.get("turn_id") == turn_id else None


def _end_turn(state: Json, payload: Json, **how: Any) -> None:
    turn = state.get("turns", {}).get(payload["turn_id"])
    if turn is None:
        return
    reply = _reply_of(state, payload["turn_id"])
    if reply is not None:
        reply.update(how)
    state.get("conversations", {}).get(turn["conversation_id"], {}).pop("turn", None)
    drop(state, "turns", payload["turn_id"])


def _call_requested(state: Json, payload: Json, event: Json) -> None:
    call = pick(payload, "function", "arguments_hash", "risk", "reasons", "targets", "turn_id", "gate", "after")
    call |= {"arguments": payload["arguments"], "requested_by": event["actor"], "requested_at": event["recorded_at"]}
    phase = {"phase": "passed" if payload["gate"]["kind"] == "passes" else "waiting"}
    call |= {"requested_version": event["version"], "phase": phase}
    state.setdefault("tool_calls", {})[payload["call_id"]] = call


def _call_started(call: Json, payload: Json, event: Json) -> None:
    call["phase"] = {"phase": "started", "at": event["recorded_at"], **pick(payload, "claimant")}


def _call_over(state: Json, payload: Json, event: Json) -> None:
    drop(state, "tool_calls", payload["call_id"])


def _grant_issued(state: Json, payload: Json, event: Json) -> None:
    grant = pick(payload, "conversation_id", "for_user", "functions", "kinds", "expires_at")
    grant["issued_by"] = event["actor"]
    state.setdefault("grants", {})[payload["grant_id"]] = grant


def _grant_over(state: Json, payload: Json, event: Json) -> None:
    drop(state, "grants", payload["grant_id"])


NOTEBOOK: dict[str, Apply] = {
    "NotebookPolicyChanged": _policy_changed,
    "ConversationStarted": _conversation_started,
    "ConversationClosed": lambda state, payload, _: drop(state, "conversations", payload["conversation_id"]),
    "MessagePosted": _message_posted,
    "TurnStarted": _turn_started,
    "TurnFinished": lambda state, payload, _: _end_turn(
        state, payload, status="finished", stop_reason=payload["stop_reason"]
    ),
    "TurnCancelled": lambda state, payload, _: _end_turn(state, payload, status="stopped"),
    "TurnFailed": lambda state, payload, _: _end_turn(
        state, payload, status="failed", **pick(payload, "cause", "detail")
    ),
    "ToolCallRequested": _call_requested,
    "ToolCallDenied": _call_over,
    "ToolCallWithdrawn": _call_over,
    "ToolCallVoided": _call_over,
    "ToolCallExpired": _call_over,
    "ToolCallExecuted": _call_over,
    "GrantIssued": _grant_issued,
    "GrantRevoked": _grant_over,
    "GrantExpired": _grant_over,
}
TABLES: tuple[tuple[str | None, str, dict[str, Apply]], ...] = (
    ("conversations", "conversation_id", {"MessageFlagged": _message_flagged}),
    ("turns", "turn_id", {"TurnModelCallStarted": _model_call_started, "TurnModelCallFinished": _model_call_finished}),
    (
        "tool_calls",
        "call_id",
        {
            "ToolCallConfirmed": lambda call, _, event: call.update(phase={"phase": "confirmed", "by": event["actor"]}),
            "ToolCallStarted": _call_started,
        },
    ),
)
