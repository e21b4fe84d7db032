"""Records in kernels: structured dtypes, dataclasses, named tuples, tuples of arrays."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit
from broadcloth.cuda import RecordArray

PARTICLE = np.dtype([("x", "f4", (3,)), ("v", "f4", (3,)), ("mass", "f8"), ("id", "i4")], align=True)
PACKED = np.dtype([("flag", "u1"), ("value", "f8"), ("count", "i2")])
NESTED = np.dtype([("key", "i8"), ("inner", [("a", "f8"), ("b", "c16")]), ("m", "i4", (2, 3))], align=True)


def particles(n):
    p = np.zeros(n, PARTICLE)
    p["x"] = np.arange(3 * n).reshape(n, 3)
    p["v"] = 1
    p["mass"] = np.arange(n) + 0.5
    p["id"] = np.arange(n)
    return p


@cuda.jit
def push(p, dt):
    i = cuda.grid(1)
    if i < p.size:
        for k in range(3):
            p[i].x[k] += dt * p[i]["v"][k]
        p[i].mass *= 2
        p[i]["id"] += 10


def test_fields_are_read_and_written(xp):
    host = particles(5)
    d = RecordArray.of(host)
    push[1, 32](d, 0.5)
    out = d.copy_to_host()
    assert_array_equal(out["x"], host["x"] + 0.5)
    assert_array_equal(out["mass"], host["mass"] * 2)
    assert_array_equal(out["id"], host["id"] + 10)


def test_host_records_are_copied_in_and_out(xp):
    host = particles(4)
    with pytest.warns(bc.exceptions.PerformanceWarning) if xp.default_device().type == "cuda" else np.errstate():
        push[1, 32](host, 1.0)
    assert_array_equal(host["x"][:, 0], np.arange(0, 12, 3) + 1)


@cuda.jit(device=True)
def add_to(r, by):
    r.count += by
    r["value"] = r.value + by
    return r.flag


@cuda.jit
def by_reference(a, flags):
    i = cuda.grid(1)
    if i < a.shape[0]:
        r = a[i]
        r.flag = i
        flags[i] = add_to(r, i + 1)
        for q in a[i : i + 1]:
            q.value *= 2


def test_an_element_is_a_reference(xp):
    d, flags = RecordArray.of(np.zeros(6, PACKED)), xp.zeros(6, "i8")
    by_reference[1, 8](d, flags)
    out = d.copy_to_host()
    assert_array_equal(out["count"], np.arange(6) + 1)
    assert_array_equal(out["value"], 2.0 * (np.arange(6) + 1))
    assert_array_equal(out["flag"], np.arange(6))
    assert_array_equal(flags, np.arange(6))


@cuda.jit
def nested(a, out):
    i = cuda.grid(1)
    inner = a[i].inner
    inner.a = i + 0.5
    a[i].inner.b = complex(i, -i)
    m = a[i].m
    for j in range(2):
        for k in range(3):
            m[j, k] = 10 * j + k + a[i].key
    m[1] = 7
    out[i] = m.sum() + a[i].m.shape[1]


def test_nested_records_and_arrays_in_fields(xp):
    host = np.zeros(3, NESTED)
    host["key"] = [1, 2, 3]
    d, out = RecordArray.of(host), xp.zeros(3)
    nested[1, 3](d, out)
    r = d.copy_to_host()
    assert_array_equal(r["inner"]["a"], [0.5, 1.5, 2.5])
    assert_array_equal(r["inner"]["b"], [0, 1 - 1j, 2 - 2j])
    assert_array_equal(r["m"][1], [[2, 3, 4], [7, 7, 7]])
    assert_array_equal(out, r["m"].sum((1, 2)) + 3)


@cuda.jit
def copy_reversed(a, b):
    i = cuda.grid(1)
    s = cuda.shared.array(8, PARTICLE)
    s[i] = a[i]
    cuda.syncthreads()
    b[i] = s[a.size - 1 - i]


def test_whole_records_are_copied(xp):
    host = particles(8)
    a, b = RecordArray.of(host), RecordArray(8, PARTICLE)
    copy_reversed[1, 8](a, b)
    assert_array_equal(b.copy_to_host(), host[::-1])


@cuda.jit
def scalar_record(r, out):
    out[0] = r.mass + r["id"]
    out[1] = r.x[1] + r.v[2]


def test_a_record_as_argument(xp):
    out = xp.zeros(2)
    scalar_record[1, 1](particles(5)[3], out)
    assert_array_equal(out, [6.5, 11.0])


@cuda.jit
def count_fields(a, keys):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(a["count"], keys[i], 1)
        cuda.atomic.max(a["most"], keys[i], i)
        cuda.atomic.add(a[keys[i]].sums, i % 2, 0.5)
        cuda.atomic.add(a["sums"], (keys[i], 1), 1.0)


def test_atomics_on_fields(xp):
    dtype = np.dtype([("count", "i4"), ("most", "i8"), ("sums", "f8", (2,))], align=True)
    keys = np.arange(100) % 7
    a = RecordArray.of(np.zeros(7, dtype))
    count_fields[4, 32](a, xp.asarray(keys))
    out = a.copy_to_host()
    assert_array_equal(out["count"], np.bincount(keys))
    assert_array_equal(out["most"], [i + 7 * ((99 - i) // 7) for i in range(7)])
    i = np.arange(100)
    assert_array_equal(out["sums"][:, 0], [0.5 * np.sum((keys == k) & (i % 2 == 0)) for k in range(7)])
    assert_array_equal(out["sums"][:, 1], [0.5 * np.sum((keys == k) & (i % 2 == 1)) + np.sum(keys == k) for k in range(7)])


@cuda.jit
def fields_of_all(a, out):
    t = cuda.threadIdx.x
    if t == 0:
        a["value"] = 3
        a.count[1:] = 5
        out[0] = a["value"].sum()


def test_a_field_of_all_records_is_a_view(xp):
    aligned = np.dtype([("value", "f8"), ("count", "i8")])
    a, out = RecordArray.of(np.zeros(4, aligned)), xp.zeros(1)
    fields_of_all[1, 4](a, out)
    assert_array_equal(a.copy_to_host()["count"], [0, 5, 5, 5])
    assert_array_equal(out, [12.0])


@dataclass
class Settings:
    scale: float
    shift: int
    flip: bool = False


@dataclass
class Grid:
    data: Any
    spacing: float


@cuda.jit
def with_settings(x, s):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = (-x[i] if s.flip else x[i]) * s.scale + s.shift


def test_dataclasses_by_value(xp):
    x = xp.arange(4.0)
    with_settings[1, 4](x, Settings(2.0, 1, True))
    assert_array_equal(x, [1, -1, -3, -5])


@cuda.jit
def with_grid(g, out):
    i = cuda.grid(1)
    if i < g.data.shape[0]:
        out[i] = g.data[i] / g.spacing


def test_dataclasses_with_arrays(xp):
    out = xp.zeros(3)
    with_grid[1, 4](Grid(xp.arange(3.0), 0.5), out)
    assert_array_equal(out, [0, 2, 4])
    narrow = xp.zeros(3, "f4")
    with_grid[1, 4](Grid(xp.arange(3, dtype="f4"), 0.5), narrow)
    assert_array_equal(narrow, [0, 2, 4])


Pair = namedtuple("Pair", "low high")


@cuda.jit
def with_tuples(p, arrays, mixed, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for a in arrays:
            total += a[i]
        for k in range(len(arrays)):
            total += arrays[k][i]
        total += mixed[0][i] + mixed[1] + mixed[2][1]
        if p.low[i] <= total <= p.high:
            out[i] = total


def test_named_tuples_and_tuples_of_arrays(xp):
    a = xp.arange(4.0)
    out = xp.full(4, -1.0)
    with_tuples[1, 4](Pair(xp.zeros(4), 30), (a, a * 2), (a.astype("i4"), 1, (0, 2)), out)
    assert_array_equal(out, [3, 10, 17, 24])


@cuda.jit
def write_constant(a):
    a[0].x = 1


def test_errors_name_the_field(xp):
    a = RecordArray.of(np.zeros(2, [("y", "f8")]))
    with pytest.raises(bc.TypingError, match="has no field 'x'"):
        write_constant[1, 1](a)

    @cuda.jit
    def read_only(a):
        a[0].y = 1

    host = np.zeros(2, [("y", "f8")])
    host.flags.writeable = False
    with pytest.raises(bc.TypingError, match="read-only"):
        read_only[1, 1](host)


def test_record_arrays_are_arrays(xp):
    host = particles(6)
    d = RecordArray.of(host)
    assert (d.shape, d.size, d.ndim, len(d), d.dtype) == ((6,), 6, 1, 6, PARTICLE)
    assert_array_equal(np.asarray(d), host)
    assert_array_equal(d[1:5:2].copy_to_host(), host[1:5:2])
    assert d[2] == host[2]
    assert_array_equal(d["mass"], host["mass"])
    d[1] = host[5]
    d[2:4].copy_to_device(host[:2])
    host[1] = host[5]
    host[2:4] = particles(2)
    assert_array_equal(d.get(), host)
    push[1, 8](d[::2], 0.0)
    host["mass"][::2] *= 2
    assert_array_equal(d.get()["mass"], host["mass"])
    with pytest.raises(IndexError):
        d[6]
    with pytest.raises(TypeError, match="structured"):
        RecordArray(3, "f8")


def test_records_go_to_the_device_as_other_arrays(xp):
    host = particles(3)
    d = cuda.to_device(host)
    push[1, 4](d, 1.0)
    assert_array_equal(d.copy_to_host()["id"], host["id"] + 10)
    empty = cuda.device_array((2, 3), PARTICLE)
    assert (empty.shape, empty.dtype) == ((2, 3), PARTICLE)
    assert cuda.device_array_like(host).shape == (3,)
    copy = host.copy()
    assert d.copy_to_host(copy) is copy
    cuda.to_device(host, to=d)
    assert_array_equal(d.get(), host)


@cuda.jit
def unpacked(a, r, out):
    i = cuda.grid(1)
    value, count = a[i]
    x, y = r
    a[i].value = 0
    out[i] = value + count + x * y


def test_records_unpack_into_their_fields(xp):
    dtype = np.dtype([("value", "f8"), ("count", "i8")])
    a, out = cuda.to_device(np.array([(1.5, 2), (3.0, 4)], dtype)), xp.zeros(2)
    unpacked[1, 2](a, np.array([(10.0, 2)], dtype)[0], out)
    assert_array_equal(out, [23.5, 27])
    assert_array_equal(a.get()["value"], [0, 0])


def test_arrays_in_packed_records_of_compiled_functions():
    dtype = np.dtype([("a", "i1"), ("v", "f4", (3,)), ("m", "f8", (2, 2))])
    r = np.zeros(4, dtype)
    r["v"], r["m"] = np.arange(12).reshape(4, 3), np.arange(16).reshape(4, 2, 2)

    @njit
    def f(r):
        total = 0.0
        for i in range(len(r)):
            total += r[i].v[1] + r[i]["m"][1, 0] + r[i].v.sum()
            r[i].v[0] = 7
        return total

    assert f(r) == 120
    assert r["v"][:, 0].tolist() == [7] * 4
