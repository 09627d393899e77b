"""Load on a cluster: writers over REST, people who type over the socket, one who runs cells, and one who asks an assistant."""

import collections
import json
import random
import sys
import threading
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/interop/deploy")]

import notarium  # noqa: E402
from nodes import request  # noqa: E402

NOTEBOOKS = 6
# Per writer, before it goes on in a new notebook: notebooks are limited to 20,000 cells.
CELLS_OF_A_NOTEBOOK = 1500
CHARACTERS_OF_A_CELL = 20_000
REQUEST_SECONDS = 2
# As a load balancer does: a node that gave no answer gets no requests for a while.
AVOIDED_SECONDS = 2
WRITER_PAUSE_SECONDS = 0.02
TYPING_PAUSE_SECONDS = 0.1
CLIENT_SECONDS = 60
TURNS_OF_A_CONVERSATION = 10
# Answers after which a writer repeats the request. Any other is a fault.
REPEATED = (0, 429, 500, 502, 503, 504)


class Reopening:
    """Measures the time from a moment until every writer had an answer for every notebook again."""

    def __init__(self, writers):
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.writers, self.missing, self.since, self.seconds = writers, set(), None, None

    def begin(self):
        with self.lock:
            self.missing = {(writer, slot) for writer in range(self.writers) for slot in range(NOTEBOOKS)}
            self.since, self.seconds = time.monotonic(), None
            self.is_over.clear()

    def acked(self, writer, slot, sent_at):
        """Counts an answer to a request that was sent after the beginning."""
        with self.lock:
            if self.missing and sent_at >= self.since:
                self.missing.discard((writer, slot))
                if not self.missing:
                    self.seconds = time.monotonic() - self.since
                    self.is_over.set()


class Worker(threading.Thread):
    """Thread of the load. `faults` has what must not happen."""

    def __init__(self, name):
        super().__init__(daemon=True, name=name)
        self.is_over, self.faults = threading.Event(), []

    def run(self):
        try:
            self.work()
        except Exception:
            self.fault(traceback.format_exc())

    def fault(self, text):
        line = f"{time.strftime('%H:%M:%S', time.gmtime())} {self.name}: {text}"
        print(f"FAULT {line}", flush=True)
        self.faults.append(line)

    def waits_for(self):
        """Innermost calls of the thread."""
        frame = sys._current_frames().get(self.ident)
        return "".join(traceback.format_stack(frame)[-5:]) if frame else "it has ended"


class Writer(Worker):
    """Inserts cells in turn in each notebook, over a random node; keeps those that were acknowledged, with their versions."""

    def __init__(self, nodes, token, number, reopening, seed):
        super().__init__(f"writer {number}")
        self.nodes, self.token, self.number, self.reopening = nodes, token, number, reopening
        self.random = random.Random(f"{seed} {number}")
        self.acked = collections.defaultdict(dict)  # notebook → cell → version
        self.retries = collections.Counter()
        self.avoided = {}
        self.storm = "none"

    def work(self):
        count = 0
        while not self.is_over.is_set():
            slot, number = count % NOTEBOOKS, count // NOTEBOOKS
            notebook = f"n-{slot}-{number // CELLS_OF_A_NOTEBOOK}"
            if number % CELLS_OF_A_NOTEBOOK == 0:
                # All writers send the same request under the same key: the first one makes it.
                self.send("/api/notebooks", {"id": notebook, "title": notebook}, f"new-{notebook}", slot)
            cell = f"w{self.number}-{slot}-{number}"
            body = {"cell_id": cell, "cell_type": "code", "source": f"{cell} = 1"}
            answer = self.send(f"/api/notebooks/{notebook}/cells", body, cell, slot)
            if answer is not None:
                self.acked[notebook][cell] = answer["version"]
                if count % 20 == 0:
                    self.read(notebook, cell, answer["version"])
            count += 1
            time.sleep(WRITER_PAUSE_SECONDS)

    def node(self):
        """Returns a random node, one that answers if there is one."""
        now = time.monotonic()
        good = [node for node in self.nodes if self.avoided.get(node.name, 0) < now]
        return self.random.choice(good or self.nodes)

    def send(self, path, body, key, slot):
        """Sends until it is acknowledged; `None`: the test is over."""
        while not self.is_over.is_set():
            node, sent_at = self.node(), time.monotonic()
            code, answer = request(node.url + path, "POST", self.token, body, key, timeout=REQUEST_SECONDS)
            if code in (200, 201):
                self.reopening.acked(self.number, slot, sent_at)
                return answer
            if code not in REPEATED:
                self.fault(f"{path} at {node.name}: {code} {answer}")
                return None
            self.retries[self.storm, code, str(answer)[:160]] += 1
            if code == 0:
                self.avoided[node.name] = time.monotonic() + AVOIDED_SECONDS
            time.sleep(0.05)
        return None

    def read(self, notebook, cell, version):
        """Every node shows what was acknowledged."""
        node = self.node()
        path = f"/api/notebooks/{notebook}/events?after={version - 1}&limit=1"
        code, answer = request(node.url + path, token=self.token, timeout=REQUEST_SECONDS)
        if code == 200:
            found = [(event["version"], event["payload"].get("cell_id")) for event in answer["events"]]
            if found != [(version, cell)]:
                self.fault(
                    f"{node.name} shows {found} of {notebook}, where {cell} was acknowledged as version {version}"
                )
        elif code not in REPEATED:
            self.fault(f"{path} at {node.name}: {code} {answer}")


