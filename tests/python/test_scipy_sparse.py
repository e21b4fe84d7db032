"""Sparse matrices and arrays, against SciPy: the same expressions and statements with both libraries."""

from __future__ import annotations

import io
import pickle
import warnings

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import _broadcloth as _c
from broadcloth.scipy import sparse
from support import dense

ss = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore:.*:Warning")

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
KINDS = ["matrix", "array"]
DTYPES = ["?", "i4", "i8", "f4", "f8", "F", "D"]
DENSE = np.array([[1, 0, 2, 0], [0, 0, 3, 0], [4, 5, 6.0, 0]])
SQUARE = DENSE[:, :3]


def outcome(run, library):
    """A result, or the types of what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(library)
        except Exception as error:
            return error


def assert_same(got, want):
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"SciPy raises {want!r}, got {got!r}"
        # SciPy's own constructors are not of one mind about these two.
        same = (ValueError, TypeError) if isinstance(want, (ValueError, TypeError)) else type(want)
        assert isinstance(got, same) or isinstance(want, type(got)), (got, want)
        return
    if isinstance(got, Exception):
        raise got
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert_same(g, w)
        return
    if ss.issparse(want):
        assert type(got).__name__ == type(want).__name__
        assert got.dtype == want.dtype
    if isinstance(want, (str, type(None))):
        assert got == want
        return
    got, want = dense(got), dense(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, 1e-5 if want.dtype.itemsize < 8 or want.dtype == "F" else 1e-12)


def compare(expression, kind, matrix=DENSE, **names):
    def run(library):
        make = getattr(library, kind)
        return eval(expression, {"a": make(matrix), "A": matrix, "np": np, "sx": library, "make": make, **names})

    assert_same(outcome(run, sparse), outcome(run, ss))


def random_dense(shape, dtype, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(-4, 5, shape) if np.dtype(dtype).kind in "bi" else rng.standard_normal(shape)
    values = values + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else values
    return np.where(rng.random(shape) < density, values, 0).astype(dtype)


# ---- Formats ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_becomes_every_other(xp, format, kind, dtype):
    for shape in ((5, 7), (6, 6), (0, 3), (3, 0), (1, 1)):
        a = random_dense(shape, dtype)
        made = getattr(sparse, f"{format}_{kind}")(xp.asarray(a))
        assert made.format == format
        assert made.shape == shape
        assert made.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(dense(made), a)
        for to in FORMATS:
            other = made.asformat(to)
            assert type(other).__name__ == f"{to}_{kind}"
            assert other.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(dense(other), a)
            np.testing.assert_array_equal(dense(other.T), a.T)
            np.testing.assert_array_equal(dense(getattr(sparse, f"{format}_{kind}")(other)), a)
        theirs = made.get()
        assert type(theirs).__name__ == f"{format}_{kind}"
        np.testing.assert_array_equal(theirs.toarray(), a)
        np.testing.assert_array_equal(dense(type(made)(theirs)), a)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_elements_are_scipys(xp, kind):
    a = random_dense((9, 6), "f8")
    for format, names in {
        "csr": ("data", "indices", "indptr"),
        "csc": ("data", "indices", "indptr"),
        "coo": ("data", "row", "col"),
    }.items():
        ours, theirs = (getattr(library, f"{format}_{kind}")(a) for library in (sparse, ss))
        for name in names:
            got, want = dense(getattr(ours, name)), getattr(theirs, name)
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype


def test_duplicates_are_added_and_order_does_not_matter(xp):
    rng = np.random.default_rng(4)
    row, col, data = rng.integers(0, 20, 500), rng.integers(0, 30, 500), rng.integers(-9, 10, 500).astype("f8")
    want = np.zeros((20, 30))
    np.add.at(want, (row, col), data)
    for name in ("coo_matrix", "csr_matrix", "csc_array", "csr_array", "bsr_matrix"):
        made = getattr(sparse, name)((xp.asarray(data), (xp.asarray(row), xp.asarray(col))), shape=(20, 30))
        np.testing.assert_array_equal(dense(made), want)
        np.testing.assert_array_equal(dense(made.tocsc()), want)
        np.testing.assert_array_equal(dense(made @ xp.arange(30.0)), want @ np.arange(30.0))
        assert made.tocsr().has_canonical_format


def test_rows_that_are_not_sorted_and_have_duplicates(xp):
    arrays = (np.array([1.0, 2, 3, 4, 0]), np.array([3, 0, 3, 1, 2]), np.array([0, 3, 3, 5]))
    make = lambda library: library.csr_matrix(tuple(a.copy() for a in arrays), shape=(3, 4))  # noqa: E731
    ours, theirs = make(sparse), make(ss)
    assert not ours.has_sorted_indices
    assert not ours.has_canonical_format
    for run in (
        lambda a: a.toarray(),
        lambda a: a @ np.arange(4.0),
        lambda a: a + a,
        lambda a: a.T @ np.arange(3.0),
        lambda a: a @ a.T,
        lambda a: a[0, 3],
        lambda a: a[:, [3, 0]],
        lambda a: a.max(axis=1),
        lambda a: a.maximum(a.multiply(2)),
        lambda a: a.diagonal(),
        lambda a: a > 3,
        lambda a: a.sorted_indices().indices,
        lambda a: a.sum(0),
    ):
        np.testing.assert_array_equal(dense(run(make(sparse))), dense(run(make(ss))))
    for name in ("sort_indices", "sum_duplicates", "eliminate_zeros"):
        for a in (ours, theirs):
            getattr(a, name)()
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(dense(getattr(ours, part)), getattr(theirs, part))
        assert ours.has_sorted_indices
        assert ours.nnz == theirs.nnz


CONSTRUCTORS = """
make((3, 4)); make((3, 4), dtype="i4"); make((2, -3)); make((0, 0)); make([1, 2, 3]); make([[1, 2]], dtype="f4")
make(a); make(a, dtype="f4"); make("x"); make(None); make(([1.0, 2], ([0, 1], [1, 0])), shape=(2, 2))
make(([1.0], ([0], [5])), shape=(2, 2)); make(a, copy=True)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("expression", [e.strip() for e in CONSTRUCTORS if e.strip()])
@pytest.mark.parametrize("name", ["csr_matrix", "csr_array", "csc_matrix", "csc_array", "coo_matrix", "coo_array"])
def test_constructors(xp, name, expression):
    compare(expression, name)


ARRAYS = """
sx.csr_matrix(([1.0, 2], [0, 1], [0, 1, 2])); sx.csr_matrix(([1.0, 2], [0, 1], [1, 1, 2]), shape=(2, 2))
sx.csr_matrix(([1.0, 2], [0], [0, 1, 2]), shape=(2, 2)); sx.csr_matrix(([1.0, 2], [0, 1], [0, 1]), shape=(2, 2))
sx.csc_array(([1.0, 2], [0, 1], [0, 2]), shape=(2, 1)); sx.csr_matrix(([1.0, 2], [0, 1], [0, 1, 5]), shape=(2, 2))
sx.coo_matrix(([1.0, 2], ([0, -1], [1, 1])), shape=(2, 2)); sx.coo_matrix(([1.0, 2], ([0, 0], [1, 1]))); sx.coo_matrix(([], ([], [])))
sx.coo_array(([1.0, 2], ([0, 3],))); sx.coo_matrix(([1.0], ([0, 1], [1, 1])))
sx.coo_matrix(([1.0, 2], ([0, 0], [1, 1])), shape=(2, 2), dtype="F")
sx.dia_matrix(([[1, 2, 3]], [0]), shape=(3, 3)); sx.dia_matrix(([[1, 2, 3]], [0])); sx.dia_matrix(([[1, 2, 3]], [0, 1]), shape=(3, 3))
sx.dia_matrix(([[1, 2, 3], [1, 2, 3]], [0, 0]), shape=(3, 3)); sx.dia_array(([[1, 2, 3], [4, 5, 6]], [-1, 2]), shape=(4, 3))
sx.bsr_matrix((np.ones((1, 2, 2)), [0], [0, 1])); sx.bsr_matrix((4, 4), blocksize=(2, 2)); sx.bsr_matrix((4, 4), blocksize=(3, 2))
sx.bsr_array((np.arange(8.0).reshape(2, 2, 2), [1, 0], [0, 1, 2]), shape=(4, 4)); sx.dok_matrix((2, 2)); sx.lil_matrix([[1, 2]])
sx.csr_array((3,)); sx.csr_matrix((3,)); sx.csr_array([1, 0, 3]); sx.coo_array([1, 0, 3]); sx.dok_array((3,)); sx.lil_array((3,))
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("expression", [e.strip() for e in ARRAYS if e.strip()])
def test_constructors_from_arrays(xp, expression):
    compare(expression, "csr_matrix")


def test_columns_outside_the_matrix_are_refused(xp):
    # SciPy takes them, and reads memory that is not the operand's.
    with pytest.raises(ValueError, match="indices must be < 2"):
        sparse.csr_matrix(([1.0, 2], [0, 5], [0, 1, 2]), shape=(2, 2))
    with pytest.raises(ValueError, match="non-decreasing"):
        sparse.csr_matrix(([1.0, 2], [0, 1], [0, 2, 1, 2]), shape=(3, 2))


# ---- Expressions ------------------------------------------------------------------------------------------------------------------------

ARITHMETIC = """
a + 1; a + 0; 1 + a; a - 0; 0 - a; a - A; A - a; a + A; A + a; a + a; a - a; a + a[:1]; a + "x"; a * 2; 2 * a; a / 2; 2 / a; a / A; -a
abs(-a)
a * A; A * a; a * A[0]; a.multiply(A[0]); a.multiply(A[:, :1]); a.multiply(a); a.multiply(a[:1]); a.multiply(2)
a.multiply(np.ones(3)); a.multiply(a[:2]); a @ a.T; a.T @ a; a @ A.T; A.T @ a; a @ np.arange(4); np.arange(3) @ a; a @ [[1], [2], [3], [4]]
a @ np.ones(3); np.ones(4) @ a; a @ np.ones((2, 2)); a @ np.ones((3, 3, 3)); a @ 2; 2 @ a; a.dot(2); a.dot(a.T); a.dot([1, 2, 3, 4]); a @ a
a == a; a != a; a == 0; a != 0; a == 2; a != 2; a < 2; a < -1; a > 2; a >= 0; a <= 2; a >= a; a < 2 * a; a == A; a != A; a == a.T
a != a.T; a < a.T
a == np.nan; a != np.nan; a.maximum(0); a.maximum(2); a.maximum(A); a.maximum(-a); a.minimum(0); a.minimum(-1); a.minimum(2 * a)
a.minimum(a.T)
a.power(2); a.power(0); a.power(0.5); a.power(2, dtype="D"); a.power([1, 2]); round(a); np.sqrt(a); a.sin(); a.expm1(); a.sign()
a.floor(); a.rint()
a.astype("f4"); a.astype("D").conj(); a.real; a.imag; a.astype("F").imag; a.astype("?"); -a.astype("?"); a.astype("i4") @ a.astype("i4").T
a.astype("f4") * 2; a.astype("i8") * 2.5; a.astype("i4") / 2; a.astype("?") + a.astype("?"); a.astype("i4") + a; a.astype("f4") @ a.T
a // 2
a.tocsc() + a; a.tocsc() @ a.T; a.tocsr() @ a.T.tocsc(); a.tocsc() * 2; np.add(A, a); bool(a); len(a); list(a)[1]; a.T
a.transpose((1, 0)); a.transpose((0, 1))
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("expression", [e.strip() for e in ARITHMETIC if e.strip()])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_arithmetic(xp, format, kind, expression):
    compare(expression, f"{format}_{kind}")


