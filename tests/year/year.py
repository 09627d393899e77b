"""A year of work in one notebook, as an auditor meets it: year.py NOTARIUM NOTARIUM_BENCH [--events N].

It makes a record of N events (20,000), and scrubs, blames, searches, verifies, exports, tampers, redacts, signs, restores, replays and erases by the
programs alone. What each step took is printed; only answers are checked.
"""

import argparse
import atexit
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TAMPER = HERE.parent / "fixtures" / "tamper" / "tamper.py"
NOTEBOOK = "long-record"
# Ways of tamper.py that need no assistant's call, with words of the sentence that names each.
WAYS = {
    "byte": "is not the one that was recorded",
    "row": "follows version",
    "swapped": "version",
    "author-rehashed": "nobody might have written this",
    "guest-rehashed": "nobody might have written this",
    "clock-rehashed": "dated before",
    "tail": "before the expected",
    "command-gone": "command",
    "command-version": "command",
    "command-sender": "command",
    "command-answer": "command",
    "key-replaced": "",
}


class Server:
    """The server on a data folder, until it is stopped."""

    def __init__(self, notarium: Path, data: Path, token: str | None = None) -> None:
        self.notarium, self.data = notarium, data
        home = data.parent / "home"
        home.mkdir(exist_ok=True)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("NOTARIUM_")} | {
            "HOME": str(home)
        }
        command = [notarium, "serve", "--data", data, "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.env
        )
        atexit.register(self.process.kill)
        assert self.process.stdout
        said = ""
        while not (url := re.search(r"on (http://\S+)", said)) or (token is None and "nt_owner_" not in said):
            line = self.process.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        self.url = url[1]
        self.token = token or self.signed_in(re.search(r"nt_owner_\w+", said)[0])  # type: ignore[index]

    def signed_in(self, owner: str) -> str:
        """Spends the printed token, and returns one that stays good."""
        self.env |= {"NOTARIUM_SERVER": self.url}
        self.run("login", "--token", owner, "--login", "auditor", "--name", "Auditor", stdin="a long password\n")
        scopes = [argument for scope in ("read", "edit", "manage", "admin") for argument in ("--scope", scope)]
        made = self.run("token", "new", "--label", "auditor", *scopes)
        return re.search(r"nt_\w+", made)[0]  # type: ignore[index]

    def run(self, *arguments: object, code: int = 0, stdin: str | None = None) -> str:
        """Runs a command of notarium; returns what it printed, and what it said if it had to fail."""
        env = (
            self.env
            | {"NOTARIUM_SERVER": self.url}
            | ({"NOTARIUM_TOKEN": self.token} if hasattr(self, "token") else {})
        )
        done = subprocess.run(
            [self.notarium, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=env,
            input=stdin,
            cwd=self.data.parent,
            timeout=3_600,
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *arguments: object) -> object:
        return json.loads(self.run(*arguments, "--json"))

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(60) == 0


def step(name: str, since: float) -> float:
    now = time.monotonic()
    print(f"{name:<52}{now - since:8.2f} s", flush=True)
    return now


def files_with(folder: Path, text: str) -> list[str]:
    """Files that have these bytes."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("notarium", type=Path)
    arguments.add_argument("bench", type=Path)
    arguments.add_argument("--events", type=int, default=20_000)
    args = arguments.parse_args()
    numbers = random.Random(27)
    with tempfile.TemporaryDirectory() as name:
        year(args.notarium.resolve(), args.bench.resolve(), Path(name), args.events, numbers)


def year(notarium: Path, bench: Path, folder: Path, events: int, numbers: random.Random) -> None:
    data, at = folder / "data", time.monotonic()
    subprocess.run([bench, "record", "--events", str(events), "--data", data], check=True, capture_output=True)
    at = step(f"made {events} events", at)
    server = Server(notarium, data)
    server.run("user", "take-over", "user:author-0")
    # Whoever changes the record before the take-over takes the auditor's right to read with it.
    for source in ("y = 1", "y = 2"):
        server.run("edit", NOTEBOOK, "cell-7", "--source", source)
    server.run("rename", NOTEBOOK, "A year")
    head = server.run("head", NOTEBOOK).strip()
    last = int(head.split(":")[0])
    assert last >= events

    for version in sorted(numbers.randrange(300, last) for _ in range(10)):
        state = server.json("show", NOTEBOOK, "--at", version)
        assert state["version"] == version and len(state["notebook"]["cells"]) == 200
    at = step("scrubbed: the state at 10 versions", at)
    one, other = last // 3, 2 * last // 3
    assert server.json("diff", NOTEBOOK, one, other)["cells"]
    at = step("compared two versions", at)
    server.run("blame", NOTEBOOK, "cell-7", "--at", other)
    server.run("blame", NOTEBOOK)
    at = step("blamed a cell and the notebook", at)
    server.run("find", NOTEBOOK, "import")
    while "looked through" in (found := server.run("find", NOTEBOOK, "zzzz not there", "--ever")):
        time.sleep(0.2)
    assert "│" not in found
    at = step("searched in all versions", at)

    proof = server.json("verify", NOTEBOOK)
    assert proof["ok"] and proof["version"] == last and proof["state_is_replayed"]
    at = step("verified", at)
    server.run("head", NOTEBOOK, "--sign", "-o", "head.txt")
    server.run("replay", NOTEBOOK)
    at = step("signed and replayed", at)
    server.run("export-record", NOTEBOOK, "-o", "record.jsonl.zst")
    key = keys(server)
    said = server.run("verify", "--file", "record.jsonl.zst", "--against", "head.txt", "--key", key)
    assert "it agrees with the head" in said, said
    at = step("exported, and verified the file with its head", at)
    server.run("report", NOTEBOOK, "--from", max(0, last - 2_000), "-o", "report.html")
    assert (folder / "report.html").stat().st_size > 10_000
    at = step("reported the last 2,000 events", at)
    server.stop()

    for way, words in WAYS.items():
        tampered(notarium, folder, way, words, key, server.token)
    at = step(f"tampered in {len(WAYS)} ways, each named", at)

    server = Server(notarium, data, server.token)
    redact(server)
    at = step("redacted a key that was typed in pieces", at)
    server.run("restore", NOTEBOOK, "--to", one)
    left = server.json("diff", NOTEBOOK, one)["cells"]
    # Runs stay.
    assert all(cell["changes"] == ["run"] for cell in left), left
    server.run("undo", NOTEBOOK)
    at = step("restored, and took it back", at)
    assert server.json("verify", NOTEBOOK)["ok"]
    server.run("verify", NOTEBOOK, "--against", "head.txt")
    server.run("replay", NOTEBOOK)
    at = step("verified and replayed once more", at)
    server.run("erase", NOTEBOOK, "--reason", "the year is over", "--yes")
    left = server.run("verify", NOTEBOOK)
    assert "erased at version" in left, left
    step("erased", at)
    server.stop()


def keys(server: Server) -> str:
    """The server's key, as an auditor keeps it."""
    import urllib.request

    with urllib.request.urlopen(f"{server.url}/.well-known/notarium-keys") as answer:
        return json.load(answer)["keys"][0]["key"]


def tampered(notarium: Path, folder: Path, way: str, words: str, key: str, token: str) -> None:
    """Changes a copy of the data folder in one way: `verify` must name it."""
    copy = folder / "tampered" / "data"
    shutil.copytree(folder / "data", copy, ignore=shutil.ignore_patterns("*.lock"))
    subprocess.run(
        [sys.executable, TAMPER, copy / "notarium.db", NOTEBOOK, way, "listed"], check=True, capture_output=True
    )
    server = Server(notarium, copy, token)
    kept = [] if way == "key-replaced" else ["--key", key]
    said = server.run("verify", NOTEBOOK, "--against", folder / "head.txt", *kept, code=1)
    assert words in said, f"{way}: {said}"
    server.stop()
    shutil.rmtree(copy.parent)


def redact(server: Server) -> None:
    """Types a secret letter by letter, prints it in a comment, and removes it."""
    secret, source = "hunter2-and-more", server.json("show", NOTEBOOK)["notebook"]["cells"]["cell-3"]["source"]
    for end in range(1, len(secret) + 1):
        server.run("edit", NOTEBOOK, "cell-3", "--source", f"{source}\nkey = '{secret[:end]}'")
    server.run("comment", NOTEBOOK, "cell-3", f"remove {secret}")
    assert files_with(server.data, secret)
    server.run("redact", NOTEBOOK, "--text", "-", "--reason", "it leaked", "--yes", stdin=secret)
    assert secret not in server.run("log", NOTEBOOK, "--since", 0, "--limit", 10_000_000, "--json")
    assert files_with(server.data, secret) == []
    assert "not in the record" in server.run("redact", NOTEBOOK, "--text", secret, "--reason", "again", "--yes", code=1)
    # The lines of the past are written down anew.
    with sqlite3.connect(f"file:{server.data / 'notarium.db'}?mode=ro", uri=True) as database:
        (count,) = database.execute("SELECT count(*) FROM past_lines WHERE text LIKE ?", [f"%{secret}%"]).fetchone()
    assert count == 0


if __name__ == "__main__":
    main()
