"""Ctrl-C ends what runs for long, and leaves everything usable. Each test sends a real SIGINT to a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pytest

from broadcloth import njit

# The work of each program takes minutes; the time that is allowed is for a loaded machine.
ALLOWED_SECONDS = 30

HEAD = """
import os, sys, time, threading
import numpy as np
import broadcloth as bc
from broadcloth import cuda, njit, prange

def ready():
    print("ready", flush=True)

@njit(parallel=True)
def total(n):
    s = 0.0
    for i in prange(n):
        s += i
    return s

total(1000)
"""

TAIL = """
try:
    work()
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("ended", flush=True)
assert total(100_000) == 100_000 * 99_999 / 2   # the threads are there
after()
print("whole", flush=True)
"""


def run(program: str, **settings: str) -> list[str]:
    text = HEAD + textwrap.dedent(program) + TAIL
    environment = {**os.environ, "BROADCLOTH_DEVICE": "cpu", **settings}
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as child:
            watchdog = threading.Timer(240, child.kill)
            watchdog.start()
            try:
                assert child.stdout is not None
                first = child.stdout.readline()
                time.sleep(0.4)
                start = time.monotonic()
                child.send_signal(signal.SIGINT)
                lines = [child.stdout.readline().strip()]
                seconds = time.monotonic() - start
                lines += child.stdout.read().split()
                child.wait()
            finally:
                watchdog.cancel()
                child.kill()
        errors.seek(0)
        assert first.strip() == "ready" and child.returncode == 0, errors.read()
    assert seconds < ALLOWED_SECONDS
    return lines


PROGRAMS = {
    "a loop over numbers": """
        @njit
        def f(a, n):
            s = 0.0
            for i in range(n):
                s += a[i & 7] * i
            return s
        def work():
            a = np.ones(8)
            f(a, 10)
            ready()
            f(a, 10**13)
        def after(): pass
    """,
    "a loop without an end": """
        @njit
        def f(on):
            i = 0
            while on:
                i += 1
            return i
        def work():
            f(False)
            ready()
            f(True)
        def after(): pass
    """,
    "loops in loops": """
        @njit
        def f(a, n):
            for k in range(n):
                for i in range(a.size):
                    for j in range(3):
                        a[i] += j
        def work():
            a = np.ones(100)
            f(a, 1)
            ready()
            f(a, 10**12)
        def after(): pass
    """,
    "a recursion": """
        @njit
        def fib(n):
            if n < 2:
                return n
            return fib(n - 1) + fib(n - 2)
        def work():
            fib(5)
            ready()
            fib(70)
        def after(): pass
    """,
    "arrays made in a loop": """
        @njit
        def f(n):
            rows = [np.arange(3)]
            for i in range(n):
                a = np.arange(10) + i
                if a.sum() < 0:
                    rows.append(a)
            return len(rows)
        def work():
            f(3)
            ready()
            f(10**12)
        def after(): pass
    """,
    "a parallel loop": """
        @njit(parallel=True)
        def f(a, n):
            s = 0.0
            for i in prange(n):
                t = 0.0
                for j in range(n):
                    t += a[j & 7]
                s += t
            return s
        def work():
            a = np.ones(8)
            f(a, 10)
            ready()
            f(a, 10**7)
        def after(): pass
    """,
    "a function without the interpreter's lock": """
        @njit(nogil=True)
        def f(a):
            while a[0] == 0:
                a[1] += 1
        def work():
            f(np.ones(2))
            ready()
            f(np.zeros(2))
        def after(): pass
    """,
    "what is done last is done": """
        done = np.zeros(2)
        @njit
        def f(done, n):
            s = 0
            try:
                try:
                    for i in range(n):
                        s += i ^ (s >> 1)
                except Exception:
                    done[1] = 1
            finally:
                done[0] = 1
            return s
        def work():
            f(done, 10)
            done[0] = 0
            ready()
            f(done, 10**13)
        def after():
            assert done[0] == 1 and done[1] == 0
    """,
    "an inner loop whose bound is not known": """
        @njit
        def f(a, n, m):
            s = 0.0
            for k in range(n):
                for i in range(m):
                    s += a[i & 7] * i
            return s
        def work():
            a = np.ones(8)
            f(a, 2, 10)
            ready()
            f(a, 10, 10**13)
        def after(): pass
    """,
    "a sum of a whole array": """
        @njit
        def f(a):
            return np.sum(np.sin(a) * np.cos(a))
        def work():
            a = np.broadcast_to(np.ones(1), (10**6, 10**6))
            f(a[:2, :2])
            ready()
            f(a)
        def after(): pass
    """,
    "a reduction along an axis": """
        @njit
        def f(a):
            return a.sum(axis=1)
        def work():
            a = np.broadcast_to(np.ones(1), (10, 10**12))
            f(a[:2, :2])
            ready()
            f(a)
        def after(): pass
    """,
    "an array expression that is stored": """
        @njit
        def f(a, out, n):
            for _ in range(n):
                out[:] = np.sin(a) ** np.cos(a)
        def work():
            a, out = np.ones(10_000_000), np.zeros(10_000_000)
            f(a[:3], out[:3], 1)
            ready()
            f(a, out, 10**6)
        def after(): pass
    """,
    "sorts, which leave the array whole": """
        rng = np.random.default_rng(0)
        arrays = [rng.random(3_000_000), rng.integers(0, 10**6, 3_000_000), rng.random(2_000_000) + 1j]
        sums = [np.sort(a) for a in arrays]
        @njit
        def f(a, b, c, n):
            for i in range(n):
                a.sort()
                b.sort()
                c.sort()
                a[:] = a[::-1].copy()
                b[:] = b[::-1].copy()
        def work():
            f(*[a[:3].copy() for a in arrays], 1)
            ready()
            f(*arrays, 10**6)
        def after():
            for a, sum in zip(arrays, sums):
                assert np.array_equal(np.sort(a), sum)
    """,
    "a comprehension": """
        @njit
        def f(n):
            return len([i for i in range(n) if i % 1000000007 == 5]) + len({i & 7 for i in range(n)})
        def work():
            f(10)
            ready()
            f(10**13)
        def after(): pass
    """,
    "a generator expression": """
        @njit
        def f(n):
            return any(i < 0 for i in range(n))
        def work():
            f(10)
            ready()
            f(10**13)
        def after(): pass
    """,
    "a generator that Python walks": """
        @njit
        def f(n):
            i = 0
            while i < n:
                i += 1
                if i % 1000000000039 == 0:
                    yield i
        def work():
            list(f(10))
            ready()
            list(f(10**13))
        def after(): pass
    """,
    "long work on texts in few turns": """
        @njit
        def count(s):
            return s.count("ab")
        @njit
        def f(s):
            c = 0
            for i in range(4000):
                for j in range(4000):
                    c += count(s)
            return c
        def work():
            f("")
            ready()
            f("ab" * 300_000)
        def after(): pass
    """,
    "linear equations": """
        @njit
        def f(a, b):
            return np.linalg.solve(a, b)
        def work():
            a = np.random.default_rng(0).random((9000, 9000))
            f(a[:3, :3].copy(), a[0, :3].copy())
            ready()
            f(a, a[0].copy())
        def after(): pass
    """,
    "random numbers": """
        @njit
        def f(shape, n):
            s = 0.0
            for i in range(n):
                s += np.random.normal(0.0, 1.0, shape)[0]
            return s
        def work():
            f(3, 1)
            ready()
            f(100_000_000, 1000)
        def after(): pass
    """,
    "a loop of vectorize": """
        from broadcloth import vectorize
        @vectorize
        def f(x):
            for i in range(3000):
                x = x * 0.5 + 1.0 / (x + i)
            return x
        def work():
            a = np.ones(10_000_000)
            f(a[:3])
            ready()
            f(a)
        def after(): pass
    """,
    "a loop of vectorize on all threads": """
        from broadcloth import vectorize
        @vectorize(["float64(float64)"], target="parallel")
        def f(x):
            for i in range(3000):
                x = x * 0.5 + 1.0 / (x + i)
            return x
        def work():
            a = np.ones(20_000_000)
            f(a[:3])
            ready()
            f(a)
        def after():
            assert f(np.ones(100_000)).shape == (100_000,)
    """,
    "an array that NumPy asks for": """
        from broadcloth import vectorize
        @vectorize
        def f(x):
            for i in range(3000):
                x = x * 0.5 + 1.0 / (x + i)
            return x
        def work():
            a = bc.ones(20_000_000)
            np.asarray(f(a[:10]))
            ready()
            np.asarray(f(a))
        def after(): pass
    """,
    "a loop of guvectorize": """
        from broadcloth import guvectorize
        @guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
        def f(x, out):
            for i in range(2):
                out[i] = x[i] ** 0.3
        def work():
            a = np.broadcast_to(np.ones(2), (10**7, 2))
            out = np.empty((10**7, 2))
            f(a[:2])
            ready()
            while True:
                f(a, out)
        def after(): pass
    """,
    "a function that the interpreter calls inside a function": """
        from broadcloth import objmode
        @njit
        def inner(n):
            s = 0
            for i in range(n):
                s += i ^ s
            return s
        @njit
        def f(n):
            with objmode(y="int64"):
                y = inner(n)
            return y
        def work():
            f(3)
            ready()
            f(10**13)
        def after(): pass
    """,
    "threads that wait for a shared list": """
        from broadcloth import types
        from broadcloth.typed import List
        values = List.empty_list(types.int64)
        @njit(nogil=True)
        def f(values, n):
            for i in range(n):
                values.append(i)
                if len(values) > 1000:
                    values.clear()
        def work():
            f(values, 10)
            others = [threading.Thread(target=f, args=(values, 10**7)) for _ in range(3)]
            for t in others:
                t.start()
            globals()["others"] = others
            ready()
            f(values, 10**13)
        def after():
            for t in others:
                t.join()
            values.clear()
            f(values, 500)
            assert len(values) == 500
    """,
    "a kernel with one block": """
        @cuda.jit
        def f(x, n):
            s = 0.0
            for i in range(n):
                s += x[i & 7]
            x[cuda.threadIdx.x] = s
        def work():
            x = bc.ones(64)
            f[1, 1](x, 10)
            ready()
            f[1, 1](x, 10**13)
        def after(): pass
    """,
    "a kernel of many blocks": """
        @cuda.jit
        def f(x, n):
            s = 0.0
            for i in range(n):
                s += x[i & 7]
            x[cuda.threadIdx.x] = s
        def work():
            x = bc.ones(64)
            f[10, 32](x, 10)
            ready()
            f[10**7, 32](x, 10**5)
        def after(): pass
    """,
    "a transform": """
        def work():
            x = bc.ones(200_003, dtype="complex64")  # a prime: ten times the work of a power of two
            bc.fft.fft(x).get()
            ready()
            bc.fft.fft(bc.broadcast_to(x, (500, 200_003))).get()
        def after():
            assert float(bc.fft.fft(bc.ones(8)).real[0]) == 8
    """,
    "a kernel in C++ that waits": """
        k = bc.RawKernel(r'''extern "C" __global__ void f(volatile int* flag) { while (*flag == 0) {} }''', "f")
        def work():
            k((1,), (32,), (bc.ones(1, dtype="int32"),))
            x = bc.zeros(1, dtype="int32")
            ready()
            k((4,), (32,), (x,))
        def after(): pass
    """,
    "the only thread of a kernel, which waits": """
        @cuda.jit
        def f(flag):
            while flag[0] == 0: pass
        def work():
            f[1, 1](bc.ones(1, dtype="int32"))
            x = bc.zeros(1, dtype="int32")
            ready()
            f[1, 1](x)
        def after(): pass
    """,
    "the only cluster of a kernel, which waits": """
        k = bc.RawKernel(r'''extern "C" __global__ void __cluster_dims__(2) f(volatile int* flag) { while (*flag == 0) {} }''', "f")
        def work():
            k((2,), (1,), (bc.ones(1, dtype="int32"),))
            x = bc.zeros(1, dtype="int32")
            ready()
            k((2,), (1,), (x,))
        def after(): pass
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_interrupt_ends(name):
    assert run(PROGRAMS[name]) == ["interrupted", "whole"]


