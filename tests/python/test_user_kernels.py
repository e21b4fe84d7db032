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
    pairs = {
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "sinh": "sinh",
        "cosh": "cosh",
        "tanh": "tanh",
        "asinh": "arcsinh",
        "atanh": "arctanh",
        "exp": "exp",
        "exp2": "exp2",
        "expm1": "expm1",
        "log1p": "log1p",
        "cbrt": "cbrt",
        "floor": "floor",
        "ceil": "ceil",
        "trunc": "trunc",
        "rint": "rint",
        "fabs": "fabs",
        "abs": "abs",
    }
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
        "float64 x",
        "float64 a, float64 b, float64 c, float64 d, float64 e",
        "a = erf(x); b = tgamma(x); c = lgamma(x); d = rsqrt(x); e = round(x)",
        "special",
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
    one = xp.ElementwiseKernel(
        "T x", "T y", "y = helper(x)", "same", preamble="template <class U> __device__ U helper(U x) { return x + 1; }"
    )
    two = xp.ElementwiseKernel(
        "T x", "T y", "y = helper(x)", "same", preamble="template <class U> __device__ U helper(U x) { return x * 10; }"
    )
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
    with pytest.raises(
        TypeError, match=r"generic: type is mismatched: expected int64 \(the type T of other arguments\) for 'y', got float64"
    ):
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
    if not bc.config.lazy:
        pytest.skip("nothing waits")
    kernel = xp.ElementwiseKernel("T x", "T y", "y = x * x + 42", "shown")
    bc.show_source(kernel(xp.arange(3)) + kernel(xp.arange(3)))  # compiled at the first call
    bc.show_source(kernel(xp.arange(5)) * 2)
    text = capsys.readouterr().out
    assert "y = x * x + 42" in text and "map_" in text


# ---- Kernels that are programs of their own ---------------------------------------------------------------------------------------------


def test_raw_arrays_are_indexed(xp):
    kernel = xp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
    a = np.arange(5.0)
    equal(kernel(xp.array(a), xp.array(a)), a + a[::-1])
    equal(kernel(xp.array(a)[:, None], xp.array(a)), a[:, None] + a[::-1, None])


def test_strided_raw_arrays_and_a_size(xp):
    kernel = xp.ElementwiseKernel("raw T x, raw T y, int32 s", "raw T z", "z[i] = x[i] * s + y[n - 1 - i]", "all_raw")
    base = np.arange(20.0)
    x = xp.array(base)
    z = xp.zeros(10)
    kernel(x[::2], x[::-2], 3, z, size=10)
    equal(z, base[::2] * 3 + base[::-2][::-1])
    with pytest.raises(ValueError, match="all_raw: Loop size is undecided"):
        kernel(x, x, 3, z)
    equal(kernel(x[::2], x[::-2], 3, size=10), base[::2] * 3 + base[::-2][::-1])
    mixed = xp.ElementwiseKernel("T x, raw T y", "T z", "z = y[i]", "mixed")
    with pytest.raises(ValueError, match="Specified 'size' can be used only if all of the ndarray are 'raw'"):
        mixed(x, x, size=3)
    assert kernel(x, x, 3, z, size=0) is z


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "empty"])
def test_a_raw_array_in_any_layout(xp, layout):
    base = np.arange(48.0).reshape(6, 8)
    ours, theirs = LAYOUTS[layout](xp.array(base), xp), LAYOUTS[layout](base, np)
    kernel = xp.ElementwiseKernel("raw T x", "T z", "z = x[i] * 2 + x.size()", "raw_layout")
    equal(kernel(ours, xp.empty(theirs.shape)), theirs * 2 + theirs.size)


def test_indices_along_axes(xp):
    kernel = xp.ElementwiseKernel(
        "raw T x", "T z", "ptrdiff_t k[] = {_ind.get()[1], _ind.get()[0]}; z = x[k] + 100 * x.shape()[0]", "transposer", reduce_dims=False
    )
    a = np.arange(12.0).reshape(3, 4)
    equal(kernel(xp.array(a), xp.empty((4, 3))), a.T + 300)


