"""Packages from an index, in an environment in the working folder: they work, and keep their caches in the home folder."""

import json
import os
import pathlib
import subprocess

FACTS = json.loads(pathlib.Path(FACTS_FILE).read_text())  # noqa: F821 - set by the test
USE = """
import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
frame = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
frame.to_csv("frame.csv", index=False)
frame.to_pickle("frame.pkl")
assert pd.read_csv("frame.csv").equals(pd.read_pickle("frame.pkl"))
frame.plot(title="Title")
plt.savefig("figure.png")
print(matplotlib.get_cachedir())
"""

# The kernel's own backend is not in this environment.
environment = {**os.environ, "MPLBACKEND": "agg"}
done = subprocess.run(["env/bin/python", "-c", USE], capture_output=True, text=True, env=environment)
assert done.returncode == 0, done.stderr[-2000:]
cache = pathlib.Path(done.stdout.splitlines()[-1])
assert pathlib.Path("figure.png").stat().st_size > 1000
assert pathlib.Path(FACTS["home"]) in cache.parents, cache
assert list(cache.glob("fontlist*.json")), list(cache.iterdir())
print("PACKAGES " + json.dumps(["figure", "tables", "cache of fonts"]))