def test_interrupted_flush_loses_nothing():
    lines = run("""
        n = 600
        a = bc.array(np.random.default_rng(0).random((n, n), dtype="float32"))
        b = bc.arange(n * n, dtype="float32").reshape(n, n)
        kept = []
        def work():
            bc.synchronize()
            global b
            for i in range(60):
                kept.append(a @ (a + i))
            b += 1
            ready()
            for i in range(100_000):
                bc.matmul(a, a + i, out=None).sum().item()
        def after():
            first = np.asarray(a)
            for i in (0, 17, 59):
                np.testing.assert_allclose(np.asarray(kept[i]), first @ (first + i), rtol=2e-5)
            assert np.array_equal(np.asarray(b), np.arange(n * n, dtype="float32").reshape(n, n) + 1)
    """)
    assert lines == ["interrupted", "whole"]


def test_interrupt_ends_the_wait_for_another_threads_flush():
    lines = run("""
        a = bc.ones((1500, 1500))
        def long():
            global x
            x = a
            for _ in range(80):  # fewer ops than make the tape full
                x = (x @ a) / 1500
            begun.set()
            float(x[0, 0])
        begun = threading.Event()
        def work():
            threading.Thread(target=long, daemon=True).start()
            begun.wait()
            time.sleep(0.2)
            y = x + 1  # recorded while x is computed
            ready()
            float(y[0, 0])
        def after():
            assert float((bc.arange(10.0) * 2).sum()) == 90
            assert float((a + 1)[0, 0]) == 2
    """)
    assert lines == ["interrupted", "whole"]


