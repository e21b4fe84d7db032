"""`python -m broadcloth program.py`: programs that know of NumPy only run as they stand."""

from __future__ import annotations

import json
import pstats
import signal
import subprocess
import sys
import zipfile

import pytest

import broadcloth as bc
from as_program import both, program, run
from support import ROOT, child_environment

HELPER = ROOT / "tests" / "unchanged.py"


def printed(*words: str, **options) -> str:
    done = run(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(600)
def test_programs_print_what_they_print_under_numpy(device):
    words = [sys.executable, str(HELPER), "--device", str(device)]
    done = subprocess.run(words, env=child_environment(), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]


IMPORTS = """
import importlib
import json
import sys

import numpy
import numpy as np
import numpy.linalg
import numpy.linalg as la
import part
from numpy import arange, pi
from numpy.linalg import norm
from numpy.random import default_rng
from helpers.inner import total

def inside():
    import numpy as again
    return again

space = {"__name__": "made"}
exec("import numpy", space)
print(json.dumps({
    "kinds": [type(m.arange(2)).__module__ for m in (numpy, np, inside(), part.np, importlib.import_module("numpy"), space["numpy"])],
    "functions": [type(arange(2)).__module__, type(numpy.linalg.norm(np.ones(2))).__module__, float(norm(arange(3.0))), float(la.norm(np.ones(4)))],
    "modules": [np.__name__, np.__version__, la.__name__, np.linalg is la, np is numpy],
    "total": float(total(np.ones(3))),
    "star": part.star,
    "library": json.__name__ in sys.modules,
}))
"""


def test_every_way_to_import_numpy_gives_broadcloth(tmp_path):
    program(tmp_path, "from numpy import *\nimport numpy as np\nstar = type(zeros(2)).__module__\n", "part.py")
    program(tmp_path, "", "helpers/__init__.py")
    program(
        tmp_path, "import numpy as np\n\n\ndef total(a):\n    assert isinstance(a, np.ndarray)\n    return np.sum(a)\n", "helpers/inner.py"
    )
    seen = json.loads(printed(program(tmp_path, IMPORTS), cwd="/"))
    import numpy

    assert seen["kinds"] == ["broadcloth"] * 6
    assert seen["functions"] == ["broadcloth", "broadcloth", 5**0.5, 2.0]
    assert seen["modules"] == ["numpy", numpy.__version__, "numpy.linalg", True, True]
    assert seen["total"] == 3 and seen["star"] == "broadcloth"


NUMBERS = """
import numpy as np
small, large = np.array([3.0, 1.0, 2.0]), np.arange(5000.0)
def name(value):
    return f"{type(value).__module__}.{type(value).__name__}"
print(name(small.max()), name(small.argmin()), name(small.max() * 2), name(np.sqrt(small.max())), name(small.max() > 2), name(-small.min() ** 2))
s = large.var()
for x in large[:20]:
    s = 0.9 * s + x
print(name(s), s, name(np.log(s)), s < x, x < s)
with np.errstate(divide="raise"):
    try:
        small.max() / (small.max() - 3)
    except FloatingPointError as e:
        print(e)
"""


def test_numbers_that_are_known_are_numpys_scalars(tmp_path, monkeypatch):
    monkeypatch.setenv("BROADCLOTH_DEVICE", "cpu")  # a GPU's numbers are not known before somebody asks
    plain, ours = both(tmp_path, NUMBERS)
    assert ours.returncode == 0, ours.stderr
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


def test_libraries_keep_their_numpy(tmp_path):
    text = """
import numpy as np
from scipy import ndimage, special
x = np.arange(6.0)
y = special.erf(x)
print(type(ndimage.gaussian_filter1d(x, 1.0)).__module__, round(float(y.sum()), 12), type(ndimage._filters.np.arange(2)).__module__)
np.testing.assert_allclose(x, np.arange(6))
"""
    pytest.importorskip("scipy")
    plain, ours = both(tmp_path, text)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


SCALARS = """
import json, math, numbers
import numpy as np
a = np.array([1.5, 2.25, 3.0])
i = np.arange(5)
print(a.sum(), [a.sum(), a[1], i.max()], (a.mean(),), {"x": a.min()})
print(f"{a.mean():.3f} {a.std():8.2e} {i.sum():5d} {i.sum():x}", "%d %.2f %s" % (i.sum(), a.sum(), a.max()), "{:>10}".format(a.sum()))
print({a[0]: "key", i.sum(): 1}[10], [10, 20, 30, 40][i[2]], list(range(i.max())), "ab" * i[2], [0] * i[3])
print(json.dumps({"m": float(a.mean()), "s": a.sum()}))
print(isinstance(a.sum(), float), isinstance(a.sum(), np.floating), isinstance(i.sum(), np.integer), isinstance(a.sum(), np.ndarray), isinstance(a, np.ndarray))
print(isinstance(a.sum(), numbers.Real), isinstance(i[0], numbers.Integral), np.isscalar(a.sum()), np.isscalar(a), np.ndim(a[0]))
print(math.sqrt(a.sum()), round(a.sum(), 1), int(i.sum()), divmod(i.sum(), 3), abs(-a[0]), max(a), sum(i), sorted([a[2], a[0]]), a.sum() > 3)
print(repr(np.float32(0.1) * np.float32(3)), np.sqrt(2.0), repr(np.sin(1)), repr(np.add(1, 2)), np.float64(3).dtype, type(np.sqrt(2.0)).__name__)
print(a, repr(a), str(i), a.tolist(), repr(a > 2), (a > 2).any(), repr((a > 2).all()), np.bool_(True))
print(repr(np.array(3.0)), np.array(3.0), repr(a[:0]), repr(a.astype(np.float32).sum()), repr((i * 1j).sum()))
for value in a:
    print(value, end=" ")
for k, value in enumerate(i.reshape(5, 1)):
    print(k, value, value[0], end="; ")
print(a.argmax(), np.argmin(a), np.unravel_index(3, (2, 2)), i.nonzero()[0], np.where(a > 2))
print(type(a) == np.ndarray, {np.ndarray: "array"}.get(type(a)), np.ndarray.sum(a), np.ndarray((2, 3)).shape)
np.set_printoptions(precision=2, suppress=True)
print(a / 7, a.sum() / 7)
match = {"y": a.var()}
print(match, f"{match}", f"{a}", f"{a.sum()!r:>20}")
days = np.arange("2023-01-01", "2023-01-09", dtype="M8[D]")
print(repr(days.max().astype(object)), repr(a.max().astype(object)), repr(a.sum().astype("U5")), repr(i.sum().astype(object)))
"""


def test_numbers_print_and_count_as_numpys(tmp_path):
    plain, ours = both(tmp_path, SCALARS)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.splitlines() == plain.stdout.splitlines()


FALLBACKS = """
import sys
import warnings
import numpy as np

def caught(f):
    try:
        return repr(f())
    except Exception as error:
        return f"{type(error).__name__}: {error}"

names = np.array(["b", "a", "c"])
x = np.arange(3.0)
print(names, np.sort(names), np.unique(names), np.char.upper(names), names[x > 0.5], np.where(x > 1, "big", "small"))
print(x.astype(str), x.astype(object), np.array([1, None, "x"], dtype=object))
print(np.array([1, 2, 3], dtype=object) * x, x + np.array([1, 2, 3], dtype=object), np.add(x, np.array([1, 2, 3], dtype=object)))
print(np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]), np.arange("2024-01-30", "2024-02-02", dtype="datetime64[D]"))
y = np.array([5, 3, 1])
np.ndarray.sort(y)
print(y)
out = np.zeros(3)
print(np.emath.sqrt(-x))
print(np.nextafter(x, 9.0, out=out) is out, out)
class Named(np.ndarray):
    pass
v = np.asarray([1.0, 2.0]).view(Named)
print(type(v).__name__, v * 2)
print(caught(lambda: np.concatenate([np.zeros(3), np.zeros((2, 2))])))
print(caught(lambda: np.zeros(3)[7]), caught(lambda: np.linalg.inv(np.zeros((2, 2)))), caught(lambda: np.nothing), caught(lambda: np.ones(3) @ np.ones(4)))
print(caught(lambda: np.fromfunction(lambda i: 1 / 0, (3,))), caught(lambda: np.reshape(x, (2, 2))))
"""


def test_what_broadcloth_does_not_have_runs_on_numpy_and_is_reported_once(tmp_path):
    plain, ours = both(tmp_path, FALLBACKS)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.splitlines() == plain.stdout.splitlines()
    reports = [line for line in ours.stderr.splitlines() if "FallbackWarning" in line]
    assert reports and all(line.startswith(str(tmp_path / "program.py")) for line in reports)
    assert len(set(reports)) == len(reports)
    quiet = run("-c", f"import warnings; warnings.simplefilter('ignore')\n{FALLBACKS}")
    assert "FallbackWarning" not in quiet.stderr


ASSERTIONS = """
import numpy as np
import numpy.testing as npt
from numpy.testing import assert_equal, assert_raises

def caught(f):
    try:
        f()
    except AssertionError as error:
        return str(error)

a = np.arange(6.0).reshape(2, 3)
assert_equal(a, a.copy())
records = np.array([(2, 0.5), (1, 1.5)], dtype="i4,f8")
assert_equal(records, records.copy())
assert_equal({"a": [a, (a[0], a.sum())]}, {"a": [a.copy(), (a[0].copy(), 15.0)]})
npt.assert_almost_equal(a, a + 1e-9)
npt.assert_array_less(a, a + 1)
np.testing.assert_allclose(a, a * (1 + 1e-9))
np.testing.assert_array_max_ulp(a, a)
assert_raises(ValueError, np.reshape, a, (4, 4))
print(caught(lambda: assert_equal(a, a + 1)), caught(lambda: npt.assert_array_equal(a, a[0] * 2)), caught(lambda: assert_equal(a.sum(), 3)))
print(np.void((1, 2), dtype="i4,f8"), npt.__name__)
"""


VECTORIZE = """
import math

import numpy as np

table, calls = {1: 10, 2: 20}, []
polynomial = np.vectorize(lambda x, p: p[0] * x + p[1], excluded=["p"])

@np.vectorize(otypes=[float])
def halves(x):
    calls.append(x)
    return x // 2

class Scaled:
    def by(self, x, y=3):
        return x * y

for made in (
    np.vectorize(table.get)(np.array([1, 2, 1])),
    np.vectorize(math.gamma)([1.0, 2, 5]),
    np.vectorize(len)(["a", "bcd"]),
    np.vectorize(lambda x: x > 2, otypes="d")(np.arange(4)),
    np.vectorize(lambda v: v.sum(), signature="(n)->()")(np.ones((2, 3))),
    polynomial(x=np.arange(3), p=[3, 4]),
    halves(np.arange(4)),
    np.vectorize(lambda x: x // 2)(np.arange(4, dtype="i4")),
    np.vectorize(Scaled().by)([1, 2], y=[5, 6]),
    np.vectorize(lambda x: 0 if x > 1 else 2.5)([2, 1, 3]),
    *np.vectorize(lambda x: (x, x * 1j))(np.arange(3)),
    np.sin(np.vectorize(abs)(-np.arange(3.0))) + 1,
):
    print(made.dtype, made.shape, made)
print(len(calls), isinstance(halves, np.vectorize), halves.pyfunc.__name__)
for wrong in (lambda: np.vectorize(lambda x: 1 / x)([1, 0]), lambda: np.vectorize(abs)([])):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_vectorize_of_a_program_calls_any_function(tmp_path):
    plain, ours = both(tmp_path, VECTORIZE)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout
    assert "numpy.vectorize runs on the host" in ours.stderr


def test_assertions_of_numpy_testing_take_arrays(tmp_path):
    plain, ours = both(tmp_path, ASSERTIONS)
    assert ours.stdout == plain.stdout != "", ours.stderr
    assert "numpy.testing" not in ours.stderr


SUBCLASSES = """
import numpy as np

x = np.ma.array([1.0, 2, 4, 8], mask=[0, 1, 0, 0])
for f in (np.mean, np.sum, np.diff, np.cumsum, np.sort, np.gradient, np.angle, np.median, np.copy, np.asarray, np.sqrt):
    print(f.__name__, repr(f(x)))
print(np.concatenate([x, x]).sum(), np.concatenate([np.ones(2), x]), np.sum(a=x), np.vstack((x, x)).shape)
m = np.matrix([[1, 2], [3, 4]])
print(repr(np.sum(m, axis=0)), repr(np.linalg.inv(m)), repr(np.sort(m, axis=0)), np.dot(np.arange(2), m))
"""


def test_masked_arrays_and_matrices_keep_numpys_functions(tmp_path):
    plain, ours = both(tmp_path, SUBCLASSES)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.splitlines() == plain.stdout.splitlines()
    assert "an argument is a MaskedArray" in ours.stderr or "an argument is a numpy.ma.MaskedArray" in ours.stderr


READERS = """
import io
import os
import warnings

import numpy as np

warnings.simplefilter("ignore")
print(repr(np.genfromtxt(io.StringIO("a 1\\nb 2"), dtype=None, encoding=None)))
print(np.loadtxt(io.StringIO("a 1\\nb 2"), dtype=str), np.loadtxt((l for l in ["x,1", "y,2"]), dtype="U1,i4", delimiter=","))
print(np.fromiter((c for c in "abc"), dtype="U1"), np.fromiter(iter([1, None]), dtype=object), np.fromiter(iter([1.5, 2]), float))
f = io.BytesIO()
for a in (np.array(["a", "b"]), np.arange(3), np.array([1, "x"], dtype=object)):
    np.save(f, a)
f.seek(0)
print(np.load(f), np.load(f), np.load(f, allow_pickle=True))
np.array(["ab", "cd"], dtype="S2").tofile("names.bin")
with open("names.bin", "rb") as f:
    print(np.fromfile(f, dtype="S2", count=1), f.tell(), np.fromfile(f, dtype="S2"))
np.savez("all.npz", names=np.array(["a", "bc"]), x=np.arange(3.0), records=np.array([("u", 1)], dtype="U1,i4"))
with np.load("all.npz") as archive:
    print(sorted(archive), archive["names"], archive["x"] * 2, archive["records"], isinstance(archive, np.lib.npyio.NpzFile))
np.save("a.npy", np.arange(4))
mapped = np.load("a.npy", mmap_mode="r+")
mapped[1] = 9
mapped.flush()
print(np.load("a.npy"), np.load("a.npy").sum(), np.sqrt(mapped)[0], type(mapped).__name__)
"""


def test_files_and_iterators_are_read_once(tmp_path):
    # A second reading, by NumPy after a refusal, would begin where the first one ended.
    plain, ours = both(tmp_path, READERS)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


TEXTS = """
import warnings

import numpy as np

warnings.simplefilter("ignore")
print(np.r_[["a", "b"], ["c"]], np.c_[np.array(["a", "b"]), np.array(["c", "d"])], np.r_[np.array([None]), [1]], np.r_[1:3, 0])
print(np.array_equal(["a"], ["a"]), np.array_equal(np.array(["a", "b"]), np.array(["a", "c"])), np.array_equiv([["a"], ["a"]], "a"))
print(isinstance(np.zeros(2, "i4,f4"), np.ndarray), isinstance(np.zeros(2, "i4,f4")[["f0"]], np.ndarray))
print(list(np.ndenumerate(["a"])), len(np.r_), np.mgrid[0:2].sum())
a = np.zeros(2, dtype="i4,f4")
print(a.view(np.recarray).f0, isinstance(a.view(np.recarray), np.recarray), a.view("u1").shape)
b = np.array([("x", 1)], dtype=[("name", "U2"), ("n", "i4")]).view(np.recarray)
print(b.name, b.n, isinstance(b, np.recarray), type(b).__name__, b[0].n, isinstance(np.rec.fromarrays([[1], [2]]), np.recarray))
m = np.array([[1.0, 2.0], [3.0, 4.0]])
print([np.einsum("ii", m), np.einsum("ij,ij", m, m), np.linalg.norm(m, 1), np.linalg.norm(m, np.inf), np.linalg.cond(m, 1)])
print([np.linalg.matrix_norm(m, ord=1), np.linspace(0, 1, 5, retstep=True)[1], np.imag(1 + 1j), np.real(2.5)])
r = np.zeros(5, dtype=[("a", "i4"), ("b", "f8"), ("c", "3f4")])  # whose numbers lie at multiples of their sizes
r["b"] = 1.5
print(r.view("u1").shape, r.view("u1").sum(), r.view("V24").dtype, r.tobytes() == r.view("u1").tobytes(), [np.lexsort([3, 1, 2])])
z = np.zeros((3, 4))
for view in (
    lambda: r[::2].view("u1"), lambda: z[:, ::2].view("f4"), lambda: z[:, ::2].view("S8").shape, lambda: z[:, ::2].view("S4"),
    lambda: z.view("S4").shape, lambda: z.T.view("f4"),
):
    try:
        print(view())
    except (TypeError, ValueError) as error:
        print(type(error), error)
print(z.flags, z[:, 1].flags)
k = np.arange(2000)
print([v**0.5 == u**0.5 for v, u in ((np.array(2), 2), (np.array(7, "u4"), 7))], all(k**0.5 == np.sqrt(k)), np.array([4], "i2") ** 0.5)
"""


def test_texts_records_and_numbers_print_as_numpys(tmp_path):
    plain, ours = both(tmp_path, TEXTS)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


PANDAS = """
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
df = pd.DataFrame({"a": rng.normal(size=6), "b": np.arange(6), "g": list("xyxyxz")})
m = np.abs(df["a"].values) < 0.5
i = np.array([0, 2])
print(df[m].shape, df[~m].shape, df.loc[m, "b"].tolist(), df.iloc[i].b.tolist(), df.b[m].tolist(), df.index[m].tolist(), df.columns[i].tolist())
df.loc[m, "c"] = np.ones(m.sum())
df.iloc[i, 1] = np.array([7, 8])
df["d"] = np.where(df.b > 2, 1.5, 0)
print(df.c.tolist(), df.b.tolist(), df.d.tolist(), df.at[np.argmax(df.a.values), "b"], df.iloc[np.argmin(df.a.values)].b)
print(df.groupby(np.array([0, 1, 0, 1, 0, 1])).b.sum().tolist(), df.set_index(np.arange(6) * 2).index.tolist(), pd.factorize(np.array([3, 1, 3])))
print(df[["a", "b"]].apply(np.sum).dtype, df.groupby("g").b.agg([np.mean, "sum"]).dtypes.tolist(), df.groupby("g").b.apply(lambda s: np.sum(s.values) * 1.5).tolist())
print(df[["a", "b"]].apply(lambda r: np.hypot(r.a, r.b), axis=1).dtype, df.b.map(np.sqrt).round(2).tolist(), df.b.map(lambda v: np.float64(v) / 2).dtype)
print(type(np.sqrt(df.b)).__name__, np.mean(df.b), np.corrcoef(df.a, df.b).shape, df[m & (df.b > 2)].shape)
"""


def test_pandas_takes_masks_places_and_functions(tmp_path):
    pytest.importorskip("pandas")
    plain, ours = both(tmp_path, PANDAS)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


SCIPY = """
import numpy as np
from scipy import linalg, ndimage, optimize, sparse
from scipy.linalg import blas, interpolative, lapack
from scipy.sparse import linalg as solvers

a = np.arange(16.0).reshape(4, 4) % 5 + 6 * np.eye(4)
b = np.arange(4.0) + 1
s = sparse.csc_matrix(a)
t = np.linspace(0, 1, 9)


def show(*values):
    for v in values:
        v = v.toarray() if sparse.issparse(v) else v
        print(type(v).__name__ == "matrix", np.round(np.asarray(v), 6).tolist())


# What takes another type for a copy of its own must not write the program's array, and what writes must.
show(lapack.dgesv(a, b)[2], b, a, linalg.get_lapack_funcs("gesv", (a, b))(a, b)[2], b, lapack.dsyev(a + a.T)[0])
show(blas.dscal(2.0, b), b, blas.daxpy(b, b[::-1]), b, linalg.get_blas_funcs(["gemv"], (a,))[0](1.0, a, b))
print(linalg.get_lapack_funcs("gesv", (a,)).typecode, len(linalg.get_blas_funcs(("dot", "nrm2"), (a,))))
labels, wide, mask = np.zeros((4, 4), np.int32), np.zeros((8, 8)), np.zeros((4, 4), bool)
print(ndimage.label(a > 3, output=labels), labels.sum())
ndimage.zoom(a, 2, wide)
ndimage.binary_dilation(a > 5, output=mask)
show(labels, wide.sum(), mask.astype(int), ndimage.gaussian_filter(a, 1))

lu = solvers.splu(s)
print(isinstance(lu, solvers.SuperLU), lu.shape, lu.nnz)
show(lu.solve(b), lu.solve(a, "T"), solvers.spilu(s).solve(b), solvers.factorized(s)(b), solvers.aslinearoperator(a) @ b)
show(solvers.lsmr(solvers.LinearOperator((4, 4), matvec=lambda v: a @ v, rmatvec=lambda v: a.T @ v, dtype=float), b)[0])
show(linalg.funm(a, np.sqrt).real, linalg.funm(a + a.T, lambda v: np.exp(v / 9)), interpolative.svd(a, 2)[1])
fit = dict(jac=lambda p: np.column_stack([t, np.ones_like(t)]), loss="soft_l1")
show(optimize.least_squares(lambda p: p[0] * t + p[1] - t**2, np.zeros(2), **fit).x)

show(s + a, a + s, s - a, a - s, s / (a + 1), s.multiply(a[0]), s.maximum(a), a * s, s * b, 2 * s)
show((s > a).sum(), (a >= s).sum(), sparse.csr_array(s) + a, a - sparse.lil_matrix(s), sparse.coo_array(s) * a, s * a[0, 1])
"""


def test_scipy_takes_arrays_where_it_asks_for_numpys_type(tmp_path):
    pytest.importorskip("scipy")
    plain, ours = both(tmp_path, SCIPY)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


NUMBERS_IN_THE_LIBRARY = """
import fractions
import pickle
import sqlite3

import numpy as np

x = np.arange(5.0)
s, k = x.sum(), np.arange(5).sum()
print(fractions.Fraction(s), fractions.Fraction(k, 3), s.hex(), k.numerator, k.denominator, k.bit_count(), hasattr(x, "hex"), hasattr(x, "numerator"))
print(sqlite3.connect(":memory:").execute("select ?, ?", (s, x[1])).fetchall())
print(pickle.loads(pickle.dumps([np.ndarray, np.ufunc, np.recarray])) == [np.ndarray, np.ufunc, np.recarray])
"""


METHODS = """
import copy
import dataclasses
import pickle
import warnings

import numpy as np

warnings.simplefilter("ignore")
words, objects = np.array(["a", "b"]), np.array(["a", "b"], dtype=object)
print(np.equal.outer(words, words[::-1]), np.add.reduce(objects), np.add.accumulate(objects), np.maximum.reduceat(np.array([3, 1, 2], object), [0, 2]))
counts, wide = np.zeros(3, dtype=object), np.zeros(3, dtype=np.longdouble)
np.add.at(counts, [0, 0, 1], 1)
np.add.at(wide, np.array([0, 0, 1]), np.arange(3.0))
print(counts, wide, np.add.reduce(np.ones(3, np.longdouble)), np.gcd.reduce(np.array([12, 18], dtype=object)))
print(np.array([[2**70]], dtype=object) @ np.array([[2]]), np.matmul(np.eye(2, dtype=object), np.arange(2)))
x = np.arange(5.0)
s, k = x.sum(), np.arange(5).sum()
print(copy.deepcopy({"s": [s], "x": x}), copy.copy(k).__class__.__name__, pickle.loads(pickle.dumps([s, k, x])), [pickle.loads(pickle.dumps(np.array(2.0)))])
print(np.matmul.signature, np.vecdot.nin, isinstance(np.matvec, np.ufunc), np.vecmat.nout, np.matmul.identity, pickle.loads(pickle.dumps(np.matmul)) is np.matmul)
class Kept:
    def __array_function__(self, f, types, args, kwargs):
        return f"{f.__name__} of Kept"
print(np.zeros(3, like=Kept()), np.asarray([1], like=Kept()))
"""


def test_methods_of_ufuncs_products_and_copies_as_numpys(tmp_path):
    plain, ours = both(tmp_path, METHODS)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


def test_numbers_and_classes_in_pythons_library(tmp_path):
    plain, ours = both(tmp_path, NUMBERS_IN_THE_LIBRARY)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


def test_files_of_programs_have_whole_paths(tmp_path):
    program(tmp_path, "print(__file__)\nimport numpy as np\nnp.ones(2) + np.ones(3)\n", "part/p.py")
    plain, ours = [run("part/p.py", module=m, cwd=tmp_path) for m in (None, "broadcloth")]
    assert ours.stdout == plain.stdout and str(tmp_path) in ours.stdout
    assert ours.stderr.splitlines()[:2] == plain.stderr.splitlines()[:2]


def test_in_place_changes_come_back(tmp_path):
    text = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
a = np.array([3.0, 1.0, 2.0])
view = a[1:]
np.random.RandomState(0).shuffle(a)
print(a, view)
b = np.zeros(3)
np.copyto(b, np.array(["1", "2", "3"], dtype=object), casting="unsafe")
print(b)
np.put(b, [0], np.array([7], dtype=object))
print(b)
"""
    plain, ours = both(tmp_path, text)
    assert ours.stdout == plain.stdout, ours.stderr


WRITTEN_MEMORY = """
import array
import numpy as np
a = np.arange(4.0).reshape(2, 2)
b = a * 2
print([float(v) for v in np.nditer(a)], [(i, float(v)) for i, v in np.ndenumerate(a)])
with np.nditer(a, op_flags=["readwrite"]) as it:
    for v in it:
        v[...] = 3 * v + a[0, 0]
print(a, b)
for v in np.nditer(a[1], ["external_loop"], ["readwrite"]):
    v[1:] = -1
for x, y in np.nditer([a, b], op_flags=[["readonly"], ["writeonly"]]):
    y[...] = x + 1
print(a, b, a.sum())
a.flags.writeable = False
try:
    np.nditer(a, op_flags=["readwrite"])
except ValueError as e:
    print(type(e).__name__, "read-only" in str(e))
memory = bytearray(16)
x = np.frombuffer(memory, dtype=np.float64)
x[0] = 1.0
x += np.ones(2)
print(memory, x.sum(), np.frombuffer(bytes(memory)), np.frombuffer(memory, "u1", 2, 6))
numbers = array.array("d", [1, 2])
np.frombuffer(numbers)[1] = 5
print(numbers, np.frombuffer(np.arange(3)))
try:
    np.frombuffer(b"abc", "i4")
except ValueError as e:
    print(e)
"""


def test_iterators_and_buffers_write_the_memory_that_they_show(tmp_path, monkeypatch):
    monkeypatch.setenv("BROADCLOTH_DEVICE", "cpu")  # the memory of a GPU is not shared
    plain, ours = both(tmp_path, WRITTEN_MEMORY)
    assert ours.stdout == plain.stdout, ours.stderr


CLASSES_OF_THE_PROGRAM = """
import copy, pickle
import numpy as np
class Quantity(np.ndarray):
    def __new__(cls, data, unit=""):
        made = np.asarray(data, dtype=float).view(cls)
        made.unit = unit
        return made
    def __array_finalize__(self, other):
        if other is not None:
            self.unit = getattr(other, "unit", "?")
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [x.view(np.ndarray) if isinstance(x, Quantity) else x for x in inputs]
        if out is not None:
            kwargs["out"] = tuple(o.view(np.ndarray) if isinstance(o, Quantity) else o for o in out)
        unit = "".join(getattr(x, "unit", "") for x in inputs) if ufunc is np.multiply else self.unit
        made = getattr(ufunc, method)(*plain, **kwargs)
        return Quantity(made, unit) if ufunc is not np.greater else made
class Info(np.ndarray):
    def __new__(cls, shape, dtype=float, buffer=None, offset=0, strides=None, order=None, info=None):
        made = super().__new__(cls, shape, dtype, buffer, offset, strides, order)
        made.info = info
        return made
    def __array_finalize__(self, other):
        self.info = getattr(other, "info", None)
class Ring(np.ndarray):
    def __getitem__(self, key):
        return np.ndarray.__getitem__(self, key % len(self) if isinstance(key, int) else key)
    def __setitem__(self, key, value):
        super().__setitem__(key % len(self) if isinstance(key, int) else key, value)
q = Quantity([1, 2, 3], "m")
print(q, q.unit, (q * q).unit, (2 * q).unit, q > 1.5, (np.ones(3) * q).unit, q.sum(), np.sqrt(q), q[1:].unit, isinstance(q, np.ndarray))
q += q
print(q, np.asarray(q), type(np.asarray(q)) == np.ndarray, copy.deepcopy(q).unit, pickle.loads(pickle.dumps(q)))
i = Info((2, 2), info="here")
i[:] = 1
print(i, i.info, i.T.info, (i + np.ones(2)).info, np.ndarray.__new__(Info, (1,)).info, np.arange(3).view(Info).info, np.sort(i).info)
print(np.char.add("a", "b"), i.astype(str), np.argsort(i, axis=0, kind="stable").info)
r = np.zeros(3, dtype=int).view(Ring)
for k in range(7):
    r[k] += k
print(r, r[5], r[-1], r.view(np.ndarray)[1:], issubclass(Ring, np.ndarray))
s = np.array(["a", "b"])
print(s.view(np.ndarray), repr(s.view(np.ndarray)), isinstance(s.view(np.ndarray), np.ndarray))
print(type(q.view(np.ndarray)) == np.ndarray, np.ndarray.__repr__(np.arange(2)))
"""


def test_subclasses_of_ndarray_in_a_program(tmp_path):
    plain, ours = both(tmp_path, CLASSES_OF_THE_PROGRAM)
    assert plain.returncode == 0, plain.stderr
    assert ours.stdout == plain.stdout, ours.stderr


BESIDE_MASKED = """
import numpy as np
x = np.arange(1.0, 5.0)
m = np.ma.masked_greater(np.arange(4.0), 2)
e = np.eye(2)
w = np.matrix("1 2; 3 4")
for op in ("+", "-", "*", "/", "//", "%", "**", "<", "==", "!=", ">="):
    print(op, eval(f"x {op} m"), eval(f"m {op} x"), eval(f"x.sum() {op} m"), type(eval(f"x {op} m")).__name__)
print(np.arange(4) & np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]), np.add(x, m), np.add(m, x))
print(e * w, w * e, e @ w, w @ e, np.ones(2) + w, w - np.ones(2), e == w, type(e * w).__name__, np.add(w, e), (x.sum() * w).shape, w * np.ones((2, 1)))
print(m.view(np.ndarray), w.view(np.ndarray)[0], divmod(x, m))
x += m
e *= w
print(x, e)
"""


def test_masked_arrays_and_matrices_beside_arrays_are_numpys(tmp_path):
    plain, ours = both(tmp_path, BESIDE_MASKED)
    assert plain.returncode == 0, plain.stderr
    assert ours.stdout == plain.stdout, ours.stderr


BY_ARRAY = """
import numpy as np
from numpy.lib import recfunctions as rf
class Celsius:
    def __init__(self, v):
        self.v = np.atleast_1d(np.asarray(v, float))
    def __array__(self, dtype=None, copy=None):
        return self.v.astype(dtype) if dtype else self.v
c = Celsius([1, 2, 3])
print(np.array([c, c]).shape, np.shape(c), np.size(c), np.vectorize(lambda q: q + 1)(c), np.bincount(c.v.astype(int)))
print(np.array(c, dtype=str), np.stack([c, c]), np.testing.assert_allclose(c, [1, 2, 3]))
print(np.array([c, None], dtype=object)[0] is c)
t = np.zeros(3, dtype=[("x", float), ("y", int)])
print(rf.append_fields(t, "z", np.arange(3.0), usemask=False), rf.structured_to_unstructured(t), rf.drop_fields(t, "x").dtype)
f = np.memmap("memory.bin", dtype="f4", mode="w+", shape=(2, 2))
f[0] += np.ones(2)
f += np.ones((2, 2))
print(f, f + np.ones(2), np.ones(2) * f, np.add(f, np.ones(2)))
"""


def test_objects_that_are_arrays_by_a_method_and_files_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain, ours = both(tmp_path, BY_ARRAY)
    assert plain.returncode == 0, plain.stderr
    assert ours.stdout == plain.stdout, ours.stderr


def test_strict_forbids_fallbacks_and_hidden_waits(tmp_path):
    for text, error in (
        ("np.char.upper('a')", "FallbackError"),
        ("if (np.arange(5.0) * 2).sum() > 3:\n    pass", "SynchronizationError"),
        ("list(range((np.arange(5) * 2).sum()))", "SynchronizationError"),
    ):
        path = program(tmp_path, f"import numpy as np\n{text}\n")
        done = run("--strict", path)
        assert done.returncode == 1 and error in done.stderr and 'program.py", line 2' in done.stderr, done.stderr
    fine = program(tmp_path, "import numpy as np\nx = np.arange(5.0)\nprint((x * 2).sum(), x.mean().item(), f'{x.std():.3f}')\n")
    assert run("--strict", fine).stdout == "20.0 2.0 1.414\n"


PROCESS = """
import atexit, sys
print(sys.argv, __name__, __file__, sys.path[0], __spec__, __package__, __doc__, sorted(k for k in globals() if not k.startswith("__")))
atexit.register(print, "the end")
def f(how):
    if how == "raise":
        raise ValueError("wrong")
    if how == "chain":
        try:
            f("raise")
        except ValueError as error:
            raise KeyError("outer") from error
    if how == "numpy":
        import numpy as np
        np.zeros(3).reshape(2, 2)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "name":
        import numpy as np
        np.no_such_name
    if how == "module":
        import no_such_module
    if how == "numpy_module":
        import numpy.no_such_module
    if how == "from":
        from numpy import no_such_name
    sys.exit(eval(how))
f(sys.argv[1])
"""


@pytest.mark.parametrize(
    "how", ["raise", "chain", "interrupt", "module", "numpy_module", "0", "3", "None", "'a message'", "numpy", "name", "from"]
)
def test_a_process_ends_as_without_it(tmp_path, how):
    plain, ours = both(tmp_path, PROCESS, how, "--report", "-x")
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout), ours.stderr
    if how not in ("numpy", "name", "from"):  # the frames inside of NumPy are others
        assert ours.stderr == plain.stderr
    else:
        assert ours.stderr.splitlines()[:5] == plain.stderr.splitlines()[:5]
        assert "broadcloth/run" not in ours.stderr
        assert ours.stderr.splitlines()[-1].partition(":")[0] == plain.stderr.splitlines()[-1].partition(":")[0]


