"""How the state leaves out optional fields that hold nothing (protocol, section 2, “State”)."""

from typing import Any


def is_nothing(value: Any) -> bool:
    """`null`, `false`, `{}` and `[]`, but not 0 and not the empty text."""
    return value is None or value is False or value == {} or value == []


def compact(value: dict[str, Any]) -> dict[str, Any]:
    """The fields that hold something."""
    return {key: one for key, one in value.items() if not is_nothing(one)}


def pick(payload: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Those of these fields that hold something."""
    return {key: payload[key] for key in keys if not is_nothing(payload.get(key))}


def put(target: dict[str, Any], key: str, value: Any) -> None:
    """Sets a field, or removes it where it would hold nothing."""
    if is_nothing(value):
        target.pop(key, None)
    else:
        target[key] = value


def drop(state: dict[str, Any], group: str, key: str) -> None:
    """Removes one of a group, and the group with its last one."""
    state.get(group, {}).pop(key, None)
    put(state, group, state.get(group))
