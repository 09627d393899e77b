"""Ways to reach an effect, as texts of Python that stand alone. `S` is the text to reach: the effect's, or that of another way.

A way within the process keeps the kernel's own names; behind one that leaves it (another process or interpreter) the ways that
need them are not used.
"""

_CALL = "run = lambda *ignored, **named: exec(S, {'__name__': 'reached'})\n"

PLAIN = {
    "exec": "exec(S, {'__name__': 'reached'})",
    "compile": "exec(compile(S, 'cell', 'exec'), {'__name__': 'reached'})",
    "alias": "import builtins\ngetattr(builtins, 'ex' + 'ec')(S, {})",
    "map": "list(map(exec, [S], [{}]))",
    "partial": "import functools\nfunctools.partial(exec, S)({})",
    "methodcaller": "import operator\noperator.methodcaller('__call__', S, {})(exec)",
    "key of a sort": _CALL + "sorted([1], key=run)",
    "function type": "import types\ntypes.FunctionType(compile(S, 'cell', 'exec'), {'__name__': 'reached'})()",
    "subclass": _CALL + "class A:\n    def __init_subclass__(cls):\n        run()\nclass B(A):\n    pass",
    "set_name": _CALL + "class D:\n    __set_name__ = run\nclass B:\n    d = D()",
    "format": _CALL + "class A:\n    def __format__(self, how):\n        run()\n        return ''\nf'{A()}'",
    "getattr": _CALL + "class A:\n    def __getattr__(self, name):\n        run()\nA().anything",
    "context": _CALL
    + "class A:\n    def __enter__(self): pass\n    def __exit__(self, *how):\n        run()\nwith A():\n    pass",
    "generator's close": _CALL
    + "def g():\n    try:\n        yield\n    finally:\n        run()\ng = g()\nnext(g)\ng.close()",
    "del": "class A:\n    def __del__(self):\n        exec(S, {'__name__': 'reached'})\na = A()\ndel a",
    "del in a circle": "import gc\nclass A:\n    def __del__(self):\n        exec(S, {'__name__': 'reached'})\na = A()\na.a = a\ndel a\ngc.collect()",
    "finalize": _CALL + "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, run)\ndel a",
    "weak reference": _CALL + "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, run)\ndel a",
    "gc callback": _CALL
    + "import gc\ndef once(*how):\n    gc.callbacks.remove(once)\n    run()\ngc.callbacks.append(once)\ngc.collect()",
    "pickle": "import pickle\nclass A:\n    def __reduce__(self):\n        return exec, (S, {})\npickle.loads(pickle.dumps(A()))",
    "copy": "import copy\nclass A:\n    def __reduce_ex__(self, version):\n        return exec, (S, {})\ncopy.copy(A())",
    "json": _CALL + "import json\njson.loads('{}', object_hook=run)",
    "re": "import re\nre.sub('a', lambda found: exec(S, {'__name__': 'reached'}) or '', 'a')",
    "sqlite function": "import sqlite3\nbase = sqlite3.connect(':memory:')\nbase.create_function('f', 0, lambda: exec(S, {}))\nbase.execute('select f()').fetchall()",
    "timeit": "import timeit\ntimeit.timeit(lambda: exec(S, {'__name__': 'reached'}), number=1)",
    "trace": "import sys\ndef once(*event):\n    sys.settrace(None)\n    exec(S, {'__name__': 'reached'})\nbefore = sys.gettrace()\nsys.settrace(once)\n(lambda: 0)()\nsys.settrace(before)",
    "profile": "import sys\ndef once(*event):\n    sys.setprofile(None)\n    exec(S, {'__name__': 'reached'})\nsys.setprofile(once)\n(lambda: 0)()\nsys.setprofile(None)",
    "audit": "import sys\nleft = [1]\ndef once(*event):\n    if left:\n        left.clear()\n        exec(S, {'__name__': 'reached'})\nsys.addaudithook(once)\nopen('/dev/null').close()",
    "import hook": "import sys\nclass Finder:\n    def find_spec(self, *how):\n        sys.meta_path.remove(self)\n        exec(S, {'__name__': 'reached'})\nsys.meta_path.insert(0, Finder())\ntry:\n    import no_such_module_at_all\nexcept ImportError:\n    pass",
    "log handler": "import logging\nclass H(logging.Handler):\n    def emit(self, record):\n        exec(S, {'__name__': 'reached'})\nlog = logging.getLogger('reached')\nlog.propagate = False\nhandler = H()\nlog.addHandler(handler)\ntry:\n    log.error('x')\nfinally:\n    log.removeHandler(handler)",
    "callback of C": _CALL + "import ctypes\nctypes.CFUNCTYPE(None)(run)()",
    "qsort": "import ctypes\nC = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)\nleft = [1]\ndef compare(a, b):\n    if left:\n        left.clear()\n        exec(S, {'__name__': 'reached'})\n    return 0\nctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, C(compare))",
    "simple string": "import ctypes\nctypes.pythonapi.PyRun_SimpleString(S.encode())",
    "module in TMPDIR": "import importlib.util, tempfile, os\npath = tempfile.mktemp(suffix='.py')\nopen(path, 'w').write(S)\nspec = importlib.util.spec_from_file_location('made_module', path)\nspec.loader.exec_module(importlib.util.module_from_spec(spec))",
    "runpy": "import runpy, tempfile\npath = tempfile.mktemp(suffix='.py')\nopen(path, 'w').write(S)\nrunpy.run_path(path)",
}