def test_text_modules_folders_and_archives_run(tmp_path):
    text = "import numpy as np, sys\nprint(type(np.arange(2)).__module__, sys.argv[1:], __name__, __spec__ and __spec__.name)\n"
    program(tmp_path, text, "tool/__main__.py")
    program(tmp_path, "", "tool/__init__.py")
    program(tmp_path, text, "lone.py")
    with zipfile.ZipFile(tmp_path / "tool.zip", "w") as z:
        z.writestr("__main__.py", text)
    for words, module in (
        (["-c", text, "-v", "b"], None),
        (["-m", "tool", "-v", "b"], None),
        (["-m", "lone", "-v", "b"], None),
        (["tool", "-v", "b"], None),
    ):
        assert run(*words, module=module, cwd=tmp_path).stdout.replace("numpy", "broadcloth") == printed(*words, cwd=tmp_path)
    assert printed("tool.zip", "-v", cwd=tmp_path).startswith("broadcloth ['-v'] __main__")
    assert run("-", "-v", cwd=tmp_path, stdin=text).stdout == "broadcloth ['-v'] __main__ None\n"
    missing = run("nothing.py", cwd=tmp_path)
    assert missing.returncode == 2 and "can't open file" in missing.stderr
    for words in (["--report"], ["--strict", "-c"], ["--wrong", "x.py"]):
        assert run(*words, cwd=tmp_path).returncode == 2


