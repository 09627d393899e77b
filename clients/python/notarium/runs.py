"""Runs of cells, and the kernels that they run in."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from .document import ENDED, Json
from .errors import RunFailed
from .event import as_time
from .outputs import Output, shown
from .portal import Stream
from .session import FOR_EVER

if TYPE_CHECKING:
    from .notebook import Notebook


class Run:
    """One execution: of a cell's source as it was when somebody asked, or of code of no cell.

    >>> run = await (await nb.append("6 * 7")).run()
    >>> print((await run.wait()).result)
    42
    >>> run.status
    'ok'
    """

    def __init__(self, notebook: "Notebook", run_id: str, version: int = 0) -> None:
        self._notebook, self._id, self._version = notebook, run_id, version
        self._last: Json = {}
        self._whole: dict[tuple[str, ...], Json] = {}

    @property
    def id(self) -> str:
        """Its id."""
        return self._id

    @property
    def _json(self) -> Json:
        # A run that is over may leave the state; what it was stays here.
        self._last = self._notebook._state["executions"].get(self._id, self._last)
        return self._last

    @property
    def status(self) -> str:
        """`queued`, `assigned`, `running`, then `ok`, `error`, `cancelled`, `blocked` or `lost`."""
        return str(self._json.get("status", "queued"))

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.status in ENDED

    @property
    def source(self) -> str:
        """What it runs, word for word."""
        return str(self._json.get("subject", {}).get("source", ""))

    @property
    def cell_id(self) -> str | None:
        """The cell that it is of; None for code of no cell."""
        cell_id: str | None = self._json.get("subject", {}).get("cell_id")
        return cell_id

    @property
    def outputs(self) -> list[Output]:
        """What it has shown so far."""
        session, notebook_id = self._notebook._session, self._notebook.id
        raw: list[Json] = list(self._json.get("outputs", ()))
        return [Output(session, notebook_id, self._whole.get(_parts(one), one)) for one in raw]

    @property
    def text(self) -> str:
        """What it printed, on stdout and stderr."""
        return "".join(output.text for output in self.outputs if output.output_type == "stream")

    @property
    def result(self) -> Output | None:
        """The value of its last expression, as the kernel shows it."""
        results = [output for output in self.outputs if output.output_type == "execute_result"]
        return results[-1] if results else None

    @property
    def question(self) -> str | None:
        """What it asks on stdin just now: `answer` it."""
        pending = self._json.get("pending_input")
        return None if pending is None else str(pending["prompt"])

    @property
    def notice(self) -> str | None:
        """A sentence about its end, where there is one: who cancelled it, why it was lost."""
        return self._json.get("notice") or self._json.get("end_cause")

    @property
    def execution_count(self) -> int | None:
        """The kernel's number, as in `In [3]:`."""
        return self._json.get("execution_count")

    @property
    def requested_by(self) -> dict[str, Any] | None:
        """Who asked for it."""
        return self._json.get("requested_by")

    @property
    def started_at(self) -> datetime | None:
        """When the kernel began."""
        started = self._json.get("started_at")
        return None if started is None else as_time(started)

    @property
    def duration(self) -> timedelta | None:
        """How long it ran."""
        started, ended = self._json.get("started_at"), self._json.get("ended_at")
        return None if started is None or ended is None else timedelta(milliseconds=ended - started)

    async def wait(self, timeout: float | None = None) -> "Run":
        """Waits until it is over; for ever without `timeout`. Ctrl-C ends the waiting, not the run."""
        replica = self._notebook._replica

        def has_left() -> bool:
            return self._id not in self._notebook._state["executions"] and self._notebook.version >= self._version

        await self._notebook._within(
            replica.until(lambda: self.is_over or has_left()),
            f"run {self._id} has not ended",
            FOR_EVER if timeout is None else timeout,
        )
        if not self.is_over:
            await self.refresh()
        return self

    async def refresh(self) -> "Run":
        """Reads it from the record: for runs of the past."""
        rest = self._notebook._session.rest
        self._last = (await rest.get(f"/api/notebooks/{self._notebook.id}/runs/{self._id}"))["execution"]
        return self

    async def fetch(self) -> "Run":
        """Brings the large parts of its outputs: `text` and `result` are whole then."""
        for output in self.outputs:
            if output.missing:
                self._whole[_parts(output._raw)] = (await output.fetch())._raw
        return self

    def stream(self) -> Stream[Output]:
        """Its outputs, as they come, until it is over."""
        return _Outputs(self)

    async def cancel(self) -> "Run":
        """Cancels it where it waits, interrupts it where it runs."""
        await self._notebook._command("CancelExecution", execution_id=self._id)
        return self

    async def answer(self, value: str) -> "Run":
        """Answers what it asks on stdin."""
        await self._notebook._command("AnswerInput", execution_id=self._id, value=value)
        return self

    async def asks(self, timeout: float | None = None) -> str | None:
        """Waits until it asks something on stdin: the question. None: it ended without one."""
        replica = self._notebook._replica
        await self._notebook._within(
            replica.until(lambda: self.is_over or self.question is not None),
            f"run {self._id} asked nothing",
            FOR_EVER if timeout is None else timeout,
        )
        return self.question

    def raise_for_status(self) -> "Run":
        """Raises `RunFailed` unless it ended well.

        >>> run = await (await nb.append("1 / 0")).run()
        >>> (await run.wait()).raise_for_status()
        Traceback (most recent call last):
        notarium.errors.RunFailed: ZeroDivisionError: division by zero
        """
        if self.status == "ok":
            return self
        errors = [output.content for output in self.outputs if output.output_type == "error"]
        last = errors[-1] if errors else {}
        ename, evalue = last.get("ename"), last.get("evalue")
        said = f"{ename}: {evalue}" if ename else self.notice or f"the run is {self.status}"
        trace = "\n".join(map(str, last.get("traceback", [])))
        raise RunFailed(said, status=self.status, ename=ename, evalue=evalue, traceback=trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return f"<Run {self._id[-6:]} {self.status}>"

    def _repr_html_(self) -> str:
        return f"<div><b>{self.status}</b>{shown(self.outputs)}</div>"


def _parts(raw: Json) -> tuple[str, ...]:
    return tuple(part["sha256"] for part in raw.get("blobs", ()))


class _Outputs(Stream[Output]):
    """The outputs of a run; what was cleared is not shown again."""

    def __init__(self, run: Run) -> None:
        self._run, self._given = run, 0

    async def batch(self) -> list[Output]:
        run = self._run

        def has_news() -> bool:
            count = len(run._json.get("outputs", ()))
            self._given = min(self._given, count)
            return run.is_over or count > self._given

        await run._notebook._replica.until(has_news)
        outputs = run.outputs[self._given :]
        self._given += len(outputs)
        return outputs


class Kernel:
    """A kernel session of the notebook, from its launch to its end."""

    def __init__(self, notebook: "Notebook", session_id: str) -> None:
        self._notebook, self._id = notebook, session_id

    @property
    def id(self) -> str:
        """The session's id: a restart makes another one."""
        return self._id

    @property
    def _json(self) -> Json:
        kernel: Json = self._notebook._state["kernels"].get(self._id, {})
        return kernel

    @property
    def _live(self) -> Json:
        return self._notebook._replica.kernel_status.get(self._id, {})

    @property
    def name(self) -> str:
        """Its kernelspec, as in `python3`."""
        return str(self._json.get("kernelspec", ""))

    @property
    def phase(self) -> str:
        """`requested`, `claimed`, `started`, `ending`; `ended` when it is gone."""
        phase = self._json.get("phase", "ended")
        return str(phase["phase"] if isinstance(phase, dict) else phase)

    @property
    def is_busy(self) -> bool:
        """Whether it executes something now."""
        return bool(self._live.get("busy", False))

    @property
    def is_reachable(self) -> bool:
        """Whether its runtime agent is connected."""
        return bool(self._live.get("reachable", False))

    @property
    def agent_name(self) -> str | None:
        """What its runtime agent is called."""
        return self._live.get("agent_name")

    async def interrupt(self) -> None:
        """Interrupts what it runs."""
        await self._notebook._command("InterruptKernel", kernel_session=self._id)

    async def restart(self) -> "Kernel":
        """A new session in its place, with nothing in its memory."""
        ack = await self._notebook._command("RestartKernel", kernel_session=self._id)
        return Kernel(self._notebook, ack.get("outcome", {}).get("kernel_session", self._id))

    async def shut_down(self) -> None:
        """Ends it."""
        await self._notebook._command("ShutDownKernel", kernel_session=self._id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return f"<Kernel {self.name} {self.phase}{' busy' if self.is_busy else ''}>"
