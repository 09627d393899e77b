"""Files of a notebook: the folder in which its kernels start, on the machine of their runtime agent."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from .document import Json
from .errors import NotFound
from .event import as_time
from .session import Session


@dataclass(frozen=True)
class FileInfo:
    """A file or a folder."""

    name: str
    """Name without the folder."""
    path: str
    """Path relative to the kernels' folder."""
    kind: str
    """`file`, `folder`, or `other`, which cannot be read."""
    size_bytes: int | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True)
class TrashedFile:
    """An entry of the trash."""

    id: str
    path: str
    """Original path."""
    kind: str
    size_bytes: int
    removed_at: datetime


def _info(folder: str, told: Json) -> FileInfo:
    modified = told.get("modified_at")
    path = f"{folder}/{told['name']}" if folder else told["name"]
    time = None if modified is None else as_time(modified)
    return FileInfo(told["name"], path, told["kind"], told.get("size_bytes"), time)


def _trashed(told: Json) -> TrashedFile:
    return TrashedFile(told["id"], told["path"], told["kind"], told["size_bytes"], as_time(told["removed_at"]))


class WorkingFiles:
    """File operations of a notebook. They need the right to run and are not recorded."""

    _session: Session
    _notebook_id: str

    async def _ask(self, method: str, below: str, **options: Any) -> Any:
        path = f"/api/notebooks/{self._notebook_id}/files{below}"
        return (await self._session.rest.request(method, path, **options)).json()

    async def files(self, path: str = "", *, hidden: bool = False) -> list[FileInfo]:
        """Lists a folder by name (default: the kernels' folder). `Unavailable`: no runtime agent is connected."""
        found: list[FileInfo] = []
        query: dict[str, Any] = {"path": path, "all": hidden, "limit": 1_000}
        while True:
            page = await self._ask("GET", "", params=query)
            found += [_info(page["path"], told) for told in page["files"]]
            if page.get("next") is None:
                return found
            query["after"] = page["next"]

    async def upload_file(
        self, content: bytes | str | os.PathLike[str], to: str, *, overwrite: bool = False
    ) -> FileInfo:
        """Uploads bytes, or a local file, to a path. `Conflict`: the path exists, and `overwrite` is not set."""
        body = content if isinstance(content, bytes) else Path(content).read_bytes()
        query = {"path": to, "overwrite": overwrite}
        written = await self._ask("PUT", "/content", params=query, content=body)
        path = str(written["path"])
        return FileInfo(path.rsplit("/", 1)[-1], path, "file", written["size_bytes"])

    async def download_file(self, path: str, to: str | os.PathLike[str] | None = None) -> bytes:
        """Returns the bytes of a file. If `to` is given, writes them there too."""
        address = f"/api/notebooks/{self._notebook_id}/files/content"
        body = (await self._session.rest.request("GET", address, params={"path": path})).content
        if to is not None:
            Path(to).write_bytes(body)
        return body

    async def move_file(self, path: str, to: str) -> str:
        """Renames or moves a file or folder; returns the new path. `Conflict`: the name is taken."""
        return str((await self._ask("POST", "/move", json={"from": path, "to": to}))["path"])

    async def remove_file(self, path: str) -> TrashedFile:
        """Moves a file or folder to the trash; `restore_file` brings it back."""
        return _trashed(await self._ask("DELETE", "/content", params={"path": path}))

    async def file_trash(self) -> list[TrashedFile]:
        """Lists the trash, last removed first."""
        return [_trashed(told) for told in (await self._ask("GET", "/trash"))["files"]]

    async def restore_file(self, file: TrashedFile | str, to: str | None = None) -> str:
        """Restores an entry, or the file last removed from a path; returns its path. `Conflict`: the name is taken."""
        found = file if isinstance(file, TrashedFile) else await self._in_trash(file)
        body = {} if to is None else {"to": to}
        return str((await self._ask("POST", f"/trash/{found.id}/restore", json=body))["path"])

    async def _in_trash(self, what: str) -> TrashedFile:
        for file in await self.file_trash():
            if what in (file.id, file.path):
                return file
        raise NotFound(f"'{what}' is not in the trash: `file_trash` lists what is", code="not_found")

    async def empty_file_trash(self) -> None:
        """Deletes everything in the trash permanently."""
        await self._ask("DELETE", "/trash")