THREADS = {
    "thread": "import threading\nt = threading.Thread(target=exec, args=(S, {}))\nt.start()\nt.join(10)",
    "raw thread": "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\ndef work():\n    try:\n        exec(S, {'__name__': 'reached'})\n    finally:\n        lock.release()\n_thread.start_new_thread(work, ())\nlock.acquire(timeout=10)",
    "timer": "import threading\nt = threading.Timer(0, exec, (S, {}))\nt.start()\nt.join(10)",
    "executor": "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(2) as pool:\n    pool.submit(exec, S, {}).result(10)",
    "done callback": _CALL
    + "import concurrent.futures\nfuture = concurrent.futures.Future()\nfuture.add_done_callback(run)\nfuture.set_result(0)",
    "end of a thread's names": "import threading\nclass A:\n    def __del__(self):\n        exec(S, {'__name__': 'reached'})\nlocal = threading.local()\ndef work():\n    local.a = A()\nt = threading.Thread(target=work)\nt.start()\nt.join(10)",
    "thread of C": "import ctypes\nF = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)\nf = F(lambda argument: exec(S, {'__name__': 'reached'}))\nC, t = ctypes.CDLL(None), ctypes.c_ulong()\nC.pthread_create(ctypes.byref(t), None, f, None)\nC.pthread_join(t, None)",
    "loop in a thread": "import asyncio, threading\nasync def work():\n    await asyncio.to_thread(exec, S, {})\nt = threading.Thread(target=asyncio.run, args=(work(),))\nt.start()\nt.join(10)",
}

# Only the main thread may set handlers; elsewhere these ways do nothing.
SIGNALS = {
    "signal": "import signal\nbefore = signal.signal(signal.SIGUSR1, lambda *how: exec(S, {'__name__': 'reached'}))\nsignal.raise_signal(signal.SIGUSR1)\nsignal.signal(signal.SIGUSR1, before)",
    "timer's signal": "import signal, time\nleft = [1]\ndef once(*how):\n    left.clear()\n    exec(S, {'__name__': 'reached'})\nsignal.signal(signal.SIGALRM, once)\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nend = time.monotonic() + 5\nwhile left and time.monotonic() < end:\n    pass",
    "pthread_kill": "import signal, threading\nbefore = signal.signal(signal.SIGUSR2, lambda *how: exec(S, {'__name__': 'reached'}))\nmain = threading.main_thread().ident\nt = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGUSR2))\nt.start()\nt.join()\nsignal.signal(signal.SIGUSR2, before)",
}

# Parts of the kernel's own process, and what `person.py` has left in it.
KERNEL = {
    "task": "import asyncio\nasync def work():\n    exec(S, {'__name__': 'reached'})\nkeep_task = asyncio.get_running_loop().create_task(work())",
    "call_soon": "import asyncio\nasyncio.get_running_loop().call_soon(exec, S, {})",
    "call_later": "import asyncio\nasyncio.get_running_loop().call_later(0.001, exec, S, {})",
    "run_cell": "from IPython import get_ipython\nget_ipython().run_cell(S, silent=True)",
    "magic": "from IPython import get_ipython\nget_ipython().run_cell_magic('capture', '', S)",
    "representation": "from IPython.display import display\nclass A:\n    def _repr_html_(self):\n        exec(S, {'__name__': 'reached'})\n        return ''\ndisplay(A())",
    "event of a cell": "from IPython import get_ipython\nevents = get_ipython().events\ndef once(result):\n    events.unregister('post_run_cell', once)\n    exec(S, {'__name__': 'reached'})\nevents.register('post_run_cell', once)",
    "thread of outputs": "from IPython import get_ipython\nget_ipython().kernel.iopub_thread.schedule(lambda: exec(S, {'__name__': 'reached'}))",
    "thread of control": "from IPython import get_ipython\nget_ipython().kernel.control_thread.io_loop.add_callback(exec, S, {})",
    "person's pool": "import __main__\n__main__.person_pool.submit(exec, S, {}).result(10)",
    "person's thread pool": "import __main__\n__main__.person_thread_pool.apply_async(exec, (S, {})).get(10)",
    "person's queue": "import __main__\n__main__.ask_queue(__main__.person_queue, S)",
    "person's loop": "import __main__, asyncio\nasyncio.run_coroutine_threadsafe(__main__.ask_loop(S), __main__.person_loop).result(10)",
    "person's loop, soon": "import __main__, threading\ndone = threading.Event()\ndef work():\n    try:\n        exec(S, {'__name__': 'reached'})\n    finally:\n        done.set()\n__main__.person_loop.call_soon_threadsafe(work)\ndone.wait(10)",
    "person's watch": "import __main__, threading\ndone = threading.Event()\ndef work():\n    try:\n        exec(S, {'__name__': 'reached'})\n    finally:\n        done.set()\n__main__.person_hook = work\ndone.wait(10)",
    "person's processes": "import __main__\n__main__.person_processes.apply_async(exec, (S, {})).get(10)",
    "person's child": "import __main__\n__main__.ask_child(__main__.person_child, repr(S))",
    "person's shell": "import __main__, shlex, sys\n__main__.ask_child(__main__.person_shell, shlex.join([sys.executable, '-c', S]) + ' >/dev/null 2>&1; echo done')",
}
# The thread that has written for a person: it may write, and nothing else.
WRITER = {"person's writer": "import __main__\n__main__.ask_queue(__main__.person_writer, S)"}

