"""Numbers and elements of arrays in functions under `jit`: their arithmetic, their comparisons, and loops over them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit
from support import function_of_text


def test_numpy_functions_written_in_python():
    def plain(a, m):
        return (
            np.percentile(a, 30), np.quantile(a, np.array([0.1, 0.9])), np.histogram(a, 3)[0], np.interp(1.5, np.arange(4.0), a[:4]),
            np.digitize(a, np.array([1.0, 2.0])), np.cross(a[:3], a[1:4]), np.kron(m, m), np.tril(m), np.diag(m), np.delete(a, 1),
            np.convolve(a, a[:2]), np.cov(m), np.isin(a, a[:2]), np.rot90(m), np.trapezoid(a), np.roll(a, 2), np.nanmedian(a),
            np.diff(a, n=2), np.average(a, weights=a), m[[1, 0]], a.tolist(), np.linalg.norm(m, 1), np.tile(a, 2), np.gradient(a),
            np.bincount(np.array([0, 2, 2]), weights=a[:3]), np.nonzero(m > 2)[1], np.flip(m, 0), math.comb(5, 2), math.factorial(5),
            math.isqrt(a.size * 7),
        )  # fmt: skip

    a, m = np.array([3.0, 1.0, 2.5, 0.5, 4.0]), np.array([[4.0, 1.0], [1.0, 3.0]])
    for mine, theirs in zip(njit(plain)(a, m), plain(a, m), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12)


def test_decompositions():
    @njit
    def f(m):
        w, v = np.linalg.eigh(m @ m.T)
        q, r = np.linalg.qr(m)
        u, s, t = np.linalg.svd(m)
        x, left, rank, _ = np.linalg.lstsq(m, m[:, 0])
        return w, v, q, r, u, s, t, np.linalg.cholesky(m @ m.T + np.eye(3)), np.linalg.pinv(m), rank, x, np.linalg.eigvals(m)

    m = np.random.default_rng(1).random((3, 3))
    w, v, q, r, u, s, t, c, p, rank, x, e = f(m)
    assert_allclose(w, np.linalg.eigvalsh(m @ m.T), atol=1e-12)
    assert_allclose(v * w @ v.T, m @ m.T, atol=1e-12)
    assert_allclose(q, np.linalg.qr(m)[0], atol=1e-12)
    assert_allclose(q @ r, m, atol=1e-12)
    assert_allclose(s, np.linalg.svd(m)[1], atol=1e-12)
    assert_allclose(u * s @ t, m, atol=1e-12)
    assert_allclose(c, np.linalg.cholesky(m @ m.T + np.eye(3)), atol=1e-12)
    assert_allclose(p, np.linalg.pinv(m), atol=1e-10)
    assert rank == 3
    assert_allclose(x, [1, 0, 0], atol=1e-10)
    assert_allclose(sorted(e, key=abs), sorted(np.linalg.eigvals(m), key=abs), atol=1e-10)


def test_walks_over_indices():
    def plain(a):
        s = 0.0
        for (i, j), x in np.ndenumerate(a):
            s += x * (i + 1) * (j + 2)
        for i, j in np.ndindex(2, 3):
            s += a[i, j]
        for x in a.flat:
            s += x
        return s, np.iinfo(np.int32).max, np.finfo(np.float64).eps, np.stack((a, a), axis=-1).shape, ~(a > 2)

    a = np.arange(6.0).reshape(2, 3)
    for mine, theirs in zip(njit(plain)(a), plain(a), strict=True):
        assert_array_equal(mine, theirs)


def test_where_with_integer_literals():
    a, x = np.array([3, 1, 2]), np.array([1.5, 0.5, 2.5], np.float32)
    assert_array_equal(njit(lambda a: np.where(a > 1, a, 0))(a), [3, 0, 2])
    assert_array_equal(njit(lambda a: np.where(a > 1, 0, a))(a.astype(np.int32)), [0, 1, 0])
    assert_array_equal(njit(lambda x, a: np.where(x > 1, a, 0))(x, a), [3, 0, 2])
    assert njit(lambda t, b: np.where(t, b, 0))(True, 3) == 3


def test_complex_numbers_are_true_or_false():
    f = njit(lambda z: (bool(z), np.bool_(z), not z, 1 if z else 2))
    assert [f(1j), f(0j)] == [(True, True, False, 1), (False, False, True, 2)]


def test_hashes_of_numbers_are_pythons():
    f = njit(lambda x: hash(x))
    values = [0, 1, -1, -2, 2**61 - 1, 2**61, -(2**61), -(2**63), True]
    values += [2.5, -1.0, 0.1, -7e300, 5e-324, 1e-310, math.inf, -math.inf, 1e17, 123456.75]
    assert [f(v) for v in values] == [hash(v) for v in values]
    assert f(np.uint64(2**63 + 5)) == hash(2**63 + 5)
    assert f(np.float32(0.1)) == hash(float(np.float32(0.1)))


def test_dtypes_by_letter_and_their_type():
    assert njit(lambda x: np.dtype("f").type(x))(0.1) == np.float32(0.1)
    g = bc.vectorize(lambda x: np.dtype("b").type(x))
    assert int(g(np.array([300]))[0]) == 44


def test_the_length_of_an_array_expression():
    @njit
    def f(a):
        return len(a * 2), len(a // -7), len(a[1:] + 1)

    assert f(np.arange(5)) == (5, 5, 4)


def test_complex_numbers_divide_as_pythons():
    def f(a, b):
        return a / b, a / (2 + 2j)

    assert njit(f)(1 + 2j, 2) == f(1 + 2j, 2)
    for b in (0, 0.0, 0j):
        with pytest.raises(ZeroDivisionError, match="complex division by zero"):
            njit(f)(1 + 2j, b)


def test_full_takes_an_array_without_dimensions():
    assert_array_equal(njit(lambda x: np.full(3, x))(np.array(2)), [2, 2, 2])
    assert_array_equal(njit(lambda x: np.full((1, 2), x, np.float32))(np.array(2.5)), [[2.5, 2.5]])
    assert_array_equal(njit(lambda x: np.full((2, 3), x))(np.arange(3)), [[0, 1, 2], [0, 1, 2]])


def test_chained_comparisons_stop_where_one_fails():
    def chained(n, xs, log):
        def noted(v):
            log.append(v)
            return v

        first = -3 < n < xs[n] if n < 3 else n < -3 <= xs[n]
        second = noted(n) < noted(2) < noted(1) < noted(0)
        third = 0 <= n < len(xs) and 0 < xs[n] <= 3 < noted(7)
        if n > 5 > xs[n]:
            log.append(-1)
        return first, second, third, 1 < 2 < n, 2 < 1 < xs[n + 100]

    for n in (0, 1, 2, 5):
        ours, theirs = bc.typed.List([-7]), [-7]
        assert njit(chained)(n, [1, 2, 3], ours) == chained(n, [1, 2, 3], theirs)
        assert list(ours) == theirs


def _stored(c):
    numbers = [1, 2, 3]
    numbers[c] = 5
    return numbers


@pytest.mark.parametrize(
    "function",
    [
        lambda c: (1, 2, 3)[c],
        lambda c: [1, 2, 3][c],
        _stored,
        lambda c: [1, 2, 3].pop(c),
        lambda c: [1, 2, 3].insert(c, 1),
        lambda c: [1, 2].index(2, c),
        lambda c: "abc".center(c),
        lambda c: "abc".zfill(c),
        lambda c: "a b".split(" ", c),
        lambda c: int("12", c),
        lambda c: chr(c),
        lambda c: np.eye(c),
        lambda c: np.identity(c),
        lambda c: np.random.seed(c),
    ],
)
@pytest.mark.parametrize("number", [2.0, 1e9, -7.5])
def test_floats_are_no_indices_and_no_counts(function, number):
    with pytest.raises((TypeError, ValueError)):
        function(number)
    with pytest.raises(bc.core.errors.TypingError, match="must be an integer"):
        njit(function)(number)


WHOLE_NUMBERS = ["1_", "1__0", "_1", "1_0", "0x10", "-0X1f", "0b11", "0o17", "012", "00", "0_0", "0_1", "+5", "- 5", "-", "", "  7 ", "7a"]


WHOLE_NUMBERS += ["z", "0x", "0x_1f", "0x1__f", "9223372036854775807", "-9223372036854775808", "0b", "1 2", "\n3\t", "0b2"]


def test_texts_are_read_as_whole_numbers_in_any_base():
    @njit
    def compiled(text, base):
        return int(text, base)

    def outcome(f, *args):
        try:
            return f(*args)
        except ValueError:
            return "ValueError"

    for text in WHOLE_NUMBERS:
        for base in (0, 2, 8, 10, 36, 16, 1, 37, -1):
            want = outcome(int, text, base)
            if isinstance(want, str) or abs(want) < 2**63:
                assert outcome(compiled, text, base) == want, (text, base)
    assert compiled("-9223372036854775808", 10) == -(2**63)


@pytest.mark.parametrize("value", [2.5, 3, np.int8(2), np.float32(2.0)])
def test_ranges_to_an_array_without_dimensions(value):
    number = np.array(value)
    for function in (lambda c: np.arange(c), lambda c: np.arange(1, c), lambda c: np.arange(0, 7, c), lambda c: np.arange(c, 7)):
        got, want = njit(function)(number), function(number)
        assert_array_equal(got, want)
        assert got.dtype.kind == want.dtype.kind


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"])
def test_negatives_and_complements_wrap_in_their_own_width(dtype):
    """As NumPy's scalars and Numba's compiled functions have it."""

    @njit
    def of_elements(a, i):
        x = a[i]
        return -x, ~x, -x == a[i], ~x // 7, float(-x)

    @cuda.jit
    def of_threads(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[0, i] = -a[i]
            out[1, i] = ~a[i]

    info = np.iinfo(dtype)
    a = np.array([info.min, info.max, 5, 0, 1, info.max // 3], dtype)
    out = bc.zeros((2, a.size))
    of_threads[1, 32](bc.asarray(a), out)
    with np.errstate(over="ignore"):
        for i, x in enumerate(a):
            got = of_elements(a, i)
            assert got == (int(-x), int(~x), bool(-x == x), int(~x) // 7, float(-x)), (dtype, x)
            assert out.get()[:, i].tolist() == [float(-x), float(~x)]


def _remainders(xs):
    zero, counts, digits, bits = 0, [0] * 7, 0, 0
    for x in xs:
        if x % 3 == 0:
            continue
        if x % 4 != 0 and 0 != x % 10:
            zero += x
        held = x % 5
        if held == 0:
            zero -= 1
        counts[x % 7] += 1
        counts[-(x % 7) - 1] += 2
    for x in xs:
        n = x
        while n > 0:
            digits += n % 10
            if n % 2 == 0:
                bits += 1
            n //= 10
        n = abs(x)
        while n:
            n &= n - 1
            bits += 1
        n = x
        while n >= 1:
            n >>= 2
            bits += 1
    return zero, counts, digits, bits


def test_remainders_that_are_zero_and_loops_over_digits_and_bits():
    xs = np.array([*range(-40, 40), 2**62 + 1, -(2**62), 999999999999], np.int64)
    assert njit(_remainders)(xs) == _remainders([int(x) for x in xs])


@pytest.mark.parametrize(
    ("loop", "asks"),
    [
        ("while n > 0:\n        n //= 10", False),
        ("while n != 0:\n        n &= n - 1", False),
        ("while n:\n        n //= 10", True),  # ends at -1 from below zero
        ("while n != 5:\n        n &= n - 1", True),  # stays at 0
        ("while n > 0:\n        n //= 1", True),
        ("while n > 0:\n        n >>= k", True),
        ("while n > 0:\n        if n % 3 == 0:\n            continue\n        n //= 10", True),
        ("while n > 0:\n        n //= 2\n        n += 1", True),
        ("while n > 0:\n        m = n\n        m //= 2", True),
        ("while n > 0:\n        if n > 5:\n            n //= 2", True),
        ("while n >= 0:\n        n >>= 1", True),
    ],
)
def test_loops_of_few_turns_do_not_ask_whether_to_go_on(loop, asks):
    f = function_of_text(f"def f(n, k):\n    {loop}\n    return n\n")
    compiled = njit("int64(int64, int64)")(f)
    assert ("bc_poll()" in next(iter(compiled.inspect_source().values()))) == asks


def test_loops_with_powers_ask_between_strips_of_turns():
    @njit
    def f(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i] += a[i, j] ** 2 + math.erf(a[i, j])
        return out

    f(np.ones((3, 4)), np.zeros(3))
    assert "py::strip" in next(iter(f.inspect_source().values()))


def test_sums_of_columns_are_added_in_their_order():
    def product(a, b):
        c = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s
        return c

    rng = np.random.default_rng(0)
    for n in (1, 7, 33, 70):
        a, b = rng.normal(size=(5, n)), rng.normal(size=(n, 5))
        np.testing.assert_array_equal(njit(product)(a, b), product(a, b))


def _cases_of_numbers(g):
    out = np.zeros_like(g)
    chosen = np.zeros_like(g)
    total, last = 0, 0
    for i in range(1, g.shape[0] - 1):
        for j in range(1, g.shape[1] - 1):
            c = g[i - 1, j] + g[i + 1, j] + g[i, j - 1] + g[i, j + 1]
            if c == 3 or (c == 2 and g[i, j] == 1):
                out[i, j] = 1
        for j in range(g.shape[1]):
            c = g[i, j] + g[i - 1, j]
            if c == 1:
                v = 7
            elif c == 2 or c == 4:
                v = c + 3
            elif c == 3:
                v = 9
                total += 1
            else:
                v = c
                last = j
            chosen[i, j] = v
    return out, chosen, total, last


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int16"])
def test_comparisons_with_several_values_in_loops(dtype):
    g = np.random.default_rng(0).integers(0, 4, (40, 53)).astype(dtype)
    ours, theirs = njit(_cases_of_numbers)(g), _cases_of_numbers(g)
    assert_array_equal(ours[0], theirs[0])
    assert_array_equal(ours[1], theirs[1])
    assert ours[2:] == theirs[2:]


def test_scans_for_the_least_and_the_largest():
    def f(a):
        low = high = a[0]
        for x in a:
            if x < low:
                low = x
            if x > high:
                high = x
        return low, high

    rng = np.random.default_rng(0)
    for a in (rng.normal(size=999), np.array([1.0, np.nan, -2.0, np.inf]), np.array([np.nan, 1.0, 2.0]), np.array([0.0, -0.0])):
        assert_array_equal(njit(f)(a), f(a))


@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("target", [np.int8, np.int32, np.int64, np.uint32, np.uint64])
def test_loops_convert_numbers_that_fit_no_integer_as_the_processor_does(source, target):
    """One instruction converts; what it gives for NaN and numbers out of range is the lowest number of the registers' type."""

    @njit
    def loop(a, out):
        for i in range(a.size):
            out[i] = target(a[i])

    @njit
    def alone(x):
        return target(x)

    limits = [s * 2.0**k + d for k in (7, 31, 32, 53, 62, 63, 64, 80) for s in (-1, 1) for d in (-1.5, -1, -0.5, 0, 0.5, 1)]
    a = np.array([*limits, np.nan, np.inf, -np.inf, 0.0, -0.0, 0.75, -0.75] * 3, source)
    out = np.empty(a.size, target)
    loop(a, out)
    with np.errstate(invalid="ignore"):
        expected = a.astype(target)
    inside = np.abs(a) < 2.0**63 if target is np.uint64 else np.abs(a) < 2.0**31  # beyond, NumPy's loops and scalars differ
    if target in (np.int64, np.int32):
        low = np.iinfo(target).min
        inside = np.full(a.size, True)
        fits = (a > low - 1.0) & (a < -float(low)) if target is np.int32 else (a >= low) & (a < -float(low))
        expected = np.where(fits, expected, low)
    assert_array_equal(out[inside], expected[inside])
    assert_array_equal(out, [alone(x) for x in a])


