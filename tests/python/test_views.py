"""Views: no copy where NumPy makes none, shared memory in both directions, attributes."""

from __future__ import annotations

import numpy as np
import pytest

from support import assert_like_numpy, assert_same, host

VIEWS = {
    "slice": lambda a, xp: a[1:4],
    "step": lambda a, xp: a[::2, 1::3],
    "negative": lambda a, xp: a[::-1, ::-2],
    "index": lambda a, xp: a[2],
    "negative index": lambda a, xp: a[-1, -2],
    "newaxis": lambda a, xp: a[:, None, 2:, None],
    "ellipsis": lambda a, xp: a[..., 1],
    "empty slice": lambda a, xp: a[4:2],
    "beyond the end": lambda a, xp: a[3:100, -100:5],
    "T": lambda a, xp: a.T,
    "transpose": lambda a, xp: a.transpose(1, 0),
    "swapaxes": lambda a, xp: a.swapaxes(0, -1),
    "reshape": lambda a, xp: a.reshape(3, 2, -1),
    "reshape tuple": lambda a, xp: a.reshape((8, 6)),
    "ravel": lambda a, xp: a.ravel(),
    "diagonal": lambda a, xp: xp.diagonal(a, 1) if xp is np else a.diagonal(1),
    "broadcast_to": lambda a, xp: xp.broadcast_to(a[:, :1], (6, 5)),
    "expand_dims": lambda a, xp: xp.expand_dims(a, (0, 2)),
    "squeeze": lambda a, xp: xp.squeeze(a[:1, :, None]),
    "moveaxis": lambda a, xp: xp.moveaxis(a[None], 0, -1),
    "flip": lambda a, xp: xp.flip(a, 0),
    "rot90": lambda a, xp: xp.rot90(a),
    "split": lambda a, xp: xp.split(a, 3)[1],
    "real": lambda a, xp: a.real,
    "chain": lambda a, xp: a[::-1].T[1:7:2, 3:].reshape(3, 3)[..., ::-1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_the_same_elements_as_numpys(xp, name):
    n = np.arange(48.0).reshape(6, 8)
    x = xp.arange(48.0).reshape(6, 8)
    got, want = VIEWS[name](x, xp), VIEWS[name](n, np)
    assert_same(got, want)
    assert got.ndim == want.ndim and got.size == want.size and got.nbytes == want.nbytes


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in ("broadcast_to", "empty slice", "negative index", "chain", "diagonal")])
def test_writes_through_a_view_are_seen_by_the_base_and_the_other_way(xp, name):
    n = np.arange(48.0).reshape(6, 8)
    x = xp.arange(48.0).reshape(6, 8)
    v, w = VIEWS[name](x, xp), VIEWS[name](n, np)
    assert np.shares_memory(w, n)
    v[...] = v * 2 + 1
    w[...] = w * 2 + 1
    assert_same(x, n, "the base after a write through the view")
    x[...] = x - 100
    n[...] = n - 100
    assert_same(v, w, "the view after a write to the base")


def test_complex_parts_are_views(xp):
    n = np.arange(6) * (1 + 2j)
    x = xp.asarray(n)
    x.real[1:3] = 9
    x.imag[::2] = -1
    n.real[1:3] = 9
    n.imag[::2] = -1
    assert_same(x, n)
    x.real = [0, 1, 2, 3, 4, 5]
    n.real = [0, 1, 2, 3, 4, 5]
    assert_same(x, n)


def test_view_as_another_type_shares_memory(xp):
    n = np.arange(8, dtype=np.float32)
    x = xp.asarray(n)
    assert_same(x.view(xp.int32), n.view(np.int32))
    x.view(xp.uint32)[0] = 0x3F800000
    assert float(x[0]) == 1.0
    assert_same(x.view("complex64")[1:], n.view("complex64")[1:])
    assert x.view(xp.uint8).shape == (32,)
    with pytest.raises(ValueError):
        x[:3].view(xp.complex64)


