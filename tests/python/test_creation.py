"""Creation functions against NumPy."""

from __future__ import annotations

import io

import numpy as np
import pytest

from support import DTYPES, assert_like_numpy, assert_same, assert_ulp


@pytest.mark.parametrize("dtype", DTYPES)
def test_constant_arrays(xp, dtype):
    for shape in ((), 3, (0, 2), (2, 3)):
        assert_same(xp.zeros(shape, dtype), np.zeros(shape, dtype))
        assert_same(xp.ones(shape, dtype), np.ones(shape, dtype))
        assert_same(xp.full(shape, 1, dtype), np.full(shape, 1, dtype))
        assert xp.empty(shape, dtype).shape == np.empty(shape, dtype).shape
        like = xp.zeros(shape, dtype)
        assert_same(xp.ones_like(like), np.ones(shape, dtype))
        assert_same(xp.zeros_like(like, dtype=xp.int16, shape=(2,)), np.zeros(2, np.int16))
        assert_same(xp.full_like(like, 1), np.full(shape, 1, dtype))
        assert xp.empty_like(like).dtype == np.dtype(dtype)


def test_defaults_are_numpys(xp):
    assert xp.zeros(2).dtype == np.float64 and xp.full(2, 3).dtype == np.int64 and xp.full(2, 1j).dtype == np.complex128
    assert xp.full(2, True).dtype == np.bool_ and xp.full((2, 2), [1.0, 2.0]).tolist() == [[1, 2], [1, 2]]
    assert xp.arange(3).dtype == np.int64 and xp.arange(3.0).dtype == np.float64
    assert xp.array([1, 2.5]).dtype == np.float64 and xp.array([True, 2]).dtype == np.int64 and xp.array([]).dtype == np.float64
    assert xp.array(3).shape == () and xp.array([[1], [2]]).shape == (2, 1)


@pytest.mark.parametrize(
    "args",
    [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (0,), (5, 1), (0.0, 1.0, 0.1), (1.5, 4), (0, 1, 0.25), (-3, 3.0, 1.5), (10, 0, -3)],
)
def test_arange(xp, args):
    assert_same(xp.arange(*args), np.arange(*args))
    assert_same(xp.arange(*args, dtype="float32"), np.arange(*args, dtype="float32"))


def test_arange_errors_and_types(xp):
    assert_same(xp.arange(5, dtype=xp.uint8), np.arange(5, dtype=np.uint8))
    assert_same(xp.arange(3, dtype=complex), np.arange(3, dtype=complex))
    with pytest.raises(ZeroDivisionError):
        xp.arange(0, 5, 0)
    with pytest.raises((ValueError, MemoryError)):
        xp.arange(0, 1e30, 1)


@pytest.mark.parametrize("num", [0, 1, 2, 7, 50])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(xp, num, endpoint):
    for start, stop in ((0, 1), (-2.5, 7), (5, 5), (3, -3)):
        assert_same(xp.linspace(start, stop, num, endpoint), np.linspace(start, stop, num, endpoint))
        assert_ulp(
            xp.linspace(start, stop, num, endpoint, dtype="float32"), np.linspace(start, stop, num, endpoint), 1, "float32", loose_sign=True
        )
        assert_same(xp.linspace(start, stop, num, endpoint, dtype=int), np.linspace(start, stop, num, endpoint, dtype=int))
        got, step = xp.linspace(start, stop, num, endpoint, retstep=True)
        want, theirs = np.linspace(start, stop, num, endpoint, retstep=True)
        assert_same(got, want)
        np.testing.assert_equal(float(step), float(theirs))


def test_linspace_of_arrays(xp):
    a, b = np.array([0.0, 1, 5]), np.array([1.0, 1, -5])
    for axis in (0, 1, -1):
        assert_ulp(xp.linspace(xp.asarray(a), xp.asarray(b), 5, axis=axis), np.linspace(a, b, 5, axis=axis), 1)
    assert_ulp(xp.linspace(0, 1j, 3), np.linspace(0, 1j, 3), 1)
    with pytest.raises(ValueError):
        xp.linspace(0, 1, -1)


