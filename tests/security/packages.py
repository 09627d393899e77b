"""Packages from an index, installed and used in the sandbox: an environment in the working folder, caches in the home folder."""

import json
import pathlib
import subprocess
import sys

FACTS = json.loads(pathlib.Path(FACTS_FILE).read_text())  # noqa: F821 - set by the test
HOME = pathlib.Path(FACTS["home"])
USE = """
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd
frame = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
frame.to_csv("frame.csv", index=False)
frame.to_pickle("frame.pkl")
assert pd.read_csv("frame.csv").equals(pd.read_pickle("frame.pkl"))
frame.plot(title="Τίτλος")
plt.savefig("figure.png")
print(matplotlib.get_cachedir())
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.strip()


run(sys.executable, "-m", "venv", "env")
done = ["environment"]
run("env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "matplotlib", "pandas")
done.append("installed")
cache = pathlib.Path(run("env/bin/python", "-c", USE).splitlines()[-1])
assert pathlib.Path("figure.png").stat().st_size > 1000
done.append("figure and tables")
assert HOME in cache.parents, cache
assert list(cache.glob("fontlist*.json")), list(cache.iterdir())
done.append("cache of fonts")
print("PACKAGES " + json.dumps(done))