def test_attributes_match_numpys(xp):
    n = np.zeros((4, 6), np.float32)
    x = xp.zeros((4, 6), xp.float32)
    for a, b in (
        (x, n),
        (x.T, n.T),
        (x[::2, 1:], n[::2, 1:]),
        (x[0], n[0]),
        (x[::-1], n[::-1]),
        (x[:0], n[:0]),
        (x[1, 1:2].reshape(()), n[1, 1:2].reshape(())),
    ):
        assert a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype and a.itemsize == b.itemsize
        assert a.ndim == b.ndim and a.size == b.size and a.nbytes == b.nbytes and len(a.shape) == a.ndim
        assert a.flags.c_contiguous == b.flags.c_contiguous and a.flags.f_contiguous == b.flags.f_contiguous
        assert a.flags["C_CONTIGUOUS"] == b.flags["C_CONTIGUOUS"]
    assert x.flags.owndata and not x.T.flags.owndata and x.flags.writeable
    assert x.flags == x.copy().flags and x.flags != x.T.flags
    assert x.base is None and x[1:].base is x and x[1:].T.base is x
    assert x.T.T.shape == x.shape and x.mT.shape == (6, 4)
    assert str(x.device).split(":")[0] == xp.default_device().type
    assert x.data.ptr % 16 == 0 and x[1:].data.ptr - x.data.ptr == 24


def test_shape_and_dtype_can_be_set(xp):
    x = xp.arange(6)
    x.shape = (2, 3)
    assert x.shape == (2, 3)
    with pytest.raises((ValueError, AttributeError)):
        x.T.shape = (6,)
    y = xp.zeros(4, xp.float32)
    y.dtype = xp.int32
    assert y.dtype == np.int32


def test_reshape_copies_only_when_it_must(xp):
    x = xp.arange(24).reshape(4, 6)
    assert xp.shares_memory(x, x.reshape(2, 2, 6))
    assert not xp.shares_memory(x, x.T.reshape(24))
    assert xp.shares_memory(x[:, ::2], x[:, ::2].reshape(2, 2, 3))
    n = np.arange(24).reshape(4, 6)
    assert_same(x.T.reshape(3, 8), n.T.reshape(3, 8))
    assert_same(x.reshape(3, 8, order="F"), n.reshape(3, 8, order="F"))
    assert_same(x.ravel("F"), n.ravel("F"))
    assert_same(x.flatten(), n.flatten())
    for shape in ((5, 5), (-1, 5), (-1, -1)):
        with pytest.raises(ValueError):
            x.reshape(shape)
    with pytest.raises(ValueError):
        xp.reshape(x.T, 24, copy=False)


def test_expressions_through_views_match_numpy(xp):
    n = np.arange(60.0).reshape(3, 4, 5)
    x = xp.asarray(n)
    assert_same(x[:, 1:] - x[:, :-1], n[:, 1:] - n[:, :-1])
    assert_same(x.transpose(2, 0, 1) * 2 + x[0, 0, ::-1][:, None, None], n.transpose(2, 0, 1) * 2 + n[0, 0, ::-1][:, None, None])
    assert_same((x + 1)[::2].T[1:3], (n + 1)[::2].T[1:3])
    assert_same((x * 2).reshape(12, 5)[::3].sum(axis=1), (n * 2).reshape(12, 5)[::3].sum(axis=1))
    assert_same(xp.broadcast_to(x[0] + 1, (7, 4, 5))[3:5, ::2], np.broadcast_to(n[0] + 1, (7, 4, 5))[3:5, ::2])


def test_views_of_a_pending_value_stay_views(xp):
    x = xp.arange(10.0) * 3  # waits
    v = x[2:5]
    x += 1
    v *= 10
    n = np.arange(10.0) * 3
    w = n[2:5]
    n += 1
    w *= 10
    assert_same(x, n)
    assert_same(v, w)


def test_many_dimensions(xp):
    shape = (2,) + (1,) * 62 + (3,)
    x = xp.arange(6).reshape(shape)
    assert x.ndim == 64
    n = np.arange(6).reshape(shape)
    assert_same(x + x.transpose(tuple(range(64))), n + n)
    assert_same(x.sum(axis=0), n.sum(axis=0))
    with pytest.raises((ValueError, IndexError)):
        x[None]


