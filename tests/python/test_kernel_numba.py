"""The rest of Numba-CUDA's kernel language and names, spelt as its programs spell it."""

from __future__ import annotations

import enum

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, types


class Overdrawn(Exception):
    pass


class Located(Exception):
    def __init__(self, row: int, what: str) -> None:
        super().__init__(row, what)
        self.row, self.what = row, what


@cuda.jit(debug=True, opt=False)
def raises(x):
    i = cuda.grid(1)
    if x[i] == 1:
        raise Overdrawn("no money left")
    if x[i] == 2:
        raise Located(7, "there")
    if x[i] == 3:
        raise ValueError


def test_classes_of_the_users_own_are_raised(xp):
    where = r"raised at .*, in raises, by thread \(2, 0, 0\) of block \(0, 0, 0\) of kernel raises"
    with pytest.raises(Overdrawn, match=r"no money left\n  " + where):
        raises[1, 4](xp.asarray([0, 0, 1, 0]))
    with pytest.raises(Located) as error:
        raises[1, 4](xp.asarray([0, 2, 0, 0]))
    assert (error.value.row, error.value.what) == (7, "there")
    assert "by thread (1, 0, 0)" in error.value.__notes__[0]
    with pytest.raises(ValueError):
        raises[1, 1](xp.asarray([3]))
    raises[1, 4](xp.zeros(4, "i8"))


def test_functions_for_the_cpu_raise_them_too():
    @bc.njit
    def f(x):
        if x > 0:
            raise Located(3, "here")
        raise Overdrawn

    with pytest.raises(Located) as error:
        f(1)
    assert error.value.args == (3, "here")
    with pytest.raises(Overdrawn):
        f(0)


TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)
PAIRS = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f4")])


@cuda.jit
def reads_constants(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i, i] + cuda.const.array_like(PAIRS)[i % 2].x


def test_constant_memory(xp):
    out = xp.zeros(3, "f4")
    reads_constants[1, 3](out)
    assert_array_equal(np.asarray(out), [2.5, 9.5, 12.5])
    assert reads_constants.inspect_source()[reads_constants.signatures[0]].count("BC_PY_CONSTANT") == 2


def test_forms_of_a_compiled_kernel():
    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = 1

    kernel.compile("(float32[:],)")
    (signature,) = kernel.signatures
    assert "define" in kernel.inspect_llvm(signature)
    assert list(kernel.inspect_llvm()) == [signature]
    try:
        ptx = kernel.inspect_asm(signature)
    except ImportError as error:
        pytest.skip(str(error))
    assert ".visible .entry kernel(" in ptx


def test_names():
    assert cuda.dim3 == cuda.Dim3() and repr(cuda.grid_group) == "GridGroup"
    assert cuda.bool == types.boolean and cuda.optional(types.int64) == types.Optional(types.int64)
    later = cuda.deferred_type()
    later.define(types.float32)
    assert later.get() == types.float32
    assert types.CPointer(types.float32) == types.Type("float32*")


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_atomics_with_every_number_of_indices(xp, ndim, dtype):
    place = (1, 0, 2)[:ndim]
    where = place if ndim > 1 else place[0]

    @cuda.jit
    def kernel(a):
        cuda.atomic.add(a, where, 2)
        cuda.atomic.max(a, where, 3)
        cuda.atomic.sub(a, where, 1)

    a = xp.zeros((3, 3, 3)[:ndim], dtype)
    kernel[1, 1](a)
    expected = np.zeros((3, 3, 3)[:ndim], dtype)
    expected[place] = 2
    assert_array_equal(np.asarray(a), expected)


def test_a_buffer_of_cffi(xp):
    class FFI:
        def from_buffer(self, array):
            raise AssertionError("only in kernels")

    ffi = FFI()
    first = cuda.declare_device("first", "float64(CPointer(float64))", abi="c", link=cuda.CUSource(
        'extern "C" __device__ double first(double* p) { return *p; }'))  # fmt: skip

    @cuda.jit
    def kernel(a):
        a[1] = first(ffi.from_buffer(a)) + 1

    a = xp.asarray([4.0, 0.0])
    kernel[1, 1](a)
    assert float(a[1]) == 5


class Plain(enum.Enum):
    A = 1
    B = 2


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


@cuda.jit
def enumerations(plain, color, out):
    if plain is Plain.A:
        out[0] = 1
    if plain == Plain.B:
        out[1] = 1
    if color == Color.BLUE:
        out[2] = Color.RED


def test_members_of_enumerations(xp):
    out = xp.zeros(3)
    enumerations[1, 1](Plain.A, Color.BLUE, out)
    assert_array_equal(np.asarray(out), [1, 0, 1])


@cuda.jit
def ufuncs_into(x, r):
    np.sin(x, r)
    np.add(r, 1, out=r)
    np.multiply(x[1:], x[:-1], x[1:])


def test_ufuncs_with_an_array_for_their_result(xp):
    x, r = xp.arange(4.0), xp.zeros(4)
    ufuncs_into[1, 1](x, r)
    assert_allclose(np.asarray(r), np.sin(np.arange(4.0)) + 1)
    assert_array_equal(np.asarray(x), [0, 0, 2, 6])


@cuda.jit
def two_types_of_shared_memory(out):
    whole = cuda.shared.array(0, np.uint8)
    floats, integers = whole[:16].view(np.float32), whole[16:32].view(np.int32)
    i = cuda.threadIdx.x
    floats[i], integers[i] = i / 2, -i
    cuda.syncthreads()
    out[i] = floats[3 - i] + integers[3 - i]
    out[i] += np.float32(1.0).item() * floats.view("int32")[0]


def test_views_of_memory_as_other_types(xp):
    out = xp.zeros(4)
    two_types_of_shared_memory[1, 4, 0, 32](out)
    assert_array_equal(np.asarray(out), [-1.5, -1.0, -0.5, 0])

    @bc.njit
    def bits(x):
        return x.view(np.int64)[0]

    assert bits(np.ones(2)) == np.ones(1).view(np.int64)[0]


def test_inner_functions_that_call_each_other(xp):
    @cuda.jit
    def kernel(out):
        k = 3

        def times(x):
            return x * k

        more = lambda x: times(x) + 1  # noqa: E731
        out[0] = more(2)

    out = xp.zeros(1)
    kernel[1, 1](out)
    assert float(out[0]) == 7


def test_constants_of_narrow_integers(xp):
    @cuda.jit
    def kernel(out):
        out[0] = np.uint8(300)
        out[1] = np.int32(2**31 - 1) + 1
        out[2] = np.int8(200)
        out[3] = np.uint32(2**32 - 1) + np.uint32(1)

    out = xp.zeros(4)
    kernel[1, 1](out)
    assert_array_equal(np.asarray(out), [44, 2**31, -56, 2**32])


@pytest.mark.parametrize("layout", ["C", "F", "A"])
def test_flat(xp, layout):
    def flat(x, out):
        for v in x.flat:
            out[0] = out[0] * 2 + v
        out[1] = x.flat[3]
        x.flat[-1] = 9
        for i, v in enumerate(x.flat):
            out[2] += i * v

    def made():
        a = np.arange(6.0).reshape(2, 3)
        return np.asfortranarray(a) if layout == "F" else np.arange(24.0).reshape(4, 6)[::2, ::2] if layout == "A" else a

    expected, x = np.zeros(3), made()
    flat(x, expected)
    for run in (cuda.jit(flat)[1, 1], bc.njit(flat)):
        out, y = np.zeros(3), made()
        run(y, out)
        assert_array_equal(out, expected)
        assert_array_equal(y, x)
