"""Comment threads on cells and on ranges of their text."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .document import Json
from .event import as_time
from .link import NotebookLink


@dataclass(frozen=True)
class Comment:
    """One comment of a thread."""

    id: str
    text: str
    author: dict[str, Any]
    posted_at: datetime


class Thread:
    """Thread of comments. Deleting the last comment deletes the thread."""

    def __init__(self, notebook: NotebookLink, thread_id: str) -> None:
        self._notebook, self._id = notebook, thread_id

    @property
    def id(self) -> str:
        """The thread's id."""
        return self._id

    @property
    def _json(self) -> Json:
        thread: Json = self._notebook._state.get("threads", {}).get(self._id, {})
        return thread

    @property
    def cell_id(self) -> str | None:
        """Id of the cell that the thread is about."""
        return self._json.get("cell_id")

    @property
    def quote(self) -> str | None:
        """Quoted text, as it was when the thread began."""
        return self._json.get("quote")

    @property
    def is_resolved(self) -> bool:
        """True if the thread is resolved."""
        return "resolved" in self._json

    @property
    def comments(self) -> list[Comment]:
        """The comments, oldest first."""
        return [
            Comment(one["comment_id"], one["text"], one["author"], as_time(one["posted_at"]))
            for one in list(self._json.get("comments", ()))
        ]

    async def reply(self, text: str) -> Comment:
        """Adds a comment to the thread."""
        target = {"thread": {"thread_id": self._id}}
        ack = await self._notebook._command("AddComment", target=target, text=text)
        return next(comment for comment in self.comments if comment.id == ack["outcome"]["comment"])

    async def edit(self, comment: str, text: str) -> None:
        """Changes the text of one of your comments, by its id."""
        await self._notebook._command("EditComment", thread_id=self._id, comment_id=comment, text=text, mentions=[])

    async def delete(self, comment: str) -> None:
        """Deletes a comment, by its id."""
        await self._notebook._command("DeleteComment", thread_id=self._id, comment_id=comment)

    async def resolve(self) -> None:
        """Resolves the thread."""
        await self._notebook._command("ResolveThread", thread_id=self._id)

    async def reopen(self) -> None:
        """Reopens the thread."""
        await self._notebook._command("ReopenThread", thread_id=self._id)

    def __repr__(self) -> str:
        first = self.comments[0].text[:50] if self.comments else ""
        return f"<Thread {self._id[-6:]} {len(self.comments)} comments {first!r}>"


def threads_of(notebook: NotebookLink) -> list[Thread]:
    """Comment threads of a notebook, including resolved ones."""
    return [Thread(notebook, key) for key in list(notebook._state.get("threads", {}))]
