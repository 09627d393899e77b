"""Things that a person's run leaves in a kernel before assistants run there: threads, executors, loops, processes, timers.

None of them has had an effect, but for the writer. Held code tries to use them all. `MARK` and `LOG` are set by the test.
"""

# ruff: noqa: F821 - the test sets two names

import asyncio
import concurrent.futures
import contextlib
import multiprocessing
import multiprocessing.pool
import queue
import subprocess
import sys
import threading


def answered(work):
    """Does what comes, and never ends: a failure is that of the code that came."""
    with contextlib.suppress(BaseException):
        work()


def served(incoming):
    while True:
        source, done = incoming.get()
        answered(lambda source=source: exec(source, {"__name__": "served"}))
        done.set()


def of_queue():
    incoming = queue.Queue()
    threading.Thread(target=served, args=[incoming], daemon=True).start()
    return incoming


def ask_queue(incoming, source):
    done = threading.Event()
    incoming.put((source, done))
    done.wait(10)


person_queue, person_writer = of_queue(), of_queue()
ask_queue(person_writer, f"open({LOG!r}, 'a').write('line')")

person_pool = concurrent.futures.ThreadPoolExecutor(2)
person_pool.submit(int).result()
person_thread_pool = multiprocessing.pool.ThreadPool(1)
person_thread_pool.apply(int)

person_loop = asyncio.new_event_loop()
threading.Thread(target=person_loop.run_forever, daemon=True).start()


async def ask_loop(source):
    answered(lambda: exec(source, {"__name__": "looped"}))


person_hook = None
person_ticks = threading.Event()


def ticking():
    """A watch that looks every 10 ms, as a progress bar's monitor does."""
    global person_hook
    while not person_ticks.wait(0.01):
        hook, person_hook = person_hook, None
        if hook is not None:
            answered(hook)


threading.Thread(target=ticking, daemon=True).start()

person_processes = multiprocessing.get_context("fork").Pool(1)
person_processes.apply(int)

SERVES = """
import sys
for line in sys.stdin:
    try:
        exec(eval(line), {'__name__': 'child'})
    except BaseException:
        pass
    print('done', flush=True)
"""
person_child = subprocess.Popen([sys.executable, "-u", "-c", SERVES], stdin=-1, stdout=-1, text=True)
person_shell = subprocess.Popen(["sh"], stdin=-1, stdout=-1, text=True)


def ask_child(child, line):
    child.stdin.write(line + "\n")
    child.stdin.flush()
    child.stdout.readline()


ask_child(person_child, "'1'")
ask_child(person_shell, "echo done")


def make_victim():
    """A process that must live on as it is. Its name is how code and test find it."""
    global victim
    victim = subprocess.Popen([MARK], executable="/bin/cat", stdin=subprocess.PIPE, start_new_session=True)


make_victim()
keep = "kept"
