"""Decompositions of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ._forms import check_schur_order, ordered_schur
from ._operands import back, dagger, eps, matrices, on_host, operand, over_stacks, squares

if TYPE_CHECKING:
    from ...typing import ArrayLike

_SQUARE = 'expected square "a" matrix'


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """The singular value decomposition a = U @ diag(s) @ Vh.

    Parameters
    ----------
    a : array_like, (..., m, n)
    full_matrices : bool
        Whether U is (m, m) and Vh (n, n); else (m, k) and (k, n) with k = min(m, n).
    compute_uv : bool
        Whether U and Vh are computed; else the singular values alone are the result.
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    lapack_driver : {'gesdd', 'gesvd'}
        Both are computed as 'gesdd' on the CPU.

    Returns
    -------
    U, s, Vh : ndarray
        Or s.

    Examples
    --------
    >>> bc.scipy.linalg.svd([[0.0, 2.0], [1.0, 0.0]], compute_uv=False)
    array([2., 1.])
    """
    if not isinstance(lapack_driver, str):
        raise TypeError("lapack_driver must be a string")
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f'lapack_driver must be "gesdd" or "gesvd", not "{lapack_driver}"')
    x = matrices(a, check_finite)
    if not compute_uv:
        return _c.linalg_svd(x, 0)[0]
    return tuple(_c.linalg_svd(x, 2 if full_matrices else 1))


def svdvals(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> ndarray:
    """The singular values of matrices, in descending order.

    Examples
    --------
    >>> bc.scipy.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])
    array([2., 1.])
    """
    return _c.linalg_svd(matrices(a, check_finite), 0)[0]


@over_stacks(A=2)
def orth(A: ArrayLike, rcond: float | None = None) -> ndarray:
    """An orthonormal basis of a matrix' range, by its singular values. The rank is looked at.

    Parameters
    ----------
    A : array_like, (m, n)
    rcond : float, optional
        Singular values not above it times the largest one count as zero; max(m, n) times the dtype's precision unless given.

    Examples
    --------
    >>> abs(bc.scipy.linalg.orth([[2.0, 0.0], [0.0, 0.0]]))
    array([[1.],
           [0.]])
    """
    x = matrices(A)
    u, s, _ = _c.linalg_svd(x, 1)
    return u[..., : _rank(x, s, rcond)]


def _rank(x: ndarray, s: ndarray, rcond: float | None) -> int:
    share = max(x.shape) * eps(s) if rcond is None else rcond
    return int((s > share * s[0]).sum()) if s.size else 0


@over_stacks(A=2)
def null_space(
    A: ArrayLike,
    rcond: float | None = None,
    *,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> ndarray:
    """An orthonormal basis of the vectors that a matrix takes to zero, by its singular values. The rank is looked at.

    Parameters
    ----------
    A : array_like, (m, n)
    rcond : float, optional
        Singular values not above it times the largest one count as zero; max(m, n) times the dtype's precision unless given.
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    lapack_driver : {'gesdd', 'gesvd'}
        As that of `svd`.

    Examples
    --------
    >>> abs(bc.scipy.linalg.null_space([[1.0, 1.0]])).round(3)
    array([[0.707],
           [0.707]])
    """
    x = matrices(A, check_finite)
    _, s, vh = svd(x, check_finite=False, lapack_driver=lapack_driver)
    return dagger(vh[_rank(x, s, rcond) :])


@over_stacks(A=2, B=2)
def subspace_angles(A: ArrayLike, B: ArrayLike) -> ndarray:
    """The angles between the ranges of two matrices, in descending order (Knyazev & Argentati, 2002).

    Examples
    --------
    >>> bc.scipy.linalg.subspace_angles([[1.0], [0.0]], [[0.0], [1.0]]).round(4)
    array([1.5708])
    """
    a, b = orth(A), orth(B)
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"A and B must have the same number of rows, got {a.shape[0]} and {b.shape[0]}")
    product = _c.matmul(dagger(a), b)
    cosines = svdvals(product)
    rest = b - _c.matmul(a, product) if a.shape[1] >= b.shape[1] else a - _c.matmul(b, dagger(product))
    large = cosines**2 >= 0.5
    clip = _c.ufuncs["minimum"]
    sines = clip(svdvals(rest), 1.0)
    arcsin, arccos = _c.ufuncs["arcsin"], _c.ufuncs["arccos"]
    return _c.where(large, arcsin(sines[::-1]), arccos(clip(cosines, 1.0)))[::-1]


def polar(a: ArrayLike, side: str = "right") -> tuple[ndarray, ndarray]:
    """The factors of a = U @ P, or with side 'left' P @ U: U has orthonormal columns or rows, P is positive semidefinite.

    Parameters
    ----------
    a : array_like, (..., m, n)
    side : {'right', 'left'}

    Returns
    -------
    U, P : ndarray

    Examples
    --------
    >>> u, p = bc.scipy.linalg.polar([[0.0, 2.0], [3.0, 0.0]])
    >>> p.round(6)
    array([[3., 0.],
           [0., 2.]])
    """
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    w, s, vh = _c.linalg_svd(matrices(a, False, "`a` must be a 2-D array."), 1)
    u = _c.matmul(w, vh)
    if side == "right":
        return u, _c.matmul(dagger(vh) * s[..., None, :], vh)
    return u, _c.matmul(w * s[..., None, :], dagger(w))


# ---- QR ---------------------------------------------------------------------------------------------------------------------------------


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Any, ...]:
    """The factors of a = Q @ R, or with `pivoting` of a[:, P] = Q @ R.

    Parameters
    ----------
    a : array_like, (..., m, n)
    overwrite_a : bool
        Operands are never overwritten.
    lwork : int, optional
        The size of the work array is the library's own choice.
    mode : {'full', 'r', 'economic', 'raw'}
        Q of shape (m, m) or (m, min(m, n)); R alone; or ((reflectors, their factors), R).
    pivoting : bool
        Columns are exchanged so that R's diagonal does not grow. Computed by LAPACK; of a GPU's array on a copy in host memory, with a
        `PerformanceWarning`.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> q, r = bc.scipy.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> (q @ r).round(6)
    array([[3., 1.],
           [4., 2.]])
    """
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    x = matrices(a, check_finite, "expected a 2-D array")
    if mode == "raw":
        if pivoting:
            # The order comes from the factorization with exchanges; the reflectors from one of the columns in that order.
            (host,) = on_host("qr with pivoting", x)
            order = back(x.device, _c.linalg_qr(host, "r", True)[1])[0]
            x = _c.take_along_axis(x, _c.broadcast_to(order[..., None, :], x.shape), -1)
        h, tau = _c.linalg_qr(x, "raw")
        factors = h.mT
        upper = _c.triu(factors[..., : min(x.shape[-2:]), :])
        return ((factors, tau), upper, order) if pivoting else ((factors, tau), upper)
    form = {"full": "complete", "qr": "complete", "economic": "reduced", "r": "r"}[mode]
    if not pivoting:
        parts = _c.linalg_qr(x, form)
        if mode == "r":
            # R has as many rows as the matrix.
            rest = _c.zeros((*x.shape[:-2], x.shape[-2] - parts[0].shape[-2], x.shape[-1]), x.dtype, device=x.device)
            return (_c.concatenate([parts[0], rest], -2) if rest.shape[-2] else parts[0],)
        return tuple(parts)
    (host,) = on_host("qr with pivoting", x)
    parts = back(x.device, *_c.linalg_qr(host, "complete" if mode == "r" else form, True))
    return parts[1:] if mode == "r" else parts


def rq(a: ArrayLike, overwrite_a: bool = False, lwork: int | None = None, mode: str = "full", check_finite: bool = True) -> Any:
    """The factors of a = R @ Q: R is upper triangular, Q has orthonormal rows.

    Parameters
    ----------
    a : array_like, (..., m, n)
    overwrite_a : bool
        Operands are never overwritten.
    lwork : int, optional
        The size of the work array is the library's own choice.
    mode : {'full', 'r', 'economic'}
        R of shape (m, n) and Q (n, n); R alone; or R (m, min(m, n)) and Q (min(m, n), n).
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> r, q = bc.scipy.linalg.rq([[3.0, 1.0], [4.0, 2.0]])
    >>> (r @ q).round(6)
    array([[3., 1.],
           [4., 2.]])
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    x = matrices(a, check_finite)
    if x.shape[-2] == 0 and mode == "full":
        one = _c.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return x.copy(), _c.broadcast_to(one, (*x.shape[:-2], *one.shape)).copy()
    # The factors of the reversed and transposed matrix, put back the same way: the signs are LAPACK's.
    q, r = _c.linalg_qr(dagger(x[..., ::-1, ::-1]), "reduced" if mode == "economic" else "complete")
    upper = dagger(r)[..., ::-1, ::-1]
    return upper if mode == "r" else (upper, dagger(q)[..., ::-1, ::-1])


