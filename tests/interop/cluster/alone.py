"""One server alone on PostgreSQL: everything works as on a folder, and no other server joins it.

    scripts/with-postgresql python tests/interop/cluster/alone.py NOTARIUM_BINARY

The Python that runs this has httpx and websockets. Exit code 1 if something differs.
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/interop/deploy"), str(ROOT / "clients/python")]

import notarium  # noqa: E402
from nodes import Node, free_port, request, wait_for  # noqa: E402

COMMANDS = "/api/cluster/commands"


def signed_with_nothing(path):
    """Returns the header of a node whose cluster has an empty secret."""
    encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()  # noqa: E731
    who = {"actor": "system", "authority": {}, "name": "", "connection": ""}
    claims = encode(json.dumps({"at": int(time.time()), "who": who}).encode())
    signature = hmac.new(b"", f"POST\n{path}\n{claims}".encode(), hashlib.sha256).digest()
    return f"{claims}.{encode(signature)}"


def refused(binary, folder, store, *more):
    """Starts another server, which must not come up; returns what it says."""
    command = [binary, "serve", "--data", folder, "--listen", f"127.0.0.1:{free_port()}", "--store", store, *more]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0, "a second server has started"
    return ended.stderr


def main():
    binary = str(Path(sys.argv[1]).resolve())
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        print("SKIPPED: no PostgreSQL; run this through scripts/with-postgresql")
        return
    server = os.environ["NOTARIUM_TEST_POSTGRESQL"]
    psql = [os.environ["NOTARIUM_TEST_POSTGRESQL_BIN"] + "/psql", "-q", server, "-c", "CREATE DATABASE alone"]
    subprocess.run(psql, check=True)
    store = server.replace("/postgres?", "/alone?")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ["serve", "--data", folder / "data", "--listen", f"127.0.0.1:{free_port()}", "--store", store]
        node = Node(binary, arguments, {}, folder, "alone")
        token = node.sign_in(wait_for(node.owner_token, "no token is printed"))
        assert request(f"{node.url}/api/notebooks", "POST", token, {"id": "n", "title": "N"})[0] == 201
        with notarium.connect(node.url, token, timeout=20) as client, client.open("n") as book:
            book.append("x = 1")
            book.flush()
            assert [cell.source for cell in book.cells] == ["x = 1"] and book.check()
        forged = {"notarium-identity": signed_with_nothing(COMMANDS)}
        code, answer = request(node.url + COMMANDS, "POST", body={}, headers=forged)
        assert code == 401 and "not signed" in answer, (code, answer)
        secret = folder / "secret"
        secret.write_text("0123456789abcdef" * 4)
        secret.chmod(0o600)
        cluster = [
            "--node-url",
            f"http://127.0.0.1:{free_port()}",
            "--cluster-secret-file",
            str(secret),
            "--blobs",
            str(folder / "blobs"),
        ]
        for more in ([], cluster):
            assert "another server uses this database" in refused(binary, folder / "second", store, *more)
        node.stop(signal.SIGKILL)
        # The killed one counts as alive for some seconds, which the next start waits for.
        node.start()
        assert request(f"{node.url}/api/notebooks/n", token=token)[0] == 200
        assert node.stop() == 0
    print("a server alone on PostgreSQL: REST, socket, no other server beside it, up again after a kill")


if __name__ == "__main__":
    main()
