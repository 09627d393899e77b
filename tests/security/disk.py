"""Every token in Notarium's own folders, tried on what confirms and on what leads there. `FACTS_FILE`: see mod.rs."""

import json
import os
import pathlib
import re
import urllib.error
import urllib.request

FACTS = json.loads(pathlib.Path(FACTS_FILE).read_text())  # noqa: F821 - set by the test
TOKEN = re.compile(rb"nt_[a-z]+_[0-9A-Za-z]+_[0-9a-f]{64}")


def tokens():
    found = set()
    for root in (os.path.dirname(FACTS["config"]), FACTS["data"], os.path.join(FACTS["home"], ".local")):
        for folder, _, names in os.walk(root):
            for name in names:
                try:
                    with open(os.path.join(folder, name), "rb") as file:
                        found.update(TOKEN.findall(file.read()))
                except OSError:
                    pass
    return sorted(token.decode() for token in found)


def answer(token, method, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(FACTS["url"] + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def ways(token):
    _, me = answer(token, "GET", "/api/me")
    _, listed = answer(token, "GET", "/api/notebooks")
    notebook = listed["notebooks"][0]["id"]
    user = me["actor"]["id"]
    confirm = {"arguments_hash": "0" * 64}
    everything = {"label": "", "scopes": ["read", "confirm"]}
    yield "confirm", answer(token, "POST", f"/api/notebooks/{notebook}/calls/any/confirm", confirm)
    yield "token", answer(token, "POST", "/api/tokens", everything)
    yield "login", answer(token, "PUT", "/api/me", {"name": "Me", "login": "me"})
    yield "password", answer(token, "PUT", "/api/me/password", {"password": "chosen by code"})
    yield "reset", answer(token, "POST", f"/api/users/{user}/reset", {})
    yield "somebody", answer(token, "POST", "/api/users", {"name": "X", "login": "x", "is_admin": True})
    yield (
        "policy",
        answer(token, "POST", f"/api/notebooks/{notebook}/commands", {"body": {"SetPolicy": {"policy": "trusted"}}}),
    )
    grant = {"subject": {"kind": "user", "id": user}, "role": "viewer"}
    yield "share", answer(token, "POST", f"/api/notebooks/{notebook}/commands", {"body": {"GrantAccess": grant}})


FOUND = tokens()
SESSIONS = [token for token in FOUND if token.startswith("nt_session_")]
TRIED = [[name, status, (body or {}).get("code", "")] for token in SESSIONS for name, (status, body) in ways(token)]
print("DISK " + json.dumps({"tokens": len(FOUND), "tried": TRIED}))