def test_sums_of_rows_of_every_length():
    @njit
    def rows(a):
        out = np.empty(a.shape[0], a.dtype)
        for i in range(a.shape[0]):
            out[i] = a[i].sum()
        return out

    @njit
    def columns(a):
        out = np.empty(a.shape[1], a.dtype)
        for i in range(a.shape[1]):
            out[i] = a[:, i].sum()
        return out

    rng = np.random.default_rng(3)
    for n in (0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 3000):
        whole = rng.integers(-(2**40), 2**40, (3, n))
        assert_array_equal(rows(whole), whole.sum(1))
        assert_array_equal(columns(np.ascontiguousarray(whole.T)), whole.sum(1))
        for dtype in (np.float32, np.float64):
            a = (rng.random((3, n)) - 0.3).astype(dtype)
            assert_allclose(rows(a), a.sum(1), rtol=1e-5 if dtype == np.float32 else 1e-13)
            assert_array_equal(columns(np.ascontiguousarray(a.T)), rows(a))
    a = np.array([[-0.0, -0.0]])
    assert_array_equal(np.signbit(rows(a)), np.signbit(a.sum(1)))


def test_indices_below_loop_variables_count_from_the_end_where_they_are_negative():
    """i - 1 needs no test for a negative index where i begins at 1, and one everywhere else."""

    def walk(a, n, k):
        s = 0.0
        for i in range(1, n):
            s = s * 0.5 + a[i - 1] + 3 * a[i - 2] + 5 * a[i - 3] + 7 * a[i + -1] + a[(i - 1) - 1]
        for i in range(3, n):
            s = s * 0.5 + a[i - 3] - a[i - 4] + a[i + 1 - 4] + a[i + 1 - 5]
        for i in range(2, n, 2):
            j = i - 2
            s += a[j] - a[j - 1]
        for i in range(n - 1, 0, -1):
            s = s * 0.5 + a[i - 1] - a[i - 2]
        for i in range(n - 1, -1, -1):
            s = s * 0.5 + a[i - 1]
        for i in range(n - 1, 1, -2):
            s += a[i - 2] - a[i - 3]
        for i in range(k, n):
            s += a[i - 1]
        for i in range(n):
            for j in range(i + 1, n):
                s = s * 0.5 + a[j - 1] - a[j - 2]
        for i in range(2, n):
            s += a[np.int8(i) - 3] - a[np.uint8(i) - 2]
            i = i - 2
            s += a[i - 1]
        for i in range(3, n):
            at = i if i % 2 else i - 3
            s += a[at - 1]
            s += a[min(i, 1) - 2] - a[max(i - 3, 0) - 1] + a[(i > 0) - 2]
        return s

    a = np.random.default_rng(1).random(9)
    for k in (0, 1, 2, -1):
        assert njit(walk)(a, 8, k) == pytest.approx(walk(a, 8, k), rel=1e-14)

    @njit(parallel=True)
    def side_by_side(a, out):
        for i in bc.prange(1, a.size):
            out[i] = a[i - 1] + a[i - 2]
        return out

    assert_allclose(side_by_side(a, np.zeros(9))[1:], a[:-1] + np.roll(a, 1)[:-1])