def test_statements_around_the_loop_and_options(xp):
    kernel = xp.ElementwiseKernel(
        "float32 x",
        "float32 y",
        "y = x * scale + N; ++count;",
        "around",
        loop_prep="float scale = 2; int count = 0;",
        after_loop="(void)count;",
        options=("-DN=7",),
    )
    a = np.arange(1000, dtype="float32")
    equal(kernel(xp.array(a)), a * 2 + 7)


def test_macros_of_the_options_fuse(xp):
    two = xp.ElementwiseKernel("T x", "T y", "y = x * N + OFFSET", "with_macros", options=("-DN=2", "-D", "OFFSET=5"))
    three = xp.ElementwiseKernel("T x", "T y", "y = x * N", "other_macros", options=("-DN=3",))
    x = xp.arange(4)
    equal(three(two(x)), (np.arange(4) * 2 + 5) * 3)
    total = xp.ReductionKernel("T x", "T y", "x * N", "a + b", "y = a", "0", "macro_total", options=("-DN=3",))
    assert int(total(x)) == 18
    defined = xp.ElementwiseKernel("T x", "T y", "y = x * FACTOR", "defined", preamble="#include <cupy/complex.cuh>\n#define FACTOR 4")
    equal(defined(x), np.arange(4) * 4)


def test_an_array_may_be_read_and_written_by_one_program(xp):
    kernel = xp.ElementwiseKernel("raw T x", "T y", "y = y + 10", "twice")
    x = xp.arange(6)
    z = x.copy()  # shares its value with x until one is written
    kernel(x, x)
    equal(x, np.arange(6) + 10)
    equal(z, np.arange(6))


def test_atomics_in_a_histogram(xp):
    kernel = xp.ElementwiseKernel("int32 x, _non_const raw int32 counts", "", "atomicAdd(&counts[x], 1)", "histogram")
    x = xp.arange(10_000, dtype="int32") % 7
    counts = xp.zeros(7, "int32")
    kernel(x, counts)
    equal(counts, np.bincount(np.arange(10_000) % 7))


def test_a_program_sees_what_waits_and_is_seen(xp):
    kernel = xp.ElementwiseKernel("raw T x", "T y", "y = x[i] + 1", "ordered")
    x = xp.arange(100.0)
    for _ in range(5):
        x = kernel(x * 2, xp.empty(100))
    want = np.arange(100.0)
    for _ in range(5):
        want = want * 2 + 1
    equal(x, want)


def test_a_stream_may_be_named(xp):
    from broadcloth import cuda

    kernel = xp.ElementwiseKernel("T x", "T y", "y = x + 1", "on_stream")
    total = xp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total_on_stream")
    stream = cuda.Stream()
    x = xp.arange(100.0)
    y = kernel(x, stream=stream)
    s = total(y, stream=stream)
    stream.synchronize()
    assert float(s) == 5050.0


def test_small_floats_and_complex_numbers_in_a_program(xp):
    kernel = xp.ElementwiseKernel(
        "complex64 z, raw float16 w", "complex64 y", "y = z * w[i] + thrust::complex<float>(0, 1)", "small_and_complex"
    )
    z = np.arange(4).astype("complex64")
    equal(kernel(xp.array(z), xp.full(4, 1.5, "float16")), z * np.float32(1.5) + 1j)


def test_a_programs_compile_error_shows_the_users_line(xp):
    kernel = xp.ElementwiseKernel("raw T x", "T y", "T t = x[i];\ny = t + missing;", "broken_program")
    with pytest.raises(bc.CompileError, match="missing") as caught:
        kernel(xp.arange(3), xp.empty(3, "int64"))
    assert "broken_program:2" in str(caught.value) or "broken_program(2)" in str(caught.value)


def test_functions_of_cuda_that_arrays_lack_are_called(xp):
    """Such a kernel does not fuse, and is else as any other."""
    kernel = xp.ElementwiseKernel("T x", "T s, T c", "sincos(x, &s, &c)", "sine_and_cosine")
    a = np.linspace(0, 1, 12).reshape(3, 4)
    for values in (a, a + 1, a.astype("float32")):
        sine, cosine = kernel(xp.array(values))
        assert sine.dtype == values.dtype
        np.testing.assert_allclose(host(sine), np.sin(values), rtol=1e-6)
        np.testing.assert_allclose(host(cosine), np.cos(values), rtol=1e-6)
    parts = xp.ElementwiseKernel("float64 x", "float64 y", "int e; y += frexp(x, &e) + e", "parts")
    assert parts(xp.empty(0)).shape == (0,)  # compiles nothing
    out = xp.full(6, 10.0)
    want = np.full(6, 10.0)
    for _ in range(2):
        parts(xp.arange(1.0, 4.0), out[::2])
        want[::2] += sum(np.frexp(np.arange(1.0, 4.0)))
    equal(out, want)
    operation = "float4 v = make_float4(x, 2 * x, 3, 4); y = v.y + max(v.z, v.w)"
    packed = xp.ElementwiseKernel("float32 x", "float32 y", operation, "packed")
    equal(packed(xp.arange(3, dtype="float32")), np.float32([4, 6, 8]))


