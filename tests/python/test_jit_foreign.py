"""Compiled functions and C (callbacks, ctypes), registered methods and attributes, the number of threads, and the compiler switched off."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
import sys

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import carray, cfunc, farray, njit, prange, types
from broadcloth.extending import get_cython_function_address, overload_attribute, overload_method

libm = ctypes.CDLL(ctypes.util.find_library("m"))
c_cbrt = libm.cbrt
c_cbrt.argtypes, c_cbrt.restype = [ctypes.c_double], ctypes.c_double
c_frexp = libm.frexp
c_frexp.argtypes, c_frexp.restype = [ctypes.c_double, ctypes.POINTER(ctypes.c_int)], ctypes.c_double
libc = ctypes.CDLL(None)
c_memset = libc.memset
c_memset.argtypes, c_memset.restype = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], ctypes.c_void_p


def test_callbacks_are_called_by_c():
    @cfunc("int32(CPointer(float64), CPointer(float64))")
    def descending(a, b):
        return 1 if a[0] < b[0] else -1 if a[0] > b[0] else 0

    qsort = libc.qsort
    qsort.restype = None
    x = np.random.default_rng(0).random(100)
    expected = np.sort(x)[::-1]
    qsort(ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.size), ctypes.c_size_t(8), ctypes.c_void_p(descending.address))
    np.testing.assert_array_equal(x, expected)


def test_callbacks_see_memory_as_arrays():
    @cfunc(types.void(types.CPointer(types.float32), types.intc, types.intc))
    def scale(pointer, rows, columns):
        a = carray(pointer, (rows, columns))
        f = farray(pointer, (columns, rows))
        a[0] *= 10.0
        f[0, 1] = -1.0

    @cfunc("float64(voidptr, int64)")
    def total(pointer, n):
        return carray(pointer, n, dtype=np.float64).sum()

    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    scale.ctypes(m.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), 2, 3)
    np.testing.assert_array_equal(m, [[0, 10, 20], [-1, 4, 5]])
    assert total.ctypes(np.arange(5.0).ctypes.data, 5) == 10.0
    assert total.py_func is not None and total.address > 0
    memory = (ctypes.c_double * 3)(1, 2, 3)
    view = carray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), 3)
    view[1] = 7
    assert memory[1] == 7


def test_scipy_integrates_a_callback():
    integrate = pytest.importorskip("scipy.integrate")
    scipy = pytest.importorskip("scipy")

    @cfunc("float64(intc, CPointer(float64))")
    def integrand(n, args):
        return np.exp(-args[0]) / args[0] ** 2

    value, _ = integrate.quad(scipy.LowLevelCallable(integrand.ctypes), 1, np.inf)
    assert abs(value - 0.14849550677592205) < 1e-10


def test_an_exception_in_a_callback_is_printed(capfd):
    @cfunc("float64(float64)")
    def root(x):
        if x < 0:
            raise ValueError("below zero")
        return x**0.5

    f = root.ctypes
    assert f(4.0) == 2.0
    assert f(-1.0) == 0.0
    assert "ValueError: below zero" in capfd.readouterr().err


def test_callbacks_take_numbers_and_pointers_only():
    with pytest.raises(bc.TypingError, match="CPointer"):
        cfunc("float64(float64[:])")(lambda a: a[0])
    with pytest.raises(TypeError, match="expected a signature"):
        cfunc(lambda x: x)


def test_functions_of_ctypes_are_called():
    @njit
    def roots(a):
        return c_cbrt(a[0]) + c_cbrt(8)

    @njit
    def halves(x):
        exponent = np.zeros(1, dtype=np.int32)
        return c_frexp(x, exponent.ctypes), exponent[0]

    @njit
    def cleared(a):
        c_memset(a.ctypes, 0, a.nbytes)
        return a.sum()

    assert roots(np.array([27.0])) == 5.0
    assert halves(12.0) == (0.75, 4)
    assert cleared(np.ones(9)) == 0.0

    @njit
    def wrong(a):
        return c_frexp(1.0, a.ctypes)

    with pytest.raises(bc.TypingError, match="frexp"):
        wrong(np.ones(1))


def test_a_function_of_ctypes_needs_its_types():
    bare = ctypes.CDLL(ctypes.util.find_library("m")).sqrt

    @njit
    def f(x):
        return bare(x)

    with pytest.raises(Exception, match="argtypes"):
        f(2.0)


def test_functions_that_cython_exports_are_called():
    pytest.importorskip("scipy.special.cython_special")
    address = get_cython_function_address("scipy.special.cython_special", "j0")
    j0 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)

    @njit
    def bessel(x):
        return j0(x)

    assert abs(bessel(0.5) - 0.938469807240813) < 1e-12


def test_methods_and_attributes_are_registered():
    @overload_method(types.Array, "scaled_sum")
    def scaled_sum(a, factor, start=0):
        if isinstance(factor, types.Integer):
            return lambda a, factor, start=0: a.sum() * factor + start
        return lambda a, factor, start=0: a.sum() * factor * 100 + start

    @overload_attribute(types.Array, "doubled")
    def doubled(a):
        return lambda a: a * 2

    @overload_attribute(types.Float, "halved")
    def halved(x):
        return lambda x: x / 2

    @njit
    def use(a):
        return a.scaled_sum(2), a.scaled_sum(2.0), a.scaled_sum(2, start=1), a.doubled.sum(), a[0].halved

    assert use(np.array([1.0, 2.0])) == (6.0, 600.0, 7.0, 6.0, 0.5)

    @njit
    def unknown(a):
        return a.halved

    with pytest.raises(bc.TypingError, match="halved"):
        unknown(np.ones(3))


def test_the_number_of_threads_is_set():
    @njit(parallel=True)
    def ids(n):
        seen = np.zeros(n, dtype=np.int64)
        for i in prange(n):
            seen[i] = bc.get_thread_id() + 100 * bc.get_num_threads()
        return seen, bc.get_num_threads()

    most = bc.config.NUMBA_NUM_THREADS
    assert bc.get_num_threads() == most and bc.get_thread_id() == 0
    seen, threads = ids(1000)
    assert threads == most and (seen // 100 == most).all() and (seen % 100 < most).all()
    try:
        bc.set_num_threads(1)
        seen, threads = ids(1000)
        assert threads == 1 and (seen == 100).all()
    finally:
        bc.set_num_threads(most)

    @njit
    def inside(n):
        bc.set_num_threads(n)

    for wrong in (0, most + 1):
        with pytest.raises(ValueError, match="set_num_threads"):
            bc.set_num_threads(wrong)
        with pytest.raises(ValueError, match="set_num_threads"):
            inside(wrong)
    inside(1)
    assert bc.get_num_threads() == 1
    bc.set_num_threads(most)


def test_the_compiler_is_switched_off():
    def plus(x):
        return x + 1

    bc.config.DISABLE_JIT = True
    try:
        assert njit(plus) is plus
        assert bc.jit("float64(float64)", parallel=True)(plus) is plus
    finally:
        bc.config.DISABLE_JIT = False
    assert njit(plus) is not plus
    program = "import broadcloth as bc\ndef f(x): return x\nprint(bc.njit(f) is f, bc.config.DISABLE_JIT)"
    for name in ("NUMBA_DISABLE_JIT", "BROADCLOTH_DISABLE_JIT"):
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, name: "1"}, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["True", "True"]


def test_numbas_names_are_where_programs_import_them():
    from broadcloth.core.types import float64

    from broadcloth.core import config, errors
    from broadcloth.core import types as core_types
    from broadcloth.core.errors import NumbaPerformanceWarning, TypingError
    from broadcloth.extending import is_jitted

    assert config is bc.config and core_types is types and float64 is types.float64
    assert TypingError is bc.TypingError and issubclass(NumbaPerformanceWarning, errors.NumbaWarning)
    plus = njit(bc.f8(bc.i8, bc.u1))(lambda a, b: a + b)
    assert plus(2, 3) == 5.0 and is_jitted(plus) and not is_jitted(plus.py_func)
    assert bc.threading_layer() == "broadcloth"
