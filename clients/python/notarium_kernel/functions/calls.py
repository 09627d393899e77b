"""Calls of functions that may take too long, may be interrupted, and may be `async`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from .. import host


def call(name: str, function: Callable[[], Any], timeout: float | None) -> Any:
    __tracebackhide__ = True
    too_long = f"{name} took more than {timeout:g} s and was ended" if timeout else ""
    with _alarm(timeout, too_long):
        result = function()
    if inspect.isawaitable(result):
        return _awaited(result, timeout, too_long)
    return result


@contextlib.contextmanager
def _alarm(timeout: float | None, too_long: str) -> Generator[None, None, None]:
    """Raises `TimeoutError` by a signal. Python runs signal handlers in its main thread only; in others there is no limit."""
    if timeout is None or not hasattr(signal, "setitimer") or not host.is_main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TimeoutError(too_long)

    handler = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


class _Loop:
    """One event loop for all calls, so that what one call opens serves the next. The kernel's own loop is busy with the call."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="notarium functions", daemon=True).start()


#: Seconds of one wait for an outcome. An interrupt just before a lock is waited for does not end that wait (CPython).
WAIT_S = 0.2

_running: _Loop | None = None
_lock = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None or _running.process != os.getpid():
            _running = _Loop()
        return _running.loop


def _awaited(awaitable: Any, timeout: float | None, too_long: str) -> Any:
    __tracebackhide__ = True
    loop = _loop()
    outcome: concurrent.futures.Future[Any] = concurrent.futures.Future()
    tasks: list[asyncio.Task[None]] = []

    async def run() -> None:
        try:
            outcome.set_result(await asyncio.wait_for(awaitable, timeout))
        except asyncio.TimeoutError as error:
            outcome.set_exception(TimeoutError(too_long) if timeout and not str(error) else error)
        except asyncio.CancelledError:
            outcome.cancel()
            raise
        except BaseException as error:
            outcome.set_exception(error)

    # In the caller's context: what it prints belongs to the caller's run.
    context = contextvars.copy_context()
    coroutine: Coroutine[Any, Any, None] = run()
    try:
        loop.call_soon_threadsafe(lambda: tasks.append(context.run(loop.create_task, coroutine)))
        while not concurrent.futures.wait([outcome], WAIT_S).done:
            pass
        return outcome.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
        # It may clean up, and say so; a second interrupt does not wait for that.
        with contextlib.suppress(Exception):
            outcome.exception()
        raise
