"""Arrays of str and of bytes in compiled functions, and records with such fields, against NumPy and plain Python."""

import math

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda, njit, prange, typed

NAMES = np.array(["ab", "", "d€€d", "ab", "日本語", "𝄞x"])
BYTES = np.array([b"ab", b"c\xffd'", b"", b"ab", b"\x1cq"])


def same(f, *arguments):
    """The compiled function's result is Python's, in types too; each gets arrays of its own."""
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    expected, found = f(*copies[0]), njit(f)(*copies[1])
    assert equal(found, expected), (found, expected)
    for a, b in zip(*copies, strict=True):
        assert equal(b, a), (b, a)


def equal(a, b):
    if isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and equal(a.tolist(), b.tolist())
    if isinstance(b, (tuple, list)):
        return isinstance(a, type(b)) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(b, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in b)
    if isinstance(b, (str, bytes)):
        return isinstance(a, str if isinstance(b, str) else bytes) and a == b
    return a == b and (not isinstance(b, float) or math.copysign(1, a) == math.copysign(1, b))


def test_elements_are_texts():
    def f(a):
        x = a[2]
        return (x, a[0] == "ab", a[0] == a[3], a[0] != a[1], a[2] > a[0], "€" in a[2], len(a[4]), a[4][1:], a[0] + "!", a[0] * 2,
                bool(a[1]), not a[1], str(a[0]), f"{a[5]}|{a[0]:>4}", a[0].upper(), a[2].find("d"), a[0] in ("ab", "c"),
                ",".join(a))  # fmt: skip

    same(f, NAMES)
    same(f, NAMES.astype("U9"))
    same(f, np.repeat(NAMES, 2)[::2])


def test_texts_of_elements_in_containers_and_loops():
    def f(a):
        counts = {}
        for s in a:
            counts[str(s)] = counts.get(str(s), 0) + 1
        longest = ""
        for i, s in enumerate(a):
            if i != 1 and len(s) > len(longest):
                longest = str(s)
        return counts, longest, sorted([str(s) for s in a]), [str(s) for s in a.flat if s > "b"], max(counts)

    same(f, NAMES)


def test_texts_are_stored_as_numpy_stores_them():
    def f(a, s):
        a[0], a[1] = a[1], a[0]  # both are read first
        a[2] = s
        a[3] += "é!"
        a[4:] = "q"
        b = np.empty(3, dtype="U2")
        b[:] = a[:3]
        b[2] = "xyz"
        return a, b, np.zeros((2, 2), dtype="U3"), np.empty_like(a).size

    same(f, NAMES, "too long to be held")
    same(f, NAMES.astype("U9"), "ü")


def test_functions_that_arrange_text_arrays():
    def f(a, b):
        return (np.sort(a), np.argsort(a, kind="stable"), np.unique(a), a.argmax(), np.argmin(a), a[np.array([2, 0])], a[a == "ab"],
                a.copy(), a.reshape(2, 3).T, np.concatenate((a, b)), np.flip(a), np.repeat(a, 2), a[::-2], a.tolist())  # fmt: skip

    same(f, NAMES, np.array(["longer than all", "x"]))


def test_largest_and_smallest_text():
    assert njit(lambda a: (max(a), a.min(), np.max(a)))(NAMES) == (max(NAMES), min(NAMES), max(NAMES))
    with pytest.raises(ValueError, match="argmax of an empty sequence"):
        njit(lambda a: a.max())(NAMES[:0])


def test_arrays_of_texts_are_compared_element_by_element():
    def f(a, b):
        return a == b, a != "ab", a < b, a == "ab", a >= "b", np.sum(a == "ab")

    same(f, NAMES, np.array(["ab", "x", "d€€d", "abc", "", "𝄞x"]))


def test_bytes_are_values():
    def f(a):
        counts = {}
        items = [a[0]]
        for x in a:
            items.append(x)
            if x in counts:
                counts[x] += 1
            else:
                counts[x] = 1
        items.sort()
        return (items, counts, a[0] == a[3], a[0] != b"x", a[0] < a[1], bool(a[2]), len(a[1]), hash(a[0]) == hash(a[3]), a[1][0],
                a[1][-1], (a[0], 3), a[0] == b"ab")  # fmt: skip

    same(f, BYTES)