def test_a_read_only_broadcast_cannot_be_written(xp):
    x = xp.broadcast_to(xp.arange(3), (2, 3))
    with pytest.raises(ValueError):
        x[0, 0] = 1


def test_numpy_functions_that_give_views(xp):
    n = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(n)
    assert_same(xp.rollaxis(x, 2), np.rollaxis(n, 2))
    assert_same(xp.matrix_transpose(x), np.matrix_transpose(n))
    assert_same(xp.permute_dims(x, (2, 0, 1)), np.permute_dims(n, (2, 0, 1)))
    assert_same(xp.fliplr(x), np.fliplr(n))
    assert_same(xp.flipud(x), np.flipud(n))
    for k in range(-1, 5):
        assert_same(xp.rot90(x, k, (1, 2)), np.rot90(n, k, (1, 2)))
    for a, b in zip(xp.unstack(x, axis=1), np.unstack(n, axis=1)) if hasattr(np, "unstack") else ():
        assert_same(a, b)
    assert xp.atleast_2d(3).shape == (1, 1) and xp.atleast_3d(xp.ones(2)).shape == (1, 2, 1)
    one, two = xp.atleast_1d(1, [2])
    assert one.shape == two.shape == (1,)


def test_ravel_gives_elements_side_by_side(xp):
    a = np.arange(12)
    x = xp.array(a)
    for cut in (slice(None, None, 2), slice(None, None, -1), slice(2, 9)):
        line = xp.ravel(x[cut])
        assert line.flags.c_contiguous
        assert xp.shares_memory(line, x) == np.shares_memory(a[cut].ravel(), a)
        line[0] = 99
        b = a.copy()
        b[cut].ravel()[0] = 99
        assert_same(x, b)
        x = xp.array(a)


def test_shapes_and_axes_given_as_arrays(xp):
    for order in (np.array([1, 0]), xp.array([1, 0])):
        assert xp.ones((2, 3)).transpose(order).shape == (3, 2)
        assert xp.ones(order + 2).shape == (3, 2)
        assert xp.ones(6).reshape(order + 2).shape == (3, 2)
        assert xp.ones((2, 3)).sum(axis=tuple(order)).shape == ()
    assert xp.zeros(np.int64(3)).shape == xp.zeros(xp.array(3)).shape == (3,)
    assert xp.zeros(()).squeeze(axis=0).shape == ()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float32", "float64", "complex64", "complex128", "float16"])
def test_byteswap_turns_the_bytes_of_each_number(xp, dtype):
    n = (np.arange(24) - 7).astype(dtype).reshape(2, 3, 4)
    x = xp.asarray(n)
    for view in ((), (slice(None), 1), (0, slice(None, None, -1), slice(1, None, 2)), (1, 2, 3), (slice(0, 0),)):
        assert xp.asarray(x[view]).byteswap().tobytes() == n[view].byteswap().tobytes()
    part, part_n = x[1, :, ::2], n[1, :, ::2]
    assert part.byteswap(inplace=True) is part
    part_n.byteswap(inplace=True)
    assert x.tobytes() == n.tobytes()
    assert (x + x).byteswap().byteswap().tobytes() == (n + n).tobytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.T.copy(),
        lambda m: m.T.flatten(),
        lambda m: m[::-1].ravel(),
        lambda m: m.T.astype("f8"),
        lambda m: m[1:, ::-1].copy(),
        lambda m: m.T.reshape(3, 4),
    ],
    ids=["copy", "flatten", "ravel", "astype", "part", "reshape"],
)
def test_elements_of_pending_copies(xp, make):
    n = np.arange(12.0).reshape(4, 3) ** 2
    m = xp.asarray(n)
    xp.synchronize()
    want = make(n).ravel().tolist()
    assert [make(m).ravel()[k:].ravel()[:1].item() for k in range(len(want))] == want
    assert [make(m).item(k) for k in range(len(want))] == want
    assert [float(make(m).ravel()[k, ...]) for k in range(len(want))] == want


