"""Runs of cells, and kernels."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from .document import ENDED, Json
from .errors import RunFailed
from .event import as_time
from .ids import new_id
from .link import NotebookLink
from .machines import AgentInfo, place_fields
from .outputs import Output, joined, shown
from .portal import Stream
from .session import FOR_EVER


class Run:
    """One run: of a cell's source at the time of the request, or of code without a cell.

    >>> run = await (await nb.append("6 * 7")).run()
    >>> print((await run.wait()).result)
    42
    >>> run.status
    'ok'
    """

    def __init__(self, notebook: NotebookLink, run_id: str, version: int = 0) -> None:
        self._notebook, self._id, self._version = notebook, run_id, version
        self._last: Json = {}
        self._whole: dict[tuple[str, ...], Json] = {}

    @property
    def id(self) -> str:
        """The run's id."""
        return self._id

    @property
    def _json(self) -> Json:
        # Finished runs may be removed from the state: keep the last known value.
        self._last = self._notebook._state["executions"].get(self._id, self._last)
        return self._last

    @property
    def status(self) -> str:
        """`queued`, `assigned`, `running`, then `ok`, `error`, `cancelled`, `blocked` or `lost`."""
        return str(self._json.get("status", "queued"))

    @property
    def is_over(self) -> bool:
        """True once the run has ended, successfully or not."""
        return self.status in ENDED

    @property
    def source(self) -> str:
        """The exact source that is run."""
        return str(self._json.get("subject", {}).get("source", ""))

    @property
    def cell_id(self) -> str | None:
        """Id of the cell; None for code without a cell."""
        cell_id: str | None = self._json.get("subject", {}).get("cell_id")
        return cell_id

    @property
    def outputs(self) -> list[Output]:
        """Outputs so far. The pieces in which a stream came are one output."""
        recorded = [self._whole.get(_parts(raw), raw) for raw in self._recorded]
        return joined(self._notebook._session, self._notebook.id, recorded)

    @property
    def _recorded(self) -> list[Json]:
        return list(self._json.get("outputs", ()))

    @property
    def text(self) -> str:
        """Text printed to stdout and stderr."""
        return "".join(output.text for output in self.outputs if output.output_type == "stream")

    @property
    def result(self) -> Output | None:
        """Value of the last expression, as the kernel shows it. None if there is none."""
        results = [output for output in self.outputs if output.output_type == "execute_result"]
        return results[-1] if results else None

    @property
    def question(self) -> str | None:
        """Prompt of the pending stdin request, if any. `answer` replies."""
        pending = self._json.get("pending_input")
        return None if pending is None else str(pending["prompt"])

    @property
    def notice(self) -> str | None:
        """Sentence about the end of the run, if any: who cancelled it, why it was lost."""
        return self._json.get("notice") or self._json.get("end_cause")

    @property
    def execution_count(self) -> int | None:
        """The kernel's execution count, as in `In [3]:`."""
        return self._json.get("execution_count")

    @property
    def requested_by(self) -> dict[str, Any] | None:
        """Actor that requested the run."""
        return self._json.get("requested_by")

    @property
    def started_at(self) -> datetime | None:
        """Time at which the kernel started the run, in UTC."""
        started = self._json.get("started_at")
        return None if started is None else as_time(started)

    @property
    def duration(self) -> timedelta | None:
        """Duration of the run. None before it has ended."""
        started, ended = self._json.get("started_at"), self._json.get("ended_at")
        return None if started is None or ended is None else timedelta(milliseconds=ended - started)

    async def wait(self, timeout: float | None = None) -> "Run":
        """Waits until the run ends, at most `timeout` seconds (None: no limit). Ctrl-C ends the wait, not the run."""
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
        """Reads the run from the record. Needed for past runs."""
        rest = self._notebook._session.rest
        self._last = (await rest.get(f"/api/notebooks/{self._notebook.id}/runs/{self._id}"))["execution"]
        return self

    async def fetch(self) -> "Run":
        """Loads the large parts of the outputs, so that `text` and `result` are complete."""
        for raw in self._recorded:
            if raw.get("blobs") and _parts(raw) not in self._whole:
                output = Output(self._notebook._session, self._notebook.id, raw)
                self._whole[_parts(raw)] = (await output.fetch())._raw
        return self

    def stream(self) -> Stream[Output]:
        """Streams the outputs until the run ends: printed text piece by piece, as it is for a terminal."""
        return _OutputStream(self)

    async def cancel(self) -> "Run":
        """Cancels a queued run, or interrupts a running one."""
        await self._notebook._command("CancelExecution", execution_id=self._id)
        return self

    async def answer(self, value: str) -> "Run":
        """Answers the pending stdin request."""
        await self._notebook._command("AnswerInput", execution_id=self._id, value=value)
        return self

    async def asks(self, timeout: float | None = None) -> str | None:
        """Waits for a stdin request and returns its prompt. None if the run ended without one."""
        replica = self._notebook._replica
        await self._notebook._within(
            replica.until(lambda: self.is_over or self.question is not None),
            f"run {self._id} asked nothing",
            FOR_EVER if timeout is None else timeout,
        )
        return self.question

    def raise_for_status(self) -> "Run":
        """Raises `RunFailed` unless the status is `ok`.

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


async def request_runs(
    notebook: NotebookLink,
    cell_ids: Sequence[str],
    timeout: float | None = None,
    kernel: str | None = None,
    stop_on_error: bool = False,
) -> list[Run]:
    """Requests runs of these cells, in this order. With `stop_on_error`, a failed run blocks the later ones."""
    runs = [(new_id(), cell_id) for cell_id in cell_ids]
    more: Json = {} if kernel is None else {"kernel_session": kernel}
    if timeout is not None:
        more["timeout_ms"] = int(timeout * 1000)
    more["stop_on_error"] = stop_on_error and len(runs) > 1
    requests = [
        {"RequestExecution": {"execution_id": run_id, "target": {"cell": {"cell_id": cell_id}}, **more}}
        for run_id, cell_id in runs
    ]
    if len(requests) == 1:
        ack = await notebook._command("RequestExecution", **requests[0]["RequestExecution"])
    else:
        ack = await notebook._command("Batch", commands=requests)
    return [Run(notebook, run_id, ack["version"]) for run_id, _ in runs]


def _parts(raw: Json) -> tuple[str, ...]:
    return tuple(part["sha256"] for part in raw.get("blobs", ()))


class _OutputStream(Stream[Output]):
    """Stream of a run's outputs. Cleared outputs are not repeated."""

    def __init__(self, run: Run) -> None:
        self._run, self._given = run, 0

    async def batch(self) -> list[Output]:
        run = self._run

        def has_news() -> bool:
            count = len(run._recorded)
            self._given = min(self._given, count)
            return run.is_over or count > self._given

        await run._notebook._replica.until(has_news)
        recorded = run._recorded[self._given :]
        self._given += len(recorded)
        return [Output(run._notebook._session, run._notebook.id, raw) for raw in recorded]