def called_by_name(f):
    """The functions that compiled code calls by name."""
    lines = [line.split() for text in f.inspect_asm().values() for line in text.splitlines()]
    return {words[1].removesuffix("@PLT") for words in lines if len(words) > 1 and words[0] == "callq"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "of_c"),
    [(np.exp, "exp"), (np.exp2, "exp2"), (np.expm1, "expm1"), (np.log, "log"), (np.log2, "log2"), (np.log1p, "log1p"),
     (np.arcsin, "asin"), (np.arccos, "acos"), (np.arctan, "atan")],
)  # fmt: skip
def test_functions_of_one_value_after_the_other(function, of_c, dtype):
    # Where each value needs the one before, the C library computes it; the values must be as near as those of vectors.
    half = dtype(0.5)

    @njit
    def f(start, r):
        x = start[0]
        for i in range(r.size):
            x = function(half / (half + np.abs(x)))
            r[i] = x

    start, made = np.array([0.3], dtype), np.empty(30, dtype)
    f(start, made)
    before = half / (half + np.abs(np.concatenate([start, made[:-1]])))
    exact = function(before.astype(np.longdouble))
    assert np.all(np.abs(made - exact) <= np.spacing(np.abs(made)))
    assert of_c + "f" * (dtype is np.float32) in called_by_name(f)


