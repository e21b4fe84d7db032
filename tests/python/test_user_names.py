"""Users may name things as C++, CUDA, the C library or broadcloth's own text do (`tests/user_names.py`), in every kind of function."""

from __future__ import annotations

import os
import re
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
import user_names
from broadcloth import cuda, njit, prange
from broadcloth.cuda import RecordArray
from broadcloth.experimental import jitclass
from user_names import CORE, ELEMENT, FUNCTION, KERNEL, LOOPS, OBJECT, STENCIL, made, programs

SHIFT = int(os.environ.get("BROADCLOTH_NAMES_SHIFT", "1"))
WORLD = {"np": np, "namedtuple": namedtuple, "njit": njit, "prange": prange, "cuda": cuda}


def each(text):
    return pytest.mark.parametrize("names", list(programs(text, shift=SHIFT)), ids=lambda n: n["function"][:20])


def test_no_name_of_the_library_begins_as_those_of_users_do():
    texts = [p.read_text() for p in (Path(__file__).parents[2] / "src" / "device").rglob("*") if p.is_file()]
    words = set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"//[^\n]*|##\w+", "", "\n".join(texts))))
    assert len(words) > 3000
    # Generators' states are records of ours.
    assert {w for w in words if re.match(r"[ufTmc]\d*x?_", w)} == {"m_s0", "m_s1"}


@each(FUNCTION)
def test_functions(names):
    f = made(FUNCTION, names, WORLD)
    for arguments in ((2, 4, 1.5), (0.5, 3, 1)):
        assert njit(f)(*arguments) == pytest.approx(f(*arguments))


@each(LOOPS)
def test_parallel_loops(names):
    f = made(LOOPS, names, WORLD)
    total, doubled = njit(parallel=True)(f)(np.arange(9.0), 9)
    assert total == 72
    assert_array_equal(doubled, 2 * np.arange(9.0))


@each(KERNEL)
def test_kernels(names, xp):
    kernel = made(KERNEL, names, WORLD)
    record = np.dtype([(names["field"], "f8"), (names["field2"], "f4")], align=True)
    rest = RecordArray.of(np.ones(32, record))
    out = xp.zeros(20)
    kernel[1, 32](xp.arange(32.0), 0.5, out, rest)
    i = np.arange(20)
    expected = (1.5 + i + 3) + (i * 0.5 + 3) + (1 + i) + i + np.where(i % 2 == 0, 1.5, 2.5) + 1
    assert_allclose(np.asarray(out), expected)
    assert_allclose(rest.copy_to_host()[names["field2"]][:20], expected + 1)


@each(ELEMENT)
def test_elementwise_functions(names, xp):
    f = made(ELEMENT, names, WORLD)
    x, y = np.arange(5.0), np.array([2.0, 0, 3, 1, 9])
    expected = [f(a, b) for a, b in zip(x, y, strict=True)]
    assert_allclose(bc.vectorize(f)(x, y), expected)
    assert_allclose(np.asarray(bc.vectorize(f)(xp.asarray(x), xp.asarray(y)) * 1), expected)
    assert bc.cfunc("float64(float64, float64)")(f).ctypes(1.5, 2.5) == f(1.5, 2.5)


@each(CORE)
def test_generalised_functions(names, xp):
    f = bc.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(made(CORE, names, WORLD))
    x = np.arange(6.0).reshape(2, 3)
    expected = x * 2
    expected[:, 0] = expected.sum(axis=1)
    assert_array_equal(f(x, 2.0), expected)
    assert_array_equal(np.asarray(f(xp.asarray(x), 2.0)), expected)


@each(STENCIL)
def test_stencils(names, xp):
    f = bc.stencil(made(STENCIL, names, WORLD))
    x = np.arange(6.0)
    expected = [0, *(3 * (x[:-2] + 2 * x[2:])), 0]
    assert_array_equal(f(x, 2.0), expected)
    assert_array_equal(np.asarray(f(xp.asarray(x), 2.0)), expected)


@each(OBJECT)
def test_classes(names):
    made_class = made(OBJECT, names, WORLD)
    spec = [(names["field"], bc.types.float64), (names["field2"], bc.types.float64[:])]
    compiled = jitclass(spec)(made_class)
    call = names["callee"]
    use = made("def {function}(o):\n    return o.{callee}(2.0) + o.{callee}(1.0) + o.{field} + o.{field2}[0]\n", names, {})
    plain = use(made_class(1.5, 3))
    assert njit(use)(compiled(1.5, 3)) == plain
    o = compiled(1.5, 3)
    assert (getattr(o, call)(2.0), getattr(o, names["field"])) == (3.5, 2.5)


