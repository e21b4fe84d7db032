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
    assert ".visible .entry f_kernel(" in ptx


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


@cuda.jit(["float32(float32, float32)", types.float64(types.float64, types.float64)], device=True)
def declared_sum(a, b):
    return a + b


@cuda.jit("int64(int64, int64)", device=True)
def whole_sum(a, b):
    return a + b


def test_device_functions_keep_to_their_signatures(xp):
    @cuda.jit
    def sums(out, a, b):
        out[0] = declared_sum(a, b)

    @cuda.jit
    def whole(out, a, b):
        out[0] = whole_sum(a, b)

    out = xp.zeros(1)
    sums[1, 1](out, np.float32(1), np.float32(2**-25))
    assert float(out[0]) == 1.0
    sums[1, 1](out, 1, 2**-25)
    assert float(out[0]) == 1 + 2**-25
    whole[1, 1](out, 1.5, 2.5)
    assert float(out[0]) == 3.0
    with pytest.raises(bc.TypingError, match=r"declared_sum: no signature takes \(complex128, float64\)"):
        sums[1, 1](xp.zeros(1, "c16"), 1j, 2.0)


def test_a_variable_that_an_earlier_turn_of_the_loop_binds(xp):
    @cuda.jit
    def total(out, skip, v, n):
        for i in range(n):
            if i != skip:
                if i == 0:
                    s = v
                else:
                    s = s + v
        out[0] = s

    out = xp.zeros(1)
    total[1, 1](out, 1, 5, 3)
    assert float(out[0]) == 10

    @cuda.jit
    def never(out):
        for i in range(3):
            out[0] = s + i  # noqa: F821
        s = 1  # noqa: F841

    with pytest.raises(bc.TypingError, match="'s' is read before it has a value"):
        never[1, 1](out)


def test_uint64_with_signed_integers_is_int64_in_kernels_and_float64_in_arrays(xp):
    @cuda.jit
    def f(out, a, b):
        out[0] = a - b
        out[1] = (a - b) // 2
        out[2] = a % b
        out[3] = a - 1 > 2**63  # which no int64 holds
        out[4] = (a * 2**60) & (2**64 - 1) == 5 << 60
        out[5] = 2**62 * 2 // 4**31

    out = xp.zeros(6)
    f[1, 1](out, np.uint64(5), np.int64(8))
    assert_array_equal(out, [-3, -2, 5, 0, 1, 2])

    @cuda.jit
    def arrays(out, a, b):
        out[:] = a - b

    out = xp.zeros(2)
    arrays[1, 1](out, xp.asarray([1, 2], dtype="u8"), xp.asarray([3, 5]))
    assert_array_equal(out, [-2, -3])


def test_addresses_are_pointers(xp):
    @cuda.jit(types.void(types.CPointer(types.uint8), types.uint32))
    def add_one(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] += 1

    x = xp.arange(10, dtype="uint8")
    add_one[1, 32](x.data.ptr, 10)
    assert_array_equal(x, np.arange(1, 11))

    @cuda.jit(types.void(types.CPointer(types.float32), types.intp))
    def through_arrays(p, address):
        rows = bc.carray(p, (2, 3), dtype=np.float32)
        columns = bc.farray(p, (2, 3))
        line = bc.carray(address, 6, np.float32)
        rows[0, 1] += 1.5
        columns[0, 1] += 10
        line[5] = line.shape[0] + columns.shape[1]

    x = xp.zeros(6, dtype="float32")
    through_arrays[1, 1](x.data.ptr, x.data.ptr)
    assert_array_equal(x, [0, 1.5, 10, 0, 0, 9])


def test_arrays_tell_their_address(xp):
    @cuda.jit
    def addresses(out, x):
        part = cuda.shared.array(4, "float32")
        own = cuda.local.array(4, "float64")
        out[0] = x.ctypes.data
        out[1] = part.ctypes.data % 4
        out[2] = own.ctypes.data % 8

    x, out = xp.ones(3), xp.ones(3, dtype="int64")
    addresses[1, 1](out, x)
    assert_array_equal(out, [x.data.ptr, 0, 0])


@cuda.jit(debug=True, opt=False)
def divides(out, x):
    out[0] = 1 / x[0]