def test_an_error_of_the_compiler_leaves_the_output_alone(xp):
    kernel = xp.ElementwiseKernel("float64 x", "float64 y", "y += nowhere(x)", "refused")
    total = xp.ReductionKernel("float64 x", "float64 y", "nowhere(x)", "a + b", "y += a", "0", "refused_total")
    out = xp.full(6, 10.0)
    for call in (lambda: kernel(xp.ones(3), out[::2]), lambda: total(xp.ones((3, 2)), axis=1, out=out[::2])):
        for _ in range(2):
            with pytest.raises(bc.CompileError, match="refused"):
                call()
            equal(out, np.full(6, 10.0))


# ---- ReductionKernel --------------------------------------------------------------------------------------------------------------------

L2NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")


def close(ours, numpys, rtol=1e-12) -> None:
    np.testing.assert_allclose(host(ours), numpys, rtol=rtol)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2)])
def test_a_reduction_along_any_axes(xp, axis, keepdims):
    norm = xp.ReductionKernel(*L2NORM)
    a = np.random.default_rng(1).standard_normal((7, 33, 40))
    got = norm(xp.array(a), axis=axis, keepdims=keepdims)
    want = np.sqrt((a * a).sum(axis=axis, keepdims=keepdims))
    assert got.shape == want.shape and got.dtype == want.dtype
    close(got, want)
    transposed = norm(xp.array(a).T, axis=axis, keepdims=keepdims)
    close(transposed, np.sqrt((a.T * a.T).sum(axis=axis, keepdims=keepdims)))


@pytest.mark.parametrize("size", [0, 1, 2, 31, 1000, 70_000, 1_000_003])
def test_a_reduction_of_any_length(xp, size):
    total = xp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    a = np.arange(size)
    assert int(total(xp.array(a))) == a.sum()
    top = xp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "top")
    if size:
        assert int(top(xp.array(a[::-1].copy()))) == a.max()
    else:
        with pytest.raises(ValueError, match="zero-size array to reduction operation top which has no identity"):
            top(xp.array(a))


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "empty"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_every_type_and_layout(xp, dtype, layout):
    base = base_values(dtype)
    if np.dtype(dtype).kind in "fc":
        base = np.where(np.isfinite(base), np.round(base), 0).astype(dtype)
        base = np.clip(base.real, -50, 50).astype(dtype) if np.dtype(dtype).kind == "f" else base
    last = xp.ReductionKernel("T x", "int64 y, bool any", "x != T(0)", "a + b", "y = a; any = a > 0", "0", "count", reduce_type="int64")
    count, some = last(LAYOUTS[layout](xp.array(base), xp))
    want = np.count_nonzero(LAYOUTS[layout](base, np))
    assert int(count) == want and bool(some) == (want > 0)


def test_several_inputs_broadcast_and_fuse(xp):
    dot = xp.ReductionKernel("T x, U y", "float64 z", "double(x) * y", "a + b", "z = a", "0", "dot")
    a, b = np.random.default_rng(2).standard_normal((50, 60)), np.random.default_rng(3).standard_normal(60).astype("float32")
    x, y = xp.array(a), xp.array(b)
    close(dot(x, y, axis=1), a @ b.astype(float))
    close(dot(x + 1, y * 2, axis=1) * 3, ((a + 1) * (b * np.float32(2)).astype(float)).sum(1) * 3)
    close(dot(x, 2.0), (a * 2).sum())


