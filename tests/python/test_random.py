"""Random numbers: reproducible, the same on every device, with the distributions they promise."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import broadcloth as bc
from support import assert_same, host


@pytest.mark.parametrize("draw", [lambda r, d: r.random(1000, device=d), lambda r, d: r.standard_normal((10, 7), device=d),
                                  lambda r, d: r.integers(-5, 1000, 333, device=d), lambda r, d: r.random(99, dtype="float32", device=d),
                                  lambda r, d: r.standard_normal(99, dtype="float32", device=d)])  # fmt: skip
def test_the_same_seed_gives_the_same_numbers_on_every_device(draw):
    values = [host(draw(bc.random.default_rng(123), d)) for d in bc.devices()]
    again = host(draw(bc.random.default_rng(123), "cpu"))
    for v in values:
        assert_same(v, again)
    assert host(draw(bc.random.default_rng(124), "cpu")).tobytes() != again.tobytes()


def test_numbers_do_not_depend_on_how_they_are_asked_for(xp):
    whole = host(xp.random.default_rng(5).random(100))
    rng = xp.random.default_rng(5)
    parts = np.concatenate([host(rng.random(n)) for n in (1, 9, 40, 50)])
    assert_same(parts, whole)
    assert_same(host(xp.random.default_rng(5).random((10, 10))).ravel(), whole)


def test_known_values_do_not_change():
    """A stream is a promise: programs store seeds."""
    rng = bc.random.default_rng(0)
    first = host(rng.random(4))
    assert_same(first, host(bc.random.default_rng(np.random.SeedSequence(0)).random(4)))
    assert ((first >= 0) & (first < 1)).all()


def test_uniform_numbers(xp):
    x = host(xp.random.default_rng(1).random(200_000))
    assert x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.005 and abs(x.var() - 1 / 12) < 0.002
    counts = np.histogram(x, 64, (0, 1))[0]
    assert ((counts - 3125) ** 2 / 3125).sum() < 130  # chi square, 63 degrees of freedom
    f = host(xp.random.default_rng(1).random(200_000, dtype=xp.float32))
    assert f.dtype == np.float32 and f.min() >= 0 and f.max() < 1 and abs(f.mean() - 0.5) < 0.005
    u = host(xp.random.default_rng(1).uniform(-3, 5, 10_000))
    assert u.min() >= -3 and u.max() < 5 and abs(u.mean() - 1) < 0.1


def test_normal_numbers(xp):
    for dtype in ("float64", "float32"):
        x = host(xp.random.default_rng(2).standard_normal(400_000, dtype=dtype)).astype(float)
        assert abs(x.mean()) < 0.01 and abs(x.std() - 1) < 0.01
        assert abs((x**3).mean()) < 0.03 and abs((x**4).mean() - 3) < 0.1 and np.isfinite(x).all()
        assert abs((np.abs(x) < 1).mean() - 0.6827) < 0.005
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01
    y = host(xp.random.default_rng(2).normal(10, 2, 100_000))
    assert abs(y.mean() - 10) < 0.05 and abs(y.std() - 2) < 0.05


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "bool"])
def test_integers(xp, dtype):
    high = 2 if dtype == "bool" else 100
    x = host(xp.random.default_rng(3).integers(0, high, 50_000, dtype=dtype))
    assert x.dtype == np.dtype(dtype) and x.min() == 0 and x.max() == high - 1
    counts = np.bincount(x.astype(int), minlength=high)
    assert ((counts - 50_000 / high) ** 2 / (50_000 / high)).sum() < high + 6 * np.sqrt(2 * high)
    info = np.iinfo(dtype) if dtype != "bool" else None
    if info:
        full = host(xp.random.default_rng(3).integers(info.min, info.max, 2000, dtype=dtype, endpoint=True))
        assert len(np.unique(full)) > (200 if info.bits == 8 else 1900)
        assert (full.astype(float) > (info.max // 2)).mean() > 0.2


def test_integers_of_arrays_and_bounds(xp):
    rng = xp.random.default_rng(4)
    x = host(rng.integers([0, 10, 100], [5, 11, 200], (1000, 3)))
    assert (x >= [0, 10, 100]).all() and (x < [5, 11, 200]).all() and set(x[:, 1]) == {10}
    assert host(rng.integers(10, size=5)).max() < 10
    assert set(host(rng.integers(1, 2, 100, endpoint=True))) == {1, 2}
    for args in ((5, 5), (5, 2), (0, 1 << 70), (-1, 300)):
        with pytest.raises(ValueError):
            rng.integers(*args, dtype="uint8")
    with pytest.raises(TypeError):
        rng.integers(5, dtype=float)


def test_sizes_dtypes_and_out(xp):
    rng = xp.random.default_rng(6)
    assert rng.random().shape == () and rng.random(3).shape == (3,) and rng.random((0, 2)).shape == (0, 2)
    assert rng.normal([0.0, 100.0], 1.0).shape == (2,)
    out = xp.zeros((2, 3))
    assert rng.random(out=out) is out and float(out.min()) > 0
    with pytest.raises(ValueError):
        rng.random(5, out=out)
    with pytest.raises(TypeError):
        rng.random(3, dtype=int)
    with pytest.raises(TypeError):
        rng.random(out=xp.zeros(3, xp.float32))
    with pytest.raises(ValueError):
        rng.random(-1)
    with pytest.raises(ValueError):
        rng.normal(0, -1)
    assert float(rng.exponential(2.0, 50_000).mean()) == pytest.approx(2.0, rel=0.05)
    assert float(xp.log(rng.lognormal(1.0, 0.5, 50_000)).mean()) == pytest.approx(1.0, rel=0.05)
    assert len(rng.bytes(13)) == 13


def test_state_can_be_kept(xp):
    rng = xp.random.default_rng(7)
    rng.random(10)
    state = rng.bit_generator.state
    copied = pickle.loads(pickle.dumps(rng))
    a = host(rng.random(5))
    rng.bit_generator.state = state
    assert_same(rng.random(5), a)
    assert_same(copied.random(5), a)
    with pytest.raises((TypeError, ValueError)):
        rng.bit_generator.state = {"bit_generator": "PCG64"}


def test_streams_for_parallel_work(xp):
    rng = xp.random.default_rng(8)
    children = rng.spawn(3)
    drawn = {host(c.random(4)).tobytes() for c in [rng, *children]}
    assert len(drawn) == 4
    bits = xp.random.Philox(8)
    one, two = bits.jumped(), bits.jumped(2)
    assert host(xp.random.Generator(one).random(4)).tobytes() != host(xp.random.Generator(two).random(4)).tobytes()
    ahead = xp.random.Philox(8)
    ahead.advance(3)
    assert_same(xp.random.Generator(ahead).random(2), host(xp.random.Generator(xp.random.Philox(8)).random(5))[3:])


def test_seeds(xp):
    assert host(xp.random.default_rng().random(4)).tobytes() != host(xp.random.default_rng().random(4)).tobytes()
    assert_same(xp.random.default_rng([1, 2]).random(3), host(xp.random.default_rng([1, 2]).random(3)))
    assert host(xp.random.default_rng([1, 2]).random(3)).tobytes() != host(xp.random.default_rng([2, 1]).random(3)).tobytes()
    assert_same(xp.random.default_rng(1 << 200).random(3), host(xp.random.default_rng(1 << 200).random(3)))
    rng = xp.random.default_rng(1)
    assert xp.random.default_rng(rng) is rng
    with pytest.raises((TypeError, ValueError)):
        xp.random.default_rng(-1)


def test_choice(xp):
    rng = xp.random.default_rng(9)
    x = host(rng.choice(5, 20_000, p=[0.1, 0.2, 0.0, 0.3, 0.4]))
    np.testing.assert_allclose(np.bincount(x, minlength=5) / 20_000, [0.1, 0.2, 0.0, 0.3, 0.4], atol=0.02)
    assert set(host(rng.choice([10, 20], 100))) == {10, 20}
    with pytest.raises(ValueError):
        rng.choice(3, p=[0.5, 0.5])


def test_choice_without_replacement(xp):
    rng = xp.random.default_rng(19)
    assert sorted(host(rng.choice(50, 50, replace=False))) == list(range(50))
    some = rng.choice(xp.arange(12).reshape(6, 2) * 1.5, (2, 2), replace=False, axis=0)
    assert some.shape == (2, 2, 2) and len({float(v) for v in host(some)[..., 0].ravel()}) == 4
    assert rng.choice(7, replace=False).shape == ()
    again = [host(xp.random.default_rng(3).choice(1000, 10, replace=False)) for _ in range(2)]
    np.testing.assert_array_equal(*again)

    # Every order is as likely as another, and with weights the first is drawn by them and the second by what they leave.
    pairs = np.array([host(rng.choice(3, 2, replace=False)) for _ in range(3000)])
    np.testing.assert_allclose(np.bincount(pairs @ [3, 1], minlength=9)[[1, 2, 3, 5, 6, 7]] / 3000, 1 / 6, atol=0.03)
    pairs = np.array([host(rng.choice(4, 2, replace=False, p=[0.5, 0.3, 0.2, 0.0])) for _ in range(3000)])
    np.testing.assert_allclose(np.bincount(pairs[:, 0], minlength=4) / 3000, [0.5, 0.3, 0.2, 0], atol=0.03)
    assert np.mean(pairs[pairs[:, 0] == 0, 1] == 1) == pytest.approx(0.6, abs=0.05)

    for options, message in (({"size": 4}, "larger sample"), ({"size": 3, "p": [0.5, 0.5, 0.0]}, "Fewer non-zero")):
        with pytest.raises(ValueError, match=message):
            rng.choice(3, replace=False, **options)
        with pytest.raises(ValueError, match=message):
            np.random.default_rng(0).choice(3, replace=False, **options)


def test_pi_by_random_points(xp):
    rng = xp.random.default_rng(10)
    x, y = rng.random(100_000) * 2 - 1, rng.random(100_000) * 2 - 1
    assert float((x * x + y * y < 1).sum()) / 100_000 * 4 == pytest.approx(np.pi, abs=0.03)
