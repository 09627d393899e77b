"""Bridge between blocking code and the asyncio core: an event loop in a separate thread.

So the blocking interface also works where a loop already runs: in a notebook's kernel or a web server's handler.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, TimeoutError
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
A = TypeVar("A")
Batched = TypeVar("Batched")


class Batches(Protocol[Batched]):
    """Asynchronous iterator that can return all available items in one call."""

    async def batch(self) -> list[Batched]: ...

    async def aclose(self) -> None: ...


class Portal:
    """Runs coroutines in its thread for callers in other threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="notarium", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _check_caller(self) -> None:
        """Raises if the portal is closed, or if its own thread calls, which would wait for itself."""
        if not self._thread.is_alive():
            raise RuntimeError("this connection is closed")
        if threading.current_thread() is self._thread:
            raise RuntimeError("use notarium.aio here")

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine and returns its result. Ctrl-C cancels it."""
        try:
            self._check_caller()
        except RuntimeError:
            coroutine.close()
            raise
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise
        except BaseException:
            future.cancel()
            raise

    def call_made(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Like `call`, with a coroutine that is made in the portal's thread: Ctrl-C leaves none behind that never began."""
        self._check_caller()
        futures: list[Future[T]] = []
        is_begun = threading.Event()

        def begin() -> None:
            futures.append(asyncio.run_coroutine_threadsafe(make(), self._loop))
            is_begun.set()

        def cancel() -> None:
            for future in futures:
                future.cancel()

        try:
            self._loop.call_soon_threadsafe(begin)
            is_begun.wait()
            return futures[0].result()
        except CancelledError:
            raise
        except BaseException:
            # After `begin`, in the order of the calls.
            self._loop.call_soon_threadsafe(cancel)
            raise

    def iterate(self, batches: Batches[T]) -> Iterator[T]:
        """Yields the items. They are fetched in batches, because each fetch costs a thread switch."""
        try:
            while items := self.call_made(batches.batch):
                yield from items
        finally:
            if self._thread.is_alive():
                self.call(batches.aclose())

    def close(self) -> None:
        """Stops the loop and ends the thread."""
        if not self._thread.is_alive():
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Face(Generic[A]):
    """Blocking object: wraps an object of `notarium.aio` and the portal to its loop."""

    __slots__ = ("_aio", "_portal")

    def __init__(self, aio: A, portal: Portal) -> None:
        self._aio, self._portal = aio, portal

    def __repr__(self) -> str:
        return repr(self._aio)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Face) and self._aio == other._aio

    def __hash__(self) -> int:
        return hash(self._aio)


def unwrap(value: Any) -> Any:
    """Replaces blocking objects, also in lists, by the wrapped asyncio objects."""
    if isinstance(value, Face):
        return value._aio
    return [unwrap(item) for item in value] if isinstance(value, list | tuple) else value


class Stream(Generic[T]):
    """Asynchronous iterator with batches."""

    async def batch(self) -> list[T]:
        """All items available now, at least one; empty at the end."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Ends the stream and frees its buffers."""

    def __aiter__(self) -> AsyncIterator[T]:
        return self._items()

    async def _items(self) -> AsyncIterator[T]:
        try:
            while items := await self.batch():
                for item in items:
                    yield item
        finally:
            await self.aclose()
