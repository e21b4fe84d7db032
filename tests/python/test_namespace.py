"""Names of NumPy and CuPy beside the large functions: strides, files, requirements, other names; and corners of older functions."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import broadcloth as bc
from support import assert_close_to_numpy

WINDOWS = "xp.lib.stride_tricks.sliding_window_view"


@pytest.mark.parametrize(
    "form",
    [
        f"{WINDOWS}(x, (2, 2))",
        f"{WINDOWS}(x, 3, 1)",
        f"{WINDOWS}(x, 3, axis=-1).sum(-1)",
        f"{WINDOWS}(x.T[::-1], (2, 2), (1, 0))",
        f"{WINDOWS}(x, (2, 2), (1, 1))",
        f"{WINDOWS}(x[0], 4)",
        f"{WINDOWS}([1, 2, 3], 2)",
        f"{WINDOWS}(x, (2, 0))",
        f"{WINDOWS}(x, 2)",
        f"{WINDOWS}(x, (2, 2), 0)",
        f"{WINDOWS}(x, (9, 2))",
        f"{WINDOWS}(x, (-1, 2))",
        f"{WINDOWS}(x, 2, 5)",
        f"{WINDOWS}(x, (2, 2)).flags.writeable",
        f"{WINDOWS}(x, (2, 2), writeable=True).flags.writeable",
        "xp.lib.stride_tricks.as_strided(x, (2, 3), (8, 16))",
        "xp.lib.stride_tricks.as_strided(x, strides=(0, 8))",
        "xp.lib.stride_tricks.as_strided(x, shape=(2, 2))",
        "xp.lib.stride_tricks.as_strided(x[::2, ::2], shape=(2, 2))",
        "xp.lib.stride_tricks.as_strided(x, (2,), (8,), writeable=False).flags.writeable",
        "xp.lib.array_utils.normalize_axis_index(-1, 3)",
        "xp.lib.array_utils.normalize_axis_tuple((-1, 0), 3)",
        "[b - xp.lib.array_utils.byte_bounds(x)[0] for b in xp.lib.array_utils.byte_bounds(x[1:, ::-2])]",
        "b = xp.lib.array_utils.byte_bounds(x[:0]); b[1] - b[0]",
    ],
)
def test_stride_tricks(xp, form):
    assert_close_to_numpy(xp, form, x=np.arange(20.0).reshape(4, 5))


def test_strided_views_write_through_and_stay_inside(xp):
    x = xp.zeros(5)
    xp.lib.stride_tricks.as_strided(x, (2,), (16,))[:] = 7
    assert x.tolist() == [7, 0, 7, 0, 0]
    with pytest.raises(ValueError, match="memory"):
        xp.lib.stride_tricks.as_strided(x, (6,), (8,))
    assert isinstance(np.lib.stride_tricks.sliding_window_view(x, 2), xp.ndarray)


def test_numbers_from_files_and_text(xp, tmp_path):
    path = str(tmp_path / "numbers")
    np.arange(6, dtype="int16").tofile(path)
    for form in (
        "xp.fromfile(path, 'int16')",
        "xp.fromfile(path, dtype='int16', count=2)",
        "xp.fromfile(path, 'int16', 2, '', 4)",
        "xp.fromfile(path, np.int32)",
        "xp.fromfile(path + 'x')",
    ):
        assert_close_to_numpy(xp, form, path=path)
    with open(path, "w") as f:
        f.write("1.5 2\n3")
    assert_close_to_numpy(xp, "xp.fromfile(path, sep=' ')", path=path)
    for form in ("xp.fromstring('1 2 3', sep=' ')", "xp.fromstring('1,2', dtype=int, count=1, sep=',')", "xp.fromstring('1')"):
        assert_close_to_numpy(xp, form)


@pytest.mark.parametrize(
    "form",
    [
        "xp.asarray_chkfinite([1, 2])",
        "xp.asarray_chkfinite([1, 2], dtype='f')",
        "xp.asarray_chkfinite([1, np.inf])",
        "xp.asarray_chkfinite([1, np.nan * 1j])",
        "xp.asarray_chkfinite(xp.ones((2, 2)), order='F').flags.f_contiguous",
        "xp.require(x, 'f', 'F').flags.f_contiguous",
        "xp.require(x, requirements=['C']).flags.c_contiguous",
        "xp.require(x[::2], requirements='O').flags.owndata",
        "xp.require(xp.broadcast_to(x, (2, 4, 5)), requirements=['W']).flags.writeable",
        "xp.require(x, requirements=['C', 'F'])",
        "xp.require(x, requirements=['Z'])",
        "xp.require([1, 2], requirements=['CONTIGUOUS', 'aligned', 'E'])",
        "xp.require(x)",
    ],
)
def test_requirements(xp, form):
    assert_close_to_numpy(xp, form, x=np.arange(20.0).reshape(4, 5))


def test_an_array_that_meets_requirements_is_not_copied(xp):
    x = xp.ones((2, 3))
    assert xp.require(x, requirements=["C", "A", "W"]) is x


def test_other_names():
    x = bc.asarray([[1.0, 2.0], [3.0, 0.0]])
    assert bc.alltrue(x, axis=0).tolist() == [True, False] and bool(bc.sometrue(x))
    assert bc.product(x, 1).tolist() == [2, 0] and bc.cumproduct([2, 3]).tolist() == [2, 6]
    assert bc.trapz(x, dx=2.0).tolist() == [3, 3] and bc.round_(1.26, 1) == bc.round(1.26, 1)
    assert bc.row_stack([x, x]).shape == (4, 2)
    assert bc.asfarray([1, 2], "f").dtype == bc.float32 and bc.asfarray([1], int).dtype == bc.float64
    assert (bc.long, bc.complex_, bc.singlecomplex) == (np.int64, np.complex128, np.complex64)
    assert bc.round_.__name__ == "round_"


# ---- Corners ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "xp.argmax(xp.ones(3), dtype='i4')",
        "xp.ones(3).argmin(dtype=int)",
        "xp.argmax([[1, 2]], 0, xp.zeros(2, dtype='f'))",
        "xp.argmin([[1, 2]], 0, xp.zeros(2, dtype='i8'))",
        "xp.argmax([[1, 2]], 0, out=xp.zeros(2, dtype='i4'))",
        "xp.cov([[1j, 2], [3, 4]], dtype='f')",
        "xp.cov([])",
        "xp.cov([[], []])",
        "xp.cov(xp.zeros((2, 0), dtype=int))",
        "xp.cov([200, 100, 250], y=[1, 2, 4])",
        "xp.cov(xp.asarray([200, 100, 250], dtype='B'))",
        "xp.select([x < 3, x < 5], [x.astype('f'), 1], 2)",
        "xp.select([x < 3], [1.5])",
        "xp.select([x < 3, x < 5], [True, x])",
        "xp.select([x < 3], [x.astype('b')], 1.5)",
        "len(xp.r_)",
        "xp.r_['1,2,0', [1, 2], [3, 4]]",
        "xp.c_[[[1, 2, 3]], 0, 0, [[4, 5, 6]]]",
        "xp.r_[xp.ones(2, dtype='f'), 1.5]",
        "xp.tril_indices(3, m=5)",
        "xp.tril_indices(-1)",
        "xp.put(x, [0, 1], [])",
    ],
)
def test_corners(xp, form):
    assert_close_to_numpy(xp, form, 1e-12, x=np.arange(8))


@pytest.mark.parametrize(
    "options",
    [
        "",
        "2",
        "0.1",
        "np.float16(.1)",
        "np.float64(.1)",
        "axis=1, edge_order=2",
        "2, 3",
        "np.arange(5, dtype='e') ** 2, axis=0",
        "np.arange(5, dtype='f') ** 2, axis=0, edge_order=2",
    ],
)
def test_gradients_of_halves_and_booleans(xp, options):
    x = (np.random.default_rng(0).random((5, 6)) * 20).astype("e")
    assert_close_to_numpy(xp, f"xp.gradient(x, {options})", x=x)
    assert_close_to_numpy(xp, f"xp.gradient(x > 5, {options})", 1e-6, x=x)


# ---- Parts of elements, scattered updates, aligned records -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "z.getfield('f8')",
        "z.getfield('f8', 8)",
        "z.T.getfield('f8', 8)",
        "z[::-1, 1:].getfield('f8', offset=8)",
        "z.getfield('c16')",
        "i.getfield('i2', 2)",
        "i.getfield('u1', 7)",
        "z[0, 0:1].reshape(()).getfield('f8', 8)",
        "z[:0].getfield('f4', 4)",
        "z.getfield('f8', 9)",
        "z.getfield('f8', 16)",
        "z.getfield('f8', -8)",
        "i.getfield('c16')",
        "a = z.copy(); a.setfield(7, 'f8', 8); a",
        "a = z.copy(); a[:, 1].setfield([1, 2], 'f8'); a",
        "a = i.copy(); a.setfield(1, 'i4', 4); a",
        "a = z.copy(); a.getfield('f8', 8)[...] = 1; a",
    ],
)
def test_parts_of_elements(xp, form):
    z = (np.arange(6) + 1j * np.arange(6, 12)).reshape(2, 3)
    assert_close_to_numpy(xp, form, z=z, i=np.array([1, -2, 1 << 40]))


def test_offsets_must_suit_the_part(xp):
    with pytest.raises(ValueError, match="multiple"):
        xp.zeros(3, dtype="c16").getfield("f8", 4)


def test_scattered_updates_take_every_value(xp):
    a = xp.zeros((3, 2))
    a.scatter_add(xp.array([0, 0, 2]), xp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert a.tolist() == [[4, 6], [0, 0], [5, 6]]
    a.scatter_max((slice(None), 1), 5.0)
    assert a[:, 1].tolist() == [6, 5, 6]
    a.scatter_min(xp.array([1, 1]), xp.array([[-1.0, 9.0], [-3.0, 1.0]]))
    assert a[1].tolist() == [-3, 1]


def test_aligned_records():
    made = bc.make_aligned_dtype([("a", "i1"), ("z", "c16"), ("n", [("b", "i1"), ("d", "f8")])])
    assert [made.fields[n][1] for n in ("a", "z", "n")] == [0, 16, 32] and made.itemsize == 48
    assert made["n"].fields["d"][1] == 8
    assert bc.make_aligned_dtype("f4") == np.dtype("f4")
    assert bc.make_aligned_dtype([("a", "f4")], alignment=16).itemsize == 16
    for wrong in (2, 12):
        with pytest.raises(ValueError, match="alignment|power"):
            bc.make_aligned_dtype([("a", "f8")], alignment=wrong)


IMPORTED = {"np", "Any", "annotations", "TYPE_CHECKING", "Sequence", "Callable", "Literal", "functools", "math", "operator", "bc"}


MODULES = """autograd experimental extending fft fft.config lib lib.stride_tricks linalg polynomial profiler random rec scipy.linalg
scipy.sparse scipy.special typed types typing cupyx.profiler cuda cuda.random""".split()


@pytest.mark.parametrize("name", ["broadcloth", *(f"broadcloth.{name}" for name in MODULES)])
def test_modules_list_their_public_names_alone(name):
    module = importlib.import_module(name)
    assert not IMPORTED & set(dir(module))
    assert set(getattr(module, "__all__", ())) <= set(dir(module))


def test_assertions_take_arrays_and_elements():
    a = bc.arange(5.0)
    bc.testing.assert_equal(a[1], 1)
    bc.testing.assert_equal({"sum": a.sum(), "all": [a, a[2]]}, {"sum": 10.0, "all": [np.arange(5.0), 2]})
    bc.testing.assert_allclose(a + 1e-9, np.arange(5.0), atol=1e-8)
    bc.testing.assert_array_equal(a > 2, [False, False, False, True, True])
    for wrong in (lambda: bc.testing.assert_equal(a[1], 2), lambda: bc.testing.assert_array_less(a, a)):
        with pytest.raises(AssertionError):
            wrong()
    assert bc.testing.assert_raises is np.testing.assert_raises
    assert dir(bc.testing) == sorted(bc.testing.__all__)
    with pytest.raises(AttributeError, match="assert_nothing"):
        bc.testing.assert_nothing  # noqa: B018