@cuda.jit(debug=True, opt=False)
def extent(out, x):
    out[0] = x.shape[cuda.threadIdx.x]


def test_debug_kernels_raise_what_python_raises(xp):
    out = xp.zeros(1)
    with pytest.raises(ZeroDivisionError, match="division by zero\n  raised at .* in divides"):
        divides[1, 1](out, xp.zeros(1))
    divides[1, 1](out, xp.full(1, 4.0))
    assert float(out[0]) == 0.25
    with pytest.raises(IndexError, match=r"tuple index out of range\n  raised at .* by thread \(1, 0, 0\)"):
        extent[1, 2](out, xp.zeros(3))
    extent[1, 1](out, xp.zeros(3))
    assert float(out[0]) == 3


class Fruit(enum.IntEnum):
    apple = 3
    pear = 4


def test_members_of_enumerations_by_name(xp):
    @cuda.jit
    def f(out):
        out[0] = Fruit["pear"]
        out[1] = Fruit["pear"] == Fruit.apple

    out = xp.zeros(2)
    f[1, 1](out)
    assert_array_equal(out, [4, 0])


def test_print_of_thread_indices(xp, capfd):
    @cuda.jit
    def f():
        print("at", cuda.threadIdx, cuda.blockDim)

    f[1, (1, 2)]()
    xp.synchronize()
    assert sorted(capfd.readouterr().out.splitlines()) == ["at (0, 0, 0) (1, 2, 1)", "at (0, 1, 0) (1, 2, 1)"]