def test_names_that_the_encoding_could_confuse():
    record = np.dtype([(n, "f8") for n in ("a__b", "a_u_b", "é", "xc3xa9", "x_c3_a9", "_c3_a9", "a b", "a-b", "", "1", "ü")][:8])

    @njit
    def total(a):
        return a[0]["a__b"] + 2 * a[0]["a_u_b"] + 4 * a[0]["é"] + 8 * a[0]["xc3xa9"] + 16 * a[0]["x_c3_a9"] + 32 * a[0]["a b"] + a[0]["a-b"]

    assert total(np.ones(1, record)) == 64


def test_a_variable_of_several_types_beside_the_names_of_its_kinds():
    @njit
    def f(n):
        x, x_2, x_3, u2_x, x2 = 1, 10, 100, 1000, 10000
        for i in range(n):
            x = x + 0.5
            x_2 += i
        return x, x_2, x_3, u2_x, x2

    assert f(3) == (2.5, 13, 100, 1000, 10000)


def f_2(x):
    return x + 100


def f(x):
    return x * 2


def test_functions_of_several_types_beside_others():
    @njit
    def g(a):
        return f(a) + f(1.5) + f_2(a) + f_2(2.5)

    assert g(1) == 2 + 3 + 101 + 102.5


MACROS = "\n".join(
    f"#define {name} {i}"
    for i, name in enumerate("N T U I E S x n i k t a1 k1 t1 i64 u8 f32 wrap view size data shape strides status failure cast".split(), 2)
)
SOURCE = f"""
#include <cuda_fp16.h>
{MACROS}
#define min(a, b) ((a) < (b) ? (a) : (b))
extern "C" __device__ int plus_n(float* result, float y) {{ *result = y + N + min(1, 2); return 0; }}
extern "C" __device__ int total(double* result, const double* values, long long length) {{
  *result = 0;
  for (long long j = 0; j < length; ++j) *result += values[j];
  return 0;
}}
extern "C" __device__ __half twice(__half h) {{ return __hadd(h, h); }}
extern "C" __device__ void store(int* place, int v) {{ *place = v; }}
"""
LINKED = cuda.CUSource(SOURCE, name="macros.cu")
plus_n = cuda.declare_device("plus_n", "float32(float32)", link=LINKED)
total = cuda.declare_device("total", "float64(CPointer(float64), int64)")
twice = cuda.declare_device("twice", "float16(float16)", abi="c")
store = cuda.declare_device("store", "void(CPointer(int32), int32)", abi="c")


@cuda.jit(debug=True, opt=False)
def calls_linked(x, halves, out, place):
    i = cuda.grid(1)
    n, t = x.size, (1, 2.5)
    if i < n:
        out[i] = plus_n(x[i]) + total(cuda.ffi.from_buffer(out[n:]), 2) + t[0] + twice(halves[i])
        for k in range(2):
            out[i] += k
        store(cuda.ffi.from_buffer(place[i:]), i + 7)
        assert i >= 0


def test_macros_of_linked_code(xp):
    x, halves = xp.arange(4, dtype="float32"), xp.ones(4, dtype="float16")
    out, place = xp.array([0.0] * 4 + [10, 20]), xp.zeros(4, dtype="int32")
    calls_linked[1, 8](x, halves, out, place)
    assert_array_equal(np.asarray(out)[:4], np.arange(4) + 3 + 30 + 1 + 2 + 1)
    assert_array_equal(np.asarray(place), np.arange(4) + 7)


@pytest.mark.parametrize("names", [dict(zip("nxyz", user_names.NAMES[i : i + 4], strict=True)) for i in range(0, 300, 60)], ids=str)
def test_kernels_have_the_users_name_in_messages(names, xp):
    text = "@cuda.jit\ndef {function}({x}):\n    {x}[cuda.grid(1)] = 1\n"
    given = made(text, {"function": names["n"], "x": names["x"]}, WORLD)
    given[1, 4](xp.zeros(4))
    assert given.__name__ == names["n"]
    with pytest.raises(Exception, match=re.escape(names["n"])) as e:
        given[1, 4](xp.zeros(4), 2)
    assert "f_" + names["n"] not in str(e.value)
