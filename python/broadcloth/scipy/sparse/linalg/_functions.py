"""Norms, inverses, powers and exponentials of sparse matrices and operators."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from .... import linalg as _linalg
from ...._broadcloth import ndarray
from ...._warnings import warn
from ._krylov import norm as length
from ._krylov import orthogonalized
from ._operators import LinearOperator, aslinearoperator, device_of, is_sparse, ours, promoted

if TYPE_CHECKING:
    from ....typing import ArrayLike


def norm(x: Any, ord: Any = None, axis: Any = None) -> ndarray:
    """The norm of a sparse matrix, or of its rows or columns.

    Parameters
    ----------
    x : sparse matrix
    ord : {None, 'fro', inf, -inf, 1, -1, 0, 2} or float
        'fro', the root of the sum of squares, unless given. 2 is the largest singular value; 0 with an axis counts what is not zero; other
        numbers are for an axis.
    axis : int or pair of ints, optional
        The axis of the vectors.

    Examples
    --------
    >>> A = bc.scipy.sparse.csr_array(bc.array([[3.0, 0.0], [0.0, 4.0]]))
    >>> float(bc.scipy.sparse.linalg.norm(A))
    5.0
    """
    if not is_sparse(x):
        raise TypeError("input is not sparse. use broadcloth.linalg.norm")
    x = ours(x)
    if axis is None:
        axis = (0, 1)
    if not isinstance(axis, tuple):
        axis = (axis,)
    axis = tuple(int(a) for a in axis)
    if len(axis) == 2:
        if any(not -2 <= a < 2 for a in axis):
            raise ValueError(f"Invalid axis {axis!r} for an array with shape {x.shape!r}")
        if axis[0] % 2 == axis[1] % 2:
            raise ValueError("Duplicate axes given.")
        if ord in (None, "fro", "f"):
            data = _c.asarray((x if x.format in ("csr", "csc", "coo") else x.tocsr())._summed().data)
            return length(data) if data.dtype.kind in "fc" else _c.ufuncs["sqrt"]((data.astype(np.float64) ** 2).sum())
        if ord == 2:
            from ._eigen import svds

            return svds(x, 1, return_singular_vectors=False)[0]
        if ord == -2:
            raise NotImplementedError("norm: ord -2 is not computed for sparse matrices")
        sums = {1: 0, -1: 0, math.inf: 1, -math.inf: 1}
        if ord not in sums:
            raise ValueError("Invalid norm order for matrices.")
        totals = _c.asarray(abs(x).sum(axis=sums[ord] if axis[0] % 2 == 0 else 1 - sums[ord])).reshape(-1)
        return totals.max() if ord > 0 else totals.min()
    if len(axis) != 1:
        raise ValueError("Improper number of dimensions to norm.")
    (a,) = axis
    if not -2 <= a < 2:
        raise ValueError(f"Invalid axis {axis!r} for an array with shape {x.shape!r}")
    line = lambda m: _c.asarray(m).reshape(-1)
    if ord == math.inf or ord == -math.inf:
        extreme = abs(x).max(axis=a) if ord > 0 else abs(x).min(axis=a)
        return line(extreme.toarray() if is_sparse(extreme) else extreme)
    if ord == 0:
        return line((x != 0).astype(np.int64).sum(axis=a))
    if ord == 1:
        return line(abs(x).sum(axis=a))
    if ord in (2, None):
        return _c.ufuncs["sqrt"](line((abs(x).power(2)).sum(axis=a)))
    try:
        power = float(ord)
    except (TypeError, ValueError):
        raise ValueError("Invalid norm order.") from None
    return line(abs(x).power(power).sum(axis=a)) ** (1 / power)


def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any:
    """A lower bound of the 1-norm of a matrix or operator, mostly the norm itself (Higham & Tisseur, 2000).

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (n, n)
        An operator must have `rmatmat` or `rmatvec`.
    t : int
        How many columns are tried at once.
    itmax : int
        How many times, at least 2.
    compute_v, compute_w : bool
        Whether v, with norm(A @ v, 1) = est * norm(v, 1), and w = A @ v are results too.

    Examples
    --------
    >>> float(bc.scipy.sparse.linalg.onenormest(bc.array([[1.0, 2.0], [3.0, -4.0]])))
    6.0
    """
    operator = aslinearoperator(A)
    if operator.shape[0] != operator.shape[1]:
        raise ValueError("expected the operator to act like a square matrix")
    n = operator.shape[1]
    dtype = promoted(operator.dtype)
    device = getattr(operator, "device", None) or _c.default_device()
    if t < 1 or itmax < 2:
        raise ValueError(f"expected t >= 1 and itmax >= 2, got {t} and {itmax}")
    generator = np.random.default_rng(0)
    adjoint = operator.H
    if t >= n or n <= 8:
        products = _c.asnumpy(operator.matmat(_c.eye(n, dtype=dtype, device=device)))
        at = int(np.argmax(abs(products).sum(0)))
        estimate, w, best = float(abs(products[:, at]).sum()), products[:, at], at
    else:
        ones = np.ones(n, dtype.char.lower())
        X = np.ones((n, t), dtype)
        X[:, 1:] = generator.choice([-1, 1], (n, t - 1))
        X /= n
        columns: list[int] = []
        estimate, w, best = 0.0, np.zeros(n, dtype), -1
        used: set[int] = set()
        signs = np.zeros((n, t), dtype)
        for k in range(1, itmax + 1):
            products = _c.asnumpy(operator.matmat(_c.asarray(X, device=device)))
            sums = ones @ abs(products)
            at = int(np.argmax(sums))
            if k > 1 and sums[at] <= estimate:
                break
            estimate, w = float(sums[at]), products[:, at]
            if k > 1:
                best = columns[at]
            if k == itmax:
                break
            before = signs
            if dtype.kind != "c":
                signs = np.where(products < 0, dtype.type(-1), dtype.type(1))
            else:
                size = abs(products)
                signs = np.where(size > 0, products / np.where(size > 0, size, 1), 1).astype(dtype)
            # Signs that are parallel to ones before tell nothing new.
            if dtype.kind != "c":
                parallel = abs(signs.T @ before).max(1) == n
                if k > 1 and parallel.all():
                    break
                for j in np.flatnonzero(parallel):
                    signs[:, j] = generator.choice([-1, 1], n)
            h = functools.reduce(np.maximum, abs(_c.asnumpy(adjoint.matmat(_c.asarray(signs, device=device)))).T)
            if k > 1 and h.max() == h[best]:
                break
            order = _largest(h, t + len(used))
            fresh = [i for i in order if i not in used][:t]
            if not fresh or all(i in used for i in order[:t]):
                break
            columns = fresh
            used.update(columns)
            X = np.zeros((n, len(columns)), dtype)
            X[columns, range(len(columns))] = 1
    v = np.zeros(n, dtype)
    if best >= 0:
        v[best] = 1
    else:
        v[:] = 1 / n
    found: tuple[Any, ...] = (estimate,)
    if compute_v:
        found += (_c.asarray(v, device=device),)
    if compute_w:
        found += (_c.asarray(w, device=device),)
    return found if len(found) > 1 else estimate


def _largest(values: np.ndarray, count: int) -> list[int]:
    """The places of the largest values in descending order, of equal ones the first; all but these are not sorted."""
    places = np.arange(values.size)
    if count < values.size:
        places = np.flatnonzero(values >= np.partition(values, -count)[-count])
    found: list[int] = places[np.argsort(-values[places], kind="stable")[:count]].tolist()
    return found


def inv(A: Any) -> Any:
    """The inverse of a sparse matrix, sparse; of a dense one, dense.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.inv(bc.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    if isinstance(A, LinearOperator):
        raise TypeError("Input must be a sparse array")
    if not is_sparse(A):
        return _linalg.inv(_c.asarray(A))
    from ... import sparse
    from ._direct import spsolve

    A = ours(A)
    return spsolve(A, sparse.eye_array(A.shape[0], dtype=promoted(A.dtype), format="csc"))


def matrix_power(A: Any, power: int) -> Any:
    """A square matrix to a power that is not negative, by squaring.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.matrix_power(bc.array([[1, 1], [0, 1]]), 5)
    array([[1, 5],
           [0, 1]])
    """
    if not is_sparse(A):
        A = _c.asarray(A)
    A = ours(A)
    if A.shape[0] != A.shape[1]:
        raise TypeError("sparse matrix is not square")
    if power != int(power) or power < 0:
        raise ValueError("exponent must be >= 0")
    power = int(power)
    if not is_sparse(A):
        return _linalg.matrix_power(A, power)
    if power == 0:
        from ... import sparse

        return sparse.eye_array(A.shape[0], dtype=A.dtype, format=A.format)
    result = None
    while power:
        if power % 2:
            result = A if result is None else result @ A
        power //= 2
        if power:
            A = A @ A
    return result


def expm(A: Any) -> Any:
    """The exponential of a square matrix; sparse of a sparse one.

    A sparse matrix' exponential has few zeros, as a rule, and is computed densely.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.expm(bc.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    from ...linalg import expm as dense

    if not is_sparse(A):
        return dense(A)
    A = ours(A)
    from ... import sparse

    kind = getattr(sparse, f"{A.format}_array", sparse.csc_array)
    return kind(dense(A.toarray()))


# The largest norms of A / s for which m terms of the Taylor series give the precision of float64, and of float32 (Al-Mohy & Higham, 2011,
# Table 3.1 and its single precision column).
_THETA_DOUBLE = {5: 1.3e-1 / 1.0, 10: 1.0, 15: 2.2, 20: 3.6, 25: 4.9, 30: 6.3, 35: 7.7, 40: 9.1, 45: 11.0, 50: 12.0, 55: 13.0}
_EXTRA_TERMS = 2


def _terms(size: float) -> tuple[int, int]:
    """Terms and steps with the fewest products for a matrix of this 1-norm."""
    if size == 0:
        return 0, 1
    choices = [(m, max(1, math.ceil(size / theta))) for m, theta in _THETA_DOUBLE.items()]
    return min(choices, key=lambda c: c[0] * c[1])


def _exponential_action(A: Any, B: ndarray, t: float, size: float, shift: Any, identity_shift: Any) -> ndarray:
    """exp(t A) B by the truncated Taylor series of exp(t (A - shift I) / s), s times, with the factor exp(t shift / s)."""
    m, s = _terms(abs(t) * size)
    tolerance = float(np.finfo(B.dtype).eps) / 2
    factor = np.exp(t * shift / s)
    F = B
    for _ in range(s):
        term, before = B, abs(B).max()
        for j in range(1, m + _EXTRA_TERMS + 1):
            term = (A @ term - identity_shift * term) * (t / (s * j))
            F = F + term
            if j % 4 == 0 or j == m:
                after, whole = abs(term).max(), abs(F).max()
                small, total, last = _c.asnumpy(_c.stack([before, whole, after]))
                if small + last <= tolerance * total and last <= tolerance * total:
                    break
                before = after
        F = F * F.dtype.type(factor)
        B = F
    return F


def expm_multiply(
    A: Any,
    B: ArrayLike,
    start: float | None = None,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,
) -> ndarray:
    """exp(A) @ B, or exp(t A) @ B for equally spaced t, without the exponential (Al-Mohy & Higham, 2011).

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (n, n)
    B : array_like, (n,) or (n, k)
    start, stop, num, endpoint : optional
        The values of t as `linspace` takes them; the result has them along its first axis.
    traceA : optional
        The trace of A; read from a matrix unless given, and 0 of an operator, which only costs time.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.expm_multiply(bc.diag(bc.array([0.0, 1.0])), bc.ones(2)).round(6)
    array([1.      , 2.718282])
    """
    operator = aslinearoperator(A)
    n = operator.shape[0]
    if operator.shape[0] != operator.shape[1]:
        raise ValueError("expected A to be like a square matrix")
    device = getattr(operator, "device", None)
    right = _c.asarray(B) if device is None else _c.asarray(B, device=device)
    if right.ndim not in (1, 2):
        raise ValueError("expected B to be like a matrix or a vector")
    if right.shape[0] != n:
        raise ValueError(f"shapes of matrices A {operator.shape} and B {right.shape} are incompatible")
    matrix = None if isinstance(A, LinearOperator) else operator.A
    if traceA is None:
        if matrix is None:
            warn("Trace of LinearOperator not available, it is taken for 0. Provide `traceA` for the best speed.", UserWarning)
        traceA = 0.0 if matrix is None else (_c.asarray(matrix.diagonal()).sum()).item()
    shift = traceA / n if n else 0.0
    dtype = promoted(operator.dtype, right.dtype, np.complex64 if np.iscomplexobj(shift) and complex(shift).imag else None)
    if dtype.kind != "c":
        shift = float(np.real(shift))
    right = right.astype(dtype)
    kind = dtype.type(shift)
    moved = LinearOperator(
        operator.shape,
        lambda v: operator.matvec(v) - kind * v,
        rmatvec=lambda v: operator.rmatvec(v) - np.conj(kind) * v,
        matmat=lambda V: operator.matmat(V) - kind * V,
        rmatmat=lambda V: operator.rmatmat(V) - np.conj(kind) * V,
        dtype=dtype,
    )
    moved.device = right.device
    size = float(onenormest(moved))
    act = lambda x, t: _exponential_action(operator, x, t, size, shift, kind)
    if all(v is None for v in (start, stop, num, endpoint)):
        return act(right, 1.0)
    first, last = 0.0 if start is None else start, 1.0 if stop is None else stop
    times, step = np.linspace(first, last, 50 if num is None else num, endpoint=endpoint is None or endpoint, retstep=True)
    rows = []
    x = act(right, float(times[0])) if len(times) else right
    for i in range(len(times)):
        if i:
            x = act(x, float(step))
        rows.append(x)
    return _c.stack(rows) if rows else _c.empty((0, *right.shape), dtype, device=right.device)


def funm_multiply_krylov(
    f: Callable[[Any], Any],
    A: Any,
    b: ArrayLike,
    *,
    assume_a: str = "general",
    t: float = 1.0,
    atol: float = 0.0,
    rtol: float = 1e-6,
    restart_every_m: int | None = None,
    max_restarts: int = 20,
) -> ndarray:
    """f(t A) @ b by Arnoldi's method with restarts (Eiermann & Ernst, SIAM J. Numer. Anal. 44, 2006; Afanasjew et al., Linear Algebra and
    its Applications 429, 2008).

    Parameters
    ----------
    f : callable
        The function of a small square matrix, such as `broadcloth.scipy.linalg.expm`; it is given an array on the CPU.
    A : ndarray, sparse matrix or LinearOperator, (n, n)
    b : array_like, (n,)
    assume_a : {'general', 'gen', 'hermitian', 'her'}
        Whether A is Hermitian; the iteration is the same.
    t : float
        A factor of A.
    atol, rtol : float
        It ends when a restart changes the result by no more than max(atol, rtol norm(b)).
    restart_every_m : int, optional
        How many vectors a cycle adds; min(20, n) unless given.
    max_restarts : int
        The greatest number of cycles.

    Raises
    ------
    ValueError
        b is no vector, or a parameter is out of range.

    Examples
    --------
    >>> A, b = bc.diag(bc.array([0.0, 1.0, 2.0])), bc.ones(3)
    >>> bc.scipy.sparse.linalg.funm_multiply_krylov(bc.scipy.linalg.expm, A, b)
    array([1.        , 2.71828183, 7.3890561 ])
    """
    if assume_a not in ("hermitian", "general", "her", "gen"):
        raise ValueError(f"funm_multiply_krylov: {assume_a} is not a recognized matrix structure")
    operator = aslinearoperator(A)
    b = _c.asarray(b) if device_of(A) is None else _c.asarray(b, device=device_of(A))
    if b.ndim != 1:
        raise ValueError("funm_multiply_krylov: argument 'b' must be a 1D array.")
    m = min(20, b.size) if restart_every_m is None else int(restart_every_m)
    for name, count in (("restart_every_m", m), ("max_restarts", int(max_restarts))):
        if count <= 0:
            raise ValueError(f"funm_multiply_krylov: argument '{name}' must be positive.")
    if atol is None or atol < 0:
        raise ValueError(f"funm_multiply_krylov: expected a number atol >= 0, got {atol!r}")
    size = float(_linalg.norm(b))
    if size == 0:
        return b.copy()
    limit = max(float(atol), float(rtol) * size)
    b = b.astype(promoted(operator.dtype, b.dtype))
    projected = np.zeros((0, 0), b.dtype)
    y = _c.zeros(b.shape, b.dtype, device=b.device)
    start, link = b / size, 0.0
    for _ in range(min(int(max_restarts), b.size // m + 1)):
        V, block, start, after, ended = _arnoldi(operator, start, m)
        # Each cycle's block lies behind those before it, joined to them by the last length.
        old, new = len(projected), len(projected) + len(block)
        wider = np.zeros((new, new), b.dtype)
        wider[:old, :old], wider[old:, old:] = projected, block
        if old:
            wider[old, old - 1] = link
        projected, link = wider, after
        column = _c.asnumpy(_c.asarray(f(_c.asarray(t * projected, device="cpu"))))[old:, 0]
        change = size * column
        y = y + _c.asarray(change, device=b.device) @ V
        if ended or float(np.linalg.norm(change)) <= limit:
            break
    return y


def _arnoldi(operator: LinearOperator, start: ndarray, m: int) -> tuple[ndarray, np.ndarray, ndarray, float, bool]:
    """Orthonormal rows V from a unit vector on, the projection of the operator on them, the next vector, its length before it was
    divided by it, and whether the rows are all there are."""
    V = _c.zeros((m, start.size), start.dtype, device=start.device)
    H = np.zeros((m, m), start.dtype)
    for j in range(m):
        V[j] = start
        w = operator.matvec(start)
        before = _linalg.norm(w)
        w, h = orthogonalized(V[: j + 1], w)
        both = _c.asnumpy(_c.stack([before, _linalg.norm(w)]))
        H[: j + 1, j] = _c.asnumpy(h)
        after = float(both[1])
        if after <= np.finfo(start.dtype).eps * float(both[0]):
            return V[: j + 1], H[: j + 1, : j + 1], start, 0.0, True
        if j + 1 < m:
            H[j + 1, j] = after
        start = w / after
    return V, H, start, after, False


def is_sptriangular(A: Any) -> tuple[bool, bool]:
    """Whether a matrix is lower, and whether it is upper, triangular.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.is_sptriangular(bc.array([[1.0, 2.0], [0.0, 3.0]]))
    (False, True)
    """
    below, above = spbandwidth(A)
    return above == 0, below == 0


def _bandwidth(a: Any) -> tuple[int, int] | None:
    """That of compressed rows or columns on the host, in one pass."""
    if a.format not in ("csr", "csc") or a.ndim != 2:
        return None
    indices, indptr = a.indices, a.indptr
    found = _c.sparse_bandwidth(indices, indptr, a.shape[1]) if indices.dtype == indptr.dtype else None
    return None if found is None else (found[0], found[1]) if a.format == "csr" else (found[1], found[0])


def spbandwidth(A: Any) -> tuple[int, int]:
    """How many diagonals a matrix has below and above the main one, zeros that are stored included.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.spbandwidth(bc.array([[1.0, 2.0], [0.0, 3.0]]))
    (0, 1)
    """
    if is_sparse(A):
        a = ours(A)
        known = _bandwidth(a)
        if known is not None:
            return known
        coo = a.tocoo(copy=False)
        rows, columns = (_c.asarray(x).astype(np.int64) for x in (coo.row, coo.col))
    else:
        rows, columns = _c.asarray(A).nonzero()
    if rows.size == 0:
        return 0, 0
    gap = columns - rows
    low, high = _c.asnumpy(_c.stack([gap.min(), gap.max()])).tolist()
    return max(0, -low), max(0, high)
