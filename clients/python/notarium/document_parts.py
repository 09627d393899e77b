"""Helpers that leave empty optional fields out of the state (protocol, section 2, “State”)."""

from typing import Any


def is_nothing(value: Any) -> bool:
    """True for `null`, `false`, `{}` and `[]`, but not for 0 and the empty text."""
    return value is None or value is False or value == {} or value == []


def compact(value: dict[str, Any]) -> dict[str, Any]:
    """The fields that are not empty."""
    return {key: one for key, one in value.items() if not is_nothing(one)}


def pick(payload: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The named fields of the payload that are not empty."""
    return {key: payload[key] for key in keys if not is_nothing(payload.get(key))}


def put(target: dict[str, Any], key: str, value: Any) -> None:
    """Sets a field, or removes it if the value is empty."""
    if is_nothing(value):
        target.pop(key, None)
    else:
        target[key] = value


def drop(state: dict[str, Any], group: str, key: str) -> None:
    """Removes an entry of a group, and the group if it is empty then."""
    state.get(group, {}).pop(key, None)
    put(state, group, state.get(group))