VALUES = """
a + a; a - 2 * a; a * 3; a.multiply(A); a.multiply(a); a.multiply(a.tocsr()[:, [0]]); a @ np.arange(4.0); np.arange(3.0) @ a; a @ a.T
a.sum(); a.sum(0)
a.sum(1); a.mean(0)
a.diagonal(); a.diagonal(1); a.diagonal(-2); a.T; abs(-a); a > 2; a.toarray(); a.todense(); a.astype("f4"); a.nnz; a.count_nonzero()
a.trace(); a.conj(); a.power(2); a.reshape(4, 3); a.tocsr(); a.tocsc(); a.tocoo(); a.todia(); a.tolil(); a.todok()
"""


@pytest.mark.parametrize("expression", [e.strip() for e in VALUES.replace("\n", ";").split(";") if e.strip()])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_all_formats_compute(xp, format, kind, expression):
    make = lambda library: getattr(library, f"{format}_{kind}")(DENSE)  # noqa: E731
    got, want = (eval(expression, {"a": make(library), "A": DENSE, "np": np}) for library in (sparse, ss))
    got, want = dense(got), dense(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want)


REDUCTIONS = """
a.sum(); a.sum(0); a.sum(1); a.sum(-1); a.sum(axis=(0, 1)); a.sum(axis=(0,)); a.sum(5); a.sum(1.5); a.sum(1, dtype="f4"); a.sum(axis=(0, 0))
a.astype("i1").sum(); a.astype("?").sum(0); a.astype("i4").mean(0); a.astype("i4").mean(); a.mean(); a.mean(0)
a.mean(1)
a.mean(0, dtype="f4"); a.max(); a.max(0); a.max(1); a.max(5); a.max(axis=(0, 1)); a.min(); a.min(0); a.min(1); a.argmax(); a.argmax(0)
a.argmax(1)
a.argmin(); a.argmin(0); a.argmin(1); a.argmax(5); a.nanmax(); a.nanmin(0); (-a).max(0); (-a).argmax(0); (-a).argmax(1); (-a).argmin()
a.max(explicit=True)
a.min(0, explicit=True); a.trace(); a.trace(1); a.diagonal(); a.diagonal(2); a.diagonal(9); a.nnz; a.size; a.count_nonzero();
a.nonzero(); a.shape; a.ndim; a.format; repr(a); str(a); a.has_sorted_indices; a.has_canonical_format
make((0, 3)).max(); make((0, 3)).max(0); make((3, 0)).max(0); make((3, 3)).max(); make((3, 3)).argmax(0); make((0, 3)).sum(0)
make((3, 3)).argmin()
make((3, 0)).argmax(1)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("expression", [e.strip() for e in REDUCTIONS if e.strip()])
@pytest.mark.parametrize("name", ["csr_matrix", "csr_array", "csc_matrix", "csc_array"])
def test_reductions(xp, name, expression):
    compare(expression, name)


def test_sums_of_unsigned_integers(xp):
    for name in ("csr_matrix", "csc_array"):
        got, want = (dense(getattr(library, name)(abs(DENSE)).astype("u1").sum(0)) for library in (sparse, ss))
        np.testing.assert_array_equal(got, want)


def test_counts_along_axes_are_methods_of_matrices(xp):
    for axis in (None, 0, 1):
        for format in ("csr", "csc", "coo"):
            got, want = (getattr(library, f"{format}_matrix")(DENSE).getnnz(axis) for library in (sparse, ss))
            np.testing.assert_array_equal(dense(got), want)
            got, want = (getattr(library, f"{format}_array")(DENSE).count_nonzero(axis) for library in (sparse, ss))
            np.testing.assert_array_equal(dense(got), want)


def test_extremes_with_nans_and_ties(xp):
    a = np.array([[0, np.nan, 1], [-1, -2, 0], [3, 3, 0], [0, 0, 0], [-1, -1, -1], [np.nan, 0, 0]])
    for expression in (
        "a.max(1)",
        "a.min(1)",
        "a.nanmax(1)",
        "a.nanmin(0)",
        "a.max()",
        "a.nanmax()",
    ):
        for name in ("csr_matrix", "csc_array"):
            compare(expression, name, a)
    # NaNs are greatest and least, as NumPy has it; SciPy's sparse matrices give them another place.
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(dense(sparse.csr_array(a).argmax(axis)), a.argmax(axis))
        np.testing.assert_array_equal(dense(sparse.csr_array(a).argmin(axis)), a.argmin(axis))


# ---- Indexing ---------------------------------------------------------------------------------------------------------------------------

INDICES = """
0; -1; 5; -4; (0, 1); (-1, -1); (0, 5); (1, 2); slice(None); slice(1, None); slice(5, None); slice(1, 1); slice(None, None, -1)
slice(None, None, 2)
(slice(None), 0); (slice(None), -1); (slice(None), [0]); (slice(None), slice(1, 3)); (slice(1, None), slice(None, 2)); (slice(0, 2), 1)
(2, slice(None))
[0, 1]; [2, 2, 0]; []; ([], []); ([0, 1], [1, 2]); ([[0], [1]], [0, 2]); ([[0, 1], [1, 2]], [[0, 1], [2, 2]]); ([0, 1], [0, 1, 2])
(slice(1, 2), [2, 0])
([2, 0], slice(1, None)); ([0, -1], [-1, 0]); ([9], [0]); np.array([True, False, True]); [True, False]
(slice(None), np.array([True, False, True, False]))
([True, False, True], [0, 1]); A > 2; Ellipsis; (Ellipsis, 0); (Ellipsis, Ellipsis); None; "x"; 1.5; (0, 0, 0)
(np.int64(1), np.int32(2)); a > 2
(slice(None, None, 2), slice(None, None, -1)); (slice(2, 0, -1), 1); (1, [0, 2]); ([0, 2], 1); np.array([0, 2]); (0, slice(None, None, 2))
"""


@pytest.mark.parametrize("key", [e.strip() for e in INDICES.replace("\n", ";").split(";") if e.strip()])
@pytest.mark.parametrize(
    "name", ["csr_matrix", "csr_array", "csc_matrix", "csc_array", "lil_matrix", "lil_array", "dok_matrix", "dok_array"]
)
def test_indexing(xp, name, key):
    def run(library):
        a = getattr(library, name)(DENSE)
        return a[eval(key, {"a": a, "A": DENSE, "np": np})]

    got, want = outcome(run, sparse), outcome(run, ss)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert isinstance(want, Exception), got
        assert isinstance(got, IndexError) == isinstance(want, IndexError), (got, want)
        return
    assert ss.issparse(want) == sparse.issparse(got)
    got, want = dense(got), dense(want)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


STATEMENTS = """
a[0, 1] = 5; a[0, 1] = 0; a[2] = 1; a[:, 3] = 2; a[1:3, 2:4] = 7; a[[0, 2], [1, 3]] = [8, 9]; a[[0, 0], [1, 1]] = [8, 9]
a[0] = np.arange(4)
a[:, 0] = np.arange(3); a[:, 0] = np.arange(3)[:, None]; a[0:1] = a[2:3]; a[0:2, 0:2] = sx.csr_matrix([[1, 0], [0, 2.0]]); a[[0, 1]] = 0
a[A > 2] = 1
a[[[0], [1]], [1, 2]] = [[1, 2], [3, 4]]; a[-1, -1] = 3; a[9, 0] = 1; a[0] = [1, 2]; a[0, 0] = [1, 2]; a.setdiag(3); a.setdiag([1, 2, 3])
a.setdiag([1, 2], 1)
a.setdiag([1, 2], -1); a.setdiag(1, 9); a.resize(2, 3); a.resize((7, 8)); a[1] = sx.csr_matrix([[0, 1, 0, 2.0]])
a[:, 1:2] = sx.csc_matrix([[1], [0], [2.0]])
a[:] = 0; a[...] = 1; a[::2, ::-1] = 4; a[np.array([True, False, True])] = 5; a *= 2; a /= 2; a += a; a -= a; a[1, 1] += 4; a[0] = "x"
a[[]] = 1
"""


@pytest.mark.parametrize("statement", [e.strip() for e in STATEMENTS.replace("\n", ";").split(";") if e.strip()])
@pytest.mark.parametrize(
    "name", ["csr_matrix", "csr_array", "csc_matrix", "csc_array", "lil_matrix", "lil_array", "dok_matrix", "dok_array"]
)
def test_assignment(xp, name, statement):
    def run(library):
        names = {"a": getattr(library, name)(DENSE), "A": DENSE, "np": np, "sx": library}
        exec(statement, names)
        return dense(names["a"])

    assert_same(outcome(run, sparse), outcome(run, ss))


# ---- Functions --------------------------------------------------------------------------------------------------------------------------


def test_block_diag_keeps_every_element_of_arrays():
    def run(library):
        made = library.block_diag([np.eye(2), library.csr_array([[0, 1]]), [0, 3], np.empty((2, 0))])
        return made.nnz, made.row.tolist(), made.col.tolist(), made.data.tolist(), made.shape

    assert run(sparse) == run(ss)


def test_dense_forms_have_an_order():
    with pytest.raises(ValueError, match="order"):
        sparse.csr_array(np.eye(2)).toarray(order="X")

FUNCTIONS = """
sx.eye(3); sx.eye(3, 4, 1); sx.eye(3, 4, k=-2, dtype="i4", format="csr"); sx.eye_array(3, 4, k=-1); sx.identity(3, format="csc")
sx.eye(2, 2, 5)
sx.diags([1, 2, 3]); sx.diags([[1, 2, 3], [4, 5]], [0, 1]); sx.diags([1, -2, 1], [-1, 0, 1], shape=(4, 4))
sx.diags_array([[1, 2, 3], [4, 5]], offsets=[0, -1])
sx.diags([[1, 2], [3]], [0]); sx.diags([1, 2], [0]); sx.diags([[1, 2]], [9], shape=(2, 2)); sx.diags([[1.5, 2]], [1], dtype="F")
sx.spdiags([[1, 2, 3]], [1], 3, 3)
sx.vstack([a, a]); sx.hstack([a, a]); sx.vstack([a, a[:, :2]]); sx.hstack([a, a.tocoo()], format="csc"); sx.vstack([a, A])
sx.vstack([a, a], dtype="f4")
sx.bmat([[a, None], [None, a]]); sx.bmat([[a, None], [a, None]]); sx.bmat([[a], [a, a]]); sx.block_array([[a, a]]); sx.block_diag([a, a])
sx.block_diag([A, [[1]], 2])
sx.kron(a, a); sx.kron(a, A); sx.kron(a, sx.eye(3)); sx.kronsum(a[:, :3], a[:2, :2]); sx.kronsum(a, a); sx.tril(a); sx.triu(a, 1)
sx.tril(A, -1, format="csr")
sx.find(a); sx.permute_dims(a.tocoo()); sx.permute_dims(a.tocoo(), (0, 1)); sx.swapaxes(a.tocoo(), 0, -1); sx.swapaxes(a.tocoo(), 0, 5)
sx.issparse(a); sx.issparse(A); sx.isspmatrix(a); sx.isspmatrix_csr(a); sx.isspmatrix_coo(a); a.reshape(2, 6)
a.reshape((6, 2), order="F"); a.reshape(5, 5)
a.reshape(-1, 2); a.asformat("xyz"); a.tobsr((3, 2)); a.tobsr((2, 2)); a.copy(); a.todense(); a.toarray(order="F")
a.toarray(out=np.zeros((3, 4)))
sx.csr_array([1, 0, 3]) @ np.ones(3); sx.csr_array([1, 0, 3]) + sx.csr_array([1, 0, 3]); sx.csr_array([1, 0, 3])[1]
sx.csr_array([1, 0, 3])[1:]
sx.csr_array([1, 0, 3])[[0, 2]]; sx.csr_array([1, 0, 3]).sum(); sx.csr_array([1, 0, 3]) @ sx.csr_array([1, 0, 3])
sx.csr_array([1, 0, 3]).max()
sx.csr_array([1, 0, 3]).T; sx.csr_array([1, 0, 3]).tocoo(); sx.coo_array([1, 0, 3]).reshape(3, 1)
sx.csr_array([1, 0, 3]) @ sx.csr_array(A[:, :3])
"""


@pytest.mark.parametrize("expression", [e.strip() for e in FUNCTIONS.replace("\n", ";").split(";") if e.strip()])
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array"])
def test_functions(xp, kind, expression):
    compare(expression, kind)


@pytest.mark.parametrize("n", range(4))
def test_powers_of_matrices(xp, n):
    got, want = sparse.csr_matrix(SQUARE) ** n, ss.csr_matrix(SQUARE) ** n
    np.testing.assert_allclose(dense(got), dense(want))
    assert sparse.isspmatrix_csr(got)


def test_powers_that_are_not(xp):
    a = sparse.csr_matrix(SQUARE)
    with pytest.raises(ValueError, match="exponent must be an integer"):
        a**0.5
    with pytest.raises(ValueError, match="exponent must be >= 0"):
        a**-1
    with pytest.raises(TypeError, match="not square"):
        sparse.csr_matrix(DENSE) ** 2


def test_random_matrices(xp):
    for format in ("coo", "csr", "csc"):
        a = sparse.random(40, 30, density=0.2, format=format, rng=1)
        assert (a.format, a.shape, a.nnz) == (format, (40, 30), 240)
        values = dense(a.tocoo().data)
        assert ((0 <= values) & (values < 1)).all()
        np.testing.assert_array_equal(dense(a), dense(sparse.random(40, 30, density=0.2, format=format, rng=1)))
    b = sparse.random_array((50, 50), density=0.9, rng=2, dtype="i4", data_sampler=lambda size: np.arange(1, size + 1))
    assert b.nnz == 2250
    assert b.dtype == np.int32
    assert sparse.rand(5, 5, density=0).nnz == 0
    assert sparse.random(9, 9, density=0.3, dtype="D", rng=3).dtype == np.complex128
    with pytest.raises(ValueError, match="density"):
        sparse.random(3, 3, density=2)


@pytest.mark.parametrize("name", ["csr_matrix", "csc_array", "coo_matrix", "bsr_array", "dia_matrix"])
def test_files_are_scipys(xp, name):
    a = random_dense((5, 4), "f4")
    for writer, reader in ((sparse, ss), (ss, sparse), (sparse, sparse)):
        file = io.BytesIO()
        writer.save_npz(file, getattr(writer, name)(a))
        file.seek(0)
        read = reader.load_npz(file)
        assert type(read).__name__ == name
        assert read.dtype == np.float32
        np.testing.assert_array_equal(dense(read), a)
    with pytest.raises(NotImplementedError):
        sparse.save_npz(io.BytesIO(), sparse.lil_matrix((2, 2)))


@pytest.mark.parametrize("format", FORMATS)
def test_pickles_and_copies(xp, format):
    import copy

    a = getattr(sparse, f"{format}_array")(DENSE)
    for b in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a), a.copy(), a.to_device(a.device)):
        assert type(b) is type(a)
        np.testing.assert_array_equal(dense(b), DENSE)
    b = a.copy()
    if format not in ("dia", "bsr"):
        b[0, 0] = 9
        np.testing.assert_array_equal(dense(a), DENSE)


def test_dictionaries_and_lists(xp):
    d = sparse.dok_matrix((3, 3))
    d[0, 1] = 5
    assert (0, 1) in d
    assert (1, 1) not in d
    assert d.get((0, 1)) == 5
    assert d.get((2, 2), 7) == 7
    assert dict(d.items()) == {(0, 1): 5.0}
    assert list(d.keys()) == [(0, 1)]
    del d[0, 1]
    assert d.nnz == len(d) == 0
    assert d.setdefault((1, 1), 3) == 3
    assert d.pop((1, 1)) == 3
    assert d.pop((1, 1), 8) == 8
    d[2, 2] = 6
    assert d.popitem() == ((2, 2), 6)
    d[0, 0] = 1
    d.clear()
    assert d.nnz == 0
    np.testing.assert_array_equal(dense(sparse.dok_matrix.fromkeys([(0, 1), (1, 2)], 4)), [[0, 4, 0], [0, 0, 4]])
    np.testing.assert_array_equal(dense(sparse.lil_array(DENSE).getrow(1)), DENSE[1:2])
    rows = sparse.lil_matrix(DENSE)
    theirs = ss.lil_matrix(DENSE)
    assert [list(r) for r in rows.rows] == [list(r) for r in theirs.rows]
    rows.getrowview(1)[0, 0] = 4
    assert rows[1, 0] == 4


# ---- Products and sizes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, "i1", "u2", "f2"])
def test_products_in_every_dtype(xp, dtype):
    if dtype == "f2":
        a, b = random_dense((60, 50), "i4").astype("f2"), random_dense((50, 40), "i4", seed=1).astype("f2")
    else:
        a, b = random_dense((60, 50), "i4" if dtype in ("i1", "u2") else dtype).astype(dtype), random_dense((50, 40), "i4").astype(dtype)
    x, tolerance = b[:, 0], 1e-4 if dtype in ("f4", "F") else 1e-12
    for format in ("csr", "csc", "coo"):
        m, n = getattr(sparse, f"{format}_array")(xp.asarray(a)), getattr(sparse, f"{format}_array")(xp.asarray(b))
        for got, want in ((m @ xp.asarray(x), a @ x), (m @ xp.asarray(b), a @ b), (m @ n, a @ b), (xp.asarray(a[:, 0]) @ m, a[:, 0] @ a)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(dense(got), want, tolerance, tolerance)
        for got, want in ((m.multiply(m), a * a), (m + m, a + a)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(dense(got), want, tolerance, tolerance)


def test_products_that_are_shared_out_to_threads(xp):
    a = ss.random(5000, 3000, 0.004, format="csr", random_state=1)
    b = ss.random(3000, 4000, 0.003, format="csr", random_state=2)
    m, n = sparse.csr_matrix(a), sparse.csr_matrix(b)
    x, y = np.random.default_rng(3).random((3000, 5)), np.random.default_rng(4).random(5000)
    np.testing.assert_allclose(dense(m @ x), a @ x, 1e-12)
    np.testing.assert_allclose(dense(m @ x[:, 0]), a @ x[:, 0], 1e-12)
    np.testing.assert_allclose(dense(m.T @ y), a.T @ y, 1e-12)
    np.testing.assert_allclose(dense(y @ m.tocsc()), y @ a, 1e-12)
    product, want = m @ n, (a @ b).sorted_indices()
    for name in ("indices", "indptr"):
        np.testing.assert_array_equal(dense(getattr(product, name)), getattr(want, name))
    np.testing.assert_allclose(dense(product.data), want.data, 1e-12)
    for got, want in ((m.tocsc(), a.tocsc()), (m + m.multiply(m), a + a.multiply(a)), (m.tocoo().tocsr(), a), (m.T.tocsr(), a.T.tocsr())):
        want.sort_indices()
        for name in ("indices", "indptr", "data"):
            np.testing.assert_array_equal(dense(getattr(got, name)), getattr(want, name))


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_cuda_is_made_of_gives_the_same(xp, dtype, index):
    a, b = random_dense((30, 20), dtype), random_dense((20, 25), dtype, seed=1)
    same = random_dense((30, 20), dtype, seed=2)
    parts = lambda m: tuple(xp.asarray(p if k == 0 else p.astype(index)) for k, p in enumerate((m.data, m.indices, m.indptr)))  # noqa: E731
    (da, ia, pa), (db, ib, pb), (dc, ic, pc) = (parts(ss.csr_array(m)) for m in (a, b, same))
    c = bc._broadcloth
    x = xp.asarray(b[:, :3])
    for composed in (False, True):
        np.testing.assert_allclose(dense(c.sparse_product(da, ia, pa, 20, x, False, composed)), a @ b[:, :3], 1e-4)
        back = xp.asarray(random_dense((30, 2), dtype, seed=3))
        np.testing.assert_allclose(dense(c.sparse_product(da, ia, pa, 20, back, True, composed)), a.T @ dense(back), 1e-4, 1e-5)
        indptr, order = c.sparse_group(ia, 20, composed)
        np.testing.assert_array_equal(dense(order), np.argsort(dense(ia), kind="stable"))
        np.testing.assert_array_equal(dense(indptr), np.searchsorted(np.sort(dense(ia)), np.arange(21)))
        np.testing.assert_array_equal(dense(c.sparse_expand(pa, da.size, composed)), np.repeat(np.arange(30), np.diff(dense(pa))))
        of_a, of_c, indices, starts = map(dense, c.sparse_union(da, ia, pa, dc, ic, pc, 20, composed))
        union = ss.csr_array((a != 0) | (same != 0))
        np.testing.assert_array_equal(indices, union.indices)
        np.testing.assert_array_equal(starts, union.indptr)
        rows = np.repeat(np.arange(30), np.diff(starts))
        np.testing.assert_array_equal(of_a, a[rows, indices])
        np.testing.assert_array_equal(of_c, same[rows, indices])
        data, indices, starts = map(dense, c.sparse_matmul(da, ia, pa, 20, db, ib, pb, 25, composed))
        np.testing.assert_allclose(ss.csr_array((data, indices, starts), shape=(30, 25)).toarray(), a @ b, 1e-4, 1e-5)
        want = ss.csr_array(a != 0).astype(int) @ ss.csr_array(b != 0).astype(int)  # sums that are zero have a place too
        want.sort_indices()
        np.testing.assert_array_equal(indices, want.indices)
        assert {x.dtype for x in (indices, starts)} == {np.dtype(index)}
        data, indices, starts = map(dense, c.sparse_transpose(da, ia, pa, 20, composed))
        want = ss.csr_array(a.T)
        for got, expected in ((data, want.data), (indices, want.indices), (starts, want.indptr)):
            np.testing.assert_array_equal(got, expected)
        assert {x.dtype for x in (indices, starts)} == {np.dtype(index)}
        for subtract in (False, True) if dtype != "?" else (False,):
            data, indices, starts = map(dense, c.sparse_add(da, ia, pa, dc, ic, pc, 20, subtract, composed))
            want = ss.csr_array(a - same if subtract else a + same)
            for got, expected in ((data, want.data), (indices, want.indices), (starts, want.indptr)):
                np.testing.assert_array_equal(got, expected)
            assert {x.dtype for x in (indices, starts)} == {np.dtype(index)}


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("dtype", [*DTYPES, "i1", "u2"])
def test_selections_are_the_same_from_bodies_and_from_what_cuda_is_made_of(xp, dtype, index):
    a = random_dense((40, 30), dtype)
    a[3] = 0
    a[39] = 0
    m = ss.csr_array(a)
    rng = np.random.default_rng(0)
    data, indices, indptr = xp.asarray(m.data), xp.asarray(m.indices.astype(index)), xp.asarray(m.indptr.astype(index))
    c = bc._broadcloth
    rows, columns = rng.integers(40, size=50), rng.integers(30, size=50)
    mask = rng.random(m.nnz) < 0.5
    for composed in (False, True):
        parts = map(dense, c.sparse_take(data, indices, indptr, 30, xp.asarray(rows), composed))
        for got, want in zip(parts, (m[rows].data, m[rows].indices, m[rows].indptr), strict=True):
            np.testing.assert_array_equal(got, want)
        for chosen in (mask, mask & False, mask | True):
            parts = map(dense, c.sparse_keep(data, indices, indptr, 30, xp.asarray(chosen), composed))
            counts = np.concatenate([[0], np.cumsum(chosen)])[m.indptr]
            for got, want in zip(parts, (m.data[chosen], m.indices[chosen], counts), strict=True):
                np.testing.assert_array_equal(got, want)
        got = c.sparse_lookup(data, indices, indptr, 30, xp.asarray(rows), xp.asarray(columns), composed)
        np.testing.assert_array_equal(dense(got), a[rows, columns])
        place = dense(c.sparse_places(indices, indptr, 30, xp.asarray(rows), xp.asarray(columns), composed))
        np.testing.assert_array_equal(place >= 0, a[rows, columns] != 0)
        np.testing.assert_array_equal(m.data[place[place >= 0]], a[rows, columns][place >= 0])
        got = c.sparse_pointers(xp.asarray(np.repeat(np.arange(40), np.diff(m.indptr)).astype(index)), 40, composed)
        np.testing.assert_array_equal(dense(got), m.indptr)
        assert got.dtype == index


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [None, 1, 3, 11])
def test_products_of_all_formats_are_the_same_from_bodies_and_from_what_cuda_is_made_of(xp, dtype, width):
    rng = np.random.default_rng(0)
    c = bc._broadcloth
    a = random_dense((24, 36), dtype)
    x, back = (random_dense((n,) if width is None else (n, width), dtype, seed=n) for n in (36, 24))
    coo, bsr = ss.coo_array(a), ss.bsr_array(ss.csr_array(a), blocksize=(3, 4))
    order = rng.permutation(coo.nnz)
    elements = [xp.asarray(p[order]) for p in (coo.data, *coo.coords)]
    blocks = [xp.asarray(p) for p in (bsr.data, bsr.indices, bsr.indptr)]
    offsets = np.array([-23, -3, 0, 2, 30])
    diagonals = random_dense((5, 33), dtype, seed=7)
    by_diagonals = ss.dia_array((diagonals, offsets), shape=(24, 36)).toarray()
    for composed in (False, True):
        expanded = c.sparse_block_rows(*blocks, 9, composed)
        for got, want in zip(expanded, (bsr.tocsr().data, bsr.tocsr().indices, bsr.tocsr().indptr), strict=True):
            np.testing.assert_array_equal(dense(got), want)
        close = lambda got, want: np.testing.assert_allclose(dense(got), want, 1e-4, 1e-4)
        close(c.sparse_coordinate_product(*elements, xp.asarray(x), 24, composed), a @ x)
        close(c.sparse_block_product(*blocks, 9, xp.asarray(x), composed), a @ x)
        close(c.sparse_diagonal_product(xp.asarray(diagonals), xp.asarray(offsets), xp.asarray(x), 24, False, composed), by_diagonals @ x)
        got = c.sparse_diagonal_product(xp.asarray(diagonals), xp.asarray(offsets), xp.asarray(back), 36, True, composed)
        close(got, by_diagonals.T @ back)


def test_products_of_diagonals_take_no_elements_from_outside(xp):
    m = sparse.dia_array((xp.asarray(np.ones((2, 4))), [1, -1]), shape=(4, 4))
    x = xp.asarray(np.array([np.inf, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(dense(m @ x), [1, np.inf, 4, 2])


def test_products_of_all_formats_have_derivatives(xp):
    a = random_dense((6, 6), "d")
    for format in ("coo", "bsr", "dia"):
        m = sparse.csr_array(xp.asarray(a)).asformat(format)
        x = xp.asarray(np.arange(6.0))
        x.requires_grad = True
        (m @ x).sum().backward()
        np.testing.assert_allclose(dense(x.grad), a.sum(0), 1e-12)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_stacks_of_compressed_matrices_keep_their_format_and_order(xp, format):
    parts = [ss.random_array((20, 20), density=0.1, format=format, rng=k, dtype=t) for k, t in enumerate(("f4", "f8", "f4"))]
    ours = [getattr(sparse, format + "_array")(p) for p in parts]
    for stack in ("vstack", "hstack"):
        got, want = getattr(sparse, stack)(ours), getattr(ss, stack)(parts)
        assert_same(got, want)
        np.testing.assert_array_equal(dense(got), want.toarray())
    grid = lambda p: [[p[0], p[1]], [p[2], p[0]]]  # noqa: E731
    got, want = sparse.block_array(grid(ours), format=format), ss.block_array(grid(parts), format=format)
    assert got.has_canonical_format
    np.testing.assert_array_equal(dense(got.data), want.sorted_indices().data)
    np.testing.assert_array_equal(dense(got.indices), want.sorted_indices().indices)


@pytest.mark.parametrize("dtype", ["d", "f", "D", "i8", "u2", "?"])
def test_random_matrices_are_scipys_for_a_seed(dtype):
    for format in ("coo", "csr"):
        got, want = (m.random_array((30, 40), density=0.1, format=format, rng=5, dtype=dtype) for m in (sparse, ss))
        np.testing.assert_array_equal(dense(got), want.toarray())
    got, want = (m.random(30, 40, density=0.1, rng=np.random.default_rng(3)) for m in (sparse, ss))
    np.testing.assert_array_equal(dense(got), want.toarray())
    got, want = (m.random_array((5, 6), density=0.5, rng=1, data_sampler=lambda size: np.arange(size)) for m in (sparse, ss))
    np.testing.assert_array_equal(dense(got), want.toarray())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [-7, -2, 0, 3, 9])
def test_identities_of_every_format(kind, k):
    eye = "eye_array" if kind == "array" else "eye"
    for format in ("csr", "csc", "coo"):
        assert_same_as_scipy(lambda m, format=format: getattr(m, eye)(5, 8, k=k, format=format))


def assert_same_as_scipy(run):
    got, want = outcome(run, sparse), outcome(run, ss)
    assert_same(got, want)
    if ss.issparse(want):
        np.testing.assert_array_equal(dense(got), want.toarray())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "key",
    [
        (slice(2, 9, 3),), ([1, 4, 4],), (2,), (slice(None), [3, 1]), (slice(1, 8), slice(2, 5)), (3, slice(1, None)), (slice(None), 2),
        ([0, 5], 3), (slice(None, None, -1),), (np.arange(12) % 3 == 0,), ([[1], [7]], [0, 3]), ([2, 3], [4, 0]),
    ],
)  # fmt: skip
def test_parts_of_lists_of_lists(kind, key):
    a = random_dense((12, 7), "d")
    assert_same_as_scipy(lambda m: getattr(m, "lil_" + kind)(a)[key if len(key) > 1 else key[0]])


@pytest.mark.parametrize("format", ["lil", "dok"])
@pytest.mark.parametrize(
    "key, value",
    [
        ((2,), np.arange(7.0)), ((slice(1, 9, 2), slice(2, 5)), 3.5), (([1, 1, 5], [2, 2, 0]), [1.0, 2.0, 3.0]), ((slice(None), 3), 0.0),
        ((3, slice(None)), [[0, 1, 0, 2, 0, 0, 3]]), ((slice(2, 4),), np.zeros((2, 7))), ((-1, -2), 5.0), ((4, 4), 0), ((12, 0), 1.0),
        ((slice(0, 12), [5]), np.arange(12.0)[:, None]), ((0, 0), [1, 2]), ((slice(0, 2), slice(0, 3)), ss.coo_array(np.eye(2, 3))),
        ((2,), 4.5), ((-3, slice(2, 6)), 0), ((1, slice(None, 3)), np.array([0.0, 2.0, 0.0])), ((5, slice(1, 4)), np.arange(7.0)),
        ((3, slice(6, 2, -2)), np.array([1.0, 2.0])), ((slice(None), -1), 2.0), (([9, 9, 9], [6, 1, 6]), [4.0, 0.0, 0.0]),
        ((slice(None), [6, 0, 3]), np.arange(36.0).reshape(12, 3) % 2), ((0, slice(4, 4)), 1.0), ((2, slice(0, 2)), True),
    ],
)  # fmt: skip
def test_assignments_to_matrices_that_are_put_together(format, key, value):
    a = random_dense((12, 7), "d")

    def run(m):
        made = getattr(m, format + "_array")(a)
        made[key if len(key) > 1 else key[0]] = value
        return made

    assert_same_as_scipy(run)


@pytest.mark.parametrize("dtype", [*DTYPES, "i2", "u8", "f2"])
def test_lists_of_any_numbers_become_rows(dtype):
    made = sparse.lil_array((3, 4), dtype=dtype)
    made[0, 1], made[2, 3] = 1, np.float32(2)
    made.rows[1], made.data[1] = [0, 2], [True, np.int8(1)]
    want = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 2]]).astype(dtype)
    got = made.tocsr()
    assert got.dtype == dtype
    np.testing.assert_array_equal(dense(got), want)
    np.testing.assert_array_equal(dense(made.copy()), want)
    made.rows[1] = [0, 9]
    with pytest.raises(ValueError, match="must be < 4"):
        made.tocsr()


def test_lists_that_are_no_lists_of_whole_numbers_are_refused():
    # 48 rows, so that fewer places than a twentieth of them are not put by one call.
    made = sparse.lil_array((48, 4))
    made.rows[1], made.data[1] = ["a"], [1.0]
    made.rows[2], made.data[2] = (0,), (1.0,)
    for key in (([1, 3, 4], [0, 1, 2]), ([2, 3, 4], [0, 1, 2])):
        with pytest.raises(TypeError):
            made[key] = 5.0
    made.rows[1], made.data[1] = [np.int64(2)], [1.0]
    made[[1, 1, 0], [2, 3, 3]] = [7.0, 8.0, 9.0]
    assert (made.rows[1], made.data[1]) == ([2, 3], [7.0, 8.0])


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (6, 6), (1, 4)])
def test_diagonals_times_dense_operands_stay_diagonals(xp, shape):
    rng = np.random.default_rng(3)
    m, n = shape
    theirs = ss.dia_array((rng.standard_normal((4, n + 2)), [-2, 0, 1, 3]), shape=shape)
    ours = sparse.dia_array(theirs)
    with np.errstate(all="ignore"):
        for other in (rng.standard_normal(shape), rng.standard_normal((1, n)), rng.standard_normal((m, 1)), rng.standard_normal(n),
                      np.full(shape, np.nan), np.arange(m * n).reshape(shape), np.ones(shape, complex)):  # fmt: skip
            for got, want in ((ours.multiply(xp.asarray(other)), theirs.multiply(other)), (ours / other, theirs / other)):
                np.testing.assert_allclose(dense(got), want.toarray(), rtol=1e-15)
                assert got.dtype == want.dtype and got.format == "dia"
    with pytest.raises(ValueError):
        ours.multiply(np.ones((m + 1, n + 3)))


def test_assignments_to_compressed_rows_keep_other_elements(xp):
    a = ss.random_array((50, 40), density=0.1, format="csr", rng=1)
    m, want = sparse.csr_array(a), a.toarray()
    other = m.tocoo()
    i, j = a.nonzero()
    rng = np.random.default_rng(0)
    for rows, columns in ((i[::3], j[::3]), (rng.integers(50, size=60), rng.integers(40, size=60)), ([3, 3], [5, 5])):
        values = rng.standard_normal(len(rows))
        m[rows, columns] = values
        want[rows, columns] = values
        np.testing.assert_array_equal(dense(m), want)
        assert m.has_canonical_format
    np.testing.assert_array_equal(dense(other), a.toarray())


@pytest.mark.parametrize("dtype", [*DTYPES, "i2", "f2"])
def test_new_elements_keep_their_bits(dtype):
    m = sparse.csr_array((3, 4), dtype=dtype)
    m[1, 2] = -0.0 if np.dtype(dtype).kind in "fc" else 1
    m[[2, 0, 2], [3, 0, 3]] = np.array([1, 0, 2])
    assert m.nnz == 3
    want = np.zeros((3, 4), dtype)
    want[1, 2], want[2, 3] = -0.0 if np.dtype(dtype).kind in "fc" else 1, 2
    np.testing.assert_array_equal(dense(m), want)
    if np.dtype(dtype).kind == "f":
        assert np.signbit(dense(m)[1, 2])


def test_coordinates_of_a_matrix_are_a_copy(xp):
    m = sparse.csr_array(xp.asarray(DENSE))
    coo = m.tocoo()
    m.data[:] = 7
    np.testing.assert_array_equal(dense(coo), DENSE)
    back = coo.tocsr()
    coo.data[:] = 8
    np.testing.assert_array_equal(dense(back), DENSE)


def test_diagonals_and_blocks_become_rows_in_order(xp):
    data = np.array([[1.0, 2, 3, 4, 5], [6, 0, 7, 8, 9], [1, 1, 1, 1, 1]])
    for shape in ((5, 5), (3, 5), (6, 4), (4, 7)):
        want = ss.dia_array((data, [1, -2, 0]), shape=shape)
        got = sparse.dia_array((xp.asarray(data), [1, -2, 0]), shape=shape).tocsr()
        assert got.has_canonical_format
        np.testing.assert_array_equal(dense(got), want.toarray())
        np.testing.assert_array_equal(dense(got.indices), want.tocoo().tocsr().sorted_indices().indices)
    a = ss.random_array((20, 12), density=0.3, format="csr", rng=1).tobsr(blocksize=(5, 3))
    got = sparse.bsr_array(a).tocsr()
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(dense(getattr(got, name)), getattr(a.tocsr(), name))


def test_extremes_of_rows_with_and_without_elements(xp):
    a = np.array([[0, 0, 0], [1, 2, 3], [-1, 0, -2], [0, 0, 0], [-3, -2, -1], [np.nan, 1, 0], [0, 0, 0.0]])
    for m in (a, a[1:-1], a[4:5], a[:5]):
        for name in ("max", "min", "nanmax", "nanmin", "argmax", "argmin"):
            for axis in (None, 0, 1):
                if "arg" in name and np.isnan(m).any():
                    continue
                assert_same_as_scipy(lambda lib, m=m, name=name, axis=axis: getattr(lib.csr_array(m), name)(axis=axis))


def test_products_of_sparse_matrices_of_many_shared_places(xp):
    # More multiplications than twice the product's elements, and pieces of rows that are moved together.
    a = ss.random_array((300, 200), density=0.3, format="csr", rng=1)
    b = ss.random_array((200, 100), density=0.3, format="csr", rng=2)
    for x, y in ((a, b), (b.T.tocsr(), a.T.tocsr()), (a[:0], b), (a, b[:, :0])):
        got = sparse.csr_array(x) @ sparse.csr_array(y)
        assert got.has_canonical_format
        np.testing.assert_allclose(dense(got), (x @ y).toarray(), 1e-12)


def test_sums_in_every_piece_are_moved_together(xp):
    # Enough elements for several pieces of rows; places are shared, cancel, or are one operand's alone, and rows are empty.
    a = ss.random_array((3000, 500), density=0.05, format="csr", rng=1)
    b = ss.random_array((3000, 500), density=0.05, format="csr", rng=2)
    shared = (a - a.multiply(a > 0.5)).tocsr()
    m, n = sparse.csr_array(a), sparse.csr_array(shared)
    for got, want in ((m - n, a - shared), (m + sparse.csr_array(b), a + b), (m - m, a - a), (m.tocsc() + n.tocsc(), (a + shared).tocsc())):
        want.eliminate_zeros()
        want.sort_indices()
        for name in ("indices", "indptr", "data"):
            np.testing.assert_array_equal(dense(getattr(got, name)), getattr(want, name))


def test_narrow_integers_wrap_in_sums_and_zeros_are_dropped(xp):
    a = sparse.csr_array(xp.asarray(np.array([[100, 1, -128]], np.int8)))
    got = a + a
    assert got.dtype == np.int8
    np.testing.assert_array_equal(dense(got.data), np.array([-56, 2], np.int8))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_products_by_vectors_have_rows_of_every_length(xp, dtype, index):
    # Rows of 0 to 70 elements: shorter and longer than the vectors that they are computed by; and matrices of every width.
    lengths = np.arange(71)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    rng = np.random.default_rng(1)
    indices = np.concatenate([np.sort(rng.choice(97, n, replace=False)) for n in lengths]).astype(index)
    data = rng.standard_normal(indices.size).astype(dtype)
    want = ss.csr_array((data, indices, indptr), shape=(71, 97)).toarray().astype("f8")
    for width in (None, 1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 65, 130):
        x = rng.standard_normal(97 if width is None else (97, width)).astype(dtype)
        got = dense(bc._broadcloth.sparse_product(*map(xp.asarray, (data, indices, indptr)), 97, xp.asarray(x)))
        bound = 100 * np.finfo(dtype).eps * (abs(want) @ abs(x)) + 1e-30
        assert got.dtype == dtype
        assert (abs(got - want @ x.astype("f8")) <= bound).all()


def test_indices_are_int64_where_they_must_be(xp):
    wide = sparse.coo_matrix((np.ones(2), ([0, 1], [0, 2**40])), shape=(2, 2**40 + 1))
    assert wide.col.dtype == np.int64
    assert wide.tocsr().indices.dtype == np.int64
    np.testing.assert_array_equal(dense((wide + wide).data), [2, 2])
    assert dense(wide.tocsr()[1, 2**40]) == 1
    assert wide.tocsr()[:, 2**40 - 5 :].shape == (2, 6)


# ---- Other libraries --------------------------------------------------------------------------------------------------------------------


def test_operands_of_scipy_numpy_and_ours_meet(xp):
    ours, theirs = sparse.csr_matrix(DENSE), ss.csr_matrix(DENSE)
    for got in (ours + theirs, ours.multiply(2), ours - (-theirs)):
        assert sparse.issparse(got)
        np.testing.assert_array_equal(dense(got), 2 * DENSE)
    np.testing.assert_array_equal(dense(ours @ theirs.T), DENSE @ DENSE.T)
    x = np.arange(4.0)
    for operand in (x, xp.asarray(x), x.tolist()):
        np.testing.assert_array_equal(dense(ours @ operand), DENSE @ x)
    for left in (np.arange(3.0), xp.arange(3.0)):
        got = left @ ours
        assert isinstance(got, bc.ndarray)
        np.testing.assert_array_equal(dense(got), np.arange(3.0) @ DENSE)
        np.testing.assert_array_equal(dense(left * ours), np.arange(3.0) @ DENSE)
    for other in (DENSE, xp.asarray(DENSE)):
        for got in (ours + other, other + ours):
            assert isinstance(got, bc.ndarray)
            np.testing.assert_array_equal(dense(got), 2 * DENSE)
        np.testing.assert_array_equal(dense(other * sparse.csr_array(DENSE)), DENSE * DENSE)
        np.testing.assert_array_equal(dense(other - ours), 0 * DENSE)
        np.testing.assert_array_equal(dense(other == ours), DENSE == DENSE)


def test_the_dtype_of_indices(xp):
    for arguments in (
        ((), None),
        ((), 2**40),
        ((np.ones(3, "i4"),), 5),
        ((np.ones(3, "i8"),), 5),
        ((np.ones(3, "i8"),), 5, True),
        ((np.array([2**40]),), 5, True),
    ):
        assert sparse.get_index_dtype(*arguments) == ss.get_index_dtype(*arguments)


def test_warnings_of_what_is_slow(xp):
    a = sparse.csr_matrix(DENSE)
    with pytest.warns(sparse.SparseEfficiencyWarning):
        a[0, 1] = 4
    with pytest.warns(sparse.SparseEfficiencyWarning):
        _ = a == 0


def test_cupyx_has_the_same_classes(xp):
    from broadcloth.cupyx.scipy import sparse as theirs

    assert theirs.csr_matrix is sparse.csr_matrix


# ---- Derivatives ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "D"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_products_have_derivatives(xp, format, dtype):
    a, x, y = random_dense((5, 4), dtype), random_dense((4, 3), dtype, 1), random_dense((5,), dtype, 1)
    made = getattr(sparse, f"{format}_array")(xp.asarray(a))
    coo = made.tocoo()
    row, col = dense(coo.row), dense(coo.col)
    for product, right, weight in (
        (lambda m, x: m @ x, x, random_dense((5, 3), dtype, 1, seed=5)),
        (lambda m, x: m @ x, x[:, 0], random_dense((5,), dtype, 1, seed=5)),
        (lambda m, x: x @ m, y, random_dense((4,), dtype, 1, seed=5)),
    ):
        operand = xp.asarray(right.copy())
        operand.requires_grad = True
        values = made.data.copy()
        values.requires_grad = True
        matrix = made._with_data(values) if format == "coo" else made._mapped(lambda _, values=values: values)
        got = product(matrix, operand)
        loss = (got * xp.asarray(weight.conj())).sum().real
        loss.backward()
        # The gradient of Re <w, A x> is w x^H for A and A^H w for x, in the elements' convention.
        if right.ndim == 1 and right.size == 5:
            of_a, of_x = np.outer(right.conj(), weight), a.conj() @ weight
        else:
            of_a = weight @ right.conj().T if right.ndim == 2 else np.outer(weight, right.conj())
            of_x = a.conj().T @ weight
        np.testing.assert_allclose(dense(operand.grad), of_x, 1e-10, 1e-12)
        np.testing.assert_allclose(dense(values.grad), of_a[row, col], 1e-10, 1e-12)


def test_products_of_two_sparse_matrices_have_derivatives(xp):
    a, b = sparse.csr_array(DENSE), sparse.csr_array(random_dense((DENSE.shape[1], 7), "f8"))
    weight = np.random.default_rng(2).standard_normal((DENSE.shape[0], 7))
    a.data.requires_grad = True
    ((a @ b).toarray() * xp.asarray(weight)).sum().backward()
    rows, columns = ss.csr_array(DENSE).nonzero()
    np.testing.assert_allclose(dense(a.data.grad), (weight @ dense(b.toarray()).T)[rows, columns], 1e-10, 1e-12)


@pytest.mark.parametrize("name", ["csc_array", "bsr_array", "dia_array", "lil_array"])
def test_arrays_of_two_dimensions_refuse_vectors(device, name):
    kind = getattr(sparse, name)
    for a in ([1, 2, 3], np.ones(3), bc.ones((2, 2, 2))):
        with pytest.raises(ValueError, match="arrays don't support [13]D"):
            kind(a)
    assert getattr(sparse, name.replace("array", "matrix"))([1, 2, 3]).shape == (1, 3)


def test_dense_values_make_rows_that_are_longer(device):
    values = np.array([[1, 0], [0, 2]])
    for name, shape in (("csr_array", (2, 4)), ("csc_array", (4, 2)), ("csr_matrix", (2, 4))):
        made = getattr(sparse, name)(values, shape=shape)
        np.testing.assert_array_equal(dense(made), getattr(ss, name)(values, shape=shape).toarray())
        for other in (shape[::-1], (1, 2), (2, 1), (8, 1)):
            with pytest.raises(ValueError, match="inconsistent shapes"):
                getattr(sparse, name)(values, shape=other)


def test_dense_factors_of_other_shapes_are_refused_by_name(device):
    a = sparse.csr_array(bc.ones((3, 4)))
    for other in (bc.ones(3), bc.ones((2, 3, 4))):
        with pytest.raises(ValueError, match="inconsistent shapes"):
            a.multiply(other)


def test_indices_that_were_written_in_place_are_looked_at_again(device):
    a = sparse.csr_array(bc.asarray([[1.0, 2.0], [0.0, 3.0]]))
    assert a.has_canonical_format
    a.indices[0] = 1
    a.has_canonical_format = False
    assert a.toarray().tolist() == [[0, 3], [0, 3]] and not a.has_canonical_format
    a.has_sorted_indices = False
    assert a.has_sorted_indices


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_keys_with_new_axes_masks_and_index_arrays(device, format, kind):
    values = np.arange(50.0).reshape(5, 10)
    name = f"{format}_{kind}"
    a, want = getattr(sparse, name)(bc.asarray(values)), getattr(ss, name)(values)
    mask = np.zeros((5, 10), bool)
    mask[1:3, 4:] = True
    keys = [
        (1, [[1, 3]]), ([[0, 1]], 3), (1, [[-1, -3]]), (mask, ...), (..., mask), (mask.tolist(), ...),
        ([True, False, True, False, True], ...), (..., [False] * 5 + [True] * 5),
    ]  # fmt: skip
    if kind == "array":
        keys += [(None, 1, slice(2, 4)), (None, 1), (1, None), (None, 1, slice(None)), (1, None, slice(None)), (1, slice(None), None),
                 (None, slice(1, 3), 2), (slice(1, 3), None, 2), (None, 1, 2, None), (None, 0, ...), (..., 0, None)]  # fmt: skip
    for key in keys:
        got, wanted = a[key], want[key]
        assert got.shape == wanted.shape, key
        np.testing.assert_array_equal(dense(got), dense(wanted), err_msg=str(key))
    for key, error in (((None, slice(None), slice(None)), IndexError), (([True] * 6, slice(None)), IndexError)):
        with pytest.raises(error):
            a[key]
    with pytest.raises(TypeError):
        a[0, 0] = 3j


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_forms_and_dtypes_of_methods_are_those_of_scipy(device, kind, format):
    name = f"{format}_{kind}"
    make, reference = getattr(sparse, name), getattr(ss, name)
    a, want = make(bc.asarray(SQUARE)), reference(SQUARE)
    assert a.reshape((3, 3)) is a and a.reshape(3, -1) is a and a.reshape((3, 3), copy=True) is not a
    for dense_form in ("array", "dense"):
        np.testing.assert_array_equal(dense(a.asformat(dense_form)), SQUARE)
    for axes in (0, (0,), (1, 1)):
        with pytest.raises(ValueError):
            a.transpose(axes=axes)
    with pytest.raises(ValueError, match="inconsistent shapes"):
        a + np.ones((2, 2))
    with pytest.raises(ValueError, match="output parameter"):
        a.sum(axis=0, out=np.zeros((5, 5)))
    for dtype in ("?", "i4", "i8", "f4", "f8"):
        b, wanted = make(bc.asarray(SQUARE).astype(dtype)), reference(SQUARE.astype(dtype))
        for number in (np.int8(1), np.int8(-1), np.float64(1), 1, -1):
            for method in ("maximum", "minimum"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    got, of = getattr(b, method)(number), getattr(wanted, method)(number)
                assert got.dtype == of.dtype, (dtype, number)
                np.testing.assert_array_equal(dense(got), dense(of))
    assert make[int] and want is not None


def test_large_integers_of_lists_keep_their_digits(device):
    a = sparse.coo_array(([2**63 + 1, 1], ([0, 1], [0, 1])), dtype=np.uint64)
    assert a.toarray().tolist() == [[2**63 + 1, 0], [0, 1]]


def test_explicit_extremes_of_nothing(device):
    for name in ("argmin", "argmax"):
        with pytest.raises(ValueError, match="Cannot apply"):
            getattr(sparse.csr_array((2, 2)), name)(explicit=True)


def test_lists_are_values_and_tuples_are_shapes(device):
    for name in ("csr_array", "coo_array", "csr_matrix", "coo_matrix", "csc_matrix"):
        made, want = getattr(sparse, name)([3, 4]), getattr(ss, name)([3, 4])
        assert made.shape == want.shape
        np.testing.assert_array_equal(dense(made), want.toarray())
        assert getattr(sparse, name)((3, 4)).shape == (3, 4)


def test_eyes_end_beside_the_corner(device):
    for m, n, k in ((3, 3, 3), (3, 3, -3), (3, 5, 5), (3, 5, -3), (3, 3, 2)):
        np.testing.assert_array_equal(dense(sparse.eye(m, n, k)), np.eye(m, n, k))
    for k in (-4, 6):
        with pytest.raises(ValueError, match="out of bounds"):
            sparse.eye(3, 5, k)


def test_vectors_have_kronecker_products(device):
    a, b = np.array([1, 0, 2]), np.array([[0, 3], [4, 5]])
    for x, y in ((a, a), (a, b), (b, a)):
        got = sparse.kron(sparse.coo_array(x), sparse.coo_array(y), format="coo")
        np.testing.assert_array_equal(dense(got), np.kron(x, y))


def test_pointers_of_another_dtype_than_indices(device):
    for name in ("csr_array", "csc_array"):
        a = getattr(sparse, name)(bc.asarray(SQUARE))
        want = dense(a)
        for part in ("indices", "indptr"):
            b = a.copy()
            setattr(b, part, getattr(b, part).astype(np.int64))
            np.testing.assert_array_equal(dense(b[[1, 2], :]), want[[1, 2]])
            np.testing.assert_array_equal(dense(b[:, [1, 2]]), want[:, [1, 2]])
            np.testing.assert_array_equal((b @ bc.ones(3)).get(), want.sum(1))
            np.testing.assert_array_equal(dense(b + a), 2 * want)


def index_of_axis(rng, n):
    """An index of one axis of n places: a number, a slice, numbers, a mask or a permutation."""
    start, stop = rng.integers(-n - 1, n + 2, 2).tolist()
    return [
        int(rng.integers(-n, n)), slice(None), slice(start, stop), slice(None, None, int(rng.choice([-2, -1, 2, 3]))),
        rng.integers(-n, n, 3), rng.random(n) < 0.4, rng.permutation(n),
    ][rng.integers(7)]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["dok", "lil"])
def test_parts_of_matrices_that_are_put_together(format, kind):
    rng = np.random.default_rng(3)
    for trial in range(150):
        m, n = rng.integers(1, 7, 2)
        a = (rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.5)).astype(rng.choice(["f8", "i8", "D"]))
        key = [(index_of_axis(rng, m), index_of_axis(rng, n)), index_of_axis(rng, m), np.ix_(rng.permutation(m), [0, n - 1])][trial % 3]
        assert_same_as_scipy(lambda lib, a=a, key=key: getattr(lib, f"{format}_{kind}")(a)[key])


@pytest.mark.parametrize("format", ["dok", "lil"])
def test_a_matrix_made_of_one_of_the_same_format_shares_its_elements(format):
    make = getattr(sparse, format + "_array")
    a = make(SQUARE)
    shared, own, other = make(a), make(a, copy=True), make(a, dtype="f4")
    a[0, 1] = 7
    assert shared[0, 1] == 7 and own[0, 1] == 0 and other[0, 1] == 0 and other.dtype == np.float32


@pytest.mark.parametrize("name", ["__neg__", "__abs__", "__round__", "power", "real", "imag", "conj", "copy", "T", "sum"])
@pytest.mark.parametrize("format", ["dok", "lil"])
def test_methods_of_matrices_that_are_put_together(format, name):
    def run(lib):
        a = getattr(lib, format + "_array")(np.array([[1, 0, 2j], [0, 0, -3], [4, 5j, 6]]))
        found = getattr(a, name)
        return found(*([2] if name == "power" else [])) if callable(found) else found

    assert_same_as_scipy(run)


def test_lists_of_columns_that_no_int32_holds_are_refused():
    a = sparse.lil_array((2, 4))
    a.rows[0], a.data[0] = [2**32 + 1], [1.0]
    with pytest.raises(ValueError, match="must be < 4"):
        a.tocsr()


@pytest.mark.parametrize("dtype", DTYPES)
def test_forms_are_made_as_composed_ops_make_them(dtype):
    rng = np.random.default_rng(4)
    for trial in range(30):
        m, n = rng.integers(1, 12, 2)
        count = int(rng.integers(1, 40))
        row, column = (bc.asarray(rng.integers(0, k, count).astype(np.int32 if trial % 2 else np.int64)) for k in (m, n))
        data = bc.asarray(rng.integers(-2, 3, count).astype(dtype))
        made, composed = (_c.sparse_compress(data, row, column, m, n, composed=c) for c in (False, True))
        for x, y in zip(made, composed, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(dense(x), dense(y))
        indptr = bc.asarray(np.searchsorted(np.sort(dense(row)), np.arange(m + 1)).astype(row.dtype))
        for transposed in (False, True):
            found, wanted = (_c.sparse_dense(data, column, indptr, n, False, transposed, composed=c) for c in (False, True))
            np.testing.assert_array_equal(dense(found), dense(wanted))
        for strictly in (False, True):
            assert _c.sparse_is_sorted(column, indptr, n, strictly) == _c.sparse_is_sorted(column, indptr, n, strictly, composed=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_conversions_with_explicit_zeros_and_duplicates(format, dtype):
    rng = np.random.default_rng(5)
    for _ in range(6):
        m, n = 2 * rng.integers(1, 6, 2)
        places = rng.integers(0, m, 30), rng.integers(0, n, 30)
        data = rng.integers(-1, 2, 30).astype(dtype)

        def run(lib, data=data, places=places, m=m, n=n):
            a = lib.coo_array((data, places), shape=(m, n)).asformat(format)
            wide = a.tobsr(blocksize=(2, 2)), a.tobsr(), a.todia(), a.tocsc(), a.tocsr()
            return [*wide, a.diagonal(), a.diagonal(1), a.diagonal(-2), a.count_nonzero(), a.tocsr().count_nonzero(0), a.T.tocsr()]

        assert_same_as_scipy(run)


def test_sums_of_diagonals_stay_diagonals():
    a, b = (make(sparse) for make in [lambda lib: lib.dia_array(([[1, 2, 3], [4, 5, 6]], [0, 1]), shape=(3, 3))] * 2)
    whole = a.toarray()
    for got, want in ((a + b, 2 * whole), (a - b, 0 * whole), (a * b, whole**2), (a + b.T, whole + whole.T)):
        assert got.format == "dia"
        np.testing.assert_array_equal(dense(got), dense(want))
    assert int((a + b).sum()) == 2 * int(whole.sum())


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_diagonals(dtype):
    rng = np.random.default_rng(6)
    for _ in range(20):
        m, n, k = rng.integers(1, 9, 3)

        def diagonals(lib, rows, columns, seed):
            own = np.random.default_rng(seed)
            offsets = own.choice(np.arange(1 - rows, columns), min(3, rows + columns - 1), replace=False)
            data = own.integers(-2, 3, (offsets.size, own.integers(1, columns + 3))).astype(dtype)
            return lib.dia_array((data, offsets), shape=(rows, columns))

        seed = int(rng.integers(1000))
        a, b = diagonals(sparse, m, n, seed), diagonals(sparse, n, k, seed + 1)
        want = diagonals(ss, m, n, seed), diagonals(ss, n, k, seed + 1)
        # SciPy's own product of diagonals reads what lies outside of the matrices.
        got = a @ b
        np.testing.assert_array_equal(dense(got), want[0].toarray() @ want[1].toarray())
        assert got.dtype == np.dtype(dtype) and (a.nnz, b.nnz) == (want[0].nnz, want[1].nnz)


@pytest.mark.parametrize("blocksize", [(1, 1), (2, 3), (3, 2), (6, 4), (1, 4), (6, 1)])
def test_diagonals_of_matrices_of_blocks(xp, blocksize):
    a = np.random.default_rng(1).integers(-3, 4, (12, 12)).astype(float) * (np.random.default_rng(2).random((12, 12)) < 0.4)
    theirs = ss.bsr_array(a, blocksize=blocksize)
    # The blocks twice: what is stored for one place is added up.
    indptr = 2 * theirs.indptr
    twice = [np.concatenate([part[b:e]] * 2) if e > b else part[b:e] for part in (theirs.data, theirs.indices)
             for b, e in zip(theirs.indptr[:-1], theirs.indptr[1:], strict=True)]  # fmt: skip
    half = len(twice) // 2
    data, indices = np.concatenate(twice[:half]), np.concatenate(twice[half:])
    ours = xp.scipy.sparse.bsr_array((data, indices, indptr), shape=(12, 12))
    for k in range(-12, 13):
        np.testing.assert_array_equal(ours.diagonal(k).get(), 2 * np.diagonal(a, k) if abs(k) < 12 else np.zeros(0))
    assert float(ours.trace()) == 2 * np.trace(a)


def test_random_arrays_take_as_many_values_as_places():
    with pytest.raises(ValueError, match="same length"):
        sparse.random_array((4, 5), density=0.5, rng=1, data_sampler=lambda size: np.arange(3))
    vector = sparse.random_array((40,), density=0.5, rng=1)
    assert vector.shape == (40,) and (vector.toarray().get() == ss.random_array((40,), density=0.5, rng=1).toarray()).all()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil"])
@pytest.mark.parametrize(("t", "u"), [("f8", "f8"), ("f4", "f8"), ("D", "f4"), ("i8", "i8"), ("i4", "f8"), ("?", "f8")])
def test_sums_with_dense_matrices(format, t, u):
    rng = np.random.default_rng(0)
    a = (rng.random((5, 8)) < 0.4).astype(t) * (2 if t != "?" else True)
    for b in (rng.integers(0, 9, (5, 8)).astype(u), rng.integers(0, 9, (8, 5)).astype(u).T):
        dense = bc.asarray(b)
        s = getattr(sparse, format + "_array")(bc.asarray(a))
        for got, want in ((s + dense, a + b), (dense + s, b + a), (s - dense, a.astype("f8") - b if t == "?" else a - b)):
            np.testing.assert_array_equal(got.get(), want)
            assert got.dtype == want.dtype
        np.testing.assert_array_equal(dense.get(), b)
    twice = sparse.csr_array((bc.array([1.0, 2.0]), bc.array([1, 1]), bc.array([0, 2, 2])), shape=(2, 2))
    assert (twice + bc.ones((2, 2))).tolist() == [[1, 4], [1, 1]]
    assert (twice + bc.ones(2)).tolist() == [[1, 4], [1, 1]]


@pytest.mark.parametrize("format", ["lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_selections_that_repeat_places(format, kind):
    rng = np.random.default_rng(0)
    a = rng.random((9, 400)) * (rng.random((9, 400)) < 0.3)
    ours, theirs = getattr(sparse, f"{format}_{kind}")(bc.asarray(a)), getattr(ss, f"{format}_{kind}")(a)
    rows, columns = np.array([3, 1, 3, 8, 3]), np.array([399, 5, 5, 0, 399, 7, 5])
    keys = [(slice(None), columns), rows, np.ix_(rows, columns), (slice(None, None, -2), columns), (2, columns), (rows, slice(3, 300, 7)),
            (rows, 5), np.ix_(rows, np.arange(400)[::-1]), (slice(None), slice(None, None, -3)), np.ix_([-1, -1], [-2, 3])]  # fmt: skip
    for key in keys:
        got, want = ours[key], theirs[key]
        assert got.shape == want.shape and got.nnz == want.nnz
        np.testing.assert_array_equal(got.toarray().get(), want.toarray())


def test_lists_of_numbers_of_any_kind_become_rows():
    a = sparse.lil_array((3, 5))
    a.rows[0], a.data[0] = [np.int64(1), 3], [2, np.float32(4)]
    a.rows[2], a.data[2] = [4], [1.5]
    csr = a.tocsr()
    assert csr.indices.tolist() == [1, 3, 4] and csr.data.tolist() == [2, 4, 1.5] and csr.indices.dtype == np.int32
    for wrong, text in ((-1, ">= 0"), (5, "< 5"), (2**40, "< 5"), (-(2**40), ">= 0")):
        a.rows[0] = [1, wrong]
        with pytest.raises(ValueError, match=text):
            a.tocsr()


@pytest.mark.parametrize("t", ["f8", "D", "i4", "?"])
def test_extremes_of_coordinates(t):
    for values in ([3, -1, 2], [-3, -1, -2], [0, 0, -1], [2, 2, 2], [5, 0, 0]):
        data, row, column = np.array(values).astype(t), [1, 0, 1], [2, 1, 0]
        for shape in ((3, 3), (2, 3)):
            ours, theirs = (m.coo_array((data, (row, column)), shape=shape) for m in (sparse, ss))
            if t != "D":
                for name in ("max", "min", "nanmax", "nanmin"):
                    for explicit in (False, True):
                        got, want = getattr(ours, name)(explicit=explicit), getattr(theirs, name)(explicit=explicit)
                        assert got == want and got.dtype == np.asarray(want).dtype
                for name in ("argmax", "argmin"):
                    assert getattr(ours, name)() == getattr(theirs, name)()
                    # The place in the matrix; SciPy's is the number of the element.
                    place = getattr(ours, name)(explicit=True)
                    stored = ours.toarray().get().ravel()[np.flatnonzero(ss.coo_array((data != 9, (row, column)), shape=shape).toarray())]
                    assert ours.toarray().get().ravel()[place] == getattr(stored, name[3:])()
    twice = sparse.coo_array(([1.0, 2.0, 2.5], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert twice.max() == 3 and twice.argmax() == 0
    assert sparse.coo_array((2, 2)).max() == 0 and sparse.coo_array((2, 2)).argmax() == 0


def test_nonzero_counts_of_dictionaries_and_blocks():
    a = sparse.dok_array((3, 4))
    a[0, 1], a[2, 3] = 1.0, np.nan
    a._dict[1, 1] = 0.0
    assert a.count_nonzero() == 2 and a.nnz == 3 and a.count_nonzero(axis=1).tolist() == [1, 0, 1]
    blocks = sparse.bsr_array((bc.ones((3, 1, 2)), [0, 0, 1], [0, 2, 3]), shape=(2, 4))
    assert not blocks.has_canonical_format and blocks.count_nonzero() == 4 and blocks.has_canonical_format


def test_diagonals_that_are_stored_in_part():
    a = sparse.dia_array((np.arange(1.0, 7.0).reshape(2, 3), [0, 2]), shape=(4, 6))
    for k in range(-4, 7):
        np.testing.assert_array_equal(a.diagonal(k).get(), np.diagonal(a.toarray().get(), k) if -4 < k < 6 else np.zeros(0))
    first = a.diagonal()
    first[0] = 9
    assert a.data[0, 0] == 1


def test_nonzero_places_of_columns_are_in_the_order_of_rows():
    a = sparse.csc_array((bc.array([1.0, 0.0, 3.0, np.nan]), bc.array([2, 0, 0, 1]), bc.array([0, 1, 3, 4])), shape=(3, 3))
    row, column = a.nonzero()
    assert row.tolist() == [0, 1, 2] and column.tolist() == [1, 2, 0]
    row[0] = 7
    assert a.nonzero()[0].tolist() == [0, 1, 2] and sparse.csc_array((2, 3)).nonzero()[0].size == 0


@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_products_refuse_what_does_not_fit(kind):
    a = getattr(sparse, "csr_" + kind)(bc.ones((2, 3)))
    for x in (bc.ones(2), bc.ones((2, 3)), bc.ones((3, 1, 1))):
        with pytest.raises(ValueError):
            a @ x
    with pytest.raises(ValueError):
        a @ bc.array(2.0)
    assert (a @ bc.ones(3)).tolist() == [3, 3] and (a @ bc.ones((3, 1))).tolist() == [[3], [3]]
    if kind == "matrix":
        assert (a * bc.ones(3)).tolist() == [3, 3] and (a * bc.array(2.0)).toarray().tolist() == [[2] * 3] * 2


@pytest.mark.parametrize("shape", [(4,), (9,), (2, 2), (4, 1), (7, 2)])
def test_coordinates_take_another_shape_in_place(shape):
    for a in (np.array([1.0, 0, 3, 0, 5, 6]), np.array([[1.0, 0, 3], [0, 5, 6]])):
        got, want = sparse.coo_array(a), a.copy()
        got.resize(*shape)
        want.resize(shape, refcheck=False)
        if a.ndim == len(shape) == 2:  # a matrix keeps its rows
            want = np.zeros(shape)
            want[: min(2, shape[0]), : min(3, shape[1])] = a[: shape[0], : shape[1]]
        assert got.toarray().tolist() == want.tolist()
    vector = sparse.coo_array([1, 0, 2])
    assert vector.transpose((0,)).toarray().tolist() == vector.T.toarray().tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="axes don't match"):
        vector.transpose((0, 1))
    for convert in (vector.tobsr, vector.tocsc, vector.todia, vector.tolil):
        with pytest.raises(ValueError, match="Cannot convert"):
            convert()


NOT_LINEAR = {
    "abs": abs,
    "round": lambda m: round(m, 0),
    "power": lambda m: m.power(2),
    "sqrt": lambda m: abs(m).sqrt(),
    "sin": lambda m: m.sin(),
    "sign": lambda m: m.sign(),
    "greater": lambda m: m > 1,
    "maximum": lambda m: m.maximum(0.5 * m),
    "extremes": lambda m: np.array([float(m.max()), float(m.min()), int(m.argmax()), int(m.argmin())]),
    "count": lambda m: np.array(m.count_nonzero()),
    "square": lambda m: m.multiply(m),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
def test_elements_of_one_place_are_summed_before_what_is_not_linear(xp, form, name):
    """Matrices that are assembled piece by piece hold several elements of one place."""
    data, row, column = np.array([3.0, -1.0, 2.0, 2.0, -5.0]), np.array([0, 0, 1, 1, 1]), np.array([1, 1, 0, 0, 2])

    def made(module, a):
        if form == "coo":
            return module.coo_array((a(data), (a(row), a(column))), shape=(2, 3))
        if form == "csc":
            parts = data[[2, 3, 0, 1, 4]], np.array([1, 1, 0, 0, 1]), np.array([0, 2, 4, 5])
        else:
            parts = data.reshape(-1, 1, 1) if form == "bsr" else data, column, np.array([0, 2, 5])
        return getattr(module, form + "_array")(tuple(map(a, parts)), shape=(2, 3))

    ours, theirs = made(sparse, xp.asarray), made(ss, np.array)
    want, got = NOT_LINEAR[name](theirs), NOT_LINEAR[name](ours)
    np.testing.assert_allclose(dense(got), dense(want))
    assert float(sparse.linalg.norm(made(sparse, xp.asarray))) == pytest.approx(np.sqrt(45.0))


def test_the_transpose_of_the_last_axes(xp):
    cube = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(dense(sparse.coo_array(xp.asarray(cube)).mT), cube.swapaxes(1, 2))
    for form in FORMATS:
        np.testing.assert_array_equal(dense(getattr(sparse, form + "_matrix")(xp.asarray(DENSE)).mT), DENSE.T)
    with pytest.raises(ValueError, match="ndim < 2 is undefined"):
        _ = sparse.coo_array(xp.asarray([1.0, 2.0])).mT


def test_a_dictionary_of_keys_pops_what_it_holds():
    d = sparse.dok_array((3, 4))
    d[1, 2] = 5.0
    for key in ((0, 0), (22, 21)):
        with pytest.raises(KeyError, match=str(key[0])):
            d.pop(key)
    assert d.pop((0, 0), None) is None and d.pop((0, 0), 7) == 7
    assert d.pop((1, 2)) == 5 and d.nnz == 0


@pytest.mark.parametrize("form", FORMATS)
def test_axes_of_sparse_arrays_are_moved_as_scipys_are(xp, form):
    made = lambda library: getattr(library, form + "_array")(xp.asarray(DENSE) if library is sparse else DENSE)
    ours, theirs = made(sparse), made(ss)
    for f in (
        lambda library, m: library.permute_dims(m),
        lambda library, m: library.permute_dims(m, (1, 0)),
        lambda library, m: library.permute_dims(m, (0, -1)),
        lambda library, m: library.permute_dims(m, (0, 0)),
        lambda library, m: library.swapaxes(m, 0, 1),
        lambda library, m: library.swapaxes(m, 1, -1),
        lambda library, m: library.swapaxes(m, 0, 2),
    ):
        # SciPy's permute_dims changes coordinates that it does not copy.
        got, want = (outcome(lambda library, f=f: f(library, made(library)), library) for library in (sparse, ss))
        assert_same(got, want)
    for axis in (0, 1, 2, -1, -3):
        if hasattr(ss, "expand_dims"):
            assert_same(sparse.expand_dims(ours, axis=axis), ss.expand_dims(theirs, axis=axis))
        np.testing.assert_array_equal(dense(sparse.expand_dims(ours, axis=axis)), np.expand_dims(DENSE, axis))
    with pytest.raises(ValueError, match="Invalid axis 3 for N=2"):
        sparse.expand_dims(ours, axis=3)
    cube = np.arange(24.0).reshape(2, 3, 4)
    for a, b in ((0, 1), (1, 2), (0, 2), (-1, 0)):
        np.testing.assert_array_equal(dense(sparse.swapaxes(sparse.coo_array(xp.asarray(cube)), a, b)), cube.swapaxes(a, b))


def test_blocks_of_nothing_have_no_extent():
    for library in (sparse, ss):
        assert library.block_array([[None, None]]).shape == (0, 0) and library.block_array([[None]], dtype="f4").dtype == np.float32
