"""An event of a notebook's log. `notarium.events` has a class for each type."""

from datetime import datetime, timezone
from typing import Any


def as_time(milliseconds: int) -> datetime:
    """A time of the server, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)


class Event:
    """One event: who did what, when. Immutable; `version` counts 1, 2, 3 … without gaps.

    An event of a type that this client does not know is an `Event` itself, with its name in `type`.
    """

    __slots__ = ("raw",)
    raw: dict[str, Any]

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def version(self) -> int:
        """Its place in the log."""
        version: int = self.raw["version"]
        return version

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.raw["id"])

    @property
    def type(self) -> str:
        """The name of its type."""
        return str(self.raw["type"])

    @property
    def actor(self) -> dict[str, Any]:
        """Who was connected: `kind` is `user`, `guest`, `assistant`, `agent` or `system`."""
        actor: dict[str, Any] = self.raw["actor"]
        return actor

    @property
    def recorded_at(self) -> datetime:
        """When the server recorded it, in UTC."""
        return as_time(self.raw["recorded_at"])

    @property
    def command_id(self) -> str | None:
        """The command that caused it."""
        return self.raw.get("command_id")

    @property
    def correlation_id(self) -> str | None:
        """The undo group."""
        return self.raw.get("correlation_id")

    @property
    def causation_id(self) -> str | None:
        """The event that led to it, where that was no command of somebody."""
        return self.raw.get("causation_id")

    @property
    def undoes(self) -> str | None:
        """The group that it undoes."""
        return self.raw.get("undoes")

    @property
    def payload(self) -> dict[str, Any]:
        """What happened, as JSON."""
        payload: dict[str, Any] = self.raw["payload"]
        return payload

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash((self.id, self.version))

    def __repr__(self) -> str:
        fields = " ".join(f"{name}={value!r}" for name, value in self.payload.items())
        return f"<{self.type} {self.version} {fields[:200]}>"