class Kernel:
    """Kernel session of the notebook, from launch to end."""

    def __init__(self, notebook: NotebookLink, session_id: str) -> None:
        self._notebook, self._id = notebook, session_id

    @property
    def id(self) -> str:
        """Id of the session. A restart creates another one."""
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
        """Name of the kernelspec, such as `python3`."""
        return str(self._json.get("kernelspec", ""))

    @property
    def phase(self) -> str:
        """`requested`, `claimed`, `started`, `ending` or `ended`."""
        phase = self._json.get("phase", "ended")
        return str(phase["phase"] if isinstance(phase, dict) else phase)

    @property
    def is_busy(self) -> bool:
        """True while the kernel executes code."""
        return bool(self._live.get("busy", False))

    @property
    def is_reachable(self) -> bool:
        """True while the kernel's runtime agent is connected."""
        return bool(self._live.get("reachable", False))

    @property
    def agent_name(self) -> str | None:
        """Name of the kernel's runtime agent."""
        return self._live.get("agent_name")

    async def interrupt(self) -> None:
        """Interrupts the running code."""
        await self._notebook._command("InterruptKernel", kernel_session=self._id)

    async def restart(
        self, *, agent: AgentInfo | str | None = None, labels: Mapping[str, str] | None = None
    ) -> "Kernel":
        """Restarts the kernel and returns the new session. Its memory is empty.

        It stays on its machine unless `agent` (a name or an id) or `labels` say where the new one starts.
        """
        place = await place_fields(self._notebook, agent, labels)
        ack = await self._notebook._command("RestartKernel", kernel_session=self._id, **place)
        return Kernel(self._notebook, ack.get("outcome", {}).get("kernel_session", self._id))

    async def shut_down(self) -> None:
        """Shuts the kernel down."""
        await self._notebook._command("ShutDownKernel", kernel_session=self._id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return f"<Kernel {self.name} {self.phase}{' busy' if self.is_busy else ''}>"
