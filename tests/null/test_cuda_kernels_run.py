"""Kernels that are printed for CUDA, run by the CPU as CUDA C++: tiles through shared memory, reductions, random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from null_device import null_device, recorded


@pytest.fixture(autouse=True)
def null_cuda():  # not `device`, which would run each test once for each real device: always the same
    background, bc.config.background_compile = bc.config.background_compile, False
    with null_device("null-cuda") as name:
        bc._c.null_run(True)
        yield name
        bc.flush()
        bc._c.null_run(False)
    bc.config.background_compile = background


@pytest.fixture
def no_kernels_on_disk(tmp_path):
    folder = bc._c.cache_stats()["folder"]
    bc._c.cache_set_folder(str(tmp_path))
    yield
    bc._c.cache_set_folder(folder)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def tiled(program) -> np.ndarray:
    """The result of a program that must be one kernel with tiles."""
    bc.flush()
    with recorded() as record:
        result = program()
        bc.flush()
    assert [("kSide" in launch.source) for launch in record.launches] == [True]
    return np.asarray(result)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex128", "float16"])
@pytest.mark.parametrize("shape", [(64, 64), (33, 200), (200, 33), (129, 65), (1000, 32)])
def test_transposed_copies(rng, dtype, shape):
    a = rng.integers(0, 100, shape).astype(dtype)
    x = bc.asarray(a)
    np.testing.assert_array_equal(tiled(lambda: bc.ascontiguousarray(x.T)), a.T)


def test_operands_that_are_transposed_and_others(rng):
    a, b, c = (rng.normal(size=(70, 70)).astype(np.float32) for _ in range(3))
    x, y, z = bc.asarray(a), bc.asarray(b), bc.asarray(c)
    row = bc.asarray(a[0])
    np.testing.assert_array_equal(tiled(lambda: x + y.T), a + b.T)
    np.testing.assert_array_equal(tiled(lambda: x * y.T + z.T - row), a * b.T + c.T - a[0])
    np.testing.assert_array_equal(tiled(lambda: x + x.T), a + a.T)
    np.testing.assert_array_equal(tiled(lambda: bc.where(x > 0, y.T, row[:, None])), np.where(a > 0, b.T, a[0][:, None]))


def test_axes_that_are_moved(rng):
    a = rng.integers(0, 99, (3, 40, 50, 2)).astype(np.float32)
    x = bc.asarray(a)
    for axes in [(0, 2, 1, 3), (2, 1, 0, 3), (3, 2, 1, 0), (1, 0, 3, 2), (0, 3, 1, 2)]:
        np.testing.assert_array_equal(np.asarray(bc.ascontiguousarray(x.transpose(axes))), a.transpose(axes))
    b = rng.integers(0, 99, (4, 50, 60)).astype(np.float32)
    y = bc.asarray(b)
    np.testing.assert_array_equal(tiled(lambda: bc.ascontiguousarray(y.transpose(0, 2, 1))), b.transpose(0, 2, 1))
    np.testing.assert_array_equal(np.asarray(bc.ascontiguousarray(y.transpose(2, 1, 0))), b.transpose(2, 1, 0))


def test_stores_into_what_is_read_transposed(rng):
    a = rng.normal(size=(96, 96)).astype(np.float32)
    x = bc.asarray(a)
    x += x.T
    np.testing.assert_array_equal(np.asarray(x), a + a.T)
    x = bc.asarray(a)
    x[:, :] = x.T.copy() * 2
    np.testing.assert_array_equal(np.asarray(x), a.T * 2)
    x = bc.asarray(a)
    x[1:65, 2:66] = x[:64, :64].T
    expected = a.copy()
    expected[1:65, 2:66] = a[:64, :64].T.copy()
    np.testing.assert_array_equal(np.asarray(x), expected)


@pytest.mark.parametrize("length", [1, 3, 16, 63, 64, 100, 1000, 4096, 5000, 70_001])
def test_reductions_of_rows(rng, length):
    a = rng.integers(-50, 50, (5, length)).astype(np.float32)
    x = bc.asarray(a)
    np.testing.assert_array_equal(np.asarray(x.sum(1)), a.sum(1, dtype=np.float64).astype(np.float32))
    np.testing.assert_array_equal(np.asarray(x.max(1)), a.max(1))
    np.testing.assert_array_equal(np.asarray(x.argmin(1)), a.argmin(1))
    np.testing.assert_allclose(np.asarray(x.std(1)), a.std(1, dtype=np.float64), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(x[::-1].sum()), np.float32(a.sum(dtype=np.float64)))
    scaled = x - x.mean(1, keepdims=True)
    np.testing.assert_allclose(np.asarray(scaled), a - a.mean(1, keepdims=True, dtype=np.float64), rtol=1e-4, atol=1e-4)


def test_distances(rng):
    a, b = rng.normal(size=(40, 64)).astype(np.float32), rng.normal(size=(33, 64)).astype(np.float32)
    x, y = bc.asarray(a), bc.asarray(b)
    ours = np.asarray(((x[:, None] - y[None]) ** 2).sum(-1))
    np.testing.assert_allclose(ours, ((a[:, None] - b[None]) ** 2).sum(-1), rtol=1e-5)


@pytest.mark.parametrize("rows, length", [(17, 256), (17, 300), (260, 5)])
def test_rows_that_share_an_operand_are_reduced_together(rng, rows, length):
    """Four rows of a group give the bits of a group each: the kernel of single rows runs where the last axis is no multiple of four."""
    a, b = rng.normal(size=(rows, length)).astype(np.float32), rng.normal(size=(1025, length)).astype(np.float32)
    x, y = bc.asarray(a), bc.asarray(b)
    with recorded() as r:
        together = bc.sqrt(((x[:, None] - y[None, :1024]) ** 2).sum(-1))
    assert "first + j" in r.kernels[0].source
    with recorded() as r:
        single = bc.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
    assert "first + j" not in r.kernels[0].source
    np.testing.assert_array_equal(np.asarray(together), np.asarray(single)[:, :1024])
    largest, dots = np.asarray((x[:, None] * y[None, :1024]).max(-1)), np.asarray((x[:, None] * y[None]).max(-1))
    np.testing.assert_array_equal(largest, dots[:, :1024])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "complex64"])
@pytest.mark.parametrize("shape", [(512, 512, 64), (512, 520, 33), (1024, 1024, 5), (2, 256, 516, 100), (136, 520, 130)])
def test_squares_of_rows_give_the_bits_of_rows(rng, dtype, shape):
    """A group reduces 4 x 4 rows where operands are shared along both axes; of few rows each has a group of its own."""
    *stack, rows, columns, length = shape
    a = rng.normal(size=(*stack, rows, 1, length)).astype(dtype)
    b = rng.normal(size=(*stack, 1, columns, length)).astype(dtype)
    x, y = bc.asarray(a), bc.asarray(b)
    bc.flush()
    with recorded() as r:
        square = ((x - y) ** 2).sum(-1)
        bc.flush()
    assert "rows_join" in r.launches[0].source
    with recorded() as r:
        few = ((x[..., :3, :, :] - y[..., :7, :]) ** 2).sum(-1)
        bc.flush()
    assert "rows_join" not in r.launches[0].source
    ours = np.asarray(square)
    np.testing.assert_array_equal(ours[..., :3, :7], np.asarray(few))
    eps = 0.0 if dtype == "int64" else np.finfo(dtype).eps
    exact = ((a.astype("complex128" if dtype == "complex64" else "float64") - b) ** 2).sum(-1)
    np.testing.assert_allclose(ours, exact, rtol=0, atol=20 * float(eps) * np.abs(exact).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [9003, (50, 7), 3])
def test_random_numbers_are_the_cpus(dtype, shape):
    def draw():
        rng = bc.random.Generator(bc.random.Philox(5))
        held = rng.random(3, dtype=dtype)  # so that the next begins inside a block
        return [held, rng.random(shape, dtype=dtype), rng.standard_normal(shape, dtype=dtype), 2 * rng.random(shape, dtype=dtype)[1:] + 1]

    ours = [np.asarray(a) for a in draw()]
    with bc.device("cpu"):
        for mine, expected in zip(ours, draw(), strict=True):
            np.testing.assert_array_equal(mine, np.asarray(expected))


@pytest.mark.parametrize("r", [2.0, 1e-3, 1e19, 3e19, 1e-22, 1e-30, 0.0, -1.0, np.inf, np.nan])
def test_magnitudes_that_are_compared(rng, r):
    """What squares tell, and what is too near, too large or too small for them."""
    angle = rng.random(3000) * 7
    near = 1 + rng.integers(-40, 41, 3000) * 2.0**-24
    z = (abs(r if np.isfinite(r) and r else 1.0) * near * np.exp(1j * angle)).astype(np.complex64)
    z[:6] = [0, np.inf, complex(np.nan, np.inf), np.nan, 3e38 + 3e38j, 1e-45]
    limit = np.float32(r)

    def tests():
        a = bc.asarray(z)
        return [abs(a) <= limit, abs(a) < limit, abs(a) >= limit, limit < abs(a), limit >= abs(a), abs(a) == limit, abs(a)]

    ours = [np.asarray(a) for a in tests()]
    with bc.device("cpu"):
        for mine, expected in zip(ours, tests(), strict=True):
            np.testing.assert_array_equal(mine, np.asarray(expected))


def test_only_the_square_is_computed():
    with recorded() as record:
        held = abs(bc.asarray(np.ones(100, np.complex64))) <= 2
        bc.flush()
    del held
    assert "magnitude_less(" in record.launches[0].source


def test_a_number_that_several_stages_read(null_cuda):
    """One step of an iteration: `live` is read once a row, by what follows the first sum and by what follows the second."""
    live, r = bc.asarray(np.array(True)), bc.asarray(np.arange(1.0, 41))
    bc.flush()
    with recorded() as record:
        size = bc.sqrt((r * r).sum())
        still = live & (size >= 0.1)
        total = (r / size).sum()
        result = bc.where(live, total, -1.0)
        bc.flush()
    assert len(record.launches) == 1 and bool(still)
    plain = np.arange(1.0, 41)
    np.testing.assert_allclose(np.asarray(result), (plain / np.sqrt((plain * plain).sum())).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
def test_reductions_that_are_compiled_quickly_give_the_same_bits(rng, dtype, no_kernels_on_disk):
    """The first launch may be of a kernel that was compiled quickly, from a shorter text; the whole takes its place."""
    arrays = [(100 * rng.normal(size=shape)).astype(dtype) for shape in [(40, 64), (7, 5000), 100_000]]

    def results(x):
        with recorded() as r:
            found = [f(x, axis=axis) for axis in (None, -1) for f in (bc.sum, bc.max, bc.std, bc.argmin)]
            found.append(bc.sum(x * 3 * x + x, axis=-1))
            bc.flush()
        return [np.asarray(v) for v in found], sum("#define BC_QUICK" in launch.source for launch in r.launches)

    launches, replaced = 0, bc._c.cache_stats()["replaced"]
    for a in arrays:
        x = bc.asarray(a)
        bc.flush()
        bc.config.background_compile = True
        quick, count = results(x)
        launches += count
        bc.config.background_compile = False
        whole, none = results(x)
        assert none == 0
        for ours, expected in zip(quick, whole, strict=True):
            np.testing.assert_array_equal(ours, expected)
    # Where cores are idle, the whole may replace the quick ones before their first launch.
    assert launches > 0 or bc._c.cache_stats()["replaced"] > replaced


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_choices_and_conversions_that_are_printed_as_cpp(rng, dtype):
    special = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -1.5, 3e9, -3e9, 1e-310]
    values = [(x, y) for x in special for y in special] if dtype.startswith("f") else rng.integers(-5, 6, (300, 2))
    a, b = np.array(values).astype(dtype).T.copy()

    def results():
        x, y = bc.asarray(a), bc.asarray(b)
        found = [f(x, y) for f in (bc.maximum, bc.minimum, bc.fmax, bc.fmin)] + [bc.isnan(x)]
        found += [x.astype(t) for t in ("bool", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64")]
        tiled = bc.tile(x, 7)
        found += [f(tiled) for f in (bc.max, bc.min, bc.argmax, bc.argmin, bc.sum, bc.mean, bc.any, bc.count_nonzero)]
        found += [f(tiled.reshape(7, -1), axis=0) for f in (bc.max, bc.argmin)]
        return [np.asarray(r) for r in found]

    ours = results()
    with bc.device("cpu"):
        for mine, expected in zip(ours, results(), strict=True):
            assert mine.dtype == expected.dtype
            nan = np.isnan(expected) if expected.dtype.kind in "fc" else np.zeros(expected.shape, bool)
            assert mine[~nan].tobytes() == expected[~nan].tobytes()
            assert np.isnan(mine[nan]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_kernels_read_little_of_the_device_library(dtype):
    """The text before a kernel is what it names: a local variable called y0 once brought the Bessel functions with it."""
    a = bc.asarray(np.ones((1000, 300), dtype))
    rng = bc.random.Generator(bc.random.Philox(5))
    programs = {
        "sum": lambda: a.sum(),
        "max": lambda: a.max(axis=1),
        "argmin": lambda: a.argmin(),
        "any": lambda: (a > 0).any(axis=0),
        "count": lambda: bc.count_nonzero(a),
        "mean": lambda: a.mean(axis=1),
        "std": lambda: a.std(axis=1),
        "centred": lambda: a - a.mean(axis=1, keepdims=True),
        "uniform": lambda: rng.random(10_000, dtype="float32"),
        "maximum": lambda: bc.maximum(a, 2),
        "cast": lambda: a.astype("int32" if dtype == "int64" else "float64") + 1,
    }
    for name, program in programs.items():
        bc.flush()
        with recorded() as r:
            held = program()
            bc.flush()
        for launch in r.launches:
            size = len(bc._c.device_library_for(launch.source, ""))
            assert size < 5500, (name, size)
        del held


@pytest.mark.parametrize("shape", [(20_000,), (3, 9000), (50, 700)])
def test_a_row_is_walked_again_with_what_its_moments_are(rng, shape):
    """A kernel of several stages walks each row once for each, which needs variables of its own."""
    a = rng.random(shape)
    x = bc.asarray(a)
    got = ((x - x.std(axis=-1, keepdims=True)) / x.mean(axis=-1, keepdims=True)).mean(axis=-1)
    want = ((a - a.std(axis=-1, keepdims=True)) / a.mean(axis=-1, keepdims=True)).mean(axis=-1)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)
    standard = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
    wanted = (a - a.mean(axis=-1, keepdims=True)) / a.std(axis=-1, keepdims=True)
    np.testing.assert_allclose(np.asarray((standard**3).mean(axis=-1)), (wanted**3).mean(axis=-1), rtol=1e-9, atol=1e-12)