def test_methods_of_bytes():
    def f(a):
        return (a[0].startswith(b"a"), a[0].find(b"b"), a[0].count(b"b"), a[1].isalpha(), a[0].upper(), a[0].title(), a[3].strip(),
                a[0].find(a[1]), a[2].isdigit(), a[3].isspace(), a[1].islower(), a[1].rfind(b"\xff"), a[4].strip(),
                a[4].isspace())  # fmt: skip

    same(f, np.array([b"abcb", b"b\xff", b"12", b" \x1c\t", b"\x0b\x85\xa0"]))


def test_methods_of_bytes_that_give_longer_ones():
    def f(a):
        return (a[0].center(10), a[0].ljust(6), a[0].rjust(7, b"*"), a[2].zfill(5), a[0].replace(b"b", b"\xff\x1c"), a[0] + b"x",
                b"x" + a[1], a[0] + a[1], a[0] * 3, a[0].split(b"b"), a[0][1:], a[0][::-1], b", ".join([a[0], a[1]]),
                a[0] in b"xxabcb", a[0].partition(b"c"), a[0].expandtabs(), a[0].replace(b"b", b"", 1))  # fmt: skip

    same(f, np.array([b"abcb", b"b\xff", b"12"]))


def test_bytes_as_arguments_and_results():
    def f(b, c):
        counts = {b: 1}
        counts[c] = counts.get(c, 0) + 1
        out = b""
        for x in b:
            if x != 32:
                out += bytes([x])
        return (b, b[1:3], b[::-1], b[1], b + c, b * 2, 3 * c, b * -1, b == c, b < c, b"a" in b, 97 in b, not b, bool(c), out,
                sorted(counts.keys()), counts[c], [b, c], (b, 1), b.split(), b.split(b"a", 1), b.rsplit(b"a"), b.title(), b.find(98),
                b.startswith((b"x", b"a")), b.partition(b"b"), b.removeprefix(b"ab"), bytes(3), b"", str(c), f"{b}",
                isinstance(b, bytes), isinstance(b, np.ndarray), b"-".join([b, c]), hash(b) == hash(c), sum(b))  # fmt: skip

    same(f, b"ab caa", b"abc")
    same(f, b"\xff\x1c\x00b'", b"\xff\x1c\x00b'")
    same(f, b" ab", b'"')


def test_bytes_in_typed_containers_and_from_arrays():
    @njit
    def f(d, words, x):
        for w in words:
            d[w] = d.get(w, 0) + 1
        words.append(x.tobytes())
        return np.frombuffer(words[-1], np.int16).sum(), x.T.tobytes(), x[::2].tobytes(), bytes(x)

    d = typed.Dict.empty(bc.typeof(b""), bc.int64)
    words, x = typed.List([b"ab", b"", b"ab"]), np.arange(6, dtype=np.int16).reshape(3, 2)
    assert f(d, words, x) == (15, x.T.tobytes(), x[::2].tobytes(), bytes(x))
    assert dict(d) == {b"ab": 2, b"": 1} and list(words) == [b"ab", b"", b"ab", x.tobytes()]
    with pytest.raises(KeyError, match="b'z'"):
        d[b"z"]


@pytest.mark.parametrize(
    ("f", "raised"),
    [
        (lambda b: b + 1, TypeError),
        (lambda b: b.find(300), ValueError),
        (lambda b: bytes([len(b), 256]), ValueError),
        (lambda b: b.index(b"z"), ValueError),
        (lambda b: b.center(10, "x"), TypeError),
        (lambda b: b"".join([1, 2]), TypeError),
        (lambda b: bytes("ab"), TypeError),
    ],
)
def test_wrong_uses_of_bytes_raise(f, raised):
    for function in (f, njit(f)):
        with pytest.raises(raised):
            function(b"ab")


