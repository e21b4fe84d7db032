"""Functions under `jit` and `njit`: NumPy arrays in and out, against what plain Python and NumPy give."""

import math
import os
import platform
import re
import subprocess
import sys
import textwrap
import threading
from collections import namedtuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import jit, njit, prange

Point = namedtuple("Point", "x y")


# ---- values in and out


@pytest.mark.parametrize(
    ("value", "result"),
    [(3, 3), (2.5, 2.5), (True, True), (1 + 2j, 1 + 2j), (np.float32(1.5), 1.5), (np.int8(-3), -3), (2**63, 2**63), (None, None)],
)
def test_scalars_come_back_as_python_numbers(value, result):
    @njit
    def same(x):
        return x

    made = same(value)
    assert made == result
    assert type(made) in (int, float, bool, complex, type(None))


def test_arrays_are_passed_without_a_copy_and_come_back_as_themselves():
    @njit
    def scale(a):
        for i in range(a.shape[0]):
            a[i] *= 2
        return a

    a = np.arange(4.0)
    assert scale(a) is a
    assert_array_equal(a, [0, 2, 4, 6])


@pytest.mark.parametrize(
    "view", [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[::-1], lambda a: np.broadcast_to(a[:1], a.shape)]
)
def test_every_layout_is_read_in_place(view):
    @njit
    def weighted(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j] * (i + 10 * j)
        return s

    a = view(np.arange(20.0).reshape(4, 5))
    i, j = np.indices(a.shape)
    assert weighted(a) == (a * (i + 10 * j)).sum()


def test_a_returned_view_keeps_the_argument_and_new_arrays_their_memory():
    @njit
    def parts(a):
        b = a * 2
        return a[1:], b, b[::2]

    a = np.arange(5.0)
    tail, twice, every = parts(a)
    assert tail.base is a
    tail[0] = 100
    assert a[1] == 100
    del twice
    assert_array_equal(every, [0, 4, 8])


def test_tuples_and_named_tuples():
    @njit
    def turn(p, more):
        q, (r, s) = more
        return Point(p.y + q, p.x), (r, s, p)

    made, rest = turn(Point(1, 2.5), (10, (True, np.arange(3))))
    assert made == Point(12.5, 1)
    assert isinstance(made, Point)
    assert rest[0] is True and isinstance(rest[2], Point)
    assert_array_equal(rest[1], [0, 1, 2])


def test_keywords_and_defaults():
    @njit
    def f(a, b=2, *, c=3):
        return a + b * c

    assert (f(1), f(1, c=5), f(b=1, a=2)) == (7, 11, 5)
    with pytest.raises(TypeError, match="missing the argument 'a'"):
        f()
    with pytest.raises(TypeError, match="unexpected keyword"):
        f(1, d=2)
    with pytest.raises(TypeError, match="at most 2"):
        f(1, 2, 3)


def test_each_type_of_arguments_is_compiled_once():
    @njit
    def f(a):
        return a + 1

    f(1), f(2), f(1.0), f(np.float32(1)), f(np.arange(3)), f(np.arange(5)), f(np.arange(6).reshape(2, 3))
    assert len(f.signatures) == 5
    assert "int64" in f.signatures[0]


def test_arrays_of_broadcloth_go_in_and_come_out():
    @njit
    def f(a):
        return a * 2 + 1

    a = bc.arange(4.0, device="cpu")
    made = f(a + 1)
    assert isinstance(made, bc.ndarray)
    assert_array_equal(made.get(), [3, 5, 7, 9])

    @njit
    def fill(a):
        a[:] = 7

    fill(a)
    assert_array_equal(a.get(), [7, 7, 7, 7])


# ---- signatures


def test_a_signature_compiles_at_once_and_converts():
    @jit("float64(float64, int32)")
    def f(a, b):
        return a / b

    assert f.signatures == [("float64", "int32")]
    assert f(3, 2.0) == 1.5
    with pytest.raises(TypeError, match="no signature takes"):
        f(np.arange(3), 1)


def test_types_as_objects():
    from broadcloth.types import float64, int64

    @njit([float64(float64[:]), int64(int64[:])])
    def first(a):
        return a[0]

    assert first(np.array([1.5])) == 1.5
    assert type(first(np.array([4]))) is int
    with pytest.raises(TypeError, match="no signature"):
        first(np.array([1], np.int8))


