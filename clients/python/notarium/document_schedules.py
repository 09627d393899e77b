"""Effects of the events of schedules on the state of a notebook."""

from typing import Any

from .document_parts import drop, put

Json = dict[str, Any]


def _of(state: Json, payload: Json) -> Json | None:
    schedule: Json | None = state.get("schedules", {}).get(payload["schedule_id"])
    return schedule


def _set(state: Json, payload: Json, event: Json) -> None:
    before = _of(state, payload) or {}
    schedule = {"maker": event["actor"], "settings": payload["settings"], "after": event["recorded_at"]}
    kept = {name: before[name] for name in ("run", "last") if name in before}
    state.setdefault("schedules", {})[payload["schedule_id"]] = schedule | kept


def _removed(state: Json, payload: Json, event: Json) -> None:
    drop(state, "schedules", payload["schedule_id"])


def _started(state: Json, payload: Json, event: Json) -> None:
    schedule = _of(state, payload)
    if schedule is None:
        return
    is_person = event["actor"]["kind"] == "user"
    run = {"notebook": payload["run"], "version": payload["version"], "started_at": event["recorded_at"]}
    run |= {"actor": event["actor"] if is_person else schedule["maker"], "settings": schedule["settings"]}
    put(run, "due", payload.get("due"))
    schedule.update(after=max(schedule["after"], payload.get("due") or 0), run=run)


def _ended(state: Json, payload: Json, event: Json) -> None:
    schedule = _of(state, payload)
    if schedule is None:
        return
    last = {"outcome": payload["outcome"], "ended_at": event["recorded_at"]}
    put(last, "notebook", payload.get("run"))
    for name in ("due", "cell_id", "error", "detail", "missed"):
        put(last, name, payload.get(name))
    schedule.update(after=max(schedule["after"], payload.get("due") or 0), last=last)
    if payload.get("run") is not None:
        schedule.pop("run", None)
    if payload["outcome"] == "refused":
        schedule["stopped"] = True


NOTEBOOK = {
    "ScheduleSet": _set,
    "ScheduleRemoved": _removed,
    "ScheduledRunStarted": _started,
    "ScheduledRunEnded": _ended,
}