NAMES = [
    ("types", "float32"), ("core.types", "int64"), ("extending", "overload"), ("errors", "TypingError"), ("core.errors", "NumbaError"),
    ("core", "config"), ("np.numpy_support", "from_dtype"), ("np.numpy_support", "carray"), ("cg", "this_grid"), ("libdevice", "fast_sinf"),
    ("fp16", "hadd"), ("vector_types", "float32x4"), ("dispatcher", "CUDADispatcher"), ("cudadrv.error", "NvrtcError"),
    ("cudadrv.driver", "LinkerError"), ("kernels.transpose", "transpose"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_modules_of_numba_cuda(module, name):
    import importlib

    assert hasattr(importlib.import_module(f"broadcloth.cuda.{module}"), name)


def test_settings_and_warnings_have_numbas_names():
    import warnings

    from broadcloth.core.errors import NumbaPerformanceWarning, NumbaWarning
    from broadcloth.cuda import config

    before = config.CUDA_WARN_ON_IMPLICIT_COPY
    config.CUDA_WARN_ON_IMPLICIT_COPY = 0
    assert config.CUDA_WARN_ON_IMPLICIT_COPY is False
    config.CUDA_WARN_ON_IMPLICIT_COPY = before
    for category in (NumbaPerformanceWarning, NumbaWarning):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", category)
            warnings.warn("slow", bc.exceptions.PerformanceWarning)  # noqa: B028


def test_transposed_copies(xp):
    from broadcloth.cuda.kernels.transpose import transpose

    a = xp.arange(6.0).reshape(2, 3)
    assert_array_equal(transpose(a), np.arange(6.0).reshape(2, 3).T)
    b = xp.zeros((3, 2))
    transpose(a, b)
    assert_array_equal(b, np.arange(6.0).reshape(2, 3).T)


class Doubled:
    """An extension: takes numbers in a list as an array, and tells when the launch is done."""

    def __init__(self, xp, done):
        self.xp, self.done = xp, done

    def prepare_args(self, kind, value, stream, retr):
        if isinstance(value, list):
            value = self.xp.asarray(value, dtype="float64") * 2
            retr.append(lambda: self.done.append(stream))
        return kind, value


def test_extensions_prepare_arguments(xp):
    done = []

    @cuda.jit(extensions=[Doubled(xp, done)])
    def copy(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i]

    out = xp.zeros(3)
    copy[1, 4](out, [1, 2, 3])
    copy.forall(3)(out, [1, 2, 3])
    assert_array_equal(out, [2, 4, 6])
    assert done == [0, 0]
    copy.extensions.clear()
    copy[1, 4](out, xp.ones(3))
    assert_array_equal(out, [1, 1, 1])


def test_a_kernel_is_specialized_once(xp):
    @cuda.jit
    def f(x):
        x[0] = 1

    one = f.specialize(types.float32[::1])
    assert f.specialize(types.float32[::1]) is one and f.specialize(types.int32[::1]) is not one
    assert f.specialize(xp.zeros(2, dtype="float32")) is one
    assert len(f.specializations) == 2 and one.specialized and not f.specialized
    with pytest.raises(RuntimeError, match="specialized already"):
        one.specialize(types.float32[::1])
    x = xp.zeros(2, dtype="float32")
    f[1, 1](x)
    assert isinstance(f.get_max_threads_per_block(), dict) and isinstance(one.get_max_threads_per_block(), int)
    assert f.get_max_threads_per_block()[f.signatures[0]] == f.overloads[f.signatures[0]].max_threads_per_block


def test_launch_bounds_and_carveout(xp):
    @cuda.jit("void(float32[::1])", launch_bounds=(128, 2), shared_memory_carveout="MaxShared")
    def f(x):
        x[cuda.grid(1)] = 1

    assert "__launch_bounds__(128, 2)" in f.inspect_source(f.signatures[0])
    assert ".maxntid 128" in f.inspect_asm(f.signatures[0])
    x = xp.zeros(128, dtype="float32")
    f[1, 128](x)
    assert float(x.sum()) == 128
    f.forall(1000)(xp.zeros(4, "float32"))
    with pytest.raises(ValueError, match="a block can have 128 threads"):
        f[1, (16, 9)](xp.zeros(4, "float32"))
    with pytest.raises(ValueError, match="launch_bounds takes up to three"):
        cuda.jit(launch_bounds=(1, 2, 3, 4))(f.py_func)
    with pytest.raises(ValueError, match="shared_memory_carveout"):
        cuda.jit(shared_memory_carveout=101)(f.py_func)


def test_ufuncs_reduce_on_a_stream(xp):
    @bc.vectorize(["int32(int32, int32)"], target="cuda")
    def joined(a, b):
        return a + b

    x = xp.arange(10, dtype="int32")
    assert int(joined.reduce(x, stream=cuda.stream())) == 45


@cuda.jit(["void(float64[::1], float32, float32)", "void(float64[::1], float64, float64)"])
def declared_sums(out, a, b):
    out[0] = a + b


def test_the_signature_that_loses_least_is_launched(xp):
    out = xp.zeros(1)
    declared_sums[1, 1](out, 1, 2**-25)
    assert float(out[0]) == 1 + 2**-25
    declared_sums[1, 1](out, np.float32(1), np.float32(2**-25))
    assert float(out[0]) == 1.0


SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __device__ int count_lanes(unsigned int* out, const void* values) {
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
  *out = tile.size() + static_cast<const float*>(values)[tile.thread_rank()];
  return 0;
}
"""


def test_linked_functions_have_their_own_integers_and_pointers(xp):
    count = cuda.declare_device("count_lanes", "int32(CPointer(float32))", link=cuda.CUSource(SOURCE))

    @cuda.jit
    def f(out, values):
        out[cuda.grid(1)] = count(cuda.ffi.from_buffer(values))

    out = xp.zeros(16)
    f[1, 16](out, xp.arange(8, dtype="float32"))
    assert_array_equal(out, 8 + np.arange(16) % 8)


def test_atomic_extremes_do_not_take_nan(xp):
    @cuda.jit
    def extremes(out, v):
        cuda.atomic.max(out, 0, v)
        cuda.atomic.min(out, 1, v)
        cuda.atomic.nanmax(out, 2, v)
        cuda.atomic.nanmin(out, 3, v)

    for dtype in ("float64", "float32"):
        out = xp.full(4, 2.0, dtype=dtype)
        extremes[1, 1](out, np.nan)
        assert_array_equal(out, [2, 2, 2, 2])
        out = xp.full(4, np.nan, dtype=dtype)
        extremes[1, 1](out, 3.0)
        assert_array_equal(out, [np.nan, np.nan, 3, 3])


def test_types_tell_what_they_are():
    assert types.int16.bitwidth == 16 and types.int16.signed and not types.uint8.signed
    assert types.complex64.underlying_float == types.float32
    assert types.NoneType("none") == types.none and isinstance(types.none, types.NoneType)
    assert types.uint16 in types.integer_domain and types.float32 in types.real_domain and types.float32 not in types.integer_domain


def test_alignments_of_arrays_are_powers_of_two(xp):
    def made(alignment):
        @cuda.jit
        def f(out):
            x = cuda.local.array(3, "uint8", alignment=alignment)
            out[0] = x.ctypes.data % 256

        return f

    out = xp.ones(1, dtype="int64")
    made(256)[1, 1](out)
    assert int(out[0]) == 0
    made(None)[1, 1](out)
    for wrong in (0, -1, 24):
        with pytest.raises(ValueError, match=f"the alignment must be a power of two, got {wrong}"):
            made(wrong)[1, 1](out)
    with pytest.raises(bc.TypingError, match="the alignment must be a constant integer"):
        made(2.0)[1, 1](out)


def test_contexts_give_streams_and_managed_memory(xp):
    context = cuda.current_context()
    for stream in (context.get_legacy_default_stream(), context.get_per_thread_default_stream(), context.create_external_stream(0)):
        stream.synchronize()
    assert context.memallocmanaged(64).mem.size >= 64
    a, new = cuda.devicearray.auto_device(np.arange(3.0))
    same, again = cuda.devicearray.auto_device(a)
    assert new and same is a and not again
    assert_array_equal(a.copy_to_host(), [0, 1, 2])


@cuda.jit(device=True)
def applied(f, *args):
    return f(*args)


def test_inner_functions_that_are_given_away_take_constants_along(xp):
    @cuda.jit
    def f(out, x):
        y, half = 10, 0.5

        def scaled(z, by=2):
            return y + z * by * half

        out[0] = applied(scaled, x)
        out[1] = applied(scaled, x, 4)
        out[2] = scaled(x)

    out = xp.zeros(3)
    f[1, 1](out, 6)
    assert_array_equal(out, [16, 22, 16])

    @cuda.jit
    def several(out, x):
        y = 1

        def more(z):
            return y + z

        out[0] = applied(more, x)
        y = 2
        out[1] = applied(more, x)

    with pytest.raises(bc.TypingError, match="'more' is given away and reads 'y', which has several values"):
        several[1, 1](out, 6)


def test_an_output_of_a_gufunc_is_given_once():
    @bc.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def double(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    x, out = np.arange(3.0), np.empty(3)
    with pytest.raises(ValueError, match="cannot specify argument 'out' as both positional and keyword"):
        double(x, out, out=out)
    assert double(x, out=out).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    "a",
    [np.array([1, 0, 2, 0, 3]), np.array([True, False, True]), np.array([[1.0, 0], [-0.0, np.nan]], "f4"), np.array(4), np.zeros(0, "u1")],
)
def test_kernels_count_elements_that_are_not_zero(a):
    @cuda.jit
    def count(a, out):
        out[0] = np.count_nonzero(a)

    out = np.zeros(1, dtype=np.int64)
    count[1, 1](a, out)
    assert out[0] == np.count_nonzero(a)


def test_record_arrays_have_the_type_of_their_aligned_records():
    dtype = np.dtype([("a", np.int32), ("b", np.float64)], align=True)

    @cuda.jit((types.from_dtype(dtype)[:],))
    def fill(x):
        i = cuda.grid(1)
        x[i].a = x[i].b

    for x in (np.recarray(3, dtype=dtype), np.zeros(3, dtype)):
        x["b"] = [1, 2, 3]
        fill[1, 3](x)
        assert x["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_in_kernels_leave_nan_out(name, dtype):
    function = getattr(np, name)

    @cuda.jit
    def reduce(a, out):
        out[0] = function(a)

    arrays = [np.array([[3, 0, 1], [7, 2, 5]]).astype(dtype), np.array([5, 1, 4, 1])[::-2].astype(dtype)]
    if dtype[0] == "f":
        arrays += [np.array([np.nan, 2, np.inf, -3, np.nan], dtype), np.array([np.nan, np.nan], dtype), np.array([-2, np.nan], dtype)]
    for a in arrays:
        out = np.zeros(1)
        reduce[1, 1](a, out)
        assert_allclose(out[0], function(a), rtol=1e-6)