CHILDREN = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor
import numpy as np

def work(a):
    return type(a).__module__, type(np.ones(2)).__module__, (a * 2).tolist(), np.sin is pickle.loads(pickle.dumps(np.sin))

if __name__ == "__main__":
    for method in ("spawn", "fork", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(work, [np.arange(3)]))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(list(pool.map(work, [np.arange(2)])))
    print(pickle.loads(pickle.dumps({"a": np.arange(3), "f": np.sort, "m": np.linalg.norm})))
"""


def test_children_run_with_broadcloth_too(tmp_path):
    lines = printed(program(tmp_path, CHILDREN)).splitlines()
    assert lines[:3] == [f"{m} [('broadcloth', 'broadcloth', [0, 2, 4], True)]" for m in ("spawn", "fork", "forkserver")]
    assert lines[3] == "[('broadcloth', 'broadcloth', [0, 2], True)]" and "array([0, 1, 2])" in lines[4]


def test_forked_children_compute_on_the_cpu_and_say_so(tmp_path):
    text = """
import os
import numpy as np
x = np.arange(3)
print(x.sum(), flush=True)
if (child := os.fork()) == 0:
    print("child", np.ones(2).sum(), np.ones(2).device, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(np.ones(3).sum(), np.ones(3).device == x.device)
"""
    done = run(program(tmp_path, text))
    assert done.stdout.splitlines() == ["3", "child 2.0 cpu", "3.0 True"], done.stderr
    if bc.default_device().type == "cuda":
        assert "forked" in done.stderr and "computes on the CPU" in done.stderr


def test_report_names_lines_fallbacks_waits_and_the_bound(tmp_path):
    text = """
import numpy as np
x = np.linspace(0, 1, 400_000)
total = 0.0
for step in range(30):
    x = np.sin(x) * 2 + np.cos(x)
    if x.sum() > 0:
        total += 1
np.char.upper("a")
pixels = [k * k % 7 for k in range(2_000_000)]
print(total, sum(pixels))
"""
    path, trace, profile = program(tmp_path, text), tmp_path / "trace.json", tmp_path / "profile"
    done = run("--report", f"--perfetto={trace}", "--pstats", profile, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == run(path, module=None).stdout
    for words in (
        "program.py took",
        "program.py:6",
        "upper",
        "program.py:7",
        "instead: test less often",
        "Amdahl's law",
        # Of a GPU the compiler's time can be more than the loop's.
        "Attack first: program.py:10" if bc.default_device().type == "cpu" else "Attack first: program.py:",
    ):
        assert words in done.stderr, done.stderr
    events = json.loads(trace.read_text())["traceEvents"]
    assert {"program"} < {e["args"]["name"] for e in events if e["ph"] == "M"}
    assert any(e["ph"] == "X" and e.get("args", {}).get("line", "").startswith("program.py:6") for e in events)
    assert pstats.Stats(str(profile)).total_calls > 10  # type: ignore[attr-defined]
    failing = run("--report", program(tmp_path, "import numpy as np\nnp.ones(3)\nraise SystemExit(4)\n"))
    assert failing.returncode == 4 and "took" in failing.stderr


def test_the_parallel_share_is_that_of_one_lane():
    from types import SimpleNamespace

    from broadcloth.run._report import Report

    report = object.__new__(Report)
    report.kernels = [SimpleNamespace(time=t, device="cpu", elements=n) for t, n in ((1.0, 10**6), (0.5, 100))]
    report.loop_lines, report.device_seconds, report.host_seconds = {}, 1.5, 1.0
    report._sampler = SimpleNamespace(seconds=2.5)
    report.lanes = lambda: (4, "4 CPU cores")
    # The large kernel took 1 s on four cores.
    assert report.parallel_share() == pytest.approx((4 + 0.5) / (4 + 0.5 + 1))


def test_interrupts_end_a_program_by_their_signal(tmp_path):
    path = program(tmp_path, "import numpy as np, os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    assert run(path).returncode == -signal.SIGINT


def test_ipython_extension_and_config(tmp_path):
    text = """
import broadcloth as bc
broadcloth = bc
bc.load_ipython_extension(None)
import numpy as np
print(type(np.arange(2)).__module__)
bc.unload_ipython_extension(None)
import numpy as np
print(type(np.arange(2)).__module__)
import warnings
warnings.simplefilter("error")
bc.config.fallback = "ignore"
print(type(bc.nextafter).__module__, bc.getbufsize())
bc.config.fallback = "warn"
try:
    bc.getbufsize()
except bc.exceptions.FallbackWarning as warning:
    print(warning)
bc.config.fallback = "error"
try:
    bc.getbufsize
except AttributeError as error:
    print(error)
"""
    done = run(program(tmp_path, text), module=None)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["broadcloth", "numpy"] and "numpy.getbufsize runs on the host" in done.stdout
