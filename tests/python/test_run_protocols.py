"""`python -m broadcloth program.py`: classes of programs that answer NumPy's protocols, and memory that programs share."""

from __future__ import annotations

import itertools

import pytest

from as_program import both, program, run


def same(folder, text: str) -> None:
    plain, ours = both(folder, text)
    assert plain.returncode == 0, plain.stderr
    for line, (got, want) in enumerate(itertools.zip_longest(ours.stdout.splitlines(), plain.stdout.splitlines()), 1):
        assert got == want, f"line {line} of the output\n{ours.stderr}"


FUNCTIONS = """
import numpy as np
TABLE = {}
def implements(function):
    return lambda mine: TABLE.setdefault(function, mine)
class Metres:
    def __init__(self, v):
        self.v = np.asarray(v, float)
    def __array__(self, dtype=None, copy=None):
        return self.v
    def __array_function__(self, func, types, args, kwargs):
        if func is np.ptp:
            return "ptp", types == (Metres,), args == (self,), kwargs
        return TABLE[func](*args, **kwargs) if func in TABLE else NotImplemented
    def asarray(self, *args, **kwargs):
        return "asarray", args, kwargs
@implements(np.concatenate)
def concatenate(arrays, axis=0):
    return Metres(np.concatenate([np.asarray(a) for a in arrays], axis))
@implements(np.linalg.norm)
def norm(x):
    return "norm", float(np.linalg.norm(x.v))
@implements(np.ones)
def ones(shape, **options):
    return Metres(np.ones(shape))
class Asked(np.ndarray):
    def __array_function__(self, func, types, args, kwargs):
        print("asked", func.__name__, sorted(t.__name__ for t in types), len(args), sorted(kwargs))
        return "mine" if func is np.mean else super().__array_function__(func, types, args, kwargs)
class Narrower(Asked):
    pass
class Silent(np.ndarray):
    pass
x, m = np.arange(3.0), Metres([1, 2])
f, n, s = x.view(Asked), x.view(Narrower), x.view(Silent)
print(np.concatenate([x, m]).v, np.concatenate((m, x)).v, np.linalg.norm(m), np.ptp(m, axis=0), np.ones(2, like=m).v, np.ptp(x))
print(np.array(m), np.array([m, m]).shape, np.ones(2, like=x))
for call in ("np.stack([m, x])", "np.where(x > 1, x, m)", "np.zeros(2, like=m)", "np.zeros(2, like=3)"):
    try:
        print(call, eval(call))
    except TypeError as e:
        print(call, type(e).__name__, str(e)[:50])
print(repr(np.sum(f)), np.mean(f), np.mean(x), repr(np.concatenate([x, f])), repr(np.sort(n)), np.mean([f, f]), repr(np.sum(s)))
print(repr(np.concatenate([s, n, f])), repr(np.sum(x, out=f[:1].reshape(()))), f.max(), repr(np.einsum("i,i", f, x)), np.array([1, 2], like=f))
print(np.fft.fft(f).real, np.linalg.inv(np.eye(2).view(Asked)), np.sum._implementation(x), np.sum == np.sum, np.sum != np.mean, {np.sum: 1}[np.sum])
try:
    np.histogram2d(Silent((2,)), Metres([1, 2]))
except TypeError as e:
    print("no implementation" in str(e))
class Plain(Metres):
    def __array_function__(self, func, types, args, kwargs):
        return func._implementation(*args, **kwargs)
print(np.sum(Plain([1, 2])), np.column_stack([Plain([1, 2]), x[:2]]), np.median(Plain([1, 2])))
for call in ("np.column_stack(v for v in [x, x])", "np.hstack(iter([x, x]))"):
    try:
        print(eval(call))
    except TypeError as e:
        print(str(e)[:40])
"""


def test_array_function_of_a_class_is_asked(tmp_path):
    same(tmp_path, FUNCTIONS)


