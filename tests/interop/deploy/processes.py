"""Starts the processes of deploy/compose.yaml on loopback ports, with the commands and variables of the file, and uses them."""

import contextlib
import hashlib
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from nodes import Node, free_port, request, wait_for

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
STOP_SECONDS = 45


def low_port():
    """Returns a free port that is free 10,000 higher too: SeaweedFS puts gRPC there."""
    while True:
        port = random.randrange(12_000, 22_000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as both:
            for number in (port, port + 10_000):
                both.enter_context(socket.socket()).bind(("127.0.0.1", number))
            return port


class Processes:
    """The services of the file. Names of services become addresses on loopback, folders of containers become temporary ones."""

    def __init__(self, binary, compose, folder):
        self.binary, self.services, self.folder = binary, compose["services"], folder
        self.secrets = folder / "secrets"
        subprocess.run([DEPLOY / "make-secrets", self.secrets], check=True, capture_output=True)
        # The nodes run as this account, not as the image's.
        if os.getuid() == 0:
            os.chown(self.secrets / "cluster-secret", 0, 0)
        self.ports = {name: low_port() if name == "s3" else free_port() for name in self.services}
        self.host = f"localhost:{self.ports['proxy']}"
        # Not 127.0.0.1, a name by which every server may be called: each node must know the one of its own URL.
        names = [name for name in self.services if name.startswith("node")]
        self.addresses = {name: f"127.0.0.{number}" for number, name in enumerate(names, 2)}
        # Ports of the nodes for each other, and certificates for these addresses instead of the names.
        self.node_ports = {name: free_port() for name in names}
        for name, address in self.addresses.items():
            for kind in ("pem", "key"):
                (self.secrets / f"{name}.{kind}").unlink()
            subprocess.run([DEPLOY / "node-certificate", self.secrets, name, address], check=True, capture_output=True)
        self.others, self.nodes = [], {}

    def here(self, text, name):
        """Returns a text of the file with the addresses and folders of this run."""
        text = re.sub(r"\$\{NOTARIUM_HOST[^}]*\}", self.host, str(text))
        text = re.sub(r"/run/secrets/node\.(pem|key)", rf"{self.secrets}/{name}.\1", text)
        text = text.replace("/run/secrets/", f"{self.secrets}/").replace("172.30.87.0/24", "127.0.0.0/8")
        text = re.sub(r"(^|=)/data\b", rf"\g<1>{self.folder / name}", text)
        if name in self.node_ports:
            text = text.replace("0.0.0.0:8788", f"{self.addresses[name]}:{self.node_ports[name]}")
            text = text.replace(f"{name}:8788", f"{self.addresses[name]}:{self.node_ports[name]}")
        for other, port in self.ports.items():
            text = re.sub(rf"\b{other}:\d+", f"{self.addresses.get(other, '127.0.0.1')}:{port}", text)
        return text

    def start_database(self):
        """Makes the role and the database by the script that the image runs; returns the URL for the nodes."""
        server = urlsplit(os.environ["NOTARIUM_TEST_POSTGRESQL"])
        socket_folder = parse_qs(server.query)["host"][0]
        environment = os.environ | {
            "PATH": f"{os.environ['NOTARIUM_TEST_POSTGRESQL_BIN']}:{os.environ['PATH']}",
            "PGHOST": socket_folder,
            "POSTGRES_USER": server.username,
            "NOTARIUM_PASSWORD_FILE": str(self.secrets / "notarium-password"),
        }
        subprocess.run([DEPLOY / "postgresql-role"], env=environment, check=True)
        url = self.variables_of("node1")["NOTARIUM_STORE"]
        return re.sub(r"@[^/]+/", "@localhost/", url) + f"&host={socket_folder}"

    def variables_of(self, name):
        lines = (DEPLOY / self.services[name]["env_file"]).name
        pairs = (line.split("=", 1) for line in (self.secrets / lines).read_text().splitlines())
        return dict(pairs) | {key: self.here(value, name) for key, value in self.services[name]["environment"].items()}

    def start_s3(self):
        service, port = self.services["s3"], self.ports["s3"]
        (self.folder / "s3").mkdir()
        command = [self.here(word, "s3") for word in service["entrypoint"] + service["command"]]
        replaced = {
            "-ip=s3": "-ip=127.0.0.1",
            "-ip.bind=0.0.0.0": "-ip.bind=127.0.0.1",
            "-s3.port=8333": f"-s3.port={port}",
        }
        command = [replaced.get(word, word) for word in command]
        command += [f"-{part}.port={low_port()}" for part in ("master", "volume", "filer")]
        command[0] = str(Path(sys.executable).parent / command[0])
        weed = self.start(command, "s3.log")
        wait_for(lambda: answers(weed, f"http://127.0.0.1:{port}/healthz"), "SeaweedFS does not start")

    def start_proxy(self):
        """Starts Caddy with a certificate of its own authority; returns the address, or `None` if Caddy is not here."""
        caddy = find_caddy()
        if not caddy:
            return None
        text = self.here((DEPLOY / "Caddyfile").read_text(), "proxy")
        options = "{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n\tauto_https disable_redirects\n}\n"
        (self.folder / "Caddyfile").write_text(options + text)
        environment = os.environ | {
            "NOTARIUM_HOST": self.host,
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "caddy"),
            "XDG_CONFIG_HOME": str(self.folder / "caddy"),
        }
        command = [caddy, "run", "--adapter", "caddyfile", "--config", self.folder / "Caddyfile"]
        process = self.start(command, "proxy.log", environment)
        root = self.folder / "caddy/caddy/pki/authorities/local/root.crt"
        wait_for(root.exists, "Caddy makes no certificate")
        trusting = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=root))
        urllib.request.install_opener(urllib.request.build_opener(trusting))
        wait_for(lambda: answers(process, f"https://{self.host}/readyz"), "the proxy reaches no ready node")
        return f"https://{self.host}"

    def start_node(self, name, store, lacking):
        service = self.services[name]
        arguments = [
            self.here(word, name).replace("0.0.0.0:8787", f"0.0.0.0:{self.ports[name]}") for word in service["command"]
        ]
        environment = self.variables_of(name) | {"NOTARIUM_STORE": store}
        environment = {key: value for key, value in environment.items() if key not in lacking}
        self.nodes[name] = Node(self.binary, arguments, environment, self.folder, f"{name}.serve")

    def start(self, command, log, environment=None):
        with (self.folder / log).open("w") as output:
            words = [str(word) for word in command]
            process = subprocess.Popen(words, stdout=output, stderr=output, cwd=self.folder, env=environment)
        self.others.append(process)
        return process

    def stop(self):
        for node in self.nodes.values():
            node.process.kill()
        for process in reversed(self.others):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def answers(process, url):
    """True if the address answers with success; fails if the process has ended."""
    if process.poll() is not None:
        raise SystemExit(f"{process.args[0]} ended")
    return request(url, timeout=5)[0] == 200


