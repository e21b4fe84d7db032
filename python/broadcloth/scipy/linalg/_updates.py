"""QR factors of matrices whose rows or columns were changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._operands import dagger, eps, over_stacks, require_finite

if TYPE_CHECKING:
    from ...typing import ArrayLike


def _checked(name: str, x: Any, check_finite: bool, like: ndarray | None = None) -> ndarray:
    """An operand, whose dtype must be one of LAPACK's: factors of integers or of other precisions are a mistake."""
    a = _c.asarray(x) if like is None else _c.asarray(x, device=like.device)
    if a.dtype.char not in "fdFD":
        raise ValueError(f"{name}: expected float32, float64, complex64 or complex128, got {a.dtype}")
    if like is not None and a.dtype != like.dtype:
        raise ValueError(f"{name}: expected the dtype of Q, {like.dtype}, got {a.dtype}")
    if check_finite:
        require_finite(a)
    return a


def _factors(name: str, Q: Any, R: Any, check_finite: bool) -> tuple[ndarray, ndarray, bool]:
    """Q and R, and whether they are an economic factorization."""
    q = _checked(name, Q, check_finite)
    r = _checked(name, R, check_finite, q)
    if q.ndim < 2 or r.ndim < 2 or not q.size or not r.size:
        raise ValueError(f"{name}: expected matrices Q and R with elements, got shapes {q.shape} and {r.shape}")
    m, n = q.shape[-2:]
    if r.shape[-2] != n or m < n or (m > n and r.shape[-1] != n) or q.shape[:-2] != r.shape[:-2]:
        raise ValueError(f"{name}: expected Q (M, M) and R (M, N), or Q (M, N) and R (N, N), got shapes {q.shape} and {r.shape}")
    return q, r, m > n


def _to_stack(x: ndarray, q: ndarray) -> ndarray:
    """One vector for each matrix of a stack."""
    return _c.broadcast_to(x, q.shape[:-2] + x.shape) if x.ndim == 1 else x


def _zeros(like: ndarray, rows: int, columns: int) -> ndarray:
    return _c.zeros((*like.shape[:-2], rows, columns), like.dtype, device=like.device)


def _beside(*parts: ndarray) -> ndarray:
    return _c.concatenate(list(parts), -1)


def _above(*parts: ndarray) -> ndarray:
    return _c.concatenate(list(parts), -2)


# What changes, in linalg_qr_changed.
_UPDATE, _INSERT_COLUMNS, _INSERT_ROWS, _DELETE_ROWS, _DELETE_COLUMNS = range(5)


def _new_columns(q: ndarray, r: ndarray, k: int, economic: bool) -> tuple[ndarray, ndarray]:
    """The factors of q @ r, where r is triangular in its first k columns: those of the block behind them."""
    rows = r.shape[-2]
    if k >= min(rows, r.shape[-1]):
        width = r.shape[-1] if economic else rows
        return q[..., :width], r[..., :width, :]
    turn, block = _c.linalg_qr(r[..., k:, k:], "reduced" if economic else "complete")
    upper = _above(r[..., :k, :], _beside(_zeros(r, block.shape[-2], k), block))
    return _beside(q[..., :k], _c.matmul(q[..., k:], turn)), upper


def _position(name: str, k: Any, count: int, last: int) -> int:
    k = int(k)
    if not -count <= k <= last:
        raise ValueError(f"{name}: k={k} is not a valid index, expected {-count} <= k <= {last}")
    return k + count if k < 0 else k


def _which(which: str) -> bool:
    if which not in ("row", "col"):
        raise ValueError("'which' must be either 'row' or 'col'")
    return which == "row"


