"""What goes wrong in an SQL cell, in words that say what to do."""

from __future__ import annotations


class SqlError(Exception):
    """An SQL cell that cannot be run, or failed. `notebook` people see the message alone: the frames below are ours."""

    def __init__(self, message: str, *, line: int | None = None, code: str | None = None):
        super().__init__(message)
        self.line = line
        """The line of the cell at which it went wrong, from 1."""
        self.code = code
        """The database's own code (SQLSTATE), where it has one."""

    def __str__(self) -> str:
        message = super().__str__()
        return f"line {self.line}: {message}" if self.line else message

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class UnknownConnection(SqlError):
    """There is no connection, or no file, of that name."""


class ParameterError(SqlError):
    """A `{name}` that cannot be bound."""


class ConnectionFailed(SqlError):
    """The database cannot be reached, or went away."""


class MissingDriver(SqlError):
    """A package is missing, and which."""


class TooLarge(SqlError):
    """The result is larger than what may be kept."""


class Cancelled(SqlError):
    """The statement was cancelled, by somebody else than this cell's reader."""
