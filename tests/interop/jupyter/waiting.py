"""Waits for changes of a client's document."""

import asyncio

PATIENCE = 120


async def until(model, holds):
    """Waits until the client's document is as wanted: it looks again at each change."""
    changed = asyncio.Event()
    observer = model._doc.ydoc.observe(lambda _: changed.set())
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await changed.wait()
                changed.clear()
    except TimeoutError:
        raise AssertionError(f"it never came: {model.as_dict()}") from None
    finally:
        model._doc.ydoc.unobserve(observer)