def test_array_function_of_a_library_gets_numpys_functions(tmp_path):
    library = tmp_path / "site-packages" / "duck.py"
    library.parent.mkdir()
    library.write_text(
        "import numpy as np\n"
        "class Duck:\n"
        "    def __array_function__(self, func, types, args, kwargs):\n"
        "        return func is np.sum, func is np.linalg.norm, len(types)\n"
    )
    text = "import sys\nsys.path.insert(0, 'site-packages')\nimport numpy as np\nfrom duck import Duck\n"
    same(tmp_path, text + "print(np.sum(Duck()), np.linalg.norm(Duck()), np.stack([np.ones(2), Duck()]), np.ones(3, like=Duck()))\n")


BY_METHOD = """
import numpy as np
class Celsius:
    "Its __array__ gives what it holds."
    def __init__(self, v):
        self.v = np.asarray(v, float)
    def __array__(self, dtype=None, copy=None):
        return self.v if dtype is None else self.v.astype(dtype)
c, one = Celsius([1, 2, 3]), Celsius(2.5)
print(np.ma.array(c), np.ma.sum(c), list(np.ndenumerate(c)), np.float64(one), np.int64(one), np.float32(c), np.bool_(one), np.matrix(c))
print([v.item() for v in np.nditer(c)], np.vectorize(lambda q: q + 1)(c), np.sqrt(c), np.float32(3) * c)
import statistics, decimal
print(np.array([c, c]).shape, np.stack([c, c]).sum(), np.testing.assert_allclose(c, [1, 2, 3]), Celsius.__array__.__name__, Celsius.__doc__)
class Fixed(type):
    def __setattr__(cls, name, value):
        raise TypeError("fixed")
class Kept(metaclass=Fixed):
    def __array__(self, dtype=None, copy=None):
        return np.arange(2)
print(np.sum(Kept()), np.asarray(Kept()))
class Broken:
    def __array__(self, dtype=None, copy=None):
        raise KeyError("mine")
for call in (np.asarray, np.ma.array, np.float64):
    try:
        call(Broken())
    except KeyError as e:
        print(e)
np.asarray(c)[0] = 7
print(c.v)
"""


def test_classes_that_are_arrays_by_a_method_go_to_numpy(tmp_path):
    same(tmp_path, BY_METHOD)


MEMORY = """
import array, ctypes, hashlib, mmap
import numpy as np
x = np.arange(6.0).reshape(2, 3)
d = x.data
print(type(d).__name__, d.shape, d.tolist(), len(d), d.nbytes, d.format, d.itemsize, d.ndim, d.contiguous, d[0, 1], bytes(d) == x.tobytes())
print(hashlib.sha1(x.data).hexdigest() == hashlib.sha1(x.tobytes()).hexdigest(), d == memoryview(x), x.T.data.c_contiguous, d.cast("B").nbytes)
b = array.array("d", [1, 2, 3])
y = np.asarray(b)
b[0] = 9
y[1] = 8
print(y, b, np.asarray(b, dtype="f4"), np.asanyarray(b) + np.ones(3), np.array(b)[0])
m = bytearray(4)
z = np.asarray(memoryview(m))
m[2] = 5
print(z, z.sum())
c = (ctypes.c_int * 2)(1, 2)
w = np.asarray(c)
w *= np.array([3, 3])
print(list(c), np.asarray(b"abc", dtype="S3"), np.asarray(memoryview(b"ab")), np.asarray([1, 2]), np.asarray(range(3)), np.asarray(x) is x)
"""


def test_memory_is_shared_with_buffers_and_seen_as_a_memoryview(tmp_path, monkeypatch):
    monkeypatch.setenv("BROADCLOTH_DEVICE", "cpu")
    same(tmp_path, MEMORY)


