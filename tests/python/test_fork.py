"""Forked processes, and the end of the interpreter, with work that waits, threads that run and caches that are open."""

from __future__ import annotations

import os
import sys

import pytest

from support import run_python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

PREAMBLE = """
import os, sys, signal, threading
import numpy as np
import broadcloth as bc
bc.set_default_device("cpu")
def child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, f"child ended with {status}"
"""


def test_a_child_computes_with_the_parents_arrays():
    run_python(
        PREAMBLE
        + """
a = bc.arange(300_000.0)
b = a * 2 + bc.sin(a)          # waits in the parent when it forks
done = (a + 1).sum(); float(done)
def work():
    assert float(done) == float((np.arange(300_000.0) + 1).sum())
    assert np.allclose(b.get(), np.arange(300_000.0) * 2 + np.sin(np.arange(300_000.0)))
    c = bc.ones((300, 300)) @ bc.ones((300, 300))
    assert float(c[0, 0]) == 300
    x = bc.arange(1_000_000.0, dtype=bc.float32)
    assert abs(float((x * x + 3).mean()) - float((np.arange(1e6) ** 2 + 3).mean())) < 1e6
child(work)
child(work)
work()
"""
    )


def test_multiprocessing_with_fork():
    run_python(
        PREAMBLE
        + """
import multiprocessing
def square(k):
    return float((bc.arange(100_000.0) * k).sum())
float((bc.arange(100_000.0) * 2).sum())
with multiprocessing.get_context("fork").Pool(3) as pool:
    got = pool.map(square, range(6))
assert got == [k * sum(range(100_000)) for k in range(6)], got
"""
    )


def test_fork_while_other_threads_compute():
    run_python(
        PREAMBLE
        + """
stop = threading.Event()
bc.arange, bc.sin  # imports them: Python's lock of a module that another thread imports stays locked in a child
def busy(k):
    x = bc.arange(50_000.0)
    while not stop.is_set():
        x = bc.sin(x) + k
        float(x[0])
threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
[t.start() for t in threads]
try:
    for _ in range(5):
        child(lambda: float((bc.arange(10_000.0) + 1).sum()))
finally:
    stop.set()
    [t.join() for t in threads]
"""
    )


def test_fork_while_other_threads_plan_transforms():
    run_python(
        PREAMBLE
        + """
bc.fft  # imported here: a child that is forked while another thread imports waits for that thread's lock for ever, in any Python program
stop = threading.Event()
def busy(k):
    n = 100 * k + 100
    while not stop.is_set():
        bc.fft.fft(bc.ones(n)).get()
        n = n % 5000 + 1
threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
[t.start() for t in threads]
try:
    for n in range(20):
        child(lambda: bc.fft.fft(bc.ones(6000 + n)).get())
finally:
    stop.set()
    [t.join() for t in threads]
"""
    )


@pytest.mark.parametrize(
    "program",
    [
        "x = bc.arange(10.0) * 2",  # waits, and is never looked at
        "x = bc.arange(1e6) * 2 + bc.sin(bc.arange(1e6)); float(x[3])",
        "import atexit; x = bc.arange(10.0) * 2; atexit.register(lambda: print(float(x.sum())))",
        "class K:\n    def __init__(self): self.x = bc.ones(5) * 3\n    def __del__(self): self.x += 1\nk = K()",
        "import threading; t = threading.Thread(target=lambda: float(bc.arange(1e6).sum())); t.start()",
        "import threading, time\n"
        "work = lambda: [float(bc.sin(bc.arange(1e5)).sum()) for _ in range(10**6)]\n"
        "threading.Thread(target=work, daemon=True).start(); time.sleep(0.2)",
        "r = bc.profiler.record().__enter__(); x = bc.ones(3) * 2",
        "bc.set_default_device('cpu'); m = memoryview(bc.arange(5.0)); "
        "d = bc.from_dlpack(np.arange(3.0)); n = np.from_dlpack(bc.arange(4.0))",
        "with bc.device('cpu'): g = (bc.ones(3) for _ in range(2)); next(g)",
        "import sys; a = bc.arange(5.0) + 1; sys.exit(0)",
    ],
)
def test_the_interpreter_ends_cleanly(program):
    done = run_python("import numpy as np\nimport broadcloth as bc\n" + program)
    assert "Error" not in done.stderr and "Exception" not in done.stderr, done.stderr


def test_an_error_at_exit_does_not_crash():
    from support import start_python

    done = start_python("import broadcloth as bc\nx = bc.arange(5) * 2\nraise SystemExit(7)")
    assert done.returncode == 7, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_spawned_processes_work():
    run_python(
        """
import multiprocessing, broadcloth as bc
if __name__ == "__main__":
    pass
x = bc.arange(5.0) * 2
import pickle
assert pickle.loads(pickle.dumps(x)).tolist() == [0, 2, 4, 6, 8]
"""
    )


def test_a_subinterpreter_is_told_why():
    done = run_python(
        """
import sys
try:
    import _interpreters as interpreters
    made = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    made = interpreters.create()
interpreters.run_string(made, '''
import sys
try:
    import broadcloth
except ImportError as e:
    print("told:", e, flush=True)
''')
interpreters.destroy(made)
import broadcloth as bc
print(float(bc.ones(3).sum()))
"""
    )
    assert "told:" in done.stdout and "subinterpreter" in done.stdout and done.stdout.endswith("3.0\n"), done.stdout + done.stderr


def test_a_second_import_shares_the_first_ones_types():
    run_python(
        """
import sys
import broadcloth as first
a = first.arange(3.0)
for name in [n for n in sys.modules if n.split(".")[0] == "broadcloth"]:
    del sys.modules[name]
import broadcloth as second
assert second is not first and second.ndarray is first.ndarray
assert (a + second.ones(3)).tolist() == [1, 2, 3]
"""
    )


@pytest.mark.parametrize(
    "program",
    [
        # Threads that are inside kernels, compilers, copies and waits when the process ends.
        "def work():\n    x = bc.arange(200_000.0)\n    while True: x = bc.sin(x) + 1; float(x[5])",
        "def work():\n    k = 0\n    while True:\n        k += 1\n"
        "        f = bc.ElementwiseKernel('T x', 'T y', f'y = x * {k}', f'times_{k}'); float(f(bc.ones(100))[0])",
        "def work():\n    while True: (bc.ones((300, 300)) @ bc.ones((300, 300))).get()",
        "def work():\n    from broadcloth import cuda\n    while True:\n        s = cuda.Stream()\n"
        "        with s: x = bc.ones(50_000) * 2; x += 1\n        s.synchronize(); cuda.pinned_array(1000)",
        "def work():\n    while True: bc.asarray(np.ones(1_000_000)).get(); bc.synchronize()",
    ],
)
def test_daemon_threads_are_cut_short(program):
    done = run_python(
        "import numpy as np\nimport broadcloth as bc\nimport threading, time\n"
        + program
        + "\nfor _ in range(3): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.3)"
    )
    assert "Error" not in done.stderr and "Exception" not in done.stderr, done.stderr
