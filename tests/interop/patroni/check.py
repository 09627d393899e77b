"""Writes while Patroni changes the leader: nothing that was acknowledged is lost or doubled.

    python tests/interop/patroni/check.py NOTARIUM_BINARY [--haproxy]

Starts etcd, three members of PostgreSQL with Patroni in strict synchronous mode, and nodes of Notarium (two if the binary knows
`--node-url`). Writers insert cells over REST and retry with the same key until a cell is acknowledged. Meanwhile there are a switchover,
a `kill -9` of the leader's postmaster, a `kill -9` of everything on the leader's node, and a leader's node that freezes without closing
its connections, as a machine does that loses its power. The Python that runs this has the packages of
requirements.txt beside this file, and the account `nobody` can run it. Exit code 1 if a cell is missing or doubled, or if a node
keeps connections to a standby.

The nodes find the leader by the hosts of their URL; with --haproxy by HAProxy, which asks Patroni.
NOTARIUM_PATRONI_KEEP=1 keeps the folder with the logs. NOTARIUM_POSTGRESQL_BIN: folder of another version's programs.
"""

import collections
import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/interop/deploy"))

from nodes import Node, free_port, request, wait_for  # noqa: E402
from traffic import Reader, Writer, gaps  # noqa: E402

SCOPE = "notes"
MEMBERS = 3
WRITERS = 4
QUIET_SECONDS = 5
WRITES_AFTERWARDS = 200
NO_WRITES_SECONDS = 120
# Documented in docs/operations.md: a failover by a dead machine takes at most about this.
LONGEST_GAP_SECONDS = 60


def programs():
    """Returns the folder of PostgreSQL's programs, and etcd; says why if one is missing."""
    if other := os.environ.get("NOTARIUM_POSTGRESQL_BIN"):
        server = subprocess.CompletedProcess([], 0, f"{other}/postgres")
    else:
        server = subprocess.run([ROOT / "scripts/need-postgresql"], stdout=subprocess.PIPE, text=True)
    here = Path(sys.executable).parent
    etcd = shutil.which("etcd", path=f"{here}:{os.environ['PATH']}:/usr/sbin")
    missing = [name for name, found in (("PostgreSQL", server.returncode == 0), ("etcd", etcd)) if not found]
    missing += [] if (here / "patroni").exists() else ["Patroni"]
    missing += ["HAProxy"] if "--haproxy" in sys.argv and not shutil.which("haproxy") else []
    if missing:
        print(f"SKIPPED: the test with Patroni needs {' and '.join(missing)}, which cannot be had here")
        sys.exit(0)
    return Path(server.stdout.strip()).parent, etcd


