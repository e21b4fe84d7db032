"""Hermitian matrices with few diagonals, of which those of one triangle are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._operands import back, has_rows, matrices, on_host, operand

if TYPE_CHECKING:
    from ...typing import ArrayLike


def cholesky_banded(ab: ArrayLike, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True) -> ndarray:
    """The diagonals of a positive definite matrix' Cholesky factor, as `ab` has those of the matrix.

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    ab : array_like, (..., u + 1, n)
        The diagonals of one triangle: row u + i - j, or with `lower` row i - j, holds a[i, j] in column j.
    overwrite_ab : bool
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
    >>> bc.scipy.linalg.cholesky_banded([[4.0, 9.0]])
    array([[2., 3.]])
    """
    x = matrices(ab, check_finite)
    if x.shape[-1] == 0:
        return x.copy()
    (host,) = on_host("cholesky_banded", x)
    factor, info = _c.linalg_cholesky_banded(host, lower)
    if info.size and (number := int(info.max())) > 0:
        raise LinAlgError(f"{number}-th leading minor not positive definite")
    return back(x.device, factor)[0]


def cho_solve_banded(cb_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> ndarray:
    """The solution x of a @ x = b, from the factor that `cholesky_banded` gives.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    cb_and_lower : (array_like, bool)
        The factor's diagonals, (..., u + 1, n), and whether they are the lower triangle's.
    b : array_like, (n,) or (..., n, k)
    overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> bc.scipy.linalg.cho_solve_banded((bc.scipy.linalg.cholesky_banded([[4.0, 2.0]]), False), [4.0, 4.0])
    array([1., 2.])
    """
    cb, lower = cb_and_lower
    x = matrices(cb, check_finite)
    right = operand(b, check_finite, x.device)
    if not has_rows(right, x.shape[-1]):
        raise ValueError("shapes of cb and b are not compatible.")
    if right.size == 0:
        return right.astype(np.result_type(x.dtype, right.dtype))
    host, values = on_host("cho_solve_banded", x, right)
    return back(x.device, _c.linalg_cho_solve_banded(host, values, bool(lower)))[0]


def _dense(ab: ndarray, lower: bool) -> ndarray:
    """The triangle of which the diagonals are given, with zeros elsewhere."""
    above, n = ab.shape[-2] - 1, ab.shape[-1]
    j = _c.arange(n, device=ab.device)
    distance = j[:, None] - j if lower else j - j[:, None]
    row = distance if lower else above - distance
    inside = (distance >= 0) & (distance <= above)
    return _c.where(inside, ab[..., _c.where(inside, row, 0), _c.broadcast_to(j, (n, n))], _c.zeros((), ab.dtype, device=ab.device))


def eig_banded(
    a_band: ArrayLike,
    lower: bool = False,
    eigvals_only: bool = False,
    overwrite_a_band: bool = False,
    select: str = "a",
    select_range: Any = None,
    max_ev: int = 0,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues, in ascending order, and eigenvectors of Hermitian matrices with few diagonals, computed as `eigh` does.

    Parameters
    ----------
    a_band : array_like, (..., u + 1, n)
        The diagonals of one triangle: row u + i - j, or with `lower` row i - j, holds a[i, j] in column j.
    lower : bool
        Whether the diagonals are the lower triangle's.
    eigvals_only : bool
        Gives the eigenvalues alone.
    overwrite_a_band : bool
        Operands are never overwritten.
    select : {'a', 'v', 'i'}
        All; those in (select_range[0], select_range[1]], whose number is looked at; those with these first and last indices.
    select_range : pair, optional
    max_ev : int
        Room is made for as many eigenvalues as there are.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    w : ndarray, (..., m)
    v : ndarray, (..., n, m)

    Raises
    ------
    ValueError
        The band is no matrix, or the selection is not valid.

    Examples
    --------
    >>> bc.scipy.linalg.eig_banded([[0.0, 1.0], [2.0, 2.0]], eigvals_only=True)
    array([1., 3.])
    """
    from ._decompositions import eigh

    x = matrices(a_band, check_finite, "expected a 2-D array")
    kind = {0: "a", 1: "v", 2: "i", "all": "a", "value": "v", "index": "i"}.get(select, select) if isinstance(select, int | str) else None
    if kind not in ("a", "v", "i"):
        raise ValueError("invalid argument for select")
    if kind != "a" and (select_range is None or len(select_range) != 2):
        raise ValueError("select_range must be a 2-element array-like in nondecreasing order")
    if kind == "a" and x.shape[-1] and (parts := _c.linalg_banded_eigh(x, lower, not eigvals_only)):
        return parts[0] if eigvals_only else parts
    chosen = {"a": {}, "v": {"subset_by_value": select_range}, "i": {"subset_by_index": select_range}}[kind]
    return eigh(_dense(x, lower), lower=lower, eigvals_only=eigvals_only, check_finite=False, **chosen)


def eigvals_banded(
    a_band: ArrayLike,
    lower: bool = False,
    overwrite_a_band: bool = False,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
) -> ndarray:
    """The eigenvalues that `eig_banded` gives.

    Examples
    --------
    >>> bc.scipy.linalg.eigvals_banded([[0.0, 1.0], [2.0, 2.0]])
    array([1., 3.])
    """
    return eig_banded(a_band, lower, True, overwrite_a_band, select, select_range, 0, check_finite)
