"""broadcloth.scipy.fft against scipy.fft: values, dtypes, layouts, lengths, call forms, errors; transforms that are made of others."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, host
from transforms import LAYOUTS, LENGTHS, close, values

scipy_fft = pytest.importorskip("scipy.fft")

FOURIER = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
FOURIER_ND = ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"]
REAL_INPUT = {"rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn"}
TRIGONOMETRIC = ["dct", "idct", "dst", "idst"]
NORMS = [None, "backward", "ortho", "forward"]


def in_double(name, a, *args, **options):
    dtype = getattr(scipy_fft, name)(a, *args, **options).dtype
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    return getattr(scipy_fft, name)(wide, *args, **options).astype(dtype)


@pytest.fixture
def sf(xp):
    return xp.scipy.fft


@pytest.mark.parametrize("name", FOURIER)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_scipys(xp, sf, name, dtype):
    a = values((3, 10), dtype)
    if name in REAL_INPUT and dtype.startswith("c"):
        for module in (scipy_fft, sf):
            with pytest.raises(TypeError):
                getattr(module, name)(a)
        return
    for norm in NORMS:
        for n, axis in ((None, -1), (7, 0), (12, 1)):
            want = in_double(name, a, n, axis, norm)
            close(getattr(sf, name)(xp.asarray(a), n, axis, norm), want, 12, f"{name} {n} {axis} {norm}")


@pytest.mark.parametrize("name", FOURIER_ND)
def test_several_axes(xp, sf, name):
    a = values((4, 5, 6), "float64")
    for s, axes in ((None, None), (None, (0, 2)), ((3, 8), (1, 2)), ((8, 3), (-1, 0)), ((4, -1), (1, 2)), ((2, 7, 2), None)):
        if name.endswith("2") and (s and len(s) == 3) and axes is None:
            continue
        for norm in NORMS:
            want = in_double(name, a, s=s, axes=axes, norm=norm)
            close(getattr(sf, name)(xp.asarray(a), s=s, axes=axes, norm=norm), want, 1000, f"{name} {s} {axes} {norm}")
    if not name.endswith("2"):
        close(getattr(sf, name)(xp.asarray(a), (4, 4)), in_double(name, a, (4, 4)), 16, name)
        close(getattr(sf, name)(xp.asarray(a), 4, 0), in_double(name, a, 4, 0), 16, name)


@pytest.mark.parametrize("name", TRIGONOMETRIC)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_length_of_cosines_and_sines(xp, sf, name, type, dtype):
    for n in LENGTHS:
        if name.endswith("ct") and type == 1 and n < 2:
            continue
        a = values(n, dtype, n)
        for norm in (None, "ortho"):
            want = in_double(name, a, type, norm=norm)
            close(getattr(sf, name)(xp.asarray(a), type, norm=norm), want, 4 * n, f"{name}{type} of {n} {norm}")


@pytest.mark.parametrize("name", TRIGONOMETRIC)
@pytest.mark.parametrize("dtype", DTYPES)
def test_forms_of_cosines_and_sines(xp, sf, name, dtype):
    a = values((5, 8), dtype)
    x = xp.asarray(a)
    for type in (1, 2, 3, 4):
        for norm in NORMS:
            for orthogonalize in (None, True, False):
                if a.dtype.kind == "c" and orthogonalize is not None:
                    continue  # SciPy forgets it
                want = in_double(name, a, type, norm=norm, orthogonalize=orthogonalize)
                close(getattr(sf, name)(x, type, norm=norm, orthogonalize=orthogonalize), want, 16, f"{name}{type} {norm} {orthogonalize}")
        close(getattr(sf, name)(x, type, 6, 0), in_double(name, a, type, 6, 0), 16)
        close(getattr(sf, name)(x, type, 11), in_double(name, a, type, 11), 16)
    several = getattr(sf, name + "n")
    for s, axes in ((None, None), ((4, 9), None), (None, 0), ((6,), (1,)), ((6, 3), (1, 0))):
        for type in (1, 2, 3, 4):
            close(several(x, type, s, axes, "ortho"), in_double(name + "n", a, type, s, axes, "ortho"), 64)


def test_orthogonalize_of_complex_input(xp, sf):
    a = values(9, "complex128")
    for type in (1, 2, 3):
        got = sf.dct(xp.asarray(a), type, orthogonalize=True)
        want = scipy_fft.dct(a.real, type, orthogonalize=True) + 1j * scipy_fft.dct(a.imag, type, orthogonalize=True)
        close(got, want, 16)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(xp, sf, layout):
    n = values((6, 8, 9), "float64")
    n, x = LAYOUTS[layout](n), LAYOUTS[layout](xp.asarray(n))
    for name in (*FOURIER, *TRIGONOMETRIC):
        for axis in (0, 1, 2):
            close(getattr(sf, name)(x, axis=axis), in_double(name, n, axis=axis), 16, f"{name} {axis}")
    for name in ("fftn", "rfftn", "irfftn", "hfftn", "dctn", "idstn"):
        close(getattr(sf, name)(x, axes=(2, 0)), in_double(name, n, axes=(2, 0)), 100, name)


# What ops/fft.cpp makes for devices with fewer transforms, computed on any device.
KINDS = {"fft": (0, True), "ifft": (0, False), "rfft": (1, True), "ihfft": (1, False), "irfft": (2, False), "hfft": (2, True)}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_transforms_of_trailing_axes_make_all_others(xp, layout):
    n = values((4, 5, 6), "float64")
    n, x = LAYOUTS[layout](n), LAYOUTS[layout](xp.asarray(n))
    for name, (kind, forward) in KINDS.items():
        for axes in ((0,), (1,), (2, 0), (0, 1, 2), (1, 2, 0)):
            for number, norm in enumerate(("backward", "ortho", "forward")):
                want = in_double(name + "n", n, axes=axes, norm=norm)
                got = bc._broadcloth.fft_scipy(x, kind, None, axes, forward, number, composed=True)
                close(got, want, 200, f"{name} {axes} {norm}")


def test_more_than_three_axes_are_made_of_groups(xp):
    a = values((2, 3, 2, 4, 3), "float64")
    for name, (kind, forward) in KINDS.items():
        got = bc._broadcloth.fft_scipy(xp.asarray(a), kind, None, (0, 1, 2, 3, 4), forward, 0, composed=True)
        close(got, in_double(name + "n", a), 200, name)


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cosines_and_sines_are_made_of_fourier_transforms(xp, type, dtype):
    for n in (1, 2, 3, 4, 5, 8, 9, 16, 33, 100):
        if n == 1 and type == 1:
            continue
        a = values((3, n), dtype)
        for kind, name in ((4, "dct"), (5, "dst")):
            for norm in (0, 1):
                got = bc._broadcloth.fft_scipy(xp.asarray(a), kind, None, 1, True, norm, type=type, composed=True)
                close(got, in_double(name, a, type, norm=("backward", "ortho")[norm]), 4 * n, f"{name}{type} of {n}")


def test_workers(xp, sf):
    import os

    a = values((64, 2048), "complex128")
    x = xp.asarray(a)
    want = scipy_fft.fft(a)
    for workers in (1, 2, 3, -1, np.int64(1), None):
        close(sf.fft(x, workers=workers), want, 2048)
    default = sf.get_workers()
    assert default >= 1
    with sf.set_workers(1):
        assert sf.get_workers() == 1
        close(sf.fft2(x), scipy_fft.fft2(a), a.size)
        with sf.set_workers(-1):
            assert sf.get_workers() == os.cpu_count()
        assert sf.get_workers() == 1
    assert sf.get_workers() == default
    for module in (scipy_fft, sf):
        for call in (lambda m, w: m.fft(a, workers=w), lambda m, w: m.dctn(a.real, workers=w), lambda m, w: m.rfftn(a.real, workers=w)):
            with pytest.raises(ValueError, match="workers must not be zero"):
                call(module, 0)
            with pytest.raises(ValueError, match="workers value out of range"):
                call(module, -1 - os.cpu_count())
        with pytest.raises(TypeError):
            module.set_workers(1.5).__enter__()


def test_errors_are_scipys(xp, sf):
    for module, array in ((scipy_fft, np), (sf, xp)):
        ones = array.ones((3, 4))
        for call, words in (
            (lambda m, x: m.fft(x, 0), r"invalid number of data points \(0\) specified"),
            (lambda m, x: m.fft(x[:, :0]), r"invalid number of data points \(0\) specified"),
            (lambda m, x: m.dct(x, n=-1), r"invalid number of data points \(-1\) specified"),
            (lambda m, x: m.irfft(x[:, :1]), r"nvalid number of data points \(0\) specified"),
            (lambda m, x: m.fftn(x, (3, 0)), r"invalid number of data points \(\[3, 0\]\) specified"),
            (lambda m, x: m.fft(x, norm="x"), "Invalid norm value 'x', should be"),
            (lambda m, x: m.dctn(x, norm="x"), "Invalid norm value 'x', should be"),
            (lambda m, x: m.fftn(x, axes=(0, 2)), "axes exceeds dimensionality of input"),
            (lambda m, x: m.fftn(x, axes=(0, -2)), "all axes must be unique"),
            (lambda m, x: m.fftn(x, axes=1.5), "axes must be a scalar or iterable of integers"),
            (lambda m, x: m.fftn(x, (2.5, 1)), "shape must be a scalar or iterable of integers"),
            (lambda m, x: m.fftn(x, (2,), (0, 1)), "of the same length"),
            (lambda m, x: m.fftn(x, (2, 2, 2)), "shape requires more axes than are present"),
            (lambda m, x: m.rfftn(x, axes=()), "at least 1 axis must be transformed"),
            (lambda m, x: m.irfftn(x, axes=()), "at least 1 axis must be transformed"),
        ):
            with pytest.raises(ValueError, match=words):
                call(module, ones)
        for transform in (module.rfft, module.ihfft, module.rfftn):
            with pytest.raises(TypeError, match="x must be a real sequence"):
                transform(ones * 1j)
        with pytest.raises(IndexError):
            module.fft(ones, axis=2)
        with pytest.raises((ValueError, RuntimeError)):
            module.dct(ones[:, :1], 1)
        for type in (0, 5):
            with pytest.raises(ValueError):
                module.dct(ones, type)
        assert module.fftn(ones, axes=()).shape == module.dctn(ones, axes=()).shape == (3, 4)


def test_plans(xp):
    from broadcloth.cupyx.scipy import fft as cf

    a = values((4, 6), "complex64")
    x = xp.asarray(a)
    plan = cf.get_fft_plan(x)
    close(cf.fftn(x, plan=plan), scipy_fft.fftn(a), 24)
    close(cf.ifft2(x, plan=plan), scipy_fft.ifft2(a), 24)
    with plan:
        close(cf.fftn(x), scipy_fft.fftn(a), 24)
        with cf.get_fft_plan(x, axes=0):
            close(cf.fft(x, axis=0), scipy_fft.fft(a, axis=0), 4)
        with pytest.raises(ValueError, match="the plan"):
            cf.fft(x)
        with pytest.raises(RuntimeError, match="either"):
            cf.fftn(x, plan=plan)
    close(cf.fft(x), scipy_fft.fft(a), 6)
    one = cf.get_fft_plan(x, (9,), axes=1)
    close(cf.fft(x, 9, plan=one), scipy_fft.fft(a, 9), 9)
    real = cf.get_fft_plan(xp.asarray(a.real), axes=1, value_type="R2C")
    close(cf.rfft(xp.asarray(a.real), plan=real), scipy_fft.rfft(a.real), 6)
    back = cf.get_fft_plan(x, axes=1, value_type="C2R")
    close(cf.irfft(x, plan=back), scipy_fft.irfft(a), 10)
    for call in (lambda: cf.fft(x, plan=plan), lambda: cf.fft(x, plan=one), lambda: cf.fftn(x.astype("complex128"), plan=plan),
                 lambda: cf.fftn(x[:2], plan=plan), lambda: cf.rfftn(x.real, plan=plan)):  # fmt: skip
        with pytest.raises(ValueError, match="the plan"):
            call()
    with pytest.raises(TypeError, match="get_fft_plan"):
        cf.fft(x, plan=3)
    for bad in ({"value_type": "D2Z"}, {"value_type": "R2C"}, {"axes": 2}, {"axes": ()}):
        with pytest.raises(ValueError):
            cf.get_fft_plan(x, **bad)


def test_fast_lengths(sf):
    for real in (False, True):
        for n in [*range(1300), 4093, 12345, 10**6 + 3, 2**31 + 1, 10**12 + 39]:
            assert sf.next_fast_len(n, real) == scipy_fft.next_fast_len(n, real)
            if n > 0:
                assert sf.prev_fast_len(n, real) == scipy_fft.prev_fast_len(n, real)
    for module in (scipy_fft, sf):
        for name in ("next_fast_len", "prev_fast_len"):
            with pytest.raises(ValueError):
                getattr(module, name)(-1)
            with pytest.raises(TypeError):
                getattr(module, name)(10.5)
            assert getattr(module, name)(target=np.int64(7), real=True) == (8 if name.startswith("n") else 6)


def test_frequencies_and_shifts(xp, sf):
    np.testing.assert_array_equal(host(sf.fftfreq(7, 0.1)), scipy_fft.fftfreq(7, 0.1))
    np.testing.assert_array_equal(host(sf.rfftfreq(7, d=0.1, xp=xp)), scipy_fft.rfftfreq(7, 0.1))
    np.testing.assert_array_equal(host(sf.fftshift(xp.arange(7))), scipy_fft.fftshift(np.arange(7)))
    with pytest.raises(ValueError, match="namespace"):
        sf.fftfreq(7, xp=np)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 64])
def test_hankel_transforms(xp, sf, n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((2, n))
    for dln, mu, offset, bias in ((0.1, 1.0, 0.0, 0.0), (0.3, -0.5, 0.2, 0.1), (0.2, 2.0, -0.3, -0.4)):
        for name in ("fht", "ifht"):
            want = getattr(scipy_fft, name)(a, dln, mu, offset, bias)
            got = getattr(sf, name)(xp.asarray(a), dln, mu, offset=offset, bias=bias)
            np.testing.assert_allclose(host(got), want, rtol=1e-10, atol=1e-12)
        assert sf.fhtoffset(dln, mu, offset, bias) == pytest.approx(scipy_fft.fhtoffset(dln, mu, offset, bias), abs=1e-14)


def test_singular_hankel_transforms_warn(xp, sf):
    a = values(8, "float64")
    for name, mu, words in (("fht", -3.5, "singular transform"), ("ifht", -2.5, "singular inverse transform")):
        with pytest.warns(UserWarning, match=words):
            want = getattr(scipy_fft, name)(a, 0.1, mu, bias=0.5)
        with pytest.warns(UserWarning, match=words) as caught:
            got = getattr(sf, name)(xp.asarray(a), 0.1, mu, bias=0.5)
        assert caught[0].filename == __file__
        np.testing.assert_allclose(host(got), want, rtol=1e-10, atol=1e-12)
    # Both Gamma functions have poles: the transform is not singular.
    np.testing.assert_allclose(host(sf.fht(a, 0.1, -4.0, bias=1.0)), scipy_fft.fht(a, 0.1, -4.0, bias=1.0), rtol=1e-10, atol=1e-12)


def test_it_is_a_backend_of_scipys(xp, sf):
    x = xp.asarray(values(8, "float64"))
    with scipy_fft.set_backend(sf):
        assert type(scipy_fft.fft(x)) is xp.ndarray and type(scipy_fft.dctn(x, workers=1)) is xp.ndarray
    with pytest.raises(AttributeError, match="backend"):
        sf.set_backend  # noqa: B018


def test_input_may_be_lost_but_is_kept(xp, sf):
    a = values(16, "complex128")
    x = xp.asarray(a)
    close(sf.fft(x, overwrite_x=True), scipy_fft.fft(a), 16)
    np.testing.assert_array_equal(host(x), a)


def test_every_name_of_scipys(sf):
    backends = {"set_backend", "skip_backend", "set_global_backend", "register_backend"}
    assert set(scipy_fft.__all__) - backends <= set(sf.__all__)
