"""Events of a notebook's log. `notarium.events` has a class for each type."""

from datetime import datetime, timezone
from typing import Any


def as_time(milliseconds: int) -> datetime:
    """Server time in milliseconds as a `datetime` in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)


class Event:
    """One event: actor, time and change. Immutable; `version` counts 1, 2, 3 … without gaps.

    Events of unknown types are plain `Event` objects, with the type's name in `type`.
    """

    __slots__ = ("raw",)
    raw: dict[str, Any]

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def version(self) -> int:
        """Position in the log, from 1."""
        version: int = self.raw["version"]
        return version

    @property
    def id(self) -> str:
        """The event's id."""
        return str(self.raw["id"])

    @property
    def type(self) -> str:
        """Name of the event type."""
        return str(self.raw["type"])

    @property
    def actor(self) -> dict[str, Any]:
        """Actor that caused the event. `kind` is `user`, `guest`, `assistant`, `agent` or `system`."""
        actor: dict[str, Any] = self.raw["actor"]
        return actor

    @property
    def recorded_at(self) -> datetime:
        """Time at which the server recorded the event, in UTC."""
        return as_time(self.raw["recorded_at"])

    @property
    def command_id(self) -> str | None:
        """Id of the command that caused the event."""
        return self.raw.get("command_id")

    @property
    def correlation_id(self) -> str | None:
        """Id of the undo group."""
        return self.raw.get("correlation_id")

    @property
    def causation_id(self) -> str | None:
        """Id of the event that caused this one, if no user's command did."""
        return self.raw.get("causation_id")

    @property
    def undoes(self) -> str | None:
        """Id of the undo group that the event undoes."""
        return self.raw.get("undoes")

    @property
    def payload(self) -> dict[str, Any]:
        """The change, as JSON."""
        payload: dict[str, Any] = self.raw["payload"]
        return payload

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash((self.id, self.version))

    def __repr__(self) -> str:
        fields = " ".join(f"{name}={value!r}" for name, value in self.payload.items())
        return f"<{self.type} {self.version} {fields[:200]}>"