def test_logspace_and_geomspace(xp):
    assert_ulp(xp.logspace(0, 3, 7), np.logspace(0, 3, 7), 4)
    assert_ulp(xp.logspace(0, 3, 7, base=2.0, endpoint=False), np.logspace(0, 3, 7, base=2.0, endpoint=False), 4)
    for a, b in ((1, 1000), (1000, 1), (-1, -1000), (1, 256)):
        assert_ulp(xp.geomspace(a, b, 9), np.geomspace(a, b, 9), 8)
    with pytest.raises(ValueError):
        xp.geomspace(0, 5)


def test_identity_eye_and_triangles(xp):
    for k in (-2, 0, 1):
        assert_same(xp.eye(3, 5, k), np.eye(3, 5, k))
        assert_same(xp.tri(3, 5, k, dtype=int), np.tri(3, 5, k, dtype=int))
        n = np.arange(1, 13.0).reshape(3, 4)
        assert_same(xp.tril(xp.asarray(n), k), np.tril(n, k))
        assert_same(xp.triu(xp.asarray(n), k), np.triu(n, k))
        assert_same(xp.diag(xp.asarray(n), k), np.diag(n, k))
        assert_same(xp.diag(xp.asarray(n[0]), k), np.diag(n[0], k))
        assert_same(xp.diagflat(xp.asarray(n), k), np.diagflat(n, k))
    assert_same(xp.identity(3, int), np.identity(3, int))
    assert_same(xp.tril(xp.ones((2, 3, 3))), np.tril(np.ones((2, 3, 3))))
    assert_same(xp.vander([1, 2, 3], 4), np.vander([1, 2, 3], 4))
    assert_same(xp.vander([1.5, 2, 3], increasing=True), np.vander([1.5, 2, 3], increasing=True))
    for got, want in zip(xp.tril_indices(4, -1), np.tril_indices(4, -1)):
        assert_same(got, want)
    for got, want in zip(xp.triu_indices(3, 1, 5), np.triu_indices(3, 1, 5)):
        assert_same(got, want)


def test_grids(xp):
    a, b, c = np.arange(3), np.arange(4.0), np.arange(2)
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            for got, want in zip(
                xp.meshgrid(a, b, c, indexing=indexing, sparse=sparse), np.meshgrid(a, b, c, indexing=indexing, sparse=sparse)
            ):
                assert_same(got, want)
    with pytest.raises(ValueError):
        xp.meshgrid(a, b, indexing="ab")
    assert_same(xp.indices((2, 3)), np.indices((2, 3)))
    for got, want in zip(xp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True)):
        assert_same(got, want)
    assert_same(xp.fromfunction(lambda i, j: i * 2 + j, (3, 4)), np.fromfunction(lambda i, j: i * 2 + j, (3, 4)))
    assert_same(xp.mgrid[0:3, 1:2:4j], np.mgrid[0:3, 1:2:4j])
    for got, want in zip(xp.ogrid[0:3, 1:5], np.ogrid[0:3, 1:5]):
        assert_same(got, want)


def test_array_and_asarray(xp):
    n = np.arange(6).reshape(2, 3)
    x = xp.array(n)
    n[0, 0] = 99
    assert int(x[0, 0]) == 0, "array copies"
    assert xp.asarray(x) is x and xp.array(x) is not x
    assert_same(xp.array(x, dtype=xp.float32), np.array([[0, 1, 2], [3, 4, 5]], np.float32))
    assert xp.array([1, 2], ndmin=3).shape == (1, 1, 2)
    assert_same(xp.asarray([x[0], x[1]]), x.get())
    assert_same(xp.array([[1, 2], [3, 4.5]]), np.array([[1, 2], [3, 4.5]]))
    assert_same(xp.array(range(4)), np.array(range(4)))
    assert_same(xp.asarray(np.asfortranarray(n)), n)
    assert_same(xp.asarray(n[::-1, ::2]), n[::-1, ::2])
    assert_same(xp.asarray(n.astype(">i4")).astype("i4"), n.astype("i4"))
    with pytest.raises(ValueError):
        xp.array([[1, 2], [3]])
    with pytest.raises(TypeError):
        xp.array(["a", "b"])
    with pytest.raises(TypeError):
        xp.array([object()])
    with pytest.raises(TypeError):
        xp.zeros(3, "S5")
    assert_same(xp.fromiter((i for i in range(5)), float), np.arange(5.0))
    assert_same(xp.ascontiguousarray(x.T), x.get().T)
    assert xp.asfortranarray(x).flags.f_contiguous


