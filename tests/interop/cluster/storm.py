"""Kills nodes and database connections of a cluster under load: nothing that was acknowledged is lost or doubled.

    scripts/with-postgresql python tests/interop/cluster/storm.py NOTARIUM_BINARY [--kills N] [--seed S] [--s3] [--goals]

Three nodes share a PostgreSQL and a folder of blobs (with --s3 a bucket of moto). Four writers insert cells over REST and retry
with the same key, two people type over the socket, one runs cells on a runtime agent, and one asks an assistant, which creates and deletes
cells. Meanwhile, at random moments, a node is
killed, stopped for five seconds, drained and started again, or loses all its database connections.

The Python that runs this has httpx, websockets and ipykernel; the agent's kernels use NOTARIUM_TEST_PYTHON, else the same one.
Exit code 1 if acknowledged work is lost or doubled, documents differ, or a run happens twice; with --goals also if notebooks open too
late: 5 s in the median, 8 s at the 99th percentile. NOTARIUM_STORM_KEEP=1 keeps the folder with the logs.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from load import NOTEBOOKS, Asker, Reopening, Runner, Typist, Writer, answer_of_model
from nodes import Node, free_port, request, wait_for
from outcome import check_node, check_record, check_runs, check_turns, check_typists, check_verify, sql
from processes import low_port
from tests.model import ScriptedModel

NODES, WRITERS, TYPISTS, TYPED_NOTEBOOKS = 3, 4, 2, 3
STOPPED_SECONDS = 5
DOWN_SECONDS = 1
STARTS = 5
LONGEST_REOPEN_SECONDS = 60
MEDIAN_GOAL_SECONDS, P99_GOAL_SECONDS = 5, 8
# A stopped node learns of its loss only at its next append.
AFTERMATH_SECONDS = 15
HOLDERS = "SELECT notebooks.id, nodes.url FROM notebooks JOIN nodes ON nodes.instance = notebooks.holder"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--s3", action="store_true")
    parser.add_argument("--goals", action="store_true")
    return parser.parse_args()


class Cluster:
    """The nodes, their database, the runtime agent and the bucket."""

    def __init__(self, binary, folder, in_bucket):
        self.binary, self.folder = binary, folder
        self.server = os.environ["NOTARIUM_TEST_POSTGRESQL"]
        self.database = self.server.replace("/postgres?", "/storm?")
        self.nodes, self.others = [], []
        sql(self.server, "CREATE DATABASE storm")
        secret = folder / "secret"
        secret.write_bytes(os.urandom(32).hex().encode())
        secret.chmod(0o600)
        self.model = start_model(folder)
        blobs, variables = folder / "blobs", {}
        if in_bucket:
            blobs, variables = "s3://notes/blobs", self.start_bucket()
        for number in range(NODES):
            # A node's connections are known by their role.
            sql(self.server, f"CREATE ROLE node{number} SUPERUSER LOGIN")
            port, data = low_port(), folder / f"node{number}"
            data.mkdir(mode=0o700)
            words = ["serve", "--data", data, "--blobs", blobs, "--listen", f"127.0.0.1:{port}"]
            words += ["--node-url", f"http://127.0.0.1:{port}", "--cluster-secret-file", secret]
            # The assistant of a fast program calls more often than a session may.
            words += ["--max-calls-per-minute", "1000"]
            words += ["--providers", folder / "providers.json"]
            store = self.database.replace("//owner@", f"//node{number}@")
            environment = {"NOTARIUM_STORE": store, "NOTARIUM_LOG": os.environ.get("NOTARIUM_LOG", "info")} | variables
            self.nodes.append(Node(binary, words, environment, folder, f"node{number}.serve"))
        for node in self.nodes:
            wait_for(node.is_ready, f"{node.name} is not ready")

    def start_bucket(self):
        port = free_port()
        code = "import sys; from moto.server import main; main(sys.argv[1:])"
        with (self.folder / "moto.log").open("w") as log:
            command = [sys.executable, "-c", code, "-H", "127.0.0.1", "-p", str(port)]
            self.others.append(subprocess.Popen(command, stdout=log, stderr=log))
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: request(f"{url}/notes", "PUT", timeout=5)[0] == 200, "moto does not start")
        keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "planted", "AWS_REGION": "us-east-1"}
        return keys | {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}

    def sign_in(self):
        """Returns the token of a person who may do everything."""
        owner = next(filter(None, (node.owner_token() for node in self.nodes)))
        profile = {"token": owner, "name": "Ann", "login": "ann", "password": "correct horse", "label": "storm"}
        code, answer = request(f"{self.nodes[0].url}/api/session", "POST", body=profile)
        assert code in (200, 201), answer
        return answer["token"]

    def start_agent(self, token):
        code, answer = request(f"{self.nodes[0].url}/api/agents", "POST", token, {"name": "storm"})
        assert code in (200, 201), answer
        work = self.folder / "work"
        work.mkdir()
        python = Path(os.environ.get("NOTARIUM_TEST_PYTHON", sys.executable))
        command = [self.binary, "agent", "--server", self.nodes[0].url, "--kernel-path", python.parent.parent]
        command += ["--working-dir", work]
        kept = {key: value for key, value in os.environ.items() if not key.startswith("NOTARIUM_")}
        environment = kept | {"HOME": str(self.folder), "NOTARIUM_TOKEN": answer["token"], "NOTARIUM_LOG": "info"}
        with (self.folder / "agent.log").open("w") as log:
            words = [str(word) for word in command]
            self.others.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log))
        return work / "effects.txt"

    def stop(self):
        for node in self.nodes:
            node.process.kill()
            node.process.wait()
        for process in self.others:
            process.terminate()
        for process in self.others:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def start_model(folder):
    """Starts the scripted model of the Python client's tests, and writes the file that leads servers to it."""
    model = ScriptedModel().__enter__()
    model.script = answer_of_model
    providers = [{"family": "compatible", "base_url": model.url, "model": "scripted"}]
    (folder / "providers.json").write_text(json.dumps(providers))
    return model


