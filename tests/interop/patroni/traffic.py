"""Writers and a reader over REST, and the gaps between their answers."""

import collections
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "deploy"))

from nodes import request  # noqa: E402

CELLS_OF_A_NOTEBOOK = 10_000


class Writer(threading.Thread):
    """Inserts cells one after the other; keeps those that were acknowledged, with their versions."""

    def __init__(self, nodes, token, number):
        super().__init__(daemon=True)
        self.nodes, self.token, self.number = nodes, token, number
        self.random = random.Random(number)
        self.is_over = threading.Event()
        self.acked = {}  # notebook → cell → version
        self.times = []
        self.retries = collections.Counter()

    def run(self):
        count = 0
        while not self.is_over.is_set():
            if count % CELLS_OF_A_NOTEBOOK == 0:
                notebook = f"n-{self.number}-{count // CELLS_OF_A_NOTEBOOK}"
                self.send("/api/notebooks", {"id": notebook, "title": notebook}, f"new-{notebook}")
                self.acked[notebook] = {}
            cell = f"c-{self.number}-{count}"
            body = {"cell_id": cell, "cell_type": "code", "source": f"{count}"}
            answer = self.send(f"/api/notebooks/{notebook}/cells", body, cell)
            if answer is not None:
                self.acked[notebook][cell] = answer["version"]
                self.times.append(time.monotonic())
            count += 1

    def send(self, path, body, key):
        """Sends until it is acknowledged; `None`: the test is over."""
        node = self.random.randrange(len(self.nodes))
        while not self.is_over.is_set():
            code, answer = request(self.nodes[node].url + path, "POST", self.token, body, key, timeout=10)
            if code in (200, 201):
                return answer
            self.retries[code, str(answer)[:160]] += 1
            # Nothing else may be refused: a repeat under the same key gets the first answer.
            if code not in (0, 429, 500, 502, 503, 504):
                raise SystemExit(f"{path}: {code} {answer}")
            node = (node + 1) % len(self.nodes)
            time.sleep(0.05)
        return None


class Reader(threading.Thread):
    """Reads the first writer's notebook again and again; keeps the times of the answers."""

    def __init__(self, node, token):
        super().__init__(daemon=True)
        self.url, self.token, self.times = f"{node.url}/api/notebooks/n-0-0", token, []

    def run(self):
        while True:
            if request(self.url, token=self.token, timeout=5)[0] == 200:
                self.times.append(time.monotonic())
            time.sleep(0.05)


def gaps(times, since, until):
    """Returns the longest time between two acknowledgements in this stretch, over all writers."""
    inside = [since, *sorted(moment for moment in times if since < moment < until), until]
    return max(later - earlier for earlier, later in zip(inside, inside[1:], strict=False))
