"""Facts about a release, and archives whose bytes depend on their contents alone."""

import gzip
import hashlib
import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parents[2]
PLATFORM = "x86_64-linux"
MOST_MEGABYTES = 50
# glibc of Debian 10, RHEL 8 and manylinux_2_28.
GLIBC = (2, 28)


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text("utf8"))["workspace"]["package"]["version"]


def epoch():
    """Returns the time that all files of a release have: of the last commit, or SOURCE_DATE_EPOCH."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    shown = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True)
    return int(shown.stdout)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def archive(target, members):
    """Writes a .tar.gz of (name, bytes, mode), without owners and times of this machine."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content, mode in sorted(members):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(content), mode, epoch()
            tar.addfile(member, io.BytesIO(content))
    with open(target, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as zipped:
        zipped.write(packed.getvalue())


def needs(binary):
    """Returns the libraries that a program needs, and the newest version of glibc of their symbols."""
    shown = subprocess.run(["readelf", "-W", "-d", "-V", binary], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.+?)\]", shown)
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d+(?:\.\d+)+)", shown)}
    return sorted(libraries), max(versions, default=(0,))


def check_binary(binary):
    """Fails if the program is too large, not stripped, or needs a newer glibc than a release may."""
    libraries, newest = needs(binary)
    megabytes = binary.stat().st_size / 1e6
    sections = subprocess.run(["readelf", "-W", "-S", binary], capture_output=True, text=True, check=True).stdout
    print(f"{binary.name}: {megabytes:.1f} MB, glibc {'.'.join(map(str, newest))}, needs {', '.join(libraries)}")
    if newest > GLIBC:
        raise SystemExit(f"it needs glibc {newest}, and {GLIBC} is the newest allowed: build it with cargo-zigbuild")
    if ".symtab" in sections or ".debug_info" in sections:
        raise SystemExit("it is not stripped")
    if megabytes > MOST_MEGABYTES:
        raise SystemExit(f"it is larger than {MOST_MEGABYTES} MB")
    if strange := [
        library for library in libraries if not re.match(r"(lib(c|m|dl|rt|pthread|gcc_s)|ld-linux-x86-64)\.so", library)
    ]:
        raise SystemExit(f"it needs libraries that not every machine has: {strange}")
