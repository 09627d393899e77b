"""Ordinary work in a kernel: all of it goes on as without a sandbox."""

import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import psutil

FACTS = json.loads(pathlib.Path(FACTS_FILE).read_text())  # noqa: F821 - set by the test
HOME = pathlib.Path(FACTS["home"])
done = []

pathlib.Path("made.txt").write_text("here")
assert pathlib.Path("made.txt").read_text() == "here"
done.append("working folder")

(HOME / "new-in-home.txt").write_text("here")
(HOME / ".cache").mkdir(exist_ok=True)
(HOME / ".cache/new").write_text("here")
(HOME / ".config/matplotlib").mkdir(parents=True, exist_ok=True)
done.append("home")

with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "file").write_text("here")
done.append("temporary folder")

wheel = [
    sys.executable,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-index",
    "--no-deps",
    "--target",
    "packages",
    FACTS["wheel"],
]
subprocess.run(wheel, check=True, capture_output=True)
sys.path.insert(0, os.path.abspath("packages"))
import tiny_wheel  # noqa: E402

assert tiny_wheel.ANSWER == 42
done.append("pip install")

assert subprocess.run(["/bin/sh", "-c", "echo out"], capture_output=True, text=True).stdout == "out\n"
assert get_ipython().getoutput("echo pty") == ["pty"]  # noqa: F821
done.append("subprocess")

with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
done.append("multiprocessing")

with multiprocessing.get_context("spawn").Pool(1) as pool:
    assert pool.map(abs, [-3]) == [3]
done.append("multiprocessing by spawning")

finished = []
threads = [threading.Thread(target=finished.append, args=[number]) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(finished) == list(range(8))
done.append("threads")

# The processes that are seen are the kernel's own, and each is what its number says.
own = psutil.Process()
assert own.pid == os.getpid() and own.memory_info().rss > 1 << 20 and psutil.cpu_count() > 0
assert psutil.virtual_memory().total > 1 << 20
child = subprocess.Popen(["sleep", "60"])
assert child.pid in [each.pid for each in own.children()]
assert {each.pid for each in psutil.process_iter()} >= {1, os.getpid(), child.pid}
listed = subprocess.run(["ps", "-e", "-o", "pid="], capture_output=True, text=True).stdout.split()
assert str(child.pid) in listed and len(listed) < 20, listed
child.terminate()
assert child.wait() == -signal.SIGTERM
done.append("processes")

# Orphans are reaped.
left = subprocess.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True)
orphan = psutil.Process(int(left.stdout))
assert orphan.ppid() == 1
orphan.kill()
deadline = time.monotonic() + 10
while psutil.pid_exists(orphan.pid):
    assert time.monotonic() < deadline, orphan.status()
    time.sleep(0.01)
done.append("orphans")

with open("/dev/shm/notarium-test", "w") as file:
    file.write("here")
os.unlink("/dev/shm/notarium-test")
done.append("shared memory")

try:
    import matplotlib
except ModuleNotFoundError:
    pass
else:
    matplotlib.use("agg")
    import matplotlib.pyplot

    matplotlib.pyplot.plot([1, 2, 3])
    matplotlib.pyplot.savefig("figure.png")
    assert pathlib.Path("figure.png").stat().st_size > 1000
done.append("figure")

print("WORK " + json.dumps(done))