def qr_delete(
    Q: ArrayLike,
    R: ArrayLike,
    k: int,
    p: int = 1,
    which: str = "row",
    overwrite_qr: bool = False,
    check_finite: bool = True,
) -> tuple[ndarray, ndarray]:
    """The QR factors of a matrix without some of its rows or columns, from those of the matrix.

    Parameters
    ----------
    Q : array_like, (..., M, M) or (..., M, N)
    R : array_like, (..., M, N) or (..., N, N)
    k : int
        The first row or column that is deleted.
    p : int
        How many are deleted.
    which : {'row', 'col'}
    overwrite_qr : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    Q1, R1 : ndarray

    Examples
    --------
    >>> q, r = bc.scipy.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> q1, r1 = bc.scipy.linalg.qr_delete(q, r, 0, which="col")
    >>> (q1 @ r1).round(6)
    array([[1.],
           [2.]])
    """
    rows = _which(which)
    q, r, economic = _factors("qr_delete", Q, R, check_finite)
    count = q.shape[-2] if rows else r.shape[-1]
    k, p = _position("qr_delete", k, count, count - 1), int(p)
    if p < 1 or k + p > count:
        raise ValueError(f"qr_delete: expected 1 <= p <= {count - k}, got p={p}")
    if not (rows and economic) and (made := _c.linalg_qr_changed(_DELETE_ROWS if rows else _DELETE_COLUMNS, q, r, [], k, p)):
        return made[0], made[1]
    if not rows:
        return _new_columns(q, _beside(r[..., :k], r[..., k + p :]), k, economic)
    # The rows of Q that stay, as a product with orthonormal columns: the triangle times R is a triangle.
    turn, triangle = _c.linalg_qr(_above(q[..., :k, :], q[..., k + p :, :]), "reduced")
    product = _c.matmul(triangle, r)
    if economic and product.shape[-2] == r.shape[-2]:
        return turn, _c.triu(product)
    # A full Q loses columns with its rows, and the triangle is wider than high.
    again, upper = _c.linalg_qr(product, "complete")
    return _c.matmul(turn, again), upper


def qr_insert(
    Q: ArrayLike,
    R: ArrayLike,
    u: ArrayLike,
    k: int,
    which: str = "row",
    rcond: float | None = None,
    overwrite_qru: bool = False,
    check_finite: bool = True,
) -> tuple[ndarray, ndarray]:
    """The QR factors of a matrix with further rows or columns, from those of the matrix.

    Parameters
    ----------
    Q : array_like, (..., M, M) or (..., M, N)
    R : array_like, (..., M, N) or (..., N, N)
    u : array_like, (..., N), (..., p, N), (..., M) or (..., M, p)
        The rows or columns; one of them has a dimension less than Q.
    k : int
        The row or column before which they are inserted.
    which : {'row', 'col'}
    rcond : float, optional
        For columns of an economic factorization: a column whose part outside the range of Q is not larger than this share of it is an
        error; the dtype's precision unless given.
    overwrite_qru : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    Q1, R1 : ndarray

    Raises
    ------
    LinAlgError
        A column lies in the range of an economic Q.

    Examples
    --------
    >>> q, r = bc.scipy.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> q1, r1 = bc.scipy.linalg.qr_insert(q, r, [5.0, 6.0], 1)
    >>> (q1 @ r1).round(6)
    array([[3., 1.],
           [5., 6.],
           [4., 2.]])
    """
    rows = _which(which)
    if np.ndim(k):  # a place for each matrix
        return over_stacks(Q=2, R=2, u="1|2", k=0)(qr_insert)(Q, R, u, k, which, rcond, overwrite_qru, check_finite)
    q, r, economic = _factors("qr_insert", Q, R, check_finite)
    new = _to_stack(_checked("qr_insert", u, check_finite, q), q)
    count = q.shape[-2] if rows else r.shape[-1]
    if new.ndim == q.ndim - 1:
        new = new[..., None, :] if rows else new[..., None]
    length = new.shape[-1 if rows else -2] if new.ndim == q.ndim else -1
    if length != (r.shape[-1] if rows else q.shape[-2]) or new.shape[:-2] != q.shape[:-2] or not new.size:
        raise ValueError(f"qr_insert: u does not fit Q and R, got shapes {_c.asarray(u).shape}, {q.shape} and {r.shape}")
    k = _position("qr_insert", k, count, count)
    return _insert_rows(q, r, new, k, economic) if rows else _insert_columns(q, r, new, k, economic, rcond)


