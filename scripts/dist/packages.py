"""Makes the packages of a release from a built program.

    python scripts/dist/packages.py BINARY OUT [PART …]

Parts: archive, deb, wheels, npm, sbom, sums; default: all. The Python that runs this has the packages of requirements.txt beside this
file. NOTARIUM_DIST_FAST=1: the .deb is compressed less, for tests. Every file in OUT depends on the sources, the program and the versions of the tools alone: the times are those of the last commit.
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sbom
from release import PLATFORM, ROOT, archive, epoch, needs, sha256, version

DEBIAN = ROOT / "deploy/debian"
UNITS = ROOT / "deploy/systemd"


def make_archive(binary, out):
    folder = f"notarium-{version()}-{PLATFORM}"
    members = [(f"{folder}/notarium", binary.read_bytes(), 0o755)]
    for path in [ROOT / "LICENSE", ROOT / "README.md", *UNITS.glob("*.service")]:
        members.append((f"{folder}/{path.name}", path.read_bytes(), 0o644))
    archive(out / f"{folder}.tar.gz", members)


def filled(path, facts):
    text = path.read_text("utf8")
    for name, value in facts.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)


def packed(text):
    return gzip.compress(text if isinstance(text, bytes) else text.encode(), 9, mtime=0)


def depends(binary):
    libraries, newest = needs(binary)
    found = [f"libc6 (>= {'.'.join(map(str, newest))})"]
    return ", ".join(found + (["libgcc-s1"] if "libgcc_s.so.1" in libraries else []))


def make_deb(binary, out):
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir(mode=0o755)
        day = time.gmtime(epoch())
        facts = {"VERSION": version(), "DATE": time.strftime("%Y-%m-%d", day), "DEPENDS": depends(binary)}
        write(tree / "usr/bin/notarium", binary.read_bytes(), 0o755)
        for unit in UNITS.glob("*.service"):
            write(tree / "lib/systemd/system" / unit.name, unit.read_bytes())
        for name in ("server.env", "agent.env"):
            # Passwords and tokens go there.
            write(tree / "etc/notarium" / name, (DEBIAN / name).read_bytes(), 0o600)
        documents = tree / "usr/share/doc/notarium"
        write(documents / "copyright", (DEBIAN / "copyright").read_bytes())
        write(documents / "sbom.cdx.json.gz", packed(sbom.text()))
        write(documents / "changelog.gz", packed((ROOT / "CHANGELOG.md").read_bytes()))
        write(tree / "usr/share/lintian/overrides/notarium", (DEBIAN / "lintian-overrides").read_bytes())
        write(tree / "usr/share/man/man1/notarium.1.gz", packed(filled(DEBIAN / "notarium.1", facts)))
        size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // 1024 + 1
        write(tree / "DEBIAN/control", filled(DEBIAN / "control", facts | {"SIZE": size}))
        write(tree / "DEBIAN/conffiles", (DEBIAN / "conffiles").read_bytes())
        for script in ("postinst", "prerm", "postrm"):
            write(tree / "DEBIAN" / script, (DEBIAN / script).read_bytes(), 0o755)
        for path in [tree, *tree.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (epoch(), epoch()))
        target = out / f"notarium_{version()}_amd64.deb"
        compression = "-Zgzip" if os.environ.get("NOTARIUM_DIST_FAST") else "-Zxz"
        command = ["dpkg-deb", "--root-owner-group", compression, "--build", tree, target]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def make_wheels(binary, out):
    """Makes the client alone, the client with the program, and the extension of JupyterLab."""
    common = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
    for project, variables in (
        ("clients/python", {}),
        ("clients/python", {"NOTARIUM_WHEEL_BINARY": str(binary)}),
        ("clients/jupyter", {}),
    ):
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, ROOT / project]
        subprocess.run(build, check=True, env=common | variables, stdout=subprocess.DEVNULL)


def make_npm(_, out):
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder)
        subprocess.run(
            ["node", ROOT / "clients/web/scripts/package.mjs", package], check=True, stdout=subprocess.DEVNULL
        )
        for path in package.rglob("*"):
            os.utime(path, (epoch(), epoch()))
        pack = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out, package]
        subprocess.run(pack, check=True, stdout=subprocess.DEVNULL)


def make_sbom(_, out):
    write(out / f"notarium-{version()}.cdx.json", sbom.text())


def make_sums(_, out):
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    write(out / "SHA256SUMS", "".join(f"{sha256(path)}  {path.name}\n" for path in files))


PARTS = {
    "archive": make_archive,
    "deb": make_deb,
    "wheels": make_wheels,
    "npm": make_npm,
    "sbom": make_sbom,
    "sums": make_sums,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    arguments = parser.parse_args()
    os.umask(0o022)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        if not arguments.parts or name in arguments.parts:
            PARTS[name](arguments.binary.resolve(), arguments.out.resolve())


if __name__ == "__main__":
    main()
