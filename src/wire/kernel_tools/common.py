"""What every tool in the kernel begins with: who asks for what, what is never shown, and how the answer goes out.

It runs in a namespace that is thrown away, so that nothing of it stays among the user's names and nothing that the user
has redefined (`list = [1]`) can break it. `ARGUMENTS` and `SECRET_FILES` are put into that namespace before.
"""

import json
import os
import re

from IPython import get_ipython

MIME = "application/vnd.notarium.result+json"
SHELL = get_ipython()
HIDDEN = "[hidden]"
SECRET_NAME = re.compile(r"key|token|secret|passw|credential|dsn|conn(ection)?_?str", re.I)
SECRET_SHAPE = re.compile(
    r"(?:sk|pk|rk)-[\w-]{20,}|gh[opsu]_\w{30,}|AKIA[0-9A-Z]{16}|xox[a-z]-[\w-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
PASSWORD_IN_URL = re.compile(r"(://[^\s/:@'\"]*:)[^\s/@'\"]+@")


class Refused(Exception):
    """The call cannot be done; the text says why and what to do."""


def secret_values():
    """What secret variables of the environment hold: it is never shown, wherever it stands. Longest first."""
    found = {value for name, value in os.environ.items() if SECRET_NAME.search(name) and len(value) >= 8}
    return sorted(found, key=len, reverse=True)


def masked(value, secrets):
    """The same JSON value without secrets, and with text that UTF-8 can hold."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        value = PASSWORD_IN_URL.sub(r"\1" + HIDDEN + "@", SECRET_SHAPE.sub(HIDDEN, value))
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {masked(key, secrets): masked(part, secrets) for key, part in value.items()}
    if isinstance(value, list):
        return [masked(part, secrets) for part in value]
    return value


def answer(tool):
    """Runs a tool with its arguments and shows its answer: the only output of the run."""
    try:
        result = {"ok": tool(**json.loads(ARGUMENTS))}
    except Refused as refused:
        result = {"error": str(refused)}
    SHELL.display_pub.publish({MIME: masked(result, secret_values())}, {})
