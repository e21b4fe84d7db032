"""broadcloth.fft against numpy.fft: values, dtypes, layouts, lengths, call forms, errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, host
from transforms import LAYOUTS, LENGTHS, close, values

NAMES_1D = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
NAMES_ND = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
REAL_INPUT = {"rfft", "ihfft", "rfft2", "rfftn"}


def in_double(name, a, *args, **options):
    """NumPy's result, computed in double precision, in the dtype that NumPy gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtype = getattr(np.fft, name)(a, *args, **options).dtype
        wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
        return getattr(np.fft, name)(wide, *args, **options).astype(dtype)


@pytest.mark.parametrize("name", NAMES_1D)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_every_length(xp, name, dtype):
    if name in REAL_INPUT and dtype.startswith("c"):
        pytest.skip("takes real input")
    for n in LENGTHS:
        if name in ("irfft", "hfft") and n == 1:
            continue
        a = values(n, dtype, n)
        close(getattr(xp.fft, name)(xp.asarray(a)), in_double(name, a), n, f"{name} of {n}")


@pytest.mark.parametrize("name", NAMES_1D)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_numpys(xp, name, dtype):
    a = values((3, 10), dtype)
    if name in REAL_INPUT and dtype.startswith("c"):
        with pytest.raises(TypeError):
            getattr(xp.fft, name)(xp.asarray(a))
        return
    for norm in (None, "ortho", "forward"):
        want = in_double(name, a, norm=norm)
        got = getattr(xp.fft, name)(xp.asarray(a), norm=norm)
        close(got, want, 10, f"{name} {norm}")


def test_bfloat16_computes_in_single_precision(xp):
    a = xp.asarray(values(16, "float32")).astype("bfloat16")
    assert xp.fft.fft(a).dtype == np.complex64
    close(xp.fft.fft(a), np.fft.fft(host(a.astype("float32"))), 16)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_layouts_and_axes(xp, layout, dtype):
    n = values((6, 8, 9), dtype)
    x = xp.asarray(n)
    n, x = LAYOUTS[layout](n), LAYOUTS[layout](x)
    assert x.shape == n.shape
    for name in NAMES_1D:
        if name in REAL_INPUT and dtype.startswith("c"):
            continue
        for axis in (0, 1, 2, -1, -3):
            close(getattr(xp.fft, name)(x, axis=axis), in_double(name, n, axis=axis), 16, f"{name} axis {axis}")
    for name in NAMES_ND:
        if name in REAL_INPUT and dtype.startswith("c"):
            continue
        for axes in ((0, 1), (2, 0), (-1, 1, 0), (1,)):
            close(getattr(xp.fft, name)(x, axes=axes), in_double(name, n, axes=axes), 500, f"{name} axes {axes}")


@pytest.mark.parametrize("name", NAMES_1D)
def test_lengths_cut_and_fill_up(xp, name):
    a = values((5, 7), "float64")
    for n in (1, 2, 4, 6, 7, 8, 12, 31):
        for axis in (0, 1):
            close(getattr(xp.fft, name)(xp.asarray(a), n, axis), in_double(name, a, n, axis), n, f"{name} n={n} axis={axis}")
            close(getattr(xp.fft, name)(a.tolist(), n=np.int64(n), axis=axis), in_double(name, a, n, axis), n)


@pytest.mark.parametrize("name", NAMES_ND)
def test_several_axes(xp, name):
    a = values((4, 5, 6, 3), "float64")
    for s, axes in ((None, None), (None, (0, 2)), ((3, 8), (1, 2)), ((8, 3), (-1, 0)), ((4, -1), (1, 2)), ((2, 2, 2, 2), (0, 1, 2, 3))):
        for norm in (None, "backward", "ortho", "forward"):
            want = in_double(name, a, s=s, axes=axes, norm=norm)
            close(getattr(xp.fft, name)(xp.asarray(a), s=s, axes=axes, norm=norm), want, 1000, f"{name} {s} {axes} {norm}")


def test_axes_that_are_named_twice_are_transformed_twice(xp):
    a = values((4, 6), "float64")
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        close(getattr(xp.fft, name)(xp.asarray(a), axes=(1, 0, 1)), in_double(name, a, axes=(1, 0, 1)), 100, name)
        close(getattr(xp.fft, name)(xp.asarray(a), (4, 6), (0, 0)), in_double(name, a, (4, 6), (0, 0)), 100, name)


