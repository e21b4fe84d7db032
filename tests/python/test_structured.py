"""Arrays of records: creation, fields as views, indexing, assignment, comparison, recfunctions, rec. NumPy is the reference."""

from __future__ import annotations

import pickle

import numpy as np
import numpy.lib.recfunctions as npf
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.lib import recfunctions as rf

POINT = np.dtype([("n", "i4"), ("x", "f8")])
PACKED = np.dtype([("flag", "u1"), ("value", "f8"), ("count", "i2"), ("z", "c16")])
ALIGNED = np.dtype([("flag", "u1"), ("value", "f8"), ("count", "i2")], align=True)
NESTED = np.dtype([("key", "i8"), ("inner", [("a", "f4"), ("b", "c8"), ("ok", "?")]), ("m", "i2", (2, 3))])
TIMES = np.dtype([("when", "M8[s]"), ("took", "m8[ms]"), ("small", "f2")])
GAPS = np.dtype({"names": ["a", "b"], "formats": ["i2", "f4"], "offsets": [4, 12], "itemsize": 20})
DTYPES = [POINT, PACKED, ALIGNED, NESTED, TIMES, GAPS]


def filled(dtype, shape=(5,)):
    """Records whose numbers all differ."""
    host = np.zeros(shape, dtype)

    def fill(part, start):
        for name in part.dtype.names:
            field = part[name]
            if field.dtype.names:
                start = fill(field, start)
            else:
                field[...] = (np.arange(field.size) + start).reshape(field.shape).astype(field.dtype)
                start += 3
        return start

    fill(host, 1)
    return host


def same(got, wanted):
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert repr(got.get().tolist()) == repr(wanted.tolist())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_records_come_and_go(xp, dtype):
    for shape in ((5,), (2, 3), (), (0,)):
        host = filled(dtype, shape)
        a = xp.asarray(host)
        same(a, host)
        assert a.itemsize == dtype.itemsize and a.size == host.size and a.ndim == host.ndim and a.nbytes == host.nbytes
        same(pickle.loads(pickle.dumps(a)), host)
        assert_array_equal(np.asarray(a), host)
        assert a.tobytes() == host.astype(a.dtype).tobytes()
    a = xp.asarray(filled(dtype))
    assert repr(a) == repr(filled(dtype)) and str(a) == str(filled(dtype))
    same(xp.array(a), filled(dtype))
    assert xp.asarray(a) is a and xp.array(a) is not a


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fields_are_views(xp, dtype):
    host = filled(dtype)
    a = xp.asarray(host)
    for name in dtype.names:
        if dtype[name].names:
            same(a[name], host[name])
            a[name]["a"] = 9
            host[name]["a"] = 9
            continue
        assert isinstance(a[name], bc.ndarray) and a[name].flags.writeable
        assert_array_equal(a[name].get(), host[name])
        a[name][1] = 1
        host[name][1] = 1
        a[name][::2] = a[name][::-2].copy()
        host[name][::2] = host[name][::-2].copy()
    same(a, host)


def test_arithmetic_on_fields_in_place(xp):
    host, a = filled(PACKED), xp.asarray(filled(PACKED))
    a["value"] *= 2
    a["count"] += 1
    a["z"] = a["value"] + 1j
    host["value"] *= 2
    host["count"] += 1
    host["z"] = host["value"] + 1j
    same(a, host)
    assert a["value"].sum().item() == host["value"].sum()


