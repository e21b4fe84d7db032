"""What compiled functions raise names shapes, indices and extents, as NumPy's functions do."""

import numpy as np
import pytest

from broadcloth import njit, prange

A3, A4, A5 = np.arange(3.0), np.arange(4.0), np.arange(5.0)
M23, M34, M43 = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3)


def assigns(a, b):
    a[1:] = b


def assigns_masked(a, b):
    a[a > 0] = b


def assigns_picked(a, b):
    a[np.array([0, 1])] = b


def unpacks(a):
    x, y = a
    return x + y


def unpacks_a_list(n):
    x, y = [i * 1.0 for i in range(n)]
    return x + y


def sets(a, i):
    a[i] = 1.0


def adds(a, i):
    a[i] += 1.0


SAME = {
    "sum of vectors": (lambda a, b: a + b, A3, A4),
    "sum of a matrix and a vector": (lambda a, b: a + b, M23, A4),
    "the last of three": (lambda a, b, c: a + b + c, A3, A3, A4),
    "a function": (lambda a, b: np.maximum(a, b), A3, A4),
    "inside a reduction": (lambda a, b: (a * b).sum(), A3, A4),
    "an operand that was made before": (lambda a, b: np.outer(a, b) + a, A3, A4),
    "matrices": (lambda a, b: a @ b, M23, M43),
    "a matrix and a vector": (lambda a, b: a @ b, M23, A4),
    "vectors": (lambda a, b: a @ b, A3, A4),
    "dot of matrices": (lambda a, b: np.dot(a, b), M23, M43),
    "dot of vectors": (lambda a, b: np.dot(a, b), A3, A4),
    "inner": (lambda a, b: np.inner(a, b), A3, A4),
    "indices": (lambda a, i: a[i], A5, np.array([1, 7])),
    "negative indices": (lambda a, i: a[i], A5, np.array([-6, 7])),
    "rows": (lambda a, i: a[i], M23, np.array([1, 7])),
    "stored by indices": (sets, A5, np.array([1, 9])),
    "other values than indices": (assigns_picked, A5, A3),
    "reshape": (lambda a: a.reshape(2, 2), A5),
    "reshape with an open extent": (lambda a: a.reshape(2, -1), A5),
    "reshape to a vector": (lambda a: a.reshape(4), A5),
    "concatenate": (lambda a, b: np.concatenate((a, b)), M23, M34),
    "concatenate columns": (lambda a, b: np.concatenate((a, b), 1), M23, M34),
    "vstack": (lambda a, b: np.vstack((a, b)), A3, A4),
    "unpack too many": (unpacks, A5),
    "unpack too few": (unpacks, A5[:1]),
    "unpack a list": (unpacks_a_list, 3),
    "unpack a short list": (unpacks_a_list, 1),
    "assignment": (assigns, A3, A4),
    "a mask": (lambda a, b: a[b > 0], A5, A3),
    "values for a mask": (assigns_masked, A5, A3),
    "take": (lambda a, i: np.take(a, i), A5, 7),
    "delete": (lambda a, i: np.delete(a, i), A5, 9),
    "partition": (lambda a, i: np.partition(a, i), A5, 9),
    "an axis": (lambda a, k: np.sum(a, axis=k), M23, 7),
    "a negative axis": (lambda a, k: np.sum(a, axis=k), M23, -3),
    "not square": (lambda a: np.linalg.inv(a), M23),
}
CHECKED = {
    "element": (lambda a, i: a[i], A5, 7),
    "from the end": (lambda a, i: a[i], A5, -7),
    "of the second axis": (lambda a, i: a[0, i], M23, 3),
    "row": (lambda a, i: a[i], M23, 3),
    "stored": (sets, A5, 7),
    "added to": (adds, A5, -6),
}


def raised(f, arguments):
    arguments = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    with pytest.raises(Exception) as error:
        f(*arguments)
    return type(error.value), str(error.value).strip()


@pytest.mark.parametrize("name", SAME)
def test_errors_say_what_numpys_say(name):
    f, *arguments = SAME[name]
    assert raised(njit(f), arguments) == raised(f, arguments)


@pytest.mark.parametrize("name", CHECKED)
def test_checked_indices_say_what_numpys_say(name):
    f, *arguments = CHECKED[name]
    assert raised(njit(f, boundscheck=True), arguments) == raised(f, arguments)


def test_shapes_are_in_what_is_caught():
    @njit
    def f(a, b):
        try:
            return str((a + b).size)
        except ValueError as e:
            return str(e)

    assert f(A3, A4).strip() == "operands could not be broadcast together with shapes (3,) (4,)"

    @njit(boundscheck=True)
    def g(a, i):
        try:
            return str(a[i])
        except IndexError as e:
            return str(e)

    assert g(A5, 6) == "index 6 is out of bounds for axis 0 with size 5"


def test_axis_errors_are_values_and_indices():
    @njit
    def f(a, k):
        try:
            return np.sum(a, axis=k)[0]
        except IndexError:
            return -1.0

    assert f(M23, 5) == -1.0


def test_indices_of_threads_are_named():
    @njit(parallel=True, boundscheck=True)
    def f(a, n):
        out = np.zeros(n)
        for i in prange(n):
            out[i] = a[i]
        return out

    assert raised(f, (A5, 6)) == (IndexError, "index 5 is out of bounds for axis 0 with size 5")


def test_sums_of_arrays_divide_as_numpys_scalars():
    @njit
    def means(x):
        total = x.sum()
        return total / x.size, x.sum() / x.size, 1.0 / np.abs(x).sum()

    assert np.array_equal(means(np.zeros(0)), (np.nan, np.nan, np.inf), equal_nan=True)
    assert njit(lambda x, k: x.sum() // k)(np.array([1, 2]), 0) == 0
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: float(x.sum()) / x.size)(np.zeros(0))
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: np.count_nonzero(x) / x.size)(np.zeros(0))
