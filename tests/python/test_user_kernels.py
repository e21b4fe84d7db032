"""Users' kernels in CUDA C++: ElementwiseKernel against NumPy, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, LAYOUTS, base_values, host

SQUARED = ("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_difference")


def equal(ours, numpys) -> None:
    np.testing.assert_array_equal(host(ours), numpys)


def test_the_documented_kernel_broadcasts(xp):
    kernel = xp.ElementwiseKernel(*SQUARED)
    x = np.arange(10, dtype="float32").reshape(2, 5)
    y = np.arange(5, dtype="float32")
    equal(kernel(xp.array(x), xp.array(y)), (x - y) ** 2)
    equal(kernel(xp.array(x), 5), (x - 5) ** 2)


def test_letters_take_the_types_of_arguments(xp):
    kernel = xp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "generic")
    for dtype in ("int32", "int64", "float32", "float64", "complex64"):
        x, y = np.arange(6).astype(dtype), np.arange(6)[::-1].astype(dtype)
        z = kernel(xp.array(x), xp.array(y))
        assert z.dtype == dtype
        equal(z, (x - y) * (x - y))
    assert kernel(xp.arange(3, dtype="float32"), 2.5).dtype == np.float32
    assert kernel(xp.arange(3, dtype="int8"), np.int64(2)).dtype == np.int8
    two = xp.ElementwiseKernel("X x, Y y", "Z z", "z = x + y", "two")
    out = two(xp.arange(3), xp.arange(3) * 0.5, xp.empty(3, "float32"))
    assert out.dtype == np.float32
    equal(out, np.float32([0, 1.5, 3]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_and_layout(xp, dtype, layout):
    kernel = xp.ElementwiseKernel("T x, T y", "T least, bool same", "least = x; same = x == y", "pick")
    base = base_values(dtype)
    a, b = LAYOUTS[layout](base, np), LAYOUTS[layout](base[::-1].copy(), np)
    ours = LAYOUTS[layout](xp.array(base), xp), LAYOUTS[layout](xp.array(base[::-1].copy()), xp)
    least, same = kernel(*ours)
    assert least.dtype == dtype and same.dtype == bool
    equal(least, a)
    equal(same, a == b)


def test_arithmetic_of_small_floats_is_that_of_float(xp):
    kernel = xp.ElementwiseKernel("T x, T y", "T z", "z = x * y + 0.5f; z += x;", "half_math")
    x, y = np.float16([0.1, 1, 3, 700]), np.float16([7, 1.5, 0.25, 700])
    with np.errstate(over="ignore"):
        step = (x.astype("float32") * y + np.float32(0.5)).astype("float16")
        equal(kernel(xp.array(x), xp.array(y)), (step.astype("float32") + x).astype("float16"))
    z = kernel(xp.array(x).astype("bfloat16"), xp.array(y).astype("bfloat16"))
    assert str(z.dtype) == "bfloat16"


def test_loops_conditions_and_several_results(xp):
    kernel = xp.ElementwiseKernel(
        "int64 start",
        "int32 steps, int64 peak",
        """
        long long at = start;   // the Collatz walk
        int count = 0;
        peak = start;
        while (at > 1) {
            at = at % 2 ? 3 * at + 1 : at / 2;
            if (at > peak) peak = at;
            ++count;
        }
        steps = count;
        """,
        "collatz",
    )

    def walk(n):
        count, peak = 0, n
        while n > 1:
            n = 3 * n + 1 if n % 2 else n // 2
            peak = max(peak, n)
            count += 1
        return count, peak

    steps, peak = kernel(xp.arange(100))
    want = [walk(n) for n in range(100)]
    equal(steps, np.int32([w[0] for w in want]))
    equal(peak, np.int64([w[1] for w in want]))


def test_the_index_and_the_size(xp):
    kernel = xp.ElementwiseKernel("T x", "T y", "y = x + i * 10 + n * 1000", "place")
    equal(kernel(xp.zeros((2, 3))), np.arange(6.0).reshape(2, 3) * 10 + 6000)
    equal(kernel(xp.zeros((2, 3)).T), np.arange(6.0).reshape(3, 2) * 10 + 6000)
    inner = xp.ElementwiseKernel("T x", "T y", "y = 0; for (int i = 0; i < 3; ++i) y += x;", "inner")
    equal(inner(xp.arange(4)), np.arange(4) * 3)


def test_outputs_that_are_given_are_written_and_may_be_read(xp):
    add = xp.ElementwiseKernel("T x", "T y", "y += x", "add_to")
    base = xp.ones((4, 6))
    returned = add(xp.arange(3.0), base[1:3, ::2])
    want = np.ones((4, 6))
    want[1:3, ::2] += np.arange(3.0)
    equal(base, want)
    equal(returned, want[1:3, ::2])
    some = xp.ElementwiseKernel("T x", "T y", "if (x > 0) y = x", "positive_only")
    out = xp.full(4, 9.0)
    some(xp.array([-1.0, 2.0, -3.0, 4.0]), out)
    equal(out, [9.0, 2.0, 9.0, 4.0])


def test_an_output_may_be_an_input(xp):
    rotate = xp.ElementwiseKernel("T x, T y", "T u, T v", "u = y; v = -x", "rotate")
    x, y = xp.arange(5.0), xp.arange(5.0) + 10
    rotate(x, y, x, y)
    equal(x, np.arange(5.0) + 10)
    equal(y, -np.arange(5.0))
    shift = xp.ElementwiseKernel("T x", "T y", "y = x", "shift")
    a = xp.arange(8)
    shift(a[:-1], a[1:])
    equal(a, [0, 0, 1, 2, 3, 4, 5, 6])


def test_a_call_fuses_with_array_expressions(xp):
    kernel = xp.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "fused")
    a, b = np.linspace(0, 1, 1000), np.linspace(1, 3, 1000)
    x, y = xp.array(a), xp.array(b)
    z = xp.sqrt(kernel(x * 2, y)) - x
    equal(z, np.sqrt(a * 2 * b + 1) - a)
    np.testing.assert_allclose(float(kernel(x, y).sum()), (a * b + 1).sum(), rtol=1e-13)
    equal(kernel(x, y)[::3][1:5], (a * b + 1)[::3][1:5])
    w = xp.zeros(1000)
    w[10:20] = kernel(x, y)[:10]
    equal(w[10:20], (a * b + 1)[:10])


def test_a_call_in_a_row_program(xp):
    scaled = xp.ElementwiseKernel("T x, T top", "T y", "y = exp(x - top)", "scaled")
    a = np.random.default_rng(0).standard_normal((7, 300))
    x = xp.array(a)
    e = scaled(x, x.max(axis=1, keepdims=True))
    got = host(e / e.sum(axis=1, keepdims=True))
    want = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(got, want / want.sum(1, keepdims=True), rtol=1e-13)


def test_names_of_c_and_cuda_are_those_of_the_arrays(xp):
    """The same bits as the array functions, so that a program may mix both."""
    a = np.linspace(-0.9, 0.9, 501)
    x = xp.array(a)
    pairs = {"sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh",
             "tanh": "tanh", "asinh": "arcsinh", "atanh": "arctanh", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log1p": "log1p",
             "cbrt": "cbrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "fabs": "fabs", "abs": "abs"}
    outs = ", ".join(f"T r_{c}" for c in pairs)
    body = " ".join(f"r_{c} = {c}(x);" for c in pairs)
    for t in ("float64", "float32"):
        v = x.astype(t)
        results = xp.ElementwiseKernel("T x", outs, body, "names")(v)
        for (c, name), got in zip(pairs.items(), results):
            np.testing.assert_array_equal(host(got), host(getattr(xp, name)(v)), err_msg=c)


def test_functions_that_arrays_lack(xp):
    from math import erf, gamma, lgamma

    kernel = xp.ElementwiseKernel(
        "float64 x", "float64 a, float64 b, float64 c, float64 d, float64 e", "a = erf(x); b = tgamma(x); c = lgamma(x); d = rsqrt(x); e = round(x)", "special"
    )
    x = np.linspace(0.1, 5, 50)
    a, b, c, d, e = (host(r) for r in kernel(xp.array(x)))
    np.testing.assert_allclose(a, [erf(v) for v in x], rtol=1e-14)
    np.testing.assert_allclose(b, [gamma(v) for v in x], rtol=1e-13)
    np.testing.assert_allclose(c, [lgamma(v) for v in x], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(d, x**-0.5, rtol=1e-15)
    np.testing.assert_array_equal(e, np.floor(x + 0.5))


def test_complex_numbers_have_the_names_of_thrust(xp):
    kernel = xp.ElementwiseKernel(
        "complex64 z",
        "float32 size, complex64 w",
        "size = z.real() + abs(z) + norm(z); w = z * 2 + thrust::complex<float>(1, 2) * conj(z); w *= 2.0; w = w - 1",
        "complex_math",
    )
    z = np.complex64([1 + 2j, 3 - 1j, 0])
    size, w = kernel(xp.array(z))
    np.testing.assert_allclose(host(size), z.real + abs(z) + abs(z) ** 2, rtol=1e-6)
    np.testing.assert_allclose(host(w), (z * 2 + (1 + 2j) * z.conj()) * 2 - 1, rtol=1e-6)


def test_a_preamble_has_functions_structs_and_constants(xp):
    kernel = xp.ElementwiseKernel(
        "T x",
        "T y",
        "Pair<T> p = {x, T(2)}; y = product(p) + table[i % 3];",
        "with_preamble",
        preamble="""
        template <class U> struct Pair { U first, second; };
        __device__ const int table[3] = {10, 20, 30};
        template <class U> __device__ __forceinline__ U product(Pair<U> p) { return p.first * p.second; }
        """,
    )
    equal(kernel(xp.arange(5)), np.arange(5) * 2 + np.array([10, 20, 30, 10, 20]))


def test_kernels_of_one_name_do_not_meet(xp):
    one = xp.ElementwiseKernel("T x", "T y", "y = helper(x)", "same", preamble="template <class U> __device__ U helper(U x) { return x + 1; }")
    two = xp.ElementwiseKernel("T x", "T y", "y = helper(x)", "same", preamble="template <class U> __device__ U helper(U x) { return x * 10; }")
    x = xp.arange(4)
    equal(two(one(x)) + one(x), (np.arange(4) + 1) * 10 + np.arange(4) + 1)


def test_empty_arrays_and_scalars(xp):
    kernel = xp.ElementwiseKernel("T x, int32 k", "T y", "y = x + k", "tiny")
    assert kernel(xp.empty((0, 3)), 1).shape == (0, 3)
    assert kernel(xp.array(2.0), 3).shape == ()
    assert float(kernel(xp.array(2.0), 3)) == 5.0
    with pytest.raises(ValueError, match="tiny: Loop size is undecided"):
        kernel(2.0, 3)
    assert host(kernel(2.0, 3, size=4)).tolist() == [5.0] * 4


def test_returns_what_is_asked_for(xp):
    x = xp.arange(3)
    assert isinstance(xp.ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)(x), tuple)
    out = xp.empty(3, x.dtype)
    assert xp.ElementwiseKernel("T x", "T y", "y = x", no_return=True)(x, out) is None
    equal(out, [0, 1, 2])
    assert xp.ElementwiseKernel("T x", "T y", "y = x")(x, out) is out


def test_what_a_kernel_tells_about_itself(xp):
    kernel = xp.ElementwiseKernel("T x, float32 y", "T z", "z = x + y", "facts", preamble="// nothing")
    assert kernel.__name__ == kernel.name == "facts"
    assert (kernel.nin, kernel.nout, kernel.nargs) == (2, 1, 3)
    assert kernel.operation == "z = x + y" and kernel.preamble == "// nothing" and kernel.reduce_dims
    with pytest.raises(RuntimeError, match="facts"):
        kernel.cached_code
    kernel(xp.arange(3.0), 1)
    assert "z = x + y" in kernel.cached_code
    kernel(xp.arange(3), 1)
    assert len(kernel.cached_codes) == 2
    assert "facts" in repr(kernel)


def test_errors_name_the_kernel_and_the_parameter(xp):
    kernel = xp.ElementwiseKernel(*SQUARED)
    with pytest.raises(TypeError, match="squared_difference: wrong number of arguments: expected 2 or 3 .*got 1"):
        kernel(xp.arange(3))
    with pytest.raises(TypeError, match="squared_difference: type is mismatched: expected float32 for 'x', got int64"):
        kernel(xp.arange(3), xp.arange(3))
    generic = xp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "generic")
    with pytest.raises(TypeError, match=r"generic: type is mismatched: expected int64 \(the type T of other arguments\) for 'y', got float64"):
        generic(xp.arange(3), xp.arange(3.0))
    with pytest.raises(ValueError, match=r"generic: .*\(3,\) \(2,\)"):
        generic(xp.arange(3), xp.arange(2))
    with pytest.raises(ValueError, match="generic: non-broadcastable output"):
        generic(xp.arange(3), xp.arange(3), xp.empty(1, "int64"))
    with pytest.raises(OverflowError, match="generic: Python integer 300 out of bounds for int8"):
        generic(xp.arange(3, dtype="int8"), 300)
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        kernel(xp.arange(3), 1, shape=3)
    with pytest.raises(TypeError, match="'float'; write 'float32'"):
        xp.ElementwiseKernel("float x", "T y", "y = x", "c_types")
    with pytest.raises(ValueError, match="'x' is there twice"):
        xp.ElementwiseKernel("T x", "T x", "x = 1", "twice")
    with pytest.raises(TypeError, match="no argument tells what type U of 'y' is"):
        xp.ElementwiseKernel("T x", "U y", "y = x", "untold")(xp.arange(3))


def test_a_compile_error_shows_the_users_line(xp):
    kernel = xp.ElementwiseKernel("T x", "T y", "T t = x;\ny = t + missing;", "broken")
    x = xp.arange(3)
    with pytest.raises(bc.CompileError) as caught:
        kernel(x)
    message = str(caught.value)
    assert message.startswith("broken:") and "missing" in message and len(message.splitlines()) <= 15
    assert "broken:2" in message or "broken(2)" in message
    equal(x + 1, [1, 2, 3])  # the stream goes on


def test_show_source_has_the_operation(xp, capsys):
    kernel = xp.ElementwiseKernel("T x", "T y", "y = x * x + 42", "shown")
    bc.show_source(kernel(xp.arange(3)) + kernel(xp.arange(3)))  # compiled at the first call
    bc.show_source(kernel(xp.arange(5)) * 2)
    text = capsys.readouterr().out
    assert "y = x * x + 42" in text and "map_" in text
