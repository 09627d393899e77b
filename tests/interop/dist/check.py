"""Makes the packages of a release from a built program, installs them, and uses them.

    python tests/interop/dist/check.py NOTARIUM_BINARY [--install]

The Python that runs this has the packages of requirements.txt beside this file. `--install` also installs the .deb on this machine, starts
its program under its account, and removes it: as root, on a machine without Notarium. Exit code 1 if a package is wrong.
"""

import filecmp
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 60
sys.path.insert(0, str(ROOT / "scripts/dist"))
import release  # noqa: E402  (of the folder above)

VERSION = release.version()


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def build(binary, out, folder):
    """Makes all packages, with temporary files in a folder of its own."""
    folder.mkdir()
    environment = os.environ | {"NOTARIUM_DIST_FAST": "1", "TMPDIR": str(folder)}
    run(sys.executable, ROOT / "scripts/dist/packages.py", binary, out, env=environment, cwd=folder)
    run("sha256sum", "--quiet", "--check", "SHA256SUMS", cwd=out)


def check_names(out):
    wanted = {
        "SHA256SUMS",
        f"notarium-{VERSION}-x86_64-linux.tar.gz",
        f"notarium-{VERSION}.cdx.json",
        f"notarium-{VERSION}-py3-none-any.whl",
        f"notarium-{VERSION}-py3-none-manylinux_2_28_x86_64.whl",
        f"notarium_jupyter-{VERSION}-py3-none-any.whl",
        f"notarium-client-{VERSION}.tgz",
        f"notarium_{VERSION}_amd64.deb",
    }
    found = {path.name for path in out.iterdir()}
    assert found == wanted, found ^ wanted
    assert len((out / "SHA256SUMS").read_text().splitlines()) == len(wanted) - 1


def check_equal(first, second):
    names = sorted(path.name for path in first.iterdir())
    _, different, missing = filecmp.cmpfiles(first, second, names, shallow=False)
    assert not different and not missing, f"a second run makes other bytes: {different + missing}"
    print(f"made twice, with equal bytes: {len(names)} files")


