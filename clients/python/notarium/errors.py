"""Exceptions. Each says what to do, and has the server's stable `code` (`protocol/errors.md`)."""

from typing import Any

from .words import STATUS_OF_CODE

# Codes of connections have no status.
_STATUS_OF = STATUS_OF_CODE | {"frame_too_large": 413, "too_many_requests": 429}


class NotariumError(Exception):
    """Base class of all exceptions of this package."""

    code: str = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class ConfigurationError(NotariumError):
    """No server or no token is configured."""

    code = "configuration"


class Disconnected(NotariumError):
    """The connection was closed, or could not be made in time."""

    code = "disconnected"


class UnsupportedProtocol(NotariumError):
    """Server and client have no common protocol version: update one of them."""

    code = "unsupported_protocol"


class WaitTimeout(NotariumError, TimeoutError):
    """The deadline passed before the awaited change. It may still happen."""

    code = "timeout"


class Rejected(NotariumError):
    """The server refused the request, and nothing was changed.

    `expected_version` and `actual_version` accompany the codes about versions. `details` has the facts of the refusal, by `kind`, as
    in `{"kind": "limit", "limit": "source", "max": 1048576, "unit": "bytes"}`; `None` if `code` says all. `text` is the cell's local text if an edit of
    text was refused: keep it, or offer it as a copy.
    """

    def __init__(self, message: str, *, code: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message, code=code)
        details = details or {}
        self.expected_version: int | None = details.get("expected_version")
        self.actual_version: int | None = details.get("actual_version")
        self.part: int | None = details.get("part")
        self.details: dict[str, Any] | None = details.get("details")
        self.text: str | None = None


class Invalid(Rejected):
    """The server does not accept this value; the message says why."""


class Unauthenticated(Rejected):
    """The token is missing, unknown, revoked or expired."""


class Forbidden(Rejected):
    """The role, or the token's scopes, do not allow the request."""


class NotFound(Rejected):
    """The object does not exist, you may not read it, or it is in the trash (`cell_deleted`)."""


class Conflict(Rejected):
    """The request does not fit the current state: another change was first, or the object has ended."""


class LimitExceeded(Rejected):
    """A limit was reached; the message names it."""


class RateLimited(Rejected):
    """Rate limit exceeded: wait `retry_after` seconds."""

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait; `None` if the server does not say."""
        details = self.details or {}
        seconds = details.get("seconds")
        return seconds if details.get("kind") == "retry_after" and isinstance(seconds, int) else None


class Unavailable(Rejected):
    """The server is temporarily unable to do it. Unless the message says otherwise, nothing was changed: retry later."""


class RunFailed(NotariumError):
    """A run did not end with `ok`. `run.raise_for_status()` raises it.

    `ename` and `evalue` are the exception's name and text if the code raised one; `traceback` is its full text.
    """

    code = "run_failed"

    def __init__(self, message: str, *, status: str, ename: str | None, evalue: str | None, traceback: str) -> None:
        super().__init__(message)
        self.status, self.ename, self.evalue, self.traceback = status, ename, evalue, traceback


_CLASSES: dict[int, type[Rejected]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    413: LimitExceeded,
    422: Invalid,
    429: RateLimited,
    503: Unavailable,
}


def rejection(body: dict[str, Any], status: int | None = None) -> Rejected:
    """The exception for a `reject`, an `error` or a problem of REST."""
    code = str(body.get("code", "error"))
    message = str(body.get("message") or body.get("detail") or body.get("title") or code)
    known = _STATUS_OF.get(code, status or 0)
    kind = _CLASSES.get(known, Unavailable if known >= 500 else Rejected)
    return kind(message, code=code, details=body)