def test_a_reduction_into_given_outputs(xp):
    total = xp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    x = xp.arange(12).reshape(3, 4)
    out = xp.zeros((3, 2), "int64")
    assert total(x, axis=1, out=out[:, 0]) is not None
    total(x, out[:, 1], axis=1)
    equal(out, np.arange(12).reshape(3, 4).sum(1)[:, None].repeat(2, 1))
    add = xp.ReductionKernel("T x", "T y", "x", "a + b", "y += a", "0", "add_total")
    add(x, axis=1, out=out[:, 0])
    equal(out[:, 0], np.arange(12).reshape(3, 4).sum(1) * 2)
    with pytest.raises(ValueError, match="total: output parameter 'y' has the wrong shape"):
        total(x, axis=0, out=out[:, 0])
    narrow = xp.empty(3, "int32")
    with pytest.raises(TypeError, match="total: type is mismatched"):
        total(x, axis=1, out=narrow)


def test_a_mean_by_the_sizes(xp):
    mean = xp.ReductionKernel(
        "T x", "float64 y", "x", "a + b", "y = a / (double)(_in_ind.size() / _out_ind.size())", "0", "mean", reduce_type="float64"
    )
    a = np.arange(24.0).reshape(4, 6)
    close(mean(xp.array(a), axis=0), a.mean(0))
    close(mean(xp.array(a)), a.mean())


def test_a_state_of_the_users_own(xp):
    preamble = """
    template <class U> struct Best { U value; long long place; };
    template <class U> __device__ Best<U> better(const Best<U>& a, const Best<U>& b) {
        if (a.value == b.value) return a.place < b.place ? a : b;
        return a.value > b.value ? a : b;
    }
    """
    argmax = xp.ReductionKernel(
        "T x", "int64 y", "Best<T>{x, _J}", "better(a, b)", "y = a.place", None, "my_argmax", reduce_type="Best<T>", preamble=preamble
    )
    for dtype in ("float32", "float64", "int32"):
        a = np.random.default_rng(5).integers(-50, 50, (40, 9, 70)).astype(dtype)
        x = xp.array(a)
        equal(argmax(x), a.argmax())
        for axis in (0, 1, 2):
            equal(argmax(x, axis=axis), a.argmax(axis))
    large = np.random.default_rng(6).standard_normal(1_000_000)
    assert int(argmax(xp.array(large))) == large.argmax()
    spread = xp.ReductionKernel(
        "float32 x",
        "float32 least, float32 most",
        "Ends{x, x}",
        "joined(a, b)",
        "least = a.least; most = a.most",
        "Ends{INFINITY, -INFINITY}",
        "spread",
        reduce_type="Ends",
        preamble="""
        struct Ends { float least, most; };
        __device__ Ends joined(Ends a, Ends b) { return {min(a.least, b.least), max(a.most, b.most)}; }
        """,
    )
    least, most = spread(xp.array(large.astype("float32")))
    assert float(least) == large.astype("float32").min() and float(most) == large.astype("float32").max()
    assert [float(v) for v in spread(xp.empty(0, "float32"))] == [np.inf, -np.inf]


def test_a_state_of_cudas_vectors(xp):
    ends = xp.ReductionKernel(
        "T x", "T least, T most", "make_double2(x, x)", "make_double2(min(a.x, b.x), max(a.y, b.y))", "least = a.x; most = a.y",
        "make_double2(INFINITY, -INFINITY)", "ends", reduce_type="double2",
    )  # fmt: skip
    counts = xp.ReductionKernel(
        "float32 x", "int32 low, int32 high", "make_int3(x < 0, 0, x > 0)", "make_int3(a.x + b.x, 0, a.z + b.z)", "low = a.x; high = a.z",
        "make_int3(0, 0, 0)", "counts", reduce_type="int3",
    )  # fmt: skip
    a = np.random.default_rng(8).standard_normal((7, 900))
    least, most = ends(xp.array(a), axis=1)
    equal(least, a.min(1))
    equal(most, a.max(1))
    low, high = counts(xp.array(a.astype("float32")), axis=0)
    equal(low, (a < 0).sum(0).astype("int32"))
    equal(high, (a > 0).sum(0).astype("int32"))