class Server:
    """A process of `notarium up`, with its address and a token."""

    def __init__(self, program, folder):
        environment = os.environ | {"HOME": str(folder), "NOTARIUM_CONFIG": str(folder / "config" / "config.json")}
        files = folder / "files"
        files.mkdir()
        command = [
            program,
            "up",
            "--data",
            folder / "data",
            "--listen",
            "127.0.0.1:0",
            "--dialoghelper-listen",
            "127.0.0.1:0",
        ]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen([str(word) for word in command], env=environment, cwd=files, **pipes)
        self.url = self.until(r"Notarium is up: (http://\S+)")
        self.token = self.until(r"Token: (\S+)")

    def until(self, pattern):
        for line in self.process.stdout:
            if found := re.search(pattern, line):
                return found[1]
        raise SystemExit(f"`notarium up` ended before it said {pattern}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_SECONDS) == 0


def check_wheels(out, work):
    """Installs the wheel with the program in a fresh environment: that is a whole Notarium."""
    (whole,) = out.glob("notarium-*-manylinux*.whl")
    (pure,) = out.glob("notarium-*-none-any.whl")
    (jupyter,) = out.glob("notarium_jupyter-*.whl")
    for wheel in (whole, pure, jupyter):
        names = zipfile.ZipFile(wheel).namelist()
        assert any(name.endswith("licenses/LICENSE") for name in names), f"{wheel.name} has no licence"
        assert any(name.endswith("data/scripts/notarium") for name in names) == (wheel is whole), wheel.name
    metadata = zipfile.ZipFile(jupyter).read(f"notarium_jupyter-{VERSION}.dist-info/METADATA").decode()
    assert f"Requires-Dist: notarium=={VERSION}" in metadata, metadata
    run(sys.executable, "-m", "venv", work / "venv")
    pip = [work / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, whole)
    program = work / "venv/bin/notarium"
    assert run(program, "--version").split() == ["notarium", VERSION]
    server = Server(program, work)
    try:
        with urllib.request.urlopen(f"{server.url}/healthz", timeout=10) as answer:
            assert json.load(answer)["version"] == VERSION
        code = "import notarium\nwith notarium.connect() as nt:\n    print(nt.create('By the wheel').title, notarium.__version__)"
        environment = os.environ | {"NOTARIUM_SERVER": server.url, "NOTARIUM_TOKEN": server.token}
        said = run(work / "venv/bin/python", "-c", code, env=environment, cwd=work)
        assert said.strip() == f"By the wheel {VERSION}", said
        print("the wheel: `notarium up` and the client work")
        check_npm(out, work, server)
    finally:
        server.stop()


def check_npm(out, work, server):
    package = work / "npm/node_modules/notarium-client"
    with tarfile.open(out / f"notarium-client-{VERSION}.tgz") as tar:
        tar.extractall(work / "npm", filter="data")
    package.parent.mkdir()
    (work / "npm/package").rename(package)
    (work / "npm/node_modules/@noble").symlink_to(ROOT / "clients/web/node_modules/@noble")
    (work / "npm/use.mjs").write_text((Path(__file__).parent / "use.mjs").read_text("utf8"), "utf8")
    print(run("node", work / "npm/use.mjs", server.url, server.token).strip())
    # A program in TypeScript sees the types.
    (work / "npm/use.mts").write_text(
        'import { Rest, type messages } from "notarium-client";\nexport const kind: messages.CellType = "code";\nexport const rest: Rest | undefined = undefined;\n'
    )
    options = [
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--target",
        "ES2024",
        "--module",
        "NodeNext",
        "--lib",
        "ES2024,DOM,DOM.Iterable",
    ]
    run(ROOT / "clients/web/node_modules/.bin/tsc", *options, "--types", "", work / "npm/use.mts")


def check_archive(out, work):
    with tarfile.open(out / f"notarium-{VERSION}-x86_64-linux.tar.gz") as tar:
        assert {member.uid for member in tar} == {0} and {member.mtime for member in tar} == {release.epoch()}
        tar.extractall(work / "archive", filter="data")
    assert VERSION in run(next((work / "archive").rglob("notarium")), "--version")


def check_deb(out, work):
    deb = out / f"notarium_{VERSION}_amd64.deb"
    fields = run("dpkg-deb", "--field", deb)
    assert f"Version: {VERSION}" in fields and "libc6 (>= 2." in fields, fields
    listed = run("dpkg-deb", "--contents", deb)
    assert all("root/root" in line for line in listed.splitlines()), listed
    for name in ("./usr/bin/notarium", "./lib/systemd/system/notarium.service", "./etc/notarium/server.env"):
        assert f" {name}\n" in listed, listed
    run("dpkg-deb", "--extract", deb, work / "deb")
    run("dpkg-deb", "--control", deb, work / "control")
    assert VERSION in run(work / "deb/usr/bin/notarium", "--version")
    for script in ("postinst", "prerm", "postrm"):
        run("sh", "-n", work / "control" / script)
    print("the .deb has the program, the units and the settings")


def enabled_units():
    return {link.name for link in Path("/etc/systemd/system/multi-user.target.wants").glob("notarium*")}


def reinstall(deb):
    run("dpkg", "--remove", "notarium")
    assert not Path("/usr/bin/notarium").exists()
    run("dpkg", "--install", deb)
    assert not Path("/etc/systemd/system/notarium.service").exists(), "it is not masked"


def install_deb(out):
    """Installs the .deb here, starts the command of its unit under its account, and removes it."""
    deb = out / f"notarium_{VERSION}_amd64.deb"
    run("dpkg", "--install", deb)
    try:
        unit = Path("/lib/systemd/system/notarium.service").read_text("utf8")
        command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split() + ["--listen", "127.0.0.1:0"]
        account = ["setpriv", "--reuid", "notarium", "--regid", "notarium", "--clear-groups", "--no-new-privs"]
        server = subprocess.Popen([*account, *command], stdout=subprocess.PIPE, text=True, cwd="/")
        said = server.stdout.readline()
        found = re.search(r"Notarium serves /var/lib/notarium on (\S+)", said)
        assert found, said
        with urllib.request.urlopen(f"{found[1]}/readyz", timeout=10) as answer:
            assert json.load(answer)["status"] == "ok"
        mode = Path("/var/lib/notarium").stat()
        assert mode.st_mode & 0o777 == 0o700 and mode.st_uid != 0
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_SECONDS) == 0
        assert enabled_units() == {"notarium.service"}, enabled_units()
        reinstall(deb)
        assert enabled_units() == {"notarium.service"}, "a removal disables nothing for good"
        run("systemctl", "disable", "notarium.service")
        run("systemctl", "enable", "notarium-agent.service")
        reinstall(deb)
        assert enabled_units() == {"notarium-agent.service"}, enabled_units()
    finally:
        run("dpkg", "--purge", "notarium")
    assert not enabled_units()
    assert Path("/var/lib/notarium/notarium.db").exists() and not Path("/usr/bin/notarium").exists()
    print("the .deb was installed, its program served under its account, and was removed; the data stayed")


def main():
    started = time.monotonic()
    binary = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="notarium-dist.") as name:
        work = Path(name)
        stripped = work / "notarium"
        run("strip", "-o", stripped, binary)
        build(stripped, work / "first", work / "one")
        build(stripped, work / "second", work / "another")
        out = work / "first"
        check_names(out)
        check_equal(out, work / "second")
        check_archive(out, work)
        check_deb(out, work)
        print(run(sys.executable, ROOT / "scripts/dist/sbom.py", "--check").strip())
        check_wheels(out, work)
        if "--install" in sys.argv:
            install_deb(out)
    print(f"the packages of a release work ({time.monotonic() - started:.0f} s)")


if __name__ == "__main__":
    main()
