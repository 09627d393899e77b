"""SQL cells in a kernel: `notarium_kernel.sql` by the name that cells use."""

from notarium_kernel.sql import (
    Cancelled,
    Connection,
    ConnectionFailed,
    MissingDriver,
    ParameterError,
    Settings,
    SqlError,
    TooLarge,
    UnknownConnection,
    query,
    settings,
    tables,
)

__all__ = [
    "Cancelled",
    "Connection",
    "ConnectionFailed",
    "MissingDriver",
    "ParameterError",
    "Settings",
    "SqlError",
    "TooLarge",
    "UnknownConnection",
    "query",
    "settings",
    "tables",
]