class Storm:
    """Kills at random, and measures each time until the notebooks are open again."""

    def __init__(self, cluster, writers, reopening, seed):
        self.cluster, self.writers, self.reopening = cluster, writers, reopening
        self.random = random.Random(seed)
        self.found = collections.defaultdict(list)  # kind → seconds
        self.idle = 0  # kills of nodes without a notebook
        self.stops, self.drains, self.drained, self.differs = [], [], [], []
        self.kinds = {
            "killed": self.kill,
            "stopped": self.freeze,
            "drained": self.drain,
            "disconnected": self.disconnect,
        }

    def run(self, kills):
        for number in range(kills):
            time.sleep(self.random.uniform(0, 1.5))
            kind = self.random.choice(list(self.kinds))
            node, held = self.victim()
            for writer in self.writers:
                writer.storm = kind
            began = datetime.now(timezone.utc)
            self.reopening.begin()
            self.kinds[kind](node)
            if not self.reopening.is_over.wait(LONGEST_REOPEN_SECONDS):
                missing = sorted(self.reopening.missing)
                self.differs.append(f"kill {number}, {node.name} {kind}: no answers for (writer, notebook) {missing}")
                return
            if held:
                self.found[kind].append(self.reopening.seconds)
            self.idle += not held
            line = f"{number + 1}. {node.name} with {held} notebooks {kind}: {self.reopening.seconds:.2f} s"
            print(f"{began:%H:%M:%S} {line}", flush=True)

    def victim(self):
        """Returns a random node, mostly one that has notebooks, and the number of those in which is written."""
        holders = [url for notebook, url in sql(self.cluster.database, HOLDERS) if notebook.startswith("n-")]
        nodes = {node.url: node for node in self.cluster.nodes}
        url = self.random.choice([*holders, *nodes])
        return nodes[url], holders.count(url)

    def kill(self, node):
        node.process.kill()
        node.process.wait()
        time.sleep(DOWN_SECONDS)
        self.start(node)

    def start(self, node):
        """Starts a node that has ended. One that does not start is a fault, and is started again, so that the rest is seen too."""
        for _ in range(STARTS):
            try:
                return node.start()
            except SystemExit:
                node.process.kill()
                node.process.wait()
                # A node that ends of itself says why in its last lines.
                reason = node.log.read_text().strip().splitlines()[-1][:300]
                print(f"FAULT {node.name} does not start: {reason}", flush=True)
                self.differs.append(f"{node.name} does not start: {reason}")
        raise SystemExit(f"{node.name} does not start, after {STARTS} attempts")

    def freeze(self, node):
        since = time.time()
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_SECONDS)
        node.process.send_signal(signal.SIGCONT)
        self.stops.append((node.name, since, time.time()))

    def drain(self, node):
        since = time.time()
        code = node.stop()
        self.drains.append(time.time() - since)
        self.drained.append((node.name, since, time.time()))
        if code:
            self.differs.append(f"{node.name} was drained, and ended with {code}")
        self.start(node)

    def disconnect(self, node):
        role = node.name.split(".")[0]
        sql(self.cluster.server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")

    def lost_leases(self):
        """Returns the log lines of lost leases: of nodes that had been stopped, of nodes that drained, and of others."""
        of_stopped, of_drained, false = [], [], []
        for node in self.cluster.nodes:
            for line in node.log.read_text().splitlines():
                line = re.sub(r"\x1b\[[0-9;]*m", "", line)
                if "another node has the notebook" not in line or "departure=Lost" not in line:
                    continue
                at = datetime.fromisoformat(line.split()[0].replace("Z", "+00:00")).timestamp()

                def is_within(times, more, name=node.name, at=at):
                    return any(one == name and since <= at <= until + more for one, since, until in times)

                kind = of_drained if is_within(self.drained, 0) else false
                kind = of_stopped if is_within(self.stops, AFTERMATH_SECONDS) else kind
                kind.append(f"{node.name}: {line}")
        return of_stopped, of_drained, false

    def report(self):
        """Prints the times; returns the median and the 99th percentile."""
        times = sorted(seconds for found in self.found.values() for seconds in found)
        if not times:
            return 0, 0
        for kind, found in self.found.items():
            print(
                f"  {kind:<14}{len(found):5} times, median {statistics.median(found):.2f} s, longest {max(found):.2f} s"
            )
        p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
        print(
            f"  reopen: median {statistics.median(times):.2f} s, p99 {p99:.2f} s, longest {times[-1]:.2f} s; {self.idle} kills hit nodes without notebooks"
        )
        if self.drains:
            print(f"  drains: median {statistics.median(self.drains):.2f} s, longest {max(self.drains):.2f} s")
        return statistics.median(times), p99


def prepare(cluster, token):
    """Makes the notebooks in which people type and run; returns their ids."""
    typed = [f"t-{number}" for number in range(TYPED_NOTEBOOKS)]
    for number, notebook in enumerate([*typed, "runs", "turns"]):
        url = cluster.nodes[number % NODES].url
        post(f"{url}/api/notebooks", token, {"id": notebook, "title": notebook})
        if notebook in typed:
            cell = {"cell_id": "first", "cell_type": "markdown", "source": ""}
            post(f"{url}/api/notebooks/{notebook}/cells", token, cell)
    return typed


def post(url, token, body):
    """Sends until it is acknowledged. Nodes that have just started do not know each other yet."""
    key = f"begin-{random.randrange(10**12)}"
    wait_for(lambda: request(url, "POST", token, body, key)[0] == 201, f"no answer at {url}")


def main():
    options = arguments()
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        print("SKIPPED: the kill storm needs PostgreSQL, which cannot be had here (scripts/with-postgresql)")
        return 0
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder, began = Path(tempfile.mkdtemp(prefix="notarium-storm.", dir="/tmp")), time.monotonic()
    cluster = is_good = None
    try:
        cluster = Cluster(str(Path(options.binary).resolve()), folder, options.s3)
        differs = run(cluster, options, seed)
        for line in differs[:50]:
            print(f"DIFFERS {line}")
        is_good = not differs
        print(f"{'good' if is_good else f'{len(differs)} differences'}, {time.monotonic() - began:.0f} s")
        return int(not is_good)
    finally:
        if cluster:
            cluster.stop()
        if os.environ.get("NOTARIUM_STORM_KEEP") or not is_good:
            print(f"logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def run(cluster, options, seed):
    """Returns what differs from what was promised."""
    token = cluster.sign_in()
    typed, reopening = prepare(cluster, token), Reopening(WRITERS)
    effects = cluster.start_agent(token)
    writers = [Writer(cluster.nodes, token, number, reopening, seed) for number in range(WRITERS)]
    urls = [cluster.nodes[(number + 1) % NODES].url for number in range(TYPISTS)]
    typists = [Typist(url, token, number, typed, seed) for number, url in enumerate(urls)]
    runner = Runner(cluster.nodes[1].url, token, "runs")
    asker = Asker(cluster.nodes[2].url, token, "turns")
    workers = [*writers, *typists, runner, asker]
    for worker in workers:
        worker.start()
    enough = lambda: len(runner.ends) > 1 and asker.ends and all(len(writer.acked) == NOTEBOOKS for writer in writers)  # noqa: E731
    wait_for(lambda: enough() or any(worker.faults for worker in workers), "the load does not begin")
    storm = Storm(cluster, writers, reopening, seed)
    storm.run(options.kills)
    end(workers)
    acked = collections.defaultdict(dict)
    for writer in writers:
        for notebook, cells in writer.acked.items():
            acked[notebook].update(cells)
    differs = storm.differs + [fault for worker in workers for fault in worker.faults]
    for node in cluster.nodes:
        differs += check_node(node, token, acked)
    differs += check_record(cluster.database, acked)
    differs += check_typists(cluster.nodes, token, typists)
    differs += check_runs(cluster.nodes, token, cluster.database, runner, effects)
    differs += check_turns(cluster.database, asker)
    differs += check_verify(cluster.nodes[-1], token)
    ends = collections.Counter(asker.ends.values())
    cells, lines = sum(map(len, acked.values())), sum(len(typist.typed) for typist in typists)
    print(f"{cells} cells acknowledged, {lines} lines typed, {len(runner.ends)} runs")
    print(f"  turns: {dict(ends)}, {len(asker.deleted)} confirmed deletions")
    report_retries(writers)
    of_stopped, of_drained, false = storm.lost_leases()
    counts = f"{len(of_stopped)} by nodes that had been stopped, {len(of_drained)} by draining nodes"
    print(f"  leases lost: {counts}, {len(false)} by others (false suspicions)")
    for line in false[:10]:
        print(f"    {line}")
    median, p99 = storm.report()
    if options.goals and (median > MEDIAN_GOAL_SECONDS or p99 > P99_GOAL_SECONDS):
        differs.append(f"notebooks open too late: goals {MEDIAN_GOAL_SECONDS} s and {P99_GOAL_SECONDS} s")
    return differs


def end(workers):
    """Ends the load. The clients stay connected, for their documents are compared."""
    for worker in workers:
        worker.is_over.set()
    until = time.monotonic() + 2 * LONGEST_REOPEN_SECONDS
    for worker in workers:
        worker.join(max(0, until - time.monotonic()))
        if worker.is_alive():
            worker.fault(f"does not end: {worker.waits_for()}")


def report_retries(writers):
    """Prints the answers that were no acknowledgement, the most frequent first."""
    retries = collections.Counter()
    for writer in writers:
        retries += writer.retries
    for (kind, code, answer), count in retries.most_common(12):
        print(f"  {count} × {kind}: {code} {answer}")


if __name__ == "__main__":
    sys.exit(main())