def test_more_axes_than_libraries_transform_at_once(xp):
    a = values((2, 3, 4, 2, 3), "float64")
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        close(getattr(xp.fft, name)(xp.asarray(a)), in_double(name, a), 200, name)


@pytest.mark.parametrize("shape", [(1 << 17,), (200003,), (3, 70000), (600, 500), (40, 50, 60), (2, 1 << 16)])
def test_long_and_many_use_threads(xp, shape):
    for dtype in ("float64", "complex128", "complex64"):
        a = values(shape, dtype)
        close(xp.fft.fftn(xp.asarray(a)), in_double("fftn", a), a.size, f"fftn {dtype}")
        close(xp.fft.fft(xp.asarray(a), axis=0), in_double("fft", a, axis=0), a.size)
        if dtype == "float64":
            half = in_double("rfftn", a)
            close(xp.fft.rfftn(xp.asarray(a)), half, a.size)
            close(xp.fft.irfftn(xp.asarray(half), a.shape, range(a.ndim)), a, a.size)


def test_out(xp):
    a = values((4, 6), "float64")
    x = xp.asarray(a)
    forms = (("fft", (4, 6), "complex128"), ("rfft", (4, 4), "complex128"), ("irfft", (4, 10), "float64"), ("fft2", (4, 6), "complex128"))
    for name, shape, dtype in forms:
        out = xp.zeros(shape, dtype)
        assert getattr(xp.fft, name)(x, out=out) is out
        close(out, in_double(name, a), 24, name)
    c = xp.asarray(a.astype(complex))
    assert xp.fft.ifft(c, out=c) is c
    close(c, np.fft.ifft(a), 6)
    part = xp.zeros((4, 12), "complex128")
    xp.fft.fft(x, out=part[:, ::2])
    close(part[:, ::2], np.fft.fft(a), 6)
    assert not host(part[:, 1::2]).any()
    narrow = xp.zeros((4, 6), "complex64")
    close(xp.fft.fft(x, out=narrow), np.fft.fft(a).astype("complex64"), 6)
    for bad in (xp.zeros((4, 5), "complex128"), xp.zeros(6, "complex128")):
        with pytest.raises(ValueError, match="output array has wrong shape"):
            xp.fft.fft(x, out=bad)
    with pytest.raises(TypeError):
        xp.fft.fft(x, out=xp.zeros((4, 6)))


def test_a_result_is_a_new_array_and_the_input_stays(xp):
    a = values((6, 6), "complex128")
    x = xp.asarray(a.copy())
    for name in ("fft", "irfft", "fft2", "irfft2"):
        host(getattr(xp.fft, name)(x))
        np.testing.assert_array_equal(host(x), a)
    y = xp.fft.fft(x)
    x[:] = 0
    close(y, np.fft.fft(a), 6)


def test_batches_of_nothing(xp):
    for name in ("fft", "rfft", "irfft", "ihfft"):
        a = np.zeros((0, 4))
        got = getattr(xp.fft, name)(xp.asarray(a))
        want = getattr(np.fft, name)(a)
        assert got.shape == want.shape and got.dtype == want.dtype
    # An axis without elements is filled up.
    close(xp.fft.fft(xp.zeros((3, 0)), 4), np.fft.fft(np.zeros((3, 0)), 4), 4)


def test_errors_are_numpys(xp):
    x = xp.ones((3, 4))
    text = r"Invalid number of FFT data points \(0\) specified"
    for call in (lambda m: m.fft.fft(m.zeros(0)), lambda m: m.fft.fft(m.ones(3), 0), lambda m: m.fft.irfft(m.ones(1)),
                 lambda m: m.fft.fft2(m.zeros((3, 0))), lambda m: m.fft.rfft(m.ones(3), n=0)):  # fmt: skip
        for module in (np, xp):
            with pytest.raises(ValueError, match=text):
                call(module)
    with pytest.raises(ValueError, match=r"data points \(-3\)"):
        xp.fft.fft(x, -3)
    for module in (np, xp):
        ones = module.ones((3, 4))
        for call in (lambda m, a: m.fft.fft(a, axis=2), lambda m, a: m.fft.fft(m.asarray(1.0)), lambda m, a: m.fft.fft2(a[0])):  # noqa: F841
            with pytest.raises(IndexError):
                call(module, ones)
        with pytest.raises(ValueError, match="Invalid norm value nonsense"):
            module.fft.fft(ones, norm="nonsense")
        with pytest.raises(ValueError, match="Shape and axes have different lengths"):
            module.fft.fftn(ones, (1, 2), (0,))
        with pytest.raises(TypeError):
            module.fft.rfft(ones * 1j)
        with pytest.raises(TypeError):
            module.fft.fft(ones, n=2.5)
        with pytest.raises(IndexError):
            module.fft.rfftn(ones, axes=())
        with pytest.raises(TypeError):
            module.fft.fftn(ones, axes=1)
        assert module.fft.fftn(ones, axes=()).shape == (3, 4)