def test_big_python_integers(xp):
    assert_same(xp.array(2**63, dtype=xp.uint64), np.array(2**63, dtype=np.uint64))
    assert xp.array([2**63]).dtype == np.uint64
    with pytest.raises(OverflowError):
        xp.array([300], dtype=xp.uint8)
    with pytest.raises(OverflowError):
        xp.arange(3, dtype=xp.uint8) + 300


def test_shapes_that_cannot_be(xp):
    for shape in (-1, (2, -3), (1 << 40, 1 << 40)):
        with pytest.raises((ValueError, MemoryError)):
            xp.zeros(shape)
    with pytest.raises(TypeError):
        xp.zeros(2.5)
    with pytest.raises(ValueError):
        xp.zeros((1,) * 65)


def test_devices(xp):
    cpu = xp.zeros(3, device="cpu")
    assert cpu.device == "cpu" and str(cpu.device) == "cpu"
    with xp.device("cpu"):
        assert xp.zeros(2).device == "cpu" and xp.default_device() == "cpu"
    x = xp.arange(4.0)
    assert_same(x.to_device("cpu") * 2, np.arange(4.0) * 2)
    assert x.to_device("cpu").device == "cpu"
    assert xp.zeros_like(cpu).device == "cpu"
    with pytest.raises((ValueError, RuntimeError)):
        xp.zeros(3, device="cuda:99")
    with pytest.raises(ValueError):
        xp.zeros(3, device="nonsense")


def test_files(xp, tmp_path):
    x = xp.arange(6.0).reshape(2, 3)
    xp.save(tmp_path / "a.npy", x)
    assert_same(xp.load(tmp_path / "a.npy"), x.get())
    xp.savez(tmp_path / "b.npz", x, y=x + 1)
    both = xp.load(tmp_path / "b.npz")
    assert_same(both["y"], x.get() + 1)
    assert_same(both["arr_0"], x.get())
    xp.savetxt(tmp_path / "c.csv", x, delimiter=",")
    assert_same(xp.loadtxt(tmp_path / "c.csv", delimiter=","), x.get())
    assert_same(xp.genfromtxt(io.StringIO("1,2\n3,"), delimiter=","), np.array([[1, 2], [3, np.nan]]))


def test_ranges_between_brackets(xp):
    for module in (np, xp):
        assert module.r_[1:4].dtype == np.int64
    for name, key in (
        ("r_", (slice(1, 4), 7, [8, 9])),
        ("r_", (slice(0, 1, 5j), 2)),
        ("r_", ("0,2", [1, 2], [3, 4])),
        ("r_", ("1,2,0", [1, 2], [3, 4])),
        ("r_", (np.array([1, 2], np.int8), 3)),
        ("r_", (np.float32([1]), 2.5)),
        ("c_", ([1, 2], [3, 4])),
        ("c_", (np.array([[1, 2]]), [[3]])),
        ("c_", (slice(1, 3), slice(4, 6))),
    ):
        assert_same(getattr(xp, name)[key], getattr(np, name)[key], f"{name}{key}")
    with pytest.raises(ValueError, match="directive"):
        xp.r_["x", [1]]


def test_indices_of_triangles_from_arrays(xp):
    a = np.zeros((3, 4))
    x = xp.array(a)
    for name in ("tril_indices_from", "triu_indices_from"):
        for k in (-1, 0, 2):
            for got, want in zip(getattr(xp, name)(x, k), getattr(np, name)(a, k), strict=True):
                assert_same(got, want)
        with pytest.raises(ValueError, match="2-d"):
            getattr(xp, name)(xp.zeros(3))
    for got, want in zip(xp.mask_indices(3, xp.triu, 1), np.mask_indices(3, np.triu, 1), strict=True):
        assert_same(got, want)
    for got, want in zip(xp.diag_indices_from(xp.zeros((2, 2, 2))), np.diag_indices_from(np.zeros((2, 2, 2))), strict=True):
        assert_same(got, want)
    with pytest.raises(ValueError, match="equal length"):
        xp.diag_indices_from(x)
    assert xp.isfortran(xp.zeros((2, 3)).T) and not xp.isfortran(xp.zeros((2, 3)))