def test_a_reduction_that_indexes_arrays(xp):
    weighted = xp.ReductionKernel("T x, raw T w", "T y", "x * w[_J]", "a + b", "y = a", "0", "weighted")
    a = np.random.default_rng(7).standard_normal((30, 40))
    w = np.linspace(0, 1, 40)
    close(weighted(xp.array(a), xp.array(w), axis=1), a @ w)
    by_rows = xp.ReductionKernel("T x, raw T w", "T y", "x * w[_J / 40]", "a + b", "y = a", "0", "by_rows")
    close(by_rows(xp.array(a), xp.array(w)), (a * w[:30, None]).sum(), 1e-11)
    # `_i` counts the results, `_j` all elements with the joined axes first.
    placed = xp.ReductionKernel("T x, raw T w", "T y", "x * w[_j] + 100 * _i + _J", "a + b", "y = a", "0", "placed")
    w = np.arange(1200.0)
    rows, columns = np.arange(30)[:, None], np.arange(40)
    close(placed(xp.array(a), xp.array(w), axis=0), (a * w.reshape(30, 40) + 100 * columns + rows).sum(0))
    close(placed(xp.array(a), xp.array(w), axis=1), (a * w.reshape(40, 30).T + 100 * rows + columns).sum(1))
    close(placed(xp.array(a), xp.array(w)), (a.ravel() * w + np.arange(1200)).sum())


def test_a_map_that_calls_functions_of_cuda(xp):
    total = xp.ReductionKernel("T x", "T y", "erfcx(x) * 2", "a + b", "y = a", "0", "scaled_total")
    a = np.zeros((3, 4))
    close(total(xp.array(a), axis=0), np.full(4, 6.0))
    close(total(xp.array(a), axis=1), np.full(3, 8.0))
    out = xp.zeros(3)
    assert total(xp.array(a), axis=1, out=out) is out
    close(out, np.full(3, 8.0))


def test_the_same_bits_from_run_to_run(xp):
    total = xp.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0", "total32")
    a = xp.array(np.random.default_rng(4).standard_normal(1_000_000).astype("float32"))
    results = {host(total(a)).tobytes() for _ in range(5)}
    assert len(results) == 1


def test_small_floats_and_complex_numbers(xp):
    a = np.float16([1, 2, 3, 4.5])
    close(xp.ReductionKernel(*L2NORM)(xp.array(a)), np.float16(np.sqrt((a.astype(float) ** 2).sum())), 1e-3)
    z = np.arange(5) + 1j * np.arange(5)[::-1]
    product = xp.ReductionKernel("T x", "T y", "x + T(1, 0)", "a * b", "y = a", "1", "product")
    close(product(xp.array(z)), (z + 1).prod())


def test_what_a_reduction_tells_about_itself(xp):
    norm = xp.ReductionKernel(*L2NORM)
    assert norm.__name__ == "l2norm" and norm.nargs == 2 and norm.identity == "0" and norm.map_expr == "x * x"
    norm(xp.arange(3.0))
    assert "sqrt(a)" in norm.cached_code
    with pytest.raises(TypeError, match="l2norm: wrong number of arguments: expected 1 or 2"):
        norm()
    broken = xp.ReductionKernel("T x", "T y", "x", "a +\n missing(b)", "y = a", "0", "broken_sum")
    with pytest.raises(bc.CompileError, match="missing") as caught:
        broken(xp.arange(3.0))
    assert "broken_sum.reduce" in str(caught.value) and len(str(caught.value).splitlines()) <= 15


# ---- fuse -------------------------------------------------------------------------------------------------------------------------------


def test_fuse_names_kernels_in_profiles(xp):
    @xp.fuse(kernel_name="squared_diff")
    def squared_diff(x, y):
        return (x - y) * (x - y)

    @xp.fuse
    def plain(x, s):
        if s > 1:
            return x * s, x + s
        return x

    assert squared_diff.__name__ == "squared_diff" and plain.__name__ == "plain"
    x = xp.arange(6.0)
    bc.flush()
    with bc.profiler.record() as p:
        y = squared_diff(x, 2)
        bc.synchronize()
        z, w = plain(x, 3)
        bc.synchronize()
    names = [k.name for k in p.kernels]
    assert "squared_diff" in names and "plain" in names
    equal(y, (np.arange(6.0) - 2) ** 2)
    equal(z, np.arange(6.0) * 3)
    equal(w, np.arange(6.0) + 3)
    assert plain(x, 0) is x
    with pytest.raises(TypeError, match="fuse"):
        xp.fuse(3)