def test_deprecations_are_numpys(xp):
    a = values((4, 5), "float64")
    for call in (lambda m, x: m.fft.fftn(x, (3, 4)), lambda m, x: m.fft.fftn(x, (None, 3), (0, 1)),
                 lambda m, x: m.fft.irfftn(x, (4, None), (0, 1)), lambda m, x: m.fft.rfft2(x, (3, 4), None)):  # fmt: skip
        with pytest.warns(DeprecationWarning):
            want = call(np, a)
        with pytest.warns(DeprecationWarning) as caught:
            got = call(xp, xp.asarray(a))
        assert caught[0].filename == __file__
        close(got, want, 100)


def test_numpys_functions_compute_here(xp):
    x = xp.asarray(values(8, "float64"))
    for name in NAMES_1D:
        assert type(getattr(np.fft, name)(x)) is xp.ndarray
    assert type(np.fft.fft2(xp.ones((2, 2)))) is xp.ndarray and type(np.fft.fftshift(x)) is xp.ndarray


def test_what_is_given_may_be_numpys_or_a_list(xp):
    a = values((3, 4), "float64")
    for given in (a, a.tolist(), tuple(map(tuple, a.tolist()))):
        assert type(xp.fft.fft2(given)) is xp.ndarray
        close(xp.fft.fft2(given), np.fft.fft2(a), 12)


def test_frequencies(xp):
    for n in (1, 2, 3, 7, 8, 9, np.int32(10)):
        for d in (1.0, 0.1, 2, np.float64(0.3)):
            for name in ("fftfreq", "rfftfreq"):
                got, want = host(getattr(xp.fft, name)(n, d)), getattr(np.fft, name)(n, d)
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)
    assert xp.fft.fftfreq(4, device="cpu").device.type == "cpu"
    for name in ("fftfreq", "rfftfreq"):
        with pytest.raises(ValueError, match="n should be an integer"):
            getattr(xp.fft, name)(4.0)
        with pytest.raises(ZeroDivisionError):
            getattr(xp.fft, name)(0)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64", "bool"])
def test_shifts(xp, dtype):
    for shape in ((5,), (6,), (4, 5), (3, 4, 5), (0,)):
        a = values(shape, dtype)
        x = xp.asarray(a)
        for name in ("fftshift", "ifftshift"):
            choices = [None, *range(-a.ndim, a.ndim), tuple(range(a.ndim))]
            for axes in choices:
                got, want = host(getattr(xp.fft, name)(x, axes)), getattr(np.fft, name)(a, axes)
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want, f"{name} {shape} {axes}")
    with pytest.raises(IndexError):
        xp.fft.fftshift(xp.zeros(3), 1)


def test_one_library_call_and_no_kernel_for_a_scaled_transform(device):
    if device.startswith("cuda"):
        pytest.skip("cuFFT does not scale")
    x = bc.asarray(values((64, 64), "complex128"))
    bc.flush()
    with bc.profiler.record() as record:
        bc.fft.ifft2(x, norm="ortho").flush() if hasattr(x, "flush") else host(bc.fft.ifft2(x, norm="ortho"))
    assert [k.name for k in record.kernels] == ["fft"]


def test_transforms_of_many_threads_are_right(xp):
    from concurrent.futures import ThreadPoolExecutor

    inputs = [values(n, "complex128", n) for n in range(100, 140)]

    def check(a):
        for _ in range(5):
            close(xp.fft.fft(xp.asarray(a)), np.fft.fft(a), a.size)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, inputs))


def test_every_name_of_numpys(xp):
    assert set(np.fft.__all__) <= {*xp.fft.__all__, "test"}
