"""What a kernel may be given, and what it does with it: tuples, records, host arrays, arrays without dimensions."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit

pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


def test_empty_tuples_take_their_place_among_arguments(xp):
    @cuda.jit
    def kernel(out, nested, empty, last):
        out[0] = len(nested[0])
        out[1] = nested[1][0]
        out[2] = nested[2][2]
        out[3] = len(empty)
        out[4] = last

    out = xp.zeros(5, dtype="int64")
    kernel[1, 1](out, ((), (5, 6), (8, 9, 10)), (), 7)
    assert out.tolist() == [0, 5, 10, 0, 7]


@pytest.mark.parametrize(("shape", "expected"), [(-1, (12,)), ((3, -1), (3, 4)), ((2, -1, 2), (2, 3, 2)), ((12,), (12,))])
def test_reshape_finds_an_extent_that_is_known_at_run_time_only(xp, shape, expected):
    @cuda.jit
    def kernel(a, shape, out):
        b = a.reshape(shape)
        for i in range(b.ndim):
            out[i] = b.shape[i]

    out = xp.zeros(3, dtype="int64")
    kernel[1, 1](xp.arange(12).reshape(4, 3), shape, out)
    assert out.tolist()[: len(expected)] == list(expected)


def test_arrays_without_dimensions_are_numbers_in_expressions_and_indices(xp):
    @cuda.jit
    def kernel(x, i, scale):
        x[i] = scale * 2 + x[i + 1]

    x = xp.arange(4.0)
    kernel[1, 1](x, xp.array(2), xp.array(5.0))
    assert x.tolist() == [0, 1, 13, 3]


@pytest.mark.parametrize(
    "make", [lambda: np.zeros(3), lambda: np.zeros((2, 3)).T[0], lambda: np.zeros(6)[::2], lambda: np.zeros(2, "i4,f8")]
)
def test_what_a_kernel_writes_into_an_argument_that_is_only_read_stays_there(make):
    @cuda.jit
    def write(x):
        x[0] = 3

    @cuda.jit
    def write_field(x):
        x[0].f0 = 3

    a = make()
    kernel = write_field if a.dtype.names else write
    kernel[1, 1](cuda.In(a))
    assert not a.tobytes().strip(b"\0")
    kernel[1, 1](cuda.InOut(a))
    assert (a["f0"] if a.dtype.names else a)[0] == 3


def test_a_compiled_function_computes_with_an_array_without_dimensions():
    @njit
    def formula(a, b):
        return 4 * a - b / 2

    assert formula(np.array(3.0), np.array(4.0)) == 10.0
    with bc.device("cpu"):
        assert [float(formula(x, 1.0)) for x in bc.array([1.0, 2.0])] == [3.5, 7.5]


@njit
def sinc(x):
    return 1.0 if x == 0 else math.sin(x) / x


@njit
def subtract(a, b):
    return b - a


@njit
def floor(x):
    return sinc(x) + subtract(1.0, 2.0) + math.floor(x)


def test_functions_may_have_the_names_of_mathematics(xp):
    expected = math.sin(2.5) / 2.5 + 1 + 2
    assert floor(2.5) == pytest.approx(expected)
    assert_allclose(bc.vectorize(floor)(np.array([2.5])), [expected])
    assert_allclose(bc.vectorize(floor)(xp.array([2.5])).get(), [expected])

    @cuda.jit
    def memset(x):
        x[0] = floor(x[0])

    x = xp.array([2.5])
    memset[1, 1](x)
    assert float(x[0]) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions_of_the_math_module(xp, dtype):
    def special(x):
        return math.erf(x) + math.erfc(x / 2) * math.gamma(x) - math.lgamma(x)

    x = np.array([0.5, 1.5, 3.0], dtype)
    expected = [special(float(v)) for v in x]
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    assert_allclose([njit(special)(v) for v in x], expected, rtol=tolerance)
    assert_allclose(bc.vectorize(special)(x), expected, rtol=tolerance)
    assert_allclose(bc.vectorize(special)(xp.asarray(x)).get(), expected, rtol=tolerance)
    function = njit(special)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = function(x[i])

    y = xp.asarray(x)
    kernel[1, 32](y)
    assert_allclose(y.get(), expected, rtol=tolerance)
    assert_array_equal(x, np.array([0.5, 1.5, 3.0], dtype))


# ---- records and host arrays


POINT = np.dtype([("x", "f4"), ("n", "i4"), ("parts", "f8", (3,))], align=True)


def test_what_a_kernel_writes_into_a_record_is_seen(xp):
    @cuda.jit
    def kernel(r, i):
        r.x = r.n + i
        r.parts[1] = 2.5

    array = np.zeros(2, POINT)
    array["n"] = 3
    kernel[1, 1](array[1], 4)
    assert array[1]["x"] == 7 and array[1]["parts"][1] == 2.5 and array[0]["x"] == 0
    single = np.recarray(1, POINT)[0]
    single.n = 1
    kernel[1, 1](single, 1)
    assert single.x == 2 and single.parts[1] == 2.5


def test_signatures_name_records_by_their_dtype(xp):
    point = bc.types.from_dtype(POINT)
    assert point.dtype == POINT and point[:].dtype == point
    assert bc.types.from_dtype("f4") == bc.types.float32

    @cuda.jit(bc.types.void(point[:], point, bc.types.int64))
    def kernel(points, one, i):
        points[i].x = one.x + 1
        one.n = i

    points = np.zeros(3, POINT)
    points[0]["x"] = 5
    kernel[1, 1](points, points[0], 2)
    assert points["x"].tolist() == [5, 0, 6] and points["n"].tolist() == [2, 0, 0]
    assert repr(pickle.loads(pickle.dumps(point[:]))) == repr(point[:])


@pytest.mark.parametrize("kind", ["packed", "strided", "reversed"])
def test_host_arrays_that_do_not_lie_at_whole_elements(xp, kind):
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = 2 * x[i] + 1

    if kind == "reversed":
        x = np.arange(6, dtype="i4")[::-1]
    else:
        records = np.zeros(6, np.dtype([("a", "u1"), ("v", "i4")], align=kind == "strided"))
        x = records["v"]
        x[:] = np.arange(6)
    expected = 2 * x + 1
    kernel[1, 32](x)
    assert_array_equal(x, expected)


def test_device_functions_know_the_integers_and_shapes_that_they_are_called_with(xp):
    @cuda.jit(device=True)
    def exchange(a, shape, n, cast):
        tile = cuda.shared.array(shape, "int64")
        t = cuda.threadIdx.x
        tile[0, t] = a[t]
        cuda.syncthreads()
        a[t] = tile[0, cast((t + 1) % n)] + shape[1]

    @cuda.jit(device=True)
    def same(i):
        return i

    @cuda.jit
    def kernel(a):
        exchange(a, (2, 8), 8, same)

    a = xp.arange(8)
    kernel[1, 8](a)
    assert a.tolist() == [9, 10, 11, 12, 13, 14, 15, 8]


# ---- what a kernel tells of itself


def test_compiled_forms_are_found_by_their_types(xp):
    @cuda.jit
    def kernel(m, s):
        m[0, 0] = s

    kernel[1, 1](xp.zeros((2, 3), dtype="int32"), 2)
    form = kernel.overloads[(bc.types.int32[:, ::1], bc.types.int64)]
    assert not form.cooperative and "kernel" in form.source
    assert form.max_cooperative_grid_blocks(32) >= 1 and form.max_cooperative_grid_blocks((8, 4)) >= 1
    assert form.max_threads_per_block >= 32


FACTOR = 2


def test_recompile_reads_globals_again(xp, monkeypatch):
    @cuda.jit("void(int64[:])")
    def kernel(x):
        x[0] = FACTOR

    x = xp.zeros(1, dtype="int64")
    kernel[1, 1](x)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    kernel[1, 1](x)
    assert int(x[0]) == 2
    kernel.recompile()
    kernel[1, 1](x)
    assert int(x[0]) == 5
    with pytest.raises(TypeError, match="no signature fits"):
        kernel[1, 1](xp.zeros(1, dtype="float32"))


@njit
def compiled(x):
    return x + 1


@cuda.jit
def launched(x):
    x[0] += 1


@cuda.jit(device=True)
def called(x):
    return x + 1


@bc.vectorize
def each(x):
    return x + 1


@bc.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def core(x, out):
    out[0] = x[0]


@bc.stencil
def neighbours(a):
    return a[-1] + a[1]


@pytest.mark.parametrize("function", [compiled, launched, called, each, core, neighbours], ids=lambda f: f.__name__)
def test_compiled_functions_are_pickled_by_their_names(function):
    assert pickle.loads(pickle.dumps(function)) is function


def local_functions(step):
    import math as mathematics

    def plain(v):
        return mathematics.floor(v) + step

    @bc.cuda.jit(device=True)
    def down(v, by=2):
        return plain(v) if v < by else down(v - by)

    @bc.cuda.jit
    def kernel(out, v):
        i = bc.cuda.grid(1)
        if i < out.size:
            out[i] = down(v + i)

    @bc.njit
    def host(v):
        return plain(v) * np.float64(2)

    return kernel, host, bc.vectorize(lambda v: v * step)


def test_local_functions_are_pickled_by_value(xp):
    kernel, host, each = local_functions(10)
    data = pickle.dumps([kernel, host, each, kernel[2, 3], kernel.forall(4), kernel.configure(1, 4, sharedmem=8)])
    for again in (pickle.loads(data), pickle.loads(pickle.dumps(pickle.loads(data)))):
        for launch in (again[0][1, 4], *again[3:]):
            out = xp.zeros(4)
            launch(out, 4.5)
            assert out.tolist() == [10, 11, 10, 11]
        assert again[1](1.5) == 22
        assert again[2](np.arange(3)).tolist() == [0, 10, 20]
        assert (again[3].griddim, again[3].blockdim, again[5].sharedmem) == ((2, 1, 1), (3, 1, 1), 8)
    with pytest.raises(TypeError, match="stream"):
        pickle.dumps(kernel[1, 1, bc.cuda.stream()])


def test_a_pickled_function_keeps_its_text(tmp_path):
    file = tmp_path / "written.py"
    program = """
