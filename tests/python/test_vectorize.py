"""`vectorize`, `guvectorize` and `stencil`: against NumPy, on NumPy arrays and on every device."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import guvectorize, njit, stencil, vectorize


@vectorize
def clipped(x, top):
    return x if x < top else top


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], identity=0)
def add(a, b):
    return a + b


# ---- vectorize, NumPy arrays


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "float64", "bool"])
def test_lazy_loops_are_compiled_for_what_comes(dtype):
    a = np.arange(7).astype(dtype)
    b = np.full(7, 3).astype(dtype)
    made = clipped(a, b)
    assert_array_equal(made, np.minimum(a, b))


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[::-1], lambda a: a[:0]])
def test_any_layout_and_broadcasting(view):
    a = view(np.arange(2000.0).reshape(40, 50))
    assert_array_equal(add(a, a[:1]), a + a[:1])
    assert_array_equal(add(a, 2), a + 2)


def test_eager_loops_are_chosen_by_casting():
    assert add(np.ones(3, np.float32), np.ones(3, np.float32)).dtype == np.float32
    assert add(np.ones(3, np.int16), np.ones(3, np.float32)).dtype == np.float32
    assert add(np.ones(3, np.int64), 1).dtype == np.float64
    assert add.types == ["ff->f", "dd->d"] and add.nin == 2 and add.nout == 1 and add.ntypes == 2 and add.signature is None
    with pytest.raises(TypeError):
        add(np.ones(3, complex), 1)
    assert isinstance(add(1.0, 2.0), np.float64)


@pytest.mark.parametrize("options", [{"excluded": {1}}, {"signature": "(n)->()"}])
def test_options_of_numpys_vectorize_are_refused(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))}= is numpy.vectorize's"):
        vectorize(lambda x: x + 1, **options)
    with pytest.raises(TypeError, match="numpy.vectorize's"):
        vectorize(**options)


@pytest.mark.parametrize("otypes", ["d", [np.float64], ["float64"]])
def test_otypes_are_the_dtype_of_the_result(otypes):
    function = vectorize(lambda x: x * x + 1, otypes=otypes, doc="Squares.", excluded=None, cache=False, signature=None)
    assert function.__doc__ == "Squares."
    for xp in (np, bc):
        for dtype in ("int32", "float32", "float64"):
            made = function(xp.arange(4, dtype=dtype))
            assert made.dtype == np.float64
            assert_array_equal(bc.asnumpy(made), np.arange(4.0) ** 2 + 1)
    assert pickle.loads(pickle.dumps(vectorize(_increased, otypes=otypes)))(np.arange(3)).dtype == np.float64
    assert vectorize(pyfunc=lambda x: x > 1, otypes="?")(bc.arange(3)).tolist() == [False, False, True]
    with pytest.raises(TypeError, match="one dtype"):
        vectorize(lambda x: (x, x), otypes="dd")


def _increased(x):
    return x + 1


def test_methods_of_ufuncs():
    a = np.arange(12.0).reshape(3, 4)
    assert_array_equal(add.reduce(a), a.sum(0))
    assert_array_equal(add.reduce(a, axis=1), a.sum(1))
    assert add.reduce(np.zeros(0)) == 0
    assert_array_equal(add.accumulate(a[0]), np.cumsum(a[0]))
    assert_array_equal(add.outer(a[0], a[1]), np.add.outer(a[0], a[1]))
    assert_array_equal(add.reduceat(a[0], [0, 2]), np.add.reduceat(a[0], [0, 2]))
    b = np.zeros(3)
    add.at(b, [0, 0, 2], 1.0)
    assert_array_equal(b, [2, 0, 1])


def test_out_and_where():
    out = np.full(4, -1.0)
    made = add(np.ones(4), np.arange(4.0), out=out, where=np.array([True, False, True, False]))
    assert made is out
    assert_array_equal(out, [1, -1, 3, -1])
    assert add(np.ones(4), np.ones(4), out) is out


def test_the_result_type_of_a_signature_counts():
    @vectorize(["int32(float64)"])
    def whole(x):
        return math.floor(x)

    made = whole(np.array([1.7, -1.2]))
    assert made.dtype == np.int32
    assert_array_equal(made, [1, -2])


def test_parallel_target_gives_the_same():
    @vectorize(["float64(float64)"], target="parallel")
    def f(x):
        return math.sin(x) * x

    a = np.linspace(-50, 50, 300_001)
    assert_allclose(f(a), np.sin(a) * a, rtol=1e-13, atol=1e-13)


def test_no_warnings_of_lanes_that_are_not_taken(recwarn):
    @vectorize(["float64(float64)"])
    def root(x):
        return math.sqrt(x) if x >= 0 else 0.0

    assert_array_equal(root(np.array([4.0, -1.0] * 100)), [2.0, 0.0] * 100)
    assert not recwarn.list


def test_exceptions_reach_the_caller():
    @vectorize(["int64(int64)"])
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return x

    assert_array_equal(f(np.arange(3)), [0, 1, 2])
    with pytest.raises(ValueError, match="negative"):
        f(np.array([1, -1]))


def test_wrong_targets_and_arguments():
    with pytest.raises(ValueError, match="target"):
        vectorize(target="gpu")
    with pytest.raises(TypeError, match="2 operands"):
        clipped(1)


# ---- vectorize, arrays of broadcloth


def test_it_fuses_with_array_expressions(xp, device):
    a = xp.arange(10.0)
    made = clipped(a * 2, 7.0) + 1
    assert isinstance(made, bc.ndarray) and made.device == a.device
    assert_array_equal(made.get(), np.minimum(np.arange(10.0) * 2, 7) + 1)


def test_arrays_of_ours_with_out_where_and_python_numbers(xp, device):
    a = xp.arange(6, dtype="float32")
    assert add(a, 2).dtype == np.float32
    out = xp.zeros(6, dtype="float32")
    assert add(a, a, out=out) is out
    assert_array_equal(out.get(), 2 * np.arange(6))
    add(a, 10, out=out, where=a > 3)
    assert_array_equal(out.get(), [0, 2, 4, 6, 14, 15])
    assert_array_equal(add.reduce(a.astype("float64")).get(), 15)
    assert_array_equal(add.outer(a, a).get(), np.add.outer(np.arange(6.0), np.arange(6.0)))


def test_functions_call_each_other(xp, device):
    @njit
    def half(x):
        return x / 2

    @vectorize
    def f(x, n):
        s = 0.0
        for i in range(n):
            s += half(x) ** i
        return s

    @njit
    def inside(a):
        s = 0.0
        for x in a:
            s += f(x, 3)
        return s

    a = np.linspace(0, 1, 50)
    expected = 1 + a / 2 + a**2 / 4
    assert_allclose(f(a, 3), expected)
    assert_allclose(f(xp.asarray(a), 3).get(), expected)
    assert inside(a) == pytest.approx(expected.sum())


# ---- guvectorize


@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def shifted(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + by


@guvectorize("(m,n),(n,p)->(m,p)")
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(x, out):
    s = 0.0
    for v in x:
        s += v
    out[0] = s


def test_guvectorize_on_numpy_arrays():
    x = np.arange(12.0).reshape(3, 4)
    assert_array_equal(shifted(x, np.array([1.0, 2.0, 3.0])), x + [[1], [2], [3]])
    assert_array_equal(shifted(x.T[::2], 1), x.T[::2] + 1)
    a, b = np.random.default_rng(0).random((5, 2, 3)), np.random.default_rng(1).random((3, 4))
    assert_allclose(product(a, b), a @ b)
    assert_array_equal(total(x), x.sum(1))
    assert total(x[0]) == x[0].sum()
    out = np.zeros(3)
    assert total(x, out) is out
    assert shifted.signature == "(n),()->(n)" and shifted.nin == 2
    with pytest.raises(ValueError):
        product(a, a)


def test_guvectorize_on_arrays_of_broadcloth(xp, device):
    x = np.arange(12.0).reshape(3, 4)
    assert_array_equal(shifted(xp.asarray(x), xp.asarray([1.0, 2.0, 3.0])).get(), x + [[1], [2], [3]])
    a, b = np.random.default_rng(0).random((5, 2, 3)), np.random.default_rng(1).random((3, 4))
    assert_allclose(product(xp.asarray(a), xp.asarray(b)).get(), a @ b)
    assert_array_equal(total(xp.asarray(x)).get(), x.sum(1))
    assert_array_equal(total(xp.asarray(x[0])).get(), x[0].sum())


def test_guvectorize_in_parallel():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="parallel")
    def sums(x, out):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            out[i] = s

    x = np.random.default_rng(2).random((200, 50))
    assert_allclose(sums(x), np.cumsum(x, axis=1))


# ---- stencil


@stencil
def laplace(a):
    return a[0, 1] + a[0, -1] + a[1, 0] + a[-1, 0] - 4 * a[0, 0]


def laplace_numpy(a):
    out = np.zeros_like(a)
    out[1:-1, 1:-1] = a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1] - 4 * a[1:-1, 1:-1]
    return out


def test_stencil(xp, device):
    a = np.random.default_rng(0).random((6, 7))
    assert_allclose(laplace(a), laplace_numpy(a))
    assert_allclose(laplace(xp.asarray(a)).get(), laplace_numpy(a))
    out = np.full_like(a, 9.0)
    laplace(a, out=out)
    assert out[0, 0] == 9.0 and out[1, 1] == laplace_numpy(a)[1, 1]


def test_stencil_options():
    @stencil(cval=-1.0, neighborhood=((-2, 0),), standard_indexing=("weights",))
    def smooth(a, weights):
        s = 0.0
        for i in range(-2, 1):
            s += a[i] * weights[i + 2]
        return s

    a, w = np.arange(6.0), np.array([0.5, 0.25, 0.25])
    made = smooth(a, w)
    assert_array_equal(made[:2], [-1, -1])
    assert_allclose(made[2:], a[:-2] * 0.5 + a[1:-1] * 0.25 + a[2:] * 0.25)
    with pytest.raises(ValueError, match="constant"):
        stencil("wrap")(lambda a: a[0])


# ---- scalars that are declared as vectors, results in the caller's arrays


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_a_scalar_operand_may_be_declared_as_a_vector(xp, target):
    @guvectorize(["void(int64[:], int64[:], int64[:])"], "(n),()->(n)", target=target)
    def shifted(x, by, out):
        for i in range(x.size):
            out[i] = x[i] + by[0]

    x, by = np.arange(6).reshape(2, 3), np.array([10, 20])
    assert_array_equal(shifted(x, by), x + by[:, None])
    assert_array_equal(shifted(xp.asarray(x), xp.asarray(by)).get(), x + by[:, None])
    assert_array_equal(shifted(x[0], 5), x[0] + 5)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_generalised_ufunc_fills_the_array_that_it_is_given(target):
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target=target)
    def doubled(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    x, out = np.arange(5.0), np.zeros(5)
    assert doubled(x, out=out) is out
    assert_array_equal(out, 2 * x)
    again = np.zeros(5)
    doubled(x, again)
    assert_array_equal(again, 2 * x)


def test_options_that_numba_has_not_are_errors():
    def f(x, out):
        out[0] = x[0]

    declared = ["void(float64[:], float64[:])"]
    with pytest.raises(KeyError, match="Unrecognized options: what"):
        bc.guvectorize(declared, "(n)->(n)", what=1)
    with pytest.raises(TypeError, match="options are not supported: ever, what"):
        bc.guvectorize(declared, "(n)->(n)", target="cuda", what=1, ever=2)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        bc.guvectorize(declared, "(n)->(n)", target="cuda", nopython=False)
    bc.guvectorize(declared, "(n)->(n)", target="cuda", nopython=True)(f)
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        bc.vectorize(["float64(float64)"], target="cuda", nopython=True)


@pytest.mark.gpu
@pytest.mark.skipif(bc.device_count("cuda") == 0, reason="needs a GPU")
def test_arrays_of_another_library_on_a_gpu_are_taken_where_they_lie():
    class Foreign:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    @vectorize(["f8(f8, f8)"], target="cuda")
    def plus(a, b):
        return a + b

    @bc.guvectorize(["(f8[:], f8, f8[:])"], "(n),()->(n)", target="cuda")
    def scaled(a, b, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * b

    x = np.arange(6.0)
    on_gpu, out = Foreign(bc.array(x, device="cuda")), Foreign(bc.zeros(6, device="cuda"))
    for function, want in ((plus, x + 3), (scaled, x * 3)):
        made = function(on_gpu, 3.0)
        assert isinstance(made, bc.ndarray)
        np.testing.assert_array_equal(bc.asnumpy(made), want)
        function(on_gpu, 3.0, out=out)
        np.testing.assert_array_equal(bc.asnumpy(out.array), want)
