"""A node is stopped amid a model call, and another node makes the call again: the turn has one answer, also when the node wakes.

    scripts/with-postgresql python tests/interop/cluster/paused.py NOTARIUM_BINARY [--rounds N]

The stopped node gets the model's answer while it sleeps, and wakes while the other one makes the turn's next call. The Python that runs
this has httpx and websockets. Exit code 1 if a cell of a turn is missing, or was made twice.
"""

import argparse
import collections
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/interop/deploy")]

import notarium  # noqa: E402
from load import texts  # noqa: E402
from nodes import wait_for  # noqa: E402
from storm import HOLDERS, Cluster, post, sql  # noqa: E402

NOTEBOOK = "paused"
AWAKE_SECONDS = 2


class HeldModel:
    """Script of the model. The first call of a turn waits for `first`, and the one after the results for `last`."""

    def __init__(self):
        self.first, self.last = threading.Event(), threading.Event()
        self.asked = collections.Counter()  # text of the person, or "results" → calls

    def begin(self):
        self.first.clear(), self.last.clear(), self.asked.clear()

    def __call__(self, messages):
        if messages[-1]["role"] == "tool":
            self.asked["results"] += 1
            self.last.wait()
            return "Done.", []
        text = list(texts(messages))[-1]
        self.asked[text] += 1
        if self.asked[text] == 1:
            self.first.wait()
        return "I do it.", [("create_cell", {"cell_type": "markdown", "source": text})]


def one_turn(cluster, book, model, text):
    """Has one turn, whose node is stopped amid its first model call."""
    model.begin()
    nodes = {node.url: node for node in cluster.nodes}
    ended = threading.Event()

    def ask():
        with book.turn(text):
            pass
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    wait_for(lambda: model.asked[text] == 1, "the model is not called")
    holder = dict(sql(cluster.database, HOLDERS))[NOTEBOOK]
    node = nodes[holder]
    node.process.send_signal(signal.SIGSTOP)
    try:
        wait_for(lambda: model.asked["results"] == 1, "no other node goes on with the turn")
        model.first.set()
    finally:
        node.process.send_signal(signal.SIGCONT)
    time.sleep(AWAKE_SECONDS)
    model.last.set()
    if not ended.wait(60):
        raise SystemExit(f"{text!r} does not end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        print("SKIPPED: no PostgreSQL; run this through scripts/with-postgresql")
        return
    wanted = [f"turn {number}" for number in range(options.rounds)]
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        cluster = Cluster(str(Path(options.binary).resolve()), Path(folder), False)
        try:
            token = cluster.sign_in()
            model = cluster.model.script = HeldModel()
            post(f"{cluster.nodes[0].url}/api/notebooks", token, {"id": NOTEBOOK, "title": NOTEBOOK})
            made = []
            for text in wanted:
                # The client follows from the node that is stopped, or from another: each is tried.
                url = cluster.nodes[len(made) % len(cluster.nodes)].url
                with notarium.connect(url, token, timeout=60) as client, client.open(NOTEBOOK) as book:
                    one_turn(cluster, book, model, text)
                    made = [cell.source for cell in book.cells]
        finally:
            cluster.stop()
    if made != wanted:
        raise SystemExit(f"cells of the turns: {made}")
    print(f"a node that sleeps amid a model call: {len(made)} turns, each with one answer")


if __name__ == "__main__":
    main()
