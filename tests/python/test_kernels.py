"""Kernels written in Python, on every device, against NumPy."""

from __future__ import annotations

import math
import operator
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda

TPB = 16


@cuda.jit
def vector_add(a, b, out):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, a.size, stride):
        out[i] = a[i] + b[i]


def test_vector_add_by_a_grid_stride_loop(xp):
    a, b, out = xp.arange(1000, dtype="f4"), xp.full(1000, 2, "f4"), xp.zeros(1000, "f4")
    vector_add[3, 128](a, b, out)
    assert_array_equal(out, np.arange(1000) + 2)


def test_host_arrays_are_copied_in_and_out(xp):
    a, out = np.arange(100.0), np.zeros(100)
    with pytest.warns(bc.exceptions.PerformanceWarning) if xp.default_device().type == "cuda" else np.errstate():
        vector_add[1, 32](a, a, out)
    assert_array_equal(out, 2 * a)


def test_one_kernel_is_compiled_for_each_set_of_types(xp):
    kernel = cuda.jit(vector_add.py_func)
    for dtype in ("i4", "i8", "f8", "c8"):
        a, out = xp.ones(10, dtype), xp.zeros(10, dtype)
        kernel[1, 32](a, a, out)
        assert_array_equal(out, np.full(10, 2))
    assert len(kernel.signatures) == 4
    kernel[1, 32](xp.ones(10)[::2], xp.ones(5), xp.zeros(5))
    assert kernel.signatures[-1][0] == "array(float64, 1d, A)"


@cuda.jit
def scale_matrix(a, factor):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] *= factor


@pytest.mark.parametrize("order", ["C", "F"])
def test_two_dimensional_grid(xp, order):
    host = np.asarray(np.arange(15.0).reshape(3, 5), order=order)
    a = xp.asarray(host.copy(order="K"))
    scale_matrix[(1, 1), (16, 16)](a, 3)
    assert_array_equal(a, host * 3)