def test_typeof():
    assert repr(bc.typeof(np.zeros((2, 3), np.float32).T)) == "array(float32, 2d, F)"
    assert repr(bc.typeof((1, 2.0))) == "(int64, float64)"


# ---- exceptions


def test_exceptions_of_the_function():
    @njit
    def f(x):
        if x < 0:
            raise ValueError("negative", 7)
        assert x != 1, "one"
        return 10 // x

    with pytest.raises(ValueError, match="negative"):
        f(-1)
    with pytest.raises(AssertionError, match="one"):
        f(1)
    with pytest.raises(ZeroDivisionError):
        f(0)
    assert f(3) == 3


def test_division_by_zero_follows_the_error_model():
    @njit
    def python(a, b):
        return a / b

    @njit(error_model="numpy")
    def numpy(a, b):
        return a / b

    with pytest.raises(ZeroDivisionError):
        python(1.0, 0.0)
    assert numpy(1.0, 0.0) == math.inf


def test_boundscheck():
    @njit(boundscheck=True)
    def at(a, i):
        return a[i]

    assert at(np.arange(3), -1) == 2
    for i in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            at(np.arange(3), i)


def test_an_error_of_shapes_frees_what_was_made():
    @njit
    def f(a, b):
        c = np.zeros(1000) + 1
        return (a + b).sum() + c.sum()

    assert f(np.ones(3), np.ones(3)) == 1006
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="negative dimensions"):
        njit(lambda n: np.zeros(n).sum())(-1)


def test_a_typing_error_shows_line_and_caret():
    @njit
    def f(a):
        return a + "x"

    with pytest.raises(bc.exceptions.TypingError if hasattr(bc.exceptions, "TypingError") else TypeError) as error:
        f(1)
    text = str(error.value)
    assert 'return a + "x"' in text and "^" in text
    assert text.count("\n") <= 15


# ---- the language


def test_recursion_closures_and_calls():
    k = 3

    @njit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    @njit
    def f(n):
        def inner(x):
            return x * k

        return inner(fib(n)) + max(1, n, 2) + min((4, 5)) + abs(-n) + round(2.6)

    assert f(10) == 55 * 3 + 10 + 4 + 10 + 3


def test_enumerate_zip_and_else():
    @njit
    def f(a, b):
        s = 0.0
        for i, (x, y) in enumerate(zip(a, b)):
            if x > 3:
                break
            s += i * x * y
        else:
            s = -s
        return s

    a = np.arange(4.0)
    assert f(a, a) == -sum(i * x * x for i, x in enumerate(a))
    assert f(a + 2, a) == sum(i * x * y for i, (x, y) in enumerate(zip(a[:2] + 2, a[:2], strict=True)))


def test_print_goes_to_stdout(capsys):
    @njit
    def f(x, a):
        print("x is", x, 0.1, 1e20, True, (1, 2.0), a, sep="|")

    f(3, np.array([1.0, 2.5]))
    assert capsys.readouterr().out == "x is|3|0.1|1e+20|True|(1, 2.0)|[1.  2.5]\n"


# ---- NumPy inside

