"""PyCUDA's kernels: elementwise, reduction and scan, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.cuda.pycuda.elementwise import ElementwiseKernel
from broadcloth.cuda.pycuda.reduction import ReductionKernel
from broadcloth.cuda.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from support import host


def test_linear_combination(xp):
    kernel = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "linear_combination")
    a, b = np.random.default_rng(0).standard_normal((2, 500)).astype("float32")
    x, y = xp.array(a), xp.array(b)
    z = xp.empty_like(x)
    assert kernel(5, x, 6, y, z) is None
    np.testing.assert_allclose(host(z), 5 * a + 6 * b, rtol=1e-5, atol=1e-6)


def test_what_is_read_before_it_is_written(xp):
    kernel = ElementwiseKernel("double *x, const double *by, int k", "x[i] *= by[i]; if (i > k) x[i]++;", "in_place")
    x = xp.arange(10.0).reshape(2, 5)
    kernel(x, xp.full((2, 5), 2.0), 6)
    want = np.arange(10.0) * 2
    want[7:] += 1
    np.testing.assert_array_equal(host(x), want.reshape(2, 5))


def test_a_part_of_the_arrays(xp):
    kernel = ElementwiseKernel("int *x", "x[i] = i + 100", "place")
    x = xp.zeros(10, "int32")
    kernel(x, slice=slice(2, 8, 2))
    assert host(x).tolist() == [0, 0, 100, 0, 101, 0, 102, 0, 0, 0]


def test_neighbours(xp):
    kernel = ElementwiseKernel("float *x, float *y, int n_all", "y[i] = i > 0 && i + 1 < n_all ? x[i - 1] + x[i + 1] : 0", "neighbours")
    a = np.arange(100, dtype="float32")
    y = xp.empty(100, "float32")
    kernel(xp.array(a), y, 100)
    want = np.zeros(100, "float32")
    want[1:-1] = a[:-2] + a[2:]
    np.testing.assert_array_equal(host(y), want)


def test_dot_product(xp):
    dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")
    a, b = np.random.default_rng(0).standard_normal((2, 40_000)).astype("float32")
    got = dot(xp.array(a), xp.array(b))
    assert got.shape == () and got.dtype == np.float32
    np.testing.assert_allclose(float(got), a.astype(float) @ b.astype(float), rtol=1e-4)


def test_a_reduction_without_a_map(xp):
    top = ReductionKernel(np.int32, neutral=-(2**31) + 1, reduce_expr="max(a,b)", arguments="int *in")
    assert int(top(xp.arange(1000, dtype="int32"))) == 999
    out = xp.empty((), "int32")
    top(xp.arange(5, dtype="int32"), out=out)
    assert int(out) == 4


def test_a_map_that_looks_at_neighbours(xp):
    total = ReductionKernel(np.float64, neutral=0, reduce_expr="a+b", map_expr="x[i] * x[n - 1 - i]", arguments="double *x")
    a = np.arange(100.0)
    assert float(total(xp.array(a))) == (a * a[::-1]).sum()


@pytest.mark.parametrize("size", [1, 2, 100, 2048, 5000, 300_001])
def test_scans(xp, size):
    a = np.random.default_rng(size).integers(-100, 100, size).astype("int32")
    x = xp.array(a)
    out = xp.empty_like(x)
    InclusiveScanKernel(np.int32, "a+b")(x, out)
    np.testing.assert_array_equal(host(out), a.cumsum().astype("int32"))
    InclusiveScanKernel(np.int32, "max(a, b)")(x, out)
    np.testing.assert_array_equal(host(out), np.maximum.accumulate(a))
    returned = ExclusiveScanKernel(np.int32, "a+b", neutral=0)(x)
    assert returned is x
    np.testing.assert_array_equal(host(x), np.concatenate([[0], a.cumsum()[:-1]]).astype("int32"))


def test_a_scan_whose_join_has_an_order(xp):
    """The first of two values that is not zero: associative, and not commutative."""
    a = np.zeros(100_000)
    a[[70, 40_000, 99_000]] = [3, 2, 1]
    got = InclusiveScanKernel(np.float64, "a != 0 ? a : b", name_prefix="first_set")(xp.array(a))
    want = np.zeros(100_000)
    want[70:] = 3
    np.testing.assert_array_equal(host(got), want)


def test_errors(xp):
    kernel = ElementwiseKernel("float *x, float *y", "y[i] = x[i]", "copy_kernel")
    x = xp.arange(3, dtype="float32")
    with pytest.raises(TypeError, match="copy_kernel: expected 2 arguments"):
        kernel(x)
    with pytest.raises(TypeError, match="copy_kernel: expected float32 for 'y', got float64"):
        kernel(x, xp.empty(3))
    with pytest.raises(ValueError, match="copy_kernel: expected arrays of one size, got 3 and 2 for 'y'"):
        kernel(x, xp.empty(2, "float32"))
    with pytest.raises(TypeError, match="expected a number's type in C for 'x', got 'matrix'"):
        ElementwiseKernel("matrix *x", "x[i] = 1")
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(np.int32, "a+b")
    with pytest.raises(bc.CompileError, match="nothing_here"):
        InclusiveScanKernel(np.int32, "nothing_here(a, b)")(xp.arange(10, dtype="int32"))