def test_elements_of_joined_and_assigned_arrays(xp):
    a = xp.asarray(np.arange(6.0))
    xp.synchronize()
    joined = xp.concatenate([a[2:5]])
    assert [joined.item(k) for k in range(3)] == [2, 3, 4]
    copied = xp.array(a[1:4])
    assert float(copied[2, ...]) == 3
    a[...] = a[::-1]
    assert [a.item(k) for k in range(6)] == [5, 4, 3, 2, 1, 0]
    assert [a[k : k + 1].item() for k in range(6)] == [5, 4, 3, 2, 1, 0]
    square = xp.asarray(np.arange(9.0).reshape(3, 3)).T.copy()
    assert square.diagonal()[1:2].item() == 4


@pytest.mark.parametrize(
    "code",
    [
        "xp.zeros((3, 0), 'f4').view('c8')",
        "xp.zeros((0, 2), 'f4')[:, ::-1].view('f8')",
        "xp.zeros((0, 3), 'f4').T.view('f8')",
        "xp.zeros((0, 3), 'f4').view('c8')",
        "xp.zeros((5, 1), 'f4')[::2].view('f8')",
        "xp.zeros(5, 'f4')[::2].view('f8')",
        "a = xp.zeros(8, 'f4'); a[2:6].view('f8')[:] = 1; a",
        "a = xp.zeros((3, 4), 'f4'); a[:, 2:].view('f8')[:] = 1; a",
    ],
)
def test_views_of_another_size(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("part", [lambda a: a[1:5], lambda a: a[:10].reshape(2, 5)[:, :4], lambda a: a[1:3]])
def test_misaligned_wider_view_is_refused(xp, part):
    a = xp.zeros(12, "f4")
    with pytest.raises(ValueError, match="multiples of 8 bytes"):
        part(a).view("f8")
    assert part(a).copy().view("f8").dtype == np.float64


# A byte that is not zero is True, as in NumPy.
BYTES = [0, 1, 2, 3, 255, 128, 0, 1, 64, 0, 7, 1]

LOOSE = {
    "a view": lambda xp: xp.asarray(np.array(BYTES, "uint8")).view(bool),
    "a view of signed bytes": lambda xp: xp.asarray(np.array(BYTES, "uint8").view("int8")).view(bool),
    "a view of wider numbers": lambda xp: xp.asarray(np.array(BYTES, "uint8").view("int32")).view("bool"),
    "a pending array": lambda xp: (xp.asarray(np.array(BYTES, "uint8")) + xp.zeros(12, "uint8")).view(bool),
    "a part": lambda xp: xp.asarray(np.array([9, *BYTES, 9], "uint8"))[1:-1].view(bool),
    "steps": lambda xp: xp.asarray(np.repeat(np.array(BYTES, "uint8"), 2))[::2].view(bool),
    "bytes written through a view": lambda xp: written(xp),
    "NumPy's array": lambda xp: xp.asarray(np.array(BYTES, "uint8").view(bool)),
    "memory of others": lambda xp: xp.asarray(np.array(BYTES, "uint8").view(bool), copy=None),
    "a buffer": lambda xp: xp.frombuffer(bytes(BYTES), bool),
}


def written(xp):
    b = xp.zeros(12, bool)
    b.view("uint8")[:] = xp.asarray(np.array(BYTES, "uint8"))
    return b


READS = [
    "b.sum()", "b.astype('int32')", "b.astype('float32')", "b.astype('uint8')", "xp.where(b, 1, 2)", "b == True", "b == xp.ones(12, bool)",
    "~b", "xp.logical_not(b)", "b & True", "b ^ xp.ones(12, bool)", "b + b", "b * 3", "b.any()", "b.all()", "xp.count_nonzero(b)",
    "xp.nonzero(b)[0]", "xp.arange(12)[b]", "xp.zeros(12, bool) < b", "b[1:5] > b[:4]", "xp.sort(b)", "xp.argsort(b, stable=True)",
    "xp.unique(b)", "b.cumsum()", "b.argmax()", "b.argmin()", "b.mean()", "b.max()", "b[2].item()", "b.tolist()", "b[3]", "b[[1, 2, 3]]",
    "xp.logical_and.outer(b, b)", "xp.arange(2)[b.astype('int64')]", "xp.maximum(b, False)", "b @ b", "xp.isin(b, [True])",
    "xp.select([b], [xp.arange(12)], 9)", "xp.bitwise_xor.reduce(b)", "xp.logical_xor.accumulate(b)", "xp.diff(b)", "b[::-1].sum()",
    "b.reshape(3, 4).T.sum(0)", "xp.compress(b, xp.arange(12))", "b.copy().view('uint8').max() <= 255 and b.copy().sum()", "b[:1].sum()",
    "xp.concatenate([b, b]).sum()", "xp.repeat(b, 2).sum()", "xp.take(b, xp.asarray([1, 2, 4])).sum()", "b.reshape(3, 4).any(1)",
    "xp.broadcast_to(b, (2, 12)).sum()", "int(b[4])", "xp.array_equal(b, b.astype('int8'))",
    "xp.multiply(2.5, b, where=b, out=xp.zeros(12))",
]  # fmt: skip


@pytest.mark.parametrize("source", LOOSE)
def test_bytes_that_are_not_zero_are_true(xp, mode, source):
    for code in READS:
        got = eval(code, {"xp": xp, "b": LOOSE[source](xp)})
        want = eval(code, {"xp": np, "b": np.array(BYTES, bool)})
        assert np.array_equal(np.asarray(host(got) if hasattr(got, "dtype") else got), want), code


@pytest.mark.parametrize("source", LOOSE)
def test_stores_see_bytes_as_booleans(xp, mode, source):
    truth = np.array(BYTES, bool)
    for m, b in ((np, truth.copy()), (xp, LOOSE[source](xp).copy())):
        a, c = m.zeros(12), m.arange(12)
        a[:] = b
        c[b] = -1
        b[2:5] &= b[3:6]
        b[6:] = b[:6]
        if m is np:
            want = a, c, b
    for got, n in zip((a, c, b), want):
        assert_same(got, n, source)


@pytest.mark.parametrize(
    "store",
    [
        "b[[1, 9]] = True", "b[xp.asarray(BYTES + BYTES) == 3] = False", "xp.put(b, [1, 30], 7, mode='wrap')", "b[3] = 2.5",
        "b[3] = True; b[::5] = True; b[1] = False", "b[2:20] ^= True",
        "xp.putmask(b, xp.asarray([True] + [False] * 23), False)", "xp.copyto(b, False, where=xp.asarray([True] + [False] * 23))",
        "xp.logical_or.at(b, [0, 1], True)", "b.reshape(3, 8)[1, [2, 3]] = [True, False]",
        "xp.put_along_axis(b, xp.asarray([2, 3]), True, 0)",
        "xp.logical_not(b, out=b, where=xp.asarray([False] * 23 + [True]))", "b.reshape(3, 8)[xp.asarray([True, False, False])] = False",
    ],
)  # fmt: skip
def test_stores_into_a_view_as_bool_leave_other_bytes_alone(xp, mode, store):
    arrays = []
    for m in (np, xp):
        a = m.asarray(np.array([1.5, -2.25, 1e300]))
        exec(store, {"xp": m, "b": a.view(bool), "BYTES": BYTES})
        arrays.append(a)
    assert_same(arrays[1].view("uint8"), arrays[0].view("uint8"), store)


def test_a_view_as_bool_is_written_through(xp, mode):
    a = xp.asarray(np.array(BYTES, "uint8"))
    b = a.view(bool)
    b[1] = False
    b[2:4] = xp.asarray([True, False])
    b.sort()
    assert host(a).tolist() == sorted((np.array([0, 0, 1, 0, *BYTES[4:]]) != 0).astype(int))
    b ^= True
    assert a.sum() == (host(a) != 0).sum() == 12 - 7


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_numbers_are_views_of_them(xp, part):
    a = xp.asarray(1.0) + 1j  # NumPy's scalar cannot be written, an array of no dimensions can
    getattr(a, part)[...] = 2
    assert a.item() == (2 + 1j if part == "real" else 1 + 2j)
    assert_like_numpy(xp, f"a = xp.array(1 + 1j); a.{part}[...] = 5; a")