class Typist(Worker):
    """Types lines into cells of the shared notebooks with the Python client, and follows the others' edits.

    `typed` has the lines that the server has confirmed. Each must be there exactly once in the end.
    """

    def __init__(self, url, token, number, notebooks, seed):
        super().__init__(f"typist {number}")
        self.number, self.notebooks = number, notebooks
        self.random = random.Random(f"{seed} typist {number}")
        self.typed = []
        self.client = notarium.connect(url, token, timeout=CLIENT_SECONDS).__enter__()
        self.open = {notebook: self.client.open(notebook).__enter__() for notebook in notebooks}

    def work(self):
        count = 0
        pending = []
        while not self.is_over.is_set():
            notebook = self.random.choice(self.notebooks)
            line = f"t{self.number}-{count}"
            self.type(self.open[notebook], line)
            pending.append((notebook, line))
            count += 1
            if count % 20 == 0:
                try:
                    self.flush(pending)
                except notarium.NotariumError as error:
                    self.fault(repr(error))
            time.sleep(TYPING_PAUSE_SECONDS)
        self.flush(pending)

    def type(self, book, line):
        cell = book.cells[-1]
        text = cell.source
        if len(text) > CHARACTERS_OF_A_CELL:
            cell = book.append("")
            text = cell.source
        starts = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]
        place = self.random.choice(starts)
        cell.splice(place, place, f"{line}\n", wait=False)

    def flush(self, pending):
        for book in self.open.values():
            book.flush()
        self.typed += pending
        pending.clear()

    def sources(self, notebook):
        """Returns the texts of the cells as this client has them."""
        return {cell.id: cell.source for cell in self.open[notebook].cells}


class Runner(Worker):
    """A person who changes and runs one cell again and again. The code leaves a line in a file, so that each run is seen once."""

    def __init__(self, url, token, notebook):
        super().__init__("runner")
        self.ends = {}  # number of the run → status
        self.client = notarium.connect(url, token, timeout=CLIENT_SECONDS).__enter__()
        self.book = self.client.open(notebook).__enter__()

    def work(self):
        cell, count = self.book.append("0"), 0
        while not self.is_over.is_set():
            # Every tenth output is large: it is a blob.
            output = "print('x' * 20_000)" if count % 10 == 0 else f"print({count})"
            code = f"with open('effects.txt', 'a') as file:\n    print('run {count}', file=file)\n{output}"
            try:
                cell.edit(code)
                run = cell.run()
                run.wait(CLIENT_SECONDS)
                self.ends[count] = run.status
                if run.status != "ok":
                    self.fault(f"run {count} ({run.id}) ended as {run.status}: {run.notice}")
            except notarium.NotariumError as error:
                self.fault(f"run {count}: {error!r}")
            count += 1
            time.sleep(0.2)


def answer_of_model(messages):
    """Creates the cell that the person asks for, deletes the one that it names, and ends the turn."""
    if messages[-1]["role"] == "tool":
        return "Done.", []
    asked = json.loads([text for text in texts(messages) if text.startswith("{")][-1])
    calls = [("create_cell", {"cell_type": "markdown", "source": asked["create"]})]
    if asked["delete"]:
        calls.append(("delete_cell", asked["delete"]))
    return "I do it.", calls


def texts(messages):
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            yield from [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


class Asker(Worker):
    """A person whose assistant creates a cell in each turn, and in every third deletes an old one once the person has confirmed it.

    `ends` has each turn's status, `confirmed` the cells whose deletion was confirmed and acknowledged as done.
    """

    def __init__(self, url, token, notebook):
        super().__init__("asker")
        self.ends, self.deleted = {}, set()  # number of the turn → status; cells
        self.turn = None
        self.client = notarium.connect(url, token, timeout=CLIENT_SECONDS).__enter__()
        self.book = self.client.open(notebook).__enter__()

    def work(self):
        count, conversation = 0, None
        while not self.is_over.is_set():
            old = self.book.append(f"old {count}") if count % 3 == 0 else None
            delete = old and {"cell_id": old.id, "cell_version": old.version}
            try:
                # A notebook has a limited number of conversations, and the model reads the whole of one.
                conversation = conversation if count % TURNS_OF_A_CONVERSATION else None
                text = json.dumps({"create": f"turn {count}", "delete": delete})
                with self.book.turn(text, conversation=conversation) as turn:
                    self.turn = turn
                    for call in turn.waiting():
                        call.confirm()
                self.ends[count], conversation = turn.status, turn.conversation
                if old and any(call.function == "delete_cell" and call.result is not None for call in turn.calls):
                    self.deleted.add(old.id)
            except notarium.NotariumError as error:
                conversation = None
                self.fault(f"turn {count}: {error!r}")
            count += 1
            time.sleep(0.5)

    def waits_for(self):
        calls = [(call.id, call.function, call.is_over, call.is_waiting) for call in self.turn.calls]
        return f"turn {self.turn.id} is {self.turn.status} at version {self.book.version}, calls (over, waiting) {calls}\n{super().waits_for()}"
