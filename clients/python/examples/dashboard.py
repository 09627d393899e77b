"""Live dashboard of the runs of some notebooks, in the terminal.

python dashboard.py NOTEBOOK…         Ctrl-C ends it; --once prints it once
"""

import asyncio
import contextlib
import sys

import notarium


def table(books: "list[notarium.aio.Notebook]") -> str:
    """One line for each cell that shows a run, and for each queued run."""
    lines = []
    for nb in books:
        lines.append(f"{nb.title}: version {nb.version}, {len(nb.kernels)} kernels, {len(nb.peers)} others here")
        for cell in nb.cells:
            run = cell.latest_run
            if run is not None:
                took = "" if run.duration is None else f"{run.duration.total_seconds():.2f} s"
                lines.append(f"  {run.status:9} {took:>9}  {cell.source.splitlines()[0][:60]}")
    return "\n".join(lines)


async def redraw(books: "list[notarium.aio.Notebook]", nb: "notarium.aio.Notebook") -> None:
    async for event in nb.events(follow=True):
        if event.type.startswith(("Execution", "Kernel")):
            print("\x1b[2J\x1b[H" + table(books), flush=True)


async def main(names: list[str], once: bool) -> None:
    async with notarium.aio.connect() as nt:
        books = [await nt.open(name) for name in names]
        print(table(books), flush=True)
        if not once:
            await asyncio.gather(*(redraw(books, nb) for nb in books))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main([name for name in sys.argv[1:] if name != "--once"], "--once" in sys.argv))