@pytest.mark.parametrize("base", [[2, 3], [[2.0], [3.0]], [1 + 1j, 2], np.array([2, 3], "f4")], ids=str)
@pytest.mark.parametrize("ends", [(0, 3), ([0, 1], [3, 4]), (0.0, [1, 2])], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
def test_logspace_of_several_bases(xp, base, ends, axis):
    for options in ({}, {"endpoint": False}, {"dtype": "f4"}):
        if options.get("dtype") and np.iscomplexobj(base):
            continue
        expected = np.logspace(*ends, 4, base=base, axis=axis, **options)
        got = xp.logspace(*ends, 4, base=base, axis=axis, **options)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6 if "dtype" in options else 1e-13)


@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64", "int8", "complex64"])
def test_lists_of_numbers_are_what_numpy_makes_of_them(xp, dtype):
    for given in ([1, 2, 3], [1.5, 2], [1, 2.5], ((1, 2), [3, 4.5]), [[[1.0]]], [2**62, -(2**63)], [True, 1], [[], []], [2**53 + 1, 1.5]):
        try:
            expected = np.array(given, dtype)
        except OverflowError:
            with pytest.raises(OverflowError):
                xp.array(given, dtype)
            continue
        assert_same(xp.array(given, dtype), expected)
    for ragged in ([[1, 2], [3]], [1, [2]], [[1, 2], 3]):
        with pytest.raises((ValueError, TypeError)):
            xp.array(ragged, dtype)


def test_tolist_gives_python_numbers_in_nested_lists(xp):
    small = [np.arange(6, dtype="uint8").reshape(2, 3), np.array([0.5, 2], "float16"), np.array([[True], [False]])]
    for a in [*small, np.array(2 - 1j), np.ones((2, 0)), np.arange(300.0)]:
        given = xp.asarray(a).tolist()
        assert given == a.tolist() and repr(given) == repr(a.tolist())


@pytest.mark.parametrize("dtype", [None, "float32", "uint8"])
def test_arange_gives_the_bits_of_numpys(xp, dtype):
    rng = np.random.default_rng(5)
    for case in range(80):
        args = [float(v) if case % 2 else int(v) for v in rng.uniform(-9, 9, 3).round(case % 8) * [1, 9, 1]]
        args = args[: 1 + case % 3]
        if len(args) == 3 and abs(args[2]) < 0.01:
            continue
        try:
            expected = np.arange(*args, dtype=dtype)
        except OverflowError:
            with pytest.raises(OverflowError):
                xp.arange(*args, dtype=dtype)
            continue
        got = xp.asnumpy(xp.arange(*args, dtype=dtype))
        assert got.dtype == expected.dtype and got.tobytes() == expected.tobytes(), args


@pytest.mark.parametrize(
    "code",
    [
        "xp.empty(2**61)",
        "xp.zeros(2**62, 'u1').shape == xp.zeros(2**61, 'u2')",
        "xp.empty(2**63)",
        "xp.empty((2**40, 2**40))",
        "xp.ones((2**31, 2**31), 'f8')",
        "xp.zeros((0, 2**40, 2**40))",
        "xp.zeros(0).reshape(2**32, 2**32)",
        "xp.zeros(0).reshape(2**32, 2**32, -1)",
        "xp.zeros(0).reshape(0, 2**40, 2**40)",
        "xp.zeros(4).reshape(2**62, 4)",
        "xp.zeros(4).reshape(-1, 0)",
        "xp.zeros(0).reshape(-1, 0)",
        "xp.broadcast_to(xp.zeros(1), (2**40, 2**40))",
        "xp.broadcast_to(xp.zeros(1), (2**40, 2**23))",
        "xp.tile(xp.zeros(3), 2**62)",
        "xp.repeat(xp.zeros(3), 2**62)",
        "xp.arange(2**62)",
        "xp.full(2**61, 1.5)",
        "a = xp.broadcast_to(xp.zeros(1, 'u1'), 2**62); xp.concatenate([a, a, a])",
    ],
)
def test_sizes_that_do_not_fit_raise(xp, code):
    assert_like_numpy(xp, code)