UFUNCS = """
import numpy as np
class Any:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, len(inputs), sorted(kwargs)
class Never:
    __array_ufunc__ = None
class Wrapped(np.ndarray):
    def __array_wrap__(self, made, context=None, scalar=False):
        print("wrap", None if context is None else (context[0].__name__, [type(v).__name__ for v in context[1]], context[2]))
        return super().__array_wrap__(made, context, scalar)
a, x = Any(), np.arange(3.0)
w = np.zeros(()).view(Wrapped)
print(np.sin(x, a), np.sin(x, out=a), np.multiply(x, 2, out=(a,)), np.negative(1, out=a), np.add(x, 1, where=a), np.modf(x, out=(None, a)))
class Same(Any):
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)
s = Same()
print(np.add.reduce(s), np.add.reduce(x, out=s), np.add.accumulate(s), np.add.reduceat(s, [0]), np.add.outer(x, s), np.add.at(s, [0], 1), np.add(x, s))
print(x + a, a - x, x < a, x == a, a != x, x ** a, x & a if False else "", np.add.reduce(a))
for call in ("np.add(x, Never())", "np.add(1, 2, ...)", "np.negative(x, out=(...,))", "np.divmod(1, 2, out=(np.empty(()), ...))", "np.add(x, 1, sig=('f4',))"):
    try:
        print(call, eval(call))
    except TypeError as e:
        print(call, type(e).__name__)
print(repr(np.add(w, 0, None)), repr(np.add(w, 0, out=(None,))), repr(np.add(0, 0, w)), repr(np.add(0, 0, out=w)))
print([isinstance(v, np.ndarray) for v in (np.add(1, 2, out=...), np.add(x[0], 2, out=...), *np.divmod(x[0], 2, out=...), np.add.reduce(x, out=...), x.sum())])
dates = np.array(["2020", "2021", "2022"], "M8[D]")
print(x == dates, dates != x, np.resize(x.view(Wrapped), 4), np.float64(1) != dates)
class Odd:
    def __init__(self, level):
        self.level = level
    @property
    def __array_priority__(self):
        if isinstance(self.level, Exception):
            raise self.level
        return self.level
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)
    def __radd__(self, other):
        return "radd"
print([x + Odd(level) for level in (None, "high", RuntimeError("no"), -1, 5.0)])
"""


def test_ufuncs_ask_outputs_masks_and_operands(tmp_path):
    same(tmp_path, UFUNCS)


RECORDS = """
import numpy as np
import numpy.lib.recfunctions as rf
a = np.zeros(4, [("x", "i8"), ("y", "f8"), ("z", "i4")])
a["x"], a["y"], a["z"] = [1, 2, 3, 4], 5, [4, 3, 2, 1]
v = a[["x", "z"]]
np.copyto(v, v[::-1])
print(a, rf.get_names(a.dtype), rf.drop_fields(a, "y"), rf.rename_fields(a, {"x": "w"}).dtype.names, rf.structured_to_unstructured(a)[0])
w = np.ones(2, [("a", "i8"), ("b", "i8")]).view({"names": ["b"], "formats": ["i8"], "offsets": [8]})
w[:] = 4
print(w, np.polynomial.polynomial.polydomain, np.polynomial.chebyshev.chebx + 1)
"""


def test_parts_of_records_and_constants(tmp_path):
    same(tmp_path, RECORDS)


@pytest.mark.parametrize("out", ["out=o", "out=(o,)", "out=o, where=x > 0"])
def test_ufuncs_of_libraries_write_arrays(tmp_path, out):
    pytest.importorskip("scipy")
    same(
        tmp_path,
        f"import numpy as np\nimport scipy.special as sp\nx, o = np.arange(3.0), np.full(3, -1.0)\nr = sp.gammainc(x, x + 1, {out})\n"
        "print(o.round(6), r is o)\n",
    )


OBJECTS = """
import datetime
from decimal import Decimal as D
from datetime import timedelta as T
import numpy as np
class Vector:
    def __init__(self, v):
        self.v = v
    def __rmul__(self, k):
        return Vector(k * self.v)
    def __radd__(self, k):
        return Vector(k + self.v)
    def __gt__(self, k):
        return bool(self.v > k)
    def __repr__(self):
        return f"V({self.v})"
class Higher(Vector):
    __array_priority__ = 10
class Refusing(Vector):
    __array_ufunc__ = None
x, y, v, h, r = np.array([1, 2]), np.array([1.0, 2.0]), Vector(3), Higher(3), Refusing(3)
for text in ("x*v|x+v|x[0]*v|x.sum()*v|x*h|x+r|x<v|x*D(2)|D(2)*x|x-D(1)|D(1)-x|x**D(2)|x//D(2)|D(5)%x|x<D(2)|D(2)>=x|x==D(2)|x!=D(1)|y*D(1)|x+None"
             "|x*T(1)|T(1)*y|T(6)/x|x.mean()*T(1)|T(1)/x.sum()|T(1)*y[0]|x+T(1)|np.array([[1,2]])*v|x*{1}|x*range(2)|x.sum()*D(2)|(y*2).sum()*T(1)").split("|"):
    try:
        print(text, "->", repr(eval(text)))
    except TypeError as e:
        print(text, str(e))
for statement in ("x *= v", "x += D(2)", "x -= None", "y *= T(1)", "x += h"):
    x, y = np.array([1, 2]), np.array([1.0, 2.0])
    try:
        exec(statement)
    except TypeError as e:
        print(type(e).__name__ if "h" not in statement else "")
    print(statement, x, y)
"""


