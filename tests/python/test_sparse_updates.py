"""Sparse matrices that are changed in place, and who shares their elements, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import sparse
from support import dense

ss = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore:.*:Warning")

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
KINDS = ["matrix", "array"]
DENSE = np.array([[1, 0, 2, 0], [0, 0, 3, 0], [4, 5, 6.0, 0]])
SQUARE = DENSE[:, :3]


UPDATES = """
a += b; a -= b; a += 0; a += 2; a -= B; a += B; a *= 3; a *= 0; a *= np.float64(2); a *= 1.5; a *= b; a /= 4; a /= 0; a /= np.float64(0)
a /= b; a /= B; a *= "x"; a += [1, 2]; a -= [1, 2]; a / 0; a / 0.0; a / np.float64(0); a **= 2
"""


@pytest.mark.parametrize("statement", [e.strip() for e in UPDATES.replace("\n", ";").split(";") if e.strip()])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMATS)
def test_updates_change_the_same_object_where_scipy_s_do(xp, name, kind, statement):
    def run(library):
        make = getattr(library, f"{name}_{kind}")
        a = make(SQUARE)
        names = {"a": a, "b": make(SQUARE.T), "B": np.arange(9.0).reshape(3, 3), "np": np}
        exec(statement, names)
        kept = names["a"] is a
        # Sums of dia and bsr are compressed rows here; dense results of matrices are numpy.matrix there.
        return kept, names["a"].format == "dok" if hasattr(names["a"], "format") else None, dense(a), dense(names["a"])

    def outcome(library):
        try:
            return run(library)
        except Exception as error:
            return error

    got, want = outcome(sparse), outcome(ss)
    assert isinstance(got, Exception) == isinstance(want, Exception), (got, want)
    if isinstance(want, Exception):
        assert isinstance(want, type(got)), (got, want)  # NumPy's error of a missing loop is a TypeError
    else:
        assert got[:2] == want[:2]
        for g, w in zip(got[2:], want[2:], strict=True):
            np.testing.assert_allclose(g, w, 1e-14)


@pytest.mark.parametrize("number", [np.nan, 0.0, -1, 1])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_with_a_number_are_dense_where_zeros_change(xp, name, number):
    got, want = (getattr(library.csr_array(DENSE - 2), name)(number) for library in (sparse, ss))
    np.testing.assert_array_equal(dense(got), dense(want))


def test_dictionaries_refuse_places_outside(xp):
    for library in (sparse, ss):
        a = library.dok_array(DENSE)
        assert a.get((-1, 1), 7) == 5 and a.get((0, 1), 7) == 7
        for key in ((9, 9), (1,), ("a", 1), (0, 4)):
            with pytest.raises(IndexError):
                a.get(key)


SHARED = "a.T|a.copy()|a.tocsr()|a.tocsc()|a.tobsr()|a.todia()|a.tolil()|a.todok()|a.astype(float)|abs(a)|a + 0|a * 1|a[:, :]|a[0:3]"
SHARED += "|a[[0, 1, 2]]|a[:, [0, 1, 2, 3]]|a[:, 0:3]|a[:, np.arange(4)]|a[0:2]|a.maximum(0)|a.power(1)|type(a)(a)|type(a)(a, copy=True)"
SHARED += "|sx.csr_array(a)|sx.lil_array(a)|sx.vstack([a])|sx.hstack([a])|sx.tril(a, 9)|sx.kron([[1]], a)|a.multiply(1)|a[0:1]|a.T.T"


@pytest.mark.parametrize("expression", SHARED.split("|"))
@pytest.mark.parametrize("name", FORMATS)
def test_updates_change_others_where_scipy_s_do(xp, name, expression):
    a = np.array([[1, 0, 2], [0, 0, 3], [4, 5, 0.0]])
    changed = []
    for library in (sparse, ss):
        for matrix in (DENSE, np.pad(a, ((0, 0), (0, 1)))):
            made = getattr(library, name + "_array")(matrix)
            try:
                other = eval(expression, {"a": made, "sx": library, "np": np})
            except Exception as error:
                changed.append(type(error))
                continue
            other *= 3
            changed.append(not np.array_equal(dense(made), matrix))
    assert changed[:2] == changed[2:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3), (1, 5)])
def test_diagonals_times_dense_matrices_of_numpy(xp, shape, kind):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((5, max(shape) + 1))
    data[:, -1] = np.nan  # outside of the matrix
    offsets = [0, 2, -1, -7, 8]
    for dtype in ("f8", "f4", "i8", "?", "c16"):
        other = (rng.standard_normal(shape) * 3).astype(dtype)
        for given in (other, other.T.copy().T, np.ones((1, shape[1])), other[:1]):
            made = [getattr(library, f"dia_{kind}")((data, offsets), shape=shape).multiply(given) for library in (sparse, ss)]
            assert made[0].dtype == made[1].dtype
            np.testing.assert_allclose(dense(made[0]), dense(made[1]), 1e-14)


VALUES = "np.arange(3.0)|[1, 0, 2]|[1.5, 0.0, 2]|np.array([[1], [0], [2]])"
VALUES += "|np.arange(3) + 1j|[[1], [2], [3]]|[1, 2]|np.arange(4)|[True, False, True]|5"


@pytest.mark.parametrize("value", VALUES.split("|"))
@pytest.mark.parametrize("rows", [slice(None), slice(0, 3), slice(1, 4), slice(None, None, 2), slice(3, 0, -1), slice(2, 2)])
def test_columns_of_lists(xp, rows, value):
    x = eval(value)
    for dtype in ("f8", "i4", "c16"):
        outcomes = []
        for library in (sparse, ss):
            a = library.lil_array(np.array([[0, 1, 0], [2, 0, 0], [0, 3, 4], [0, 0, 0]], dtype))
            for column in (1, -1):
                try:
                    a[rows, column] = bc.asarray(x) if library is sparse and type(x) is np.ndarray else x
                except Exception as error:
                    outcomes.append((type(error), None))
                    break
                outcomes.append((dense(a).tolist(), [list(r) for r in a.rows]))
        half = len(outcomes) // 2
        for got, want in zip(outcomes[:half], outcomes[half:], strict=True):
            assert got[0] == want[0] or (isinstance(want[0], type) and isinstance(got[0], type))


STORES = "a[0, 2] = 7|a[0] = 7|a[:, 2] = [7, 8, 9]|a.setdiag(5)|a.setdiag([1, 2], 1)|a[1, 1] = 0"


@pytest.mark.parametrize("statement", STORES.split("|"))
@pytest.mark.parametrize("name", ["csr_array", "csc_array", "csr_matrix"])
def test_stores_into_elements_that_are_there_change_those_who_share_them(xp, name, statement):
    full = np.arange(1.0, 10).reshape(3, 3)
    seen = []
    for library in (sparse, ss):
        a = getattr(library, name)(full)
        shared, copied = type(a)(a), a.copy()
        data = a.data
        exec(statement, {"a": a})
        seen.append((dense(a).tolist(), dense(shared).tolist(), dense(copied).tolist(), dense(data).tolist()))
    assert seen[0] == seen[1]


def test_updates_of_elements_that_require_grad_copy_them(xp):
    slopes = {"a *= 2": [2, 2, 2, 2], "a /= 2": [0.5, 0.5, 0.5, 0.5], "a[0, 0] = 5": [0, 1, 1, 1], "a.setdiag(3)": [0, 1, 1, 0]}
    for statement, slope in slopes.items():
        a = sparse.csr_array(np.ones((2, 2)))
        leaf = a.data
        leaf.requires_grad = True
        exec(statement, {"a": a})
        (a @ bc.ones(2, device=a.device)).sum().backward()
        assert leaf.grad.tolist() == slope


def test_updates_in_place_keep_the_dtype(xp):
    for name in ("csr_array", "dok_array"):
        a = getattr(sparse, name)(np.eye(2, dtype="i4"))
        with pytest.raises(TypeError, match="int32"):
            a *= 1.5
        a *= 3
        assert a.dtype == np.int32 and a.toarray().tolist() == [[3, 0], [0, 3]]


@pytest.mark.parametrize("name", FORMATS)
def test_matrices_take_another_shape_in_place(xp, name):
    for library in (sparse, ss):
        a = getattr(library, name + "_matrix")(DENSE)
        a.shape = (6, 2)
        assert a.shape == (6, 2) and a.format == name
        np.testing.assert_array_equal(dense(a), DENSE.reshape(6, 2))
        a.shape = (2, -1)
        np.testing.assert_array_equal(dense(a), DENSE.reshape(2, 6))
        with pytest.raises(ValueError, match="cannot reshape"):
            a.shape = (5, 5)
        with pytest.raises(AttributeError):
            getattr(library, name + "_array")(DENSE).shape = (6, 2)