def _insert_rows(q: ndarray, r: ndarray, new: ndarray, k: int, economic: bool) -> tuple[ndarray, ndarray]:
    p, width = new.shape[-2], q.shape[-1]
    if made := _c.linalg_qr_changed(_INSERT_ROWS, q, r, [new], k, p):
        return made[0], made[1]
    unit = _zeros(q, p, p) + _c.eye(p, dtype=q.dtype, device=q.device)
    upper, lower = q[..., :k, :], q[..., k:, :]
    spread = _above(_beside(_zeros(q, k, p), upper), _beside(unit, _zeros(q, p, width)), _beside(_zeros(q, lower.shape[-2], p), lower))
    turn, triangle = _c.linalg_qr(_above(new, r), "reduced" if economic else "complete")
    return _c.matmul(spread, turn), triangle


def _insert_columns(q: ndarray, r: ndarray, new: ndarray, k: int, economic: bool, rcond: float | None) -> tuple[ndarray, ndarray]:
    m, n = q.shape[-2:]
    if economic:
        # The basis of Q's range goes on with what the new columns have outside of it, as far as there are dimensions.
        share = eps(q) if rcond is None else rcond
        extension = min(new.shape[-1], m - n)
        basis, triangle = _c.linalg_qr(_beside(q, new[..., :extension]), "reduced")
        outside = abs(triangle.diagonal(0, -2, -1)[..., n:])
        lengths = (abs(new[..., :extension]) ** 2).sum(-2) ** 0.5
        if bool((outside <= share * lengths).any()):
            raise LinAlgError("One of the columns of u lies in the span of Q.")
        q, r = _beside(q, basis[..., n:]), _above(r, _zeros(r, extension, n))
    if made := _c.linalg_qr_changed(_INSERT_COLUMNS, q, r, [new], k, new.shape[-1]):
        q, r = made
        width = min(r.shape[-2], r.shape[-1]) if economic and q.shape[-1] < m else r.shape[-2]
        return (q, r) if width == r.shape[-2] else (q[..., :width], r[..., :width, :])
    column = _c.matmul(dagger(q), new)
    return _new_columns(q, _beside(r[..., :k], column, r[..., k:]), k, economic and q.shape[-1] < m)


def qr_update(
    Q: ArrayLike,
    R: ArrayLike,
    u: ArrayLike,
    v: ArrayLike,
    overwrite_qruv: bool = False,
    check_finite: bool = True,
) -> tuple[ndarray, ndarray]:
    """The QR factors of A + u @ v^H, from those of A.

    Parameters
    ----------
    Q : array_like, (..., M, M) or (..., M, N)
    R : array_like, (..., M, N) or (..., N, N)
    u, v : array_like, (..., M) and (..., N), or (..., M, k) and (..., N, k)
    overwrite_qruv : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    Q1, R1 : ndarray

    Examples
    --------
    >>> q, r = bc.scipy.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> q1, r1 = bc.scipy.linalg.qr_update(q, r, [1.0, 0.0], [0.0, 1.0])
    >>> (q1 @ r1).round(6)
    array([[3., 2.],
           [4., 2.]])
    """
    q, r, economic = _factors("qr_update", Q, R, check_finite)
    left, right = (_to_stack(_checked("qr_update", x, check_finite, q), q) for x in (u, v))
    if left.ndim == right.ndim == q.ndim - 1:
        left, right = left[..., None], right[..., None]
    fits = left.ndim == right.ndim == q.ndim and left.shape[-1] == right.shape[-1] and left.shape[:-2] == right.shape[:-2] == q.shape[:-2]
    if not fits or left.shape[-2] != q.shape[-2] or right.shape[-2] != r.shape[-1] or not left.size:
        raise ValueError(f"qr_update: u and v do not fit Q and R, got shapes {left.shape}, {right.shape}, {q.shape} and {r.shape}")
    if made := _c.linalg_qr_changed(_UPDATE, q, r, [left, right], 0, left.shape[-1]):
        return made[0], made[1]
    if economic:
        turn, upper = _c.linalg_qr(_c.matmul(q, r) + _c.matmul(left, dagger(right)), "reduced")
        return turn, upper
    turn, upper = _c.linalg_qr(r + _c.matmul(_c.matmul(dagger(q), left), dagger(right)), "complete")
    return _c.matmul(q, turn), upper
