"""Containers that several threads use at once: every element arrives, nothing is lost, nothing that was freed is read."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import njit, prange, types
from broadcloth.experimental import jitclass
from broadcloth.typed import Dict, List

THREADS = 4


def in_threads(work, count=THREADS):
    """Runs work(k) in threads that start together; what one of them raises is raised here."""
    start, raised = threading.Barrier(count), []

    def run(k):
        start.wait()
        try:
            work(k)
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)  # under the thread sanitizer and on a busy machine
        assert not thread.is_alive()
    if raised:
        raise raised[0]


# ---- lists -------------------------------------------------------------------------------------------------------------------------------


@njit(nogil=True)
def append_range(values, start, stop):
    for i in range(start, stop):
        values.append(i)


def test_appends_of_all_threads_arrive():
    n = 50_000
    values = List.empty_list(types.int64)
    in_threads(lambda k: append_range(values, k * n, (k + 1) * n))
    assert len(values) == THREADS * n
    assert sorted(values) == list(range(THREADS * n))


def test_appended_texts_arrive():
    @njit(nogil=True)
    def work(values, word, n):
        for i in range(n):
            values.append(word + str(i))

    n = 5000
    values = List(["first"])
    in_threads(lambda k: work(values, "abcdefgh"[k], n))
    assert sorted(values) == sorted(["first"] + ["abcdefgh"[k] + str(i) for k in range(THREADS) for i in range(n)])


def test_appended_arrays_arrive_and_are_given_back():
    @njit(nogil=True)
    def work(values, k, n):
        for i in range(n):
            values.append(np.full(5, k * n + i))

    n = 3000
    values = List([np.zeros(5, dtype=np.int64)])
    in_threads(lambda k: work(values, k, n))
    assert sorted(int(v[4]) for v in values) == sorted([0, *range(THREADS * n)])


def test_arguments_that_are_put_in_stay_alive():
    @njit(nogil=True)
    def put(values, pairs, a):
        for i in range(100):
            values.append(a)
            pairs.append((a, i))

    values, pairs = List([np.zeros(3)]), List([(np.zeros(3), 0)])
    in_threads(lambda k: put(values, pairs, np.full(3, float(k))))
    gc.collect()
    assert sum(float(v[1]) for v in values) == sum(range(THREADS)) * 100
    assert sum(float(v[2]) for v, _ in pairs) == sum(range(THREADS)) * 100


@njit(nogil=True)
def pop_all(values, taken):
    n = 0
    while True:
        try:
            taken[values.pop()] += 1
        except IndexError:
            return n
        n += 1


def test_each_element_is_popped_once():
    n = 200_000
    values = List.empty_list(types.int64)
    append_range(values, 0, n)
    taken = [np.zeros(n, dtype=np.int64) for _ in range(THREADS)]
    in_threads(lambda k: pop_all(values, taken[k]))
    assert len(values) == 0
    assert np.array_equal(sum(taken), np.ones(n))


@pytest.mark.parametrize("item", ["number", "text", "array", "list", "pair"])
def test_readers_beside_a_writer(item):
    makes = {
        "number": lambda i: i,
        "text": lambda i: f"text {i} " * 3,
        "array": lambda i: np.full(7, i),
        "list": lambda i: List([i, i, i]),
        "pair": lambda i: (f"text {i}", i),
    }
    make = makes[item]

    @njit(nogil=True)
    def write(values, source, rounds):
        for r in range(rounds):
            for i in range(len(source)):
                values.append(source[i])
            try:
                for i in range(0, len(source), 2):
                    values[i] = source[len(source) - 1 - i]
                values.insert(1, source[0])
                while len(values) > 1:
                    values.pop(len(values) // 2)
            except IndexError:  # the other one has taken it
                pass

    @njit(nogil=True)
    def read(values, rounds):
        n = 0
        for r in range(rounds):
            try:
                for i in range(len(values)):
                    first = values[i]
                    n += first == values[-1]
                for v in values:
                    n += v == values[0]
                if values[0] == values[-1]:
                    n += 1
                n += len(values.copy()) + len(values[1:])
            except Exception:
                n += 1
        return n

    if item == "array":

        @njit(nogil=True)
        def read(values, rounds):  # noqa: F811
            n = 0
            for r in range(rounds):
                try:
                    for i in range(len(values)):
                        a = values[i]
                        if a.sum() != 7 * a[0]:
                            return -1
                    for a in values:
                        if a.sum() != 7 * a[0]:
                            return -1
                    n += len(values.copy()) + len(values[1:])
                except Exception:
                    n += 1
            return n

    source = List([make(i) for i in range(200)])
    values = List([make(0)])
    counts = []
    in_threads(lambda k: write(values, source, 150) if k < 2 else counts.append(read(values, 150)))
    assert len(counts) == 2 and min(counts) >= 0
    values = source = None
    gc.collect()


def test_numbers_that_are_read_are_whole():
    @njit(nogil=True)
    def write(values, n):
        for i in range(n):
            try:
                values[0] = 0x1111111111111111 * (i & 7)
            except IndexError:  # the other writer is between its clear() and its append()
                pass
            values.append(0x1111111111111111 * (i & 7))
            if len(values) > 50:
                values.clear()
                values.append(0)

    @njit(nogil=True)
    def read(values, n):
        wrong = 0
        for i in range(n):
            try:
                x = values[i % 50]
                wrong += x % 0x1111111111111111 != 0
            except IndexError:
                pass
        return wrong

    values = List([0])
    wrong = []
    in_threads(lambda k: write(values, 100_000) if k < 2 else wrong.append(read(values, 300_000)))
    assert wrong == [0, 0]


def test_sort_beside_a_writer():
    @njit(nogil=True)
    def work(values, k, rounds):
        failed = 0
        for r in range(rounds):
            if k == 0:
                values[r % len(values)] = r
            else:
                try:
                    values.sort(key=lambda x: -x)
                except ValueError:
                    failed += 1
        return failed

    values = List(list(range(500)))
    in_threads(lambda k: work(values, k, 200))
    assert len(values) == 500


def test_two_lists_that_take_from_each_other():
    @njit(nogil=True)
    def work(a, b, rounds):
        for _ in range(rounds):
            a.extend(b[:3])
            a.extend(b)
            if a == b or a < b:
                a.append(0)
            del a[5:]

    a, b = List([1, 2]), List([3, 4])
    in_threads(lambda k: work(a, b, 500) if k % 2 else work(b, a, 500))
    assert len(a) == len(b) == 5


def test_lists_in_a_list():
    @njit(nogil=True)
    def work(rows, k, n):
        for i in range(n):
            rows[i % len(rows)].append(k)
            if i % 100 == 0:
                row = List.empty_list(types.int64)
                row.append(k)
                rows.append(row)

    n = 5000
    rows = List([List([0]) for _ in range(3)])
    in_threads(lambda k: work(rows, k, n))
    assert sum(len(row) for row in rows) == 3 + THREADS * (n + n // 100)
    assert len(rows) == 3 + THREADS * (n // 100)


def test_python_works_on_a_list_that_threads_change():
    values = List.empty_list(types.int64)

    def work(k):
        if k:
            append_range(values, 0, 20_000)
        else:
            for i in range(300):
                values.append(-1)
                assert len(values) > 0 and values[0] >= -1
                assert sum(1 for v in values if v == -1) >= i

    in_threads(work)
    assert len(values) == (THREADS - 1) * 20_000 + 300


def test_a_function_with_the_lock_beside_one_without():
    @njit
    def locked(values, n):
        for i in range(n):
            values.append(i)

    values = List.empty_list(types.int64)
    locked(values, 10)
    in_threads(lambda k: append_range(values, 0, 20_000) if k % 2 else [locked(values, 10) for _ in range(200)])
    assert len(values) == 10 + 2 * 20_000 + 2 * 2000


def test_signatures_take_shared_containers():
    @njit("void(ListType(int64), int64)", nogil=True)
    def work(values, n):
        for i in range(n):
            values.append(i)

    values = List.empty_list(types.int64)
    in_threads(lambda k: work(values, 20_000))
    assert len(values) == THREADS * 20_000


def test_arrays_that_threads_return_from_one_list():
    @njit(nogil=True)
    def get(values, i):
        return values[i], values[i][1:]

    values = List([np.arange(5) + k for k in range(10)])
    made = []

    def work(k):
        for i in range(2000):
            whole, part = get(values, i % 10)
            assert whole[0] == i % 10 and part[0] == i % 10 + 1
            if i % 500 == 0:
                made.append(whole)

    in_threads(work)
    values = None
    gc.collect()
    assert all(m[4] == m[0] + 4 for m in made)


# ---- dicts -------------------------------------------------------------------------------------------------------------------------------


def test_entries_of_all_threads_arrive():
    @njit(nogil=True)
    def work(table, k, n):
        for i in range(n):
            table[k * n + i] = i

    n = 30_000
    table = Dict.empty(types.int64, types.int64)
    in_threads(lambda k: work(table, k, n))
    assert len(table) == THREADS * n
    assert all(table[k * n + 17] == 17 for k in range(THREADS))


@pytest.mark.parametrize("key", ["number", "text"])
def test_dict_is_changed_read_and_walked(key):
    if key == "number":

        @njit(nogil=True)
        def name(i):
            return i * 7
    else:

        @njit(nogil=True)
        def name(i):
            return "key " + str(i)

    @njit(nogil=True)
    def change(table, n):
        for i in range(n):
            table[name(i % 97)] = i
            if i % 3 == 0:
                table.pop(name((i + 5) % 97), 0)
            if i % 1000 == 999:
                table.clear()
            table.setdefault(name(i % 31), -1)

    @njit(nogil=True)
    def read(table, n):
        found = 0
        for i in range(n):
            if name(i % 97) in table:
                found += 1
            found += table.get(name(i % 97), 0) * 0
            if i % 50 == 0:
                try:
                    for k in table:
                        found += 1
                    for k, v in table.items():
                        found += 1
                except Exception:
                    found += 1
                found += len(table.copy()) + len(list(table.keys()))
        return found

    table = Dict.empty(types.int64 if key == "number" else types.unicode_type, types.int64)
    counts = []
    in_threads(lambda k: change(table, 20_000) if k < 2 else counts.append(read(table, 5000)))
    assert len(counts) == 2
    keys = {i * 7 if key == "number" else f"key {i}" for i in range(97)}
    assert set(table) <= keys and len(set(table)) == len(table)


def test_walking_a_dict_that_loses_a_key_raises():
    # Not only threads do this: the entry is gone though the number of entries is what it was.
    @njit
    def work(table):
        n = 0
        for k in table:
            n += len(k)
            if k == "a":
                del table["b"]
                table["z" * 40] = 1
        return n

    table = Dict.empty(types.unicode_type, types.int64)
    for k in "abc":
        table[k] = 0
    with pytest.raises(RuntimeError, match="during iteration"):
        work(table)


def test_dict_of_arrays():
    @njit(nogil=True)
    def work(table, n):
        for i in range(n):
            table[i % 13] = np.full(4, i)
            a = table.get(i % 7, table[i % 13])
            if a[0] != a[3]:
                raise ValueError("torn")

    table = Dict.empty(types.int64, types.int64[:])
    in_threads(lambda k: work(table, 10_000))
    assert len(table) == 13


def test_objects_of_a_class_that_threads_share():
    @jitclass([("items", types.ListType(types.int64)), ("last", types.int64[:])])
    class Box:
        def __init__(self):
            self.items = List.empty_list(types.int64)
            self.last = np.zeros(3, dtype=np.int64)

        def put(self, x):
            self.items.append(x)
            self.last = np.full(3, x)
            return self.last[0] + self.last[2]

    @njit(nogil=True)
    def work(box, n):
        for i in range(n):
            box.put(i)

    box = Box()
    in_threads(lambda k: work(box, 5000))
    assert len(box.items) == THREADS * 5000
    assert box.last[0] == box.last[1] == box.last[2]


# ---- parallel loops ----------------------------------------------------------------------------------------------------------------------


def test_prange_appends():
    @njit(parallel=True)
    def work(n):
        values = [0]
        for i in prange(n):
            values.append(i)
        return values

    n = 100_000
    values = work(n)
    assert len(values) == n + 1 and sorted(values) == sorted([0, *range(n)])


def test_prange_appends_to_an_argument():
    @njit(parallel=True)
    def work(values, words, n):
        for i in prange(n):
            values.append(i)
            words.append("w" + str(i))

    values, words = List.empty_list(types.int64), List.empty_list(types.unicode_type)
    work(values, words, 20_000)
    work(values, words, 10)
    assert len(values) == 20_010 and sorted(values) == sorted([*range(20_000), *range(10)])
    assert sorted(words) == sorted([f"w{i}" for i in range(20_000)] + [f"w{i}" for i in range(10)])


def test_prange_fills_a_list_by_index():
    @njit(parallel=True)
    def work(n):
        numbers = [0.0] * n
        arrays = [np.zeros(1) for _ in range(n)]
        for i in prange(n):
            numbers[i] = i * 0.5
            arrays[i] = np.full(3, float(i))
        return numbers, arrays

    numbers, arrays = work(5000)
    assert numbers == [i * 0.5 for i in range(5000)]
    assert all(a.shape == (3,) and a[2] == i for i, a in enumerate(arrays))


def test_prange_counts_in_a_dict_and_a_set():
    @njit(parallel=True)
    def work(n):
        table = {0: 0}
        seen = {0}
        for i in prange(n):
            table[i] = i * i
            seen.add(i % 1000)
            if i % 2:
                seen.discard(-1)
        return len(table), table[n - 1], len(seen)

    assert work(20_000) == (20_000, 19_999**2, 1000)


def test_prange_appends_in_functions_that_the_loop_calls():
    @njit
    def put(rows, i):
        rows[i % 4].append(i)

    @njit(parallel=True)
    def work(n):
        rows = [[0], [0], [0], [0]]
        for i in prange(n):
            put(rows, i)
        return rows

    rows = work(20_000)
    assert sorted(sum(rows, [])) == sorted([0] * 4 + list(range(20_000)))


def test_prange_appends_by_an_inner_function():
    @njit(parallel=True)
    def work(n):
        values = [0]

        def put(i):
            values.append(i)

        for i in prange(n):
            put(i)
        return len(values)

    try:
        assert work(20_000) == 20_001
    except bc.TypingError:
        pytest.skip("inner functions do not change what is around them")


def test_list_is_its_threads_own_after_the_loop():
    @njit(parallel=True)
    def work(n):
        values = [0]
        for i in prange(n):
            values.append(1)
        s = 0
        for k in range(n):
            values.append(k)
        for v in values:
            s += v
        return s

    assert work(10_000) == 10_000 + sum(range(10_000))


@pytest.mark.skipif(sys.flags.dev_mode, reason="needs time")
def test_counts_stay_right_under_load():
    # Each text is held by many owners at once; a count that lost one would free it early.
    @njit(nogil=True)
    def work(words, table, n):
        total = 0
        for i in range(n):
            w = words[i % len(words)]
            table[w] = i
            mine = [w, w, words[(i * 7) % len(words)]]
            total += len(mine[2])
        return total

    words = List([f"some longer word {i}" for i in range(10)])
    table = Dict.empty(types.unicode_type, types.int64)
    in_threads(lambda k: work(words, table, 30_000))
    assert sorted(words) == sorted(f"some longer word {i}" for i in range(10))
    assert sorted(table) == sorted(words)