def test_another_thread_computes_what_an_interrupted_flush_left():
    lines = run("""
        a = bc.ones((1200, 1200))
        x = a
        for _ in range(40):
            x = (x @ a) / 1200
        y = x + 1
        got = []
        def work():
            def read():
                time.sleep(0.2)
                got.append(float(y[0, 0]))
            globals()["other"] = threading.Thread(target=read)
            other.start()
            ready()
            while True:
                float(x[0, 0])
        def after():
            other.join()
            assert got == [2] and float(x[5, 7]) == 1
    """)
    assert lines == ["interrupted", "whole"]


def test_handler_that_does_not_raise_lets_work_go_on():
    lines = run("""
        import signal
        seen = []
        signal.signal(signal.SIGINT, lambda *a: seen.append(1))
        @njit
        def f(a, n):
            s = 0.0
            for i in range(n):
                s += a[i & 7]
            return s
        def work():
            a = np.ones(8)
            f(a, 10)
            start = time.monotonic()
            ready()
            while not seen or time.monotonic() - start < 0.5:
                assert f(a, 1_000_000) == 1_000_000
        def after():
            assert len(seen) == 1
    """)
    assert lines == ["ended", "whole"]


def test_a_handler_may_join_the_thread_that_is_waited_for():
    """The main thread waits for the value that a worker computes, and the signal's handler joins the worker."""
    lines = run("""
        import signal
        signal.signal(signal.SIGINT, lambda *a: (other.join(), seen.append(1)))
        seen = []
        def work():
            c = bc.arange(1 << 21) * 1e-6
            for _ in range(150):
                c = bc.sin(bc.cumsum(c) * 1e-7)
            globals()["other"] = threading.Thread(target=lambda: float(c[0]))
            other.start()
            time.sleep(0.1)
            ready()
            float(c[1])
            while not seen:
                time.sleep(0.001)
        def after():
            assert seen == [1]
    """)
    assert lines == ["ended", "whole"]