FUNCTIONS = {
    "fused sum": lambda a, b: np.sum(a * b + np.sin(a)),
    "broadcast": lambda a, b: a * b[0] - a[:, :1] / 2,
    "where": lambda a, b: np.where(a > 0.5, a, -b),
    "statistics": lambda a, b: (a.mean(), a.std(), a.var(), np.median(a), a.min(), a.max(), np.ptp(a)),
    "axis": lambda a, b: (a.sum(axis=0), a.mean(axis=1), np.max(a, axis=-1), a.std(axis=0), a.argmin(axis=1), np.any(a > 1, axis=0)),
    "order": lambda a, b: (a.argmax(), b.argmin(), np.sort(a), np.argsort(a[0]), np.unique(np.round(a[0]))),
    "products": lambda a, b: (a @ b.T, np.dot(a[0], b[0]), a.T.dot(a[:, 0]), np.outer(a[0], b[1]), np.trace(a @ b.T)),
    "linalg": lambda a, b: (np.linalg.norm(a), np.linalg.inv(a @ a.T), np.linalg.solve(a @ a.T, b[:, 0]), np.linalg.det(a @ a.T)),
    "shapes": lambda a, b: (a.reshape(-1), a.T.copy(), a.ravel(), b.flatten(), a[::-1, 1:], np.expand_dims(a[0], 0), a.transpose(1, 0)),
    "joining": lambda a, b: (
        np.concatenate((a, b)),
        np.concatenate((a, b), axis=1),
        np.vstack((a, b)),
        np.hstack((a[0], b[0])),
        np.stack((a[0], b[0])),
    ),
    "masks": lambda a, b: (
        a[a > 0.5],
        a[0][np.array([0, 2, 1])],
        np.flatnonzero(a > 0.5),
        np.count_nonzero(a > 0.5),
        np.nonzero(b[0] > 0.5)[0],
    ),
    "made": lambda a, b: (
        np.zeros((2, 3)),
        np.ones(3, np.int32),
        np.full((2,), 2.5),
        np.eye(3),
        np.arange(2, 9, 3),
        np.linspace(0, 1, 5),
        np.zeros_like(a),
    ),
    "cumulative": lambda a, b: (np.cumsum(a), a.cumprod(), np.diff(a[0]), np.searchsorted(np.sort(a[0]), 0.5), np.repeat(a[0], 2)),
    "types": lambda a, b: (a.astype(np.float32), np.array([1, 2, 3]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.floor(a).astype(np.int64)),
    "complex": lambda a, b: ((a + 1j * b).real, np.abs(a + 1j * b), np.sum((a + 1j * b) ** 2)),
    "compare": lambda a, b: (np.allclose(a, a + 1e-12), np.all(a == a), (a > b).any(), np.array_equal(a, b)),
    "nan": lambda a, b: (np.nansum(np.where(a > 0.5, np.nan, a)), np.nanmax(np.where(a > 0.5, np.nan, a))),
}


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_inside_functions(name, parallel):
    rng = np.random.default_rng(3)
    a, b = rng.random((3, 4)) + 0.1, rng.random((3, 4))
    expected = FUNCTIONS[name](a, b)
    made = njit(parallel=parallel)(FUNCTIONS[name])(a, b)
    if not isinstance(expected, tuple):
        expected, made = (expected,), (made,)
    for e, m in zip(expected, made, strict=True):
        assert np.shape(e) == np.shape(m)
        if isinstance(m, np.ndarray):
            assert m.dtype == e.dtype
        assert_allclose(m, e, rtol=1e-9, atol=1e-12)


def test_assignments_to_slices_read_before_they_write():
    @njit
    def f(a):
        a[1:] = a[:-1] + 1
        a[a > 5] = 0
        a[np.array([0, 2])] = -1.0
        a += a[::-1]

    a = np.arange(8.0)
    e = a.copy()
    e[1:] = e[:-1] + 1
    e[e > 5] = 0
    e[np.array([0, 2])] = -1.0
    e += e[::-1].copy()
    f(a)
    assert_array_equal(a, e)


def test_a_loop_that_makes_arrays_uses_little_memory():
    @njit
    def heat(p, steps):
        for _ in range(steps):
            q = p.copy()
            q[1:-1] = 0.5 * (p[2:] + p[:-2])
            p = q
        return p

    p = np.zeros(200_000)
    p[1000] = 1.0
    made = heat(p, 3000)  # 4.8 GB if nothing were freed
    assert made.sum() == pytest.approx(1.0)


def test_random_numbers_are_seeded():
    @njit
    def f(n):
        np.random.seed(7)
        return np.random.rand(n), np.random.normal(5.0, 0.5, n), np.random.randint(0, 10, n), np.random.uniform(2.0, 3.0)

    one, two = f(10_000), f(10_000)
    for x, y in zip(one, two, strict=True):
        assert_array_equal(x, y)
    assert 0.48 < one[0].mean() < 0.52 and abs(one[1].mean() - 5) < 0.03 and set(one[2]) == set(range(10)) and 2 <= one[3] < 3


# ---- parallel loops


def test_prange_joins_sums_products_and_extremes_in_one_order():
    @njit(parallel=True)
    def f(a):
        s = 0.0
        p = 1.0
        low = math.inf
        high = -math.inf
        count = 0
        for i in prange(a.shape[0]):
            t = a[i] * 2
            if t > 1:
                count += 1
            s += t
            p *= 1 + 1e-9 * t
            low = min(low, t)
            high = max(high, t)
        return s, p, low, high, count

    a = np.random.default_rng(0).random(100_001)
    made = f(a)
    assert_allclose(made, (2 * a.sum(), np.prod(1 + 2e-9 * a), 2 * a.min(), 2 * a.max(), (a > 0.5).sum()), rtol=1e-12)
    assert all(f(a) == made for _ in range(5))


def test_prange_bodies_have_their_own_variables():
    @njit(parallel=True)
    def f(n):
        out = np.empty((n, 4))
        for i in prange(n):
            row = np.zeros(4)
            for k in range(4):
                row[k] = i * k
            out[i] = row + 1
        return out

    assert_array_equal(f(500), np.arange(500)[:, None] * np.arange(4) + 1)


def test_an_exception_leaves_a_parallel_loop():
    @njit(parallel=True)
    def f(n):
        for i in prange(n):
            if i == 77:
                raise ValueError("at 77")

    with pytest.raises(ValueError, match="at 77"):
        f(1000)


def test_prange_is_range_elsewhere():
    assert list(prange(2, 8, 3)) == [2, 5]

    @njit
    def f(n):
        s = 0
        for i in prange(n):
            s += i
        return s

    assert f(10) == 45


def test_nogil_lets_other_threads_run():
    @njit(nogil=True)
    def work(n):
        s = 0.0
        for i in range(n):
            s += math.sin(i)
        return s

    work(10)
    turns = []
    thread = threading.Thread(target=work, args=(50_000_000,))
    thread.start()
    while thread.is_alive():
        turns.append(1)
    assert len(turns) > 10


# ---- speed and caches


def test_sines_are_right_far_out_too():
    @njit
    def f(a, out):
        for i in range(a.shape[0]):
            out[i] = math.sin(a[i])

    a = np.concatenate((np.linspace(-100, 100, 1001), 10.0 ** np.arange(0, 300)))
    out = np.empty_like(a)
    f(a, out)
    assert_allclose(out, np.sin(a), rtol=1e-14, atol=4e-16)


def test_a_second_process_compiles_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            from broadcloth import njit
            @njit
            def helper(x): return x + CONSTANT
            @njit
            def f(x): return helper(x) * 2
            print(f(1), f._overloads()[0][4])
        """)
    )
    import os

    env = {**os.environ, "BROADCLOTH_CACHE_DIR": str(tmp_path / "cache")}

    def run(constant):
        text = program.read_text()
        program.write_text(text.replace("CONSTANT", str(constant)))
        out = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, check=True).stdout.split()
        program.write_text(text)
        return out

    assert run(10) == ["22", "False"]
    assert run(10) == ["22", "True"]
    assert run(20) == ["42", "False"]  # an edit of what it calls


def test_what_a_function_tells_of_itself():
    @njit
    def f(a):
        """Doc."""
        return a * 2

    f(1.0)
    assert f.__name__ == "f" and f.__doc__ == "Doc." and f.py_func(3) == 6
    assert "define" in next(iter(f.inspect_llvm().values()))
    assert [s.args for s in f.nopython_signatures] == f.signatures
    with pytest.raises(AttributeError):
        f.nothing_such


OF_PLAIN_BUILDS = not any(name in os.environ for name in ("BROADCLOTH_CPU", "BROADCLOTH_JIT_LEVEL", "ASAN_OPTIONS", "TSAN_OPTIONS"))


@pytest.mark.skipif(platform.machine() != "x86_64" or not OF_PLAIN_BUILDS, reason="reads the assembly of plain builds")
def test_loops_that_count_lay_turns_in_a_row_and_keep_numbers_in_registers():
    @njit
    def counted(image):
        counts = np.zeros(256, np.int64)
        for k in range(image.size):
            counts[image[k]] += 1
        return counts

    @njit
    def histogram(a, bins, low, high):
        counts = np.zeros(bins, np.int64)
        scale = bins / (high - low)
        for x in a:
            i = int((x - low) * scale)
            if 0 <= i < bins:
                counts[i] += 1
        return counts

    image, a = np.arange(1000).astype(np.uint8), np.linspace(0, 1.5, 10000)
    assert np.array_equal(counted(image), np.bincount(image, minlength=256))
    assert np.array_equal(histogram(a, 32, 0.0, 1.0), np.histogram(a[a < 1], 32, (0, 1))[0])
    for f in (counted, histogram):
        text = next(iter(f.inspect_asm().values()))
        loop = [line for line in text.splitlines() if re.search(r"inc[lq]\s+\(", line)]
        assert len(loop) >= 4, "turns of the loop stand in a row"
        assert not re.search(r"vmulsd\s+-?\d*\(%r[sb]p\)|mulsd\s+-?\d*\(%r[sb]p\)", text), "the factor is read from memory in each turn"


def test_methods_of_classes():
    class C:
        def __init__(self):
            self.k = 2

        @staticmethod
        @njit
        def double(x):
            return 2 * x

    assert C().double(4) == 8


# ---- lists


def test_lists_grow_and_come_back_as_lists():
    @njit
    def odd(n):
        out = []
        for i in range(n):
            if i % 2:
                out.append(i * 0.5)
        return out

    assert odd(7) == [0.5, 1.5, 2.5]
    assert odd(0) == []


def test_methods_of_lists():
    @njit
    def f():
        xs = [1]
        xs.append(2.5)
        xs.insert(0, 7)
        xs.extend((3, 4))
        last = xs.pop()
        xs[0] = 9
        total = 0.0
        for x in xs:
            total += x
        ys = xs.copy()
        ys.sort()
        return total, len(xs), xs[-1], last, np.array(xs), sum(xs), max(xs), ys

    total, n, end, last, array, added, top, ordered = f()
    assert (total, n, end, last, added, top, ordered) == (15.5, 4, 3.0, 4.0, 15.5, 9.0, [1.0, 2.5, 3.0, 9.0])
    assert_array_equal(array, [9, 1, 2.5, 3])


def test_a_list_is_shared_by_its_names_and_passed_on():
    @njit
    def put(xs, x):
        xs.append(x)
        return len(xs)

    @njit
    def primes(n):
        found = []
        for k in range(2, n):
            prime = True
            for p in found:
                if p * p > k:
                    break
                if k % p == 0:
                    prime = False
                    break
            if prime:
                put(found, k)
                found[-1] += 0
            if not prime and k < 0:
                found.append(k)
        return np.array(found)

    assert_array_equal(primes(30), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29])


def test_lists_check_their_indices():
    @njit
    def at(i):
        xs = [1, 2]
        xs.append(3)
        return xs[i]

    assert at(-1) == 3
    with pytest.raises(IndexError, match="list index"):
        at(3)


@pytest.mark.parametrize(("value", "advice"), [({1: 2}, "typed.Dict"), (object(), "type object")])
def test_values_without_a_type_say_what_to_pass(value, advice):
    with pytest.raises(TypeError, match=advice):
        njit(lambda x: x)(value)


# ---- every kind of compiled function calls the others


def test_kernels_call_jit_functions_and_they_device_functions():
    from broadcloth import cuda

    @njit
    def twice(x):
        return 2 * x

    @cuda.jit(device=True)
    def plus(x):
        return x + 1

    @njit
    def both(x):
        return plus(twice(x))

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = both(a[i])

    assert both(3) == 7
    with bc.device("cpu"):
        a = bc.arange(5.0)
        kernel[1, 8](a)
        assert_array_equal(a.get(), [1, 3, 5, 7, 9])


def test_comprehensions():
    @njit
    def f(n, a):
        x = 100
        squares = [x * x for x in range(n) if x % 2]
        pairs = [(i, v) for i, v in enumerate(a)]
        s = 0.0
        for i, v in pairs:
            s += i * v
        return squares, np.array([math.sqrt(v) for v in a]), sum([2 * i for i in range(n)]), sum(v + 1 for v in a), x, s

    a = np.arange(4.0)
    squares, roots, total, plus, x, s = f(6, a)
    assert squares == [1, 9, 25]
    assert_allclose(roots, np.sqrt(a))
    assert (total, plus, x, s) == (30, 10.0, 100, 14.0)


ARRAY_TYPES = {
    "operators": lambda a: (a * a, a + 1, a / 2, a // 2, a % 3, a**2, -a, a > 2),
    "functions": lambda a: (np.maximum(a, 2), np.abs(a), np.sqrt(a), np.sort(a), np.concatenate((a, a)), np.ones_like(a), np.cumsum(a)),
    "numbers": lambda a: (a.reshape(2, -1).sum(axis=0), a.reshape(2, -1).mean(axis=1), a @ a, np.unique(a)),
}


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", ARRAY_TYPES)
def test_arrays_have_numpys_types(name, dtype):
    a = np.array([3, 1, 2, 1]).astype(dtype)
    for made, expected in zip(njit(ARRAY_TYPES[name])(a), ARRAY_TYPES[name](a), strict=True):
        assert_allclose(np.asarray(made, float), np.asarray(expected, float), rtol=2e-3 if dtype == "float16" else 1e-6)
        if isinstance(made, np.ndarray):
            assert made.dtype == expected.dtype