@pytest.mark.parametrize(
    "function", [np.exp, np.log, lambda x: np.arctan2(x, 1.5), lambda x: np.power(x, 1.3)], ids=["exp", "log", "arctan2", "power"]
)
def test_a_vectorized_loop_computes_elements_alike_wherever_they_are(function):
    inner = function if isinstance(function, np.ufunc) else njit(function)

    @njit
    def f(a):
        r = np.empty(a.size)
        for i in range(a.size):
            r[i] = inner(a[i])
        return r

    a = np.random.default_rng(7).random(200) * 5 + 0.01
    whole = f(a)
    assert_allclose(whole, function(a), rtol=5e-16)
    for begin in range(0, 190, 7):
        for length in (1, 2, 3, 5, 9):
            assert_array_equal(f(a[begin : begin + length]), whole[begin : begin + length])
    assert not {"exp", "log", "atan2", "pow"} & called_by_name(f)


@pytest.mark.parametrize("exponent", [0.5, 1.5, -1.5, 3, 2.0, 0.25])
def test_powers_that_are_roots_or_products(exponent):
    @njit
    def one_after_the_other(a):
        r = np.empty_like(a)
        for i in range(a.size):
            r[i] = a[i] ** exponent
            if r[i] == 7.125:
                break
        return r

    @njit
    def all_at_once(a):
        return np.power(a, exponent)

    a = np.array([-np.inf, -0.0, 0.0, 5e-324, 1e-300, 0.3, 1.0, 2.0, 1e300, np.inf, np.nan, 4.0])
    with np.errstate(all="ignore"):
        exact = np.float_power(a, exponent)
    for f in (one_after_the_other, all_at_once):
        assert_allclose(f(a), exact, rtol=5e-16)
        assert_array_equal(np.signbit(f(a[:10])), np.signbit(exact[:10]))