# ---- Eigenvalues ------------------------------------------------------------------------------------------------------------------------


def eig(
    a: ArrayLike,
    b: ArrayLike | None = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """The eigenvalues and eigenvectors of square matrices.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    a : array_like, (..., n, n)
    b : array_like, (..., n, n), optional
        Solves a @ v = w * b @ v. Where it is singular there are eigenvalues that are infinite, or NaN.
    left, right : bool
        Whether left and right eigenvectors are computed.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.
    homogeneous_eigvals : bool
        Gives eigenvalues as pairs, whose quotients they are: (..., 2, n).

    Returns
    -------
    w : ndarray, (..., n), complex
    vl, vr : ndarray, (..., n, n)
        Normalized, in columns; those that are asked for.

    Examples
    --------
    >>> w, v = bc.scipy.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> w
    array([0.+1.j, 0.-1.j])
    """
    x = squares(a, check_finite)
    if b is not None:
        other = squares(operand(b, check_finite, x.device), False, "expected square matrix")
        if other.shape[-1] != x.shape[-1]:
            raise ValueError("a and b must have the same shape")
        return _generalized_eig(x, other, left, right, homogeneous_eigvals)
    (host,) = on_host("eig", x)
    parts = back(x.device, *_c.linalg_eig(host, left or right, left))
    w = _c.stack([parts[0], _c.ones(parts[0].shape, parts[0].dtype, device=x.device)], -2) if homogeneous_eigvals else parts[0]
    vectors = ([parts[2]] if left else []) + ([parts[1]] if right else [])
    # Vectors of a real matrix whose eigenvalues are real are real.
    if vectors and x.dtype.kind != "c" and not bool((parts[0].imag != 0).any()):
        vectors = [v.real.copy() for v in vectors]
    return (w, *vectors) if vectors else w


def _generalized_eig(a: ndarray, b: ndarray, left: bool, right: bool, homogeneous: bool) -> Any:
    first, second = on_host("eig", a, b)
    parts = back(a.device, *_c.linalg_generalized_eig(first, second, left or right, left))
    alpha, beta = parts[0], parts[1]
    if homogeneous:
        w = _c.stack([alpha, beta.astype(alpha.dtype)], -2)
    else:
        quotients = alpha / _c.where(beta == 0, _c.ones((), beta.dtype, device=a.device), beta)
        w = _c.where(beta != 0, quotients, _c.where(alpha != 0, np.inf, np.nan).astype(alpha.dtype))
    vectors = ([parts[3]] if left else []) + ([parts[2]] if right else [])
    if vectors and np.result_type(a.dtype, b.dtype).kind != "c" and not bool((alpha.imag != 0).any()):
        vectors = [v.real for v in vectors]
    # LAPACK makes the largest component 1, SciPy the length.
    vectors = [v / _c.ufuncs["sqrt"]((abs(v) ** 2).sum(-2))[..., None, :] for v in vectors]
    return (w, *vectors) if vectors else w


def eigvals(
    a: ArrayLike,
    b: ArrayLike | None = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> ndarray:
    """The eigenvalues of square matrices, complex, as `eig` gives them.

    Examples
    --------
    >>> bc.scipy.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    array([0.+1.j, 0.-1.j])
    """
    return eig(a, b, False, False, overwrite_a, False, check_finite, homogeneous_eigvals)


def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """The eigenvalues, in ascending order, and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like, (..., n, n)
    b : array_like, (..., n, n), optional
        A positive definite matrix: solves a generalized problem.
    lower : bool
        The triangle that is read.
    eigvals_only : bool
        Gives the eigenvalues alone.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    type : {1, 2, 3}
        Of the generalized problem: a @ v = w * b @ v, a @ b @ v = w * v or b @ a @ v = w * v.
    check_finite : bool
        Whether NaN and infinity are looked for.
    subset_by_index : pair of ints, optional
        The first and the last eigenvalue that is wanted.
    subset_by_value : pair of numbers, optional
        Eigenvalues in (low, high] of one matrix are wanted. Their number is looked at.
    driver : str, optional
        All of LAPACK's are computed as 'evd'.

    Raises
    ------
    LinAlgError
        The iteration does not converge, or `b` is not positive definite.

    Examples
    --------
    >>> bc.scipy.linalg.eigh([[2.0, 0.0], [0.0, 1.0]], eigvals_only=True)
    array([1., 2.])
    """
    if driver not in (None, "ev", "evd", "evr", "evx", "gv", "gvd", "gvx"):
        raise ValueError(f'"{driver}" is unknown. Possible values are "None", "ev", "evd", "evr", "evx", "gv", "gvd", "gvx".')
    if b is None and driver in ("gv", "gvd", "gvx"):
        raise ValueError(f'"{driver}" requires input b array to be supplied for generalized eigenvalue problem.')
    if b is not None and driver in ("ev", "evd", "evr", "evx"):
        raise ValueError(f'"{driver}" input b array should be None for standard eigenvalue problem.')
    if type not in (1, 2, 3):
        raise ValueError('"type" keyword only accepts 1, 2, and 3.')
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    x = squares(a, check_finite, _SQUARE)
    if b is None:
        parts = None if subset_by_index is None else _of_range(x, lower, not eigvals_only, subset_by_index)
        if parts:
            return parts[0] if eigvals_only else parts
        parts = _c.linalg_eigh(x, lower, not eigvals_only)
    else:
        other = squares(operand(b, check_finite, x.device), False, 'expected square "b" matrix')
        if other.shape[-1] != x.shape[-1]:
            raise ValueError(f"wrong b dimensions {other.shape}, should be {x.shape}")
        parts = _generalized(x, other, lower, type, not eigvals_only)
    w = parts[0]
    chosen: Any = slice(None)
    if subset_by_index is not None:
        low, high = _index_range(x, subset_by_index)
        chosen = slice(low, high + 1)
    elif subset_by_value is not None:
        low, high = subset_by_value
        if not low < high:
            raise ValueError(f"Requested eigenvalue bounds are not valid, should be low < high, got low={low}, high={high}")
        if w.ndim != 1:
            raise ValueError("subset_by_value: expected one matrix: the results of several may have different shapes")
        chosen = slice(int((w <= low).sum()), int((w <= high).sum()))
    return w[..., chosen] if eigvals_only else (w[..., chosen], parts[1][..., chosen])


def _index_range(a: ndarray, subset: Any) -> tuple[int, int]:
    low, high = (int(v) for v in subset)
    if not 0 <= low <= high < a.shape[-1]:
        raise ValueError(
            f"Requested eigenvalue indices are not valid. Valid range is [0, {a.shape[-1] - 1}] and start <= end, but start={low}, "
            f"end={high} is given"
        )
    return low, high


def _of_range(a: ndarray, lower: bool, vectors: bool, subset: Any) -> tuple[ndarray, ...] | None:
    """The eigenvalues, and eigenvectors, of a range of numbers; nothing where all of them must be computed."""
    low, high = _index_range(a, subset)
    return None if high - low + 1 == a.shape[-1] else _c.linalg_eigh_range(a, lower, vectors, low, high - low + 1)


def _generalized(a: ndarray, b: ndarray, lower: bool, kind: int, vectors: bool) -> tuple[ndarray, ...]:
    """By the Cholesky factor L of b: the problem of inv(L) a inv(L)^H, or of L^H a L."""
    from ._solvers import _triangle_mirrored

    not_definite = "The leading minor of order {} of B is not positive definite. The factorization of B could not be completed"
    if kind == 1 and (parts := _c.linalg_definite_eigh(a, b, lower, vectors)):
        *found, info = parts
        number = int(info.max()) if info.size else 0
        if number > a.shape[-1]:
            raise LinAlgError(not_definite.format(number - a.shape[-1]))
        if number > 0:
            raise LinAlgError("Eigenvalues did not converge")
        return tuple(found)
    a = _triangle_mirrored(a, lower, True)
    factor, info = _c.linalg_cholesky_unchecked(b, lower)
    if info.size and (number := int(info.max())) > 0:
        raise LinAlgError(not_definite.format(number))
    f = factor if lower else dagger(factor)
    if kind == 1:
        half = _c.linalg_solve_triangular(f, a, True)
        standard = dagger(_c.linalg_solve_triangular(f, dagger(half), True))
    else:
        standard = _c.matmul(_c.matmul(dagger(f), a), f)
    parts = _c.linalg_eigh(standard, True, vectors)
    if not vectors:
        return parts
    w, y = parts
    return w, _c.matmul(f, y) if kind == 3 else _c.linalg_solve_triangular(f, y, True, 2)


def eigvalsh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> ndarray:
    """The eigenvalues of Hermitian matrices, in ascending order, as `eigh` gives them.

    Examples
    --------
    >>> bc.scipy.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    return eigh(
        a, b, lower=lower, eigvals_only=True, overwrite_a=overwrite_a, overwrite_b=overwrite_b, type=type, check_finite=check_finite,
        subset_by_index=subset_by_index, subset_by_value=subset_by_value, driver=driver,
    )  # fmt: skip


def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """The eigenvalues, in ascending order, and eigenvectors of real symmetric matrices with three diagonals.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    d : array_like, (..., n)
        The diagonal.
    e : array_like, (..., n - 1)
        The one beside it.
    eigvals_only : bool
        Gives the eigenvalues alone.
    select : {'a', 'v', 'i'}
        All; those in (select_range[0], select_range[1]], whose number is looked at; those with these first and last indices.
    select_range : pair, optional
    check_finite : bool
        Whether NaN and infinity are looked for.
    tol : float
        Eigenvalues are computed to full precision.
    lapack_driver : str
        All of LAPACK's are computed as 'stevd'.

    Examples
    --------
    >>> bc.scipy.linalg.eigh_tridiagonal([2.0, 2.0], [1.0], eigvals_only=True)
    array([1., 3.])
    """
    if select not in ("a", "v", "i", 0, 1, 2, "all", "value", "index"):
        raise ValueError('invalid argument for select, must be one of ("a", "v", "i")')
    x = operand(d, check_finite)
    beside = operand(e, check_finite, x.device)
    if x.dtype.kind == "c" or beside.dtype.kind == "c":
        raise TypeError("Only real arrays currently supported")
    host, other = on_host("eigh_tridiagonal", x, beside)
    low, high = (int(v) for v in select_range) if select in ("i", 2, "index") else (0, x.shape[-1] - 1)
    if 0 <= low <= high < x.shape[-1] and high - low + 1 < x.shape[-1]:
        some = back(x.device, *_c.linalg_eigh_tridiagonal(host, other, not eigvals_only, low, high - low + 1))
        return some[0] if eigvals_only else some
    parts = back(x.device, *_c.linalg_eigh_tridiagonal(host, other, not eigvals_only))
    w = parts[0]
    chosen: Any = slice(None)
    if select in ("i", 2, "index"):
        chosen = slice(int(select_range[0]), int(select_range[1]) + 1)
    elif select in ("v", 1, "value"):
        if w.ndim != 1:
            raise ValueError("select='v': expected one matrix: the results of several may have different shapes")
        chosen = slice(int((w <= select_range[0]).sum()), int((w <= select_range[1]).sum()))
    return w[..., chosen] if eigvals_only else (w[..., chosen], parts[1][..., chosen])


def eigvalsh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> ndarray:
    """The eigenvalues that `eigh_tridiagonal` gives.

    Examples
    --------
    >>> bc.scipy.linalg.eigvalsh_tridiagonal([2.0, 2.0], [1.0])
    array([1., 3.])
    """
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite, tol, lapack_driver)


# ---- Schur, Hessenberg and LDL ----------------------------------------------------------------------------------------------------------


def schur(
    a: ArrayLike,
    output: str = "real",
    lwork: int | None = None,
    overwrite_a: bool = False,
    sort: Any = None,
    check_finite: bool = True,
) -> tuple[Any, ...]:
    """Schur's form of square matrices: a = Z @ T @ Z.conj().T with Z unitary and T upper triangular.

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    a : array_like, (..., n, n)
    output : {'real', 'complex'}
        For a real matrix 'real' has blocks of 2 x 2 for pairs of eigenvalues.
    lwork : int, optional
        The size of the work array is the library's own choice.
    overwrite_a : bool
        Operands are never overwritten.
    sort : {None, 'lhp', 'rhp', 'iuc', 'ouc'} or callable
        Which eigenvalues come first: those in the left or right half of the plane, inside or outside the unit circle, or those for which a
        function is true. It is called with an eigenvalue, or for a real form with its real and its imaginary part. Of a pair both come.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    T, Z : ndarray
    sdim : int, or ndarray for a stack
        With `sort`: how many eigenvalues come first.

    Raises
    ------
    LinAlgError
        The iteration does not converge, or eigenvalues are too near to each other to be exchanged.

    Examples
    --------
    >>> t, z = bc.scipy.linalg.schur([[1.0, 2.0], [0.0, 3.0]])
    >>> t
    array([[1., 2.],
           [0., 3.]])
    """
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    check_schur_order(sort)
    x = squares(a, check_finite)
    if output in ("complex", "c") and x.dtype.kind != "c":
        x = x.astype(np.complex64 if x.dtype.itemsize == 4 else np.complex128)
    (host,) = on_host("schur", x)
    t, z = _c.linalg_schur(host)
    if sort is None:
        return back(x.device, t, z)
    t, z, count = ordered_schur(t, z, sort)
    return (*back(x.device, t, z), int(count) if count.ndim == 0 else _c.asarray(count, device=x.device))


def hessenberg(a: ArrayLike, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Hessenberg's form of square matrices: a = Q @ H @ Q.conj().T with Q unitary and zeros below H's first lower diagonal.

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    a : array_like, (..., n, n)
    calc_q : bool
        Gives (H, Q), else H.
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Examples
    --------
    >>> bc.scipy.linalg.hessenberg([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    x = squares(a, check_finite)
    if x.shape[-1] <= 2:  # has the form
        one = _c.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return (x.copy(), _c.broadcast_to(one, x.shape).copy()) if calc_q else x.copy()
    (host,) = on_host("hessenberg", x)
    h, q = back(x.device, *_c.linalg_hessenberg(host))
    return (h, q) if calc_q else h


@over_stacks(A=2)
def ldl(
    A: ArrayLike, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[ndarray, ndarray, ndarray]:
    """The factors of a symmetric or Hermitian matrix L @ D @ L.conj().T, where D has blocks of 1 x 1 and 2 x 2 (Bunch & Kaufman, 1977).

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A : array_like, (n, n)
    lower : bool
        The triangle that is read; else the outer factor is upper triangular, but for its rows' order.
    hermitian : bool
        Whether a complex matrix is Hermitian, else symmetric.
    overwrite_a : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    lu : ndarray, (n, n)
        The outer factor, whose rows are in the matrix' order.
    d : ndarray, (n, n)
    perm : ndarray, (n,)
        The order in which lu's rows are triangular.

    Examples
    --------
    >>> l, d, perm = bc.scipy.linalg.ldl([[2.0, 1.0], [1.0, 3.0]])
    >>> l @ d @ l.T
    array([[2., 1.],
           [1., 3.]])
    """
    x = squares(A, check_finite, 'The input array "a" should be square.')
    n = x.shape[0]
    if n == 0:
        return _c.zeros((0, 0), x.dtype), _c.zeros((0, 0), x.dtype), _c.zeros(0, np.int64)
    hermitian = hermitian and x.dtype.kind == "c"
    if hermitian and bool((_c.diagonal(x).imag != 0).any()):
        warn(
            "ldl: the imaginary parts of the diagonal are ignored; hermitian=False factorizes complex symmetric matrices",
            np.exceptions.ComplexWarning,
        )
    (host,) = on_host("ldl", x)
    factors, pivots = (_c.asnumpy(v) for v in _c.linalg_ldl(host, lower, hermitian))
    outer, d, order = _ldl_parts(factors, pivots, lower, hermitian)
    return _c.asarray(outer, device=x.device), _c.asarray(d, device=x.device), _c.asarray(order, device=x.device)


def _ldl_parts(f: np.ndarray, pivots: np.ndarray, lower: bool, hermitian: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L (or U), D and the order of rows out of what sytrf leaves: the elimination's exchanges are undone from its last step on."""
    n = len(f)
    d = np.diag(np.diag(f))
    if hermitian:
        d = d.real.astype(f.dtype)
    triangle = np.tril(f, -1) if lower else np.triu(f, 1)
    triangle += np.eye(n, dtype=f.dtype)
    # (row, row that it was exchanged with, columns of the factor made so far) in the order of the elimination.
    steps: list[tuple[int, int]] = []
    k = 0 if lower else n - 1
    while 0 <= k < n:
        if pivots[k] > 0:
            steps.append((k, int(pivots[k]) - 1))
            k += 1 if lower else -1
            continue
        other = k + 1 if lower else k - 1
        i, j = other, k
        value = f[i, j]
        d[i, j] = value
        d[j, i] = value.conj() if hermitian else value
        triangle[i, j] = 0
        steps.append((other, -int(pivots[k]) - 1))
        k += 2 if lower else -2
    order = np.arange(n)
    for row, partner in reversed(steps):
        if row == partner:
            continue
        columns = slice(row, None) if lower else slice(None, row + 1)
        if pivots[row] < 0:
            columns = slice(row - 1, None) if lower else slice(None, row + 2)
        triangle[[row, partner], columns] = triangle[[partner, row], columns]
        order[[row, partner]] = order[[partner, row]]
    return triangle, d, np.argsort(order)