def test_creation(xp):
    same(xp.zeros(3, POINT), np.zeros(3, POINT))
    same(xp.zeros((2, 2), dtype=[("a", "i4"), ("b", "f8", (2,))]), np.zeros((2, 2), [("a", "i4"), ("b", "f8", (2,))]))
    same(xp.ones(2, POINT), np.ones(2, POINT))
    same(xp.full(2, (3, 1.5), POINT), np.full(2, (3, 1.5), POINT))
    assert xp.empty((2, 3), POINT).shape == (2, 3)
    same(xp.array([(1, 2.0), (3, 4.0)], dtype=POINT), np.array([(1, 2.0), (3, 4.0)], dtype=POINT))
    same(xp.array((1, 2.0), dtype="i4,f8"), np.array((1, 2.0), dtype="i4,f8"))
    same(xp.array([[(1, 2.0)], [(3, 4.0)]], dtype=POINT, ndmin=3), np.array([[(1, 2.0)], [(3, 4.0)]], dtype=POINT, ndmin=3))
    same(xp.zeros_like(xp.asarray(filled(POINT))), np.zeros(5, POINT))
    same(xp.asarray(filled(POINT).astype([("n", ">i4"), ("x", ">f8")])), filled(POINT))
    same(xp.ascontiguousarray(xp.asarray(filled(POINT))[::2]), filled(POINT)[::2])
    with pytest.raises(ValueError):
        xp.array(filled(POINT), copy=False)
    for spec in ([("s", "U3")], [("o", "O")], [("n", "i4"), ("s", "S2")], [("g", "g")]):
        with pytest.raises(TypeError, match="stay"):
            xp.zeros(2, spec)
    with pytest.raises(TypeError, match="stay"):
        xp.asarray(np.zeros(2, [("n", "i4"), ("s", "U3")]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_indexing(xp, dtype):
    host = filled(dtype, (4, 3))
    a = xp.asarray(host)
    keys = [
        slice(None, None, -1), (slice(1, 3), 2), (Ellipsis, 0), (None, 1), 2, [2, 0], ([0, 1], [2, 2]), np.array([[0], [3]]),
        (slice(None), [1, 0]),
        np.arange(12).reshape(4, 3) % 2 == 0, np.array([True, False, True, False]), (Ellipsis, slice(0, 2)), (), -1,
    ]  # fmt: skip
    for key in keys:
        same(a[key], host[key])
    for key in [(4, 0), (0, 0, 0), "nothing", ["nothing"], (0, 3)]:
        with pytest.raises((IndexError, ValueError, KeyError)):
            a[key]


def test_a_record_reads_and_writes_its_array(xp):
    a = xp.asarray(filled(POINT))
    r = a[1]
    assert r.n.item() == 2 and r["x"].item() == filled(POINT)["x"][1] and r.item() == filled(POINT)[1].item()
    assert tuple(r) == filled(POINT)[1].item() and len(r) == 2
    r["n"] = 70
    r.x = 7.5
    assert a[1].item() == (70, 7.5) and str(a[1]) == "(70, 7.5)"
    assert a.tolist()[1] == (70, 7.5) and [q.n.item() for q in a][1] == 70
    with pytest.raises(AttributeError):
        a.nothing
    with pytest.raises(AttributeError):
        a.nothing = 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_assignment(xp, dtype):
    def check(change):
        host, a = filled(dtype, (4, 3)), xp.asarray(filled(dtype, (4, 3)))
        change(host)
        change(a)
        same(a, host)

    one = filled(dtype, (7,))[5]
    row = filled(dtype, (9,))[6:]
    check(lambda a: a.__setitem__(0, one))
    check(lambda a: a.__setitem__((1, 2), one.item()))
    check(lambda a: a.__setitem__(slice(1, 3), row))
    check(lambda a: a.__setitem__([3, 0], row))
    check(lambda a: a.__setitem__(np.arange(12).reshape(4, 3) > 6, one))
    check(lambda a: a.__setitem__((slice(None), [2, 1]), one))
    check(lambda a: a.__setitem__(Ellipsis, row))
    host, a = filled(dtype, (4,)), xp.asarray(filled(dtype, (4,)))
    a[1:] = a[:-1]
    host[1:] = host[:-1].copy()
    same(a, host)
    a[...] = xp.asarray(filled(dtype, (1,)))
    host[...] = filled(dtype, (1,))
    same(a, host)
    with pytest.raises(ValueError):
        a[:2] = filled(dtype, (3,))


def test_several_fields(xp):
    host, a = filled(PACKED), xp.asarray(filled(PACKED))
    some = a[["count", "flag"]]
    assert some.dtype.names == ("count", "flag") and some.tolist() == host[["count", "flag"]].tolist()
    some["count"] = 50
    host["count"] = 50
    same(a, host)
    a[["flag", "value"]] = (3, 4.5)
    host[["flag", "value"]] = (3, 4.5)
    same(a, host)
    a[["flag", "value"]] = a[["flag", "value"]][::-1].copy()
    host[["flag", "value"]] = host[["flag", "value"]][::-1].copy()
    same(a, host)
    a["value"][a["flag"] > 2] = 0
    assert not a["value"].any()


@pytest.mark.parametrize("target, value", [(["x", "y"], ["y", "x"]), (["y", "x"], ["x", "y"]), (["x", "y"], ["x", "y"])])
def test_fields_of_one_array_change_places(xp, target, value):
    host = np.array([(1, 2), (3, 4), (5, 0)], [("x", "i4"), ("y", "f4")])
    a = xp.array(host)
    a[target] = a[value]
    host[target] = host[value].copy()
    assert a.tolist() == host.tolist()
    a[["x", "y"]] = a[::-1][["x", "y"]]
    assert a.tolist() == host[::-1].tolist()


WRITTEN_PARTS = """
v[0] = v[1] ; v[...] = v[2] ; v[a["x"] > 1] = v[3] ; v[[0, 1]] = v[[2, 3]] ; v[1:] = v[:-1].copy() ; v.fill(v[1]) ; v[:] = v[0].item() ;
v[::-1] = v.copy() ; v[:] = v[1:2].reshape(1, 1) ; w[:] = 7 ; w[1:3] = w[0] ; a["x"] = 9 ; v[v["x"] == 9] = v[0] ; v[2] = (50, a["z"][0])
"""


@pytest.mark.parametrize("z", ["i8", ("f8", (2,)), [("p", "i4"), ("q", "f4")]])
def test_what_lies_between_the_fields_of_a_part_stays(xp, z):
    dtype = np.dtype([("x", "i8"), ("y", "f8"), ("w", "i8"), ("z", z)])
    host = filled(dtype, (4,))
    a = xp.asarray(host)
    last = {"names": ["w"], "formats": ["i8"], "offsets": [16], "itemsize": dtype.itemsize}
    for statement in WRITTEN_PARTS.replace("\n", " ").split(";"):
        for array in (host, a):
            names = {"a": array, "v": array[["x", "z"]], "w": array.view(last)}
            exec(statement.strip(), names)
        same(a, host)


@pytest.mark.parametrize("shape", [(6,), (4, 2)])
def test_records_are_shuffled(xp, shape):
    host = filled(PACKED, shape)
    a = xp.asarray(host)
    for make in (lambda m: m.Generator(m.MT19937(3)), lambda m: m.RandomState(3)):
        make(np.random).shuffle(host)
        make(bc.random).shuffle(a)
        same(a, host)


def test_records_of_records_are_sorted(xp):
    host = filled(NESTED)[[3, 1, 4, 0, 2]]
    a = xp.asarray(host)
    a.sort(order="key")
    host.sort(order="key")
    same(a, host)


@pytest.mark.parametrize("other", [3, None, "x", np.arange(3), np.float32(2)])
def test_records_are_not_compared_with_numbers(xp, other):
    a = xp.zeros(3, [("x", "i4"), ("y", "f4")])
    for value in (other, xp.asarray(other)) if isinstance(other, np.ndarray) else (other,):
        with pytest.raises(TypeError, match="Cannot compare structured"):
            a == value  # noqa: B015
    with pytest.raises(TypeError):
        xp.concatenate([a, xp.arange(3)])


def test_fields_of_a_record_by_place(xp):
    a = xp.array([(1, 2.5), (3, 4.5)], [("x", "i4"), ("y", "f4")])
    assert [(row[0].item(), row[-1].item()) for row in a] == [(1, 2.5), (3, 4.5)]
    a[1][0] = 7
    a[0][xp.array([1])[0]] = 0.5
    assert a.tolist() == [(1, 0.5), (7, 4.5)]
    for place in (2, -3):
        with pytest.raises(IndexError):
            a[0][place]
        with pytest.raises(IndexError):
            a[0][place] = 1


def test_numbers_of_an_array_go_to_every_field(xp):
    a, host = xp.zeros(3, POINT), np.zeros(3, POINT)
    a[...] = xp.arange(3)
    host[...] = np.arange(3)
    same(a, host)
    a[:] = 5
    host[:] = 5
    same(a, host)


def test_comparison(xp):
    host, other = filled(NESTED), filled(NESTED)
    other["m"][2, 0, 1] = 77
    other["inner"]["a"][4] = -1
    a, b = xp.asarray(host), xp.asarray(other)
    assert_array_equal((a == b).get(), host == other)
    assert_array_equal((a != b).get(), host != other)
    assert_array_equal((a == other).get(), host == other)
    assert (xp.asarray(filled(POINT)) == filled(POINT)[1]).tolist() == [False, True, False, False, False]
    with pytest.raises(TypeError):
        a == xp.asarray(filled(POINT))  # noqa: B015
    with pytest.raises(TypeError):
        a < b  # noqa: B015


def test_array_equal_looks_at_records(xp):
    for dtype in (POINT, NESTED):
        host = filled(dtype)
        a = xp.asarray(host)
        changed = host.copy()
        changed[1] = host[0]
        for other in (host, changed, host[:-1], host[:1]):
            assert xp.array_equal(a, xp.asarray(other)) is np.array_equal(host, other)
            assert xp.array_equal(a, other) is np.array_equal(host, other)
        assert xp.array_equiv(a[:1], a) is np.array_equiv(host[:1], host)
        assert xp.array_equiv(a, a) is True and xp.array_equiv(a, a[:2]) is False
        assert xp.array_equal(a, xp.zeros(a.shape)) is False


def test_full_takes_a_tuple_for_a_sequence_of_values(xp):
    for value in ((1, 2), [3, 4], 5, 2.5):
        same(xp.full(2, value, dtype="i4,f8"), np.full(2, value, dtype="i4,f8"))
    record = np.array((1, 2.5), dtype="i4,f8")
    same(xp.full(3, record), np.full(3, record))
    same(xp.full(2, record[()], dtype="i4,f8"), np.full(2, record[()], dtype="i4,f8"))
    with pytest.raises(ValueError):
        xp.full(3, (1, 2), dtype="i4,f8")


def test_shapes_and_copies(xp):
    host = filled(PACKED, (2, 6))
    a = xp.asarray(host)
    same(a.T, host.T)
    same(a.reshape(3, 4), host.reshape(3, 4))
    same(a.T.reshape(-1), host.T.reshape(-1))
    same(a.reshape((2, -1, 3), order="F"), host.reshape((2, -1, 3), order="F"))
    same(a.ravel(), host.ravel())
    same(a[:, ::2].copy(), host[:, ::2].copy())
    same(a[:1].squeeze(), host[:1].squeeze())
    same(a.take([3, 0]), host.take([3, 0]))
    same(a.take([1, 0], axis=0), host.take([1, 0], axis=0))
    same(xp.concatenate([a, a[:1]]), np.concatenate([host, host[:1]]))
    same(xp.concatenate([a, a], axis=1), np.concatenate([host, host], axis=1))
    view = a.reshape(12)
    view["flag"][0] = 99
    assert a[0, 0]["flag"].item() == 99
    b = a.copy()
    b["flag"] = 0
    assert a[0, 0]["flag"].item() == 99
    other = [("p", "f4"), ("q", "f4"), ("r", "f4"), ("s", "c8")]
    same(a.astype(other), a.get().astype(other))
    with pytest.raises(ValueError):
        a.reshape(5)
    with pytest.raises(TypeError):
        xp.sin(a)


def test_sorting_by_fields(xp):
    host = np.array([(3, 1.0), (1, 2.0), (3, 0.5), (1, 1.0)], POINT)
    a = xp.asarray(host)
    assert_array_equal(a.argsort(order="x").get(), host.argsort(order="x", kind="stable"))
    assert_array_equal(a.argsort().get(), host.argsort(kind="stable"))
    a.sort(order=["n", "x"])
    host.sort(order=["n", "x"])
    same(a, host)


def test_kernels_share_the_type(xp):
    @cuda.jit
    def push(p, dt):
        i = cuda.grid(1)
        if i < p.size:
            p[i].x += dt * p[i].n

    a = xp.array([(1, 0.5), (2, 1.5)], dtype=[("flag", "u1"), ("n", "i4"), ("x", "f8")][1:])
    push[1, 32](a, 2.0)
    assert a["x"].tolist() == [2.5, 5.5]
    packed = xp.asarray(filled(PACKED))

    @cuda.jit
    def double(p):
        i = cuda.grid(1)
        if i < p.size:
            p[i].value *= 2

    double[1, 32](packed)
    assert_array_equal(packed["value"].get(), filled(PACKED)["value"] * 2)
    assert isinstance(a, cuda.RecordArray) and xp.recarray is cuda.RecordArray


def test_numbers_that_lie_across_their_places_are_read_only_views(xp):
    d = cuda.RecordArray.of(filled(PACKED))  # as the program lays it out
    assert_array_equal(d["value"].get(), filled(PACKED)["value"])
    with pytest.raises(ValueError, match="read-only"):
        d["value"][0] = 1
    d["value"] = 2.5
    d["count"] = xp.arange(5)
    host = filled(PACKED)
    host["value"], host["count"] = 2.5, np.arange(5)
    same(d, host)


def test_recfunctions(xp):
    host = filled(PACKED)
    a = xp.asarray(host)
    real, hreal = a[["flag", "value", "count"]], host[["flag", "value", "count"]]
    got = rf.structured_to_unstructured(real)
    wanted = npf.structured_to_unstructured(hreal)
    assert_array_equal(got.get(), wanted)
    assert got.dtype == wanted.dtype and rf.structured_to_unstructured(real, "f4").dtype == np.float32
    with pytest.raises(TypeError):
        rf.structured_to_unstructured(real, "i1", casting="safe")
    nested = np.zeros(2, [("a", "i4"), ("b", [("c", "f8"), ("d", "i2", (2,))])])
    nested["b"]["d"] = [[1, 2], [3, 4]]
    assert_array_equal(rf.structured_to_unstructured(xp.asarray(nested)).get(), npf.structured_to_unstructured(nested))
    numbers = np.arange(12.0).reshape(4, 3)
    names = ["p", "q", "r"]
    same(rf.unstructured_to_structured(xp.asarray(numbers), names=names), npf.unstructured_to_structured(numbers, names=names))
    wide = np.dtype([("a", "i4"), ("b", [("c", "f8"), ("d", "i2")])])
    same(rf.unstructured_to_structured(xp.asarray(numbers), wide), npf.unstructured_to_structured(numbers, wide))
    with pytest.raises(ValueError):
        rf.unstructured_to_structured(xp.asarray(numbers), np.dtype("i4,i4"))
    same(rf.append_fields(a, "w", xp.arange(5.0)), npf.append_fields(host, "w", np.arange(5.0), usemask=False))
    more = [np.arange(5.0), np.arange(5)]
    same(rf.append_fields(a, ["w", "v"], more), npf.append_fields(host, ["w", "v"], more, usemask=False))
    same(rf.drop_fields(a, "value"), npf.drop_fields(host, "value", usemask=False))
    same(rf.drop_fields(a, ["value", "flag"]), npf.drop_fields(host, ["value", "flag"], usemask=False))
    assert rf.drop_fields(a, host.dtype.names) is None
    same(rf.rename_fields(a, {"value": "v"}), npf.rename_fields(host, {"value": "v"}))
    merged = rf.merge_arrays((xp.arange(3), xp.asarray([1.0, 2.0])))
    assert merged.tolist() == npf.merge_arrays((np.arange(3), np.array([1.0, 2.0])), fill_value=-1).tolist()
    flat = rf.merge_arrays((xp.asarray(filled(POINT)), xp.arange(5)), flatten=True)
    assert flat.dtype.names == npf.merge_arrays((filled(POINT), np.arange(5)), flatten=True).dtype.names
    more = np.array([(1, 5.0)], [("n", "i4"), ("y", "f4")])
    stacked = rf.stack_arrays((xp.asarray(filled(POINT)), xp.asarray(more)), defaults={"y": 0, "x": 9})
    assert stacked["y"].tolist() == [0, 0, 0, 0, 0, 5] and stacked["x"].tolist()[-1] == 9
    assert rf.repack_fields(xp.asarray(filled(ALIGNED))).dtype == npf.repack_fields(filled(ALIGNED)).dtype
    assert rf.get_names(NESTED) == npf.get_names(NESTED) and rf.get_names_flat(NESTED) == npf.get_names_flat(NESTED)
    for call in (rf.append_fields, rf.merge_arrays):
        with pytest.raises((NotImplementedError, TypeError)):
            call((a,), usemask=True)


def test_rec(xp):
    r = xp.rec.fromarrays([xp.arange(3), xp.asarray([0.5, 1.5, 2.5])], names="n,x")
    assert r.dtype.names == ("n", "x") and r.x.tolist() == [0.5, 1.5, 2.5]
    r.n = 7
    assert r["n"].tolist() == [7, 7, 7]
    wanted = np.rec.fromrecords([(1, 2.5), (3, 4.5)], names="n,x")
    assert xp.rec.fromrecords([(1, 2.5), (3, 4.5)], names="n,x").tolist() == wanted.tolist()
    assert xp.rec.array([(1, 2.5)], dtype=POINT).x.tolist() == [2.5]
    assert xp.rec.fromarrays([[1, 2], [3, 4]], dtype="i4,f4").dtype == np.dtype("i4,f4")
    with pytest.raises(ValueError):
        xp.rec.fromarrays([[1, 2], [3]], dtype="i4,f4")
    with pytest.raises(ValueError):
        xp.rec.fromarrays([[1, 2]], dtype="i4,f4")


def test_save_and_load(xp, tmp_path):
    a = xp.asarray(filled(NESTED))
    xp.save(tmp_path / "a.npy", a)
    same(xp.load(tmp_path / "a.npy"), filled(NESTED))


def test_views_share_the_memory_of_records(xp):
    a = xp.array([(1, 2), (3, 4)], dtype=[("a", "i1"), ("b", "i1")])
    whole = a.view("i2")
    pairs = a.view(np.int8).reshape(-1, 2)
    assert_array_equal(bc.asnumpy(pairs), [[1, 2], [3, 4]])
    pairs[0, 1] = 20
    assert a["b"].tolist() == [20, 4] and whole.tolist() == [1 + 256 * 20, 3 + 256 * 4]
    other = a.view([("x", "u1"), ("y", "i1")])
    other["x"] = 255
    assert a.tolist() == [(-1, 20), (-1, 4)]
    records = a.view(np.recarray)
    assert records.b.tolist() == [20, 4] and a.view(type=np.recarray).tolist() == a.tolist()
    records["a"][0] = 7
    assert a["a"].tolist() == [7, -1]
    with pytest.raises(ValueError, match="contiguous"):
        xp.zeros((2, 4), dtype="i1,i1")[:, ::2].view("i1")
    with pytest.raises(TypeError, match="lie in memory as"):
        xp.zeros(2, dtype="i1,f8").view("u1")


def test_records_go_to_files(xp, tmp_path):
    a = xp.array([(1, 2.5), (3, 4.5)], dtype="i1,f8")
    a.tofile(tmp_path / "a.bin")
    assert np.fromfile(tmp_path / "a.bin", dtype="i1,f8").tolist() == a.tolist()


def test_numbers_of_one_record_are_copies(xp):
    a = xp.array([(1, 2.5), (3, 4.5)], dtype=POINT)
    kept = a[1]["x"]
    kept += 1
    assert float(kept) == 5.5 and a.tolist() == [(1, 2.5), (3, 4.5)]
    kept = a[1].x
    a[1]["x"] += 10
    a[0][0] = 7
    assert float(kept) == 4.5 and a.tolist() == [(7, 2.5), (3, 14.5)]
    assert {r["n"]: r["x"] for r in a} == {7: 2.5, 3: 14.5} and [1] * a[1]["n"] == [1, 1, 1]
    number, value = a[1]
    assert (type(number), type(value)) == (np.int32, np.float64) and tuple(a[0]) == (7, 2.5)
    b = xp.zeros(2, dtype=NESTED)
    _, inner, m = b[1]
    inner["a"] = 3
    m[0, 1] = 4
    assert b["inner"]["a"].tolist() == [0, 3] and b["m"][1, 0].tolist() == [0, 4, 0]


def test_fields_get_new_names(xp):
    for dtype in ("i4,f8", "f8,f8"):
        a, n = (m.array([(1, 2.5), (3, 4.5)], dtype=np.dtype(dtype)) for m in (xp, np))
        for x in (a, n):
            x.dtype.names = ("n", "x")
            x["x"][0] = 5
            x[["x", "n"]] = x[["x", "n"]]
        same(a, n)
        for x in (a, n):
            x.dtype = [("p", x.dtype[0]), ("q", x.dtype[1])]
            x["q"][1] = 6
            x.view([("u", x.dtype[0]), ("v", x.dtype[1])])["u"] = 9
        same(a, n)
        same(a[["q"]], n[["q"]])
        same(a.copy(), n)
    with pytest.raises(ValueError, match="no field"):
        a["n"]
    with pytest.raises(TypeError):
        a.dtype = "f8"
    pairs = xp.array([(1.0, 2.0), (3.0, 4.0)], dtype="f8,f8")
    numbers = pairs.view(("f8", 2))
    numbers[1, 0] = 30
    assert pairs.tolist() == [(1.0, 2.0), (30.0, 4.0)] and numbers.shape == (2, 2)


def test_records_are_put_and_their_axes_swapped(xp):
    a, n = (m.array([[(1, 2.5), (3, 4.5)]], dtype=POINT) for m in (xp, np))
    for x in (a, n):
        x.put([1], [(9, 9.5)])
    same(a, n)
    same(a.swapaxes(0, 1), n.swapaxes(0, 1))
    same(a.swapaxes(-1, 0), n.swapaxes(-1, 0))


TEXTS = np.dtype([("a", "f8"), ("s", "U5"), ("b", "S3"), ("n", "i4"), ("m", "U2", (2,))])


def test_records_have_fields_of_texts(device):
    h = np.zeros(4, TEXTS)
    h["s"], h["b"], h["n"] = ["one", "two", "three", ""], [b"x", b"yy", b"zzz", b""], [1, 2, 3, 0]
    d = cuda.to_device(h)
    assert d.dtype == TEXTS
    assert d[1]["s"] == "two" and d[2]["b"] == b"zzz" and type(d[1]["s"]) is np.str_
    for part in (slice(None), slice(1, 3), slice(None, None, -2), [0, 2]):
        for name in TEXTS.names:
            assert_array_equal(d[part][name], h[part][name])
    for a in (d, h):
        a[0]["s"], a["b"], a[1]["m"], a[2]["n"] = "changed", b"q", ["p", "qq"], 7
        a[3] = (9.0, "tuple", b"t", 4, ["x", "y"])
    assert_array_equal(d.copy_to_host(), h)
    with pytest.raises(ValueError, match="read-only"):
        d["s"][0] = "lost"
    other = d[::-1].copy()
    other["s"] = "all"
    assert_array_equal(other["s"], ["all"] * 4)
    assert_array_equal(d["s"], h["s"])
    assert cuda.device_array(0, TEXTS)["s"].shape == (0,)
    with pytest.raises(TypeError, match="strings stay on the host"):
        bc.zeros(2, TEXTS)
    assert_array_equal(pickle.loads(pickle.dumps(d)).copy_to_host(), h)