def find_caddy():
    """Returns Caddy, which is installed if it can be."""
    if not shutil.which("caddy") and os.getuid() == 0 and shutil.which("apt-get"):
        install = "apt-get install -y -q --no-install-recommends caddy"
        subprocess.run(["sh", "-c", f"({install} || (apt-get update -q && {install})) >/dev/null 2>&1"], check=False)
    return shutil.which("caddy")


def run_compose(binary, compose, lacking, skipped):
    if "NOTARIUM_TEST_POSTGRESQL" not in os.environ:
        skipped("the processes of compose.yaml", "PostgreSQL is not here (scripts/with-postgresql)")
        return
    names = [name for name, service in compose["services"].items() if service["image"].startswith("notarium:")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="notarium-deploy.") as folder:
        processes = Processes(binary, compose, Path(folder))
        try:
            store = processes.start_database()
            processes.start_s3()
            for name in names[:1] if lacking else names:
                processes.start_node(name, store, lacking)
            nodes = list(processes.nodes.values())
            for node in nodes:
                wait_for(node.is_ready, f"{node.name} is not ready")
            proxy = processes.start_proxy()
            if not proxy:
                skipped("the proxy", "Caddy is not here")
            use(processes, nodes, proxy, "NOTARIUM_BLOBS" not in lacking)
        except BaseException:
            for log in sorted(Path(folder).glob("*.log")):
                print(f"--- {log.name}\n{log.read_text()[-2000:]}")
            raise
        finally:
            processes.stop()


def use(processes, nodes, proxy, in_bucket):
    owner = next(token for token in (node.owner_token() for node in nodes) if token)
    token = nodes[0].sign_in(owner)
    addresses = [node.url for node in nodes] + ([proxy] if proxy else [])
    for number, address in enumerate(addresses):
        notebook = f"n-{number}"
        expect(201, address, "/api/notebooks", token, {"id": notebook, "title": f"Made by {number}"})
        cell = {"cell_id": "first", "cell_type": "code", "source": f"number = {number}"}
        expect(201, address, f"/api/notebooks/{notebook}/cells", token, cell)
        for other in addresses:
            found = expect(200, other, f"/api/notebooks/{notebook}", token)
            assert f"number = {number}" in str(found), found
    if in_bucket:
        check_bucket(processes, addresses, token)
    if len(nodes) > 1:
        check_draining(nodes, addresses[-1], token)
    for node in nodes:
        assert node.stop() == 0, f"{node.name} did not end well"
    proxied = " behind Caddy" if proxy else ""
    print(
        f"compose.yaml: {len(nodes)} node(s){proxied} share notebooks{', the last one after the first drained' if len(nodes) > 1 else ''}"
    )


def check_bucket(processes, addresses, token):
    """Uploads a blob to each node and reads it from the others; nothing of it is in the nodes' folders."""
    for number, address in enumerate(addresses):
        content = f"output {number}".encode() * 10_000
        path = f"/api/notebooks/n-{number}/blobs/{hashlib.sha256(content).hexdigest()}"
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
        put = urllib.request.Request(address + path, content, headers, method="PUT")
        with urllib.request.urlopen(put, timeout=30) as answer:
            assert answer.status in (200, 201, 204), answer.status
        for other in addresses:
            with urllib.request.urlopen(urllib.request.Request(other + path, headers=headers), timeout=30) as answer:
                assert answer.read() == content, f"{other} has another blob than {address}"
    for name in processes.nodes:
        blobs = processes.folder / name / "blobs"
        assert not blobs.exists() or not [path for path in blobs.rglob("*") if path.is_file()], f"{name} has blobs"


def check_draining(nodes, address, token):
    """Stops the first node: its notebooks are written through the others, without an error."""
    first = nodes[0]
    first.process.send_signal(signal.SIGTERM)
    for count in range(50):
        for number in range(len(nodes)):
            cell = {"cell_id": f"c-{count}", "cell_type": "code", "source": "1"}
            through = address if address.startswith("https") else nodes[-1].url
            expect(201, through, f"/api/notebooks/n-{number}/cells", token, cell)
    assert first.process.wait(STOP_SECONDS) == 0, "the node did not end well"


def expect(status, address, path, token, body=None):
    code, answer = request(address + path, "POST" if body else "GET", token, body)
    assert code == status, f"{address}{path}: {code} {answer}"
    return answer
