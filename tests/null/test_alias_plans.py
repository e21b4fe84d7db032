"""Which memory the kernels of a program read and write: stores in place, copies of shared values, the order of readers and stores."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from null_device import Launch, Record, make, null_device, recorded


@pytest.fixture(params=["null-cpu", "null-cuda"], autouse=True)
def target(request: pytest.FixtureRequest):
    with null_device(request.param):
        yield request.param


def address(a) -> int:
    """Where a contiguous array lies, seen by the kernel that reads it."""
    with recorded() as r:
        reader = bc.square(a)
    (at,) = r.kernels[-1].reads
    del reader
    return at


def only(r: Record) -> Launch:
    assert len(r.kernels) == 1, r.names
    return r.kernels[0]


def within(addresses: set[int], start: int, size: int) -> set[int]:
    return {a for a in addresses if start <= a < start + size}


# ---- In place -----------------------------------------------------------------------------------------------------------------------


def test_a_store_of_a_region_writes_the_old_buffer():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        a[10:20] = 5
    store = only(r)
    assert store.in_place and store.writes == {at + 80} and not store.reads
    assert r.copies == []
    assert address(a) == at


def test_an_update_of_a_region_reads_and_writes_one_place():
    a = make((100, 100))
    at = address(a)
    with recorded() as r:
        a[1:-1, 1:-1] += 1
    store = only(r)
    assert store.in_place and store.reads == store.writes == {at + 8 * 101}
    assert r.copies == []


def test_an_update_of_a_whole_array_is_written_over_what_nobody_else_needs(target):
    a = make((10_000,))
    at = address(a)
    with recorded() as r:
        a += 1
    update = only(r)
    assert update.reads == {at} and r.copies == []
    # On a GPU writing elsewhere costs no time, so only what is large spares its memory.
    assert update.in_place == (target == "null-cpu") == (update.writes == {at})
    assert address(a) in update.writes


def test_an_update_keeps_what_somebody_else_needs():
    a = make((10_000,))
    other, at = a.copy(), address(a)
    with recorded() as r:
        a += 1
    assert not only(r).in_place and address(other) == at != address(a)
    late = a * 2
    with recorded() as r:
        a += 1
        keep = late + a
    assert len({address(a), address(late), address(keep)}) == 3
    for k in r.kernels:
        assert not k.in_place, "the update's reader in the same flush may run after it"


def test_an_update_that_reads_other_places_too_is_written_elsewhere():
    a = make((100, 100))
    at = address(a)
    with recorded() as r:
        a += a[::-1]
    assert not only(r).in_place and address(a) != at
    b = make((100, 100))
    at = address(b)
    with recorded() as r:
        b += b[0]
    assert not only(r).in_place and address(b) != at


def test_stores_one_after_another_keep_the_buffer():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        for k in range(5):
            a[k] = k
    assert r.copies == []
    assert [k.writes for k in r.kernels] == [{at + 8 * k} for k in range(5)]
    assert address(a) == at


def test_a_store_through_a_view_of_a_view_writes_the_base():
    a = make((40, 50))
    at = address(a)
    v = a[10:, ::5].T[2:]
    with recorded() as r:
        v[1, 3:5] = 7
    assert only(r).writes == {at + 8 * (13 * 50 + 15)}
    assert address(a) == at


def test_parts_of_complex_numbers_are_written_where_they_lie():
    z = make((100,), "complex128")
    at = address(z)
    with recorded() as r:
        z.real[...] = make((100,))
        z.imag[10:] = 2.0
    assert [k.writes for k in r.kernels] == [{at}, {at + 160 + 8}]
    assert r.copies == [] and all(k.in_place for k in r.kernels)


def test_out_is_written_in_place_when_it_is_a_region():
    a, c = make((500,)), make((1000,))
    at = address(c)
    with recorded() as r:
        bc.add(a, 1, out=c[::2])
    store = only(r)
    assert store.in_place and store.writes == {at} and store.reads == {address(a)}


def test_a_whole_update_leaves_no_memory_behind():
    a = make((100_000,))
    bc.flush()
    before = bc._c.pool_stats()["used"]
    for _ in range(3):
        with recorded() as r:
            a += 1
        assert r.copies == []
        assert only(r).reads and only(r).writes
        assert bc._c.pool_stats()["used"] == before


def test_values_between_are_released():
    a = make((100_000,))
    used = set()
    for _ in range(5):
        b = (a - a.mean()) * bc.exp(a).sum() + a.T
        bc.flush()
        used.add(bc._c.pool_stats()["used"])
    assert len(used) == 1, used
    del b


# ---- Shared values ------------------------------------------------------------------------------------------------------------------


def test_a_small_store_into_a_shared_value_copies_it_first():
    a = make((1000,))
    b = a.copy()
    at = address(a)
    with recorded() as r:
        b[10:20] = 5
    store = only(r)
    assert [size for _, size in r.copies] == [8000]
    assert not within(store.writes, at, 8000)
    assert address(a) == at
    assert store.writes == {address(b) + 80}


def test_a_large_store_into_a_shared_value_makes_the_new_value_whole():
    a = make((1000,))
    b = a.copy()
    at = address(a)
    with recorded() as r:
        b[1:-1] = 5
    store = only(r)
    assert r.copies == [] and not store.in_place
    assert store.reads == {at} and not within(store.writes, at, 8000)
    assert address(a) == at and store.writes == {address(b)}


def test_several_stores_into_a_shared_value_copy_it_once():
    a = make((1000,))
    b = a.copy()
    with recorded() as r:
        for k in range(4):
            b[k] = k
    assert len(r.copies) <= 1
    assert not any(within(k.writes, address(a), 8000) for k in r.kernels)


def test_the_original_may_be_written_too():
    a = make((1000,))
    b = a.copy()
    with recorded() as r:
        a[3] = 1
        b[4] = 2
    assert len(r.copies) == 1  # one of the two keeps the buffer
    assert address(a) != address(b)
    assert {min(k.writes) for k in r.kernels} == {address(a) + 24, address(b) + 32}


def test_a_store_into_a_copy_of_a_view_leaves_the_view_alone():
    a = make((100, 100))
    at = address(a)
    with recorded() as r:
        b = a[10:20].copy()
        b[0] = 1
    assert not any(within(k.writes, at, 80_000) for k in r.kernels)
    assert b.shape == (10, 100)


# ---- Overlaps -----------------------------------------------------------------------------------------------------------------------

OVERLAPS = {
    "shifted up": lambda a: (a[1:11], a[:10]),
    "shifted down": lambda a: (a[:10], a[1:11]),
    "other step": lambda a: (a[:10], a[:20:2]),
    "reversed": lambda a: (a[:10], a[9::-1]),
    "most of it": lambda a: (a[1:], a[:-1]),
    "wide step": lambda a: (a[:3000:3], a[1000:2000]),
}


@pytest.mark.parametrize("name", OVERLAPS)
@pytest.mark.parametrize("update", ["assign", "add", "expression"])
def test_overlapping_stores_read_before_they_write(name, update):
    a = make((4000,))
    at = address(a)
    to, source = OVERLAPS[name](a)
    with recorded() as r:
        if update == "assign":
            to[...] = source
        elif update == "add":
            to += source
        else:
            to[...] = bc.sin(source) * 2
    # No kernel that writes into the buffer reads it anywhere but at the element that it writes.
    for k in r.kernels:
        if not within(k.writes, at, 32_000):
            continue
        assert not k.reads & within(k.reads, at, 32_000) or update == "add", (k.reads, k.writes)
        assert within(k.reads, at, 32_000) <= k.writes
    if address(a) == at:  # the old elements went through memory of their own
        assert len(r.kernels) == 2, r.names
        assert within(r.kernels[0].reads, at, 32_000) and within(r.kernels[1].writes, at, 32_000)
        assert r.kernels[0].writes & r.kernels[1].reads


def test_the_same_start_with_another_stride_is_an_overlap():
    m = make((64, 64))
    at = address(m)
    with recorded() as r:
        m[:8, :8] = m[:8, :8].T
    for k in r.kernels:
        assert not (within(k.reads, at, 8 * 64 * 64) and within(k.writes, at, 8 * 64 * 64)), "reads and writes one buffer in another order"


def test_regions_that_do_not_touch_need_no_memory_between():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        a[:10] = a[10:20]
    assert only(r).reads == {at + 80} and only(r).writes == {at}
    with recorded() as r:
        a[::2] = a[1::2]
    assert only(r).reads == {at + 8} and only(r).writes == {at}


def test_halves_change_places():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        a[:500], a[500:] = a[500:].copy(), a[:500].copy()
    first_store = next(i for i, k in enumerate(r.kernels) if within(k.writes, at, 8000))
    reads = [i for i, k in enumerate(r.kernels) if within(k.reads, at, 8000)]
    assert reads and max(reads) < first_store, r.names


# ---- Readers and stores -------------------------------------------------------------------------------------------------------------


def test_a_pending_reader_runs_before_the_store():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        y = bc.exp(a)
        a[3] = 0
    reader, store = r.kernels
    assert reader.reads == {at} and not within(reader.writes, at, 8000)
    assert store.writes == {at + 24}
    assert r.copies == [] and y.shape == (1000,)


def test_a_reader_that_is_used_after_the_store_runs_before_it():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        y = bc.exp(a)
        a[3] = 0
        z = y + 1
        del y
    store = next(i for i, k in enumerate(r.kernels) if within(k.writes, at, 8000))
    readers = [i for i, k in enumerate(r.kernels) if within(k.reads, at, 8000)]
    assert readers and max(readers) < store, r.names
    assert z.shape == (1000,)


def test_a_reader_of_another_part_may_run_whenever_it_likes():
    a = make((1000,))
    with recorded() as r:
        y = bc.exp(a[500:])
        a[3] = 0
    assert len(r.kernels) == 2 and r.copies == []
    assert y.shape == (500,)


def test_a_dead_reader_is_not_run_for_a_store():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        y = bc.exp(a)
        a[3] = 0
        del y
    assert only(r).writes == {at + 24}
    assert r.copies == []


def test_a_reduction_of_the_old_value_runs_before_the_store():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        total = a.sum()
        a[:10] = total
    store = r.kernels[-1]
    assert store.writes == {at} and not within(store.reads, at, 8000)
    assert len(r.kernels) == 2 and r.kernels[0].reads == {at}


def test_what_is_recorded_after_a_store_reads_the_new_value():
    a = make((1000,))
    at = address(a)
    with recorded() as r:
        a[3:5] = 0
        y = bc.exp(a)
    assert r.names == ["map", "map_exp"]
    assert r.kernels[0].writes == {at + 24} and r.kernels[1].reads == {at}
    assert y.shape == (1000,)


def test_a_view_sees_stores_through_other_views():
    a = make((1000,))
    at = address(a)
    v = a[100:200]
    with recorded() as r:
        a[150] = 1
        y = v * 2
    assert [k.writes for k in r.kernels][0] == {at + 1200}
    assert r.kernels[-1].reads == {at + 800}
    assert y.shape == (100,)


# ---- Memory seen from outside -------------------------------------------------------------------------------------------------------


def test_exposed_memory_is_written_at_once_and_never_exchanged():
    a = make((1000,))
    at = a.data.ptr  # from here on others may look
    with recorded() as r:
        a += 1
        updated = len(bc._c.null_log())
        assert 1 <= updated <= 2
        a[10:20] = 3
        assert len(bc._c.null_log()) > updated
    assert at in r.kernels[0].reads and r.kernels[updated - 1].writes == {at}
    assert r.kernels[-1].writes == {at + 80}
    assert r.copies == [] and a.data.ptr == at


def test_reads_of_exposed_memory_do_not_wait():
    a = make((1000,))
    assert a.data.ptr
    bc._c.null_log_clear()
    y = bc.exp(a)
    assert len(bc._c.null_log()) == 1
    assert not bc._c.is_pending(y)


def test_exposing_a_shared_value_gives_each_its_own_memory():
    a = make((1000,))
    b = a.copy()
    with recorded() as r:
        pa = a.data.ptr
    assert [size for _, size in r.copies] == [8000]
    assert pa != address(b)
    assert np.dtype(a.dtype) == np.float64