# A fork of one thread of many can wait for ever: its end comes then. (The watchdog of faulthandler waits for ever itself, in a fork of
# a process that has one.)
_ALARM = "signal.signal(signal.SIGALRM, signal.SIG_DFL), signal.alarm(20)"
_FORKED = f"import os, signal\npid = os.fork()\nif not pid:\n    try:\n        {_ALARM}\n        {{child}}\n    finally:\n        os._exit(0)\n"
_GRANDCHILD = (
    f"os.setsid()\n        if not os.fork():\n            {_ALARM}\n            exec(S, {{'__name__': 'reached'}})"
)
LEAVING = {
    "fork": _FORKED.replace("{child}", "exec(S, {'__name__': 'reached'})") + "os.waitpid(pid, 0)",
    "double fork": "import os\nread, write = os.pipe()\n"
    + _FORKED.replace("{child}", _GRANDCHILD)
    + "os.close(write)\nos.waitpid(pid, 0)\nos.read(read, 1)\nos.close(read)",
    "multiprocessing": "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=exec, args=(S, {}))\np.start()\np.join(10)",
    "subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', S], capture_output=True)",
    "posix_spawn": "import os, sys\nos.waitpid(os.posix_spawn(sys.executable, [sys.executable, '-c', S], os.environ), 0)",
    "spawn": "import os, sys, threading\npid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, '-c', S])\nend = threading.Timer(20, os.kill, (pid, 9))\nend.start()\nos.waitpid(pid, 0)\nend.cancel()",
    "system": "import os, shlex, sys\nos.system(shlex.join([sys.executable, '-c', S]))",
    "popen": "import os, shlex, sys\nos.popen(shlex.join([sys.executable, '-c', S])).read()",
    "standard input": "import subprocess, sys\nsubprocess.run([sys.executable, '-'], input=S.encode(), capture_output=True)",
    "setsid": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', S], start_new_session=True).wait()",
    "memfd": "import os, subprocess, sys\nfd = os.memfd_create('x', 0)\nos.write(fd, f'#!{sys.executable}\\n{S}'.encode())\nsubprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd], capture_output=True)\nos.close(fd)",
    "fexecve": "import os, sys\nfd = os.open(sys.executable, os.O_RDONLY)\n"
    + _FORKED.replace("{child}", "os.execve(fd, [sys.executable, '-c', S], os.environ)")
    + "os.waitpid(pid, 0)",
    "loader": "import glob, os, subprocess, sys\nloader = (glob.glob('/lib64/ld-linux-*') + glob.glob('/lib/ld-linux-*'))[0]\nsubprocess.run([loader, os.path.realpath(sys.executable), '-c', S], capture_output=True)",
    # A fork in a process that has a second interpreter waits for ever (Python 3.11).
    "interpreter": "try:\n    import _interpreters as i\nexcept ImportError:\n    import _xxsubinterpreters as i\nx = i.create()\ntry:\n    i.run_string(x, S)\nfinally:\n    i.destroy(x)",
}

WITHIN = {**PLAIN, **THREADS, **SIGNALS, **KERNEL, **WRITER}
WAYS = {**WITHIN, **LEAVING}
# Ways whose inner ones find nothing of the kernel's own process.
LEAVES = {*LEAVING, "person's processes", "person's child", "person's shell"}
