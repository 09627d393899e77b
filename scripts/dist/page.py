#!/usr/bin/env python3
"""Copies the built page with its files compressed by zstd instead of gzip: page.py FROM TO."""

import gzip
import shutil
import sys
from pathlib import Path

import zstandard

LEVEL = 19


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(target, ignore_errors=True)
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".gz":
            packed = zstandard.ZstdCompressor(level=LEVEL).compress(gzip.decompress(file.read_bytes()))
            copy.with_suffix(".zst").write_bytes(packed)
        else:
            shutil.copyfile(file, copy)


if __name__ == "__main__":
    main()