def test_other_threads_go_on():
    lines = run("""
        results = []
        @njit(nogil=True)
        def count(n):
            s = 0
            for i in range(n):
                s += i & 3
            return s
        @njit(nogil=True)
        def forever(on):
            while on:
                pass
        def work():
            count(10)
            forever(False)
            other = threading.Thread(target=lambda: results.append(count(3_000_000_000)))
            other.start()
            globals()["other"] = other
            ready()
            forever(True)
        def after():
            other.join()
            assert results == [4_500_000_000]
    """)
    assert lines == ["interrupted", "whole"]


def test_the_question_whether_to_go_on_keeps_a_loops_numbers():
    """The loops are so long that the question is asked; vectorised, their numbers lie in vector registers meanwhile."""

    @njit
    def low_bits(n):
        s = 0
        for i in range(n):
            s += i & 3
        return s

    @njit
    def halves(n):
        s = 0.0
        for i in range(n):
            s += (i & 1) * 0.5
        return s

    n = 400_000_000
    for _ in range(3):
        assert low_bits(n) == n * 3 // 2
        assert halves(n // 4) == n / 16


# Text that keeps the compiler busy for some seconds.
SLOW = """
        def slow(n):
            branches = "".join(f"if (v > {i}) v = sinf(v) * {i} + cosf(v + {i}); else v = expf(v);\\n" for i in range(n))
            return 'extern "C" __global__ void f(float* x) { float v = x[0];\\n' + branches + "x[0] = v; }"
"""

COMPILES = {
    "a kernel in C++": """
        x = bc.ones(1, dtype="f4")
        k = bc.RawKernel(slow(SIZE), "f")
        def compiled():
            k((1,), (1,), (x,))
    """,
    "a function": """
        import linecache, math
        branches = "".join(f"    if v > {i}:\\n        v = math.sin(v) * {i} + math.cos(v + {i})\\n" for i in range(SIZE))
        text = "def g(v):\\n" + branches + "    return v\\n"
        linecache.cache["<g>"] = (len(text), None, text.splitlines(True), "<g>")
        exec(compile(text, "<g>", "exec"))
        g = njit(globals()["g"])
        def compiled():
            g(1.0)
    """,
    "an elementwise kernel": """
        x = bc.ones(4)
        branches = "".join(f"if (b > {i}) b = sin(b) * {i} + cos(b + {i}); else b = exp(b);" for i in range(3 * SIZE))
        k = bc.ElementwiseKernel("T a", "T b", "b = a;" + branches, "many")
        def compiled():
            k(x).sum().item()
    """,
}


@pytest.mark.parametrize("name", COMPILES)
def test_interrupt_ends_the_wait_for_the_compiler(name, tmp_path):
    # What the second call takes is what the compiler still had to do when the wait ended.
    program = textwrap.dedent(SLOW) + textwrap.dedent(COMPILES[name]).replace("SIZE", "250")
    lines = run(
        program
        + textwrap.dedent("""
        def work():
            ready()
            compiled()
        def after():
            start = time.monotonic()
            compiled()
            print("again" if time.monotonic() - start > 0.5 else "at once", flush=True)
        """),
        BROADCLOTH_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert lines == ["interrupted", "again", "whole"]