def test_sums_of_unsigned_integers_stay_integers():
    def total(a):
        s = 0
        for x in a:
            s += x & 3
        t = 0
        k = 0
        while k < len(a):
            t = t + a[k]
            k += 1
        return s, t, s - 100

    for dtype in ("u1", "u2", "u4", "u8"):
        a = np.arange(1, 9).astype(dtype)
        got = njit(total)(a)
        assert got == (12, 36, -88) and all(type(v) is int for v in got)


def test_bits_are_counted_with_typed_ones():
    def bits(a):
        s = 0
        for x in a:
            while x:
                x &= x - np.uint64(1)
                s += 1
        return s

    a = np.array([0, 1, 255, 2**63, 2**64 - 1], np.uint64)
    assert njit(bits)(a) == 1 + 8 + 1 + 64


def test_constants_of_numpys_narrow_integers_wrap_around():
    @njit
    def f():
        return np.uint8(np.uint8(200) + np.int8(100)), np.int8(np.int8(100) + np.int8(100)), np.int16(np.uint16(65535) * 1)

    assert f() == (44, -56, -1)
    # NumPy's classes raise for such numbers; of variables and in kernels they wrap, as Numba's do everywhere.
    assert njit(lambda: (np.uint8(300), np.int8(200), np.uint32(-1), np.uint64(-1), np.int32(2**31), np.uint8(300) + 1))() == (
        44, -56, 2**32 - 1, 2**64 - 1, -(2**31), 45)  # fmt: skip
    assert njit(lambda: (np.float32(1e300), np.float32(-1e39), np.float16(1e300)))() == (math.inf, -math.inf, math.inf)
    assert njit(lambda: (abs(np.int8(-128)), abs(-128), abs(np.int32(-5))))() == (-128, 128, 5)


