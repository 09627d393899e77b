"""Errors of SQL cells. Their messages say what to do."""

from __future__ import annotations


class SqlError(Exception):
    """An SQL cell cannot be run, or failed. Notebooks show only the message, without the frames of this package."""

    def __init__(self, message: str, *, line: int | None = None, code: str | None = None):
        super().__init__(message)
        self.line = line
        """Line of the error in the cell, from 1."""
        self.code = code
        """Code of the database (SQLSTATE), if it has one."""

    def __str__(self) -> str:
        message = super().__str__()
        return f"line {self.line}: {message}" if self.line else message

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class UnknownConnection(SqlError):
    """There is no connection, or no file, of that name."""


class ParameterError(SqlError):
    """A `{name}` cannot be bound."""


class ConnectionFailed(SqlError):
    """The database cannot be reached, or went away."""


class MissingDriver(SqlError):
    """A package is missing; the message names it."""


class TooLarge(SqlError):
    """The result is larger than what may be kept."""


class Cancelled(SqlError):
    """The statement was cancelled, but not by an interrupt of this cell."""
