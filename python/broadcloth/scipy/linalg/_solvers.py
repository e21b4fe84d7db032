"""Systems of equations, and the factorizations that are made for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ... import fft as _fft
from ... import linalg as _linalg
from ..._broadcloth import ndarray
from ..._warnings import warn
from ..fft import next_fast_len as _next_fast_len
from ._operands import LinAlgWarning, back, dagger, eps, has_rows, matrices, on_host, operand, over_stacks, squares, transposed

if TYPE_CHECKING:
    from ...typing import ArrayLike

_STRUCTURES = {
    "gen": "general", "general": "general", "sym": "symmetric", "symmetric": "symmetric", "her": "hermitian", "hermitian": "hermitian",
    "pos": "positive definite", "positive definite": "positive definite", "diagonal": "diagonal", "tridiagonal": "tridiagonal",
    "banded": "banded", "upper triangular": "upper triangular", "lower triangular": "lower triangular",
}  # fmt: skip
_SINGULAR = "A singular matrix detected."


def _structure(a: ndarray) -> str:
    """What a stack of matrices is, by one pass that is looked at."""
    i = _c.arange(a.shape[-1], device=a.device)
    zero = a == 0
    lower = (zero | (i[:, None] >= i)).all()
    upper = (zero | (i[:, None] <= i)).all()
    hermitian = ((a == dagger(a)) & ((i[:, None] != i) | (a.real > 0))).all()
    found = int(lower * 1 + upper * 2 + hermitian * 4)  # one number, for one wait
    if found & 3 == 3:
        return "diagonal"
    return "lower triangular" if found & 1 else "upper triangular" if found & 2 else "positive definite" if found & 4 else "general"


def _triangle(a: ndarray) -> str:
    """Whether a matrix is diagonal or a triangle, if that is known without waiting for it."""
    below, above = _c.linalg_bandwidth(a) or (1, 1)
    return "diagonal" if below == above == 0 else "upper triangular" if below == 0 else "lower triangular" if above == 0 else "general"


def _triangle_mirrored(a: ndarray, lower: bool, hermitian: bool) -> ndarray:
    """The matrix of which one triangle is given."""
    kept = _c.tril(a) if lower else _c.triu(a)
    other = _c.tril(a, -1) if lower else _c.triu(a, 1)
    return kept + (dagger(other) if hermitian else other.mT)


def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> ndarray:
    """The solution x of a @ x = b.

    Parameters
    ----------
    a : array_like, (..., n, n)
    b : array_like, (n,) or (..., n, k)
    lower : bool
        Of symmetric, Hermitian and positive definite matrices: whether the lower triangle is read, else the upper one.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    assume_a : str, optional
        What the matrix is taken to be: 'general', 'diagonal', 'tridiagonal', 'banded', 'upper triangular', 'lower triangular', 'symmetric',
        'hermitian' or 'positive definite'. Unless given, the matrix is looked at, and a triangular, diagonal or positive definite one is
        solved as such.
    transposed : bool
        Solves a.T @ x = b.

    Raises
    ------
    LinAlgError
        A matrix is singular.
    ValueError
        The matrices are not square, the shapes do not fit, or there is NaN or infinity.

    Examples
    --------
    >>> bc.scipy.linalg.solve([[3, 2], [1, 4]], [5, 6])
    array([0.8, 1.3])
    """
    if assume_a is not None and assume_a not in _STRUCTURES:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    x = operand(a, check_finite)
    right = operand(b, check_finite, x.device)
    if x.shape in ((), (1, 1)) and not (right.ndim > 0 and has_rows(right, 1) and x.ndim):
        # A number divides whatever is on the right.
        if not bool((x != 0).all()):
            raise LinAlgError(_SINGULAR)
        return (right if right.ndim else right.reshape(1)) / x.reshape(())
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected square matrix, got a1.shape={x.shape}")
    if not has_rows(right, x.shape[-1]):
        shape = (*right.shape, 1) if right.ndim == 1 else right.shape
        raise ValueError(f"incompatible shapes: a1.shape={x.shape} and b1.shape={shape}")
    kind = _structure(x) if assume_a is None else _STRUCTURES[assume_a]
    if transposed:
        x, lower = x.mT, not lower
        kind = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}.get(kind, kind)
    try:
        return _solve(x, right, kind, lower, assume_a is None)
    except LinAlgError:
        raise LinAlgError(_SINGULAR) from None


def _solve(a: ndarray, b: ndarray, kind: str, lower: bool, guessed: bool) -> ndarray:
    if kind == "diagonal":
        d = _c.diagonal(a, 0, -2, -1)
        if bool((d == 0).any()):
            raise LinAlgError(_SINGULAR)
        return b / d if b.ndim == 1 else b / d[..., None]
    if kind.endswith("triangular"):
        return _c.linalg_solve_triangular(a, b, kind.startswith("lower"))
    if kind == "positive definite":
        factor, failed = _c.linalg_cholesky_unchecked(a, lower)
        x = _c.linalg_cho_solve(factor, b, lower)  # before anybody looks, so that a GPU does not wait for the host in between
        if not bool((failed != 0).any()):
            return x
        if not guessed:
            raise LinAlgError(_SINGULAR)
    elif kind in ("symmetric", "hermitian"):
        a = _triangle_mirrored(a, lower, kind == "hermitian")
    return _c.linalg_solve(a, b)


def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> ndarray:
    """The solution x of a @ x = b for a triangular matrix.

    Parameters
    ----------
    a : array_like, (..., n, n)
        Only one triangle is read.
    b : array_like, (n,) or (..., n, k)
    trans : {0, 1, 2, 'N', 'T', 'C'}
        Solves with `a`, its transpose or its conjugate transpose.
    lower : bool
        Whether the lower triangle is read.
    unit_diagonal : bool
        Whether the diagonal is taken for ones and not read.
    overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    LinAlgError
        There is a zero on the diagonal.

    Examples
    --------
    >>> bc.scipy.linalg.solve_triangular([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0], lower=True)
    array([1., 2.])
    """
    x = squares(a, check_finite)
    right = operand(b, check_finite, x.device)
    if not has_rows(right, x.shape[-1]):
        raise ValueError(f"shapes of a {x.shape} and b {right.shape} are incompatible")
    try:
        return _c.linalg_solve_triangular(x, right, lower, transposed(trans), unit_diagonal)
    except LinAlgError:
        zeros = _c.asnumpy((_c.diagonal(x, 0, -2, -1) == 0).reshape(-1, x.shape[-1]).any(0))
        raise LinAlgError(f"singular matrix: resolution failed at diagonal {int(np.argmax(zeros))}") from None


def solve_banded(
    l_and_u: tuple[ArrayLike, ArrayLike],
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> ndarray:
    """The solution x of a @ x = b for a matrix with few diagonals.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    l_and_u : (int, int) or two arrays of int
        How many diagonals are below and above the main one; of a stack they may be counts of each matrix.
    ab : array_like, (..., l + u + 1, n)
        Row u + i - j holds a[i, j] in column j.
    b : array_like, (n,) or (..., n, k)
    overwrite_ab, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    LinAlgError
        The matrix is singular.

    Examples
    --------
    >>> bc.scipy.linalg.solve_banded((1, 0), [[2.0, 1.0], [1.0, 0.0]], [2.0, 3.0])
    array([1., 2.])
    """
    counts = [_c.asnumpy(v) for v in l_and_u]
    x = matrices(ab, check_finite)
    right = operand(b, check_finite, x.device)
    if not has_rows(right, x.shape[-1]):
        raise ValueError("shapes of ab and b are not compatible.")
    if any(v.ndim for v in counts):
        return _solve_banded_by_counts(counts[0], counts[1], x, right)
    below, above = map(int, counts)
    if below + above + 1 != x.shape[-2]:
        raise ValueError(
            f"invalid values for the number of lower and upper diagonals: l+u+1 ({below + above + 1}) does not equal "
            f"ab.shape[0] ({x.shape[-2]})"
        )
    host, values = on_host("solve_banded", x, right)
    return back(x.device, _c.linalg_solve_banded(host, values, below))[0]


def _solve_banded_by_counts(below: Any, above: Any, x: ndarray, right: ndarray) -> ndarray:
    """solve_banded where each matrix of a stack has its own numbers of diagonals: those with the same number below are solved together."""
    shape = np.broadcast_shapes(below.shape, above.shape, x.shape[:-2], right.shape[:-2])
    below, above = (np.broadcast_to(v, shape).ravel() for v in (below, above))
    stack = _c.broadcast_to(x, (*shape, *x.shape[-2:])).reshape(-1, *x.shape[-2:])
    shared = right.ndim <= 2
    rights = right if shared else _c.broadcast_to(right, (*shape, *right.shape[-2:])).reshape(-1, *right.shape[-2:])
    groups = [np.flatnonzero(below == count) for count in np.unique(below)]
    parts = []
    for group in groups:
        rows = x.shape[-2] - 1 - int(below[group[0]])
        upper = next((v for v in above[group] if v != rows), rows)
        parts.append(solve_banded((below[group[0]], upper), stack[group], rights if shared else rights[group], check_finite=False))
    found = _c.concatenate(parts)[np.argsort(np.concatenate(groups))]
    return found.reshape(*shape, *found.shape[1:])


def solveh_banded(
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> ndarray:
    """The solution x of a @ x = b for a positive definite matrix with few diagonals.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    ab : array_like, (..., u + 1, n)
        The diagonals of one triangle: row u + i - j, or with `lower` row i - j, holds a[i, j] in column j.
    b : array_like, (n,) or (..., n, k)
    overwrite_ab, overwrite_b : bool
        Operands are never overwritten.
    lower : bool
        Whether the diagonals are the lower triangle's.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    LinAlgError
        The matrix is not positive definite.

    Examples
    --------
    >>> bc.scipy.linalg.solveh_banded([[4.0, 2.0]], [4.0, 4.0])
    array([1., 2.])
    """
    x = matrices(ab, check_finite)
    right = operand(b, check_finite, x.device)
    if not has_rows(right, x.shape[-1]):
        raise ValueError("shapes of ab and b are not compatible.")
    host, values = on_host("solveh_banded", x, right)
    return back(x.device, _c.linalg_solveh_banded(host, values, lower))[0]


def solve_toeplitz(c_or_cr: Any, b: ArrayLike, check_finite: bool = True) -> ndarray:
    """The solution x of toeplitz(c, r) @ x = b.

    On the CPU by Levinson's recursion, in O(n^2). Where a leading minor is too near to zero for it, where derivatives are asked for, and
    on a GPU, the matrix itself is factorized.

    Parameters
    ----------
    c_or_cr : array_like, (..., n), or a pair of them
        The first column, and the first row (the column's conjugate unless given).
    b : array_like, (n,) or (..., n, k)
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    LinAlgError
        The matrix is singular.

    Examples
    --------
    >>> bc.scipy.linalg.solve_toeplitz([2.0, 0.0], [2.0, 4.0])
    array([1., 2.])
    """
    from ._matrices import toeplitz

    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    column = operand(c, check_finite)
    row = (column.conj() if column.dtype.kind == "c" else column) if r is None else operand(r, check_finite, column.device)
    right = operand(b, check_finite, column.device)
    if column.ndim == 0 or row.ndim == 0 or column.shape[-1] != row.shape[-1] or not has_rows(right, column.shape[-1]):
        raise ValueError("Incompatible dimensions.")
    if right.size and column.device.type == "cpu" and not (column.requires_grad or row.requires_grad or right.requires_grad):
        batch = np.broadcast_shapes(column.shape[:-1], row.shape[:-1])
        parts = [_c.broadcast_to(part, (*batch, part.shape[-1])) for part in (row[..., :0:-1], column)]
        x, failed = _c.linalg_solve_toeplitz(_c.concatenate(parts, -1), right[:, None] if right.ndim == 1 else right)
        if not bool((failed != 0).any()):
            return x[..., 0] if right.ndim == 1 else x
    return _c.linalg_solve(toeplitz(column, row), right)


def solve_circulant(
    c: ArrayLike,
    b: ArrayLike,
    singular: str = "raise",
    tol: float | None = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> ndarray:
    """The solution x of circulant(c) @ x = b, by Fourier transforms.

    Parameters
    ----------
    c : array_like
        First columns, along `caxis`.
    b : array_like
        Right sides, along `baxis`; the other axes broadcast with those of `c`.
    singular : {'raise', 'lstsq'}
        What happens where a matrix is singular: an error, or the shortest x for which the residual is least.
    tol : float, optional
        An eigenvalue not above it counts as zero; n times float64's precision times the largest one unless given.
    caxis, baxis, outaxis : int
        Where the vectors lie in `c`, `b` and the result.

    Raises
    ------
    LinAlgError
        A matrix is nearly singular.
    ValueError
        The vectors are not of one length.

    Examples
    --------
    >>> bc.scipy.linalg.solve_circulant([2.0, 0.0, 1.0], [3.0, 3.0, 3.0]).round(6)
    array([1., 1., 1.])
    """
    columns = _c.atleast_1d(operand(c, False))
    right = _c.atleast_1d(operand(b, False, columns.device))
    n = columns.shape[caxis]
    if right.shape[baxis] != n:
        raise ValueError(f"Shapes of c {columns.shape} and b {right.shape} are incompatible")
    if singular not in ("raise", "lstsq"):
        raise ValueError(f"singular: expected 'raise' or 'lstsq', got {singular!r}")
    if columns.size == 0 or right.size == 0:
        batch = np.broadcast_shapes(_c.moveaxis(columns, caxis, -1).shape[:-1], _c.moveaxis(right, baxis, -1).shape[:-1])
        empty = _c.empty((*batch, n), np.result_type(columns.dtype, right.dtype), device=columns.device)
        return _c.moveaxis(empty, -1, outaxis)
    values = _fft.fft(_c.moveaxis(columns, caxis, -1), axis=-1)
    sizes = abs(values)
    limit = sizes.max(axis=-1, keepdims=True) * (n * float(np.finfo(np.float64).eps)) if tol is None else tol
    near = sizes <= limit
    if bool(near.any()):
        if singular == "raise":
            raise LinAlgError("near singular circulant matrix.")
        values = _c.where(near, _c.ones((), values.dtype, device=values.device), values)
        quotients = _fft.fft(_c.moveaxis(right, baxis, -1), axis=-1) / values
        quotients = _c.where(near, _c.zeros((), quotients.dtype, device=values.device), quotients)
    else:
        quotients = _fft.fft(_c.moveaxis(right, baxis, -1), axis=-1) / values
    x = _fft.ifft(quotients, axis=-1)
    if "c" not in (columns.dtype.kind, right.dtype.kind):
        x = x.real.copy()
    return _c.moveaxis(x, -1, outaxis)


def matmul_toeplitz(c_or_cr: Any, x: ArrayLike, check_finite: bool = False, workers: int | None = None) -> ndarray:
    """toeplitz(c, r) @ x, by Fourier transforms.

    Parameters
    ----------
    c_or_cr : array_like, (m,), or a pair of them
        The first column, and the first row, (n,), whose first element is not used (the column's conjugate unless given).
    x : array_like, (n,) or (n, k)
    check_finite : bool
        Whether NaN and infinity are looked for.
    workers : int, optional
        The number of threads is the library's own choice.

    Returns
    -------
    ndarray, (m,) or (m, k)

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> bc.scipy.linalg.matmul_toeplitz(([1.0, 2.0], [1.0, 3.0]), [1.0, 1.0]).round(6)
    array([4., 3.])
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return _matmul_toeplitz(c, r, x, check_finite)


@over_stacks(c=1, r=1, x="1|2")
def _matmul_toeplitz(c: Any, r: Any, x: Any, check_finite: bool) -> ndarray:
    column = operand(c, check_finite)
    row = column.conj() if r is None else operand(r, check_finite, column.device)
    right = operand(x, check_finite, column.device)
    m, n = column.shape[0], row.shape[0]
    if right.ndim not in (1, 2) or right.shape[0] != n:
        raise ValueError("Incompatible dimensions.")
    dtype = np.result_type(column.dtype, row.dtype, right.dtype)
    if m == 0 or right.size == 0:
        return _c.zeros((m, *right.shape[1:]), dtype, device=column.device)
    # The matrix is a corner of a circulant one.
    length = _next_fast_len(m + n - 1, dtype.kind != "c")
    between = _c.zeros(length - (m + n - 1), dtype, device=column.device)
    around = _c.concatenate([column.astype(dtype), between, row[:0:-1].astype(dtype)])
    columns = right.astype(dtype).reshape(n, -1)
    if dtype.kind == "c":
        made = _fft.ifft(_fft.fft(around)[:, None] * _fft.fft(columns, length, axis=0), axis=0)
    else:
        made = _fft.irfft(_fft.rfft(around)[:, None] * _fft.rfft(columns, length, axis=0), length, axis=0)
    return made[:m].astype(dtype, copy=False).reshape(m, *right.shape[1:])


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None, lower: bool = False) -> ndarray:
    """The inverses of square matrices.

    Parameters
    ----------
    a : array_like, (..., n, n)
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    assume_a, lower
        As those of `solve`; a matrix of which nothing is assumed is looked at only on the CPU, and inverted as a triangle if it is one.

    Raises
    ------
    LinAlgError
        A matrix is singular.

    Examples
    --------
    >>> bc.scipy.linalg.inv([[2.0, 1.0], [1.0, 1.0]])
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    x = operand(a, check_finite)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected square matrix, got a1.shape={x.shape}")
    if assume_a is not None and assume_a not in _STRUCTURES:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    kind = _triangle(x) if assume_a is None else _STRUCTURES[assume_a]
    try:
        if kind in ("general", "banded", "tridiagonal"):
            known = _c.linalg_known_inverse(x, False, False, True)
            return _c.linalg_inv(x) if known is None else known
        if kind not in ("diagonal", "symmetric", "hermitian"):
            definite = kind == "positive definite"
            known = _c.linalg_known_inverse(x, lower if definite else kind == "lower triangular", definite)
            if known is not None:
                return known
        return _solve(x, _c.eye(x.shape[-1], dtype=x.dtype, device=x.device), kind, lower, False)
    except LinAlgError:
        raise LinAlgError(_SINGULAR) from None


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> ndarray:
    """The determinants of square matrices, in double precision.

    Parameters
    ----------
    a : array_like, (..., n, n)
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.det([[2.0, 0.0], [0.0, 4.0]])
    array(8.)
    """
    x = operand(a, check_finite)
    if x.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Last 2 dimensions of the array must be square but received shape {x.shape}.")
    # In double precision, whose range determinants need soon.
    return _c.linalg_det(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False))


@over_stacks(a=2, b="1|2")
def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    cond: float | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> tuple[ndarray, ndarray, Any, ndarray | None]:
    """The shortest x for which a @ x is nearest to b, by singular values.

    Parameters
    ----------
    a : array_like, (m, n)
    b : array_like, (m,) or (m, k)
    cond : float, optional
        Singular values below it times the largest one count as zero; the dtype's precision unless given.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    lapack_driver : {None, 'gelsd', 'gelss', 'gelsy'}
        'gelsy', by a QR factorization with column exchanges, has no residues and no singular values; the others are 'gelsd'. A GPU computes
        all by its own routines.

    Returns
    -------
    x : ndarray, (n,) or (n, k)
    residues : ndarray
        The sums of squares for each column (one number for a vector), empty where the rank is below n or m <= n.
    rank : int
    s : ndarray
        The singular values; None for 'gelsy'.

    Examples
    --------
    >>> bc.scipy.linalg.lstsq([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [1.0, 3.0, 5.0])[0].round(6)
    array([2., 1.])
    """
    if lapack_driver not in (None, "gelsd", "gelss", "gelsy"):
        raise ValueError(f'LAPACK driver "{lapack_driver}" is not found')
    x = operand(a, check_finite)
    right = operand(b, check_finite, x.device)
    if x.ndim != 2:
        raise ValueError("Input array a should be 2D")
    if right.shape[0] != x.shape[0]:
        raise ValueError(f"Shape mismatch: a and b should have the same number of rows ({x.shape[0]} != {right.shape[0]}).")
    share = float(np.finfo(np.result_type(x.dtype, right.dtype)).eps) if cond is None else cond
    if lapack_driver == "gelsy" and x.size and right.size:
        return _by_exchanges(x, right, share)
    solution, residues, rank, s = _linalg.lstsq(x, right, share)
    return solution, residues[0] if right.ndim == 1 and residues.size else residues, int(rank), s


def _by_exchanges(a: ndarray, b: ndarray, share: float) -> tuple[ndarray, ndarray, int, None]:
    """What lstsq gives for the driver 'gelsy'."""
    if a.device.type == "cpu":
        x, _, count, _ = _c.linalg_lstsq(a, b[:, None] if b.ndim == 1 else b, share, True)
        x, rank = x[:, 0] if b.ndim == 1 else x, int(count)
    else:
        x, _, found, _ = _linalg.lstsq(a, b, share)
        rank = int(found)
    return x, _c.empty(0, x.dtype, device=x.device), rank, None


def pinv(
    a: ArrayLike, *, atol: float | None = None, rtol: float | None = None, return_rank: bool = False, check_finite: bool = True
) -> Any:
    """The Moore-Penrose inverses of matrices, by singular values.

    Parameters
    ----------
    a : array_like, (..., m, n)
    atol : float, optional
        Singular values not above atol + rtol * the largest one count as zero. 0 unless given.
    rtol : float, optional
        max(m, n) times the dtype's precision unless a tolerance is given.
    return_rank : bool
        Whether the rank is returned too.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    x = matrices(a, check_finite)
    if x.requires_grad:
        made = _linalg.pinv_function().apply(x, lambda y: pinv(y, atol=atol, rtol=rtol, check_finite=False))
        return (made, pinv(x.detach(), atol=atol, rtol=rtol, return_rank=True, check_finite=False)[1]) if return_rank else made
    u, s, vh = _c.linalg_svd(x, 1)
    kept = s > _threshold(x, s, atol, rtol)
    weights = _c.where(kept, 1 / s, _c.zeros((), s.dtype, device=s.device))
    made = _c.matmul(dagger(vh), weights[..., None] * dagger(u))
    return (made, kept.sum(-1)) if return_rank else made


def _threshold(a: ndarray, s: ndarray, atol: float | None, rtol: float | None) -> Any:
    absolute = 0.0 if atol is None else atol
    relative = (max(a.shape[-2:]) * eps(s) if atol is None else 0.0) if rtol is None else rtol
    if absolute < 0 or relative < 0:
        raise ValueError("atol and rtol values must be positive.")
    return absolute + _c.reduce("max", s, -1, None, None, True, 0.0) * relative


def pinvh(
    a: ArrayLike,
    atol: float | None = None,
    rtol: float | None = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The Moore-Penrose inverses of Hermitian matrices, by eigenvalues.

    Parameters
    ----------
    a : array_like, (..., n, n)
    atol, rtol
        As those of `pinv`, for the eigenvalues' sizes.
    lower : bool
        The triangle that is read.
    return_rank : bool
        Whether the rank is returned too.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.pinvh([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    x = squares(a, check_finite, 'expected square "a" matrix')
    w, v = _c.linalg_eigh(x, lower, True)
    kept = abs(w) > _threshold(x, abs(w), atol, rtol)
    made = _c.matmul(v * _c.where(kept, 1 / w, _c.zeros((), w.dtype, device=w.device))[..., None, :], dagger(v))
    return (made, kept.sum(-1)) if return_rank else made


# ---- LU ---------------------------------------------------------------------------------------------------------------------------------


def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[ndarray, ndarray]:
    """L and U of matrices in one, with the exchanges of rows, as `lu_solve` takes them.

    Parameters
    ----------
    a : array_like, (..., m, n)
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    lu : ndarray, (..., m, n)
        U, and below its diagonal L, whose diagonal of ones is not kept.
    piv : ndarray, (..., min(m, n))
        int32: row i was exchanged with row piv[i].

    Examples
    --------
    >>> bc.scipy.linalg.lu_factor([[1.0, 2.0], [2.0, 2.0]])
    (array([[2. , 2. ],
           [0.5, 1. ]]), array([1, 1], dtype=int32))
    """
    x = matrices(a, check_finite, "The input array must be at least two-dimensional.")
    factors, pivots, info = _c.linalg_lu(x)
    if info.size and (number := int(info.max())) > 0:
        warn(f"Diagonal number {number} is exactly zero. Singular matrix.", LinAlgWarning)
    return factors, pivots


def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike], b: ArrayLike, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> ndarray:
    """The solution x of a @ x = b, from what `lu_factor` gave.

    Parameters
    ----------
    lu_and_piv : tuple of array_like
    b : array_like, (n,) or (..., n, k)
    trans : {0, 1, 2}
        Solves with `a`, its transpose or its conjugate transpose.
    overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for in `b`.

    Examples
    --------
    >>> bc.scipy.linalg.lu_solve(bc.scipy.linalg.lu_factor([[2.0, 0.0], [0.0, 4.0]]), [2.0, 4.0])
    array([1., 1.])
    """
    factors = operand(lu_and_piv[0], False)
    right = operand(b, check_finite, factors.device)
    if not has_rows(right, factors.shape[-1]):
        raise ValueError(f"Shapes of lu {factors.shape} and b {right.shape} are incompatible")
    return _c.linalg_lu_solve(factors, _c.asarray(lu_and_piv[1], device=factors.device), right, transposed(trans))


def _order_of(pivots: ndarray, rows: int) -> np.ndarray:
    """The order of rows that exchanges lead to, on the host: exchanges come one after the other."""
    exchanges = _c.asnumpy(pivots)
    orders = []
    for steps in exchanges.reshape(-1, exchanges.shape[-1]).tolist():
        order = list(range(rows))
        for i, other in enumerate(steps):
            order[i], order[other] = order[other], order[i]
        orders.append(order)
    return np.array(orders, np.int64).reshape((*exchanges.shape[:-1], rows))


def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> tuple[ndarray, ...]:
    """The factors of a = P @ L @ U, with partial pivoting.

    Parameters
    ----------
    a : array_like, (..., m, n)
    permute_l : bool
        Gives (P @ L, U).
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    p_indices : bool
        Gives indices for P, with a = L[p, :] @ U.

    Returns
    -------
    tuple of ndarray
        P, (..., m, m), L, (..., m, k), with a diagonal of ones, and U, (..., k, n), with k = min(m, n). The pivots are looked at.

    Examples
    --------
    >>> p, l, u = bc.scipy.linalg.lu([[1.0, 2.0], [2.0, 2.0]])
    >>> p @ l @ u
    array([[1., 2.],
           [2., 2.]])
    """
    x = matrices(a, check_finite, "The input array must be at least two-dimensional.")
    m, n = x.shape[-2:]
    k = min(m, n)
    if k == 0:
        lower, upper = (_c.zeros(x.shape[:-2] + s, x.dtype, device=x.device) for s in ((m, 0), (0, n)))
        # SciPy's permutation of such a matrix is empty, whatever its rows are.
        order = _c.zeros(x.shape[:-2] + ((0,) if p_indices else (0, 0)), np.int32 if p_indices else x.real.dtype, device=x.device)
        return (lower, upper) if permute_l and not p_indices else (order, lower, upper)
    factors, pivots, _ = _c.linalg_lu(x)
    parts = _c.linalg_lu_parts(factors, pivots, 1 if p_indices else 2 if permute_l else 0)
    if parts is not None:
        return parts
    lower = _c.tril(factors[..., :k], -1) + _c.eye(m, k, dtype=x.dtype, device=x.device)
    upper = _c.triu(factors[..., :k, :])
    # Row i of P @ L is the row of L that came from i: the inverse order.
    where = _c.asarray(_order_of(pivots, m).argsort(-1), device=x.device)
    if p_indices:
        return where.astype(np.int32), lower, upper
    if permute_l:
        return _c.take_along_axis(lower, where[..., None], -2), upper
    columns = _c.arange(m, device=x.device)
    return (where[..., None] == columns).astype(x.real.dtype), lower, upper


# ---- Cholesky ---------------------------------------------------------------------------------------------------------------------------


def _cholesky(a: Any, lower: bool, check_finite: bool) -> ndarray:
    x = squares(a, check_finite, "Input array is expected to be square but has the shape: {shape}.")
    factor, info = _c.linalg_cholesky_unchecked(x, lower)
    if info.size and (number := int(info.max())) > 0:
        raise LinAlgError(f"{number}-th leading minor of the array is not positive definite")
    return factor


def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> ndarray:
    """The triangular factors U with a = U.conj().T @ U of positive definite matrices, or with `lower` L with a = L @ L.conj().T.

    Parameters
    ----------
    a : array_like, (..., n, n)
        Only the triangle of the factor is read.
    lower : bool
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    LinAlgError
        A matrix is not positive definite.

    Examples
    --------
    >>> bc.scipy.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]], lower=True)
    array([[2., 0.],
           [1., 2.]])
    """
    return _cholesky(a, lower, check_finite)


def cho_factor(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[ndarray, Any]:
    """The Cholesky factors as `cho_solve` takes them, and `lower`, once for each matrix of a stack. The other triangle is zero.

    Parameters
    ----------
    a : array_like, (..., n, n)
    lower : bool
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.cho_factor([[4.0]])
    (array([[2.]]), False)
    """
    factor = _cholesky(a, lower, check_finite)
    return factor, _c.full(factor.shape[:-2], bool(lower), device=factor.device) if factor.ndim > 2 else lower


def cho_solve(c_and_lower: tuple[ArrayLike, ArrayLike], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> ndarray:
    """The solution x of a @ x = b, from what `cho_factor` gave.

    Parameters
    ----------
    c_and_lower : tuple of array_like and bool, or of a stack and bools
    b : array_like, (n,) or (..., n, k)
    overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.cho_solve(bc.scipy.linalg.cho_factor([[4.0]]), [8.0])
    array([2.])
    """
    factor = squares(c_and_lower[0], check_finite, "The factored matrix c is not square.")
    right = operand(b, check_finite, factor.device)
    if not has_rows(right, factor.shape[-1]):
        raise ValueError(f"incompatible dimensions ({factor.shape} and {right.shape})")
    flags = _c.asnumpy(c_and_lower[1])
    lower = bool(flags.all())
    if not lower and flags.any():
        # Upper ones among lower ones are transposed.
        factor = _c.where(_c.asarray(flags[..., None, None], device=factor.device), factor, factor.mT.conj())
        lower = True
    return _c.linalg_cho_solve(factor, right, lower)