def test_expressions_too_big_to_count_raise(xp):
    wide, line = xp.broadcast_to(xp.zeros(1), (2**40, 2**20)), xp.broadcast_to(xp.zeros(1), 2**40)
    for make in (
        lambda: wide + 1,
        lambda: xp.add.outer(line, line),
        lambda: xp.resize(line, 2**62),
        lambda: xp.zeros(3).resize((2**40, 2**40)),
    ):
        with pytest.raises(ValueError, match="too big"):
            make()


@pytest.mark.parametrize("buffer", ["b'12345678'", "bytearray(b'12345678')", "b''", "memoryview(b'1234')"])
def test_frombuffer_is_as_writable_as_the_buffer(xp, buffer):
    assert_like_numpy(xp, f"xp.frombuffer({buffer}, 'u1')")


def test_frombuffer_of_bytes_cannot_be_written(xp):
    a = xp.frombuffer(b"1234", "u1")
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a[1:][0] = 1


@pytest.mark.parametrize("k", [0, 1, -1])
def test_diagonals_of_matrices_are_read_only_views(xp, k):
    assert_like_numpy(xp, f"xp.diag(xp.arange(9).reshape(3, 3), {k})")
    assert_like_numpy(xp, f"xp.diag([[1, 2], [3, 4]], {k})")
    assert_like_numpy(xp, f"xp.diag(xp.arange(3), {k})")
    a = xp.zeros((3, 3))
    view = xp.diag(a)
    a[1, 1] = 5
    assert float(view[1]) == 5
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("other", ["3", "2.5", "1j", "True", "np.float32(2)", "np.uint8(7)", "np.int64(7)", "np.float16(2)"])
def test_spaced_numbers_have_numpys_dtype(xp, dtype, other):
    a, b = (f"xp.array([1, 2], '{dtype}')", eval(other, {"np": np}))
    for name in ("linspace", "logspace", "geomspace"):
        for ends in ("(a, b, 3)", "(b, a, 3)", "(a, a, 2)", "(b, b, 2)", "(a, b, 2, dtype='f4')"):
            made = [eval(f"m.{name}{ends}", {"m": m, "b": b, "a": eval(a, {"xp": m})}) for m in (np, xp)]
            assert made[0].dtype == made[1].dtype and made[0].shape == made[1].shape, (name, ends)
            np.testing.assert_allclose(made[1].get(), made[0], rtol=4e-3 if made[0].dtype == np.float16 else 2e-6)


def test_ends_of_arange_by_name(xp):
    for arguments in ("start=5", "start=5, dtype='f4'", "start=5, stop=None", "stop=5", "5, step=2", "start=1, stop=3", "step=2"):
        assert_like_numpy(xp, f"xp.arange({arguments})")


def test_lists_of_elements_and_numbers(xp):
    x, i = np.array([1.5, 2.5, np.nan]), np.arange(5)
    a, k = xp.asarray(x), xp.asarray(i)
    forms = [
        lambda v, n: [v[0], v[0] * v[1], 1],
        lambda v, n: [n[0], n[4], 7],
        lambda v, n: [n[1], 1.5],
        lambda v, n: [[v[0], v[2]], (1, n[2])],
        lambda v, n: [n[1], v[1]],
        lambda v, n: (v[:2].sum(), v[1]),
        lambda v, n: [v[0] > 1, True],
        lambda v, n: [v[0], [v[1]]][:1],
    ]
    for form in forms:
        made, expected = xp.array(form(a, k)), np.array(form(x, i))
        assert made.dtype == expected.dtype
        assert_same(made, expected)
    assert_same(xp.array([a[0], 2.7], dtype="float32"), np.array([1.5, 2.7], "float32"))
    assert_same(xp.array([a[0], 2.7], dtype=int), np.array([1, 2]))
    with pytest.raises(ValueError, match="one shape"):
        xp.array([a[0], [a[1]]])
