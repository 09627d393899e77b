"""Heads of notebooks are asked for at every node at once while they change: all nodes append to one tree, which stays consistent.

    scripts/with-postgresql python tests/interop/cluster/heads.py NOTARIUM_BINARY

The Python that runs this has httpx and websockets. Exit code 1 if a node refuses, a proof does not hold, or the tree has another number of leaves
than heads were appended.
"""

import os
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/interop/deploy")]

from nodes import request  # noqa: E402
from storm import Cluster, post, sql  # noqa: E402

CHANGES = 15


def work(node, number, token, faults):
    """Changes a notebook of its own at one node, and asks for the head of each change with its proof."""
    notebook = f"h-{number}"
    post(f"{node.url}/api/notebooks", token, {"id": notebook, "title": notebook})
    for change in range(CHANGES):
        code, answer = request(f"{node.url}/api/notebooks/{notebook}", "PATCH", token, {"title": f"title {change}"})
        if code != 200:
            faults.append(f"{node.name}: {code} {answer}")
        code, answer = request(f"{node.url}/api/notebooks/{notebook}/proven-head", token=token)
        if code != 200:
            faults.append(f"{node.name}, {change}: {code} {answer}")


def main():
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        print("SKIPPED: no PostgreSQL; run this through scripts/with-postgresql")
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        cluster = Cluster(str(Path(sys.argv[1]).resolve()), Path(folder), False)
        try:
            token, faults = cluster.sign_in(), []
            tasks = [(node, 2 * place + task) for place, node in enumerate(cluster.nodes) for task in range(2)]
            threads = [threading.Thread(target=work, args=(*task, token, faults)) for task in tasks]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if faults:
                raise SystemExit("\n".join(faults[:20]))
            for node in cluster.nodes:
                code, answer = request(f"{node.url}/api/tree-log", "POST", token, {})
                assert code == 200, (node.name, code, answer)
            [[last]] = sql(cluster.database, "SELECT max(leaf) + 1 FROM logged_heads")
            assert answer["size"] == int(last) >= len(tasks) * CHANGES, (answer, last)
            print(cluster.nodes[0].command("verify", "--all", token=token).strip().splitlines()[-1])
        finally:
            cluster.stop()
    print(f"heads at every node at once: a tree of {answer['size']} leaves, of which each proof holds")


if __name__ == "__main__":
    main()