def test_objects_beside_arrays_are_elements(tmp_path):
    same(tmp_path, OBJECTS)


def test_objects_beside_arrays_are_fallbacks_that_strict_forbids(tmp_path):
    path = program(tmp_path, "import numpy as np\nfrom decimal import Decimal\nnp.ones(2, int) * Decimal(2)\n")
    assert "numpy.multiply runs on the host" in run(path).stderr
    refused = run("--strict", path)
    assert refused.returncode == 1 and "FallbackError" in refused.stderr


STORED = """
import numpy as np
for statement in (
    "a[:3] = '1 2 3.5'.split()", "a[:3] = np.array(['1', '2', '3'])", "a[[0, 2]] = np.array([5, 6], dtype=object)", "a[a < 1] = np.array(['7'] * 4)",
    "a[:] = 'x'", "a[:2] = np.array(['x', 'y'])", "a[0] = b'3'", "a[:] = np.array([None, 1, 2, 3], dtype=object)", "np.put(a, [1], np.array(['8']))",
    "a.fill('3')", "a.flat[1:3] = np.array(['4', '5'])",
):
    a = np.zeros(4)
    try:
        exec(statement)
    except (ValueError, TypeError) as e:
        print(type(e).__name__)
    print(statement, a)
d = np.zeros(2, "M8[D]")
d[...] = np.array(["2020-01-01", "2021-01-01"])
print(d)
x, y = np.arange(3), np.arange(2)
r = np.array([x, y], dtype=object)
r[0][0] = 9
r[1] += 1
print(r, x, y, r[0] is x, np.array([x, None], dtype=object)[0] is x, np.array({"a": x}).item()["a"] is x, [len(v) for v in r])
r = np.array([x, "text"], dtype=object)
x[0] = 5
print(r, np.array([x, x], dtype=object).shape, np.empty(2, dtype=object))
t = np.arange(6).reshape(2, 3).T
for call in ("np.reshape(t, 6, copy=False)", "t.reshape(6, copy=False)", "np.reshape(t, (3, 2), copy=False)", "np.array(t, dtype=float, copy=False)"):
    try:
        print(call, eval(call).tolist())
    except ValueError as e:
        print(call, type(e).__name__)
class Summed(np.ndarray):
    def __array_finalize__(self, other):
        self.total, self.most = np.array(self).sum(), np.asarray(self).max()
s = np.arange(3).view(Summed)
print(s.total, s.most, (s + 1).total)
q = np.zeros(2, [("a", "i4"), ("b", "f8")])
q["a"] = 1, 2
print(q.flags.c_contiguous, q.flags["WRITEABLE"], q.byteswap()["a"], q.repeat(2), q.searchsorted(q[1:]), np.rec.array(q), np.rec.array(q).a)
"""


def test_what_is_stored_in_arrays_and_what_arrays_of_objects_hold(tmp_path):
    same(tmp_path, STORED)