K = np.uint64(3)


def test_constants_of_uint64_wrap_as_variables_do():
    def f(x):
        return x - 7, x * 3, x + 5, x // 2, (x - 7) >> 1, (x - 7) // 3, x % 2, x ^ 9

    with np.errstate(over="ignore"):
        expected = tuple(int(v) for v in f(K))
    assert njit(f)(K) == expected
    assert njit(lambda: f(K))() == expected
    assert njit(lambda: f(np.uint64(3)))() == expected
    assert njit(lambda: (np.uint64(3) - 7, K - 7, (K - 7) // 3))() == (expected[0], expected[0], expected[5])


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan, 3.0, np.float32(np.inf), complex(np.inf, 1)])
def test_variance_of_one_number(x):
    with np.errstate(invalid="ignore"):
        assert_array_equal(njit(lambda x: (np.var(x), np.std(x)))(x), (np.var(x), np.std(x)))


def test_sum_of_floats_rounds_in_order():
    x = [k + k / 10.0 for k in range(1000)]
    y = np.array(x)[::2].astype(np.float32)
    total, from_start, single = 0.0, 0.1, np.float32(0)
    for v in x:
        total += v
        from_start += v
    for v in y:
        single += v
    f = njit(lambda x: sum(x))
    assert f(x) == f(np.array(x)) == njit(lambda n: sum([k + k / 10.0 for k in range(n)]))(1000) == total
    assert njit(lambda x: sum(x, 0.1))(x) == from_start and f(y) == single
    assert f([k * 1j for k in x]) == complex(0, total) and njit(lambda x: sum(x, 1))([1.5, 2.5]) == 5.0
