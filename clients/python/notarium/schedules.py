"""Schedules: notebooks that run by themselves, each time in a notebook of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .document import Json
from .ids import new_id
from .link import NotebookState
from .session import Session


def _time(millis: int | None) -> datetime | None:
    return None if millis is None else datetime.fromtimestamp(millis / 1000, timezone.utc)


@dataclass(frozen=True)
class ScheduledRun:
    """Run of a schedule, or a time at which none took place."""

    #: `succeeded`, `failed`, `lost`, `cancelled`, `timed_out`, `not_started`, `refused` or `missed`. None: it is under way.
    outcome: str | None
    #: Id of the run's notebook, which has the outputs. None: nothing ran.
    notebook_id: str | None = None
    #: Time for which it was scheduled. None: a person asked for it.
    due: datetime | None = None
    ended_at: datetime | None = None
    #: Name of the error of a failed run, such as `ValueError`.
    error: str | None = None
    #: More about the end, in a sentence.
    detail: str | None = None
    #: Number of missed runs.
    missed: int = 0


@dataclass(frozen=True)
class Schedule:
    """Schedule of a notebook."""

    id: str
    #: Line of cron with five fields, in the time zone `timezone`.
    cron: str
    timezone: str
    #: Version that runs. None: the newest at each run.
    version: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Next times, in UTC. Empty: it is stopped, or the notebook is archived.
    next: tuple[datetime, ...] = ()
    #: True: the rights of its maker have ended. Set it again to run it in your name.
    is_stopped: bool = False
    #: True: a run is under way.
    is_running: bool = False
    #: The last end of a run. None: none has ended.
    last: ScheduledRun | None = None


def _schedule(line: Json) -> Schedule:
    state, settings = line["schedule"], line["schedule"]["settings"]
    last = state.get("last")
    return Schedule(
        line["id"],
        settings["cron"],
        settings["timezone"],
        settings.get("version"),
        dict(settings.get("parameters", {})),
        tuple(at for at in map(_time, line["next"]) if at is not None),
        state.get("stopped", False),
        state.get("run") is not None,
        None if last is None else _run({**last, "run": last.get("notebook")}),
    )


def _run(told: Json) -> ScheduledRun:
    due, ended_at = _time(told.get("due")), _time(told.get("ended_at"))
    error, detail, missed = told.get("error"), told.get("detail"), told.get("missed") or 0
    if told.get("outcome") == "missed":
        missed = missed or 1
    return ScheduledRun(told.get("outcome"), told.get("run"), due, ended_at, error, detail, missed)


class Schedules(NotebookState):
    """Schedules of a live notebook."""

    _session: Session

    async def schedules(self) -> list[Schedule]:
        """Lists the notebook's schedules, with their next times.

        >>> await nb.schedules()
        []
        """
        answer = await self._session.rest.get(f"/api/notebooks/{self.id}/schedules")
        return [_schedule(line) for line in answer["schedules"]]

    async def schedule(
        self,
        cron: str,
        *,
        timezone: str = "UTC",
        version: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        agent: str | None = None,
        labels: Mapping[str, str] | None = None,
        catch_up: bool = False,
        max_run_minutes: int | None = None,
        kept_runs: int | None = None,
        change: Schedule | str | None = None,
    ) -> Schedule:
        """Runs the notebook at the times of a line of cron, in your name: the newest version, or a pinned one.

        `parameters` are set in a cell after the one tagged `parameters`. Each run is a notebook of its own. With `change`
        all settings of an earlier schedule are replaced.

        >>> daily = await nb.schedule("0 6 * * 1-5", timezone="Europe/Berlin")
        >>> daily.cron, len(daily.next)
        ('0 6 * * 1-5', 5)
        >>> await nb.remove_schedule(daily)
        """
        schedule_id = new_id() if change is None else _id(change)
        fields: dict[str, Any] = {
            "cron": cron,
            "timezone": timezone,
            "version": version,
            "agent": agent,
            "catch_up": catch_up,
        }
        fields |= {"parameters": dict(parameters or {}), "labels": None if labels is None else dict(labels)}
        fields |= {"max_run_minutes": max_run_minutes, "kept_runs": kept_runs}
        await self._session.command(self.id, "SetSchedule", schedule_id=schedule_id, **fields)
        return next(one for one in await self.schedules() if one.id == schedule_id)

    async def remove_schedule(self, schedule: Schedule | str) -> None:
        """Removes a schedule. A run that is under way is stopped."""
        await self._session.command(self.id, "RemoveSchedule", schedule_id=_id(schedule))

    async def run_schedule(self, schedule: Schedule | str) -> str:
        """Runs a schedule now, in your name. Returns the id of the run's notebook, which the server makes next."""
        run = new_id()
        await self._session.command(self.id, "RunSchedule", schedule_id=_id(schedule), run=run)
        return run

    async def scheduled_runs(self, schedule: Schedule | str, limit: int = 50) -> list[ScheduledRun]:
        """Lists past runs of a schedule and missed times, the last first."""
        path = f"/api/notebooks/{self.id}/schedules/{_id(schedule)}/runs"
        answer = await self._session.rest.get(path, limit=limit)
        return [_run(told) for told in answer["runs"]]


def _id(schedule: Schedule | str) -> str:
    return schedule if isinstance(schedule, str) else schedule.id