TIMES_AND_SEEDS = """
import datetime
import numpy as np
d = np.array(["2021-05-01", "2020-01-01", "NaT", "2022-02-03"], "M8[D]")
t = np.array([90, 30, 60], "m8[s]")
print(repr(d[:2].max()), repr(np.datetime64(d[:2].max(), "h")), repr(np.timedelta64(t.sum())), d.max(), np.nanmax(d), repr(np.min(d[:2])))
print(repr(d[0] - d[:2].min()), t.mean(), repr(np.ptp(t)), t.sum() / np.timedelta64(1, "m"), t.max().astype(int), t.sum().item(), d[:2].max().item())
print((t.max() * 2).item().total_seconds(), d[:2].max() + np.timedelta64(1, "D"), d[d == d[:2].max()], np.arange(d[:2].min(), d[:2].min() + 3))
print(t.sum(axis=0, keepdims=True), np.median(t), np.cumsum(t), t.sum() > np.timedelta64(2, "m"), {d[:2].min(): 1}, np.maximum(t, t.mean()))
print(datetime.datetime(2020, 1, 1) + t.sum().item(), np.array([t.min(), t.max()]), np.isnat(d.max()), t.std() if False else "")
a = np.array([1, 2, 3])
for make in (np.random.PCG64, np.random.MT19937, np.random.SFC64, np.random.Philox):
    print(make(a).random_raw(), make(a.sum()).random_raw(), isinstance(make(1), make))
print(np.random.default_rng(np.random.SeedSequence(a.sum())).integers(100), np.random.SeedSequence(a).generate_state(2), np.random.RandomState(a).randint(9))
print(np.random.Generator(np.random.Philox(a[1])).random(2), np.random.Generator(np.random.Philox(key=a[0])).random())
"""


def test_times_without_axes_and_seeds_are_numpys(tmp_path):
    same(tmp_path, TIMES_AND_SEEDS)


def test_functions_call_the_methods_of_objects_of_other_libraries(tmp_path):
    pytest.importorskip("pandas")
    same(
        tmp_path,
        """
import numpy as np, pandas as pd
s = pd.Series([3.0, 1.0, 2.0], index=list("abc"))
df = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 7.0]})
print(np.cumsum(df), np.mean(df, axis=0).to_dict(), np.std(df, axis=1), np.round(df, 1), np.around(s))
print(np.cumsum(s), np.clip(s, 1, 2), np.argsort(s), np.transpose(df), np.repeat(s, 2), np.sum(s), np.amax(df, axis=1))
print(np.ravel(df), np.median(s), np.percentile(s, 50), np.sort(s), np.any(df, axis=0))
""",
    )


def test_iterators_walk_in_the_order_of_memory(tmp_path):
    same(
        tmp_path,
        """
import numpy as np
a = np.arange(24).reshape(2, 3, 4)
for x in (a, a.T, a.transpose(1, 2, 0), np.asfortranarray(a)):
    print([int(v) for v in np.nditer(x)], [int(v) for v in np.nditer(x, order="C")])
""",
    )


def test_what_is_written_to_a_view_on_the_host_is_not_lost_without_a_word(tmp_path):
    ours = run(program(tmp_path, "import numpy as np\nx = np.zeros(8, 'f4')\nx[1:5].view('f8')[0] = 1\n"))
    assert ours.returncode != 0 and "assignment destination is read-only" in ours.stderr


READ_RECORDS = """
import copy
import numpy as np
for dtype in ("i4,f8", "f8,f8", "i8,f8,?", "f4,(2,)f8"):
    a = np.zeros(20, dtype)
    a["f0"] = range(20)
    total, kept = 0, []
    for i, r in enumerate(a):
        total += r["f0"]
        r["f1"] = i * i
        kept.append(r)
    for i in range(20):
        a[i]["f0"] += 1
        if i % 3 == 0 and len(a.dtype) == 2 and a["f1"].ndim == 1:
            a[i] = (50 + i, -1)
    print(total, a["f0"].sum(), a["f1"].sum(), a[:3], kept[3], kept[4]["f0"], [r["f0"] for r in a][:5], [tuple(r) for r in a[:12]])
    b = a["f1"] * 2
    a["f1"] += 1
    a[2]["f1"] = 99
    print(b[:4], a["f1"][:4], kept[2]["f1"], kept[2], len(kept[2]), kept[2].dtype, a[2] == a[2], kept[2].item(), a[-1], list(a[1])[0])
    value, v = a[5]["f0"], a["f1"]
    v[5] = 7
    a[5]["f0"] = 8
    value += 1
    c, d = copy.deepcopy(a), a.copy()
    a[0]["f0"] = 77
    print(value, a[5], c[0], d[0], a[0], {r["f0"]: i for i, r in enumerate(a)}[77], np.sort(a["f0"])[-2:], a[a["f0"] > 15]["f1"].tolist())
    a.dtype.names = ("f1", "f0") + a.dtype.names[2:]
    print(a[3]["f1"], [r["f1"] for r in a][:2], a[3])
    try:
        a[20]
    except IndexError as e:
        print(e)
    try:
        a[1]["nothing"]
    except ValueError as e:
        print(e)
"""


