"""8-bit floats: ml_dtypes' types are the reference for bits, rounding, promotion and printing."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc

NAMES = ["float8_e4m3fn", "float8_e5m2"]


def codes(name):
    """Every value of the type."""
    return np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))


def same(got, wanted):
    """The same bits, but for the payloads and signs of NaNs."""
    wanted = np.asarray(wanted)
    host = got.get() if isinstance(got, bc.ndarray) else got
    assert host.dtype == wanted.dtype and host.shape == wanted.shape
    nan = np.isnan(wanted.astype(np.float32))
    assert_array_equal(np.isnan(host.astype(np.float32)), nan)
    assert_array_equal(host.view(np.uint8)[~nan], wanted.view(np.uint8)[~nan])


def samples():
    """Floats at, beside and between the values of the types, and beyond them."""
    values = np.concatenate([codes(n).astype(np.float32) for n in NAMES])
    values = np.unique(values[np.isfinite(values)])
    middle = (values[1:] + values[:-1]) / 2
    near = np.concatenate([np.nextafter(middle, np.float32(-np.inf)), np.nextafter(middle, np.float32(np.inf))])
    beyond = np.array([448, 464, 464.01, 480, 57344, 61439, 61440, 61441, 1e30, np.inf, np.nan, 0.0, -0.0, 1e-45, 1e-9], "f4")
    return np.concatenate([values, middle, near, beyond, -beyond]).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_every_value_reads_as_in_ml_dtypes(xp, name):
    host = codes(name)
    a = xp.asarray(host)
    assert a.dtype == getattr(xp, name) and a.dtype == name and a.itemsize == 1
    assert_array_equal(a.astype("f4").get(), host.astype("f4"))
    assert_array_equal(a.astype("f8").get(), host.astype("f8"))
    assert_array_equal(a.astype("f2").get(), host.astype("f2"))
    assert_array_equal(a.astype("bool").get(), host.astype("bool"))
    finite = np.isfinite(host.astype("f4"))
    assert_array_equal(xp.asarray(host[finite]).astype("i4").get(), host[finite].astype("i4"))
    same(a, host)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", ["float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool", "bfloat16"])
def test_casts_round_to_nearest_even(xp, name, source):
    with np.errstate(all="ignore"):
        host = samples() if source.startswith(("float", "bfloat")) else np.arange(-600, 600)
        host = host.astype(getattr(ml_dtypes, source, source))
    a = xp.asarray(host)
    same(a.astype(name), host.astype(np.float32).astype(getattr(ml_dtypes, name)))


@pytest.mark.parametrize("name", NAMES)
def test_doubles_are_rounded_once(xp, name):
    # A float32 in between would be the tie, and the tie goes to the even neighbour.
    above = np.array([1 + 2.0**-4 + 2.0**-40, 1 + 2.0**-3 + 2.0**-40, -(2.0**-3) * (1 + 2.0**-4 + 2.0**-40)])
    step = 2.0**-3 if name == "float8_e4m3fn" else 2.0**-2
    got = xp.asarray(above).astype(name).astype("f8").get()
    power = 2.0 ** np.floor(np.log2(abs(above)))
    wanted = np.sign(above) * power * (1 + np.rint((abs(above) / power - 1) / step) * step)
    assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_arithmetic_is_that_of_float32_rounded_once(xp, name, op):
    host = codes(name)
    with np.errstate(all="ignore"):
        wanted = getattr(np, op)(host[:, None].astype("f4"), host[None, :].astype("f4")).astype(host.dtype)
    a = xp.asarray(host)
    same(getattr(xp, op)(a[:, None], a[None, :]), wanted)


@pytest.mark.parametrize("name", NAMES)
def test_unary_and_comparison(xp, name):
    host, a = codes(name), xp.asarray(codes(name))
    with np.errstate(all="ignore"):
        for op in ("negative", "absolute", "sqrt", "square", "floor", "sign"):
            same(getattr(xp, op)(a), getattr(np, op)(host.astype("f4")).astype(host.dtype))
        for op in ("less", "equal", "not_equal", "greater_equal"):
            got = getattr(xp, op)(a[:, None], a[None, :])
            assert_array_equal(got.get(), getattr(np, op)(host[:, None].astype("f4"), host[None, :].astype("f4")))
    assert_array_equal(xp.isnan(a).get(), np.isnan(host.astype("f4")))


@pytest.mark.parametrize("name", NAMES)
def test_types_promote_as_in_ml_dtypes_where_that_has_a_rule(xp, name):
    own = getattr(ml_dtypes, name)
    for other in ("bool", "int8", "uint8", "float32", "float64", "complex64", "complex128"):
        assert xp.promote_types(name, other) == np.promote_types(own, other), other
        assert xp.can_cast(name, other) == np.can_cast(own, other), other
        assert xp.can_cast(other, name) == np.can_cast(other, own), other
    assert xp.promote_types(*NAMES) == np.float32
    assert xp.promote_types(name, "float16") == np.float32 and xp.promote_types(name, "bfloat16") == np.float32
    a = xp.ones(3, name)
    assert (a + 1).dtype == name and (a * 2.5).dtype == name and (a + True).dtype == name
    assert (a + 1j).dtype == np.complex64 and (a + xp.ones(3, "f4")).dtype == np.float32
    assert (a < 2).dtype == np.bool_ and a.sum().dtype == name and (a + xp.ones(3, "i1")).dtype == name


@pytest.mark.parametrize("name", NAMES)
def test_call_forms(xp, name):
    a, b = xp.asarray([1.0, 2.0, 3.0]).astype(name), xp.asarray([4.0, 4.0, 4.0]).astype(name)
    out = xp.empty(3, name)
    assert xp.add(a, b, out=out) is out and out.tolist() == [5, 6, 7]
    wide = xp.empty(3, "f4")
    xp.multiply(a, b, out=wide)
    assert wide.tolist() == [4, 8, 12]
    assert xp.add(xp.asarray([1.0, 2.0], dtype="f4"), 1, dtype=name).dtype == name
    assert xp.add(a, b, dtype="f4").tolist() == [5, 6, 7]
    kept = xp.zeros(3, name)
    xp.add(a, b, out=kept, where=xp.asarray([True, False, True]))
    assert kept.tolist() == [5, 0, 7]
    with pytest.raises(TypeError):
        xp.add(a, b, out=xp.empty(3, "i4"))
    a += 1
    assert a.dtype == name and a.tolist() == [2, 3, 4]
    a[1] = 16
    a[2:] = xp.asarray([7.0])
    assert a.tolist() == [2, 16, 7] and float(a[0]) == 2.0 and a[1].item() == 16.0
    assert xp.where(xp.asarray([True, False, True]), a, b).astype("f4").tolist() == [2, 4, 7]
    assert xp.empty((0, 3), name).sum().astype("f4").item() == 0 and xp.ones((), name).shape == ()


@pytest.mark.parametrize("name", NAMES)
def test_reductions_and_scans(xp, name):
    host = np.array([[1, 2, 3.5], [-4, 0.5, 6]], "f4").astype(getattr(ml_dtypes, name))
    a, wide = xp.asarray(host), host.astype("f4")
    for op in ("sum", "max", "min", "mean", "prod"):
        for axis in (None, 0, 1):
            same(getattr(a, op)(axis=axis), getattr(wide, op)(axis=axis).astype(host.dtype))
    assert_array_equal(a.argmax(axis=1).get(), wide.argmax(axis=1))
    assert a.any().item() and not a[:, :0].any().item() and xp.count_nonzero(a).item() == 6
    same(xp.cumsum(a, axis=1), np.cumsum(wide, axis=1).astype(host.dtype))
    assert a.sum(dtype="f8").dtype == np.float64
    same(a.T.copy(), host.T.copy())


@pytest.mark.parametrize("name", NAMES)
def test_sorting_searching_and_moving(xp, name):
    host = codes(name)[np.random.default_rng(0).permutation(256)]
    a = xp.asarray(host)
    wide = np.sort(host.astype("f4"))
    assert_array_equal(xp.sort(a).astype("f4").get(), wide)
    assert_array_equal(a[xp.argsort(a)].astype("f4").get(), wide)
    same(a[xp.asarray(host.astype("f4") > 1)], host[host.astype("f4") > 1])
    same(a[[3, 1, 2]], host[[3, 1, 2]])
    same(xp.concatenate([a[:5], a[250:]]), np.concatenate([host[:5], host[250:]]))
    same(a.reshape(16, 16)[::-2, 3:].copy(), host.reshape(16, 16)[::-2, 3:])
    b = xp.zeros(256, name)
    b[xp.arange(255, -1, -1)] = a
    same(b, host[::-1])
    assert xp.searchsorted(xp.asarray([1.0, 2, 3]).astype(name), xp.asarray([2.0]).astype(name)).tolist() == [1]


@pytest.mark.parametrize("name", NAMES)
def test_matrix_products_are_summed_in_float32(xp, name):
    r = np.random.default_rng(1)
    x, y = (r.integers(-3, 4, s).astype("f4").astype(getattr(ml_dtypes, name)) for s in ((4, 5), (5, 3)))
    got = xp.asarray(x) @ xp.asarray(y)
    same(got, (x.astype("f4") @ y.astype("f4")).astype(x.dtype))
    assert (xp.asarray(x)[0] @ xp.asarray(y)).dtype == name


@pytest.mark.parametrize("name", NAMES)
def test_interchange(xp, name):
    host = codes(name)
    a = xp.asarray(host)
    same(np.asarray(a), host)
    same(pickle.loads(pickle.dumps(a)), host)
    assert_array_equal(a.view("uint8").get(), host.view("u1"))
    same(xp.asarray(host.view("u1")).view(name), host)
    assert name in repr(a[:2]) and a[:3].tolist() == host[:3].astype("f4").tolist()
    assert getattr(xp, name)([1.0, 2.0]).dtype == name and str(getattr(xp, name)) == name
    assert xp.asarray(getattr(ml_dtypes, name)(1.5)).item() == 1.5
    info, theirs = xp.finfo(name), ml_dtypes.finfo(name)
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_subnormal", "nmant", "nexp", "maxexp", "minexp"):
        assert float(getattr(info, field)) == float(getattr(theirs, field)), field
    assert xp.isdtype(getattr(xp, name), "real floating") and not xp.isdtype(getattr(xp, name), "integral")


def test_dlpack_has_the_types(xp):
    torch = pytest.importorskip("torch")
    if xp.default_device().type != "cpu":
        pytest.skip("torch's memory is on the CPU here")
    t = torch.tensor([1.0, 2.0, 448.0]).to(torch.float8_e4m3fn)
    assert xp.from_dlpack(t).astype("f4").tolist() == [1, 2, 448]


@pytest.mark.parametrize("name", NAMES)
def test_gradients_pass_through_the_casts(xp, name):
    x = xp.asarray([1.0, 2.0, 3.0])
    x.requires_grad = True
    (x.astype(name) * 2).astype("f8").sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_kernel_of_the_users_reads_and_writes_them(xp):
    @bc.cuda.jit
    def double(a, out):
        i = bc.cuda.grid(1)
        if i < a.size:
            out[i] = a[i] + a[i]

    a = xp.asarray([1.0, 2.0, 3.5]).astype("float8_e4m3fn")
    out = xp.zeros(3, "float8_e4m3fn")
    double[1, 32](a, out)
    assert out.tolist() == [2, 4, 7]


def test_what_has_no_8_bit_form_says_so(xp):
    a = xp.ones((2, 2), "float8_e5m2")
    with pytest.raises(TypeError, match="float8_e5m2"):
        xp.linalg.inv(a)
    with pytest.raises(TypeError):
        xp.bitwise_and(a, a)