class Member:
    """A node of the database: Patroni and its PostgreSQL."""

    def __init__(self, cluster, number):
        self.cluster, self.name = cluster, f"pg{number}"
        self.port, self.rest_port = free_port(), free_port()
        self.folder = cluster.folder / self.name
        self.folder.mkdir()
        self.file = self.folder / "patroni.json"
        self.file.write_text(json.dumps(self.settings()))
        shutil.chown(self.folder, cluster.user)
        self.process = None

    def settings(self):
        trusted = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        replication = {"username": "replicator", "password": "replicator"}
        return {
            "scope": SCOPE,
            "name": self.name,
            "log": {"level": "INFO"},
            "restapi": {
                "listen": f"127.0.0.1:{self.rest_port}",
                "connect_address": f"127.0.0.1:{self.rest_port}",
            },
            "etcd3": {"hosts": [f"127.0.0.1:{self.cluster.etcd_port}"]},
            "bootstrap": {
                "dcs": {
                    "ttl": 20,
                    "loop_wait": 2,
                    "retry_timeout": 5,
                    "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 100}},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "bin_dir": str(self.cluster.bin),
                "data_dir": str(self.folder / "data"),
                "pgpass": str(self.folder / "pgpass"),
                "pg_hba": trusted,
                "parameters": {"unix_socket_directories": str(self.folder)},
                "authentication": {
                    "superuser": {"username": "postgres", "password": "postgres"},
                    "replication": replication,
                    "rewind": {"username": "postgres", "password": "postgres"},
                },
            },
        }

    def start(self):
        program = Path(sys.executable).parent / "patroni"
        self.process = self.cluster.run([program, self.file], self.folder / "patroni.log")

    def postmaster(self):
        """Returns the pid of PostgreSQL's first process; an OSError if it does not run."""
        pid = int((self.folder / "data/postmaster.pid").read_text().split("\n", 1)[0])
        if str(self.folder) not in Path(f"/proc/{pid}/cmdline").read_text():
            raise ProcessLookupError(pid)
        return pid

    def kill_postmaster(self):
        os.kill(self.postmaster(), signal.SIGKILL)

    def signal_node(self, number):
        """Sends a signal to Patroni and every process of PostgreSQL."""
        postmaster = self.postmaster()
        children = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(int(pid)) == postmaster]
        self.process.send_signal(number)
        for pid in [postmaster, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_node(self):
        self.signal_node(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if not self.process:
            return
        # A frozen one ends only when it goes on.
        with contextlib.suppress(OSError, ValueError):
            self.signal_node(signal.SIGCONT)
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        # Patroni may have ended without its PostgreSQL.
        with contextlib.suppress(OSError, ValueError):
            self.signal_node(signal.SIGKILL)


def parent(pid):
    """Returns the pid of the parent process; `None`: the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


class Cluster:
    """etcd and the members, as an account without rights: PostgreSQL refuses to run as root."""

    def __init__(self, folder, bin_folder, etcd):
        self.folder, self.bin = folder, bin_folder
        self.user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        self.user, self.ids = self.user.pw_name, (self.user.pw_uid, self.user.pw_gid)
        self.etcd_port, peer_port = free_port(), free_port()
        (folder / "etcd").mkdir()
        shutil.chown(folder / "etcd", self.user)
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{peer_port}"
        addresses = ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
        addresses += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
        self.haproxy = None
        self.etcd = self.run([etcd, "--data-dir", folder / "etcd/data", *addresses], folder / "etcd/log")
        self.members = [Member(self, number) for number in range(1, MEMBERS + 1)]

    def run(self, command, log):
        drop = {} if os.getuid() else {"user": self.ids[0], "group": self.ids[1], "extra_groups": []}
        environment = os.environ | {"HOME": "/tmp", "LC_ALL": "C.UTF-8"}
        with log.open("a") as output:
            return subprocess.Popen(
                [str(word) for word in command],
                stdout=output,
                stderr=output,
                cwd="/tmp",
                env=environment,
                start_new_session=True,
                **drop,
            )

    def start(self):
        for member in self.members:
            member.start()
        self.wait_until_whole()

    def status(self):
        """Returns the roles of the members that run, by name."""
        for member in self.members:
            code, answer = request(f"http://127.0.0.1:{member.rest_port}/cluster", timeout=1)
            if code == 200:
                return {
                    one["name"]: one["role"] for one in answer["members"] if one["state"] in ("running", "streaming")
                }
        return {}

    def leader(self):
        names = [name for name, role in self.status().items() if role == "leader"]
        return next((member for member in self.members if member.name in names), None)

    def wait_until_whole(self):
        """Waits for a leader, a synchronous standby and a third member."""
        want = ["leader", "replica", "sync_standby"]
        wait_for(lambda: sorted(self.status().values()) == want, f"Patroni is not whole: {self.status()}", 120)

    def sql(self, *statements):
        for statement in statements:
            command = [self.bin / "psql", "-qXv", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.leader().port)]
            subprocess.run([*command, "-U", "postgres", "-c", statement], check=True)

    def strays(self):
        """Returns the number of connections that nodes keep to standbys: reads there may be older than what was acknowledged."""
        leader, count = self.leader(), 0
        for member in self.members:
            if member is not leader:
                command = [self.bin / "psql", "-qXAt", "-h", "127.0.0.1", "-p", str(member.port), "-U", "postgres"]
                query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'notarium'"
                asked = subprocess.run([*command, "-c", query], capture_output=True, text=True, check=True)
                count += int(asked.stdout)
        return count

    def switch_over(self):
        roles = self.status()
        leader, standby = (
            next(name for name, role in roles.items() if role == wanted) for wanted in ("leader", "sync_standby")
        )
        port = self.leader().rest_port
        body = {"leader": leader, "candidate": standby}
        code, answer = request(f"http://127.0.0.1:{port}/switchover", "POST", body=body, timeout=60)
        assert code == 200, answer

    def stop(self):
        for member in self.members:
            member.stop()
        for process in filter(None, (self.etcd, self.haproxy)):
            process.terminate()


HAPROXY = """
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
listen primary
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


def start_haproxy(cluster):
    """Starts HAProxy; returns its port, which leads to the leader."""
    port, file = free_port(), cluster.folder / "haproxy.cfg"
    servers = (f"    server {one.name} 127.0.0.1:{one.port} check port {one.rest_port}" for one in cluster.members)
    file.write_text(HAPROXY.format(port=port, servers="\n".join(servers)))
    cluster.haproxy = cluster.run(["haproxy", "-f", file, "-db"], cluster.folder / "haproxy.log")
    # Before its first checks it takes all members for leaders.
    wait_for(lambda: all(leads_to_the_leader(cluster, port) for _ in range(2 * MEMBERS)), "HAProxy finds no leader")
    return port


def leads_to_the_leader(cluster, port):
    command = [cluster.bin / "psql", "-qXAt", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
    asked = subprocess.run([*command, "-c", "SELECT pg_is_in_recovery()"], capture_output=True, text=True)
    return asked.stdout.strip() == "f"


def check(node, token, acked):
    """Returns the number of acknowledged cells that are missing, and of cells that are there twice."""
    lost = doubled = 0
    for notebook, cells in acked.items():
        path = f"{node.url}/api/notebooks/{notebook}/events?after=0"
        code, text = request(path, token=token, headers={"Accept": "application/x-ndjson"}, timeout=120)
        assert code == 200, text
        events = [json.loads(line) for line in text.splitlines()] if isinstance(text, str) else [text]
        versions = [event["version"] for event in events]
        assert versions == list(range(1, len(versions) + 1)), f"{notebook}: versions have gaps"
        found = collections.defaultdict(list)
        for event in events:
            cell = event["payload"].get("cell_id") if event["type"] == "CellInserted" else None
            if cell:
                found[cell].append(event["version"])
        lost += sum(version not in found.get(cell, []) for cell, version in cells.items())
        doubled += sum(len(versions) > 1 for versions in found.values())
        node.command("verify", notebook, token=token)
    return lost, doubled


def main():
    binary = str(Path(sys.argv[1]).resolve())
    bin_folder, etcd = programs()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="notarium-patroni.", dir="/tmp"))
    folder.chmod(0o755)
    cluster, nodes, writers = Cluster(folder, bin_folder, etcd), [], []
    try:
        cluster.start()
        cluster.sql("CREATE ROLE notarium LOGIN", "CREATE DATABASE notes OWNER notarium")
        ports = [start_haproxy(cluster)] if "--haproxy" in sys.argv else [member.port for member in cluster.members]
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        store = f"postgresql://notarium@{hosts}/notes"
        nodes = start_nodes(binary, store, folder)
        owner = next(token for token in (node.owner_token() for node in nodes) if token)
        token = nodes[0].sign_in(owner)
        writers = [Writer(nodes, token, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        reader = Reader(nodes[0], token)
        reader.start()
        found = storm(cluster, writers, reader)
        for writer in writers:
            writer.is_over.set()
        for writer in writers:
            writer.join(30)
        acked = {notebook: cells for writer in writers for notebook, cells in writer.acked.items()}
        # A new process has no memory of them.
        for node in nodes:
            assert node.stop() == 0, f"{node.name} did not end well"
        nodes[0].start()
        wait_for(nodes[0].is_ready, "the node is not ready again")
        lost, doubled = check(nodes[0], token, acked)
        report(found, sum(map(len, acked.values())), lost, doubled, len(nodes))
        slow = [name for name, gap, *_ in found if gap > LONGEST_GAP_SECONDS]
        return int(bool(lost or doubled or slow or any(strays for *_, strays in found)))
    finally:
        report_retries(writers)
        for node in nodes:
            node.process.kill()
        cluster.stop()
        if os.environ.get("NOTARIUM_PATRONI_KEEP"):
            print(f"logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def start_nodes(binary, store, folder):
    """Starts two nodes, or one if the binary knows no cluster."""
    words = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    is_cluster = "--node-url" in words
    if not is_cluster:
        print("one node of Notarium: `notarium serve` knows no --node-url")
    secret = folder / "cluster-secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    nodes = []
    for number in range(2 if is_cluster else 1):
        port = free_port()
        data = folder / f"node{number}"
        data.mkdir(mode=0o700)
        arguments = ["serve", "--data", data, "--listen", f"127.0.0.1:{port}"]
        if is_cluster:
            arguments += [
                "--node-url",
                f"http://127.0.0.1:{port}",
                "--cluster-secret-file",
                secret,
                "--blobs",
                folder / "blobs",
            ]
        nodes.append(Node(binary, arguments, {"NOTARIUM_STORE": store}, folder, f"node{number}.serve"))
    return nodes


def storm(cluster, writers, reader):
    """Changes the leader in four ways; returns each one's name, longest gaps of writes and of reads, and acknowledgements."""
    revivals = []

    def kill_node():
        dead = cluster.leader()
        dead.kill_node()
        # It returns as a standby once another has taken over.
        wait_for(lambda: cluster.leader() not in (None, dead), "no other leader", 120)
        threading.Timer(QUIET_SECONDS, dead.start).start()

    def freeze_node():
        frozen = cluster.leader()
        frozen.signal_node(signal.SIGSTOP)
        wait_for(lambda: cluster.leader() not in (None, frozen), "no other leader", 120)
        revivals.append(frozen)

    stretches = [
        ("none", lambda: None),
        ("planned switchover", cluster.switch_over),
        ("leader's postmaster killed", lambda: cluster.leader().kill_postmaster()),
        ("leader's node killed", kill_node),
        ("leader's node frozen", freeze_node),
    ]
    found = []
    for name, act in stretches:
        cluster.wait_until_whole()
        count = sum(len(writer.times) for writer in writers)
        since = time.monotonic()
        time.sleep(QUIET_SECONDS)
        before = sum(len(writer.times) for writer in writers)
        act()
        goal = before + WRITES_AFTERWARDS
        wait_for(
            lambda goal=goal: sum(len(one.times) for one in writers) > goal, f"{name}: no writes", NO_WRITES_SECONDS
        )
        # Its connections end only after writes have come back without that.
        for frozen in revivals:
            frozen.kill_node()
            frozen.start()
        # Writes may come to a stop again until Patroni has seen what happened.
        time.sleep(QUIET_SECONDS)
        cluster.wait_until_whole()
        times = [moment for writer in writers for moment in writer.times]
        now, strays = time.monotonic(), cluster.strays()
        found.append((name, gaps(times, since, now), gaps(reader.times, since, now), len(times) - count, strays))
        print("{}: longest gap of writes {:.1f} s, of reads {:.1f} s".format(*found[-1]), flush=True)
    return found


def report(found, acked, lost, doubled, nodes):
    print(
        f"\n{nodes} node(s) of Notarium, {WRITERS} writers, {acked} cells acknowledged, {lost} lost, {doubled} doubled"
    )
    for name, writes, reads, count, strays in found:
        line = f"  {name:<28}longest gap {writes:5.1f} s, of reads {reads:5.1f} s, {count} acknowledged"
        print(line + (f"; WRONG: {strays} connections to standbys" if strays else ""))


def report_retries(writers):
    """Prints the answers that were no acknowledgement, the most frequent first."""
    retries = collections.Counter()
    for writer in writers:
        retries += writer.retries
    for (code, answer), count in retries.most_common(8):
        print(f"  {count} × {code} {answer}")


if __name__ == "__main__":
    sys.exit(main())