@cuda.jit
def reverse_blocks(a):
    s = cuda.shared.array(32, bc.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    a[i] = s[cuda.blockDim.x - 1 - t]


def test_shared_memory_and_a_barrier(xp):
    a = xp.arange(128, dtype="f4")
    reverse_blocks[4, 32](a)
    assert_array_equal(a, np.arange(128).reshape(4, 32)[:, ::-1].ravel())


@cuda.jit
def dynamic_reverse(a):
    s = cuda.shared.array(0, bc.int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    a[t] = s[a.size - 1 - t]


def test_dynamic_shared_memory(xp):
    a = xp.arange(64, dtype="i4")
    dynamic_reverse[1, 64, 0, 64 * 4](a)
    assert_array_equal(a, np.arange(64)[::-1])


@cuda.jit
def block_maximum(result, values):
    i = cuda.grid(1)
    shared = cuda.shared.array(256, bc.float32)
    t = cuda.threadIdx.x
    shared[t] = values[i] if i < values.size else -np.inf
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            shared[t] = max(shared[t], shared[t + s])
        cuda.syncthreads()
        s //= 2
    if t == 0:
        cuda.atomic.max(result, 0, shared[0])


def test_shared_maximum_and_one_atomic_a_block(xp):
    values = np.random.default_rng(1).random(10_000, dtype="f4")
    result = xp.zeros(1, "f4")
    block_maximum[40, 256](result, xp.asarray(values))
    assert result[0] == values.max()


@cuda.jit
def tile_product(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=bc.float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=bc.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = bc.float32(0.0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


def test_tiled_matrix_product(xp):
    rng = np.random.default_rng(0)
    a, b = rng.random((50, 70), dtype="f4"), rng.random((70, 40), dtype="f4")
    c = xp.zeros((50, 40), "f4")
    tile_product[(3, 4), (TPB, TPB)](xp.asarray(a), xp.asarray(b), c)
    assert_allclose(c, a @ b, rtol=1e-5)


@cuda.jit(device=True)
def mandel(x, y, max_iters):
    c = complex(x, y)
    z = 0.0j
    for i in range(max_iters):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return max_iters


@cuda.jit
def mandel_kernel(min_x, max_x, min_y, max_y, image, iters):
    height, width = image.shape
    pixel_x = (max_x - min_x) / width
    pixel_y = (max_y - min_y) / height
    start_x, start_y = cuda.grid(2)
    grid_x = cuda.gridDim.x * cuda.blockDim.x
    grid_y = cuda.gridDim.y * cuda.blockDim.y
    for x in range(start_x, width, grid_x):
        real = min_x + x * pixel_x
        for y in range(start_y, height, grid_y):
            imag = min_y + y * pixel_y
            image[y, x] = mandel(real, imag, iters)


def test_mandelbrot_through_a_device_function(xp):
    image = xp.zeros((40, 60), "u1")
    mandel_kernel[(2, 2), (8, 8)](-2.0, 1.0, -1.0, 1.0, image, 50)
    expected = [[mandel.py_func(-2 + x * 3 / 60, -1 + y * 2 / 40, 50) for x in range(60)] for y in range(40)]
    assert np.mean(image.get() != np.array(expected)) < 0.01


@cuda.jit
def atomics(name_add, o, f, u):
    i = cuda.grid(1)
    cuda.atomic.add(o, 0, 1)
    cuda.atomic.sub(o, 1, 2)
    cuda.atomic.max(o, 2, i)
    cuda.atomic.min(o, 3, -i)
    cuda.atomic.and_(o, 4, ~(1 << (i % 8)))
    cuda.atomic.or_(o, 5, 1 << (i % 8))
    cuda.atomic.xor(o, 6, i)
    cuda.atomic.exch(o, 7, 5)
    cuda.atomic.cas(o, 8, 0, 7)
    cuda.atomic.add(f, 0, 0.5)
    cuda.atomic.max(f, 1, float(i))
    cuda.atomic.min(f, 2, -float(i))
    cuda.atomic.nanmax(f, 3, float(i))
    cuda.atomic.nanmin(f, 4, float(i))
    cuda.atomic.inc(u, 0, 9)
    cuda.atomic.dec(u, 1, 9)


@pytest.mark.parametrize("integer", ["i4", "i8"])
@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("unsigned", ["u4", "u8"])
def test_every_atomic(xp, integer, real, unsigned):
    o = xp.asarray(np.array([0, 0, 0, 0, 255, 0, 0, 0, 0], integer))
    f = xp.asarray(np.array([0, 0, 0, np.nan, np.nan], real))
    u = xp.zeros(2, unsigned)
    atomics[2, 32](None, o, f, u)
    assert_array_equal(o, [64, -128, 63, -63, 0, 255, 0, 5, 7])
    assert_array_equal(f, [32, 63, -63, 63, 0])
    assert_array_equal(u, [4, 6])


@cuda.jit
def old_values(a, olds):
    i = cuda.grid(1)
    olds[i] = cuda.atomic.add(a, 0, 1)


def test_atomics_return_the_old_value(xp):
    a, olds = xp.zeros(1, "i8"), xp.zeros(100, "i8")
    old_values[1, 100](a, olds)
    assert_array_equal(np.sort(olds.get()), np.arange(100))


@cuda.jit
def swap_first(a, old, new):
    a[1] = cuda.atomic.compare_and_swap(a, old, new)


def test_compare_and_swap_works_on_the_first_element(xp):
    a = xp.asarray(np.array([3, 0], "i8"))
    swap_first[1, 1](a, 3, 9)
    assert_array_equal(a, [9, 3])


@cuda.jit
def histogram(values, bins):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, (values[i] // 10, values[i] % 2), 1)


def test_atomics_on_two_dimensions(xp):
    values = np.random.default_rng(2).integers(0, 100, 1000)
    bins = xp.zeros((10, 2), "i4")
    histogram[4, 64](xp.asarray(values), bins)
    expected = np.zeros((10, 2))
    np.add.at(expected, (values // 10, values % 2), 1)
    assert_array_equal(bins, expected)


@cuda.jit(fastmath=True)
def fast(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sqrt(x[i]) / (1 + math.exp(x[i]))


def test_fastmath(xp):
    x = np.linspace(0, 3, 100, dtype="f4")
    y = xp.zeros(100, "f4")
    fast[1, 128](xp.asarray(x), y)
    assert_allclose(y, np.sqrt(x) / (1 + np.exp(x)), rtol=1e-4)


@cuda.jit
def warp_sum(a, out):
    v = a[cuda.grid(1)]
    offset = 16
    while offset > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
        offset //= 2
    if cuda.laneid == 0:
        out[0] = v


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_shuffles(xp, dtype):
    a, out = xp.arange(32).astype(dtype), xp.zeros(1, dtype)
    warp_sum[1, 32](a, out)
    assert out[0] == 496


@cuda.jit
def votes(a, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.ballot_sync(0xFFFFFFFF, a[i] > 3)
    out[i, 1] = cuda.any_sync(0xFFFFFFFF, a[i] == 5)
    out[i, 2] = cuda.all_sync(0xFFFFFFFF, a[i] >= 0)
    out[i, 3] = cuda.match_any_sync(0xFFFFFFFF, a[i] % 2)
    out[i, 4] = cuda.syncthreads_count(a[i] > 3)
    out[i, 5] = cuda.popc(i) * 100 + cuda.clz(i) + cuda.ffs(i)


def test_votes_matches_and_bits(xp):
    a, out = xp.arange(32), xp.zeros((32, 6), "i8")
    votes[1, 32](a, out)
    got = out.get()
    assert_array_equal(got[:, 0], np.full(32, 0xFFFFFFF0))
    assert_array_equal(got[:, 1:3], np.ones((32, 2)))
    assert_array_equal(got[:, 3], np.where(np.arange(32) % 2, 0xAAAAAAAA, 0x55555555))
    assert_array_equal(got[:, 4], np.full(32, 28))
    expected = [bin(i).count("1") * 100 + (64 - i.bit_length()) + ((i & -i).bit_length()) for i in range(32)]
    assert_array_equal(got[:, 5], expected)


# ---- Python's semantics -----------------------------------------------------------------------------------------------------------------


def run(xp, function, *inputs, dtype="f8", n=None):
    """Calls a scalar function for each element, in a kernel and in Python."""
    f = cuda.jit(device=True)(function)

    if len(inputs) == 1:

        @cuda.jit
        def kernel(a, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = f(a[i])
    else:

        @cuda.jit
        def kernel(a, b, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = f(a[i], b[i])

    host = [np.asarray(x) for x in inputs]
    out = xp.zeros(len(host[0]), dtype)
    kernel[1, max(len(host[0]), 1)](*(xp.asarray(x) for x in host), out)
    expected = np.array([function(*(x.item() for x in row)) for row in zip(*host, strict=True)], dtype)
    return out.get(), expected


INTS = np.array([-7, -3, -1, 0, 1, 2, 5, 9])
OTHERS = np.array([2, -2, 3, 4, -1, 3, -5, 1])


@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv", "mod", "truediv", "and_", "or_", "xor", "eq", "lt", "ge"])
@pytest.mark.parametrize("kind", ["i8", "f8"])
def test_operators(xp, op, kind):
    if kind == "f8" and op in ("and_", "or_", "xor"):
        pytest.skip("integers only")
    f = getattr(operator, op)
    got, expected = run(xp, lambda a, b: f(a, b), INTS.astype(kind), OTHERS.astype(kind))
    assert_array_equal(got, expected)


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def types_change(n):
    x = n
    x = x / 2
    if n > 2:
        x = 1
    else:
        x = x + 0.5
    y = x
    for k in range(3):
        y = y * 1.5 + k
    return y


def with_break(n):
    for i in range(10):
        if i * i > n:
            break
    else:
        return -1
    return i


def with_continue(n):
    total = 0
    for i in range(n, -3, -1):
        if i % 3 == 0:
            continue
        total += i
    return total


def chained(n):
    return 1 if 0 <= n < 5 and not n == 3 or n == 9 else 0


def tuples(n):
    a, b = n, n + 1
    a, b = b, a
    t = (a, b, 2.5)
    s = 0.0
    for k in (1, 2, 3):
        s += k * t[0]
    return s + t[2] + t[-2] + len(t)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def parity(n):
    return is_even(abs(n))


def defaults(n, scale=2, *, shift=1.5):
    return n * scale + shift


def keywords(n):
    return defaults(n, shift=0.5) + defaults(scale=3, n=n)


def many(*args):
    s = 0
    for a in args:
        s += a
    return s


def star_args(n):
    return many(n, 1, 2.5) + many(*(n, n))


def inner(n):
    offset = n * 2

    def add(v, w=1):
        return v + offset + w

    return add(n) + add(1, w=5)


def lambdas(n):
    twice = lambda v: v * 2  # noqa: E731
    return twice(n) + (lambda v: v + n)(3)


def walrus(n):
    if (k := n * 2) > 4:
        return k
    return -k


def enumerated(n):
    s = 0
    for i, (a, b) in enumerate(zip((1, 2, 3), (4, 5, 6))):
        s += i * a * b + n
    return s


def nested_loops(n):
    s = 0
    i = 100
    for i in range(3):
        j = 0
        while True:
            j += 1
            if j > i + 1:
                break
            s += j * n
    return s + i


def divmods(n):
    q, r = divmod(n, 3)
    return q * 10 + r + pow(n, 2) + n**3 + min(n, 2, 5) - max(n, 1)


def logic_values(n):
    return (n or 7) + (n and 3)


@pytest.mark.parametrize(
    "function",
    [collatz, types_change, with_break, with_continue, chained, tuples, factorial, parity, keywords, star_args, inner, lambdas, walrus,
     enumerated, nested_loops, divmods, logic_values],
    ids=lambda f: f.__name__,
)
def test_control_flow_and_calls(xp, function):
    got, expected = run(xp, function, INTS)
    assert_allclose(got, expected, rtol=1e-14)


MATH = """
    sqrt exp log1p sin cos tan atan sinh tanh asinh fabs floor ceil trunc erf gamma degrees
""".split()


@pytest.mark.parametrize("name", MATH)
def test_math_functions(xp, name):
    f = getattr(math, name)
    got, expected = run(xp, lambda x: f(x), np.array([0.1, 0.5, 1.0, 2.5, 4.0]))
    assert_allclose(got, expected, rtol=1e-12)


def numpy_functions(x):
    return np.sqrt(x) + np.maximum(x, 2) * np.sin(x) - np.floor(x) + np.abs(x - 2) + np.sign(x - 1) + np.hypot(x, 1.0)


def test_numpy_functions(xp):
    got, expected = run(xp, numpy_functions, np.array([0.1, 0.5, 1.0, 2.5, 4.0]))
    assert_allclose(got, expected, rtol=1e-13)


def test_rounding(xp):
    got, expected = run(xp, lambda x: round(x) + round(x, 1) + int(x), np.array([-2.5, -0.45, 0.5, 1.55, 2.5, 7.25]))
    assert_allclose(got, expected)


# ---- arrays in kernels ------------------------------------------------------------------------------------------------------------------


@cuda.jit
def views(a, out):
    row = a[1]
    out[0] = row[2]
    out[1] = a[-1, -2]
    out[2] = a[:, 1].sum()
    out[3] = a[1:, ::2].max()
    out[4] = a.T[2, 0]
    out[5] = (a[0] * 2 + a[1]).sum()
    out[6] = a[0, 1:3].mean()
    out[7] = np.sum(a) + a.min() + a.argmax()
    out[8] = len(a) * 10 + a.ndim
    out[9:12] = a[0, :3] + 1
    out[12:] = 5


def test_views_and_small_array_expressions(xp):
    host = np.arange(12.0).reshape(3, 4) - 4
    out, expected = xp.zeros(15), np.zeros(15)
    views[1, 1](xp.asarray(host), out)
    views.py_func(host, expected)
    assert_allclose(out, expected)


@cuda.jit
def local_arrays(a, out):
    t = cuda.local.array((2, 3), bc.float64)
    for i in range(2):
        for j in range(3):
            t[i, j] = a[j] * (i + 1)
    t[0] += 1
    t[1, :2] = t[0, 1:]
    out[0] = t.sum()
    out[1] = t[1, 1]


def test_local_arrays(xp):
    out = xp.zeros(2)
    local_arrays[1, 1](xp.asarray([1.0, 2.0, 3.0]), out)
    assert_array_equal(out, [2 + 3 + 4 + 3 + 4 + 6, 4])


COEFFICIENTS = np.array([1.0, 0.5, -0.25])


@cuda.jit
def polynomial(x, out):
    i = cuda.grid(1)
    c = cuda.const.array_like(COEFFICIENTS)
    s = 0.0
    for k in range(len(COEFFICIENTS)):
        s += c[k] * x[i] ** k
    out[i] = s


def test_constant_arrays(xp):
    x = np.linspace(-1, 1, 8)
    out = xp.zeros(8)
    polynomial[1, 8](xp.asarray(x), out)
    assert_allclose(out, 1 + 0.5 * x - 0.25 * x**2)


Point = namedtuple("Point", "x y")


@dataclass
class Particle:
    mass: float
    charge: np.int32


@cuda.jit
def structures(p, q, particle, out):
    out[0] = p.x + p[1] * 2
    x, y = q
    out[1] = x + y
    out[2] = particle.mass * particle.charge
    r = Point(3, y)
    out[3] = r.x * r.y


def test_tuples_and_dataclasses_are_arguments(xp):
    out = xp.zeros(4)
    structures[1, 1](Point(1, 2.5), (3, 4), Particle(2.0, 3), out)
    assert_array_equal(out, [6, 7, 6, 12])


@cuda.jit
def optional_argument(a, b):
    i = cuda.grid(1)
    if b is None:
        a[i] += 1
    else:
        a[i] += b[i]


def test_none_picks_a_branch_when_it_is_compiled(xp):
    a = xp.zeros(4)
    optional_argument[1, 4](a, None)
    optional_argument[1, 4](a, xp.arange(4.0))
    assert_array_equal(a, [1, 2, 3, 4])


def test_closures_are_constants(xp):
    factor, shape = 3, (2, 2)

    @cuda.jit
    def kernel(a):
        s = cuda.local.array(shape, np.int64)
        s[1, 1] = factor
        a[cuda.grid(1)] *= s[1, 1]

    a = xp.ones(4)
    kernel[1, 4](a)
    assert_array_equal(a, np.full(4, 3))


@cuda.jit
def raises(a):
    i = cuda.grid(1)
    if a[i] == 3:
        raise ValueError("three is not allowed")
    assert a[i] < 10, "too big"


def test_exceptions_come_back_with_their_place(xp):
    raises[1, 2](xp.asarray([0, 1]))
    with pytest.raises(
        ValueError, match=r"three is not allowed\n.*test_kernels.py:\d+, in raises, by thread \(1, 0, 0\) of block \(0, 0, 0\)"
    ):
        raises[1, 2](xp.asarray([0, 3]))
    with pytest.raises(AssertionError, match="too big"):
        raises[1, 2](xp.asarray([0, 30]))


@cuda.jit("void(float64[:], int64)")
def with_signature(a, k):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += k


def test_signatures_convert_arguments(xp):
    a = xp.zeros(4)
    with_signature[1, 4](a, np.int32(3))
    with_signature.forall(4)(a, 1)
    assert_array_equal(a, np.full(4, 4))
    with pytest.raises(TypeError, match="no signature fits"):
        with_signature[1, 4](xp.zeros(4, "i4"), 1)


@cuda.jit(["(float64[:], float32, float64)", "(float64[:], float64, float32)", "(float64[:], int64, int64)", "(float64[:], int16, int16)"])
def with_signatures(a, x, y):
    a[0] = x + y


@pytest.mark.parametrize(("declared", "kind"), [
    (["float32(float32)", "float64(float64)"], float), (["complex64(complex64)", "complex128(complex128)"], complex),
    (["int64(int64)", "float32(float32)"], int), (["int32(int32)", "float32(float32)"], int),
])  # fmt: skip
def test_the_nearest_signature_of_a_narrow_number(declared, kind):
    assert type(bc.jit(declared)(lambda a: a)(np.uint16(1))) is kind


def test_of_two_signatures_that_fit_as_well_none_is_taken(xp):
    a = xp.zeros(1)
    with pytest.raises(TypeError, match=r"ambiguous(.|\n)*float32, float64(.|\n)*float64, float32"):
        with_signatures[1, 1](a, 1.0, 2.0)
    with_signatures[1, 1](a, np.float32(1), 1 + 2.0**-30)
    assert a[0] == 2 + 2.0**-30
    with_signatures[1, 1](a, np.int8(100), np.int8(100))  # to the nearest of the same kind
    assert a[0] == 200
    with pytest.raises(TypeError, match="ambiguous"):
        bc.njit(["(float32, float64)", "(float64, float32)"])(lambda x, y: x + y)(1.0, 2.0)


def test_forall_covers_every_task(xp):
    a, out = xp.arange(1000.0), xp.zeros(1000)
    vector_add.forall(1000)(a, a, out)
    assert_array_equal(out, 2 * np.arange(1000))


def test_sources_can_be_looked_at(xp):
    vector_add[1, 32](xp.ones(3), xp.ones(3), xp.zeros(3))
    text = vector_add.inspect_source()[("array(float64, 1d, C)",) * 3]
    assert "u_out(u_i) = u_a(u_i) + u_b(u_i);" in text and "# " not in text


def test_a_kernel_is_not_called_without_its_grid():
    with pytest.raises(ValueError, match="blocks, threads"):
        vector_add(1, 2, 3)
    with pytest.raises(RuntimeError, match="inside a function"):
        cuda.grid(1)


def test_an_edited_callee_is_compiled_anew(xp, tmp_path, monkeypatch):
    import importlib
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    results = []
    for factor in (2, 3):
        (tmp_path / "edited_callee.py").write_text(f"def f(x):\n    return x * {factor}\n")
        sys.modules.pop("edited_callee", None)
        importlib.invalidate_caches()
        import edited_callee

        f = edited_callee.f

        @cuda.jit
        def kernel(a):
            a[0] = f(a[0])

        a = xp.ones(1)
        kernel[1, 1](a)
        results.append(float(a[0]))
        (tmp_path / "__pycache__").exists() and [p.unlink() for p in (tmp_path / "__pycache__").iterdir()]
    assert results == [2, 3]


PARTICLES = np.dtype([("mass", "f4"), ("charge", "i4"), ("place", "f8")], align=True)
PACKED = np.dtype([("flag", "i1"), ("value", "f8"), ("count", "i2")])


@cuda.jit
def records(a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i].mass = a[i]["mass"] * a[i].charge
        a["place"][i] += 0.5
        b[i].value += b[i].flag
        b[i]["count"] = b.size


def test_structured_dtypes_are_records(xp):
    a, b = np.zeros(5, PARTICLES), np.ones(5, PACKED)
    a["mass"], a["charge"], b["flag"] = np.arange(5), 3, -2
    with np.errstate() if xp.default_device().type == "cpu" else pytest.warns(bc.exceptions.PerformanceWarning):
        records[1, 8](a, b)
    assert_array_equal(a["mass"], np.arange(5) * 3)
    assert_array_equal(a["place"], np.full(5, 0.5))
    assert_array_equal(b["value"], np.full(5, -1))
    assert_array_equal(b["count"], np.full(5, 5))


@cuda.jit(boundscheck=True)
def checked(a, out):
    i = cuda.grid(1)
    out[i] = a[i + 2]


def test_checked_kernels_name_the_access(xp):
    checked[1, 4](xp.arange(6), xp.zeros(4))
    with pytest.raises(IndexError, match=r"axis 0 of a\n.*test_kernels.py:\d+, in checked, by thread \([45], 0, 0\)"):
        checked[1, 6](xp.arange(6), xp.zeros(6))


@cuda.jit
def arrays_of_a_tuple(pair, out):
    i = cuda.grid(1)
    for a in pair:
        out[i] += a[i]


def test_tuples_of_arrays(xp):
    out = xp.zeros(4)
    arrays_of_a_tuple[1, 4]((xp.arange(4.0), xp.ones(4)), out)
    assert_array_equal(out, [1, 2, 3, 4])


def test_functions_are_arguments_of_device_functions(xp):
    @cuda.jit(device=True)
    def apply(f, x):
        return f(x) + 1

    @cuda.jit(device=True)
    def square(x):
        return x * x

    @cuda.jit
    def kernel(out):
        out[0] = apply(square, 3) + apply(math.sqrt, 16.0) + apply(lambda x: x + 2, 1)

    out = xp.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 10 + 5 + 4


def test_printing_from_a_kernel(capfd, xp):
    @cuda.jit
    def kernel(x):
        print("x is", x, 2.5, x > 1, sep="|")

    kernel[1, 1](3)
    xp.synchronize()
    if xp.default_device().type == "cpu":
        import ctypes

        ctypes.CDLL(None).fflush(None)
        assert capfd.readouterr().out == "x is|3|2.5|True\n"


@pytest.mark.parametrize("n", [1, 31, 256, 257, 5000, 300_000])
def test_reduce_by_a_function(xp, n):
    total = cuda.reduce(lambda a, b: a + b)
    largest = cuda.Reduce(lambda a, b: a if a > b else b)
    values = np.random.default_rng(n).integers(-1000, 1000, n)
    assert total(xp.asarray(values)) == values.sum()
    assert largest(xp.asarray(values), init=-(10**6)) == values.max()
    out = xp.zeros(1, "i8")
    assert total(xp.asarray(values), size=(n + 1) // 2, res=out, init=7) is None
    assert out[0] == values[: (n + 1) // 2].sum() + 7


def test_types_are_names_of_cuda(xp):
    @cuda.jit(cuda.void(cuda.float32[:], cuda.int64))
    def kernel(a, k):
        s = cuda.local.array(2, cuda.float64)
        s[0] = k
        a[0] = cuda.float32(s[0])

    a = xp.zeros(1, "f4")
    kernel[1, 1](a, 3)
    assert a[0] == 3