def test_records_that_are_read_one_by_one(tmp_path):
    same(tmp_path, READ_RECORDS)


SUBCLASS_NUMBERS = """
import numpy as np
class Length(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return np.ndarray.__array_wrap__(self, array, context, return_scalar)
x = np.arange(3.0).view(Length)
print(repr(np.linalg.norm(x)), repr(np.linalg.norm(x, axis=0)), repr(np.searchsorted(x, 2)), repr(np.sin(x)), repr(x + 1))
print(repr(np.ndarray.__array_wrap__(x, np.ones(2))), repr(np.where(x > 0, x, 0)), repr(np.cross([x], [x])))
"""


def test_numbers_and_wraps_of_subclasses(tmp_path):
    same(tmp_path, SUBCLASS_NUMBERS)


FLOAT_ERRORS = """
import threading

import numpy as np

one, zero, big, small, neg = np.array([1.0, 2]), np.array([0.0, 1]), np.array([1e300, 1]), np.array([1e-300]), np.array([-1.0])
def told(*args):
    print("told", args)
class Log:
    def write(self, text):
        print("log", text)
def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, e)
CALLS = [
    lambda: one / zero, lambda: np.log(neg), lambda: np.exp(big), lambda: big * big, lambda: small * small, lambda: np.divide(one, zero),
    lambda: 1 / zero, lambda: one // zero, lambda: one % zero, lambda: divmod(one, zero), lambda: neg ** 0.5, lambda: np.power(zero, -1),
    lambda: np.float64(1) / np.float64(0), lambda: np.mean(np.array([np.inf, -np.inf])), lambda: np.array([1, 2]) // np.array([0, 1]),
    lambda: np.array([5]) % 0, lambda: one + one, lambda: big.astype("f4"), lambda: (one / zero).sum(), lambda: np.linalg.norm(big),
    lambda: np.multiply(big, big, out=big.copy()), lambda: one - np.inf * zero, lambda: np.std(big * 1e8), lambda: [1, 2] / zero,
    lambda: np.cumprod(np.array([1e200, 1e200])), lambda: np.where(zero == 0, 0, one / zero), lambda: one / [0, 1], lambda: big @ big,
]
print(np.seterrcall(told))
for state in ("raise", "call", "ignore"):
    with np.errstate(all=state):
        for f in CALLS:
            show(f)
def in_place():
    a = one.copy()
    view = a[1:]
    a /= zero
    view *= 3
    return a, view
with np.errstate(divide="call"):
    show(in_place)
with np.errstate(divide="raise"):
    a = one.copy()
    try:
        a /= zero
    except FloatingPointError as e:
        print(e, a)
    view = a.reshape(2, 1)
    view[0] = 7
    print(a, a[::-1], np.reshape(a, (1, 2)))
@np.errstate(all="raise")
def inverse(x):
    return 1 / x
show(lambda: inverse(zero))
show(lambda: inverse(one))
show(lambda: 1 / zero)
def elsewhere():
    show(lambda: one / zero)
old = np.seterr(all="raise")
print(old, np.geterr())
show(lambda: one / zero)
with np.errstate(divide="ignore"):
    show(lambda: one / zero)
    show(lambda: np.sqrt(neg))
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
np.seterr(**old)
show(lambda: one / zero)
with np.errstate(call=Log(), all="log"):
    show(lambda: one / zero)
np.seterrcall(None)
with np.errstate(all="call"):
    show(lambda: one / zero)
print(np.errstate, type(one).__truediv__ is np.ndarray.__truediv__)
"""


def test_states_of_floating_point_errors_that_ask_to_be_told_are_numpys(tmp_path):
    same(tmp_path, FLOAT_ERRORS)