import pickle, sys, broadcloth as bc
def make():
    @bc.cuda.jit
    def kernel(x):
        x[0] = NUMBER
    return kernel
if NUMBER == 1:
    open(sys.argv[1], "wb").write(pickle.dumps(make()))
else:
    x = bc.zeros(1)
    pickle.loads(open(sys.argv[1], "rb").read())[1, 1](x)
    print(int(x[0]))
"""
    for number in "12":
        file.write_text(program.replace("NUMBER", number))
        ended = subprocess.run([sys.executable, file, tmp_path / "pickle"], capture_output=True, text=True, check=True)
    assert ended.stdout == "1\n"


def test_kernels_in_cuda_cpp_are_pickled_by_their_text(xp):
    text = 'extern "C" __global__ void fill(int* x, int v) { x[threadIdx.x] = v + N; }'
    for kernel in (bc.RawKernel(text, "fill", options=("-DN=4",)), bc.RawModule(code=text, options=("-DN=4",))):
        made = pickle.loads(pickle.dumps(kernel))
        made = made if isinstance(made, bc.RawKernel) else made.get_function("fill")
        x = xp.zeros(3, dtype="int32")
        made((1,), (3,), (x, np.int32(3)))
        assert x.tolist() == [7, 7, 7]


def test_devices_are_sliced_as_a_list():
    assert cuda.gpus[:1] == [cuda.gpus[0]] and cuda.gpus[len(cuda.gpus) :] == []