def test_bytes_are_stored():
    def f(a):
        a[0] = b"longer"
        a[1] = a[3]
        a[0], a[2] = a[2], a[0]
        b = np.zeros(2, dtype="S2")
        b[0] = a[3]
        return a, b, np.sort(a), np.unique(a)

    same(f, BYTES)


def test_printed_bytes(capfd):
    njit(lambda a: print(a[0], a[1], [a[4]]))(BYTES)
    njit(lambda a: print(a[0].s, a.s[1], a[0].i))(np.array([(1, b"ab"), (2, b"'")], [("i", "i4"), ("s", "S3")]))
    assert capfd.readouterr().out == "b'ab' b\"c\\xffd'\" [b'\\x1cq']\nb'ab' b\"'\" 1\n"


def test_index_outside_of_bytes_raises():
    with pytest.raises(IndexError):
        njit(lambda a: a[0][2])(BYTES)


RECORD = np.dtype([("i", "i1"), ("name", "U3"), ("x", "f8"), ("key", "S3"), ("both", "U2", (2,))])


@pytest.mark.parametrize("aligned", [False, True])
def test_records_with_texts(aligned):
    def f(a):
        a[0]["name"], a[1]["name"] = a[1]["name"], a[0]["name"]
        total = 0.0
        for r in a:
            if r["name"] == "xy" or r["key"] == b"k":
                total += r["x"]
            r["both"][1] = r["name"]
        a[1]["key"] = b"longer"
        names = a["name"]
        names[2] = "Z"
        return total, names, a["key"], a["both"], str(a[0]["both"][0]), [(str(r["name"]), r["x"]) for r in a]

    a = np.zeros(3, np.dtype(RECORD.descr, align=aligned))
    a["name"], a["x"], a["key"], a["both"] = ["xy", "abc", ""], [1.5, 2, 4], [b"", b"q", b"k"], "é"
    same(f, a)


def test_field_that_lies_where_its_record_lies():
    a = np.zeros(3, [("q", [("u", "i4"), ("v", "f8")]), ("b", "f8")])
    a["q"]["u"] = [1, 2, 3]
    b = a[["q"]].astype([("q", a.dtype["q"])])
    for records in a, b:
        found = njit(lambda r: r["q"])(records)
        assert found.dtype == records.dtype["q"] and found.tolist() == records["q"].tolist()


def test_global_text_array_and_texts_of_numpy():
    def f(i, s, b):
        return NAMES[i], NAMES.size, NAMES[1:][1], s + "x", len(s), len(b), b[0]

    same(f, 4, np.str_("ü"), np.bytes_(b"cd"))


def test_the_same_array_comes_back():
    f = njit(lambda a: (a, a[0]))
    for a in NAMES.copy(), BYTES.copy():
        assert f(a)[0] is a


def test_parallel_loop_over_texts():
    @njit(parallel=True)
    def f(a):
        n = 0
        for i in prange(len(a)):
            if a[i].upper() == "AB":
                n += 1
        return n

    assert f(np.array(["ab", "Ab", "ba"] * 1000)) == 2000


def test_kernel_of_records_with_texts_reads_numbers():
    def f(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i]["x"] * 2

    a = np.zeros(3, RECORD)
    a["x"] = [1.5, 2, 4]
    out = bc.zeros(3)
    cuda.jit(f)[1, 4](a, out)
    assert out.tolist() == [3, 4, 8]


def test_texts_in_foreign_byte_order_are_refused():
    with pytest.raises(bc.core.errors.TypingError, match="no arrays of"):
        njit(lambda a: a.size)(NAMES.astype(">U4"))


def test_number_is_no_text():
    with pytest.raises(bc.core.errors.TypingError, match="cannot be stored"):

        @njit("void(int64)")
        def f(i):
            a = np.zeros(2, dtype="U3")
            a[0] = i

    with pytest.raises(bc.core.errors.TypingError, match="does not take"):
        njit(lambda a: np.sin(a))(NAMES)
